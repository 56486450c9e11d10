// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's compiler of BPF in user space (sim/bpf): random programs of all instructions that
 * a translator may make have the results that their definition says.
 */
#include "vgpu_test.h"

#include <linux/filter.h>
#include <linux/limits.h>

#define PROGRAMS	300
#define FORMS		120	/* in one of them */
#define RUNS		3	/* of each, with other data */
#define FAR		99999
#define MAX_INSNS	(FAR + 8)
#define NEAR		16	/* jumps that are not at their target yet */

/* Offsets from what R10 points to, of 8 bytes each but the last. */
#define STACK_CTX	(-8)
#define STACK_SAVE	(-16)
#define STACK_COUNT	(-24)
#define STACK_DATA	(-128)
#define STACK_WORDS	12

/* Offsets from the context, which points into the middle of memory. */
#define CTX_AT		512
#define CTX_IN		(-512)
#define CTX_OUT		(-432)
#define CTX_DATA	(-352)
#define CTX_END		512

struct form {
	u8 code;
	s16 off;
	s32 imm;
};

#define ALU(op, off) \
	{ BPF_ALU | (op) | BPF_K, off }, { BPF_ALU | (op) | BPF_X, off }, \
	{ BPF_ALU64 | (op) | BPF_K, off }, { BPF_ALU64 | (op) | BPF_X, off }
#define JUMP(op) \
	{ BPF_JMP | (op) | BPF_K }, { BPF_JMP | (op) | BPF_X }, \
	{ BPF_JMP32 | (op) | BPF_K }, { BPF_JMP32 | (op) | BPF_X }
#define SWAP(bits) \
	{ BPF_ALU | BPF_END | BPF_TO_LE, 0, bits }, { BPF_ALU | BPF_END | BPF_TO_BE, 0, bits }, \
	{ BPF_ALU64 | BPF_END | BPF_TO_LE, 0, bits }
#define MEMORY(size) \
	{ BPF_LDX | BPF_MEM | (size) }, { BPF_ST | BPF_MEM | (size) }, \
	{ BPF_STX | BPF_MEM | (size) }

static const struct form forms[] = {
	ALU(BPF_ADD, 0), ALU(BPF_SUB, 0), ALU(BPF_MUL, 0), ALU(BPF_OR, 0), ALU(BPF_AND, 0),
	ALU(BPF_XOR, 0), ALU(BPF_LSH, 0), ALU(BPF_RSH, 0), ALU(BPF_ARSH, 0), ALU(BPF_MOV, 0),
	ALU(BPF_DIV, 0), ALU(BPF_DIV, 1), ALU(BPF_MOD, 0), ALU(BPF_MOD, 1),
	{ BPF_ALU | BPF_NEG }, { BPF_ALU64 | BPF_NEG },
	{ BPF_ALU | BPF_MOV | BPF_X, 8 }, { BPF_ALU | BPF_MOV | BPF_X, 16 },
	{ BPF_ALU64 | BPF_MOV | BPF_X, 8 }, { BPF_ALU64 | BPF_MOV | BPF_X, 16 },
	{ BPF_ALU64 | BPF_MOV | BPF_X, 32 },
	SWAP(16), SWAP(32), SWAP(64),
	MEMORY(BPF_B), MEMORY(BPF_H), MEMORY(BPF_W), MEMORY(BPF_DW),
	{ BPF_LDX | BPF_MEMSX | BPF_B }, { BPF_LDX | BPF_MEMSX | BPF_H },
	{ BPF_LDX | BPF_MEMSX | BPF_W }, { BPF_LD | BPF_IMM | BPF_DW },
	JUMP(BPF_JEQ), JUMP(BPF_JNE), JUMP(BPF_JGT), JUMP(BPF_JGE), JUMP(BPF_JLT), JUMP(BPF_JLE),
	JUMP(BPF_JSGT), JUMP(BPF_JSGE), JUMP(BPF_JSLT), JUMP(BPF_JSLE), JUMP(BPF_JSET),
	{ BPF_JMP | BPF_JA }, { BPF_JMP32 | BPF_JA }, { BPF_JMP | BPF_CALL },
};

