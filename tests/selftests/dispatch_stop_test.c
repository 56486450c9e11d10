// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that do not end by themselves, or not soon: they are stopped between two instructions
 * and go on where they were, and hold up nobody.
 */
#include <endian.h>
#include <string.h>

#include "compute.h"

static struct fx_vgpu hog, other;

/* Work-items take turns with a lock that one of them never gives back. */
static const uint32_t spin[] = {
	RV_LI(RV_T0, 1), RV_AMOADD_W(RV_T1, RV_T0, RV_A0), RV_BNE(RV_T1, RV_ZERO, -4), RV_J(0),
};

static void wait_until_it_runs(const struct fx_vgpu *v)
{
	uint64_t before = compute_counter(v, "instructions ");

	FX_SOON(compute_counter(v, "instructions ") > before);
}

static void start(struct fx_vgpu *v, struct vgpu_chan *chan, const uint32_t *words, uint32_t nr)
{
	compute_load(v, words, nr, 64);
	compute_dispatch(chan, COMPUTE_ALL, COMPUTE_SIZE(64, 2, 2), 1024);
	wait_until_it_runs(v);
}

#define START(v, chan, words) start(v, chan, words, sizeof(words) / sizeof((words)[0]))

/* 2^96 work-items that loop, and a neighbour whose short programs all get their turns. */
static void endless_loop_is_preempted(void)
{
	static const uint32_t words[] = { RV_LW(RV_T0, 0, RV_A0), RV_ADDI(RV_T0, RV_T0, 1),
		RV_SW(RV_T0, 0, RV_A0), RV_RET };
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *big, *small;
	volatile uint32_t *out;
	uint64_t done;
	unsigned int i;

	big = compute_chan(&hog);
	small = compute_chan(&other);
	out = (void *)(other.dev->fb + COMPUTE_OUT);
	COMPUTE_LOAD(&other, words);
	START(&hog, big, compute_loop);
	fx_instance(&hog, &before);
	for (i = 0; i < 100; i++) {
		compute_dispatch(small, COMPUTE_ONE, COMPUTE_ONE, 0);
		fx_finish(small);
		CHECK_EQ(*out, i + 1);
	}
	fx_instance(&hog, &after);
	CHECK(after.engine[big->engine].preemptions > before.engine[big->engine].preemptions, "");
	CHECK_EQ(after.engine[big->engine].resets, before.engine[big->engine].resets);
	CHECK_EQ(after.faults, before.faults);
	ktap_note("max %llu us past the slice", after.engine[big->engine].max_overrun_ns / 1000);
	done = compute_counter(&hog, "instructions ");
	FX_SOON(compute_counter(&hog, "instructions ") > done);
	CHECK_EQ(vgpu_chan_get(big), 0);
}

static void end_by_disable(struct fx_vgpu *v, struct vgpu_chan *chan)
{
	FX_OK(v->dev, vgpu_chan_disable(chan));
	FX_SOON(compute_counter(v, "context_bytes ") == 0);
	FX_OK(v->dev, vgpu_chan_enable(chan));
	fx_finish(chan);
}

static void ended_by_disable(void)
{
	struct vgpu_chan *chan = compute_chan(&hog);

	START(&hog, chan, compute_loop);
	end_by_disable(&hog, chan);
	START(&hog, chan, compute_barrier);
	end_by_disable(&hog, chan);
	START(&hog, chan, spin);
	end_by_disable(&hog, chan);
}

static void ended_by_reset(void)
{
	struct vgpu_chan *chan = compute_chan(&hog);

	START(&hog, chan, compute_loop);
	FX_OK(hog.dev, vgpu_dev_reset(hog.dev));
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	FX_SOON(compute_counter(&hog, "context_bytes ") == 0);
	FX_SOON(compute_counter(&hog, "program_bytes ") == 0);
	FX_OK(hog.dev, vgpu_chan_enable(chan));
	START(&hog, chan, compute_barrier);
	fx_close(&hog);
	fx_open(&hog);
	FX_SOON(compute_counter(&hog, "context_bytes ") == 0);
}

/*
 * A number for each work-item after as many rounds as its id says: lanes of a warp part, and what
 * they have is in registers, on the stack and in the group's memory while they do not run.
 */
