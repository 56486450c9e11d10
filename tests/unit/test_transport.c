// SPDX-License-Identifier: GPL-2.0
/* libvgpu on a device without registers: transport_fake.h. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/mman.h>

#include "elf_file.h"
#include "transport_fake.h"

#define ORDER		VGPU_HW_RING_ORDER_MIN

static int setup(void **state)
{
	struct elf_test_file file;

	fake_dev = vgpu_dev_new(&fake_transport, "fake");
	fake_dev->channels = FAKE_QUEUES;
	fake_dev->fb_bytes = FAKE_FB_BYTES;
	fake_dev->engines = 2;
	fake_dev->engine[1] = VGPU_HW_ENGINE_GR << 8;
	fake_dev->engine[0] = VGPU_HW_ENGINE_CE << 8;
	fake_dev->fb = mmap(NULL, FAKE_FB_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fake_hangs = false;
	elf_test_file(&file);
	return fake_dev->fb == MAP_FAILED || vgpu_elf_parse(&fake_elf, &file, sizeof(file));
}

static int teardown(void **state)
{
	vgpu_elf_free(&fake_elf);
	vgpu_dev_close(fake_dev);
	return 0;
}

static void finish(struct vgpu_chan *chan)
{
	uint64_t fence;

	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	check_that(!vgpu_chan_wait(chan, fence, 0), "%s", vgpu_dev_error(fake_dev));
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), 0);
}

static void test_moves(void **state)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint32_t *words;
	uint64_t fb;

	assert_int_equal(vgpu_chan_create(fake_dev, 0, VGPU_RING_SYS, ORDER, &chan), 0);
	assert_int_equal(vgpu_fb_alloc(fake_dev, 2 * PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(fake_dev, 100, &buf), 0);
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
	words = (void *)(fake_dev->fb + fb + PAGE);
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

	assert_int_equal(vgpu_space_create(fake_dev, &space), 0);
	assert_int_equal(vgpu_space_create(fake_dev, &other), 0);
	assert_int_equal(vgpu_chan_create_in(space, 0, ORDER, PAGE, &chan), 0);
	assert_int_equal(vgpu_fb_alloc(fake_dev, PAGE, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(fake_dev, PAGE, &buf), 0);
	assert_int_equal(vgpu_space_map(space, 16 * PAGE, VGPU_SYS(&buf, 0), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map_fb(space, fb + 5, 10, RW), 0);
	assert_int_equal(vgpu_space_map(other, 32 * PAGE, VGPU_FB(fb), PAGE, RW), 0);
	assert_int_equal(vgpu_space_map(space, 5, VGPU_FB(fb), PAGE, RW), -EINVAL);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE), 7, PAGE), 0);
	assert_int_equal(vgpu_chan_copy(chan, VGPU_VA(vgpu_global_address(fb)),
					VGPU_VA(16 * PAGE), PAGE), 0);
	finish(chan);
	assert_memory_equal(fake_dev->fb + fb, buf.ptr, PAGE);
	assert_int_equal(*(uint32_t *)buf.ptr, 7);
	fake_invalidated = 0;
	assert_int_equal(vgpu_space_unmap(space, 16 * PAGE, PAGE), 0);
	assert_int_equal(vgpu_space_invalidate(space), 0);
	assert_int_equal(fake_invalidated, 1);
	assert_int_equal(vgpu_chan_fill(chan, VGPU_VA(16 * PAGE + 8), 9, 4), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), -EIO);
	assert_string_equal(vgpu_dev_error(fake_dev),
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
	assert_int_equal(*(uint32_t *)(fake_dev->fb + fb), 9);
	vgpu_chan_destroy(chan);
	fake_vms_lost = 0;
	vgpu_space_destroy(other);
	vgpu_space_destroy(space);
	assert_int_equal(fake_vms_lost, 2);
	vgpu_buf_free(&buf);
}

/* Dispatches once in @space, or without, of @items work-items that have a page for the results. */
static int run_kernel(struct vgpu_space *space, struct vgpu_chan *chan, uint32_t items,
		      uint32_t **results)
{
	struct vgpu_program program;
	struct vgpu_launch launch = {
		.program = &program, .kernel = &fake_elf.kernel[1], .grid = { items, 1, 1 },
	};
	uint64_t data;

	fake_invalidated = 0;
	assert_int_equal(space ? vgpu_program_load_in(space, &fake_elf, &program) :
			 vgpu_program_load(fake_dev, &fake_elf, &program), 0);
	assert_int_equal(fake_invalidated, 1);
	assert_int_equal(vgpu_fb_alloc(fake_dev, PAGE, PAGE, &data), 0);
	assert_int_equal(vgpu_fb_alloc(fake_dev, 8, PAGE, &launch.args), 0);
	if (space) {
		assert_int_equal(vgpu_space_map_fb(space, data, PAGE, RW), 0);
		assert_int_equal(vgpu_space_map_fb(space, launch.args, 8, VGPU_HW_PTE_R), 0);
	}
	*(uint64_t *)(fake_dev->fb + launch.args) = vgpu_global_address(data);
	*results = (void *)(fake_dev->fb + data);
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
	int engine = vgpu_dev_find_engine(fake_dev, VGPU_HW_ENGINE_GR, 0);

	assert_int_equal(engine, 1);
	assert_int_equal(vgpu_chan_create(fake_dev, engine, VGPU_RING_FB, ORDER, &chan), 0);
	assert_int_equal(run_kernel(NULL, chan, 100, &results), 0);
	assert_int_equal(results[99], 100);
	assert_int_equal(results[100], 0);
	vgpu_chan_destroy(chan);
	assert_int_equal(vgpu_space_create(fake_dev, &space), 0);
	assert_int_equal(vgpu_chan_create_in(space, engine, ORDER, PAGE, &chan), 0);
	assert_int_equal(run_kernel(space, chan, PAGE / 4, &results), 0);
	assert_int_equal(results[PAGE / 4 - 1], PAGE / 4);
	assert_int_equal(vgpu_chan_explain(chan, &fake_elf, text, sizeof(text)), -ENOENT);
	assert_int_equal(run_kernel(space, chan, PAGE / 4 + 1, &results), -EIO);
	assert_int_equal(vgpu_chan_explain(chan, &fake_elf, text, sizeof(text)), 0);
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

	assert_int_equal(vgpu_chan_create(fake_dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	fake_hangs = true;
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	assert_int_equal(vgpu_chan_wait(chan, fence, 3), -ETIMEDOUT);
	assert_string_equal(vgpu_dev_error(fake_dev), "fake: channel 0: nothing after 3 ms, get 0 of 2");
	assert_int_equal(vgpu_chan_wait_idle(chan, 1), -ETIMEDOUT);
	assert_int_equal(vgpu_chan_wait_fault(chan, 1, &fault), -ETIMEDOUT);
	fake_hangs = false;
	assert_int_equal(vgpu_chan_wait(chan, fence, 0), 0);
	assert_int_equal(vgpu_chan_nop(chan), 0);
	assert_int_equal(vgpu_chan_disable(chan), 0);
	assert_int_equal(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), -ENODEV);
	assert_string_equal(vgpu_dev_error(fake_dev), "fake: channel 0 is disabled");
	vgpu_chan_destroy(chan);
}

/* What is refused leaves nothing behind. */
static void test_refused(void **state)
{
	struct vgpu_chan *chan[FAKE_QUEUES], *more;
	struct vgpu_buf buf, second;
	uint64_t fb;
	u32 i;

	assert_int_equal(vgpu_chan_create(fake_dev, 2, VGPU_RING_FB, ORDER, &more), -EINVAL);
	assert_int_equal(vgpu_chan_create(fake_dev, 0, VGPU_RING_FB, 1, &more), -EINVAL);
	for (i = 0; i < FAKE_QUEUES; i++)
		assert_int_equal(vgpu_chan_create(fake_dev, 0, VGPU_RING_FB, ORDER, &chan[i]), 0);
	assert_int_equal(vgpu_chan_create(fake_dev, 0, VGPU_RING_FB, ORDER, &more), -EBUSY);
	assert_null(more);
	assert_string_equal(vgpu_dev_error(fake_dev), "fake: no queue is left");
	assert_int_equal(vgpu_fb_alloc(fake_dev, 2 * FAKE_FB_BYTES, 4, &fb), -ENOSPC);
	assert_int_equal(vgpu_fb_alloc(fake_dev, FAKE_FB_BYTES, 4, &fb), 0);
	assert_int_equal(vgpu_fb_alloc(fake_dev, 1, 4, &fb), -ENOSPC);
	vgpu_fb_release(fake_dev, 0);
	assert_int_equal(vgpu_fb_alloc(fake_dev, 1, 4, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(fake_dev, 0, &buf), -EINVAL);
	assert_int_equal(vgpu_buf_alloc(fake_dev, 1, &buf), 0);
	assert_int_equal(vgpu_buf_alloc(fake_dev, 1, &second), -ENOMEM);
	vgpu_buf_free(&second);
	vgpu_buf_free(&buf);
	for (i = 0; i < FAKE_QUEUES; i++)
		vgpu_chan_destroy(chan[i]);
	assert_int_equal(vgpu_dev_reset(fake_dev), -EPERM);
}

/* What only a device with registers has is refused, and not looked for. */
static void test_no_registers(void **state)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint64_t wide;
	u32 value;

	assert_int_equal(vgpu_reg_read32(fake_dev, VGPU_HW_DEV_BASE, &value), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_read64(fake_dev, VGPU_HW_DEV_BASE, &wide), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_write32(fake_dev, VGPU_HW_DEV_BASE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_reg_write64(fake_dev, VGPU_HW_DEV_BASE, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_config_read(fake_dev, 0, &value, 4), -EOPNOTSUPP);
	assert_int_equal(vgpu_dev_command(fake_dev, 1, 0), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_enable(fake_dev, 1), -EOPNOTSUPP);
	assert_int_equal(vgpu_irq_wait(fake_dev, 0, 0), -EINVAL);
	assert_int_equal(vgpu_space_create(fake_dev, &space), 0);
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
