// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "ctl.h"
#include "metrics.h"
#include "metrics_text.h"
#include "uuid.h"

/* What a metric has samples for; the labels of its samples say which one. */
enum scope {
	SCOPE_GPU,		/* struct vgpu_ctl_gpu */
	SCOPE_WHOLE_GPU,	/* likewise, of a GPU that is not divided */
	SCOPE_STATS,		/* struct vgpu_ctl_stats */
	SCOPE_TYPE,		/* struct vgpu_ctl_type */
	SCOPE_GPU_ENGINE,	/* struct vgpu_ctl_gpu */
	SCOPE_ENGINE,		/* struct vgpu_ctl_stats */
	SCOPE_PARTITION,	/* struct vgpu_ctl_partition */
	SCOPE_PARTITION_ENGINE,	/* struct vgpu_ctl_partition */
	SCOPE_VGPU,		/* struct vgpu_ctl_instance */
	SCOPE_VGPU_ENGINE,	/* struct vgpu_ctl_instance */
};

/* How the driver tells a figure. Prometheus wants base units: seconds, bytes, parts of 1. */
enum kind {
	KIND_U32,
	KIND_U64,
	KIND_NS,		/* __u64 */
	KIND_PERMILLE,		/* __u32 */
};

/**
 * struct metric - a row: one metric
 * @name:   its name; one that ends in _total is a counter, the others are gauges
 * @help:   what it says, a sentence without its full stop
 * @scope:  what it has samples for
 * @kind:   the type of its field
 * @at:     offset of the field in the structure of @scope
 * @stride: distance from the field of an engine to that of the next one
 */
struct metric {
	const char *name;
	const char *help;
	enum scope scope;
	enum kind kind;
	size_t at;
	size_t stride;
};

#define GPU(field)	offsetof(struct vgpu_ctl_gpu, field), 0
#define STATS(field)	offsetof(struct vgpu_ctl_stats, field), 0
#define TYPE(field)	offsetof(struct vgpu_ctl_type, field), 0
#define VGPU(field)	offsetof(struct vgpu_ctl_instance, field), 0
#define GPU_ENGINE(field) \
	offsetof(struct vgpu_ctl_gpu, engine[0].field), sizeof(struct vgpu_ctl_engine)
#define ENGINE(field) \
	offsetof(struct vgpu_ctl_stats, engine[0].field), sizeof(struct vgpu_ctl_stats_engine)
#define PART(field)	offsetof(struct vgpu_ctl_partition, field), 0
#define PART_ENGINE(field) \
	offsetof(struct vgpu_ctl_partition, engine[0].field), \
	sizeof(struct vgpu_ctl_stats_engine)
#define VGPU_ENGINE(field) \
	offsetof(struct vgpu_ctl_instance, engine[0].field), \
	sizeof(struct vgpu_ctl_instance_engine)

