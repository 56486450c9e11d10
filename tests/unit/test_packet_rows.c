// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of the table of packets: which engines execute a type, and that each has a case here and
 * a line in the manual.
 */
#include "vgpu_test.h"

#include "soft/work/packet_types.h"

/* A good packet of each type, and the engine classes that execute it, as the manual has them. */
static const struct kind {
	struct vgpu_hw_packet raw;
	const char *classes;
} kinds[] = {
	{ { .type = VGPU_HW_PKT_NOP }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_FILL, .width = 4, .rows = 1 }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_COPY, .width = 1, .rows = 1 }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_PRESENT, .present_format = VGPU_HW_FORMAT_XRGB8888,
	    .present_width = 1, .present_height = 1, .present_pitch = 4 }, "gr" },
	{ { .type = VGPU_HW_PKT_DISPATCH, .grid = { 1, 1, 1 }, .group = { 1, 1, 1 } }, "gr" },
};

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static bool has_class(const char *classes, unsigned int engine_class)
{
	static const char * const names[] = { "gr", "ce", "enc", "dec" };

	return strstr(classes, names[engine_class]);
}

/* A type is executed by engines of those classes only that its row names. */
static void test_classes(void **state)
{
	struct soft_limits limits = {
		.fb_bytes = 0x40000000ULL, .vectors = VGPU_HW_VECTORS, .num_heads = 1,
	};
	struct soft_packet packet;
	enum vgpu_hw_fault fault;
	u64 addr;
	size_t i;

	for (i = 0; i < NR_KINDS; i++) {
		for (limits.engine_class = 0; limits.engine_class < 4; limits.engine_class++) {
			fault = soft_packet_decode(soft_packet_types, &kinds[i].raw, &limits, &packet, &addr);
			check_that(!fault == has_class(kinds[i].classes, limits.engine_class),
				   "type %u on class %u: fault %d", kinds[i].raw.type,
				   limits.engine_class, fault);
		}
	}
}

/* The line of the manual's table that has the type; its classes are between the two gaps. */
static bool manual_has(unsigned int type, const char *name, const char *classes)
{
	char want[64], line[256];
	FILE *file = fopen(MANUAL, "r");
	bool found = false;

	assert_non_null(file);
	snprintf(want, sizeof(want), "%-3u  %-8s  %-8s  ", type, name, classes);
	while (fgets(line, sizeof(line), file))
		found |= !strncmp(line, want, strlen(want));
	fclose(file);
	return found;
}

/* A row has a case above, and a line in the manual. */
static void test_rows(void **state)
{
	unsigned int type, nr = 0;
	size_t i;

	for (type = 0; type < 256; type++) {
		if (!soft_packet_name(soft_packet_types, type))
			continue;
		nr++;
		for (i = 0; i < NR_KINDS; i++)
			if (kinds[i].raw.type == type)
				break;
		check_that(i < NR_KINDS, "type %u (%s): no case",
			   type, soft_packet_name(soft_packet_types, type));
		check_that(manual_has(type, soft_packet_name(soft_packet_types, type), kinds[i].classes),
			   "type %u (%s, %s) is not in the table of hardware.rst", type,
			   soft_packet_name(soft_packet_types, type), kinds[i].classes);
	}
	assert_int_equal(nr, NR_KINDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
