// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "tracing.h"

#define TRACE	"/sys/kernel/tracing/"

static void put(const char *path, const char *text)
{
	int ret = file_write(path, text);

	CHECK(!ret, "%s: %s", path, strerror(-ret));
}

static void put_event(const struct tracing *t, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), TRACE "events/%s/%s", t->event, file);
	put(path, text);
}

void tracing_begin(const struct tracing *t, const char *filter)
{
	int fd;

	put(TRACE "tracing_on", "0");
	fd = open(TRACE "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(fd >= 0, "%s", strerror(errno));
	close(fd);
	put_event(t, "filter", filter);
	put_event(t, "enable", "1");
	put(TRACE "tracing_on", "1");
}

void tracing_end(const struct tracing *t)
{
	put(TRACE "tracing_on", "0");
	put_event(t, "enable", "0");
	put_event(t, "filter", "0");
}

unsigned int tracing_read(const struct tracing *t, void (*line)(char *line))
{
	char text[512], name[64] = ": ";
	unsigned int nr = 0;
	FILE *file;

	if (t)
		snprintf(name, sizeof(name), ": %s: ", strchr(t->event, '/') + 1);
	file = fopen(TRACE "trace", "r");
	CHECK(file, "%s", strerror(errno));
	while (fgets(text, sizeof(text), file)) {
		if (*text == '#' || !strstr(text, name))
			continue;
		line(text);
		nr++;
	}
	fclose(file);
	return nr;
}
