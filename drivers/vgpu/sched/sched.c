// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU's scheduler: its timelines, the thread that serves them, and their common settings.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "timeline.h"

/**
 * struct vgpu_sched - a GPU's scheduler
 * @name:         the GPU's name; constant
 * @params:       the settings; protected by @lock
 * @lock:         serialises changes of @params and their way to the timelines
 * @thread:       serves all timelines
 * @nr_timelines: length of @timeline; constant
 * @timeline:     one for each engine of the GPU
 */
struct vgpu_sched {
	char name[VGPU_ADDR_LEN];
	struct vgpu_sched_params params;
	struct mutex lock;	/* params */
	struct vgpu_sched_thread thread;
	unsigned int nr_timelines;
	struct vgpu_timeline timeline[] __counted_by(nr_timelines);
};

/* The thread's part: see vgpu_sched_thread_init(). */
static u64 sched_look(void *data)
{
	struct vgpu_sched *sched = data;
	u64 due_ns = U64_MAX;
	unsigned int i;

	for (i = 0; i < sched->nr_timelines; i++)
		due_ns = min(due_ns, vgpu_timeline_service(&sched->timeline[i]));
	return due_ns;
}

#define SCHED_TIME_LEN	32

/* Writes a time as "10 ms" or, if that is not exact, as "1041667 ns". */
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
 * vgpu_sched_params_check() - check settings
 * @params: settings
 * @why:    on failure set to the reason
 * @size:   bytes of @why, may be 0
 *
 * Context: any.
 * Return: 0; -ERANGE for a value outside its limits, -EINVAL for one that contradicts another.
 */
int vgpu_sched_params_check(const struct vgpu_sched_params *params, char *why, size_t size)
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
	if (params->slice_ns < VGPU_SLICE_MIN_NS || params->slice_ns > VGPU_SLICE_MAX_NS) {
		scnprintf(why, size, "slice %s: %llu .. %llu ms", slice,
			  div_u64(VGPU_SLICE_MIN_NS, NSEC_PER_MSEC),
			  div_u64(VGPU_SLICE_MAX_NS, NSEC_PER_MSEC));
		return -ERANGE;
	}
	if (params->window_ns < VGPU_WINDOW_MIN_NS || params->window_ns > VGPU_WINDOW_MAX_NS) {
		scnprintf(why, size, "window %s: %llu .. %llu ms", window,
			  div_u64(VGPU_WINDOW_MIN_NS, NSEC_PER_MSEC),
			  div_u64(VGPU_WINDOW_MAX_NS, NSEC_PER_MSEC));
		return -ERANGE;
	}
	if (params->window_ns < VGPU_WINDOW_SLICES * params->slice_ns) {
		scnprintf(why, size, "window %s: at least %u slices, %s at a slice of %s",
			  window, VGPU_WINDOW_SLICES,
			  sched_time(least, VGPU_WINDOW_SLICES * params->slice_ns), slice);
		return -EINVAL;
	}
	if (params->preempt_timeout_us < VGPU_PREEMPT_TIMEOUT_MIN_US ||
	    params->preempt_timeout_us > VGPU_PREEMPT_TIMEOUT_MAX_US) {
		scnprintf(why, size, "preemption timeout %u us: %u .. %u us",
			  params->preempt_timeout_us, VGPU_PREEMPT_TIMEOUT_MIN_US,
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
	mutex_destroy(&sched->lock);
	kvfree(sched);
}

/**
 * vgpu_sched_create() - start a GPU's scheduler
 * @name:         the GPU's name, copied
 * @nr_timelines: number of engines, at least 1
 * @ops:          the timelines' calls to the engines; they live as long as the scheduler
 * @ops_data:     for vgpu_timeline_data()
 * @clock:        the engines' clock, copied; NULL: CLOCK_MONOTONIC
 * @params:       settings, copied
 *
 * Context: process; sleeps.
 * Return: the scheduler, or an ERR_PTR: -EINVAL or -ERANGE for invalid settings, -ENOMEM, or the
 * error of starting the thread.
 */
struct vgpu_sched *vgpu_sched_create(const char *name, unsigned int nr_timelines,
				     const struct vgpu_timeline_ops *ops, void *ops_data,
				     const struct vgpu_clock *clock,
				     const struct vgpu_sched_params *params)
{
	struct vgpu_sched *sched;
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

	ret = vgpu_sched_thread_init(&sched->thread, name, sched_look, sched);
	if (ret)
		goto err_sched;
	for (i = 0; i < nr_timelines; i++) {
		ret = vgpu_timeline_init(&sched->timeline[i], &sched->thread, sched->name, i, ops,
					 ops_data, clock, params);
		if (ret)
			goto err_free;
	}
	ret = vgpu_sched_thread_start(&sched->thread, name);
	if (ret)
		goto err_free;
	return sched;

err_free:
	vgpu_sched_thread_exit(&sched->thread);
	sched_free(sched, i);
	return ERR_PTR(ret);

err_sched:
	mutex_destroy(&sched->lock);
	kvfree(sched);
	return ERR_PTR(ret);
}

/**
 * vgpu_sched_stop() - stop a scheduler
 * @sched: a scheduler without entities
 *
 * Afterwards no op of struct vgpu_timeline_ops is called. Statistics and logs can still be read,
 * also those of entities that have left; settings must not change any more.
 *
 * Context: process; sleeps.
 */
void vgpu_sched_stop(struct vgpu_sched *sched)
{
	unsigned int i;

	vgpu_sched_thread_stop(&sched->thread);
	for (i = 0; i < sched->nr_timelines; i++)
		vgpu_timeline_stop(&sched->timeline[i]);
	vgpu_sched_thread_exit(&sched->thread);
}

/**
 * vgpu_sched_free() - free a scheduler
 * @sched: stopped
 *
 * Context: process; waits for nothing.
 */
void vgpu_sched_free(struct vgpu_sched *sched)
{
	sched_free(sched, sched->nr_timelines);
}

/**
 * vgpu_sched_timeline() - get an engine's timeline
 * @sched: the GPU's scheduler
 * @index: the engine's number, below the number of engines
 *
 * Context: any.
 * Return: the timeline, which lives as long as @sched.
 */
struct vgpu_timeline *vgpu_sched_timeline(struct vgpu_sched *sched, unsigned int index)
{
	return &sched->timeline[index];
}

/**
 * vgpu_sched_params_get() - read the settings
 * @sched:  the GPU's scheduler
 * @params: gets the settings
 *
 * Context: process; sleeps.
 */
void vgpu_sched_params_get(struct vgpu_sched *sched, struct vgpu_sched_params *params)
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

/* Does the part of a change of policy that may fail. */
static struct vgpu_rq *sched_prepare(const struct vgpu_sched_params *params, unsigned int nr)
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
 * @sched:  the GPU's scheduler
 * @params: all settings; nr_slots is unchanged
 *
 * Current runs keep their deadlines, but are preempted at once for another policy. No work is lost.
 *
 * Context: process; sleeps.
 * Return: 0; or -EINVAL, -ERANGE (see vgpu_sched_params_check()), -ENOMEM, and nothing has changed.
 */
int vgpu_sched_params_set(struct vgpu_sched *sched, const struct vgpu_sched_params *params)
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
		vgpu_timeline_set_params(&sched->timeline[i], params, next ? &next[i] : NULL);
	if (next)
		sched_release(next, sched->nr_timelines);
out:
	mutex_unlock(&sched->lock);
	return ret;
}
