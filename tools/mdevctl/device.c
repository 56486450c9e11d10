// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

#define MDEVS	"/sys/bus/mdev/devices"
#define PARENTS	"/sys/class/mdev_bus"

bool device_is_name(const char *text)
{
	size_t length;

	for (length = 0; text[length]; length++)
		if (!isalnum((unsigned char)text[length]) && !strchr("-_.:,+@", text[length]))
			return false;
	return length && length < CONFIG_NAME && text[0] != '.';
}

bool device_is_ours(const char *type, const char *parent)
{
	/* Of back ends that come with the driver; others are known only while they are there. */
	static const char * const backends[] = { "vgpu_soft-", "vgpu_null-" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strncmp(type, backends[i], strlen(backends[i])))
			return true;
	if (!device_is_name(type) || !device_is_name(parent))
		return false;
	snprintf(path, sizeof(path), PARENTS "/%s/vgpu/policies", parent);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), PARENTS "/%s/mdev_supported_types/%s", parent, type);
	return !access(path, F_OK);
}

bool device_exists(const char *uuid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), MDEVS "/%s", uuid);
	return !access(path, F_OK);
}

/* Sets @name to the last part but @up of what a link points to. */
static bool link_part(const char *path, int up, char *name, size_t room)
{
	char target[PATH_MAX], *part;
	ssize_t length;

	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = 0;
	while ((part = strrchr(target, '/')) && up--)
		*part = 0;
	if (!part || strlen(part) > room)
		return false;
	memcpy(name, part + 1, strlen(part));
	return true;
}

bool device_check(const char *uuid, const char *parent, const char *type, char *why)
{
	char path[PATH_MAX], name[CONFIG_NAME];

	snprintf(path, sizeof(path), MDEVS "/%s", uuid);
	if (!link_part(path, 1, name, sizeof(name))) {
		snprintf(why, CONFIG_WHY, "there is none");
		return false;
	}
	if (strcmp(name, parent)) {
		snprintf(why, CONFIG_WHY, "is on %s, not on %s", name, parent);
		return false;
	}
	snprintf(path, sizeof(path), MDEVS "/%s/mdev_type", uuid);
	if (!link_part(path, 0, name, sizeof(name)) || strcmp(name, type)) {
		snprintf(why, CONFIG_WHY, "is not a %s", type);
		return false;
	}
	return true;
}

bool device_read(const char *uuid, const char *attr, char *value, size_t room)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), MDEVS "/%s/%s", uuid, attr);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, value, room - 1);
	close(fd);
	if (n < 0)
		return false;
	value[n] = 0;
	value[strcspn(value, "\n")] = 0;
	return true;
}

void device_changed(const char *uuid)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), MDEVS "/%s/uevent", uuid);
	file = fopen(path, "we");
	if (!file)
		return;
	fputs("change", file);
	fclose(file);
}
