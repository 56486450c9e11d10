// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"
#include "uuid.h"

static int sysfs_write(const char *path, const char *text)
{
	size_t length = strlen(text);
	ssize_t n;
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != length)
		ret = -EIO;
	close(fd);
	return ret;
}

int sysfs_create(const char *address, const char *type_id, const char *uuid)
{
	char path[512];

	snprintf(path, sizeof(path),
		 "/sys/class/mdev_bus/%s/mdev_supported_types/%s/create",
		 address, type_id);
	return sysfs_write(path, uuid);
}

static const char *remove_path(const char *uuid, char *path, size_t room)
{
	snprintf(path, room, "/sys/bus/mdev/devices/%s/remove", uuid);
	return path;
}

int sysfs_remove(const char *uuid)
{
	char path[512];

	return sysfs_write(remove_path(uuid, path, sizeof(path)), "1");
}

bool sysfs_can_remove(const char *uuid)
{
	char path[512];

	return !access(remove_path(uuid, path, sizeof(path)), F_OK);
}

static bool read_line(const char *path, char *text, size_t room)
{
	FILE *file = fopen(path, "re");
	bool done;

	if (!file)
		return false;
	done = fgets(text, (int)room, file);
	fclose(file);
	return done;
}

bool sysfs_mdevctl_defines(const uint8_t *uuid)
{
	char path[64 + UUID_STR_LEN], text[UUID_STR_LEN];
	glob_t files;
	bool found;

	snprintf(path, sizeof(path), "/etc/mdevctl.d/*/%s", uuid_format(uuid, text));
	found = !glob(path, GLOB_NOSORT, NULL, &files);
	if (found)
		globfree(&files);
	return found;
}

void sysfs_policies(char *text, size_t room)
{
	bool done = false;
	glob_t files;
	size_t i;

	if (!glob("/sys/bus/*/devices/*/vgpu/policies", 0, NULL, &files)) {
		/* All GPUs have the same; one that was removed meanwhile is passed over. */
		for (i = 0; i < files.gl_pathc && !done; i++)
			done = read_line(files.gl_pathv[i], text, room);
		globfree(&files);
	}
	text[done ? strcspn(text, "\n") : 0] = 0;
}

uint64_t sysfs_parameter(const char *name)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/module/vgpu/parameters/%s", name);
	return read_line(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}
