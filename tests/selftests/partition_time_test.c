// SPDX-License-Identifier: GPL-2.0
/*
 * Partitions that share CPUs in time: each gets its slots, and nobody waits for a slot of another's
 * or, to stop a vGPU, for one of its own. Nothing here depends on how fast the machine is: what a
 * partition's clock shows is compared with the time, and whether it has moved.
 */
#include <string.h>
#include <unistd.h>

#include "clk.h"
#include "compute.h"
#include "hop.h"
#include "node.h"
#include "part.h"
#include "soft.h"
#include "tune.h"

/* As in linux/vgpu_clock.h. */
#define SLOT_NS		2000000ull
#define PERIOD_NS	(VGPU_PARTITION_SLICES * SLOT_NS)
#define STOP_NS		50000ull

#define GR		0
#define TRIES		400
#define WANTED		5

static struct fx_vgpu left, right;
static uint32_t left_part, right_part;

/* Two partitions that are apart, with a vGPU each. */
static void two_partitions(void)
{
	struct vgpu_ctl_partition part;

	part_mode(true);
	left_part = part_new("1g", 0);
	right_part = part_new("3g", 4);
	part_read(left_part, &part);
	if (!part.shared_time)
		ktap_skip("partitions have CPUs of their own");
	fx_create_open(&left, "1-2C");
	fx_create_open(&right, "3-8C");
	CHECK_EQ(part_of(&left), left_part);
	CHECK_EQ(part_of(&right), right_part);
}

static void hog_again(struct fx_vgpu *v, struct vgpu_chan *chan)
{
	uint64_t before = compute_counter(v, "instructions ");

	compute_load(v, compute_loop, sizeof(compute_loop) / sizeof(compute_loop[0]), 64);
	compute_dispatch(chan, COMPUTE_ALL, COMPUTE_SIZE(64, 2, 2), 1024);
	FX_SOON(compute_counter(v, "instructions ") > before);
}

/* A program that does not end. */
static struct vgpu_chan *hog(struct fx_vgpu *v)
{
	struct vgpu_chan *chan = compute_chan(v);

	hog_again(v, chan);
	return chan;
}

static void goes_on(const struct fx_vgpu *v)
{
	uint64_t before = compute_counter(v, "instructions ");

	FX_SOON(compute_counter(v, "instructions ") > before);
}

static uint64_t clock_ns(uint32_t id)
{
	struct vgpu_ctl_partition part;

	part_read(id, &part);
	return part.engine[GR].wall_ns;
}

/* A partition that shares CPUs in time has all units, as it has all CPUs. */
static void told(void)
{
	static const char * const profiles[] = { "1g", "2g", "3g", "4g" };
	struct vgpu_ctl_partition part, whole;
	unsigned int i;
	uint32_t id;

	part_mode(true);
	part_read(0, &whole);
	id = part_new("7g", 0);
	part_read(id, &part);
	CHECK_EQ(part.engine[GR].units, whole.engine[GR].units);
	CHECK_EQ(part.shared_time, 0, "it has all slots");
	part_remove(id);
	for (i = 0; i < 4; i++) {
		id = part_new(profiles[i], VGPU_PARTITION_ANYWHERE);
		part_read(id, &part);
		if (!part.shared_time)
			ktap_skip("partitions have CPUs of their own");
		CHECK_EQ(part.shared_time, 1, "%s", profiles[i]);
		CHECK_EQ(part.engine[GR].units, whole.engine[GR].units, "%s", profiles[i]);
		part_remove(id);
	}
	part_read(0, &part);
	CHECK_EQ(part.shared_time, 0, "the whole GPU");
}

/* At most so much of the partition's clock is in so much time, and at least. */
static void check_clock(uint32_t id, unsigned int slices)
{
	uint64_t length_ns = slices * SLOT_NS - STOP_NS, begin_ns, end_ns, moved_ns;
	struct vgpu_ctl_partition from, to;

	begin_ns = clk_ns();
	part_read(id, &from);
	clk_sleep_ms(300);
	end_ns = clk_ns();
	part_read(id, &to);
	moved_ns = to.engine[GR].wall_ns - from.engine[GR].wall_ns;
	CHECK(moved_ns <= ((to.now_ns - begin_ns) / PERIOD_NS + 1) * length_ns,
	      "%llu of %llu", (unsigned long long)moved_ns,
	      (unsigned long long)(to.now_ns - begin_ns));
	CHECK(moved_ns >= (end_ns - from.now_ns) / PERIOD_NS * length_ns, "%llu of %llu",
	      (unsigned long long)moved_ns, (unsigned long long)(end_ns - from.now_ns));
	CHECK(to.engine[GR].busy_ns - from.engine[GR].busy_ns <= moved_ns, "more than it had");
	CHECK(to.engine[GR].busy_ns > from.engine[GR].busy_ns, "nothing was done");
}

static void both_get_on(void)
{
	struct vgpu_ctl_instance inst;

	two_partitions();
	hog(&left);
	hog(&right);
	check_clock(left_part, 1);
	check_clock(right_part, 3);
	goes_on(&left);
	goes_on(&right);
	fx_instance(&left, &inst);
	CHECK_EQ(inst.faults, 0);
	CHECK_EQ(inst.engine[GR].resets, 0);
}

