// SPDX-License-Identifier: GPL-2.0
/*
 * Random loads of several processes, with threads that share a file, in a framebuffer that is too
 * small for them, while others are killed, the guest is suspended and the device is reset. Each
 * knows what it must find. "oracle:SECONDS seed:N" goes on for longer, or repeats the dice. Or, as
 * "moved", beside programs of ordinary users in a guest that moves to another QEMU, meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "moved.h"
#include "oracle.h"

#define OPTIONS		"job_timeout_ms=20000 fb_limit_mb=16"
#define SLEEPS		"/sys/module/suspend/parameters/pm_test_delay"
#define WORKERS		2
#define THREADS		2
#define LOADS		(WORKERS * THREADS)

/**
 * struct control - what all processes see
 * @pause:   loads shall settle, and wait
 * @paused:  how many do
 * @resets:  of the device
 * @slept:   it was told anew what it must know: its time begins at 0
 * @stop:    loads shall end
 * @gr_ns:   what each worker was told last that it has had of the engine for programs
 * @steps:   of all loads
 * @ops:     what all loads have done, when they end
 * @share:   what they share
 */
struct control {
	bool pause;
	uint32_t paused;
	uint32_t resets;
	bool slept;
	bool stop;
	uint64_t gr_ns[WORKERS];
	uint64_t steps;
	uint64_t ops[ORACLE_OPS];
	struct oracle_share *share;
};

/**
 * struct load - a thread
 * @o:       its load
 * @file:    its file
 * @control: what it does
 * @seed:    of its dice
 * @thread:  of it
 */
struct load {
	struct oracle o;
	struct oracle_file *file;
	struct control *control;
	uint64_t seed;
	pthread_t thread;
};

static void load_pause(struct load *load)
{
	uint32_t resets = load->control->resets;

	oracle_settle(&load->o);
	__atomic_add_fetch(&load->control->paused, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&load->control->pause, __ATOMIC_SEQ_CST))
		usleep(1000);
	if (load->control->resets != resets)
		oracle_reset(&load->o);
	__atomic_sub_fetch(&load->control->paused, 1, __ATOMIC_SEQ_CST);
}

static void *load_main(void *data)
{
	struct load *load = data;
	unsigned int i;

	oracle_begin(&load->o, load->file, load->seed);
	while (!__atomic_load_n(&load->control->stop, __ATOMIC_SEQ_CST)) {
		if (__atomic_load_n(&load->control->pause, __ATOMIC_SEQ_CST))
			load_pause(load);
		oracle_step(&load->o);
		__atomic_add_fetch(&load->control->steps, 1, __ATOMIC_SEQ_CST);
	}
	oracle_end(&load->o);
	for (i = 0; i < ORACLE_OPS; i++)
		__atomic_add_fetch(&load->control->ops[i], load->o.ops[i], __ATOMIC_SEQ_CST);
	return NULL;
}

/**
 * struct told - what fdinfo of a file says
 * @total:    bytes, by placement
 * @resident: likewise
 * @ns:       engine time of gr and ce
 */
struct told {
	uint64_t total[2];
	uint64_t resident[2];
	uint64_t ns[2];
};

static void told_by(int fd, struct told *told)
{
	static const char * const key[] = {
		"drm-total-vram:", "drm-total-system:", "drm-resident-vram:",
		"drm-resident-system:", "drm-engine-gr:", "drm-engine-ce:",
	};
	uint64_t *to[] = {
		&told->total[0], &told->total[1], &told->resident[0], &told->resident[1],
		&told->ns[0], &told->ns[1],
	};
	unsigned int found = 0, i;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		for (i = 0; i < 6; i++)
			if (!strncmp(line, key[i], strlen(key[i]))) {
				*to[i] = fdinfo_number(line);
				found |= 1u << i;
			}
	fclose(file);
	CHECK(found == 0x3f);
}

static void usage_of(int fd, struct drm_vgpu_usage *usage)
{
	struct drm_vgpu_usage_query query = {
		.size = sizeof(*usage), .pointer = (uintptr_t)usage,
	};

	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query), 0);
}

