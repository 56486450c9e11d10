// SPDX-License-Identifier: GPL-2.0
/*
 * What an address space does not allow faults the channel, with the address that failed, and
 * nothing else.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "space.h"

#define CE		VGPU_HW_ENGINE_CE
#define BASE		0x40000000ull
#define P(n)		(BASE + (n) * PAGE)
#define REGION(n)	(BASE + (n) * 2 * FX_MIB)
#define NO_SYS		0x7fff00000000ull	/* not mapped */
#define HALF		(1ull << (VGPU_HW_VA_BITS - 1))
#define GOOD		3	/* packets before the bad one */

static struct vgpu_chan *bystander;

/* Writes an entry as it is. */
static void entry(uint64_t va, unsigned int level, uint64_t addr, uint64_t bits)
{
	uint64_t *at = vgpu_space_entry(space, va, level);

	CHECK(at, "%s", vgpu_dev_error(v.dev));
	*at = htole64(addr / PAGE << VGPU_HW_PTE_PAGE_SHIFT | bits);
}

/* What is at which page of BASE, and at which region. */
enum {
	FIRST,			/* the first of eight good pages */
	READ = 8,
	HOLE,
	SYS,
	IMAGE,
	WRITE,			/* and not R: reserved */
	RESERVED,
	NAPOT,
	OUTSIDE,
	DEEP,			/* a table, where the levels end */
	NO_ANSWER,
	SYS_READ,
	SYS_NEXT,

	BENT = 1,		/* a superpage, not aligned */
	BIG_OUTSIDE,
	TABLE_OUTSIDE,
	TABLE_SYS,
	EMPTY,
	LOOP,			/* the root, once more */
};

static void make_tables(void)
{
	uint64_t fb = fx_fb(&v, 8 * PAGE, PAGE), end = v.dev->fb_bytes;
	uint64_t root = (space->root & VGPU_HW_ROOT_PAGE_MASK) * PAGE;
	const uint64_t valid = VGPU_HW_PTE_V, good = valid | RW;

	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 4 * PAGE, &buf));
	FX_OK(v.dev, vgpu_space_map(space, P(FIRST), VGPU_FB(fb), 8 * PAGE, RW));
	entry(P(READ), 0, fb, valid | VGPU_HW_PTE_R);
	entry(P(SYS), 0, buf.iova, good | VGPU_HW_PTE_SYS);
	entry(P(IMAGE), 0, fb, valid | VGPU_HW_PTE_X);
	entry(P(WRITE), 0, fb, valid | VGPU_HW_PTE_W);
	entry(P(RESERVED), 0, fb, good | 1ull << 57);
	entry(P(NAPOT), 0, fb, good | 1ull << 63);
	entry(P(OUTSIDE), 0, end, good);
	entry(P(DEEP), 0, fb, valid);
	entry(P(NO_ANSWER), 0, NO_SYS, good | VGPU_HW_PTE_SYS);
	entry(P(SYS_READ), 0, buf.iova, valid | VGPU_HW_PTE_R | VGPU_HW_PTE_SYS);
	entry(P(SYS_NEXT), 0, buf.iova, good | VGPU_HW_PTE_SYS);
	entry(REGION(BENT), 1, PAGE, good);
	entry(REGION(BIG_OUTSIDE), 1, end, good);
	entry(REGION(TABLE_OUTSIDE), 1, end, valid);
	entry(REGION(TABLE_SYS), 1, fb, valid | VGPU_HW_PTE_SYS);
	entry(REGION(LOOP), 1, root, valid);
}

/**
 * struct bad - a packet that faults
 * @what: in words
 * @type: FILL, COPY or PRESENT, or NOP for its signal
 * @dst:  where to; of a NOP the signal's address
 * @src:  of a COPY
 * @width: bytes of one row; of a PRESENT pixels
 * @code: the fault
 * @addr: the fault's address
 * @flags: of the packet
 * @op_flags: likewise
 */
struct bad {
	const char *what;
	uint8_t type;
	uint64_t dst;
	uint64_t src;
	uint64_t width;
	uint32_t code;
	uint64_t addr;
	uint8_t flags;
	uint32_t op_flags;
};

