/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GPU's scheduler thread: sleeps until it is kicked or something is due, then looks at the GPU's
 * timelines.
 */
#ifndef _VGPU_SCHED_THREAD_H
#define _VGPU_SCHED_THREAD_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct task_struct;
struct work_struct;
struct workqueue_struct;

/**
 * struct vgpu_sched_thread - a GPU's scheduler thread, and its workers
 * @look:    the thread calls it to do what is due. Returns when to call it again without a kick, ns
 *           of CLOCK_MONOTONIC; U64_MAX: never
 * @data:    for @look
 * @task:    the thread, with a reference
 * @timer:   kicks the thread when @look is due again; armed by the thread
 * @workers: do the work that sleeps: engine resets
 * @kicked:  the thread must call @look. Set by vgpu_sched_kick(), cleared by the thread before it
 *           calls @look
 *
 * @look, @data, @task and @workers are constant while the thread runs.
 */
struct vgpu_sched_thread {
	u64 (*look)(void *data);
	void *data;
	struct task_struct *task;
	struct hrtimer timer;
	struct workqueue_struct *workers;
	int kicked;
};

int vgpu_sched_thread_init(struct vgpu_sched_thread *thread, const char *name,
			   u64 (*look)(void *data), void *data);
int vgpu_sched_thread_start(struct vgpu_sched_thread *thread, const char *name);
void vgpu_sched_thread_stop(struct vgpu_sched_thread *thread);
void vgpu_sched_thread_exit(struct vgpu_sched_thread *thread);
void vgpu_sched_kick(struct vgpu_sched_thread *thread);
void vgpu_sched_queue(struct vgpu_sched_thread *thread, struct work_struct *work);

#endif /* _VGPU_SCHED_THREAD_H */
