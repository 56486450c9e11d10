// SPDX-License-Identifier: GPL-2.0
/*
 * The transport over a render node: channels are queues of the driver. Each has a timeline syncobj,
 * of which the driver signals the point that counts the packets up to the end of a job.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node.h"

#define SUBMIT_TIMEOUT_MS	60000
#define NAP_NS			2000000

static int sync_create(struct vgpu_chan *chan)
{
	struct drm_syncobj_create create = {};
	int ret;

	ret = vgpu_node_call(chan->dev, DRM_IOCTL_SYNCOBJ_CREATE, &create, "SYNCOBJ_CREATE");
	if (!ret)
		ret = vgpu_node_check_id(chan->dev, create.handle, "SYNCOBJ_CREATE");
	chan->syncobj = create.handle;
	return ret;
}

static void sync_destroy(struct vgpu_chan *chan)
{
	struct drm_syncobj_destroy destroy = { .handle = chan->syncobj };

	vgpu_node_ioctl(chan->dev, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	chan->syncobj = 0;
}

/* Waits for a point, until vgpu_now_ns() is @end: -ETIME. */
static int sync_wait(struct vgpu_chan *chan, uint64_t point, uint64_t end)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&chan->syncobj,
		.points = (uintptr_t)&point,
		.timeout_nsec = end > INT64_MAX ? INT64_MAX : (int64_t)end,
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	int ret = vgpu_node_ioctl(chan->dev, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);

	return !ret || ret == -ETIME ? ret :
		vgpu_node_fail(chan->dev, ret, "SYNCOBJ_TIMELINE_WAIT");
}

static int chan_disable(struct vgpu_chan *chan)
{
	struct drm_vgpu_queue_destroy destroy = { .id = chan->id };
	int ret;

	if (!chan->syncobj)
		return 0;
	ret = vgpu_node_call(chan->dev, DRM_IOCTL_VGPU_QUEUE_DESTROY, &destroy, "QUEUE_DESTROY");
	sync_destroy(chan);
	return ret;
}

static int chan_enable(struct vgpu_chan *chan)
{
	struct drm_vgpu_queue_create create = {
		.vm_id = chan->space ? chan->space->root : chan->dev->node->vm,
		.engine = chan->engine,
		.ring_order = chan->order,
	};
	int ret;

	chan_disable(chan);
	ret = sync_create(chan);
	if (ret)
		return ret;
	ret = vgpu_node_ioctl(chan->dev, DRM_IOCTL_VGPU_QUEUE_CREATE, &create);
	if (ret == -ENOSPC)
		vgpu_fail(chan->dev, ret,
			  "no framebuffer is left for a channel, or this program has too many");
	else if (ret)
		vgpu_node_fail(chan->dev, ret, "QUEUE_CREATE");
	else
		ret = vgpu_node_check_id(chan->dev, create.id, "QUEUE_CREATE");
	if (ret) {
		sync_destroy(chan);
		return ret;
	}
	chan->id = create.id;
	chan->put = 0;
	chan->done = 0;
	chan->fence = 0;
	return 0;
}

static int chan_create(struct vgpu_chan *chan, uint64_t va)
{
	int ret = chan->space ? 0 : vgpu_node_flat_vm(chan->dev);

	(void)va; /* The ring is the driver's. */
	return ret ? ret : chan_enable(chan);
}

static void chan_destroy(struct vgpu_chan *chan)
{
	chan_disable(chan);
}

/* Asks for a queue. */
static int chan_query(const struct vgpu_chan *chan, struct drm_vgpu_queue_query *query)
{
	*query = (struct drm_vgpu_queue_query) { .id = chan->id };
	if (!chan->syncobj)
		return vgpu_fail(chan->dev, -ENODEV, "channel %u is disabled", chan->id);
	return vgpu_node_call(chan->dev, DRM_IOCTL_VGPU_QUEUE_QUERY, query, "QUEUE_QUERY");
}

/* The same, and takes note of what is completed. */
static int chan_look(struct vgpu_chan *chan, struct drm_vgpu_queue_query *query)
{
	int ret = chan_query(chan, query);

	if (ret)
		return ret;
	if (query->completed > chan->put || query->completed < chan->done)
		return vgpu_fail(chan->dev, -EPROTO,
				 "channel %u has completed %llu packets of %llu, after %llu",
				 chan->id, (unsigned long long)query->completed,
				 (unsigned long long)chan->put, (unsigned long long)chan->done);
	chan->done = query->completed;
	return 0;
}

static void take_fault(const struct vgpu_chan *chan, const struct drm_vgpu_queue_query *query,
		       struct vgpu_fault *fault)
{
	*fault = (struct vgpu_fault) {
		.channel = chan->id,
		.code = query->fault_code,
		.pos = query->fault_packet,
		.addr = query->fault_addr,
		.pc = query->fault_pc,
	};
	memcpy(fault->id, query->fault_id, sizeof(fault->id));
	/* A program knows the VM's addresses, a packet named something else. */
	if (!chan->space && !fault->pc && fault->addr)
		fault->addr = vgpu_node_flat_place(chan->dev, fault->addr);
}

