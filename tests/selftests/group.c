// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
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
	return file_write(path, text);
}

uint64_t group_value(const char *group, const char *file, const char *key)
{
	char path[128];
	uint64_t value;
	int ret;

	snprintf(path, sizeof(path), ROOT "/%s/%s", group, file);
	ret = file_number(path, key, &value);
	CHECK(!ret, "%s, %s: %s", path, key ? key : "", strerror(-ret));
	return value;
}

void group_make(const char *group, uint64_t limit)
{
	char path[128], text[32];
	int ret;

	file_write(ROOT "/cgroup.subtree_control", "+memory");
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
	file_write(ROOT "/cgroup.procs", "0");
}

void group_open(struct fx_vgpu *v, const char *group)
{
	group_enter(group);
	fx_open(v);
	group_leave();
}

void group_check_alive(const char *group)
{
	CHECK_EQ(group_value(group, "memory.events", "oom_kill "), 0);
}

void group_wait_below(const char *group, uint64_t bytes)
{
	uint64_t now;

	FX_SOON((now = group_value(group, "memory.current", NULL)) < bytes,
		"%llu KiB are still charged", (unsigned long long)now >> 10);
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
