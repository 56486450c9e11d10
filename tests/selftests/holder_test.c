// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the memory of a vGPU is, of the processes that have the device: in that one's resident set
 * it is shown, and the OOM killer goes by that. So it is nobody's who only has a look.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "display.h"
#include "group.h"
#include "silent.h"

#define START		FX_MIB
#define HEIRS		200
#define HEIR_MS		1000	/* that making an heir takes at most, as others look */
#define FAILURES	50
#define STACK_BYTES	(64u << 10)

/* Page tables and the like. */
#define RSS_ROOM	(4 * FX_MIB)

static struct fx_vgpu v;
static pid_t traced;		/* the opener, if the test traces it */

/**
 * struct scene - between the test, the process that opens the device, those that inherit it from
 *                that one, and the agent, to whom it is sent
 * @group:    the opener's memory cgroup
 * @heirs:    how many inherit it
 * @no_map:   they inherit no mappings
 * @no_file:  they close the device's file, and keep mappings
 * @busy:     they use it when they are alone
 * @send:     the opener sends it to @socket before there are heirs
 * @wait:     and waits until the agent has used it
 * @stay:     the opener is not to end
 * @map:      what the agent maps, an index of VFIO's region; -1: nothing
 * @keep:     the agent does not close the file
 * @use:      the agent may use it
 *
 * @socket: see @send
 * @pid:    the heirs, when they have the device
 * @fb:     where the heirs have BAR 0
 * @alone:  the opener has ended
 * @touch:  the last heir is to touch a page
 * @came:   the agent has the file
 * @used:   the agent has made a call, and its mapping
 * @leave:  all are to end
 */
static struct scene {
	const char *group;
	unsigned int heirs;
	bool no_map;
	bool no_file;
	bool busy;
	bool send;
	bool wait;
	volatile bool stay;
	int map;
	bool keep;
	volatile bool use;

	int socket[2];
	volatile pid_t pid[HEIRS];
	uint8_t *volatile fb;
	volatile bool alone;
	volatile bool touch;
	volatile bool came;
	volatile bool used;
	volatile bool leave;
} *scene;

static void begin(void)
{
	fx_need_reserve(false);
	fx_create(&v, "1Q");
	scene = child_shared(sizeof(*scene));
	scene->map = -1;
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, scene->socket), "%s",
	      strerror(errno));
}

/* An heir ends by itself if the test fails: child_cleanup() does not know this process. */
static void inherit(unsigned int i)
{
	/* Many that look often would leave no time to make more of them. */
	unsigned int pause_ms = 20 + 4 * scene->heirs;
	uint64_t end = clk_ms() + 2 * FX_TIMEOUT_MS + scene->heirs * HEIR_MS, at = 0;
	bool last = i + 1 == scene->heirs;
	uint8_t *page;

	if (scene->no_file) {
		close(v.dev->fd);
		close(v.dev->group);
		close(v.dev->container);
	}
	scene->fb = v.dev->fb;
	scene->pid[i] = getpid();
	while (!scene->leave && clk_ms() < end) {
		if (scene->alone && (scene->busy || (scene->touch && last))) {
			page = v.dev->fb + START + at;
			(void)*(volatile uint32_t *)page;
			madvise(page, 4096, MADV_DONTNEED);
			at = (at + FX_MIB) % GROUP_LIMIT;
		}
		clk_sleep_ms(pause_ms);
	}
	_exit(0);
}

static void fill(void)
{
	struct vgpu_chan *chan;

	if (scene->group)
		group_enter(scene->group);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, GROUP_LIMIT));
	fx_finish(chan);
}

static void opener(void *unused)
{
	unsigned int i;

	(void)unused;
	fill();
	if (scene->send)
		silent_send_fd(scene->socket[0], v.dev->fd);
	while (scene->wait && !scene->used)
		clk_sleep_ms(2);
	if (scene->no_map)
		silent_drop_mappings(&v);
	for (i = 0; i < scene->heirs; i++)
		if (!fork())
			inherit(i);
	while (scene->stay)
		clk_sleep_ms(2);
	_exit(0);
}

