// SPDX-License-Identifier: GPL-2.0
/*
 * What vGPUs get under each policy: service as the driver charges it, and the
 * work that their clients see done, against what is due, over 2 s.
 *
 * On a host that does other things the machine loses its processors now and
 * then, for longer than a slice, and who has the engine then pays for it: the
 * policy makes that good, later, in service though not in work. So one window of
 * 2 s out of several, or all together, has to be right, in service and in work at
 * once. Some slack is given, and each kind has its limit, in parts of what is due:
 * - where the first ones are not right, one largest overrun;
 * - where the engine is idle before a slot, somebody has to be woken for it: what
 *   that takes here is seen by how late this program is;
 * - the engine's own account says how much of its time was lost: that much work
 *   may be anybody's. Where it is too much, the window says nothing about work;
 *   where that is so in all of them, service alone counts, and the output says so.
 *   How long to wait for a better one is limited for all tests together.
 * - under emulation the same job takes up to a tenth more or less time from vGPU to
 *   vGPU, depending on where their pages lie.
 * Whoever gets less or more than FAR off what is due fails a window in any case.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "fixture.h"
#include "load.h"

#define VGPUS		16
#define WINDOW_MS	2000
#define WINDOWS		16
#define STRICT		5	/* without regard to overruns */
#define UNJUDGED	3	/* windows at least without a word on work */
#define PATIENCE	20	/* and more of them in the whole program */
#define MARGIN		0.03
#define FAR		0.20
#define OVERRUN_MAX	0.05
#define WAKING_MAX	0.10
#define WORK_SLACK_MAX	0.15
#define WORK_SPEED	0.08	/* an emulated engine is not equally fast for all */
#define LOST_MAX	0.10	/* of the engine's time: more, and work is not judged */
#define JOB_NS		100000
#define RING_ORDER	13
#define TICK_NS		20000000

/**
 * struct scenario - vGPUs, what they are to get, and who has work
 * @policy:  of the GPU
 * @types:   suffixes, separated by spaces
 * @share:   guarantee, cap and weight of each (qos)
 * @idle:    bit i: the i-th has no work
 * @slice_ns: 0: what is usual
 */
struct scenario {
	const char *policy;
	const char *types;
	unsigned int share[VGPUS][3];
	unsigned int idle;
	uint64_t slice_ns;
};

struct snapshot {
	uint64_t now_ns[VGPUS];
	uint64_t busy_ns[VGPUS];
	uint64_t jobs[VGPUS];
	uint64_t ran_ns;
	uint64_t gpu_now_ns;
	uint64_t gpu_busy_ns;
	uint64_t overrun_ns;
	uint64_t late_ns;
	uint64_t ticks;
};

/**
 * struct verdict - on one window; errors are parts of what is due
 * @service:      largest error of service, less slack
 * @work:         largest error of completed work, less slack
 * @far:          largest error of service as it is
 * @idle_off:     what the engine's idle time is off by, less slack
 * @service_met:  service is as due
 * @work_met:     so is work
 * @work_counts:  the engine lost so little of its time that work can be judged
 */
struct verdict {
	double service;
	double work;
	double far;
	double idle_off;
	bool service_met;
	bool work_met;
	bool work_counts;
};

static struct fx_vgpu vgpu[VGPUS];
static struct load load[VGPUS], beside;
static struct vgpu_ctl_share share[VGPUS];
static bool busy[VGPUS];
static double due[VGPUS];
static unsigned int nr;
static unsigned int patience = PATIENCE;
static uint64_t slice_ns, late_ns, ticks;

static uint32_t gpu_id(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return gpu.gpu;
}

static void set_policy(const char *policy, uint64_t ns)
{
	char why[VGPU_TEXT_LEN];

	CHECK(!load_set_policy(fx_control(), gpu_id(), policy, ns, why),
	      "%s: %s", policy, why);
	slice_ns = ns;
}

static void set_shares(void)
{
	char why[VGPU_TEXT_LEN];

	CHECK(!load_set_shares(fx_control(), share, nr, why), "%s", why);
}

static void load_ok(struct load *l, int ret)
{
	if (ret)
		FAIL("%s", l->text);
}

