/* SPDX-License-Identifier: GPL-2.0 */
/* The transport over the render node of the guest's driver: <drm/vgpu_drm.h>. */
#ifndef LIBVGPU_NODE_H
#define LIBVGPU_NODE_H

#include <drm/drm.h>
#include <drm/vgpu_drm.h>

#include "internal.h"

/**
 * struct vgpu_node_bo - a buffer object
 * @at:     where it begins: an offset in the framebuffer or, in memory of the program, an address
 *          for channels without an address space
 * @bytes:  its length, whole pages
 * @handle: for the driver
 */
struct vgpu_node_bo {
	uint64_t at;
	uint64_t bytes;
	uint32_t handle;
};

/**
 * struct vgpu_node_list - buffer objects of one kind, by &struct vgpu_node_bo.at
 * @bo:   these
 * @nr:   how many
 * @room: elements of @bo
 */
struct vgpu_node_list {
	struct vgpu_node_bo *bo;
	size_t nr;
	size_t room;
};

/**
 * struct vgpu_node - a device that a render node stands for
 * @fd:     the node
 * @fb:     framebuffer
 * @buf:    memory of the program
 * @vm:     VM of the channels without an address space, which has all of @fb and @buf; 0: there was
 *          no such channel yet
 * @va_buf: first address that @buf has in it
 * @va_end: first address that no VM has for programs
 */
struct vgpu_node {
	int fd;
	struct vgpu_node_list fb;
	struct vgpu_node_list buf;
	uint32_t vm;
	uint64_t va_buf;
	uint64_t va_end;
};

extern const struct vgpu_mem_ops vgpu_node_mem;
extern const struct vgpu_space_ops vgpu_node_space;
extern const struct vgpu_chan_ops vgpu_node_chan;

/* Calls the driver. Returns 0 or a negative errno, and sets no text. */
int vgpu_node_ioctl(struct vgpu_dev *dev, unsigned long request, void *arg);

/* The text of what vgpu_node_ioctl() has returned for what is called @what. Returns @error. */
int vgpu_node_fail(struct vgpu_dev *dev, int error, const char *what);

/* Both of it. */
int vgpu_node_call(struct vgpu_dev *dev, unsigned long request, void *arg, const char *what);

/* Checks an id or a handle that the driver has given: it is never 0. */
int vgpu_node_check_id(struct vgpu_dev *dev, uint32_t id, const char *what);

/* Asks the driver what the device is. */
int vgpu_node_query(struct vgpu_dev *dev, struct drm_vgpu_dev_info *info);

/* Frees what it knows of buffer objects; the node's end frees these themselves. */
void vgpu_node_mem_free(struct vgpu_node *node);

/* Index of the first buffer object that ends behind @at. */
size_t vgpu_node_list_index(const struct vgpu_node_list *list, uint64_t at);

/* Makes sure that one more has room: what comes after that cannot fail. */
int vgpu_node_list_reserve(struct vgpu_dev *dev, struct vgpu_node_list *list);
void vgpu_node_list_insert(struct vgpu_node_list *list, const struct vgpu_node_bo *bo);

/* The buffer object that has the byte there, or NULL. */
const struct vgpu_node_bo *vgpu_node_find(const struct vgpu_node_list *list, uint64_t at);

/* Gives a buffer object its place in the VM of channels without an address space, if it exists. */
int vgpu_node_flat_map(struct vgpu_dev *dev, const struct vgpu_node_bo *bo, bool is_fb);

/* Takes that away. If it fails, what is mapped there next replaces it. */
void vgpu_node_flat_unmap(struct vgpu_dev *dev, uint64_t at, uint64_t bytes, bool is_fb);

/* Makes that VM, unless it exists, with all that there is. */
int vgpu_node_flat_vm(struct vgpu_dev *dev);

/*
 * The address in that VM of what a packet names by an offset in the framebuffer or, with @sys, by a
 * buffer's address; and what the packet has named.
 */
uint64_t vgpu_node_flat_address(const struct vgpu_dev *dev, uint64_t at, bool sys);
uint64_t vgpu_node_flat_place(const struct vgpu_dev *dev, uint64_t va);

#endif /* LIBVGPU_NODE_H */
