/* SPDX-License-Identifier: GPL-2.0 */
/* What sched log has read of the scheduler's logs, and draws. */
#ifndef VGPUCTL_LOG_H
#define VGPUCTL_LOG_H

#include "ctl.h"
#include "uuid.h"

/**
 * struct log_stream - the log of an engine
 * @gpu:    number of the engine's GPU
 * @partition: number of the engine's partition; 0: the whole GPU
 * @engine: index of the engine on its GPU
 * @name:   name of the engine
 * @seen:   number of runs that had ended when the log was read last
 * @read:   the log has been read before
 */
struct log_stream {
	uint32_t gpu;
	uint32_t partition;
	uint32_t engine;
	char name[sizeof(((struct vgpu_ctl_engine *)NULL)->name) + 1];
	uint64_t seen;
	bool read;
};

/**
 * struct log_entry - a run that has ended
 * @stream: the log that it is from
 * @seq:    number of runs on the same engine that had ended before
 * @run:    the driver's record of the run
 */
struct log_entry {
	const struct log_stream *stream;
	uint64_t seq;
	struct vgpu_ctl_switch run;
};

#define LOG_GPU_LEN	24

/* Writes whose log it is to LOG_GPU_LEN bytes at @text, and returns it: "0", or "0.3". */
static inline const char *log_gpu(const struct log_stream *stream, char *text)
{
	if (stream->partition)
		snprintf(text, LOG_GPU_LEN, "%u.%u", stream->gpu, stream->partition);
	else
		snprintf(text, LOG_GPU_LEN, "%u", stream->gpu);
	return text;
}

/* CLOCK_MONOTONIC time at which @run ended. */
static inline uint64_t log_end_ns(const struct vgpu_ctl_switch *run)
{
	return run->time_ns + run->ran_ns + run->idle_ns;
}

int chart_print(const struct log_stream *stream,
		const struct log_entry *entries, size_t nr);

#endif /* VGPUCTL_LOG_H */
