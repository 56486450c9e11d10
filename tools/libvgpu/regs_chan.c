// SPDX-License-Identifier: GPL-2.0
/* The transport over registers: channels, by their registers and pages. */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "internal.h"

#define SUBMIT_TIMEOUT_MS	60000
#define SPIN_NS			50000
#define SLEEP_MIN_NS		20000
#define SLEEP_MAX_NS		2000000
#define SIGNAL_BYTES		64

static uint64_t chan_get(const struct vgpu_chan *chan)
{
	return le64toh(__atomic_load_n(&chan->page->get, __ATOMIC_ACQUIRE));
}

static uint32_t chan_state(const struct vgpu_chan *chan)
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

static int chan_disable(struct vgpu_chan *chan)
{
	return chan_reg_write32(chan, VGPU_HW_CHAN_CTRL, 0);
}

static int chan_enable(struct vgpu_chan *chan)
{
	uint32_t ctrl = VGPU_HW_CTRL_ENABLE;
	int ret;

	ctrl |= chan->engine << VGPU_HW_CTRL_ENGINE_SHIFT;
	ctrl |= chan->order << VGPU_HW_CTRL_ORDER_SHIFT;
	if (chan->where == VGPU_RING_SYS)
		ctrl |= VGPU_HW_CTRL_RING_SYS;
	ret = chan_disable(chan);
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

/* The device may have been reset since the channel was made. */
static int chan_enable_again(struct vgpu_chan *chan)
{
	int ret = vgpu_label_chan_again(chan);

	return ret ? ret : chan_enable(chan);
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

static int chan_alloc(struct vgpu_chan *chan, uint64_t va)
{
	uint64_t bytes = sizeof(struct vgpu_hw_packet) << chan->order;

	if (chan->space)
		return chan_alloc_va(chan, va);
	return chan->where == VGPU_RING_SYS ? chan_alloc_sys(chan, bytes) :
		chan_alloc_fb(chan, bytes);
}

static void chan_free(struct vgpu_chan *chan)
{
	vgpu_buf_free(&chan->signal_buf);
	vgpu_buf_free(&chan->ring_buf);
	chan_give_id(chan);
}

static int chan_create(struct vgpu_chan *chan, uint64_t va)
{
	struct vgpu_dev *dev = chan->dev;
	int ret;

	ret = chan_take_id(dev, &chan->id);
	if (ret)
		return ret;
	if (dev->irqs > 1)
		chan->vector = 1 + chan->id % (dev->irqs - 1);
	chan->page = (void *)(dev->chan_pages +
			      (size_t)chan->id * VGPU_HW_PAGE_SIZE);
	ret = chan_alloc(chan, va);
	/* Whoever was killed with the channel may have left his address space to it. */
	if (!ret && !chan->space)
		ret = chan_reg_write32(chan, VGPU_HW_CHAN_ROOT, 0);
	if (!ret)
		ret = vgpu_label_chan(chan);
	if (!ret)
		ret = chan_enable(chan);
	if (ret)
		chan_free(chan);
	return ret;
}

static void chan_destroy(struct vgpu_chan *chan)
{
	chan_disable(chan);
	/* Whoever gets the channel next finds it as after a reset. */
	if (chan->space)
		chan_reg_write32(chan, VGPU_HW_CHAN_ROOT, 0);
	chan_free(chan);
}

static int chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault)
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

static bool chan_reached(const struct vgpu_chan *chan, enum vgpu_wait what, uint64_t value)
{
	if (what == VGPU_WAIT_FENCE)
		return le64toh(__atomic_load_n(chan->signal, __ATOMIC_ACQUIRE)) >= value;
	if (what == VGPU_WAIT_GET)
		return chan_get(chan) >= value;
	return chan_state(chan) == VGPU_HW_STATE_FAULTED;
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
		chan->dev->bus->irq_wait(chan->dev, chan->vector, SLEEP_MAX_NS / 1000000);
	else
		nanosleep(&ts, NULL);
}

static int chan_wait(struct vgpu_chan *chan, enum vgpu_wait what, uint64_t value, int timeout_ms)
{
	uint64_t start = vgpu_now_ns(), nap_ns = SLEEP_MIN_NS, now;
	int ret;

	for (;;) {
		if (chan_reached(chan, what, value))
			return 0;
		now = vgpu_now_ns();
		if (now - start < SPIN_NS) {
			sched_yield();
			continue;
		}
		ret = vgpu_chan_check(chan);
		if (ret) /* what is waited for may have come just before the channel stopped */
			return chan_reached(chan, what, value) ? 0 : ret;
		if (now - start >= (uint64_t)timeout_ms * 1000000u)
			return vgpu_chan_late(chan, timeout_ms);
		chan_nap(chan, &nap_ns);
	}
}

int vgpu_chan_kick(struct vgpu_chan *chan, uint64_t put)
{
	uint32_t state;
	int ret;

	if (!chan->page)
		return vgpu_fail(chan->dev, -EOPNOTSUPP, "no rings here");
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

static int chan_submit(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	uint64_t size = 1ull << chan->order, used, put, get;
	size_t now, i;
	int ret;

	while (nr) {
		get = chan_get(chan);
		/* Else the wait for room would return at once, again and again. */
		if (get > chan->put)
			return vgpu_fail(chan->dev, -EPROTO,
					 "channel %u has completed %llu packets of %llu", chan->id,
					 (unsigned long long)get, (unsigned long long)chan->put);
		used = chan->put - get;
		if (used >= size) {
			ret = chan_wait(chan, VGPU_WAIT_GET, chan->put - size + 1,
					SUBMIT_TIMEOUT_MS);
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

static int chan_fence(struct vgpu_chan *chan, uint64_t *fence)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_SIGNAL,
		.signal_addr = htole64(chan->signal_addr),
		.signal_value = htole64(chan->fence + 1),
	};
	int ret;

	if (chan->where == VGPU_RING_SYS)
		p.flags |= VGPU_HW_PKT_SIGNAL_SYS;
	if (chan->vector != VGPU_NO_VECTOR) {
		p.flags |= VGPU_HW_PKT_IRQ;
		p.vector = htole16((uint16_t)chan->vector);
	}
	ret = chan_submit(chan, &p, 1);
	if (!ret)
		*fence = ++chan->fence;
	return ret;
}

const struct vgpu_chan_ops vgpu_regs_chan = {
	.create = chan_create,
	.destroy = chan_destroy,
	.enable = chan_enable_again,
	.disable = chan_disable,
	.submit = chan_submit,
	.fence = chan_fence,
	.get = chan_get,
	.state = chan_state,
	.fault = chan_fault,
	.wait = chan_wait,
};
