// SPDX-License-Identifier: GPL-2.0
/*
 * What a vGPU gets beside hogs, against what it gets alone with the same share; and what a vGPU
 * gets beside idle vGPUs, against what it gets when no other vGPU is open. The two sides are
 * measured in turns, A B B A.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "score.h"
#include "stats.h"

#define HOG_JOB_NS	(100 * US)
#define HOG_ORDER	15
#define CLIENT_ORDER	8
#define SETTLE_NS	(100 * MS)
#define WINDOW_NS	(1000 * MS)

/*
 * Jobs that a hog is given for a window and the time before it, of which it gets a quarter. More
 * jobs would have to be waited for afterwards; to give them in pieces would take processor time
 * from the first tenant's client while that is measured.
 */
#define HOG_JOBS	((SETTLE_NS + WINDOW_NS) * 32 / 100 / HOG_JOB_NS)

enum side {
	ALONE,
	BESIDE,
};

/**
 * struct pairs - a comparison of the first tenant's client alone and beside the others
 * @policy:  the GPU's, by name
 * @share:   guarantee, cap and weight of each tenant
 * @depth:   jobs that the client has under way; 0: its ring is kept full
 * @job_ns:  length of the client's jobs
 * @reopen:  alone means that the other vGPUs are closed, and beside that they are idle
 * @ratio:   of the client's rate beside the others to its rate alone, per pair; of engine time, or
 *           of the clock for a client that waits for each job
 * @clock:   the same ratios of the clock
 * @service_ns: of the client in all windows of a side
 * @linger_ns:  part of that service: the engine waited for the client's next job
 * @jobs:       that the client saw completed in these windows
 */
struct pairs {
	const char *policy;
	unsigned int share[TENANTS][3];
	unsigned int depth;
	uint64_t job_ns;
	bool reopen;
	double ratio[PAIRS_MAX];
	double clock[PAIRS_MAX];
	uint64_t service_ns[2];
	uint64_t linger_ns[2];
	uint64_t jobs[2];
};

static struct load_client client;

/*
 * Jobs of the first tenant per ns of engine time, and per ns of the clock. A window without a job
 * is one in which the machine was busy otherwise: it counts as half a job, so that the ratio is
 * not 0.
 */
static void rates(const struct score_reading *a, const struct score_reading *b,
		  double *engine, double *clock)
{
	double jobs = (double)(b->jobs[0] - a->jobs[0]);
	double wall = (double)(b->now_ns - a->now_ns);
	double ran = (double)(b->ran_ns - a->ran_ns);
	double busy = (double)(b->busy_ns - a->busy_ns);

	if (jobs < 1)
		jobs = 0.5;
	if (ran < 1)
		ran = 1;
	*clock = jobs / wall;
	/* The engine's own time, as if none of it had been lost. */
	*engine = jobs / ran * (busy / wall);
}

/* Tenants that are to keep the engine busy must have had work to the end of the window. */
static void check_busy(const struct pairs *p, enum side which)
{
	unsigned int i;

	for (i = p->depth ? 1 : 0; i < TENANTS; i++) {
		struct load *load = &score.tenant[i].load;

		if (i && (which == ALONE || p->reopen))
			return;
		if (load_jobs(load) >= load->put)
			bench_die("the jobs of vGPU %u did not last for a window", i);
	}
}

static void enter(const struct pairs *p, enum side which)
{
	struct load *own = &score.tenant[0].load;
	unsigned int i;

	for (i = 1; i < TENANTS; i++) {
		if (p->reopen && which == ALONE)
			score_close(i);
		else if (p->reopen)
			score_open(i);
		else
			score_idle(i);
	}
	if (!p->depth)
		score_check(own, load_keep(own, load_room(own)));
	for (i = 1; i < TENANTS && !p->reopen && which == BESIDE; i++)
		score_check(&score.tenant[i].load, load_keep(&score.tenant[i].load, HOG_JOBS));
	clk_sleep_ns(SETTLE_NS);
}

static void window(struct pairs *p, enum side which, double *engine, double *clock, double *use)
{
	struct score_reading a, b;

	enter(p, which);
	score_take(&a);
	clk_sleep_ns(WINDOW_NS);
	score_take(&b);
	check_busy(p, which);
	rates(&a, &b, engine, clock);
	p->service_ns[which] += b.service_ns[0] - a.service_ns[0];
	p->linger_ns[which] += b.linger_ns - a.linger_ns;
	p->jobs[which] += b.jobs[0] - a.jobs[0];
	if (use)
		*use = (double)(b.busy_ns - a.busy_ns) /
		       (double)(b.now_ns - a.now_ns);
}

static void start(const struct pairs *p)
{
	unsigned int i;

	score_policy("best_effort");
	score_start(0, p->job_ns, p->depth ? CLIENT_ORDER :
		    p->reopen ? ALL_ORDER : HOG_ORDER, p->depth);
	for (i = 1; i < TENANTS && !p->reopen; i++)
		score_start(i, HOG_JOB_NS, HOG_ORDER, false);
	score_shares(p->share);
	score_policy(p->policy);
	if (!p->depth)
		return;
	client = (struct load_client) {
		.load = &score.tenant[0].load,
		.depth = p->depth,
	};
	score_check(&score.tenant[0].load, load_client_start(&client));
}

static void stop(const struct pairs *p)
{
	unsigned int i;

	if (p->depth)
		score_check(&score.tenant[0].load, load_client_stop(&client));
	for (i = 0; i < TENANTS; i++) {
		if (score.tenant[i].load.dev)
			score_idle(i);
		score_stop(i);
	}
}

