// SPDX-License-Identifier: GPL-2.0
/*
 * First process of a guest that has a vGPU and its driver: loads the driver, and does the tests
 * that the command line names, or all. A report of the guest's kernel fails the test that it comes
 * with.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define DRIVER_FILE	"/modules/900-vgpu_guest.ko"
#define DRIVER_DIR	"/sys/bus/pci/drivers/vgpu_guest"
#define LEAKS		"/sys/kernel/debug/kmemleak"

/* A job that works for ever is given up after that time. */
#define DRIVER_OPTIONS	"job_timeout_ms=3000"

static const struct test tests[] = {
	{ "query", test_query, false },
	{ "vm", test_vm, false },
	{ "bo", test_bo, false },
	{ "bo_zero", test_bo_zero, false },
	{ "fdinfo", test_fdinfo, false },
	{ "usage_query", test_usage_query, false },
	{ "usage_time", test_usage_time, false },
	{ "usage_beside", test_usage_beside, true },
	{ "exhausted", test_exhausted, false },
	{ "copy", test_copy, false },
	{ "bind", test_bind, false },
	{ "bind_async", test_bind_async, false },
	{ "sync", test_sync, false },
	{ "ring", test_ring, false },
	{ "interrupts", test_interrupts, false },
	{ "dispatch", test_dispatch, false },
	{ "text_changes", test_text_changes, false },
	{ "fault", test_fault, false },
	{ "program_fault", test_program_fault, false },
	{ "timeout", test_timeout, false },
	{ "destroy_at_work", test_destroy_at_work, false },
	{ "exit_at_work", test_exit_at_work, false },
	{ "channels", test_channels, false },
	{ "channels_held", test_channels_held, false },
	{ "channels_oldest", test_channels_oldest, false },
	{ "priority_order", test_priority_order, false },
	{ "priority_starves_none", test_priority_starves_none, false },
	{ "priority_allowed", test_priority_allowed, false },
	{ "files_apart", test_files_apart, false },
	{ "bad_vm", test_bad_vm, false },
	{ "bad_bo", test_bad_bo, false },
	{ "bad_bind", test_bad_bind, false },
	{ "bad_queue", test_bad_queue, false },
	{ "bad_exec", test_bad_exec, false },
	{ "bad_sync", test_bad_sync, false },
	{ "fuzz", test_fuzz, true },
	{ "fence_outlives", test_fence_outlives, false },
	{ "exec_unmap", test_exec_unmap, false },
	{ "import_fails", test_import_fails, false },
	{ "destroy_waiting", test_destroy_waiting, false },
	{ "queues_apart", test_queues_apart, false },
	{ "move_lies", test_move_lies, false },
	{ "exits", test_exits, true },
	{ "fail_nth", test_fail_nth, true },
	{ "fail_evict", test_fail_evict, true },
	{ "import", test_import, false },
	{ "export", test_export, false },
	{ "evict", test_evict, false },
	{ "evict_too_much", test_evict_too_much, false },
	{ "evict_at_work", test_evict_at_work, false },
	{ "evict_bind", test_evict_bind, false },
	{ "evict_full", test_evict_full, false },
	{ "evict_exit", test_evict_exit, false },
	{ "evict_idle_first", test_evict_idle_first, false },
	{ "evict_own", test_evict_own, false },
	{ "evict_pieces", test_evict_pieces, false },
	{ "evict_stays", test_evict_stays, false },
	{ "evict_crowd", test_evict_crowd, false },
	{ "evict_tables", test_evict_tables, false },
	{ "evict_killed", test_evict_killed, false },
	{ "present", test_present, false },
	{ "present_stays", test_present_stays, false },
	{ "shown_freed", test_shown_freed, false },
	{ "shown_asleep", test_shown_asleep, true },
	{ "shown_seen", test_shown_seen, true },
	{ "debugfs", test_debugfs, false },
	{ "guess", test_guess, true },
	{ "many", test_many, true },
	{ "many_full", test_many_full, true },
	{ "faults_apart", test_faults_apart, true },
	{ "time_is_over", test_time_is_over, false },
	{ "time_is_shared", test_time_is_shared, false },
	{ "remove", test_remove, true },
	{ "taken_away", test_taken_away, true },
	{ "reset", test_reset, false },
	{ "reset_function", test_reset_function, false },
	{ "reset_at_work", test_reset_at_work, false },
	{ "scribble", test_scribble, false },
	{ "quarantine", test_quarantine, true },
	{ "suspend_devices", test_suspend_devices, true },
	{ "suspend", test_suspend, true },
	{ "hibernate", test_hibernate, true },
	{ "awaken", test_awaken, true },
	{ "user_library", test_user_library, false },
	{ "user_run", test_user_run, false },
	{ "user_samples", test_user_samples, false },
	{ "user_nvml", test_user_nvml, false },
	{ "user_unbind", test_user_unbind, false },
	{ "unbind", test_unbind, false },
	{ "reload", test_reload, false },
	{ "label", test_label, true },
	{ "unmap", test_unmap, true },
	{ "oracle", test_oracle, true },
	{ "moved", test_moved, true },
};

