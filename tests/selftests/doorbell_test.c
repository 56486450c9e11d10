// SPDX-License-Identifier: GPL-2.0
/*
 * The doorbell handshake, a million times: submitter and engine must never both wait for the other
 * to act. Pauses between submissions are random, around the time after which an engine sleeps. What
 * can go wrong goes wrong where it sleeps, and is rung for: it is enough to have seen that often,
 * as it is all the time where other work keeps the submitter from its processor.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fixture.h"

#define RUNG_MAX	30000

static struct fx_vgpu v;

/* Waits without sleeping; with @yield other threads can have the processor. */
static void pause_ns(uint64_t ns, bool yield)
{
	uint64_t end = clk_ns() + ns;

	while (clk_ns() < end)
		if (yield)
			sched_yield();
}

/* A million, but for User-Mode Linux with its one processor and slow system calls. */
static uint64_t default_rounds(void)
{
	struct utsname name;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 20000;
	if (!uname(&name) && strstr(name.release, "um"))
		return 20000;
	return 1000000;
}

static void shake_hands(enum vgpu_ring where, uint64_t rounds)
{
	bool yield = sysconf(_SC_NPROCESSORS_ONLN) < 2;
	uint64_t rung = 0, i, start, since;
	struct vgpu_hw_packet *ring;
	struct vgpu_chan *chan;
	int ret;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, where, 4);
	ring = chan->ring;
	for (i = 0; i < 16; i++) {
		memset(&ring[i], 0, sizeof(ring[i]));
		ring[i].type = VGPU_HW_PKT_NOP;
	}
	start = clk_ns();
	for (i = 1; i <= rounds && rung < RUNG_MAX; i++) {
		ret = vgpu_chan_kick(chan, i);
		FX_OK(v.dev, ret);
		rung += (uint64_t)ret;
		since = 0;
		while (vgpu_chan_get(chan) < i) {
			if (yield)
				sched_yield();
			if (!since)
				since = clk_ns();
			else if (clk_ns() - since > FX_TIMEOUT_MS * 1000000ull)
				FAIL("handshake %llu is lost: state %u, rung %d",
				     (unsigned long long)i, vgpu_chan_state(chan), ret);
		}
		if (!(fx_random() >> 60))
			pause_ns(fx_random_below(120000), yield);
	}
	ktap_note("%llu handshakes, %llu doorbells, %llu ms", (unsigned long long)i - 1,
		  (unsigned long long)rung, (unsigned long long)((clk_ns() - start) / 1000000));
	CHECK_EQ(vgpu_chan_get(chan), i - 1);
	vgpu_chan_destroy(chan);
}

static void ring_in_fb(void)
{
	shake_hands(VGPU_RING_FB, fx_env("VGPU_TEST_HANDSHAKES", default_rounds()));
}

static void ring_in_sys(void)
{
	shake_hands(VGPU_RING_SYS, fx_env("VGPU_TEST_HANDSHAKES", default_rounds()) / 100 + 1);
}

/* A doorbell without new packets does no harm, however often it is rung. */
static void idle_doorbells(void)
{
	struct vgpu_chan *chan;
	unsigned int i;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 3000; i++)
		FX_OK(v.dev, vgpu_chan_kick(chan, 0));
	CHECK_EQ(vgpu_chan_get(chan), 0);
	fx_finish(chan);
	/* The doorbell of a disabled channel does nothing. */
	FX_OK(v.dev, vgpu_chan_disable(chan));
	for (i = 0; i < 10; i++)
		FX_OK(v.dev, vgpu_chan_kick(chan, 1));
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	vgpu_chan_destroy(chan);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(ring_in_fb),
	KTAP_TEST(ring_in_sys),
	KTAP_TEST(idle_doorbells),
};

KTAP_MAIN(tests, fx_cleanup)
