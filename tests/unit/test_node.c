// SPDX-License-Identifier: GPL-2.0
/* libvgpu on a render node: how it is found, memory, packets, kernels. */
#include "vgpu_test.h"

#include <errno.h>

#include "node_rig.h"

#define FUNCTION	"/sys/bus/pci/devices/0000:00:04.0"

static void opens(const char *name)
{
	node_shut();
	check_that(!vgpu_dev_open(&node_dev, name), "%s", vgpu_dev_error(NULL));
	assert_string_equal(node_dev->name, NODE_PATH);
}

static void refused(const char *name, int error, const char *why)
{
	struct vgpu_dev *dev;

	assert_int_equal(vgpu_dev_open(&dev, name), error);
	assert_null(dev);
	assert_int_equal(node_kernel.open, 0);
	check_that(strstr(vgpu_dev_error(NULL), why), "%s", vgpu_dev_error(NULL));
}

static void test_open(void **state)
{
	assert_string_equal(node_dev->name, NODE_PATH);
	assert_int_equal(node_dev->channels, NODE_CHANNELS);
	assert_int_equal(node_dev->fb_bytes, NODE_FB_BYTES);
	assert_int_equal(vgpu_dev_find_engine(node_dev, VGPU_HW_ENGINE_GR, 0), NODE_GR);
	assert_int_equal(node_dev->vectors, 0);
	opens(NODE_PATH);
	opens(NODE_NAME);
	/* A function whose driver has a node is reached by that. */
	node_world_put(FUNCTION "/vendor", "0x1af4\n");
	node_world_put(FUNCTION "/device", "0x10f1\n");
	node_world_link(FUNCTION "/driver", "../../../bus/pci/drivers/vgpu_guest");
	node_world_put(FUNCTION "/drm/card1", "");
	node_world_put(FUNCTION "/drm/" NODE_NAME, "");
	opens("0000:00:04.0");
	node_shut();
	node_world_remove(FUNCTION "/drm/" NODE_NAME);
	refused("0000:00:04.0", -EBUSY, "the driver vgpu_guest has it");
	refused("/dev/dri/renderD128", -ENODEV,
		"/dev/dri/renderD128: is no vGPU: the node is of another driver than vgpu_guest");
	refused("/dev/null", -ENODEV, "is no render node");
	refused("renderD130", -ENOENT, "/dev/dri/renderD130: No such file");
}

/* A node that may not be opened is told of if it is the one that is looked for. */
static void test_denied(void **state)
{
	node_shut();
	node_world_put(NODE_PATH, "denied");
	refused(NODE_PATH, -EACCES, "Permission denied (are you in the group of the node, render?)");
	/* In a container there may be no sysfs to say whose it is. */
	refused(NULL, -EACCES, NODE_PATH ": Permission denied");
	node_world_link("/sys/class/drm/" NODE_NAME "/device/driver", "../drivers/amdgpu");
	refused(NULL, -ENODEV, "no vGPU here");
	node_world_remove("/sys/class/drm/" NODE_NAME "/device/driver");
	node_world_link("/sys/class/drm/" NODE_NAME "/device/driver", "../drivers/vgpu_guest");
	refused(NULL, -EACCES, NODE_PATH ": Permission denied");
	/* Another one may be used all the same. */
	node_world_put("/dev/dri/renderD130", "vgpu_guest");
	check_that(!vgpu_dev_open(&node_dev, NULL), "%s", vgpu_dev_error(NULL));
	assert_string_equal(node_dev->name, "/dev/dri/renderD130");
}

static void add_name(const char *name, void *data)
{
	strcat(strcat(data, name), " ");
}

static void test_list(void **state)
{
	char names[256] = "";

	node_shut();
	node_world_put("/dev/dri/renderD1000", "vgpu_guest");
	node_world_put("/dev/dri/renderD130", "denied");
	vgpu_dev_list(add_name, names);
	assert_string_equal(names, NODE_PATH " /dev/dri/renderD1000 ");
	assert_int_equal(node_kernel.open, 0);
}

