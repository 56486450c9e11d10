// SPDX-License-Identifier: GPL-2.0
/*
 * Shares and frame rate limits of a GPU's instances. They belong to the
 * instance: they survive close, reopen and reset, and hold under every policy.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "core.h"

/**
 * vgpu_shares_join() - a new instance takes its default share
 * @instance: placed, and not yet on its GPU's list; the GPU's lock is held
 * @why: if it does not fit: text for the user
 * @size: of @why
 *
 * Return: 0, to be undone by vgpu_shares_leave(), or -ENOSPC.
 */
int vgpu_shares_join(struct vgpu_instance *instance, char *why, size_t size)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_share *share = &instance->share;
	int ret;

	lockdep_assert_held(&gpu->lock);
	vgpu_share_default(share, instance->info.fb_start >> 30, instance->type->size_gb,
			   gpu->placement.region_gb);
	ret = vgpu_share_admit(gpu->guarantee_sum, share->guarantee, why, size);
	if (!ret)
		gpu->guarantee_sum += share->guarantee;
	return ret;
}

/**
 * vgpu_shares_leave() - an instance gives its share back
 * @instance: not on its GPU's list any more; the GPU's lock is held
 */
void vgpu_shares_leave(struct vgpu_instance *instance)
{
	lockdep_assert_held(&instance->gpu->lock);
	instance->gpu->guarantee_sum -= instance->share.guarantee;
}

static u32 vgpu_shares_fps(struct vgpu_instance *instance)
{
	struct vgpu_sched_params params;

	vgpu_sched_params_get(instance->gpu->sched, &params);
	return vgpu_share_frl(params.policy->frl, instance->frl_config,
			      instance->type->frl_fps);
}

/**
 * vgpu_shares_init_frl() - the frame rate limit of a new instance
 * @instance: about to be put on its GPU's list; the GPU's lock is held
 */
void vgpu_shares_init_frl(struct vgpu_instance *instance)
{
	lockdep_assert_held(&instance->gpu->lock);
	instance->frl_config = VGPU_FRL_DEFAULT;
	vgpu_frl_set(&instance->frl, vgpu_shares_fps(instance));
}

/* A frame that is held back already is shown when it was to be. */
static void vgpu_shares_update_frl(struct vgpu_instance *instance)
{
	u32 fps = vgpu_shares_fps(instance);

	lockdep_assert_held(&instance->gpu->lock);
	spin_lock(&instance->frl_lock);
	if (fps != instance->frl.fps)
		vgpu_frl_set(&instance->frl, fps);
	spin_unlock(&instance->frl_lock);
}

/**
 * vgpu_shares_policy_changed() - the GPU's policy may be another one
 * @gpu: its lock is held
 *
 * It is the policy that says which frame rate limits are in force.
 */
void vgpu_shares_policy_changed(struct vgpu_gpu *gpu)
{
	struct vgpu_instance *instance;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(instance, &gpu->instances, link)
		vgpu_shares_update_frl(instance);
}

/**
 * vgpu_shares_get() - what an instance is to get
 * @instance: not gone
 * @out: set, but for @valid
 * @fps: set to the frame rate limit in force
 *
 * Sleeps.
 */
void vgpu_shares_get(struct vgpu_instance *instance, struct vgpu_ctl_share *out,
		     u32 *fps)
{
	memset(out, 0, sizeof(*out));
	vgpu_uuid_export(out->uuid, &instance->uuid);
	mutex_lock(&instance->gpu->lock);
	out->guarantee = instance->share.guarantee;
	out->cap = instance->share.cap;
	out->weight = instance->share.weight;
	out->frl = instance->frl_config;
	*fps = instance->frl.fps;
	mutex_unlock(&instance->gpu->lock);
}

/**
 * struct vgpu_share_plan - what one instance is to get after a call
 * @instance: which
 * @share: then
 * @frl_config: then
 */
struct vgpu_share_plan {
	struct vgpu_instance *instance;
	struct vgpu_share share;
	u32 frl_config;
};

static struct vgpu_instance *vgpu_shares_find(struct vgpu_gpu *gpu,
					      const u8 *uuid)
{
	struct vgpu_instance *instance;
	guid_t guid;

	vgpu_uuid_import(&guid, uuid);
	list_for_each_entry(instance, &gpu->instances, link)
		if (guid_equal(&instance->uuid, &guid))
			return instance;
	return NULL;
}

static int vgpu_shares_plan_one(struct vgpu_gpu *gpu,
				const struct vgpu_ctl_share *entry,
				struct vgpu_share_plan *plan, unsigned int i,
				char *why, size_t size)
{
	struct vgpu_instance *instance = vgpu_shares_find(gpu, entry->uuid);
	unsigned int k;

	if (!instance)
		return -ENODEV;
	for (k = 0; k < i; k++) {
		if (plan[k].instance == instance) {
			snprintf(why, size, "is named twice");
			return -EINVAL;
		}
	}
	plan[i].instance = instance;
	plan[i].share = instance->share;
	plan[i].frl_config = instance->frl_config;
	return vgpu_share_change(&plan[i].share, &plan[i].frl_config, entry,
				 why, size);
}

