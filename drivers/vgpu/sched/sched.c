// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU's scheduler: its timelines, and the thread that looks after them.
 *
 * The thread runs when it is kicked and when the earliest timeline has
 * something due. Kicks are never lost: a kick sets sched->kicked after the
 * state it is about, then wakes the thread; the thread goes to sleep only if
 * it finds the flag clear after it has announced that, and clears the flag
 * before it looks at the timelines.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../core/compat.h"
#include "timeline.h"

/**
 * struct vgpu_sched - a GPU's scheduler
 * @params:       protected by @lock
 * @lock:         serialises changes of @params and their way to the timelines
 * @task:         the thread; a reference is held
 * @timer:        wakes it; armed by it only
 * @kicked:       there is something to look at; set by anybody, cleared by @task
 * @nr_timelines: constant
 * @timeline:     one for each engine
 */
struct vgpu_sched {
	struct vgpu_sched_params params;
	struct mutex lock;	/* params */
	struct task_struct *task;
	struct hrtimer timer;
	int kicked;
	unsigned int nr_timelines;
	struct vgpu_timeline timeline[] __counted_by(nr_timelines);
};

/**
 * vgpu_sched_kick() - have the thread look at all timelines
 * @sched: whose
 *
 * Context: any, also under a timeline's lock.
 */
void vgpu_sched_kick(struct vgpu_sched *sched)
{
	/* After what there is to see; pairs with the xchg() in sched_thread(). */
	smp_store_release(&sched->kicked, 1);
	wake_up_process(sched->task);
}

static enum hrtimer_restart sched_timer(struct hrtimer *timer)
{
	vgpu_sched_kick(container_of(timer, struct vgpu_sched, timer));
	return HRTIMER_NORESTART;
}

static int sched_thread(void *data)
{
	struct vgpu_sched *sched = data;
	unsigned int i;
	u64 due_ns;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!xchg(&sched->kicked, 0)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);

		due_ns = U64_MAX;
		for (i = 0; i < sched->nr_timelines; i++)
			due_ns = min(due_ns, vgpu_timeline_service(&sched->timeline[i]));
		if (due_ns < KTIME_MAX)
			hrtimer_start(&sched->timer, ns_to_ktime(due_ns),
				      HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static bool sched_slice_valid(u64 slice_ns)
{
	return slice_ns >= VGPU_SLICE_MIN_NS && slice_ns <= VGPU_SLICE_MAX_NS;
}

static void sched_free(struct vgpu_sched *sched, unsigned int nr_timelines)
{
	while (nr_timelines--)
		vgpu_timeline_fini(&sched->timeline[nr_timelines]);
	mutex_destroy(&sched->lock);
	kfree(sched);
}

/**
 * vgpu_sched_create() - start a GPU's scheduler
 * @name:         the GPU's, for the thread's name
 * @nr_timelines: engines, at least 1
 * @ops:          what the timelines ask of them
 * @ops_data:     for vgpu_timeline_data()
 * @params:       settings
 *
 * Context: process; sleeps.
 * Return: it, or an ERR_PTR: -EINVAL for settings that cannot be, -ENOMEM, or
 * why there is no thread.
 */
struct vgpu_sched *vgpu_sched_create(const char *name, unsigned int nr_timelines,
				     const struct vgpu_timeline_ops *ops,
				     void *ops_data,
				     const struct vgpu_sched_params *params)
{
	struct vgpu_sched *sched;
	struct task_struct *task;
	unsigned int i;
	int ret;

	if (!nr_timelines || !params->policy || !params->preempt_timeout_us ||
	    !sched_slice_valid(params->slice_ns))
		return ERR_PTR(-EINVAL);

	sched = kzalloc(struct_size(sched, timeline, nr_timelines), GFP_KERNEL);
	if (!sched)
		return ERR_PTR(-ENOMEM);
	sched->nr_timelines = nr_timelines;
	sched->params = *params;
	mutex_init(&sched->lock);
	hrtimer_setup(&sched->timer, sched_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	for (i = 0; i < nr_timelines; i++) {
		ret = vgpu_timeline_init(&sched->timeline[i], sched, i, ops,
					 ops_data, params);
		if (ret)
			goto err_free;
	}

	task = kthread_create(sched_thread, sched, "vgpu/%s", name);
	if (IS_ERR(task)) {
		ret = PTR_ERR(task);
		goto err_free;
	}
	sched->task = get_task_struct(task);
	sched_set_fifo_low(task);
	wake_up_process(task);
	return sched;

err_free:
	sched_free(sched, i);
	return ERR_PTR(ret);
}

/**
 * vgpu_sched_destroy() - end a GPU's scheduler
 * @sched: all entities have left
 *
 * No op is called after.
 *
 * Context: process; sleeps.
 */
void vgpu_sched_destroy(struct vgpu_sched *sched)
{
	/* The thread arms the timer, the timer wakes the thread. */
	kthread_stop(sched->task);
	hrtimer_cancel(&sched->timer);
	put_task_struct(sched->task);
	sched_free(sched, sched->nr_timelines);
}

/**
 * vgpu_sched_timeline() - an engine's timeline
 * @sched: of the GPU
 * @index: the engine's, valid
 *
 * Context: any.
 * Return: it; as long as @sched lives.
 */
struct vgpu_timeline *vgpu_sched_timeline(struct vgpu_sched *sched,
					  unsigned int index)
{
	return &sched->timeline[index];
}

/**
 * vgpu_sched_params_get() - read the settings
 * @sched:  whose
 * @params: set to them
 *
 * Context: process; sleeps.
 */
void vgpu_sched_params_get(struct vgpu_sched *sched,
			   struct vgpu_sched_params *params)
{
	mutex_lock(&sched->lock);
	*params = sched->params;
	mutex_unlock(&sched->lock);
}

/**
 * vgpu_sched_set_slice() - change the slice of all timelines
 * @sched:    whose
 * @slice_ns: VGPU_SLICE_MIN_NS .. VGPU_SLICE_MAX_NS
 *
 * What runs keeps its deadline; each next run has the new slice.
 *
 * Context: process; sleeps.
 * Return: 0, or -EINVAL and nothing has changed.
 */
int vgpu_sched_set_slice(struct vgpu_sched *sched, u64 slice_ns)
{
	unsigned int i;

	if (!sched_slice_valid(slice_ns))
		return -EINVAL;
	mutex_lock(&sched->lock);
	sched->params.slice_ns = slice_ns;
	for (i = 0; i < sched->nr_timelines; i++)
		vgpu_timeline_set_slice(&sched->timeline[i], slice_ns);
	mutex_unlock(&sched->lock);
	return 0;
}
