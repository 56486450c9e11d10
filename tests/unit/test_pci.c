// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu in a virtual machine, on PCI functions that are files: which of them is a vGPU, and what
 * several programs that have it open are given of it.
 */
#include "vgpu_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libvgpu/internal.h"

#define PCI_DEVICES	"/sys/bus/pci/devices"
#define CHANNELS	4
#define FB_BYTES	(1u << 20)
#define RING_ORDER	4

/* By address: QEMU's own VGA card, one of somebody else, two vGPUs of which the first is one. */
#define QEMU_VGA	"0000:00:01.0"
#define OTHER_VGA	"0000:00:02.0"
#define VGA		"0000:00:03.0"
#define VGPU		"0000:00:04.0"

static char world[] = "/tmp/test_pci.XXXXXX";

/* Where the file of that path is instead; @room has 512 bytes. */
static const char *moved(const char *path, char *room)
{
	if (strncmp(path, PCI_DEVICES, strlen(PCI_DEVICES)))
		return path;
	snprintf(room, 512, "%s%s", world, path + strlen(PCI_DEVICES));
	return room;
}

int __real_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
ssize_t __real_readlink(const char *path, char *to, size_t room);
int __real_stat(const char *path, struct stat *st);
int __real_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));

int __wrap_open(const char *path, int flags, int mode)
{
	char room[512];

	return __real_open(moved(path, room), flags, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char room[512];

	return __real_fopen(moved(path, room), mode);
}

ssize_t __wrap_readlink(const char *path, char *to, size_t bytes)
{
	char room[512];

	return __real_readlink(moved(path, room), to, bytes);
}

int __wrap_stat(const char *path, struct stat *st)
{
	char room[512];

	return __real_stat(moved(path, room), st);
}

int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	char room[512];

	return __real_scandir(moved(path, room), names, filter, compare);
}

/* Who gives a channel back while another program sleeps. */
static struct vgpu_dev *holder;

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (holder)
		vgpu_unclaim_chan(holder, 0);
	return 0;
}

/* Nothing here waits. */
int vgpu_irq_wait(struct vgpu_dev *of, unsigned int vector, int timeout_ms)
{
	return -ETIMEDOUT;
}

/* Writes to a file of the function, which then has at least @bytes. */
static void put(const char *address, const char *file, off_t at, const void *data, size_t nr,
		off_t bytes)
{
	char path[512];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", address, file);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, data, nr, at), nr);
	if (st.st_size < bytes)
		assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void put_text(const char *address, const char *file, const char *text)
{
	put(address, file, 0, text, strlen(text), 0);
}

static void put_reg(const char *address, off_t reg, u32 value)
{
	put(address, "resource2", VGPU_HW_DEV_BASE + reg, &value, sizeof(value), VGPU_HW_REGS_SIZE);
}

static void make_function(const char *address, const char *vendor, const char *device)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", world, address);
	assert_int_equal(mkdir(path, 0700), 0);
	put_text(address, "vendor", vendor);
	put_text(address, "device", device);
	put_text(address, "enable", "0");
	put(address, "config", 0, "", 1, 256);
}

static void make_vgpu(const char *address, const char *vendor, const char *device)
{
	make_function(address, vendor, device);
	put_reg(address, VGPU_HW_ID, VGPU_HW_ID_MAGIC);
	put_reg(address, VGPU_HW_VERSION, VGPU_HW_VERSION_CURRENT);
	put_reg(address, VGPU_HW_CHANNELS, CHANNELS);
	put_reg(address, VGPU_HW_FB_SIZE, FB_BYTES);
	put_reg(address, VGPU_HW_ENGINES, 1);
	put(address, "resource0", 0, "", 1, FB_BYTES);
	put(address, "resource4", 0, "", 1, CHANNELS * VGPU_HW_PAGE_SIZE);
}

