/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of guest memory were written: a bit for each page, in chunks, of which there are
 * those that have a page. Pure logic, compiled in user space too; the caller has a lock for it.
 */
#ifndef _VGPU_WRITTEN_H
#define _VGPU_WRITTEN_H

#include <linux/rbtree.h>
#include <linux/types.h>

#define VGPU_WRITTEN_SHIFT	12	/* of a page */
#define VGPU_WRITTEN_PAGE	4096UL		/* bytes */
#define VGPU_WRITTEN_PAGES	2048	/* of a chunk */
#define VGPU_WRITTEN_CHUNKS	131072U	/* 1 TiB of pages, in 38 MB of memory */

/**
 * struct vgpu_written - pages that were written
 * @chunks: those that have a page, by their number
 * @last:   the chunk that was written last, or NULL
 * @nr_chunks: number of chunks
 * @all:    there was no memory for a chunk, or there were too many: all pages count as written
 *
 * All 0: no page was written.
 */
struct vgpu_written {
	struct rb_root chunks;
	struct vgpu_written_chunk *last;
	unsigned int nr_chunks;
	bool all;
};

void vgpu_written_note(struct vgpu_written *written, u64 addr, u64 len);
u64 vgpu_written_take(struct vgpu_written *written, u64 *at, u64 last);
void vgpu_written_free(struct vgpu_written *written);

#endif /* _VGPU_WRITTEN_H */
