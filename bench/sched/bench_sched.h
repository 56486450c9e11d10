/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench/sched: the scheduler's policies, as they are in the kernel, on simulated
 * engines in virtual time.
 */
#ifndef BENCH_SCHED_H
#define BENCH_SCHED_H

#include <stdio.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "sched/policy.h"

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define BENCH_SLICE_NS	(2 * MS)

/* The policies that are compared; the last is the baseline. */
#define BENCH_POLICIES	5

extern const struct vgpu_sched_policy *const bench_policies[BENCH_POLICIES];

/* gvt_like.c, pick.c: for the bench only */
extern const struct vgpu_sched_policy bench_policy_gvt_like;
extern const struct vgpu_sched_policy bench_policy_scan;
/* std::set; NULL: there was no C++ compiler. */
extern const struct vgpu_sched_policy *const bench_policy_set;

void *bench_set_create(void);
void bench_set_destroy(void *set);
void bench_set_add(void *set, u64 at, void *entity);
void bench_set_remove(void *set, u64 at, void *entity);
void *bench_set_take_first(void *set);

#define BENCH_GROUPS	6
#define BENCH_SPANS	4096

/* What is promised, and checked over every interval (DESIGN 6). */
enum bench_promise {
	BENCH_G,
	BENCH_G2,
	BENCH_C,
	BENCH_W,
	BENCH_P,
	BENCH_L,
	BENCH_PROMISES
};

extern const char *const bench_promise_names[BENCH_PROMISES];

/**
 * struct bench_group - clients of one kind under one policy; shares are fractions
 * of an engine
 * @name:      of the kind
 * @nr:        how many there are
 * @engine:    the engine on which it is counted
 * @again:     its clients were counted on another engine already
 * @due:       of each: its part by guarantee, cap and weight of what all ask for
 * @promised:  of each, by the policy's own rule
 * @got:       service, mean of them
 * @got_min:   of the worst
 * @got_max:   of the best
 * @short_due: the worst one's shortfall against @due, as a fraction of it
 * @short_own: the same against @promised
 * @over_due:  the best one's excess over @due, as a fraction of the engine
 * @wait_p50_ns: from runnable to running
 * @wait_p99_ns: likewise
 * @job_p50_ns: from a job's submission to its end
 * @job_p99_ns: likewise
 * @jobs:      completed, by the clients' count, per s, all of them together
 * @frames:    due in the time measured
 * @missed:    of these not completed one period after they began
 */
struct bench_group {
	char name[32];
	unsigned int nr;
	unsigned int engine;
	bool again;
	double due;
	double promised;
	double got;
	double got_min;
	double got_max;
	double short_due;
	double short_own;
	double over_due;
	double wait_p50_ns;
	double wait_p99_ns;
	double job_p50_ns;
	double job_p99_ns;
	double jobs;
	u64 frames;
	u64 missed;
};

/* Who had the engine. */
struct bench_span {
	u64 start_ns;
	u64 end_ns;
	unsigned int group;
};

/**
 * struct bench_use - where the time of an engine went, as fractions of it
 * @useful: work on the clients' jobs
 * @late:   past the end of a slice or a request to stop; mostly part of @useful
 * @switching: from one client to another
 * @drain:  of service neither work nor switch nor linger: resets
 * @linger: held by a client that had nothing to do
 * @idle:   the rest
 */
struct bench_use {
	double useful;
	double late;
	double switching;
	double drain;
	double linger;
	double idle;
};

/**
 * struct bench_result - a scenario under a policy
 * @scenario: its name
 * @policy:   its name
 * @group:    of clients
 * @nr_groups: how many
 * @short_due: the worst client's, see struct bench_group
 * @short_own: likewise
 * @over_due:  likewise
 * @violations: what broke a promise in some interval (periods of clients, pairs
 *              of these, waits), by bench_promise
 * @checked:  of so many
 * @bound_used: the largest part of the bound that was used; above 1: broken
 * @use:      of the first engine
 * @wait_p50_ns: over all clients
 * @wait_p99_ns: likewise
 * @frames:   over all clients
 * @missed:   likewise
 * @switches_per_s: of the first engine
 * @pick_ns:  of a decision among as many as there are clients
 * @span:     who had the first engine, for a picture; times from its beginning
 * @nr_spans: how many of these are known
 */
struct bench_result {
	const char *scenario;
	const char *policy;
	struct bench_group group[BENCH_GROUPS];
	unsigned int nr_groups;
	double short_due;
	double short_own;
	double over_due;
	u64 violations[BENCH_PROMISES];
	u64 checked[BENCH_PROMISES];
	double bound_used[BENCH_PROMISES];
	struct bench_use use;
	double wait_p50_ns;
	double wait_p99_ns;
	u64 frames;
	u64 missed;
	double switches_per_s;
	double pick_ns;
	struct bench_span *span;
	unsigned int nr_spans;
};

/* util.c */
void bench_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void *bench_alloc(size_t bytes);
u64 bench_clock_ns(void);
u64 bench_cpu_ns(void);
void bench_progress(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
u64 bench_random(u64 *seed, u64 n);
double bench_quantile(double *values, size_t nr, double q);

/**
 * struct bench_pick_cost - of few and of many entities
 * @few_ns:  median
 * @many_ns: median
 * @ratio:   median of the pairs', and its quartiles
 */
struct bench_pick_cost {
	double few_ns;
	double many_ns;
	double ratio;
	double ratio_low;
	double ratio_high;
};

/* pick.c */
double bench_pick_cost(const struct vgpu_sched_policy *policy, unsigned int nr,
		       u64 seed, unsigned int repeats);
void bench_pick_beside(const struct vgpu_sched_policy *const *policies,
		       unsigned int nr_policies, unsigned int nr, u64 seed,
		       unsigned int repeats, double *cost_ns);
void bench_pick_pairs(const struct vgpu_sched_policy *policy, unsigned int few,
		      unsigned int many, u64 seed, unsigned int pairs,
		      struct bench_pick_cost *cost);

#endif /* BENCH_SCHED_H */
