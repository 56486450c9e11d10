// SPDX-License-Identifier: GPL-2.0
/*
 * Packets and rings of the software GPU: which ones pass, which ones fault and how; and a packet
 * that passes cannot leave the vGPU's framebuffer.
 */
#include "vgpu_test.h"

#include "soft/work/packet_types.h"

#define FB	0x40000000ULL
#define HEADS	4
#define NR_RANDOM	2000000

static const struct soft_limits gr = {
	.fb_bytes = FB, .engine_class = VGPU_HW_ENGINE_GR,
	.vectors = VGPU_HW_VECTORS, .num_heads = HEADS,
};

static const struct soft_limits ce = {
	.fb_bytes = FB, .engine_class = VGPU_HW_ENGINE_CE,
	.vectors = VGPU_HW_VECTORS, .num_heads = HEADS,
};

/* With a root. */
static const struct soft_limits virt = {
	.fb_bytes = FB, .virt = true, .engine_class = VGPU_HW_ENGINE_GR,
	.vectors = VGPU_HW_VECTORS, .num_heads = HEADS,
};

static enum vgpu_hw_fault decode_on(const struct vgpu_hw_packet *raw,
				    const struct soft_limits *limits,
				    u64 *addr)
{
	struct soft_packet packet;

	return soft_packet_decode(soft_packet_types, raw, limits, &packet, addr);
}

static enum vgpu_hw_fault decode(const struct vgpu_hw_packet *raw, struct soft_packet *packet,
				 u64 *addr)
{
	return soft_packet_decode(soft_packet_types, raw, &gr, packet, addr);
}

static void expect(const struct vgpu_hw_packet *raw, const struct soft_limits *limits,
		   enum vgpu_hw_fault want, u64 want_addr, int line)
{
	enum vgpu_hw_fault fault;
	u64 addr = 0x123;

	fault = decode_on(raw, limits, &addr);
	check_that(fault == want && addr == want_addr,
		   "line %d: fault %d at %#llx, not %d at %#llx", line, fault,
		   addr, want, want_addr);
}

#define EXPECT_ON(limits, want, addr, ...) do {				\
	struct vgpu_hw_packet raw_ = { __VA_ARGS__ };			\
	expect(&raw_, limits, VGPU_HW_FAULT_##want, addr, __LINE__);	\
} while (0)
#define EXPECT(...)		EXPECT_ON(&gr, __VA_ARGS__)
#define EXPECT_VIRT(...)	EXPECT_ON(&virt, __VA_ARGS__)

#define NOP	.type = VGPU_HW_PKT_NOP
#define FENCE	.type = VGPU_HW_PKT_FENCE
#define FILL	.type = VGPU_HW_PKT_FILL
#define COPY	.type = VGPU_HW_PKT_COPY
#define DISPATCH .type = VGPU_HW_PKT_DISPATCH
#define PRESENT	.type = VGPU_HW_PKT_PRESENT, \
		.present_format = VGPU_HW_FORMAT_XRGB8888

static void test_type(void **state)
{
	unsigned int type;

	EXPECT(NONE, 0, NOP);
	EXPECT(NONE, 0, NOP, .flags = VGPU_HW_PKT_BARRIER);
	for (type = 0; type < 256; type++) {
		if (type >= VGPU_HW_PKT_NOP && type < VGPU_HW_PKT_END)
			continue;
		EXPECT(PACKET, 0, .type = type);
	}
	EXPECT(PACKET, 0, NOP, .flags = 0x10);
	EXPECT(PACKET, 0, NOP, .flags = 0x80);
}

