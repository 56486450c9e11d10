// SPDX-License-Identifier: GPL-2.0
/*
 * An ordinary user, of the group of the node, in a container that has the node and no sysfs:
 * vgpu-run, vgpu-samples and libvgpu, which find the vGPU by themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libvgpu.h>

#include "clk.h"
#include "node.h"
#include "process.h"
#include "user.h"

#define BOX		USER_BOX
#define NODE_NAME	"renderD128"
#define NODE_PATH	"/dev/dri/" NODE_NAME
#define DRIVER		"/sys/bus/pci/drivers/vgpu_guest"
#define USER		1000
#define RENDER		44
#define RUN_PROBE	"/vgpu-run", "/probe.elf", "--kernel"
#define RESULT		"/tmp/result"
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)
#define ORDER		VGPU_HW_RING_ORDER_MIN
#define PACKETS		1000
#define RING_VA		0x10000ull

/* Programs, /tmp and the node: with its group, as udev gives it. */
bool user_box(void)
{
	static const char * const files[] = {
		"/vgpu-run", "/vgpu-samples", "/probe.elf", "/nvml", "/lib/libnvidia-ml.so.1",
		"/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
	};
	char path[64];
	struct stat st;
	unsigned int i;

	if (!access(BOX, F_OK))
		return true;
	mkdir(BOX, 0755);
	mkdir(BOX "/dev", 0755);
	mkdir(BOX "/dev/dri", 0755);
	mkdir(BOX "/lib", 0755);
	mkdir(BOX "/lib64", 0755);
	mkdir(BOX "/tmp", 0777);
	CHECK(!chmod(BOX "/tmp", 0777));
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), BOX "%s", files[i]);
		CHECK(!link(files[i], path));
	}
	CHECK(!stat(NODE_PATH, &st));
	CHECK(!mknod(BOX NODE_PATH, S_IFCHR | 0660, st.st_rdev));
	CHECK(!chown(BOX NODE_PATH, 0, RENDER));
	CHECK(!chmod(BOX NODE_PATH, 0660));
	return true;
}

static void become(size_t groups)
{
	const gid_t render = RENDER;

	if (chroot(BOX) || chdir("/") || setgroups(groups, &render) ||
	    setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		_exit(126);
}

void user_become(void)
{
	become(1);
}

static void as_stranger(void)
{
	become(0);
}

static bool result_is_right(void)
{
	int fd = open(BOX RESULT, O_RDONLY | O_CLOEXEC);
	uint32_t word[3] = { 7, 7, 7 };
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, word, sizeof(word));
		close(fd);
		unlink(BOX RESULT);
	}
	return (n == 8 && !word[0] && word[1] == 1) ||
		failed("the result has %zd bytes, %u, %u", n, word[0], word[1]);
}

/* Whether a process has work in the ring of a channel. */
static bool is_at_work(pid_t pid)
{
	char *line = strtok(debugfs_text("queues"), "\n"), own[32];

	snprintf(own, sizeof(own), " %d: client ", pid);
	for (; line; line = strtok(NULL, "\n"))
		if (strstr(line, own) && strstr(line, ", channel ") && strstr(line, ", done 0, ") &&
		    !strstr(line, ", packets 0, "))
			return true;
	return false;
}

/* Starts a kernel that runs for ever, as the driver is patient, and waits until it does. */
static pid_t start_forever(int *said)
{
	char *const argv[] = { RUN_PROBE, "forever", "--grid", "1", "--arg", "4", NULL };
	uint64_t end = clk_ms() + WAIT_MS;
	pid_t pid = process_start(argv, user_become, said);

	while (pid > 0 && clk_ms() < end && !is_at_work(pid))
		clk_sleep_ms(10);
	return pid;
}

/* A signal ends vgpu-run in the middle of it. */
static bool is_stopped(int number, const char *text)
{
	int said;
	pid_t pid = start_forever(&said);

	CHECK(pid > 0);
	kill(pid, number);
	return process_ends(pid, said, W_EXITCODE(0, number), text);
}

static bool are_stopped(void)
{
	return module_again(PATIENT) && is_stopped(SIGTERM, "vgpu-run: interrupted") &&
		is_stopped(SIGKILL, "") && module_again(NULL);
}

/* The address of the function whose node it is. */
static bool find_address(char *address, size_t room)
{
	char device[256] = "";

	CHECK(readlink("/sys/class/drm/" NODE_NAME "/device", device, sizeof(device) - 1) > 0);
	snprintf(address, room, "%s", basename(device));
	return strchr(address, ':') || failed("a function named %s", address);
}

