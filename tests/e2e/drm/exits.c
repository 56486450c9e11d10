// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that end while they have work queued: by themselves, by SIGKILL, and by SIGKILL in the
 * middle of a call. What they had is there again afterwards, framebuffer and the kernel's memory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"
#include "rng.h"
#include "rv.h"

#define EXITS		1000
#define WARM_UP		40
#define AT_ONCE		6
#define SLAB		"/sys/kernel/slab"
#define CACHES		512
#define GR		0
#define CE		1

/**
 * struct cache - one of the kernel's caches of objects
 * @name:    of it
 * @objects: that are used
 * @more:    the fewest that it has had above @objects in a later look
 */
struct cache {
	char name[64];
	long objects;
	long more;
};

static long cache_number(const char *cache, const char *name)
{
	char path[384], text[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), SLAB "/%s/%s", cache, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	return n > 0 ? strtol(text, NULL, 10) : -1;
}

/* Gives back what is free, also what KASAN keeps for a while. */
static void cache_shrink(const char *cache)
{
	char path[384];
	int fd;

	snprintf(path, sizeof(path), SLAB "/%s/shrink", cache);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1)
		failed("%s: %s", path, strerror(errno));
	close(fd);
}

static unsigned int caches_read(struct cache *cache)
{
	DIR *dir = opendir(SLAB);
	unsigned int nr = 0;
	struct dirent *entry;

	CHECK(dir);
	while (nr < CACHES && (entry = readdir(dir))) {
		/* What the kernel's own checks use is theirs: they keep a pool of free ones. */
		if (entry->d_name[0] == '.' || entry->d_type == DT_LNK ||
		    !strncmp(entry->d_name, "debug_objects", 13) ||
		    !strncmp(entry->d_name, "kmemleak", 8))
			continue;
		cache_shrink(entry->d_name);
		snprintf(cache[nr].name, sizeof(cache[nr].name), "%.60s", entry->d_name);
		cache[nr].objects = cache_number(entry->d_name, "objects");
		cache[nr].more = LONG_MAX;
		CHECK(cache[nr].objects >= 0);
		nr++;
	}
	closedir(dir);
	return nr;
}

/* Looks at all caches once more. Returns the one with the most objects more than @before. */
static const struct cache *caches_look(struct cache *before, unsigned int nr)
{
	const struct cache *most = before;
	struct cache now[CACHES];
	unsigned int nr_now = caches_read(now), i, j;
	long more;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < nr_now && strcmp(before[i].name, now[j].name); j++)
			continue;
		more = (j < nr_now ? now[j].objects : 0) - before[i].objects;
		if (more < before[i].more)
			before[i].more = more;
		if (before[i].more > most->more)
			most = &before[i];
	}
	return most;
}

/*
 * Whether no cache has @more objects more than before. What is freed by kfree_rcu(), as lists of
 * fences are, and what sysfs needs for a look at all caches, is freed together, after 5 s and more.
 * The kernel counts what is free as used in slabs that a processor has for itself, so a cache may
 * seem to grow at any look. What is lost is there at each.
 */
static bool caches_are_as_before(struct cache *before, unsigned int nr, long more)
{
	const struct cache *most;
	unsigned int tries;

	CHECK(nr);
	for (tries = 0; tries < 8; tries++) {
		most = caches_look(before, nr);
		say("exits: %s has %ld objects more", most->name, most->more);
		if (most->more < more)
			return true;
		sleep(7);
	}
	return failed("exits: %s has %ld objects more", most->name, most->more);
}

/* A program that never ends, on a queue of its own, for whose fence others wait. */
static int work_for_ever(int fd, uint32_t vm, uint32_t sync)
{
	static const uint32_t for_ever[] = { RV_J(0) };
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, 0, 1, 1);
	struct buf text;
	uint32_t queue;

	if (queue_make(fd, vm, GR, 4, &queue) ||
	    program_load(fd, vm, for_ever, 1, VA_MORE, &text))
		return -ENOSPC;
	return exec(fd, queue, &packet, 1, 0, sync);
}

