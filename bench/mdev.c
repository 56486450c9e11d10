// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "bench.h"
#include "file.h"

static void write_file(const char *path, const char *text)
{
	int ret = file_write(path, text);

	if (ret)
		bench_die("%s: %s", path, strerror(-ret));
}

void mdev_create(const char *type_dir, const char *uuid)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/create", type_dir);
	write_file(path, uuid);
}

void mdev_remove(const char *uuid)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", uuid);
	write_file(path, "1");
}

void mdev_open(struct mdev *mdev, const char *uuid)
{
	char path[512], target[512], *group;
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", uuid);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		bench_die("%s: %s", path, strerror(errno));
	target[length] = 0;
	group = strrchr(target, '/');
	snprintf(path, sizeof(path), "/dev/vfio%s", group ? group : "");
	mdev->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	mdev->group = open(path, O_RDWR | O_CLOEXEC);
	if (mdev->container < 0 || mdev->group < 0)
		bench_die("%s: %s", path, strerror(errno));
	if (ioctl(mdev->group, VFIO_GROUP_SET_CONTAINER, &mdev->container) ||
	    ioctl(mdev->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		bench_die("%s: container: %s", uuid, strerror(errno));
	mdev->fd = ioctl(mdev->group, VFIO_GROUP_GET_DEVICE_FD, uuid);
	if (mdev->fd < 0)
		bench_die("%s: device: %s", uuid, strerror(errno));
}

struct mdev_region mdev_region(struct mdev *mdev, unsigned int index)
{
	struct vfio_region_info info = {
		.argsz = sizeof(info),
		.index = index,
	};

	if (ioctl(mdev->fd, VFIO_DEVICE_GET_REGION_INFO, &info))
		bench_die("region %u: %s", index, strerror(errno));
	return (struct mdev_region){ info.size, info.offset };
}

void mdev_close(struct mdev *mdev)
{
	close(mdev->fd);
	close(mdev->group);
	close(mdev->container);
}