#define DOES(t, d, s, w)	.type = VGPU_HW_PKT_##t, .dst = (d), .src = (s), .width = (w)
#define FILL(dst, width)	DOES(FILL, dst, 0, width)
#define COPY(dst, src, width)	DOES(COPY, dst, src, width)
#define SHOW(dst, width)	DOES(PRESENT, dst, 0, width)
#define SIGNAL(dst)		DOES(NOP, dst, 0, 0)
#define FAULTS(c, a)		.code = VGPU_HW_FAULT_##c, .addr = (a)
#define NO_PAGE(addr)		FAULTS(PAGE, addr)
#define NO_ADDRESS(addr)	FAULTS(ADDRESS, addr)

static const struct bad bads[] = {
	{ "fill nothing", FILL(P(HOLE), 4), NO_PAGE(P(HOLE)) },
	{ "fill at 0", FILL(0, 4), NO_PAGE(0) },
	{ "fill inside of nothing", FILL(P(HOLE) + 64, 64), NO_PAGE(P(HOLE) + 64) },
	{ "fill of what is read-only", FILL(P(READ), 4), NO_PAGE(P(READ)) },
	{ "fill up to there", FILL(P(READ) - 8, 16), NO_PAGE(P(READ)) },
	{ "fill of an image", FILL(P(IMAGE), 4), NO_PAGE(P(IMAGE)) },
	{ "fill, W without R", FILL(P(WRITE), 4), NO_PAGE(P(WRITE)) },
	{ "fill, reserved bit", FILL(P(RESERVED), 4), NO_PAGE(P(RESERVED)) },
	{ "fill, N bit", FILL(P(NAPOT), 4), NO_PAGE(P(NAPOT)) },
	{ "fill behind the framebuffer", FILL(P(OUTSIDE), 4), NO_PAGE(P(OUTSIDE)) },
	{ "fill, four levels", FILL(P(DEEP), 4), NO_PAGE(P(DEEP)) },
	{ "fill, superpage not aligned", FILL(REGION(BENT) + 8, 4), NO_PAGE(REGION(BENT) + 8) },
	{ "fill, superpage outside", FILL(REGION(BIG_OUTSIDE), 4), NO_PAGE(REGION(BIG_OUTSIDE)) },
	{ "fill, table outside", FILL(REGION(TABLE_OUTSIDE), 4), NO_PAGE(REGION(TABLE_OUTSIDE)) },
	{ "fill, table in guest memory", FILL(REGION(TABLE_SYS), 4), NO_PAGE(REGION(TABLE_SYS)) },
	{ "fill, no table", FILL(REGION(EMPTY), 4), NO_PAGE(REGION(EMPTY)) },
	{ "fill, a loop of tables", FILL(REGION(LOOP) + PAGE, 4), NO_PAGE(REGION(LOOP) + PAGE) },
	{ "fill guest memory that is read-only", FILL(P(SYS_READ), 4), NO_PAGE(P(SYS_READ)) },
	{ "fill guest memory that is not there", FILL(P(NO_ANSWER), 4),
		FAULTS(DMA, P(NO_ANSWER)) },
	{ "copy from nothing", COPY(P(0), P(HOLE) + 1, 1), NO_PAGE(P(HOLE) + 1) },
	{ "copy to nothing", COPY(P(HOLE) + 3, P(0), 1), NO_PAGE(P(HOLE) + 3) },
	{ "copy up to nothing", COPY(P(0), P(READ), 2 * PAGE), NO_PAGE(P(HOLE)) },
	{ "copy to what is read-only", COPY(P(7), P(0), PAGE + 1), NO_PAGE(P(READ)) },
	{ "copy of an image", COPY(P(0), P(IMAGE), 8), NO_PAGE(P(IMAGE)) },
	{ "copy guest memory that is not there", COPY(P(0), P(NO_ANSWER), 8),
		FAULTS(DMA, P(NO_ANSWER)) },
	{ "copy from there to guest memory", COPY(P(SYS), P(NO_ANSWER), 8),
		FAULTS(DMA, P(NO_ANSWER)) },
	{ "copy to guest memory that is not there", COPY(P(NO_ANSWER) + 5, P(SYS), 8),
		FAULTS(DMA, P(NO_ANSWER) + 5) },
	{ "copy from guest memory up to nothing", COPY(P(0), P(SYS_NEXT), 2 * PAGE),
		NO_PAGE(P(SYS_NEXT + 1)) },
	{ "signal to nothing", SIGNAL(P(HOLE) + 8), NO_PAGE(P(HOLE) + 8) },
	{ "signal to what is read-only", SIGNAL(P(READ)), NO_PAGE(P(READ)) },
	{ "signal to guest memory", SIGNAL(P(SYS)), NO_PAGE(P(SYS)) },
	{ "signal with SIGNAL_SYS", SIGNAL(P(SYS)), FAULTS(PACKET, 0),
		.flags = VGPU_HW_PKT_SIGNAL_SYS },
	{ "signal not aligned", SIGNAL(P(0) + 4), FAULTS(ALIGN, P(0) + 4) },
	{ "signal behind the lower half", SIGNAL(HALF), NO_ADDRESS(HALF) },
	{ "present nothing", SHOW(P(HOLE), 16), NO_PAGE(P(HOLE)) },
	{ "present guest memory", SHOW(P(SYS), 16), NO_PAGE(P(SYS)) },
	{ "present up to a break", SHOW(P(7), 1200), NO_PAGE(P(READ)) },
	{ "fill with DST_SYS", FILL(P(0), 4), FAULTS(PACKET, 0),
		.op_flags = VGPU_HW_OP_DST_SYS },
	{ "copy with SRC_SYS", COPY(P(0), P(4), 4), FAULTS(PACKET, 0),
		.op_flags = VGPU_HW_OP_SRC_SYS },
	{ "fill behind the lower half", FILL(HALF, 4), NO_ADDRESS(HALF) },
	{ "fill over its end", FILL(HALF - 4, 8), NO_ADDRESS(HALF - 4) },
	{ "fill before the upper half", FILL(-HALF - 4, 4), NO_ADDRESS(-HALF - 4) },
	{ "fill around the end", FILL(-4ull, 8), NO_ADDRESS(-4ull) },
	{ "fill of both halves", FILL(0, -4ull), NO_ADDRESS(0) },
};