/* A packet faults if a field that its type has no use for is not 0. */
static void test_unused(void **state)
{
	EXPECT(PACKET, 0, NOP, .op_flags = 1);
	EXPECT(PACKET, 0, NOP, .dst = 1);
	EXPECT(PACKET, 0, NOP, .src = 1);
	EXPECT(PACKET, 0, NOP, .width = 1);
	EXPECT(PACKET, 0, NOP, .rows = 1);
	EXPECT(PACKET, 0, NOP, .pad = 1);
	EXPECT(PACKET, 0, NOP, .dst_pitch = 1);
	EXPECT(PACKET, 0, NOP, .src_pitch = 1);
	EXPECT(PACKET, 0, NOP, .vector = 1);
	EXPECT(PACKET, 0, NOP, .signal_addr = 8);
	EXPECT(PACKET, 0, NOP, .signal_value = 1);
	EXPECT(PACKET, 0, NOP, .flags = VGPU_HW_PKT_SIGNAL_SYS);

	EXPECT(NONE, 0, FILL, .width = 4, .rows = 1);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 1, .value_pad = 1);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 1, .src_pitch = 4);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 1, .pad = 1);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 1, .dst_pitch = 4);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 1,
	       .op_flags = VGPU_HW_OP_SRC_SYS);

	EXPECT(NONE, 0, COPY, .width = 1, .rows = 1);
	EXPECT(PACKET, 0, COPY, .width = 1, .rows = 1, .pad = 1);
	EXPECT(PACKET, 0, COPY, .width = 1, .rows = 1, .op_flags = 4);
	EXPECT(PACKET, 0, COPY, .width = 1, .rows = 1, .src_pitch = 1);
	EXPECT(PACKET, 0, COPY, .width = 1, .rows = 1, .dst_pitch = 1);

	EXPECT(NONE, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .present_head = HEADS);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .op_flags = 1);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .pad = 1);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .dst_pitch = 4);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .src_pitch = 4);
}

static void test_signal(void **state)
{
	EXPECT(PACKET, 0, FENCE);
	EXPECT(PACKET, 0, FENCE, .flags = VGPU_HW_PKT_BARRIER);
	EXPECT(NONE, 0, FENCE, .flags = VGPU_HW_PKT_IRQ);
	EXPECT(NONE, 0, FENCE, .flags = VGPU_HW_PKT_IRQ,
	       .vector = VGPU_HW_VECTORS - 1);
	EXPECT(PACKET, 0, FENCE, .flags = VGPU_HW_PKT_IRQ,
	       .vector = VGPU_HW_VECTORS);
	EXPECT(NONE, 0, FENCE, .flags = VGPU_HW_PKT_SIGNAL,
	       .signal_value = ~0ULL);
	EXPECT(NONE, 0, FENCE, .flags = VGPU_HW_PKT_SIGNAL,
	       .signal_addr = FB - 8);
	EXPECT(ADDRESS, FB, FENCE, .flags = VGPU_HW_PKT_SIGNAL,
	       .signal_addr = FB);
	EXPECT(ALIGN, FB - 4, FENCE, .flags = VGPU_HW_PKT_SIGNAL,
	       .signal_addr = FB - 4);
	EXPECT(ADDRESS, ~7ULL, FENCE, .flags = VGPU_HW_PKT_SIGNAL,
	       .signal_addr = ~7ULL);
	EXPECT(NONE, 0, FENCE,
	       .flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS,
	       .signal_addr = ~7ULL);
	EXPECT(ALIGN, 1, FENCE,
	       .flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS,
	       .signal_addr = 1);
	/* The fault of a bad vector has no address, though the body has one. */
	EXPECT(PACKET, 0, FILL, .dst = 4096, .width = 4, .rows = 1,
	       .vector = 1);
}

