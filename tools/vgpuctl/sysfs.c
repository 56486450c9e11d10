// SPDX-License-Identifier: GPL-2.0
/* mdevs are made and removed through sysfs: the kernel has no other way. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vgpuctl.h"

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

int sysfs_remove(const char *uuid)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", uuid);
	return sysfs_write(path, "1");
}