static u64 seed;
static struct bpf_insn insns[MAX_INSNS];
static u32 len;

/* Jumps over some of the forms to come, and how many of them. */
static struct near_jump {
	u32 at;
	unsigned int left;
} near_jumps[NEAR];
static unsigned int near_count;

static u8 memory[2 * CTX_AT];

/* ---- what instructions do ---- */

static u64 swapped(const struct bpf_insn *insn, u64 value)
{
	bool swap = BPF_CLASS(insn->code) == BPF_ALU64 || BPF_SRC(insn->code) == BPF_TO_BE;

	switch (insn->imm) {
	case 16:
		return swap ? __builtin_bswap16(value) : (u16)value;
	case 32:
		return swap ? __builtin_bswap32(value) : (u32)value;
	default:
		return swap ? __builtin_bswap64(value) : value;
	}
}

/* With operands of 32 bits, which are zero-extended in @d and @s. */
static u64 alu(const struct bpf_insn *insn, u64 d, u64 s, bool wide)
{
	s64 sd = wide ? (s64)d : (s32)d, ss = wide ? (s64)s : (s32)s;
	unsigned int shift = s & (wide ? 63 : 31);

	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return d + s;
	case BPF_SUB:
		return d - s;
	case BPF_MUL:
		return d * s;
	case BPF_DIV:
		return insn->off ? (u64)(sd / ss) : d / s;
	case BPF_MOD:
		return insn->off ? (u64)(sd % ss) : d % s;
	case BPF_OR:
		return d | s;
	case BPF_AND:
		return d & s;
	case BPF_XOR:
		return d ^ s;
	case BPF_LSH:
		return d << shift;
	case BPF_RSH:
		return d >> shift;
	case BPF_ARSH:
		return sd >> shift;
	case BPF_NEG:
		return -d;
	default:
		assert_int_equal(BPF_OP(insn->code), BPF_MOV);
	}
	switch (insn->off) {
	case 8:
		return (s8)s;
	case 16:
		return (s16)s;
	case 32:
		return (s32)s;
	default:
		return s;
	}
}

static bool holds(const struct bpf_insn *insn, u64 d, u64 s, bool wide)
{
	s64 sd = wide ? (s64)d : (s32)d, ss = wide ? (s64)s : (s32)s;

	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return d == s;
	case BPF_JNE:
		return d != s;
	case BPF_JGT:
		return d > s;
	case BPF_JGE:
		return d >= s;
	case BPF_JLT:
		return d < s;
	case BPF_JLE:
		return d <= s;
	case BPF_JSGT:
		return sd > ss;
	case BPF_JSGE:
		return sd >= ss;
	case BPF_JSLT:
		return sd < ss;
	case BPF_JSLE:
		return sd <= ss;
	default:
		assert_int_equal(BPF_OP(insn->code), BPF_JSET);
		return d & s;
	}
}

