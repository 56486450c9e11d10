// SPDX-License-Identifier: GPL-2.0
/*
 * Several units execute a dispatch together (vgpu_soft's units=), and dispatches of several
 * channels: groups, pages that nobody has touched, atomics and fences between groups, faults,
 * stops, and a move with groups in flight. Each test goes on until units have helped, which takes a
 * processor that nothing else wants: where there is one only, it belongs to the unit that leads,
 * and tests do without help.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"
#include "file.h"
#include "frames.h"
#include "groups.h"
#include "hop.h"
#include "inflight.h"
#include "soft.h"

#define GROUPS		96u
#define ITEMS		64u
#define WAITERS		(GROUPS * GROUPS_ITEMS)
#define FRESH		(64 * FX_MIB)		/* where each work-item has a page of its own */
#define TRIES_MS	(2 * FX_TIMEOUT_MS)
#define ONLINE		"/sys/devices/system/cpu/cpu1/online"

static struct fx_vgpu v;
static struct vgpu_chan *chan;

static uint64_t helped(void)
{
	uint64_t value;

	CHECK(!soft_counter(NULL, "gr", "helped", &value), "helped");
	return value;
}

static void begin(void)
{
	uint64_t helpers;

	if (soft_counter(NULL, "gr", "helpers", &helpers) || !helpers)
		ktap_skip("the GPU has one unit");
	chan = compute_chan(&v);
}

