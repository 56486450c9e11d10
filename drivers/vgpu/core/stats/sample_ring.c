// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of samples that readers of /dev/vgpu find. A reader's position is the time of the last
 * sample it has seen, so the ring knows nothing of readers. Pure logic, compiled in user space too;
 * callers serialise.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sample_ring.h"

/* Places behind the samples that are kept. */
#define SAMPLE_SO_FAR	VGPU_SAMPLES_KEPT
#define SAMPLE_NEXT	(VGPU_SAMPLES_KEPT + 1)
#define SAMPLE_PLACES	(VGPU_SAMPLES_KEPT + 2)

static size_t sample_words(unsigned int engines)
{
	return sizeof(struct vgpu_sample) / sizeof(u64) + engines;
}

static struct vgpu_sample *sample_in(const struct vgpu_sample_ring *ring, unsigned int place)
{
	return (struct vgpu_sample *)&ring->words[place * sample_words(ring->engines)];
}

static struct vgpu_sample *sample_nr(const struct vgpu_sample_ring *ring, u64 nr)
{
	return sample_in(ring, nr % VGPU_SAMPLES_KEPT);
}

/**
 * vgpu_sample_ring_new() - make a ring
 * @engines: how many the GPU has
 *
 * Context: may sleep.
 * Return: a ring without samples, for kvfree(), or NULL without memory.
 */
struct vgpu_sample_ring *vgpu_sample_ring_new(unsigned int engines)
{
	size_t bytes = SAMPLE_PLACES * sample_words(engines) * sizeof(u64);
	struct vgpu_sample_ring *ring = kvzalloc(sizeof(*ring) + bytes, GFP_KERNEL_ACCOUNT);

	if (ring)
		ring->engines = engines;
	return ring;
}

/**
 * vgpu_sample_ring_next() - find where the next sample is to be put together
 * @ring: which
 *
 * Readers of the ring do not look there.
 *
 * Return: for vgpu_sample_ring_add(): to be filled in with the period's end, later than that of the
 * last one, its length, and all service and frames until then.
 */
struct vgpu_sample *vgpu_sample_ring_next(struct vgpu_sample_ring *ring)
{
	return sample_in(ring, SAMPLE_NEXT);
}

/**
 * vgpu_sample_ring_add() - a period has ended
 * @ring: the next sample has been filled in; what is new of its service and frames is kept
 *
 * All samples of a ring together have all service and frames that there were until the last one.
 */
void vgpu_sample_ring_add(struct vgpu_sample_ring *ring)
{
	struct vgpu_sample *sample = sample_nr(ring, ring->nr++);
	struct vgpu_sample *so_far = sample_in(ring, SAMPLE_SO_FAR);
	const struct vgpu_sample *next = sample_in(ring, SAMPLE_NEXT);
	unsigned int i;

	sample->time_ns = next->time_ns;
	sample->period_ns = next->period_ns;
	sample->fb_backed_bytes = next->fb_backed_bytes;
	sample->frames = next->frames - so_far->frames;
	so_far->frames = next->frames;
	for (i = 0; i < ring->engines; i++) {
		sample->busy_ns[i] = next->busy_ns[i] - so_far->busy_ns[i];
		so_far->busy_ns[i] = next->busy_ns[i];
	}
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
		if (sample_nr(ring, mid)->time_ns > since_ns)
			end = mid;
		else
			from = mid + 1;
	}
	return from < ring->nr ? sample_nr(ring, from) : NULL;
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