static const struct metric table[] = {
	{ "vgpu_gpu_framebuffer_bytes", "Framebuffer of the GPU",
		SCOPE_GPU, KIND_U64, GPU(fb_bytes) },
	{ "vgpu_gpu_framebuffer_owned_bytes", "Framebuffer that vGPUs own",
		SCOPE_GPU, KIND_U64, GPU(fb_used_bytes) },
	{ "vgpu_gpu_framebuffer_backed_bytes", "Framebuffer backed by memory of the host",
		SCOPE_GPU, KIND_U64, GPU(fb_backed_bytes) },
	{ "vgpu_gpu_channels", "Channels of the GPU",
		SCOPE_GPU, KIND_U32, GPU(channels) },
	{ "vgpu_gpu_channels_owned", "Channels that vGPUs own",
		SCOPE_GPU, KIND_U32, GPU(channels_used) },
	{ "vgpu_gpu_vgpus", "vGPUs of the GPU",
		SCOPE_GPU, KIND_U32, GPU(instances) },
	{ "vgpu_gpu_partitions", "Partitions that the GPU is divided into; 0: none",
		SCOPE_GPU, KIND_U32, GPU(partitions) },
	{ "vgpu_gpu_guaranteed_ratio", "Part of each engine that is guaranteed to vGPUs",
		SCOPE_WHOLE_GPU, KIND_PERMILLE, GPU(guarantee_sum) },
	{ "vgpu_gpu_slice_seconds", "How long a vGPU runs at a time",
		SCOPE_WHOLE_GPU, KIND_NS, GPU(slice_ns) },
	{ "vgpu_gpu_frames_total", "Frames that vGPUs have shown, also those that are gone",
		SCOPE_STATS, KIND_U64, STATS(frames) },
	{ "vgpu_gpu_faults_total", "Faults of vGPUs' channels, also of those that are gone",
		SCOPE_STATS, KIND_U64, STATS(faults) },
	{ "vgpu_type_available", "vGPUs of the type that fit beside those that are there",
		SCOPE_TYPE, KIND_U32, TYPE(available) },
	{ "vgpu_engine_units", "Units of the engine, which work for one vGPU at a time",
		SCOPE_GPU_ENGINE, KIND_U32, GPU_ENGINE(units) },
	{ "vgpu_engine_busy_seconds_total", "Time for which vGPUs had the engine",
		SCOPE_ENGINE, KIND_NS, ENGINE(busy_ns) },
	{ "vgpu_engine_linger_seconds_total", "Of the busy time: held by a vGPU without work",
		SCOPE_ENGINE, KIND_NS, ENGINE(linger_ns) },
	{ "vgpu_engine_wall_seconds_total", "Time for which the engine has been there for vGPUs",
		SCOPE_ENGINE, KIND_NS, ENGINE(wall_ns) },
	{ "vgpu_engine_runs_total", "Times that a vGPU was put on the engine",
		SCOPE_ENGINE, KIND_U64, ENGINE(runs) },
	{ "vgpu_engine_switches_total", "Of the runs: after a run of another vGPU",
		SCOPE_ENGINE, KIND_U64, ENGINE(switches) },
	{ "vgpu_engine_resets_total", "Resets of the engine, as a vGPU did not stop",
		SCOPE_ENGINE, KIND_U64, ENGINE(resets) },
	{ "vgpu_partition_framebuffer_bytes", "Framebuffer of the partition",
		SCOPE_PARTITION, KIND_U64, PART(fb_bytes) },
	{ "vgpu_partition_framebuffer_owned_bytes", "Framebuffer that vGPUs in the partition own",
		SCOPE_PARTITION, KIND_U64, PART(fb_used_bytes) },
	{ "vgpu_partition_slices", "Slices that the partition has, of the GPU's 7",
		SCOPE_PARTITION, KIND_U32, PART(slices) },
	{ "vgpu_partition_vgpus", "vGPUs in the partition",
		SCOPE_PARTITION, KIND_U32, PART(instances) },
	{ "vgpu_partition_guaranteed_ratio",
		"Part of each of its engines that is guaranteed to vGPUs",
		SCOPE_PARTITION, KIND_PERMILLE, PART(guarantee_sum) },
	{ "vgpu_partition_slice_seconds", "How long a vGPU in the partition runs at a time",
		SCOPE_PARTITION, KIND_NS, PART(slice_ns) },
	{ "vgpu_partition_shared_in_time",
		"1: it has only fixed slots of the CPUs' time; 0: it has no slots",
		SCOPE_PARTITION, KIND_U32, PART(shared_time) },
	{ "vgpu_partition_engine_units", "Units of the partition's engine",
		SCOPE_PARTITION_ENGINE, KIND_U32, PART_ENGINE(units) },
	{ "vgpu_partition_engine_busy_seconds_total",
		"Time for which vGPUs had the partition's engine",
		SCOPE_PARTITION_ENGINE, KIND_NS, PART_ENGINE(busy_ns) },
	{ "vgpu_partition_engine_linger_seconds_total",
		"Of the busy time: held by a vGPU without work",
		SCOPE_PARTITION_ENGINE, KIND_NS, PART_ENGINE(linger_ns) },
	{ "vgpu_partition_engine_wall_seconds_total",
		"Time of the partition's engine; if shared in time, its slots",
		SCOPE_PARTITION_ENGINE, KIND_NS, PART_ENGINE(wall_ns) },
	{ "vgpu_partition_engine_runs_total", "Times that a vGPU was put on the partition's engine",
		SCOPE_PARTITION_ENGINE, KIND_U64, PART_ENGINE(runs) },
	{ "vgpu_partition_engine_switches_total", "Of the runs: after a run of another vGPU",
		SCOPE_PARTITION_ENGINE, KIND_U64, PART_ENGINE(switches) },
	{ "vgpu_partition_engine_resets_total",
		"Resets of the partition's engine, as a vGPU did not stop",
		SCOPE_PARTITION_ENGINE, KIND_U64, PART_ENGINE(resets) },
	{ "vgpu_vgpu_partition", "Number of the partition that the vGPU lives in; 0: the whole GPU",
		SCOPE_VGPU, KIND_U32, VGPU(partition) },
	{ "vgpu_vgpu_framebuffer_bytes", "Framebuffer that the vGPU owns",
		SCOPE_VGPU, KIND_U64, VGPU(fb_bytes) },
	{ "vgpu_vgpu_framebuffer_backed_bytes", "Of it: backed by memory of the host",
		SCOPE_VGPU, KIND_U64, VGPU(fb_backed_bytes) },
	{ "vgpu_vgpu_framebuffer_backed_max_bytes", "The most of that since the vGPU was opened",
		SCOPE_VGPU, KIND_U64, VGPU(max_fb_bytes) },
	{ "vgpu_vgpu_guarantee_ratio", "Part of each engine that the vGPU is guaranteed",
		SCOPE_VGPU, KIND_PERMILLE, VGPU(guarantee) },
	{ "vgpu_vgpu_cap_ratio", "Part of each engine that the vGPU gets at most; 1: no cap",
		SCOPE_VGPU, KIND_PERMILLE, VGPU(cap) },
	{ "vgpu_vgpu_weight", "The vGPU's weight when what is left over is shared",
		SCOPE_VGPU, KIND_U32, VGPU(weight) },
	{ "vgpu_vgpu_frame_rate_limit", "Frames per second at most, in force now; 0: no limit",
		SCOPE_VGPU, KIND_U32, VGPU(frl_fps) },
	{ "vgpu_vgpu_frames_total", "Frames that the vGPU has shown",
		SCOPE_VGPU, KIND_U64, VGPU(frames) },
	{ "vgpu_vgpu_faults_total", "Faults of the vGPU's channels",
		SCOPE_VGPU, KIND_U64, VGPU(faults) },
	{ "vgpu_vgpu_resets_total", "Resets of the vGPU's device",
		SCOPE_VGPU, KIND_U64, VGPU(resets) },
	{ "vgpu_vgpu_quarantines_total", "Times that the vGPU went into quarantine",
		SCOPE_VGPU, KIND_U32, VGPU(quarantines) },
	{ "vgpu_vgpu_interrupts_total", "Interrupts that the vGPU raised",
		SCOPE_VGPU, KIND_U64, VGPU(interrupts) },
	{ "vgpu_vgpu_doorbells_total", "Doorbells that the guest rang",
		SCOPE_VGPU, KIND_U64, VGPU(doorbells) },
	{ "vgpu_vgpu_dma_read_bytes_total", "Memory of the guest that was read",
		SCOPE_VGPU, KIND_U64, VGPU(dma_read_bytes) },
	{ "vgpu_vgpu_dma_written_bytes_total", "Memory of the guest that was written",
		SCOPE_VGPU, KIND_U64, VGPU(dma_written_bytes) },
	{ "vgpu_vgpu_move_phase", "0: does not move, 1: is saved, 2: likewise, stopped, 3: is loaded",
		SCOPE_VGPU, KIND_U32, VGPU(move) },
	{ "vgpu_vgpu_move_bytes", "Of the move under way: bytes of its stream so far",
		SCOPE_VGPU, KIND_U64, VGPU(move_bytes) },
	{ "vgpu_vgpu_move_left_bytes", "Of the move under way: bytes left to be saved",
		SCOPE_VGPU, KIND_U64, VGPU(move_left_bytes) },
	{ "vgpu_vgpu_move_seconds", "For how long the vGPU has been moving",
		SCOPE_VGPU, KIND_NS, VGPU(move_ns) },
	{ "vgpu_vgpu_engine_busy_seconds_total", "Time for which the vGPU had the engine",
		SCOPE_VGPU_ENGINE, KIND_NS, VGPU_ENGINE(busy_ns) },
	{ "vgpu_vgpu_engine_linger_seconds_total", "Of the busy time: without work",
		SCOPE_VGPU_ENGINE, KIND_NS, VGPU_ENGINE(linger_ns) },
	{ "vgpu_vgpu_engine_wait_seconds_total", "Time for which the vGPU had work, but not the engine",
		SCOPE_VGPU_ENGINE, KIND_NS, VGPU_ENGINE(wait_ns) },
	{ "vgpu_vgpu_engine_wait_max_seconds", "The longest time at a stretch that the vGPU had to wait",
		SCOPE_VGPU_ENGINE, KIND_NS, VGPU_ENGINE(max_wait_ns) },
	{ "vgpu_vgpu_engine_runs_total", "Times that the vGPU was put on the engine",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(runs) },
	{ "vgpu_vgpu_engine_switches_total", "Of the runs: after a run of another vGPU",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(switches) },
	{ "vgpu_vgpu_engine_preemptions_total", "Of the runs: ended with work left",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(preemptions) },
	{ "vgpu_vgpu_engine_overruns_total", "Of the runs: ended more than 100 us past their time",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(overruns) },
	{ "vgpu_vgpu_engine_overrun_seconds_total", "How long these were past their time",
		SCOPE_VGPU_ENGINE, KIND_NS, VGPU_ENGINE(overrun_ns) },
	{ "vgpu_vgpu_engine_stalls_total", "Of the runs: ended waiting for memory of the guest",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(stalls) },
	{ "vgpu_vgpu_engine_faults_total", "Faults of the vGPU's channels on the engine",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(faults) },
	{ "vgpu_vgpu_engine_resets_total", "Resets of the engine, as the vGPU did not stop",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(resets) },
	{ "vgpu_vgpu_engine_packets_total", "Packets that the engine completed for the vGPU",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(packets) },
	{ "vgpu_vgpu_engine_written_bytes_total", "What fills and copies of the vGPU wrote",
		SCOPE_VGPU_ENGINE, KIND_U64, VGPU_ENGINE(bytes) },
};

