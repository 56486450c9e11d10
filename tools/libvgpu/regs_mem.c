// SPDX-License-Identifier: GPL-2.0
/*
 * The transport over registers: framebuffer, which programs share by claim.c, and memory that the
 * bus makes reachable.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

static int fb_alloc(struct vgpu_dev *dev, uint64_t bytes, uint64_t align, bool shown,
		    uint64_t *offset)
{
	uint64_t next = dev->fb_next, start;
	bool others = false;
	int ret;

	(void)shown;

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

static void fb_release(struct vgpu_dev *dev, uint64_t offset)
{
	if (offset >= dev->fb_next)
		return;
	dev->fb_next = offset;
	vgpu_unclaim_fb(dev, offset);
}

static int buf_alloc(struct vgpu_dev *dev, struct vgpu_buf *buf)
{
	int ret;

	buf->ptr = mmap(NULL, buf->bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf->ptr == MAP_FAILED) {
		ret = -errno;
		return vgpu_fail(dev, ret, "buffer of %zu bytes: %s", buf->bytes, strerror(-ret));
	}
	ret = dev->bus->buf_map(dev, buf);
	if (ret)
		munmap(buf->ptr, buf->bytes);
	return ret;
}

static void buf_free(struct vgpu_buf *buf)
{
	buf->dev->bus->buf_unmap(buf);
	munmap(buf->ptr, buf->bytes);
}

const struct vgpu_mem_ops vgpu_regs_mem = {
	.fb_alloc = fb_alloc,
	.fb_release = fb_release,
	.buf_alloc = buf_alloc,
	.buf_free = buf_free,
};
