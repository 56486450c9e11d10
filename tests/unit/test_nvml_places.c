// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml: places of vGPUs on a GPU that can be divided. Arrays are on the heap, as long as
 * clients make them, so that ASan sees each element too many.
 */
#include "vgpu_test.h"

#include "core/objects/placement.h"

#include "nvml_mig_world.h"

#define MOST	256	/* places of a type */
#define STEPS	1500
#define VGPUS	VGPU_PLACEMENT_MAX

struct places {
	unsigned int nr;
	unsigned int id[MOST];
};

static nvmlVgpuTypeId_t types[128];
static unsigned int types_nr;
static u64 seed;

static unsigned int below(unsigned int n)
{
	return (unsigned int)(random_next(&seed) % n);
}

static const char *name_of(nvmlVgpuTypeId_t type)
{
	static char name[64];
	unsigned int size = sizeof(name);

	OK(nvmlVgpuTypeGetName(type, name, &size));
	return name;
}

static unsigned int index_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < types_nr; i++)
		if (!strcmp(name_of(types[i]), name))
			return i;
	fail_msg("no type %s", name);
	return 0;
}

static nvmlReturn_t call(unsigned int i, bool creatable, void *list)
{
	return creatable ? nvmlDeviceGetVgpuTypeCreatablePlacements(dev, types[i], list) :
			   nvmlDeviceGetVgpuTypeSupportedPlacements(dev, types[i], list);
}

/* With the first version, for which the array is as long as the type's maximum. */
static void check_first(unsigned int i, bool creatable, const struct places *wanted)
{
	nvmlVgpuPlacementList_v1_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 1),
	};
	unsigned int most, nr;
	nvmlReturn_t ret;

	OK(nvmlVgpuTypeGetMaxInstances(dev, types[i], &most));
	list.placementIds = malloc(most * sizeof(list.placementIds[0]));
	ret = call(i, creatable, &list);
	check_that(ret == (wanted->nr > most ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS),
		   "%s: %u of %u: %d", name_of(types[i]), wanted->nr, most, ret);
	assert_int_equal(list.count, wanted->nr);
	nr = wanted->nr < most ? wanted->nr : most;
	assert_memory_equal(list.placementIds, wanted->id, nr * sizeof(wanted->id[0]));
	free(list.placementIds);
}

/* They ascend, and are apart. */
static void get(unsigned int i, bool creatable, struct places *out)
{
	nvmlVgpuPlacementList_v2_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 2),
		.mode = fake.homogeneous ? NVML_VGPU_PGPU_HOMOGENEOUS_MODE :
					   NVML_VGPU_PGPU_HETEROGENEOUS_MODE,
	};
	nvmlReturn_t ret = call(i, creatable, &list);
	unsigned int k;

	assert_int_equal(ret, list.count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS);
	assert_in_range(list.count, 0, MOST);
	out->nr = list.count;
	list.placementIds = malloc(out->nr * sizeof(list.placementIds[0]));
	OK(call(i, creatable, &list));
	assert_int_equal(list.count, out->nr);
	memcpy(out->id, list.placementIds, out->nr * sizeof(out->id[0]));
	free(list.placementIds);
	for (k = 0; k < out->nr; k++)
		assert_true(out->id[k] + list.placementSize <= fake.fb_gb &&
			    (!k || out->id[k] >= out->id[k - 1] + list.placementSize));
	check_first(i, creatable, out);
}

static bool has(const struct places *places, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < places->nr; i++)
		if (places->id[i] == id)
			return true;
	return false;
}

/* Is that one of the places of the text "0 4 8", and are there no others? */
static void check(const char *name, bool creatable, const char *wanted)
{
	char text[256] = "";
	struct places got;
	unsigned int i;

	get(index_of(name), creatable, &got);
	for (i = 0; i < got.nr; i++)
		sprintf(text + strlen(text), "%s%u", i ? " " : "", got.id[i]);
	check_that(!strcmp(text, wanted), "%s: %s, not %s", name, text, wanted);
}

