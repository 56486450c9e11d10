// SPDX-License-Identifier: GPL-2.0
/*
 * Programs whose lanes run alone for long become code of the CPU (vgpu_soft's native=). They do
 * what they did before, fault and stop and move as before, and the code's memory is given back. On
 * a kernel that compiles no BPF there is no code, and nothing to test.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"
#include "file.h"
#include "hop.h"

#define ITEMS		256u
#define ROUNDS		2000u	/* of an item at most */
#define FILE_CODE	"/sys/kernel/debug/vgpu_soft/native"
#define FILE_SWITCH	"/sys/module/vgpu_soft/parameters/native"
#define TRIES		400

static struct fx_vgpu v;
static struct vgpu_chan *chan;

static uint64_t code(const char *what)
{
	uint64_t value;

	CHECK(!file_number(FILE_CODE, what, &value), "%s", what);
	return value;
}

static volatile uint64_t *words_at(uint64_t offset)
{
	return (volatile uint64_t *)(v.dev->fb + offset);
}

/*
 * Each work-item goes round as often as its first number says, keeps its number on the stack, and
 * calls a function each time. a0: the number of the work-item that is to fault, where the first
 * one is 1, then a word for each work-item.
 */
static const uint32_t mixes[] = {
	RV_MV(RV_A5, RV_RA),
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_ADDI(RV_T1, RV_T0, 77),
	RV_MUL(RV_T1, RV_T1, RV_T1), RV_ANDI(RV_T2, RV_T1, (ROUNDS - 1) & 0x7ff),
	RV_ADDI(RV_SP, RV_SP, -16), RV_SD(RV_T1, 8, RV_SP),
	/* 7: the loop */
	RV_BEQ(RV_T2, RV_ZERO, 24), RV_AUIPC(RV_RA, 0), RV_I(56, RV_RA, 0, RV_RA, 0x67),
	RV_ADDI(RV_T2, RV_T2, -1), RV_J(-16), RV_ADDI(RV_ZERO, RV_ZERO, 0),
	/* 13: it is over */
	RV_LD(RV_T1, 8, RV_SP), RV_ADDI(RV_A3, RV_T0, 1), RV_SLLI(RV_T0, RV_T0, 3),
	RV_ADD(RV_T0, RV_T0, RV_A0), RV_SD(RV_T1, 8, RV_T0), RV_LD(RV_A4, 0, RV_A0),
	RV_BNE(RV_A4, RV_A3, 8), RV_SD(RV_T1, 0, RV_ZERO), RV_JR(RV_A5),
	/* 22: the function, which goes on with what is on the stack */
	RV_LD(RV_T1, 8, RV_SP), RV_SLLI(RV_A4, RV_T1, 7), RV_XOR(RV_T1, RV_T1, RV_A4),
	RV_ADD(RV_T1, RV_T1, RV_T2), RV_SD(RV_T1, 8, RV_SP), RV_RET,
};

static uint64_t mixed(uint64_t id)
{
	uint64_t x = (id + 77) * (id + 77), n;

	for (n = x & (ROUNDS - 1); n; n--)
		x = (x ^ x << 7) + n;
	return x;
}

static void begin_mix(uint32_t bad)
{
	memset((void *)words_at(COMPUTE_OUT), 0, (ITEMS + 1) * 8);
	words_at(COMPUTE_OUT)[0] = htole64(bad);
	compute_dispatch(chan, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
}

static void check_mix(void)
{
	uint64_t i;

	fx_finish(chan);
	for (i = 0; i < ITEMS; i++)
		CHECK_EQ(le64toh(words_at(COMPUTE_OUT)[1 + i]), mixed(i), "%llu",
			 (unsigned long long)i);
}

static void mix_once(void)
{
	begin_mix(0);
	check_mix();
}

/* Loads the program anew, and runs it until there is code of it. */
static void begin(void)
{
	uint64_t made, refused;
	int n;

	CHECK(!file_write(FILE_SWITCH, "1"));
	chan = compute_chan(&v);
	made = code("programs ");
	refused = code("refused ");
	COMPUTE_LOAD(&v, mixes);
	for (n = 0; n < TRIES && code("programs ") == made; n++) {
		if (code("refused ") != refused)
			ktap_skip("the kernel compiles no BPF");
		mix_once();
	}
	CHECK(n < TRIES, "no code is made of the program");
	CHECK(code("bytes ") > 0);
}

static void code_does_the_same(void)
{
	int n;

	begin();
	for (n = 0; n < 10; n++)
		mix_once();
}

/* Where there is a fault, and whose it is, is told as before. */
static void code_faults(void)
{
	begin();
	begin_mix(201);
	compute_check_fault(chan, VGPU_HW_FAULT_PAGE, 0, VGPU_HW_VA_IMAGE + 20 * 4,
			    COMPUTE_SIZE(200, 0, 0), "one");
	fx_again(chan);
	mix_once();
}

/* Work-items that never end, each in its own way, are left at once. */
static const uint32_t endless[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_ANDI(RV_T1, RV_T0, 7), RV_ADDI(RV_T1, RV_T1, 3),
	RV_MV(RV_T2, RV_T1), RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -4),
	RV_BEQ(RV_ZERO, RV_ZERO, -12),
};

