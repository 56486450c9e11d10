// SPDX-License-Identifier: GPL-2.0
/* Packets executed: see fake_packet.h. */
#include "vgpu_test.h"

#include "fake_packet.h"

/**
 * struct engine - what a packet is executed with
 * @elf:   the program
 * @reach: finds memory
 * @data:  for @reach
 * @fault: what is wrong
 */
struct engine {
	const struct vgpu_elf *elf;
	fake_reach_t reach;
	void *data;
	struct vgpu_fault *fault;
};

static uint8_t *find(struct engine *engine, uint64_t addr, uint32_t access)
{
	uint8_t *at = engine->reach(engine->data, addr, access);

	if (!at) {
		engine->fault->code = VGPU_HW_FAULT_PAGE;
		engine->fault->addr = addr;
	}
	return at;
}

static void move(struct engine *engine, const struct vgpu_hw_packet *p)
{
	uint64_t i, dst, src;
	uint8_t *to, *from;
	uint32_t row;

	for (row = 0; row < p->rows; row++) {
		dst = p->dst + (uint64_t)row * p->dst_pitch;
		src = p->src + (uint64_t)row * p->src_pitch;
		for (i = 0; i < p->width; i++) {
			from = p->type == VGPU_HW_PKT_FILL ? (uint8_t *)&p->value + i % 4 :
				find(engine, src + i, VGPU_HW_PTE_R);
			to = from ? find(engine, dst + i, VGPU_HW_PTE_W) : NULL;
			if (!to)
				return;
			*to = *from;
		}
	}
}

static void dispatch(struct engine *engine, const struct vgpu_hw_packet *p)
{
	const struct vgpu_hw_program *program = (void *)find(engine, p->dst, VGPU_HW_PTE_R);
	const uint64_t *args = (void *)find(engine, p->src, VGPU_HW_PTE_R);
	const uint8_t *image;
	uint32_t i, *to;

	if (!program || !args)
		return;
	assert_int_equal(program->magic, VGPU_HW_PROGRAM_MAGIC);
	image = find(engine, program->image, VGPU_HW_PTE_X);
	if (!image)
		return;
	assert_memory_equal(image, engine->elf->image, engine->elf->image_bytes);
	for (i = 0; i < p->grid[0]; i++) {
		to = (void *)find(engine, args[0] + i * sizeof(*to), VGPU_HW_PTE_W);
		if (!to) {
			engine->fault->pc = VGPU_HW_VA_IMAGE + program->entry + 4;
			engine->fault->id[0] = i;
			return;
		}
		*to = i + 1;
	}
}

void fake_packet(const struct vgpu_hw_packet *p, const struct vgpu_elf *elf, fake_reach_t reach,
		 void *data, struct vgpu_fault *fault)
{
	struct engine engine = { .elf = elf, .reach = reach, .data = data, .fault = fault };
	uint8_t *signal;

	if (p->type == VGPU_HW_PKT_FILL || p->type == VGPU_HW_PKT_COPY)
		move(&engine, p);
	else if (p->type == VGPU_HW_PKT_DISPATCH)
		dispatch(&engine, p);
	if (fault->code || !(p->flags & VGPU_HW_PKT_SIGNAL))
		return;
	signal = find(&engine, p->signal_addr, VGPU_HW_PTE_W);
	if (signal)
		memcpy(signal, &p->signal_value, sizeof(p->signal_value));
}