static void label_gpu(struct text *text, const struct vgpu_ctl_gpu *gpu)
{
	label_bytes(text, "gpu", gpu->address, sizeof(gpu->address));
}

static void label_vgpu(struct text *text, const struct vgpu_ctl_gpu *gpu,
		       const struct vgpu_ctl_instance *inst)
{
	char uuid[UUID_STR_LEN];

	label_gpu(text, gpu);
	label_bytes(text, "uuid", uuid_format(inst->uuid, uuid), sizeof(uuid));
}

static void label_engine(struct text *text, const struct vgpu_ctl_gpu *gpu, uint32_t engine)
{
	label_bytes(text, "engine", gpu->engine[engine].name, sizeof(gpu->engine[engine].name));
}

/* The value of a figure in @from, a structure of the metric's scope. */
static void sample_value(struct text *text, const struct metric *metric, const void *from,
			 uint32_t engine)
{
	const void *field = (const char *)from + metric->at + engine * metric->stride;
	uint64_t value = metric->kind == KIND_U64 || metric->kind == KIND_NS ?
		*(const __u64 *)field : *(const __u32 *)field;

	if (metric->kind == KIND_NS)
		sample_end_ns(text, value);
	else if (metric->kind == KIND_PERMILLE)
		fprintf(text->out, "} %" PRIu64 ".%03" PRIu64 "\n", value / 1000, value % 1000);
	else
		sample_end(text, value);
}

