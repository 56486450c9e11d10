/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quarantine of a vGPU that hangs its engines too often: pure counting, no locks, no timers. The
 * state lives as long as the instance, so a device reset does not lift a quarantine. A "fault" here
 * is a reset of an engine or a gross overrun; other faults of channels do not come here.
 */
#ifndef _VGPU_QUARANTINE_H
#define _VGPU_QUARANTINE_H

#include <linux/types.h>

#define VGPU_QUARANTINE_MAX_FAULTS	16U
#define VGPU_QUARANTINE_FAULTS		3U
#define VGPU_QUARANTINE_WINDOW_NS	(60ULL * 1000 * 1000 * 1000)
#define VGPU_QUARANTINE_BACKOFF_NS	(60ULL * 1000 * 1000 * 1000)

/* Maximum length of a quarantine, unless the first one is longer. */
#define VGPU_QUARANTINE_LIMIT_NS	(3600ULL * 1000 * 1000 * 1000)

/* After this time without a fault or a quarantine, the next quarantine counts as a first one. */
#define VGPU_QUARANTINE_QUIET_NS	(3600ULL * 1000 * 1000 * 1000)

/**
 * struct vgpu_quarantine - a vGPU's recent faults
 * @threshold:   number of faults within @window_ns that begin a quarantine; 0: no quarantine
 * @window_ns:   time for which a fault counts
 * @backoff_ns:  length of a first quarantine
 * @next_ns:     length of the next quarantine
 * @until_ns:    when the present quarantine ends (CLOCK_MONOTONIC); 0: there is none
 * @last_ns:     when the last fault was or the last quarantine expired; 0: neither yet
 * @fault_ns:    ring of the times of the last @threshold faults
 * @nr_faults:   number of times in the ring
 * @head:        index in the ring where the next time goes
 * @quarantines: number of quarantines that have begun so far
 *
 * A lock of the structure that embeds this one protects it.
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

/**
 * struct vgpu_quarantine_ages - a vGPU's recent faults as another host can take them over
 * @nr_faults:   number of faults that count
 * @quarantines: number of quarantines so far
 * @left_ns:     rest of the present quarantine; 0: there is none
 * @next_ns:     length of the next quarantine
 * @quiet_ns:    time since the last fault, or since the last quarantine has expired; ~0:
 *               neither yet
 * @age_ns:      age of each fault, the oldest first
 */
struct vgpu_quarantine_ages {
	u32 nr_faults;
	u32 quarantines;
	u64 left_ns;
	u64 next_ns;
	u64 quiet_ns;
	u64 age_ns[VGPU_QUARANTINE_MAX_FAULTS];
};

void vgpu_quarantine_init(struct vgpu_quarantine *q, unsigned int threshold, u64 window_ns,
			  u64 backoff_ns);
void vgpu_quarantine_set(struct vgpu_quarantine *q, unsigned int threshold, u64 backoff_ns);
bool vgpu_quarantine_fault(struct vgpu_quarantine *q, u64 now_ns);
bool vgpu_quarantine_expire(struct vgpu_quarantine *q, u64 now_ns);
void vgpu_quarantine_release(struct vgpu_quarantine *q);
void vgpu_quarantine_export(const struct vgpu_quarantine *q, u64 now_ns,
			    struct vgpu_quarantine_ages *ages);
void vgpu_quarantine_import(struct vgpu_quarantine *q, u64 now_ns,
			    const struct vgpu_quarantine_ages *ages);

#endif /* _VGPU_QUARANTINE_H */
