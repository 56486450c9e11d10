// SPDX-License-Identifier: GPL-2.0
/* Random programs in a small world: see state_world.h. */
#include <stdlib.h>
#include <string.h>

#include <linux/container_of.h>
#include <linux/kernel.h>

#include "random.h"
#include "rv.h"
#include "state_world.h"

#define LOCAL_REG	8	/* begin of local memory */
#define PLACE		28	/* an address, computed right before it is used */
#define STACK		4	/* words of private memory in use, set at the beginning */

/**
 * struct text - a program in the making
 * @seed:  random numbers
 * @words: the instructions
 * @nr:    their number
 * @fcsr:  the program has accesses to frm, fflags and fcsr
 */
struct text {
	u64 seed;
	u32 words[WORLD_TEXT + 8];
	u32 nr;
	bool fcsr;
};

static u32 below(struct text *text, u32 limit)
{
	return random_next(&text->seed) % limit;
}

static u32 reg(struct text *text)
{
	static const u8 regs[] = { 1, 5, 6, 7, 9, 11, 12, 13, 14, 15, 31 };

	return below(text, 16) ? regs[below(text, ARRAY_SIZE(regs))] : 0;
}

static void put(struct text *text, u32 word)
{
	text->words[text->nr++] = word;
}

static u32 integer(struct text *text)
{
	static const u8 f7[] = { 0, 0, 0, 1, 1, 0x10 };
	u32 rd = reg(text), a = reg(text), b = reg(text), f3 = below(text, 8);

	switch (below(text, 5)) {
	case 0:
		return RV_I(below(text, 4096), a, f3 & 3 ? (f3 & 3) == 1 ? 0 : f3 : 0, rd, 0x13);
	case 1:
		return RV_I(below(text, 64), a, f3 & 1 ? 1 : 5, rd, 0x13);
	case 2:
		return RV_I(below(text, 4096), a, 0, rd, 0x1b);
	case 3:
		return RV_R(f3 & 1 ? 0x20 : 0, b, a, 0, rd, f3 & 2 ? 0x33 : 0x3b);
	default:
		return RV_R(f7[below(text, 5)], b, a, f3, rd, 0x33);
	}
}

/* Of both formats, which the lowest bit of funct7 tells. */
static u32 floats(struct text *text)
{
	static const u8 round[] = { 0, 4, 8, 0xc };
	u32 rd = below(text, 32), a = below(text, 32), b = below(text, 32), d = below(text, 2);
	u32 rm = below(text, 3) ? 7 : 0;

	switch (below(text, 9)) {
	case 0:
		return RV_R(0x2c | d, 0, a, rm, rd, 0x53);
	case 1:
		return RV_R(0x10 | d, b, a, below(text, 3), rd, 0x53);
	case 2:
		return RV_R(0x50 | d, b, a, below(text, 3), reg(text), 0x53);
	case 3:
		return RV_R(0x60 | d, below(text, 4), a, below(text, 2) ? 1 : rm, reg(text), 0x53);
	case 4:
		return RV_R(0x68 | d, below(text, 4), reg(text), rm, rd, 0x53);
	case 5:
		return RV_R(0x20 | d, !d, a, rm, rd, 0x53);
	case 6:
		return below(text, 2) ? RV_R(0x78 | d, 0, reg(text), 0, rd, 0x53) :
					RV_R(0x70 | d, 0, a, 0, reg(text), 0x53);
	case 7:
		return RV_R(below(text, 32) << 2 | d, b, a, rm, rd, 0x43 + 4 * below(text, 4));
	default:
		return RV_R(round[below(text, 4)] | d, b, a, rm, rd, 0x53);
	}
}

static u32 access_at(struct text *text, u32 base, s32 imm)
{
	u32 wide = 2 + below(text, 2);

	switch (below(text, 4)) {
	case 0:
		return RV_I(imm, base, below(text, 7), reg(text), 0x03);
	case 1:
		return RV_I(imm, base, wide, below(text, 32), 0x07);
	case 2:
		return RV_S(imm, reg(text), base, below(text, 4));
	default:
		return RV_S(imm, below(text, 32), base, wide) | 0x04;
	}
}

static void access(struct text *text)
{
	switch (below(text, 5)) {
	case 0:
		put(text, access_at(text, RV_SP, -8 * (s32)below(text, STACK) - 8));
		break;
	case 1:
		put(text, access_at(text, LOCAL_REG, below(text, 500)));
		break;
	case 2:
		put(text, access_at(text, RV_A0, below(text, 2000)));
		break;
	default:
		put(text, RV_ANDI(PLACE, reg(text), below(text, 2) ? 0x7f8 : 0x7ff));
		put(text, RV_ADD(PLACE, PLACE, below(text, 3) ? RV_A0 : LOCAL_REG));
		put(text, access_at(text, PLACE, 0));
	}
}

static void atomic(struct text *text)
{
	static const u8 f5[] = { 2, 2, 3, 3, 1, 0, 4, 0xc, 8, 0x10, 0x14, 0x18, 0x1c };
	u32 op = f5[below(text, ARRAY_SIZE(f5))], base = below(text, 3) ? PLACE : RV_A0;

	if (base == PLACE) {
		put(text, RV_ANDI(PLACE, reg(text), 0xf8));
		put(text, RV_ADD(PLACE, PLACE, RV_A0));
	}
	put(text, RV_R(op << 2, op == 2 ? 0 : reg(text), base, 2 + below(text, 2), reg(text),
		       0x2f));
}

