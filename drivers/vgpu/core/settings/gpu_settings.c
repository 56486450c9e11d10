// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a partition of a GPU. Module parameters give their initial values; the control
 * node and sysfs change them. To add a number, add a parameter and a row of vgpu_gpu_settings, both
 * below.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/math.h>
#include <linux/module.h>

#include "../core.h"

#define VGPU_BACKOFF_MAX_MS	3600000U

static char *policy = "best_effort";
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "Scheduling policy of new GPUs and partitions (best_effort); a GPU's vgpu/policies lists the names of all");

static unsigned int slice_us;
module_param(slice_us, uint, 0444);
MODULE_PARM_DESC(slice_us, "Time slice of new GPUs and partitions in us, 1000..30000 (0: 2000 if at most 8 vGPUs of the smallest type fit, else 1000)");

static unsigned int window_ms;
module_param(window_ms, uint, 0444);
MODULE_PARM_DESC(window_ms, "Window of statistics of new GPUs and partitions in ms, 10..1000, at least 10 slices (0: 100, or 10 slices if that is longer)");

static unsigned int preempt_timeout_us = 10000;
module_param(preempt_timeout_us, uint, 0444);
MODULE_PARM_DESC(preempt_timeout_us, "Time in which an engine of new GPUs and partitions must stop or be reset, in us, 1000..1000000 (10000)");

static unsigned int linger_us = VGPU_LINGER_US;
module_param(linger_us, uint, 0444);
MODULE_PARM_DESC(linger_us, "Time for which an idle vGPU whose guarantee is due keeps an engine of new GPUs and partitions, in us, 0..1000 (100)");

static unsigned int quarantine_faults = VGPU_QUARANTINE_FAULTS;
module_param(quarantine_faults, uint, 0444);
MODULE_PARM_DESC(quarantine_faults, "Number of engine resets and gross overruns within 60 s that put a vGPU of new GPUs and partitions into quarantine, 1..16; 0: never (3)");

static unsigned int quarantine_backoff_ms = VGPU_QUARANTINE_BACKOFF_NS / NSEC_PER_MSEC;
module_param(quarantine_backoff_ms, uint, 0444);
MODULE_PARM_DESC(quarantine_backoff_ms, "Length of a first quarantine on new GPUs and partitions in ms, doubled each time, 1..3600000 (60000)");

static int vgpu_settings_check_policy(const void *settings, char *why, size_t size)
{
	const struct vgpu_ctl_sched *s = settings;
	char names[VGPU_TEXT_LEN];

	if (vgpu_sched_policy(s->policy))
		return 0;
	scnprintf(why, size, "no such policy: there are %s",
		  vgpu_sched_policy_names(names, sizeof(names), "and"));
	return -EINVAL;
}

#define FIELD(field) .offset = offsetof(struct vgpu_ctl_sched, field)
#define PARAM(parameter, of_field)					\
	.param = &(parameter), .param_name = #parameter, .param_unit = (of_field)

/* The settings of a partition. */
const struct vgpu_setting vgpu_gpu_settings[] = {
	{ .name = "policy", .valid = VGPU_SCHED_POLICY, FIELD(policy),
	  .type = VGPU_SETTING_TEXT, .check = vgpu_settings_check_policy },
	{ .name = "slice_ns", .valid = VGPU_SCHED_SLICE, FIELD(slice_ns),
	  .type = VGPU_SETTING_U64, .min = VGPU_SLICE_MIN_NS, .max = VGPU_SLICE_MAX_NS,
	  PARAM(slice_us, NSEC_PER_USEC), .param_auto = true },
	{ .name = "frequency_hz", .valid = VGPU_SCHED_FREQUENCY, FIELD(frequency_hz),
	  .what = "frequency", .unit = " Hz",
	  .min = VGPU_FREQUENCY_MIN_HZ, .max = VGPU_FREQUENCY_MAX_HZ },
	{ .name = "window_ms", .valid = VGPU_SCHED_WINDOW, FIELD(window_ns),
	  .type = VGPU_SETTING_U64, .min = VGPU_WINDOW_MIN_NS, .max = VGPU_WINDOW_MAX_NS,
	  .attr_unit = NSEC_PER_MSEC, PARAM(window_ms, NSEC_PER_MSEC), .param_auto = true },
	{ .name = "preempt_timeout_us", .valid = VGPU_SCHED_PREEMPT_TIMEOUT,
	  FIELD(preempt_timeout_us),
	  .min = VGPU_PREEMPT_TIMEOUT_MIN_US, .max = VGPU_PREEMPT_TIMEOUT_MAX_US,
	  PARAM(preempt_timeout_us, 1) },
	{ .name = "linger_us", .valid = VGPU_SCHED_LINGER, FIELD(linger_us),
	  .max = VGPU_LINGER_MAX_US, PARAM(linger_us, 1) },
	{ .name = "quarantine_faults", .valid = VGPU_SCHED_QUARANTINE_FAULTS,
	  FIELD(quarantine_faults),
	  .what = "quarantine after", .unit = " faults", .zero = " (never)",
	  .max = VGPU_QUARANTINE_MAX_FAULTS, PARAM(quarantine_faults, 1) },
	{ .name = "quarantine_backoff_ms", .valid = VGPU_SCHED_QUARANTINE_BACKOFF,
	  FIELD(quarantine_backoff_ms), .what = "quarantine of", .unit = " ms",
	  .min = 1, .max = VGPU_BACKOFF_MAX_MS, PARAM(quarantine_backoff_ms, 1) },
	{}
};

