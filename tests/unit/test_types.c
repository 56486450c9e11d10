// SPDX-License-Identifier: GPL-2.0
/* The type catalogue: names, figures of the series, the description's format. */
#include "vgpu_test.h"

#include "core/objects/placement.h"
#include "core/objects/profile.h"
#include "core/objects/types.h"

static struct vgpu_type types[128];

static unsigned int build_for(u32 gb, bool homogeneous, bool divisible)
{
	struct vgpu_placement p;
	char board[8] = "SG";

	board[2] = '0' + gb / 10;
	board[3] = '0' + gb % 10;
	vgpu_placement_init(&p, gb, homogeneous);
	return vgpu_types_build(board, &p, 256, divisible, types, 128);
}

static unsigned int build(u32 gb, bool homogeneous)
{
	return build_for(gb, homogeneous, false);
}

static const struct vgpu_type *find(unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	fail_msg("no type %s", name);
	return NULL;
}

static void sixteen_gb(void **state)
{
	static const char * const names[] = {
		"SG16-1Q", "SG16-2Q", "SG16-4Q", "SG16-8Q", "SG16-16Q",
		"SG16-1B", "SG16-2B",
		"SG16-1A", "SG16-2A", "SG16-4A", "SG16-8A", "SG16-16A",
		"SG16-4C", "SG16-8C", "SG16-16C",
	};
	unsigned int nr = build(16, false), i;

	assert_int_equal(nr, ARRAY_SIZE(names));
	for (i = 0; i < nr; i++) {
		assert_string_equal(types[i].name, names[i]);
		assert_int_equal(types[i].index, i);
		assert_int_equal(types[i].channels, 16 * types[i].size_gb);
		/* Virtual desktops are seen by their users from the boot on. */
		assert_int_equal(types[i].vga, !!strchr(names[i], 'B'));
	}
	assert_int_equal(find(nr, "SG16-1Q")->max_instances, 16);
	assert_int_equal(find(nr, "SG16-16C")->max_instances, 1);
}

/* Types of partitions come behind the others, whose numbers stay. */
static void of_partitions(void **state)
{
	static const struct {
		const char *name;
		const char *profile;
		unsigned int max_instances;
	} expect[] = {
		{ "SG16-1-2C", "1g", 7 }, { "SG16-2-4C", "2g", 3 },
		{ "SG16-3-4C", "3g", 4 }, { "SG16-3-8C", "3g", 2 },
		{ "SG16-4-4C", "4g", 2 }, { "SG16-4-8C", "4g", 1 },
		{ "SG16-7-4C", "7g", 4 }, { "SG16-7-8C", "7g", 2 }, { "SG16-7-16C", "7g", 1 },
	};
	unsigned int whole = build(16, false), nr = build_for(16, false, true), i;

	assert_int_equal(nr, whole + ARRAY_SIZE(expect));
	for (i = 0; i < nr; i++) {
		assert_int_equal(types[i].index, i);
		assert_int_equal(types[i].channels, 16 * types[i].size_gb);
		if (i < whole) {
			assert_null(types[i].profile);
			continue;
		}
		assert_string_equal(types[i].name, expect[i - whole].name);
		assert_string_equal(types[i].profile->name, expect[i - whole].profile);
		assert_int_equal(types[i].max_instances, expect[i - whole].max_instances);
		assert_int_equal(types[i].num_heads, 1);
		assert_false(types[i].vga);
	}
	/* An eighth of 24 GiB is less than the least of the series; 4 GiB have no whole eighth. */
	nr = build_for(24, false, true);
	assert_int_equal(find(nr, "SG24-1-3C")->max_instances, 7);
	assert_int_equal(find(nr, "SG24-2-6C")->max_instances, 3);
	assert_int_equal(find(nr, "SG24-3-4C")->max_instances, 4);
	assert_int_equal(find(nr, "SG24-3-6C")->max_instances, 4);
	assert_int_equal(find(nr, "SG24-3-12C")->max_instances, 2);
	whole = build(4, false);
	nr = build_for(4, false, true);
	assert_int_equal(nr, whole + 4);
	assert_string_equal(types[whole].name, "SG04-2-1C");
	assert_string_equal(types[whole + 3].name, "SG04-7-4C");
	/* All alike, as many as there are at once. */
	nr = build_for(96, true, true);
	assert_int_equal(find(nr, "SG96-7-4C")->max_instances, 24);
	assert_int_equal(find(nr, "SG96-3-4C")->max_instances, 24);
}

