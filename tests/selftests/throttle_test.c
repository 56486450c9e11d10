// SPDX-License-Identifier: GPL-2.0
/*
 * Readers in a cgroup that has used up its processor time stop where they are, on a kernel that
 * preempts itself also in the middle of a call. Nobody else waits for them.
 *
 * Each stop is for most of a PERIOD, and who waits for a lock that such a task has waits as long:
 * when readers had a mutex in common with all others, in one of ten periods on uml-debug. A call
 * that takes SLOW_MS for another reason is rare: the host is busy, or RCU waits for who is stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "group.h"

/* us of each us. A tick's worth: who overdraws waits for several periods, so stops are rare. */
#define PERIOD		"10000 250000"
#define SLOW_MS		100
#define STOPS		60	/* of the cgroup, for each test */
#define STOPPED		4	/* processes in it */
#define LIMIT		(256 * FX_MIB)

static struct fx_vgpu v, other, theirs[STOPPED];
static uint32_t gpu_id;

static void read_stats(void)
{
	static struct vgpu_ctl_instance entries[32];
	struct vgpu_ctl_stats stats;

	CHECK_EQ(node_stats(fx_control(), gpu_id, &stats, entries, 32), 0);
}

static void read_samples(void)
{
	static struct vgpu_ctl_sample entries[1024];
	struct vgpu_ctl_samples ctl = {};

	CHECK_EQ(node_samples(fx_control(), gpu_id, &ctl, entries, 1024), 0);
}

static void read_sessions(void)
{
	static struct vgpu_ctl_session entries[256];
	struct vgpu_ctl_sessions ctl = {};

	CHECK_EQ(node_sessions(fx_control(), gpu_id, &ctl, entries, 256), 0);
}

static void read_gpu(void)
{
	struct vgpu_ctl_gpu gpu;

	CHECK_EQ(node_gpu(fx_control(), gpu_id, &gpu), 0);
}

static void read_settings(void)
{
	struct vgpu_ctl_sched sched;

	CHECK_EQ(node_sched(fx_control(), gpu_id, &sched), 0);
}

static void read_vgpu(void)
{
	struct vgpu_ctl_instance inst;

	CHECK_EQ(node_instance(fx_control(), v.id, &inst), 0);
}

static void reset(void)
{
	CHECK_EQ(vgpu_dev_reset(v.dev), 0);
}

static void close_and_open(void)
{
	fx_close(&v);
	fx_open(&v);
}

static void set(void)
{
	struct vgpu_ctl_sched sched = { .linger_us = 100 };

	CHECK_EQ(node_sched_set(fx_control(), gpu_id, &sched, VGPU_SCHED_LINGER), 0);
}

static void create_and_remove(void)
{
	fx_create(&other, fx_default_type());
	fx_remove(&other);
}

/**
 * struct action - what the test does beside those that stop
 * @name:  for the report
 * @run:   does it
 * @calls: how often it was done
 * @slow:  how often it took SLOW_MS
 * @longest_ms: most that it took
 */
static struct action {
	const char *name;
	void (*run)(void);
	unsigned int calls, slow;
	uint64_t longest_ms;
} actions[] = {
	{ .name = "read statistics", .run = read_stats },
	{ .name = "read samples", .run = read_samples },
	{ .name = "read sessions", .run = read_sessions },
	{ .name = "read the GPU", .run = read_gpu },
	{ .name = "read settings", .run = read_settings },
	{ .name = "read the vGPU", .run = read_vgpu },
	{ .name = "reset", .run = reset },
	{ .name = "set", .run = set },
	{ .name = "close and open", .run = close_and_open },
	{ .name = "create and remove", .run = create_and_remove },
};

#define NR_ACTIONS	(sizeof(actions) / sizeof(actions[0]))

static void act(struct action *action)
{
	uint64_t start = clk_ms(), took;

	action->run();
	took = clk_ms() - start;
	action->calls++;
	action->slow += took >= SLOW_MS;
	if (took > action->longest_ms)
		action->longest_ms = took;
}

static uint64_t stops(void)
{
	return group_value(GROUP_A, "cpu.stat", "nr_throttled ");
}

/* Does all actions until the others have stopped often enough. */
static void act_beside(void)
{
	uint64_t begin = stops(), end = clk_ms() + FX_TIMEOUT_MS, now;
	unsigned int i, slow = 0;

	for (i = 0; i < NR_ACTIONS; i++)
		actions[i].calls = 0;
	do {
		for (i = 0; i < NR_ACTIONS; i++)
			act(&actions[i]);
		now = stops();
	} while (now - begin < STOPS && clk_ms() < end);

	for (i = 0; i < NR_ACTIONS; i++) {
		ktap_note("%s: %u times, %llu ms at most, %u times %u ms or more", actions[i].name,
			  actions[i].calls, (unsigned long long)actions[i].longest_ms,
			  actions[i].slow, SLOW_MS);
		slow += actions[i].slow;
	}
	CHECK(now - begin >= STOPS, "stopped %llu times only", (unsigned long long)(now - begin));
	CHECK(slow <= STOPS / 30, "%u calls waited while others were stopped %llu times", slow,
	      (unsigned long long)(now - begin));
}

/*
 * All that reads, as often as it may. With KASAN most of a call's time is that of its memory, so
 * more of it is spent where a lock could be held by files, which keep theirs.
 */
static void reader(void *group)
{
	static char text[65536];
	unsigned int i;
	char path[128];
	int fd;

	group_enter(group);
	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/instances", fx_gpu());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	for (;;) {
		for (i = 0; i < 50; i++)
			CHECK(pread(fd, text, sizeof(text), 0) > 0, "%s: %s", path,
			      strerror(errno));
		read_stats();
		read_samples();
		read_sessions();
		read_gpu();
		read_settings();
	}
}

static void make_group(void)
{
	int ret;

	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	group_make(GROUP_A, LIMIT);
	ret = group_write(GROUP_A, "cpu.max", PERIOD);
	if (ret)
		ktap_skip("cpu.max: %s", strerror(-ret));
	gpu_id = fx_gpu_id();
	fx_control();
}

/* @pid: whose processes end soon when they may run. */
static void finish(const pid_t *pid)
{
	unsigned int i;

	CHECK_EQ(group_write(GROUP_A, "cpu.max", "max"), 0);
	for (i = 0; i < STOPPED; i++)
		child_kill(pid[i]);
}

static void readers_stop(void)
{
	pid_t pid[STOPPED];
	unsigned int i;

	make_group();
	/* The more there are, the longer it takes to read them. */
	for (i = 0; i < STOPPED; i++)
		fx_create(&theirs[i], fx_default_type());
	/* Before the vGPU is open, which they would hold open, too. */
	for (i = 0; i < STOPPED; i++)
		pid[i] = child_start(reader, GROUP_A);
	fx_create_open(&v, fx_default_type());
	act_beside();
	finish(pid);
}

static void cleanup(void)
{
	group_write(GROUP_A, "cpu.max", "max");
	fx_cleanup();
	group_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(readers_stop),
};

KTAP_MAIN(tests, cleanup)
