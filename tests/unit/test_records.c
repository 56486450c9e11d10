// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a vGPU as records: what each topic refuses. Each field of good records is made
 * wrong, one at a time; and bits of good ones are flipped at random, where what is accepted must
 * keep what its users rely on. test_record_list.c has the records as such.
 */
#include "vgpu_test.h"

#include <linux/vgpu_record.h>

#include "soft/card/instance.h"
#include "soft/face/display_state.h"
#include "soft/face/regs_state.h"
#include "soft/queue/channel_record.h"
#include "soft/state/records.h"
#include "soft/work/context_record.h"
#include "soft/work/move_state.h"
#include "soft/work/packet_types.h"

#define FB_BYTES	(1ULL << 30)
#define ROOT		(VGPU_HW_ROOT_VALID | 16)
#define CHANNELS	8
#define FLIPS		200000

/* Only an access to the EDID calls it. */
void vgpu_edid_read(struct vgpu_instance *instance, u32 offset, void *buf, size_t count)
{
	fail();
}

/* Only a save or a load calls these two. */
void soft_usage_save(struct soft_queues *queues, __le64 *service_ns)
{
	fail();
}

void soft_usage_load(struct soft_queues *queues, struct soft_regs *regs, const __le64 *service_ns)
{
	fail();
}

/**
 * struct wrong - a field of a record that is made wrong
 * @at:    offset of the field
 * @bytes: its length
 * @value: a wrong value, little endian
 * @field: the name that a refusal says
 */
struct wrong {
	size_t at;
	size_t bytes;
	u64 value;
	const char *field;
};

#define WRONG(type, member, value, field)	\
	{ offsetof(struct type, member), sizeof(((struct type *)0)->member), value, field }

/* Checks that @check refuses a good record of @bytes with each wrong field, by the field's name. */
static void check_wrong(const char *what, const void *good, size_t bytes, const struct wrong *wrong,
			size_t nr, const char *(*check)(const void *record))
{
	const char *field = check(good);
	u8 record[256];
	size_t i;

	check_that(!field, "%s: %s", what, field);
	for (i = 0; i < nr; i++) {
		memcpy(record, good, bytes);
		memcpy(record + wrong[i].at, &wrong[i].value, min_t(size_t, wrong[i].bytes, 8));
		field = check(record);
		check_that(field && !strcmp(field, wrong[i].field), "%s, %zu: %s, not %s", what, i,
			   field ?: "accepted", wrong[i].field);
	}
}

static void flip(u64 *seed, u8 *record, size_t bytes)
{
	unsigned int nr = 1 + random_next(seed) % 4;

	while (nr--)
		record[random_next(seed) % bytes] ^= 1 << random_next(seed) % 8;
}

/* Channels */

static const struct soft_channel_bounds bounds = {
	.nr_channels = CHANNELS, .nr_engines = SOFT_ENGINES, .fb_bytes = FB_BYTES,
};

static const char *check_channel(const void *record)
{
	return soft_channel_record_check(record, &bounds);
}

static const struct soft_channel_record disabled = {
	.index = 7, .ctrl = 0x040200, .ring = ~0ULL, .root = ROOT, .get = 5,
	.fault_code = VGPU_HW_FAULT_PAGE, .fault_pos = 6, .fault_addr = 7, .fault_pc = 8,
	.fault_id = { 1, 2, 3 },
}, awake = {
	.index = 3, .ctrl = VGPU_HW_CTRL_ENABLE | 0x40000, .ring = 1, .root = ROOT,
	.state = VGPU_HW_STATE_AWAKE, .get = ~7ULL, .put = 8, .engine = 2,
	.ring_addr = FB_BYTES - 1024, .ring_order = 4,
}, faulted = {
	.ctrl = VGPU_HW_CTRL_ENABLE, .state = VGPU_HW_STATE_FAULTED, .ring_sys = 1, .engine = 1,
	.ring_addr = 3, .space = VGPU_HW_ROOT_VALID | VGPU_HW_ROOT_PAGE_MASK,
	.fault_code = VGPU_HW_FAULT_RING,
};

