// SPDX-License-Identifier: GPL-2.0
/*
 * Placement of instances in the framebuffer.
 *
 * Homogeneous: instances of size s lie at 0, s, 2s, ...
 *
 * Mixed: a region of R is halved d times, where d is the largest with floor(R / 2^d) >= 2s, and
 * [a, b) is cut at floor((a + b) / 2). Each piece [a, b) offers two places, at a and at b - s; with
 * 2s > R there is only the place at 0. So sizes can be mixed in any order of creation, at the price
 * of fewer instances where s is not R divided by a power of two. The rule gives the placement
 * tables published for NVIDIA's mixed-size mode.
 */
#include "placement.h"

/**
 * vgpu_placement_init() - set up a GPU without instances
 * @p: set
 * @region_gb: framebuffer of the GPU in GiB, 1 .. 1024
 * @homogeneous: whether all instances must have one size
 */
void vgpu_placement_init(struct vgpu_placement *p, u32 region_gb, bool homogeneous)
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
 * vgpu_placement_count() - count the places of a size on a GPU without instances
 * @p: placement of the GPU; instances that are placed do not matter
 * @size_gb: framebuffer of an instance in GiB
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
 * vgpu_placement_id() - find a place by its number
 * @p: placement of the GPU
 * @size_gb: framebuffer of an instance in GiB, at least 1
 * @index: number of the place, below vgpu_placement_count()
 *
 * Return: start of the place in GiB; it ascends with @index.
 */
u32 vgpu_placement_id(const struct vgpu_placement *p, u32 size_gb, unsigned int index)
{
	u32 a = 0, b = p->region_gb;
	unsigned int depth;

	if (p->homogeneous)
		return index * size_gb;
	if (size_gb > p->region_gb / 2)
		return 0;

	/* Each bit of @index, highest first, chooses a half; bit 0 chooses the end of the piece. */
	for (depth = placement_depth(b, size_gb); depth; depth--) {
		u32 middle = (a + b) / 2;

		if (index >> depth & 1)
			a = middle;
		else
			b = middle;
	}
	return index & 1 ? b - size_gb : a;
}

/* Returns the length of the hole around [start, start + size), or 0 if part of it is used. */
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
 * vgpu_placement_free_gb() - compute the size of the framebuffer that no instance owns
 * @p: placement of the GPU
 *
 * Return: size in GiB, perhaps in several pieces.
 */
u32 vgpu_placement_free_gb(const struct vgpu_placement *p)
{
	u32 free_gb = p->region_gb;
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		free_gb -= p->used[i].size_gb;
	return free_gb;
}

static enum vgpu_short placement_short(const struct vgpu_placement *p, u32 size_gb)
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
 * @p: placement of the GPU
 * @size_gb: framebuffer of the instance in GiB, at least 1
 * @start_gb: set to the start of the instance's framebuffer, in GiB
 *
 * Takes the lowest of the free places that lie in the smallest hole.
 *
 * Return: VGPU_SHORT_NOTHING; or what is short, and nothing has changed.
 */
enum vgpu_short vgpu_placement_take(struct vgpu_placement *p, u32 size_gb, u32 *start_gb)
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
 * vgpu_placement_put() - free the place of an instance
 * @p: placement of the GPU
 * @start_gb: start of the place, as vgpu_placement_take() set it
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
 * vgpu_placement_available() - count the instances of a size that can still be placed
 * @p: placement of the GPU
 * @size_gb: framebuffer of each instance in GiB, at least 1
 *
 * Places of one size never overlap, so all free places can be taken.
 *
 * Return: the number of calls of vgpu_placement_take() in a row that would succeed.
 */
unsigned int vgpu_placement_available(const struct vgpu_placement *p, u32 size_gb)
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
 * vgpu_placement_channels() - find the channels that belong to a place
 * @p: placement of the GPU
 * @channels: number of the GPU's channels, at least @p->region_gb
 * @start_gb: start of the place in GiB
 * @size_gb: size of the place in GiB
 * @first: set to the first of the GPU's channels that belong to the place
 * @nr: set to the number of these channels, at least 1
 *
 * Channels are split like the framebuffer, so an instance that fits finds its channels free.
 */
void vgpu_placement_channels(const struct vgpu_placement *p, u32 channels, u32 start_gb,
			     u32 size_gb, u32 *first, u32 *nr)
{
	*first = channels * start_gb / p->region_gb;
	*nr = channels * (start_gb + size_gb) / p->region_gb - *first;
}
