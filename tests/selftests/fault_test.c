// SPDX-License-Identifier: GPL-2.0
/*
 * A VM's mistake faults the channel on which it is made, with a code and the packet's position,
 * and nothing else.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "fixture.h"

#define GOOD	5	/* packets before the bad one */

static struct fx_vgpu v, other;
static struct vgpu_buf buf;

/**
 * struct bad - a packet that faults
 * @what:   the mistake, in words
 * @code:   the fault that comes of it
 * @ce:     the packet is for a copy engine, else for gr
 * @end:    which addresses of the packet are counted from the framebuffer's end: END_*
 * @packet: in the CPU's byte order
 */
#define END_DST		1
#define END_SRC		2
#define END_SIGNAL	4
#define NO_SYS		0x7fff00000000ull	/* not mapped */

struct bad {
	const char *what;
	enum vgpu_hw_fault code;
	bool ce;
	unsigned int end;
	struct vgpu_hw_packet packet;
};

static const struct bad bads[] = {
	{ "type 0", VGPU_HW_FAULT_PACKET, false, 0, { .type = 0 } },
	{ "type 7", VGPU_HW_FAULT_PACKET, false, 0, { .type = VGPU_HW_PKT_END } },
	{ "type 255", VGPU_HW_FAULT_PACKET, true, 0, { .type = 255 } },
	{ "flags", VGPU_HW_FAULT_PACKET, false, 0, { .type = VGPU_HW_PKT_NOP, .flags = 0x10 } },
	{ "op_flags of NOP", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_NOP, .op_flags = 1 } },
	{ "dst of NOP", VGPU_HW_FAULT_PACKET, false, 0, { .type = VGPU_HW_PKT_NOP, .dst = 4096 } },
	{ "signal without SIGNAL", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_NOP, .signal_addr = 8 } },
	{ "value without SIGNAL", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_NOP, .signal_value = 1 } },
	{ "vector without IRQ", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_NOP, .vector = 1 } },
	{ "vector that is not there", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_NOP, .flags = VGPU_HW_PKT_IRQ,
		.vector = VGPU_HW_VECTORS } },
	{ "fence that tells nobody", VGPU_HW_FAULT_PACKET, true, 0, { .type = VGPU_HW_PKT_FENCE } },
	{ "signal misaligned", VGPU_HW_FAULT_ALIGN, true, 0, {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL,
		.signal_addr = 4 } },
	{ "signal behind the framebuffer", VGPU_HW_FAULT_ADDRESS, true, END_SIGNAL, {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL } },
	{ "signal at the end of addresses", VGPU_HW_FAULT_ADDRESS, true, 0, {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL,
		.signal_addr = ~7ull } },
	{ "signal unmapped", VGPU_HW_FAULT_DMA, true, 0, {
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS,
		.signal_addr = NO_SYS } },
	{ "fill of no bytes", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_FILL, .rows = 1 } },
	{ "fill of no rows", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 4 } },
	{ "fill with SRC_SYS", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 4, .rows = 1,
		.op_flags = VGPU_HW_OP_SRC_SYS } },
	{ "fill, pitch of one row", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 4, .rows = 1,
		.dst_pitch = 8 } },
	{ "fill, pitch below width", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 8, .rows = 2,
		.dst_pitch = 4 } },
	{ "fill, dst misaligned", VGPU_HW_FAULT_ALIGN, false, 0, {
		.type = VGPU_HW_PKT_FILL, .dst = 2, .width = 4, .rows = 1 } },
	{ "fill, width misaligned", VGPU_HW_FAULT_ALIGN, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 6, .rows = 1 } },
	{ "fill behind the framebuffer", VGPU_HW_FAULT_ADDRESS, false, END_DST, {
		.type = VGPU_HW_PKT_FILL, .width = 4, .rows = 1 } },
	{ "fill over the framebuffer's end", VGPU_HW_FAULT_ADDRESS, true, END_DST, {
		.type = VGPU_HW_PKT_FILL, .dst = (__u64)-4096, .width = 4100,
		.rows = 1 } },
	{ "fill that wraps", VGPU_HW_FAULT_ADDRESS, false, 0, {
		.type = VGPU_HW_PKT_FILL, .dst = (__u64)-4096, .width = 8192,
		.rows = 1 } },
	{ "fill of everything", VGPU_HW_FAULT_ADDRESS, false, 0, {
		.type = VGPU_HW_PKT_FILL, .width = ~3ull, .rows = 1 } },
	{ "fill, rows over the end", VGPU_HW_FAULT_ADDRESS, true, 0, {
		.type = VGPU_HW_PKT_FILL, .width = 4, .rows = 0xffffffff,
		.dst_pitch = 0xfffffffc } },
	{ "fill unmapped", VGPU_HW_FAULT_DMA, false, 0, {
		.type = VGPU_HW_PKT_FILL, .dst = NO_SYS, .width = 4, .rows = 1,
		.op_flags = VGPU_HW_OP_DST_SYS } },
	{ "fill of guest memory that wraps", VGPU_HW_FAULT_ADDRESS, false, 0, {
		.type = VGPU_HW_PKT_FILL, .dst = (__u64)-4096, .width = 8192,
		.rows = 1, .op_flags = VGPU_HW_OP_DST_SYS } },
	{ "copy from behind the framebuffer", VGPU_HW_FAULT_ADDRESS, true, END_SRC, {
		.type = VGPU_HW_PKT_COPY, .width = 1, .rows = 1 } },
	{ "copy to behind the framebuffer", VGPU_HW_FAULT_ADDRESS, true, END_DST, {
		.type = VGPU_HW_PKT_COPY, .width = 1, .rows = 1 } },
	{ "copy from unmapped", VGPU_HW_FAULT_DMA, true, 0, {
		.type = VGPU_HW_PKT_COPY, .src = NO_SYS, .width = 100000,
		.rows = 1, .op_flags = VGPU_HW_OP_SRC_SYS } },
	{ "copy to unmapped", VGPU_HW_FAULT_DMA, true, 0, {
		.type = VGPU_HW_PKT_COPY, .dst = NO_SYS, .width = 100000,
		.rows = 1, .op_flags = VGPU_HW_OP_DST_SYS } },
	{ "copy, src_pitch below width", VGPU_HW_FAULT_PACKET, true, 0, {
		.type = VGPU_HW_PKT_COPY, .width = 8, .rows = 2,
		.dst_pitch = 8, .src_pitch = 7 } },
	{ "copy, reserved field", VGPU_HW_FAULT_PACKET, true, 0, {
		.type = VGPU_HW_PKT_COPY, .width = 8, .rows = 1, .pad = 1 } },
	{ "present on a copy engine", VGPU_HW_FAULT_PACKET, true, 0, {
		.type = VGPU_HW_PKT_PRESENT, .present_width = 64,
		.present_height = 64, .present_pitch = 256,
		.present_format = VGPU_HW_FORMAT_XRGB8888 } },
	{ "present of unknown format", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_PRESENT, .present_width = 64,
		.present_height = 64, .present_pitch = 256,
		.present_format = 1 } },
	{ "present, pitch below width", VGPU_HW_FAULT_PACKET, false, 0, {
		.type = VGPU_HW_PKT_PRESENT, .present_width = 64,
		.present_height = 64, .present_pitch = 252,
		.present_format = VGPU_HW_FORMAT_XRGB8888 } },
	{ "present behind the framebuffer", VGPU_HW_FAULT_ADDRESS, false, END_DST, {
		.type = VGPU_HW_PKT_PRESENT, .present_width = 64,
		.present_height = 64, .present_pitch = 256,
		.present_format = VGPU_HW_FORMAT_XRGB8888 } },
};

