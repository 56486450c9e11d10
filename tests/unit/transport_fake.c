// SPDX-License-Identifier: GPL-2.0
/* A device of libvgpu without registers: see transport_fake.h. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/mman.h>

#include "fake_packet.h"
#include "transport_fake.h"

#define PACKETS		64
#define BINDS		16
#define BUFFERS_AT	(1ull << 37)	/* address of buffers on queues without a VM */

/**
 * struct queue - a queue
 * @vm:     the VM of its addresses, 0: all memory
 * @packet: those since it was enabled
 * @put:    how many
 * @get:    how many are executed
 * @state:  enum vgpu_hw_state
 * @fault:  why it has stopped
 * @used:   it exists
 */
static struct queue {
	uint32_t vm;
	struct vgpu_hw_packet packet[PACKETS];
	uint64_t put;
	uint64_t get;
	uint32_t state;
	struct vgpu_fault fault;
	bool used;
} queues[FAKE_QUEUES];

/**
 * struct bind - pages that a VM has
 * @vm:    the VM; 0: the bind is not used
 * @va:    where they are
 * @flags: VGPU_HW_PTE_*
 * @to:    the page
 */
static struct bind {
	uint32_t vm;
	uint64_t va;
	uint32_t flags;
	uint8_t *to;
} binds[BINDS];

struct vgpu_dev *fake_dev;
struct vgpu_elf fake_elf;
static uint8_t *buffer;		/* the only one there is */
static uint64_t buffer_bytes;
static uint32_t vms;		/* made so far */
uint32_t fake_vms_lost;
unsigned int fake_invalidated;
bool fake_hangs;

static int fb_alloc(struct vgpu_dev *of, uint64_t bytes, uint64_t align, bool shown,
		    uint64_t *offset)
{
	uint64_t start = round_up(of->fb_next, align > PAGE ? align : PAGE);

	bytes = round_up(bytes, PAGE);
	if (start > FAKE_FB_BYTES || bytes > FAKE_FB_BYTES - start)
		return vgpu_fail(of, -ENOSPC, "no buffer object of %llu bytes",
				 (unsigned long long)bytes);
	assert_int_equal(mprotect(of->fb + start, bytes, PROT_READ | PROT_WRITE), 0);
	of->fb_next = start + bytes;
	*offset = start;
	return 0;
}

static void fb_release(struct vgpu_dev *of, uint64_t offset)
{
	of->fb_next = round_up(offset, PAGE);
	assert_int_equal(mprotect(of->fb + of->fb_next, FAKE_FB_BYTES - of->fb_next, PROT_NONE), 0);
}

static int buf_alloc(struct vgpu_dev *of, struct vgpu_buf *buf)
{
	if (buffer)
		return vgpu_fail(of, -ENOMEM, "no second buffer");
	buffer = aligned_alloc(PAGE, buf->bytes);
	buffer_bytes = buf->bytes;
	memset(buffer, 0, buf->bytes);
	buf->ptr = buffer;
	buf->iova = BUFFERS_AT;
	return 0;
}

static void buf_free(struct vgpu_buf *buf)
{
	assert_ptr_equal(buf->ptr, buffer);
	free(buffer);
	buffer = NULL;
}

static int space_create(struct vgpu_space *space)
{
	space->root = ++vms;
	return 0;
}

static void space_destroy(struct vgpu_space *space)
{
	unsigned int i;

	for (i = 0; i < BINDS; i++)
		if (binds[i].vm == space->root)
			binds[i].vm = 0;
	fake_vms_lost++;
}

static struct bind *find_bind(uint32_t vm, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < BINDS; i++)
		if (binds[i].vm == vm && (!vm || binds[i].va == va))
			return &binds[i];
	return NULL;
}

static int space_map(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		     uint32_t flags)
{
	uint8_t *at = (to.buf ? (uint8_t *)to.buf->ptr : space->dev->fb) + to.offset;
	struct bind *bind;
	uint64_t i;

	for (i = 0; i < bytes; i += PAGE) {
		bind = find_bind(space->root, va + i);
		if (!bind)
			bind = find_bind(0, 0);
		if (!bind)
			return vgpu_fail(space->dev, -ENOMEM, "no bind is left");
		*bind = (struct bind) { space->root, va + i, flags, at + i };
	}
	return 0;
}

static int space_unmap(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	struct bind *bind;

	for (; bytes; va += PAGE, bytes -= PAGE) {
		bind = find_bind(space->root, va);
		if (bind)
			bind->vm = 0;
	}
	return 0;
}

static int space_invalidate(struct vgpu_dev *of, const struct vgpu_space *space)
{
	fake_invalidated++;
	return 0;
}

