// SPDX-License-Identifier: GPL-2.0
/* Opens the vGPU that a name means: on the host, or in a virtual machine. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MDEVS	"/sys/bus/mdev/devices"

/* How many mdevs there are; the UUID of one of them goes to @uuid. */
static unsigned int find_mdevs(char *uuid, size_t room)
{
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	dir = opendir(MDEVS);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(uuid, room, "%.63s", entry->d_name);
		nr++;
	}
	closedir(dir);
	return nr;
}

int vgpu_dev_open(struct vgpu_dev **devp, const char *name)
{
	char uuid[64];
	unsigned int nr;
	int ret;

	if (name)
		return strchr(name, '-') ? vgpu_dev_open_vfio(devp, name) :
			vgpu_dev_open_pci(devp, name);
	ret = vgpu_dev_open_pci(devp, NULL);
	if (ret != -ENODEV)
		return ret;
	nr = find_mdevs(uuid, sizeof(uuid));
	if (nr == 1)
		return vgpu_dev_open_vfio(devp, uuid);
	if (nr)
		return vgpu_fail(NULL, -EINVAL, "%u vGPUs are here: which one? Its UUID is needed",
				 nr);
	return vgpu_fail(NULL, -ENODEV, "no vGPU here: no PCI function is one, and there is no mdev");
}
