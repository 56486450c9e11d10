/* SPDX-License-Identifier: GPL-2.0 */
/* Scheduler logs, as sched log reads and draws them. */
#ifndef VGPUCTL_LOG_H
#define VGPUCTL_LOG_H

#include "ctl.h"
#include "uuid.h"

/**
 * struct log_stream - the log of an engine
 * @gpu:    number of its GPU
 * @engine: its index there
 * @name:   its name
 * @seen:   runs that had ended when it was last read
 * @read:   it was
 */
struct log_stream {
	uint32_t gpu;
	uint32_t engine;
	char name[sizeof(((struct vgpu_ctl_engine *)NULL)->name) + 1];
	uint64_t seen;
	bool read;
};

/**
 * struct log_entry - a run that has ended
 * @stream: whose log it is in
 * @seq:    how many had ended there before it
 * @run:    what the driver says about it
 */
struct log_entry {
	const struct log_stream *stream;
	uint64_t seq;
	struct vgpu_ctl_switch run;
};

/* CLOCK_MONOTONIC time at which @run ended. */
static inline uint64_t log_end_ns(const struct vgpu_ctl_switch *run)
{
	return run->time_ns + run->ran_ns + run->idle_ns;
}

int chart_print(const struct log_stream *stream,
		const struct log_entry *entries, size_t nr);

#endif /* VGPUCTL_LOG_H */
