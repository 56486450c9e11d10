// SPDX-License-Identifier: GPL-2.0
/* Statistics of a GPU and its vGPUs for the control node. */
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "stats.h"

/* All of the element: it may not have been zeroed. */
static void stats_engine(struct vgpu_ctl_instance *inst, unsigned int engine,
			 const struct vgpu_entity_stats *s)
{
	inst->engine[engine] = (struct vgpu_ctl_instance_engine) {
		.busy_ns = s->busy_ns,
		.wait_ns = s->wait_ns,
		.max_wait_ns = s->max_wait_ns,
		.runs = s->runs,
		.switches = s->switches,
		.preemptions = s->preemptions,
		.overruns = s->overruns,
		.overrun_ns = s->overrun_ns,
		.max_overrun_ns = s->max_overrun_ns,
		.stalls = s->stalls,
		.faults = s->faults,
		.resets = s->resets,
		.packets = s->packets,
		.bytes = s->bytes,
		.linger_ns = s->linger_ns,
		.window_ns = s->window_ns,
	};
}

/* Fills in all statistics except those per engine. */
static void stats_instance(struct vgpu_instance *instance, struct vgpu_ctl_instance *out)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_ctl_share settings;

	out->gpu = gpu->id;
	out->type_index = instance->type->index;
	vgpu_session_report(instance, out);
	out->state = out->started_ns ? VGPU_STATE_STARTED : VGPU_STATE_CREATED;
	out->placement_gb = instance->info.fb_start >> 30;
	out->first_channel = instance->info.first_channel;
	out->channels = instance->info.nr_channels;
	out->engines = gpu->info.nr_engines;
	out->fb_bytes = instance->info.fb_bytes;
	raw_spin_lock(&gpu->data_lock);
	out->fb_backed_bytes = vgpu_instance_backed_bytes(instance);
	raw_spin_unlock(&gpu->data_lock);
	out->created_ns = instance->created_ns;
	out->now_ns = ktime_get_ns();
	out->frames = atomic64_read(&instance->frames);
	out->faults = atomic64_read(&instance->faults);
	out->interrupts = atomic64_read(&instance->interrupts);
	out->doorbells = atomic64_read(&instance->doorbells);
	out->resets = atomic64_read(&instance->resets);
	out->dma_read_bytes = atomic64_read(&instance->dma_read_bytes);
	out->dma_written_bytes = atomic64_read(&instance->dma_written_bytes);
	raw_spin_lock(&instance->quarantine_lock);
	out->quarantine_until_ns = instance->quarantine.until_ns;
	out->quarantines = instance->quarantine.quarantines;
	raw_spin_unlock(&instance->quarantine_lock);
	if (out->quarantine_until_ns)
		out->status |= VGPU_INSTANCE_QUARANTINED;
	if (READ_ONCE(instance->pauses))
		out->status |= VGPU_INSTANCE_PAUSED;
	vgpu_move_report(&instance->move, out);
	strscpy(out->type_name, instance->type->name, sizeof(out->type_name));
	vgpu_shares_get(instance, &settings);
	vgpu_share_report(&settings, out);
	out->frl_fps = vgpu_shares_frl(instance);
}

/**
 * vgpu_stats_instance() - report a vGPU
 * @instance: its GPU has been entered by vgpu_gpu_enter(), or is not gone
 * @out:      zeroed up to engine except for size and uuid; filled in
 *
 * Context: sleeps.
 */
void vgpu_stats_instance(struct vgpu_instance *instance, struct vgpu_ctl_instance *out)
{
	struct vgpu_entity_stats stats;
	unsigned int i;

	stats_instance(instance, out);
	for (i = 0; i < instance->gpu->info.nr_engines; i++) {
		vgpu_entity_stats(&instance->entity[i], &stats);
		stats_engine(out, i, &stats);
	}
}

/**
 * vgpu_stats_begin() - take references to all whose statistics are to be read together
 * @gpu: its data_lock is held; entered by vgpu_gpu_enter(), or not gone
 * @of:  set, for vgpu_stats_end()
 *
 * What the GPU has of those that are gone is to be read with the same lock held.
 */
void vgpu_stats_begin(struct vgpu_gpu *gpu, struct vgpu_stats_of *of)
{
	vgpu_partitions_get_locked(gpu, &of->parts);
	vgpu_instances_get_locked(gpu, &of->all);
}

/**
 * vgpu_stats_end() - drop the references of vgpu_stats_begin()
 * @of: the caller must not use it afterwards
 *
 * Context: process context; sleeps only if it drops a last reference.
 */
void vgpu_stats_end(struct vgpu_stats_of *of)
{
	vgpu_instances_put(&of->all);
	vgpu_partitions_put(&of->parts);
}

/* Argument of stats_part_each(): the caller's, and which instances a timeline's entities are. */
struct stats_part {
	void (*each)(void *arg, unsigned int index, const struct vgpu_entity_stats *stats);
	void *arg;
	unsigned int index[VGPU_PLACEMENT_MAX];
};

static void stats_part_each(void *arg, unsigned int index, const struct vgpu_entity_stats *stats)
{
	struct stats_part *read = arg;

	read->each(read->arg, read->index[index], stats);
}

