// SPDX-License-Identifier: GPL-2.0
/*
 * busy UUID [ENGINE]: opens a vGPU and fills its framebuffer on an engine (by its index, 0)
 * until killed, with several jobs under way at any time. Prints "busy" when the first jobs are
 * done.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libvgpu.h>

#define MIB		(1ull << 20)
#define JOB_BYTES	(4 * MIB)
#define DEPTH		16
#define TIMEOUT_MS	60000

static int failed(const struct vgpu_dev *dev)
{
	fprintf(stderr, "busy: %s\n", vgpu_dev_error(dev));
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t fence, jobs;
	struct vgpu_chan *chan;
	struct vgpu_dev *dev;
	uint32_t engine;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "Usage: busy UUID [ENGINE]\n");
		return 2;
	}
	engine = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	if (vgpu_dev_open_vfio(&dev, argv[1]))
		return failed(NULL);
	if (vgpu_chan_create(dev, engine, VGPU_RING_FB, 6, &chan))
		return failed(dev);
	for (jobs = 0; ; jobs++) {
		if (vgpu_chan_fill(chan, VGPU_FB(MIB), (uint32_t)jobs, JOB_BYTES) ||
		    vgpu_chan_fence(chan, &fence) ||
		    (jobs >= DEPTH &&
		     vgpu_chan_wait(chan, fence - DEPTH, TIMEOUT_MS)))
			return failed(dev);
		if (jobs == DEPTH) {
			puts("busy");
			fflush(stdout);
		}
	}
}
