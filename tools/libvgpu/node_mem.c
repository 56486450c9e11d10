// SPDX-License-Identifier: GPL-2.0
/*
 * The transport over a render node: memory. The framebuffer that a program sees is a range of
 * addresses, in which its buffer objects are mapped one behind the other: offsets are names, and do
 * not say where in the device's framebuffer anything is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "node.h"

static uint64_t round_to(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

void vgpu_node_mem_free(struct vgpu_node *node)
{
	free(node->fb.bo);
	free(node->buf.bo);
}

static int bo_create(struct vgpu_dev *dev, struct vgpu_node_bo *bo, uint32_t placement,
		     uint32_t flags)
{
	struct drm_vgpu_bo_create create = {
		.size = bo->bytes,
		.placement = placement,
		.flags = flags,
	};
	int ret = vgpu_node_ioctl(dev, DRM_IOCTL_VGPU_BO_CREATE, &create);

	bo->handle = create.handle;
	return ret;
}

static void bo_close(struct vgpu_dev *dev, const struct vgpu_node_bo *bo)
{
	struct drm_gem_close close = { .handle = bo->handle };

	vgpu_node_ioctl(dev, DRM_IOCTL_GEM_CLOSE, &close);
}

/* Maps a buffer object for the CPU, at @at unless that is NULL. */
static int bo_mmap(struct vgpu_dev *dev, const struct vgpu_node_bo *bo, void *at, void **ptr)
{
	struct drm_vgpu_bo_mmap_offset where = { .handle = bo->handle };
	int ret;

	ret = vgpu_node_check_id(dev, bo->handle, "BO_CREATE");
	if (!ret)
		ret = vgpu_node_call(dev, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &where, "BO_MMAP_OFFSET");
	if (ret)
		return ret;
	*ptr = mmap(at, bo->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
		    dev->node->fd, (off_t)where.offset);
	if (*ptr != MAP_FAILED)
		return 0;
	ret = -errno;
	return vgpu_fail(dev, ret, "mmap of %llu bytes: %s", (unsigned long long)bo->bytes,
			 strerror(-ret));
}