/* Creates and opens what is named in @types. */
static void open_all(const char *types)
{
	char type[16];
	int used;

	nr = 0;
	while (sscanf(types, "%15s%n", type, &used) == 1) {
		CHECK(nr < VGPUS);
		fx_create_open(&vgpu[nr], type);
		memset(&share[nr], 0, sizeof(share[nr]));
		memcpy(share[nr].uuid, vgpu[nr].id, VGPU_UUID_LEN);
		nr++;
		types += used;
	}
}

static void start_loads(void)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = RING_ORDER,
	};
	uint64_t took_ns;
	unsigned int i;

	load_ok(&load[0], load_size(&load[0], vgpu[0].dev, &config, JOB_NS,
				    &config.job_bytes, &took_ns));
	for (i = 0; i < nr; i++) {
		config.seed = fx_random();
		load_ok(&load[i], load_init(&load[i], vgpu[i].dev, &config));
	}
}

static void tick(void)
{
	struct timespec ts = { .tv_nsec = TICK_NS };
	uint64_t start = load_now_ns();

	nanosleep(&ts, NULL);
	late_ns += load_now_ns() - start - TICK_NS;
	ticks++;
}

/* Rings never run empty: one holds work for 0.4 s. */
static void keep_busy(unsigned int ms)
{
	uint64_t end = fx_now_ms() + ms;
	unsigned int i;

	do {
		for (i = 0; i < nr; i++)
			if (busy[i])
				load_ok(&load[i],
					load_keep(&load[i], load_room(&load[i])));
		if (beside.dev)
			load_ok(&beside, load_keep(&beside, load_room(&beside)));
		tick();
	} while (fx_now_ms() < end);
}

static void take(struct snapshot *s)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	uint64_t overrun;
	unsigned int i;

	fx_ctl_gpu(&gpu);
	s->gpu_now_ns = gpu.now_ns;
	s->gpu_busy_ns = gpu.engine[load[0].chan->engine].busy_ns;
	if (load_counter("ran_ns", &s->ran_ns))
		FAIL("the engine's time is not in debugfs");
	s->overrun_ns = 0;
	s->late_ns = late_ns;
	s->ticks = ticks;
	for (i = 0; i < nr; i++) {
		fx_instance(&vgpu[i], &inst);
		s->now_ns[i] = inst.now_ns;
		s->busy_ns[i] = inst.engine[load[i].chan->engine].busy_ns;
		s->jobs[i] = load_jobs(&load[i]);
		overrun = inst.engine[load[i].chan->engine].max_overrun_ns;
		if (overrun > s->overrun_ns)
			s->overrun_ns = overrun;
	}
}

/* What a figure is off by, as a part of what it should be, but for slack. */
static double error(double got, double of, double slack)
{
	return of > 0 ? fmax(0, fabs(got - of) / of - slack) : got;
}

/* What may be missing of a slot, as a part of it: two threads have to wake. */
static double waking(const struct snapshot *a, const struct snapshot *b)
{
	double late = (double)(b->late_ns - a->late_ns) /
		      (double)(b->ticks - a->ticks);

	return fmin(WAKING_MAX, 2 * late / (double)slice_ns);
}

