// SPDX-License-Identifier: GPL-2.0
/* Shows surfaces by PRESENT, one after the other, each until the host has looked at it. */
#include "guest.h"
#include "picture.h"

#define LOOK_S	600

static const struct surface surfaces[] = {
	{ 640, 480, 0, 0 },
	{ 640, 480, 0, 4096 },
	{ 1024, 768, 256, 0 },
	{ 800, 600, 0, 12 },
	{ 333, 77, 4, 4100 },
	{ 1920, 1080, 0, 0 },
};

bool present_surface(struct work *work, const struct surface *surface, uint32_t seed)
{
	uint32_t pitch = 4 * surface->width + surface->pad;
	struct vgpu_dev *dev = work->dev;
	uint64_t at;

	if (vgpu_fb_alloc(dev, surface->skip + (uint64_t)pitch * surface->height, MIB, &at))
		return failed("memory: %s", vgpu_dev_error(dev));
	at += surface->skip;
	picture_draw(dev->fb + at, surface->width, surface->height, pitch, seed);
	if (vgpu_chan_present(work->chan[0], at, surface->width, surface->height, pitch))
		return failed("present: %s", vgpu_dev_error(dev));
	if (!work_wait(work, 0))
		return false;
	say("shown %u %u %u", surface->width, surface->height, seed);
	return true;
}

bool present_run(struct vgpu_dev *dev, const struct options *options)
{
	struct work work;
	int port = tell_open();
	unsigned int i;
	bool ok;

	if (port < 0 || !work_start(&work, dev, VGPU_RING_FB))
		return false;
	say("working: until nobody looks");
	ok = tell_wait(port, LOOK_S);
	for (i = 0; ok && i < sizeof(surfaces) / sizeof(surfaces[0]); i++) {
		ok = present_surface(&work, &surfaces[i], (uint32_t)options->seed + i) &&
			tell_wait(port, LOOK_S);
	}
	work_stop(&work);
	/* A reset takes the picture away. */
	if (ok && vgpu_dev_reset(dev))
		ok = failed("reset: %s", vgpu_dev_error(dev));
	if (ok) {
		say("reset");
		ok = tell_wait(port, LOOK_S);
	}
	return ok;
}