static unsigned int width(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static u64 load(const struct bpf_insn *insn, u64 at)
{
	unsigned int unused = 64 - 8 * width(insn);
	u64 value = 0;

	memcpy(&value, (void *)(at + insn->off), width(insn));
	return BPF_MODE(insn->code) == BPF_MEMSX ? (u64)((s64)(value << unused) >> unused) : value;
}

static u64 mix(u64 a, u64 b, u64 c, u64 d, u64 e)
{
	return a + 3 * b + 5 * c + 7 * d + 11 * e;
}

/* Returns R0. */
static u64 interpret(const struct bpf_insn *insn, const void *ctx)
{
	u8 stack[-STACK_DATA];
	u64 r[MAX_BPF_REG] = { [BPF_REG_1] = (u64)ctx, [BPF_REG_10] = (u64)stack + sizeof(stack) };

	for (;; insn++) {
		unsigned int class = BPF_CLASS(insn->code);
		bool wide = class == BPF_ALU64 || class == BPF_JMP;
		u64 mask = wide ? U64_MAX : U32_MAX, *dst = &r[insn->dst_reg];
		u64 imm = (u64)(s64)insn->imm;
		u64 s = (BPF_SRC(insn->code) == BPF_X ? r[insn->src_reg] : imm) & mask;

		switch (class) {
		case BPF_ALU:
		case BPF_ALU64:
			if (BPF_OP(insn->code) == BPF_END)
				*dst = swapped(insn, *dst);
			else
				*dst = alu(insn, *dst & mask, s, wide) & mask;
			break;
		case BPF_LD:
			*dst = (u32)insn->imm | (u64)(u32)insn[1].imm << 32;
			insn++;
			break;
		case BPF_LDX:
			*dst = load(insn, r[insn->src_reg]);
			break;
		case BPF_ST:
			memcpy((void *)(*dst + insn->off), &imm, width(insn));
			break;
		case BPF_STX:
			memcpy((void *)(*dst + insn->off), &r[insn->src_reg], width(insn));
			break;
		default:
			if (BPF_OP(insn->code) == BPF_EXIT)
				return r[0];
			if (BPF_OP(insn->code) == BPF_CALL)
				r[0] = mix(r[1], r[2], r[3], r[4], r[5]);
			else if (BPF_OP(insn->code) == BPF_JA)
				insn += wide ? insn->off : insn->imm;
			else if (holds(insn, *dst & mask, s, wide))
				insn += insn->off;
		}
	}
}

/* ---- random programs ---- */

static u64 random_value(void)
{
	u64 value = random_next(&seed) >> random_range(&seed, 0, 63);

	return random_one_in(&seed, 2) ? -value : value;
}

static unsigned int random_register(void)
{
	return random_range(&seed, 0, 9);
}

static void emit(u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	assert_true(len < MAX_INSNS);
	insns[len++] = BPF_RAW_INSN(code, dst, src, off, imm);
}

static void land(struct near_jump *jump)
{
	struct bpf_insn *insn = &insns[jump->at];
	u32 by = len - 1 - jump->at;

	if (insn->code == (BPF_JMP32 | BPF_JA))
		insn->imm = by;
	else
		insn->off = by;
	*jump = near_jumps[--near_count];
}

static void emit_alu(const struct form *form)
{
	u8 dst = random_register(), src = 0;
	s32 imm = (s32)random_value();

	if (BPF_SRC(form->code) == BPF_X && BPF_OP(form->code) != BPF_END)
		src = random_register();
	switch (BPF_OP(form->code)) {
	case BPF_DIV:
	case BPF_MOD:
		/* By neither 0 nor -1: nobody has put checks before the instruction. */
		imm = (imm & ~2) | 1;
		if (BPF_SRC(form->code) == BPF_X) {
			emit(BPF_ALU64 | BPF_AND | BPF_K, src, 0, 0, ~2);
			emit(BPF_ALU64 | BPF_OR | BPF_K, src, 0, 0, 1);
		}
		break;
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		imm &= BPF_CLASS(form->code) == BPF_ALU64 ? 63 : 31;
		break;
	case BPF_END:
		imm = form->imm;
	}
	emit(form->code, dst, src, form->off, imm);
}

static void emit_memory(const struct form *form)
{
	bool load = BPF_CLASS(form->code) == BPF_LDX, local = random_one_in(&seed, 2);
	u8 base = local ? BPF_REG_10 : random_register(), other = random_register();
	s16 off;

	if (local) {
		off = (s16)random_range(&seed, 0, 8 * (STACK_WORDS - 1)) + STACK_DATA;
	} else {
		off = (s16)random_range(&seed, 0, CTX_END - 8 - CTX_DATA) + CTX_DATA;
		emit(BPF_LDX | BPF_MEM | BPF_DW, base, BPF_REG_10, STACK_CTX, 0);
	}
	emit(form->code, load ? other : base, load ? base : other, off, (s32)random_value());
}

/* Jumps back some times, by the form of a jump that a counter controls, or by one of 32 bits. */
static void emit_loop(void)
{
	u8 count = random_register();
	u32 start;

	emit(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, STACK_COUNT, random_range(&seed, 1, 5));
	start = len;
	emit_alu(&forms[random_range(&seed, 0, 4 * 10 - 1)]);
	emit(BPF_LDX | BPF_MEM | BPF_DW, count, BPF_REG_10, STACK_COUNT, 0);
	emit(BPF_ALU64 | BPF_SUB | BPF_K, count, 0, 0, 1);
	emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, count, STACK_COUNT, 0);
	if (random_one_in(&seed, 2)) {
		emit(BPF_JMP | BPF_JNE | BPF_K, count, 0, start - len - 1, 0);
	} else {
		emit(BPF_JMP32 | BPF_JEQ | BPF_K, count, 0, 1, 0);
		emit(BPF_JMP32 | BPF_JA, 0, 0, 0, start - len - 1);
	}
}

