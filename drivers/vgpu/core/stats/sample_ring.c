// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of samples that users of /dev/vgpu read. A reader's position is the time of the last
 * sample that it has seen, so the ring has no data of readers. Pure logic, compiled in user space
 * too; callers serialise their calls.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sample_ring.h"

/* The places that follow the samples, and the number of all places. */
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
 * @engines: number of engines of the GPU
 *
 * Context: may sleep.
 * Return: a ring without samples, which the caller frees by kvfree(); NULL if there is no memory.
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
 * vgpu_sample_ring_next() - get the place where the caller prepares the next sample
 * @ring: the ring
 *
 * Readers of the ring do not read this place.
 *
 * Return: the place. Before vgpu_sample_ring_add() the caller fills it in: the end of the period,
 * which is later than that of the last sample, its length, and the totals at its end.
 */
struct vgpu_sample *vgpu_sample_ring_next(struct vgpu_sample_ring *ring)
{
	return sample_in(ring, SAMPLE_NEXT);
}

/**
 * vgpu_sample_ring_add() - add the next sample
 * @ring: the ring; the caller has filled in vgpu_sample_ring_next()
 *
 * The sample gets the differences to the previous totals, so the sum of all samples that were ever
 * added equals the totals.
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
 * @ring:     the ring
 * @since_ns: end of the last sample that the reader has seen; any number
 *
 * Return: the oldest kept sample that ended later, or NULL. It is valid until a sample is added.
 */
const struct vgpu_sample *vgpu_sample_ring_after(const struct vgpu_sample_ring *ring, u64 since_ns)
{
	u64 end = ring->nr, from = end - min_t(u64, end, VGPU_SAMPLES_KEPT), mid;

	/* Samples before from ended at since_ns or earlier, those from end on ended later. */
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
 * vgpu_sample_ring_at() - find a sample by its end
 * @ring:    the ring
 * @time_ns: end of the sample, not 0
 *
 * Return: the sample, or NULL if it is not kept. It is valid until a sample is added.
 */
const struct vgpu_sample *vgpu_sample_ring_at(const struct vgpu_sample_ring *ring, u64 time_ns)
{
	const struct vgpu_sample *sample = vgpu_sample_ring_after(ring, time_ns - 1);

	return sample && sample->time_ns == time_ns ? sample : NULL;
}
