// SPDX-License-Identifier: GPL-2.0
/*
 * A guarantee beside programs that do not end, or do nothing but fault: of a vGPU that always has
 * work, service >= guarantee * T - 2 Q, whatever the others run.
 *
 * The first vGPU is the victim: its jobs are those of share_test, and are verified. The others have
 * no guarantee, but nearly all of the weight: without its guarantee the victim gets next to
 * nothing. On a busy host the machine loses its processors now and then, which makes overruns; they
 * are in Q. So that they do not excuse everything the allowance is limited, and the test waits for
 * a longer time, in which the policy makes the overrun good.
 */
#include <string.h>

#include "compute.h"
#include "share.h"

#define HOGS		3
#define GUARANTEE	500	/* per mille */
#define TICK_MS		20	/* from one look at the hogs to the next */
#define WINDOW_MS	1000
#define WINDOWS		30
#define ALLOWANCE_MAX	0.04	/* of the time */
#define HOGS_MIN	0.25	/* of the engine: less, and the victim was not beside anybody */

/* Doubles, rounded as no processor of a host can. */
#define RMM		4
#define FLOAT(f7, rs2, rs1, rd)	RV_R(f7, rs2, rs1, RMM, rd, 0x53)
#define FCVT_D_W(rd, rs1)	FLOAT(0x69, 0, rs1, rd)
#define FSQRT_D(rd, rs1)	FLOAT(0x2d, 0, rs1, rd)
#define FDIV_D(rd, rs1, rs2)	FLOAT(0x0d, rs2, rs1, rd)
#define FMADD_D(rd, rs1, rs2, rs3) RV_R((rs3) << 2 | 1, rs2, rs1, RMM, rd, 0x43)

static const uint32_t floats[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_LI(RV_T1, 3),
	FCVT_D_W(1, RV_T0), FCVT_D_W(2, RV_T1),
	FDIV_D(3, 1, 2), FSQRT_D(4, 3), FMADD_D(1, 3, 4, 2), RV_CSRR(RV_T0, RV_FCSR), RV_J(-16),
};

static const uint32_t atomics[] = {
	RV_AMOADD_W(RV_T0, RV_SP, RV_A0), RV_AMOADD_D(RV_T1, RV_T0, RV_A0), RV_J(-8),
};

/**
 * struct code - what a hog runs
 * @words: instructions; NULL: others at random each time
 * @nr:    how many there are
 */
struct code {
	const uint32_t *words;
	uint32_t nr;
};

#define CODE(array)	{ array, sizeof(array) / sizeof((array)[0]) }
#define RANDOM		{ NULL, 256 }

/**
 * struct hog - a vGPU beside the victim
 * @vgpu:   the vGPU
 * @chan:   its channel on gr
 * @code:   what it runs
 * @faults: how often it has faulted
 */
struct hog {
	struct fx_vgpu *vgpu;
	struct vgpu_chan *chan;
	struct code code;
	unsigned int faults;
};

/**
 * struct mark - counters at one time
 * @now_ns:     the victim's counters were read
 * @victim_ns:  its service so far
 * @hogs_ns:    that of all others
 * @overrun_ns: the longest of all vGPUs so far
 */
struct mark {
	uint64_t now_ns;
	uint64_t victim_ns;
	uint64_t hogs_ns;
	uint64_t overrun_ns;
};

static struct hog hogs[HOGS];
static struct rng rng;

static void hog_start(struct hog *hog)
{
	uint32_t words[256], i;

	for (i = 0; i < hog->code.nr; i++)
		words[i] = hog->code.words ? hog->code.words[i] : rv_random(&rng);
	compute_load(hog->vgpu, words, hog->code.nr, 64);
	compute_dispatch(hog->chan, COMPUTE_ALL, COMPUTE_SIZE(64, 2, 2), 1024);
}

static void start_hogs(const struct code *codes)
{
	struct hog *hog;
	unsigned int i;

	for (i = 0; i < HOGS; i++) {
		hog = &hogs[i];
		hog->vgpu = &share.vgpu[i + 1];
		hog->code = codes[i];
		hog->faults = 0;
		/* What compute.h places lies before the ring. */
		fx_fb(hog->vgpu, 8 * FX_MIB, 4096);
		hog->chan = compute_chan(hog->vgpu);
		hog_start(hog);
	}
}

/* Code at random is followed by other code, whether it has faulted or goes on. */
static void look_at(struct hog *hog)
{
	bool faulted = vgpu_chan_state(hog->chan) == VGPU_HW_STATE_FAULTED;

	CHECK(!faulted || !hog->code.words, "a program that is right has faulted");
	if (hog->code.words)
		return;
	hog->faults += faulted;
	fx_again(hog->chan);
	hog_start(hog);
}

