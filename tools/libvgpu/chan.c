// SPDX-License-Identifier: GPL-2.0
/* Channels: creation, submission, waiting, faults. */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define SUBMIT_TIMEOUT_MS	60000
#define SPIN_NS			50000
#define SLEEP_MIN_NS		20000
#define SLEEP_MAX_NS		2000000
#define SIGNAL_BYTES		64

uint64_t vgpu_chan_get(const struct vgpu_chan *chan)
{
	return le64toh(__atomic_load_n(&chan->page->get, __ATOMIC_ACQUIRE));
}

uint32_t vgpu_chan_state(const struct vgpu_chan *chan)
{
	return le32toh(__atomic_load_n(&chan->page->state, __ATOMIC_ACQUIRE));
}

static int chan_reg_write32(struct vgpu_chan *chan, uint32_t reg, uint32_t value)
{
	return vgpu_reg_write32(chan->dev, vgpu_chan_reg(chan->id, reg), value);
}

uint64_t vgpu_chan_bytes(uint32_t order)
{
	uint64_t bytes = (sizeof(struct vgpu_hw_packet) << order) + SIGNAL_BYTES;

	return (bytes + VGPU_HW_PAGE_SIZE - 1) & ~(uint64_t)(VGPU_HW_PAGE_SIZE - 1);
}

int vgpu_chan_disable(struct vgpu_chan *chan)
{
	return chan_reg_write32(chan, VGPU_HW_CHAN_CTRL, 0);
}

int vgpu_chan_enable(struct vgpu_chan *chan)
{
	uint32_t ctrl = VGPU_HW_CTRL_ENABLE;
	int ret;

	ctrl |= chan->engine << VGPU_HW_CTRL_ENGINE_SHIFT;
	ctrl |= chan->order << VGPU_HW_CTRL_ORDER_SHIFT;
	if (chan->where == VGPU_RING_SYS)
		ctrl |= VGPU_HW_CTRL_RING_SYS;
	ret = vgpu_chan_disable(chan);
	if (ret)
		return ret;
	chan->put = 0;
	chan->fence = 0;
	__atomic_store_n(chan->signal, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chan->page->put, 0, __ATOMIC_SEQ_CST);
	ret = vgpu_reg_write64(chan->dev,
			       vgpu_chan_reg(chan->id, VGPU_HW_CHAN_RING),
			       chan->ring_addr);
	if (!ret && chan->space)
		ret = chan_reg_write32(chan, VGPU_HW_CHAN_ROOT, chan->space->root);
	if (ret)
		return ret;
	return chan_reg_write32(chan, VGPU_HW_CHAN_CTRL, ctrl);
}

static int chan_alloc_sys(struct vgpu_chan *chan, uint64_t bytes)
{
	uint64_t contig;
	int ret;

	ret = vgpu_buf_alloc(chan->dev, bytes, &chan->ring_buf);
	if (ret)
		return ret;
	ret = vgpu_buf_alloc(chan->dev, SIGNAL_BYTES, &chan->signal_buf);
	if (ret)
		return ret;
	chan->ring = chan->ring_buf.ptr;
	chan->ring_addr = vgpu_buf_addr(&chan->ring_buf, 0, &contig);
	chan->signal = chan->signal_buf.ptr;
	chan->signal_addr = vgpu_buf_addr(&chan->signal_buf, 0, NULL);
	if (contig < bytes)
		return vgpu_fail(chan->dev, -ENOMEM,
				 "ring of %llu bytes: %llu contiguous",
				 (unsigned long long)bytes,
				 (unsigned long long)contig);
	return 0;
}

static int chan_alloc_fb(struct vgpu_chan *chan, uint64_t bytes)
{
	int ret;

	ret = vgpu_fb_alloc(chan->dev, bytes + SIGNAL_BYTES, VGPU_HW_PAGE_SIZE,
			    &chan->ring_addr);
	if (ret)
		return ret;
	chan->signal_addr = chan->ring_addr + bytes;
	chan->ring = (void *)(chan->dev->fb + chan->ring_addr);
	chan->signal = (void *)(chan->dev->fb + chan->signal_addr);
	return 0;
}

/* Memory of framebuffer, which the device sees at @va. */
static int chan_alloc_va(struct vgpu_chan *chan, uint64_t va)
{
	uint64_t bytes = vgpu_chan_bytes(chan->order);
	int ret;

	ret = chan_alloc_fb(chan, bytes - SIGNAL_BYTES);
	if (!ret)
		ret = vgpu_space_map(chan->space, va, VGPU_FB(chan->ring_addr), bytes,
				     VGPU_HW_PTE_R | VGPU_HW_PTE_W);
	chan->signal_addr += va - chan->ring_addr;
	chan->ring_addr = va;
	return ret;
}

