// SPDX-License-Identifier: GPL-2.0
/* /proc/PID/fdinfo of open nodes: the keys of the kernel's drm-usage-stats.rst. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render.h"

#define FDINFO_ROOM	8192

/* If the line has the key, its value without leading blanks. */
static const char *fdinfo_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

/* A number, and what its unit stands for. */
static uint64_t fdinfo_number(const char *value)
{
	char *unit;
	uint64_t number = strtoull(value, &unit, 10);
	unsigned int shift = 0;

	if (!strcmp(unit, " KiB"))
		shift = 10;
	else if (!strcmp(unit, " MiB"))
		shift = 20;
	return number > UINT64_MAX >> shift ? UINT64_MAX : number << shift;
}

static void fdinfo_text(const char *value, char *to, size_t room)
{
	snprintf(to, room, "%s", value);
}

static void fdinfo_line(const char *line, struct nv_fdinfo *info)
{
	static const char * const engines[NV_ENGINES] = {
		[NV_SM] = "drm-engine-gr", [NV_MEM] = "drm-engine-ce",
		[NV_ENC] = "drm-engine-enc", [NV_DEC] = "drm-engine-dec",
	};
	const char *value;
	unsigned int e;

	value = fdinfo_value(line, "drm-driver");
	if (value)
		fdinfo_text(value, info->driver, sizeof(info->driver));
	value = fdinfo_value(line, "drm-pdev");
	if (value)
		fdinfo_text(value, info->pdev, sizeof(info->pdev));
	value = fdinfo_value(line, "drm-client-id");
	if (value)
		info->client = fdinfo_number(value);
	value = fdinfo_value(line, "drm-resident-vram");
	if (value)
		info->fb_bytes = fdinfo_number(value);
	for (e = 0; e < NV_ENGINES; e++) {
		value = fdinfo_value(line, engines[e]);
		if (value)
			info->busy_ns[e] = fdinfo_number(value);
	}
}

bool nv_fdinfo_read(int directory, const char *name, struct nv_fdinfo *info)
{
	char text[FDINFO_ROOM], *line, *rest = text;
	size_t length = 0;
	ssize_t n;
	int fd;

	memset(info, 0, sizeof(*info));
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		n = read(fd, text + length, sizeof(text) - 1 - length);
		if (n > 0)
			length += (size_t)n;
	} while (n > 0 && length < sizeof(text) - 1);
	close(fd);
	text[length] = 0;
	while ((line = strsep(&rest, "\n")))
		fdinfo_line(line, info);
	return true;
}