static void test_moves(void **state)
{
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);
	struct vgpu_buf buf;
	uint32_t *words;
	uint64_t fb;

	assert_int_equal(vgpu_fb_alloc(node_dev, 2 * PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, 100, &buf), 0);
	assert_int_equal(buf.bytes, PAGE);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_FB(fb + 64), 0x1234567, 32), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_SYS(&buf, 4), VGPU_FB(fb + 60), 40), 0);
	assert_int_equal(vgpu_chan_copy2d(chan, VGPU_FB(fb + PAGE), 16, VGPU_SYS(&buf, 0), 8, 8, 3),
			 0);
	assert_int_equal(vgpu_chan_get(chan), 0);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_AWAKE);
	node_finish(chan);
	assert_int_equal(vgpu_chan_get(chan), 4);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_SLEEPING);
	words = buf.ptr;
	assert_int_equal(words[1], 0);
	assert_int_equal(words[2], 0x1234567);
	assert_int_equal(words[9], 0x1234567);
	assert_int_equal(words[10], 0);
	words = (void *)(node_dev->fb + fb + PAGE);
	assert_int_equal(words[4], 0x1234567);
	assert_int_equal(words[6], 0);
	assert_int_equal(words[9], 0x1234567);
	vgpu_buf_free(&buf);
	vgpu_chan_destroy(chan);
}

/* What a packet cannot name faults as it would without a VM, whatever the VM has there. */
static void goes_astray(struct vgpu_chan *chan, struct vgpu_loc to, uint64_t place, uint32_t code)
{
	struct vgpu_fault fault;

	assert_int_equal(vgpu_chan_fill(chan, to, 1, 4), 0);
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), 0);
	assert_int_equal(fault.code, code);
	check_that(fault.addr == place, "%#llx, not %#llx", (unsigned long long)fault.addr,
		   (unsigned long long)place);
	assert_int_equal(vgpu_chan_enable(chan), 0);
}

static void test_astray(void **state)
{
	static const uint64_t outside[] = {
		NODE_FB_BYTES, VGPU_HW_VA_GLOBAL, VGPU_HW_VA_GLOBAL + PAGE, ~7ull >> 2,
	};
	struct vgpu_chan *chan = node_channel(NULL, NODE_CE);
	struct vgpu_hw_packet signal = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL, .signal_value = 77,
	};
	struct vgpu_buf buf;
	uint64_t fb;
	unsigned int i;

	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), 0);
	goes_astray(chan, VGPU_FB(fb + PAGE), fb + PAGE, VGPU_HW_FAULT_PAGE);
	goes_astray(chan, VGPU_SYS(&buf, PAGE), buf.iova + PAGE, VGPU_HW_FAULT_PAGE);
	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		goes_astray(chan, VGPU_FB(outside[i]), outside[i], VGPU_HW_FAULT_ADDRESS);
	goes_astray(chan, VGPU_FB(buf.iova), buf.iova, VGPU_HW_FAULT_ADDRESS);
	goes_astray(chan, VGPU_SYS(&buf, fb - buf.iova), fb, VGPU_HW_FAULT_ADDRESS);
	assert_int_equal(*(uint32_t *)(node_dev->fb + fb), 0);
	assert_int_equal(*(uint32_t *)buf.ptr, 0);
	signal.signal_addr = fb + 8;
	assert_int_equal(vgpu_chan_submit(chan, &signal, 1), 0);
	signal.flags |= VGPU_HW_PKT_SIGNAL_SYS;
	signal.signal_addr = buf.iova + 16;
	assert_int_equal(vgpu_chan_submit(chan, &signal, 1), 0);
	node_finish(chan);
	assert_int_equal(*(uint64_t *)(node_dev->fb + fb + 8), 77);
	assert_int_equal(((uint64_t *)buf.ptr)[2], 77);
	vgpu_buf_free(&buf);
	vgpu_chan_destroy(chan);
}