static void fcsr(struct text *text)
{
	u32 csr = 1 + below(text, 3);

	if (csr == 2)		/* a mode that exists */
		put(text, RV_I(2, below(text, 5), 5, reg(text), 0x73));
	else
		put(text, RV_I(csr, below(text, 3) ? below(text, 32) : 0, 6, reg(text), 0x73));
	if (csr == 3)
		put(text, RV_I(2, below(text, 5), 5, 0, 0x73));
}

/* Mostly forward; a loop may have no end. */
static void jump(struct text *text)
{
	s32 by = 4 * (s32)(1 + below(text, 9));
	u32 f3 = below(text, 6);

	if (!below(text, 5) && by <= 4 * (s32)text->nr - 12)
		by = -by;
	switch (below(text, 12)) {
	case 0:
		put(text, RV_J(by) | RV_RA << 7);
		break;
	case 1:
		put(text, RV_J(by));
		break;
	case 2:
		put(text, below(text, 4) ? RV_J(by) | RV_RA << 7 : RV_RET);
		break;
	default:
		put(text, RV_B(by, reg(text), reg(text), f3 < 2 ? f3 : f3 + 2));
	}
}

static void step(struct text *text)
{
	u32 kind = below(text, 64);

	if (kind < 20)
		put(text, integer(text));
	else if (kind < 32)
		put(text, floats(text));
	else if (kind < 44)
		access(text);
	else if (kind < 48)
		atomic(text);
	else if (kind < 58)
		jump(text);
	else if (kind < 61)
		put(text, RV_CSRR(reg(text), VGPU_HW_CSR_GLOBAL_ID + below(text, 18)));
	else if (kind < 62)
		put(text, RV_BARRIER);
	else if (text->fcsr)
		fcsr(text);
}

static enum simt_end world_map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			       enum vgpu_hw_fault *code)
{
	struct state_world *world = container_of(mem, struct state_world, mem);
	u64 index = (va - VGPU_HW_VA_GLOBAL) / VGPU_HW_PAGE_SIZE;

	if (world->waits && ++world->calls % world->waits == 0)
		return SIMT_WAIT;
	*keep = true;
	if (va < VGPU_HW_VA_GLOBAL) {
		*page = world->image;
		return SIMT_DONE;
	}
	*code = VGPU_HW_FAULT_ADDRESS;
	if (index >= WORLD_PAGES)
		return SIMT_FAULT;
	*page = world->fb[index];
	*keep = index < WORLD_PAGES - 1;
	return SIMT_DONE;
}

static bool world_over(struct simt_mem *mem)
{
	struct state_world *world = container_of(mem, struct state_world, mem);

	return ++world->calls % 5 == 0;
}

/* Makes the program of @seed. */
void state_world_init(struct state_world *world, u64 seed)
{
	struct text text = { .seed = seed };
	u32 nr = 16 + below(&text, WORLD_TEXT - 16), i;

	memset(world, 0, sizeof(*world));
	world->seed = seed;
	text.fcsr = below(&text, 2);
	put(&text, RV_LUI(LOCAL_REG, VGPU_HW_VA_LOCAL >> 12));
	put(&text, RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID));
	put(&text, RV_CSRR(RV_T1, VGPU_HW_CSR_LOCAL_ID));
	for (i = 0; i < STACK; i++)
		put(&text, RV_SD(RV_ZERO, -8 * (s32)i - 8, RV_SP));
	while (text.nr < nr)
		step(&text);
	world->nr = text.nr;
	world->image = calloc(1, VGPU_HW_PAGE_SIZE);
	memcpy(world->image, text.words, 4 * text.nr);
	world->program = malloc(simt_program_bytes(text.nr));
	simt_program_init(world->program, text.nr);
	simt_program_decode(world->program, 0, (const __le32 *)world->image, text.nr);
	simt_program_finish(world->program);
	for (i = 0; i < WORLD_PAGES; i++)
		world->fb[i] = malloc(VGPU_HW_PAGE_SIZE);
	world->mem.map = world_map;
	world->mem.over = below(&text, 2) ? world_over : NULL;
	world->waits = below(&text, 2) ? 2 * SIMT_LANES + 1 + below(&text, 50) : 0;
}

void state_world_exit(struct state_world *world)
{
	u32 i;

	for (i = 0; i < WORLD_PAGES; i++)
		free(world->fb[i]);
	free(world->program);
	free(world->image);
}

/* Sets memory to what it is at the beginning, and a dispatch up, but for the group's own memory. */
void state_world_dispatch(struct state_world *world, struct simt_dispatch *dispatch,
			  struct simt_group *group)
{
	u64 seed = world->seed ^ 0x5bd1e995;
	u32 i, k;

	memset(dispatch, 0, sizeof(*dispatch));
	dispatch->program = world->program;
	dispatch->image_bytes = 4 * world->nr;
	dispatch->args = VGPU_HW_VA_GLOBAL;
	dispatch->local_bytes = 1024;
	dispatch->private_bytes = 256;
	for (k = 0; k < 3; k++) {
		dispatch->group[k] = k ? random_range(&seed, 1, 3) : random_range(&seed, 1, 50);
		dispatch->grid[k] = random_range(&seed, 1, 2 * dispatch->group[k]);
	}
	memset(group, 0, sizeof(*group));
	group->dispatch = dispatch;
	group->isa = &simt_isa_scalar;
	group->mem = &world->mem;
	group->tlb = &world->tlb;
	world->calls = 0;
	for (i = 0; i < WORLD_PAGES; i++)
		for (k = 0; k < VGPU_HW_PAGE_SIZE; k += 8) {
			u64 word = random_next(&seed) >> random_next(&seed) % 64;

			memcpy(world->fb[i] + k, &word, 8);
		}
	simt_tlb_flush(&world->tlb);
}
