// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of a GPU and its vGPUs (sample_ring.h). A work item samples all of them every 100 ms,
 * from the open of the GPU's first vGPU, with a last sample after the close of the last one. While
 * no vGPU is open, the work item does not run, and there is nothing to sample.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "stats.h"

#define VGPU_SAMPLE_PERIOD_MS	100

/*
 * Unbound, so that the work does not wait for a processor that a guest keeps busy; freezable, so
 * that the time in which the host is suspended belongs to one period.
 */
static struct workqueue_struct *vgpu_sample_wq;

/* Argument of sample_each(): the vGPUs, and the engine that is being read. */
struct sample_read {
	struct vgpu_stats_of of;
	unsigned int engine;
};

static void sample_each(void *arg, unsigned int index, const struct vgpu_entity_stats *stats)
{
	struct sample_read *read = arg;
	struct vgpu_sample *now = vgpu_sample_ring_next(read->of.all.at[index]->samples);

	now->busy_ns[read->engine] = stats->busy_ns;
}

static void sample_engines(struct vgpu_gpu *gpu, struct vgpu_sample *sum)
{
	struct vgpu_timeline_stats stats;
	struct sample_read read;
	unsigned int i;

	raw_spin_lock(&gpu->data_lock);
	vgpu_stats_begin(gpu, &read.of);
	for (i = 0; i < gpu->info.nr_engines; i++)
		sum->busy_ns[i] = gpu->division.gone[i].busy_ns;
	raw_spin_unlock(&gpu->data_lock);
	for (i = 0; i < gpu->info.nr_engines; i++) {
		read.engine = i;
		memset(&stats, 0, sizeof(stats));
		vgpu_stats_engine(&read.of, i, &stats, sample_each, &read);
		sum->busy_ns[i] += stats.busy_ns;
	}
	vgpu_stats_end(&read.of);
}

/* Takes a sample. The activity of a vGPU created meanwhile is part of its next sample. */
static void sample_take(struct vgpu_gpu *gpu, u64 period_ns, u64 now_ns)
{
	struct vgpu_sample *sum = vgpu_sample_ring_next(gpu->samples);
	struct vgpu_instance *instance;

	sample_engines(gpu, sum);
	sum->time_ns = now_ns;
	sum->period_ns = period_ns;
	sum->fb_backed_bytes = 0;
	raw_spin_lock(&gpu->data_lock);
	sum->frames = gpu->gone_frames;
	list_for_each_entry(instance, &gpu->instances, link) {
		struct vgpu_sample *now = vgpu_sample_ring_next(instance->samples);

		now->time_ns = now_ns;
		now->period_ns = period_ns;
		now->fb_backed_bytes = vgpu_instance_backed_bytes(instance);
		now->frames = atomic64_read(&instance->frames);
		sum->fb_backed_bytes += now->fb_backed_bytes;
		sum->frames += now->frames;
		vgpu_sample_ring_add(instance->samples);
	}
	vgpu_sample_ring_add(gpu->samples);
	raw_spin_unlock(&gpu->data_lock);
}

static void sample_arm(struct vgpu_sampler *sampler)
{
	queue_delayed_work(vgpu_sample_wq, &sampler->work,
			   msecs_to_jiffies(VGPU_SAMPLE_PERIOD_MS));
}

static void sample_work(struct work_struct *work)
{
	struct vgpu_sampler *sampler =
		container_of(to_delayed_work(work), struct vgpu_sampler, work);
	struct vgpu_gpu *gpu = container_of(sampler, struct vgpu_gpu, sampler);
	u64 begin_ns, now_ns;

	raw_spin_lock(&sampler->lock);
	begin_ns = sampler->begin_ns;
	now_ns = ktime_get_ns();
	sampler->begin_ns = now_ns;
	/* Closing a vGPU after this arms the work once more. */
	sampler->armed = sampler->nr_open;
	if (sampler->armed)
		sample_arm(sampler);
	raw_spin_unlock(&sampler->lock);
	sample_take(gpu, now_ns - begin_ns, now_ns);
}

/**
 * vgpu_sampler_open() - tell the sampler that a vGPU was opened
 * @gpu: its GPU
 *
 * Context: process context; does not sleep.
 */
void vgpu_sampler_open(struct vgpu_gpu *gpu)
{
	struct vgpu_sampler *sampler = &gpu->sampler;

	raw_spin_lock(&sampler->lock);
	sampler->nr_open++;
	if (!sampler->armed) {
		sampler->armed = true;
		sampler->begin_ns = ktime_get_ns();
		sample_arm(sampler);
	}
	raw_spin_unlock(&sampler->lock);
}

/**
 * vgpu_sampler_close() - tell the sampler that a vGPU was closed
 * @gpu: its GPU
 *
 * Context: process context; does not sleep.
 */
