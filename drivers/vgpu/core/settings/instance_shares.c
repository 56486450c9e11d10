// SPDX-License-Identifier: GPL-2.0
/*
 * Applies the settings of a GPU's instances. Settings belong to the instance: they survive close,
 * reopen and reset, and are kept under every policy.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../core.h"

static void vgpu_shares_set_sum(struct vgpu_partition *part, u32 sum)
{
	lockdep_assert_held(&part->gpu->lock);
	raw_spin_lock(&part->gpu->data_lock);
	part->guarantee_sum = sum;
	raw_spin_unlock(&part->gpu->data_lock);
}

/* As vgpu_share_admit(). The reason names the partition that the others are in, unless it is 0. */
static int vgpu_shares_admit(const struct vgpu_partition *part, u32 others, u32 guarantee,
			     char *why, size_t size)
{
	char text[VGPU_TEXT_LEN], name[VGPU_ADDR_LEN];
	int ret = vgpu_share_admit(others, guarantee, text, sizeof(text));

	if (ret && part->id)
		scnprintf(why, size, "%s: %s", vgpu_partition_name(part, name, sizeof(name)), text);
	else if (ret)
		strscpy(why, text, size);
	return ret;
}

/**
 * vgpu_shares_join() - give a new instance its default settings
 * @instance: placed, and not yet on its GPU's list; the GPU's lock is held
 * @why: set to the reason of a refusal, for the user
 * @size: bytes of @why
 *
 * Return: 0, which vgpu_shares_leave() undoes, or -ENOSPC if the guarantee does not fit.
 */
int vgpu_shares_join(struct vgpu_instance *instance, char *why, size_t size)
{
	struct vgpu_ctl_share *settings = &instance->settings;
	struct vgpu_partition *part = instance->part;
	struct vgpu_gpu *gpu = instance->gpu;
	int ret;

	lockdep_assert_held(&gpu->lock);
	vgpu_share_default(settings, instance->type->size_gb, part->placement.region_gb);
	settings->vga = instance->type->vga && gpu->ops->scanout;
	ret = vgpu_shares_admit(part, part->guarantee_sum, settings->guarantee, why, size);
	if (!ret)
		vgpu_shares_set_sum(part, part->guarantee_sum + settings->guarantee);
	return ret;
}

/**
 * vgpu_shares_leave() - return an instance's guarantee to its partition
 * @instance: not on its GPU's list any more; the GPU's lock is held
 */
void vgpu_shares_leave(struct vgpu_instance *instance)
{
	struct vgpu_partition *part = instance->part;

	vgpu_shares_set_sum(part, part->guarantee_sum - instance->settings.guarantee);
}

/**
 * vgpu_shares_update_frl() - update the frame-rate limit in force
 * @instance: its settings or its partition's policy have changed, or it is new; its GPU's lock is
 *            held
 *
 * The policy decides which limits are in force. A frame that is already waiting is shown when it
 * was due under the old limit.
 */
void vgpu_shares_update_frl(struct vgpu_instance *instance)
{
	struct vgpu_sched_params params;
	u32 fps;

	lockdep_assert_held(&instance->gpu->lock);
	vgpu_sched_params_get(instance->part->sched, &params);
	fps = vgpu_share_frl(params.policy->frl, instance->settings.frl, instance->type->frl_fps);
	raw_spin_lock(&instance->frl_lock);
	if (fps != instance->frl.fps)
		vgpu_frl_set(&instance->frl, fps);
	raw_spin_unlock(&instance->frl_lock);
}

/* Returns the frame-rate limit in force, in frames per s; 0: none. Does not sleep. */
u32 vgpu_shares_frl(struct vgpu_instance *instance)
{
	u32 fps;

	raw_spin_lock(&instance->frl_lock);
	fps = instance->frl.fps;
	raw_spin_unlock(&instance->frl_lock);
	return fps;
}

/**
 * vgpu_shares_get() - read an instance's settings
 * @instance: the instance, whose settings may change at any time
 * @settings: set to a copy
 *
 * Context: does not sleep.
 */
void vgpu_shares_get(struct vgpu_instance *instance, struct vgpu_ctl_share *settings)
{
	raw_spin_lock(&instance->gpu->data_lock);
	*settings = instance->settings;
	raw_spin_unlock(&instance->gpu->data_lock);
}