/* The error of a queue that is lost. */
static int chan_lost(struct vgpu_chan *chan, const struct drm_vgpu_queue_query *query)
{
	struct vgpu_fault fault;

	switch (query->state) {
	case DRM_VGPU_QUEUE_FAULT:
		take_fault(chan, query, &fault);
		return vgpu_chan_faulted(chan, &fault);
	case DRM_VGPU_QUEUE_TIMEOUT:
		return vgpu_fail(chan->dev, -ECANCELED,
				 "channel %u: packet %llu took longer than the driver lets one",
				 chan->id, (unsigned long long)query->completed);
	case DRM_VGPU_QUEUE_DEVICE:
		return vgpu_fail(chan->dev, -ENODEV,
				 "channel %u: the device was reset by its host, or is gone", chan->id);
	case DRM_VGPU_QUEUE_QUARANTINE:
		return vgpu_fail(chan->dev, -EBUSY,
				 "channel %u: the host has put the vGPU into quarantine", chan->id);
	}
	return vgpu_fail(chan->dev, -EPROTO, "channel %u has a state that is not known: %u",
			 chan->id, query->state);
}

static uint64_t chan_get(const struct vgpu_chan *chan)
{
	struct drm_vgpu_queue_query query;

	return chan_query(chan, &query) ? chan->done : query.completed;
}

static uint32_t chan_state(const struct vgpu_chan *chan)
{
	struct drm_vgpu_queue_query query;

	if (!chan->syncobj || chan_query(chan, &query))
		return VGPU_HW_STATE_DISABLED;
	if (query.state != DRM_VGPU_QUEUE_OK)
		return VGPU_HW_STATE_FAULTED;
	return query.completed == chan->put ? VGPU_HW_STATE_SLEEPING : VGPU_HW_STATE_AWAKE;
}

static int chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault)
{
	struct drm_vgpu_queue_query query;
	int ret = chan_query(chan, &query);

	if (!ret)
		take_fault(chan, &query, fault);
	return ret;
}

/* Nothing tells that an idle queue is lost. */
static int nap(uint64_t end)
{
	const struct timespec ts = { .tv_nsec = NAP_NS };

	if (vgpu_now_ns() >= end)
		return -ETIME;
	nanosleep(&ts, NULL);
	return 0;
}

/* Sleeps until the packet before @target has ended somehow, or vgpu_now_ns() is @end: -ETIME. */
static int chan_sleep(struct vgpu_chan *chan, uint64_t target, uint64_t end)
{
	return chan->done < target ? sync_wait(chan, target, end) : nap(end);
}

static int chan_wait(struct vgpu_chan *chan, enum vgpu_wait what, uint64_t value, int timeout_ms)
{
	const bool for_fault = what == VGPU_WAIT_FAULT;
	const uint64_t target = for_fault ? chan->put : value;
	struct drm_vgpu_queue_query query;
	uint64_t end = UINT64_MAX;
	int ret, late;

	if (!for_fault && chan->done >= target)
		return 0;
	if (!chan->syncobj)
		return vgpu_fail(chan->dev, -ENODEV, "channel %u is disabled", chan->id);
	if (timeout_ms >= 0)
		end = vgpu_now_ns() + (uint64_t)timeout_ms * 1000000u;
	for (;;) {
		late = chan_sleep(chan, target, end);
		if (late && late != -ETIME)
			return late;
		ret = chan_look(chan, &query);
		if (ret)
			return ret;
		if (for_fault ? query.state == DRM_VGPU_QUEUE_FAULT : chan->done >= target)
			return 0;
		if (query.state != DRM_VGPU_QUEUE_OK)
			return chan_lost(chan, &query);
		if (late)
			return vgpu_chan_late(chan, timeout_ms);
		/* Else the next wait would return at once, again and again. */
		if (chan->done < target)
			return vgpu_fail(chan->dev, -EPROTO,
					 "channel %u: packet %llu has ended, and is not completed",
					 chan->id, (unsigned long long)chan->done);
	}
}

/* Waits until the ring has room for @nr packets more: the driver would queue any number. */
static int chan_wait_room(struct vgpu_chan *chan, size_t nr)
{
	const uint64_t size = 1ull << chan->order;
	struct drm_vgpu_queue_query query;
	int ret = 0;

	if (chan->put + nr - chan->done > size)
		ret = chan_look(chan, &query);
	while (!ret && chan->put + nr - chan->done > size)
		ret = chan_wait(chan, VGPU_WAIT_GET, chan->done + 1, SUBMIT_TIMEOUT_MS);
	return ret;
}

