/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: framebuffer, and memory of the program that the device can reach. */
#ifndef LIBVGPU_MEM_H
#define LIBVGPU_MEM_H

#include "libvgpu_dev.h"

/**
 * struct vgpu_buf - memory of the program that the device can reach
 * @dev:   the device; it must stay open until vgpu_buf_free()
 * @ptr:   address for the program, page aligned
 * @bytes: length, whole pages
 * @iova:  VFIO: I/O address of the first byte for the device; render node: its address for channels
 *         without an address space
 * @pages: virtual machine: address of each page for the device; VFIO and render node: NULL
 */
struct vgpu_buf {
	struct vgpu_dev *dev;
	void *ptr;
	size_t bytes;
	uint64_t iova;
	uint64_t *pages;
};

/**
 * struct vgpu_loc - a place that a packet can name
 * @buf:    the buffer, or NULL for the framebuffer
 * @offset: byte offset in the buffer or framebuffer
 */
struct vgpu_loc {
	const struct vgpu_buf *buf;
	uint64_t offset;
};

#define VGPU_FB(off)		((struct vgpu_loc){ NULL, (off) })
#define VGPU_SYS(b, off)	((struct vgpu_loc){ (b), (off) })

/* A virtual address, for packets of a channel with an address space. */
#define VGPU_VA(va)		VGPU_FB(va)

/*
 * Takes @bytes of framebuffer whose offset is a multiple of @align, a power of two. Returns -ENOSPC
 * if there is less left. Only vgpu_fb_release() gives framebuffer back: everything from @offset on.
 * In a virtual machine no two programs are given the same page. On a render node, an address space
 * keeps what is mapped there from being free until it is unmapped, and only what was taken is
 * there.
 */
int vgpu_fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, uint64_t *offset);
void vgpu_fb_release(struct vgpu_dev *dev, uint64_t offset);

/*
 * The same, for what vgpu_chan_present() is to show: a surface must be in one piece. On a render
 * node other framebuffer may not be; -EOPNOTSUPP: its driver is too old to see to that.
 */
int vgpu_fb_alloc_shown(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, uint64_t *offset);

/*
 * Allocates zeroed memory that the device can reach, @bytes rounded up to whole pages. In a virtual
 * machine the pages are locked and their addresses looked up once: the kernel must not move them,
 * so vm.compact_unevictable_allowed should be 0. On a render node the driver sees to that.
 */
int vgpu_buf_alloc(struct vgpu_dev *dev, size_t bytes, struct vgpu_buf *buf);

/* Frees what vgpu_buf_alloc() has allocated; a buffer that is all zero may be passed, too. */
void vgpu_buf_free(struct vgpu_buf *buf);

/*
 * Address of the byte at @offset for the device. If @contig is not NULL, it is set to the number of
 * bytes from there that have consecutive addresses, 0 outside of the buffer.
 */
uint64_t vgpu_buf_addr(const struct vgpu_buf *buf, uint64_t offset, uint64_t *contig);

/*
 * Map and unmap whole pages of any memory at the I/O address @iova (VFIO only, elsewhere
 * -EOPNOTSUPP).
 */
int vgpu_dma_map(struct vgpu_dev *dev, void *ptr, size_t bytes, uint64_t iova);
int vgpu_dma_unmap(struct vgpu_dev *dev, size_t bytes, uint64_t iova);

#endif /* LIBVGPU_MEM_H */
