// SPDX-License-Identifier: GPL-2.0
/* Channels: creation, submission, waiting, faults. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

static const struct vgpu_chan_ops *ops_of(const struct vgpu_chan *chan)
{
	return chan->dev->transport->chan;
}

static int chan_create(struct vgpu_dev *dev, uint32_t engine, enum vgpu_ring where, uint32_t order,
		       struct vgpu_space *space, uint64_t va, struct vgpu_chan **chanp)
{
	struct vgpu_chan *chan;
	int ret;

	*chanp = NULL;
	if (order < VGPU_HW_RING_ORDER_MIN || order > VGPU_HW_RING_ORDER_MAX)
		return vgpu_fail(dev, -EINVAL, "ring of order %u (%u to %u)",
				 order, VGPU_HW_RING_ORDER_MIN,
				 VGPU_HW_RING_ORDER_MAX);
	if (engine >= dev->engines)
		return vgpu_fail(dev, -EINVAL, "engine %u of %u", engine,
				 dev->engines);
	chan = calloc(1, sizeof(*chan));
	if (!chan)
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	chan->dev = dev;
	chan->engine = engine;
	chan->order = order;
	chan->where = where;
	chan->space = space;
	chan->vector = VGPU_NO_VECTOR;
	ret = ops_of(chan)->create(chan, va);
	if (ret) {
		free(chan);
		return ret;
	}
	*chanp = chan;
	return 0;
}

int vgpu_chan_create(struct vgpu_dev *dev, uint32_t engine, enum vgpu_ring where, uint32_t order,
		     struct vgpu_chan **chanp)
{
	return chan_create(dev, engine, where, order, NULL, 0, chanp);
}

int vgpu_chan_create_in(struct vgpu_space *space, uint32_t engine, uint32_t order, uint64_t va,
			struct vgpu_chan **chanp)
{
	return chan_create(space->dev, engine, VGPU_RING_FB, order, space, va, chanp);
}

void vgpu_chan_destroy(struct vgpu_chan *chan)
{
	if (!chan)
		return;
	ops_of(chan)->destroy(chan);
	free(chan);
}

int vgpu_chan_enable(struct vgpu_chan *chan)
{
	return ops_of(chan)->enable(chan);
}

int vgpu_chan_disable(struct vgpu_chan *chan)
{
	return ops_of(chan)->disable(chan);
}

int vgpu_chan_submit(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	return ops_of(chan)->submit(chan, packets, nr);
}

int vgpu_chan_fence(struct vgpu_chan *chan, uint64_t *fence)
{
	return ops_of(chan)->fence(chan, fence);
}

uint64_t vgpu_chan_get(const struct vgpu_chan *chan)
{
	return ops_of(chan)->get(chan);
}

uint32_t vgpu_chan_state(const struct vgpu_chan *chan)
{
	return ops_of(chan)->state(chan);
}

int vgpu_chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault)
{
	return ops_of(chan)->fault(chan, fault);
}

int vgpu_chan_faulted(struct vgpu_chan *chan, const struct vgpu_fault *fault)
{
	return vgpu_fail(chan->dev, -EIO,
			 "channel %u: %s fault at packet %llu, address %#llx",
			 chan->id, vgpu_fault_name(fault->code),
			 (unsigned long long)fault->pos,
			 (unsigned long long)fault->addr);
}

int vgpu_chan_check(struct vgpu_chan *chan)
{
	uint32_t state = vgpu_chan_state(chan);
	struct vgpu_fault fault;
	int ret;

	if (state == VGPU_HW_STATE_SLEEPING || state == VGPU_HW_STATE_AWAKE)
		return 0;
	if (state != VGPU_HW_STATE_FAULTED)
		return vgpu_fail(chan->dev, -ENODEV, "channel %u is disabled",
				 chan->id);
	ret = vgpu_chan_fault(chan, &fault);
	return ret ? ret : vgpu_chan_faulted(chan, &fault);
}

int vgpu_chan_late(struct vgpu_chan *chan, int timeout_ms)
{
	return vgpu_fail(chan->dev, -ETIMEDOUT,
			 "channel %u: nothing after %d ms, get %llu of %llu",
			 chan->id, timeout_ms,
			 (unsigned long long)vgpu_chan_get(chan),
			 (unsigned long long)chan->put);
}

int vgpu_chan_wait(struct vgpu_chan *chan, uint64_t fence, int timeout_ms)
{
	return ops_of(chan)->wait(chan, VGPU_WAIT_FENCE, fence, timeout_ms);
}

int vgpu_chan_wait_idle(struct vgpu_chan *chan, int timeout_ms)
{
	return ops_of(chan)->wait(chan, VGPU_WAIT_GET, chan->put, timeout_ms);
}

int vgpu_chan_wait_fault(struct vgpu_chan *chan, int timeout_ms,
			 struct vgpu_fault *fault)
{
	int ret;

	ret = ops_of(chan)->wait(chan, VGPU_WAIT_FAULT, 0, timeout_ms);
	return ret ? ret : vgpu_chan_fault(chan, fault);
}