/* What the command line gives the running test, and all of them. */
static const char *amount, *seed;

uint64_t test_amount(uint64_t usual)
{
	return amount ? strtoull(amount, NULL, 0) : usual;
}

uint64_t test_seed(void)
{
	static uint64_t boot;

	if (!boot)
		boot = seed ? strtoull(seed, NULL, 0) : clk_ns();
	return boot;
}

static int load_file(const char *path, const char *options)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, options, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int module_load(void)
{
	return load_file(DRIVER_FILE, DRIVER_OPTIONS);
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "vgpu_guest", O_NONBLOCK) ? -errno : 0;
}

bool module_version(char *text, size_t room)
{
	FILE *file = fopen("/sys/module/vgpu_guest/version", "r");
	bool ok = file && fgets(text, room, file);

	if (file)
		fclose(file);
	if (ok)
		text[strcspn(text, "\n")] = 0;
	return ok || failed("the module has no version");
}

/* What the driver is built on comes first, in the order of the files' names. */
static bool load_all(bool resume)
{
	struct dirent **entry;
	int nr = scandir("/modules", &entry, NULL, alphasort), i, ret;
	char path[512];

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/modules/%s", entry[i]->d_name);
		if (entry[i]->d_name[0] == '.' || !strcmp(path, DRIVER_FILE))
			continue;
		ret = load_file(path, "");
		if (ret)
			return failed("%s: %s", path, strerror(-ret));
	}
	if (resume && !disk_resume())
		return false;
	ret = module_load();
	if (ret)
		return failed("%s: %s", DRIVER_FILE, strerror(-ret));
	return true;
}

bool node_is(bool there)
{
	int i, fd;

	for (i = 0; i < NODE_TRIES; i++) {
		fd = node_open();
		if (fd >= 0)
			close(fd);
		if (there == !(fd < 0))
			return true;
		usleep(20000);
	}
	return failed("the node is %s", there ? "not there" : "there");
}

bool module_again(const char *options)
{
	int ret = -EAGAIN, i;

	/* What files have had is freed soon after they were closed. */
	for (i = 0; i < NODE_TRIES && ret == -EAGAIN; i++) {
		ret = module_unload();
		if (ret == -EAGAIN)
			usleep(20000);
	}
	CHECK_RET(ret, 0);
	CHECK_RET(load_file(DRIVER_FILE, options ? options : DRIVER_OPTIONS), 0);
	return node_is(true);
}

bool test_reload(void)
{
	int fd = node_open(), i;

	CHECK(fd >= 0);
	/* Who has it open keeps it. */
	CHECK_RET(module_unload(), -EAGAIN);
	close(fd);
	/* What is being freed keeps it, too. */
	for (i = 0; i < NODE_TRIES && module_unload() == -EAGAIN; i++)
		usleep(20000);
	CHECK(node_is(false));
	CHECK_RET(module_load(), 0);
	CHECK(node_is(true));
	return test_query() && test_dispatch();
}

static bool sysfs_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!ok)
		failed("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The address of the function that the driver has. */
static bool find_function(char *name, size_t room)
{
	DIR *dir = opendir(DRIVER_DIR);
	struct dirent *entry;

	name[0] = 0;
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "0000:", 5))
			snprintf(name, room, "%s", entry->d_name);
	if (dir)
		closedir(dir);
	return name[0] || failed("%s: no function", DRIVER_DIR);
}

bool raises_sigbus(const void *page)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		(void)*(const volatile uint32_t *)page;
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGBUS;
}

/* The driver goes while a file is open, with memory mapped and a queue. */
bool test_unbind(void)
{
	struct drm_vgpu_queue_query query;
	uint32_t vm, queue, id, i;
	int fd = node_open();
	char function[256];
	struct buf buf;

	CHECK(fd >= 0 && find_function(function, sizeof(function)));
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, 0, 4, &queue), 0);
	CHECK_RET(buf_make(fd, PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, 0), 0);
	memset(buf.ptr, 1, PAGE);
	/* So many that the device goes with the last one of them, and not with the file. */
	for (i = 0; i < 200; i++)
		CHECK_RET(queue_make(fd, vm, 0, 4, &id), 0);
	CHECK(sysfs_write(DRIVER_DIR "/unbind", function));
	CHECK(raises_sigbus(buf.ptr));
	CHECK_RET(exec(fd, queue, NULL, 0, 0, 0), -ENODEV);
	CHECK_RET(vm_make(fd, &id), -ENODEV);
	CHECK_RET(bind_unmap(fd, vm, VA_DATA, PAGE), -ENODEV);
	CHECK_RET(queue_ask(fd, queue, &query), -ENODEV);
	CHECK(sysfs_write(DRIVER_DIR "/bind", function));
	CHECK(node_is(true));
	CHECK(others_work());
	CHECK(!munmap(buf.ptr, PAGE) && !close(fd));
	/* Until nothing of it is left. */
	return module_again(NULL) && test_dispatch();
}