static void agent(void *unused)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct vfio_region_info region = { .argsz = sizeof(region) };
	int fd = silent_receive_fd(scene->socket[1]);

	(void)unused;
	scene->came = true;
	while (!scene->use)
		clk_sleep_ms(2);
	CHECK(!ioctl(fd, VFIO_DEVICE_GET_INFO, &info), "%s", strerror(errno));
	if (scene->map >= 0) {
		region.index = (uint32_t)scene->map;
		CHECK(!ioctl(fd, VFIO_DEVICE_GET_REGION_INFO, &region), "%s", strerror(errno));
		CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)region.offset) !=
		      MAP_FAILED, "%s", strerror(errno));
	}
	if (!scene->keep)
		close(fd);
	scene->used = true;
	for (;;)
		pause();
}

static pid_t owner_pid(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.owner_pid;
}

/* @key: "RssShmem:" of what the driver shows; "VmRSS:" of what is mapped, too. */
static void check_has_it(pid_t pid, const char *key)
{
	uint64_t now = 0;

	CHECK_EQ(owner_pid(), pid);
	FX_SOON((now = child_resident(pid, key)) >= GROUP_LIMIT, "%llu KiB",
		(unsigned long long)now >> 10);
}

/* Once the owner has it. */
static void check_has_nothing(pid_t pid)
{
	uint64_t now = child_resident(pid, "RssShmem:");

	CHECK(now < RSS_ROOM, "%llu KiB", (unsigned long long)now >> 10);
}

static void opener_ends(pid_t pid)
{
	int status;

	CHECK(child_ends(pid, FX_TIMEOUT_MS + scene->heirs * HEIR_MS, &status), "does not end");
	CHECK_EQ(status, 0);
	FX_SOON(!scene->heirs || scene->pid[scene->heirs - 1], "nobody is left");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	scene->alone = true;
}

/* Opens the device in a process that then ends, and leaves the device to its children. */
static void leave_it_to(unsigned int heirs)
{
	scene->heirs = heirs;
	opener_ends(child_start(opener, NULL));
}

static pid_t sent_to_agent(void)
{
	pid_t pid = child_start(agent, NULL);

	FX_SOON(scene->used, "no call");
	return pid;
}

static void let_it_go(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	scene->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	CHECK_EQ(inst.owner_pid, 0);
}

/* The process that opened the device ends, another process goes on to use it. */
static void who_goes_on_has_it(void)
{
	begin();
	scene->busy = true;
	scene->no_file = true;
	leave_it_to(1);
	check_has_it(scene->pid[0], "VmRSS:");
	let_it_go();
}

/* It need not use the device. */
static void who_keeps_it_has_it(void)
{
	begin();
	leave_it_to(1);
	check_has_it(scene->pid[0], "RssShmem:");
	let_it_go();
}

/* A mapping will do. Who reads it from outside has nothing of the vGPU. */
static void who_looks_has_nothing(void)
{
	enum { LOOKS = 64 };
	uint64_t before, now, at;
	char path[32];
	uint32_t word;
	int mem, i;

	begin();
	scene->no_file = true;
	leave_it_to(1);
	before = child_resident(getpid(), "VmRSS:");
	snprintf(path, sizeof(path), "/proc/%d/mem", scene->pid[0]);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(mem >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < LOOKS; i++) {
		at = (uint64_t)(uintptr_t)scene->fb + START + i * (GROUP_LIMIT / LOOKS);
		CHECK_EQ(pread(mem, &word, sizeof(word), (off_t)at), sizeof(word));
		CHECK_EQ(word, ~0u);
	}
	close(mem);
	check_has_it(scene->pid[0], "VmRSS:");
	now = child_resident(getpid(), "VmRSS:");
	CHECK(now < before + RSS_ROOM, "%llu KiB, before: %llu", (unsigned long long)now >> 10,
	      (unsigned long long)before >> 10);
	let_it_go();
}

/* A device that is sent away is nobody's, until who receives it does something with it. */
static void who_receives_it_has_it(void)
{
	struct vgpu_ctl_instance inst;
	pid_t pid;

	begin();
	scene->send = true;
	scene->keep = true;
	leave_it_to(0);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	CHECK_EQ(inst.owner_pid, 0);

	pid = child_start(agent, NULL);
	FX_SOON(scene->came, "no message comes");
	CHECK_EQ(owner_pid(), 0);
	scene->use = true;
	FX_SOON(scene->used, "no call");
	check_has_it(pid, "RssShmem:");
	child_kill(pid);
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	CHECK_EQ(inst.owner_pid, 0);
}