static void samples_of_engines(struct text *text, const struct metric *metric,
			       const struct metrics_gpu *gpu, const struct vgpu_ctl_instance *inst,
			       const void *from, uint32_t engines)
{
	uint32_t i;

	for (i = 0; i < ctl_engines(engines); i++) {
		sample_begin(text, metric->name);
		if (inst)
			label_vgpu(text, &gpu->gpu, inst);
		else
			label_gpu(text, &gpu->gpu);
		label_engine(text, &gpu->gpu, i);
		sample_value(text, metric, from, i);
	}
}

static void samples_of_vgpus(struct text *text, const struct metric *metric,
			     const struct metrics_gpu *gpu)
{
	uint32_t i;

	for (i = 0; i < gpu->stats.count; i++) {
		const struct vgpu_ctl_instance *inst = &gpu->inst[i];

		if (metric->scope == SCOPE_VGPU_ENGINE) {
			samples_of_engines(text, metric, gpu, inst, inst, inst->engines);
			continue;
		}
		sample_begin(text, metric->name);
		label_vgpu(text, &gpu->gpu, inst);
		sample_value(text, metric, inst, 0);
	}
}

static void samples_of_types(struct text *text, const struct metric *metric,
			     const struct metrics_gpu *gpu)
{
	uint32_t i;

	for (i = 0; i < gpu->gpu.types; i++) {
		sample_begin(text, metric->name);
		label_gpu(text, &gpu->gpu);
		label_bytes(text, "type", gpu->type[i].name, sizeof(gpu->type[i].name));
		sample_value(text, metric, &gpu->type[i], 0);
	}
}

