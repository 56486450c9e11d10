// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu on a device without registers, channel pages and page tables, as a render node is: its
 * queues execute packets when they are waited for, its address spaces are lists of what was bound,
 * and its framebuffer is there for the CPU only where it was allocated.
 */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/mman.h>

#include "elf_file.h"
#include "libvgpu/internal.h"

#define FB_BYTES	(1u << 20)
#define PAGE		VGPU_HW_PAGE_SIZE
#define ORDER		VGPU_HW_RING_ORDER_MIN
#define QUEUES		3
#define PACKETS		64
#define BINDS		16
#define BUFFERS_AT	(1ull << 37)	/* address of buffers on queues without a VM */
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)

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
} queues[QUEUES];

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

static struct vgpu_dev *dev;
static struct vgpu_elf elf;
static uint8_t *buffer;		/* the only one there is */
static uint64_t buffer_bytes;
static uint32_t vms;		/* made so far */
static uint32_t vms_lost;	/* destroyed */
static unsigned int invalidated;
static bool hangs;		/* nothing is executed */

static int fb_alloc(struct vgpu_dev *of, uint64_t bytes, uint64_t align, uint64_t *offset)
{
	uint64_t start = round_up(of->fb_next, align > PAGE ? align : PAGE);

	bytes = round_up(bytes, PAGE);
	if (start > FB_BYTES || bytes > FB_BYTES - start)
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
	assert_int_equal(mprotect(of->fb + of->fb_next, FB_BYTES - of->fb_next, PROT_NONE), 0);
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
	vms_lost++;
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
	invalidated++;
	return 0;
}