/* Looks at what the driver tells, while loads work. */
static void watch(struct oracle_file *file, const struct control *control, struct told *before)
{
	struct drm_vgpu_usage usage;
	struct drm_vgpu_dev_info info;
	struct told told;
	uint32_t i;

	pthread_mutex_lock(&file->lock);
	told_by(file->fd, &told);
	for (i = 0; i < 2; i++)
		if (told.total[i] != file->bytes[i]) {
			failed("fdinfo: %llu bytes, not %llu, of placement %u",
			       (unsigned long long)told.total[i],
			       (unsigned long long)file->bytes[i], i);
			CHECK(false);
		}
	pthread_mutex_unlock(&file->lock);
	CHECK(told.resident[0] <= told.total[0] && told.resident[1] == told.total[1]);
	CHECK(told.ns[0] >= before->ns[0] && told.ns[1] >= before->ns[1]);
	usage_of(file->fd, &usage);
	if (!__atomic_load_n(&control->slept, __ATOMIC_SEQ_CST))
		CHECK(told.ns[0] <= usage.engine[0].service_ns &&
		      told.ns[1] <= usage.engine[1].service_ns + usage.engine[2].service_ns);
	*before = told;
	CHECK_RET(node_info(file->fd, &info), 0);
	CHECK(info.fb_free <= info.fb_bytes && info.system_free <= info.system_bytes);
}

/* A process: its loads, and who looks at what they have. */
static void worker_main(struct control *control, uint32_t id, uint64_t seed)
{
	struct oracle_file file = { .fd = node_open(), .lock = PTHREAD_MUTEX_INITIALIZER };
	struct load *load = calloc(THREADS, sizeof(*load));
	struct told told = {};
	uint32_t i;

	CHECK(file.fd >= 0 && load && !prctl(PR_SET_PDEATHSIG, SIGKILL));
	CHECK_RET(vm_make(file.fd, &file.other_vm), 0);
	/* Who is killed may hold a lock, and have jobs that are not done then. */
	if (id < WORKERS)
		oracle_share_open(&file, control->share);
	for (i = 0; i < THREADS; i++) {
		load[i].file = &file;
		load[i].control = control;
		load[i].seed = seed * 1000 + id * THREADS + i;
		CHECK(!pthread_create(&load[i].thread, NULL, load_main, &load[i]));
	}
	while (!__atomic_load_n(&control->stop, __ATOMIC_SEQ_CST)) {
		watch(&file, control, &told);
		if (id < WORKERS)
			__atomic_store_n(&control->gr_ns[id], told.ns[0], __ATOMIC_SEQ_CST);
		usleep(50000);
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(load[i].thread, NULL));
	_exit(0);
}

static pid_t worker_start(struct control *control, uint32_t id, uint64_t seed)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		worker_main(control, id, seed);
	return pid;
}

/* None has found anything wrong so far. */
static void all_are_well(const pid_t *pid)
{
	int i, status;

	for (i = 0; i < WORKERS; i++)
		CHECK(!waitpid(pid[i], &status, WNOHANG));
}

static void pause_all(struct control *control, const pid_t *pid)
{
	__atomic_store_n(&control->pause, true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&control->paused, __ATOMIC_SEQ_CST) != LOADS) {
		all_are_well(pid);
		usleep(1000);
	}
}

static void go_on(struct control *control, const pid_t *pid)
{
	__atomic_store_n(&control->pause, false, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&control->paused, __ATOMIC_SEQ_CST)) {
		all_are_well(pid);
		usleep(1000);
	}
}

/**
 * struct gr_time - what the engine for programs has worked, in ns
 * @service: for the vGPU
 * @told:    of that, what clients were told
 */
struct gr_time {
	uint64_t service;
	uint64_t told;
};

/*
 * When all has settled, what all clients have had of an engine is what the vGPU has had of it, but
 * for what is charged when the engine has left a channel that is being disabled: that of a queue
 * that is destroyed at work. Either is told when the engine leaves a channel, which may be after
 * the job is done; and each worker looks now and then.
 */