/* The packet in the device's byte order, with the framebuffer's end added where @end says so. */
static struct vgpu_hw_packet encode(const struct bad *bad)
{
	struct vgpu_hw_packet p = bad->packet;
	uint64_t end = v.dev->fb_bytes;

	p.vector = htole16(p.vector);
	p.op_flags = htole32(p.op_flags);
	p.dst = htole64(p.dst + (bad->end & END_DST ? end : 0));
	if (p.type == VGPU_HW_PKT_PRESENT) {
		p.present_width = htole32(p.present_width);
		p.present_height = htole32(p.present_height);
		p.present_pitch = htole32(p.present_pitch);
		p.present_format = htole32(p.present_format);
	} else {
		p.src = htole64(p.src + (bad->end & END_SRC ? end : 0));
		p.width = htole64(p.width);
	}
	p.rows = htole32(p.rows);
	p.pad = htole32(p.pad);
	p.dst_pitch = htole32(p.dst_pitch);
	p.src_pitch = htole32(p.src_pitch);
	p.signal_addr = htole64(p.signal_addr + (bad->end & END_SIGNAL ? end : 0));
	p.signal_value = htole64(p.signal_value);
	return p;
}

static void check_fault(struct vgpu_chan *chan, uint32_t code, uint64_t pos, const char *what)
{
	uint64_t base = VGPU_HW_DEV_BASE;
	struct vgpu_fault fault;
	uint32_t value;

	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, code, "%s", what);
	CHECK_EQ(fault.pos, pos, "%s", what);
	/* Channel page and device registers say the same as the channel's registers. */
	CHECK_EQ(le32toh(chan->page->fault_code), code, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_pos), pos, "%s", what);
	CHECK_EQ(vgpu_chan_get(chan), pos, "%s", what);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_STATE), &value));
	CHECK_EQ(value, VGPU_HW_STATE_FAULTED, "%s", what);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, base + VGPU_HW_FAULT_CHANNEL, &value));
	CHECK_EQ(value, chan->id, "%s", what);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, base + VGPU_HW_INTR, &value));
	CHECK(value & VGPU_HW_INTR_FAULT, "%s", what);
	FX_OK(v.dev, vgpu_reg_write32(v.dev, base + VGPU_HW_INTR, VGPU_HW_INTR_FAULT));
	FX_OK(v.dev, vgpu_reg_read32(v.dev, base + VGPU_HW_INTR, &value));
	CHECK(!(value & VGPU_HW_INTR_FAULT), "%s: stays after RW1C", what);
}

