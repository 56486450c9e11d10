/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of qos and of the slots, checked on a record of the simulator over every interval
 * that is in the record. The service of an entity grows as fast as time or not at all, so an
 * interval has most more or less than is due if it begins and ends where runs do: it is enough to
 * look at these.
 *
 * With S the slice (the largest one so far: what a client owes of it is paid back later) and p the
 * largest overrun in the record, Q = S + p, for intervals T in which parameters do not change, from
 * Q after a change on:
 *
 * G    runnable all the time: service >= g T - 2 Q
 * G2   always work but for gaps of less than linger_us, jobs <= S: service, and the time in gaps in
 *      which the engine serves nobody, >= min(g, what the client would use alone) T - 3 Q
 * C    service <= c T + 2 Q
 * W    the engine is not idle while a client is runnable that has had no more than its cap in any
 *      interval up to now
 * P    i and j runnable all the time, without a cap, y = service - g T:
 *      |y_i / w_i - y_j / w_j| <= 3 Q (1 / w_i + 1 / w_j)
 * L    a client that wakes and has had no more than guarantee and cap in any interval up to now
 *      waits at most Q / g + Q; at most Q if no other client with a guarantee is runnable or
 *      lingered on in that time; and no client without a guarantee gets the engine in that time
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
 * struct des_violation - a case in which a promise did not hold
 * @promise:  the promise
 * @client:   index of the client to which it was made
 * @other:    P: index of the other client; L: index of the client that got the engine first
 * @engine:   index of the engine
 * @from_ns:  begin of the interval
 * @to_ns:    end of the interval
 * @got_ns:   what there was: service, time waited, time idle
 * @bound_ns: what there should have been, at least or at most
 * @over:     by how much the bound was missed
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
 * struct des_report - what came of checking, by promise
 * @checked:    how many cases (periods, waits, pairs, ...) were looked at
 * @violations: in how many of them the promise was broken
 * @worst:      the case in which it was missed by most
 * @use:        the largest part of the bound that was used, per mille
 */
struct des_report {
	u64 checked[DES_NR_PROMISES];
	u64 violations[DES_NR_PROMISES];
	struct des_violation worst[DES_NR_PROMISES];
	u64 use[DES_NR_PROMISES];
};

/**
 * struct des_scan - a client's service against a share, in all intervals T within an interval
 * @lack_ns:    the largest share * T - service
 * @lack_from_ns: begin of the interval that has it
 * @lack_to_ns: end of that
 * @surplus_ns: the largest service - share * T
 * @surplus_from_ns: begin of the interval that has it
 * @surplus_to_ns: end of that
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

/* For T1 (lack <= S + p + debts) and T3 (surplus <= S + p) of a share num / den. */
void des_scan(const struct des *des, unsigned int client, unsigned int engine,
	      u64 from_ns, u64 to_ns, u64 num, u64 den, struct des_scan *scan);
/* For T2: by how much the k-th jobs, or runs, of a client differ at most in time. */
u64 des_shift_jobs_ns(const struct des *a, const struct des *b, unsigned int client);
u64 des_shift_runs_ns(const struct des *a, unsigned int client_a,
		      const struct des *b, unsigned int client_b, unsigned int engine);

/* des_shrink.c */
unsigned int des_shrink(struct des_config *config, enum des_promise promise);

#endif /* _VGPU_DES_CHECK_H */
