/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench/sched: the scheduler's policies, as they are in the kernel, on simulated engines in virtual
 * time.
 */
#ifndef BENCH_SCHED_H
#define BENCH_SCHED_H

#include <stdio.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "des_check.h"
#include "die.h"
#include "random.h"
#include "sched/policy.h"

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define BENCH_SLICE_NS	(2 * MS)

/* The policies that are compared: those of the driver, and gvt_like as the baseline. */
enum {
#define VGPU_POLICY(name) BENCH_POLICY_##name,
#include "sched/policies.h"
#undef VGPU_POLICY
	BENCH_POLICY_GVT_LIKE,
	BENCH_POLICIES
};

/* gvt_like.c, pick.c: policies for the bench only */
extern const struct vgpu_sched_policy bench_policy_gvt_like;
extern const struct vgpu_sched_policy bench_policy_scan;
/* NULL: std::set is not here, as there was no C++ compiler. */
extern const struct vgpu_sched_policy *const bench_policy_set;

/* The promises of qos that any policy can be held against: DES_G .. DES_L. */
#define BENCH_PROMISES	(DES_L + 1)

#define BENCH_GROUPS	6
#define BENCH_SPANS	4096

/**
 * struct bench_group - clients of one kind under one policy; parts are fractions of an engine
 * @name:      name of the kind
 * @nr:        number of clients
 * @engine:    index of the engine whose service is counted
 * @again:     the clients were counted on another engine already
 * @due:       mean of what is due to each by guarantee, cap and weight of what all clients ask for
 * @promised:  mean of what is due to each by the policy's own rule
 * @got:       mean of the service
 * @got_min:   service of the client with the least
 * @got_max:   service of the client with the most
 * @short_due: largest shortfall of a client against @due, as a fraction of that
 * @short_own: largest shortfall of a client against @promised, as a fraction of that
 * @over_due:  largest excess of a client over @due, as a fraction of the engine
 * @wait_p50_ns: median of the times from runnable to running
 * @wait_p99_ns: 99th percentile of these
 * @job_p50_ns: median of the times from a job's submission to its end
 * @job_p99_ns: 99th percentile of these
 * @jobs:      jobs per second that all clients together saw completed
 * @frames:    frames that were due in the time measured
 * @missed:    of these, frames that were not completed one period after they began
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

/* A run of a client of @group on the first engine. */
struct bench_span {
	u64 start_ns;
	u64 end_ns;
	unsigned int group;
};

/**
 * struct bench_use - where the time of an engine went, as fractions of it
 * @useful: work on the clients' jobs
 * @late:   runs past the end of a slice or a request to stop; mostly part of @useful
 * @switching: switches from one client to another
 * @drain:  service that is neither work nor switch nor linger: resets
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
 * @scenario: name of the scenario
 * @policy:   name of the policy
 * @group:    the groups of clients
 * @nr_groups: length of @group
 * @short_due: largest of all groups
 * @short_own: largest of all groups
 * @over_due:  largest of all groups
 * @violations: by promise, in how many cases (periods of clients, pairs of clients, waits) some
 *              interval broke it
 * @checked:  by promise, how many cases were looked at
 * @bound_used: by promise, the largest part of the bound that was used; above 1: broken
 * @use:      where the time of the first engine went
 * @wait_p50_ns: median over all clients of the times from runnable to running
 * @wait_p99_ns: 99th percentile of these
 * @frames:   sum over all clients
 * @missed:   sum over all clients
 * @switches_per_s: switches of the first engine
 * @pick_ns:  processor time of a decision among as many entities as there are clients
 * @span:     runs of the first engine, for a picture; times from the picture's begin
 * @nr_spans: length of @span
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

/* policies.c */
const struct vgpu_sched_policy *bench_policy_at(unsigned int index);

/* util.c */
void *bench_alloc(size_t bytes);
u64 bench_clock_ns(void);
u64 bench_cpu_ns(void);
void bench_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
FILE *bench_open(const char *name);
void bench_close(const char *name, FILE *out);

/* One of 0 .. @n - 1. */
static inline u64 bench_random(u64 *seed, u64 n)
{
	return random_next(seed) % n;
}

#endif /* BENCH_SCHED_H */
