// SPDX-License-Identifier: GPL-2.0
/* Four hogs under qos with a quarter each: shares, evenness, switches. */
#include <math.h>

#include "score.h"
#include "stats.h"

#define JOB_NS		(100 * US)
#define RING_ORDER	14
#define SECONDS		31	/* the first window is dropped */
#define SWITCH_SECONDS	11	/* some 5000 switches */
/*
 * Reading the counters and refilling the rings takes a processor from the engine for a
 * millisecond, if the host has no more. This period is no multiple of a round of four slices, so
 * that not the same vGPU loses that time in each period.
 */
#define SAMPLE_NS	(25 * MS)
#define SAMPLES		(SECONDS * 1000 / 25 + 16)
#define STOPS		8000

static struct score_reading sample[SAMPLES];
static unsigned int samples;	/* taken so far */
static double stops[STOPS];	/* us */
static unsigned int nr_stops;

/* Adds how long the last runs of the engine took to stop. */
static void collect_stops(void)
{
	static struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	uint64_t total;
	uint32_t i, count = score_log(entry, &total);

	for (i = 0; i < count && nr_stops < STOPS; i++)
		if (entry[i].preempt_ns)
			stops[nr_stops++] = (double)entry[i].preempt_ns / US;
}

static double per(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Looks at every interval of 2 s that begins and ends with a sample. */
static void row_is_003(unsigned int first)
{
	double worst = 1e9, worst_work = 1e9, sum = 0, squares = 0, share, jobs;
	unsigned int a, b, i, k, n = 0;
	struct score_result r = { 0 };

	for (a = first, b = first; a < samples; a++) {
		while (b < samples && sample[b].now_ns - sample[a].now_ns < 2000 * MS)
			b++;
		if (b == samples)
			break;
		for (jobs = 0, k = 0; k < TENANTS; k++)
			jobs += (double)(sample[b].jobs[k] - sample[a].jobs[k]);
		for (i = 0; i < TENANTS; i++) {
			share = TENANTS * per(sample[b].service_ns[i] - sample[a].service_ns[i],
					      sample[b].now_ns - sample[a].now_ns);
			sum += share;
			squares += share * share;
			n++;
			if (share < worst)
				worst = share;
			share = TENANTS * (double)(sample[b].jobs[i] - sample[a].jobs[i]) / jobs;
			if (share < worst_work)
				worst_work = share;
		}
	}
	if (!n)
		bench_die("no interval of 2 s");
	sum /= n;
	r.value = 100 * worst;
	score_add(&r, "qos, slice as by default, guarantee 250 each, 4 hogs, %u intervals of 2 s at each 25 ms of %u s; mean %.2f, sd %.3f; the same of all work that clients saw done: %.2f",
		  n, SECONDS - 1, 100 * sum,
		  100 * sqrt(fmax(squares / n - sum * sum, 0)), 100 * worst_work);
	if (nr_stops)
		score_add(&r, "; the longest that the engine took to stop, as the machine did something else: %.3f ms",
			  stats_quantile(stops, nr_stops, 1) / 1000);
	score_result("is_003", &r);
}

static double cv(const double *x, unsigned int n)
{
	double sum = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += x[i];
	sum /= n;
	for (i = 0; i < n; i++)
		squares += (x[i] - sum) * (x[i] - sum);
	return sum > 0 ? sqrt(squares / (n - 1)) / sum : 1;
}

static double jain(const double *x, double *worst)
{
	double sum = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < TENANTS; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	for (i = 0; i < TENANTS; i++)
		*worst = fmax(*worst, fabs(x[i] * TENANTS / sum - 1));
	return sum * sum / (TENANTS * squares);
}

/* Adds what a job of each tenant costs, and how much of the engine's time was lost. */
static void tell_jobs(struct score_result *r)
{
	const struct score_reading *a = &sample[0], *b = &sample[samples - 1];
	unsigned int i;

	score_add(r, "; us of service per job:");
	for (i = 0; i < TENANTS; i++)
		score_add(r, " %.1f", per(b->service_ns[i] - a->service_ns[i],
					  b->jobs[i] - a->jobs[i]) / US);
	score_add(r, "; %.2f %% of the engine's time lost to others on this machine",
		  100 * (1 - per(b->ran_ns - a->ran_ns, b->busy_ns - a->busy_ns)));
}

/* Looks at windows of 1 s, one after the other. */
static void rows_windows(unsigned int first)
{
	static double speed[TENANTS][SECONDS], engine[TENANTS][SECONDS];
	static double wall[TENANTS][SECONDS], all[SECONDS];
	double work[TENANTS], service[TENANTS], fair = 1, fair_service = 1;
	double error = 0, error_service = 0, at, worst = 0, worst_wall = 0;
	struct score_result even = { 0 }, equal = { 0 };
	unsigned int a, b, i, n = 0;

	for (a = first, b = first; n < SECONDS; a = b) {
		while (b < samples && sample[b].now_ns - sample[a].now_ns < 1000 * MS)
			b++;
		if (b >= samples)
			break;
		all[n] = 0;
		for (i = 0; i < TENANTS; i++)
			all[n] += (double)(sample[b].jobs[i] - sample[a].jobs[i]);
		for (i = 0; i < TENANTS; i++) {
			work[i] = (double)(sample[b].jobs[i] - sample[a].jobs[i]);
			service[i] = (double)(sample[b].service_ns[i] - sample[a].service_ns[i]);
			speed[i][n] = work[i] / all[n];
			engine[i][n] = work[i] / (double)(sample[b].ran_ns - sample[a].ran_ns);
			wall[i][n] = work[i] / (double)(sample[b].now_ns - sample[a].now_ns);
		}
		all[n] /= (double)(sample[b].ran_ns - sample[a].ran_ns);
		at = jain(work, &error);
		fair = fmin(fair, at);
		at = jain(service, &error_service);
		fair_service = fmin(fair_service, at);
		n++;
	}
	if (n < 20)
		bench_die("%u windows of 1 s", n);
	for (i = 0; i < TENANTS; i++) {
		even.value = fmax(even.value, cv(speed[i], n));
		worst = fmax(worst, cv(engine[i], n));
		worst_wall = fmax(worst_wall, cv(wall[i], n));
	}
	score_add(&even, "qos, slice as by default, guarantee 250 each, 4 hogs, %u samples; work of each per s in which the engine does its mean work, as the emulated engine itself is not equally fast: it varies by %.4f; per s of engine time %.4f, per s of the clock %.4f",
		  n, cv(all, n), worst, worst_wall);
	tell_jobs(&even);
	score_result("is_007", &even);
	equal.value = fair_service;
	score_add(&equal, "qos, slice as by default, guarantee 250 each, 4 hogs, worst of %u windows, of service; largest single error %.3f %%; of work that clients saw done, from whose time their own refilling of rings is taken: %.6f, %.3f %%",
		  n, 100 * error_service, fair, 100 * error);
	score_result("is_008", &equal);
}

void score_switch_loss(struct score_result *loss, const struct score_reading *a,
		       const struct score_reading *b, uint64_t switches, uint64_t switch_ns)
{
	uint64_t sum = 0, wall = b->now_ns - a->now_ns;
	unsigned int i;
	double whole;

	if (!switches)
		bench_die("no switches");
	for (i = 0; i < TENANTS; i++)
		sum += b->service_ns[i] - a->service_ns[i];
	loss->value = 100 * per(switch_ns, sum);
	score_add(loss, "%llu switches, %llu us of %llu us of service in %llu us of the clock (idle %lld us), engine time %llu us; services of all and the engine's differ by %lld us",
		  (unsigned long long)switches, (unsigned long long)(switch_ns / US),
		  (unsigned long long)(sum / US), (unsigned long long)(wall / US),
		  (long long)(wall - sum) / (long long)US,
		  (unsigned long long)((b->ran_ns - a->ran_ns) / US),
		  (long long)(b->busy_ns - a->busy_ns - sum) / (long long)US);
	/* The four always have work, so time that is not service was not counted. */
	whole = fmax(fabs(per(sum, wall) - 1), fabs(per(b->busy_ns - a->busy_ns, wall) - 1));
	score_add(loss, "; service + idle is the time there was but for %.4f %%: %s",
		  100 * whole, whole <= 0.001 ? "within 0.1 %" : "NOT within 0.1 %");
}

static void rows_switch(uint64_t switches, uint64_t switch_ns)
{
	struct score_result loss = { 0 }, latency = { 0 }, stop = { 0 };

	score_switch_loss(&loss, &sample[0], &sample[samples - 1], switches, switch_ns);
	score_result("switch_loss", &loss);
	latency.value = per(switch_ns, switches) / US;
	score_add(&latency, "from the last packet of one vGPU to the first of the next, on the same engine, mean of %llu",
		  (unsigned long long)switches);
	score_result("switch_latency", &latency);
	if (!nr_stops)
		bench_die("no run was stopped");
	stop.value = stats_quantile(stops, nr_stops, 0.5);
	score_add(&stop, "from a slice's end, or the request, until the engine was free; %u stops inside of packets of 100 us, 99th percentile %.1f us, largest %.1f us",
		  nr_stops, stats_quantile(stops, nr_stops, 0.99),
		  stats_quantile(stops, nr_stops, 1));
	score_result("preempt_latency", &stop);
}

/* Four hogs work for a while; samples are taken, and the engine's switches counted. */
static void measure(unsigned int seconds, uint64_t *switches, uint64_t *switch_ns)
{
	static const unsigned int quarter[TENANTS][3] = {
		{ 250, 1000, 250 }, { 250, 1000, 250 }, { 250, 1000, 250 },
		{ 250, 1000, 250 },
	};
	unsigned int i;
	uint64_t start;

	for (i = 0; i < TENANTS; i++)
		score_start(i, JOB_NS, RING_ORDER, false);
	score_shares(quarter);
	score_policy("qos");
	for (i = 0; i < TENANTS; i++)
		score.tenant[i].busy = true;
	score_keep(300 * MS);
	*switches = score_counter("switches");
	*switch_ns = score_counter("switch_ns");
	start = clk_ns();
	samples = 0;
	score_progress("four hogs for %u s, slices of %llu us", seconds,
		       (unsigned long long)(score.slice_ns / US));
	while (samples < SAMPLES && clk_ns() - start <= seconds * 1000 * MS + 20 * MS) {
		score_take(&sample[samples]);
		if (++samples % 20 == 0)
			collect_stops();
		score_keep(SAMPLE_NS);
	}
	*switches = score_counter("switches") - *switches;
	*switch_ns = score_counter("switch_ns") - *switch_ns;
	for (i = 0; i < TENANTS; i++) {
		score_idle(i);
		score_stop(i);
	}
}

void score_rows_share(void)
{
	uint64_t slice_ns = score.slice_ns, switches, switch_ns;
	unsigned int first = 0;

	if (score_wanted("switch_loss") || score_wanted("switch_latency") ||
	    score_wanted("preempt_latency")) {
		measure(SWITCH_SECONDS, &switches, &switch_ns);
		rows_switch(switches, switch_ns);
	}
	if (!score_wanted("is_003") && !score_wanted("is_007") && !score_wanted("is_008"))
		return;

	/* These rows are about the slice that the GPU has by default. */
	score.slice_ns = score.usual_slice_ns;
	measure(SECONDS, &switches, &switch_ns);
	while (sample[first].now_ns - sample[0].now_ns < 1000 * MS)
		first++;
	row_is_003(first);
	rows_windows(first);
	score.slice_ns = slice_ns;
}