/* What is creatable is supported, and there is some just if the driver says that some fit. */
static void check_all(void)
{
	struct places all, some;
	struct vgpu_ctl_type type;
	unsigned int i, k;

	for (i = 0; i < types_nr; i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		get(i, false, &all);
		get(i, true, &some);
		check_that(!some.nr == !type.available && some.nr >= type.available,
			   "%s: %u places, %u fit", name_of(types[i]), some.nr, type.available);
		for (k = 0; k < some.nr; k++)
			assert_true(has(&all, some.id[k]));
	}
}

static void begin_anew(uint32_t fb_gb, bool homogeneous, bool on)
{
	OK(nvmlShutdown());
	fake.fb_gb = fb_gb;
	fake.homogeneous = homogeneous;
	fake_load();
	fake_part_mode(0, on);
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	types_nr = ARRAY_SIZE(types);
	OK(nvmlDeviceGetSupportedVgpus(dev, &types_nr, types));
}

/* By the places that partitions of the profile can have, whether or not there are any. */
static void check_supported(void)
{
	check("SG16-4Q", false, "0 4 8 12");
	check("SG16-1-2C", false, "0 2 4 6 8 10 12");
	check("SG16-2-4C", false, "0 4 8");
	check("SG16-3-4C", false, "0 4 8 12");
	check("SG16-3-8C", false, "0 8");
	check("SG16-4-4C", false, "0 4");
	check("SG16-4-8C", false, "0");
	check("SG16-7-4C", false, "0 4 8 12");
	check("SG16-7-16C", false, "0");
}

static void test_supported(void **state)
{
	begin_anew(16, false, false);
	check_supported();
	fake_part_mode(0, true);
	check_supported();
	fake_part_new(0, "2g", 4);
	check_supported();
}

/* Where there is a partition for the type, and of the whole GPU's only while it is whole. */
static void test_creatable(void **state)
{
	begin_anew(16, false, false);
	check("SG16-4Q", true, "0 4 8 12");
	check("SG16-1-2C", true, "");
	check("SG16-7-16C", true, "");
	check_all();
	fake_part_mode(0, true);
	check("SG16-4Q", true, "");
	check("SG16-1-2C", true, "");
	check_all();
	assert_int_equal(fake_part_new(0, "2g", 2), 1);
	check("SG16-2-4C", true, "4");
	check("SG16-1-2C", true, "");
	check("SG16-4Q", true, "");
	check_all();
	assert_int_equal(fake_part_new(0, "3g", 4), 2);
	check("SG16-3-4C", true, "8 12");
	check("SG16-3-8C", true, "8");
	check("SG16-4-4C", true, "");
	fake_create(1, 0, index_of("SG16-3-4C"), 8);
	fake_put(1, 2, 500);
	check("SG16-3-4C", true, "12");
	check("SG16-3-8C", true, "");
	check("SG16-2-4C", true, "4");
	check_all();
	fake_part_flees = 1;
	check("SG16-2-4C", true, "");
}

/* In homogeneous mode the vGPUs of one partition have one size, not those of the GPU. */
static void test_homogeneous(void **state)
{
	begin_anew(16, true, true);
	assert_int_equal(fake_part_new(0, "3g", 0), 1);
	assert_int_equal(fake_part_new(0, "3g", 4), 2);
	check("SG16-3-4C", true, "0 4 8 12");
	check("SG16-3-8C", true, "0 8");
	fake_create(1, 0, index_of("SG16-3-4C"), 4);
	fake_put(1, 1, 500);
	check("SG16-3-4C", true, "0 8 12");
	check("SG16-3-8C", true, "8");
	check_all();
}

/* A partition whose vGPUs are guaranteed all of it takes no other, however much room it has. */
static void test_guarantees(void **state)
{
	begin_anew(16, false, true);
	assert_int_equal(fake_part_new(0, "3g", 0), 1);
	assert_int_equal(fake_part_new(0, "3g", 4), 2);
	fake_create(1, 0, index_of("SG16-3-4C"), 0);
	fake_put(1, 1, 1000);
	check("SG16-3-4C", true, "8 12");
	check_all();
	fake_put(1, 1, 501);
	check("SG16-3-4C", true, "8 12");
	fake_put(1, 1, 500);
	check("SG16-3-4C", true, "4 8 12");
	check_all();
	fake_part_remove(0, 2);
	fake_put(1, 1, 1000);
	check("SG16-3-4C", true, "");
	check_all();
}

