// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu on a render node whose kernel says what cannot be. The program must get an error, and
 * must neither use memory that is not its own nor wait for ever.
 */
#include "vgpu_test.h"

#include <errno.h>

#include "node_rig.h"

static unsigned long lied;	/* the request whose answer is changed */
static uint64_t value;		/* what it is changed to */
static size_t at;		/* where in its argument, or in the structure that it points to */
static size_t bytes;		/* of what is changed */

static void lie(unsigned long request, void *arg)
{
	uint8_t *to = arg;

	if (request != lied)
		return;
	if (request == DRM_IOCTL_VGPU_DEV_QUERY && at != SIZE_MAX)
		to = (void *)(uintptr_t)((struct drm_vgpu_dev_query *)arg)->pointer;
	memcpy(to + (at == SIZE_MAX ? 0 : at), &value, bytes);
}

static void lie_with(unsigned long request, size_t where, size_t size, uint64_t what)
{
	lied = request;
	at = where;
	bytes = size;
	value = what;
	node_kernel.lie = lie;
}

#define LIE(request, type, member, what) \
	lie_with(request, offsetof(type, member), sizeof(((type *)0)->member), what)
#define LIE_INFO(member, what) \
	LIE(DRM_IOCTL_VGPU_DEV_QUERY, struct drm_vgpu_dev_info, member, what)
#define LIE_QUERY(member, what) \
	LIE(DRM_IOCTL_VGPU_QUEUE_QUERY, struct drm_vgpu_queue_query, member, what)

static void refused(int error, const char *why)
{
	struct vgpu_dev *dev;

	assert_int_equal(vgpu_dev_open(&dev, NODE_PATH), error);
	assert_null(dev);
	assert_int_equal(node_kernel.open, 0);
	check_that(strstr(vgpu_dev_error(NULL), why), "%s", vgpu_dev_error(NULL));
}

static void test_device(void **state)
{
	uint64_t fb;
	u32 bits;

	node_shut();
	LIE(DRM_IOCTL_VERSION, struct drm_version, version_major, 2);
	refused(-EPROTO, "the driver has version 2.0, this is for 1");
	LIE(DRM_IOCTL_VERSION, struct drm_version, name_len, ~0ull);
	refused(-ENODEV, "another driver");
	LIE(DRM_IOCTL_VERSION, struct drm_version, name_len, 9);
	refused(-ENODEV, "another driver");
	/* The size that the driver says it has. */
	lie_with(DRM_IOCTL_VGPU_DEV_QUERY, SIZE_MAX, 4, 8);
	refused(-EPROTO, "DEV_QUERY: 8 bytes");
	LIE_INFO(hw_version, 0x00020000);
	refused(-EPROTO, "speaks hardware ABI 2.0, this is for 1");
	LIE_INFO(page_size, 65536);
	refused(-EOPNOTSUPP, "pages are not 4 KiB");
	LIE_INFO(channels, 0);
	refused(-EPROTO, "says it owns 0 channels");
	LIE_INFO(channels, VGPU_HW_MAX_CHANNELS + 1);
	refused(-EPROTO, "says it owns 1025 channels");
	LIE_INFO(nr_engines, DRM_VGPU_ENGINES_MAX + 1);
	refused(-EPROTO, "has 33 engines");
	LIE_INFO(nr_engines, ~0u);
	refused(-EPROTO, "engines");
	for (bits = 0; bits <= 33; bits++) {
		LIE_INFO(va_bits, bits);
		refused(-EPROTO, "has addresses of");
	}
	LIE_INFO(va_bits, 39);
	refused(-EPROTO, "has addresses of 39 bits");
	LIE_INFO(va_bits, ~0u);
	refused(-EPROTO, "has addresses of 4294967295 bits");
	LIE_INFO(fb_bytes, 0);
	refused(-EPROTO, "says it owns 0 bytes of framebuffer");
	LIE_INFO(fb_bytes, PAGE + 1);
	refused(-EPROTO, "of framebuffer");
	LIE_INFO(fb_bytes, ~(PAGE - 1ull));
	refused(-EPROTO, "of framebuffer");
	LIE_INFO(fb_bytes, (1ull << 37) - VGPU_HW_VA_GLOBAL + PAGE);
	refused(-EPROTO, "of framebuffer");
	/* The largest one that is possible; what is not there is refused when it is wanted. */
	LIE_INFO(fb_bytes, (1ull << 37) - VGPU_HW_VA_GLOBAL);
	node_open();
	assert_int_equal(vgpu_fb_alloc(node_dev, 1ull << 36, PAGE, &fb), -ENOSPC);
	/* It asks how much is left, and the answer may be anything. */
	LIE_INFO(fb_free, ~0ull);
	assert_int_equal(vgpu_fb_alloc(node_dev, 1ull << 36, PAGE, &fb), -ENOSPC);
}

