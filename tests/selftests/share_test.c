// SPDX-License-Identifier: GPL-2.0
/* What vGPUs get under each policy, against what is due to them (share_judge.c). */
#include <errno.h>
#include <string.h>

#include "share.h"

static void run(const struct share_scenario *s)
{
	share_prepare(s);
	share_measure();
	share_finish();
}

#define BEST_EFFORT	.policy = "best_effort", .due = VGPU_DUE_EQUAL
#define EQUAL_SHARE	.policy = "equal_share", .due = VGPU_DUE_SLOT
#define FIXED_SHARE	.policy = "fixed_share", .due = VGPU_DUE_SIZE
#define QOS		.policy = "qos", .due = VGPU_DUE_SHARE

#define TWO	"8Q 8Q"
#define FOUR	"4Q 4Q 4Q 4Q"
#define EIGHT	"2Q 2Q 2Q 2Q 2Q 2Q 2Q 2Q"
#define SIXTEEN	"1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q"

#define SCENARIO(name, of, who, ...)					\
	static void name(void)						\
	{								\
		static const struct share_scenario s = {			\
			of, .types = who, ##__VA_ARGS__			\
		};							\
									\
		run(&s);						\
	}

SCENARIO(best_effort_2, BEST_EFFORT, TWO)
SCENARIO(best_effort_4, BEST_EFFORT, FOUR)
SCENARIO(best_effort_16, BEST_EFFORT, SIXTEEN)
SCENARIO(best_effort_sizes_do_not_count, BEST_EFFORT, "8Q 2Q 1Q")
SCENARIO(best_effort_idle_time_goes_on, BEST_EFFORT, FOUR, .idle = 0x2)

SCENARIO(equal_share_2, EQUAL_SHARE, TWO)
SCENARIO(equal_share_8, EQUAL_SHARE, EIGHT)
SCENARIO(equal_share_16, EQUAL_SHARE, SIXTEEN)
SCENARIO(equal_share_idle_slots_stay, EQUAL_SHARE, "4Q 2Q 1Q", .idle = 0x1, .slice_ns = 5000000)

SCENARIO(fixed_share_2, FIXED_SHARE, TWO)
SCENARIO(fixed_share_16, FIXED_SHARE, SIXTEEN)
SCENARIO(fixed_share_mixed, FIXED_SHARE, "8Q 4Q 2Q 1Q 1Q")
SCENARIO(fixed_share_unsold_slots_stay, FIXED_SHARE, "4Q 2Q", .slice_ns = 5000000)
SCENARIO(fixed_share_idle_slots_stay, FIXED_SHARE, "8Q 4Q 4Q", .idle = 0x1, .slice_ns = 5000000)

SCENARIO(qos_defaults_4, QOS, FOUR, .share = {
	{ 250, 1000, 250 }, { 250, 1000, 250 }, { 250, 1000, 250 },
	{ 250, 1000, 250 } })
SCENARIO(qos_defaults_16, QOS, SIXTEEN, .share = {
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 } })
SCENARIO(qos_guarantees, QOS, TWO, .share = { { 700, 1000, 1 }, { 300, 1000, 1 } })
SCENARIO(qos_weights, QOS, "4Q 4Q 4Q", .share = {
	{ 0, 1000, 1 }, { 0, 1000, 2 }, { 0, 1000, 4 } })
SCENARIO(qos_caps_leave_idle, QOS, "4Q 4Q 4Q", .share = {
	{ 100, 200, 1 }, { 0, 300, 1 }, { 50, 150, 9 } })
SCENARIO(qos_cap_gives_to_the_others, QOS, FOUR, .share = {
	{ 400, 400, 1 }, { 100, 150, 50 }, { 50, 1000, 1 }, { 50, 1000, 3 } })
SCENARIO(qos_idle_time_by_weight, QOS, FOUR, .share = {
	{ 500, 1000, 1 }, { 100, 1000, 1 }, { 100, 1000, 2 },
	{ 100, 1000, 5 } }, .idle = 0x1)
SCENARIO(qos_guarantee_is_cap, QOS, "4Q 4Q 2Q", .share = {
	{ 500, 500, 1 }, { 300, 300, 1 }, { 200, 200, 1 } })

/* Shares are changed while all vGPUs work. */
static void qos_changed_under_load(void)
{
	static const struct share_scenario s = {
		QOS,
		.types = "4Q 4Q 4Q",
		.share = { { 700, 1000, 1 }, { 100, 1000, 1 }, { 100, 200, 1 } },
	};
	static const unsigned int next[3][3] = {
		{ 100, 200, 1 }, { 300, 1000, 1 }, { 400, 1000, 2 },
	};

	share_prepare(&s);
	share_measure();
	share_want(next);
	share_find_due(VGPU_DUE_SHARE);
	share_measure();
	share_finish();
}