static void test_space(void **state)
{
	struct vgpu_space *space, *other;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	struct vgpu_buf buf, second;
	uint64_t fb, fence;

	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	assert_int_equal(vgpu_space_create(node_dev, &other), 0);
	chan = node_channel(space, NODE_CE);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &second), 0);
	assert_int_equal(vgpu_space_map(space, 16 * PAGE, VGPU_SYS(&buf, 0), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map_fb(space, fb + 5, 10, RW), 0);
	assert_int_equal(vgpu_space_map(other, 32 * PAGE, VGPU_FB(fb), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map(space, 5, VGPU_FB(fb), PAGE, RW), -EINVAL);
	assert_int_equal(vgpu_space_map(space, 0, VGPU_FB(fb), PAGE, VGPU_HW_PTE_W), -EINVAL);
	assert_int_equal(vgpu_space_map(space, 0, VGPU_FB(fb + PAGE), PAGE, RW), -EINVAL);
	node_says("no page at offset 0x1000");
	assert_int_equal(vgpu_space_map(space, 0, VGPU_FB(fb), 2 * PAGE, RW), -EINVAL);
	/* A buffer's end is not another one's beginning. */
	assert_int_equal(vgpu_space_map(space, 0, VGPU_SYS(&buf, second.iova - buf.iova), PAGE, RW),
			 -EINVAL);
	assert_int_equal(vgpu_space_map(space, 0, VGPU_SYS(&buf, 0), PAGE, RW | VGPU_HW_PTE_X),
			 -EINVAL);
	assert_int_equal(vgpu_space_map(space, ~0ull << 38, VGPU_FB(fb), PAGE, RW), -EINVAL);
	node_says("from 0x4000000000 on all is the driver's");
	assert_int_equal(vgpu_space_unmap(space, ~0ull << 12, PAGE), -EINVAL);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE), 7, PAGE), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_VA(vgpu_global_address(fb)), VGPU_VA(16 * PAGE),
					PAGE), 0);
	node_finish(chan);
	assert_memory_equal(node_dev->fb + fb, buf.ptr, PAGE);
	assert_int_equal(*(uint32_t *)buf.ptr, 7);
	assert_int_equal(vgpu_space_unmap(space, 16 * PAGE, PAGE), 0);
	assert_int_equal(vgpu_space_invalidate(space), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE + 8), 9, 4), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), -EIO);
	assert_string_equal(vgpu_dev_error(node_dev),
			    NODE_PATH ": channel 1: page fault at packet 2, address 0x10008");
	assert_int_equal(vgpu_chan_wait_fault(chan, 0, &fault), 0);
	assert_int_equal(fault.code, VGPU_HW_FAULT_PAGE);
	assert_int_equal(fault.addr, 16 * PAGE + 8);
	/* What comes after it is refused for the same reason. */
	assert_int_equal(vgpu_chan_nop(chan), -EIO);
	node_says("page fault at packet 2, address 0x10008");
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_FAULTED);
	assert_int_equal(vgpu_chan_enable(chan), 0);
	/* What another address space has is not in this one. */
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(32 * PAGE), 9, 4), 0);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -EIO);
	assert_int_equal(vgpu_chan_enable(chan), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(vgpu_global_address(fb)), 9, 4), 0);
	node_finish(chan);
	assert_int_equal(*(uint32_t *)(node_dev->fb + fb), 9);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(other);
	vgpu_space_destroy(space);
	assert_int_equal(node_kernel.vms, 0);
	vgpu_buf_free(&second);
	vgpu_buf_free(&buf);
}

static void test_kernels(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan = node_channel(NULL, NODE_GR);
	uint32_t *results;
	char text[128];

	assert_int_equal(node_run(NULL, chan, 100, &results), 0);
	assert_int_equal(results[99], 100);
	assert_int_equal(results[100], 0);
	vgpu_chan_destroy(chan);
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	chan = node_channel(space, NODE_GR);
	assert_int_equal(node_run(space, chan, PAGE / 4, &results), 0);
	assert_int_equal(results[PAGE / 4 - 1], PAGE / 4);
	assert_int_equal(vgpu_chan_explain(chan, &node_elf, text, sizeof(text)), -ENOENT);
	/* The arguments, which follow, are not to be written. */
	assert_int_equal(node_run(space, chan, PAGE / 4 + 1, &results), -EIO);
	assert_int_equal(vgpu_chan_explain(chan, &node_elf, text, sizeof(text)), 0);
	check_that(!strncmp(text, "page fault in second+0x4 (pc 0x10014), address 0x1", 50) &&
		   strstr(text, ", work-item 1024,0,0"), "%s", text);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
}

