// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contention.h"
#include "fixture.h"

#define TRACE	"/sys/kernel/tracing/"
#define EVENT	TRACE "events/lock/contention_begin/"

/*
 * Of LCB_F_*: who waits so sleeps. Who spins (1) does not, on a rwlock_t or before it sleeps for a
 * mutex, which a kernel that debugs mutexes tells of each that it takes.
 */
#define FILTER	"(flags & 62) && flags != 3 && flags != 5 && flags != 33"

/* What lies between the event and who takes the lock: the event's own, locks and wait queues. */
static const char * const between[] = {
	"trace_", "__traceiter_", "__ftrace_", "stack_trace_", "save_stack",
	"rtlock_", "rt_spin_", "rt_mutex_", "__rt_mutex_", "rt_read_", "rt_write_", "rwbase_",
	"mutex_", "__mutex_", "_mutex_", "ww_mutex_", "down_", "__down_", "rwsem_", "percpu_",
	"__percpu_", "__wake_up", "wake_up_", "prepare_to_wait", "finish_wait", "add_wait_queue",
	"remove_wait_queue", "eventfd_signal",
};

static void put(const char *path, const char *text)
{
	int ret = file_write(path, text);

	CHECK(!ret, "%s: %s", path, strerror(-ret));
}

static void clear(void)
{
	int fd = open(TRACE "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	CHECK(fd >= 0, "%s", strerror(errno));
	close(fd);
}

void contention_begin(void)
{
	if (access(EVENT "enable", W_OK))
		ktap_skip("no tracing of lock contention in this kernel");
	put(TRACE "tracing_on", "0");
	put(TRACE "buffer_size_kb", "8192");
	put(TRACE "saved_cmdlines_size", "1024");
	put(TRACE "options/stacktrace", "1");
	/* With these the name of a function is followed by that of its module. */
	put(TRACE "options/sym-offset", "1");
	clear();
	put(EVENT "filter", FILTER);
	put(EVENT "enable", "1");
	put(TRACE "tracing_on", "1");
}

void contention_end(void)
{
	file_write(TRACE "tracing_on", "0");
	file_write(EVENT "enable", "0");
	file_write(EVENT "filter", "0");
	file_write(TRACE "options/stacktrace", "0");
	file_write(TRACE "options/sym-offset", "0");
}

static bool is_between(const char *function)
{
	size_t i;

	for (i = 0; i < sizeof(between) / sizeof(between[0]); i++)
		if (!strncmp(function, between[i], strlen(between[i])))
			return true;
	return false;
}

/* "   TASK-PID   [CPU] ...": the task's name, which may have spaces and dashes of its own. */
static void take_task(char *line, char *task, size_t room)
{
	char *end = strstr(line, " [");

	while (isspace((unsigned char)*line))
		line++;
	*(end ? end : line) = 0;
	end = strrchr(line, '-');
	snprintf(task, room, "%.*s", (int)(end ? end - line : 0), line);
}

unsigned int contention_read(void (*wait)(const char *task, const char *function))
{
	char line[512], task[64], function[128];
	bool pending = false;
	unsigned int nr = 0;
	FILE *file;

	put(TRACE "tracing_on", "0");
	file = fopen(TRACE "trace", "r");
	CHECK(file, "%s", strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, ": contention_begin: ")) {
			take_task(line, task, sizeof(task));
			pending = true;
			nr++;
		} else if (pending && sscanf(line, " => %127[^\n]", function) == 1 &&
			   !is_between(function)) {
			pending = false;
			if (strstr(function, "[vgpu"))
				wait(task, function);
		}
	}
	fclose(file);
	clear();
	put(TRACE "tracing_on", "1");
	return nr;
}
