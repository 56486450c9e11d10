// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of a guest's GPU: what its vGPU has used of each engine, as the host measures it. The host
 * tells sums, and the library has looks (looks.c). There is none before nvmlInit(): who asks sooner
 * than a load can be told waits for that.
 */
#include <stdlib.h>
#include <string.h>

#include "render.h"

#define SEC_NS		1000000000ull
#define TRIES		3	/* a VM moves to another host once in a while, not always */

/* @host_ns: of the host's clock, by which the times are measured */
struct load_look {
	struct nv_look head;
	uint64_t host_ns;
	struct drm_vgpu_engine_usage engine[DRM_VGPU_ENGINES_MAX];
};

static const struct load_look *load_look_of(const struct nvmlDevice_st *device, unsigned int i)
{
	return (const struct load_look *)device->looks.look[i];
}

/* Looks. The clock of another host tells nothing together with what was before. */
static nvmlReturn_t load_look(struct nvmlDevice_st *device)
{
	struct drm_vgpu_usage usage = { 0 };
	struct drm_vgpu_usage_query query = { .size = sizeof(usage), .pointer = (uintptr_t)&usage };
	const struct load_look *last = load_look_of(device, 0);
	struct load_look *look;
	nvmlReturn_t ret;

	ret = nv_render_call(device, DRM_IOCTL_VGPU_USAGE_QUERY, &query);
	if (ret)
		return ret;
	if (usage.nr_engines != device->info.engines)
		return NVML_ERROR_UNKNOWN;
	look = calloc(1, sizeof(*look));
	if (!look)
		return NVML_ERROR_MEMORY;
	look->head.time_ns = nv_clock_ns(CLOCK_MONOTONIC);
	look->host_ns = usage.time_ns;
	memcpy(look->engine, usage.engine, sizeof(look->engine));
	if (last && look->host_ns < last->host_ns)
		nv_looks_forget(&device->looks);
	nv_looks_push(&device->looks, &look->head);
	return NVML_SUCCESS;
}

nvmlReturn_t nv_render_load_init(struct nvmlDevice_st *device)
{
	nvmlReturn_t ret = load_look(device);

	return ret == NVML_ERROR_MEMORY ? ret : NVML_SUCCESS;
}

/* Makes sure that the last look is new, and that there is one before it. */
static nvmlReturn_t load_looks(struct nvmlDevice_st *device)
{
	struct nv_looks *looks = &device->looks;
	bool fresh = nv_looks_fresh(looks, nv_clock_ns(CLOCK_MONOTONIC));
	nvmlReturn_t ret = NVML_SUCCESS;
	unsigned int i;

	if (fresh && looks->look[1])
		return NVML_SUCCESS;
	for (i = 0; !ret && i < TRIES; i++) {
		if (fresh)
			nv_render_sleep(nv_looks_next_ns(looks));
		ret = load_look(device);
		if (!ret && looks->look[1])
			return NVML_SUCCESS;
		fresh = true;
	}
	return ret ? ret : NVML_ERROR_NOT_READY;
}

/* What each engine has worked between two looks; before a reset of the vGPU counts as nothing. */
static void load_busy(const struct load_look *from, const struct load_look *to,
		      struct vgpu_ctl_engine_busy *busy)
{
	unsigned int i;

	for (i = 0; i < DRM_VGPU_ENGINES_MAX; i++) {
		busy[i].busy_ns = to->engine[i].service_ns;
		if (from->engine[i].service_ns <= busy[i].busy_ns)
			busy[i].busy_ns -= from->engine[i].service_ns;
	}
}

static void load_percent(const struct nvmlDevice_st *device, const struct load_look *from,
			 const struct load_look *to, unsigned int percent[NV_ENGINES])
{
	struct vgpu_ctl_engine_busy busy[DRM_VGPU_ENGINES_MAX] = { { 0 } };

	load_busy(from, to, busy);
	nv_percent(&device->info, busy, to->host_ns - from->host_ns, percent);
}

/* The look that a load of now is counted from: a second ago, or the last one before that. */
static const struct load_look *load_base(const struct nvmlDevice_st *device)
{
	uint64_t now_ns = device->looks.look[0]->time_ns;
	uint64_t since_us = nv_time_us(now_ns > SEC_NS ? now_ns - SEC_NS : 0);

	return (const struct load_look *)nv_looks_base(&device->looks, since_us);
}

nvmlReturn_t nv_render_load(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES])
{
	nvmlReturn_t ret = load_looks(device);

	if (!ret)
		load_percent(device, load_base(device), load_look_of(device, 0), percent);
	return ret;
}

/* Per cent of what is due of the engines of a class, together. */
static unsigned int load_of_due(const struct nvmlDevice_st *device, const struct load_look *look,
				const struct vgpu_ctl_engine_busy *busy, uint64_t period_ns,
				enum nv_engine engine)
{
	double used = 0, due = 0;
	unsigned int i;

	for (i = 0; i < device->info.engines; i++)
		if (device->info.engine[i].engine_class == nv_engine_class[engine]) {
			used += (double)busy[i].busy_ns;
			due += (double)period_ns * look->engine[i].due_permille / 1000;
		}
	return used < due ? (unsigned int)(100 * used / due + 0.5) : used > 0 ? 100 : 0;
}

nvmlReturn_t nv_render_load_of_due(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES])
{
	struct vgpu_ctl_engine_busy busy[DRM_VGPU_ENGINES_MAX] = { { 0 } };
	const struct load_look *from, *to;
	nvmlReturn_t ret = load_looks(device);
	unsigned int e;

	if (ret)
		return ret;
	from = load_base(device);
	to = load_look_of(device, 0);
	load_busy(from, to, busy);
	for (e = 0; e < NV_ENGINES; e++)
		percent[e] = load_of_due(device, to, busy, to->host_ns - from->host_ns, e);
	return NVML_SUCCESS;
}

/* A sample is what was between two looks. */
nvmlReturn_t nv_render_samples(struct nvmlDevice_st *device, uint64_t since_us,
			       struct nv_samples *samples)
{
	nvmlReturn_t ret = load_looks(device);
	unsigned int i;

	if (ret)
		return ret;
	memset(samples, 0, sizeof(*samples));
	samples->sample = calloc(NV_LOOKS, sizeof(*samples->sample));
	if (!samples->sample)
		return NVML_ERROR_MEMORY;
	samples->spare = 2;
	samples->now_ns = device->looks.look[0]->time_ns;
	for (i = NV_LOOKS - 1; i; i--) {
		struct nv_sample *sample = &samples->sample[samples->nr];
		const struct load_look *from = load_look_of(device, i);
		const struct load_look *to = load_look_of(device, i - 1);

		if (!from || nv_time_us(to->head.time_ns) <= since_us)
			continue;
		sample->time_us = nv_time_us(to->head.time_ns);
		load_percent(device, from, to, sample->percent);
		samples->nr++;
	}
	return NVML_SUCCESS;
}