static void endless_code_stops(void)
{
	uint64_t made;
	int n;

	begin();
	for (n = 0; n < 4; n++) {
		made = code("programs ");
		COMPUTE_LOAD(&v, endless);
		compute_dispatch(chan, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
		FX_SOON(code("programs ") > made, "%s", "no code is made of an endless program");
		if (n % 2)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		else
			FX_OK(v.dev, vgpu_chan_disable(chan));
		vgpu_chan_destroy(chan);
		chan = compute_chan(&v);
	}
	COMPUTE_LOAD(&v, mixes);
	mix_once();
}

/* A dispatch moves while code is at work; where it comes to, there is none so far. */
static void code_moves(void)
{
	int n;

	begin();
	for (n = 0; n < 3; n++) {
		begin_mix(0);
		usleep(100 * n);
		hop(&v, 0);
		check_mix();
	}
}

/* Switched off while there is code, it is used no more, and no more is made. */
static void code_is_switched_off(void)
{
	uint64_t made;
	int n;

	begin();
	CHECK(!file_write(FILE_SWITCH, "0"));
	mix_once();
	made = code("programs ");
	compute_invalidate(&v, 0);
	for (n = 0; n < 20; n++)
		mix_once();
	CHECK_EQ(code("programs "), made);
	CHECK(!file_write(FILE_SWITCH, "1"));
}

/* Code goes with its program: when that is out of date, and with the vGPU. */
static void code_is_freed(void)
{
	uint64_t bytes;
	int n;

	begin();
	bytes = code("bytes ");
	for (n = 0; n < 5; n++) {
		uint64_t made = code("programs ");
		int k;

		compute_invalidate(&v, 0);
		for (k = 0; k < TRIES && code("programs ") == made; k++)
			mix_once();
		CHECK(k < TRIES, "no code is made anew");
		CHECK(code("bytes ") <= bytes, "%llu bytes, then %llu", (unsigned long long)bytes,
		      (unsigned long long)code("bytes "));
	}
	vgpu_chan_destroy(chan);
	fx_close(&v);
	FX_SOON(!code("bytes "), "%s", "memory of code is not given back");
}

/*
 * The vGPU is closed while its program, a long one, is being compiled, or is about to be. Nothing
 * is left; the kernel says so if there is.
 */
static void closed_meanwhile(void)
{
	static uint32_t text[4096];
	unsigned int n, i;
	uint64_t insns;

	begin();
	for (i = 0; i < sizeof(text) / 4; i++)
		text[i] = RV_ADDI(RV_A4, RV_A4, 1);
	memcpy(text, endless, sizeof(endless));
	for (n = 0; n < 24; n++) {
		COMPUTE_LOAD(&v, text);
		compute_dispatch(chan, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
		insns = compute_counter(&v, "instructions ");
		FX_SOON(compute_counter(&v, "instructions ") > insns + 40000 * n);
		vgpu_chan_destroy(chan);
		fx_close(&v);
		fx_open(&v);
		chan = compute_chan(&v);
	}
	COMPUTE_LOAD(&v, mixes);
	mix_once();
}

static void cleanup(void)
{
	file_write(FILE_SWITCH, "1");
	fx_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(code_does_the_same),
	KTAP_TEST(code_faults),
	KTAP_TEST(endless_code_stops),
	KTAP_TEST(code_moves),
	KTAP_TEST(code_is_switched_off),
	KTAP_TEST(code_is_freed),
	KTAP_TEST(closed_meanwhile),
};

KTAP_MAIN(tests, cleanup)