/* Sets @plan and @sum, or says by @culprit and @why what does not go. */
static int vgpu_shares_plan(struct vgpu_gpu *gpu,
			    const struct vgpu_ctl_share *entries,
			    unsigned int nr, struct vgpu_share_plan *plan,
			    u32 *sum, unsigned int *culprit, char *why,
			    size_t size)
{
	unsigned int i, raises = 0;
	int most = 0, ret;

	lockdep_assert_held(&gpu->lock);
	*sum = gpu->guarantee_sum;
	for (i = 0; i < nr; i++) {
		u32 before, after;

		*culprit = i;
		ret = vgpu_shares_plan_one(gpu, &entries[i], plan, i, why,
					   size);
		if (ret)
			return ret;
		before = plan[i].instance->share.guarantee;
		after = plan[i].share.guarantee;
		*sum = *sum - before + after;
		if ((int)(after - before) > most) {
			most = after - before;
			raises = i;
		}
	}
	/* Only who raises can be too much: who does it most is named. */
	*culprit = raises;
	return vgpu_share_admit(*sum - plan[raises].share.guarantee,
				plan[raises].share.guarantee, why, size);
}

static void vgpu_shares_apply(struct vgpu_share_plan *plan)
{
	struct vgpu_instance *instance = plan->instance;
	struct vgpu_share *share = &instance->share;
	unsigned int i;

	if (plan->share.guarantee != share->guarantee ||
	    plan->share.cap != share->cap ||
	    plan->share.weight != share->weight) {
		*share = plan->share;
		for (i = 0; i < instance->gpu->info.nr_engines; i++)
			vgpu_entity_set_share(&instance->entity[i], share);
	}
	instance->frl_config = plan->frl_config;
	vgpu_shares_update_frl(instance);
}

/* Who gives comes before who takes: an engine never has to give more than all. */
static void vgpu_shares_apply_all(struct vgpu_share_plan *plan, unsigned int nr)
{
	unsigned int i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < nr; i++) {
			struct vgpu_instance *instance = plan[i].instance;

			if (!instance || (!pass && plan[i].share.guarantee >
						   instance->share.guarantee))
				continue;
			vgpu_shares_apply(&plan[i]);
			plan[i].instance = NULL;
		}
	}
}

static int vgpu_shares_missing(const struct vgpu_gpu *gpu, const u8 *uuid,
			       char *why, size_t size)
{
	struct vgpu_instance *instance;
	int ret = -ENODEV;
	guid_t guid;

	vgpu_uuid_import(&guid, uuid);
	instance = vgpu_instance_find(&guid);
	if (instance && instance->gpu != gpu) {
		snprintf(why, size, "is a vGPU of %s, not of %s",
			 instance->gpu->name, gpu->name);
		ret = -EXDEV;
	} else {
		snprintf(why, size, "no such vGPU");
	}
	if (instance)
		vgpu_instance_put(instance);
	return ret;
}

/**
 * vgpu_shares_set() - change shares of one GPU's instances, all or none
 * @entries: what to change
 * @nr: how many, at least 1
 * @culprit: on failure set to the index of the entry that @why is about
 * @why: text for the user, on failure
 * @size: of @why
 *
 * Sleeps. Holds no locks of the caller's GPUs.
 *
 * Return: 0; -ENODEV, -EXDEV, -EINVAL, -ENOSPC or -ENOMEM, and nothing has
 * changed.
 */
int vgpu_shares_set(const struct vgpu_ctl_share *entries, unsigned int nr,
		    unsigned int *culprit, char *why, size_t size)
{
	struct vgpu_share_plan *plan;
	struct vgpu_instance *first;
	struct vgpu_gpu *gpu;
	unsigned int i;
	guid_t guid;
	u32 sum;
	int ret;

	*culprit = 0;
	vgpu_uuid_import(&guid, entries[0].uuid);
	first = vgpu_instance_find(&guid);
	if (!first) {
		snprintf(why, size, "no such vGPU");
		return -ENODEV;
	}
	gpu = first->gpu;

	plan = kvcalloc(nr, sizeof(*plan), GFP_KERNEL);
	if (!plan) {
		snprintf(why, size, "no memory");
		ret = -ENOMEM;
		goto out_put;
	}
	mutex_lock(&gpu->lock);
	ret = vgpu_shares_plan(gpu, entries, nr, plan, &sum, culprit, why,
			       size);
	if (!ret) {
		/* They forget whose they are when they are applied. */
		for (i = 0; i < nr; i++)
			vgpu_instance_event(plan[i].instance, VGPU_EVENT_SHARE,
					    entries[i].valid, 0, 0);
		vgpu_shares_apply_all(plan, nr);
		gpu->guarantee_sum = sum;
	}
	mutex_unlock(&gpu->lock);
	kvfree(plan);

	if (ret == -ENODEV)
		ret = vgpu_shares_missing(gpu, entries[*culprit].uuid, why,
					  size);
out_put:
	vgpu_instance_put(first);
	return ret;
}

/**
 * vgpu_present() - whether a frame may be shown now
 * @instance: whose
 *
 * Does not sleep.
 *
 * Return: 0, and the frame counts; or when to ask again, CLOCK_MONOTONIC ns.
 */
u64 vgpu_present(struct vgpu_instance *instance)
{
	u64 due_ns;

	spin_lock(&instance->frl_lock);
	due_ns = vgpu_frl_present(&instance->frl, ktime_get_ns());
	spin_unlock(&instance->frl_lock);
	return due_ns;
}
EXPORT_SYMBOL_GPL(vgpu_present);