/**
 * struct vgpu_share_plan - the settings of one instance after a call
 * @instance: on its GPU's list; NULL once the settings are in force
 * @settings: all settings of the instance
 */
struct vgpu_share_plan {
	struct vgpu_instance *instance;
	struct vgpu_ctl_share settings;
};

static struct vgpu_instance *vgpu_shares_find(struct vgpu_gpu *gpu, const u8 *uuid)
{
	struct vgpu_instance *instance;
	guid_t guid;

	vgpu_uuid_import(&guid, uuid);
	list_for_each_entry(instance, &gpu->instances, link)
		if (guid_equal(&instance->uuid, &guid))
			return instance;
	return NULL;
}

/* Sets plan[i] according to @entry. The elements before it are already set. */
static int vgpu_shares_plan_one(struct vgpu_partition *part, const struct vgpu_ctl_share *entry,
				struct vgpu_share_plan *plan, unsigned int i, char *why,
				size_t size)
{
	struct vgpu_instance *instance = vgpu_shares_find(part->gpu, entry->uuid);
	const struct vgpu_gpu *gpu = part->gpu;
	unsigned int k;
	int ret;

	if (!instance)
		return -ENODEV;
	for (k = 0; k < i; k++) {
		if (plan[k].instance == instance) {
			snprintf(why, size, "is named twice");
			return -EINVAL;
		}
	}
	plan[i].instance = instance;
	plan[i].settings = instance->settings;
	ret = vgpu_share_change(&plan[i].settings, entry, why, size);
	if (!ret && instance->part != part) {
		snprintf(why, size, "is in partition %u of %s, not in %u", instance->part->id,
			 gpu->name, part->id);
		ret = -EXDEV;
	}
	if (!ret && plan[i].settings.vga && !gpu->ops->scanout) {
		snprintf(why, size, "vga: the vGPUs of %s have no display", gpu->name);
		ret = -EOPNOTSUPP;
	}
	return ret;
}

/*
 * Sets @plan, and @sum to the sum of all instances' guarantees under the plan. On failure, sets
 * @culprit to the index of the entry that is refused, and @why to the reason.
 */
static int vgpu_shares_plan(struct vgpu_partition *part, const struct vgpu_ctl_share *entries,
			    unsigned int nr, struct vgpu_share_plan *plan, u32 *sum,
			    unsigned int *culprit, char *why, size_t size)
{
	unsigned int i, raises = 0;
	int raise, most = 0, ret;

	lockdep_assert_held(&part->gpu->lock);
	*sum = part->guarantee_sum;
	for (i = 0; i < nr; i++) {
		*culprit = i;
		ret = vgpu_shares_plan_one(part, &entries[i], plan, i, why, size);
		if (ret)
			return ret;
		raise = (int)plan[i].settings.guarantee - plan[i].instance->settings.guarantee;
		*sum += raise;
		if (raise > most) {
			most = raise;
			raises = i;
		}
	}
	/* If the sum is too large, blame the entry that raises its guarantee most. */
	*culprit = raises;
	return vgpu_shares_admit(part, *sum - plan[raises].settings.guarantee,
				 plan[raises].settings.guarantee, why, size);
}

static void vgpu_shares_apply(struct vgpu_share_plan *plan)
{
	struct vgpu_instance *instance = plan->instance;
	struct vgpu_ctl_share was = instance->settings;
	struct vgpu_share share;
	unsigned int i;

	raw_spin_lock(&instance->gpu->data_lock);
	instance->settings = plan->settings;
	raw_spin_unlock(&instance->gpu->data_lock);
	/* Only the settings that vgpu_share_of() reads concern the scheduler. */
	if (plan->settings.guarantee != was.guarantee || plan->settings.cap != was.cap ||
	    plan->settings.weight != was.weight) {
		vgpu_share_of(&instance->settings, vgpu_instance_start_gb(instance),
			      instance->type->size_gb, &share);
		for (i = 0; i < instance->gpu->info.nr_engines; i++)
			vgpu_entity_set_share(&instance->entity[i], &share);
	}
	vgpu_shares_update_frl(instance);
}

