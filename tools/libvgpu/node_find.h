/* SPDX-License-Identifier: GPL-2.0 */
/* Render nodes of the guest's driver: which ones there are. libnvml is built with this, too. */
#ifndef LIBVGPU_NODE_FIND_H
#define LIBVGPU_NODE_FIND_H

#include <dirent.h>
#include <stdbool.h>

#include <drm/drm.h>

#define VGPU_NODES		"/dev/dri"
#define VGPU_NODE_DRIVER	"vgpu_guest"
#define VGPU_NODE_MAJOR		1	/* of the driver's version */

/* ioctl(), once more after each signal. Returns 0 or a negative errno. */
int vgpu_node_call_fd(int fd, unsigned long request, void *arg);

/* Sets the numbers of the driver's version. -ENOTTY: it is no node; -ENXIO: of another driver. */
int vgpu_node_version(int fd, struct drm_version *version);

/* The names of nodes in a directory, those of lower numbers first. Returns how many, or -1. */
int vgpu_node_scan(const char *directory, struct dirent ***names);
void vgpu_node_scan_end(struct dirent **names, int n);

/* Another driver's node is not opened where sysfs says whose it is: that may wake a GPU. */
bool vgpu_node_may_be_ours(const char *name);

#endif /* LIBVGPU_NODE_FIND_H */
