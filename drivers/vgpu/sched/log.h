/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of runs that have ended: the last runs, and histograms of times. Takes no lock: the
 * timeline's is held.
 */
#ifndef _VGPU_SCHED_LOG_H
#define _VGPU_SCHED_LOG_H

#include "policy.h"

/**
 * struct vgpu_sched_log - the last runs of a timeline
 * @total: runs that have ended so far
 * @entry: a ring; the next run goes to @total modulo VGPU_SCHED_LOG
 */
struct vgpu_sched_log {
	u64 total;
	struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
};

struct vgpu_ctl_switch *vgpu_sched_log_next(struct vgpu_sched_log *log);
unsigned int vgpu_sched_log_copy(const struct vgpu_sched_log *log,
				 struct vgpu_ctl_switch *entries, unsigned int room);
void vgpu_hist_add(struct vgpu_hist *hist, u64 time_ns);

#endif /* _VGPU_SCHED_LOG_H */
