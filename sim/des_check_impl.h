/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the checkers: des_check.c (G, G2, C), des_check_more.c (W, P, L),
 * des_check_books.c (WALL, JOBS).
 */
#ifndef _VGPU_DES_CHECK_IMPL_H
#define _VGPU_DES_CHECK_IMPL_H

#include <linux/kernel.h>

#include "des_check.h"

/**
 * struct des_era - a client's parameters do not change, the policy is qos
 * @at_ns:   from the change before it on
 * @from_ns: from Q after the change before it on
 * @to_ns:   to the next change
 * @share:   then
 * @params:  then
 * @slice_ns: S: the largest slice so far
 * @q_ns:    Q then
 * @share_index: of the next one
 * @params_index: of the next one
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
 * struct des_period - an entity is runnable
 * @from_ns: from then
 * @to_ns:   to then
 * @index:   of the next one
 */
struct des_period {
	u64 from_ns;
	u64 to_ns;
	size_t index;
};

void des_verdict(struct des_report *report, const struct des_violation *v,
		 double over, double slack);
size_t des_first_span(const struct des_track *track, u64 at_ns);
bool des_era(const struct des *des, unsigned int client, unsigned int engine,
	     struct des_era *era);
bool des_period(const struct des *des, const struct des_track *track, u64 gap_ns,
		struct des_period *period);

void des_check_p(const struct des *des, struct des_report *report,
		 unsigned int i, unsigned int j, unsigned int engine);
void des_check_w(const struct des *des, struct des_report *report,
		 unsigned int engine);
void des_check_l(const struct des *des, struct des_report *report,
		 unsigned int engine);
void des_check_wall(const struct des *des, struct des_report *report,
		    unsigned int engine);
void des_check_jobs(const struct des *des, struct des_report *report);

#endif /* _VGPU_DES_CHECK_IMPL_H */