static void judge(const struct snapshot *a, const struct snapshot *b,
		  bool strict, struct verdict *v)
{
	double wall = (double)(b->gpu_now_ns - a->gpu_now_ns);
	double use = (double)(b->gpu_busy_ns - a->gpu_busy_ns);
	double jobs = 0, due_sum = 0, idle = 1 - use / wall;
	double got, did, of, lost, over, late, wake = 0;
	char text[640];
	unsigned int i;
	int n = 0;

	memset(v, 0, sizeof(*v));
	for (i = 0; i < nr; i++) {
		jobs += (double)(b->jobs[i] - a->jobs[i]);
		due_sum += due[i];
	}
	CHECK(jobs > 100, "%.0f jobs", jobs);
	CHECK(idle > -0.001, "more service than there was time");
	lost = fmax(0, 1 - (double)(b->ran_ns - a->ran_ns) / use);
	v->work_counts = lost <= LOST_MAX;
	if (1 - due_sum > 0.01 && idle > 1 - due_sum)
		wake = waking(a, b);
	for (i = 0; i < nr; i++) {
		got = (double)(b->busy_ns[i] - a->busy_ns[i]) /
		      (double)(b->now_ns[i] - a->now_ns[i]);
		did = (double)(b->jobs[i] - a->jobs[i]) / jobs;
		of = due[i] / due_sum;
		over = 0;
		if (!strict && due[i] > 0)
			over = fmin(OVERRUN_MAX,
				    (double)b->overrun_ns / wall / due[i]);
		late = got < due[i] ? wake : 0;
		v->far = fmax(v->far, error(got, due[i], 0));
		v->service = fmax(v->service, error(got, due[i], over + late));
		/* The engine sees only what it loses at a time but for 1 ms. */
		v->work = fmax(v->work,
			       error(did, of, fmin(WORK_SLACK_MAX,
						   WORK_SPEED + 2 * lost / of +
						   over + wake)));
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      " %.1f/%.1f(%.1f)", 1000 * got, 1000 * due[i],
			      1000 * did * due_sum);
	}
	v->idle_off = fmax(0, fabs(idle - (1 - due_sum)) - wake * due_sum);
	v->service_met = v->service <= MARGIN && v->idle_off <= MARGIN &&
			 v->far <= FAR;
	v->work_met = v->work_counts && v->work <= MARGIN;
	ktap_note("per mille got/due(work):%s, idle %.1f; error %.2f %% of service, %.2f %% but for slack, %.2f %% of work; waking %.2f %%; %.2f %% of the engine's time lost%s; largest overrun %llu us%s",
		  text, 1000 * idle, 100 * v->far, 100 * v->service, 100 * v->work,
		  100 * wake, 100 * lost, v->work_counts ? "" : ", work not judged",
		  (unsigned long long)b->overrun_ns / 1000,
		  strict ? "" : ", allowed for");
}

/*
 * Looks at the last window, the last two, four and so on, and all: a long one says more,
 * and a short one begins after debts were paid back that an entity had brought along
 * (a processor that is taken away in the middle of a turn makes one of hundreds of ms).
 */
static void measure(void)
{
	static struct snapshot at[WINDOWS + 1];
	bool service_met = false, work_counts = false;
	unsigned int w, length;
	struct verdict v;

	keep_busy(200);
	take(&at[0]);
	for (w = 1; w <= WINDOWS; w++) {
		keep_busy(WINDOW_MS);
		take(&at[w]);
		for (length = 1; length < 2 * w; length *= 2) {
			judge(&at[length < w ? w - length : 0], &at[w],
			      w <= STRICT, &v);
			if (v.service_met && v.work_met)
				return;
			service_met |= v.service_met;
			work_counts |= v.work_counts;
		}
		if (service_met && !work_counts && w >= UNJUDGED) {
			if (!patience)
				break;
			patience--;
		}
	}
	CHECK(service_met, "service: not within %.0f %% in any of %u windows",
	      100 * MARGIN, WINDOWS);
	CHECK(!work_counts, "service and work: not both within %.0f %% in any of %u windows",
	      100 * MARGIN, WINDOWS);
	ktap_note("WORK WAS NOT JUDGED: the engine lost more than %.0f %% of its time in each of %u windows; service alone counts",
		  100 * LOST_MAX, w < WINDOWS ? w : WINDOWS);
}

/* Nothing is lost either: all that was asked for is there at the end. */
static void finish(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		load_ok(&load[i], load_drain(&load[i], FX_TIMEOUT_MS));
	if (beside.dev)
		load_ok(&beside, load_drain(&beside, FX_TIMEOUT_MS));
}

static void set_due(const struct scenario *s)
{
	struct vgpu_ctl_gpu gpu;
	unsigned int i, active = 0;

	for (i = 0; i < nr; i++) {
		busy[i] = !(s->idle & 1u << i);
		active += busy[i];
	}
	if (!strcmp(s->policy, "qos")) {
		load_due(share, busy, nr, due);
		return;
	}
	fx_ctl_gpu(&gpu);
	for (i = 0; i < nr; i++) {
		if (!strcmp(s->policy, "best_effort"))
			due[i] = 1.0 / active;
		else if (!strcmp(s->policy, "equal_share"))
			due[i] = 1.0 / nr;
		else
			due[i] = (double)vgpu[i].dev->fb_bytes /
				 (double)gpu.fb_bytes;
		if (!busy[i])
			due[i] = 0;
	}
}