static bool help_comes(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

static volatile uint64_t *words_at(uint64_t offset)
{
	return (volatile uint64_t *)(v.dev->fb + offset);
}

/* Calls @once until units have helped in it. */
static void until_helped(void (*once)(void))
{
	uint64_t end = clk_ms() + TRIES_MS, before = helped();

	do {
		CHECK(clk_ms() < end, "no unit helps");
		once();
	} while (helped() == before && help_comes());
	ktap_note("units have helped %llu times", (unsigned long long)(helped() - before));
}

static uint64_t sum_of_rounds(void)
{
	uint64_t rounds = (UNITS_ROUNDS >> 12 << 12) + (UNITS_ROUNDS & 0x7ff);

	return rounds * (rounds + 1) / 2;
}

static void check_adds(void)
{
	volatile uint64_t *out = words_at(COMPUTE_OUT);
	uint64_t nr = GROUPS * ITEMS, i;

	fx_finish(chan);
	CHECK_EQ(le64toh(out[0]), nr * (nr - 1) / 2);
	for (i = 0; i < nr; i++)
		CHECK_EQ(le64toh(out[1 + i]), sum_of_rounds(), "%llu", (unsigned long long)i);
}

static void begin_adds(void)
{
	memset((void *)words_at(COMPUTE_OUT), 0, (GROUPS * ITEMS + 1) * 8);
	compute_dispatch(chan, COMPUTE_SIZE(GROUPS * ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
}

static void add_once(void)
{
	begin_adds();
	check_adds();
}

/* Each group is executed once, and what groups add to one place is all there. */
static void groups_add_up(void)
{
	begin();
	COMPUTE_LOAD(&v, groups_adds);
	until_helped(add_once);
	CHECK_EQ(compute_counter(&v, "groups ") % GROUPS, 0);
}

static uint64_t fresh;

static void touch_once(void)
{
	const uint64_t nr = 2048;
	uint64_t i, k;

	CHECK(fresh + nr * 4096 <= v.dev->fb_bytes, "no page is left that is untouched");
	compute_dispatch_head(chan, COMPUTE_HEAD, fresh, COMPUTE_SIZE((uint32_t)nr, 1, 1),
			      COMPUTE_SIZE(32, 1, 1), 0);
	fx_finish(chan);
	for (i = 0; i < nr; i++)
		for (k = 0; k < 512; k++)
			CHECK_EQ(le64toh(words_at(fresh + i * 4096)[k]), k % 32 ? 0 : i);
	fresh += nr * 4096;
}

/* Pages that several units touch at a time are zeroed, and each is there once. */
static void pages_are_fresh(void)
{
	begin();
	COMPUTE_LOAD(&v, groups_touches);
	fresh = FRESH;
	until_helped(touch_once);
}

static void meet_once(void)
{
	memset((void *)words_at(COMPUTE_OUT), 0, 16);
	compute_dispatch(chan, COMPUTE_SIZE(2, 1, 1), COMPUTE_SIZE(1, 1, 1), 0);
	FX_WITHIN(2 * TRIES_MS, vgpu_chan_get(chan) == le64toh(chan->page->put), "%s",
		  "they do not meet");
	CHECK_EQ(le64toh(words_at(COMPUTE_OUT)[0]) + le64toh(words_at(COMPUTE_OUT)[1]), 84);
}

static void groups_meet(void)
{
	begin();
	if (!help_comes())
		ktap_skip("units meet on two processors");
	COMPUTE_LOAD(&v, groups_meets);
	until_helped(meet_once);
}

static void run_groups(void)
{
	compute_dispatch(chan, COMPUTE_SIZE(WAITERS, 1, 1), COMPUTE_SIZE(GROUPS_ITEMS, 1, 1), 0);
	fx_finish(chan);
}

static void chain_once(void)
{
	volatile uint64_t *out = words_at(COMPUTE_OUT);
	uint64_t i;

	for (i = 0; i < WAITERS + GROUPS_ITEMS; i++)
		out[i] = htole64(i < GROUPS_ITEMS);
	run_groups();
	for (i = 0; i < WAITERS + GROUPS_ITEMS; i++)
		CHECK_EQ(le64toh(out[i]), 1 + i / GROUPS_ITEMS, "%llu", (unsigned long long)i);
}

/* Groups wait for those with lower ids, which are in flight or have ended. */
static void groups_wait_in_order(void)
{
	begin();
	COMPUTE_LOAD(&v, groups_chain);
	until_helped(chain_once);
}

static void lock_once(void)
{
	memset((void *)words_at(COMPUTE_OUT), 0, 16);
	run_groups();
	CHECK_EQ(le64toh(words_at(COMPUTE_OUT)[1]), (uint64_t)WAITERS * GROUPS_ROUNDS);
}

/* One of several groups at a time has the lock, and all get it. */
static void groups_take_a_lock(void)
{
	begin();
	COMPUTE_LOAD(&v, groups_lock);
	until_helped(lock_once);
}

static uint32_t bad;

static void fault_once(void)
{
	bad = (bad * 7 + 1000) % (GROUPS * ITEMS);
	words_at(COMPUTE_OUT)[1] = htole64(bad);
	compute_dispatch(chan, COMPUTE_SIZE(GROUPS * ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
	compute_check_fault(chan, VGPU_HW_FAULT_PAGE, 0, VGPU_HW_VA_IMAGE + 7 * 4,
			    COMPUTE_SIZE(bad, 0, 0), "one");
	fx_again(chan);
}

/* Whichever group faults, on whichever unit: the channel does, once, and says which work-item. */
static void one_group_faults(void)
{
	begin();
	COMPUTE_LOAD(&v, groups_faults);
	until_helped(fault_once);
	COMPUTE_LOAD(&v, groups_adds);
	add_once();
}

/* Programs that never end are left at once, wherever they are. */
static void endless_groups_stop(void)
{
	uint64_t end = clk_ms() + TRIES_MS, before;
	unsigned int i;

	begin();
	for (i = 0; i < 10; i++) {
		COMPUTE_LOAD(&v, compute_loop);	/* anew, as a reset empties the framebuffer */
		before = helped();
		compute_dispatch(chan, COMPUTE_ALL, COMPUTE_SIZE(ITEMS, 1, 1), 0);
		while (helped() == before && help_comes()) {
			CHECK(clk_ms() < end, "no unit helps in round %u", i);
			CHECK_EQ(le32toh(chan->page->fault_code), VGPU_HW_FAULT_NONE);
			clk_sleep_ms(1);	/* a processor for who helps */
		}
		if (i % 2)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		else
			FX_OK(v.dev, vgpu_chan_disable(chan));
		vgpu_chan_destroy(chan);
		chan = compute_chan(&v);
	}
	COMPUTE_LOAD(&v, groups_adds);
	add_once();
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON(!compute_counter(&v, "context_bytes ") && !compute_counter(&v, "flight_bytes "),
		"memory of flights is not given back");
}

/* A processor goes away and comes back while units are at work: so does help. */
static void processors_come_and_go(void)
{
	unsigned int i;

	begin();
	if (!help_comes())
		ktap_skip("units meet on two processors");
	COMPUTE_LOAD(&v, groups_adds);
	for (i = 0; i < 4; i++) {
		until_helped(add_once);
		begin_adds();
		CHECK(!file_write(ONLINE, "0"));
		check_adds();
		add_once();
		begin_adds();
		CHECK(!file_write(ONLINE, "1"));
		check_adds();
	}
	until_helped(add_once);
}

/*
 * Dispatches beside each other. Each channel has one group at a time, for which it would have one
 * unit, and a place of its own for the sum of all ids and the sum of rounds.
 */
#define CHANNELS	5u
#define PLACE(i)	(COMPUTE_OUT + (i) * 0x1000)

static struct vgpu_chan *chans[CHANNELS];

static uint64_t beside(void)
{
	uint64_t value;

	CHECK(!soft_counter(NULL, "gr", "beside", &value), "beside");
	return value;
}

static void begin_channels(void)
{
	unsigned int i;

	begin();
	chans[0] = chan;
	for (i = 1; i < CHANNELS; i++)
		chans[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
}

static void submit_place(unsigned int i, uint32_t items)
{
	memset((void *)words_at(PLACE(i)), 0, (items + 1) * 8);
	compute_dispatch_head(chans[i], COMPUTE_HEAD, PLACE(i), COMPUTE_SIZE(items, 1, 1),
			      COMPUTE_SIZE(ITEMS, 1, 1), 0);
}

static void check_place(unsigned int i, uint32_t items)
{
	volatile uint64_t *out = words_at(PLACE(i));
	uint32_t k;

	fx_finish(chans[i]);
	CHECK_EQ(le64toh(out[0]), (uint64_t)items * (items - 1) / 2, "channel %u", i);
	for (k = 0; k < items; k++)
		CHECK_EQ(le64toh(out[1 + k]), sum_of_rounds(), "channel %u, %u", i, k);
}

/* Calls @once until dispatches were executed beside the leader's. */
static void until_beside(void (*once)(void))
{
	uint64_t end = clk_ms() + TRIES_MS, before = beside();

	do {
		CHECK(clk_ms() < end, "no dispatch goes on beside another one");
		once();
	} while (beside() < before + 20 && help_comes());
	ktap_note("%llu times beside the leader's", (unsigned long long)(beside() - before));
}

static void add_beside(void)
{
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		submit_place(i, ITEMS * (i % 3 + 1));
	for (i = 0; i < CHANNELS; i++)
		check_place(i, ITEMS * (i % 3 + 1));
}

/* What each of them has is right, and counted once. */
static void dispatches_add_up(void)
{
	uint64_t groups;

	begin_channels();
	COMPUTE_LOAD(&v, groups_adds);
	groups = compute_counter(&v, "groups ");
	until_beside(add_beside);
	CHECK_EQ((compute_counter(&v, "groups ") - groups) % (1 + 2 + 3 + 1 + 2), 0);
}

/* Two dispatches wait for each other, which are one group each. */
static void meet_beside(void)
{
	unsigned int i;

	memset((void *)words_at(COMPUTE_OUT), 0, 16);
	for (i = 0; i < 2; i++)
		compute_dispatch_head(chans[i], COMPUTE_HEAD, COMPUTE_OUT + 8 * i, COMPUTE_ONE,
				      COMPUTE_ONE, 0);
	for (i = 0; i < 2; i++)
		FX_WITHIN(2 * TRIES_MS, vgpu_chan_get(chans[i]) == le64toh(chans[i]->page->put),
			  "%s", "they do not meet");
}

static void dispatches_meet(void)
{
	unsigned int i;

	begin_channels();
	COMPUTE_LOAD(&v, groups_meets);
	for (i = 0; i < 10; i++)
		meet_beside();
}

/* One faults, and all others are right. */
static void fault_beside(void)
{
	unsigned int which = bad++ % CHANNELS, i;

	for (i = 0; i < CHANNELS; i++)
		if (i != which)
			submit_place(i, ITEMS);
	compute_dispatch_head(chans[which], COMPUTE_HEAD + 0x100, PLACE(which),
			      COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
	for (i = 0; i < CHANNELS; i++)
		if (i != which)
			check_place(i, ITEMS);
	compute_check_fault(chans[which], VGPU_HW_FAULT_PAGE, 0, VGPU_HW_VA_IMAGE + 7 * 4,
			    COMPUTE_SIZE(3, 0, 0), "one of several");
	fx_again(chans[which]);
}

static void one_dispatch_faults(void)
{
	volatile uint32_t *text;
	unsigned int i;

	begin_channels();
	COMPUTE_LOAD(&v, groups_adds);
	text = (void *)(v.dev->fb + COMPUTE_IMAGE + 0x1000);
	for (i = 0; i < sizeof(groups_faults) / 4; i++)
		text[i] = htole32(groups_faults[i]);
	/* Work-item 3, not the one that memory names. */
	text[5] = htole32(RV_LI(RV_T1, 3));
	compute_head(&v, COMPUTE_HEAD + 0x100, COMPUTE_IMAGE + 0x1000, sizeof(groups_faults) / 4,
		     4096);
	until_beside(fault_beside);
}

/* Pages that nobody has touched, of several dispatches at a time. */
static void touch_beside(void)
{
	const uint64_t nr = ITEMS;
	uint64_t i, k;

	CHECK(fresh + CHANNELS * nr * 4096 <= v.dev->fb_bytes, "no page is left that is untouched");
	for (i = 0; i < CHANNELS; i++)
		compute_dispatch_head(chans[i], COMPUTE_HEAD, fresh + i * nr * 4096,
				      COMPUTE_SIZE((uint32_t)nr, 1, 1),
				      COMPUTE_SIZE((uint32_t)nr, 1, 1), 0);
	for (i = 0; i < CHANNELS; i++)
		fx_finish(chans[i]);
	for (i = 0; i < CHANNELS * nr; i++)
		for (k = 0; k < 512; k++)
			CHECK_EQ(le64toh(words_at(fresh + i * 4096)[k]), k % 32 ? 0 : i % nr);
	fresh += CHANNELS * nr * 4096;
}

static void pages_beside(void)
{
	begin_channels();
	COMPUTE_LOAD(&v, groups_touches);
	fresh = FRESH;
	until_beside(touch_beside);
}

/* Endless ones are beside others: each can be stopped, and others go on to their end. */
static void stop_beside(void)
{
	unsigned int i;

	/* Two that never end, so that one is beside the other. */
	for (i = 0; i < 2; i++)
		compute_dispatch_head(chans[i], COMPUTE_HEAD + 0x100, PLACE(i),
				      COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 0);
	for (i = 2; i < CHANNELS; i++)
		submit_place(i, 2 * ITEMS);
	for (i = 2; i < CHANNELS; i++)
		check_place(i, 2 * ITEMS);
	/* Packets of another type have their turns, too. */
	for (i = 0; i < 5; i++) {
		vgpu_chan_nop(chans[2]);
		fx_finish(chans[2]);
	}
	for (i = 0; i < 2; i++) {
		CHECK_EQ(vgpu_chan_get(chans[i]) + 1, le64toh(chans[i]->page->put));
		FX_OK(v.dev, vgpu_chan_disable(chans[i]));
		vgpu_chan_destroy(chans[i]);
		chans[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	}
}

static void endless_dispatches_stop(void)
{
	volatile uint32_t *text;
	unsigned int i;

	begin_channels();
	COMPUTE_LOAD(&v, groups_adds);
	text = (void *)(v.dev->fb + COMPUTE_IMAGE + 0x1000);
	for (i = 0; i < 3; i++)
		text[i] = htole32(compute_loop[i]);
	compute_head(&v, COMPUTE_HEAD + 0x100, COMPUTE_IMAGE + 0x1000, 3, 4096);
	until_beside(stop_beside);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON(!compute_counter(&v, "context_bytes ") && !compute_counter(&v, "flight_bytes "),
		"memory of flights is not given back");
}

static bool is_idle(void)
{
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		if (vgpu_chan_get(chans[i]) != le64toh(chans[i]->page->put))
			return false;
	return true;
}

/* The vGPU moves while dispatches go on beside each other, and those that helpers have ended. */
static void move_beside(void)
{
	uint64_t before = beside(), insns = compute_counter(&v, "instructions ");
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		submit_place(i, ITEMS);
	FX_SOON(is_idle() || (help_comes() ? beside() > before :
					     compute_counter(&v, "instructions ") > insns));
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
	hop(&v, 0);
	for (i = 0; i < CHANNELS; i++)
		check_place(i, ITEMS);
}

static void dispatches_move(void)
{
	unsigned int i;

	begin_channels();
	COMPUTE_LOAD(&v, groups_adds);
	until_beside(move_beside);
	for (i = 0; i < 10; i++)
		move_beside();
}

static bool is_over(void)
{
	return vgpu_chan_get(chan) == le64toh(chan->page->put);
}

/* Stops the vGPU. Returns how many groups are in flight; 0: the dispatch is over. */
static uint32_t stop_groups(void)
{
	struct hop_stream stream = {};
	uint32_t groups = 0;

	hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
	if (!is_over()) {
		hop_save(&v, 0, &stream);
		groups = inflight_count(&stream);
		hop_stream_free(&stream);
	}
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
	return groups;
}

/*
 * Begins a dispatch. Returns when units have helped with it some times, so that it should have
 * several groups in flight: where they have, they stay so until the last ones.
 */
static void begin_several(void)
{
	uint64_t insns = compute_counter(&v, "instructions "), before = helped();

	begin_adds();
	FX_SOON(is_over() || (help_comes() ? helped() > before + 8 :
					     compute_counter(&v, "instructions ") > insns));
}

/* Moves while several groups are in flight, to a vGPU that goes on with all of them. */
static void groups_move(void)
{
	uint64_t end = clk_ms() + 2 * TRIES_MS;
	uint32_t groups, moves = 0, several = 0;

	begin();
	COMPUTE_LOAD(&v, groups_adds);
	while (several < 3 && (help_comes() || moves < 3)) {
		CHECK(clk_ms() < end, "several in flight at %u of %u moves", several, moves);
		begin_several();
		groups = stop_groups();
		several += groups > 1;
		moves += groups > 0;
		if (groups)
			hop(&v, 0);
		else
			hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		check_adds();
	}
	ktap_note("%u of %u moves with several groups in flight", several, moves);
}

static void cleanup(void)
{
	file_write(ONLINE, "1");
	fx_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(groups_add_up),
	KTAP_TEST(pages_are_fresh),
	KTAP_TEST(groups_meet),
	KTAP_TEST(groups_wait_in_order),
	KTAP_TEST(groups_take_a_lock),
	KTAP_TEST(one_group_faults),
	KTAP_TEST(endless_groups_stop),
	KTAP_TEST(processors_come_and_go),
	KTAP_TEST(groups_move),
	KTAP_TEST(dispatches_add_up),
	KTAP_TEST(dispatches_meet),
	KTAP_TEST(one_dispatch_faults),
	KTAP_TEST(pages_beside),
	KTAP_TEST(endless_dispatches_stop),
	KTAP_TEST(dispatches_move),
};

KTAP_MAIN(tests, cleanup)