static struct queue *queue_of(const struct vgpu_chan *chan)
{
	assert_true(chan->id < FAKE_QUEUES && queues[chan->id].used);
	return &queues[chan->id];
}

static int chan_enable(struct vgpu_chan *chan)
{
	struct queue *queue = queue_of(chan);

	*queue = (struct queue) {
		.used = true, .vm = chan->space ? chan->space->root : 0,
		.state = VGPU_HW_STATE_SLEEPING,
	};
	chan->put = 0;
	chan->fence = 0;
	return 0;
}

static int chan_disable(struct vgpu_chan *chan)
{
	queue_of(chan)->state = VGPU_HW_STATE_DISABLED;
	return 0;
}

static int chan_create(struct vgpu_chan *chan, uint64_t va)
{
	for (chan->id = 0; chan->id < FAKE_QUEUES; chan->id++) {
		if (queues[chan->id].used)
			continue;
		queues[chan->id].used = true;
		return chan_enable(chan);
	}
	return vgpu_fail(chan->dev, -EBUSY, "no queue is left");
}

static void chan_destroy(struct vgpu_chan *chan)
{
	queue_of(chan)->used = false;
}

static int chan_submit(struct vgpu_chan *chan, const struct vgpu_hw_packet *packets, size_t nr)
{
	struct queue *queue = queue_of(chan);

	assert_true(queue->put + nr <= PACKETS);
	memcpy(&queue->packet[queue->put], packets, nr * sizeof(*packets));
	queue->put += nr;
	chan->put += nr;
	return 0;
}

/* The value is how many packets there are with it. */
static int chan_fence(struct vgpu_chan *chan, uint64_t *fence)
{
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_FENCE };

	chan_submit(chan, &p, 1);
	*fence = chan->put;
	return 0;
}

static uint8_t *reach(void *data, uint64_t addr, uint32_t access)
{
	uint64_t at = addr >= VGPU_HW_VA_GLOBAL ? addr - VGPU_HW_VA_GLOBAL : addr;
	const struct queue *queue = data;
	const struct bind *bind;

	if (queue->vm) {
		bind = find_bind(queue->vm, round_down(addr, PAGE));
		return bind && !(access & ~bind->flags) ? bind->to + addr % PAGE : NULL;
	}
	if (addr >= BUFFERS_AT && addr - BUFFERS_AT < buffer_bytes)
		return buffer + (addr - BUFFERS_AT);
	return at < fake_dev->fb_next ? fake_dev->fb + at : NULL;
}

static void execute(struct queue *queue)
{
	if (fake_hangs || queue->state != VGPU_HW_STATE_SLEEPING)
		return;
	for (; queue->get < queue->put; queue->get++) {
		fake_packet(&queue->packet[queue->get], &fake_elf, reach, queue, &queue->fault);
		if (queue->fault.code) {
			queue->fault.pos = queue->get;
			queue->state = VGPU_HW_STATE_FAULTED;
			return;
		}
	}
}

static uint64_t chan_get(const struct vgpu_chan *chan)
{
	return queue_of(chan)->get;
}

static uint32_t chan_state(const struct vgpu_chan *chan)
{
	return queue_of(chan)->state;
}

static int chan_fault(struct vgpu_chan *chan, struct vgpu_fault *fault)
{
	*fault = queue_of(chan)->fault;
	fault->channel = chan->id;
	return 0;
}

static int chan_wait(struct vgpu_chan *chan, enum vgpu_wait what, uint64_t value, int timeout_ms)
{
	struct queue *queue = queue_of(chan);
	int ret;

	execute(queue);
	if (what == VGPU_WAIT_FAULT ? queue->state == VGPU_HW_STATE_FAULTED : queue->get >= value)
		return 0;
	ret = vgpu_chan_check(chan);
	return ret ? ret : vgpu_chan_late(chan, timeout_ms);
}

static void fake_close(struct vgpu_dev *of)
{
	munmap(of->fb, FAKE_FB_BYTES);
}

static int fake_reset(struct vgpu_dev *of)
{
	return vgpu_fail(of, -EPERM, "others use it");
}

const struct vgpu_transport fake_transport = {
	.mem = &(const struct vgpu_mem_ops) { fb_alloc, fb_release, buf_alloc, buf_free },
	.space = &(const struct vgpu_space_ops) {
		space_create, space_destroy, space_map, space_unmap, space_invalidate,
	},
	.chan = &(const struct vgpu_chan_ops) {
		.create = chan_create, .destroy = chan_destroy, .enable = chan_enable,
		.disable = chan_disable, .submit = chan_submit, .fence = chan_fence,
		.get = chan_get, .state = chan_state, .fault = chan_fault, .wait = chan_wait,
	},
	.close = fake_close,
	.reset = fake_reset,
};