static void descriptions(void **state)
{
	static const struct {
		const char *name;
		const char *text;
	} expect[] = {
		{ "SG16-1Q", "num_heads=4, frl_config=60, framebuffer=1024M, max_resolution=5120x2880, live_migration=%u, max_instance=16\n" },
		{ "SG16-4Q", "num_heads=4, frl_config=60, framebuffer=4096M, max_resolution=7680x4320, live_migration=%u, max_instance=4\n" },
		{ "SG16-2B", "num_heads=4, frl_config=45, framebuffer=2048M, max_resolution=5120x2880, live_migration=%u, max_instance=8\n" },
		{ "SG16-8A", "num_heads=1, frl_config=60, framebuffer=8192M, max_resolution=1280x1024, live_migration=%u, max_instance=2\n" },
		{ "SG16-16C", "num_heads=1, frl_config=60, framebuffer=16384M, max_resolution=4096x2160, live_migration=%u, max_instance=1\n" },
	};
	unsigned int nr = build(16, false), i;
	char buf[VGPU_TYPE_DESCRIPTION_LEN], wanted[VGPU_TYPE_DESCRIPTION_LEN];

	for (i = 0; i < 2 * ARRAY_SIZE(expect); i++) {
		int len = vgpu_type_describe(find(nr, expect[i / 2].name), i % 2, buf,
					     sizeof(buf));

		snprintf(wanted, sizeof(wanted), expect[i / 2].text, i % 2);
		assert_string_equal(buf, wanted);
		assert_int_equal(len, strlen(wanted));
	}
}

/* As published of A40, alike/mixed: 24/16, 12/8, 6/4, 3/2; and of L4: 24/16, 12/8, 8/8, 3/2. */
static void published_maxima(void **state)
{
	unsigned int nr;

	nr = build(48, true);
	assert_int_equal(find(nr, "SG48-1Q")->max_instances, 32);
	assert_int_equal(find(nr, "SG48-2Q")->max_instances, 24);
	assert_int_equal(find(nr, "SG48-4C")->max_instances, 12);
	assert_int_equal(find(nr, "SG48-8Q")->max_instances, 6);
	assert_int_equal(find(nr, "SG48-16Q")->max_instances, 3);
	nr = build(48, false);
	assert_int_equal(find(nr, "SG48-1Q")->max_instances, 32);
	assert_int_equal(find(nr, "SG48-2Q")->max_instances, 16);
	assert_int_equal(find(nr, "SG48-4C")->max_instances, 8);
	assert_int_equal(find(nr, "SG48-8Q")->max_instances, 4);
	assert_int_equal(find(nr, "SG48-16Q")->max_instances, 2);
	nr = build(24, false);
	assert_int_equal(find(nr, "SG24-1Q")->max_instances, 16);
	assert_int_equal(find(nr, "SG24-3Q")->max_instances, 8);
	assert_int_equal(find(nr, "SG24-8Q")->max_instances, 2);
}

/* Each name is unique and fits sysfs and the patterns of managers; the array's end is kept. */
static void all_sizes(void **state)
{
	unsigned int gb, nr, i, k;
	struct vgpu_placement p;

	for (gb = 1; gb <= 64; gb++) {
		nr = build(gb, gb & 1);
		assert_in_range(nr, 3, 128);
		for (i = 0; i < nr; i++) {
			assert_null(strpbrk(types[i].name, " ./:,"));
			assert_true(types[i].max_instances >= 1);
			assert_int_equal(gb % types[i].size_gb, 0);
			for (k = 0; k < i; k++)
				assert_string_not_equal(types[i].name, types[k].name);
		}
	}
	memset(types, 0xaa, sizeof(types));
	vgpu_placement_init(&p, 16, false);
	assert_int_equal(vgpu_types_build("SG16", &p, 256, false, types, 3), 15);
	assert_int_equal((unsigned char)types[3].name[0], 0xaa);
	assert_int_equal(vgpu_types_build("SG16", &p, 256, false, NULL, 0), 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixteen_gb),
		cmocka_unit_test(of_partitions),
		cmocka_unit_test(descriptions),
		cmocka_unit_test(published_maxima),
		cmocka_unit_test(all_sizes),
	};

	return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