static int setup(void **state)
{
	if (!mkdtemp(world))
		return -1;
	make_function(QEMU_VGA, "0x1234", "0x1111");
	put(QEMU_VGA, "resource2", 0, "", 1, 4096);
	make_function(OTHER_VGA, "0x1234", "0x1111");
	put_reg(OTHER_VGA, VGPU_HW_ID, 0x12345678);
	make_vgpu(VGA, "0x1234", "0x1111");
	make_vgpu(VGPU, "0x1af4", "0x10f1");
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", world);
	return system(command);
}

static struct vgpu_dev *open_at(const char *address)
{
	struct vgpu_dev *dev;

	check_that(!vgpu_dev_open_pci(&dev, address), "%s", vgpu_dev_error(NULL));
	return dev;
}

static void refused(const char *address, int error, const char *why)
{
	struct vgpu_dev *dev;

	assert_int_equal(vgpu_dev_open_pci(&dev, address), error);
	assert_null(dev);
	check_that(strstr(vgpu_dev_error(NULL), why), "%s", vgpu_dev_error(NULL));
}

static void test_find(void **state)
{
	struct vgpu_dev *dev = open_at(NULL);
	char enabled = 0, path[512];
	int fd;

	assert_string_equal(dev->name, VGA);
	vgpu_dev_close(dev);
	dev = open_at(VGPU);
	assert_int_equal(dev->fb_bytes, FB_BYTES);
	vgpu_dev_close(dev);
	refused(QEMU_VGA, -ENODEV, QEMU_VGA " is no vGPU");
	refused(OTHER_VGA, -ENODEV, "is no vGPU: id register 0x12345678");
	refused("0000:00:09.0", -ENODEV, "is no vGPU");
	/* What is not one for certain has not been touched. */
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/enable", QEMU_VGA);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, &enabled, 1), 1);
	assert_int_equal(enabled, '0');
	close(fd);
}

static void test_driver(void **state)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/driver", world, VGA);
	assert_int_equal(symlink("../../../bus/pci/drivers/bochs-drm", path), 0);
	refused(VGA, -EBUSY, "the driver bochs-drm has it: write " VGA " to " PCI_DEVICES);
	refused(NULL, -EBUSY, "bochs-drm");
	unlink(path);
	vgpu_dev_close(open_at(NULL));
}

static u32 ctrl_of(struct vgpu_dev *dev, u32 channel)
{
	u32 ctrl;

	assert_int_equal(vgpu_reg_read32(dev, vgpu_chan_reg(channel, VGPU_HW_CHAN_CTRL), &ctrl), 0);
	return ctrl;
}

static void test_channels(void **state)
{
	struct vgpu_dev *a = open_at(VGPU), *b = open_at(VGPU);
	struct vgpu_chan *chan[CHANNELS], *more;
	u32 taken = 0, i;

	for (i = 0; i < CHANNELS; i++) {
		assert_int_equal(vgpu_chan_create(i ? a : b, 0, VGPU_RING_FB, RING_ORDER, &chan[i]),
				 0);
		taken |= 1u << chan[i]->id;
	}
	assert_int_equal(taken, (1u << CHANNELS) - 1);
	assert_int_equal(vgpu_chan_create(b, 0, VGPU_RING_FB, RING_ORDER, &more), -EBUSY);
	assert_string_equal(vgpu_dev_error(b), VGPU ": all of its 4 channels are in use, 3 by other programs");
	i = chan[1]->id;
	vgpu_chan_destroy(chan[1]);
	assert_int_equal(vgpu_chan_create(b, 0, VGPU_RING_FB, RING_ORDER, &chan[1]), 0);
	assert_int_equal(chan[1]->id, i);
	vgpu_dev_close(a);
	free(chan[2]);
	free(chan[3]);
	/* With the program its channels become free; what it left undone is no hindrance. */
	assert_int_equal(vgpu_chan_create(b, 0, VGPU_RING_FB, RING_ORDER, &more), 0);
	vgpu_chan_destroy(more);
	vgpu_chan_destroy(chan[1]);
	vgpu_chan_destroy(chan[0]);
	vgpu_dev_close(b);
}