/* The address means the node. */
static bool runs_by_address(void)
{
	char address[32];
	char *const argv[] = {
		RUN_PROBE, "poke", "--grid", "1", "--arg", "8>" BOX RESULT, "--arg", "4", "--arg", "0",
		"--json", "--device", address, NULL,
	};

	CHECK(find_address(address, sizeof(address)));
	return process_runs(argv, NULL, 0, "\"device\": \"" NODE_PATH "\"") &&
		result_is_right();
}

bool test_user_run(void)
{
	char *const print[] = { RUN_PROBE, "say", "--grid", "2", "--group", "1", "--arg", "2", NULL };
	char *const store[] = { RUN_PROBE, "poke", "--grid", "1", "--arg", "8>" RESULT, "--arg", "4",
				"--arg", "0", "--device", NODE_NAME, NULL };
	char *const fault[] = { RUN_PROBE, "poke", "--grid", "64", "--arg", "64",
				"--arg", "0x7f00000000", "--arg", "33", NULL };
	char *const forever[] = { RUN_PROBE, "forever", "--grid", "1", "--arg", "4", NULL };
	char *const offer[] = { "/vgpu-run", "--complete", "--device", "", NULL };

	return user_box() && are_stopped() &&
		process_runs(print, user_become, 0, "item 0: 0.00 -1 100%\nitem 0: 0.50 -1 100%\n"
			     "item 1: 0.00 -1 100%\nitem 1: 0.50 -1 100%\n") &&
		process_runs(store, user_become, 0, "") && result_is_right() && runs_by_address() &&
		process_runs(fault, user_become, 1, "vgpu-run: kernel poke: page fault in poke+0x") &&
		process_runs(forever, user_become, 1, "took longer than the driver lets one") &&
		process_runs(store, user_become, 0, "") && result_is_right() &&
		process_runs(store, as_stranger, 1,
			     "Permission denied (are you in the group of the node, render?)") &&
		process_runs(print, as_stranger, 1, NODE_PATH ": Permission denied") &&
		process_runs(offer, user_become, 0, NODE_PATH "\n");
}

static bool tell_driver(const char *file, const char *address)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, address, strlen(address));

	if (fd >= 0)
		close(fd);
	return n > 0 || failed("%s: %s", file, strerror(errno));
}

/* The driver goes while a program uses the device. */
bool test_user_unbind(void)
{
	char address[32];
	int said;
	pid_t pid;

	CHECK(user_box() && find_address(address, sizeof(address)) && module_again(PATIENT));
	pid = start_forever(&said);
	CHECK(pid > 0);
	CHECK(tell_driver(DRIVER "/unbind", address));
	CHECK(process_ends(pid, said, W_EXITCODE(1, 0), "the device is gone"));
	return tell_driver(DRIVER "/bind", address) && node_is(true) && module_again(NULL);
}

bool test_user_samples(void)
{
	char *const all[] = { "/vgpu-samples", NULL };

	return user_box() && process_runs(all, user_become, 0, "bandwidth ");
}

static bool moves(struct vgpu_dev *dev, uint32_t engine, uint64_t fb, const struct vgpu_buf *buf)
{
	const uint32_t *words = buf->ptr;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	unsigned int i;

	CHECK_RET(vgpu_chan_create(dev, engine, VGPU_RING_FB, ORDER, &chan), 0);
	for (i = 0; i < PACKETS; i++)
		CHECK_RET(vgpu_chan_nop(chan), 0);
	CHECK_RET(vgpu_chan_fill(chan, VGPU_FB(fb + 64), 0x1234567, 32), 0);
	CHECK_RET(vgpu_chan_copy(chan, VGPU_SYS(buf, 4), VGPU_FB(fb + 60), 40), 0);
	CHECK_RET(vgpu_chan_copy2d(chan, VGPU_FB(fb + PAGE), 16, VGPU_SYS(buf, 0), 8, 8, 3), 0);
	CHECK_RET(vgpu_chan_wait_idle(chan, WAIT_MS), 0);
	CHECK(vgpu_chan_get(chan) == PACKETS + 3);
	CHECK(words[1] == 0 && words[2] == 0x1234567 && words[9] == 0x1234567 && words[10] == 0);
	words = (void *)(dev->fb + fb + PAGE);
	CHECK(words[4] == 0x1234567 && words[6] == 0 && words[9] == 0x1234567);
	/* What is outside of the framebuffer is so, whatever a VM has there. */
	CHECK_RET(vgpu_chan_fill(chan, VGPU_FB(vgpu_global_address(fb)), 1, 4), 0);
	CHECK_RET(vgpu_chan_wait_fault(chan, WAIT_MS, &fault), 0);
	CHECK(fault.code == VGPU_HW_FAULT_ADDRESS && fault.pos == PACKETS + 3);
	CHECK(fault.addr == vgpu_global_address(fb));
	CHECK_RET(vgpu_chan_enable(chan), 0);
	CHECK_RET(vgpu_chan_present(chan, fb, 4, 4, 16),
		  dev->engine[engine] >> 8 == VGPU_HW_ENGINE_GR ? -EPERM : -EINVAL);
	CHECK_RET(vgpu_chan_nop(chan), 0);
	CHECK_RET(vgpu_chan_wait_idle(chan, WAIT_MS), 0);
	vgpu_chan_destroy(chan);
	return true;
}

