// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU's settings: as the module's parameters have them at first, then as the
 * control node and sysfs set them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/math.h>
#include <linux/module.h>

#include "core.h"

#define VGPU_BACKOFF_MAX_MS	3600000U

static char *policy = "best_effort";
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "Scheduling policy of new GPUs (best_effort); a GPU has the names of all in vgpu/policies");

static unsigned int slice_us;
module_param(slice_us, uint, 0444);
MODULE_PARM_DESC(slice_us, "Time slice of new GPUs in us, 1000..30000 (0: 2000 where at most 8 vGPUs fit of the smallest type, else 1000)");

static unsigned int window_ms;
module_param(window_ms, uint, 0444);
MODULE_PARM_DESC(window_ms, "Window of statistics of new GPUs in ms, 10..1000, at least 10 slices (0: 100, or 10 slices if that is longer)");

static unsigned int preempt_timeout_us = 10000;
module_param(preempt_timeout_us, uint, 0444);
MODULE_PARM_DESC(preempt_timeout_us, "How long an engine of new GPUs has to stop before it is reset, us, 1000..1000000 (10000)");

static unsigned int linger_us = VGPU_LINGER_US;
module_param(linger_us, uint, 0444);
MODULE_PARM_DESC(linger_us, "How long an idle vGPU with guarantee due may hold an engine of new GPUs, us, 0..1000 (100)");

static unsigned int quarantine_faults = VGPU_QUARANTINE_FAULTS;
module_param(quarantine_faults, uint, 0444);
MODULE_PARM_DESC(quarantine_faults, "Faults within 60 s that put a vGPU of new GPUs into quarantine, 1..16; 0: never (3)");

static unsigned int quarantine_backoff_ms = VGPU_QUARANTINE_BACKOFF_NS / NSEC_PER_MSEC;
module_param(quarantine_backoff_ms, uint, 0444);
MODULE_PARM_DESC(quarantine_backoff_ms, "First quarantine on new GPUs in ms, doubled each time, 1..3600000 (60000)");

static const struct {
	const char *name;
	const unsigned int *value;
	unsigned int min;
	unsigned int max;
	bool zero;	/* means something, too */
} vgpu_numbers[] = {
	{ "slice_us", &slice_us, VGPU_SLICE_MIN_NS / 1000,
	  VGPU_SLICE_MAX_NS / 1000, true },
	{ "window_ms", &window_ms, VGPU_WINDOW_MIN_NS / NSEC_PER_MSEC,
	  VGPU_WINDOW_MAX_NS / NSEC_PER_MSEC, true },
	{ "preempt_timeout_us", &preempt_timeout_us,
	  VGPU_PREEMPT_TIMEOUT_MIN_US, VGPU_PREEMPT_TIMEOUT_MAX_US },
	{ "linger_us", &linger_us, 0, VGPU_LINGER_MAX_US },
	{ "quarantine_faults", &quarantine_faults, 0,
	  VGPU_QUARANTINE_MAX_FAULTS },
	{ "quarantine_backoff_ms", &quarantine_backoff_ms, 1,
	  VGPU_BACKOFF_MAX_MS },
};

/**
 * vgpu_settings_check_params() - check the parameters of this file
 *
 * Called when the module loads.
 *
 * Return: 0, or -EINVAL (said in the log).
 */
int vgpu_settings_check_params(void)
{
	char names[VGPU_TEXT_LEN];
	unsigned int i;

	if (!vgpu_sched_policy(policy)) {
		pr_err("policy=%s: must be %s\n", policy,
		       vgpu_sched_policy_names(names, sizeof(names), "or"));
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(vgpu_numbers); i++) {
		unsigned int value = *vgpu_numbers[i].value;

		if ((vgpu_numbers[i].zero && !value) ||
		    (value >= vgpu_numbers[i].min &&
		     value <= vgpu_numbers[i].max))
			continue;
		pr_err("%s=%u: must be %u..%u%s\n", vgpu_numbers[i].name,
		       value, vgpu_numbers[i].min, vgpu_numbers[i].max,
		       vgpu_numbers[i].zero ? ", or 0" : "");
		return -EINVAL;
	}
	return 0;
}

static u64 vgpu_initial_slice_ns(const struct vgpu_gpu *gpu)
{
	unsigned int i, most = 0;

	if (slice_us)
		return slice_us * 1000ULL;
	for (i = 0; i < gpu->nr_types; i++)
		most = max(most, gpu->types[i].max_instances);
	return most > 8 ? 1000000 : 2000000;
}

