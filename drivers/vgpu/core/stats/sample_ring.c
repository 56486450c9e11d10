// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of samples that readers of /dev/vgpu find. A reader's position is the time of the last
 * sample it has seen, so the ring knows nothing of readers. Pure logic, compiled in user space too;
 * callers serialise.
 */
#include <linux/minmax.h>

#include "sample_ring.h"

/**
 * vgpu_sample_ring_add() - a period has ended
 * @ring:   zeroed before the first one
 * @so_far: the period's end, later than that of the last one, its length, and all service and
 *          frames until then; the sample has what is new of these
 *
 * All samples of a ring together have all service and frames that there were until the last one.
 */
void vgpu_sample_ring_add(struct vgpu_sample_ring *ring, const struct vgpu_sample *so_far)
{
	struct vgpu_sample *slot = &ring->slot[ring->nr++ % VGPU_SAMPLES_KEPT];
	unsigned int i;

	*slot = *so_far;
	for (i = 0; i < VGPU_MAX_ENGINES; i++)
		slot->busy_ns[i] -= ring->so_far.busy_ns[i];
	slot->frames -= ring->so_far.frames;
	ring->so_far = *so_far;
}

/**
 * vgpu_sample_ring_after() - find the first sample that a reader has not seen
 * @ring:     which
 * @since_ns: end of the last one that the reader has seen; any number
 *
 * Return: the oldest kept sample that ended later, or NULL. It stays until the next is added.
 */
const struct vgpu_sample *vgpu_sample_ring_after(const struct vgpu_sample_ring *ring, u64 since_ns)
{
	u64 end = ring->nr, from = end - min_t(u64, end, VGPU_SAMPLES_KEPT), mid;

	/* Samples before from are not later than since_ns, those from end on are. */
	while (from < end) {
		mid = from + (end - from) / 2;
		if (ring->slot[mid % VGPU_SAMPLES_KEPT].time_ns > since_ns)
			end = mid;
		else
			from = mid + 1;
	}
	return from < ring->nr ? &ring->slot[from % VGPU_SAMPLES_KEPT] : NULL;
}

/**
 * vgpu_sample_ring_at() - find a sample
 * @ring:    which
 * @time_ns: its end, not 0
 *
 * Return: the sample, or NULL if it is not there. It stays until the next is added.
 */
const struct vgpu_sample *vgpu_sample_ring_at(const struct vgpu_sample_ring *ring, u64 time_ns)
{
	const struct vgpu_sample *sample = vgpu_sample_ring_after(ring, time_ns - 1);

	return sample && sample->time_ns == time_ns ? sample : NULL;
}
