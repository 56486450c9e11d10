// SPDX-License-Identifier: GPL-2.0
/* The transport over a render node: opening, closing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node.h"
#include "node_find.h"

/* -ENODEV: the node is another driver's, or none. */
static int node_check_driver(struct vgpu_dev *dev)
{
	struct drm_version version;
	int ret = vgpu_node_version(dev->node->fd, &version);

	if (ret == -ENOTTY)
		return vgpu_fail(dev, -ENODEV, "is no render node");
	if (ret == -ENXIO)
		return vgpu_fail(dev, -ENODEV, "is no vGPU: the node is of another driver than "
				 VGPU_NODE_DRIVER);
	if (ret)
		return vgpu_node_fail(dev, ret, "DRM_IOCTL_VERSION");
	if (version.version_major != VGPU_NODE_MAJOR)
		return vgpu_fail(dev, -EPROTO, "the driver has version %d.%d, this is for %d",
				 version.version_major, version.version_minor, VGPU_NODE_MAJOR);
	return 0;
}

/* What the driver says decides on addresses and on loops, so it is not believed unseen. */
static int node_check_info(struct vgpu_dev *dev, const struct drm_vgpu_dev_info *info)
{
	if (info->hw_version >> 16 != VGPU_HW_VERSION_CURRENT >> 16)
		return vgpu_fail(dev, -EPROTO, "speaks hardware ABI %u.%u, this is for %u",
				 info->hw_version >> 16, info->hw_version & 0xffff,
				 VGPU_HW_VERSION_CURRENT >> 16);
	if (info->page_size != VGPU_HW_PAGE_SIZE || sysconf(_SC_PAGESIZE) != VGPU_HW_PAGE_SIZE)
		return vgpu_fail(dev, -EOPNOTSUPP, "pages are not 4 KiB");
	if (!info->channels || info->channels > VGPU_HW_MAX_CHANNELS)
		return vgpu_fail(dev, -EPROTO, "says it owns %u channels", info->channels);
	if (info->nr_engines > VGPU_HW_MAX_ENGINES)
		return vgpu_fail(dev, -EPROTO, "has %u engines, at most %u known", info->nr_engines,
				 VGPU_HW_MAX_ENGINES);
	/* Programs see the framebuffer in the lower half, behind the first 4 GiB. */
	if (info->va_bits >= VGPU_HW_VA_BITS || 1ull << info->va_bits >> 1 <= VGPU_HW_VA_GLOBAL)
		return vgpu_fail(dev, -EPROTO, "has addresses of %u bits", info->va_bits);
	if (!info->fb_bytes || info->fb_bytes % VGPU_HW_PAGE_SIZE ||
	    info->fb_bytes > (1ull << info->va_bits >> 1) - VGPU_HW_VA_GLOBAL)
		return vgpu_fail(dev, -EPROTO, "says it owns %llu bytes of framebuffer",
				 (unsigned long long)info->fb_bytes);
	return 0;
}

static int node_take_info(struct vgpu_dev *dev)
{
	struct drm_vgpu_dev_info info;
	void *fb;
	int ret;

	ret = vgpu_node_query(dev, &info);
	if (!ret)
		ret = node_check_info(dev, &info);
	if (ret)
		return ret;
	dev->channels = info.channels;
	dev->engines = info.nr_engines;
	memcpy(dev->engine, info.engine, sizeof(dev->engine));
	dev->node->va_end = 1ull << info.va_bits;
	dev->node->va_buf = dev->node->va_end / 2;
	/* Addresses only, of which none leads anywhere yet. */
	fb = mmap(NULL, info.fb_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		  -1, 0);
	if (fb == MAP_FAILED) {
		ret = -errno;
		return vgpu_fail(dev, ret, "room for %llu bytes of framebuffer: %s",
				 (unsigned long long)info.fb_bytes, strerror(-ret));
	}
	dev->fb = fb;
	dev->fb_bytes = info.fb_bytes;
	return 0;
}

static void node_close(struct vgpu_dev *dev)
{
	if (dev->fb)
		munmap(dev->fb, dev->fb_bytes);
	if (dev->node->fd >= 0)
		close(dev->node->fd);
	vgpu_node_mem_free(dev->node);
	free(dev->node);
}