static void recover(struct vgpu_chan *chan)
{
	struct vgpu_fault fault;

	FX_OK(v.dev, vgpu_chan_disable(chan));
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	FX_OK(v.dev, vgpu_chan_enable(chan));
	FX_OK(v.dev, vgpu_chan_fault(chan, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_NONE);
	fx_finish(chan);
}

static void every_packet_fault(void)
{
	struct vgpu_chan *gr, *ce, *chan, *bystander;
	struct vgpu_hw_packet p[GOOD + 2];
	unsigned int i, k;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	gr = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 5);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 5);
	bystander = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 5);
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		chan = bads[i].ce ? ce : gr;
		recover(chan);
		memset(p, 0, sizeof(p));
		for (k = 0; k < GOOD + 2; k++)
			p[k].type = VGPU_HW_PKT_NOP;
		p[GOOD] = encode(&bads[i]);
		fx_again(chan);
		FX_OK(v.dev, vgpu_chan_submit(chan, p, GOOD + 2));
		check_fault(chan, bads[i].code, GOOD, bads[i].what);
		fx_finish(bystander);
	}
}

/* The fault registers name the address that failed. */
static void fault_address(void)
{
	struct vgpu_chan *chan;
	struct vgpu_fault fault;
	uint64_t end;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 5);
	end = v.dev->fb_bytes;
	fx_fill_fails(chan, end + 64, &fault);
	CHECK_EQ(fault.addr, end + 64);
	recover(chan);
	/* Guest memory that ends in the middle of a copy. */
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 65536, &buf));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_SYS(&buf, 0), 0x77777777, 65536 + 4096));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_DMA);
	CHECK(fault.addr >= buf.iova && fault.addr <= buf.iova + 65536 + 4096,
	      "%#llx", (unsigned long long)fault.addr);
	recover(chan);
	vgpu_buf_free(&buf);
}

static void put_jumps(void)
{
	static const struct {
		const char *what;
		uint64_t first, second;
	} jumps[] = {
		{ "ahead by more than the ring", 0, 17 },
		{ "far ahead", 0, 1ull << 63 },
		{ "to the end of numbers", 0, ~0ull },
		{ "back", 4, 3 },
		{ "back to 0", 4, 0 },
	};
	struct vgpu_chan *chan;
	unsigned int i, k;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		recover(chan);
		fx_again(chan);
		for (k = 0; k < 16; k++) {
			memset(&chan->ring[k], 0, sizeof(chan->ring[k]));
			chan->ring[k].type = VGPU_HW_PKT_NOP;
		}
		if (jumps[i].first) {
			FX_OK(v.dev, vgpu_chan_kick(chan, jumps[i].first));
			FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
		}
		FX_OK(v.dev, vgpu_chan_kick(chan, jumps[i].second));
		check_fault(chan, VGPU_HW_FAULT_RING, jumps[i].first, jumps[i].what);
	}
	recover(chan);
}

