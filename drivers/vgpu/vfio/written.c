// SPDX-License-Identifier: GPL-2.0
/* Which pages of guest memory were written, until somebody takes that: see written.h. */
#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/vgpu_record.h>

#include "written.h"

/**
 * struct vgpu_written_chunk - pages that follow each other
 * @node:  in vgpu_written.chunks
 * @index: number of the first page, divided by VGPU_WRITTEN_PAGES
 * @pages: a bit for each page
 */
struct vgpu_written_chunk {
	struct rb_node node;
	u64 index;
	unsigned long pages[VGPU_WRITTEN_PAGES / BITS_PER_LONG];
};

static struct vgpu_written_chunk *to_chunk(struct rb_node *node)
{
	return rb_entry(node, struct vgpu_written_chunk, node);
}

/* The first chunk from that index on, or NULL. */
static struct vgpu_written_chunk *written_from(const struct vgpu_written *written, u64 index)
{
	struct rb_node *node = written->chunks.rb_node;
	struct vgpu_written_chunk *found = NULL;

	while (node) {
		if (to_chunk(node)->index < index) {
			node = node->rb_right;
		} else {
			found = to_chunk(node);
			node = node->rb_left;
		}
	}
	return found;
}

static bool written_less(struct rb_node *a, const struct rb_node *b)
{
	return to_chunk(a)->index < rb_entry(b, struct vgpu_written_chunk, node)->index;
}

/* Returns the chunk, which is made if there is none; NULL: no memory, or too many of them. */
static struct vgpu_written_chunk *written_chunk(struct vgpu_written *written, u64 index)
{
	struct vgpu_written_chunk *chunk = written->last;

	if (chunk && chunk->index == index)
		return chunk;
	chunk = written_from(written, index);
	if (chunk && chunk->index == index)
		return chunk;
	if (written->nr_chunks >= VGPU_WRITTEN_CHUNKS)
		return NULL;
	chunk = kzalloc(sizeof(*chunk), VGPU_RECORD_GFP);
	if (!chunk)
		return NULL;
	written->nr_chunks++;
	chunk->index = index;
	rb_add(&chunk->node, &written->chunks, written_less);
	return chunk;
}

/**
 * vgpu_written_note() - note that memory was written
 * @written: the pages
 * @addr: first byte
 * @len: number of bytes; those beyond the last address were not written
 *
 * Context: may sleep. Charges the active memory cgroup.
 */
void vgpu_written_note(struct vgpu_written *written, u64 addr, u64 len)
{
	u64 last = addr + min(len - 1, ~addr), page = addr >> VGPU_WRITTEN_SHIFT;
	struct vgpu_written_chunk *chunk;

	for (; len && !written->all && page <= last >> VGPU_WRITTEN_SHIFT; page++) {
		chunk = written_chunk(written, page / VGPU_WRITTEN_PAGES);
		if (!chunk) {
			written->all = true;
			return;
		}
		written->last = chunk;
		__set_bit(page % VGPU_WRITTEN_PAGES, chunk->pages);
	}
}

/* The first page that was written, from @page up to @last; its chunk is set; ~0: there is none. */
static u64 written_page(const struct vgpu_written *written, u64 page, u64 last,
			struct vgpu_written_chunk **chunk)
{
	unsigned long bit;

	for (;;) {
		*chunk = written_from(written, page / VGPU_WRITTEN_PAGES);
		if (!*chunk)
			return ~0ULL;
		page = max(page, (*chunk)->index * VGPU_WRITTEN_PAGES);
		bit = find_next_bit((*chunk)->pages, VGPU_WRITTEN_PAGES,
				    page % VGPU_WRITTEN_PAGES);
		if (bit < VGPU_WRITTEN_PAGES)
			break;
		page = ((*chunk)->index + 1) * VGPU_WRITTEN_PAGES;
	}
	page = (*chunk)->index * VGPU_WRITTEN_PAGES + bit;
	return page <= last ? page : ~0ULL;
}

/**
 * vgpu_written_take() - take the next pages that were written
 * @written: the pages; those that are taken are in it no more, unless all count as written
 * @at: look from this byte on; set to the first byte that was found
 * @last: and up to this byte
 *
 * Context: any.
 * Return: the number of bytes, within what was looked at; 0: no page there was written.
 */
u64 vgpu_written_take(struct vgpu_written *written, u64 *at, u64 last)
{
	struct vgpu_written_chunk *chunk;
	u64 page, first, end;

	if (*at > last)
		return 0;
	if (written->all)
		return last - *at + 1;
	first = written_page(written, *at >> VGPU_WRITTEN_SHIFT, last >> VGPU_WRITTEN_SHIFT,
			     &chunk);
	if (first == ~0ULL)
		return 0;
	end = min(last >> VGPU_WRITTEN_SHIFT,
		  chunk->index * VGPU_WRITTEN_PAGES + VGPU_WRITTEN_PAGES - 1);
	for (page = first; page <= end; page++)
		if (!__test_and_clear_bit(page % VGPU_WRITTEN_PAGES, chunk->pages))
			break;
	*at = max(*at, first << VGPU_WRITTEN_SHIFT);
	return min(last, (page << VGPU_WRITTEN_SHIFT) - 1) - *at + 1;
}

/**
 * vgpu_written_free() - forget all pages
 * @written: the pages, of which none is written afterwards
 *
 * Context: may sleep.
 */
void vgpu_written_free(struct vgpu_written *written)
{
	struct rb_node *node;

	while ((node = written->chunks.rb_node)) {
		rb_erase(node, &written->chunks);
		kfree(to_chunk(node));
	}
	*written = (struct vgpu_written){};
}