/* Lines that the kernel has written since the last call, and that tell of something wrong. */
static bool kernel_is_well(int kmsg)
{
	static const char * const bad[] = {
		"WARNING:", "BUG:", "KASAN:", "UBSAN:", "Oops", "INFO: ", "refcount", "*ERROR*",
	};
	char line[1024];
	bool well = true;
	ssize_t n;
	size_t i;

	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		line[n] = 0;
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			/* Memory is made to fail by a test. */
			if (strstr(line, bad[i]) && !strstr(line, "out of memory"))
				well = failed("the kernel says: %s", line);
		if (!well && strchr(line, ';'))
			say("kernel: %s", strchr(line, ';') + 1);
	}
	return well;
}

static bool wanted(const struct test *test, int argc, char **argv)
{
	bool all = !test->told;
	size_t length;
	int i;

	amount = NULL;
	for (i = 1; i < argc; i++) {
		length = strcspn(argv[i], ":");
		if (!strncmp(argv[i], "seed:", 5)) {
			seed = argv[i] + 5;
			continue;
		}
		all = false;
		if (strlen(test->name) == length && !strncmp(argv[i], test->name, length)) {
			amount = argv[i][length] ? argv[i] + length + 1 : NULL;
			return true;
		}
	}
	return all;
}

/* In a process of its own: what it leaves open or mapped goes with it. */
static bool run_one(const struct test *test)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!test->run());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return failed("%s: %s", test->name, strerror(errno));
	if (WIFSIGNALED(status))
		return failed("%s: signal %d", test->name, WTERMSIG(status));
	return !WEXITSTATUS(status);
}

static bool run_all(int argc, char **argv, int kmsg)
{
	unsigned int i, passed = 0, lost = 0;
	uint64_t start;
	bool ok;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!wanted(&tests[i], argc, argv))
			continue;
		start = clk_ns();
		ok = run_one(&tests[i]);
		ok = kernel_is_well(kmsg) && ok;
		say("%s %s, %llu ms", ok ? "ok" : "not ok", tests[i].name,
		    (unsigned long long)((clk_ns() - start) / 1000000));
		if (ok)
			passed++;
		else
			lost++;
	}
	say("%u passed, %u failed", passed, lost);
	return passed && !lost;
}

/* Memory that nothing points to any more, if the kernel was told to look for that. */
static bool nothing_is_lost(void)
{
	int fd = open(LEAKS, O_RDWR | O_CLOEXEC);
	char text[4096];
	ssize_t n = -1;
	bool off;

	/* Debian's kernels have none; those of guest-drm do. */
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0)
		return failed("%s: %s", LEAKS, strerror(errno));
	off = write(fd, "scan", 4) < 0 && errno == EPERM;
	/* At one look a pointer may be on its way, and what is new is not told of. */
	if (!off && !sleep(6) && write(fd, "scan", 4) == 4)
		n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (off)
		return true;
	text[n > 0 ? n : 0] = 0;
	say("kmemleak: %s", n ? text : "nothing is lost");
	return !n;
}

static bool mount_all(void)
{
	static const char * const type[] = { "proc", "sysfs", "devtmpfs", "debugfs" };
	static const char * const at[] = { "/proc", "/sys", "/dev", "/sys/kernel/debug" };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		mkdir(at[i], 0755);
		if (mount(type[i], at[i], type[i], 0, NULL) && errno != EBUSY)
			return failed("%s: %s", at[i], strerror(errno));
	}
	return true;
}

int main(int argc, char **argv)
{
	bool ok = false;
	int kmsg;

	if (getpid() != 1) {
		fputs("This is the first process of a test guest.\n", stderr);
		return 2;
	}
	if (mount_all()) {
		kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		lseek(kmsg, 0, SEEK_END);
		say("up after %llu ms", (unsigned long long)(clk_ns() / 1000000));
		ok = load_all(argc < 2 || strcmp(argv[1], "awaken")) && node_is(true) &&
		     kernel_is_well(kmsg) && run_all(argc, argv, kmsg) && nothing_is_lost();
	}
	say("END %s", ok ? "pass" : "fail");
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