static void want_shares(const unsigned int (*triple)[3])
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		share[i].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
				 VGPU_SHARE_WEIGHT;
		share[i].guarantee = triple[i][0];
		share[i].cap = triple[i][1];
		share[i].weight = triple[i][2];
	}
	set_shares();
}

static void prepare(const struct scenario *s)
{
	open_all(s->types);
	if (!strcmp(s->policy, "qos"))
		want_shares(s->share);
	set_due(s);
	start_loads();
	prctl(PR_SET_TIMERSLACK, 1);
	set_policy(s->policy, s->slice_ns ? s->slice_ns :
			      nr > 8 ? 1000000 : 2000000);
}

static void run(const struct scenario *s)
{
	prepare(s);
	measure();
	finish();
}

#define TWO	"8Q 8Q"
#define FOUR	"4Q 4Q 4Q 4Q"
#define EIGHT	"2Q 2Q 2Q 2Q 2Q 2Q 2Q 2Q"
#define SIXTEEN	"1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q 1Q"

#define SCENARIO(name, of, who, ...)					\
	static void name(void)						\
	{								\
		static const struct scenario s = {			\
			.policy = of, .types = who, ##__VA_ARGS__	\
		};							\
									\
		run(&s);						\
	}

SCENARIO(best_effort_2, "best_effort", TWO)
SCENARIO(best_effort_4, "best_effort", FOUR)
SCENARIO(best_effort_16, "best_effort", SIXTEEN)
SCENARIO(best_effort_sizes_do_not_count, "best_effort", "8Q 2Q 1Q")
SCENARIO(best_effort_idle_time_goes_on, "best_effort", FOUR, .idle = 0x2)

SCENARIO(equal_share_2, "equal_share", TWO)
SCENARIO(equal_share_8, "equal_share", EIGHT)
SCENARIO(equal_share_16, "equal_share", SIXTEEN)
SCENARIO(equal_share_idle_slots_stay, "equal_share", "4Q 2Q 1Q", .idle = 0x1,
	 .slice_ns = 5000000)

SCENARIO(fixed_share_2, "fixed_share", TWO)
SCENARIO(fixed_share_16, "fixed_share", SIXTEEN)
SCENARIO(fixed_share_mixed, "fixed_share", "8Q 4Q 2Q 1Q 1Q")
SCENARIO(fixed_share_unsold_slots_stay, "fixed_share", "4Q 2Q",
	 .slice_ns = 5000000)
SCENARIO(fixed_share_idle_slots_stay, "fixed_share", "8Q 4Q 4Q", .idle = 0x1,
	 .slice_ns = 5000000)

SCENARIO(qos_defaults_4, "qos", FOUR, .share = {
	{ 250, 1000, 250 }, { 250, 1000, 250 }, { 250, 1000, 250 },
	{ 250, 1000, 250 } })
SCENARIO(qos_defaults_16, "qos", SIXTEEN, .share = {
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 },
	{ 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 }, { 62, 1000, 62 } })
SCENARIO(qos_guarantees, "qos", TWO, .share = { { 700, 1000, 1 }, { 300, 1000, 1 } })
SCENARIO(qos_weights, "qos", "4Q 4Q 4Q", .share = {
	{ 0, 1000, 1 }, { 0, 1000, 2 }, { 0, 1000, 4 } })
SCENARIO(qos_caps_leave_idle, "qos", "4Q 4Q 4Q", .share = {
	{ 100, 200, 1 }, { 0, 300, 1 }, { 50, 150, 9 } })
SCENARIO(qos_cap_gives_to_the_others, "qos", FOUR, .share = {
	{ 400, 400, 1 }, { 100, 150, 50 }, { 50, 1000, 1 }, { 50, 1000, 3 } })
SCENARIO(qos_idle_time_by_weight, "qos", FOUR, .share = {
	{ 500, 1000, 1 }, { 100, 1000, 1 }, { 100, 1000, 2 },
	{ 100, 1000, 5 } }, .idle = 0x1)
