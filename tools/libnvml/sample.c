// SPDX-License-Identifier: GPL-2.0
/* Samples of what GPUs and vGPUs did, as clients count it: times in us, loads in per cent. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SAMPLE_ROOM	1024	/* the most that a call gives */
#define SEC_NS		1000000000ull

/* A part of the samples that the driver has, in the order of their times. */
struct sample_page {
	struct vgpu_ctl_samples call;
	uint64_t entries[];	/* struct vgpu_ctl_sample, of entry_size bytes each */
};

static const struct vgpu_ctl_sample *sample_entry(const struct sample_page *page, unsigned int i)
{
	return (const void *)((const uint8_t *)page->entries + (size_t)i * page->call.entry_size);
}

/* The next page after the one that is there; the first one, if @page was only just set up. */
static nvmlReturn_t sample_next(struct sample_page *page)
{
	page->call.since_ns = page->call.next_ns;
	page->call.count = SAMPLE_ROOM;
	page->call.more = 0;
	return nv_node_call(VGPU_IOC_SAMPLES, &page->call);
}

static struct sample_page *sample_pages(const struct nvmlDevice_st *device, uint64_t since_ns)
{
	size_t entry_size = nv_entry_size(struct vgpu_ctl_sample, device->info.engines);
	struct sample_page *page = malloc(sizeof(*page) + SAMPLE_ROOM * entry_size);

	if (!page)
		return NULL;
	memset(page, 0, sizeof(*page));
	page->call.size = sizeof(page->call);
	page->call.gpu = device->info.gpu;
	page->call.entry_size = (uint32_t)entry_size;
	page->call.entries = (uintptr_t)page->entries;
	page->call.next_ns = since_ns;
	return page;
}

static const struct vgpu_ctl_instance *sample_instance(const struct nv_vgpus *vgpus,
						       const struct vgpu_ctl_sample *entry)
{
	unsigned int i;

	for (i = 0; i < vgpus->nr; i++)
		if (!memcmp(vgpus->inst[i].uuid, entry->uuid, VGPU_UUID_LEN) &&
		    entry->time_ns > vgpus->inst[i].created_ns)
			return &vgpus->inst[i];
	return NULL;
}

static nvmlReturn_t sample_add(const struct nvmlDevice_st *device,
			       const struct vgpu_ctl_sample *entry,
			       const struct vgpu_ctl_instance *inst, struct nv_samples *samples)
{
	/* Doubles at each power of two. */
	bool full = !(samples->nr & (samples->nr - 1));
	struct nv_sample *sample = samples->sample;

	if (full) {
		sample = realloc(sample, (2 * samples->nr + 1) * sizeof(*sample));
		if (!sample)
			return NVML_ERROR_MEMORY;
		samples->sample = sample;
	}
	sample = &samples->sample[samples->nr];
	memset(sample, 0, sizeof(*sample));
	if (inst) {
		sample->vgpu = nv_vgpu_id(inst);
		if (!sample->vgpu)
			return NVML_ERROR_MEMORY;
		if (inst->started_ns && entry->time_ns > inst->started_ns) {
			sample->pid = (unsigned int)inst->owner_pid;
			sample->comm = inst->owner_comm;
		}
	}
	sample->time_us = nv_time_us(entry->time_ns);
	nv_percent(&device->info, entry->engine, entry->period_ns, sample->percent);
	samples->nr++;
	return NVML_SUCCESS;
}

static nvmlReturn_t sample_add_page(const struct nvmlDevice_st *device, uint64_t since_us,
				    const struct sample_page *page, struct nv_samples *samples)
{
	static const uint8_t no_uuid[VGPU_UUID_LEN];
	const struct vgpu_ctl_instance *inst = NULL;
	nvmlReturn_t ret = NVML_SUCCESS;
	unsigned int i;

	for (i = 0; !ret && i < page->call.count && i < SAMPLE_ROOM; i++) {
		const struct vgpu_ctl_sample *entry = sample_entry(page, i);
		bool of_gpu = !memcmp(entry->uuid, no_uuid, sizeof(no_uuid));

		if (of_gpu == !!samples->vgpus || nv_time_us(entry->time_ns) <= since_us)
			continue;
		if (!of_gpu)
			inst = sample_instance(samples->vgpus, entry);
		if (of_gpu || inst)
			ret = sample_add(device, entry, inst, samples);
	}
	return ret;
}