static bool settles(struct control *control, const pid_t *pid, int fd,
		    const struct gr_time *first, struct gr_time *before)
{
	uint64_t sum = 0, service = 0;
	struct drm_vgpu_usage usage;
	struct gr_time now = {};
	uint32_t i, tries;
	bool right;

	pause_all(control, pid);
	for (tries = 0, right = false; tries < 200 && !right; tries++) {
		usleep(100000);
		all_are_well(pid);
		for (i = 0, now.told = 0; i < WORKERS; i++)
			now.told += __atomic_load_n(&control->gr_ns[i], __ATOMIC_SEQ_CST);
		usage_of(fd, &usage);
		now.service = usage.engine[0].service_ns;
		sum = now.told - before->told;
		service = now.service - before->service;
		right = now.told - first->told <= now.service - first->service &&
			sum + service / 10 + 50000000 >= service;
	}
	say("oracle: gr has worked %llu ns, of which clients were told %llu",
	    (unsigned long long)service, (unsigned long long)sum);
	CHECK(now.told - first->told <= now.service - first->service);
	*before = now;
	go_on(control, pid);
	return right;
}

/* What a host that stands still takes from a channel that is being disabled is charged, too. */
static void sum_is_right(struct control *control, const pid_t *pid, int fd,
			 const struct gr_time *first)
{
	struct gr_time before = *first;
	uint32_t tries = 0;

	while (!settles(control, pid, fd, first, &before)) {
		CHECK(++tries < 10);
		sleep(4);
	}
}

static void suspend(struct control *control)
{
	int ret;

	__atomic_store_n(&control->slept, true, __ATOMIC_SEQ_CST);
	ret = power_write("state", "mem");
	CHECK(!ret || ret == -EBUSY);
}

static void reset(struct control *control, const pid_t *pid)
{
	pause_all(control, pid);
	control->resets++;
	__atomic_store_n(&control->slept, true, __ATOMIC_SEQ_CST);
	CHECK(function_reset());
	oracle_share_reset(control->share);
	go_on(control, pid);
}

