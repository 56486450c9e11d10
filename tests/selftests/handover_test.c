// SPDX-License-Identifier: GPL-2.0
/*
 * The process that opened a device hands it over to another process, its heir, and exits, as a
 * monitor does that updates itself. The device goes on working, with memory that any process has
 * mapped for it. An access to memory that has gone with its process faults the channel that made
 * the access.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "silent.h"

/* More than two of the looks, one a second, that the driver takes at an access under way. */
#define SLOW_MS		3500
#define STALLED		4	/* channels */

static struct fx_vgpu v;

/**
 * struct will - what an opener and its heir know of each other
 * @opener: the opener's PID
 * @socket: sockets by which the opener sends file descriptors to the heir
 * @chan:   the opener's channels, which wait for the opener's memory
 */
struct will {
	pid_t opener;
	int socket[2];
	struct vgpu_chan *chan[STALLED];
};

/* The opener's PID, and the process group that it founds for itself and its heir; 0: none. */
static pid_t family;

static void use_own_memory(uint32_t instance)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;

	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, instance, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 65536, &buf));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_SYS(&buf, 0), ~0u, 65536));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)buf.ptr, ~0u);
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
}

/* An access to the heir's memory that is answered late does not fail. */
static void use_slow_memory(void)
{
	struct vgpu_chan *slow = silent_stall(&v, 0);

	clk_sleep_ms(SLOW_MS);
	silent_answer();
	FX_OK(v.dev, vgpu_chan_wait_idle(slow, FX_TIMEOUT_MS));
	use_own_memory(0);
}

static void await_death(const struct will *will)
{
	while (getppid() == will->opener)
		clk_sleep_ms(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void forked_heir(struct will *will)
{
	await_death(will);
	use_own_memory(0);
	use_slow_memory();
}

/* Drops what fork() has passed on, and takes the descriptors that come by the socket. */
static void receive_device(struct will *will)
{
	int *fds[] = { &v.dev->fd, &v.dev->group, &v.dev->container };
	size_t chan_bytes = v.dev->channels * 4096ull;
	unsigned int i;

	CHECK(!munmap(v.dev->fb, v.dev->fb_bytes), "fb");
	CHECK(!munmap(v.dev->chan_pages, chan_bytes), "channels");
	for (i = 0; i < 3; i++)
		close(*fds[i]);
	await_death(will);
	for (i = 0; i < 3; i++)
		*fds[i] = silent_receive_fd(will->socket[0]);
	v.dev->fb = mmap(v.dev->fb, v.dev->fb_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v.dev->fd,
			 (off_t)v.dev->region[0].offset);
	CHECK(v.dev->fb != MAP_FAILED, "%s", strerror(errno));
	v.dev->chan_pages = mmap(v.dev->chan_pages, chan_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				 v.dev->fd, (off_t)v.dev->region[4].offset);
	CHECK(v.dev->chan_pages != MAP_FAILED, "%s", strerror(errno));
}

static void remote_heir(struct will *will)
{
	receive_device(will);
	use_own_memory(0);
	use_slow_memory();
}

/*
 * When the opener has gone nobody answers the access to its memory that is under way. The driver
 * ends that access and those that wait behind it, and each channel faults.
 */
static void robbed_heir(struct will *will)
{
	struct vgpu_fault fault;
	unsigned int i;

	await_death(will);
	for (i = 0; i < STALLED; i++) {
		FX_OK(v.dev, vgpu_chan_wait_fault(will->chan[i], FX_TIMEOUT_MS, &fault));
		CHECK_EQ(fault.code, VGPU_HW_FAULT_DMA);
	}
	FX_OK(v.dev, vgpu_dma_unmap(v.dev, SILENT_BYTES, SILENT_IOVA));
	use_own_memory(1);
	use_slow_memory();
}

static void fork_heir(struct will *will, void (*heir)(struct will *will))
{
	pid_t pid;

	will->opener = getpid();
	CHECK(!setpgid(0, 0), "%s", strerror(errno));
	pid = fork();
	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		heir(will);
		fflush(stdout);
		_exit(0);
	}
}

static void forking_opener(void *arg)
{
	fx_open(&v);
	fork_heir(arg, forked_heir);
}

static void sending_opener(void *arg)
{
	struct will *will = arg;

	fx_open(&v);
	fork_heir(will, remote_heir);
	silent_send_fd(will->socket[1], v.dev->fd);
	silent_send_fd(will->socket[1], v.dev->group);
	silent_send_fd(will->socket[1], v.dev->container);
}

static void stalling_opener(void *arg)
{
	struct will *will = arg;
	unsigned int i;

	fx_open(&v);
	silent_map(&v);
	for (i = 0; i < STALLED; i++)
		will->chan[i] = silent_copy(&v, 0, VGPU_HW_OP_SRC_SYS);
	silent_wait(&v, will->chan[0]->engine);
	fork_heir(will, robbed_heir);
}

static bool heir_ends(int *status)
{
	pid_t pid = waitpid(-family, status, WNOHANG);

	CHECK(pid >= 0, "there is no heir: %s", strerror(errno));
	return pid > 0;
}

static void hand_over(void (*opener)(void *arg))
{
	struct will will = { 0 };
	int status;

	silent_need();
	fx_create(&v, fx_default_type());
	CHECK(!prctl(PR_SET_CHILD_SUBREAPER, 1), "subreaper");
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, will.socket),
	      "%s", strerror(errno));
	family = child_start(opener, &will);
	CHECK(child_ends(family, FX_TIMEOUT_MS, &status), "opener hangs");
	CHECK_EQ(status, 0, "opener");
	close(will.socket[0]);
	close(will.socket[1]);
	/* With its parent's death the heir has become a child of this process. */
	FX_WITHIN(3 * FX_TIMEOUT_MS, heir_ends(&status), "the heir hangs");
	CHECK_EQ(status, 0, "the heir has failed");
}

/* A test that has failed may have left an heir, which has the device open. */
static void cleanup(void)
{
	int status;

	child_cleanup();
	if (family && !kill(-family, SIGKILL))
		waitpid(-family, &status, 0);
	family = 0;
	fx_cleanup();
}

static void by_fork(void)
{
	hand_over(forking_opener);
}

static void by_socket(void)
{
	hand_over(sending_opener);
}

static void memory_goes_with_its_process(void)
{
	hand_over(stalling_opener);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(by_fork),
	KTAP_TEST(by_socket),
	KTAP_TEST(memory_goes_with_its_process),
};

KTAP_MAIN(tests, cleanup)
