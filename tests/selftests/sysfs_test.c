// SPDX-License-Identifier: GPL-2.0
/* Types in sysfs, creating and removing, and what is refused. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fixture.h"

static struct fx_vgpu v[40];
static struct vgpu_ctl_gpu gpu;

static uint32_t gpu_gib(void)
{
	fx_ctl_gpu(&gpu);
	return (uint32_t)(gpu.fb_bytes >> 30);
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* How many vGPUs of a size fit: mixed sizes lie where halving the framebuffer puts them. */
static uint32_t most(uint32_t region, uint32_t size)
{
	uint32_t pieces = 1;

	if (gpu.placement == VGPU_PLACEMENT_HOMOGENEOUS)
		return region / size < 32 ? region / size : 32;
	if (2 * size > region)
		return 1;
	while (region / (2 * pieces) >= 2 * size)
		pieces *= 2;
	return 2 * pieces;
}

static void check_type(const char *suffix, uint32_t gib, char series)
{
	uint32_t heads = series == 'Q' || series == 'B' ? 4 : 1;
	uint32_t frl = series == 'B' ? 45 : 60;
	const char *resolution = "4096x2160";
	char path[256], text[256], wanted[256];
	int n;

	if (series == 'A')
		resolution = "1280x1024";
	else if (series == 'B' || (series == 'Q' && gib == 1))
		resolution = "5120x2880";
	else if (series == 'Q')
		resolution = "7680x4320";
	fx_type_path(suffix, "description", path, sizeof(path));
	n = file_read(path, text, sizeof(text));
	CHECK(n > 0, "%s: %d", path, n);
	snprintf(wanted, sizeof(wanted),
		 "num_heads=%u, frl_config=%u, framebuffer=%uM, max_resolution=%s, live_migration=%u, max_instance=%u\n",
		 heads, frl, gib * 1024, resolution, fx_executes(), most(gpu_gib(), gib));
	CHECK(!strcmp(text, wanted), "%s\nhas    %swanted %s", path, text, wanted);
	fx_type_path(suffix, "device_api", path, sizeof(path));
	n = file_read(path, text, sizeof(text));
	CHECK(n > 0 && !strcmp(text, "vfio-pci\n"), "%s: %s", path, text);
	fx_type_path(suffix, "name", path, sizeof(path));
	n = file_read(path, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "%.32s-%s\n", (char *)gpu.board, suffix);
	CHECK(n > 0 && !strcmp(text, wanted), "%s: %s", path, text);
	CHECK_EQ(fx_available(suffix), most(gpu_gib(), gib));
}

/* Each type in sysfs is one that the GPU should have, and its attributes are right. */
static void types_in_sysfs(void)
{
	char path[256], prefix[80];
	unsigned int found = 0;
	struct dirent *entry;
	uint32_t gib, slices;
	const char *suffix;
	char series;
	DIR *dir;
	int end;

	gpu_gib();
	snprintf(prefix, sizeof(prefix), "%.32s-%.32s-", (char *)gpu.driver, (char *)gpu.board);
	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/mdev_supported_types", fx_gpu());
	dir = opendir(path);
	CHECK(dir, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		CHECK(!strncmp(entry->d_name, prefix, strlen(prefix)), "%s", entry->d_name);
		suffix = entry->d_name + strlen(prefix);
		found++;
		/* Of partitions, of which there are none. */
		if (sscanf(suffix, "%u-%u%c%n", &slices, &gib, &series, &end) == 3) {
			CHECK(!suffix[end] && slices < 8 && series == 'C', "%s", suffix);
			CHECK_EQ(fx_available(suffix), 0);
			continue;
		}
		CHECK(sscanf(suffix, "%u%c%n", &gib, &series, &end) == 2 &&
		      !suffix[end] && strchr("QBAC", series), "%s", suffix);
		check_type(suffix, gib, series);
	}
	closedir(dir);
	CHECK_EQ(found, gpu.types);
	CHECK(found >= 4, "only %u types", found);
}

