// SPDX-License-Identifier: GPL-2.0
/* The guest of vgpu_world.h: its memory, and the packets that it submits. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <linux/mm.h>

#include "random.h"
#include "soft/queue/queues.h"
#include "state_world.h"
#include "vgpu_world_guest.h"

#define ORDER		4	/* of rings */
#define PACKETS		(1u << ORDER)
#define PROGRAMS	4

/* Of a work-item; programs use half of it (STACK, state_world.c). It is most of a state. */
#define PRIVATE		64

/* In the framebuffer. Rings in guest memory begin at 0 there. */
#define ROOT_PAGE	1
#define TABLES		0x2000
#define RINGS		0x10000
#define HEADS		0x20000
#define IMAGES		0x30000
#define DATA		0x100000
#define DATA_BYTES	0x200000

/* In the address space: the framebuffer, and behind it guest memory. */
#define VA		0x140000000ull
#define VA_SYS		(VA + 2 * WORLD_FB)

#define GUEST_ROOT	(VGPU_HW_ROOT_VALID | ROOT_PAGE)

/**
 * struct guest_channel - how the guest sets up a channel
 * @engine: number of the engine
 * @space:  in the address space
 * @sys:    its ring is in guest memory
 * @bad:    its ring is nowhere, so it faults
 */
static const struct guest_channel {
	u32 engine;
	bool space;
	bool sys;
	bool bad;
} channels[WORLD_CHANNELS] = {
	{ 0 }, { 0, .space = true }, { 1, .sys = true }, { 2 }, { 1, .space = true },
	{ 2, .bad = true }, { 0, .sys = true },
};

static bool one_in(u64 *seed, u64 n)
{
	return random_next(seed) % n == 0;
}

static void map(u64 va, u64 at, u64 flags)
{
	static u64 next;
	u64 *table = world_at(ROOT_PAGE * PAGE_SIZE), *entry;
	unsigned int level;

	if (va == VA)
		next = TABLES;
	for (level = 2; level; level--) {
		entry = &table[va >> (12 + 9 * level) & 511];
		if (!*entry) {
			*entry = htole64(next / PAGE_SIZE << VGPU_HW_PTE_PAGE_SHIFT |
					 VGPU_HW_PTE_V);
			next += PAGE_SIZE;
		}
		table = world_at((le64toh(*entry) >> VGPU_HW_PTE_PAGE_SHIFT) * PAGE_SIZE);
	}
	table[va >> 12 & 511] = htole64(at / PAGE_SIZE << VGPU_HW_PTE_PAGE_SHIFT | flags |
					VGPU_HW_PTE_V);
}

static void fill_program(u64 seed, unsigned int i, u64 base)
{
	struct vgpu_hw_program *head = world_at(HEADS + (2 * i + !!base) * sizeof(*head));
	struct state_world program;

	state_world_init(&program, seed + i);
	memcpy(world_at(IMAGES + i * PAGE_SIZE), program.image, PAGE_SIZE);
	*head = (struct vgpu_hw_program) {
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = htole32(program.nr * 4),
		.text_bytes = htole32(program.nr * 4),
		.image = htole64(base + IMAGES + i * PAGE_SIZE),
		.private_bytes = htole32(PRIVATE),
	};
	state_world_exit(&program);
}

void guest_fill_memory(u64 seed)
{
	u64 at, *word;
	unsigned int i;

	for (at = 0; at < WORLD_FB; at += PAGE_SIZE)
		map(VA + at, at, VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X);
	for (at = 0; at < WORLD_SYS; at += PAGE_SIZE)
		map(VA_SYS + at, at, VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_SYS);
	for (i = 0; i < PROGRAMS; i++) {
		fill_program(seed, i, 0);
		fill_program(seed, i, VA);
	}
	for (at = DATA; at < DATA + 16 * PAGE_SIZE; at += 8) {
		word = world_at(at);
		*word = random_next(&seed) >> random_next(&seed) % 64;
	}
}

/* A place for data, and whether it is in guest memory, which only some accesses may reach. */
static u64 place(u64 *seed, bool space, u64 bytes, bool *sys)
{
	*sys = *sys && one_in(seed, 2);
	if (*sys)
		return random_next(seed) % (WORLD_SYS / 2 - bytes) / 4 * 4 + WORLD_SYS / 2 +
		       (space ? VA_SYS : 0);
	return DATA + random_next(seed) % (DATA_BYTES - bytes) / 4 * 4 + (space ? VA : 0);
}