/* There are more places than a GPU may have vGPUs: what is told does not exceed the array. */
static void test_large(void **state)
{
	struct places places;
	unsigned int most, i;

	begin_anew(1024, false, true);
	i = index_of("SG16-1-4C");
	OK(nvmlVgpuTypeGetMaxInstances(dev, types[i], &most));
	assert_int_equal(most, VGPU_PLACEMENT_MAX);
	get(i, false, &places);
	assert_int_equal(places.nr, 7 * VGPU_PLACEMENT_MAX);
	check_all();
	fake_part_new(0, "1g", 0);
	fake_part_new(0, "1g", 1);
	get(i, true, &places);
	assert_int_equal(places.nr, 2 * VGPU_PLACEMENT_MAX);
	check_all();
}

/* What is left of the guarantees in a partition, per mille. */
static unsigned int left_in(uint32_t partition)
{
	unsigned int i, left = 1000;
	struct vgpu_ctl_instance inst;

	for (i = 0; i < VGPUS; i++)
		if (fake_vgpu(i, &inst) && inst.partition == partition)
			left -= inst.guarantee;
	return left;
}

/* Takes one of the type's free places, if there is one, which then is free no more. */
static void take(unsigned int vgpu, unsigned int i)
{
	unsigned int id, owner = 0, guarantee, k, count;
	nvmlGpuInstanceInfo_t info;
	nvmlGpuInstance_t list[7];
	struct vgpu_ctl_type type;
	struct places places;

	memset(&type, 0, sizeof(type));
	fake_type(0, i, &type);
	get(i, true, &places);
	if (!places.nr)
		return;
	id = places.id[below(places.nr)];
	if (type.slices) {
		OK(nvmlVgpuTypeGetGpuInstanceProfileId(types[i], &k));
		OK(nvmlDeviceGetGpuInstances(dev, k, list, &count));
		for (k = 0; k < count; k++) {
			OK(nvmlGpuInstanceGetInfo(list[k], &info));
			if (id * 8 / fake.fb_gb - info.placement.start < info.placement.size)
				owner = info.id;
		}
		check_that(owner, "%s: %u is in no partition", name_of(types[i]), id);
	}
	guarantee = below(left_in(owner) + 1);
	fake_create(vgpu, 0, i, id);
	fake_put(vgpu, owner, below(4) ? guarantee / 4 : guarantee);
	get(i, true, &places);
	assert_false(has(&places, id));
}

static void one_step(void)
{
	static const char * const profiles[] = { "1g", "2g", "3g", "4g", "7g" };
	static uint32_t last;
	unsigned int vgpu = below(VGPUS), k;
	struct vgpu_ctl_instance inst;
	uint32_t id;

	switch (below(8)) {
	case 0:
		id = fake_part_new(0, profiles[below(5)], below(8));
		last = id ?: last;
		break;
	case 1:
		id = below(last + 1);
		for (k = 0; k < VGPUS; k++)
			if (fake_vgpu(k, &inst) && inst.partition == id)
				return;
		fake_part_remove(0, id);
		break;
	case 2:
	case 3:
		if (fake_vgpu(vgpu, &inst))
			fake_remove(vgpu);
		break;
	default:
		if (!fake_vgpu(vgpu, &inst))
			take(vgpu, below(types_nr));
	}
}

static void run_random(bool homogeneous)
{
	unsigned int i;

	begin_anew(64, homogeneous, true);
	for (i = 0; i < STEPS; i++) {
		one_step();
		if (!(i % 16))
			check_all();
	}
	for (i = 0; i < VGPUS; i++)
		fake_remove(i);
}

static void test_random(void **state)
{
	seed = test_seed();
	run_random(false);
	run_random(true);
}

#define PLACES(test)	cmocka_unit_test_setup_teardown(test, mig_begin, mig_end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		PLACES(test_supported),
		PLACES(test_creatable),
		PLACES(test_homogeneous),
		PLACES(test_guarantees),
		PLACES(test_large),
		PLACES(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
