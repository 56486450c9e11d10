// SPDX-License-Identifier: GPL-2.0
/*
 * Readers and tenants in a cgroup that has used up its processor time stop where they are, on a
 * kernel that preempts itself also in the middle of a call. Nobody else waits for them.
 *
 * Who waits for a lock that such a task has waits for most of a PERIOD. How long calls take says
 * little about that where the host is busy, so what is judged is the waits that the kernel tells:
 * no other task waits for a lock of the driver with which a task can be stopped. The longest calls
 * are printed beside that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/major.h>

#include "child.h"
#include "contention.h"
#include "event.h"
#include "group.h"

/* us of each us. A tick's worth: who overdraws waits for several periods, so stops are rare. */
#define PERIOD		"10000 250000"
#define STOPS		60	/* of the cgroup, for each test */
#define STOPPED		4	/* processes in it */
#define NAME		"stopped"
#define LIMIT		(256 * FX_MIB)
#define DOORBELLS	200
#define LOOK_MS		3000

static struct fx_vgpu v, other, theirs[STOPPED];
static struct vgpu_chan *gr, *ce;
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

static void read_events(void)
{
	struct vgpu_ctl_event events[16];
	int fd = event_open();

	while (read(fd, events, sizeof(events)) > 0)
		;
	close(fd);
}

static void make_channels(void)
{
	gr = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 6);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 6);
}

static void drop_channels(void)
{
	vgpu_chan_destroy(gr);
	vgpu_chan_destroy(ce);
	gr = NULL;
	ce = NULL;
}

static void submit(void)
{
	fx_finish(gr);
	fx_finish(ce);
}

static void reset(void)
{
	drop_channels();
	CHECK_EQ(vgpu_dev_reset(v.dev), 0);
	make_channels();
}

