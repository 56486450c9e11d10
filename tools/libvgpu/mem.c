// SPDX-License-Identifier: GPL-2.0
/* Framebuffer, and memory of the program that the device can reach. */
#include <errno.h>
#include <string.h>

#include "internal.h"

int vgpu_fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align,
		  uint64_t *offset)
{
	return dev->transport->mem->fb_alloc(dev, bytes, align, false, offset);
}

int vgpu_fb_alloc_shown(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, uint64_t *offset)
{
	return dev->transport->mem->fb_alloc(dev, bytes, align, true, offset);
}

void vgpu_fb_release(struct vgpu_dev *dev, uint64_t offset)
{
	dev->transport->mem->fb_release(dev, offset);
}

int vgpu_buf_alloc(struct vgpu_dev *dev, size_t bytes, struct vgpu_buf *buf)
{
	int ret;

	memset(buf, 0, sizeof(*buf));
	if (!bytes || bytes > SIZE_MAX - VGPU_HW_PAGE_SIZE)
		return vgpu_fail(dev, -EINVAL, "buffer of %zu bytes", bytes);
	buf->dev = dev;
	buf->bytes = (bytes + VGPU_HW_PAGE_SIZE - 1) & ~(size_t)(VGPU_HW_PAGE_SIZE - 1);
	ret = dev->transport->mem->buf_alloc(dev, buf);
	if (ret)
		memset(buf, 0, sizeof(*buf));
	return ret;
}

void vgpu_buf_free(struct vgpu_buf *buf)
{
	if (!buf->ptr)
		return;
	buf->dev->transport->mem->buf_free(buf);
	memset(buf, 0, sizeof(*buf));
}

uint64_t vgpu_buf_addr(const struct vgpu_buf *buf, uint64_t offset,
		       uint64_t *contig)
{
	uint64_t page = offset / VGPU_HW_PAGE_SIZE;
	uint64_t in_page = offset % VGPU_HW_PAGE_SIZE;
	uint64_t pages = buf->bytes / VGPU_HW_PAGE_SIZE;
	uint64_t end;

	if (!buf->pages) {
		if (contig)
			*contig = offset < buf->bytes ? buf->bytes - offset : 0;
		return buf->iova + offset;
	}
	if (page >= pages) {
		if (contig)
			*contig = 0;
		return ~0ull;
	}
	for (end = page + 1; end < pages; end++)
		if (buf->pages[end] != buf->pages[end - 1] + VGPU_HW_PAGE_SIZE)
			break;
	if (contig)
		*contig = (end - page) * VGPU_HW_PAGE_SIZE - in_page;
	return buf->pages[page] + in_page;
}