static void label_partition(struct text *text, const struct vgpu_ctl_gpu *gpu,
			    const struct vgpu_ctl_partition *part)
{
	label_gpu(text, gpu);
	label_number(text, "partition", part->partition);
	label_bytes(text, "profile", part->profile, sizeof(part->profile));
}

static void samples_of_partitions(struct text *text, const struct metric *metric,
				  const struct metrics_gpu *gpu)
{
	uint32_t i, e, engines;

	for (i = 0; i < gpu->nr_parts; i++) {
		const struct vgpu_ctl_partition *part = &gpu->part[i];

		engines = metric->scope == SCOPE_PARTITION ? 1 : ctl_engines(part->engines);
		for (e = 0; e < engines; e++) {
			sample_begin(text, metric->name);
			label_partition(text, &gpu->gpu, part);
			if (metric->scope == SCOPE_PARTITION_ENGINE)
				label_engine(text, &gpu->gpu, e);
			sample_value(text, metric, part, e);
		}
	}
}

static void samples_of_gpu(struct text *text, const struct metric *metric,
			   const struct metrics_gpu *gpu)
{
	switch (metric->scope) {
	case SCOPE_VGPU:
	case SCOPE_VGPU_ENGINE:
		samples_of_vgpus(text, metric, gpu);
		return;
	case SCOPE_PARTITION:
	case SCOPE_PARTITION_ENGINE:
		samples_of_partitions(text, metric, gpu);
		return;
	case SCOPE_TYPE:
		samples_of_types(text, metric, gpu);
		return;
	case SCOPE_GPU_ENGINE:
		samples_of_engines(text, metric, gpu, NULL, &gpu->gpu, gpu->gpu.engines);
		return;
	case SCOPE_ENGINE:
		samples_of_engines(text, metric, gpu, NULL, &gpu->stats, gpu->gpu.engines);
		return;
	case SCOPE_WHOLE_GPU:
		/* The settings of one that is divided are in force nowhere. */
		if (ctl_is_divided(&gpu->gpu))
			return;
		/* fallthrough */
	case SCOPE_GPU:
	case SCOPE_STATS:
		sample_begin(text, metric->name);
		label_gpu(text, &gpu->gpu);
		sample_value(text, metric, metric->scope == SCOPE_STATS ?
			     (const void *)&gpu->stats : &gpu->gpu, 0);
		return;
	}
}

static void write_driver(struct text *text, const struct metrics *metrics)
{
	static const char name[] = "vgpu_driver_info";
	char abi[32];

	metric_begin(text, name, "The driver and the version of its control ABI");
	snprintf(abi, sizeof(abi), "%u.%u", metrics->version.abi_major,
		 metrics->version.abi_minor);
	sample_begin(text, name);
	label_bytes(text, "version", metrics->version.driver_version,
		    sizeof(metrics->version.driver_version));
	label_bytes(text, "abi", abi, sizeof(abi));
	sample_end(text, 1);
}