/* A channel that another program has only to stop it is not in use. */
static void test_held_for_a_moment(void **state)
{
	struct vgpu_dev *a = open_at(VGPU), *b = open_at(VGPU);
	struct vgpu_chan *chan;
	u32 i;

	for (i = 0; i < CHANNELS; i++)
		assert_int_equal(vgpu_claim_chan(a, i), 0);
	holder = a;
	assert_int_equal(vgpu_chan_create(b, 0, VGPU_RING_FB, RING_ORDER, &chan), 0);
	holder = NULL;
	assert_int_equal(chan->id, 0);
	vgpu_chan_destroy(chan);
	vgpu_dev_close(b);
	vgpu_dev_close(a);
}

static void test_framebuffer(void **state)
{
	struct vgpu_dev *a = open_at(VGPU), *b = open_at(VGPU);
	uint64_t first, second, third, at;

	assert_int_equal(vgpu_fb_alloc(a, 10, 4, &first), 0);
	assert_int_equal(vgpu_fb_alloc(b, 10, 4, &second), 0);
	assert_int_equal(vgpu_fb_alloc(a, 10, 4, &third), 0);
	/* No two share a page, but what one program is given may. */
	assert_int_equal(first, 0);
	assert_int_equal(second, 4096);
	assert_int_equal(third, 12);
	/* What does not fit before the other's page is behind it. */
	assert_int_equal(vgpu_fb_alloc(a, 8192, 4, &at), 0);
	assert_int_equal(at, 8192);
	assert_int_equal(vgpu_fb_alloc(b, FB_BYTES / 2, 1 << 17, &at), 0);
	assert_int_equal(at, 1 << 17);
	assert_int_equal(vgpu_fb_alloc(a, FB_BYTES / 2, 4, &at), -ENOSPC);
	check_that(strstr(vgpu_dev_error(a), "524288 bytes wanted, 1032192 of 1048576 left, some of them to other programs"),
		   "%s", vgpu_dev_error(a));
	vgpu_fb_release(b, second + 1);
	assert_int_equal(vgpu_fb_alloc(a, FB_BYTES / 2, 4, &at), 0);
	assert_int_equal(at, 16384);
	/* The page of which a part is still in use was not given back. */
	vgpu_fb_release(a, 0);
	assert_int_equal(vgpu_fb_alloc(a, 8192, 4, &at), 0);
	assert_int_equal(at, 8192);
	vgpu_dev_close(b);
	vgpu_fb_release(a, 0);
	assert_int_equal(vgpu_fb_alloc(a, FB_BYTES, 4, &at), 0);
	vgpu_dev_close(a);
}

/* A program that takes all there is, and is killed. */
static void hold_all(int said)
{
	struct vgpu_dev *dev = open_at(VGPU);
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint64_t at;

	assert_int_equal(vgpu_space_create(dev, &space), 0);
	while (!vgpu_chan_create_in(space, 0, RING_ORDER, VGPU_HW_PAGE_SIZE, &chan))
		chan->page->state = VGPU_HW_STATE_AWAKE;
	assert_int_equal(vgpu_fb_alloc(dev, FB_BYTES / 2, 4, &at), 0);
	assert_int_equal(write(said, "", 1), 1);
	pause();
}

