// SPDX-License-Identifier: GPL-2.0
/*
 * The victim: an honest client on the same GPU. Whatever the other processes do, its copies
 * carry the right bytes, no other vGPU writes to its memory, its jobs end, and the driver counts
 * no fault of its.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/vfio.h>

#include "fuzz.h"

#define VICTIM_BYTES	(256u << 10)
#define VICTIM_SLOTS	8
/* Much longer than a job, which takes less than a ms: a busy machine may stand still. */
#define VICTIM_WAIT_MS	240000

#define VICTIM_WIDTH	300u	/* of its picture, whose rows are no whole pages */
#define VICTIM_HEIGHT	64u
#define VICTIM_PLANE	10

struct victim {
	struct vgpu_dev *dev;
	struct vgpu_chan *chan[3];
	struct vgpu_buf buf;
	uint64_t secret;
	uint64_t copy;
	uint64_t picture;
};

/* A picture that the victim shows until its end. */
static int victim_show(struct victim *v)
{
	uint64_t fence;
	unsigned int i;
	int ret;

	ret = vgpu_fb_alloc(v->dev, 4 * VICTIM_WIDTH * VICTIM_HEIGHT, 4096, &v->picture);
	if (ret)
		return ret;
	for (i = 0; i < VICTIM_WIDTH * VICTIM_HEIGHT; i++)
		((uint32_t *)(v->dev->fb + v->picture))[i] = 0x56000000 + i;
	ret = vgpu_chan_present(v->chan[0], v->picture, VICTIM_WIDTH, VICTIM_HEIGHT,
				4 * VICTIM_WIDTH);
	ret = ret ?: vgpu_chan_fence(v->chan[0], &fence);
	return ret ?: vgpu_chan_wait(v->chan[0], fence, VICTIM_WAIT_MS);
}

static int victim_look(struct victim *v)
{
	static uint32_t pixels[VICTIM_WIDTH * VICTIM_HEIGHT];
	struct vfio_device_gfx_plane_info info = {
		.argsz = sizeof(info),
		.flags = VFIO_GFX_PLANE_TYPE_REGION,
		.drm_plane_type = 1, /* the primary one */
	};
	unsigned int i;

	if (ioctl(v->dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, &info) ||
	    info.drm_format != VGPU_HW_FORMAT_XRGB8888 || info.width != VICTIM_WIDTH ||
	    info.height != VICTIM_HEIGHT) {
		fuzz_wrong("the victim shows %u x %u, format %#x", info.width, info.height,
			   info.drm_format);
		return -1;
	}
	if (vgpu_region_read(v->dev, VICTIM_PLANE, 0, pixels, sizeof(pixels)) != sizeof(pixels)) {
		fuzz_wrong("the victim's plane cannot be read");
		return -1;
	}
	for (i = 0; i < VICTIM_WIDTH * VICTIM_HEIGHT; i++) {
		if (pixels[i] != 0x56000000 + i) {
			fuzz_wrong("the victim's picture: pixel %u is %#x", i, pixels[i]);
			return -1;
		}
	}
	return 0;
}

static int victim_setup(struct victim *v, const char *uuid)
{
	static const uint32_t engine[3][2] = {
		{ VGPU_HW_ENGINE_GR, 0 }, { VGPU_HW_ENGINE_CE, 0 },
		{ VGPU_HW_ENGINE_CE, 1 },
	};
	unsigned int i;
	int index, ret;

	ret = vgpu_dev_open_vfio(&v->dev, uuid);
	for (i = 0; !ret && i < 3; i++) {
		index = vgpu_dev_find_engine(v->dev, engine[i][0], engine[i][1]);
		ret = index < 0 ? index :
			vgpu_chan_create(v->dev, (uint32_t)index, i & 1 ? VGPU_RING_SYS :
					 VGPU_RING_FB, 6, &v->chan[i]);
	}
	ret = ret ?: vgpu_buf_alloc(v->dev, VICTIM_BYTES, &v->buf);
	ret = ret ?: vgpu_fb_alloc(v->dev, VICTIM_SLOTS * VICTIM_BYTES, 4096, &v->secret);
	ret = ret ?: vgpu_fb_alloc(v->dev, VICTIM_BYTES, 4096, &v->copy);
	return ret ?: victim_show(v);
}

/* Fills by one engine, copies by another to guest memory and back, and compares. */
static int victim_job(struct victim *v, struct rng *rng, uint32_t *filled)
{
	unsigned int slot = (unsigned int)rng_below(rng, VICTIM_SLOTS);
	struct vgpu_chan *fill = v->chan[rng_below(rng, 3)];
	struct vgpu_chan *copy = v->chan[rng_below(rng, 3)];
	uint64_t at = v->secret + slot * VICTIM_BYTES, fence;
	const uint32_t *got;
	unsigned int i;
	int ret = 0;

	if (!filled[slot] || fuzz_chance(rng, 30)) {
		filled[slot] = (uint32_t)rng_next(rng) | 1;
		ret = vgpu_chan_fill(fill, VGPU_FB(at), filled[slot], VICTIM_BYTES);
		ret = ret ?: vgpu_chan_fence(fill, &fence);
		ret = ret ?: vgpu_chan_wait(fill, fence, VICTIM_WAIT_MS);
	}
	ret = ret ?: vgpu_chan_copy(copy, VGPU_SYS(&v->buf, 0), VGPU_FB(at), VICTIM_BYTES);
	ret = ret ?: vgpu_chan_copy(copy, VGPU_FB(v->copy), VGPU_SYS(&v->buf, 0), VICTIM_BYTES);
	ret = ret ?: vgpu_chan_fence(copy, &fence);
	ret = ret ?: vgpu_chan_wait(copy, fence, VICTIM_WAIT_MS);
	if (ret) {
		fuzz_wrong("the victim's job did not end: %s", vgpu_dev_error(v->dev));
		return ret;
	}
	for (got = (const void *)(v->dev->fb + v->copy), i = 0; i < VICTIM_BYTES / 4; i++) {
		if (got[i] != filled[slot]) {
			fuzz_wrong("the victim's memory: word %u of slot %u is %#x, not %#x",
				   i, slot, got[i], filled[slot]);
			return -1;
		}
	}
	fuzz_count(FUZZ_JOBS);
	return fuzz_chance(rng, 10) ? victim_look(v) : 0;
}

int fuzz_victim(void)
{
	struct rng rng = rng_seed(fuzz.seed ^ 0x76696374696d);
	uint32_t filled[VICTIM_SLOTS] = {}, status = 0;
	struct victim v = {};
	char uuid[37];
	uint64_t faults;
	int ret;

	fuzz_uuid(&rng, uuid);
	ret = fuzz_create(&fuzz.gpu[0], "1Q", uuid);
	if (ret) {
		fuzz_wrong("the victim cannot be created: %s", strerror(-ret));
		return 1;
	}
	if (victim_setup(&v, uuid)) {
		fuzz_wrong("the victim: %s", vgpu_dev_error(v.dev));
		return 1;
	}
	while (!fuzz_over() && !victim_job(&v, &rng, filled))
		clk_sleep_ms((unsigned int)rng_below(&rng, 4));
	faults = fuzz_faults(uuid, &status);
	if (faults || status & VGPU_INSTANCE_QUARANTINED)
		fuzz_wrong("the victim has %llu faults, status %#x",
			   (unsigned long long)faults, status);
	vgpu_dev_close(v.dev);
	ret = fuzz_remove(uuid);
	if (ret)
		fuzz_wrong("the victim cannot be removed: %s", strerror(-ret));
	return 0;
}