/* Leaves addresses of the framebuffer that lead nowhere, but are nobody else's. */
static void fb_hide(struct vgpu_dev *dev, uint64_t from, uint64_t bytes)
{
	if (bytes)
		mmap(dev->fb + from, bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static int fb_full(struct vgpu_dev *dev, uint64_t bytes, uint64_t left, const char *whose)
{
	return vgpu_fail(dev, -ENOSPC, "framebuffer: %llu bytes wanted, %llu of %llu left%s",
			 (unsigned long long)bytes, (unsigned long long)left,
			 (unsigned long long)dev->fb_bytes, whose);
}

static int fb_add(struct vgpu_dev *dev, uint64_t at, uint64_t bytes, uint32_t flags)
{
	struct vgpu_node_bo bo = { .at = at, .bytes = bytes };
	struct drm_vgpu_dev_info info;
	void *ptr;
	int ret;

	ret = vgpu_node_list_reserve(dev, &dev->node->fb);
	if (ret)
		return ret;
	ret = bo_create(dev, &bo, DRM_VGPU_PLACEMENT_FRAMEBUFFER, flags);
	if (ret == -ENOSPC && !vgpu_node_query(dev, &info))
		return fb_full(dev, bytes, info.fb_free, flags && bytes <= info.fb_free ?
			       ", not in one piece" : ", the rest is in use");
	if (ret == -EINVAL && flags)
		return vgpu_fail(dev, -EOPNOTSUPP,
				 "framebuffer in one piece: the driver is older than 1.2");
	if (ret)
		return vgpu_node_fail(dev, ret, "BO_CREATE");
	ret = bo_mmap(dev, &bo, dev->fb + at, &ptr);
	if (!ret)
		ret = vgpu_node_flat_map(dev, &bo, true);
	if (!ret) {
		vgpu_node_list_insert(&dev->node->fb, &bo);
		return 0;
	}
	fb_hide(dev, at, bytes);
	bo_close(dev, &bo);
	return ret;
}

static int fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, bool shown,
		    uint64_t *offset)
{
	uint64_t start = round_to(dev->fb_next, align > VGPU_HW_PAGE_SIZE ? align :
				  VGPU_HW_PAGE_SIZE);
	int ret;

	if (start < dev->fb_next || start > dev->fb_bytes || bytes > dev->fb_bytes - start)
		return fb_full(dev, bytes, dev->fb_bytes - dev->fb_next, "");
	bytes = round_to(bytes, VGPU_HW_PAGE_SIZE);
	ret = bytes ? fb_add(dev, start, bytes, shown ? DRM_VGPU_BO_CONTIGUOUS : 0) : 0;
	if (ret)
		return ret;
	dev->fb_next = start + bytes;
	*offset = start;
	return 0;
}

static void fb_release(struct vgpu_dev *dev, uint64_t offset)
{
	struct vgpu_node_list *list = &dev->node->fb;
	uint64_t start = round_to(offset, VGPU_HW_PAGE_SIZE), end = dev->fb_next;
	const struct vgpu_node_bo *kept = vgpu_node_find(list, offset);

	if (offset >= end)
		return;
	/* A buffer object is given back as a whole. */
	if (kept && kept->at < offset)
		start = kept->at + kept->bytes;
	vgpu_node_flat_unmap(dev, start, end - start, true);
	fb_hide(dev, start, end - start);
	while (list->nr && list->bo[list->nr - 1].at >= start)
		bo_close(dev, &list->bo[--list->nr]);
	dev->fb_next = start;
}

/* The first gap for @bytes. A page behind each buffer stays free, so that an overrun faults. */
static int buf_place(struct vgpu_dev *dev, uint64_t bytes, uint64_t *at)
{
	const struct vgpu_node *node = dev->node;
	uint64_t start = node->va_buf;
	size_t i;

	for (i = 0; i < node->buf.nr; i++) {
		if (node->buf.bo[i].at - start > bytes)
			break;
		start = node->buf.bo[i].at + node->buf.bo[i].bytes + VGPU_HW_PAGE_SIZE;
	}
	*at = start;
	if (start < node->va_end && bytes < node->va_end - start)
		return 0;
	return vgpu_fail(dev, -ENOMEM, "buffer of %llu bytes: no addresses are left for it",
			 (unsigned long long)bytes);
}

static int buf_alloc(struct vgpu_dev *dev, struct vgpu_buf *buf)
{
	struct vgpu_node_bo bo = { .bytes = buf->bytes };
	struct drm_vgpu_dev_info info;
	int ret;

	ret = vgpu_node_list_reserve(dev, &dev->node->buf);
	if (!ret)
		ret = buf_place(dev, bo.bytes, &bo.at);
	if (ret)
		return ret;
	ret = bo_create(dev, &bo, DRM_VGPU_PLACEMENT_SYSTEM, 0);
	if (ret == -ENOMEM && !vgpu_node_query(dev, &info))
		return vgpu_fail(dev, ret, "memory for buffers: %llu bytes wanted, %llu left",
				 (unsigned long long)bo.bytes,
				 (unsigned long long)info.system_free);
	if (ret)
		return vgpu_node_fail(dev, ret, "BO_CREATE");
	ret = bo_mmap(dev, &bo, NULL, &buf->ptr);
	if (!ret) {
		ret = vgpu_node_flat_map(dev, &bo, false);
		if (ret)
			munmap(buf->ptr, buf->bytes);
	}
	if (ret) {
		bo_close(dev, &bo);
		return ret;
	}
	buf->iova = bo.at;
	vgpu_node_list_insert(&dev->node->buf, &bo);
	return 0;
}

static void buf_free(struct vgpu_buf *buf)
{
	struct vgpu_dev *dev = buf->dev;
	struct vgpu_node_list *list = &dev->node->buf;
	size_t i = vgpu_node_list_index(list, buf->iova);

	vgpu_node_flat_unmap(dev, buf->iova, buf->bytes, false);
	munmap(buf->ptr, buf->bytes);
	bo_close(dev, &list->bo[i]);
	list->nr--;
	memmove(&list->bo[i], &list->bo[i + 1], (list->nr - i) * sizeof(list->bo[0]));
}

const struct vgpu_mem_ops vgpu_node_mem = {
	.fb_alloc = fb_alloc,
	.fb_release = fb_release,
	.buf_alloc = buf_alloc,
	.buf_free = buf_free,
};
