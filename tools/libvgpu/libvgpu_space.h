/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: address spaces of channels, with their page tables in the framebuffer. */
#ifndef LIBVGPU_SPACE_H
#define LIBVGPU_SPACE_H

#include "libvgpu_mem.h"

/**
 * struct vgpu_space - an address space
 * @dev:  the device; it must stay open until vgpu_space_destroy()
 * @root: value of VGPU_HW_CHAN_ROOT; render node: id of the VM
 *
 * Framebuffer that its tables take is not given back to vgpu_fb_alloc(), unless it is behind what
 * vgpu_fb_release() is called with: not before vgpu_space_destroy().
 */
struct vgpu_space {
	struct vgpu_dev *dev;
	uint32_t root;
};

/*
 * The address by which a program knows the byte at @offset of the framebuffer, also in an address
 * space where vgpu_space_map_fb() has mapped it.
 */
static inline uint64_t vgpu_global_address(uint64_t offset)
{
	return VGPU_HW_VA_GLOBAL + offset;
}

/* Makes an address space that is empty. */
int vgpu_space_create(struct vgpu_dev *dev, struct vgpu_space **spacep);

/* Frees an address space that no channel uses, or does nothing with NULL. */
void vgpu_space_destroy(struct vgpu_space *space);

/*
 * Maps @bytes from @va on to a place, by leaves with @flags (VGPU_HW_PTE_R, _W and _X), as large as
 * the addresses are aligned for; all are whole pages. What was mapped there before is replaced, but
 * not within a larger leaf (-EEXIST). New mappings need no vgpu_space_invalidate(), changed ones
 * do. On a render node there is no leaf in the way, addresses of the upper half are the driver's
 * (-EINVAL), and so is it where vgpu_fb_alloc() has taken nothing.
 */
int vgpu_space_map(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		   uint32_t flags);

/* Maps the pages of @bytes from @offset of the framebuffer on to where programs look for them. */
int vgpu_space_map_fb(struct vgpu_space *space, uint64_t offset, uint64_t bytes, uint32_t flags);

/* Takes the leaves away that begin in the range. The caller calls vgpu_space_invalidate(). */
int vgpu_space_unmap(struct vgpu_space *space, uint64_t va, uint64_t bytes);

/*
 * Returns when the device uses no translation any more that was changed before the call. Whoever
 * writes over a program that was executed maps it again after that: on a render node only this
 * makes the device read it again.
 */
int vgpu_space_invalidate(struct vgpu_space *space);

/*
 * The entry for @va in the table of @level (2: the root, 1 or 0), for programs that write it
 * themselves; tables on the way to it are made if need be. NULL if there is no framebuffer for
 * them, a leaf is in the way, or a program has written over a table; or on a render node.
 */
uint64_t *vgpu_space_entry(struct vgpu_space *space, uint64_t va, unsigned int level);

#endif /* LIBVGPU_SPACE_H */