/* Ids and handles that are none. */
static void test_ids(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint64_t fb;

	LIE(DRM_IOCTL_VGPU_VM_CREATE, struct drm_vgpu_vm_create, id, 0);
	assert_int_equal(vgpu_space_create(node_dev, &space), -EPROTO);
	node_says("VM_CREATE: the driver gives no id");
	assert_int_equal(vgpu_chan_create(node_dev, 0, VGPU_RING_FB, NODE_ORDER, &chan), -EPROTO);
	LIE(DRM_IOCTL_VGPU_BO_CREATE, struct drm_vgpu_bo_create, handle, 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &fb), -EPROTO);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), -EPROTO);
	LIE(DRM_IOCTL_VGPU_BO_MMAP_OFFSET, struct drm_vgpu_bo_mmap_offset, offset, 3);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &fb), -EINVAL);
	LIE(DRM_IOCTL_VGPU_BO_MMAP_OFFSET, struct drm_vgpu_bo_mmap_offset, offset, ~0ull << 12);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), -EINVAL);
	node_kernel.lie = NULL;
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	LIE(DRM_IOCTL_VGPU_QUEUE_CREATE, struct drm_vgpu_queue_create, id, 0);
	assert_int_equal(vgpu_chan_create_in(space, 0, NODE_ORDER, PAGE, &chan), -EPROTO);
	LIE(DRM_IOCTL_SYNCOBJ_CREATE, struct drm_syncobj_create, handle, 0);
	assert_int_equal(vgpu_chan_create_in(space, 0, NODE_ORDER, PAGE, &chan), -EPROTO);
	assert_null(chan);
	/* What the kernel has not told the handle of, nobody can give back. */
	node_kernel.vms = 0;
	node_kernel.queues = 0;
	node_kernel.syncobjs = 0;
	vgpu_space_destroy(space);
	node_kernel.vms = 0;
}

/* What a queue says of its packets, that cannot be. */
static void test_progress(void **state)
{
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);

	assert_int_equal(vgpu_chan_nop(chan), 0);
	LIE_QUERY(completed, 2);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), -EPROTO);
	node_says("channel 1 has completed 2 packets of 1");
	LIE_QUERY(completed, ~0ull);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), -EPROTO);
	/* A wait that ends without its packets is not begun again for ever. */
	LIE_QUERY(completed, 0);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), -EPROTO);
	node_says("channel 1: packet 0 has ended, and is not completed");
	node_kernel.lie = NULL;
	node_finish(chan);
	/* Nor are packets taken back. */
	assert_int_equal(vgpu_chan_nop(chan), 0);
	LIE_QUERY(completed, 0);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), -EPROTO);
	node_kernel.lie = NULL;
	node_finish(chan);
	vgpu_chan_destroy(chan);
}

/* A fault may be any, and its numbers, too. */
static void test_faults(void **state)
{
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);
	struct vgpu_fault fault;
	char text[256];

	assert_int_equal(vgpu_chan_nop(chan), 0);
	LIE_QUERY(fault_code, ~0u);
	node_lose(DRM_VGPU_QUEUE_FAULT);
	assert_int_equal(vgpu_chan_wait_idle(chan, -1), -EIO);
	node_says("unknown fault");
	assert_int_equal(vgpu_chan_explain(chan, &node_elf, text, sizeof(text)), 0);
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), 0);
	assert_int_equal(fault.code, ~0u);
	LIE_QUERY(fault_pc, ~0ull);
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), 0);
	LIE_QUERY(state, ~0u);
	assert_int_equal(vgpu_chan_wait_fault(chan, -1, &fault), -EPROTO);
	/* An EXEC that fails for the queue, which says nothing is wrong with it. */
	LIE_QUERY(state, DRM_VGPU_QUEUE_OK);
	assert_int_equal(vgpu_chan_nop(chan), -EPROTO);
	vgpu_chan_destroy(chan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_device),
		NODE_TEST(test_ids),
		NODE_TEST(test_progress),
		NODE_TEST(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