/**
 * vgpu_stats_engine() - read the statistics of an engine and all vGPUs on it
 * @of:     the partitions, and the vGPUs in them. Those of one partition are read at one time
 * @engine: index of the engine
 * @sum:    the statistics of all partitions' engines of this index are added
 * @each:   called for each of the vGPUs, with its index and its statistics without histograms. Must
 *          not sleep
 * @arg:    for @each
 */
void vgpu_stats_engine(const struct vgpu_stats_of *of, unsigned int engine,
		       struct vgpu_timeline_stats *sum,
		       void (*each)(void *arg, unsigned int index,
				    const struct vgpu_entity_stats *stats), void *arg)
{
	struct vgpu_entity *entities[VGPU_PLACEMENT_MAX];
	struct stats_part read = { .each = each, .arg = arg };
	struct vgpu_timeline_stats stats;
	unsigned int i, k, nr;

	for (i = 0; i < of->parts.nr; i++) {
		for (k = nr = 0; k < of->all.nr; k++) {
			if (of->all.at[k]->part != of->parts.at[i])
				continue;
			read.index[nr] = k;
			entities[nr++] = &of->all.at[k]->entity[engine];
		}
		vgpu_timeline_read(vgpu_sched_timeline(of->parts.at[i]->sched, engine), &stats,
				   entities, nr, stats_part_each, &read);
		vgpu_timeline_stats_add(sum, &stats);
	}
}

/* Argument of stats_each(): the entries to fill in, and the engine that is being read. */
struct stats_read {
	const struct vgpu_ctl_entries *entries;
	unsigned int engine;
};

static void stats_each(void *arg, unsigned int index, const struct vgpu_entity_stats *stats)
{
	struct stats_read *read = arg;

	stats_engine(vgpu_ctl_entry(read->entries, index), read->engine, stats);
}

static void stats_set_engine(struct vgpu_ctl_stats_engine *out,
			     const struct vgpu_timeline_stats *stats)
{
	*out = (struct vgpu_ctl_stats_engine) {
		.busy_ns = stats->busy_ns,
		.gone_ns = stats->gone_ns,
		.linger_ns = stats->linger_ns,
		.wall_ns = stats->wall_ns,
		.runs = stats->runs,
		.switches = stats->switches,
		.resets = stats->resets,
	};
}

/* Adds to what @out has of partitions that are gone. */
static void stats_read_engine(const struct vgpu_stats_of *of, unsigned int engine,
			      struct vgpu_ctl_stats_engine *out,
			      const struct vgpu_ctl_entries *entries)
{
	struct stats_read read = { .entries = entries, .engine = engine };
	struct vgpu_timeline_stats stats = {
		.busy_ns = out->busy_ns,
		.gone_ns = out->gone_ns,
		.linger_ns = out->linger_ns,
		.wall_ns = out->wall_ns,
		.runs = out->runs,
		.switches = out->switches,
		.resets = out->resets,
	};

	vgpu_stats_engine(of, engine, &stats, stats_each, &read);
	stats_set_engine(out, &stats);
}

/**
 * vgpu_stats_gpu() - report a GPU and all its vGPUs, at one time
 * @gpu:     the GPU; entered by vgpu_gpu_enter()
 * @out:     zeroed from now_ns up to engine; filled in, with the number of vGPUs
 * @entries: VGPU_PLACEMENT_MAX times struct vgpu_ctl_instance; filled in, one for each vGPU
 *
 * Reports the vGPUs that exist when this begins. A vGPU that is destroyed meanwhile is reported,
 * and not included in the sums of destroyed vGPUs.
 *
 * Context: sleeps.
 */
void vgpu_stats_gpu(struct vgpu_gpu *gpu, struct vgpu_ctl_stats *out,
		    const struct vgpu_ctl_entries *entries)
{
	struct vgpu_stats_of of;
	unsigned int i;

	raw_spin_lock(&gpu->data_lock);
	vgpu_stats_begin(gpu, &of);
	for (i = 0; i < gpu->info.nr_engines; i++)
		stats_set_engine(&out->engine[i], &gpu->division.gone[i]);
	out->gone_frames = gpu->gone_frames;
	out->gone_faults = gpu->gone_faults;
	raw_spin_unlock(&gpu->data_lock);
	out->count = of.all.nr;
	out->engines = gpu->info.nr_engines;
	out->frames = out->gone_frames;
	out->faults = out->gone_faults;
	for (i = 0; i < of.all.nr; i++) {
		struct vgpu_ctl_instance *entry = vgpu_ctl_entry(entries, i);

		vgpu_uuid_export(entry->uuid, &of.all.at[i]->uuid);
		stats_instance(of.all.at[i], entry);
		out->fb_backed_bytes += entry->fb_backed_bytes;
		out->frames += entry->frames;
		out->faults += entry->faults;
	}
	for (i = 0; i < out->engines; i++)
		stats_read_engine(&of, i, &out->engine[i], entries);
	out->now_ns = ktime_get_ns();
	vgpu_stats_end(&of);
}