static struct queue *queue_of(const struct vgpu_chan *chan)
{
	assert_true(chan->id < QUEUES && queues[chan->id].used);
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
	for (chan->id = 0; chan->id < QUEUES; chan->id++) {
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

/* Where the byte is that the device is to access, or NULL after a fault. */
static uint8_t *reach(struct queue *queue, uint64_t addr, uint32_t access)
{
	uint64_t at = addr >= VGPU_HW_VA_GLOBAL ? addr - VGPU_HW_VA_GLOBAL : addr;
	const struct bind *bind;

	if (queue->vm) {
		bind = find_bind(queue->vm, round_down(addr, PAGE));
		if (bind && !(access & ~bind->flags))
			return bind->to + addr % PAGE;
	} else if (addr >= BUFFERS_AT && addr - BUFFERS_AT < buffer_bytes) {
		return buffer + (addr - BUFFERS_AT);
	} else if (at < dev->fb_next) {
		return dev->fb + at;
	}
	queue->fault.code = VGPU_HW_FAULT_PAGE;
	queue->fault.addr = addr;
	return NULL;
}

static void move(struct queue *queue, const struct vgpu_hw_packet *p)
{
	uint64_t i, dst, src;
	uint8_t *to, *from;
	uint32_t row;

	for (row = 0; row < p->rows; row++) {
		dst = p->dst + (uint64_t)row * p->dst_pitch;
		src = p->src + (uint64_t)row * p->src_pitch;
		for (i = 0; i < p->width; i++) {
			from = p->type == VGPU_HW_PKT_FILL ? (uint8_t *)&p->value + i % 4 :
				reach(queue, src + i, VGPU_HW_PTE_R);
			to = from ? reach(queue, dst + i, VGPU_HW_PTE_W) : NULL;
			if (!to)
				return;
			*to = *from;
		}
	}
}

/* Whatever the instructions are, work-item i writes i + 1 to element i of the first argument. */
static void dispatch(struct queue *queue, const struct vgpu_hw_packet *p)
{
	const struct vgpu_hw_program *program = (void *)reach(queue, p->dst, VGPU_HW_PTE_R);
	const uint64_t *args = (void *)reach(queue, p->src, VGPU_HW_PTE_R);
	const uint8_t *image;
	uint32_t i, *to;

	if (!program || !args)
		return;
	assert_int_equal(program->magic, VGPU_HW_PROGRAM_MAGIC);
	image = reach(queue, program->image, VGPU_HW_PTE_X);
	if (!image)
		return;
	assert_memory_equal(image, elf.image, elf.image_bytes);
	for (i = 0; i < p->grid[0]; i++) {
		to = (void *)reach(queue, args[0] + i * sizeof(*to), VGPU_HW_PTE_W);
		if (!to) {
			queue->fault.pc = VGPU_HW_VA_IMAGE + program->entry + 4;
			queue->fault.id[0] = i;
			return;
		}
		*to = i + 1;
	}
}

static void execute(struct queue *queue)
{
	const struct vgpu_hw_packet *p;

	if (hangs || queue->state != VGPU_HW_STATE_SLEEPING)
		return;
	for (; queue->get < queue->put; queue->get++) {
		p = &queue->packet[queue->get];
		if (p->type == VGPU_HW_PKT_FILL || p->type == VGPU_HW_PKT_COPY)
			move(queue, p);
		else if (p->type == VGPU_HW_PKT_DISPATCH)
			dispatch(queue, p);
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
	munmap(of->fb, FB_BYTES);
}

static int fake_reset(struct vgpu_dev *of)
{
	return vgpu_fail(of, -EPERM, "others use it");
}

static const struct vgpu_transport fake = {
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

static int setup(void **state)
{
	struct elf_test_file file;

	dev = vgpu_dev_new(&fake, "fake");
	dev->channels = QUEUES;
	dev->fb_bytes = FB_BYTES;
	dev->engines = 2;
	dev->engine[1] = VGPU_HW_ENGINE_GR << 8;
	dev->engine[0] = VGPU_HW_ENGINE_CE << 8;
	dev->fb = mmap(NULL, FB_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hangs = false;
	elf_test_file(&file);
	return dev->fb == MAP_FAILED || vgpu_elf_parse(&elf, &file, sizeof(file));
}

static int teardown(void **state)
{
	vgpu_elf_free(&elf);
	vgpu_dev_close(dev);
	return 0;
}

static void finish(struct vgpu_chan *chan)
{
	uint64_t fence;

	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	check_that(!vgpu_chan_wait(chan, fence, 0), "%s", vgpu_dev_error(dev));
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), 0);
}

static void test_moves(void **state)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint32_t *words;
	uint64_t fb;

	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_SYS, ORDER, &chan), 0);
	assert_int_equal(vgpu_fb_alloc(dev, 2 * PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(dev, 100, &buf), 0);
	assert_int_equal(buf.bytes, PAGE);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_FB(fb + 64), 0x1234567, 32), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_SYS(&buf, 4), VGPU_FB(fb + 60), 40), 0);
	assert_int_equal(vgpu_chan_copy2d(chan, VGPU_FB(fb + PAGE), 16, VGPU_SYS(&buf, 0), 8, 8, 3),
			 0);
	assert_int_equal(vgpu_chan_get(chan), 0);
	finish(chan);
	assert_int_equal(vgpu_chan_get(chan), 5);
	words = buf.ptr;
	assert_int_equal(words[1], 0);
	assert_int_equal(words[2], 0x1234567);
	assert_int_equal(words[9], 0x1234567);
	assert_int_equal(words[10], 0);
	words = (void *)(dev->fb + fb + PAGE);
	assert_int_equal(words[4], 0x1234567);
	assert_int_equal(words[6], 0);
	assert_int_equal(words[9], 0x1234567);
	vgpu_buf_free(&buf);
	vgpu_chan_destroy(chan);
}