static void test_fill(void **state)
{
	EXPECT(NONE, 0, FILL, .width = FB, .rows = 1);
	EXPECT(ADDRESS, 0, FILL, .width = FB + 4, .rows = 1);
	EXPECT(ADDRESS, 4, FILL, .dst = 4, .width = FB, .rows = 1);
	EXPECT(ADDRESS, FB, FILL, .dst = FB, .width = 4, .rows = 1);
	EXPECT(ADDRESS, ~3ULL, FILL, .dst = ~3ULL, .width = 8, .rows = 1);
	EXPECT(ADDRESS, ~3ULL, FILL, .dst = ~3ULL, .width = 4, .rows = 1);
	EXPECT(ADDRESS, 8, FILL, .dst = 8, .width = ~3ULL, .rows = 1);
	EXPECT(PACKET, 0, FILL, .width = 0, .rows = 1);
	EXPECT(PACKET, 0, FILL, .width = 4, .rows = 0);
	EXPECT(PACKET, 0, FILL, .width = 8, .rows = 2, .dst_pitch = 4);
	EXPECT(PACKET, 0, FILL, .width = 8, .rows = 2);
	EXPECT(PACKET, 0, FILL, .width = 1ULL << 32, .rows = 2,
	       .dst_pitch = 0xfffffffc);
	EXPECT(ALIGN, 2, FILL, .dst = 2, .width = 4, .rows = 1);
	EXPECT(ALIGN, 0, FILL, .width = 5, .rows = 1);
	EXPECT(ALIGN, 0, FILL, .width = 4, .rows = 2, .dst_pitch = 6);
	/* The last row ends where the framebuffer does. */
	EXPECT(NONE, 0, FILL, .dst = FB - 4096 - 8, .width = 8, .rows = 2,
	       .dst_pitch = 4096);
	EXPECT(ADDRESS, FB - 4096 - 4, FILL, .dst = FB - 4096 - 4, .width = 8,
	       .rows = 2, .dst_pitch = 4096);
	EXPECT(ADDRESS, 0, FILL, .width = 4, .rows = ~0U,
	       .dst_pitch = 0xfffffffc);
	/* An area in guest memory may lie anywhere, but must not wrap. */
	EXPECT(NONE, 0, FILL, .op_flags = VGPU_HW_OP_DST_SYS, .dst = ~3ULL,
	       .width = 4, .rows = 1);
	EXPECT(ADDRESS, ~3ULL, FILL, .op_flags = VGPU_HW_OP_DST_SYS,
	       .dst = ~3ULL, .width = 8, .rows = 1);
	EXPECT(ADDRESS, 1ULL << 63, FILL, .op_flags = VGPU_HW_OP_DST_SYS,
	       .dst = 1ULL << 63, .width = 4, .rows = ~0U,
	       .dst_pitch = 0xfffffffc);
}

static void test_copy(void **state)
{
	EXPECT(NONE, 0, COPY, .dst = 1, .src = FB / 2 + 3, .width = 7,
	       .rows = 1);
	EXPECT(ADDRESS, FB - 6, COPY, .dst = FB - 6, .width = 7, .rows = 1);
	EXPECT(ADDRESS, FB - 6, COPY, .src = FB - 6, .width = 7, .rows = 1);
	EXPECT(PACKET, 0, COPY, .width = 0, .rows = 1);
	EXPECT(PACKET, 0, COPY, .width = 1, .rows = 0);
	EXPECT(PACKET, 0, COPY, .width = 9, .rows = 2, .dst_pitch = 9,
	       .src_pitch = 8);
	EXPECT(PACKET, 0, COPY, .width = 9, .rows = 2, .dst_pitch = 8,
	       .src_pitch = 9);
	EXPECT(NONE, 0, COPY, .op_flags = VGPU_HW_OP_SRC_SYS, .src = ~0ULL,
	       .width = 1, .rows = 1);
	EXPECT(ADDRESS, ~0ULL, COPY, .op_flags = VGPU_HW_OP_SRC_SYS,
	       .src = ~0ULL, .width = 2, .rows = 1);
	EXPECT(ADDRESS, 2 * FB, COPY, .op_flags = VGPU_HW_OP_SRC_SYS,
	       .dst = 2 * FB, .width = 2, .rows = 1);
	EXPECT(NONE, 0, COPY,
	       .op_flags = VGPU_HW_OP_SRC_SYS | VGPU_HW_OP_DST_SYS,
	       .src = 2 * FB, .dst = 4 * FB, .width = 3 * FB, .rows = 1);
}

static void test_present(void **state)
{
	struct vgpu_hw_packet raw = { PRESENT, .present_width = 1920,
		.present_height = 1080, .present_pitch = 1920 * 4 };
	u64 addr;

	assert_int_equal(decode_on(&raw, &gr, &addr), VGPU_HW_FAULT_NONE);
	assert_int_equal(decode_on(&raw, &ce, &addr), VGPU_HW_FAULT_PACKET);
	raw.present_format = 0x34325241;
	assert_int_equal(decode_on(&raw, &gr, &addr), VGPU_HW_FAULT_PACKET);

	EXPECT(PACKET, 0, PRESENT, .present_height = 1, .present_pitch = 4);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_pitch = 4);
	EXPECT(PACKET, 0, PRESENT, .present_width = 2, .present_height = 1,
	       .present_pitch = 4);
	EXPECT(PACKET, 0, PRESENT, .present_width = 0x40000000,
	       .present_height = 1, .present_pitch = 4);
	EXPECT(ALIGN, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 5);
	EXPECT(ALIGN, 2, PRESENT, .dst = 2, .present_width = 1,
	       .present_height = 1, .present_pitch = 4);
	EXPECT(NONE, 0, PRESENT, .dst = FB - 8, .present_width = 1,
	       .present_height = 2, .present_pitch = 4);
	EXPECT(ADDRESS, FB - 4, PRESENT, .dst = FB - 4, .present_width = 1,
	       .present_height = 2, .present_pitch = 4);
	EXPECT(ADDRESS, 0, PRESENT, .present_width = 1,
	       .present_height = ~0U, .present_pitch = 0xfffffffc);

	EXPECT(NONE, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .present_head = HEADS - 1);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .present_head = ~0U);
	EXPECT(PACKET, 0, PRESENT, .present_width = 1, .present_height = 1,
	       .present_pitch = 4, .present_head = 0x80000000);
}

