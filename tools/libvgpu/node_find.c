// SPDX-License-Identifier: GPL-2.0
/* Which render nodes there are, and which driver's they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "node_find.h"

int vgpu_node_call_fd(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? -errno : 0;
}

int vgpu_node_version(int fd, struct drm_version *version)
{
	char name[sizeof(VGPU_NODE_DRIVER)] = "";
	int ret;

	memset(version, 0, sizeof(*version));
	version->name_len = sizeof(name);
	version->name = name;
	ret = vgpu_node_call_fd(fd, DRM_IOCTL_VERSION, version);
	version->name = NULL;
	if (ret)
		return ret;
	/* No name of that length can have been cut. */
	return version->name_len == strlen(VGPU_NODE_DRIVER) &&
		!memcmp(name, VGPU_NODE_DRIVER, strlen(VGPU_NODE_DRIVER)) ? 0 : -ENXIO;
}

static int find_is_render(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "renderD", strlen("renderD"));
}

int vgpu_node_scan(const char *directory, struct dirent ***names)
{
	int n = scandir(directory, names, find_is_render, versionsort);

	if (n < 0)
		*names = NULL;
	return n;
}

void vgpu_node_scan_end(struct dirent **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

bool vgpu_node_may_be_ours(const char *name)
{
	char path[320], driver[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/class/drm/%.200s/device/driver", name);
	n = readlink(path, driver, sizeof(driver) - 1);
	if (n < 0)
		return true;
	driver[n] = 0;
	return !strcmp(strrchr(driver, '/') ? strrchr(driver, '/') + 1 : driver, VGPU_NODE_DRIVER);
}