static const uint32_t rounds[] = {
	RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID),
	RV_CSRR(RV_A2, VGPU_HW_CSR_LOCAL_ID),
	RV_LUI(RV_A3, VGPU_HW_VA_LOCAL >> 12),
	RV_SLLI(RV_A2, RV_A2, 3),
	RV_ADD(RV_A3, RV_A3, RV_A2),
	RV_SD(RV_A1, -8, RV_SP),
	RV_SD(RV_ZERO, 0, RV_A3),
	RV_SLLI(RV_T0, RV_A1, 2),
	RV_ADDI(RV_T0, RV_T0, 400),		/* rounds */
	RV_LD(RV_T1, -8, RV_SP),		/* 9: */
	RV_SLLI(RV_T2, RV_T1, 3),
	RV_ADD(RV_T1, RV_T1, RV_T2),
	RV_ADDI(RV_T1, RV_T1, 77),
	RV_SD(RV_T1, -8, RV_SP),		/* stack = 9 * stack + 77 */
	RV_LD(RV_T2, 0, RV_A3),
	RV_XOR(RV_T2, RV_T2, RV_T1),
	RV_ADDI(RV_T0, RV_T0, -1),
	RV_SD(RV_T2, 0, RV_A3),			/* local ^= stack */
	RV_BNE(RV_T0, RV_ZERO, -36),
	RV_BARRIER,
	RV_LD(RV_T2, 0, RV_A3),
	RV_SLLI(RV_A1, RV_A1, 3),
	RV_ADD(RV_A0, RV_A0, RV_A1),
	RV_SD(RV_T2, 0, RV_A0),
	RV_RET,
};

static uint64_t rounds_of(uint64_t id)
{
	uint64_t left = 4 * id + 400, stack = id, local = 0;

	while (left--) {
		stack = 9 * stack + 77;
		local ^= stack;
	}
	return local;
}

/* Two vGPUs preempt each other all the time, and all numbers come out right. */
static void goes_on_where_it_was(void)
{
	enum { NR = 3000 };
	struct fx_vgpu *v[2] = { &hog, &other };
	struct vgpu_ctl_instance info;
	struct vgpu_chan *chan[2];
	const uint64_t *out;
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		chan[i] = compute_chan(v[i]);
		COMPUTE_LOAD(v[i], rounds);
	}
	for (i = 0; i < 2; i++)
		compute_dispatch(chan[i], COMPUTE_SIZE(NR, 1, 1), COMPUTE_SIZE(200, 1, 1), 1600);
	for (i = 0; i < 2; i++) {
		fx_finish(chan[i]);
		out = (const void *)(v[i]->dev->fb + COMPUTE_OUT);
		for (k = 0; k < NR; k++)
			CHECK_EQ(le64toh(out[k]), rounds_of(k), "item %u", k);
	}
	fx_instance(&hog, &info);
	ktap_note("%llu preemptions", info.engine[chan[0]->engine].preemptions);
}

/* Words for floats, and fcsr. */
#define FMV_D_X(rd, rs1)	RV_R(0x79, 0, rs1, 0, rd, 0x53)
#define FMV_X_D(rd, rs1)	RV_R(0x71, 0, rs1, 0, rd, 0x53)
#define CSRW_FCSR(rs1)		RV_I(RV_FCSR, rs1, 1, 0, 0x73)

/* Fills stack, local memory and all registers with ones, and with @endless goes on with that. */
static void load_dirty(struct fx_vgpu *v, bool endless)
{
	static const uint32_t memory[] = {
		RV_LI(RV_T0, -1), RV_LUI(RV_T1, VGPU_HW_VA_LOCAL >> 12), RV_LI(RV_T2, 512),
		RV_SD(RV_T0, 0, RV_T1), RV_SD(RV_T0, -8, RV_SP), RV_ADDI(RV_T1, RV_T1, 8),
		RV_ADDI(RV_SP, RV_SP, -8), RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -20),
	};
	uint32_t words[128], nr = sizeof(memory) / sizeof(memory[0]), reg;

	memcpy(words, memory, sizeof(memory));
	for (reg = 0; reg < 32; reg++)
		words[nr++] = FMV_D_X(reg, RV_T0);
	words[nr++] = CSRW_FCSR(RV_T0);
	for (reg = RV_SP; reg < 32; reg++)
		words[nr++] = RV_LI(reg, -1);
	words[nr++] = endless ? RV_J(0) : RV_RET;
	compute_load(v, words, nr, 4096);
}

/*
 * Adds to the first word of its arguments all that is not 0 in registers, but for those that the
 * ABI has a value for, to the second what is not 0 in stack and local memory, and 1 to the third.
 */
