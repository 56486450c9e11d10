// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu on a render node: each error that <drm/vgpu_drm.h> says a call may return, at each place
 * where libvgpu makes that call. The error and a text get to the program, nothing is left behind,
 * and the same works when there is no error any more.
 */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/mman.h>

#include "node_rig.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))
#define VA		(64 * PAGE)

static struct vgpu_space *space;
static struct vgpu_chan *chan;
static uint64_t fb;
static struct vgpu_buf buf;

static int do_fb_alloc(void)
{
	uint64_t at;
	int ret = vgpu_fb_alloc(node_dev, 2 * PAGE, PAGE, &at);

	if (!ret)
		vgpu_fb_release(node_dev, at);
	return ret;
}

static int do_buf_alloc(void)
{
	struct vgpu_buf other;
	int ret = vgpu_buf_alloc(node_dev, 2 * PAGE, &other);

	vgpu_buf_free(&other);
	return ret;
}

static int do_space(void)
{
	struct vgpu_space *other;
	int ret = vgpu_space_create(node_dev, &other);

	assert_true(!ret == !!other);
	vgpu_space_destroy(other);
	return ret;
}

static int do_map(void)
{
	return vgpu_space_map(space, VA, VGPU_FB(fb), PAGE, RW);
}

static int do_unmap(void)
{
	return vgpu_space_unmap(space, VA, PAGE);
}

static int do_chan(void)
{
	struct vgpu_chan *other;
	int ret = vgpu_chan_create_in(space, NODE_CE, NODE_ORDER, PAGE, &other);

	assert_true(!ret == !!other);
	vgpu_chan_destroy(other);
	return ret;
}

/* The first one without an address space, for which there is a VM from then on. */
static int do_flat(void)
{
	struct vgpu_chan *other;
	int ret = vgpu_chan_create(node_dev, NODE_CE, VGPU_RING_FB, NODE_ORDER, &other);

	vgpu_chan_destroy(other);
	return ret;
}

static int do_nop(void)
{
	return vgpu_chan_nop(chan);
}

static int do_wait(void)
{
	assert_int_equal(vgpu_chan_nop(chan), 0);
	return vgpu_chan_wait_idle(chan, 0);
}

static int do_disable(void)
{
	int ret = vgpu_chan_disable(chan);

	assert_int_equal(vgpu_chan_enable(chan), 0);
	return ret;
}

static int do_enable(void)
{
	return vgpu_chan_enable(chan);
}

static int do_fault(void)
{
	struct vgpu_fault fault;

	return vgpu_chan_fault(chan, &fault);
}

/**
 * struct row - a call that fails
 * @name:    what is done
 * @act:     does it
 * @request: of the call
 * @errors:  that it may have; 0: no more
 */
struct row {
	const char *name;
	int (*act)(void);
	unsigned long request;
	int errors[8];
};

#define COMMON	EFAULT, EINVAL, ENOMEM, ENODEV

static const struct row rows[] = {
	{ "fb_alloc", do_fb_alloc, DRM_IOCTL_VGPU_BO_CREATE, { COMMON, ENOENT, ENOSPC } },
	{ "fb_alloc", do_fb_alloc, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, { COMMON, ENOENT } },
	{ "fb_alloc", do_fb_alloc, NODE_MMAP, { EINVAL, ENOMEM, EACCES } },
	{ "buf_alloc", do_buf_alloc, DRM_IOCTL_VGPU_BO_CREATE, { COMMON, ENOENT, ENOSPC } },
	{ "buf_alloc", do_buf_alloc, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, { COMMON, ENOENT } },
	{ "buf_alloc", do_buf_alloc, NODE_MMAP, { EINVAL, ENOMEM, EACCES } },
	{ "space", do_space, DRM_IOCTL_VGPU_VM_CREATE, { COMMON, ENOSPC } },
	{ "map", do_map, DRM_IOCTL_VGPU_VM_BIND, { COMMON, ENOENT, E2BIG, ENOSPC } },
	{ "unmap", do_unmap, DRM_IOCTL_VGPU_VM_BIND, { COMMON, ENOENT, E2BIG, ENOSPC } },
	{ "channel", do_chan, DRM_IOCTL_SYNCOBJ_CREATE, { EINVAL, ENOMEM, EOPNOTSUPP } },
	{ "channel", do_chan, DRM_IOCTL_VGPU_QUEUE_CREATE, { COMMON, ENOENT, ENOSPC } },
	{ "enable", do_enable, DRM_IOCTL_VGPU_QUEUE_CREATE, { COMMON, ENOENT, ENOSPC } },
	{ "packet", do_nop, DRM_IOCTL_VGPU_EXEC, { COMMON, ENOENT, ENOSPC, EPERM, E2BIG } },
	{ "wait", do_wait, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, { EFAULT, EINVAL, ENOMEM, ENOENT } },
	{ "wait", do_wait, DRM_IOCTL_VGPU_QUEUE_QUERY, { COMMON, ENOENT } },
	{ "fault", do_fault, DRM_IOCTL_VGPU_QUEUE_QUERY, { COMMON, ENOENT } },
	/* Last, as it makes the VM of channels without an address space. */
	{ "flat", do_flat, DRM_IOCTL_VGPU_VM_CREATE, { COMMON, ENOSPC } },
	{ "flat", do_flat, DRM_IOCTL_VGPU_VM_BIND, { COMMON, ENOENT, E2BIG, ENOSPC } },
};