static int exec_fail(struct vgpu_chan *chan, int error)
{
	struct drm_vgpu_queue_query query;
	struct drm_vgpu_dev_info info;
	int ret;

	switch (error) {
	case -ENOSPC:
		if (vgpu_node_query(chan->dev, &info))
			break;
		return vgpu_fail(chan->dev, error,
				 "the framebuffer has no room for all that the address space maps: %llu of %llu bytes left",
				 (unsigned long long)info.fb_free,
				 (unsigned long long)chan->dev->fb_bytes);
	case -EIO:
		ret = chan_look(chan, &query);
		return ret ? ret : chan_lost(chan, &query);
	case -EPERM:
		return vgpu_fail(chan->dev, error,
				 "PRESENT changes what the monitor shows: CAP_SYS_ADMIN is needed");
	case -EINVAL:
		return vgpu_fail(chan->dev, error,
				 "channel %u: the driver refuses the type or the flags of a packet",
				 chan->id);
	}
	return vgpu_node_fail(chan->dev, error, "EXEC");
}

static int chan_exec(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	const struct drm_vgpu_sync sync = {
		.handle = chan->syncobj,
		.flags = DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE,
		.point = chan->put + nr,
	};
	struct drm_vgpu_exec exec = {
		.queue_id = chan->id,
		.count = (uint32_t)nr,
		.packets = (uintptr_t)packets,
		.syncs = {
			.stride = sizeof(sync), .count = 1, .pointer = (uintptr_t)&sync,
		},
	};
	int ret = vgpu_node_ioctl(chan->dev, DRM_IOCTL_VGPU_EXEC, &exec);

	if (ret)
		return exec_fail(chan, ret);
	chan->put += nr;
	return 0;
}

static uint64_t flat(const struct vgpu_chan *chan, uint64_t at, bool sys)
{
	return htole64(vgpu_node_flat_address(chan->dev, le64toh(at), sys));
}

/* The flags that say of addresses of a packet that they are not in the framebuffer. */
static uint32_t sys_flags(const struct vgpu_hw_packet *p)
{
	if (p->type == VGPU_HW_PKT_COPY)
		return VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS;
	return p->type == VGPU_HW_PKT_FILL ? VGPU_HW_OP_DST_SYS : 0;
}

/* Of a channel without an address space: the same packet, with addresses of its VM. */
static void flatten(const struct vgpu_chan *chan, struct vgpu_hw_packet *p)
{
	const bool has_src = p->type == VGPU_HW_PKT_COPY || p->type == VGPU_HW_PKT_DISPATCH;
	const bool has_dst = has_src || p->type == VGPU_HW_PKT_FILL ||
		p->type == VGPU_HW_PKT_PRESENT;
	const uint32_t flags = le32toh(p->op_flags), sys = flags & sys_flags(p);

	if (has_src)
		p->src = flat(chan, p->src, sys & VGPU_HW_OP_SRC_SYS);
	if (has_dst)
		p->dst = flat(chan, p->dst, sys & VGPU_HW_OP_DST_SYS);
	p->op_flags = htole32(flags & ~sys);
	if (p->flags & VGPU_HW_PKT_SIGNAL)
		p->signal_addr = flat(chan, p->signal_addr, p->flags & VGPU_HW_PKT_SIGNAL_SYS);
	p->flags &= (uint8_t)~VGPU_HW_PKT_SIGNAL_SYS;
}

static int exec_flat(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	struct vgpu_hw_packet *copy = calloc(nr, sizeof(*copy));
	size_t i;
	int ret;

	if (!copy)
		return vgpu_fail(chan->dev, -ENOMEM, "out of memory");
	memcpy(copy, packets, nr * sizeof(*copy));
	for (i = 0; i < nr; i++)
		flatten(chan, &copy[i]);
	ret = chan_exec(chan, copy, nr);
	free(copy);
	return ret;
}

static int chan_submit(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	const size_t size = (size_t)1 << chan->order;
	size_t i, now;
	int ret = 0;

	if (!chan->syncobj)
		return vgpu_fail(chan->dev, -ENODEV, "channel %u is disabled", chan->id);
	for (i = 0; i < nr; i++)
		if (packets[i].flags & VGPU_HW_PKT_IRQ)
			return vgpu_fail(chan->dev, -EOPNOTSUPP, "no interrupts here");
	for (; nr && !ret; packets += now, nr -= now) {
		now = nr < size ? nr : size;
		ret = chan_wait_room(chan, now);
		if (!ret)
			ret = chan->space ? chan_exec(chan, packets, now) :
				exec_flat(chan, packets, now);
	}
	return ret;
}

/* A packet of its own is not needed: the end of each job can be waited for. */
static int chan_fence(struct vgpu_chan *chan, uint64_t *fence)
{
	if (!chan->syncobj)
		return vgpu_fail(chan->dev, -ENODEV, "channel %u is disabled", chan->id);
	chan->fence = chan->put;
	*fence = chan->put;
	return 0;
}

const struct vgpu_chan_ops vgpu_node_chan = {
	.create = chan_create,
	.destroy = chan_destroy,
	.enable = chan_enable,
	.disable = chan_disable,
	.submit = chan_submit,
	.fence = chan_fence,
	.get = chan_get,
	.state = chan_state,
	.fault = chan_fault,
	.wait = chan_wait,
};
