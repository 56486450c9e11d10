// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and stores over the end of a page, beside others that do not cross it: each byte is that of
 * its own page. Pages that follow each other for the program lie anywhere in the host's memory, no
 * two of them side by side; what is between them stays as it is. What is to come of an access is
 * that of memcpy() where all pages are in order.
 */
#include "vgpu_test.h"

#include "simt_host.h"

#include "rv.h"

#define PAGE		((u64)VGPU_HW_PAGE_SIZE)
#define PAGES		34u	/* the items' page, an end of a page for each lane, and one more */
#define ALL_PAGES	(2 * PAGES)	/* of global memory, and of the image */
#define WORDS		12u
#define ROUNDS		3

/* At the beginning of global memory, one for each lane. */
struct item {
	u64 base;	/* the address, less the instruction's immediate value */
	u64 value;	/* to be stored */
	u64 result;	/* of a load */
	u64 takes_part;
};

/* Where the address of a lane comes from, and so how the interpreter has it. */
enum form {
	FORM_LIST,	/* struct item.base */
	FORM_SAME,	/* a0 */
	FORM_ROW,	/* a0 + (id << shift) */
	FORMS
};

/**
 * struct op - a load or a store
 * @name:   as the assembler has it
 * @word:   of a load opcode and funct3, of a store these too
 * @bytes:  at a time
 * @store:  it is one
 * @is_float: its register is
 * @is_signed: a load extends the sign
 */
static const struct op {
	const char *name;
	u32 word;
	u32 bytes;
	bool store;
	bool is_float;
	bool is_signed;
} ops[] = {
	{ "lh", 0x1003, 2, .is_signed = true }, { "lhu", 0x5003, 2 },
	{ "lw", 0x2003, 4, .is_signed = true }, { "lwu", 0x6003, 4 }, { "ld", 0x3003, 8 },
	{ "flw", 0x2007, 4, .is_float = true }, { "fld", 0x3007, 8, .is_float = true },
	{ "sh", 0x1023, 2, .store = true }, { "sw", 0x2023, 4, .store = true },
	{ "sd", 0x3023, 8, .store = true },
	{ "fsw", 0x2027, 4, .store = true, .is_float = true },
	{ "fsd", 0x3027, 8, .store = true, .is_float = true },
};

/**
 * struct memory - what programs see, in order, and where that is for the interpreter
 * @mem:    finds pages
 * @order:  all pages, global memory first: what is expected
 * @pool:   places for them, with a page around each that no program may touch
 * @place:  of each page in @pool
 * @calls:  of @mem
 * @waits:  every so many calls of @mem have to wait; 0: none
 */
struct memory {
	struct simt_mem mem;
	u8 *order;
	u8 *pool;
	u8 *place[ALL_PAGES];
	u64 calls;
	u64 waits;
};

/**
 * struct trial - one instruction, by all lanes or some
 * @isa:   who executes it
 * @op:    which one it is
 * @form:  see there
 * @image: it loads from the image
 * @shift: of FORM_ROW
 * @imm:   the instruction's immediate value
 * @va:    address of each lane
 * @taken: the lanes that take part
 */
struct trial {
	const struct simt_isa *isa;
	const struct op *op;
	enum form form;
	bool image;
	u32 shift;
	s32 imm;
	u64 va[SIMT_LANES];
	u32 taken;
};

static struct memory memory;
static u64 seed;

static u32 page_of(u64 va)
{
	return va >= VGPU_HW_VA_GLOBAL ? (va - VGPU_HW_VA_GLOBAL) / PAGE :
					 PAGES + (va - VGPU_HW_VA_IMAGE) / PAGE;
}

/* Where it is among the pages in order. */
static u8 *in_order(u64 va)
{
	return memory.order + page_of(va) * PAGE + va % PAGE;
}

static enum simt_end map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			 enum vgpu_hw_fault *code)
{
	if (memory.waits && ++memory.calls % memory.waits == 0)
		return SIMT_WAIT;
	check_that(page_of(va) < ALL_PAGES && !(va % PAGE), "page at %#llx",
		   (unsigned long long)va);
	*keep = !random_one_in(&seed, 5);
	*page = memory.place[page_of(va)];
	return SIMT_DONE;
}

