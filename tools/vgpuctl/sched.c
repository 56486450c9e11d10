// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include <linux/vgpu.h>

#include "sched.h"

/* The bit that sets a setting, and its field. */
#define SCHED_FIELD(bit, field) \
	.valid = VGPU_SCHED_ ## bit, .set_at = offsetof(struct vgpu_ctl_sched, field), \
	.read_at = offsetof(struct vgpu_ctl_sched, field)

static bool quarantines(const void *read)
{
	return ((const struct vgpu_ctl_sched *)read)->quarantine_faults;
}

static const struct setting sched_rows[] = {
	{
		.kind = &setting_policy, SCHED_FIELD(POLICY, policy),
		.name = "policy", .argument = "POLICY",
		.key = "policy", .title = "Policy",
	},
	{
		.kind = &setting_ns, SCHED_FIELD(SLICE, slice_ns),
		.min = 1000000, .max = 30000000,
		.name = "slice", .argument = "TIME",
		.help = "how long a vGPU runs at a time, 1ms to 30ms",
		.key = "slice_ns", .title = "Slice",
	},
	{
		.kind = &setting_hz, SCHED_FIELD(FREQUENCY, frequency_hz), .min = 63, .max = 960,
		.name = "frequency", .argument = "HZ",
		.help = "the same as slices per second, 63 to 960",
		.excludes = VGPU_SCHED_SLICE, .key = "frequency_hz", .lead = ", ", .unit = " Hz",
	},
	{
		.kind = &setting_ns, SCHED_FIELD(WINDOW, window_ns),
		.min = 10000000, .max = 1000000000,
		.name = "window", .argument = "TIME",
		.help = "what shares are measured in, 10ms to 1s",
		.key = "window_ns", .title = "Window",
	},
	{
		.kind = &setting_us, SCHED_FIELD(PREEMPT_TIMEOUT, preempt_timeout_us),
		.min = 1000, .max = 1000000,
		.name = "preempt-timeout", .argument = "TIME",
		.help = "to stop within, else the engine is reset, 1ms to 1s",
		.key = "preempt_timeout_us", .title = "Preempt timeout",
	},
	{
		.kind = &setting_us, SCHED_FIELD(LINGER, linger_us), .max = 1000,
		.name = "linger", .argument = "TIME",
		.help = "wait for more work of the same vGPU, 0us to 1ms",
		.key = "linger_us", .title = "Linger",
	},
	{
		.kind = &setting_faults, SCHED_FIELD(QUARANTINE_FAULTS, quarantine_faults),
		.max = 16, .name = "quarantine-faults", .argument = "N",
		.help = "engine resets in 60 s that lead to quarantine, up to 16; 0: none do",
		.key = "quarantine_faults", .title = "Quarantine",
	},
	{
		.kind = &setting_ms, SCHED_FIELD(QUARANTINE_BACKOFF, quarantine_backoff_ms),
		.min = 1, .max = 3600000,
		.name = "quarantine-backoff", .argument = "TIME",
		.help = "how long the first quarantine lasts, 1ms to 3600s",
		.key = "quarantine_backoff_ms", .lead = ", for ", .unit = " at first",
		.applies = quarantines,
	},
};

const struct setting_table sched_settings = {
	.setting = sched_rows,
	.nr = sizeof(sched_rows) / sizeof(sched_rows[0]),
	.valid_at = offsetof(struct vgpu_ctl_sched, valid),
};