static void write_gpus(struct text *text, const struct metrics *metrics)
{
	static const char name[] = "vgpu_gpu_info";
	const struct vgpu_ctl_gpu *gpu;
	size_t i;

	metric_begin(text, name, "The GPU, its back end and how it is shared");
	for (i = 0; i < metrics->nr_gpus; i++) {
		gpu = &metrics->gpu[i].gpu;
		sample_begin(text, name);
		label_gpu(text, gpu);
		label_bytes(text, "board", gpu->board, sizeof(gpu->board));
		label_bytes(text, "driver", gpu->driver, sizeof(gpu->driver));
		if (!ctl_is_divided(gpu))
			label_bytes(text, "policy", gpu->policy, sizeof(gpu->policy));
		label_bytes(text, "placement", ctl_placement_name(gpu->placement), 32);
		sample_end(text, 1);
	}
}

static void write_partitions(struct text *text, const struct metrics *metrics)
{
	static const char name[] = "vgpu_partition_info";
	const struct metrics_gpu *gpu;
	uint32_t p;
	size_t i;

	metric_begin(text, name, "The partition, and how it is shared");
	for (i = 0; i < metrics->nr_gpus; i++) {
		gpu = &metrics->gpu[i];
		for (p = 0; p < gpu->nr_parts; p++) {
			sample_begin(text, name);
			label_partition(text, &gpu->gpu, &gpu->part[p]);
			label_bytes(text, "policy", gpu->part[p].policy,
				    sizeof(gpu->part[p].policy));
			sample_end(text, 1);
		}
	}
}

/* One sample of a vGPU that is no field of the driver's. */
typedef void write_vgpu(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
			const struct vgpu_ctl_instance *inst);

static void write_info(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
		       const struct vgpu_ctl_instance *inst)
{
	sample_begin(text, name);
	label_vgpu(text, gpu, inst);
	label_bytes(text, "type", inst->type_name, sizeof(inst->type_name));
	sample_end(text, 1);
}

static void write_owner(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
			const struct vgpu_ctl_instance *inst)
{
	/* Nobody has it open. */
	if (!inst->session)
		return;
	sample_begin(text, name);
	label_vgpu(text, gpu, inst);
	label_number(text, "pid", inst->owner_pid);
	label_number(text, "uid", inst->owner_uid);
	label_bytes(text, "command", inst->owner_comm, sizeof(inst->owner_comm));
	sample_end(text, 1);
}

static void write_started(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
			  const struct vgpu_ctl_instance *inst)
{
	sample_begin(text, name);
	label_vgpu(text, gpu, inst);
	sample_end(text, inst->state == VGPU_STATE_STARTED);
}

static void write_quarantined(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
			      const struct vgpu_ctl_instance *inst)
{
	sample_begin(text, name);
	label_vgpu(text, gpu, inst);
	sample_end(text, !!(inst->status & VGPU_INSTANCE_QUARANTINED));
}

static const struct {
	const char *name;
	const char *help;
	write_vgpu *write;
} of_vgpus[] = {
	{ "vgpu_vgpu_info", "The vGPU", write_info },
	{ "vgpu_vgpu_owner_info", "Who has the vGPU open", write_owner },
	{ "vgpu_vgpu_started", "1: the vGPU is open; 0: it is not", write_started },
	{ "vgpu_vgpu_quarantined", "1: the vGPU is in quarantine; 0: it is not",
		write_quarantined },
};

static void write_vgpus(struct text *text, const struct metrics *metrics)
{
	size_t i, g;
	uint32_t v;

	for (i = 0; i < sizeof(of_vgpus) / sizeof(of_vgpus[0]); i++) {
		metric_begin(text, of_vgpus[i].name, of_vgpus[i].help);
		for (g = 0; g < metrics->nr_gpus; g++)
			for (v = 0; v < metrics->gpu[g].stats.count; v++)
				of_vgpus[i].write(text, of_vgpus[i].name, &metrics->gpu[g].gpu,
						  &metrics->gpu[g].inst[v]);
	}
}

