// SPDX-License-Identifier: GPL-2.0
/* Opens the vGPU that a name means: on the host, or in a virtual machine by node or function. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define MDEVS	"/sys/bus/mdev/devices"

/* An mdev may be of another driver's; a GPU of ours has policies. */
static bool mdev_is_vgpu(const char *uuid)
{
	char path[128];

	snprintf(path, sizeof(path), MDEVS "/%.63s/../vgpu/policies", uuid);
	return !access(path, F_OK);
}

/* Each name in a directory of sysfs that is right, in order. */
static void list(const char *path, bool (*is_right)(const char *name),
		 void (*found)(const char *name, void *data), void *data)
{
	struct dirent **names;
	int i, n;

	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.' && is_right(names[i]->d_name))
			found(names[i]->d_name, data);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void vgpu_dev_list(void (*found)(const char *name, void *data), void *data)
{
	vgpu_node_list(found, data);
	list(VGPU_PCI_DEVICES, vgpu_pci_is_like_one, found, data);
	list(MDEVS, mdev_is_vgpu, found, data);
}

/**
 * struct mdevs - the vGPUs of a host
 * @nr:   how many
 * @uuid: of one of them
 */
struct mdevs {
	unsigned int nr;
	char uuid[64];
};

static void count_mdev(const char *name, void *data)
{
	struct mdevs *mdevs = data;

	mdevs->nr++;
	snprintf(mdevs->uuid, sizeof(mdevs->uuid), "%.63s", name);
}

static int open_named(struct vgpu_dev **devp, const char *name)
{
	char node[64];

	if (strchr(name, '/') || !strncmp(name, "renderD", strlen("renderD")))
		return vgpu_dev_open_node(devp, name);
	if (strchr(name, '-'))
		return vgpu_dev_open_vfio(devp, name);
	if (vgpu_pci_is_like_one(name) && vgpu_node_of(name, node, sizeof(node)))
		return vgpu_dev_open_node(devp, node);
	return vgpu_dev_open_pci(devp, name);
}

int vgpu_dev_open(struct vgpu_dev **devp, const char *name)
{
	struct mdevs mdevs = {};
	int ret;

	if (name)
		return open_named(devp, name);
	ret = vgpu_dev_open_node(devp, NULL);
	if (ret == -ENODEV)
		ret = vgpu_dev_open_pci(devp, NULL);
	if (ret != -ENODEV)
		return ret;
	list(MDEVS, mdev_is_vgpu, count_mdev, &mdevs);
	if (mdevs.nr == 1)
		return vgpu_dev_open_vfio(devp, mdevs.uuid);
	if (mdevs.nr)
		return vgpu_fail(NULL, -EINVAL, "%u vGPUs are here: which one? Its UUID is needed",
				 mdevs.nr);
	return vgpu_fail(NULL, -ENODEV, "no vGPU here: no render node is one, nor a PCI function, nor an mdev");
}
