// SPDX-License-Identifier: GPL-2.0
/* Rings, packets, page tables, channel registers and channel pages, right and wrong ones. */
#include <endian.h>
#include <string.h>

#include "fuzz.h"
#include "rv.h"

#define WORK_ORDER	4
#define WORK_PACKETS	(1u << WORK_ORDER)

/* The number of the first page of framebuffer that is a page table, and how many there are. */
#define WORK_TABLES	16

/* Likewise of the pages that have a program each: the head, and code in the next page. */
#define WORK_PROGRAM	32
#define WORK_PROGRAMS	8
#define WORK_WORDS	64

static uint64_t work_fb(struct fuzz_life *life, struct rng *rng)
{
	/* Mostly within 64 MiB, so that the machine has the memory. */
	if (fuzz_chance(rng, 95))
		return rng_below(rng, 64u << 20) & ~7ull;
	return fuzz_chance(rng, 50) ? fuzz_value(rng) :
				      life->dev->fb_bytes - 64 + rng_below(rng, 128);
}

static uint64_t work_sys(struct rng *rng)
{
	return fuzz_chance(rng, 90) ? rng_below(rng, FUZZ_CPU_BYTES) & ~7ull :
				      fuzz_value(rng);
}

static void work_rows(struct rng *rng, struct vgpu_hw_packet *packet)
{
	uint64_t width = (1 + rng_below(rng, 4096)) * 4;
	uint32_t rows = 1;

	if (fuzz_chance(rng, 30)) {
		rows = 1 + (uint32_t)rng_below(rng, 100);
		packet->dst_pitch = htole32((uint32_t)width + 4 * (uint32_t)rng_below(rng, 100));
		if (packet->type == VGPU_HW_PKT_COPY)
			packet->src_pitch = packet->dst_pitch;
	} else if (fuzz_chance(rng, 20)) {
		width = rng_below(rng, 4u << 20) & ~3ull;
	}
	packet->width = htole64(width ?: 4);
	packet->rows = htole32(rows);
}

/* Sometimes a surface as desktops have it, with any pitch, on any head. */
static void work_surface(struct rng *rng, struct vgpu_hw_packet *packet)
{
	uint32_t width = 1 + (uint32_t)rng_below(rng, 1920);

	if (fuzz_chance(rng, 50)) {
		packet->present_width = htole32(width);
		packet->present_height = htole32(1 + (uint32_t)rng_below(rng, 1080));
		packet->present_pitch = htole32(4 * (width + (uint32_t)rng_below(rng, 64)));
	}
	if (fuzz_chance(rng, 50))
		packet->dst += htole64(rng_below(rng, 1024) * 4);
	if (fuzz_chance(rng, 20))
		packet->present_head = htole32((uint32_t)rng_below(rng, 6));
}

/* Writes a program, perhaps while it is executed. */
static void work_program(struct fuzz_life *life, struct rng *rng, uint64_t head)
{
	struct vgpu_hw_program program = {
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = htole32(4 * WORK_WORDS),
		.text_bytes = htole32(4 * (1 + (uint32_t)rng_below(rng, WORK_WORDS))),
		.image = htole64(head + VGPU_HW_PAGE_SIZE),
		.private_bytes = htole32((uint32_t)rng_below(rng, 3) * 4096),
	};
	uint32_t *words = (void *)(life->dev->fb + head + VGPU_HW_PAGE_SIZE);
	unsigned int i;

	if (fuzz_chance(rng, 5))
		fuzz_mutate(rng, &program, sizeof(program));
	memcpy(life->dev->fb + head, &program, sizeof(program));
	for (i = 0; i < WORK_WORDS; i++)
		words[i] = htole32(rv_random(rng));
}

/* Some grids take for ever: the channel is disabled sooner or later. */
static void work_dispatch(struct fuzz_life *life, struct rng *rng, struct vgpu_hw_packet *packet)
{
	uint64_t head = (WORK_PROGRAM + 2 * rng_below(rng, WORK_PROGRAMS)) * VGPU_HW_PAGE_SIZE;
	unsigned int i;

	if (fuzz_chance(rng, 30))
		work_program(life, rng, head);
	packet->dst = htole64(head);
	packet->src = htole64(work_fb(life, rng));
	for (i = 0; i < 3; i++) {
		packet->grid[i] = htole32(1 + (uint32_t)rng_below(rng, fuzz_chance(rng, 90) ? 100 :
								  0xffffffff));
		packet->group[i] = htole16(1 + (uint16_t)rng_below(rng, i ? 4 : 100));
	}
	packet->local_bytes = htole32((uint32_t)rng_below(rng, 2 * 4096));
}

