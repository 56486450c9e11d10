// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of a table of packet types: which engines execute a type, and that no row of ours is
 * new to the tests and to the manual. Each has a case here, a line in the manual, a selftest that
 * submits packets of its type, and packets of it made by tests/fuzz.
 */
#include "vgpu_test.h"

#include <ctype.h>
#include <glob.h>

#include "soft/work/packet_types.h"

/* A good packet of each type, and the engine classes that execute it, as the manual has them. */
static const struct type_case {
	struct vgpu_hw_packet raw;
	const char *classes;
} cases[] = {
	{ { .type = VGPU_HW_PKT_NOP }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_FILL, .width = 4, .rows = 1 }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_COPY, .width = 1, .rows = 1 }, "gr, ce" },
	{ { .type = VGPU_HW_PKT_PRESENT, .present_format = VGPU_HW_FORMAT_XRGB8888,
	    .present_width = 1, .present_height = 1, .present_pitch = 4 }, "gr" },
	{ { .type = VGPU_HW_PKT_DISPATCH, .grid = { 1, 1, 1 }, .group = { 1, 1, 1 } }, "gr" },
};

#define NR_CASES	(sizeof(cases) / sizeof(cases[0]))

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

	for (i = 0; i < NR_CASES; i++) {
		for (limits.engine_class = 0; limits.engine_class < 4; limits.engine_class++) {
			fault = soft_packet_decode(soft_packet_types, &cases[i].raw, &limits,
						   &packet, &addr);
			check_that(!fault == has_class(cases[i].classes, limits.engine_class),
				   "type %u on class %u: fault %d", cases[i].raw.type,
				   limits.engine_class, fault);
		}
	}
}

static const struct type_case *case_of(unsigned int type)
{
	size_t i;

	for (i = 0; i < NR_CASES; i++)
		if (cases[i].raw.type == type)
			return &cases[i];
	return NULL;
}

/* Whether a line of the file begins with @want, or with @any has it, up to the end of a word. */
static bool file_has(const char *path, const char *want, bool any)
{
	FILE *file = fopen(path, "r");
	bool found = false;
	char line[1024];
	const char *at;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file)) {
		at = strstr(line, want);
		found = at && (any || at == line) && !isalnum((u8)at[strlen(want)]) &&
			at[strlen(want)] != '_';
	}
	fclose(file);
	return found;
}

/* The line of the manual's table that has the type; its classes are between the two gaps. */
static bool manual_has(unsigned int type, const char *name, const char *classes)
{
	char want[64];

	snprintf(want, sizeof(want), "%-3u  %-8s  %-8s ", type, name, classes);
	return file_has(TOP "/Documentation/hardware.rst", want, false);
}

/* Selftests whose names end in "fault" submit what is to fault. */
static bool selftest_submits(const char *name)
{
	bool found = false;
	char want[64];
	glob_t files;
	size_t i;

	snprintf(want, sizeof(want), "type = VGPU_HW_PKT_%s", name);
	assert_int_equal(glob(TOP "/tests/selftests/*.c", 0, NULL, &files), 0);
	for (i = 0; i < files.gl_pathc && !found; i++)
		found = !strstr(files.gl_pathv[i], "fault_test.c") &&
			file_has(files.gl_pathv[i], want, true);
	globfree(&files);
	return found;
}

static bool fuzz_knows(const char *name)
{
	char want[64];

	snprintf(want, sizeof(want), "case VGPU_HW_PKT_%s", name);
	return file_has(TOP "/tests/fuzz/work.c", want, true);
}

static void test_rows(void **state)
{
	const struct type_case *one;
	unsigned int type;
	const char *name;

	assert_null(soft_packet_name(soft_packet_types, 0));
	assert_null(soft_packet_name(soft_packet_types, VGPU_HW_PKT_END));
	for (type = 1; type < VGPU_HW_PKT_END; type++) {
		name = soft_packet_name(soft_packet_types, type);
		check_that(name, "type %u: no row", type);
		one = case_of(type);
		check_that(one, "type %u (%s): no case here", type, name);
		check_that(manual_has(type, name, one->classes),
			   "type %u (%s, %s): not in the table of hardware.rst", type, name,
			   one->classes);
		check_that(selftest_submits(name), "type %u (%s): no selftest submits it", type,
			   name);
		check_that(fuzz_knows(name), "type %u (%s): tests/fuzz/work.c has no case of it",
			   type, name);
	}
}

