// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "group.h"

#define ROOT	"/sys/fs/cgroup"

static const char * const names[] = { GROUP_A, GROUP_B };

int group_write(const char *group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s/%s", group, file);
	return fx_write_file(path, text);
}

uint64_t group_value(const char *group, const char *file,
		     const char *key)
{
	char path[128], text[2048], *at;
	int n;

	snprintf(path, sizeof(path), ROOT "/%s/%s", group, file);
	n = fx_read_file(path, text, sizeof(text));
	CHECK(n > 0, "%s: %s", path, strerror(-n));
	at = text;
	if (key) {
		at = strstr(text, key);
		CHECK(at, "%s has no %s", path, key);
		at += strlen(key);
	}
	return strtoull(at, NULL, 10);
}

void group_make(const char *group, uint64_t limit)
{
	char path[128], text[32];
	int ret;

	fx_write_file(ROOT "/cgroup.subtree_control", "+memory");
	snprintf(path, sizeof(path), ROOT "/%s", group);
	if (mkdir(path, 0755) && errno != EEXIST)
		ktap_skip("%s: %s", path, strerror(errno));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
	ret = group_write(group, "memory.max", text);
	if (ret)
		ktap_skip("%s/memory.max: %s", path, strerror(-ret));
	group_write(group, "memory.swap.max", "0");
}

void group_enter(const char *group)
{
	int ret = group_write(group, "cgroup.procs", "0");

	CHECK(!ret, "%s: %s", group, strerror(-ret));
}

void group_leave(void)
{
	fx_write_file(ROOT "/cgroup.procs", "0");
}

/* The device is charged to the group, this process is not. */
void group_open(struct fx_vgpu *who, const char *group)
{
	group_enter(group);
	fx_open(who);
	group_leave();
}

void group_check_alive(const char *group)
{
	CHECK_EQ(group_value(group, "memory.events", "oom_kill "), 0);
}

/* Pages are given back a moment after the last reference is gone. */
void group_wait_below(const char *group, uint64_t bytes)
{
	uint64_t end = fx_now_ms() + 10000, now;

	while ((now = group_value(group, "memory.current", NULL)) >= bytes) {
		CHECK(fx_now_ms() < end, "%llu KiB are still charged",
		      (unsigned long long)now >> 10);
		fx_sleep_ms(20);
	}
}

void group_cleanup(void)
{
	char path[128];
	unsigned int i;

	group_leave();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), ROOT "/%s", names[i]);
		rmdir(path);
	}
}