static void types_agree_with_control_node(void)
{
	struct vgpu_ctl_type type;
	uint32_t i;

	gpu_gib();
	for (i = 0; i < gpu.types; i++) {
		const char *suffix;

		memset(&type, 0, sizeof(type));
		type.size = sizeof(type);
		type.gpu = gpu.gpu;
		type.index = i;
		CHECK(!ioctl(fx_control(), VGPU_IOC_TYPE, &type), "%s", strerror(errno));
		suffix = (char *)type.name + strlen((char *)gpu.board);
		CHECK(*suffix == '-', "%s", (char *)type.name);
		CHECK_EQ(fx_available(suffix + 1), type.available);
		CHECK_EQ(type.fb_bytes, (uint64_t)type.placement_size_gb << 30);
		CHECK(type.channels, "%s has no channels", (char *)type.name);
	}
}

/* Free placements of a size beside the vGPUs of the test, on a GPU of a power of two. */
static uint32_t expected(uint32_t region, uint32_t size, unsigned int nr)
{
	struct vgpu_ctl_instance inst;
	uint32_t start, fit = 0;
	unsigned int i;

	for (start = 0; start + size <= region; start += size) {
		bool taken = false;

		for (i = 0; i < nr; i++) {
			uint32_t end;

			if (!v[i].created)
				continue;
			fx_instance(&v[i], &inst);
			end = inst.placement_gb + (uint32_t)(inst.fb_bytes >> 30);
			taken |= inst.placement_gb < start + size && end > start;
		}
		fit += !taken;
	}
	return fit;
}

static void check_available(uint32_t region, unsigned int nr)
{
	char suffix[16];
	uint32_t size;

	for (size = 1; size <= region; size *= 2) {
		snprintf(suffix, sizeof(suffix), "%uQ", size);
		CHECK_EQ(fx_available(suffix), expected(region, size, nr), "%s", suffix);
	}
}

/* Random creating and removing of mixed sizes: available_instances is always exact. */
static void available_instances_is_exact(void)
{
	uint32_t region = gpu_gib(), size;
	unsigned int i, step;
	char suffix[16];
	int ret;

	if (!is_power_of_two(region) || gpu.placement != VGPU_PLACEMENT_MIXED)
		ktap_skip("framebuffer of %u GiB", region);
	check_available(region, 0);
	for (step = 0; step < 60; step++) {
		i = (unsigned int)fx_random_below(20);
		if (v[i].created) {
			fx_remove(&v[i]);
		} else {
			memset(v[i].uuid, 0, sizeof(v[i].uuid));
			size = 1u << fx_random_below(4);
			if (size > region)
				continue;
			snprintf(suffix, sizeof(suffix), "%uQ", size);
			ret = fx_available(suffix) ? 0 : -ENOSPC;
			CHECK_EQ(fx_try_create(&v[i], suffix), ret, "%s", suffix);
		}
		check_available(region, 20);
	}
}

static void malformed_uuids(void)
{
	static const char * const bad[] = {
		"x", "5e4b8dc6-3a2c-4f0e-9d55-0a1b2c3d4e5",
		"5e4b8dc6-3a2c-4f0e-9d55-0a1b2c3d4e5g",
		"5e4b8dc63-a2c-4f0e-9d55-0a1b2c3d4e5f",
		"5e4b8dc6-3a2c-4f0e-9d55-0a1b2c3d4e5f0",
		"5e4b8dc6-3a2c-4f0e-9d55-0a1b2c3d4e5f-and-more",
		"../../../../../../../etc/passwd_____",
	};
	unsigned int before = fx_available("1Q"), i;
	char path[256];
	int ret;

	fx_type_path("1Q", "create", path, sizeof(path));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ret = file_write(path, bad[i]);
		/* The kernel takes one character behind a UUID for a newline. */
		if (i == 4 && !ret) {
			snprintf(v[0].uuid, sizeof(v[0].uuid), "%.36s", bad[i]);
			fx_remove(&v[0]);
			continue;
		}
		CHECK_EQ(ret, -EINVAL, "%s", bad[i]);
	}
	CHECK_EQ(fx_available("1Q"), before);
}

