// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU's scheduler: its timelines, and the thread that looks after them.
 *
 * The thread runs when it is kicked and when the earliest timeline has
 * something due. Kicks are never lost: a kick sets sched->kicked after the
 * state it is about, then wakes the thread; the thread goes to sleep only if
 * it finds the flag clear after it has announced that, and clears the flag
 * before it looks at the timelines.
 *
 * It never sleeps for one engine, as the others would have to wait: what does,
 * resets, is done by workers, any number at once.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "timeline.h"

/**
 * struct vgpu_sched - a GPU's scheduler
 * @name:         the GPU's; constant
 * @params:       protected by @lock
 * @lock:         serialises changes of @params and their way to the timelines
 * @task:         the thread; a reference is held
 * @timer:        wakes it; armed by it only
 * @workers:      reset engines
 * @kicked:       there is something to look at; set by anybody, cleared by @task
 * @nr_timelines: constant
 * @timeline:     one for each engine
 */
struct vgpu_sched {
	char name[VGPU_ADDR_LEN];
	struct vgpu_sched_params params;
	struct mutex lock;	/* params */
	struct task_struct *task;
	struct hrtimer timer;
	struct workqueue_struct *workers;
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

/**
 * vgpu_sched_queue() - have something done that sleeps
 * @sched: whose
 * @work:  done before vgpu_sched_destroy() returns
 *
 * Context: any, also under a timeline's lock.
 */
void vgpu_sched_queue(struct vgpu_sched *sched, struct work_struct *work)
{
	queue_work(sched->workers, work);
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

#define SCHED_TIME_LEN	32

/* "10 ms", or "1041667 ns" */
static const char *sched_time(char *text, u64 time_ns)
{
	u32 rest_ns;
	u64 ms = div_u64_rem(time_ns, NSEC_PER_MSEC, &rest_ns);

	if (rest_ns)
		snprintf(text, SCHED_TIME_LEN, "%llu ns", time_ns);
	else
		snprintf(text, SCHED_TIME_LEN, "%llu ms", ms);
	return text;
}

/**
 * vgpu_sched_params_check() - whether settings can be
 * @params: settings
 * @why:    gets a text that says what is wrong, unless that is nothing
 * @size:   of @why, may be 0
 *
 * Context: any.
 * Return: 0; -ERANGE for a value beyond its limits, -EINVAL for one that does
 * not go with another.
 */
int vgpu_sched_params_check(const struct vgpu_sched_params *params, char *why,
			    size_t size)
{
	char window[SCHED_TIME_LEN], least[SCHED_TIME_LEN], slice[SCHED_TIME_LEN];

	sched_time(window, params->window_ns);
	sched_time(slice, params->slice_ns);
	if (!params->policy) {
		scnprintf(why, size, "no such policy");
		return -EINVAL;
	}
	if (!params->nr_slots) {
		scnprintf(why, size, "0 slots: at least 1");
		return -EINVAL;
	}
	if (params->slice_ns < VGPU_SLICE_MIN_NS ||
	    params->slice_ns > VGPU_SLICE_MAX_NS) {
		scnprintf(why, size, "slice %s: %llu .. %llu ms", slice,
			  div_u64(VGPU_SLICE_MIN_NS, NSEC_PER_MSEC),
			  div_u64(VGPU_SLICE_MAX_NS, NSEC_PER_MSEC));
		return -ERANGE;
	}
	if (params->window_ns < VGPU_WINDOW_MIN_NS ||
	    params->window_ns > VGPU_WINDOW_MAX_NS) {
		scnprintf(why, size, "window %s: %llu .. %llu ms", window,
			  div_u64(VGPU_WINDOW_MIN_NS, NSEC_PER_MSEC),
			  div_u64(VGPU_WINDOW_MAX_NS, NSEC_PER_MSEC));
		return -ERANGE;
	}
	if (params->window_ns < VGPU_WINDOW_SLICES * params->slice_ns) {
		scnprintf(why, size,
			  "window %s: at least %u slices, %s at a slice of %s",
			  window, VGPU_WINDOW_SLICES,
			  sched_time(least, VGPU_WINDOW_SLICES *
					    params->slice_ns), slice);
		return -EINVAL;
	}
	if (params->preempt_timeout_us < VGPU_PREEMPT_TIMEOUT_MIN_US ||
	    params->preempt_timeout_us > VGPU_PREEMPT_TIMEOUT_MAX_US) {
		scnprintf(why, size, "preemption timeout %u us: %u .. %u us",
			  params->preempt_timeout_us,
			  VGPU_PREEMPT_TIMEOUT_MIN_US,
			  VGPU_PREEMPT_TIMEOUT_MAX_US);
		return -ERANGE;
	}
	if (params->linger_us > VGPU_LINGER_MAX_US) {
		scnprintf(why, size, "linger %u us: 0 .. %u us",
			  params->linger_us, VGPU_LINGER_MAX_US);
		return -ERANGE;
	}
	return 0;
}

static void sched_free(struct vgpu_sched *sched, unsigned int nr_timelines)
{
	while (nr_timelines--)
		vgpu_timeline_fini(&sched->timeline[nr_timelines]);
	destroy_workqueue(sched->workers);
	mutex_destroy(&sched->lock);
	kvfree(sched);
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
 * Return: it, or an ERR_PTR: -EINVAL or -ERANGE for settings that cannot be,
 * -ENOMEM, or why there is no thread.
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

	if (!nr_timelines)
		return ERR_PTR(-EINVAL);
	ret = vgpu_sched_params_check(params, NULL, 0);
	if (ret)
		return ERR_PTR(ret);

	/* Their logs make timelines large. */
	sched = kvzalloc(struct_size(sched, timeline, nr_timelines), GFP_KERNEL);
	if (!sched)
		return ERR_PTR(-ENOMEM);
	sched->nr_timelines = nr_timelines;
	strscpy(sched->name, name, sizeof(sched->name));
	sched->params = *params;
	mutex_init(&sched->lock);
	hrtimer_setup(&sched->timer, sched_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	/*
	 * Of its own, with a rescuer: closing a device, which gives memory back,
	 * waits for resets, so these must not wait for memory.
	 */
	sched->workers = alloc_workqueue("vgpu/%s", WQ_UNBOUND | WQ_HIGHPRI |
					 WQ_MEM_RECLAIM, 0, name);
	if (!sched->workers) {
		ret = -ENOMEM;
		goto err_sched;
	}

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

err_sched:
	mutex_destroy(&sched->lock);
	kvfree(sched);
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
	/*
	 * Who was reset last has left, but the worker may not have said so to the
	 * thread yet. The thread arms the timer, the timer wakes the thread.
	 */
	flush_workqueue(sched->workers);
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

static void sched_release(struct vgpu_rq *next, unsigned int nr)
{
	while (nr--)
		vgpu_timeline_release(&next[nr]);
	kfree(next);
}

/* All that may fail of a change of policy. */
static struct vgpu_rq *sched_prepare(const struct vgpu_sched_params *params,
				     unsigned int nr)
{
	struct vgpu_rq *next;
	unsigned int i;
	int ret;

	next = kcalloc(nr, sizeof(*next), GFP_KERNEL);
	if (!next)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < nr; i++) {
		ret = vgpu_timeline_prepare(&next[i], params);
		if (ret) {
			sched_release(next, i);
			return ERR_PTR(ret);
		}
	}
	return next;
}

/**
 * vgpu_sched_params_set() - change the settings of all timelines
 * @sched:  whose
 * @params: all of them; nr_slots as it is
 *
 * What runs keeps its deadline, but makes way for another policy at once. No
 * work is lost.
 *
 * Context: process; sleeps.
 * Return: 0; or -EINVAL, -ERANGE (see vgpu_sched_params_check()), -ENOMEM, and
 * nothing has changed.
 */
int vgpu_sched_params_set(struct vgpu_sched *sched,
			  const struct vgpu_sched_params *params)
{
	struct vgpu_rq *next = NULL;
	unsigned int i;
	int ret;

	ret = vgpu_sched_params_check(params, NULL, 0);
	if (ret)
		return ret;

	mutex_lock(&sched->lock);
	if (params->nr_slots != sched->params.nr_slots) {
		ret = -EINVAL;
		goto out;
	}
	if (params->policy != sched->params.policy) {
		next = sched_prepare(params, sched->nr_timelines);
		if (IS_ERR(next)) {
			ret = PTR_ERR(next);
			goto out;
		}
	}
	sched->params = *params;
	for (i = 0; i < sched->nr_timelines; i++)
		vgpu_timeline_set_params(&sched->timeline[i], params,
					 next ? &next[i] : NULL);
	if (next)
		sched_release(next, sched->nr_timelines);
out:
	mutex_unlock(&sched->lock);
	return ret;
}

/**
 * vgpu_sched_name() - whose scheduler
 * @sched: it
 *
 * Context: any.
 * Return: the GPU's name.
 */
const char *vgpu_sched_name(const struct vgpu_sched *sched)
{
	return sched->name;
}
