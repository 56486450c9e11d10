/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the checkers: des_era.c (what they share), des_check_books.c (WALL, JOBS, T2),
 * des_check_more.c (W, P, L), des_check.c (G, G2, C, and all together).
 */
#ifndef _VGPU_DES_CHECK_IMPL_H
#define _VGPU_DES_CHECK_IMPL_H

#include <linux/kernel.h>

#include "des_check.h"

/**
 * struct des_era - a time in which a client's share and the parameters do not change under qos
 * @at_ns:   when it begins: the change before it
 * @from_ns: when promises begin to hold, Q after that; 0: in the first era they hold at once
 * @to_ns:   when it ends: the next change
 * @share:   share of the client
 * @params:  parameters of the timelines
 * @slice_ns: S: the largest slice so far
 * @q_ns:    Q: S and the largest overrun in the record
 * @share_index: where des_era() goes on in the record of shares
 * @params_index: where des_era() goes on in the record of parameters
 */
struct des_era {
	u64 at_ns;
	u64 from_ns;
	u64 to_ns;
	const struct vgpu_share *share;
	const struct vgpu_sched_params *params;
	u64 slice_ns;
	u64 q_ns;
	size_t share_index;
	size_t params_index;
};

/**
 * struct des_period - a time in which an entity is runnable
 * @from_ns: when it begins
 * @to_ns:   when it ends
 * @index:   where des_period() goes on in the record of edges
 */
struct des_period {
	u64 from_ns;
	u64 to_ns;
	size_t index;
};

/* Index of the first element of a recorded array, in order of time, whose @time is after @at_ns. */
#define des_first_after(vec, time, at_ns) ({				\
	size_t __lo = 0, __hi = (vec)->nr;				\
									\
	while (__lo < __hi) {						\
		size_t __mid = (__lo + __hi) / 2;			\
									\
		if ((vec)->at[__mid].time > (at_ns))			\
			__hi = __mid;					\
		else							\
			__lo = __mid + 1;				\
	}								\
	__lo;								\
})

/* des_era.c */
void des_verdict(struct des_report *report, const struct des_violation *v,
		 double over, double slack);
bool des_era(const struct des *des, unsigned int client, unsigned int engine,
	     struct des_era *era);
bool des_period(const struct des *des, const struct des_track *track, u64 gap_ns,
		struct des_period *period);
int des_span_order(const void *a, const void *b);
struct des_span *des_idle_spans(const struct des *des, unsigned int engine, size_t *nr_idle);

void des_check_p(const struct des *des, struct des_report *report,
		 unsigned int i, unsigned int j, unsigned int engine);
void des_check_w(const struct des *des, struct des_report *report, unsigned int engine);
void des_check_l(const struct des *des, struct des_report *report, unsigned int engine);
void des_check_wall(const struct des *des, struct des_report *report, unsigned int engine);
void des_check_jobs(const struct des *des, struct des_report *report);

#endif /* _VGPU_DES_CHECK_IMPL_H */
