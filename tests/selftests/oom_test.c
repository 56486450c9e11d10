// SPDX-License-Identifier: GPL-2.0
/*
 * The host runs out of memory: its OOM killer ends the process that holds most of the memory,
 * in framebuffer that no process has mapped, and not another process that is merely large. What
 * no process is known to have is taken, and nobody ends.
 *
 * The kernel reports each kill with a trace of calls, which run.sh and the lab take for a
 * failure. So check.sh runs this program alone, in a machine of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "fixture.h"
#include "group.h"
#include "silent.h"

#define START	FX_MIB

/**
 * struct shared - between the test, the tenant and the hog
 * @fill:   bytes of framebuffer that the tenant is to fill
 * @filled: the tenant has done so
 * @taken:  bytes of memory that the hog has got so far
 * @exec:   the tenant is to become another program that does not know of the device
 * @park:   not -1: the tenant is to send the device's file there, and to exit
 * @group:  the tenant's cgroup, or NULL
 */
struct shared {
	volatile uint64_t fill;
	volatile bool filled;
	volatile uint64_t taken;
	bool exec;
	int park;
	const char *group;
};

/* Percent of the host's memory. */
#define MOST	60
#define MUCH	75

/* us of each us: a process ends within seconds, and takes more than 10 s to give MUCH back. */
#define SLOW	"10000 1000000"

static struct fx_vgpu v;

/* A child process: fills framebuffer and keeps it. */
static void tenant(void *arg)
{
	struct shared *shared = arg;
	struct vgpu_chan *chan;

	if (shared->group)
		group_enter(shared->group);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, shared->fill));
	fx_finish(chan);
	if (shared->exec) {
		CHECK(!fcntl(v.dev->fd, F_SETFD, 0), "%s", strerror(errno));
		shared->filled = true;
		execlp("sleep", "sleep", "1000", (char *)NULL);
		FAIL("sleep: %s", strerror(errno));
	}
	if (shared->park >= 0)
		silent_send_fd(shared->park, v.dev->fd);
	shared->filled = true;
	while (shared->park < 0)
		pause();
}

/* A child process: takes memory until there is none, and is not the largest process then. */
static void hog(void *arg)
{
	struct shared *shared = arg;
	uint64_t want = shared->fill;
	char *bytes;

	bytes = mmap(NULL, want, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(bytes != MAP_FAILED, "mmap");
	for (; shared->taken < want; shared->taken += 4096)
		bytes[shared->taken] = 1;
	for (;;)
		pause();
}

/* What the test's processes share; skips the test where memory would not run out. */
static struct shared *prepare(bool exec, int park, unsigned int percent)
{
	struct shared *shared;

	fx_gpu();
	fx_need_reserve(false);
	if (fx_memory_bytes() > 4 * FX_GIB || fx_memory_bytes() < FX_GIB)
		ktap_skip("%llu MiB of memory: would take too long, or be too little",
			  (unsigned long long)fx_memory_bytes() >> 20);
	shared = child_shared(sizeof(*shared));
	shared->exec = exec;
	shared->park = park;
	/* More than half of the memory, so that the hog cannot become larger. */
	shared->fill = fx_memory_bytes() * percent / 100 & ~(FX_MIB - 1);
	if (shared->fill > FX_GIB - 4 * FX_MIB)
		fx_create(&v, "2Q");
	else
		fx_create(&v, "1Q");
	return shared;
}

static void the_tenant_is_killed(void)
{
	struct shared *shared = prepare(false, -1, MOST);
	uint64_t end = clk_ms() + 4 * FX_TIMEOUT_MS;
	struct vgpu_ctl_instance inst;
	pid_t holder, other, dead;
	int status;

	holder = child_start(tenant, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS, shared->filled, "the tenant does not come to it");
	other = child_start(hog, shared);
	do {
		dead = waitpid(-1, &status, WNOHANG);
		clk_sleep_ms(10);
	} while (!dead && clk_ms() < end);
	ktap_note("framebuffer %llu MiB, others' %llu MiB, %s died",
		  (unsigned long long)shared->fill >> 20, (unsigned long long)shared->taken >> 20,
		  !dead ? "nobody" : dead == holder ? "the tenant" : "the other");
	CHECK(dead > 0, "memory does not run out");
	CHECK_EQ(dead, holder);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	/* The tenant's death has given its memory back. */
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	CHECK_EQ(inst.fb_backed_bytes, 0);
	CHECK(waitpid(other, &status, WNOHANG) == 0, "the other died, too");
}

/*
 * So long after the end of the last process that is known to have a vGPU its memory is taken at
 * once: the driver's 5 s, and 4 s until it has seen the end. If the hog came sooner the OOM killer
 * would be held up meanwhile, of which there are 10 s only, for all tests of a minute together.
 */
#define ENDED_MS	10000

/* The hog gets all it wants: of framebuffer that nobody is known to have. */
static void check_taken(struct shared *shared)
{
	struct vgpu_ctl_instance inst;
	pid_t other;
	int status;

	fx_instance(&v, &inst);
	CHECK_EQ(inst.fb_backed_bytes >= shared->fill, true);
	CHECK_EQ(inst.owner_pid, 0);
	clk_sleep_ms(ENDED_MS);
	other = child_start(hog, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS,
		  shared->taken == shared->fill || waitpid(other, &status, WNOHANG),
		  "%llu MiB taken", (unsigned long long)shared->taken >> 20);
	CHECK_EQ(shared->taken, shared->fill);
	/* The hog may have enough before all pages are back. */
	FX_SOON((fx_instance(&v, &inst), inst.resets && !inst.fb_backed_bytes));
	CHECK_EQ(inst.resets, 1);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	child_kill(other);
}

/* The process that opened the device is another program now, which does not use it. */
static void what_an_exec_leaves_is_taken(void)
{
	struct shared *shared = prepare(true, -1, MOST);
	char path[32], name[32];
	pid_t holder;

	holder = child_start(tenant, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS, shared->filled, "the tenant does not come to it");
	snprintf(path, sizeof(path), "/proc/%d/comm", holder);
	FX_SOON(file_read(path, name, sizeof(name)) > 0 && !strcmp(name, "sleep\n"),
		"does not exec");
	check_taken(shared);
	child_kill(holder);
}

/* Framebuffer of a device whose file is in a message that nobody has read. */
static void what_is_parked_is_taken(void)
{
	struct vgpu_ctl_instance inst;
	struct shared *shared;
	int park[2], status;
	pid_t holder;

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, park), "%s", strerror(errno));
	shared = prepare(false, park[0], MOST);
	holder = child_start(tenant, shared);
	CHECK(child_ends(holder, 4 * FX_TIMEOUT_MS, &status), "the tenant does not come to it");
	CHECK_EQ(status, 0);
	check_taken(shared);
	close(park[0]);
	close(park[1]);
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

