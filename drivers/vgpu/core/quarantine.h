/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a vGPU faults too often: pure counting, no locks, no timers. It lives
 * as long as the instance, so that a device reset does not lift it.
 */
#ifndef _VGPU_QUARANTINE_H
#define _VGPU_QUARANTINE_H

#include <linux/types.h>

#define VGPU_QUARANTINE_MAX_FAULTS	16U
#define VGPU_QUARANTINE_FAULTS		3U
#define VGPU_QUARANTINE_WINDOW_NS	(60ULL * 1000 * 1000 * 1000)
#define VGPU_QUARANTINE_BACKOFF_NS	(60ULL * 1000 * 1000 * 1000)

/* A doubled back-off stops growing here. */
#define VGPU_QUARANTINE_LIMIT_NS	(3600ULL * 1000 * 1000 * 1000)

/* So long without fault or quarantine, and the back-off is the first again. */
#define VGPU_QUARANTINE_QUIET_NS	(3600ULL * 1000 * 1000 * 1000)

/**
 * struct vgpu_quarantine - a vGPU's recent faults
 * @threshold:   faults within the window that begin a quarantine; 0: never
 * @window_ns:   how far back faults count
 * @backoff_ns:  how long the first quarantine lasts
 * @next_ns:     how long the next one would
 * @until_ns:    when the present one ends (CLOCK_MONOTONIC); 0: none
 * @last_ns:     the last fault or end of quarantine; 0: none yet
 * @fault_ns:    ring of the last @threshold fault times
 * @nr_faults:   valid ones in the ring
 * @head:        where the next one goes
 * @quarantines: begun so far
 *
 * Protected by whoever embeds it.
 */
struct vgpu_quarantine {
	unsigned int threshold;
	u64 window_ns;
	u64 backoff_ns;
	u64 next_ns;
	u64 until_ns;
	u64 last_ns;
	u64 fault_ns[VGPU_QUARANTINE_MAX_FAULTS];
	unsigned int nr_faults;
	unsigned int head;
	u32 quarantines;
};

void vgpu_quarantine_init(struct vgpu_quarantine *q, unsigned int threshold,
			  u64 window_ns, u64 backoff_ns);
void vgpu_quarantine_set(struct vgpu_quarantine *q, unsigned int threshold,
			 u64 backoff_ns);
bool vgpu_quarantine_fault(struct vgpu_quarantine *q, u64 now_ns);
bool vgpu_quarantine_expire(struct vgpu_quarantine *q, u64 now_ns);
void vgpu_quarantine_release(struct vgpu_quarantine *q);

#endif /* _VGPU_QUARANTINE_H */