static struct vgpu_hw_packet encode(const struct bad *bad)
{
	struct vgpu_hw_packet p = { .type = bad->type, .flags = bad->flags,
				    .op_flags = htole32(bad->op_flags) };

	if (bad->type == VGPU_HW_PKT_NOP) {
		p.flags |= VGPU_HW_PKT_SIGNAL;
		p.signal_addr = htole64(bad->dst);
		return p;
	}
	p.dst = htole64(bad->dst);
	if (bad->type == VGPU_HW_PKT_PRESENT) {
		p.present_width = htole32((uint32_t)bad->width);
		p.present_height = htole32(1);
		p.present_pitch = htole32((uint32_t)bad->width * 4);
		p.present_format = htole32(VGPU_HW_FORMAT_XRGB8888);
		return p;
	}
	p.src = htole64(bad->src);
	p.width = htole64(bad->width);
	p.rows = htole32(1);
	return p;
}

static void begin(void)
{
	fx_need("execution");
	fx_need_no_quarantine();
	space_make();
	chan = fx_chan_in(space, VGPU_HW_ENGINE_GR, 0, RING_VA, 8);
	bystander = fx_chan_in(space, CE, 0, 2 * RING_VA, 4);
	make_tables();
}

static void check_fault(uint32_t code, uint64_t addr, uint64_t pos, const char *what)
{
	struct vgpu_fault fault;

	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, code, "%s", what);
	CHECK_EQ(fault.addr, addr, "%s", what);
	CHECK_EQ(fault.pos, pos, "%s", what);
	CHECK_EQ(le32toh(chan->page->fault_code), code, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_addr), addr, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_pos), pos, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_pc), 0, "%s", what);
	fx_finish(bystander);
}