static uint64_t helped(uint32_t id)
{
	char engine[32];
	uint64_t value;

	snprintf(engine, sizeof(engine), "partition-%u/gr", id);
	CHECK(!soft_counter(fx_gpu(), engine, "helped", &value), "%s", engine);
	return value;
}

/* Both have programs with groups for all units, which help in the slots of each. */
static void all_units(void)
{
	struct vgpu_ctl_partition part;

	two_partitions();
	part_read(0, &part);
	if (part.engine[GR].units == 1 || sysconf(_SC_NPROCESSORS_ONLN) == 1)
		ktap_skip("there is one unit, or one processor");
	hog(&left);
	hog(&right);
	FX_SOON(helped(left_part) > 20);
	FX_SOON(helped(right_part) > 20);
	check_clock(left_part, 1);
	check_clock(right_part, 3);
}

/*
 * Does something that stops the engine's work, again and again. If that waited for a slot, the
 * partition's clock would move each time.
 */
static void stops_outside(const char *what, void (*stop)(struct vgpu_chan *chan))
{
	struct vgpu_chan *chan;
	unsigned int i, still = 0;
	uint64_t before;

	two_partitions();
	hog(&right);
	chan = hog(&left);
	for (i = 0; i < TRIES && still < WANTED; i++) {
		before = clock_ns(left_part);
		stop(chan);
		still += clock_ns(left_part) == before;
		if (left.dev) {
			FX_OK(left.dev, vgpu_chan_enable(chan));
			hog_again(&left, chan);
		} else {
			fx_open(&left);
			chan = hog(&left);
		}
	}
	ktap_note("%s: the clock stood still in %u of %u", what, still, i);
	CHECK(still >= WANTED, "%s waits for a slot", what);
	goes_on(&right);
}

static void disable(struct vgpu_chan *chan)
{
	FX_OK(left.dev, vgpu_chan_disable(chan));
}

static void disabled(void)
{
	stops_outside("to disable a channel", disable);
}

static void reset(struct vgpu_chan *chan)
{
	FX_OK(left.dev, vgpu_dev_reset(left.dev));
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
}

static void reset_in_sleep(void)
{
	stops_outside("a reset", reset);
}

static void close_it(struct vgpu_chan *chan)
{
	CHECK(chan, "no channel");
	fx_close(&left);
}

static void closed(void)
{
	stops_outside("to close", close_it);
}

/* An engine that rests in the midst of a program is told of new translations. */
static void invalidate(struct vgpu_chan *chan)
{
	compute_invalidate(&left, 0);
	FX_OK(left.dev, vgpu_chan_disable(chan));
}

static void invalidated(void)
{
	stops_outside("to invalidate", invalidate);
}

/* The neighbour gets on while the host changes all that it can of a partition, and removes it. */
static void changes_beside(void)
{
	struct vgpu_ctl_sched set = {};
	struct vgpu_chan *chan;
	struct vgpu_fault fault;
	const char *policy;
	char engine[32];
	unsigned int i;

	two_partitions();
	hog(&right);
	hog(&left);
	for (i = 0; i < 12; i++) {
		policy = tune_policy_at(i % tune_nr_policies());
		snprintf((char *)set.policy, sizeof(set.policy), "%s", policy);
		CHECK_EQ(node_part_sched_set(fx_control(), fx_gpu_id(), left_part, &set,
					     VGPU_SCHED_POLICY), 0, "%s", (char *)set.text);
		goes_on(&left);
		goes_on(&right);
	}
	fx_close(&left);
	fx_open(&left);
	chan = fx_chan(&left, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	snprintf(engine, sizeof(engine), "partition-%u/ce0", left_part);
	CHECK_EQ(soft_hang(fx_gpu(), engine, VGPU_HW_PKT_NOP), 0);
	FX_OK(left.dev, vgpu_chan_nop(chan));
	FX_OK(left.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	fx_again(chan);
	fx_finish(chan);
	hog(&left);
	fx_close(&left);
	fx_remove(&left);
	part_remove(left_part);
	goes_on(&right);
	CHECK_EQ(fx_faults(&right), 0);
}

/*
 * A vGPU moves from partition to partition in the midst of a program, with slots at other times in
 * each, and its old partition is removed while it goes on.
 */
static void moves_on(void)
{
	uint32_t from, to;
	unsigned int i;

	two_partitions();
	from = left_part;
	hog(&left);
	hog(&right);
	for (i = 0; i < 6; i++) {
		to = part_new("1g", (i + 1) % 4);
		hop(&left, i % 3);
		CHECK_EQ(part_of(&left), to);
		part_remove(from);
		goes_on(&left);
		goes_on(&right);
		from = to;
	}
	CHECK_EQ(fx_faults(&left), 0);
	CHECK_EQ(fx_faults(&right), 0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(told),
	KTAP_TEST(both_get_on),
	KTAP_TEST(all_units),
	KTAP_TEST(disabled),
	KTAP_TEST(reset_in_sleep),
	KTAP_TEST(closed),
	KTAP_TEST(invalidated),
	KTAP_TEST(changes_beside),
	KTAP_TEST(moves_on),
};

KTAP_MAIN(tests, part_cleanup)