static void close_and_open(void)
{
	drop_channels();
	fx_close(&v);
	fx_open(&v);
	make_channels();
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
 * @longest_us: most that it took
 */
static struct action {
	const char *name;
	void (*run)(void);
	unsigned int calls;
	uint64_t longest_us;
} actions[] = {
	{ .name = "read statistics", .run = read_stats },
	{ .name = "read samples", .run = read_samples },
	{ .name = "read sessions", .run = read_sessions },
	{ .name = "read the GPU", .run = read_gpu },
	{ .name = "read settings", .run = read_settings },
	{ .name = "read the vGPU", .run = read_vgpu },
	{ .name = "read events", .run = read_events },
	{ .name = "submit", .run = submit },
	{ .name = "reset", .run = reset },
	{ .name = "set", .run = set },
	{ .name = "close and open", .run = close_and_open },
	{ .name = "create and remove", .run = create_and_remove },
};

#define NR_ACTIONS	(sizeof(actions) / sizeof(actions[0]))

static void act(struct action *action)
{
	uint64_t start = clk_ns(), took_us;

	action->run();
	took_us = (clk_ns() - start) / 1000;
	action->calls++;
	if (took_us > action->longest_us)
		action->longest_us = took_us;
}

/* What the threads of a vGPU are called: after the first digits of its UUID. */
static bool is_thread_of(const struct fx_vgpu *vgpu, const char *task)
{
	const char *digits = strchr(task, '/');

	return digits && vgpu->created && !strncmp(digits + 1, vgpu->uuid, 6);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Waits of tasks that were not stopped for locks of the driver. */
static unsigned int nr_waits;

/*
 * Locks of dma.c and irq.c that sleep are for the threads and the user of one vGPU, so these may
 * wait for each other, and no engine for them.
 */
static void judge(const char *task, const char *function)
{
	bool engine = begins(task, "vgpu-gr") || begins(task, "vgpu-ce");
	unsigned int i;

	if (!strcmp(task, NAME))
		return;
	for (i = 0; i < STOPPED; i++)
		if (is_thread_of(&theirs[i], task))
			return;
	if (!engine && (begins(function, "vgpu_dma_") || begins(function, "vgpu_irq_") ||
			begins(function, "irq_")))
		return;
	if (nr_waits++ < 10)
		ktap_note("%s waits in %s", task, function);
}

static uint64_t stops(void)
{
	return group_value(GROUP_A, "cpu.stat", "nr_throttled ");
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

static void start_others(void (*run)(void *vgpu), pid_t pid[STOPPED])
{
	unsigned int i;

	make_group();
	/* The more there are, the longer it takes to read them. */
	for (i = 0; i < STOPPED; i++)
		fx_create(&theirs[i], fx_default_type());
	/* Before a vGPU of this process is open, which they would hold open, too. */
	for (i = 0; i < STOPPED; i++)
		pid[i] = child_start(run, &theirs[i]);
}

static void end_others(const pid_t pid[STOPPED])
{
	unsigned int i;
	int status;

	for (i = 0; i < STOPPED; i++)
		CHECK(!child_ends(pid[i], 0, &status), "process %u has ended: %#x", i, status);
	/* They end soon when they may run. */
	CHECK_EQ(group_write(GROUP_A, "cpu.max", "max"), 0);
	for (i = 0; i < STOPPED; i++)
		child_kill(pid[i]);
}

/* Does all actions until the others have stopped often enough. */
static void act_beside(void)
{
	uint64_t begin, end = clk_ms() + 5 * FX_TIMEOUT_MS, look = clk_ms() + LOOK_MS, now;
	unsigned int i, nr = 0;

	for (i = 0; i < NR_ACTIONS; i++) {
		actions[i].calls = 0;
		actions[i].longest_us = 0;
	}
	nr_waits = 0;
	contention_begin();
	begin = stops();
	do {
		for (i = 0; i < NR_ACTIONS; i++)
			act(&actions[i]);
		now = stops();
		if (clk_ms() >= look) {
			nr += contention_read(judge);
			look = clk_ms() + LOOK_MS;
		}
	} while (now - begin < STOPS && clk_ms() < end);
	nr += contention_read(judge);
	contention_end();

	for (i = 0; i < NR_ACTIONS; i++)
		ktap_note("%s: %u times, %llu us at most", actions[i].name, actions[i].calls,
			  (unsigned long long)actions[i].longest_us);
	ktap_note("stopped %llu times; %u waits for any lock, %u of others for one of the driver",
		  (unsigned long long)(now - begin), nr, nr_waits);
	CHECK(now - begin >= STOPS, "stopped %llu times only", (unsigned long long)(now - begin));
	CHECK_EQ(nr_waits, 0, "waits for locks with which a task may be stopped");
}

static void join_stopped(void)
{
	group_enter(GROUP_A);
	prctl(PR_SET_NAME, NAME);
}

/*
 * All that reads, as often as it may. With KASAN most of a call's time is that of its memory, so
 * more of it is spent where a lock could be held by files, which keep theirs.
 */
static void reader(void *vgpu)
{
	const struct fx_vgpu *mine = vgpu;
	struct vgpu_ctl_instance inst;
	static char text[65536];
	unsigned int i;
	char path[128];
	int fd;

	join_stopped();
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
		read_events();
		CHECK_EQ(node_instance(fx_control(), mine->id, &inst), 0);
	}
}

/* All that a tenant does, doorbells most of all. */
static void tenant(void *vgpu)
{
	struct fx_vgpu *mine = vgpu;
	struct vgpu_chan *chan[2];
	struct vgpu_buf buf;
	unsigned int i, n;
	uint64_t reg;

	join_stopped();
	for (;;) {
		fx_open(mine);
		chan[0] = fx_chan(mine, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 6);
		chan[1] = fx_chan(mine, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 6);
		FX_OK(mine->dev, vgpu_buf_alloc(mine->dev, 65536, &buf));
		for (n = 0; n < 20; n++) {
			reg = VGPU_HW_CHAN_BASE + chan[n % 2]->id * VGPU_HW_CHAN_STRIDE;
			for (i = 0; i < DOORBELLS; i++)
				FX_OK(mine->dev, vgpu_reg_write32(mine->dev,
								  reg + VGPU_HW_CHAN_DOORBELL, 1));
			FX_OK(mine->dev, vgpu_chan_fill(chan[0], VGPU_FB(fx_fb(mine, 4096, 4096)),
							n, 4096));
			FX_OK(mine->dev, vgpu_chan_fill(chan[1], VGPU_SYS(&buf, 0), n, 65536));
			fx_finish(chan[n % 2]);
			fx_again(chan[n % 2]);
		}
		FX_OK(mine->dev, vgpu_dev_reset(mine->dev));
		vgpu_chan_destroy(chan[0]);
		vgpu_chan_destroy(chan[1]);
		vgpu_buf_free(&buf);
		fx_close(mine);
	}
}

/* Does all actions beside processes that call @run, with one of their vGPUs each. */
static void beside(void (*run)(void *vgpu))
{
	pid_t pid[STOPPED];

	start_others(run, pid);
	fx_create_open(&v, fx_default_type());
	make_channels();
	act_beside();
	drop_channels();
	end_others(pid);
}

static void administrator(void *unused)
{
	(void)unused;
	join_stopped();
	for (;;)
		set();
}

/* Those who set have a mutex in common: a wait of that kind is found if there is one. */
static void waits_are_found(void)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS, look;
	pid_t pid[STOPPED];

	nr_waits = 0;
	start_others(administrator, pid);
	contention_begin();
	while (!nr_waits) {
		CHECK(clk_ms() < end, "none was found");
		for (look = clk_ms() + 500; clk_ms() < look;)
			set();
		contention_read(judge);
	}
	contention_end();
	end_others(pid);
}

static void readers_stop(void)
{
	struct stat st;

	/* Who opens a miscdevice takes a mutex of all of them, which is none of the driver's. */
	CHECK(!fstat(fx_control(), &st), "%s", strerror(errno));
	CHECK(major(st.st_rdev) != MISC_MAJOR, "the node is a miscdevice");
	beside(reader);
}

static void tenants_stop(void)
{
	beside(tenant);
}

static void cleanup(void)
{
	contention_end();
	group_write(GROUP_A, "cpu.max", "max");
	fx_cleanup();
	group_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(waits_are_found),
	KTAP_TEST(readers_stop),
	KTAP_TEST(tenants_stop),
};

KTAP_MAIN(tests, cleanup)