static void load_look(struct fx_vgpu *v)
{
	static const uint32_t memory[] = {
		RV_AMOADD_D(RV_T0, RV_A1, RV_A0), RV_LI(RV_A1, 0),
		RV_LUI(RV_T1, VGPU_HW_VA_LOCAL >> 12),
		RV_LI(RV_T2, 512), RV_LD(RV_T0, 0, RV_T1), RV_OR(RV_A1, RV_A1, RV_T0),
		RV_LD(RV_T0, -8, RV_SP), RV_OR(RV_A1, RV_A1, RV_T0),
		RV_ADDI(RV_T1, RV_T1, 8), RV_ADDI(RV_SP, RV_SP, -8), RV_ADDI(RV_T2, RV_T2, -1),
		RV_BNE(RV_T2, RV_ZERO, -28), RV_LI(RV_T1, 1),
		RV_ADDI(RV_A0, RV_A0, 8), RV_AMOADD_D(RV_T0, RV_A1, RV_A0),
		RV_ADDI(RV_A0, RV_A0, 8), RV_AMOADD_D(RV_T0, RV_T1, RV_A0), RV_RET,
	};
	uint32_t words[128], nr = 0, reg;

	for (reg = RV_SP + 1; reg < 32; reg++)
		if (reg != RV_A0 && reg != RV_A1)
			words[nr++] = RV_OR(RV_A1, RV_A1, reg);
	for (reg = 0; reg < 32; reg++) {
		words[nr++] = FMV_X_D(RV_T0, reg);
		words[nr++] = RV_OR(RV_A1, RV_A1, RV_T0);
	}
	words[nr++] = RV_CSRR(RV_T0, RV_FCSR);
	words[nr++] = RV_OR(RV_A1, RV_A1, RV_T0);
	memcpy(words + nr, memory, sizeof(memory));
	compute_load(v, words, nr + sizeof(memory) / sizeof(memory[0]), 4096);
}

/* With @same the channel had another program before: its own memory may be seen again. */
static void check_look(struct fx_vgpu *v, struct vgpu_chan *chan, bool same)
{
	enum { NR = 512 };
	volatile uint64_t *out = (void *)(v->dev->fb + COMPUTE_OUT);

	out[0] = htole64(5);
	out[1] = htole64(5);
	out[2] = 0;
	load_look(v);
	/* The second group begins with registers that the first one had. */
	compute_dispatch(chan, COMPUTE_SIZE(NR, 1, 1), COMPUTE_SIZE(NR / 2, 1, 1), 4096);
	fx_finish(chan);
	CHECK_EQ(le64toh(out[0]), 5);
	CHECK(same || le64toh(out[1]) == 5, "memory is %#llx",
	      (unsigned long long)le64toh(out[1]) - 5);
	CHECK_EQ(le64toh(out[2]), NR);
}

/*
 * A work-item finds nothing of another vGPU or channel in its memory and registers, and nothing of
 * the dispatch before it in its registers: neither after the other has ended nor while it is
 * preempted.
 */
static void memory_begins_empty(void)
{
	struct fx_vgpu *v[2] = { &hog, &other };
	struct vgpu_chan *dirty, *same, *neighbour;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		dirty = compute_chan(v[i % 2]);
		same = compute_chan(v[i % 2]);
		neighbour = compute_chan(v[!(i % 2)]);
		load_dirty(v[i % 2], false);
		compute_dispatch(dirty, COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(256, 1, 1), 4096);
		fx_finish(dirty);
		check_look(v[i % 2], dirty, true);
		check_look(v[i % 2], same, false);
		check_look(v[!(i % 2)], neighbour, false);
		load_dirty(v[i % 2], true);
		compute_dispatch(dirty, COMPUTE_ALL, COMPUTE_SIZE(256, 1, 1), 4096);
		wait_until_it_runs(v[i % 2]);
		check_look(v[!(i % 2)], neighbour, false);
		FX_OK(v[i % 2]->dev, vgpu_chan_disable(dirty));
		check_look(v[i % 2], same, false);
		vgpu_chan_destroy(dirty);
		vgpu_chan_destroy(same);
		vgpu_chan_destroy(neighbour);
	}
}

/* Two vGPUs have programs at the same address, of the same size: each executes its own. */
static void text_is_its_own(void)
{
	struct fx_vgpu *v[2] = { &hog, &other };
	struct vgpu_chan *chan[2];
	uint32_t wanted[2] = { 0, 0 };
	unsigned int i, k;

	for (k = 0; k < 2; k++)
		chan[k] = compute_chan(v[k]);
	for (i = 1; i < 40; i++) {
		/* At first both have new text, then one and the other by turns. */
		for (k = 0; k < 2; k++) {
			uint32_t words[] = {
				RV_LI(RV_T0, 2 * i + k), RV_SW(RV_T0, 0, RV_A0), RV_RET,
			};

			if (i > 1 && i % 2 != k)
				continue;
			COMPUTE_LOAD(v[k], words);
			wanted[k] = 2 * i + k;
		}
		for (k = 0; k < 2; k++)
			compute_dispatch(chan[k], COMPUTE_ONE, COMPUTE_ONE, 0);
		for (k = 0; k < 2; k++) {
			fx_finish(chan[k]);
			CHECK_EQ(le32toh(*(uint32_t *)(v[k]->dev->fb + COMPUTE_OUT)), wanted[k],
				 "vGPU %u, round %u", k, i);
		}
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(endless_loop_is_preempted),
	KTAP_TEST(ended_by_disable),
	KTAP_TEST(ended_by_reset),
	KTAP_TEST(goes_on_where_it_was),
	KTAP_TEST(memory_begins_empty),
	KTAP_TEST(text_is_its_own),
};

KTAP_MAIN(tests, fx_cleanup)