static void test_killed(void **state)
{
	struct vgpu_dev *dev = open_at(VGPU);
	struct vgpu_chan *chan;
	int said[2];
	uint64_t at;
	pid_t pid;
	char c;
	u32 i;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (!pid)
		hold_all(said[1]);
	assert_int_equal(read(said[0], &c, 1), 1);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), -EBUSY);
	assert_int_equal(vgpu_fb_alloc(dev, 4096, 4, &at), 0);
	assert_true(at > FB_BYTES / 2);
	for (i = 0; i < CHANNELS; i++)
		assert_int_equal(ctrl_of(dev, i) & VGPU_HW_CTRL_ENABLE, VGPU_HW_CTRL_ENABLE);
	assert_int_equal(vgpu_fb_alloc(dev, FB_BYTES - at - 4096, 4, &at), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* A channel is stopped as soon as it is another's, before there is memory for it. */
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), -ENOSPC);
	assert_int_equal(ctrl_of(dev, 0), 0);
	assert_true(ctrl_of(dev, 1) & VGPU_HW_CTRL_ENABLE);
	/* Its channels are stopped before its framebuffer is anybody else's. */
	vgpu_fb_release(dev, 0);
	assert_int_equal(vgpu_fb_alloc(dev, 4096, 4, &at), 0);
	assert_int_equal(at, 0);
	for (i = 0; i < CHANNELS; i++)
		assert_int_equal(ctrl_of(dev, i), 0);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), 0);
	assert_int_equal(chan->id, 0);
	/* Nor is the channel in its address space. */
	assert_int_equal(vgpu_reg_read32(dev, vgpu_chan_reg(0, VGPU_HW_CHAN_ROOT), &i), 0);
	assert_int_equal(i, 0);
	chan->page->state = VGPU_HW_STATE_AWAKE;
	assert_int_equal(vgpu_fb_alloc(dev, 4096, 4, &at), 0);
	assert_true(ctrl_of(dev, 0) & VGPU_HW_CTRL_ENABLE);
	vgpu_chan_destroy(chan);
	vgpu_dev_close(dev);
	close(said[0]);
	close(said[1]);
}

static void driver_is(struct vgpu_dev *dev, const char *name)
{
	char told[32];
	u32 i;

	for (i = 0; i < 8; i++)
		assert_int_equal(vgpu_reg_read32(dev, VGPU_HW_DEV_BASE + VGPU_HW_GUEST_INFO(i),
						 (u32 *)told + i), 0);
	assert_memory_equal(told, name, strlen(name) + 1);
}

/* The label is there when the channel is enabled, and names a driver if nobody has named one. */
static void test_label(void **state)
{
	struct vgpu_dev *dev = open_at(VGPU);
	struct vgpu_chan *chan;
	struct vgpu_hw_label *label = (void *)(dev->chan_pages + VGPU_HW_LABEL);
	u32 i;

	put_reg(VGPU, VGPU_HW_VERSION, VGPU_HW_VERSION_1_1);
	memset(label, 0, sizeof(*label));
	for (i = 0; i < 32; i++)
		put_reg(VGPU, VGPU_HW_GUEST_INFO(i), 0);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), 0);
	assert_int_equal(label->magic, 0);
	driver_is(dev, "");
	vgpu_chan_destroy(chan);

	put_reg(VGPU, VGPU_HW_VERSION, VGPU_HW_VERSION_CURRENT);
	memset(label, 0xff, sizeof(*label));
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), 0);
	assert_int_equal(chan->id, 0);
	assert_int_equal(label->magic, VGPU_HW_LABEL_MAGIC);
	assert_int_equal(label->pid, getpid());
	assert_int_equal(label->uid, getuid());
	assert_int_equal(label->pad, 0);
	assert_int_equal(label->client, getpid());
	assert_string_equal(label->comm, "test_pci");
	driver_is(dev, "libvgpu");
	vgpu_chan_destroy(chan);

	/* What another driver has told, be it its version only, stays. */
	for (i = 0; i < 32; i++)
		put_reg(VGPU, VGPU_HW_GUEST_INFO(i), i == 15);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan), 0);
	driver_is(dev, "");
	vgpu_chan_destroy(chan);
	vgpu_dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_driver),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_held_for_a_moment),
		cmocka_unit_test(test_framebuffer),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_label),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
