/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel with a render node of vgpu_guest, under ioctl() and mmap() of the program. It executes
 * what it is given, on memory that the program maps, and does not put up with a call that breaks
 * the rules of <drm/vgpu_drm.h>: the test fails. One node is open at a time.
 */
#ifndef NODE_KERNEL_H
#define NODE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/drm.h>
#include <drm/vgpu_drm.h>

#include "libvgpu/libvgpu.h"

#define PAGE		VGPU_HW_PAGE_SIZE
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)
#define NODE_FB_BYTES	(1u << 20)
#define NODE_CHANNELS	3
#define NODE_MMAP	0	/* instead of a request: mmap() */

/**
 * struct node_kernel - what a test asks of the kernel, and what it finds
 * @hangs:     no packet is executed
 * @step:      packets that a wait executes at most; 0: all
 * @admin:     the program has CAP_SYS_ADMIN
 * @gone:      the device is
 * @fb_others: bytes of framebuffer that others have
 * @bo_flags:  flags of BO_CREATE that it knows
 * @fail:      the request that fails (NODE_MMAP: mmap())
 * @after:     that many times it does not fail before
 * @error:     with this error; 0: none fails
 * @signals:   calls that are interrupted by a signal before one is not
 * @lie:       changes what a call has returned; NULL: the truth
 * @elf:       the program that can be dispatched
 *
 * What there is:
 * @open:     files of the node
 * @bos:      handles of buffers
 * @fb_used:  bytes of framebuffer in buffers, those that only a mapping keeps included
 * @vms:      VMs
 * @queues:   queues
 * @syncobjs: syncobjs
 * @execs:    calls of EXEC that were taken
 * @binds:    operations of VM_BIND that were done
 * @waits:    calls of SYNCOBJ_TIMELINE_WAIT
 */
struct node_kernel {
	bool hangs;
	unsigned int step;
	bool admin;
	bool gone;
	uint64_t fb_others;
	uint32_t bo_flags;
	unsigned long fail;
	unsigned int after;
	int error;
	unsigned int signals;
	void (*lie)(unsigned long request, void *arg);
	const struct vgpu_elf *elf;
	unsigned int open;
	unsigned int bos;
	uint64_t fb_used;
	unsigned int vms;
	unsigned int queues;
	unsigned int syncobjs;
	unsigned int execs;
	unsigned int binds;
	unsigned int waits;
};

extern struct node_kernel node_kernel;

/* The fault of the next packet that a queue executes: nothing that a page table could tell. */
extern struct vgpu_fault node_next_fault;

/* Loses all queues: what state they have from then on. */
void node_lose(enum drm_vgpu_queue_state state);

/*
 * Makes a place for files that /dev/dri and /sys are to have, and takes it away. A node's file has
 * the name of its driver in it.
 */
int node_world_make(void);
void node_world_drop(void);
void node_world_put(const char *path, const char *text);
void node_world_link(const char *path, const char *to);
void node_world_remove(const char *path);

#endif /* NODE_KERNEL_H */
