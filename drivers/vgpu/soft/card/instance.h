/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vGPUs of a software GPU.
 *
 * These threads work on a vGPU: the thread of each engine; threads of the VM (register accesses,
 * page faults); the vGPU's worker, which completes accesses to guest memory; and threads of the
 * core, which start, preempt and reset engines.
 *
 * Each topic's header documents its part.
 *
 * Locks, outermost first. Engines take the spinlocks, which are raw ones: a tenant whom its cgroup
 * stops does not stop with one of them. No function of the core is called under one, and nothing is
 * allocated or freed:
 *
 *   soft_queues.config_lock	writes that enable and disable channels, or invalidate
 *   soft_programs.reading	the worker, while it reads a page of a program's text
 *   soft_store.drop_lock	read: trapped access, worker; write: dropping
 *   soft_queues.queue_lock	raw spinlock: channel states, queues, interrupts
 *   soft_screen.lock		raw spinlock: what the display shows
 *   soft_programs.lock		raw spinlock: decoded programs
 *   soft_compute.kept_lock	raw spinlock: contexts that channels keep, and the worker may take
 *   soft_rss_lock		raw spinlock: in which processes vGPUs are shown (rss.c)
 */
#ifndef _VGPU_SOFT_INSTANCE_H
#define _VGPU_SOFT_INSTANCE_H

#include <linux/vgpu.h>

#include "../face/display.h"
#include "../memory/memory.h"
#include "../queue/queues.h"
#include "../work/work.h"

struct soft_gpu;

/**
 * struct soft_instance - a vGPU of a software GPU
 * @gpu:      the software GPU
 * @info:     the part of the GPU that the vGPU owns, and the memory cgroup that is charged
 * @mem:      its memory
 * @work:     what packet types have of it: programs, contexts, what is shown
 * @display:  its display registers
 * @queues:   channels and queues; ends in an array
 */
struct soft_instance {
	struct soft_gpu *gpu;
	const struct vgpu_instance_info *info;
	struct soft_memory mem;
	struct soft_work work;
	struct soft_display display;
	struct soft_queues queues;
};

/* The core's back-end data is struct soft_queues, by which an engine finds the vGPU of its run. */
static inline struct soft_instance *soft_instance(struct vgpu_instance *vgpu)
{
	return container_of(soft_queues(vgpu), struct soft_instance, queues);
}

/* instance.c */
extern const struct vgpu_gpu_ops soft_instance_ops;

#endif /* _VGPU_SOFT_INSTANCE_H */