static void make(void)
{
	assert_int_equal(vgpu_space_create(node_dev, &space), 0);
	chan = node_channel(space, NODE_CE);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &fb), 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, PAGE, &buf), 0);
}

static void drop(void)
{
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
	vgpu_buf_free(&buf);
	vgpu_fb_release(node_dev, fb);
	assert_int_equal(node_kernel.bos, 0);
	assert_int_equal(node_kernel.fb_used, 0);
}

static void row_fails(const struct row *row, int error)
{
	const struct node_kernel before = node_kernel;
	int ret;

	node_kernel.fail = row->request;
	node_kernel.error = -error;
	ret = row->act();
	node_kernel.error = 0;
	check_that(ret == -error, "%s, %#lx: %d, not %d: %s", row->name, row->request, ret, -error,
		   vgpu_dev_error(node_dev));
	check_that(!strncmp(vgpu_dev_error(node_dev), NODE_PATH ": ", sizeof(NODE_PATH) + 1) &&
		   vgpu_dev_error(node_dev)[sizeof(NODE_PATH) + 1], "%s",
		   vgpu_dev_error(node_dev));
	if (row->act == do_enable)
		assert_int_equal(vgpu_chan_enable(chan), 0);
	check_that(node_kernel.bos == before.bos && node_kernel.vms == before.vms &&
		   node_kernel.queues == before.queues && node_kernel.syncobjs == before.syncobjs &&
		   node_kernel.fb_used == before.fb_used, "%s, %#lx: something is left", row->name,
		   row->request);
}

static void test_errors(void **state)
{
	const struct row *row;
	unsigned int i;

	make();
	for (row = rows; row < rows + NR(rows); row++) {
		for (i = 0; i < NR(row->errors) && row->errors[i]; i++)
			row_fails(row, row->errors[i]);
		if (row->act == do_flat && row != rows + NR(rows) - 1)
			continue;
		check_that(!row->act(), "%s: %s", row->name, vgpu_dev_error(node_dev));
	}
	/* Others have what a job needs. */
	node_kernel.fail = DRM_IOCTL_VGPU_EXEC;
	node_kernel.error = -ENOSPC;
	assert_int_equal(vgpu_chan_nop(chan), -ENOSPC);
	node_says("no room for all that the address space maps: ");
	node_kernel.error = 0;
	drop();
}

/* The same where a channel without an address space has to know of new memory. */
static void test_flat(void **state)
{
	static const struct row flat[] = {
		{ "fb_alloc", do_fb_alloc, DRM_IOCTL_VGPU_VM_BIND, { COMMON, ENOSPC } },
		{ "buf_alloc", do_buf_alloc, DRM_IOCTL_VGPU_VM_BIND, { COMMON, ENOSPC } },
	};
	unsigned int i, j;

	make();
	assert_int_equal(do_flat(), 0);
	for (i = 0; i < NR(flat); i++) {
		for (j = 0; flat[i].errors[j]; j++)
			row_fails(&flat[i], flat[i].errors[j]);
		check_that(!flat[i].act(), "%s", vgpu_dev_error(node_dev));
	}
	drop();
}

