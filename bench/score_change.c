// SPDX-License-Identifier: GPL-2.0
/*
 * How long it takes until changed shares hold: from the return of the call that sets them to the
 * time from which on every interval meets the new bounds of guarantee and cap.
 */
#include <math.h>
#include <string.h>

#include "score.h"

#define JOB_NS		(100 * US)
#define RING_ORDER	14
#define CHANGES		24
#define HOLD_NS		(350 * MS)
#define RUNS		2048
#define POINTS		8192

/**
 * struct curve - what a tenant got over time
 * @at_ns: the clock at each point
 * @there: engine time that there was up to each point
 * @got:   engine time that the tenant got up to each point
 * @nr:    number of points
 */
struct curve {
	double at_ns[POINTS];
	double there[POINTS];
	double got[POINTS];
	unsigned int nr;
};

/**
 * struct run - a run of the engine
 * @who:      index of the tenant
 * @start_ns: when it began
 * @end_ns:   when it ended
 */
struct run {
	unsigned int who;
	uint64_t start_ns;
	uint64_t end_ns;
};

static struct run runs[RUNS];
static unsigned int nr_runs;
static uint64_t log_total;
static uint64_t longest_ns;	/* the longest overrun of the change that is measured */

static struct {
	uint64_t at_ns;
	uint64_t jobs[TENANTS];
} seen[POINTS];
static unsigned int nr_seen;

/* Adds the runs since the last call to runs[], or, without @keep_runs, passes over them. */
static void read_log(bool keep_runs)
{
	static struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	uint64_t total, fresh, over;
	uint32_t i, k, count = score_log(entry, &total);

	fresh = total - log_total;
	log_total = total;
	if (!keep_runs)
		return;
	if (fresh > count)
		bench_die("the log was read too late");
	for (i = count - (uint32_t)fresh; i < count; i++) {
		for (k = 0; k < TENANTS; k++)
			if (!memcmp(entry[i].uuid, score.tenant[k].id, VGPU_UUID_LEN))
				break;
		if (k == TENANTS || nr_runs == RUNS)
			bench_die("a run of somebody else, or too many");
		over = entry[i].ran_ns > entry[i].slice_ns ?
		       entry[i].ran_ns - entry[i].slice_ns : 0;
		if (over > longest_ns)
			longest_ns = over;
		runs[nr_runs++] = (struct run) {
			k, entry[i].time_ns, entry[i].time_ns + entry[i].ran_ns,
		};
	}
}

static void watch(uint64_t for_ns)
{
	uint64_t start = clk_ns(), logged = start, now = start;
	unsigned int i;

	while (now - start < for_ns) {
		if (nr_seen < POINTS) {
			seen[nr_seen].at_ns = now;
			for (i = 0; i < TENANTS; i++)
				seen[nr_seen].jobs[i] =
					load_jobs(&score.tenant[i].load);
			nr_seen++;
		}
		if (now - logged > 50 * MS) {
			logged = now;
			read_log(true);
			score_keep(0);
		}
		clk_sleep_ns(100 * US);
		now = clk_ns();
	}
	read_log(true);
}

static void point(struct curve *c, double at_ns, double there, double got)
{
	if (c->nr == POINTS)
		bench_die("too many points");
	c->at_ns[c->nr] = at_ns;
	c->there[c->nr] = there;
	c->got[c->nr++] = got;
}

/* The curve of a tenant by the driver's log of runs; there is as much engine time as time. */
static void by_log(struct curve *c, unsigned int who, uint64_t from_ns)
{
	double got = 0;
	unsigned int i;

	c->nr = 0;
	for (i = 0; i < nr_runs; i++) {
		uint64_t start = runs[i].start_ns, end = runs[i].end_ns;

		if (end <= from_ns)
			continue;
		if (start < from_ns)
			start = from_ns;
		point(c, (double)start, (double)start, got);
		if (runs[i].who == who)
			got += (double)(end - start);
		point(c, (double)end, (double)end, got);
	}
}

/* The curve of a tenant by completed jobs; the jobs of all are the engine time that there is. */
static double by_work(struct curve *c, unsigned int who, uint64_t from_ns)
{
	double sum, job_ns;
	unsigned int i, k, first;

	c->nr = 0;
	for (first = 0; first < nr_seen && seen[first].at_ns < from_ns; first++)
		;
	if (first + 10 > nr_seen)
		bench_die("nothing was seen");
	for (sum = 0, k = 0; k < TENANTS; k++)
		sum += (double)(seen[nr_seen - 1].jobs[k] - seen[first].jobs[k]);
	job_ns = (double)(seen[nr_seen - 1].at_ns - seen[first].at_ns) / sum;
	for (i = first; i < nr_seen; i++) {
		for (sum = 0, k = 0; k < TENANTS; k++)
			sum += (double)(seen[i].jobs[k] - seen[first].jobs[k]);
		point(c, (double)seen[i].at_ns, sum * job_ns,
		      (double)(seen[i].jobs[who] - seen[first].jobs[who]) * job_ns);
	}
	return job_ns;
}