static int node_reset(struct vgpu_dev *dev)
{
	return vgpu_fail(dev, -EOPNOTSUPP, "only its driver can reset it: others use it, too");
}

static const struct vgpu_transport node_transport = {
	.mem = &vgpu_node_mem,
	.space = &vgpu_node_space,
	.chan = &vgpu_node_chan,
	.image_base = VGPU_HW_VA_GLOBAL,
	.close = node_close,
	.reset = node_reset,
};

static struct vgpu_dev *node_new(const char *path)
{
	struct vgpu_node *node = calloc(1, sizeof(*node));
	struct vgpu_dev *dev = node ? vgpu_dev_new(&node_transport, path) : NULL;

	if (!dev) {
		free(node);
		return NULL;
	}
	node->fd = -1;
	dev->node = node;
	return dev;
}

/* -ENODEV: it is no vGPU. */
static int node_open(struct vgpu_dev **devp, const char *path)
{
	struct vgpu_dev *dev = node_new(path);
	int ret;

	if (!dev)
		return vgpu_fail(NULL, -ENOMEM, "out of memory");
	dev->node->fd = open(path, O_RDWR | O_CLOEXEC);
	if (dev->node->fd < 0) {
		ret = -errno;
		vgpu_fail(dev, ret, "%s%s", strerror(-ret),
			  ret == -EACCES ? " (are you in the group of the node, render?)" : "");
		return vgpu_dev_open_failed(dev, ret);
	}
	ret = node_check_driver(dev);
	if (!ret && devp)
		ret = node_take_info(dev);
	if (ret)
		return vgpu_dev_open_failed(dev, ret);
	if (devp)
		*devp = dev;
	else
		vgpu_dev_close(dev);
	return 0;
}

static int node_open_first(struct vgpu_dev **devp)
{
	char path[300], text[VGPU_ERROR_LEN];
	struct dirent **names;
	int i, n, ret = -ENODEV, denied = 0;

	n = vgpu_node_scan(VGPU_NODES, &names);
	for (i = 0; i < n && ret; i++) {
		if (!vgpu_node_may_be_ours(names[i]->d_name))
			continue;
		snprintf(path, sizeof(path), VGPU_NODES "/%.256s", names[i]->d_name);
		ret = node_open(devp, path);
		if (ret && ret != -ENODEV && !denied) {
			denied = ret;
			snprintf(text, sizeof(text), "%s", vgpu_dev_error(NULL));
		}
	}
	vgpu_node_scan_end(names, n);
	if (!ret)
		return 0;
	/* Of all nodes, the one that is a vGPU and cannot be used tells why. */
	return denied ? vgpu_fail(NULL, denied, "%s", text) :
		vgpu_fail(NULL, -ENODEV, "no node in " VGPU_NODES " is of the driver "
			  VGPU_NODE_DRIVER);
}

int vgpu_dev_open_node(struct vgpu_dev **devp, const char *name)
{
	char path[sizeof(VGPU_NODES) + 64];

	*devp = NULL;
	if (!name)
		return node_open_first(devp);
	if (strchr(name, '/'))
		return node_open(devp, name);
	snprintf(path, sizeof(path), VGPU_NODES "/%.63s", name);
	return node_open(devp, path);
}

bool vgpu_node_of(const char *address, char *path, size_t room)
{
	struct dirent **names;
	char in[512];
	int n;

	snprintf(in, sizeof(in), VGPU_PCI_DEVICES "/%.64s/drm", address);
	n = vgpu_node_scan(in, &names);
	if (n > 0)
		snprintf(path, room, VGPU_NODES "/%.63s", names[0]->d_name);
	vgpu_node_scan_end(names, n);
	return n > 0;
}

void vgpu_node_list(void (*found)(const char *name, void *data), void *data)
{
	struct dirent **names;
	char path[300];
	int i, n;

	n = vgpu_node_scan(VGPU_NODES, &names);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), VGPU_NODES "/%.256s", names[i]->d_name);
		if (vgpu_node_may_be_ours(names[i]->d_name) && !node_open(NULL, path))
			found(path, data);
	}
	vgpu_node_scan_end(names, n);
}