/* -EBUSY: all are in use, @others of them by other programs. */
static int chan_find_id(struct vgpu_dev *dev, uint32_t *id, uint32_t *others)
{
	uint32_t i;
	int ret;

	*others = 0;
	for (i = 0; i < dev->channels; i++) {
		if (dev->chan_used[i])
			continue;
		ret = vgpu_claim_chan(dev, i);
		if (!ret)
			*id = i;
		if (ret != -EBUSY)
			return ret;
		++*others;
	}
	return -EBUSY;
}

static int chan_take_id(struct vgpu_dev *dev, uint32_t *id)
{
	struct timespec ts = { .tv_nsec = SLEEP_MAX_NS };
	uint32_t others;
	int ret;

	ret = chan_find_id(dev, id, &others);
	if (ret == -EBUSY && others) {
		/* A program that stops channels of killed ones holds each for a moment. */
		nanosleep(&ts, NULL);
		ret = chan_find_id(dev, id, &others);
	}
	if (ret == -EBUSY)
		return vgpu_fail(dev, ret, "all of its %u channels are in use, %u by other programs",
				 dev->channels, others);
	if (ret)
		return ret;
	/*
	 * In a virtual machine, what was killed has left its channel at work, maybe on framebuffer
	 * that is taken next.
	 */
	ret = vgpu_reg_write32(dev, vgpu_chan_reg(*id, VGPU_HW_CHAN_CTRL), 0);
	if (ret)
		vgpu_unclaim_chan(dev, *id);
	else
		dev->chan_used[*id] = true;
	return ret;
}

static void chan_give_id(struct vgpu_chan *chan)
{
	chan->dev->chan_used[chan->id] = false;
	vgpu_unclaim_chan(chan->dev, chan->id);
}

static int chan_create(struct vgpu_dev *dev, uint32_t engine, enum vgpu_ring where, uint32_t order,
		       struct vgpu_space *space, uint64_t va, struct vgpu_chan **chanp)
{
	struct vgpu_chan *chan;
	uint64_t bytes;
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
	ret = chan_take_id(dev, &chan->id);
	if (ret)
		goto free_chan;
	if (dev->irqs > 1)
		chan->vector = 1 + chan->id % (dev->irqs - 1);
	chan->page = (void *)(dev->chan_pages +
			      (size_t)chan->id * VGPU_HW_PAGE_SIZE);
	bytes = sizeof(struct vgpu_hw_packet) << order;
	if (space)
		ret = chan_alloc_va(chan, va);
	else if (where == VGPU_RING_SYS)
		ret = chan_alloc_sys(chan, bytes);
	else
		ret = chan_alloc_fb(chan, bytes);
	/* Whoever was killed with the channel may have left his address space to it. */
	if (!ret && !space)
		ret = chan_reg_write32(chan, VGPU_HW_CHAN_ROOT, 0);
	if (!ret)
		ret = vgpu_label_chan(chan);
	if (!ret)
		ret = vgpu_chan_enable(chan);
	if (ret)
		goto free_bufs;
	*chanp = chan;
	return 0;

free_bufs:
	vgpu_buf_free(&chan->signal_buf);
	vgpu_buf_free(&chan->ring_buf);
	chan_give_id(chan);
free_chan:
	free(chan);
	return ret;
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
	vgpu_chan_disable(chan);
	/* Whoever gets the channel next finds it as after a reset. */
	if (chan->space)
		chan_reg_write32(chan, VGPU_HW_CHAN_ROOT, 0);
	vgpu_buf_free(&chan->signal_buf);
	vgpu_buf_free(&chan->ring_buf);
	chan_give_id(chan);
	free(chan);
}

int vgpu_chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault)
{
	const struct vgpu_hw_channel *page = chan->page;
	unsigned int i;
	int ret;

	fault->channel = chan->id;
	fault->pc = le64toh(__atomic_load_n(&page->fault_pc, __ATOMIC_RELAXED));
	for (i = 0; i < 3; i++)
		fault->id[i] = le32toh(__atomic_load_n(&page->fault_id[i], __ATOMIC_RELAXED));
	ret = vgpu_reg_read32(chan->dev,
			      vgpu_chan_reg(chan->id, VGPU_HW_CHAN_FAULT_CODE),
			      &fault->code);
	if (!ret)
		ret = vgpu_reg_read64(chan->dev,
				      vgpu_chan_reg(chan->id,
						    VGPU_HW_CHAN_FAULT_POS),
				      &fault->pos);
	if (!ret)
		ret = vgpu_reg_read64(chan->dev,
				      vgpu_chan_reg(chan->id,
						    VGPU_HW_CHAN_FAULT_ADDR),
				      &fault->addr);
	return ret;
}

