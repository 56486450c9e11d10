/* SPDX-License-Identifier: GPL-2.0 */
/* A team of units as the driver has it, whose threads are of user space. There is one. */
#ifndef BENCH_COMPUTE_HOST_TEAM_H
#define BENCH_COMPUTE_HOST_TEAM_H

#include <linux/types.h>

/*
 * Starts as many units as there are processors, SOFT_UNITS_MAX at most, and returns how many. In
 * sections each calls @work with its number; 0 is the leader's, which is the caller. It returns by
 * @end_ns, or once @leave is set; or false, if there is nothing to do.
 */
unsigned int host_team_open(bool (*work)(unsigned int unit, u64 end_ns, const bool *leave));
void host_team_close(void);

/*
 * A section, which @others units may join. It stays open for as long as the driver's does, if
 * @stays says so after each piece of the leader's work. Returns how often one has joined, when all
 * have left.
 */
unsigned int host_team_section(unsigned int others, bool (*stays)(void));

#endif /* BENCH_COMPUTE_HOST_TEAM_H */