static void test_dispatch(void **state)
{
	struct vgpu_hw_packet raw = { DISPATCH, .dst = 0x1040, .src = ~0ULL, .grid = { 1, ~0U, 7 },
		.group = { 4, 8, 32 }, .local_bytes = 41 };
	const struct soft_dispatch_operands *op;
	struct soft_packet p;
	u64 addr;

	assert_int_equal(decode(&raw, &p, &addr), VGPU_HW_FAULT_NONE);
	op = soft_packet_operands(&p, const struct soft_dispatch_operands);
	assert_true(op->head == 0x1040 && op->args == ~0ULL);
	assert_true(op->grid[0] == 1 && op->grid[1] == ~0U && op->grid[2] == 7);
	assert_true(op->group[0] == 4 && op->group[1] == 8 && op->group[2] == 32);
	assert_int_equal(op->local_bytes, 48);
	assert_int_equal(p.bytes, 0);
	assert_int_equal(decode_on(&raw, &ce, &addr), VGPU_HW_FAULT_PACKET);

#define ONE	.grid = { 1, 1, 1 }, .group = { 1, 1, 1 }
	EXPECT(NONE, 0, DISPATCH, ONE);
	EXPECT(PACKET, 0, DISPATCH, ONE, .op_flags = 1);
	EXPECT(PACKET, 0, DISPATCH, ONE, .group_pad = 1);
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 0 }, .group = { 1, 1, 1 });
	EXPECT(GRID, 0, DISPATCH, .grid = { 0, 1, 1 }, .group = { 1, 1, 1 });
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 1 }, .group = { 1, 0, 1 });
	EXPECT(NONE, 0, DISPATCH, .grid = { ~0U, ~0U, ~0U }, .group = { 1024, 1, 1 });
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 1 }, .group = { 1025, 1, 1 });
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 1 }, .group = { 1024, 1, 2 });
	/* 2^48 work-items, and 2^32 of them. */
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 1 }, .group = { 65535, 65535, 65535 });
	EXPECT(GRID, 0, DISPATCH, .grid = { 1, 1, 1 }, .group = { 32768, 32768, 4 });
	EXPECT(NONE, 0, DISPATCH, ONE, .local_bytes = VGPU_HW_LOCAL_MAX);
	EXPECT(GRID, 0, DISPATCH, ONE, .local_bytes = VGPU_HW_LOCAL_MAX + 1);
	EXPECT(GRID, 0, DISPATCH, ONE, .local_bytes = ~0U);
	EXPECT(ALIGN, 32, DISPATCH, ONE, .dst = 32);
	EXPECT(NONE, 0, DISPATCH, ONE, .dst = FB - 64);
	EXPECT(ADDRESS, FB, DISPATCH, ONE, .dst = FB);
	EXPECT(ADDRESS, ~63ULL, DISPATCH, ONE, .dst = ~63ULL);
#undef ONE
}

/* Whoever shows a surface gets all of it from the decoded packet. */
static void test_present_scanout(void **state)
{
	struct vgpu_hw_packet raw = { PRESENT, .dst = 0x123000, .present_width = 1366,
		.present_height = 768, .present_pitch = 5504, .present_head = 2 };
	const struct soft_present_operands *op;
	struct soft_packet p;
	u64 addr;

	assert_int_equal(decode(&raw, &p, &addr), VGPU_HW_FAULT_NONE);
	op = soft_packet_operands(&p, const struct soft_present_operands);
	assert_int_equal(op->head, 2);
	assert_int_equal(op->va, 0x123000);
	assert_int_equal(op->surface.offset, 0x123000);
	assert_int_equal(op->surface.width, 1366);
	assert_int_equal(op->surface.height, 768);
	assert_int_equal(op->surface.pitch, 5504);
	assert_false(op->surface.blank);
	assert_int_equal(p.bytes, 0);
}

