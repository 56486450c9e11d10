/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quarantine of a vGPU that faults too often: pure counting, no locks, no timers. The state lives
 * as long as the instance, so a device reset does not lift a quarantine.
 */
#ifndef _VGPU_QUARANTINE_H
#define _VGPU_QUARANTINE_H

#include <linux/types.h>

#define VGPU_QUARANTINE_MAX_FAULTS	16U
#define VGPU_QUARANTINE_FAULTS		3U
#define VGPU_QUARANTINE_WINDOW_NS	(60ULL * 1000 * 1000 * 1000)
#define VGPU_QUARANTINE_BACKOFF_NS	(60ULL * 1000 * 1000 * 1000)

/* No quarantine is longer than this, or than the first one if that is longer. */
#define VGPU_QUARANTINE_LIMIT_NS	(3600ULL * 1000 * 1000 * 1000)

/* After this long without a fault or a quarantine the next quarantine is a first one again. */
#define VGPU_QUARANTINE_QUIET_NS	(3600ULL * 1000 * 1000 * 1000)

/**
 * struct vgpu_quarantine - a vGPU's recent faults
 * @threshold:   how many faults within @window_ns begin a quarantine; 0: none ever does
 * @window_ns:   how long a fault counts
 * @backoff_ns:  length of a first quarantine
 * @next_ns:     length of the next quarantine
 * @until_ns:    when the present quarantine ends (CLOCK_MONOTONIC); 0: there is none
 * @last_ns:     when the last fault was or the last quarantine expired; 0: neither yet
 * @fault_ns:    ring of the times of the last @threshold faults
 * @nr_faults:   how many times the ring holds
 * @head:        index in the ring where the next time goes
 * @quarantines: how many have begun so far
 *
 * The structure that embeds this one has the lock that protects it.
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

void vgpu_quarantine_init(struct vgpu_quarantine *q, unsigned int threshold, u64 window_ns,
			  u64 backoff_ns);
void vgpu_quarantine_set(struct vgpu_quarantine *q, unsigned int threshold, u64 backoff_ns);
bool vgpu_quarantine_fault(struct vgpu_quarantine *q, u64 now_ns);
bool vgpu_quarantine_expire(struct vgpu_quarantine *q, u64 now_ns);
void vgpu_quarantine_release(struct vgpu_quarantine *q);

#endif /* _VGPU_QUARANTINE_H */
