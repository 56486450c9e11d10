// SPDX-License-Identifier: GPL-2.0
/* Framebuffer, and memory of the program that the device can reach. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

int vgpu_fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align,
		  uint64_t *offset)
{
	uint64_t next = dev->fb_next, start;
	bool others = false;
	int ret;

	for (;;) {
		start = (next + align - 1) & ~(align - 1);
		if (start > dev->fb_bytes || bytes > dev->fb_bytes - start)
			break;
		ret = vgpu_claim_fb(dev, start, bytes, &next);
		if (ret && ret != -EBUSY)
			return ret;
		if (!ret) {
			dev->fb_next = start + bytes;
			*offset = start;
			return 0;
		}
		others = true;
	}
	return vgpu_fail(dev, -ENOSPC, "framebuffer: %llu bytes wanted, %llu of %llu left%s",
			 (unsigned long long)bytes,
			 (unsigned long long)(dev->fb_bytes - dev->fb_next),
			 (unsigned long long)dev->fb_bytes,
			 others ? ", some of them to other programs" : "");
}

void vgpu_fb_release(struct vgpu_dev *dev, uint64_t offset)
{
	if (offset >= dev->fb_next)
		return;
	dev->fb_next = offset;
	vgpu_unclaim_fb(dev, offset);
}

int vgpu_buf_alloc(struct vgpu_dev *dev, size_t bytes, struct vgpu_buf *buf)
{
	int ret;

	memset(buf, 0, sizeof(*buf));
	if (!bytes || bytes > SIZE_MAX - VGPU_HW_PAGE_SIZE)
		return vgpu_fail(dev, -EINVAL, "buffer of %zu bytes", bytes);
	bytes = (bytes + VGPU_HW_PAGE_SIZE - 1) & ~(size_t)(VGPU_HW_PAGE_SIZE - 1);
	buf->ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf->ptr == MAP_FAILED) {
		ret = -errno;
		buf->ptr = NULL;
		return vgpu_fail(dev, ret, "buffer of %zu bytes: %s", bytes,
				 strerror(-ret));
	}
	buf->dev = dev;
	buf->bytes = bytes;
	ret = dev->transport->buf_map(dev, buf);
	if (ret) {
		munmap(buf->ptr, bytes);
		memset(buf, 0, sizeof(*buf));
	}
	return ret;
}

void vgpu_buf_free(struct vgpu_buf *buf)
{
	if (!buf->ptr)
		return;
	buf->dev->transport->buf_unmap(buf);
	munmap(buf->ptr, buf->bytes);
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