/* Nor has who is sent it, and looks at it, while the sender uses it. */
static void who_is_sent_it_has_nothing(void)
{
	pid_t sender, pid;

	begin();
	scene->send = true;
	scene->stay = true;
	scene->use = true;
	scene->keep = true;
	sender = child_start(opener, NULL);
	pid = sent_to_agent();
	check_has_it(sender, "RssShmem:");
	check_has_nothing(pid);
	scene->stay = false;
	opener_ends(sender);
	check_has_it(pid, "RssShmem:");
	child_kill(pid);
}

/* Who has been sent it, has made a call and has closed it again, is nobody to kill for it. */
static void an_agent_has_nothing(void)
{
	pid_t pid;

	begin();
	scene->send = true;
	scene->use = true;
	scene->no_file = true;
	leave_it_to(1);
	pid = sent_to_agent();
	check_has_it(scene->pid[0], "RssShmem:");
	check_has_nothing(pid);
	let_it_go();
}

/* Also where nobody is known who has it: it is charged to others than the agent. */
static void an_agent_has_nothing_that_it_does_not_pay(void)
{
	pid_t pid;

	group_make(GROUP_A, 4 * GROUP_LIMIT);
	begin();
	scene->group = GROUP_A;
	scene->send = true;
	scene->use = true;
	scene->no_map = true;
	leave_it_to(1);
	pid = sent_to_agent();
	/* The driver looks at it each half second. */
	clk_sleep_ms(1200);
	CHECK_EQ(owner_pid(), 0);
	check_has_nothing(pid);
	let_it_go();
}

/* Of two that have it mapped it is who belongs to those who pay, not the older one. */
static void who_pays_has_it(void)
{
	pid_t pid;

	group_make(GROUP_A, 4 * GROUP_LIMIT);
	begin();
	scene->group = GROUP_A;
	scene->send = true;
	scene->wait = true;
	scene->use = true;
	scene->map = VFIO_PCI_BAR0_REGION_INDEX;
	scene->no_file = true;
	pid = child_start(agent, NULL);
	leave_it_to(1);
	check_has_it(scene->pid[0], "RssShmem:");
	check_has_nothing(pid);
	/* But there is nobody else then. */
	scene->leave = true;
	FX_SOON(owner_pid() == pid);
	check_has_it(pid, "RssShmem:");
	child_kill(pid);
}

/* Who has the display mapped has a look, too. */
static void who_sees_the_display_has_nothing(void)
{
	pid_t tenant, pid;

	fx_need("display");
	begin();
	scene->send = true;
	scene->use = true;
	scene->map = DISPLAY_PLANE;
	scene->no_map = true;
	scene->stay = true;
	tenant = child_start(opener, NULL);
	pid = sent_to_agent();
	check_has_it(tenant, "RssShmem:");
	check_has_nothing(pid);
	scene->stay = false;
	opener_ends(tenant);
	child_kill(pid);
}

static int sibling(void *unused)
{
	(void)unused;
	inherit(0);
	return 0;
}

static void opener_with_sibling(void *stack)
{
	fill();
	if (clone(sibling, (char *)stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL) < 0)
		FAIL("clone: %s", strerror(errno));
	while (scene->stay)
		clk_sleep_ms(2);
	_exit(0);
}

/* Two processes share an address space. One of them ends, but is stopped in it. */
static void who_shares_it_has_it(void)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	struct vgpu_ctl_instance inst;
	int status;
	pid_t pid;

	begin();
	scene->heirs = 1;
	scene->stay = true;
	pid = child_start(opener_with_sibling, stack);
	FX_SOON(scene->pid[0], "no sibling");
	CHECK(!ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT), "%s", strerror(errno));
	traced = pid;
	scene->stay = false;
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status >> 8, SIGTRAP | PTRACE_EVENT_EXIT << 8);
	/* The kernel says which of both it is. */
	CHECK(owner_pid(), "nobody has it");
	FX_SOON(child_resident(scene->pid[0], "RssShmem:") >= GROUP_LIMIT);
	traced = 0;
	CHECK(!ptrace(PTRACE_DETACH, pid, NULL, NULL), "%s", strerror(errno));
	CHECK(child_ends(pid, FX_TIMEOUT_MS + scene->heirs * HEIR_MS, &status), "does not end");
	check_has_it(scene->pid[0], "RssShmem:");
	scene->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