static void test_memory(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	struct vgpu_buf buf[3];
	uint64_t first, second, third, at;

	assert_int_equal(vgpu_fb_alloc(node_dev, 1, 4, &first), 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, 3 * PAGE, 8 * PAGE, &second), 0);
	/* A driver that cannot have it in one piece says so, and has nothing changed. */
	assert_int_equal(vgpu_fb_alloc_shown(node_dev, PAGE, 1, &third), -EOPNOTSUPP);
	node_says("older than 1.2");
	node_kernel.bo_flags = DRM_VGPU_BO_CONTIGUOUS;
	assert_int_equal(vgpu_fb_alloc_shown(node_dev, PAGE, 1, &third), 0);
	assert_int_equal(first, 0);
	assert_int_equal(second, 8 * PAGE);
	assert_int_equal(third, 11 * PAGE);
	assert_int_equal(node_kernel.fb_used, 5 * PAGE);
	memset(node_dev->fb + second, 1, 4 * PAGE);
	/* Of a kernel without arguments. */
	assert_int_equal(vgpu_fb_alloc(node_dev, 0, PAGE, &at), 0);
	assert_int_equal(node_kernel.bos, 3);
	vgpu_fb_release(node_dev, third + 1);
	assert_int_equal(node_kernel.bos, 3);
	vgpu_fb_release(node_dev, second);
	assert_int_equal(node_kernel.bos, 1);
	assert_int_equal(node_kernel.fb_used, PAGE);
	vgpu_fb_release(node_dev, second);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, 1, &second), 0);
	assert_int_equal(second, 8 * PAGE);
	assert_int_equal(node_dev->fb[second], 0);
	/* A mapping keeps it. */
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	assert_int_equal(vgpu_space_map_fb(space, second, PAGE, RW), 0);
	vgpu_fb_release(node_dev, second);
	assert_int_equal(node_kernel.bos, 1);
	assert_int_equal(node_kernel.fb_used, 2 * PAGE);
	assert_int_equal(vgpu_space_unmap(space, vgpu_global_address(second), PAGE), 0);
	assert_int_equal(node_kernel.fb_used, PAGE);
	vgpu_space_destroy(space);
	/* The addresses of a buffer that is free are given away again. */
	for (at = 0; at < 3; at++)
		assert_int_equal(vgpu_buf_alloc(node_dev, (1 + at) * PAGE, &buf[at]), 0);
	first = buf[1].iova;
	vgpu_buf_free(&buf[1]);
	assert_int_equal(vgpu_buf_alloc(node_dev, 3 * PAGE, &buf[1]), 0);
	assert_true(buf[1].iova > buf[2].iova);
	vgpu_buf_free(&buf[1]);
	assert_int_equal(vgpu_buf_alloc(node_dev, 2 * PAGE, &buf[1]), 0);
	assert_int_equal(buf[1].iova, first);
	/* A channel without an address space finds what was there before, and what comes after. */
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, 1, &second), 0);
	chan = node_channel(NULL, NODE_CE);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, 1, &third), 0);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_SYS(&buf[2], 0), 3, 3 * PAGE), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_FB(second), VGPU_SYS(&buf[2], PAGE), 2 * PAGE),
			 0);
	node_finish(chan);
	assert_int_equal(*(uint32_t *)(node_dev->fb + third + PAGE - 4), 3);
	vgpu_fb_release(node_dev, second);
	assert_int_equal(node_kernel.fb_used, PAGE);
	vgpu_chan_destroy(chan);
	for (at = 0; at < 3; at++)
		vgpu_buf_free(&buf[at]);
	assert_int_equal(node_kernel.bos, 1);
}

/* What only a device with registers has is refused, and not looked for. */
static void test_no_registers(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint64_t wide = 0;
	u32 value = 0;

	assert_int_equal(vgpu_reg_read32(node_dev, VGPU_HW_DEV_BASE, &value), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_write64(node_dev, VGPU_HW_DEV_BASE, wide), -EOPNOTSUPP);
	node_says("no registers here");
	assert_int_equal(vgpu_config_read(node_dev, 0, &value, 4), -EOPNOTSUPP);
	assert_int_equal(vgpu_region_read(node_dev, 0, 0, &value, 4), -EOPNOTSUPP);
	assert_int_equal(vgpu_region_write(node_dev, 0, 0, &value, 4), -EOPNOTSUPP);
	assert_int_equal(vgpu_dma_map(node_dev, &value, PAGE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_dma_unmap(node_dev, PAGE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_dev_command(node_dev, 1, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_enable(node_dev, 1), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_wait(node_dev, 0, 0), -EINVAL);
	assert_int_equal(vgpu_dev_reset(node_dev), -EOPNOTSUPP);
	node_says("only its driver can reset it");
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	assert_null(vgpu_space_entry(space, VGPU_HW_VA_GLOBAL, 0));
	chan = node_channel(space, NODE_CE);
	assert_null(chan->ring);
	assert_int_equal(vgpu_chan_kick(chan, 1), -EOPNOTSUPP);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_open),
		NODE_TEST(test_denied),
		NODE_TEST(test_list),
		NODE_TEST(test_moves),
		NODE_TEST(test_astray),
		NODE_TEST(test_space),
		NODE_TEST(test_kernels),
		NODE_TEST(test_memory),
		NODE_TEST(test_no_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