static void write_guest_driver(struct text *text, const char *name,
			       const struct vgpu_ctl_gpu *gpu,
			       const struct vgpu_ctl_instance *inst, const struct guest *guest)
{
	if (!guest_tells(guest))
		return;
	sample_begin(text, name);
	label_vgpu(text, gpu, inst);
	label_text(text, "guest_driver", guest->name);
	label_text(text, "guest_version", guest->version);
	label_text(text, "guest_os", guest->os);
	sample_end(text, 1);
}

/* Samples of a process: one for each engine that its channels are bound to. */
static void write_process(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
			  const struct vgpu_ctl_instance *inst, const char *which,
			  const struct guest_process *process)
{
	uint32_t i;

	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		if (!process->engine[i].channels)
			continue;
		sample_begin(text, name);
		label_vgpu(text, gpu, inst);
		label_engine(text, gpu, i);
		label_text(text, "process", which);
		if (process->named) {
			label_number(text, "guest_pid", process->pid);
			label_number(text, "guest_uid", process->uid);
			label_text(text, "guest_command", process->command);
			fprintf(text->out, ",guest_client=\"%" PRIu64 "\"", process->client);
		}
		sample_end_ns(text, process->engine[i].busy_ns);
	}
}

/*
 * The guest chooses how many labels there are, and each is a series: those of the largest times
 * have samples of their own, all others are one.
 */
static void write_guest_processes(struct text *text, const char *name,
				  const struct vgpu_ctl_gpu *gpu,
				  const struct vgpu_ctl_instance *inst, const struct guest *guest)
{
	struct guest_process others = { .named = false }, *process;
	uint32_t nr, i, named = 0;

	process = guest_processes(guest, &nr);
	for (i = 0; i < nr; i++) {
		if (!process[i].named)
			write_process(text, name, gpu, inst, "unnamed", &process[i]);
		else if (named++ < METRICS_GUEST_PROCESSES)
			write_process(text, name, gpu, inst, "named", &process[i]);
		else
			guest_process_join(&others, &process[i]);
	}
	write_process(text, name, gpu, inst, "others", &others);
	free(process);
}

/* Of vGPUs, too, but with what their guests say. */
static const struct {
	const char *name;
	const char *help;
	void (*write)(struct text *text, const char *name, const struct vgpu_ctl_gpu *gpu,
		      const struct vgpu_ctl_instance *inst, const struct guest *guest);
} of_guests[] = {
	{ "vgpu_vgpu_guest_driver_info", "The driver and the OS in the guest, by the guest's word",
		write_guest_driver },
	{ "vgpu_vgpu_guest_busy_seconds",
		"Time that channels of a process in the guest got since they were enabled",
		write_guest_processes },
};

static void write_guests(struct text *text, const struct metrics *metrics)
{
	size_t i, g;
	uint32_t v;

	for (i = 0; i < sizeof(of_guests) / sizeof(of_guests[0]); i++) {
		metric_begin(text, of_guests[i].name, of_guests[i].help);
		for (g = 0; g < metrics->nr_gpus; g++)
			for (v = 0; v < metrics->gpu[g].stats.count; v++)
				of_guests[i].write(text, of_guests[i].name, &metrics->gpu[g].gpu,
						   &metrics->gpu[g].inst[v],
						   &metrics->gpu[g].guest[v]);
	}
}

/* Writes @arg, a struct metrics. All samples of a metric stand together, as Prometheus wants it. */
void metrics_write(FILE *out, const void *arg)
{
	const struct metrics *metrics = arg;
	struct text text = { .out = out, .open = metrics->open };
	size_t i, g;

	metric_begin(&text, "vgpu_up", "1: the driver could be read; 0: it could not");
	sample_begin(&text, "vgpu_up");
	sample_end(&text, metrics->up);
	if (metrics->up) {
		write_driver(&text, metrics);
		write_gpus(&text, metrics);
		write_partitions(&text, metrics);
		write_vgpus(&text, metrics);
		write_guests(&text, metrics);
	}
	for (i = 0; metrics->up && i < sizeof(table) / sizeof(table[0]); i++) {
		metric_begin(&text, table[i].name, table[i].help);
		for (g = 0; g < metrics->nr_gpus; g++)
			samples_of_gpu(&text, &table[i], &metrics->gpu[g]);
	}
	if (metrics->open)
		fputs("# EOF\n", out);
}
