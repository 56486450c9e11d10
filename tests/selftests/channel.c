// SPDX-License-Identifier: GPL-2.0
/* Channels of the vGPUs of a test. */
#include <errno.h>
#include <string.h>

#include "fixture.h"

void fx_ok(struct vgpu_dev *dev, int ret, const char *what)
{
	if (ret < 0)
		FAIL("%s: %s (%s)", what, strerror(-ret), vgpu_dev_error(dev));
}

struct vgpu_chan *fx_chan(struct fx_vgpu *v, uint32_t engine_class, uint32_t instance,
			  enum vgpu_ring where, uint32_t order)
{
	struct vgpu_chan *chan;
	int engine;

	engine = vgpu_dev_find_engine(v->dev, engine_class, instance);
	FX_OK(v->dev, engine);
	FX_OK(v->dev, vgpu_chan_create(v->dev, (uint32_t)engine, where, order, &chan));
	return chan;
}

struct vgpu_chan *fx_chan_in(struct vgpu_space *space, uint32_t engine_class, uint32_t instance,
			     uint64_t va, uint32_t order)
{
	struct vgpu_dev *dev = space->dev;
	struct vgpu_chan *chan;
	int engine;

	engine = vgpu_dev_find_engine(dev, engine_class, instance);
	FX_OK(dev, engine);
	FX_OK(dev, vgpu_chan_create_in(space, (uint32_t)engine, order, va, &chan));
	return chan;
}

uint64_t fx_fb(const struct fx_vgpu *v, uint64_t bytes, uint64_t align)
{
	uint64_t at;

	FX_OK(v->dev, vgpu_fb_alloc(v->dev, bytes, align, &at));
	return at;
}

void fx_finish(struct vgpu_chan *chan)
{
	uint64_t fence;

	FX_OK(chan->dev, vgpu_chan_fence(chan, &fence));
	FX_OK(chan->dev, vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS));
	/* The fence's own packet is complete, and so counted, when get says so. */
	FX_OK(chan->dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
}

bool fx_wait_fence(struct vgpu_chan *chan, uint64_t fence, int timeout_ms)
{
	int ret = vgpu_chan_wait(chan, fence, timeout_ms);

	if (ret && ret != -ETIMEDOUT)
		FAIL("%s", vgpu_dev_error(chan->dev));
	return !ret;
}

void fx_fill_fails(struct vgpu_chan *chan, uint64_t at, struct vgpu_fault *fault)
{
	FX_OK(chan->dev, vgpu_chan_fill(chan, VGPU_FB(at), 0, 4));
	FX_OK(chan->dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, fault));
}

void fx_again(struct vgpu_chan *chan)
{
	FX_OK(chan->dev, vgpu_chan_disable(chan));
	FX_OK(chan->dev, vgpu_chan_enable(chan));
}

void fx_check_words(const void *from, uint64_t bytes, uint32_t value)
{
	const uint32_t *words = from;
	uint64_t i;

	for (i = 0; i < bytes / 4; i++)
		CHECK_EQ(words[i], value, "word %llu", (unsigned long long)i);
}