/* A channel that is enabled with impossible values faults, or is not enabled. */
static void bad_rings(void)
{
	struct {
		const char *what;
		uint64_t ring;
		uint32_t ctrl;
	} rings[] = {
		{ "order 3", 0, 3 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "order 17", 0, 17 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "order 255", 0, 255u << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "misaligned", 32, 4 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "behind the framebuffer", 0, 4 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "over the end", 0, 5 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "wraps", ~63ull, 4 << VGPU_HW_CTRL_ORDER_SHIFT },
		{ "unmapped", NO_SYS, 4 << VGPU_HW_CTRL_ORDER_SHIFT | VGPU_HW_CTRL_RING_SYS },
		{ "engine 255", 0, 4 << VGPU_HW_CTRL_ORDER_SHIFT | VGPU_HW_CTRL_ENGINE_MASK },
	};
	struct vgpu_chan *chan, *bystander;
	struct vgpu_fault fault;
	unsigned int i;
	ssize_t n;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	bystander = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	rings[4].ring = v.dev->fb_bytes;
	rings[5].ring = v.dev->fb_bytes - 1024;
	for (i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		uint32_t ctrl = htole32(rings[i].ctrl | VGPU_HW_CTRL_ENABLE);

		recover(chan);
		FX_OK(v.dev, vgpu_chan_disable(chan));
		chan->page->put = 0;
		FX_OK(v.dev, vgpu_reg_write64(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_RING),
					      rings[i].ring));
		n = vgpu_region_write(v.dev, VGPU_HW_BAR_REGS,
				      vgpu_chan_reg(chan->id, VGPU_HW_CHAN_CTRL),
				      &ctrl, 4);
		if (n < 0) {
			CHECK_EQ(n, -EINVAL, "%s", rings[i].what);
			CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED,
				 "%s", rings[i].what);
		} else {
			FX_OK(v.dev, vgpu_chan_kick(chan, 1));
			FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
			ktap_note("%s: %s", rings[i].what, vgpu_fault_name(fault.code));
			CHECK(fault.code == VGPU_HW_FAULT_RING ||
			      fault.code == VGPU_HW_FAULT_ALIGN ||
			      fault.code == VGPU_HW_FAULT_ADDRESS ||
			      fault.code == VGPU_HW_FAULT_DMA, "%s: %u", rings[i].what, fault.code);
		}
		fx_finish(bystander);
	}
	recover(chan);
}

/* A VM may write anything to a channel page: no other channel suffers from that. */
static void scribbled_channel_page(void)
{
	struct vgpu_chan *chan, *bystander;
	uint8_t *page;
	unsigned int i, k;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	bystander = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	page = (void *)chan->page;
	for (i = 0; i < 100; i++) {
		for (k = 0; k < 256; k++)
			page[k] = (uint8_t)fx_random();
		for (k = 0; k < 16 * 64; k++)
			((uint8_t *)chan->ring)[k] = (uint8_t)fx_random();
		if (i % 2)
			chan->page->put = htole64(fx_random_below(17));
		FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_DOORBELL),
					      1));
		fx_finish(bystander);
		recover(chan);
	}
}

/* A neighbour works on the same engine while a vGPU faults and recovers. */
static void neighbour_is_unaffected(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_ctl_instance before, after;
	struct vgpu_fault fault;
	unsigned int i;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	neighbour = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	fx_instance(&other, &before);
	for (i = 0; i < 20; i++) {
		FX_OK(other.dev, vgpu_chan_fill(neighbour, VGPU_FB(1 << 20),
						i * 0x01010101u, 1 << 20));
		fx_fill_fails(chan, v.dev->fb_bytes, &fault);
		fx_finish(neighbour);
		CHECK_EQ(other.dev->fb[1 << 20], i);
		CHECK_EQ(other.dev->fb[(2 << 20) - 1], i);
		recover(chan);
	}
	fx_instance(&other, &after);
	CHECK_EQ(after.faults, before.faults, "of the neighbour");
	FX_SOON(fx_faults(&v) >= 20);
}

/* The driver counts faults of a vGPU and of an engine. */
static void faults_are_counted(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	fx_instance(&v, &before);
	fx_fill_fails(chan, v.dev->fb_bytes, &fault);
	FX_SOON((fx_instance(&v, &after), after.faults > before.faults &&
		 after.engine[chan->engine].faults > before.engine[chan->engine].faults));
	CHECK_EQ(after.faults, before.faults + 1);
	CHECK_EQ(after.engine[chan->engine].faults, before.engine[chan->engine].faults + 1);
	/* A reset of the device leaves the counters as they are. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	fx_instance(&v, &after);
	CHECK_EQ(after.faults, before.faults + 1);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_packet_fault),
	KTAP_TEST(fault_address),
	KTAP_TEST(put_jumps),
	KTAP_TEST(bad_rings),
	KTAP_TEST(scribbled_channel_page),
	KTAP_TEST(neighbour_is_unaffected),
	KTAP_TEST(faults_are_counted),
};

KTAP_MAIN(tests, fx_cleanup)
