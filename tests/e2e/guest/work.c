// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include "guest.h"

/* A ring in guest memory needs contiguous pages, so it has one page. */
#define RING_ORDER	6

static bool usable(uint32_t engine)
{
	uint32_t class = engine >> 8;

	return class == VGPU_HW_ENGINE_GR || class == VGPU_HW_ENGINE_CE;
}

bool work_start(struct work *work, struct vgpu_dev *dev, enum vgpu_ring where)
{
	uint32_t i;

	memset(work, 0, sizeof(*work));
	work->dev = dev;
	for (i = 0; i < dev->engines && i < VGPU_HW_MAX_ENGINES; i++) {
		if (!usable(dev->engine[i]))
			continue;
		if (vgpu_chan_create(dev, i, where, RING_ORDER, &work->chan[work->nr]))
			return failed("channel on engine %u: %s", i, vgpu_dev_error(dev));
		work->nr++;
	}
	if (!work->nr)
		return failed("no engine to use");
	return true;
}

bool work_wait(struct work *work, unsigned int chan)
{
	struct vgpu_chan *c = work->chan[chan];
	uint64_t fence;

	if (vgpu_chan_fence(c, &fence) || vgpu_chan_wait(c, fence, WAIT_MS))
		return failed("channel %u: %s", c->id, vgpu_dev_error(work->dev));
	return true;
}

bool work_fill(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       uint32_t value, uint64_t bytes)
{
	if (vgpu_chan_fill(work->chan[chan], dst, value, bytes))
		return failed("fill: %s", vgpu_dev_error(work->dev));
	work->bytes[chan] += bytes;
	return true;
}

bool work_fill2d(struct work *work, unsigned int chan, uint64_t dst, uint32_t pitch,
		 uint32_t value, uint64_t width, uint32_t rows)
{
	struct vgpu_hw_packet packet = {
		.type = VGPU_HW_PKT_FILL,
		.dst = htole64(dst),
		.value = htole32(value),
		.width = htole64(width),
		.rows = htole32(rows),
		.dst_pitch = htole32(rows == 1 ? 0 : pitch),
	};

	if (vgpu_chan_submit(work->chan[chan], &packet, 1))
		return failed("2D fill: %s", vgpu_dev_error(work->dev));
	work->bytes[chan] += width * rows;
	return true;
}

bool work_copy(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       struct vgpu_loc src, uint64_t bytes)
{
	if (vgpu_chan_copy(work->chan[chan], dst, src, bytes))
		return failed("copy: %s", vgpu_dev_error(work->dev));
	work->bytes[chan] += bytes;
	return true;
}

bool work_copy2d(struct work *work, unsigned int chan, struct vgpu_loc dst, uint32_t dst_pitch,
		 struct vgpu_loc src, uint32_t src_pitch, uint64_t width, uint32_t rows)
{
	if (vgpu_chan_copy2d(work->chan[chan], dst, dst_pitch, src, src_pitch, width, rows))
		return failed("2D copy: %s", vgpu_dev_error(work->dev));
	work->bytes[chan] += width * rows;
	return true;
}

bool work_report(struct work *work)
{
	struct vgpu_chan *c;
	unsigned int i;

	for (i = 0; i < work->nr; i++) {
		c = work->chan[i];
		if (vgpu_chan_wait_idle(c, WAIT_MS))
			return failed("channel %u: %s", c->id, vgpu_dev_error(work->dev));
		say("engine %u packets %llu bytes %llu", c->engine,
		    (unsigned long long)vgpu_chan_get(c), (unsigned long long)work->bytes[i]);
		if (vgpu_chan_get(c) != c->put)
			return failed("channel %u: get %llu, put %llu", c->id,
				      (unsigned long long)vgpu_chan_get(c),
				      (unsigned long long)c->put);
	}
	return true;
}

void work_stop(struct work *work)
{
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		vgpu_chan_destroy(work->chan[i]);
	work->nr = 0;
}