/* That the queue cannot be destroyed is told, but what was the program's is gone. */
static void test_disable(void **state)
{
	unsigned int queues;

	make();
	queues = node_kernel.queues;
	node_kernel.fail = DRM_IOCTL_VGPU_QUEUE_DESTROY;
	node_kernel.error = -ENOENT;
	assert_int_equal(do_disable(), -ENOENT);
	node_kernel.error = 0;
	assert_int_equal(node_kernel.queues, queues + 1);
	assert_int_equal(node_kernel.syncobjs, 1);
	assert_int_equal(do_disable(), 0);
	drop();
	/* In truth the kernel has said that there is no such queue. */
	assert_int_equal(node_kernel.queues, queues);
	node_kernel.queues = 0;
}

/* A buffer that a VM cannot let go of is no obstacle to what takes its place. */
static void test_unmap(void **state)
{
	uint64_t at;

	make();
	assert_int_equal(do_flat(), 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &at), 0);
	node_kernel.fail = DRM_IOCTL_VGPU_VM_BIND;
	node_kernel.error = -ENOMEM;
	vgpu_fb_release(node_dev, at);
	node_kernel.error = 0;
	assert_int_equal(node_kernel.fb_used, 2 * PAGE);
	assert_int_equal(vgpu_fb_alloc(node_dev, PAGE, PAGE, &at), 0);
	assert_int_equal(node_kernel.fb_used, 2 * PAGE);
	vgpu_fb_release(node_dev, at);
	drop();
}

static void test_full(void **state)
{
	uint64_t at;

	assert_int_equal(vgpu_fb_alloc(node_dev, NODE_FB_BYTES + 1, PAGE, &at), -ENOSPC);
	node_says("framebuffer: 1048577 bytes wanted, 1048576 of 1048576 left");
	assert_int_equal(vgpu_fb_alloc(node_dev, UINT64_MAX, PAGE, &at), -ENOSPC);
	assert_int_equal(vgpu_fb_alloc(node_dev, 4, 1ull << 63, &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(vgpu_fb_alloc(node_dev, 4, 1ull << 63, &at), -ENOSPC);
	node_kernel.fb_others = NODE_FB_BYTES - 3 * PAGE;
	assert_int_equal(vgpu_fb_alloc(node_dev, 3 * PAGE, 4, &at), -ENOSPC);
	node_says("framebuffer: 12288 bytes wanted, 8192 of 1048576 left, the rest is in use");
	assert_int_equal(vgpu_fb_alloc(node_dev, 2 * PAGE, 4, &at), 0);
	vgpu_fb_release(node_dev, 0);
	assert_int_equal(vgpu_buf_alloc(node_dev, 0, &buf), -EINVAL);
	assert_int_equal(vgpu_buf_alloc(node_dev, 1ull << 38, &buf), -ENOMEM);
	node_says("no addresses are left for it");
	assert_int_equal(vgpu_buf_alloc(node_dev, SIZE_MAX - 2 * PAGE, &buf), -ENOMEM);
	/* The kernel has less than that, too. */
	assert_int_equal(vgpu_buf_alloc(node_dev, 2ull << 30, &buf), -ENOMEM);
	node_says("memory for buffers: 2147483648 bytes wanted, ");
	assert_null(strstr(vgpu_dev_error(node_dev), "wanted, 0 left"));
}

/* Nothing of a device stays open that cannot be used. */
static void test_open(void **state)
{
	static const struct row open[] = {
		{ "open", NULL, DRM_IOCTL_VERSION, { EFAULT, EINVAL, ENOMEM, EACCES } },
		{ "open", NULL, DRM_IOCTL_VGPU_DEV_QUERY, { EFAULT, EINVAL, ENOMEM, ENODEV } },
	};
	struct vgpu_dev *dev;
	unsigned int i, j;

	node_shut();
	for (i = 0; i < NR(open); i++) {
		for (j = 0; open[i].errors[j]; j++) {
			node_kernel.fail = open[i].request;
			node_kernel.error = -open[i].errors[j];
			assert_int_equal(vgpu_dev_open(&dev, NODE_PATH), -open[i].errors[j]);
			assert_null(dev);
			assert_int_equal(node_kernel.open, 0);
			assert_true(strlen(vgpu_dev_error(NULL)) > sizeof(NODE_PATH));
		}
	}
	node_kernel.error = 0;
	node_open();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_errors),
		NODE_TEST(test_flat),
		NODE_TEST(test_disable),
		NODE_TEST(test_unmap),
		NODE_TEST(test_full),
		NODE_TEST(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
