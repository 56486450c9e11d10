// SPDX-License-Identifier: GPL-2.0
/* What programs need of memory, or write to, costs their own VM's memory only. */
#include <endian.h>

#include "compute.h"
#include "group.h"
#include "soft.h"

static struct fx_vgpu hog, other;

static void cleanup(void)
{
	group_leave();
	fx_cleanup();
	group_cleanup();
}

static void wait_until_it_runs(const struct fx_vgpu *v)
{
	uint64_t before = compute_counter(v, "instructions ");

	FX_SOON(compute_counter(v, "instructions ") > before);
}

/* The hog is charged to a group with a limit; channels are opened after that. */
static void hog_in_group(void)
{
	fx_need_no_quarantine();
	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&hog, fx_default_type());
	group_open(&hog, GROUP_A);
}

/* One of the channels that has faulted, or NULL. */
static struct vgpu_chan *faulted_of(struct vgpu_chan *const *chan, unsigned int nr)
{
	while (nr--)
		if (vgpu_chan_state(chan[nr]) == VGPU_HW_STATE_FAULTED)
			return chan[nr];
	return NULL;
}

/* Contexts are charged to the VM that has them, and given back. */
static void contexts_are_charged(void)
{
	enum { CONTEXT = 8 * FX_MIB, NR = GROUP_LIMIT / CONTEXT };
	struct vgpu_chan *chan[NR], *neighbour, *faulted;
	uint64_t before;
	unsigned int i;

	hog_in_group();
	neighbour = compute_chan(&other);
	for (i = 0; i < NR; i++)
		chan[i] = compute_chan(&hog);
	compute_load(&hog, compute_loop, 3, 8192);
	before = group_value(GROUP_A, "memory.current", NULL);
	compute_dispatch(chan[0], COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(1024, 1, 1), 0);
	wait_until_it_runs(&hog);
	CHECK(group_value(GROUP_A, "memory.current", NULL) >= before + CONTEXT, "");
	/*
	 * The group has no room for all of them: a channel faults, and no process is killed. Which
	 * one it is depends on which the engine sees first.
	 */
	for (i = 1; i < NR; i++)
		compute_dispatch(chan[i], COMPUTE_SIZE(1024, 1, 1), COMPUTE_SIZE(1024, 1, 1), 0);
	FX_SOON((faulted = faulted_of(chan, NR)), "there is room for all");
	compute_check_fault(faulted, VGPU_HW_FAULT_MEMORY, COMPUTE_HEAD, 0,
			    COMPUTE_SIZE(0, 0, 0), "the group's limit");
	group_check_alive(GROUP_A);
	CHECK_EQ(group_value(GROUP_A, "memory.events", "oom "), 0);
	fx_finish(neighbour);
	for (i = 0; i < NR; i++)
		vgpu_chan_destroy(chan[i]);
	group_wait_below(GROUP_A, before + CONTEXT / 2);
	FX_SOON(compute_counter(&hog, "context_bytes ") == 0);
}

/* So are the flights of groups that several units are to execute, beside a context's own. */
static void flights_are_charged(void)
{
	enum { ITEMS = 1024, PRIVATE = 2048, FLIGHT = ITEMS * PRIVATE };
	uint64_t helpers, before, flights;
	struct vgpu_chan *chan;

	if (soft_counter(NULL, "gr", "helpers", &helpers) || !helpers)
		ktap_skip("there is one unit, or one processor");
	hog_in_group();
	chan = compute_chan(&hog);
	compute_load(&hog, compute_loop, 3, PRIVATE);
	before = group_value(GROUP_A, "memory.current", NULL);
	compute_dispatch(chan, COMPUTE_SIZE(ITEMS, 16, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
	wait_until_it_runs(&hog);
	flights = compute_counter(&hog, "flight_bytes ");
	CHECK(flights >= FLIGHT, "%llu", (unsigned long long)flights);
	CHECK(group_value(GROUP_A, "memory.current", NULL) >= before + FLIGHT + flights, "%llu",
	      (unsigned long long)flights);
	vgpu_chan_destroy(chan);
	group_wait_below(GROUP_A, before + FLIGHT);
	CHECK_EQ(compute_counter(&hog, "flight_bytes "), 0);
	group_check_alive(GROUP_A);
}

/* A program that writes to more memory than its VM may have: the fault says which store it was. */
static void stores_beyond_the_limit(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
		RV_LI(RV_T1, 37),
		RV_BEQ(RV_T0, RV_T1, 8),
		RV_RET,
		RV_LUI(RV_T1, 1),
		RV_SD(RV_T0, 2044, RV_A0),		/* over the ends of words, not of pages */
		RV_ADD(RV_A0, RV_A0, RV_T1),
		RV_J(-8),
	};
	struct vgpu_fault fault;
	struct vgpu_chan *chan, *neighbour;
	uint64_t helped, after;
	uint32_t row;

	CHECK(!soft_counter(NULL, "gr", "helped", &helped), "helped");
	hog_in_group();
	CHECK(hog.dev->fb_bytes > 2 * GROUP_LIMIT, "the framebuffer is too small");
	neighbour = compute_chan(&other);
	chan = compute_chan(&hog);
	compute_load(&hog, words, sizeof(words) / sizeof(words[0]), 64);
	compute_dispatch(chan, COMPUTE_SIZE(100, 2, 1), COMPUTE_SIZE(50, 1, 1), 0);
	FX_OK(hog.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK(fault.addr > VGPU_HW_VA_GLOBAL + COMPUTE_OUT &&
	      fault.addr < VGPU_HW_VA_GLOBAL + 2 * GROUP_LIMIT, "%#llx",
	      (unsigned long long)fault.addr);
	CHECK_EQ(fault.addr % 4096, 2044);
	/* Of two work-items that write, the first one; with several units any of them. */
	row = le32toh(chan->page->fault_id[1]);
	CHECK(row < 2, "%u", row);
	compute_check_fault(chan, VGPU_HW_FAULT_MEMORY, fault.addr, VGPU_HW_VA_IMAGE + 5 * 4,
			    COMPUTE_SIZE(37, row, 0), "the group's limit");
	CHECK(!soft_counter(NULL, "gr", "helped", &after), "helped");
	ktap_note("units have helped %llu times", (unsigned long long)(after - helped));
	group_check_alive(GROUP_A);
	fx_finish(neighbour);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(contexts_are_charged),
	KTAP_TEST(flights_are_charged),
	KTAP_TEST(stores_beyond_the_limit),
};

KTAP_MAIN(tests, cleanup)
