// SPDX-License-Identifier: GPL-2.0
/* Close and kill under load; removal of a vGPU, and unloading of the modules, while in use. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "fixture.h"
#include "irqs.h"

static struct fx_vgpu v;

static void queue_load(void)
{
	struct vgpu_chan *chans[4];
	unsigned int i, k;

	chans[0] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	chans[1] = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	chans[2] = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	chans[3] = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_SYS, 4);
	for (i = 0; i < 4; i++)
		for (k = 0; k < 12; k++)
			FX_OK(v.dev, vgpu_chan_fill(chans[i], VGPU_FB(FX_MIB), i, 16 * FX_MIB));
}

/* Opens the vGPU that a process has just left: its end may still go on in a kernel thread. */
static void open_again(void)
{
	int ret;

	FX_SOON((ret = vgpu_dev_open_vfio(&v.dev, v.uuid)) != -EBUSY);
	CHECK_EQ(ret, 0, "%s", vgpu_dev_error(NULL));
}

/* The vGPU has just been opened. */
static void check_clean(void)
{
	struct vgpu_chan *chan;

	CHECK(fx_is_zero(v.dev->fb, 17 * FX_MIB), "memory of the last user");
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	vgpu_chan_destroy(chan);
	fx_close(&v);
}

static void close_with_work_queued(void)
{
	unsigned int i;

	fx_create(&v, fx_default_type());
	for (i = 0; i < 10; i++) {
		fx_open(&v);
		queue_load();
		clk_sleep_ms((unsigned int)fx_random_below(10));
		fx_close(&v); /* without destroying the channels before */
		fx_open(&v);
		check_clean();
	}
}

static void load_and_wait(void *arg)
{
	int *pipe_fd = arg;
	uint64_t from;

	fx_open(&v);
	queue_load();
	from = v.dev->fb_next;
	if (write(pipe_fd[1], "x", 1) != 1)
		_exit(1);
	for (;;) {
		struct vgpu_chan *chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);

		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 16 * FX_MIB));
		fx_finish(chan);
		vgpu_chan_destroy(chan);
		vgpu_fb_release(v.dev, from);
	}
}

/* A child that fails says nothing, and the parent has the pipe's other end, too. */
static void await_child(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char c;

	CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1, "the child says nothing");
	CHECK_EQ(read(fd, &c, 1), 1);
}

static void kill_under_load(void)
{
	int fds[2], status;
	unsigned int i;
	pid_t pid;

	fx_create(&v, fx_default_type());
	CHECK(!pipe2(fds, O_CLOEXEC), "pipe");
	for (i = 0; i < 5; i++) {
		pid = child_start(load_and_wait, fds);
		await_child(fds[0]);
		clk_sleep_ms((unsigned int)fx_random_below(30));
		kill(pid, SIGKILL);
		CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "does not die");
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
		open_again();
		check_clean();
	}
	close(fds[0]);
	close(fds[1]);
}

static volatile int remove_result;
static volatile bool remove_done;

static void *remover(void *arg)
{
	(void)arg;
	remove_result = fx_try_remove(&v);
	remove_done = true;
	return NULL;
}

/* Removal asks the user by the request interrupt, and ends when the user closes the device. */
static void remove_while_in_use(void)
{
	struct pollfd pfd = { .events = POLLIN };
	struct vgpu_chan *chan;
	pthread_t thread;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	pfd.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK_EQ(irqs_set_request(v.dev, pfd.fd), 0);
	remove_done = false;
	CHECK(!pthread_create(&thread, NULL, remover, NULL), "thread");
	CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1, "nobody asks");
	fx_finish(chan); /* the vGPU works until the device is closed */
	CHECK(!remove_done, "removed under its user");
	vgpu_chan_destroy(chan);
	fx_close(&v);
	pthread_join(thread, NULL);
	CHECK_EQ(remove_result, 0);
	CHECK_EQ(access("/dev/vgpu", F_OK), 0);
	close(pfd.fd);
}

/* A child process: a user that does not listen to the request interrupt. */
static void hold_open(void *arg)
{
	int *pipe_fd = arg;

	fx_open(&v);
	if (write(pipe_fd[1], "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void remove_while_held_by_another(void)
{
	char path[128];
	int fds[2];
	pthread_t thread;
	pid_t pid;

	fx_create(&v, fx_default_type());
	CHECK(!pipe2(fds, O_CLOEXEC), "pipe");
	pid = child_start(hold_open, fds);
	await_child(fds[0]);
	remove_done = false;
	CHECK(!pthread_create(&thread, NULL, remover, NULL), "thread");
	/* The file goes when the removal begins. */
	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", v.uuid);
	FX_SOON(access(path, F_OK));
	clk_sleep_ms(300);
	CHECK(!remove_done, "removed under its user");
	child_kill(pid);
	pthread_join(thread, NULL);
	CHECK_EQ(remove_result, 0);
	close(fds[0]);
	close(fds[1]);
}

static void second_open_is_refused(void)
{
	struct vgpu_dev *dev;

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(vgpu_dev_open_vfio(&dev, v.uuid), -EBUSY, "%s", vgpu_dev_error(NULL));
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

static void unload_while_open(void)
{
	struct vgpu_chan *chan;
	int error;

	fx_create_open(&v, fx_default_type());
	error = unload("vgpu_soft");
	CHECK(error == EBUSY || error == EWOULDBLOCK, "vgpu_soft: %s", strerror(error));
	error = unload("vgpu");
	CHECK(error == EBUSY || error == EWOULDBLOCK, "vgpu: %s", strerror(error));
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	vgpu_chan_destroy(chan);
}

/* Opens, closes, creates and removes in quick succession. */
static void many_lives(void)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		fx_create_open(&v, fx_default_type());
		v.dev->fb[i * 4096] = 1;
		fx_close(&v);
		fx_remove(&v);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(close_with_work_queued),
	KTAP_TEST(kill_under_load),
	KTAP_TEST(remove_while_in_use),
	KTAP_TEST(remove_while_held_by_another),
	KTAP_TEST(second_open_is_refused),
	KTAP_TEST(unload_while_open),
	KTAP_TEST(many_lives),
};

KTAP_MAIN(tests, fx_cleanup)