/**
 * vgpu_settings_init() - the settings of a new GPU
 * @gpu: its types and placement are set; nobody else sees it yet
 * @params: what its scheduler is to be created with
 *
 * Return: 0, or -EINVAL for module parameters that do not go together (said in
 * the log).
 */
int vgpu_settings_init(struct vgpu_gpu *gpu, struct vgpu_sched_params *params)
{
	char why[VGPU_TEXT_LEN] = "";
	int ret;

	gpu->quarantine_faults = quarantine_faults;
	gpu->quarantine_backoff_ms = quarantine_backoff_ms;

	params->policy = vgpu_sched_policy(policy);
	params->slice_ns = vgpu_initial_slice_ns(gpu);
	params->window_ns = window_ms ? window_ms * (u64)NSEC_PER_MSEC :
			    max(VGPU_WINDOW_NS,
				VGPU_WINDOW_SLICES * params->slice_ns);
	params->preempt_timeout_us = preempt_timeout_us;
	params->linger_us = linger_us;
	params->nr_slots = gpu->placement.region_gb;

	ret = vgpu_sched_params_check(params, why, sizeof(why));
	if (ret)
		vgpu_gpu_err(gpu, "%s\n", why);
	return ret;
}

static void vgpu_settings_read(struct vgpu_gpu *gpu, struct vgpu_ctl_sched *out)
{
	struct vgpu_sched_params params;

	lockdep_assert_held(&gpu->lock);
	vgpu_sched_params_get(gpu->sched, &params);
	memset_startat(out, 0, policy);
	strscpy(out->policy, params.policy->name, sizeof(out->policy));
	out->slice_ns = params.slice_ns;
	out->window_ns = params.window_ns;
	out->frequency_hz = DIV_ROUND_CLOSEST_ULL(NSEC_PER_SEC,
						  (u32)params.slice_ns);
	out->preempt_timeout_us = params.preempt_timeout_us;
	out->linger_us = params.linger_us;
	out->quarantine_faults = gpu->quarantine_faults;
	out->quarantine_backoff_ms = gpu->quarantine_backoff_ms;
}

/**
 * vgpu_settings_get() - read a GPU's settings
 * @gpu: a reference is held
 * @out: @policy and what follows is set
 *
 * Sleeps.
 *
 * Return: 0, or -ENODEV if the GPU is gone.
 */
int vgpu_settings_get(struct vgpu_gpu *gpu, struct vgpu_ctl_sched *out)
{
	int ret = 0;

	mutex_lock(&gpu->lock);
	if (gpu->gone)
		ret = -ENODEV;
	else
		vgpu_settings_read(gpu, out);
	mutex_unlock(&gpu->lock);
	return ret;
}

#define VGPU_SCHED_ALL	(VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |		\
			 VGPU_SCHED_FREQUENCY | VGPU_SCHED_WINDOW |	\
			 VGPU_SCHED_PREEMPT_TIMEOUT |			\
			 VGPU_SCHED_LINGER |				\
			 VGPU_SCHED_QUARANTINE_FAULTS |			\
			 VGPU_SCHED_QUARANTINE_BACKOFF)

static int vgpu_settings_check_form(const struct vgpu_ctl_sched *in, char *why,
				    size_t size)
{
	if (!in->valid || in->valid & ~VGPU_SCHED_ALL || in->pad) {
		snprintf(why, size,
			 "valid is %#x: must name what to set, of %#x, and what is reserved must be 0",
			 in->valid, VGPU_SCHED_ALL);
		return -EINVAL;
	}
	if (in->valid & VGPU_SCHED_SLICE && in->valid & VGPU_SCHED_FREQUENCY) {
		snprintf(why, size,
			 "slice and frequency are one thing: only one of them can be set");
		return -EINVAL;
	}
	return 0;
}