/* How long after @from_ns it is until all intervals that begin later meet the bounds, in ns. */
static double holds_after(const struct curve *c, double guarantee, double cap,
			  double slack, uint64_t from_ns)
{
	double least = INFINITY, most = -INFINITY, low, high;
	unsigned int i;

	for (i = c->nr; i-- > 0;) {
		low = c->got[i] - guarantee * c->there[i];
		high = c->got[i] - cap * c->there[i];
		least = fmin(least, low);
		most = fmax(most, high);
		if (low - least > slack || most - high > slack)
			return c->at_ns[i + 1 < c->nr ? i + 1 : i] -
			       (double)from_ns;
	}
	return 0;
}

/* Random guarantees that add up to 1000; with @capped each cap is the guarantee. */
static void next_shares(unsigned int triple[TENANTS][3], bool capped)
{
	unsigned int i, left = 16;

	for (i = 0; i < TENANTS; i++)
		triple[i][0] = 50;
	while (left--)
		triple[score_random_below(TENANTS)][0] += 50;
	for (i = 0; i < TENANTS; i++) {
		triple[i][1] = capped ? triple[i][0] : 1000;
		triple[i][2] = 1 + (unsigned int)score_random_below(1000);
	}
}

/* How long after @from_ns the first run begins that was not yet under way, in ns. */
static double first_run(uint64_t from_ns)
{
	unsigned int i;

	for (i = 0; i < nr_runs; i++)
		if (runs[i].start_ns >= from_ns)
			return (double)(runs[i].start_ns - from_ns);
	return (double)HOLD_NS;
}

void score_rows_change(void)
{
	double log_ns = 0, work_ns = 0, call_ns = 0, begun_ns = 0, q, job_ns, x;
	double q_max = 0, lost, lost_max = 0;
	unsigned int triple[TENANTS][3], i, k, now = 0;
	static struct curve curve;
	struct score_result r = { 0 };
	uint64_t call, back, ran;

	if (!score_wanted("is_004"))
		return;
	score_policy("best_effort");
	for (i = 0; i < TENANTS; i++)
		score_start(i, JOB_NS, RING_ORDER, false);
	score_policy("qos");
	for (i = 0; i < TENANTS; i++)
		score.tenant[i].busy = true;
	score_keep(300 * MS);
	for (k = 0; k < CHANGES; k++) {
		if (k % 8 == 0)
			score_progress("is_004: change %u of %u", k, CHANGES);
		next_shares(triple, k % 2);
		read_log(false);
		nr_runs = 0;
		nr_seen = 0;
		longest_ns = 0;
		call = clk_ns();
		score_shares(triple);
		back = clk_ns();
		ran = score_counter("ran_ns");
		watch(HOLD_NS);
		ran = score_counter("ran_ns") - ran;
		lost = fmax(0, (double)(clk_ns() - back) - (double)ran);
		lost_max = fmax(lost_max, lost);
		call_ns = fmax(call_ns, (double)(back - call));
		begun_ns = fmax(begun_ns, first_run(back));
		q = (double)(score.slice_ns + longest_ns);
		q_max = fmax(q_max, q);
		for (i = 0; i < TENANTS; i++) {
			by_log(&curve, i, back);
			x = holds_after(&curve, triple[i][0] / 1000.0,
					triple[i][1] / 1000.0, 2 * q, back);
			log_ns = fmax(log_ns, x);
			now += x <= q;
			job_ns = by_work(&curve, i, back);
			work_ns = fmax(work_ns,
				       holds_after(&curve, triple[i][0] / 1000.0,
						   triple[i][1] / 1000.0,
						   2 * q + 2 * job_ns + 2 * lost,
						   back));
		}
	}
	r.value = fmax(log_ns, work_ns) / MS;
	r.reach = q_max / MS;
	score_add(&r, "qos, %u changes of all four shares under 4 hogs, guarantees random with sum 1000, caps the same or none; until all intervals, however short, meet guarantee and cap within 2 Q: by the log of runs %.3f ms, by work that clients saw done, but for twice the engine time that the machine lost meanwhile (at most %.3f ms, anybody's), %.3f ms; Q = slice + largest overrun, at most %.3f ms; %u of %u within one Q; first run after the return begins within %.3f ms, the call takes up to %.3f ms; the goal is Q",
		  CHANGES, log_ns / MS, lost_max / MS, work_ns / MS, q_max / MS, now,
		  CHANGES * TENANTS, begun_ns / MS, call_ns / MS);
	score_result("is_004", &r);
	for (i = 0; i < TENANTS; i++) {
		score_idle(i);
		score_stop(i);
	}
}