SCENARIO(qos_guarantee_is_cap, "qos", "4Q 4Q 2Q", .share = {
	{ 500, 500, 1 }, { 300, 300, 1 }, { 200, 200, 1 } })

/* Shares are set again while all work. */
static void qos_changed_under_load(void)
{
	static const struct scenario s = {
		.policy = "qos",
		.types = "4Q 4Q 4Q",
		.share = { { 700, 1000, 1 }, { 100, 1000, 1 }, { 100, 200, 1 } },
	};
	static const unsigned int next[3][3] = {
		{ 100, 200, 1 }, { 300, 1000, 1 }, { 400, 1000, 2 },
	};

	prepare(&s);
	measure();
	want_shares(next);
	load_due(share, busy, nr, due);
	measure();
	finish();
}

/* What the first has on a copy engine does not count against it on gr. */
static void engines_are_independent(void)
{
	static const struct scenario s = {
		.policy = "qos",
		.types = TWO,
		.share = { { 600, 1000, 1 }, { 400, 1000, 1 } },
	};
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_CE,
		.order = RING_ORDER,
	};
	struct vgpu_ctl_instance before, after;
	struct vgpu_ctl_gpu a, b;
	double use;

	prepare(&s);
	config.job_bytes = load[0].config.job_bytes;
	config.seed = fx_random();
	load_ok(&beside, load_init(&beside, vgpu[0].dev, &config));
	keep_busy(100);
	fx_instance(&vgpu[0], &before);
	fx_ctl_gpu(&a);
	measure();
	fx_instance(&vgpu[0], &after);
	fx_ctl_gpu(&b);
	use = (double)(after.engine[beside.chan->engine].busy_ns -
		       before.engine[beside.chan->engine].busy_ns) /
	      (double)(b.now_ns - a.now_ns);
	ktap_note("beside it ce0 %.1f %%, all of it the first's", 100 * use);
	CHECK(use > 0.9, "the copy engine was to be busy");
	finish();
}

/* Settings live as long as the vGPU, not as long as somebody has it open. */
static void settings_survive_reopen(void)
{
	struct vgpu_ctl_instance inst;

	open_all("4Q");
	share[0].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
			 VGPU_SHARE_WEIGHT | VGPU_SHARE_FRL;
	share[0].guarantee = 123;
	share[0].cap = 456;
	share[0].weight = 789;
	share[0].frl = 24;
	set_shares();
	FX_OK(vgpu[0].dev, vgpu_dev_reset(vgpu[0].dev));
	fx_close(&vgpu[0]);
	fx_open(&vgpu[0]);
	fx_instance(&vgpu[0], &inst);
	CHECK_EQ(inst.guarantee, 123);
	CHECK_EQ(inst.cap, 456);
	CHECK_EQ(inst.weight, 789);
	CHECK_EQ(inst.frl_config, 24);
}

/* More than there is: none is set, and the driver says by how much. */
static void admission_is_atomic(void)
{
	struct vgpu_ctl_instance inst;
	char why[VGPU_TEXT_LEN];
	unsigned int i;

	open_all(FOUR);
	for (i = 0; i < nr; i++) {
		share[i].valid = VGPU_SHARE_GUARANTEE;
		share[i].guarantee = i ? 250 : 251;
	}
	CHECK_EQ(load_set_shares(fx_control(), share, nr, why), -ENOSPC);
	ktap_note("%s", why);
	CHECK(strpbrk(why, "0123456789"), "the text has no number: %s", why);
	for (i = 0; i < nr; i++) {
		fx_instance(&vgpu[i], &inst);
		CHECK_EQ(inst.guarantee, 250);
	}
	/* What one gives up, another can have in the same call. */
	share[1].guarantee = 249;
	set_shares();
	fx_instance(&vgpu[0], &inst);
	CHECK_EQ(inst.guarantee, 251);
}

static void cleanup(void)
{
	unsigned int i;
	char why[VGPU_TEXT_LEN];

	load_exit(&beside);
	for (i = 0; i < VGPUS; i++)
		load_exit(&load[i]);
	fx_cleanup();
	if (load_set_policy(fx_control(), gpu_id(), "best_effort", 2000000, why))
		ktap_note("cleanup: %s", why);
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

KTAP_MAIN(tests, cleanup)