/* What the scheduler is to be set to; its own check comes after. */
static int vgpu_settings_merge(const struct vgpu_ctl_sched *in,
			       struct vgpu_sched_params *params, char *why,
			       size_t size)
{
	char names[VGPU_TEXT_LEN];

	if (in->valid & VGPU_SCHED_POLICY) {
		params->policy = NULL;
		if (memchr(in->policy, 0, sizeof(in->policy)))
			params->policy = vgpu_sched_policy(in->policy);
		if (!params->policy) {
			scnprintf(why, size, "no such policy: there are %s",
				  vgpu_sched_policy_names(names, sizeof(names), "and"));
			return -EINVAL;
		}
	}
	if (in->valid & VGPU_SCHED_SLICE)
		params->slice_ns = in->slice_ns;
	if (in->valid & VGPU_SCHED_FREQUENCY) {
		if (in->frequency_hz < VGPU_FREQUENCY_MIN_HZ ||
		    in->frequency_hz > VGPU_FREQUENCY_MAX_HZ) {
			snprintf(why, size, "frequency %u Hz: must be %u..%u",
				 in->frequency_hz, VGPU_FREQUENCY_MIN_HZ,
				 VGPU_FREQUENCY_MAX_HZ);
			return -ERANGE;
		}
		params->slice_ns = NSEC_PER_SEC / in->frequency_hz;
	}
	if (in->valid & VGPU_SCHED_WINDOW)
		params->window_ns = in->window_ns;
	if (in->valid & VGPU_SCHED_PREEMPT_TIMEOUT)
		params->preempt_timeout_us = in->preempt_timeout_us;
	if (in->valid & VGPU_SCHED_LINGER)
		params->linger_us = in->linger_us;
	return vgpu_sched_params_check(params, why, size);
}

static int vgpu_settings_check_quarantine(const struct vgpu_ctl_sched *in,
					  char *why, size_t size)
{
	if (in->valid & VGPU_SCHED_QUARANTINE_FAULTS &&
	    in->quarantine_faults > VGPU_QUARANTINE_MAX_FAULTS) {
		snprintf(why, size, "quarantine after %u faults: must be 0 (never)..%u",
			 in->quarantine_faults, VGPU_QUARANTINE_MAX_FAULTS);
		return -ERANGE;
	}
	if (in->valid & VGPU_SCHED_QUARANTINE_BACKOFF &&
	    (!in->quarantine_backoff_ms ||
	     in->quarantine_backoff_ms > VGPU_BACKOFF_MAX_MS)) {
		snprintf(why, size, "quarantine of %u ms: must be 1..%u",
			 in->quarantine_backoff_ms, VGPU_BACKOFF_MAX_MS);
		return -ERANGE;
	}
	return 0;
}

static void vgpu_settings_apply_quarantine(struct vgpu_gpu *gpu,
					   const struct vgpu_ctl_sched *in)
{
	struct vgpu_instance *instance;

	if (in->valid & VGPU_SCHED_QUARANTINE_FAULTS)
		gpu->quarantine_faults = in->quarantine_faults;
	if (in->valid & VGPU_SCHED_QUARANTINE_BACKOFF)
		gpu->quarantine_backoff_ms = in->quarantine_backoff_ms;
	list_for_each_entry(instance, &gpu->instances, link)
		vgpu_instance_set_quarantine(instance);
}

static int vgpu_settings_write(struct vgpu_gpu *gpu,
			       const struct vgpu_ctl_sched *in, char *why,
			       size_t size)
{
	struct vgpu_sched_params params;
	int ret;

	lockdep_assert_held(&gpu->lock);
	if (gpu->gone) {
		snprintf(why, size, "the GPU is gone");
		return -ENODEV;
	}
	vgpu_sched_params_get(gpu->sched, &params);
	ret = vgpu_settings_check_form(in, why, size) ?:
	      vgpu_settings_merge(in, &params, why, size) ?:
	      vgpu_settings_check_quarantine(in, why, size) ?:
	      vgpu_share_admit(gpu->guarantee_sum, 0, why, size);
	if (ret)
		return ret;

	ret = vgpu_sched_params_set(gpu->sched, &params);
	if (ret) {
		snprintf(why, size, "the scheduler refused it: error %d", -ret);
		return ret;
	}
	vgpu_settings_apply_quarantine(gpu, in);
	vgpu_shares_policy_changed(gpu);
	return 0;
}

/**
 * vgpu_settings_set() - change a GPU's settings, all that are named or none
 * @gpu: a reference is held
 * @arg: what to set; then what holds, or @text says why not
 *
 * Sleeps.
 *
 * Return: 0; -EINVAL or -ERANGE for what cannot be, -ENODEV, -ENOMEM.
 */
int vgpu_settings_set(struct vgpu_gpu *gpu, struct vgpu_ctl_sched *arg)
{
	int ret;

	mutex_lock(&gpu->lock);
	ret = vgpu_settings_write(gpu, arg, arg->text, sizeof(arg->text));
	if (!ret)
		vgpu_settings_read(gpu, arg);
	mutex_unlock(&gpu->lock);
	if (!ret)
		vgpu_gpu_event(gpu, VGPU_EVENT_SCHED, arg->valid);
	return ret;
}
