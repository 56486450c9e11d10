// SPDX-License-Identifier: GPL-2.0
/* libvgpu on a render node: channels, from many packets at once over waiting to what ends them. */
#include "vgpu_test.h"

#include <errno.h>

#include "node_rig.h"

#define RING	(1u << NODE_ORDER)

static struct vgpu_space *space;

static struct vgpu_chan *channel_in_space(void)
{
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	return node_channel(space, NODE_GR);
}

static void drop(struct vgpu_chan *chan)
{
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
	space = NULL;
}

/* What is submitted at once is one job; more than a ring holds are several. */
static void test_batches(void **state)
{
	struct vgpu_hw_packet packets[5 * RING] = {};
	struct vgpu_chan *chan = channel_in_space();
	u32 i;

	for (i = 0; i < 5 * RING; i++)
		packets[i].type = VGPU_HW_PKT_NOP;
	assert_int_equal(vgpu_chan_submit(chan, packets, 0), 0);
	assert_int_equal(node_kernel.execs, 0);
	assert_int_equal(vgpu_chan_submit(chan, packets, RING), 0);
	assert_int_equal(node_kernel.execs, 1);
	assert_int_equal(node_kernel.waits, 0);
	/* Only when the ring is full there is a wait, as long as there is progress. */
	node_kernel.hangs = true;
	assert_int_equal(vgpu_chan_submit(chan, packets, 5 * RING), -ETIMEDOUT);
	assert_int_equal(node_kernel.execs, 1);
	node_kernel.hangs = false;
	node_kernel.step = 3;
	assert_int_equal(vgpu_chan_submit(chan, packets, 5 * RING), 0);
	assert_int_equal(node_kernel.execs, 6);
	assert_int_equal(chan->put, 6 * RING);
	assert_true(chan->put - vgpu_chan_get(chan) <= RING);
	node_kernel.step = 0;
	node_finish(chan);
	assert_int_equal(vgpu_chan_get(chan), 6 * RING);
	drop(chan);
}

static void test_fences(void **state)
{
	struct vgpu_chan *chan = channel_in_space();
	uint64_t first, second, third;

	assert_int_equal(vgpu_chan_fence(chan, &first), 0);
	assert_int_equal(vgpu_chan_wait(chan, first, 0), 0);
	node_kernel.step = 1;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &second), 0);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &third), 0);
	assert_true(first <= second && second < third);
	assert_int_equal(node_kernel.execs, 2);
	node_kernel.signals = 3;
	assert_int_equal(vgpu_chan_wait(chan, second, 0), 0);
	assert_int_equal(vgpu_chan_get(chan), 1);
	assert_int_equal(vgpu_chan_wait(chan, third, -1), 0);
	/* What has passed is not asked for. */
	node_kernel.waits = 0;
	assert_int_equal(vgpu_chan_wait(chan, second, 0), 0);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), 0);
	assert_int_equal(node_kernel.waits, 0);
	/* What was never queued does not pass. */
	assert_int_equal(vgpu_chan_wait(chan, third + 1, 3), -ETIMEDOUT);
	drop(chan);
}

static void test_waits(void **state)
{
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);
	struct vgpu_fault fault;
	uint64_t fence;

	node_kernel.hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 3), -ETIMEDOUT);
	assert_string_equal(vgpu_dev_error(node_dev),
			    NODE_PATH ": channel 1: nothing after 3 ms, get 0 of 1");
	assert_int_equal(vgpu_chan_wait_idle(chan, 1), -ETIMEDOUT);
	assert_int_equal(vgpu_chan_wait_fault(chan, 1, &fault), -ETIMEDOUT);
	node_kernel.hangs = false;
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), 0);
	assert_int_equal(vgpu_chan_wait_fault(chan, 5, &fault), -ETIMEDOUT);
	assert_int_equal(vgpu_chan_fault(chan, &fault), 0);
	assert_int_equal(fault.code, VGPU_HW_FAULT_NONE);
	node_kernel.hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_disable(chan), 0);
	assert_int_equal(node_kernel.queues, 0);
	assert_int_equal(vgpu_chan_disable(chan), 0);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -ENODEV);
	assert_string_equal(vgpu_dev_error(node_dev), NODE_PATH ": channel 1 is disabled");
	assert_int_equal(vgpu_chan_nop(chan), -ENODEV);
	assert_int_equal(vgpu_chan_fence(chan, &fence), -ENODEV);
	assert_int_equal(vgpu_chan_fault(chan, &fault), -ENODEV);
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), -ENODEV);
	/* It begins anew, and so do its numbers. */
	node_kernel.hangs = false;
	assert_int_equal(vgpu_chan_enable(chan), 0);
	assert_int_equal(chan->put, 0);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	node_finish(chan);
	assert_int_equal(vgpu_chan_get(chan), 1);
	vgpu_chan_destroy(chan);
}

static void test_channels(void **state)
{
	struct vgpu_chan *chan[NODE_CHANNELS], *more;
	u32 i;

	assert_int_equal(vgpu_chan_create(node_dev, 2, VGPU_RING_FB, NODE_ORDER, &more), -EINVAL);
	assert_int_equal(vgpu_chan_create(node_dev, 0, VGPU_RING_FB, 1, &more), -EINVAL);
	for (i = 0; i < NODE_CHANNELS; i++)
		chan[i] = node_channel(NULL, NODE_CE);
	assert_int_equal(vgpu_chan_create(node_dev, 0, VGPU_RING_SYS, NODE_ORDER, &more), -ENOSPC);
	assert_null(more);
	node_says("no framebuffer is left for a channel, or this program has too many");
	assert_int_equal(node_kernel.syncobjs, NODE_CHANNELS);
	assert_int_equal(node_kernel.vms, 1);
	vgpu_chan_destroy(chan[1]);
	chan[1] = node_channel(NULL, NODE_GR);
	for (i = 0; i < NODE_CHANNELS; i++)
		vgpu_chan_destroy(chan[i]);
}