void vgpu_sampler_close(struct vgpu_gpu *gpu)
{
	raw_spin_lock(&gpu->sampler.lock);
	gpu->sampler.nr_open--;
	raw_spin_unlock(&gpu->sampler.lock);
}

static unsigned int sample_export(const guid_t *uuid, const struct vgpu_sample *sample,
				  struct vgpu_ctl_sample *out, unsigned int engines)
{
	unsigned int i;

	if (!sample)
		return 0;
	if (uuid)
		vgpu_uuid_export(out->uuid, uuid);
	out->time_ns = sample->time_ns;
	out->period_ns = sample->period_ns;
	out->fb_backed_bytes = sample->fb_backed_bytes;
	out->frames = sample->frames;
	for (i = 0; i < engines; i++)
		out->engine[i].busy_ns = sample->busy_ns[i];
	return 1;
}

/*
 * Exports the samples of the period after that which ends at next_ns of @ctl, to the entries from
 * count of @ctl on. Sets @end_ns to its end, or to 0 if there is no such period. Returns its number
 * of samples; writes none if that is more than there is room for.
 */
static unsigned int sample_period(struct vgpu_gpu *gpu, const struct vgpu_ctl_samples *ctl,
				  u64 *end_ns, const struct vgpu_ctl_entries *entries)
{
	unsigned int nr = 0, engines = ctl->engines;
	const struct vgpu_sample *sample, *its;
	struct vgpu_instance *instance;

	lockdep_assert_held(&gpu->data_lock);
	sample = vgpu_sample_ring_after(gpu->samples, ctl->next_ns);
	*end_ns = sample ? sample->time_ns : 0;
	if (!sample)
		return 0;
	if (gpu->nr_instances + 1 > entries->nr - ctl->count)
		return gpu->nr_instances + 1;
	nr += sample_export(NULL, sample, vgpu_ctl_entry(entries, ctl->count), engines);
	list_for_each_entry(instance, &gpu->instances, link) {
		its = vgpu_sample_ring_at(instance->samples, sample->time_ns);
		nr += sample_export(&instance->uuid, its, vgpu_ctl_entry(entries, ctl->count + nr),
				    engines);
	}
	return nr;
}

/**
 * vgpu_sample_list() - report samples of a GPU and its vGPUs
 * @gpu:     a reference is held
 * @ctl:     periods that end after since_ns are reported; engines, count, next_ns and more are set
 * @entries: of struct vgpu_ctl_sample, VGPU_SAMPLES_ROOM at least; filled in, with whole periods
 */
void vgpu_sample_list(struct vgpu_gpu *gpu, struct vgpu_ctl_samples *ctl,
		      const struct vgpu_ctl_entries *entries)
{
	unsigned int nr;
	u64 end_ns;

	BUILD_BUG_ON(VGPU_PLACEMENT_MAX + 1 > VGPU_SAMPLES_ROOM);
	ctl->engines = gpu->info.nr_engines;
	ctl->next_ns = ctl->since_ns;
	ctl->more = 0;
	ctl->count = 0;
	for (;;) {
		/* Release the lock after each period, so that nobody waits for all of them. */
		raw_spin_lock(&gpu->data_lock);
		nr = sample_period(gpu, ctl, &end_ns, entries);
		raw_spin_unlock(&gpu->data_lock);
		if (!end_ns)
			break;
		if (nr > entries->nr - ctl->count) {
			ctl->more = 1;
			break;
		}
		ctl->count += nr;
		ctl->next_ns = end_ns;
	}
}

/**
 * vgpu_sampler_init() - prepare to sample a GPU
 * @gpu: being registered
 */
void vgpu_sampler_init(struct vgpu_gpu *gpu)
{
	raw_spin_lock_init(&gpu->sampler.lock);
	INIT_DELAYED_WORK(&gpu->sampler.work, sample_work);
}

/**
 * vgpu_sampler_exit() - stop sampling a GPU
 * @gpu: has no vGPUs any more; its lock is not held
 *
 * Context: sleeps.
 */
void vgpu_sampler_exit(struct vgpu_gpu *gpu)
{
	cancel_delayed_work_sync(&gpu->sampler.work);
}

/**
 * vgpu_sample_init() - module init
 *
 * Return: 0 or -ENOMEM.
 */
int vgpu_sample_init(void)
{
	vgpu_sample_wq = alloc_workqueue("vgpu-sample", WQ_UNBOUND | WQ_FREEZABLE, 0);
	return vgpu_sample_wq ? 0 : -ENOMEM;
}

/**
 * vgpu_sample_exit() - module exit, when all GPUs have been unregistered
 */
void vgpu_sample_exit(void)
{
	destroy_workqueue(vgpu_sample_wq);
}