/* A fault is told, and the channel works again when it has been enabled. */
static void test_space(void **state)
{
	struct vgpu_space *space, *other;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint64_t fb, fence;

	assert_int_equal(vgpu_space_create(dev, &space), 0);
	assert_int_equal(vgpu_space_create(dev, &other), 0);
	assert_int_equal(vgpu_chan_create_in(space, 0, ORDER, PAGE, &chan), 0);
	assert_int_equal(vgpu_fb_alloc(dev, PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(dev, PAGE, &buf), 0);
	assert_int_equal(vgpu_space_map(space, 16 * PAGE, VGPU_SYS(&buf, 0), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map_fb(space, fb + 5, 10, RW), 0);
	assert_int_equal(vgpu_space_map(other, 32 * PAGE, VGPU_FB(fb), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map(space, 5, VGPU_FB(fb), PAGE, RW), -EINVAL);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE), 7, PAGE), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_VA(vgpu_global_address(fb)),
					VGPU_VA(16 * PAGE), PAGE), 0);
	finish(chan);
	assert_memory_equal(dev->fb + fb, buf.ptr, PAGE);
	assert_int_equal(*(uint32_t *)buf.ptr, 7);
	invalidated = 0;
	assert_int_equal(vgpu_space_unmap(space, 16 * PAGE, PAGE), 0);
	assert_int_equal(vgpu_space_invalidate(space), 0);
	assert_int_equal(invalidated, 1);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE + 8), 9, 4), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), -EIO);
	assert_string_equal(vgpu_dev_error(dev),
			    "fake: channel 0: page fault at packet 3, address 0x10008");
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), 0);
	assert_int_equal(fault.code, VGPU_HW_FAULT_PAGE);
	assert_int_equal(fault.addr, 16 * PAGE + 8);
	assert_int_equal(vgpu_chan_enable(chan), 0);
	/* What another address space has is not in this one. */
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(32 * PAGE), 9, 4), 0);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -EIO);
	assert_int_equal(vgpu_chan_enable(chan), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(vgpu_global_address(fb)), 9, 4), 0);
	finish(chan);
	assert_int_equal(*(uint32_t *)(dev->fb + fb), 9);
	vgpu_chan_destroy(chan);
	vms_lost = 0;
	vgpu_space_destroy(other);
	vgpu_space_destroy(space);
	assert_int_equal(vms_lost, 2);
	vgpu_buf_free(&buf);
}

/* Dispatches once in @space, or without, of @items work-items that have a page for the results. */
static int run_kernel(struct vgpu_space *space, struct vgpu_chan *chan, uint32_t items,
		      uint32_t **results)
{
	struct vgpu_program program;
	struct vgpu_launch launch = {
		.program = &program, .kernel = &elf.kernel[1], .grid = { items, 1, 1 },
	};
	uint64_t data;

	invalidated = 0;
	assert_int_equal(space ? vgpu_program_load_in(space, &elf, &program) :
			 vgpu_program_load(dev, &elf, &program), 0);
	assert_int_equal(invalidated, 1);
	assert_int_equal(vgpu_fb_alloc(dev, PAGE, PAGE, &data), 0);
	assert_int_equal(vgpu_fb_alloc(dev, 8, PAGE, &launch.args), 0);
	if (space) {
		assert_int_equal(vgpu_space_map_fb(space, data, PAGE, RW), 0);
		assert_int_equal(vgpu_space_map_fb(space, launch.args, 8, VGPU_HW_PTE_R), 0);
	}
	*(uint64_t *)(dev->fb + launch.args) = vgpu_global_address(data);
	*results = (void *)(dev->fb + data);
	vgpu_launch_group(&launch);
	assert_int_equal(vgpu_chan_dispatch(chan, &launch), 0);
	return vgpu_chan_wait_idle(chan, 0);
}

static void test_kernels(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint32_t *results;
	char text[128];
	int engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);

	assert_int_equal(engine, 1);
	assert_int_equal(vgpu_chan_create(dev, engine, VGPU_RING_FB, ORDER, &chan), 0);
	assert_int_equal(run_kernel(NULL, chan, 100, &results), 0);
	assert_int_equal(results[99], 100);
	assert_int_equal(results[100], 0);
	vgpu_chan_destroy(chan);
	assert_int_equal(vgpu_space_create(dev, &space), 0);
	assert_int_equal(vgpu_chan_create_in(space, engine, ORDER, PAGE, &chan), 0);
	assert_int_equal(run_kernel(space, chan, PAGE / 4, &results), 0);
	assert_int_equal(results[PAGE / 4 - 1], PAGE / 4);
	assert_int_equal(vgpu_chan_explain(chan, &elf, text, sizeof(text)), -ENOENT);
	assert_int_equal(run_kernel(space, chan, PAGE / 4 + 1, &results), -EIO);
	assert_int_equal(vgpu_chan_explain(chan, &elf, text, sizeof(text)), 0);
	check_that(!strncmp(text, "page fault in second+0x4 (pc 0x10014), address 0x1", 50) &&
		   strstr(text, ", work-item 1024,0,0"), "%s", text);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
}