/* Measures all pairs. @use, unless NULL, is lowered to the engine's least use beside others. */
static void compare(const char *row, struct pairs *p, double *use)
{
	double engine[2], clock[2], used;
	enum side first, other;
	unsigned int i;

	start(p);
	for (i = 0; i <= score.pairs; i++) {
		if (i % 5 == 0)
			score_progress("%s, %s: pair %u of %u", row, p->policy, i, score.pairs);
		first = i % 2 ? BESIDE : ALONE;
		other = i % 2 ? ALONE : BESIDE;
		window(p, first, &engine[first], &clock[first], first == BESIDE ? &used : NULL);
		window(p, other, &engine[other], &clock[other], other == BESIDE ? &used : NULL);
		if (!i) {
			memset(p->service_ns, 0, sizeof(p->service_ns));
			memset(p->linger_ns, 0, sizeof(p->linger_ns));
			memset(p->jobs, 0, sizeof(p->jobs));
			continue;
		}
		p->clock[i - 1] = clock[BESIDE] / clock[ALONE];
		p->ratio[i - 1] = p->depth == 1 || score.icount ?
				  p->clock[i - 1] :
				  engine[BESIDE] / engine[ALONE];
		if (use && used < *use)
			*use = used;
	}
	stop(p);
}

static double per_job_us(const uint64_t *ns, const struct pairs *p, enum side which)
{
	return (double)ns[which] / US / fmax(1, (double)p->jobs[which]);
}

/* What the ratios are about, in words. */
static const char *rate_time(void)
{
	return score.icount ? "the clock" : "engine time";
}

static double tell(struct score_result *r, const char *name, struct pairs *p)
{
	double median = stats_quantile(p->ratio, score.pairs, 0.5);
	double low = stats_quantile(p->ratio, score.pairs, 0.25);
	double high = stats_quantile(p->ratio, score.pairs, 0.75);

	/* The error of the median, if ratios are normally distributed. */
	score_add(r, "; %s: median %.2f %% +- %.2f (quartiles %.2f to %.2f), by the clock %.2f %%",
		  name, 100 * median, 100 * 1.253 * (high - low) / 1.349 / sqrt(score.pairs),
		  100 * low, 100 * high, 100 * stats_quantile(p->clock, score.pairs, 0.5));
	score_add(r, ", us of service per job %.2f alone (of them waited %.2f), %.2f beside (%.2f)",
		  per_job_us(p->service_ns, p, ALONE), per_job_us(p->linger_ns, p, ALONE),
		  per_job_us(p->service_ns, p, BESIDE), per_job_us(p->linger_ns, p, BESIDE));
	return median;
}

#define QUARTERS(cap)	{ { 250, cap, 250 }, { 250, cap, 250 },		\
			  { 250, cap, 250 }, { 250, cap, 250 } }

static void row_is_006(void)
{
	static struct pairs fixed = {
		.policy = "fixed_share", .share = QUARTERS(1000),
		.job_ns = HOG_JOB_NS,
	};
	static struct pairs qos = {
		.policy = "qos", .share = QUARTERS(250), .job_ns = HOG_JOB_NS,
	};
	struct score_result r = { 0 };

	compare("is_006", &fixed, NULL);
	compare("is_006", &qos, NULL);
	score_add(&r, "work of a hog with a quarter beside three hogs, of the same with these idle; %u pairs of 1 s, per s of %s",
		  score.pairs, rate_time());
	r.value = 100 * fmin(tell(&r, "fixed_share", &fixed),
			     tell(&r, "qos with guarantee and cap 250", &qos));
	score_result("is_006", &r);
}

static void row_is_009(void)
{
	static struct pairs list[] = {
		{ .policy = "fixed_share", .share = QUARTERS(1000), .depth = 2,
		  .job_ns = 500 * US },
		{ .policy = "fixed_share", .share = QUARTERS(1000), .depth = 1, .job_ns = MS },
		{ .policy = "qos", .share = QUARTERS(250), .depth = 2, .job_ns = 500 * US },
		{ .policy = "qos", .share = QUARTERS(250), .depth = 1, .job_ns = MS },
	};
	double least = 1e9;
	struct score_result r = { 0 };
	char name[64];
	unsigned int i;

	score_add(&r, "work kept beside three hogs by a client with two jobs of 0.5 ms under way, per s of %s, and by one that waits for each of 1 ms, per s of the clock (linger_us as set by default); %u pairs of 1 s",
		  rate_time(), score.pairs);
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		compare("is_009", &list[i], NULL);
		snprintf(name, sizeof(name), "%s, depth %u", list[i].policy, list[i].depth);
		least = fmin(least, tell(&r, name, &list[i]));
	}
	r.value = 100 * (1 - least);
	score_result("is_009", &r);
}

static void row_use_3_idle(void)
{
	static struct pairs p = {
		.policy = "qos", .share = QUARTERS(1000), .job_ns = HOG_JOB_NS,
		.reopen = true,
	};
	double median, use = 1;
	struct score_result r = { 0 };

	compare("use_3_idle", &p, &use);
	score_add(&r, "qos; work of a hog with three idle vGPUs open, of the same with these closed; %u pairs of 1 s, per s of %s",
		  score.pairs, rate_time());
	median = tell(&r, "work", &p);
	score_add(&r, "; least service of the engine's time in a window with them %.3f %%",
		  100 * use);
	r.value = 100 * fmin(median, use);
	score_result("use_3_idle", &r);
}

void score_rows_pairs(void)
{
	if (score_wanted("is_006"))
		row_is_006();
	if (score_wanted("is_009"))
		row_is_009();
	if (score_wanted("use_3_idle"))
		row_use_3_idle();
}
