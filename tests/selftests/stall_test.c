// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory that never answers: a userfaultfd whose faults nobody serves.
 * It stalls its own vGPU alone, and reset, close and SIGKILL still end.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/userfaultfd.h>
#include <linux/vfio.h>

#include "fixture.h"
#include "silent.h"

static struct fx_vgpu v, other;

static void neighbour_goes_on(void)
{
	struct vgpu_chan *stuck, *chan, *same;
	uint64_t fence, i;
	void *silent;
	int uffd;

	silent_need();
	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	silent = silent_make(&uffd);
	CHECK(silent, "%s", strerror(errno));
	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	stuck = silent_stall(&v, 0);
	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	for (i = 0; i < 200; i++) {
		FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB),
						(uint32_t)i, 65536));
		fx_finish(chan);
	}
	silent_wait(&v, stuck->engine);
	CHECK_EQ(vgpu_chan_get(stuck), 0);
	CHECK(vgpu_chan_state(stuck) != VGPU_HW_STATE_FAULTED, "has faulted");
	/* Its own other channels that need no guest memory go on as well. */
	same = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fence(same, &fence));
	CHECK(fx_wait_fence(same, fence, FX_TIMEOUT_MS), "all channels stall");
	/* At last somebody answers: it goes on where it was. */
	close(uffd);
	FX_OK(v.dev, vgpu_chan_wait_idle(stuck, FX_TIMEOUT_MS));
	CHECK(fx_is_zero(v.dev->fb + FX_MIB, 65536), "zero pages");
	munmap(silent, SILENT_BYTES);
}

/*
 * A thread does what may hang, so that a hang is a failed test; it is then
 * ended by answering the faults.
 */
static volatile bool op_done;

static void *reset_thread(void *arg)
{
	(void)arg;
	if (ioctl(v.dev->fd, VFIO_DEVICE_RESET))
		ktap_note("reset: %s", strerror(errno));
	op_done = true;
	return NULL;
}

static void *disable_thread(void *arg)
{
	if (vgpu_chan_disable(arg))
		ktap_note("disable: %s", vgpu_dev_error(v.dev));
	op_done = true;
	return NULL;
}

static void *close_thread(void *arg)
{
	(void)arg;
	close(v.dev->fd);
	v.dev->fd = -1;
	op_done = true;
	return NULL;
}

static void bounded(void *(*op)(void *arg), void *arg, int uffd,
		    const char *what)
{
	uint64_t start = fx_now_ms();
	pthread_t thread;
	bool in_time;

	op_done = false;
	CHECK(!pthread_create(&thread, NULL, op, arg), "thread");
	while (!op_done && fx_now_ms() - start < FX_TIMEOUT_MS)
		fx_sleep_ms(2);
	in_time = op_done;
	if (!in_time)
		close(uffd);
	pthread_join(thread, NULL);
	ktap_note("%s took %llu ms", what,
		  (unsigned long long)(fx_now_ms() - start));
	CHECK(in_time, "%s waits for the guest's memory", what);
}

static void reset_ends(void)
{
	struct vgpu_chan *stuck;
	void *silent;
	int uffd;

	silent_need();
	fx_create_open(&v, fx_default_type());
	silent = silent_make(&uffd);
	CHECK(silent, "%s", strerror(errno));
	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	stuck = silent_stall(&v, 1);
	silent_wait(&v, stuck->engine);
	bounded(reset_thread, NULL, uffd, "reset");
	/* It works again, as far as it needs no silent memory. */
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	FX_OK(v.dev, vgpu_chan_enable(stuck));
	fx_finish(stuck);
	close(uffd);
	munmap(silent, SILENT_BYTES);
}

static void disable_ends(void)
{
	struct vgpu_chan *stuck;
	void *silent;
	int uffd;

	silent_need();
	fx_create_open(&v, fx_default_type());
	silent = silent_make(&uffd);
	CHECK(silent, "%s", strerror(errno));
	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	stuck = silent_stall(&v, 1);
	silent_wait(&v, stuck->engine);
	bounded(disable_thread, stuck, uffd, "disable");
	FX_OK(v.dev, vgpu_chan_enable(stuck));
	fx_finish(stuck);
	close(uffd);
	munmap(silent, SILENT_BYTES);
}

/* The last reference goes with the mappings, which libvgpu still has. */
static void close_ends(void)
{
	struct vgpu_chan *stuck;
	void *silent;
	int uffd;

	silent_need();
	fx_create_open(&v, fx_default_type());
	silent = silent_make(&uffd);
	CHECK(silent, "%s", strerror(errno));
	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	stuck = silent_stall(&v, 0);
	silent_wait(&v, stuck->engine);
	munmap(v.dev->fb, v.dev->fb_bytes);
	munmap(v.dev->chan_pages, v.dev->channels * 4096ull);
	v.dev->fb = NULL;
	v.dev->chan_pages = NULL;
	bounded(close_thread, NULL, uffd, "close");
	close(uffd);
	munmap(silent, SILENT_BYTES);
	fx_close(&v);
	fx_open(&v);
}

/**
 * struct victim - a child that stalls
 * @socket: to the parent, who gets the userfaultfd and keeps it open
 * @unmap:  the child also waits in a call of VFIO that no signal ends
 */
struct victim {
	int socket[2];
	bool unmap;
};

static void victim(void *arg)
{
	struct victim *me = arg;
	struct vgpu_chan *stuck;
	void *silent;
	int uffd;

	close(me->socket[0]);
	fx_open(&v);
	silent = silent_make(&uffd);
	CHECK(silent, "%s", strerror(errno));
	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	stuck = silent_stall(&v, 0);
	silent_wait(&v, stuck->engine);
	silent_send_fd(me->socket[1], uffd);
	if (me->unmap)
		vgpu_dma_unmap(v.dev, SILENT_BYTES, SILENT_IOVA);
	for (;;)
		pause();
}

/*
 * The stuck access holds the dead process's memory, that its mappings, and
 * those the device: it is free a moment after the access has ended.
 */
static void open_soon(void)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;

	while (vgpu_dev_open_vfio(&v.dev, v.uuid)) {
		CHECK(fx_now_ms() < end, "%s", vgpu_dev_error(NULL));
		fx_sleep_ms(5);
	}
}

static void kill_victim(bool unmap)
{
	struct victim me = { .unmap = unmap };
	int uffd, status;
	uint64_t start;
	bool died;
	pid_t pid;

	silent_need();
	fx_create(&v, fx_default_type());
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, me.socket),
	      "%s", strerror(errno));
	pid = fx_fork(victim, &me);
	close(me.socket[1]);
	uffd = silent_receive_fd(me.socket[0]);
	if (unmap)
		fx_sleep_ms(300); /* it is to wait by then */
	start = fx_now_ms();
	kill(pid, SIGKILL);
	died = fx_wait_child(pid, FX_TIMEOUT_MS, &status);
	ktap_note("dead after %llu ms",
		  (unsigned long long)(fx_now_ms() - start));
	close(me.socket[0]);
	CHECK(died, "waits for the guest's memory");
	/* We still hold the handle, and do not answer. */
	open_soon();
	close(uffd);
	fx_finish(fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4));
}

static void kill_ends(void)
{
	kill_victim(false);
}

static void kill_ends_a_call_that_waits(void)
{
	kill_victim(true);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(neighbour_goes_on),
	KTAP_TEST(reset_ends),
	KTAP_TEST(disable_ends),
	KTAP_TEST(close_ends),
	KTAP_TEST(kill_ends),
	KTAP_TEST(kill_ends_a_call_that_waits),
};

KTAP_MAIN(tests, fx_cleanup)
