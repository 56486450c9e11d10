// SPDX-License-Identifier: GPL-2.0
/* See log.h. */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "log.h"

/* Returns the entry for one more run. It still has an old run: the caller sets all fields. */
struct vgpu_ctl_switch *vgpu_sched_log_next(struct vgpu_sched_log *log)
{
	u32 index;

	div_u64_rem(log->total++, VGPU_SCHED_LOG, &index);
	return &log->entry[index];
}

/* Copies the last runs, at most @room, the oldest first. Returns their number. */
unsigned int vgpu_sched_log_copy(const struct vgpu_sched_log *log,
				 struct vgpu_ctl_switch *entries, unsigned int room)
{
	unsigned int count = min_t(u64, room, min_t(u64, log->total, VGPU_SCHED_LOG));
	unsigned int i;
	u32 index;

	div_u64_rem(log->total - count, VGPU_SCHED_LOG, &index);
	for (i = 0; i < count; i++) {
		entries[i] = log->entry[index++];
		if (index == VGPU_SCHED_LOG)
			index = 0;
	}
	return count;
}

/* Counts a time in a histogram. */
void vgpu_hist_add(struct vgpu_hist *hist, u64 time_ns)
{
	unsigned int bucket = fls64(div_u64(time_ns, 1000));

	hist->count[min(bucket, VGPU_HIST_BUCKETS - 1U)]++;
}