/* Returns 0 if the channel works, else the error with which a wait for it ends. */
static int chan_check(struct vgpu_chan *chan)
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
	if (ret)
		return ret;
	return vgpu_fail(chan->dev, -EIO,
			 "channel %u: %s fault at packet %llu, address %#llx",
			 chan->id, vgpu_fault_name(fault.code),
			 (unsigned long long)fault.pos,
			 (unsigned long long)fault.addr);
}

typedef bool (*chan_done_fn)(struct vgpu_chan *chan, uint64_t arg);

static bool chan_fence_passed(struct vgpu_chan *chan, uint64_t fence)
{
	return le64toh(__atomic_load_n(chan->signal, __ATOMIC_ACQUIRE)) >= fence;
}

static bool chan_get_reached(struct vgpu_chan *chan, uint64_t index)
{
	return vgpu_chan_get(chan) >= index;
}

/*
 * Sleeps for at most SLEEP_MAX_NS: longer a wait does not last if an interrupt is lost, or if
 * another channel with the same vector takes it.
 */
static void chan_nap(struct vgpu_chan *chan, uint64_t *nap_ns)
{
	struct timespec ts = { .tv_nsec = (long)*nap_ns };

	if (*nap_ns < SLEEP_MAX_NS)
		*nap_ns *= 2;
	if (chan->vector < chan->dev->irqs)
		vgpu_irq_wait(chan->dev, chan->vector,
			      SLEEP_MAX_NS / 1000000);
	else
		nanosleep(&ts, NULL);
}

static int chan_wait(struct vgpu_chan *chan, chan_done_fn done, uint64_t arg,
		     int timeout_ms)
{
	uint64_t start = vgpu_now_ns(), nap_ns = SLEEP_MIN_NS, now;
	int ret;

	for (;;) {
		if (done(chan, arg))
			return 0;
		now = vgpu_now_ns();
		if (now - start < SPIN_NS) {
			sched_yield();
			continue;
		}
		ret = chan_check(chan);
		if (ret) /* what is waited for may have come just before the channel stopped */
			return done(chan, arg) ? 0 : ret;
		if (now - start >= (uint64_t)timeout_ms * 1000000u)
			return vgpu_fail(chan->dev, -ETIMEDOUT,
					 "channel %u: nothing after %d ms, get %llu of %llu",
					 chan->id, timeout_ms,
					 (unsigned long long)vgpu_chan_get(chan),
					 (unsigned long long)chan->put);
		chan_nap(chan, &nap_ns);
	}
}

int vgpu_chan_wait(struct vgpu_chan *chan, uint64_t fence, int timeout_ms)
{
	return chan_wait(chan, chan_fence_passed, fence, timeout_ms);
}

int vgpu_chan_wait_idle(struct vgpu_chan *chan, int timeout_ms)
{
	return chan_wait(chan, chan_get_reached, chan->put, timeout_ms);
}

static bool chan_is_faulted(struct vgpu_chan *chan, uint64_t unused)
{
	(void)unused;
	return vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED;
}

int vgpu_chan_wait_fault(struct vgpu_chan *chan, int timeout_ms,
			 struct vgpu_fault *fault)
{
	int ret;

	ret = chan_wait(chan, chan_is_faulted, 0, timeout_ms);
	return ret ? ret : vgpu_chan_fault(chan, fault);
}

int vgpu_chan_kick(struct vgpu_chan *chan, uint64_t put)
{
	uint32_t state;
	int ret;

	/*
	 * The packets are visible before put, and put before state is read: see struct
	 * vgpu_hw_channel.
	 */
	__atomic_store_n(&chan->page->put, htole64(put), __ATOMIC_RELEASE);
	chan->put = put;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	state = le32toh(__atomic_load_n(&chan->page->state, __ATOMIC_RELAXED));
	if (state == VGPU_HW_STATE_AWAKE)
		return 0;
	ret = chan_reg_write32(chan, VGPU_HW_CHAN_DOORBELL, 1);
	return ret ? ret : 1;
}

int vgpu_chan_submit(struct vgpu_chan *chan,
		     const struct vgpu_hw_packet *packets, size_t nr)
{
	uint64_t size = 1ull << chan->order, used, put;
	size_t now, i;
	int ret;

	while (nr) {
		used = chan->put - vgpu_chan_get(chan);
		if (used >= size) {
			ret = chan_wait(chan, chan_get_reached,
					chan->put - size + 1, SUBMIT_TIMEOUT_MS);
			if (ret)
				return ret;
			continue;
		}
		now = nr < size - used ? nr : (size_t)(size - used);
		put = chan->put;
		for (i = 0; i < now; i++)
			chan->ring[(put + i) & (size - 1)] = packets[i];
		ret = vgpu_chan_kick(chan, put + now);
		if (ret < 0)
			return ret;
		packets += now;
		nr -= now;
	}
	return 0;
}
