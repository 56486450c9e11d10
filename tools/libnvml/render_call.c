// SPDX-License-Identifier: GPL-2.0
/* Calls of the guest's driver, and the time between two looks at it. */
#include <errno.h>
#include <time.h>

#include "../libvgpu/node_find.h"
#include "render.h"

nvmlReturn_t nv_render_call(const struct nvmlDevice_st *device, unsigned long request, void *arg)
{
	return nv_node_error(-vgpu_node_call_fd(device->fd, request, arg));
}

void nv_render_sleep(uint64_t until_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