static int set_up(void **state)
{
	u32 slots[ALL_PAGES], i, k, pages = 2 * ALL_PAGES + 1;

	memory.mem.map = map;
	memory.order = aligned_alloc(PAGE, ALL_PAGES * PAGE);
	memory.pool = aligned_alloc(PAGE, pages * PAGE);
	memset(memory.pool, 0xa5, pages * PAGE);
	for (i = 0; i < ALL_PAGES; i++)
		slots[i] = i;
	for (i = 0; i < ALL_PAGES; i++) {
		k = random_range(&seed, i, ALL_PAGES - 1);
		memory.place[i] = memory.pool + (2 * slots[k] + 1) * PAGE;
		slots[k] = slots[i];
	}
	for (i = 0; i < ALL_PAGES * PAGE; i++)
		memory.order[i] = random_next(&seed);
	for (i = 0; i < ALL_PAGES; i++)
		memcpy(memory.place[i], memory.order + i * PAGE, PAGE);
	return 0;
}

static int tear_down(void **state)
{
	free(memory.order);
	free(memory.pool);
	return 0;
}

/* The access, by those work-items that take part. */
static void make_words(const struct trial *t, u32 words[WORDS])
{
	const struct op *op = t->op;
	u32 access = op->store ? RV_S(t->imm, 0, RV_A1, 0) : RV_I(t->imm, RV_A1, 0, 0, 0);
	u32 own = op->store ? RV_LD(0, 8, RV_T0) : RV_SD(0, 16, RV_T0);
	u32 at = 0;

	/* The value's register is number 12 of its kind. */
	access = (access & ~0x7fU) | op->word | (op->store ? RV_A2 << 20 : RV_A2 << 7);
	own |= (op->store ? RV_A2 << 7 : RV_A2 << 20) | (op->is_float ? 4 : 0);
	words[at++] = RV_LI(RV_T0, VGPU_HW_VA_GLOBAL >> 32);
	words[at++] = RV_SLLI(RV_T0, RV_T0, 32);
	words[at++] = RV_CSRR(RV_T1, VGPU_HW_CSR_GLOBAL_ID);
	words[at++] = RV_SLLI(RV_T2, RV_T1, 5);
	words[at++] = RV_ADD(RV_T0, RV_T0, RV_T2);
	words[at++] = RV_LD(RV_A3, 24, RV_T0);
	words[at++] = RV_BEQ(RV_A3, RV_ZERO, 20);
	words[at++] = RV_SLLI(RV_T1, RV_T1, t->shift);
	if (t->form == FORM_LIST)
		words[at++] = RV_LD(RV_A1, 0, RV_T0);
	else if (t->form == FORM_SAME)
		words[at++] = RV_MV(RV_A1, RV_A0);
	else
		words[at++] = RV_ADD(RV_A1, RV_A0, RV_T1);
	words[at++] = op->store ? own : access;
	words[at++] = op->store ? access : own;
	words[at++] = RV_RET;
	assert_int_equal(at, WORDS);
}

static u64 extended(const struct op *op, u64 v)
{
	if (op->is_float && op->bytes == 4)
		return v | 0xffffffffULL << 32;
	if (op->is_signed)
		return (s64)(v << (64 - 8 * op->bytes)) >> (64 - 8 * op->bytes);
	return v;
}

/* Fills in the items, and does to the pages in order what the program is to do to the others. */
static void expect(const struct trial *t)
{
	struct item *items = (struct item *)memory.order;
	const struct op *op = t->op;
	u64 value = random_next(&seed), v;
	u32 l;

	for (l = 0; l < SIMT_LANES; l++) {
		items[l].base = t->va[l] - t->imm;
		/* Of lanes that store to one place anyone may be the last. */
		items[l].value = t->form == FORM_SAME ? value : random_next(&seed);
		items[l].result = random_next(&seed);
		items[l].takes_part = t->taken >> l & 1;
	}
	memcpy(memory.place[0], items, PAGE);
	for (l = 0; l < SIMT_LANES; l++) {
		if (!items[l].takes_part)
			continue;
		if (op->store) {
			memcpy(in_order(t->va[l]), &items[l].value, op->bytes);
			continue;
		}
		v = 0;
		memcpy(&v, in_order(t->va[l]), op->bytes);
		items[l].result = extended(op, v);
	}
}

static void compare(const struct trial *t)
{
	const struct item *want = (const void *)memory.order, *got = (const void *)memory.place[0];
	u32 i, l;

	for (l = 0; l < SIMT_LANES; l++)
		check_that(want[l].result == got[l].result,
			   "%s: %s, form %d, lanes %#x: lane %u at %#llx has loaded %#llx, not %#llx",
			   t->isa->name, t->op->name, t->form, t->taken, l,
			   (unsigned long long)t->va[l], (unsigned long long)got[l].result,
			   (unsigned long long)want[l].result);
	for (i = 0; i < ALL_PAGES; i++)
		check_that(!memcmp(memory.order + i * PAGE, memory.place[i], PAGE),
			   "%s: %s, form %d, lanes %#x, lane 0 at %#llx: page %u is not what it should be",
			   t->isa->name, t->op->name, t->form, t->taken,
			   (unsigned long long)t->va[0], i);
	for (i = 0; i <= ALL_PAGES; i++)
		for (l = 0; l < PAGE; l++)
			check_that(memory.pool[2 * i * PAGE + l] == 0xa5,
				   "%s: %s, form %d, lanes %#x: a store between the pages",
				   t->isa->name, t->op->name, t->form, t->taken);
}