static void make_move(struct vgpu_hw_packet *p, u64 *seed, bool space)
{
	u64 width = (1 + random_next(seed) % 20000) / 4 * 4 + 4;
	u32 rows = one_in(seed, 2) ? 1 : 1 + random_next(seed) % 4;
	u32 pitch = rows > 1 ? width + random_next(seed) % 64 / 4 * 4 : 0;
	bool sys = true;

	p->type = one_in(seed, 2) ? VGPU_HW_PKT_FILL : VGPU_HW_PKT_COPY;
	p->width = htole64(width);
	p->rows = htole32(rows);
	p->dst_pitch = htole32(pitch);
	p->dst = htole64(place(seed, space, 90000, &sys));
	if (sys && !space)
		p->op_flags = htole32(VGPU_HW_OP_DST_SYS);
	if (p->type == VGPU_HW_PKT_FILL) {
		p->value = htole32(random_next(seed));
		return;
	}
	sys = true;
	p->src = htole64(place(seed, space, 90000, &sys));
	p->src_pitch = htole32(pitch);
	if (sys && !space)
		p->op_flags |= htole32(VGPU_HW_OP_SRC_SYS);
}

static void make_gr(struct vgpu_hw_packet *p, u64 *seed, bool space)
{
	u64 base = space ? VA : 0;
	unsigned int k;

	if (one_in(seed, 4)) {
		p->type = VGPU_HW_PKT_PRESENT;
		p->dst = htole64(base + DATA);
		p->present_width = htole32(PRIVATE);
		p->present_height = htole32(32);
		p->present_pitch = htole32(PRIVATE);
		return;
	}
	p->type = VGPU_HW_PKT_DISPATCH;
	p->dst = htole64(base + HEADS + (2 * (random_next(seed) % PROGRAMS) + space) *
			 sizeof(struct vgpu_hw_program));
	p->src = htole64(base + DATA + random_next(seed) % 8 * PAGE_SIZE);
	p->local_bytes = htole32(1024);
	for (k = 0; k < 3; k++) {
		u32 group = k ? random_range(seed, 1, 2) : random_range(seed, 1, 50);

		p->group[k] = htole16(group);
		p->grid[k] = htole32(random_range(seed, 1, 2 * group));
	}
}

static void make_packet(struct vgpu_hw_packet *p, u64 *seed, const struct guest_channel *c)
{
	bool sys = !c->space;

	memset(p, 0, sizeof(*p));
	if (one_in(seed, 6)) {
		p->type = VGPU_HW_PKT_FENCE;
		p->flags = VGPU_HW_PKT_SIGNAL;
	} else if (!c->engine && !one_in(seed, 4)) {
		make_gr(p, seed, c->space);
	} else {
		make_move(p, seed, c->space);
	}
	if (p->flags & VGPU_HW_PKT_SIGNAL || one_in(seed, 4)) {
		p->signal_addr = htole64(place(seed, c->space, 16, &sys) / 8 * 8);
		p->signal_value = htole64(random_next(seed));
		p->flags = VGPU_HW_PKT_SIGNAL | (sys ? VGPU_HW_PKT_SIGNAL_SYS : 0);
	}
}

static void enable(struct soft_channel *ch, const struct guest_channel *c)
{
	u64 ring = RINGS + ch->index * PAGE_SIZE;

	if (c->sys)
		ring = ch->index * PAGE_SIZE;
	else if (c->bad)
		ring = WORLD_FB;
	mutex_lock(&ch->queues->config_lock);
	ch->root = c->space ? GUEST_ROOT : 0;
	ch->ring = ring + (c->space ? VA : 0);
	soft_channel_write_ctrl(ch, 0);
	soft_channel_write_ctrl(ch, VGPU_HW_CTRL_ENABLE | ORDER << VGPU_HW_CTRL_ORDER_SHIFT |
				c->engine << VGPU_HW_CTRL_ENGINE_SHIFT |
				(c->sys ? VGPU_HW_CTRL_RING_SYS : 0));
	mutex_unlock(&ch->queues->config_lock);
}

void guest_submit(u64 seed)
{
	struct soft_queues *queues = world_queues();
	unsigned int i, k, nr;

	for (i = 0; i < WORLD_CHANNELS; i++) {
		struct soft_channel *ch = &queues->channel[i];
		const struct guest_channel *c = &channels[i];
		struct vgpu_hw_packet *ring;

		if (one_in(&seed, 5))
			continue;
		enable(ch, c);
		if (c->bad)
			continue;
		ring = c->sys ? (void *)(world_sys() + i * PAGE_SIZE) :
				world_at(RINGS + i * PAGE_SIZE);
		nr = random_next(&seed) % PACKETS;
		for (k = 0; k < nr; k++)
			make_packet(&ring[k], &seed, c);
		ch->hw->put = htole64(nr);
		soft_channel_doorbell(ch);
	}
}