static void emit_jump(const struct form *form)
{
	bool registers = BPF_SRC(form->code) == BPF_X;
	unsigned int r;

	if (BPF_OP(form->code) == BPF_CALL) {
		emit(form->code, 0, 0, 0, BPF_CALL_IMM(mix));
		for (r = BPF_REG_1; r <= BPF_REG_5; r++)
			emit(BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, (s32)random_value());
		return;
	}
	if (near_count == NEAR || random_one_in(&seed, 4)) {
		emit_loop();
		return;
	}
	near_jumps[near_count++] = (struct near_jump){ len, random_range(&seed, 0, 4) };
	emit(form->code, BPF_OP(form->code) == BPF_JA ? 0 : random_register(),
	     registers ? random_register() : 0, 0,
	     registers || BPF_OP(form->code) == BPF_JA ? 0 : (s32)random_value());
}

static void emit_form(const struct form *form)
{
	unsigned int i;

	switch (BPF_CLASS(form->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		emit_alu(form);
		break;
	case BPF_LD:
		emit(form->code, random_register(), 0, 0, (s32)random_next(&seed));
		emit(0, 0, 0, 0, (s32)random_value());
		break;
	case BPF_JMP:
	case BPF_JMP32:
		emit_jump(form);
		break;
	default:
		emit_memory(form);
	}
	for (i = near_count; i--; ) {
		if (near_jumps[i].left-- == 0)
			land(&near_jumps[i]);
	}
}

/* From the context into registers 0 to 9, and back. */
static void emit_begin(void)
{
	unsigned int i;

	len = 0;
	emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, STACK_CTX, 0);
	for (i = 0; i < STACK_WORDS; i++)
		emit(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, STACK_DATA + 8 * i,
		     (s32)random_value());
	for (i = 0; i < 10; i++) {
		if (i != BPF_REG_1)
			emit(BPF_LDX | BPF_MEM | BPF_DW, i, BPF_REG_1, CTX_IN + 8 * i, 0);
	}
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_1, CTX_IN + 8, 0);
}

static void emit_end(void)
{
	unsigned int i;

	while (near_count)
		land(&near_jumps[0]);
	emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, STACK_SAVE, 0);
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, STACK_CTX, 0);
	for (i = 0; i < 10; i++) {
		if (i != BPF_REG_1)
			emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_1, i, CTX_OUT + 8 * i, 0);
	}
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, STACK_SAVE, 0);
	emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0, CTX_OUT + 8, 0);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Of what is in insns; NULL where the kernel's compiler is not to be had. */
static struct bpf_prog *compile(u32 depth)
{
	struct bpf_prog *fp = bpf_prog_alloc(bpf_prog_size(len), GFP_KERNEL);
	int err = 0;

	if (!fp)
		return NULL;
	memcpy(fp->insnsi, insns, len * sizeof(*insns));
	fp->len = len;
	fp->aux->stack_depth = depth;
	fp = bpf_prog_select_runtime(fp, &err);
	if (fp->jited && !err)
		return fp;
	bpf_prog_free(fp);
	return NULL;
}

static void check_program(const struct bpf_prog *fp)
{
	static u8 before[sizeof(memory)], got[sizeof(memory)];
	u8 *ctx = memory + CTX_AT;
	unsigned int i;
	u64 value, ret;

	for (i = 0; i < sizeof(memory); i += 8) {
		value = random_value();
		memcpy(memory + i, &value, 8);
	}
	memcpy(before, memory, sizeof(memory));
	ret = fp->bpf_func(ctx, fp->insnsi);
	memcpy(got, memory, sizeof(memory));
	memcpy(memory, before, sizeof(memory));
	value = (u32)interpret(insns, ctx);
	check_that(ret == value, "%#llx, not %#llx", ret, value);
	for (i = 0; i < sizeof(memory); i++)
		check_that(got[i] == memory[i], "at %d: %#x, not %#x", (int)i - CTX_AT, got[i],
			   memory[i]);
}