static void run(const struct trial *t)
{
	static struct simt_tlb tlb;
	u32 words[WORDS];
	struct simt_program *program = calloc(1, simt_program_bytes(WORDS));
	struct simt_dispatch dispatch = {
		.program = program, .image_bytes = PAGES * PAGE, .args = t->va[0] - t->imm,
		.grid = { SIMT_LANES, 1, 1 }, .group = { SIMT_LANES, 1, 1 },
	};
	struct simt_group group = { .isa = t->isa, .mem = &memory.mem, .tlb = &tlb };
	enum simt_end end;

	make_words(t, words);
	simt_program_init(program, WORDS);
	simt_program_decode(program, 0, (const __le32 *)words, WORDS);
	simt_program_finish(program);
	expect(t);
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(dispatch.group));
	/* More than one instruction looks for: two pages for each lane, and it may begin anew. */
	memory.waits = random_one_in(&seed, 2) ? random_range(&seed, 70, 200) : 0;
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	do {
		end = simt_group_run(&group, random_range(&seed, 1, 20));
		if (random_one_in(&seed, 3))
			simt_tlb_flush(&tlb);
	} while (end == SIMT_MORE || end == SIMT_WAIT);
	check_that(end == SIMT_DONE, "%s: %s: end %d, fault %u at pc %#llx, address %#llx",
		   t->isa->name, t->op->name, end, group.fault.code,
		   (unsigned long long)group.fault.pc, (unsigned long long)group.fault.addr);
	compare(t);
	free(group.warps);
	free(program);
}

/* Where a page begins: one for each lane, and not in the order of the lanes. */
static u64 page_begin(const struct trial *t, u32 lane, u32 turn)
{
	return (t->image ? VGPU_HW_VA_IMAGE : VGPU_HW_VA_GLOBAL) +
	       (2 + (lane * 11 + turn) % SIMT_LANES) * PAGE;
}

/* Some lane's access has @before bytes in a page, and the rest in the next one. */
static void try_all(struct trial *t, u32 before)
{
	u32 size = t->op->bytes, lane, l, turn = random_next(&seed) % SIMT_LANES;
	u32 mixed = random_next(&seed);

	t->imm = random_range(&seed, 0, 4095) - 2048;
	t->image = !t->op->store && random_one_in(&seed, 3);
	lane = random_range(&seed, 0, SIMT_LANES - 1);

	/* All cross, each in its own way; and one does, alone. */
	t->form = FORM_LIST;
	t->taken = U32_MAX;
	for (l = 0; l < SIMT_LANES; l++)
		t->va[l] = page_begin(t, l, turn) - (before + l) % size;
	t->va[lane] = page_begin(t, lane, turn) - before;
	run(t);
	t->taken = 1U << lane;
	run(t);
	/* Some cross, others are before the end, or behind it and misaligned; some take no part. */
	for (l = 0; l < SIMT_LANES; l++) {
		if (l == lane || random_one_in(&seed, 4))
			continue;
		t->va[l] = page_begin(t, l, turn) - size;
		if (mixed >> l & 1)
			t->va[l] += size + random_range(&seed, 0, 40);
		else
			t->va[l] -= random_range(&seed, 0, 3) * size;
	}
	t->taken = U32_MAX;
	run(t);
	t->taken = random_next(&seed) | 1U << lane;
	run(t);

	t->form = FORM_SAME;
	for (l = 0; l < SIMT_LANES; l++)
		t->va[l] = page_begin(t, lane, turn) - before;
	run(t);
	t->taken = U32_MAX;
	run(t);

	t->form = FORM_ROW;
	t->shift = __builtin_ctz(size) + random_range(&seed, 0, 3);
	for (l = 0; l < SIMT_LANES; l++)
		t->va[l] = page_begin(t, lane, turn) - before + ((u64)l << t->shift) -
			   ((u64)lane << t->shift);
	run(t);
	t->taken = random_next(&seed) | 1U << lane;
	run(t);
}

static void test_pages(void **state)
{
	struct trial t = {};
	u32 i, k, round, before;

	for (k = 0; (t.isa = simt_host_isa(k)); k++)
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			for (before = 0; before <= ops[i].bytes; before++)
				for (round = 0; round < ROUNDS; round++) {
					t.op = &ops[i];
					try_all(&t, before);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