/* Measures the shares; returns how busy the engine of share.beside was meanwhile. */
static double measure_beside(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_ctl_gpu a, b;
	double use;

	fx_instance(&share.vgpu[0], &before);
	fx_ctl_gpu(&a);
	share_measure();
	fx_instance(&share.vgpu[0], &after);
	fx_ctl_gpu(&b);
	use = (double)(after.engine[share.beside.chan->engine].busy_ns -
		       before.engine[share.beside.chan->engine].busy_ns) /
	      (double)(b.now_ns - a.now_ns);
	ktap_note("beside it ce0 %.1f %%, all of it the first's", 100 * use);
	return use;
}

/*
 * The service of the first vGPU on a copy engine does not count against it on gr. That engine runs
 * out of work if this program is kept from its processor for long: then it is measured again.
 */
static void engines_are_independent(void)
{
	static const struct share_scenario s = {
		QOS,
		.types = TWO,
		.share = { { 600, 1000, 1 }, { 400, 1000, 1 } },
	};
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_CE,
		.order = SHARE_RING_ORDER,
	};
	unsigned int tries;
	double use = 0;

	share_prepare(&s);
	config.job_bytes = share.load[0].config.job_bytes;
	config.seed = fx_random();
	share_ok(&share.beside, load_init(&share.beside, share.vgpu[0].dev, &config));
	share_keep_busy(100);
	for (tries = 0; tries < 5 && use <= 0.9; tries++)
		use = measure_beside();
	CHECK(use > 0.9, "the copy engine was to be busy");
	share_finish();
}

/* Settings live as long as the vGPU, through reset, close and open. */
static void settings_survive_reopen(void)
{
	struct vgpu_ctl_instance inst;

	share_open("4Q");
	share.set[0] = tune_entry(&share.vgpu[0], TUNE_TRIPLE | VGPU_SHARE_FRL, 123, 456, 789);
	share.set[0].frl = 24;
	tune_set_shares(share.set, share.nr);
	FX_OK(share.vgpu[0].dev, vgpu_dev_reset(share.vgpu[0].dev));
	fx_close(&share.vgpu[0]);
	fx_open(&share.vgpu[0]);
	fx_instance(&share.vgpu[0], &inst);
	CHECK_EQ(inst.guarantee, 123);
	CHECK_EQ(inst.cap, 456);
	CHECK_EQ(inst.weight, 789);
	CHECK_EQ(inst.frl_config, 24);
}

/* Guarantees of more than there is: none is set, and the driver says by how much too many. */
static void admission_is_atomic(void)
{
	struct vgpu_ctl_instance inst;
	unsigned int i;

	share_open(FOUR);
	for (i = 0; i < share.nr; i++) {
		share.set[i].valid = VGPU_SHARE_GUARANTEE;
		share.set[i].guarantee = i ? 250 : 251;
	}
	CHECK_EQ(tune_try_shares(share.set, share.nr), -ENOSPC);
	ktap_note("%s", tune_refusal);
	CHECK(strpbrk(tune_refusal, "0123456789"), "the text has no number: %s", tune_refusal);
	for (i = 0; i < share.nr; i++) {
		fx_instance(&share.vgpu[i], &inst);
		CHECK_EQ(inst.guarantee, 250);
	}
	/* In one call a vGPU can get what another vGPU gives up. */
	share.set[1].guarantee = 249;
	tune_set_shares(share.set, share.nr);
	fx_instance(&share.vgpu[0], &inst);
	CHECK_EQ(inst.guarantee, 251);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(best_effort_2),
	KTAP_TEST(best_effort_4),
	KTAP_TEST(best_effort_16),
	KTAP_TEST(best_effort_sizes_do_not_count),
	KTAP_TEST(best_effort_idle_time_goes_on),
	KTAP_TEST(equal_share_2),
	KTAP_TEST(equal_share_8),
	KTAP_TEST(equal_share_16),
	KTAP_TEST(equal_share_idle_slots_stay),
	KTAP_TEST(fixed_share_2),
	KTAP_TEST(fixed_share_16),
	KTAP_TEST(fixed_share_mixed),
	KTAP_TEST(fixed_share_unsold_slots_stay),
	KTAP_TEST(fixed_share_idle_slots_stay),
	KTAP_TEST(qos_defaults_4),
	KTAP_TEST(qos_defaults_16),
	KTAP_TEST(qos_guarantees),
	KTAP_TEST(qos_weights),
	KTAP_TEST(qos_caps_leave_idle),
	KTAP_TEST(qos_cap_gives_to_the_others),
	KTAP_TEST(qos_idle_time_by_weight),
	KTAP_TEST(qos_guarantee_is_cap),
	KTAP_TEST(qos_changed_under_load),
	KTAP_TEST(engines_are_independent),
	KTAP_TEST(settings_survive_reopen),
	KTAP_TEST(admission_is_atomic),
};

KTAP_MAIN(tests, share_cleanup)