static void duplicate_uuid(void)
{
	unsigned int left;

	fx_create(&v[0], "1Q");
	left = fx_available("1Q");
	memcpy(&v[1], &v[0], sizeof(v[0].uuid) + sizeof(v[0].id));
	v[1].created = false;
	CHECK_EQ(fx_try_create(&v[1], "1Q"), -EEXIST);
	CHECK_EQ(fx_try_create(&v[1], "2Q"), -EEXIST);
	CHECK_EQ(fx_available("1Q"), left);
	fx_remove(&v[0]);
	CHECK_EQ(fx_available("1Q"), left + 1);
	CHECK_EQ(fx_try_create(&v[0], "1Q"), 0, "the same UUID again");
}

static void unknown_type(void)
{
	memset(&v[0], 0, sizeof(v[0]));
	CHECK_EQ(fx_try_create(&v[0], "3.5Q"), -ENOENT);
	CHECK_EQ(fx_try_create(&v[0], "0Q"), -ENOENT);
}

/* A full GPU refuses with ENOSPC, and VGPU_IOC_REFUSAL says why. */
static void full_gpu_says_why(void)
{
	struct vgpu_ctl_refusal refusal;
	char all[16];

	snprintf(all, sizeof(all), "%uQ", gpu_gib());
	fx_create(&v[0], all);
	CHECK_EQ(fx_available("1Q"), 0);
	memset(&v[1], 0, sizeof(v[1]));
	CHECK_EQ(fx_try_create(&v[1], "1Q"), -ENOSPC);
	fx_check_refusal(&v[1], ENOSPC, "1Q");
	fx_check_refusal(&v[1], ENOSPC, " MiB");

	fx_new_uuid(&v[2]);
	CHECK_EQ(node_refusal(fx_control(), v[2].id, &refusal), -ENOENT,
		 "a refusal that never was");
}

static void mixed_sizes_fill_the_gpu(void)
{
	uint32_t region = gpu_gib(), size = region / 2, nr = 0;
	char suffix[16];

	if (!is_power_of_two(region) || gpu.placement != VGPU_PLACEMENT_MIXED)
		ktap_skip("framebuffer of %u GiB", region);
	for (; size; size /= 2) {
		snprintf(suffix, sizeof(suffix), "%uQ", size);
		fx_create(&v[nr++], suffix);
	}
	fx_create(&v[nr++], "1Q");
	for (size = 1; size <= region; size *= 2) {
		snprintf(suffix, sizeof(suffix), "%uQ", size);
		CHECK_EQ(fx_available(suffix), 0, "%s", suffix);
	}
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.fb_used_bytes, gpu.fb_bytes);
	CHECK(gpu.channels_used <= gpu.channels, "%u of %u channels",
	      gpu.channels_used, gpu.channels);
}

static void remove_what_is_not_there(void)
{
	memset(&v[0], 0, sizeof(v[0]));
	fx_create(&v[0], "1Q");
	fx_remove(&v[0]);
	CHECK_EQ(fx_try_remove(&v[0]), -ENOENT);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(types_in_sysfs),
	KTAP_TEST(types_agree_with_control_node),
	KTAP_TEST(available_instances_is_exact),
	KTAP_TEST(malformed_uuids),
	KTAP_TEST(duplicate_uuid),
	KTAP_TEST(unknown_type),
	KTAP_TEST(full_gpu_says_why),
	KTAP_TEST(mixed_sizes_fill_the_gpu),
	KTAP_TEST(remove_what_is_not_there),
};

KTAP_MAIN(tests, fx_cleanup)