static void test_join(void **state)
{
	struct vgpu_hw_packet raw = { COPY, .width = 4096, .rows = 16,
		.dst_pitch = 4096, .src_pitch = 4096 };
	struct soft_packet packet;
	const struct soft_move_operands *op =
		soft_packet_operands(&packet, const struct soft_move_operands);
	u64 addr;

	assert_int_equal(decode(&raw, &packet, &addr), 0);
	assert_int_equal(op->rows, 1);
	assert_int_equal(op->width, 65536);
	assert_int_equal(packet.bytes, 65536);

	raw.src_pitch = 8192;
	assert_int_equal(decode(&raw, &packet, &addr), 0);
	assert_int_equal(op->rows, 16);
	assert_int_equal(op->width, 4096);
	assert_int_equal(packet.bytes, 65536);

	/* The largest packet there is does not overflow. */
	raw = (struct vgpu_hw_packet) { FILL, .width = 0xfffffffc,
		.rows = ~0U, .dst_pitch = 0xfffffffc,
		.op_flags = VGPU_HW_OP_DST_SYS };
	assert_int_equal(decode(&raw, &packet, &addr), 0);
	assert_true(packet.bytes == 0xfffffffcULL * 0xffffffffULL);
	assert_true(op->width == packet.bytes && op->rows == 1);
}

#define HALF	(1ULL << 38)

