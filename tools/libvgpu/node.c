// SPDX-License-Identifier: GPL-2.0
/* The transport over a render node: calls of the driver. */
#include <errno.h>
#include <string.h>

#include "node.h"
#include "node_find.h"

int vgpu_node_ioctl(struct vgpu_dev *dev, unsigned long request, void *arg)
{
	return vgpu_node_call_fd(dev->node->fd, request, arg);
}

int vgpu_node_fail(struct vgpu_dev *dev, int error, const char *what)
{
	if (error == -ENODEV)
		return vgpu_fail(dev, error, "the device is gone");
	return vgpu_fail(dev, error, "%s: %s", what, strerror(-error));
}

int vgpu_node_call(struct vgpu_dev *dev, unsigned long request, void *arg, const char *what)
{
	int ret = vgpu_node_ioctl(dev, request, arg);

	return ret ? vgpu_node_fail(dev, ret, what) : 0;
}

int vgpu_node_check_id(struct vgpu_dev *dev, uint32_t id, const char *what)
{
	return id ? 0 : vgpu_fail(dev, -EPROTO, "%s: the driver gives no id", what);
}

/* What the first version of the driver has; the rest stays 0 with that. */
#define INFO_BYTES	offsetof(struct drm_vgpu_dev_info, uuid)

int vgpu_node_query(struct vgpu_dev *dev, struct drm_vgpu_dev_info *info)
{
	struct drm_vgpu_dev_query query = {
		.size = sizeof(*info), .pointer = (uintptr_t)info,
	};
	int ret;

	memset(info, 0, sizeof(*info));
	ret = vgpu_node_call(dev, DRM_IOCTL_VGPU_DEV_QUERY, &query, "DEV_QUERY");
	if (ret)
		return ret;
	if (query.size < INFO_BYTES)
		return vgpu_fail(dev, -EPROTO, "DEV_QUERY: %u bytes, %zu were expected", query.size,
				 INFO_BYTES);
	return 0;
}
