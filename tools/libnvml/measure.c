// SPDX-License-Identifier: GPL-2.0
/* Times, and loads of engines, as clients count them: us since 1970, per cent. */
#include <time.h>

#include "internal.h"

uint64_t nv_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t nv_time_us(uint64_t monotonic_ns)
{
	return (monotonic_ns + nv.epoch_ns) / 1000;
}

const uint32_t nv_engine_class[NV_ENGINES] = {
	[NV_SM] = VGPU_HW_ENGINE_GR,
	[NV_MEM] = VGPU_HW_ENGINE_CE,
	[NV_ENC] = VGPU_HW_ENGINE_ENC,
	[NV_DEC] = VGPU_HW_ENGINE_DEC,
};

bool nv_has_engine(const struct nvmlDevice_st *device, enum nv_engine engine)
{
	unsigned int i;

	for (i = 0; i < device->info.engines && i < VGPU_MAX_ENGINES; i++)
		if (device->info.engine[i].engine_class == nv_engine_class[engine])
			return true;
	return false;
}

void nv_percent(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_engine_busy *engine,
		uint64_t period_ns, unsigned int percent[NV_ENGINES])
{
	unsigned int e, i, nr;
	uint64_t sum_ns;

	for (e = 0; e < NV_ENGINES; e++) {
		nr = 0;
		sum_ns = 0;
		for (i = 0; i < gpu->engines && i < VGPU_MAX_ENGINES; i++)
			if (gpu->engine[i].engine_class == nv_engine_class[e]) {
				sum_ns += engine[i].busy_ns;
				nr++;
			}
		percent[e] = 0;
		if (nr && period_ns)
			percent[e] = (unsigned int)((200 * sum_ns / nr + period_ns) /
						    (2 * period_ns));
		if (percent[e] > 100)
			percent[e] = 100;
	}
}