static void work_packet(struct fuzz_life *life, struct rng *rng, struct vgpu_hw_packet *packet)
{
	uint32_t op = 0;

	memset(packet, 0, sizeof(*packet));
	packet->type = (uint8_t)(1 + rng_below(rng, VGPU_HW_PKT_END - 1));
	switch (packet->type) {
	case VGPU_HW_PKT_NOP:
	case VGPU_HW_PKT_FENCE:
		break;
	case VGPU_HW_PKT_FILL:
	case VGPU_HW_PKT_COPY:
		op = (uint32_t)rng_below(rng, packet->type == VGPU_HW_PKT_COPY ? 4 : 2);
		packet->op_flags = htole32(op);
		packet->dst = htole64(op & VGPU_HW_OP_DST_SYS ? work_sys(rng) : work_fb(life, rng));
		if (packet->type == VGPU_HW_PKT_COPY)
			packet->src = htole64(op & VGPU_HW_OP_SRC_SYS ?
					      work_sys(rng) : work_fb(life, rng));
		else
			packet->value = htole32((uint32_t)rng_next(rng));
		work_rows(rng, packet);
		break;
	case VGPU_HW_PKT_DISPATCH:
		work_dispatch(life, rng, packet);
		break;
	case VGPU_HW_PKT_PRESENT:
		packet->dst = htole64(work_fb(life, rng) & ~4095ull);
		packet->present_width = htole32(64);
		packet->present_height = htole32(64);
		packet->present_pitch = htole32(256);
		packet->present_format = htole32(VGPU_HW_FORMAT_XRGB8888);
		work_surface(rng, packet);
		break;
	}
	if (fuzz_chance(rng, 50) || packet->type == VGPU_HW_PKT_FENCE) {
		packet->flags |= VGPU_HW_PKT_SIGNAL;
		packet->signal_addr = htole64(work_fb(life, rng));
		packet->signal_value = htole64(rng_next(rng));
		if (fuzz_chance(rng, 30)) {
			packet->flags |= VGPU_HW_PKT_SIGNAL_SYS;
			packet->signal_addr = htole64(work_sys(rng));
		}
	}
	if (fuzz_chance(rng, 50)) {
		packet->flags |= VGPU_HW_PKT_IRQ;
		packet->vector = htole16((uint16_t)rng_below(rng, life->dev->vectors));
	}
	if (fuzz_chance(rng, 5))
		fuzz_mutate(rng, packet, sizeof(*packet));
	fuzz_count(FUZZ_PACKETS);
}

static volatile struct vgpu_hw_channel *work_page(struct fuzz_life *life, uint32_t id)
{
	return (void *)(life->dev->chan_pages + (size_t)id * VGPU_HW_PAGE_SIZE);
}

static uint32_t work_root(struct rng *rng)
{
	if (fuzz_chance(rng, 50))
		return 0;
	return VGPU_HW_ROOT_VALID | (uint32_t)(WORK_TABLES + rng_below(rng, WORK_TABLES));
}

/* Writes an entry. By many of them virtual addresses are physical ones, so that work is done. */
static void work_entry(struct fuzz_life *life, struct rng *rng)
{
	uint64_t page = WORK_TABLES + rng_below(rng, WORK_TABLES), entry = VGPU_HW_PTE_V;
	uint64_t *table = (void *)(life->dev->fb + page * VGPU_HW_PAGE_SIZE);

	page = WORK_TABLES + rng_below(rng, WORK_TABLES);
	if (fuzz_chance(rng, 60))
		page = 0;
	else if (fuzz_chance(rng, 20))
		page = rng_below(rng, 16384);
	if (!page || fuzz_chance(rng, 10))
		entry |= VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X;
	if (fuzz_chance(rng, 10))
		entry |= VGPU_HW_PTE_SYS;
	entry |= page << VGPU_HW_PTE_PAGE_SHIFT;
	if (fuzz_chance(rng, 10))
		fuzz_mutate(rng, &entry, sizeof(entry));
	table[rng_below(rng, fuzz_chance(rng, 80) ? 1 : 512)] = htole64(entry);
}

