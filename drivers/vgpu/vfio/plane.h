/* SPDX-License-Identifier: GPL-2.0 */
/* The plane: the display of a vGPU as VFIO has it. */
#ifndef _VGPU_PLANE_H
#define _VGPU_PLANE_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "../core/core.h"

struct page;
struct vgpu_map;

/**
 * struct vgpu_plane - what the user of the device sees of the vGPU's first head
 * @map:     mappings of the region; constant
 * @lock:    serialises queries; protects @frl and @copy
 * @frl:     how often a picture that is new is taken up
 * @copy:    pages for packed copies, NULL where none was needed yet; pages that @shown is in are
 *           also read with the instance's map_lock held, and freed when that cannot be any more
 * @shown:   the picture that the user was told of, if @valid. This field and those below change
 *           with the instance's map_lock held for writing
 * @valid:   there is a picture. Becomes true with @lock held, too
 * @drops:   counts how often the framebuffer was dropped
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