static void keep_busy(unsigned int ms)
{
	uint64_t end = clk_ms() + ms;
	unsigned int i;

	do {
		share_keep_busy(TICK_MS);
		for (i = 0; i < HOGS; i++)
			look_at(&hogs[i]);
	} while (clk_ms() < end);
}

static void take(struct mark *m)
{
	const uint32_t gr = share.load[0].chan->engine;
	struct vgpu_ctl_instance inst;
	unsigned int i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < share.nr; i++) {
		fx_instance(&share.vgpu[i], &inst);
		if (i) {
			m->hogs_ns += inst.engine[gr].busy_ns;
		} else {
			m->now_ns = inst.now_ns;
			m->victim_ns = inst.engine[gr].busy_ns;
		}
		if (inst.engine[gr].max_overrun_ns > m->overrun_ns)
			m->overrun_ns = inst.engine[gr].max_overrun_ns;
	}
}

/* Whether the victim has had its guarantee from @a to @b, and the hogs were there. */
static bool is_kept(const struct mark *a, const struct mark *b)
{
	double wall = (double)(b->now_ns - a->now_ns);
	double victim = (double)(b->victim_ns - a->victim_ns) / wall;
	double others = (double)(b->hogs_ns - a->hogs_ns) / wall;
	double allowed = 2 * (double)(share.slice_ns + b->overrun_ns) / wall;

	if (allowed > ALLOWANCE_MAX)
		allowed = ALLOWANCE_MAX;
	ktap_note("%.0f ms: %.1f per mille, the others %.1f; %.1f allowed, largest overrun %llu us",
		  wall / 1e6, 1000 * victim, 1000 * others, 1000 * allowed,
		  (unsigned long long)b->overrun_ns / 1000);
	return victim >= GUARANTEE / 1000.0 - allowed && others >= HOGS_MIN;
}

/* Judges the last window, the last two, the last four and so on, and all, as share_measure(). */
static void measure(void)
{
	static struct mark at[WINDOWS + 1];
	unsigned int w, length;

	keep_busy(200);
	take(&at[0]);
	for (w = 1; w <= WINDOWS; w++) {
		keep_busy(WINDOW_MS);
		take(&at[w]);
		for (length = 1; length < 2 * w; length *= 2)
			if (is_kept(&at[length < w ? w - length : 0], &at[w]))
				return;
	}
	FAIL("less than its guarantee of %u per mille, whatever part of %u windows is looked at",
	     GUARANTEE, WINDOWS);
}

static unsigned int run(const struct code *codes)
{
	static const struct share_scenario scenario = {
		.policy = "qos",
		.due = VGPU_DUE_SHARE,
		.types = "4Q 4Q 4Q 4Q",
		.share = { { GUARANTEE, 1000, 1 }, { 0, 1000, 1000 }, { 0, 1000, 1000 },
			   { 0, 1000, 1000 } },
		.idle = 0xe,	/* they have programs in place of jobs */
	};
	unsigned int i, faults = 0;

	fx_need("DISPATCH");
	fx_need_no_quarantine();
	share_prepare(&scenario);
	start_hogs(codes);
	measure();
	share_finish();
	for (i = 0; i < HOGS; i++)
		faults += hogs[i].faults;
	CHECK_EQ(fx_faults(&share.vgpu[0]), 0);
	return faults;
}

/* 2^96 work-items each. */
static void endless_loops(void)
{
	static const struct code codes[HOGS] = {
		CODE(compute_loop), CODE(compute_loop), CODE(compute_loop),
	};

	run(codes);
}

/* Instructions that take longest. */
static void slow_instructions(void)
{
	static const struct code codes[HOGS] = { CODE(floats), CODE(atomics), CODE(floats) };

	run(codes);
}

static void groups_that_wait(void)
{
	static const struct code codes[HOGS] = {
		CODE(compute_barrier), CODE(compute_barrier), CODE(compute_barrier),
	};

	run(codes);
}

/* Words at random; most of them fault soon, and the others are stopped. */
static void random_code(void)
{
	static const struct code codes[HOGS] = { RANDOM, RANDOM, CODE(compute_loop) };
	unsigned int faults;

	rng = rng_seed(fx_random());
	faults = run(codes);
	ktap_note("%u faults", faults);
	CHECK(faults, "no word was wrong");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(endless_loops),
	KTAP_TEST(slow_instructions),
	KTAP_TEST(groups_that_wait),
	KTAP_TEST(random_code),
};

KTAP_MAIN(tests, share_cleanup)