static void work_space(struct fuzz_life *life, struct rng *rng, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		work_entry(life, rng);
	vgpu_reg_write32(life->dev, vgpu_chan_reg(id, VGPU_HW_CHAN_ROOT), work_root(rng));
	if (fuzz_chance(rng, 30))
		vgpu_reg_write32(life->dev, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE, work_root(rng));
}

static void work_enable(struct fuzz_life *life, struct rng *rng, uint32_t id,
			uint64_t ring, bool sys)
{
	uint32_t ctrl = VGPU_HW_CTRL_ENABLE | WORK_ORDER << VGPU_HW_CTRL_ORDER_SHIFT |
			(uint32_t)rng_below(rng, life->dev->engines) <<
			VGPU_HW_CTRL_ENGINE_SHIFT;

	if (sys)
		ctrl |= VGPU_HW_CTRL_RING_SYS;
	if (fuzz_chance(rng, 5))
		fuzz_mutate(rng, &ctrl, sizeof(ctrl));
	vgpu_reg_write64(life->dev, vgpu_chan_reg(id, VGPU_HW_CHAN_RING), ring);
	work_page(life, id)->put = 0;
	vgpu_reg_write32(life->dev, vgpu_chan_reg(id, VGPU_HW_CHAN_CTRL), ctrl);
}

/*
 * Fills a channel's ring with packets, mostly enables the channel anew, moves put and rings the
 * doorbell. Other threads may use the channel at the same time. Each channel has its ring in a page
 * of its own, among the first pages of framebuffer or guest memory; page tables come behind these.
 */
void fuzz_op_work(struct fuzz_life *life, struct rng *rng)
{
	uint32_t channels = life->dev->channels < 8 ? life->dev->channels : 8;
	uint32_t id = (uint32_t)rng_below(rng, channels), i;
	bool sys = fuzz_chance(rng, 40);
	uint64_t ring = id * 4096ull;
	struct vgpu_hw_packet packet;
	uint8_t *to = (sys ? life->cpu : life->dev->fb) + ring;
	uint64_t put;

	for (i = 0; i < WORK_PACKETS; i++) {
		work_packet(life, rng, &packet);
		memcpy(to + i * sizeof(packet), &packet, sizeof(packet));
	}
	if (fuzz_chance(rng, 70)) {
		vgpu_reg_write32(life->dev, vgpu_chan_reg(id, VGPU_HW_CHAN_CTRL), 0);
		work_space(life, rng, id);
		work_enable(life, rng, id, ring, sys);
	}
	put = le64toh(work_page(life, id)->get) + rng_below(rng, WORK_PACKETS + 1);
	if (fuzz_chance(rng, 3))
		put = fuzz_value(rng);
	work_page(life, id)->put = htole64(put);
	__sync_synchronize();
	vgpu_reg_write32(life->dev, vgpu_chan_reg(id, VGPU_HW_CHAN_DOORBELL), 0);
}

/* Writes to registers or to the page of a channel, whatever the channel is doing. */
void fuzz_op_channel(struct fuzz_life *life, struct rng *rng)
{
	uint32_t id = (uint32_t)rng_below(rng, fuzz_chance(rng, 90) ? life->dev->channels : 2048);
	uint32_t reg = (uint32_t)rng_below(rng, 16) * 4, value;

	if (id < life->dev->channels && fuzz_chance(rng, 40)) {
		uint8_t *page = life->dev->chan_pages + (size_t)id * VGPU_HW_PAGE_SIZE;

		fuzz_mutate(rng, page, 256);
		return;
	}
	value = (uint32_t)fuzz_value(rng);
	/* Often a CTRL that may be right: ENABLE, engine 0 or 2, a ring of 16 packets. */
	if (reg == VGPU_HW_CHAN_CTRL && fuzz_chance(rng, 70))
		value &= 0x00040201;
	if (reg == VGPU_HW_CHAN_ROOT && fuzz_chance(rng, 70))
		value = work_root(rng);
	if (fuzz_chance(rng, 70))
		vgpu_reg_write32(life->dev, vgpu_chan_reg(id, reg), value);
	else
		vgpu_reg_read32(life->dev, vgpu_chan_reg(id, reg), &value);
}