/* One more process, which is killed. */
static void kill_one(struct control *control, struct rng *rng)
{
	pid_t pid = worker_start(control, WORKERS, rng_next(rng));
	int status;

	usleep(1000 * (100 + rng_below(rng, 1500)));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

static void disturb(struct control *control, const pid_t *pid, struct rng *rng, uint64_t *what)
{
	uint32_t dice = rng_below(rng, 8);

	usleep(1000 * rng_below(rng, 500));
	if (!dice) {
		reset(control, pid);
		what[0]++;
	} else if (dice < 3) {
		suspend(control);
		what[1]++;
	} else {
		kill_one(control, rng);
		what[2]++;
	}
	all_are_well(pid);
}

static void say_ops(const uint64_t *ops)
{
	static const char * const what[] = {
		[ORACLE_JOB] = "jobs",
		[ORACLE_MAP] = "binds",
		[ORACLE_CHECK] = "looks",
		[ORACLE_STORE] = "stores",
		[ORACLE_REPLACE] = "new buffers",
		[ORACLE_FAULT] = "faults",
		[ORACLE_DESTROY] = "queues destroyed at work",
		[ORACLE_BAD] = "refusals",
		[ORACLE_SHARE] = "times shared",
	};
	unsigned int i;

	for (i = 0; i < ORACLE_OPS; i++)
		say("oracle: %llu %s", (unsigned long long)ops[i], what[i]);
}

/**
 * struct scene - all that is at work, and what there was before
 * @control: what all processes see
 * @pid:     of the workers
 * @fd:      a file of the node
 * @shared:  one of what they share
 * @fb:      framebuffer that was free
 * @system:  memory that was
 * @before:  what the engine for programs had worked
 */
struct scene {
	struct control *control;
	pid_t pid[WORKERS];
	int fd;
	int shared;
	uint64_t fb;
	uint64_t system;
	struct gr_time before;
};

static void scene_begin(struct scene *scene, uint64_t seed)
{
	struct drm_vgpu_usage usage;
	struct control *control;
	uint32_t i;

	CHECK(module_again(OPTIONS));
	scene->fd = node_open();
	scene->fb = fb_free(scene->fd);
	scene->system = system_free(scene->fd);
	usage_of(scene->fd, &usage);
	scene->before = (struct gr_time){ .service = usage.engine[0].service_ns };
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	CHECK(control != MAP_FAILED);
	scene->shared = node_open();
	control->share = oracle_share_make(scene->shared);
	for (i = 0; i < WORKERS; i++)
		scene->pid[i] = worker_start(control, i, seed);
	scene->control = control;
}

/* @held: bytes of framebuffer that something else keeps. */
static void scene_end(struct scene *scene, uint64_t held)
{
	struct control *control = scene->control;
	uint32_t i;
	int status;

	__atomic_store_n(&control->stop, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < WORKERS; i++)
		CHECK(waitpid(scene->pid[i], &status, 0) == scene->pid[i] && !status);
	say_ops(control->ops);
	munmap(control->share->ptr[0], ORACLE_SHARED_BYTES);
	munmap(control->share->ptr[1], ORACLE_SHARED_BYTES);
	close(control->share->dmabuf[0]);
	close(control->share->dmabuf[1]);
	close(control->share->sync);
	close(scene->shared);
	CHECK(fb_free_is(scene->fd, scene->fb - held) && system_free_is(scene->fd, scene->system));
	close(scene->fd);
}

bool test_oracle(void)
{
	uint64_t seed = test_seed(), end, what[3] = {};
	struct rng rng = rng_seed(seed);
	struct scene scene;

	say("oracle: seed:%llu", (unsigned long long)seed);
	CHECK_RET(power_write("pm_test", "devices"), 0);
	CHECK(text_write(SLEEPS, "0"));
	scene_begin(&scene, seed);
	end = clk_ns() + test_amount(20) * 1000000000;
	usleep(test_amount(20) * 1000000 / 5);
	sum_is_right(scene.control, scene.pid, scene.fd, &scene.before);
	while (clk_ns() < end)
		disturb(scene.control, scene.pid, &rng, what);
	scene_end(&scene, 0);
	say("oracle: %llu resets, %llu suspends, %llu kills", (unsigned long long)what[0],
	    (unsigned long long)what[1], (unsigned long long)what[2]);
	CHECK(text_write(SLEEPS, "5"));
	CHECK_RET(power_write("pm_test", "none"), 0);
	return module_again(NULL);
}

/* The vGPU's UUID as a text, until the next call. */
static const char *uuid_text(int fd)
{
	struct drm_vgpu_dev_info info;
	static char text[37];
	uint32_t i, at = 0;

	CHECK_RET(node_info(fd, &info), 0);
	for (i = 0; i < sizeof(info.uuid); i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%02x",
			       i >= 4 && i <= 10 && !(i % 2) ? "-" : "", info.uuid[i]);
	return text;
}

/*
 * Who moves the guest is told each time that loads and users have done something since the last
 * line: one that comes from another QEMU says that they go on there.
 */
static bool work_until_told(struct scene *scene, struct moved_users *users, int port)
{
	uint64_t steps = 0, pictures = 0, now[2];
	bool ok = true;

	while (ok && !tell_over(port, 0, 0, &ok)) {
		usleep(200000);
		all_are_well(scene->pid);
		ok = moved_users_are_well(users) && ok;
		now[0] = __atomic_load_n(&scene->control->steps, __ATOMIC_SEQ_CST);
		now[1] = __atomic_load_n(&users->pictures, __ATOMIC_SEQ_CST);
		if (now[0] < steps + 2 * LOADS || now[1] < pictures + 2)
			continue;
		steps = now[0];
		pictures = now[1];
		say("at work on %s: %llu steps, %llu pictures, %llu samples",
		    uuid_text(scene->fd), (unsigned long long)steps, (unsigned long long)pictures,
		    (unsigned long long)users->samples);
	}
	return ok;
}

static void say_late(void)
{
	unsigned long long jobs, moves;

	CHECK(sscanf(debugfs_text("late"), "jobs %llu moves %llu", &jobs, &moves) == 2);
	say("moved: no interrupt has told in time of %llu jobs and %llu moves", jobs, moves);
}

/* Afterwards the host looks at the screen, and the driver goes and comes back. */
bool test_moved(void)
{
	struct moved_users *users;
	uint64_t seed = test_seed();
	int port = tell_open();
	struct scene scene;

	CHECK(port >= 0);
	say("moved: seed:%llu", (unsigned long long)seed);
	scene_begin(&scene, seed);
	users = moved_users_begin();
	CHECK(work_until_told(&scene, users, port));
	CHECK(moved_users_end(users));
	say("moved: %llu pictures, %llu samples", (unsigned long long)users->pictures,
	    (unsigned long long)users->samples);
	say_late();
	scene_end(&scene, MOVED_SURFACE);
	say("shown %u %u %u", MOVED_WIDTH, MOVED_HEIGHT, users->seed);
	CHECK(tell_wait(port, MOVED_LOOK_S));
	return module_again(NULL) && test_query() && test_dispatch();
}
