// SPDX-License-Identifier: GPL-2.0
/*
 * Engines that always have work, and threads that work for them, let grace periods of RCU-tasks
 * end, for which each thread of the kernel that can run must have slept, or said that it could.
 * Whoever ends a tracer, or removes a probe or a live patch, waits for one: no guest may hold that
 * up.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute.h"
#include "file.h"
#include "soft.h"

#define TRACE	"/sys/kernel/tracing/instances/vgpu_test"
#define ROUNDS	3

static struct fx_vgpu v;
static pthread_t tracer;
static bool tracing;
static volatile int traced;	/* rounds, or a negative errno */

/* A tracer of a function that is hardly ever called: what ends it waits for RCU-tasks. */
static int trace_once(void)
{
	int ret;

	ret = mkdir(TRACE, 0700) ? -errno : 0;
	if (ret && ret != -EEXIST)
		return ret;
	ret = file_write(TRACE "/set_ftrace_filter", "kernel_halt");
	if (!ret)
		ret = file_write(TRACE "/current_tracer", "function");
	if (!ret)
		ret = file_write(TRACE "/current_tracer", "nop");
	return rmdir(TRACE) && !ret ? -errno : ret;
}

static void *trace(void *unused)
{
	int i, ret;

	for (i = 0; i < ROUNDS; i++) {
		ret = trace_once();
		traced = ret ? ret : i + 1;
		if (ret)
			break;
	}
	return unused;
}

static void trace_begin(void)
{
	traced = 0;
	CHECK(!pthread_create(&tracer, NULL, trace, NULL), "thread");
	tracing = true;
}

static void trace_end(void)
{
	if (tracing)
		pthread_join(tracer, NULL);
	tracing = false;
}

static void tracer_ends(const char *what)
{
	trace_begin();
	FX_SOON(traced == ROUNDS || traced < 0, "%s: a tracer does not end", what);
	CHECK_EQ(traced, ROUNDS);
	trace_end();
}

static void need_tracers(void)
{
	if (access("/sys/kernel/tracing/instances", W_OK) ||
	    access("/sys/kernel/tracing/set_ftrace_filter", W_OK))
		ktap_skip("no tracer of functions in this kernel");
}

/* Programs that never end, on all units. */
static void endless_programs(void)
{
	uint64_t before, helpers = 0, helped = 0;
	struct vgpu_chan *chan;

	need_tracers();
	chan = compute_chan(&v);
	tracer_ends("without work");
	COMPUTE_LOAD(&v, compute_loop);
	CHECK(!soft_counter(NULL, "gr", "helpers", &helpers), "helpers");
	compute_dispatch(chan, COMPUTE_ALL, COMPUTE_SIZE(64, 1, 1), 0);
	before = compute_counter(&v, "instructions ");
	FX_SOON(compute_counter(&v, "instructions ") > before);
	tracer_ends("programs that never end");
	CHECK(!soft_counter(NULL, "gr", "helped", &helped), "helped");
	ktap_note("%llu helpers, which have helped %llu times", (unsigned long long)helpers,
		  (unsigned long long)helped);
}

#define CHANNELS	6u	/* half of them of each copy engine */
#define RING_ORDER	5u

static struct vgpu_chan *chans[CHANNELS];

/* Copy engines have more fills than they can do, until tracers have ended. */
static void fill_until_traced(struct vgpu_loc to)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		chans[i] = fx_chan(&v, VGPU_HW_ENGINE_CE, i % 2, VGPU_RING_FB, RING_ORDER);
	trace_begin();
	for (i = 0; traced >= 0 && traced < ROUNDS; i++) {
		struct vgpu_chan *chan = chans[i % CHANNELS];

		CHECK(clk_ms() < end, "a tracer does not end");
		while (chan->put - vgpu_chan_get(chan) < (1u << RING_ORDER))
			FX_OK(v.dev, vgpu_chan_fill(chan, to, i, 8 * FX_MIB));
	}
	CHECK_EQ(traced, ROUNDS);
	trace_end();
}

static void endless_fills(void)
{
	need_tracers();
	fx_create_open(&v, fx_default_type());
	fill_until_traced(VGPU_FB(8 * FX_MIB));
}

/* Likewise in the guest's memory, which the vGPU's worker writes. */
static void endless_accesses(void)
{
	static struct vgpu_buf buf;

	need_tracers();
	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 8 * FX_MIB, &buf));
	fill_until_traced(VGPU_SYS(&buf, 0));
}

/* Who waits for the grace period goes on when the vGPU is closed. */
static void cleanup(void)
{
	fx_cleanup();
	trace_end();
	rmdir(TRACE);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(endless_programs),
	KTAP_TEST(endless_fills),
	KTAP_TEST(endless_accesses),
};

KTAP_MAIN(tests, cleanup)
