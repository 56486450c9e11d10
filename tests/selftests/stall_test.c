// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory that never answers: a userfaultfd whose faults nobody serves. It stalls the
 * vGPU that accesses it and no other, and reset, close and SIGKILL end all the same.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "silent.h"

static struct fx_vgpu v, other;

static void neighbour_goes_on(void)
{
	struct vgpu_chan *stuck, *chan, *same;
	uint64_t fence, i;

	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	silent_need();
	silent_map(&v);
	stuck = silent_copy(&v, 0, VGPU_HW_OP_SRC_SYS);
	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	for (i = 0; i < 200; i++) {
		FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), (uint32_t)i, 65536));
		fx_finish(chan);
	}
	silent_wait(&v, stuck->engine);
	CHECK_EQ(vgpu_chan_get(stuck), 0);
	CHECK(vgpu_chan_state(stuck) != VGPU_HW_STATE_FAULTED, "has faulted");
	/* A channel of the same vGPU that needs no guest memory goes on as well. */
	same = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fence(same, &fence));
	CHECK(fx_wait_fence(same, fence, FX_TIMEOUT_MS), "all channels stall");
	/* When the memory answers at last, the channel goes on where it was. */
	silent_answer();
	FX_OK(v.dev, vgpu_chan_wait_idle(stuck, FX_TIMEOUT_MS));
	CHECK(fx_is_zero(v.dev->fb + FX_MIB, 65536), "zero pages");
	silent_unmap();
}

static void answer(void *unused)
{
	(void)unused;
	silent_answer();
}

static void reset_ends(void)
{
	struct vgpu_chan *stuck;

	fx_create_open(&v, fx_default_type());
	stuck = silent_stall(&v, 1);
	silent_bounded("reset", silent_reset, &v, FX_TIMEOUT_MS, answer, NULL);
	/* The vGPU works again, as far as it does not access the silent memory. */
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	FX_OK(v.dev, vgpu_chan_enable(stuck));
	fx_finish(stuck);
	silent_unmap();
}

static void disable_ends(void)
{
	struct vgpu_chan *stuck;

	fx_create_open(&v, fx_default_type());
	stuck = silent_stall(&v, 1);
	silent_bounded("disable", silent_disable, stuck, FX_TIMEOUT_MS, answer, NULL);
	FX_OK(v.dev, vgpu_chan_enable(stuck));
	fx_finish(stuck);
	silent_unmap();
}

static void close_ends(void)
{
	fx_create_open(&v, fx_default_type());
	silent_stall(&v, 0);
	silent_drop_mappings(&v);
	silent_bounded("close", silent_close, &v, FX_TIMEOUT_MS, answer, NULL);
	silent_unmap();
	fx_close(&v);
	fx_open(&v);
}

/**
 * struct victim - a child whose vGPU waits for silent memory
 * @socket: to the parent, which gets the userfaultfd and keeps it open
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
	int uffd;

	close(me->socket[0]);
	fx_open(&v);
	uffd = silent_map(&v);
	stuck = silent_copy(&v, 0, VGPU_HW_OP_SRC_SYS);
	silent_wait(&v, stuck->engine);
	silent_send_fd(me->socket[1], uffd);
	if (me->unmap)
		vgpu_dma_unmap(v.dev, SILENT_BYTES, SILENT_IOVA);
	for (;;)
		pause();
}

/*
 * The stuck access holds the dead process's memory, that memory its mappings, and those the
 * device. So the device can be opened a moment after the access has ended, not at once.
 */
static bool can_open(void)
{
	return !vgpu_dev_open_vfio(&v.dev, v.uuid);
}

static void kill_victim(bool unmap)
{
	struct victim me = { .unmap = unmap };
	uint64_t start;
	pid_t pid;
	int uffd;

	silent_need();
	fx_create(&v, fx_default_type());
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, me.socket), "%s",
	      strerror(errno));
	pid = child_start(victim, &me);
	close(me.socket[1]);
	uffd = silent_receive_fd(me.socket[0]);
	/* A wait that goes on is that of vgpu_dma_unmap(). */
	if (unmap)
		FX_SOON(child_state(pid) == 'D' && (clk_sleep_ms(50), child_state(pid) == 'D'),
			"the call does not wait");
	start = clk_ms();
	child_kill(pid);
	ktap_note("dead after %llu ms", (unsigned long long)(clk_ms() - start));
	close(me.socket[0]);
	/* This process still has the userfaultfd, and does not answer. */
	FX_SOON(can_open(), "%s", vgpu_dev_error(NULL));
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

/* A test that has failed leaves the memory silent. */
static void cleanup(void)
{
	silent_answer();
	fx_cleanup();
}

KTAP_MAIN(tests, cleanup)