#define CHAN(member, value, field)	WRONG(soft_channel_record, member, value, field)

static void test_channel(void **state)
{
	static const struct wrong any[] = {
		CHAN(index, CHANNELS, "index"), CHAN(index, ~0U, "index"),
		CHAN(ctrl, 0x01000000, "ctrl"), CHAN(ctrl, 4, "ctrl"),
		CHAN(root, 1, "root"), CHAN(state, 4, "state"), CHAN(state, ~0U, "state"),
		CHAN(fault_code, VGPU_HW_FAULT_END, "fault_code"),
	}, off[] = {
		CHAN(ctrl, VGPU_HW_CTRL_ENABLE, "state"), CHAN(state, 1, "state"),
		CHAN(put, 1, "put"), CHAN(engine, 1, "engine"), CHAN(space, ROOT, "space"),
		CHAN(ring_addr, 64, "ring_addr"), CHAN(ring_order, 4, "ring_order"),
		CHAN(ring_sys, 1, "ring_sys"),
	}, on[] = {
		CHAN(ctrl, 0, "state"), CHAN(state, 0, "state"), CHAN(state, 1, "put"),
		CHAN(state, 3, "fault_code"), CHAN(fault_code, 1, "fault_code"),
		CHAN(fault_pos, 1, "fault_pos"), CHAN(fault_addr, 1, "fault_addr"),
		CHAN(fault_pc, 1, "fault_pc"), CHAN(fault_id[0], 1, "fault_id"),
		CHAN(fault_id[1], 1, "fault_id"), CHAN(fault_id[2], 1, "fault_id"),
		CHAN(engine, SOFT_ENGINES, "engine"), CHAN(ring_sys, 2, "ring_sys"),
		CHAN(ring_addr, FB_BYTES - 1023, "ring_addr"),
		CHAN(ring_addr, FB_BYTES - 960, "ring_addr"),
		CHAN(ring_order, 3, "ring_addr"), CHAN(ring_order, 5, "ring_addr"),
		CHAN(ring_order, 17, "ring_addr"), CHAN(ring_order, ~0U, "ring_addr"),
		CHAN(put, 9, "put"), CHAN(put, ~8ULL, "put"), CHAN(get, 9, "put"),
		/* It is no root; and the whole framebuffer has no such page. */
		CHAN(space, 1, "space"),
		CHAN(space, VGPU_HW_ROOT_VALID | FB_BYTES >> 12, "space"),
	}, bad[] = {
		CHAN(fault_code, 0, "fault_code"), CHAN(put, 1, "put"), CHAN(engine, 3, "engine"),
		CHAN(ring_order, 4, "ring_order"), CHAN(space, 1, "space"),
		CHAN(ring_sys, 2, "ring_sys"),
	};
	struct soft_channel_record record = awake;

#define CHECK_WRONG(good, list) \
	check_wrong(#good, &(good), sizeof(good), list, ARRAY_SIZE(list), check_channel)
	CHECK_WRONG(disabled, any);
	CHECK_WRONG(awake, any);
	CHECK_WRONG(faulted, any);
	CHECK_WRONG(disabled, off);
	CHECK_WRONG(awake, on);
	CHECK_WRONG(faulted, bad);
#undef CHECK_WRONG
	record.state = VGPU_HW_STATE_SLEEPING;
	record.put = record.get;
	record.ring_sys = 1;
	record.ring_addr = -1024ULL;
	assert_null(check_channel(&record));
	record.space = ROOT;	/* addresses are virtual then, and no ring is in guest memory */
	assert_string_equal(check_channel(&record), "ring_addr");
	record.ring_sys = 0;
	record.ring_addr = (1ULL << 38) - 512;
	assert_string_equal(check_channel(&record), "ring_addr");
	record.ring_addr = -1024ULL;
	assert_null(check_channel(&record));
}

/* What an engine relies on. */
static bool channel_sound(const struct soft_channel_record *r)
{
	u64 bytes = 64ULL << (r->ring_order & 31);
	bool works = r->state == VGPU_HW_STATE_SLEEPING || r->state == VGPU_HW_STATE_AWAKE;

	if (r->index >= CHANNELS || r->engine >= SOFT_ENGINES || r->state > 3)
		return false;
	if (!works)
		return !r->ring_order;
	if (r->ring_order < 4 || r->ring_order > 16 || r->ring_addr % 64 ||
	    r->put - r->get > 1ULL << r->ring_order)
		return false;
	if (r->space)
		return !r->ring_sys && (r->space & VGPU_HW_ROOT_PAGE_MASK) < FB_BYTES >> 12;
	return r->ring_sys || (r->ring_addr < FB_BYTES && bytes <= FB_BYTES - r->ring_addr);
}

static void test_channel_flips(void **state)
{
	const struct soft_channel_record *good[] = { &disabled, &awake, &faulted };
	struct soft_channel_record record;
	unsigned int i, accepted = 0;
	u64 seed = test_seed();

	for (i = 0; i < FLIPS; i++) {
		record = *good[i % ARRAY_SIZE(good)];
		flip(&seed, (u8 *)&record, sizeof(record));
		if (check_channel(&record))
			continue;
		accepted++;
		assert_true(channel_sound(&record));
	}
	check_that(accepted > FLIPS / 100 && accepted < FLIPS, "%u", accepted);
}

/* Packets, and what FILL and COPY remember */

static struct soft_limits limits = {
	.fb_bytes = FB_BYTES, .engine_class = VGPU_HW_ENGINE_GR, .vectors = VGPU_HW_VECTORS,
	.num_heads = 1,
};

static struct soft_packet packet;

static const char *check_packet(const void *record)
{
	return soft_packet_record_check(record, soft_packet_types, &limits, &packet);
}

#define PKT(member, value, field)	WRONG(soft_packet_record, member, value, field)

static const struct soft_packet_record fill = {
	.raw = {
		.type = VGPU_HW_PKT_FILL, .flags = VGPU_HW_PKT_SIGNAL, .dst = FB_BYTES - 4096,
		.value = 7, .width = 512, .rows = 4, .dst_pitch = 1024, .signal_addr = 64,
	},
	.step = SOFT_RECORD_BODY, .signal = 1,
}, copy = {
	.raw = {
		.type = VGPU_HW_PKT_COPY, .op_flags = VGPU_HW_OP_SRC_SYS, .dst = 1, .src = 2,
		.width = 513, .rows = 3, .dst_pitch = 513, .src_pitch = 600,
	},
	.step = SOFT_RECORD_BODY,
};

static void test_packet(void **state)
{
	static const struct wrong wrong[] = {
		PKT(raw.type, VGPU_HW_PKT_END, "raw"), PKT(raw.flags, 0x12, "raw"),
		PKT(raw.vector, 1, "raw"), PKT(raw.op_flags, VGPU_HW_OP_SRC_SYS, "raw"),
		PKT(raw.dst, FB_BYTES, "raw"), PKT(raw.value_pad, 1, "raw"),
		PKT(raw.width, 0, "raw"), PKT(raw.rows, 5, "raw"), PKT(raw.pad, 1, "raw"),
		PKT(raw.dst_pitch, 508, "raw"), PKT(raw.src_pitch, 1, "raw"),
		PKT(raw.signal_addr, 65, "raw"), PKT(raw.signal_addr, FB_BYTES, "raw"),
		PKT(step, 0, "step"), PKT(step, SOFT_RECORD_STEPS, "step"),
		PKT(step, SOFT_RECORD_PACE, "step"), PKT(step, SOFT_RECORD_PREPARE, "step"),
		PKT(signal, 0, "signal"), PKT(signal, 2, "signal"),
	};
	struct soft_packet_record record = fill;

	check_wrong("fill", &fill, sizeof(fill), wrong, ARRAY_SIZE(wrong), check_packet);
	/* A signal that was written is not written again; one that there is not never is. */
	record.step = SOFT_RECORD_SIGNAL;
	record.signal = 0;
	assert_null(check_packet(&record));
	assert_false(packet.signal);
	record.signal = 1;
	assert_null(check_packet(&record));
	assert_true(packet.signal);
	record.raw.flags = 0;
	record.raw.signal_addr = 0;
	assert_string_equal(check_packet(&record), "signal");
	/* A channel with a root has no flags for guest memory. */
	assert_null(check_packet(&copy));
	limits.virt = true;
	assert_string_equal(check_packet(&copy), "raw");
	limits.virt = false;
}

static const char *check_move(const void *record)
{
	return soft_move_record_check(record, &packet);
}

#define MOVE(member, value, field)	WRONG(soft_move_record, member, value, field)

static void test_move(void **state)
{
	static const struct wrong in_fill[] = {
		MOVE(col, 511, "col"), MOVE(col, 512, "col"), MOVE(col, ~0ULL, "col"),
		MOVE(row, 5, "row"), MOVE(row, 4, "col"), MOVE(row, ~0U, "row"), MOVE(pad, 1, "pad"),
	}, in_copy[] = {
		MOVE(col, 513, "col"), MOVE(row, 3, "col"), MOVE(row, 4, "row"), MOVE(pad, 1, "pad"),
	};
	struct soft_move_record move = { .col = 508, .row = 3 };

	assert_null(check_packet(&fill));
	check_wrong("fill", &move, sizeof(move), in_fill, ARRAY_SIZE(in_fill), check_move);
	move = (struct soft_move_record){ .row = 4 };
	assert_null(check_move(&move));
	assert_null(check_packet(&copy));
	move = (struct soft_move_record){ .col = 511, .row = 2 };
	check_wrong("copy", &move, sizeof(move), in_copy, ARRAY_SIZE(in_copy), check_move);
}

/* What is accepted leads to nothing but what a guest's packet could lead to. */
static void test_packet_flips(void **state)
{
	const struct soft_move_operands *op =
		soft_packet_operands(&packet, const struct soft_move_operands);
	struct soft_move_record move;
	struct soft_packet_record record;
	unsigned int i, accepted = 0;
	u64 seed = test_seed(), at;

	for (i = 0; i < FLIPS; i++) {
		record = i & 1 ? fill : copy;
		move = (struct soft_move_record){ .col = 508, .row = 2 };
		flip(&seed, (u8 *)&record, sizeof(record));
		flip(&seed, (u8 *)&move, sizeof(move));
		if (check_packet(&record) || check_move(&move))
			continue;
		accepted++;
		if (packet.type != VGPU_HW_PKT_FILL && packet.type != VGPU_HW_PKT_COPY)
			continue;
		at = op->dst + (u64)move.row * op->dst_pitch + move.col;
		assert_true(move.row == op->rows || op->dst_sys || at < FB_BYTES);
		assert_true(packet.type != VGPU_HW_PKT_FILL || at % 4 == 0);
	}
	check_that(accepted > FLIPS / 1000 && accepted < FLIPS, "%u", accepted);
}

/* Programs, and dispatches that have begun */

static const char *check_program(const void *record)
{
	return soft_program_record_check(record);
}

static const char *check_context(const void *record)
{
	struct soft_program_head head;

	return soft_context_record_check(record, &limits,
					 soft_packet_operands(&packet,
							      const struct soft_dispatch_operands),
					 3, &head);
}

#define CTX(member, value, field)	WRONG(soft_context_record, member, value, field)

static void test_dispatch(void **state)
{
	static const struct soft_packet_record dispatch = {
		.raw = {
			.type = VGPU_HW_PKT_DISPATCH, .dst = 64, .grid = { 100, 1, 1 },
			.group = { 32, 1, 1 }, .local_bytes = 8,
		},
		.step = SOFT_RECORD_BODY,
	};
	static const struct soft_program_record program = { .text_bytes = VGPU_HW_TEXT_MAX };
	static const struct soft_context_record context = {
		.head = {
			.magic = VGPU_HW_PROGRAM_MAGIC, .image_bytes = 8192, .text_bytes = 4096,
			.entry = 4092, .image = FB_BYTES - 8192, .private_bytes = 64,
		},
		.program = 3,
	};
	static const struct wrong in_program[] = {
		WRONG(soft_program_record, text_bytes, 0, "text_bytes"),
		WRONG(soft_program_record, text_bytes, 2, "text_bytes"),
		WRONG(soft_program_record, text_bytes, VGPU_HW_TEXT_MAX + 4, "text_bytes"),
		WRONG(soft_program_record, pad, 1, "pad"),
	}, in_context[] = {
		CTX(head.magic, 1, "head"), CTX(head.image_bytes, 8196, "head"),
		CTX(head.image_bytes, 4092, "head"), CTX(head.text_bytes, 0, "head"),
		CTX(head.text_bytes, 4098, "head"), CTX(head.text_bytes, 8196, "head"),
		CTX(head.entry, 4096, "head"), CTX(head.entry, 2, "head"),
		CTX(head.image, FB_BYTES - 4096, "head"), CTX(head.image, 64, "head"),
		CTX(head.image, ~4095ULL, "head"), CTX(head.private_bytes, 8, "head"),
		CTX(head.private_bytes, VGPU_HW_PRIVATE_MAX + 16, "head"),
		CTX(head.pad[0], 1, "head"), CTX(head.pad[8], 1, "head"),
		CTX(program, 0, "program"), CTX(program, 4, "program"), CTX(program, ~0U, "program"),
		CTX(pad, 1, "pad"),
	};

	assert_null(check_packet(&dispatch));
	check_wrong("program", &program, sizeof(program), in_program, ARRAY_SIZE(in_program),
		    check_program);
	check_wrong("context", &context, sizeof(context), in_context, ARRAY_SIZE(in_context),
		    check_context);
}

/* Device registers and the display */

static const char *check_regs(const void *record)
{
	return soft_regs_record_check(record, CHANNELS);
}

static void test_regs(void **state)
{
	static const struct wrong wrong[] = {
		WRONG(soft_regs_record, intr, 2, "intr"),
		WRONG(soft_regs_record, intr, 0x80000001, "intr"),
		WRONG(soft_regs_record, fault_channel, CHANNELS, "fault_channel"),
		WRONG(soft_regs_record, fault_channel, ~1U, "fault_channel"),
	};
	struct soft_regs_record regs = { .intr = 1, .fault_channel = CHANNELS - 1 };

	check_wrong("regs", &regs, sizeof(regs), wrong, ARRAY_SIZE(wrong), check_regs);
	regs.fault_channel = ~0U;
	assert_null(check_regs(&regs));
}

static const struct soft_vga_limits vga_limits = {
	.vbe_bytes = VGPU_HW_VBE_BYTES_MAX, .max_width = 5120, .max_height = 2880,
};

static const char *check_display(const void *record)
{
	return soft_display_record_check(record, &vga_limits, FB_BYTES);
}

#define DISP(member, value, field)	WRONG(soft_display_record, member, value, field)
#define MODE(index, value, field)	DISP(dispi[VGPU_HW_DISPI_##index], value, field)

static const struct soft_display_record lit = {
	.offset = FB_BYTES - 3 * 8192 - 4096, .width = 1024, .height = 4, .pitch = 8192, .shown = 1,
	.dispi = {
		[VGPU_HW_DISPI_ID] = VGPU_HW_DISPI_ID_LAST, [VGPU_HW_DISPI_XRES] = 640,
		[VGPU_HW_DISPI_YRES] = 480, [VGPU_HW_DISPI_BPP] = 32,
		[VGPU_HW_DISPI_ENABLE] = VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB,
		[VGPU_HW_DISPI_VIRT_WIDTH] = 2048,
		[VGPU_HW_DISPI_VIRT_HEIGHT] = VGPU_HW_VBE_BYTES_MAX / 8192,
	},
	.attribute = 0x3f, .data_next = 1,
};

static void test_display(void **state)
{
	static const struct wrong wrong[] = {
		DISP(offset, FB_BYTES - 3 * 8192, "offset"), DISP(offset, 2, "offset"),
		DISP(offset, ~3ULL, "offset"), DISP(width, 0, "width"), DISP(width, 2049, "pitch"),
		DISP(width, 1025, "offset"), DISP(height, 0, "height"), DISP(height, 5, "offset"),
		DISP(height, ~0U, "offset"), DISP(pitch, 4092, "pitch"), DISP(pitch, 8194, "pitch"),
		DISP(pitch, 8196, "offset"), DISP(shown, 0, "width"), DISP(shown, 2, "shown"),
		MODE(ID, 0, "dispi id"), MODE(ID, VGPU_HW_DISPI_ID_LAST + 1, "dispi id"),
		MODE(VIRT_WIDTH, 639, "dispi virt_width"), MODE(XRES, 2049, "dispi virt_width"),
		MODE(VIRT_HEIGHT, 1, "dispi virt_height"), MODE(VIRT_WIDTH, 640, "dispi virt_height"),
		DISP(attribute, 0x40, "attribute"), DISP(data_next, 2, "data_next"),
		DISP(pad[0], 1, "pad"), DISP(pad[1], 1, "pad"),
	}, hidden[] = {
		DISP(offset, 4, "offset"), DISP(width, 1, "width"), DISP(height, 1, "height"),
		DISP(pitch, 4, "pitch"),
	};
	struct soft_display_record record = lit;

	check_wrong("lit", &lit, sizeof(lit), wrong, ARRAY_SIZE(wrong), check_display);
	memset(&record, 0, offsetof(struct soft_display_record, dispi));
	check_wrong("hidden", &record, sizeof(record), hidden, ARRAY_SIZE(hidden), check_display);
}

static void test_display_flips(void **state)
{
	struct vgpu_scanout out;
	struct soft_display_record record;
	unsigned int i, k, accepted = 0, shown = 0;
	struct soft_vga vga = {};
	u64 seed = test_seed();

	for (i = 0; i < FLIPS; i++) {
		record = lit;
		flip(&seed, (u8 *)&record, sizeof(record));
		if (check_display(&record))
			continue;
		accepted++;
		for (k = 0; k < ARRAY_SIZE(vga.dispi); k++)
			vga.dispi[k] = record.dispi[k];
		out = (struct vgpu_scanout){
			.offset = record.offset, .width = record.width, .height = record.height,
			.pitch = record.pitch,
		};
		k = record.shown;
		do {
			if (!k && !soft_vga_scanout(&vga, &vga_limits, &out))
				break;
			shown++;
			assert_true(out.width && out.height && out.pitch >= out.width * 4);
			assert_true(out.offset + (out.height - 1ULL) * out.pitch + out.width * 4 <=
				    FB_BYTES);
		} while (k--);
	}
	check_that(accepted > FLIPS / 100 && accepted < FLIPS && shown > accepted, "%u %u",
		   accepted, shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channel),
		cmocka_unit_test(test_channel_flips),
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_packet_flips),
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_regs),
		cmocka_unit_test(test_display),
		cmocka_unit_test(test_display_flips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
