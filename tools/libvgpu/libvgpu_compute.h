/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libvgpu: programs of a device in its framebuffer, and dispatches of their kernels, on channels
 * with an address space or without. In one, a program finds what vgpu_space_map_fb() has mapped,
 * and faults at anything else; without one it finds all of the framebuffer, whose ever it is.
 */
#ifndef LIBVGPU_COMPUTE_H
#define LIBVGPU_COMPUTE_H

#include "libvgpu_chan.h"
#include "libvgpu_elf.h"

#define VGPU_GROUP_ITEMS	256	/* of the group that vgpu_launch_group() chooses */

/**
 * struct vgpu_program - a program in the framebuffer of a device
 * @dev:     the device
 * @space:   the address space that it is in, or NULL
 * @elf:     the program; it must stay until the last dispatch
 * @image:   offset of its image in the framebuffer
 * @kernels: offset of the struct vgpu_hw_program of its first kernel, which those of the others
 *           follow
 */
struct vgpu_program {
	struct vgpu_dev *dev;
	struct vgpu_space *space;
	const struct vgpu_elf *elf;
	uint64_t image;
	uint64_t kernels;
};

/**
 * struct vgpu_launch - a dispatch
 * @program:     the program
 * @kernel:      one of its kernels
 * @args:        offset of the argument block in the framebuffer
 * @grid:        work-items per dimension
 * @group:       work-items of a work-group per dimension
 * @local_bytes: memory of a work-group, beside that of the program's variables
 */
struct vgpu_launch {
	const struct vgpu_program *program;
	const struct vgpu_kernel *kernel;
	uint64_t args;
	uint32_t grid[3];
	uint32_t group[3];
	uint32_t local_bytes;
};

/* The address by which a kernel knows the byte at @offset of the launch's @local_bytes. */
static inline uint64_t vgpu_local_address(const struct vgpu_elf *elf, uint32_t offset)
{
	return VGPU_HW_VA_LOCAL + ((elf->local_bytes + 15) & ~15u) + offset;
}

/*
 * Puts a program into framebuffer taken by vgpu_fb_alloc(), and has the device forget what it knew
 * of the address before.
 */
int vgpu_program_load(struct vgpu_dev *dev, const struct vgpu_elf *elf,
		      struct vgpu_program *program);

/* The same for channels of an address space, in which it maps the program, not to be written. */
int vgpu_program_load_in(struct vgpu_space *space, const struct vgpu_elf *elf,
			 struct vgpu_program *program);

/* Chooses @group, where the work-items of a group do nothing in common. */
void vgpu_launch_group(struct vgpu_launch *launch);

/*
 * Queues a dispatch on a channel of a gr engine, for which vgpu_chan_fence() and vgpu_chan_wait()
 * do as for other packets. Returns -EINVAL if the device would refuse its shape.
 */
int vgpu_chan_dispatch(struct vgpu_chan *chan, const struct vgpu_launch *launch);

/*
 * Writes to @text, of @room bytes, why a channel has stopped in a program: "page fault in
 * scale+0x14 (pc 0x10014), address 0x0, work-item 3,0,0". Returns an error if it has not faulted.
 */
int vgpu_chan_explain(struct vgpu_chan *chan, const struct vgpu_elf *elf, char *text, size_t room);

#endif /* LIBVGPU_COMPUTE_H */