static pid_t traced;

/* The tenant is killed, but the one who traces it does not let it end. */
static void what_is_held_in_its_exit_is_taken(void)
{
	struct shared *shared = prepare(false, -1, MOST);
	struct vgpu_ctl_instance inst;
	pid_t holder, other;
	int status;

	holder = child_start(tenant, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS, shared->filled, "the tenant does not come to it");
	CHECK(!ptrace(PTRACE_SEIZE, holder, NULL, PTRACE_O_TRACEEXIT), "%s", strerror(errno));
	traced = holder;
	other = child_start(hog, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS, waitpid(holder, &status, WNOHANG) == holder,
		  "memory does not run out");
	CHECK_EQ(status >> 8, SIGTRAP | PTRACE_EVENT_EXIT << 8);
	FX_WITHIN(4 * FX_TIMEOUT_MS,
		  shared->taken == shared->fill || waitpid(other, &status, WNOHANG),
		  "%llu MiB taken", (unsigned long long)shared->taken >> 20);
	CHECK_EQ(shared->taken, shared->fill);
	FX_SOON((fx_instance(&v, &inst), inst.resets && !inst.fb_backed_bytes));
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	CHECK_EQ(inst.owner_pid, 0);
	child_kill(other);
	traced = 0;
	CHECK(!ptrace(PTRACE_DETACH, holder, NULL, NULL), "%s", strerror(errno));
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

/*
 * The tenant is killed, but its cgroup gives it hardly any processor time: what it gives back is
 * there soon nevertheless, and nobody else is killed.
 */
static void what_a_slow_tenant_has_comes_back(void)
{
	struct shared *shared = prepare(false, -1, MUCH);
	pid_t holder, other;
	int status, ret;

	group_make(GROUP_A, 4 * FX_GIB);
	group_write("", "cgroup.subtree_control", "+cpu");
	shared->group = GROUP_A;
	holder = child_start(tenant, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS, shared->filled, "the tenant does not come to it");
	ret = group_write(GROUP_A, "cpu.max", SLOW);
	CHECK_EQ(ret, 0, "cpu.max: %s", strerror(-ret));
	other = child_start(hog, shared);
	FX_WITHIN(4 * FX_TIMEOUT_MS,
		  shared->taken == shared->fill || waitpid(other, &status, WNOHANG),
		  "%llu MiB taken", (unsigned long long)shared->taken >> 20);
	CHECK_EQ(shared->taken, shared->fill, "the other died");
	FX_WITHIN(4 * FX_TIMEOUT_MS, waitpid(holder, &status, WNOHANG) == holder);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	child_kill(other);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(the_tenant_is_killed),
	KTAP_TEST(what_a_slow_tenant_has_comes_back),
	KTAP_TEST(what_an_exec_leaves_is_taken),
	KTAP_TEST(what_is_parked_is_taken),
	KTAP_TEST(what_is_held_in_its_exit_is_taken),
};

static void cleanup(void)
{
	if (traced)
		ptrace(PTRACE_DETACH, traced, NULL, NULL);
	traced = 0;
	group_write(GROUP_A, "cpu.max", "max");
	fx_cleanup();
	group_cleanup();
}

KTAP_MAIN(tests, cleanup)