nvmlReturn_t nv_samples_read(struct nvmlDevice_st *device, uint64_t since_us, bool of_gpu,
			     struct nv_samples *samples)
{
	uint64_t epoch_us = nv.epoch_ns / 1000, since_ns = 0;
	nvmlReturn_t ret = NVML_SUCCESS;
	struct sample_page *page;

	memset(samples, 0, sizeof(*samples));
	/* Nothing is later than what lies beyond what the clock can show. */
	if (since_us > epoch_us)
		since_ns = since_us - epoch_us > UINT64_MAX / 2000 ? UINT64_MAX :
			   (since_us - epoch_us - 1) * 1000;
	page = sample_pages(device, since_ns);
	if (!page)
		return NVML_ERROR_MEMORY;
	if (!of_gpu)
		ret = nv_vgpus(device, false, &samples->vgpus);
	samples->spare = of_gpu ? 2 : 2 * samples->vgpus->nr;
	do {
		if (!ret)
			ret = sample_next(page);
		if (!ret)
			ret = sample_add_page(device, since_us, page, samples);
	} while (!ret && page->call.more);
	samples->now_ns = page->call.now_ns;
	free(page);
	if (ret)
		nv_samples_free(samples);
	return ret;
}

void nv_samples_free(struct nv_samples *samples)
{
	free(samples->sample);
	memset(samples, 0, sizeof(*samples));
}

nvmlReturn_t nv_put_samples(const struct nv_samples *samples, const void *array,
			    unsigned int *room)
{
	bool fits = array && *room >= samples->nr;

	*room = samples->nr;
	if (!samples->nr)
		return NVML_ERROR_NOT_FOUND;
	if (fits)
		return NVML_SUCCESS;
	*room += samples->spare;
	return NVML_ERROR_INSUFFICIENT_SIZE;
}

/* Adds up the GPU's samples of a page. @end_ns: of the last one */
static uint64_t sample_sum(const struct sample_page *page, struct vgpu_ctl_engine_busy *sum,
			   uint64_t *end_ns)
{
	static const uint8_t no_uuid[VGPU_UUID_LEN];
	uint64_t period_ns = 0;
	unsigned int i, e;

	for (i = 0; i < page->call.count && i < SAMPLE_ROOM; i++) {
		const struct vgpu_ctl_sample *entry = sample_entry(page, i);

		if (memcmp(entry->uuid, no_uuid, sizeof(no_uuid)))
			continue;
		for (e = 0; e < page->call.engines && e < VGPU_MAX_ENGINES; e++)
			sum[e].busy_ns += entry->engine[e].busy_ns;
		period_ns += entry->period_ns;
		*end_ns = entry->time_ns;
	}
	return period_ns;
}

/*
 * There are no samples of a GPU whose vGPUs all are closed: what lies between the last one and now,
 * beyond a period, is time in which nothing ran.
 */
nvmlReturn_t nv_load(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES])
{
	uint64_t period_ns = 0, end_ns = 0, one_ns;
	struct vgpu_ctl_engine_busy sum[VGPU_MAX_ENGINES] = { { 0 } };
	struct sample_page *page;
	struct vgpu_ctl_gpu gpu;
	nvmlReturn_t ret;

	ret = nv_node_gpu(device->info.gpu, &gpu);
	if (ret)
		return ret;
	page = sample_pages(device, gpu.now_ns > SEC_NS ? gpu.now_ns - SEC_NS : 0);
	if (!page)
		return NVML_ERROR_MEMORY;
	do {
		ret = sample_next(page);
		if (!ret)
			period_ns += sample_sum(page, sum, &end_ns);
	} while (!ret && page->call.more);
	one_ns = page->call.count ? sample_entry(page, page->call.count - 1)->period_ns : 0;
	if (end_ns && page->call.now_ns > end_ns + 2 * one_ns)
		period_ns += page->call.now_ns - end_ns;
	free(page);
	if (!ret)
		nv_percent(&device->info, sum, period_ns, percent);
	return ret;
}
