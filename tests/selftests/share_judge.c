// SPDX-License-Identifier: GPL-2.0
/*
 * What vGPUs get, over windows of 2 s, against what is due: service as the driver charges it,
 * and work that their clients see completed.
 *
 * On a busy host the machine loses its processors now and then for longer than a slice, and
 * the vGPU that has the engine then pays for it. The policy makes that good later, in service
 * though not in work. So it is enough that one window of several, or all together, is right,
 * in service and in work at once. Some slack is given, and each kind of slack has its limit,
 * in parts of what is due:
 * - one largest overrun, if the first windows are not right without it;
 * - where the engine is idle before a slot, a thread has to be woken for the slot: how long
 *   that takes on this machine is seen by how late this program itself is woken;
 * - the engine's own account says how much of its time was lost: that much work may be missing
 *   from any vGPU. Where too much was lost, work that is not as due says nothing, and where
 *   that is so in all windows, service alone counts, and the output says so. How many windows
 *   are waited for in the hope of a better one is limited for all tests together;
 * - under emulation the same job takes up to a tenth more or less time from vGPU to vGPU,
 *   depending on where their pages lie.
 * A vGPU whose service is more than FAR off what is due fails its window in any case.
 */
#include <math.h>
#include <string.h>

#include "share.h"
#include "soft.h"

#define WINDOW_MS	2000
#define WINDOWS		16
#define JOBS_LEAST	100	/* of all vGPUs in a window */
#define STRICT		5	/* the first windows, without slack for overruns */
#define UNJUDGED	3	/* windows, at least, before service alone counts */
#define PATIENCE	20	/* more of such windows in the whole program */
#define MARGIN		0.03
#define FAR		0.20
#define OVERRUN_MAX	0.05
#define WAKING_MAX	0.10
#define WORK_SLACK_MAX	0.15
#define WORK_SPEED	0.08	/* an emulated engine is not equally fast for all */
#define LOST_MAX	0.10	/* of the engine's time: more, and work is not judged */

/**
 * struct snapshot - counters at one time; the i-th of each array is the i-th vGPU's
 * @now_ns:      when the vGPU's counters were read, on the driver's clock
 * @busy_ns:     service charged so far
 * @jobs:        completed so far, as the client sees it
 * @ran_ns:      how long the engine could work so far, by its own account
 * @gpu_now_ns:  when the GPU's counters were read
 * @gpu_busy_ns: how long the engine was busy so far
 * @overrun_ns:  the longest of all vGPUs so far
 * @late_ns:     as of struct share_world
 * @ticks:       as of struct share_world
 */
struct snapshot {
	uint64_t now_ns[SHARE_VGPUS];
	uint64_t busy_ns[SHARE_VGPUS];
	uint64_t jobs[SHARE_VGPUS];
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
 * @far:          largest error of service, slack included
 * @idle_off:     difference between the engine's idle time and what is nobody's due, less slack
 * @service_met:  service is as due
 * @work_met:     completed work is as due
 * @work_counts:  so little of the engine's time was lost that work has to be as due
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

static unsigned int patience = PATIENCE;

/*
 * The GPU's counters. If that takes much longer than it can, this processor was lost between the
 * clock and the engine's service, and they are read again.
 */
static void take_gpu(struct vgpu_ctl_gpu *gpu)
{
	static uint64_t least_ns = ~0ull / 2;
	unsigned int tries = 20;
	uint64_t took_ns;

	do {
		took_ns = clk_ns();
		fx_ctl_gpu(gpu);
		took_ns = clk_ns() - took_ns;
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	} while (took_ns > 2 * least_ns && --tries);
}

static void take(struct snapshot *s)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	uint64_t overrun;
	unsigned int i;

	take_gpu(&gpu);
	s->gpu_now_ns = gpu.now_ns;
	s->gpu_busy_ns = gpu.engine[share.load[0].chan->engine].busy_ns;
	if (soft_counter(fx_gpu(), "gr", "ran_ns", &s->ran_ns))
		FAIL("the engine's time is not in debugfs");
	s->overrun_ns = 0;
	s->late_ns = share.late_ns;
	s->ticks = share.ticks;
	for (i = 0; i < share.nr; i++) {
		fx_instance(&share.vgpu[i], &inst);
		s->now_ns[i] = inst.now_ns;
		s->busy_ns[i] = inst.engine[share.load[i].chan->engine].busy_ns;
		s->jobs[i] = load_jobs(&share.load[i]);
		overrun = inst.engine[share.load[i].chan->engine].max_overrun_ns;
		if (overrun > s->overrun_ns)
			s->overrun_ns = overrun;
	}
}