static void every_packet_fault(void)
{
	struct vgpu_hw_packet p[GOOD + 2];
	unsigned int i, k;

	begin();
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		memset(p, 0, sizeof(p));
		for (k = 0; k < GOOD + 2; k++)
			p[k].type = VGPU_HW_PKT_NOP;
		p[GOOD] = encode(&bads[i]);
		fx_again(chan);
		CHECK_EQ(le64toh(chan->page->fault_addr), 0, "%s", bads[i].what);
		FX_OK(v.dev, vgpu_chan_submit(chan, p, GOOD + 2));
		check_fault(bads[i].code, bads[i].addr, GOOD, bads[i].what);
	}
	fx_again(chan);
	fx_finish(chan);
}

static void enable(uint64_t ring, uint32_t root, uint32_t flags)
{
	uint32_t ctrl = VGPU_HW_CTRL_ENABLE | chan->order << VGPU_HW_CTRL_ORDER_SHIFT |
		chan->engine << VGPU_HW_CTRL_ENGINE_SHIFT | flags;

	FX_OK(v.dev, vgpu_chan_disable(chan));
	chan->page->put = 0;
	FX_OK(v.dev, vgpu_reg_write64(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_RING), ring));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_ROOT), root));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_CTRL), ctrl));
}

/* A channel that cannot begin faults when it is enabled. */
static void bad_rings(void)
{
	uint32_t outside, good;

	begin();
	good = space->root;
	outside = VGPU_HW_ROOT_VALID | (uint32_t)(v.dev->fb_bytes / PAGE);
	enable(RING_VA, outside, 0);
	check_fault(VGPU_HW_FAULT_PAGE, RING_VA, 0, "root behind the framebuffer");
	enable(RING_VA, ~0u, 0);
	check_fault(VGPU_HW_FAULT_PAGE, RING_VA, 0, "root far away");
	enable(RING_VA, good, VGPU_HW_CTRL_RING_SYS);
	check_fault(VGPU_HW_FAULT_RING, 0, 0, "RING_SYS");
	enable(HALF, good, 0);
	check_fault(VGPU_HW_FAULT_ADDRESS, HALF, 0, "behind the lower half");
	enable(HALF - PAGE, good, 0);
	check_fault(VGPU_HW_FAULT_ADDRESS, HALF - PAGE, 0, "over its end");
	enable(RING_VA + 32, good, 0);
	check_fault(VGPU_HW_FAULT_ALIGN, RING_VA + 32, 0, "not aligned");
	FX_OK(v.dev, vgpu_chan_disable(chan));
	FX_OK(v.dev, vgpu_chan_enable(chan));
	fx_finish(chan);
}

/* Pages of a ring are looked for when its packets are. */
static void ring_pages(void)
{
	struct vgpu_hw_packet nops[200];
	uint64_t ring;
	unsigned int i;

	begin();
	ring = (uint64_t)((uint8_t *)chan->ring - v.dev->fb);
	memset(nops, 0, sizeof(nops));
	for (i = 0; i < 200; i++)
		nops[i].type = VGPU_HW_PKT_NOP;
	enable(P(HOLE), space->root, 0);
	FX_OK(v.dev, vgpu_chan_kick(chan, 1));
	check_fault(VGPU_HW_FAULT_PAGE, P(HOLE), 0, "ring of nothing");
	enable(P(SYS), space->root, 0);
	FX_OK(v.dev, vgpu_chan_kick(chan, 1));
	check_fault(VGPU_HW_FAULT_PAGE, P(SYS), 0, "ring in guest memory");
	enable(P(IMAGE), space->root, 0);
	FX_OK(v.dev, vgpu_chan_kick(chan, 1));
	check_fault(VGPU_HW_FAULT_PAGE, P(IMAGE), 0, "ring that is not to be read");

	entry(RING_VA, 0, ring, VGPU_HW_PTE_V | VGPU_HW_PTE_R);
	entry(RING_VA + PAGE, 0, ring, 0);
	FX_OK(v.dev, vgpu_space_invalidate(space));
	fx_again(chan);
	FX_OK(v.dev, vgpu_chan_submit(chan, nops, 64));
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	FX_OK(v.dev, vgpu_chan_submit(chan, nops, 100));
	check_fault(VGPU_HW_FAULT_PAGE, RING_VA + PAGE, 64, "second page of a ring");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_packet_fault),
	KTAP_TEST(bad_rings),
	KTAP_TEST(ring_pages),
};

KTAP_MAIN(tests, space_cleanup)
