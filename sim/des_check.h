/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of qos and of the slots, checked on a record of the simulator
 * over every interval there is in it. Service grows by 0 or 1, so what an
 * interval has more or less than its due is extreme where a run begins or ends:
 * looking there is looking everywhere.
 *
 * With S the slice (the largest one so far: what is owed of it is paid back
 * later) and p the largest overrun in the record, Q = S + p, for intervals T in
 * which parameters do not change, from Q after a change on:
 *
 * G    runnable all the time: service >= g T - 2 Q
 * G2   always work but for gaps of less than linger_us, jobs <= S: service >=
 *      min(g, what it would use alone) T - 3 Q
 * C    service <= c T + 2 Q
 * W    the engine is not idle while somebody is runnable who has had no more
 *      than its cap in any interval up to now
 * P    i and j runnable all the time, without a cap, y = service - g T:
 *      |y_i / w_i - y_j / w_j| <= 3 Q (1 / w_i + 1 / w_j)
 * L    who wakes having had no more than guarantee and cap in any interval up to
 *      now waits at most Q / g + Q; if meanwhile no other one with a guarantee
 *      is runnable or lingered on, Q; and nobody without a guarantee is put on
 *      meanwhile
 * WALL what the timeline counted is what the engine did; service + idle = wall
 * JOBS each job ended exactly once, or was dropped, or is left; all end
 */
#ifndef _VGPU_DES_CHECK_H
#define _VGPU_DES_CHECK_H

#include "des.h"

enum des_promise {
	DES_G, DES_G2, DES_C, DES_W, DES_P, DES_L, DES_WALL, DES_JOBS,
	DES_NR_PROMISES,
};

/**
 * struct des_violation - a promise that did not hold
 * @promise:  which
 * @client:   for whom
 * @other:    P: and for whom
 * @engine:   where
 * @from_ns:  of the interval
 * @to_ns:    of the interval
 * @got_ns:   what there was: service, time waited, time idle
 * @bound_ns: what it should have been, at least or at most
 * @over:     by how much it was missed
 */
struct des_violation {
	enum des_promise promise;
	unsigned int client;
	unsigned int other;
	unsigned int engine;
	u64 from_ns;
	u64 to_ns;
	s64 got_ns;
	s64 bound_ns;
	double over;
};

/**
 * struct des_report - what came of checking
 * @checked:    periods, waits, pairs, ... that were looked at
 * @violations: how many of them violated it
 * @worst:      of these, by how far it was missed
 * @use:        by promise: the largest part of its bound that was used, per mille
 */
struct des_report {
	u64 checked[DES_NR_PROMISES];
	u64 violations[DES_NR_PROMISES];
	struct des_violation worst[DES_NR_PROMISES];
	u64 use[DES_NR_PROMISES];
};

/**
 * struct des_scan - what all intervals within one say
 * @lack_ns:    the most that one had less than its share: share * T - service
 * @lack_from_ns: which
 * @lack_to_ns: which
 * @surplus_ns: the most that one had more: service - share * T
 * @surplus_from_ns: which
 * @surplus_to_ns: which
 */
struct des_scan {
	s64 lack_ns;
	u64 lack_from_ns;
	u64 lack_to_ns;
	s64 surplus_ns;
	u64 surplus_from_ns;
	u64 surplus_to_ns;
};

const char *des_promise_name(enum des_promise promise);
u64 des_overrun_ns(const struct des *des, unsigned int engine);
void des_check(const struct des *des, struct des_report *report);
u64 des_violations(const struct des_report *report);
void des_report_print(const struct des *des, const struct des_report *report);

/* T1 (lack <= S + p + debts) and T3 (surplus <= S + p) of a share num / den. */
void des_scan(const struct des *des, unsigned int client, unsigned int engine,
	      u64 from_ns, u64 to_ns, u64 num, u64 den, struct des_scan *scan);
/* T2: by how much the k-th jobs, or runs, of a client differ at most in time. */
u64 des_shift_jobs_ns(const struct des *a, const struct des *b,
		      unsigned int client);
u64 des_shift_runs_ns(const struct des *a, unsigned int client_a,
		      const struct des *b, unsigned int client_b,
		      unsigned int engine);

/*
 * des_shrink.c: the smallest configuration found that violates @promise, too;
 * @config is changed to it. Return: how many simulations that took.
 */
unsigned int des_shrink(struct des_config *config, enum des_promise promise);

#endif /* _VGPU_DES_CHECK_H */