/**
 * vgpu_settings_check_params() - check the parameters of this file, when the module loads
 *
 * Return: 0, or -EINVAL; the log has the reason.
 */
int vgpu_settings_check_params(void)
{
	const struct vgpu_setting *s;
	char names[VGPU_TEXT_LEN];
	u64 number;

	if (!vgpu_sched_policy(policy)) {
		pr_err("policy=%s: must be %s\n", policy,
		       vgpu_sched_policy_names(names, sizeof(names), "or"));
		return -EINVAL;
	}
	for (s = vgpu_gpu_settings; s->name; s++) {
		number = s->param ? *s->param * (u64)s->param_unit : 0;
		if (!s->param || (s->param_auto && !number) ||
		    (number >= s->min && number <= s->max))
			continue;
		pr_err("%s=%u: must be %llu..%llu%s\n", s->param_name, *s->param,
		       div_u64(s->min, s->param_unit), div_u64(s->max, s->param_unit),
		       s->param_auto ? ", or 0" : "");
		return -EINVAL;
	}
	return 0;
}

static unsigned int vgpu_settings_most(const struct vgpu_partition *part)
{
	const struct vgpu_gpu *gpu = part->gpu;
	unsigned int i, most = 0;

	for (i = 0; i < gpu->nr_types; i++)
		if (gpu->types[i].profile == part->profile)
			most = max(most, vgpu_placement_count(&part->placement,
							      gpu->types[i].size_gb));
	return most;
}

/*
 * Converts settings that the rows of the table have checked into parameters of the scheduler, and
 * checks those. Sets the frequency according to the slice.
 */
static int vgpu_settings_to_params(const struct vgpu_partition *part, struct vgpu_ctl_sched *s,
				   struct vgpu_sched_params *params, char *why, size_t size)
{
	int ret;

	*params = (struct vgpu_sched_params){
		.policy = vgpu_sched_policy(s->policy),
		.slice_ns = s->slice_ns,
		.window_ns = s->window_ns,
		.preempt_timeout_us = s->preempt_timeout_us,
		.linger_us = s->linger_us,
		.nr_slots = part->placement.region_gb,
	};
	ret = vgpu_sched_params_check(params, why, size);
	if (!ret)
		s->frequency_hz = DIV_ROUND_CLOSEST_ULL(NSEC_PER_SEC, (u32)s->slice_ns);
	return ret;
}

/**
 * vgpu_settings_init() - set up the settings of a new partition
 * @part: private to the caller; its placement and the types of its GPU are set
 * @params: set to the parameters for its scheduler
 *
 * Return: 0, or -EINVAL for module parameters that contradict each other; the log has the reason.
 */
int vgpu_settings_init(struct vgpu_partition *part, struct vgpu_sched_params *params)
{
	struct vgpu_ctl_sched *settings = &part->settings;
	const struct vgpu_setting *s;
	char why[VGPU_TEXT_LEN] = "", name[VGPU_ADDR_LEN];
	int ret;

	strscpy(settings->policy, policy, sizeof(settings->policy));
	for (s = vgpu_gpu_settings; s->name; s++)
		if (s->param)
			vgpu_setting_set_number(s, settings, *s->param * (u64)s->param_unit);
	vgpu_settings_auto(settings, vgpu_settings_most(part));
	ret = vgpu_settings_to_params(part, settings, params, why, sizeof(why));
	if (ret)
		vgpu_gpu_err(part->gpu, "%s: %s\n",
			     vgpu_partition_name(part, name, sizeof(name)), why);
	return ret;
}

