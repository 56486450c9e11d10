// SPDX-License-Identifier: GPL-2.0
/* Refusals: why an instance was not created or not changed. */
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "../core.h"

#define VGPU_REFUSALS	64

struct vgpu_refusal {
	guid_t uuid;
	u32 gpu;
	int error;		/* 0: free */
	u64 time_ns;
	char text[VGPU_TEXT_LEN];
};

/*
 * An instance whose creation was refused does not exist, so refusals are kept here: the newest 64,
 * by UUID and GPU, since a tool may try one GPU after the other, and each has its own reason.
 */
static DEFINE_RAW_SPINLOCK(vgpu_refusals_lock);	/* protects vgpu_refusals and vgpu_refusals_next */
static struct vgpu_refusal vgpu_refusals[VGPU_REFUSALS];
static unsigned int vgpu_refusals_next;

/**
 * vgpu_refuse() - give the reason why an instance is not created or not changed
 * @instance: the instance that is being created or changed
 * @error: -errno
 * @fmt: which resource is short, its limit and what would fit; no newline
 *
 * The text goes to the kernel log and is kept for the control node; listeners get an event.
 *
 * Context: sleeps.
 * Return: @error.
 */
int vgpu_refuse(struct vgpu_instance *instance, int error, const char *fmt, ...)
{
	struct vgpu_refusal refusal = {
		.uuid = instance->uuid,
		.gpu = instance->gpu->id,
		.error = -error,
		.time_ns = ktime_get_ns(),
	}, *r = NULL;
	unsigned int i;
	va_list args;

	va_start(args, fmt);
	vscnprintf(refusal.text, sizeof(refusal.text), fmt, args);
	va_end(args);
	raw_spin_lock(&vgpu_refusals_lock);
	for (i = 0; i < VGPU_REFUSALS; i++)
		if (guid_equal(&vgpu_refusals[i].uuid, &instance->uuid) &&
		    vgpu_refusals[i].gpu == instance->gpu->id)
			r = &vgpu_refusals[i];
	if (!r)
		r = &vgpu_refusals[vgpu_refusals_next++ % VGPU_REFUSALS];
	*r = refusal;
	raw_spin_unlock(&vgpu_refusals_lock);

	/* Use the GPU's rate limit for an instance that has not been created yet. */
	if (instance->events ? vgpu_inst_may_log(instance) : vgpu_gpu_may_log(instance->gpu))
		vgpu_inst_notice(instance, "refused: %s\n", refusal.text);
	vgpu_instance_event(instance, VGPU_EVENT_REFUSED, -error, 0, 0);
	return error;
}
EXPORT_SYMBOL_GPL(vgpu_refuse);

/**
 * vgpu_refusal_get() - get the last refusal about a UUID
 * @uuid: name of an instance, which need not exist
 * @refusal: error, gpu, time_ns and text are filled in; if its flags have VGPU_REFUSAL_OF_GPU, only
 *	     refusals by its gpu count
 *
 * Context: does not sleep.
 * Return: 0, or -ENOENT if no refusal is kept.
 */
int vgpu_refusal_get(const guid_t *uuid, struct vgpu_ctl_refusal *refusal)
{
	bool of_gpu = refusal->flags & VGPU_REFUSAL_OF_GPU;
	const struct vgpu_refusal *newest = NULL;
	unsigned int i;

	raw_spin_lock(&vgpu_refusals_lock);
	for (i = 0; i < VGPU_REFUSALS; i++) {
		const struct vgpu_refusal *r = &vgpu_refusals[i];

		if (!r->error || !guid_equal(&r->uuid, uuid) ||
		    (of_gpu && r->gpu != refusal->gpu))
			continue;
		if (!newest || r->time_ns > newest->time_ns)
			newest = r;
	}
	if (newest) {
		refusal->error = newest->error;
		refusal->gpu = newest->gpu;
		refusal->time_ns = newest->time_ns;
		strscpy(refusal->text, newest->text, sizeof(refusal->text));
	}
	raw_spin_unlock(&vgpu_refusals_lock);
	return newest ? 0 : -ENOENT;
}
