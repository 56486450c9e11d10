// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "fixture.h"

#define CHILDREN	128
#define AREAS		4

static pid_t children[CHILDREN];	/* 0: free */
static struct {
	void *at;	/* NULL: free */
	size_t bytes;
} areas[AREAS];

pid_t child_start(void (*run)(void *arg), void *arg)
{
	pid_t parent = getpid(), pid;
	int i;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		run(arg);
		fflush(stdout);
		_exit(0);
	}
	for (i = 0; i < CHILDREN; i++) {
		if (!children[i]) {
			children[i] = pid;
			return pid;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	FAIL("more than %d children", CHILDREN);
}

bool child_ends(pid_t pid, int timeout_ms, int *status)
{
	uint64_t end = clk_ms() + (uint64_t)timeout_ms;
	int i;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (clk_ms() > end)
			return false;
		clk_sleep_ms(2);
	}
	for (i = 0; i < CHILDREN; i++)
		if (children[i] == pid)
			children[i] = 0;
	return true;
}

void child_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "a killed process does not die");
}

char child_state(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	CHECK(f, "%s: %s", path, strerror(errno));
	CHECK_EQ(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	fclose(f);
	return state;
}

uint64_t child_resident(pid_t pid, const char *key)
{
	char path[32];
	uint64_t kib;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	CHECK(!file_number(path, key, &kib), "%s: no %s", path, key);
	return kib << 10;
}

void *child_shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	CHECK(at != MAP_FAILED, "mmap: %s", strerror(errno));
	for (i = 0; areas[i].at; i++)
		CHECK(i + 1 < AREAS, "more than %d areas of shared memory", AREAS);
	areas[i].at = at;
	areas[i].bytes = bytes;
	return at;
}

void child_cleanup(void)
{
	int i;

	/* All of them first: the parent of one that is traced by another waits for both. */
	for (i = 0; i < CHILDREN; i++)
		if (children[i])
			kill(children[i], SIGKILL);
	for (i = 0; i < CHILDREN; i++) {
		if (!children[i])
			continue;
		waitpid(children[i], NULL, 0);
		children[i] = 0;
	}
	for (i = 0; i < AREAS; i++) {
		if (areas[i].at)
			munmap(areas[i].at, areas[i].bytes);
		areas[i].at = NULL;
	}
}
