// SPDX-License-Identifier: GPL-2.0
/* What tests of libvgpu on a render node share: see node_rig.h. */
#include "vgpu_test.h"

#include "elf_file.h"
#include "node_rig.h"

struct vgpu_dev *node_dev;
struct vgpu_elf node_elf;

void node_open(void)
{
	check_that(!vgpu_dev_open(&node_dev, NULL), "%s", vgpu_dev_error(NULL));
}

void node_shut(void)
{
	assert_int_equal(node_kernel.queues, 0);
	assert_int_equal(node_kernel.syncobjs, 0);
	/* That of channels without an address space stays until the end. */
	assert_true(node_kernel.vms <= 1);
	vgpu_dev_close(node_dev);
	node_dev = NULL;
	assert_int_equal(node_kernel.open, 0);
}

int node_setup(void **state)
{
	struct elf_test_file file;

	memset(&node_kernel, 0, sizeof(node_kernel));
	memset(&node_next_fault, 0, sizeof(node_next_fault));
	if (node_world_make())
		return -1;
	node_world_put("/dev/dri/card0", "virtio_gpu");
	node_world_put("/dev/dri/renderD128", "virtio_gpu");
	node_world_put(NODE_PATH, "vgpu_guest");
	elf_test_file(&file);
	if (vgpu_elf_parse(&node_elf, &file, sizeof(file)))
		return -1;
	node_kernel.elf = &node_elf;
	node_open();
	return 0;
}

int node_teardown(void **state)
{
	if (node_dev)
		node_shut();
	vgpu_elf_free(&node_elf);
	node_world_drop();
	return node_kernel.open ? -1 : 0;
}

void node_says(const char *text)
{
	check_that(strstr(vgpu_dev_error(node_dev), text), "%s", vgpu_dev_error(node_dev));
}

void node_finish(struct vgpu_chan *chan)
{
	uint64_t fence;

	assert_int_equal(vgpu_chan_fence(chan, &fence), 0);
	check_that(!vgpu_chan_wait(chan, fence, 0), "%s", vgpu_dev_error(node_dev));
	assert_int_equal(vgpu_chan_wait_idle(chan, 0), 0);
}

struct vgpu_chan *node_channel(struct vgpu_space *space, uint32_t engine)
{
	struct vgpu_chan *chan;

	check_that(!(space ? vgpu_chan_create_in(space, engine, NODE_ORDER, PAGE, &chan) :
		     vgpu_chan_create(node_dev, engine, VGPU_RING_FB, NODE_ORDER, &chan)), "%s",
		   vgpu_dev_error(node_dev));
	return chan;
}

int node_run(struct vgpu_space *space, struct vgpu_chan *chan, uint32_t items, uint32_t **results)
{
	struct vgpu_program program;
	struct vgpu_launch launch = {
		.program = &program, .kernel = &node_elf.kernel[1], .grid = { items, 1, 1 },
	};
	uint64_t data;

	assert_int_equal(space ? vgpu_program_load_in(space, &node_elf, &program) :
			 vgpu_program_load(node_dev, &node_elf, &program), 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &data), 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, 8, PAGE, &launch.args), 0);
	if (space) {
		assert_int_equal(vgpu_space_map_fb(space, data, PAGE, RW), 0);
		assert_int_equal(vgpu_space_map_fb(space, launch.args, 8, VGPU_HW_PTE_R), 0);
	}
	*(uint64_t *)(node_dev->fb + launch.args) = vgpu_global_address(data);
	*results = (void *)(node_dev->fb + data);
	vgpu_launch_group(&launch);
	assert_int_equal(vgpu_chan_dispatch(chan, &launch), 0);
	return vgpu_chan_wait_idle(chan, 0);
}