static void vgpu_settings_read(struct vgpu_partition *part, struct vgpu_ctl_sched *out)
{
	raw_spin_lock(&part->gpu->data_lock);
	memset_startat(out, 0, policy);
	vgpu_settings_copy(vgpu_gpu_settings, ~0U, out, &part->settings);
	out->partition = part->id;
	raw_spin_unlock(&part->gpu->data_lock);
}

/**
 * vgpu_settings_get() - read a partition's settings
 * @part: a reference to its GPU is held
 * @out: the fields from @policy on are set
 *
 * Does not sleep.
 *
 * Return: 0, or -ENODEV if the GPU is gone.
 */
int vgpu_settings_get(struct vgpu_partition *part, struct vgpu_ctl_sched *out)
{
	vgpu_settings_read(part, out);
	return READ_ONCE(part->gpu->gone) ? -ENODEV : 0;
}

/* Applies @in to @next, and checks @next by the rows of the table. */
static int vgpu_settings_merge(const struct vgpu_ctl_sched *in, struct vgpu_ctl_sched *next,
			       char *why, size_t size)
{
	u32 reserved = in->flags & VGPU_SCHED_OF_PARTITION ? 0 : in->partition;
	int ret;

	ret = vgpu_settings_check_form(vgpu_gpu_settings, in->valid, reserved, why, size);
	if (ret)
		return ret;
	if (in->valid & VGPU_SCHED_SLICE && in->valid & VGPU_SCHED_FREQUENCY) {
		snprintf(why, size,
			 "slice and frequency are the same setting: set only one of them");
		return -EINVAL;
	}
	vgpu_settings_copy(vgpu_gpu_settings, in->valid, next, in);
	/* Check only the named ones: a slice may give a frequency beyond the frequency's limits. */
	ret = vgpu_settings_check(vgpu_gpu_settings, in->valid, next, why, size);
	if (!ret && in->valid & VGPU_SCHED_FREQUENCY)
		next->slice_ns = NSEC_PER_SEC / in->frequency_hz;
	return ret;
}

static int vgpu_settings_write(struct vgpu_partition *part, const struct vgpu_ctl_sched *in,
			       char *why, size_t size)
{
	struct vgpu_ctl_sched next = part->settings;
	struct vgpu_gpu *gpu = part->gpu;
	struct vgpu_sched_params params;
	struct vgpu_instance *instance;
	int ret;

	lockdep_assert_held(&gpu->lock);
	if (gpu->gone) {
		snprintf(why, size, "the GPU is gone");
		return -ENODEV;
	}
	if (list_empty(&part->link)) {
		snprintf(why, size, "partition %u is gone", part->id);
		return -ENOENT;
	}
	ret = vgpu_settings_merge(in, &next, why, size) ?:
	      vgpu_settings_to_params(part, &next, &params, why, size) ?:
	      vgpu_share_admit(part->guarantee_sum, 0, why, size);
	if (ret)
		return ret;

	ret = vgpu_sched_params_set(part->sched, &params);
	if (ret) {
		snprintf(why, size, "the scheduler refused it: %pe", ERR_PTR(ret));
		return ret;
	}
	raw_spin_lock(&gpu->data_lock);
	part->settings = next;
	raw_spin_unlock(&gpu->data_lock);
	list_for_each_entry(instance, &gpu->instances, link) {
		if (instance->part != part)
			continue;
		vgpu_instance_set_quarantine(instance);
		vgpu_shares_update_frl(instance);
	}
	return 0;
}

/**
 * vgpu_settings_set() - change a partition's settings, all that the call names or none
 * @part: the lock of its GPU is held
 * @arg: names settings and their new values; on success set to all of the partition's settings,
 *       on failure its text is set to the reason
 *
 * Sleeps.
 *
 * Return: 0; -EINVAL or -ERANGE for settings that are not valid, -ENODEV, -ENOENT, -ENOMEM.
 */
int vgpu_settings_set(struct vgpu_partition *part, struct vgpu_ctl_sched *arg)
{
	int ret = vgpu_settings_write(part, arg, arg->text, sizeof(arg->text));

	if (!ret) {
		/* With the lock held: the partition is there, and events are in order. */
		vgpu_gpu_event(part->gpu, VGPU_EVENT_SCHED, arg->valid, part->id, 0);
		vgpu_settings_read(part, arg);
	}
	return ret;
}