/* Lowers guarantees before it raises others, so that their sum never exceeds a whole engine. */
static void vgpu_shares_apply_all(struct vgpu_share_plan *plan, unsigned int nr)
{
	unsigned int i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < nr; i++) {
			struct vgpu_instance *instance = plan[i].instance;

			if (!instance || (!pass && plan[i].settings.guarantee >
						   instance->settings.guarantee))
				continue;
			vgpu_shares_apply(&plan[i]);
			plan[i].instance = NULL;
		}
	}
}

/* Sets @why to the reason why a GPU has no vGPU of this UUID. The GPU's lock is not held. */
static int vgpu_shares_missing(const struct vgpu_gpu *gpu, const u8 *uuid, char *why, size_t size)
{
	struct vgpu_instance *instance;
	int ret = -ENODEV;
	guid_t guid;

	vgpu_uuid_import(&guid, uuid);
	instance = vgpu_instance_find(&guid);
	if (instance && instance->gpu != gpu) {
		snprintf(why, size, "is a vGPU of %s, not of %s", instance->gpu->name, gpu->name);
		ret = -EXDEV;
	} else {
		snprintf(why, size, "no such vGPU");
	}
	if (instance)
		vgpu_instance_put(instance);
	return ret;
}

/**
 * vgpu_shares_set() - change settings of one partition's instances, all or none
 * @entries: each names an instance, settings and their new values
 * @nr: number of entries, at least 1
 * @culprit: on failure set to the index of the entry that @why is about
 * @why: set to the reason of a refusal, for the user
 * @size: bytes of @why
 *
 * Sleeps. No GPU's lock may be held.
 *
 * Return: 0; -ENODEV, -EXDEV, -EINVAL, -EOPNOTSUPP, -ENOSPC or -ENOMEM, and nothing has changed.
 */
int vgpu_shares_set(const struct vgpu_ctl_share *entries, unsigned int nr, unsigned int *culprit,
		    char *why, size_t size)
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

	plan = kvcalloc(nr, sizeof(*plan), GFP_KERNEL_ACCOUNT);
	if (!plan) {
		snprintf(why, size, "no memory");
		ret = -ENOMEM;
		goto out_put;
	}
	mutex_lock(&gpu->lock);
	ret = vgpu_shares_plan(first->part, entries, nr, plan, &sum, culprit, why, size);
	if (!ret) {
		/* This must precede vgpu_shares_apply_all(), which clears plan[i].instance. */
		for (i = 0; i < nr; i++)
			vgpu_instance_event(plan[i].instance, VGPU_EVENT_SHARE, entries[i].valid,
					    0, 0);
		vgpu_shares_apply_all(plan, nr);
		vgpu_shares_set_sum(first->part, sum);
	}
	mutex_unlock(&gpu->lock);
	kvfree(plan);

	if (ret == -ENODEV)
		ret = vgpu_shares_missing(gpu, entries[*culprit].uuid, why, size);
out_put:
	vgpu_instance_put(first);
	return ret;
}

/**
 * vgpu_shares_due() - whether a picture may be taken up now by the limit in force
 * @instance: whose limit it is
 * @frl: counts the pictures; the caller serialises calls
 *
 * Context: does not sleep.
 * Return: whether it may, and then it counts.
 */
bool vgpu_shares_due(struct vgpu_instance *instance, struct vgpu_frl *frl)
{
	vgpu_frl_set(frl, vgpu_shares_frl(instance));
	return !vgpu_frl_present(frl, ktime_get_ns());
}

/**
 * vgpu_present() - tell whether an instance may show a frame now
 * @instance: an instance that has a PRESENT packet to execute
 *
 * Does not sleep.
 *
 * Return: 0, and the frame is counted; or the time of the next try, in ns of CLOCK_MONOTONIC.
 */
u64 vgpu_present(struct vgpu_instance *instance)
{
	u64 due_ns;

	raw_spin_lock(&instance->frl_lock);
	due_ns = vgpu_frl_present(&instance->frl, ktime_get_ns());
	raw_spin_unlock(&instance->frl_lock);
	return due_ns;
}
EXPORT_SYMBOL_GPL(vgpu_present);