/* The difference between two figures as a part of @of, what it should be, less the slack. */
static double error(double got, double of, double slack)
{
	return of > 0 ? fmax(0, fabs(got - of) / of - slack) : got;
}

/* What may be missing of a slot, as a part of the slot: two threads have to be woken for it. */
static double waking(const struct snapshot *a, const struct snapshot *b)
{
	double late = (double)(b->late_ns - a->late_ns) /
		      (double)(b->ticks - a->ticks);

	return fmin(WAKING_MAX, 2 * late / (double)share.slice_ns);
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
	for (i = 0; i < share.nr; i++) {
		jobs += (double)(b->jobs[i] - a->jobs[i]);
		due_sum += share.due[i];
	}
	CHECK(jobs > JOBS_LEAST, "%.0f jobs", jobs);
	CHECK(idle > -0.001, "more service than there was time");
	lost = fmax(0, 1 - (double)(b->ran_ns - a->ran_ns) / use);
	v->work_counts = lost <= LOST_MAX;
	if (1 - due_sum > 0.01 && idle > 1 - due_sum)
		wake = waking(a, b);
	for (i = 0; i < share.nr; i++) {
		got = (double)(b->busy_ns[i] - a->busy_ns[i]) /
		      (double)(b->now_ns[i] - a->now_ns[i]);
		did = (double)(b->jobs[i] - a->jobs[i]) / jobs;
		of = share.due[i] / due_sum;
		over = 0;
		if (!strict && share.due[i] > 0)
			over = fmin(OVERRUN_MAX, (double)b->overrun_ns / wall / share.due[i]);
		late = got < share.due[i] ? wake : 0;
		v->far = fmax(v->far, error(got, share.due[i], 0));
		v->service = fmax(v->service, error(got, share.due[i], over + late));
		/* The engine sees only what it loses at a time but for 1 ms. */
		v->work = fmax(v->work,
			       error(did, of, fmin(WORK_SLACK_MAX,
						   WORK_SPEED + 2 * lost / of +
						   over + wake)));
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %.1f/%.1f(%.1f)", 1000 * got,
			      1000 * share.due[i], 1000 * did * due_sum);
	}
	v->idle_off = fmax(0, fabs(idle - (1 - due_sum)) - wake * due_sum);
	v->service_met = v->service <= MARGIN && v->idle_off <= MARGIN &&
			 v->far <= FAR;
	v->work_met = v->work <= MARGIN;
	ktap_note("per mille got/due(work):%s, idle %.1f", text, 1000 * idle);
	ktap_note("error %.2f %% of service, %.2f %% but for slack, %.2f %% of work; waking %.2f %%; %.2f %% of the engine's time lost%s; largest overrun %llu us%s",
		  100 * v->far, 100 * v->service, 100 * v->work, 100 * wake, 100 * lost,
		  v->work_counts ? "" : ", too much to blame anybody for missing work",
		  (unsigned long long)b->overrun_ns / 1000, strict ? "" : ", allowed for");
}

static uint64_t all_jobs(const struct snapshot *s)
{
	uint64_t jobs = 0;
	unsigned int i;

	for (i = 0; i < share.nr; i++)
		jobs += s->jobs[i];
	return jobs;
}

/* A window that begins at @a; longer where the machine stands still for most of it. */
static void take_window(const struct snapshot *a, struct snapshot *b)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;

	do {
		CHECK(clk_ms() < end, "hardly a job is done");
		share_keep_busy(WINDOW_MS);
		take(b);
	} while (all_jobs(b) - all_jobs(a) <= JOBS_LEAST);
}

/*
 * Judges the last window, the last two together, the last four and so on, and all: a long
 * time says more, while a short one may begin after a vGPU has paid back what it was in debt
 * for (a processor that is taken away in the middle of a turn makes a debt of hundreds of ms).
 */
void share_measure(void)
{
	static struct snapshot at[WINDOWS + 1];
	bool service_met = false, work_counts = false;
	unsigned int w, length;
	struct verdict v;

	share_keep_busy(200);
	take(&at[0]);
	for (w = 1; w <= WINDOWS; w++) {
		take_window(&at[w - 1], &at[w]);
		for (length = 1; length < 2 * w; length *= 2) {
			judge(&at[length < w ? w - length : 0], &at[w], w <= STRICT, &v);
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