static void test_waits(void **state)
{
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	uint64_t fence;

	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 3), -ETIMEDOUT);
	assert_string_equal(vgpu_dev_error(dev), "fake: channel 0: nothing after 3 ms, get 0 of 2");
	assert_int_equal(vgpu_chan_wait_idle(chan, 1), -ETIMEDOUT);
	assert_int_equal(vgpu_chan_wait_fault(chan, 1, &fault), -ETIMEDOUT);
	hangs = false;
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), 0);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_disable(chan), 0);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -ENODEV);
	assert_string_equal(vgpu_dev_error(dev), "fake: channel 0 is disabled");
	vgpu_chan_destroy(chan);
}

/* What is refused leaves nothing behind. */
static void test_refused(void **state)
{
	struct vgpu_chan *chan[QUEUES], *more;
	struct vgpu_buf buf, second;
	uint64_t fb;
	u32 i;

	assert_int_equal(vgpu_chan_create(dev, 2, VGPU_RING_FB, ORDER, &more), -EINVAL);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, 1, &more), -EINVAL);
	for (i = 0; i < QUEUES; i++)
		assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan[i]), 0);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &more), -EBUSY);
	assert_null(more);
	assert_string_equal(vgpu_dev_error(dev), "fake: no queue is left");
	assert_int_equal(vgpu_fb_alloc(dev, 2 * FB_BYTES, 4, &fb), -ENOSPC);
	assert_int_equal(vgpu_fb_alloc(dev, FB_BYTES, 4, &fb), 0);
	assert_int_equal(vgpu_fb_alloc(dev, 1, 4, &fb), -ENOSPC);
	vgpu_fb_release(dev, 0);
	assert_int_equal(vgpu_fb_alloc(dev, 1, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(dev, 0, &buf), -EINVAL);
	assert_int_equal(vgpu_buf_alloc(dev, 1, &buf), 0);
	assert_int_equal(vgpu_buf_alloc(dev, 1, &second), -ENOMEM);
	vgpu_buf_free(&second);
	vgpu_buf_free(&buf);
	for (i = 0; i < QUEUES; i++)
		vgpu_chan_destroy(chan[i]);
	assert_int_equal(vgpu_dev_reset(dev), -EPERM);
}

/* What only a device with registers has is refused, and not looked for. */
static void test_no_registers(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint64_t wide;
	u32 value;

	assert_int_equal(vgpu_reg_read32(dev, VGPU_HW_DEV_BASE, &value), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_read64(dev, VGPU_HW_DEV_BASE, &wide), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_write32(dev, VGPU_HW_DEV_BASE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_write64(dev, VGPU_HW_DEV_BASE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_config_read(dev, 0, &value, 4), -EOPNOTSUPP);
	assert_int_equal(vgpu_dev_command(dev, 1, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_enable(dev, 1), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_wait(dev, 0, 0), -EINVAL);
	assert_int_equal(vgpu_space_create(dev, &space), 0);
	assert_null(vgpu_space_entry(space, VGPU_HW_VA_GLOBAL, 0));
	assert_int_equal(vgpu_chan_create_in(space, 0, ORDER, PAGE, &chan), 0);
	assert_null(chan->ring);
	assert_int_equal(vgpu_chan_kick(chan, 1), -EOPNOTSUPP);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_moves),
		TEST(test_space),
		TEST(test_kernels),
		TEST(test_waits),
		TEST(test_refused),
		TEST(test_no_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