static bool maps(struct vgpu_dev *dev, uint32_t engine, uint64_t fb, const struct vgpu_buf *buf)
{
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint64_t fence;

	CHECK_RET(vgpu_space_create(dev, &space), 0);
	CHECK_RET(vgpu_chan_create_in(space, engine, ORDER, RING_VA, &chan), 0);
	CHECK_RET(vgpu_space_map(space, 64 * PAGE, VGPU_SYS(buf, PAGE), PAGE, RW), 0);
	CHECK_RET(vgpu_space_map_fb(space, fb, 2 * PAGE, RW), 0);
	CHECK_RET(vgpu_chan_fill(chan, VGPU_VA(64 * PAGE), 7, PAGE), 0);
	CHECK_RET(vgpu_chan_copy(chan, VGPU_VA(vgpu_global_address(fb)), VGPU_VA(64 * PAGE), PAGE),
		  0);
	CHECK_RET(vgpu_chan_wait_idle(chan, WAIT_MS), 0);
	CHECK(!memcmp(dev->fb + fb, (char *)buf->ptr + PAGE, PAGE));
	CHECK(*(uint32_t *)(dev->fb + fb + PAGE - 4) == 7);
	CHECK_RET(vgpu_space_unmap(space, 64 * PAGE, PAGE), 0);
	CHECK_RET(vgpu_space_invalidate(space), 0);
	CHECK_RET(vgpu_chan_fill(chan, VGPU_VA(64 * PAGE + 8), 9, 4), 0);
	CHECK_RET(vgpu_chan_fence(chan, &fence), 0);
	CHECK_RET(vgpu_chan_wait(chan, fence, WAIT_MS), -EIO);
	CHECK(strstr(vgpu_dev_error(dev), ": page fault at packet 2, address 0x40008"));
	CHECK_RET(vgpu_chan_enable(chan), 0);
	CHECK_RET(vgpu_space_map(space, 1ull << 38, VGPU_FB(fb), PAGE, RW), -EINVAL);
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
	return true;
}

static bool library_is_right(struct vgpu_dev *dev)
{
	struct vgpu_buf buf;
	uint64_t fb, more;
	uint32_t i, value;

	CHECK_RET(vgpu_fb_alloc(dev, 2 * PAGE, PAGE, &fb), 0);
	CHECK_RET(vgpu_buf_alloc(dev, 2 * PAGE, &buf), 0);
	for (i = 0; i < dev->engines; i++) {
		if (dev->engine[i] >> 8 != VGPU_HW_ENGINE_GR &&
		    dev->engine[i] >> 8 != VGPU_HW_ENGINE_CE)
			continue;
		memset(dev->fb + fb, 0, 2 * PAGE);
		memset(buf.ptr, 0, 2 * PAGE);
		if (!moves(dev, i, fb, &buf) || !maps(dev, i, fb, &buf))
			return failed("engine %u: %s", i, vgpu_dev_error(dev));
	}
	CHECK_RET(vgpu_reg_read32(dev, VGPU_HW_DEV_BASE, &value), -EOPNOTSUPP);
	CHECK_RET(vgpu_dev_reset(dev), -EOPNOTSUPP);
	CHECK_RET(vgpu_fb_alloc(dev, dev->fb_bytes - 2 * PAGE, PAGE, &more), -ENOSPC);
	CHECK(strstr(vgpu_dev_error(dev), " left, the rest is in use"));
	vgpu_buf_free(&buf);
	vgpu_fb_release(dev, fb);
	return true;
}

/* In a process of its own, which is the user's. */
bool test_user_library(void)
{
	int status = -1;
	pid_t pid;

	if (!user_box())
		return false;
	pid = fork();
	if (!pid) {
		struct vgpu_dev *dev;
		bool ok;

		user_become();
		ok = !vgpu_dev_open(&dev, NULL) || failed("%s", vgpu_dev_error(NULL));
		if (ok) {
			ok = library_is_right(dev);
			vgpu_dev_close(dev);
		}
		_exit(!ok);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return true;
}
