/* SPDX-License-Identifier: GPL-2.0 */
/* The plane: the display of a vGPU in VFIO's terms. */
#ifndef _VGPU_PLANE_H
#define _VGPU_PLANE_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "../core/core.h"

struct page;
struct vgpu_map;

/**
 * struct vgpu_plane - the picture of the vGPU's first head that the user sees
 * @map:     mappings of the region; constant
 * @lock:    serialises queries; protects @frl and @copy
 * @frl:     limits how often a query shows a new picture
 * @copy:    pages for packed copies, NULL where none was needed yet. Readers that hold only the
 *           instance's map_lock read the pages of @shown while @valid; they are freed after @valid
 *           was cleared
 * @shown:   the picture that the user was told of, if @valid. This field and those below change
 *           with the instance's map_lock held for writing
 * @valid:   there is a picture. Setting it needs @lock, too
 * @drops:   number of times the framebuffer was dropped
 */
struct vgpu_plane {
	struct vgpu_map *map;
	struct mutex lock;	/* queries */
	struct vgpu_frl frl;
	struct page **copy;
	struct vgpu_scanout shown;
	bool valid;
	unsigned int drops;
};

void vgpu_plane_init(struct vgpu_plane *plane, struct vgpu_map *map);
void vgpu_plane_exit(struct vgpu_plane *plane);
void vgpu_plane_close(struct vgpu_plane *plane);
void vgpu_plane_drop(struct vgpu_plane *plane);
int vgpu_plane_query(struct vgpu_plane *plane, void __user *arg);
int vgpu_plane_pages(struct vgpu_plane *plane, u64 first, struct page **pages, unsigned int nr);
int vgpu_plane_read(struct vgpu_plane *plane, u64 offset, void *buf, u32 len);

#endif /* _VGPU_PLANE_H */