/* Virtual addresses have two halves, and no flag says that they are physical. */
static void test_virtual(void **state)
{
	EXPECT_VIRT(NONE, 0, FILL, .width = 4, .rows = 1);
	EXPECT_VIRT(NONE, 0, FILL, .width = HALF, .rows = 1);
	EXPECT_VIRT(ADDRESS, 0, FILL, .width = HALF + 4, .rows = 1);
	EXPECT_VIRT(NONE, 0, FILL, .dst = HALF - 4, .width = 4, .rows = 1);
	EXPECT_VIRT(ADDRESS, HALF - 4, FILL, .dst = HALF - 4, .width = 8, .rows = 1);
	EXPECT_VIRT(ADDRESS, HALF, FILL, .dst = HALF, .width = 4, .rows = 1);
	EXPECT_VIRT(ADDRESS, -HALF - 4, FILL, .dst = -HALF - 4, .width = 8, .rows = 1);
	EXPECT_VIRT(NONE, 0, FILL, .dst = -HALF, .width = HALF, .rows = 1);
	EXPECT_VIRT(ADDRESS, -4ULL, FILL, .dst = -4ULL, .width = 8, .rows = 1);
	/* From one half to the other. */
	EXPECT_VIRT(ADDRESS, 0, FILL, .width = -HALF + 4, .rows = 1);
	EXPECT_VIRT(ADDRESS, 4, COPY, .dst = -HALF, .src = 4, .width = HALF, .rows = 1);
	EXPECT_VIRT(NONE, 0, COPY, .dst = -1ULL, .src = HALF - 1, .width = 1, .rows = 1);
	EXPECT_VIRT(ADDRESS, HALF, COPY, .src = HALF, .width = 1, .rows = 1);
	EXPECT_VIRT(ADDRESS, -8ULL, PRESENT, .dst = -8ULL, .present_width = 1,
		    .present_height = 3, .present_pitch = 4);
	EXPECT_VIRT(NONE, 0, FENCE, .flags = VGPU_HW_PKT_SIGNAL, .signal_addr = -8ULL);
	EXPECT_VIRT(ADDRESS, 2 * HALF, FENCE, .flags = VGPU_HW_PKT_SIGNAL, .signal_addr = 2 * HALF);
	EXPECT_VIRT(ALIGN, 2, FENCE, .flags = VGPU_HW_PKT_SIGNAL, .signal_addr = 2);

	EXPECT_VIRT(PACKET, 0, FENCE, .flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS);
	EXPECT_VIRT(PACKET, 0, FILL, .width = 4, .rows = 1, .op_flags = VGPU_HW_OP_DST_SYS);
	EXPECT_VIRT(PACKET, 0, COPY, .width = 4, .rows = 1, .op_flags = VGPU_HW_OP_DST_SYS);
	EXPECT_VIRT(PACKET, 0, COPY, .width = 4, .rows = 1, .op_flags = VGPU_HW_OP_SRC_SYS);

	assert_int_equal(soft_ring_check(-1024ULL, 4, false, &virt), VGPU_HW_FAULT_NONE);
	assert_int_equal(soft_ring_check(-960ULL, 4, false, &virt), VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(soft_ring_check(HALF - 1024, 4, false, &virt), VGPU_HW_FAULT_NONE);
	assert_int_equal(soft_ring_check(HALF - 960, 4, false, &virt), VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(soft_ring_check(FB, 4, false, &virt), VGPU_HW_FAULT_NONE);
	assert_int_equal(soft_ring_check(32, 4, false, &virt), VGPU_HW_FAULT_ALIGN);
	assert_int_equal(soft_ring_check(0, 4, true, &virt), VGPU_HW_FAULT_RING);
	assert_int_equal(soft_ring_check(0, 3, false, &virt), VGPU_HW_FAULT_RING);
}

static void test_ring(void **state)
{
	u32 order;

	for (order = 0; order < 256; order++) {
		bool ok = order >= VGPU_HW_RING_ORDER_MIN &&
			  order <= VGPU_HW_RING_ORDER_MAX;

		assert_int_equal(soft_ring_check(0, order, false, &gr),
				 ok ? VGPU_HW_FAULT_NONE : VGPU_HW_FAULT_RING);
	}
	assert_int_equal(soft_ring_check(32, 4, false, &gr),
			 VGPU_HW_FAULT_ALIGN);
	assert_int_equal(soft_ring_check(FB - 1024, 4, false, &gr),
			 VGPU_HW_FAULT_NONE);
	assert_int_equal(soft_ring_check(FB - 960, 4, false, &gr),
			 VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(soft_ring_check(~63ULL, 4, false, &gr),
			 VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(soft_ring_check(~63ULL, 4, true, &gr),
			 VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(soft_ring_check(~1023ULL, 4, true, &gr),
			 VGPU_HW_FAULT_NONE);
}

/* A value that is likely to be near an edge of the vGPU's framebuffer or of an integer type. */
static u64 edge(u64 *seed)
{
	static const u64 edges[] = {
		0, 4, 64, 4096, 65536, FB, 1ULL << 32, 1ULL << 63, 0,
	};
	u64 value = edges[random_range(seed, 0, 8)];

	if (random_one_in(seed, 3))
		value += random_range(seed, 0, 16) - 8;
	if (random_one_in(seed, 8))
		value = random_next(seed);
	if (random_one_in(seed, 2))
		value %= FB;
	return value;
}

static void check_inside(const struct soft_move_operands *op, u64 addr, u32 pitch)
{
	/* 96 bits hold any sum here; the code under test must do with 64. */
	unsigned __int128 end = (unsigned __int128)addr +
		(unsigned __int128)(op->rows - 1) * pitch + op->width;

	check_that(end <= FB, "%#llx + %u * %u + %llu", addr, op->rows - 1,
		   pitch, op->width);
}

static unsigned int check_shown(const struct soft_packet *p)
{
	const struct soft_present_operands *op =
		soft_packet_operands(p, const struct soft_present_operands);
	const struct vgpu_scanout *s = &op->surface;
	unsigned __int128 end = (unsigned __int128)s->offset +
		(unsigned __int128)(s->height - 1) * s->pitch + (unsigned __int128)s->width * 4;

	check_that(s->width && s->height && end <= FB && op->head < HEADS &&
		   s->pitch / 4 >= s->width && !(s->pitch % 4) && !(s->offset % 4),
		   "%u x %u at %#llx, %u on head %u", s->width, s->height, s->offset, s->pitch,
		   op->head);
	return 1;
}

static unsigned int check_dispatched(const struct soft_packet *p)
{
	const struct soft_dispatch_operands *op =
		soft_packet_operands(p, const struct soft_dispatch_operands);
	unsigned int i;

	for (i = 0; i < 3; i++)
		check_that(op->grid[i] && op->group[i], "dimension %u", i);
	check_that((u64)op->group[0] * op->group[1] * op->group[2] <= VGPU_HW_GROUP_MAX &&
		   op->head <= FB - 64 && !(op->head % 64) && !(op->local_bytes % 8) &&
		   op->local_bytes <= VGPU_HW_LOCAL_MAX, "%u * %u * %u at %#llx, %u", op->group[0],
		   op->group[1], op->group[2], op->head, op->local_bytes);
	return 1;
}

static void check_moved(const struct soft_packet *p)
{
	const struct soft_move_operands *op =
		soft_packet_operands(p, const struct soft_move_operands);

	if (!op->dst_sys)
		check_inside(op, op->dst, op->dst_pitch);
	if (p->type == VGPU_HW_PKT_COPY && !op->src_sys)
		check_inside(op, op->src, op->src_pitch);
	check_that(p->bytes == op->width * op->rows, "%llu", p->bytes);
}

/* All packets that pass stay inside, as arithmetic that cannot overflow says. */
static void test_random(void **state)
{
	u64 seed = test_seed(), passed = 0, presents = 0, dispatches = 0, addr;
	struct vgpu_hw_packet raw;
	struct soft_packet p;
	unsigned int i;

	for (i = 0; i < NR_RANDOM; i++) {
		memset(&raw, 0, sizeof(raw));
		raw.type = random_range(&seed, 0, VGPU_HW_PKT_END);
		raw.op_flags = random_range(&seed, 0, 3);
		raw.dst = edge(&seed);
		raw.src = edge(&seed);
		raw.width = edge(&seed);
		raw.rows = random_one_in(&seed, 2) ? 1 : edge(&seed);
		if (raw.rows != 1) {
			raw.dst_pitch = edge(&seed);
			raw.src_pitch = edge(&seed);
		}
		if (random_one_in(&seed, 4)) {
			raw.flags = random_next(&seed);
			raw.vector = random_range(&seed, 0, 40);
			raw.signal_addr = edge(&seed);
			raw.signal_value = random_next(&seed);
		}
		if (raw.type == VGPU_HW_PKT_FILL) {
			raw.src_pitch = 0;
			raw.value_pad = 0;
			if (random_one_in(&seed, 2)) {
				raw.dst &= ~3ULL;
				raw.width &= ~3ULL;
				raw.dst_pitch &= ~3U;
			}
		}
		if (raw.type == VGPU_HW_PKT_PRESENT && random_one_in(&seed, 2)) {
			raw.op_flags = 0;
			raw.dst &= ~3ULL;
			raw.present_width = random_range(&seed, 1, 8192);
			raw.present_height = edge(&seed);
			raw.present_pitch = raw.present_width * 4 + (edge(&seed) & 0xfffc);
			raw.present_format = VGPU_HW_FORMAT_XRGB8888;
			raw.present_head = random_range(&seed, 0, HEADS);
			raw.dst_pitch = 0;
			raw.src_pitch = 0;
		}
		if (raw.type == VGPU_HW_PKT_DISPATCH && random_one_in(&seed, 2)) {
			raw.op_flags = 0;
			raw.dst &= ~63ULL;
			raw.grid[2] |= 1;
			raw.local_bytes = edge(&seed);
			raw.group[0] = random_range(&seed, 1, 64);
			raw.group[1] = random_range(&seed, 1, 64);
			raw.group[2] = 1;
			raw.group_pad = 0;
		}
		if (random_one_in(&seed, 50))
			((u8 *)&raw)[random_range(&seed, 0, 63)] ^=
				1 << random_range(&seed, 0, 7);

		if (decode(&raw, &p, &addr))
			continue;
		passed++;
		check_that(addr == 0, "%#llx", addr);
		if (p.signal && !p.signal_sys)
			check_that(p.signal_addr <= FB - 8, "%#llx",
				   p.signal_addr);
		if (p.irq)
			check_that(p.vector < VGPU_HW_VECTORS, "%u", p.vector);
		if (p.type == VGPU_HW_PKT_FILL || p.type == VGPU_HW_PKT_COPY)
			check_moved(&p);
		else
			assert_int_equal(p.bytes, 0);
		if (p.type == VGPU_HW_PKT_PRESENT)
			presents += check_shown(&p);
		if (p.type == VGPU_HW_PKT_DISPATCH)
			dispatches += check_dispatched(&p);
	}
	printf("# %llu of %u random packets were good, %llu of them PRESENT, %llu DISPATCH\n",
	       (unsigned long long)passed, NR_RANDOM, (unsigned long long)presents,
	       (unsigned long long)dispatches);
	assert_true(dispatches > NR_RANDOM / 1000);
	assert_true(presents > NR_RANDOM / 1000);
	assert_true(passed > NR_RANDOM / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_present),
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_present_scanout),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_virtual),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