/* What finds a row in a file finds no other one there. */
static void test_search(void **state)
{
	assert_true(fuzz_knows("FILL") && selftest_submits("FILL"));
	assert_false(fuzz_knows("FIL") || selftest_submits("FIL"));
	assert_false(fuzz_knows("END") || selftest_submits("END"));
	assert_true(manual_has(VGPU_HW_PKT_FILL, "FILL", "gr, ce"));
	assert_false(manual_has(VGPU_HW_PKT_FILL, "FILL", "gr"));
	assert_false(manual_has(VGPU_HW_PKT_COPY, "FILL", "gr, ce"));
}

/* A type of another table, with the number of one of ours: its destination is an odd number. */
static enum vgpu_hw_fault decode_odd(const struct vgpu_hw_packet *raw,
				     const struct soft_limits *limits,
				     struct soft_packet *packet, u64 *fault_addr)
{
	u64 *odd = soft_packet_operands(packet, u64);

	assert_int_equal(*odd, 0);
	assert_int_equal(limits->engine_class, VGPU_HW_ENGINE_DEC);
	*fault_addr = raw->dst;
	if (!(raw->dst & 1))
		return VGPU_HW_FAULT_ALIGN;
	*odd = raw->dst;
	packet->bytes = 3;
	return VGPU_HW_FAULT_NONE;
}

static const struct soft_packet_desc odd_types[VGPU_HW_PKT_END] = {
	[VGPU_HW_PKT_PRESENT] = {
		.name = "ODD", .engines = 1 << VGPU_HW_ENGINE_DEC, .op_flags = VGPU_HW_OP_SRC_SYS,
		.must_tell = true, .decode = decode_odd,
	},
};

/* What all packets have in common is checked by the row, whatever its type is. */
static void test_other_table(void **state)
{
	struct soft_limits limits = { .engine_class = VGPU_HW_ENGINE_DEC, .fb_bytes = 4096,
		.vectors = 1 };
	const struct vgpu_hw_packet good = { .type = VGPU_HW_PKT_PRESENT, .dst = 5,
		.flags = VGPU_HW_PKT_IRQ, .op_flags = VGPU_HW_OP_SRC_SYS };
	struct vgpu_hw_packet raw = good;
	struct soft_packet packet;
	u64 addr;

	memset(&packet, 0xff, sizeof(packet));
	assert_int_equal(soft_packet_decode(odd_types, &raw, &limits, &packet, &addr),
			 VGPU_HW_FAULT_NONE);
	assert_ptr_equal(packet.desc, &odd_types[VGPU_HW_PKT_PRESENT]);
	assert_int_equal(*soft_packet_operands(&packet, u64), 5);
	assert_true(packet.bytes == 3 && packet.irq && !packet.signal && !addr);

#define FAULTS(code, at, ...) do {					\
	raw = good;							\
	__VA_ARGS__;							\
	assert_int_equal(soft_packet_decode(odd_types, &raw, &limits, &packet, &addr), \
			 VGPU_HW_FAULT_##code);				\
	assert_int_equal(addr, at);					\
} while (0)
	FAULTS(ALIGN, 6, raw.dst = 6);
	FAULTS(PACKET, 0, raw.type = VGPU_HW_PKT_NOP);
	FAULTS(PACKET, 0, raw.op_flags = VGPU_HW_OP_DST_SYS);
	FAULTS(PACKET, 0, raw.flags = 0);
	FAULTS(PACKET, 0, raw.vector = 1);
	FAULTS(PACKET, 0, limits.virt = true);
	limits.virt = false;
	FAULTS(PACKET, 0, limits.engine_class = VGPU_HW_ENGINE_GR);
#undef FAULTS
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_other_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