/* What is the driver's to refuse: what concerns others. */
static void test_refused(void **state)
{
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_NOP, .flags = VGPU_HW_PKT_IRQ };
	struct vgpu_chan *chan = node_channel(NULL, NODE_GR);

	assert_int_equal(vgpu_chan_submit(chan, &p, 1), -EOPNOTSUPP);
	node_says("no interrupts here");
	assert_int_equal(vgpu_chan_present(chan, 0, 4, 4, 16), -EPERM);
	node_says("CAP_SYS_ADMIN is needed");
	node_kernel.admin = true;
	assert_int_equal(vgpu_chan_present(chan, 0, 4, 4, 16), 0);
	p = (struct vgpu_hw_packet) { .type = VGPU_HW_PKT_FENCE };
	assert_int_equal(vgpu_chan_submit(chan, &p, 1), -EINVAL);
	node_says("the driver refuses the type or the flags of a packet");
	p = (struct vgpu_hw_packet) { .type = VGPU_HW_PKT_NOP, .op_flags = VGPU_HW_OP_DST_SYS };
	assert_int_equal(vgpu_chan_submit(chan, &p, 1), -EINVAL);
	/* Nothing of that has become a part of it. */
	assert_int_equal(chan->put, 1);
	node_finish(chan);
	vgpu_chan_destroy(chan);
}

/* A queue is lost: what waits for it ends, and says why; it can be enabled again. */
static void lose(enum drm_vgpu_queue_state how, int error, const char *why)
{
	struct vgpu_chan *chan = channel_in_space();
	struct vgpu_fault fault;
	uint64_t fence;

	node_kernel.hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	node_lose(how);
	assert_int_equal(vgpu_chan_wait(chan, fence, 1000000), error);
	node_says(why);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), error);
	assert_int_equal(vgpu_chan_nop(chan), error);
	node_says(why);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_FAULTED);
	assert_int_equal(vgpu_chan_wait_fault(chan, -1, &fault), error);
	node_kernel.hangs = false;
	assert_int_equal(vgpu_chan_enable(chan), 0);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	node_finish(chan);
	drop(chan);
}

static void test_lost(void **state)
{
	lose(DRM_VGPU_QUEUE_TIMEOUT, -ECANCELED,
	     "channel 1: packet 0 took longer than the driver lets one");
	lose(DRM_VGPU_QUEUE_DEVICE, -ENODEV, "the device was reset by its host, or is gone");
	lose(DRM_VGPU_QUEUE_QUARANTINE, -EBUSY, "the host has put the vGPU into quarantine");
	lose(DRM_VGPU_QUEUE_QUARANTINE + 1, -EPROTO, "has a state that is not known: 5");
}

/* What is full, and faults, tells that, and does not wait for room. */
static void test_fault_full(void **state)
{
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);
	struct vgpu_hw_packet packets[RING] = {};
	struct vgpu_fault fault;
	u32 i;

	for (i = 0; i < RING; i++)
		packets[i].type = VGPU_HW_PKT_NOP;
	node_next_fault = (struct vgpu_fault) {
		.code = VGPU_HW_FAULT_ILLEGAL, .pc = 0x10008, .addr = VGPU_HW_VA_GLOBAL + 4,
		.id = { 1, 2, 3 },
	};
	assert_int_equal(vgpu_chan_submit(chan, packets, RING), 0);
	assert_int_equal(vgpu_chan_submit(chan, packets, RING), -EIO);
	node_says("channel 1: illegal fault at packet 0, address 0x100000004");
	assert_int_equal(chan->put, RING);
	assert_int_equal(vgpu_chan_fault(chan, &fault), 0);
	/* A program knows addresses of the VM: those stay. */
	assert_true(fault.addr == VGPU_HW_VA_GLOBAL + 4 && fault.pc == 0x10008);
	assert_true(fault.id[0] == 1 && fault.id[1] == 2 && fault.id[2] == 3);
	vgpu_chan_destroy(chan);
}

static void test_gone(void **state)
{
	struct vgpu_chan *chan = channel_in_space(), *more;
	struct vgpu_space *other;
	struct vgpu_fault fault;
	struct vgpu_buf buf;
	uint64_t fb;

	node_kernel.hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	node_kernel.gone = true;
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -ENODEV);
	node_says(NODE_PATH ": the device is gone");
	assert_int_equal(vgpu_chan_nop(chan), -ENODEV);
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), -ENODEV);
	assert_int_equal(vgpu_chan_fault(chan, &fault), -ENODEV);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	assert_int_equal(vgpu_chan_get(chan), 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &fb), -ENODEV);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), -ENODEV);
	assert_int_equal(vgpu_space_create(node_dev, &other), -ENODEV);
	assert_int_equal(vgpu_space_unmap(space, 0, PAGE), -ENODEV);
	assert_int_equal(vgpu_chan_create(node_dev, 0, VGPU_RING_FB, NODE_ORDER, &more), -ENODEV);
	assert_int_equal(vgpu_chan_create_in(space, 0, NODE_ORDER, PAGE, &more), -ENODEV);
	node_says("the device is gone");
	/* The kernel that is asked here keeps what it is not told of; the file's end frees it. */
	drop(chan);
	node_kernel.queues = 0;
	node_kernel.vms = 0;
	node_kernel.syncobjs = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_batches),
		NODE_TEST(test_fences),
		NODE_TEST(test_waits),
		NODE_TEST(test_channels),
		NODE_TEST(test_refused),
		NODE_TEST(test_lost),
		NODE_TEST(test_fault_full),
		NODE_TEST(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
