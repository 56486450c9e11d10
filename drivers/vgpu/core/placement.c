// SPDX-License-Identifier: GPL-2.0
/*
 * Placement of instances in the framebuffer.
 *
 * Homogeneous: instances of size s lie at 0, s, 2s, ...
 *
 * Mixed: a region of R is halved d times, d the largest with
 * floor(R / 2^d) >= 2s, each cut of [a, b) at floor((a + b) / 2). Each piece
 * [a, b) offers two placements, at a and at b - s; with 2s > R there is only the
 * one at 0. So sizes mix without an order of creation that would block others,
 * for the price of fewer instances where s is no power-of-two part of R. The
 * rule gives the placement tables published for NVIDIA's mixed-size mode.
 */
#include "placement.h"

/**
 * vgpu_placement_init() - an empty GPU
 * @p: to set up
 * @region_gb: its framebuffer
 * @homogeneous: whether all instances must have one size
 */
void vgpu_placement_init(struct vgpu_placement *p, u32 region_gb,
			 bool homogeneous)
{
	p->region_gb = region_gb;
	p->homogeneous = homogeneous;
	p->nr = 0;
}

static unsigned int placement_depth(u32 region_gb, u32 size_gb)
{
	unsigned int depth = 0;

	while ((region_gb >> (depth + 1)) >= 2 * size_gb)
		depth++;
	return depth;
}

/**
 * vgpu_placement_count() - how many places a size has on an empty GPU
 * @p: the GPU
 * @size_gb: at least 1
 *
 * Return: at most VGPU_PLACEMENT_MAX; 0 if the size does not fit at all.
 */
unsigned int vgpu_placement_count(const struct vgpu_placement *p, u32 size_gb)
{
	unsigned int nr;

	if (!size_gb || size_gb > p->region_gb)
		return 0;
	if (p->homogeneous)
		nr = p->region_gb / size_gb;
	else if (size_gb > p->region_gb / 2)
		nr = 1;
	else
		nr = 2U << placement_depth(p->region_gb, size_gb);
	return nr < VGPU_PLACEMENT_MAX ? nr : VGPU_PLACEMENT_MAX;
}

/**
 * vgpu_placement_id() - the start of a place
 * @p: the GPU
 * @size_gb: at least 1
 * @index: below vgpu_placement_count()
 *
 * Return: where it starts, in GiB; ascending with @index.
 */
u32 vgpu_placement_id(const struct vgpu_placement *p, u32 size_gb,
		      unsigned int index)
{
	u32 a = 0, b = p->region_gb;
	unsigned int depth;

	if (p->homogeneous)
		return index * size_gb;
	if (size_gb > p->region_gb / 2)
		return 0;

	/* The bits of index, highest first, choose the halves. */
	for (depth = placement_depth(b, size_gb); depth; depth--) {
		u32 middle = (a + b) / 2;

		if (index >> depth & 1)
			a = middle;
		else
			b = middle;
	}
	return index & 1 ? b - size_gb : a;
}

/* The room around [start, start + size), or 0 if something lies there. */
static u32 placement_hole(const struct vgpu_placement *p, u32 start, u32 size)
{
	u32 low = 0, high = p->region_gb;
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		u32 a = p->used[i].start_gb;
		u32 b = a + p->used[i].size_gb;

		if (b <= start)
			low = low > b ? low : b;
		else if (a >= start + size)
			high = high < a ? high : a;
		else
			return 0;
	}
	return high - low;
}

/**
 * vgpu_placement_free_gb() - what no instance owns
 * @p: the GPU
 *
 * Return: GiB.
 */
u32 vgpu_placement_free_gb(const struct vgpu_placement *p)
{
	u32 free_gb = p->region_gb;
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		free_gb -= p->used[i].size_gb;
	return free_gb;
}

static enum vgpu_short placement_short(const struct vgpu_placement *p,
				       u32 size_gb)
{
	if (p->nr == VGPU_PLACEMENT_MAX)
		return VGPU_SHORT_INSTANCES;
	if (p->homogeneous && p->nr && p->used[0].size_gb != size_gb)
		return VGPU_SHORT_SIZE;
	if (vgpu_placement_free_gb(p) < size_gb)
		return VGPU_SHORT_FRAMEBUFFER;
	return VGPU_SHORT_NOTHING;
}

/**
 * vgpu_placement_take() - place an instance
 * @p: the GPU
 * @size_gb: its framebuffer, at least 1
 * @start_gb: set to where it starts
 *
 * Takes the place in the smallest hole, the lowest of these.
 *
 * Return: VGPU_SHORT_NOTHING, or which pool is short and nothing is changed.
 */
enum vgpu_short vgpu_placement_take(struct vgpu_placement *p, u32 size_gb,
				    u32 *start_gb)
{
	enum vgpu_short what = placement_short(p, size_gb);
	u32 best_hole = 0, best = 0;
	unsigned int i, nr;

	if (what != VGPU_SHORT_NOTHING)
		return what;

	nr = vgpu_placement_count(p, size_gb);
	for (i = 0; i < nr; i++) {
		u32 start = vgpu_placement_id(p, size_gb, i);
		u32 hole = placement_hole(p, start, size_gb);

		if (hole && (!best_hole || hole < best_hole)) {
			best_hole = hole;
			best = start;
		}
	}
	if (!best_hole)
		return VGPU_SHORT_PLACEMENT;

	p->used[p->nr].start_gb = best;
	p->used[p->nr].size_gb = size_gb;
	p->nr++;
	*start_gb = best;
	return VGPU_SHORT_NOTHING;
}

/**
 * vgpu_placement_put() - an instance is gone
 * @p: the GPU
 * @start_gb: as vgpu_placement_take() gave it
 */
void vgpu_placement_put(struct vgpu_placement *p, u32 start_gb)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		if (p->used[i].start_gb == start_gb) {
			p->used[i] = p->used[--p->nr];
			return;
		}
	}
}

/**
 * vgpu_placement_available() - how many more of a size fit beside what runs
 * @p: the GPU
 * @size_gb: at least 1
 *
 * Places of one size never overlap, so free ones can all be taken.
 *
 * Return: that many vgpu_placement_take() in a row succeed.
 */
unsigned int vgpu_placement_available(const struct vgpu_placement *p,
				      u32 size_gb)
{
	unsigned int i, nr, free_nr = 0;

	if (placement_short(p, size_gb) != VGPU_SHORT_NOTHING)
		return 0;

	nr = vgpu_placement_count(p, size_gb);
	for (i = 0; i < nr; i++)
		if (placement_hole(p, vgpu_placement_id(p, size_gb, i), size_gb))
			free_nr++;
	if (free_nr > VGPU_PLACEMENT_MAX - p->nr)
		free_nr = VGPU_PLACEMENT_MAX - p->nr;
	return free_nr;
}

/**
 * vgpu_placement_channels() - which channels belong to a place
 * @p: the GPU
 * @channels: how many the GPU has, at least @p->region_gb
 * @start_gb: of the place
 * @size_gb: of the place
 * @first: set to the first channel
 * @nr: set to how many, at least 1
 *
 * Channels are split like the framebuffer, so they are never short on their own.
 */
void vgpu_placement_channels(const struct vgpu_placement *p, u32 channels,
			     u32 start_gb, u32 size_gb, u32 *first, u32 *nr)
{
	*first = channels * start_gb / p->region_gb;
	*nr = channels * (start_gb + size_gb) / p->region_gb - *first;
}