static void test_programs(void **state)
{
	unsigned int program, i, next = 0;

	for (program = 0; program < PROGRAMS; program++) {
		struct bpf_prog *fp;

		emit_begin();
		for (i = 0; i < FORMS; i++)
			emit_form(&forms[next++ % ARRAY_SIZE(forms)]);
		emit_end();
		fp = compile(-STACK_DATA);
		assert_non_null(fp);
		for (i = 0; i < RUNS; i++)
			check_program(fp);
		bpf_prog_free(fp);
	}
}

/* The arguments in their order, a pointer to the stack among them, and what is left of the call. */
static u64 sum_of(u64 a, u64 b, u64 c, u64 d, u64 e)
{
	assert_int_equal((uintptr_t)__builtin_frame_address(0) % 16, 0);
	assert_int_equal(*(u64 *)e, 0x123456789abcdef0ULL);
	*(u64 *)e = a << 24 | b << 16 | c << 8 | d;
	return 1ULL << 32 | 5;
}

static void test_call(void **state)
{
	unsigned int saved, i;

	for (saved = 0; saved <= 4; saved++) {
		struct bpf_prog *fp;

		len = 0;
		for (i = 0; i < saved; i++)
			emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_6 + i, 0, 0, i + 1);
		for (i = BPF_REG_1; i <= BPF_REG_4; i++)
			emit(BPF_ALU64 | BPF_MOV | BPF_K, i, 0, 0, i);
		emit(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_5, 0, 0, 0x9abcdef0);
		emit(0, 0, 0, 0, 0x12345678);
		emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_5, -8, 0);
		emit(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_5, BPF_REG_10, 0, 0);
		emit(BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_5, 0, 0, 8);
		emit(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_CALL_IMM(sum_of));
		emit(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
		emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, -8, 0);
		emit(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
		for (i = 0; i < saved; i++)
			emit(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_0, BPF_REG_6 + i, 0, 0);
		emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		for (i = 8; i <= 24; i += 8) {
			fp = compile(i);
			assert_non_null(fp);
			assert_int_equal(fp->bpf_func(NULL, fp->insnsi),
					 0x01020305 + saved * (saved + 1) / 2);
			bpf_prog_free(fp);
		}
	}
}

static void emit_least(void)
{
	len = 0;
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Jumps over more than 16 bits reach: there and back, before and behind what is between. */
static void test_far(void **state)
{
	struct bpf_prog *fp;
	u32 i;

	len = 0;
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	emit(BPF_JMP32 | BPF_JA, 0, 0, 0, FAR + 1);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	for (i = 0; i < FAR; i++)
		emit(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, i % 3);
	emit(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 5);
	emit(BPF_JMP32 | BPF_JA, 0, 0, 0, -FAR - 3);
	emit(BPF_JMP32 | BPF_JA, 0, 0, 0, -FAR - 5);
	fp = compile(0);
	assert_non_null(fp);
	assert_int_equal(fp->bpf_func(NULL, fp->insnsi), FAR + 5);
	bpf_prog_free(fp);
}

/* What is compiled can be executed, but not written. */
static void test_sealed(void **state)
{
	unsigned long start, end;
	struct bpf_prog *fp;
	bool found = false;
	char line[256], mode[5];
	FILE *maps;

	emit_least();
	fp = compile(0);
	assert_non_null(fp);
	maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps)) {
		found = sscanf(line, "%lx-%lx %4s", &start, &end, mode) == 3 &&
			(unsigned long)fp->bpf_func - start < end - start;
	}
	fclose(maps);
	assert_true(found);
	assert_string_equal(mode, "r-xp");
	bpf_prog_free(fp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_sealed),
	};
	struct bpf_prog *fp;

	emit_least();
	fp = compile(0);
	if (!fp) {
		printf("1..0 # skipped: the kernel's source is not there, or it is no x86-64\n");
		return 0;
	}
	bpf_prog_free(fp);
	seed = test_seed();
	test_limit_cpu(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