/*
 * More jobs than the ring has room for, and a bind between them. Calls may fail, where others have
 * the framebuffer: it leaves with what it has.
 */
static void leave_work(struct rng *rng)
{
	struct vgpu_hw_packet packet[16];
	uint32_t vm, queue, sync, handle, i, wait = 0;
	int fd = node_open();

	if (fd < 0 || vm_make(fd, &vm) || queue_make(fd, vm, CE, 4, &queue) ||
	    sync_make(fd, &sync) ||
	    bo_make(fd, 4 * PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, 0, &handle) ||
	    bind_map(fd, vm, handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE))
		return;
	if (!rng_below(rng, 16) && !work_for_ever(fd, vm, sync))
		wait = sync;
	for (i = 0; i < 16; i++)
		packet[i] = packet_fill(VA_DATA, PAGE, i);
	exec(fd, queue, packet, 16, wait, sync);
	bind_later(fd, vm, sync, sync);
	exec(fd, queue, packet, 16, sync, 0);
	exec(fd, queue, packet, 1, 0, 0);
	/* A child shares the file, and keeps it for a moment. */
	if (!rng_below(rng, 16) && !fork()) {
		usleep(1000 * rng_below(rng, 30));
		_exit(0);
	}
}

static void one_exit(uint64_t seed)
{
	struct rng rng = rng_seed(seed);

	leave_work(&rng);
	if (rng_below(&rng, 2))
		raise(SIGKILL);
	_exit(0);
}

/**
 * struct ends - how processes have ended
 * @killed: by SIGKILL
 * @left:   by themselves
 */
struct ends {
	unsigned int killed;
	unsigned int left;
};

/* @nr processes, some at once; a third is killed at any time. */
static bool exits(unsigned int nr, struct rng *rng, struct ends *ends)
{
	pid_t pid[AT_ONCE];
	unsigned int i;
	uint64_t seed;
	int status;

	for (i = 0; i < nr + AT_ONCE; i++) {
		if (i >= AT_ONCE) {
			if (!rng_below(rng, 3))
				kill(pid[i % AT_ONCE], SIGKILL);
			CHECK(waitpid(pid[i % AT_ONCE], &status, 0) == pid[i % AT_ONCE]);
			if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
				ends->killed++;
			else if (WIFEXITED(status) && !WEXITSTATUS(status))
				ends->left++;
			else
				return failed("exits: process %u: status %#x", i - AT_ONCE, status);
		}
		if (i < nr) {
			seed = rng_next(rng);
			pid[i % AT_ONCE] = fork();
			CHECK(pid[i % AT_ONCE] >= 0);
			if (!pid[i % AT_ONCE])
				one_exit(seed);
		}
	}
	/* Their children, too. */
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	return true;
}

bool test_exits(void)
{
	unsigned int nr = test_amount(EXITS), nr_caches;
	struct rng rng = rng_seed(test_seed());
	struct cache cache[CACHES];
	struct ends ends = {};
	uint64_t before;
	int fd = node_open();

	CHECK(fd >= 0 && !prctl(PR_SET_CHILD_SUBREAPER, 1));
	say("exits: seed:%llu", (unsigned long long)test_seed());
	CHECK(exits(WARM_UP, &rng, &ends));
	before = fb_free(fd);
	/* What it takes to read them is there at the second time. */
	caches_read(cache);
	nr_caches = caches_read(cache);
	ends = (struct ends){};
	CHECK(exits(nr, &rng, &ends));
	say("exits: %u killed, %u left", ends.killed, ends.left);
	CHECK(ends.killed + ends.left == nr && ends.killed > nr / 4 && ends.left > nr / 8);
	CHECK(fb_free_is(fd, before));
	/* With several processors a kernel keeps what was stacks, for each of them. */
	CHECK(sysconf(_SC_NPROCESSORS_ONLN) > 1 ||
	      caches_are_as_before(cache, nr_caches, nr / 5));
	close(fd);
	return test_dispatch();
}