static void exec_with_it(void *unused)
{
	(void)unused;
	fill();
	CHECK(!fcntl(v.dev->fd, F_SETFD, 0), "%s", strerror(errno));
	execlp("sleep", "sleep", "1000", (char *)NULL);
	FAIL("sleep: %s", strerror(errno));
}

/* A process that becomes another program keeps the framebuffer, but it is nobody's. */
static void who_execs_has_it_no_more(void)
{
	struct vgpu_ctl_instance inst;
	char path[32], name[32];
	pid_t pid;

	begin();
	pid = child_start(exec_with_it, NULL);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	FX_SOON(file_read(path, name, sizeof(name)) > 0 && !strcmp(name, "sleep\n"),
		"does not exec");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	check_has_nothing(pid);
	CHECK_EQ(owner_pid(), 0);
	child_kill(pid);
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

/* The driver knows the first few holders. Those that are one too many it knows by what they do. */
static void many_have_it(void)
{
	unsigned int i;
	pid_t pid;

	begin();
	scene->no_file = true;
	leave_it_to(HEIRS);
	check_has_it(scene->pid[0], "RssShmem:");
	for (i = 0; i < HEIRS - 1 && (pid = owner_pid()); i++) {
		CHECK_EQ(pid, scene->pid[i]);
		kill(pid, SIGKILL);
		FX_SOON(owner_pid() != pid);
	}
	ktap_note("%u of %u are known", i, HEIRS);
	CHECK_EQ(owner_pid(), 0);
	scene->touch = true;
	FX_SOON(owner_pid() == scene->pid[HEIRS - 1], "who touches a page is not known");
	check_has_it(scene->pid[HEIRS - 1], "VmRSS:");
	let_it_go();
}

static void fork_fails(void *unused)
{
	unsigned int i;

	(void)unused;
	fill();
	CHECK(!group_write(GROUP_A, "pids.max", "1"), "%s", strerror(errno));
	for (i = 0; i < FAILURES; i++)
		CHECK(fork() < 0 && errno == EAGAIN, "fork: %s", strerror(errno));
	CHECK(!group_write(GROUP_A, "pids.max", "max"), "%s", strerror(errno));
	if (!fork())
		inherit(0);
	_exit(0);
}

/* A child that could not be made, after its mappings were, is not there any more. */
static void who_was_not_born_has_nothing(void)
{
	group_make(GROUP_A, 4 * GROUP_LIMIT);
	group_write("", "cgroup.subtree_control", "+pids");
	begin();
	scene->group = GROUP_A;
	scene->heirs = 1;
	opener_ends(child_start(fork_fails, NULL));
	check_has_it(scene->pid[0], "RssShmem:");
	let_it_go();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(who_goes_on_has_it),
	KTAP_TEST(who_keeps_it_has_it),
	KTAP_TEST(who_looks_has_nothing),
	KTAP_TEST(who_receives_it_has_it),
	KTAP_TEST(who_is_sent_it_has_nothing),
	KTAP_TEST(an_agent_has_nothing),
	KTAP_TEST(an_agent_has_nothing_that_it_does_not_pay),
	KTAP_TEST(who_pays_has_it),
	KTAP_TEST(who_sees_the_display_has_nothing),
	KTAP_TEST(who_shares_it_has_it),
	KTAP_TEST(who_execs_has_it_no_more),
	KTAP_TEST(who_was_not_born_has_nothing),
	KTAP_TEST(many_have_it),
};

static void cleanup(void)
{
	if (traced)
		ptrace(PTRACE_DETACH, traced, NULL, NULL);
	traced = 0;
	if (scene) {
		scene->leave = true;
		scene->stay = false;
		close(scene->socket[0]);
		close(scene->socket[1]);
	}
	scene = NULL;
	fx_cleanup();
	group_cleanup();
}

KTAP_MAIN(tests, cleanup)
