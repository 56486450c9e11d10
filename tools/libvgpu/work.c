// SPDX-License-Identifier: GPL-2.0
/* Packets of the usual kinds. */
#include <endian.h>
#include <errno.h>

#include "internal.h"

int vgpu_chan_nop(struct vgpu_chan *chan)
{
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_NOP };

	return vgpu_chan_submit(chan, &p, 1);
}

/*
 * Address of a place for the device. @contig is set to the bytes from there that one packet can
 * name.
 */
static uint64_t loc_addr(struct vgpu_loc loc, uint64_t *contig)
{
	if (loc.buf)
		return vgpu_buf_addr(loc.buf, loc.offset, contig);
	*contig = ~0ull;
	return loc.offset;
}

/*
 * How many of @bytes the next packet names. No byte is contiguous at a place outside of its buffer:
 * then the packet names all of them, and the device refuses it.
 */
static uint64_t piece(uint64_t bytes, uint64_t contig)
{
	return contig && contig < bytes ? contig : bytes;
}

int vgpu_chan_fill(struct vgpu_chan *chan, struct vgpu_loc dst, uint32_t value,
		   uint64_t bytes)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FILL,
		.op_flags = htole32(dst.buf ? VGPU_HW_OP_DST_SYS : 0),
		.value = htole32(value),
		.rows = htole32(1),
	};
	uint64_t contig, n;
	int ret;

	while (bytes) {
		p.dst = htole64(loc_addr(dst, &contig));
		n = piece(bytes, contig);
		p.width = htole64(n);
		ret = vgpu_chan_submit(chan, &p, 1);
		if (ret)
			return ret;
		dst.offset += n;
		bytes -= n;
	}
	return 0;
}

static uint32_t copy_flags(struct vgpu_loc dst, struct vgpu_loc src)
{
	return (dst.buf ? VGPU_HW_OP_DST_SYS : 0) |
		(src.buf ? VGPU_HW_OP_SRC_SYS : 0);
}

int vgpu_chan_copy(struct vgpu_chan *chan, struct vgpu_loc dst,
		   struct vgpu_loc src, uint64_t bytes)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_COPY,
		.op_flags = htole32(copy_flags(dst, src)),
		.rows = htole32(1),
	};
	uint64_t contig, n;
	int ret;

	while (bytes) {
		p.dst = htole64(loc_addr(dst, &contig));
		n = piece(bytes, contig);
		p.src = htole64(loc_addr(src, &contig));
		n = piece(n, contig);
		p.width = htole64(n);
		ret = vgpu_chan_submit(chan, &p, 1);
		if (ret)
			return ret;
		dst.offset += n;
		src.offset += n;
		bytes -= n;
	}
	return 0;
}

int vgpu_chan_copy2d(struct vgpu_chan *chan, struct vgpu_loc dst,
		     uint32_t dst_pitch, struct vgpu_loc src,
		     uint32_t src_pitch, uint64_t width, uint32_t rows)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_COPY,
		.op_flags = htole32(copy_flags(dst, src)),
		.width = htole64(width),
		.rows = htole32(rows),
		.dst_pitch = htole32(rows == 1 ? 0 : dst_pitch),
		.src_pitch = htole32(rows == 1 ? 0 : src_pitch),
	};
	uint64_t dst_contig, src_contig, last;
	uint32_t row;
	int ret;

	if (!rows || !width)
		return vgpu_fail(chan->dev, -EINVAL, "empty rectangle");
	last = rows - 1;
	p.dst = htole64(loc_addr(dst, &dst_contig));
	p.src = htole64(loc_addr(src, &src_contig));
	if (last * dst_pitch + width <= dst_contig &&
	    last * src_pitch + width <= src_contig)
		return vgpu_chan_submit(chan, &p, 1);
	for (row = 0; row < rows; row++) {
		ret = vgpu_chan_copy(chan, dst, src, width);
		if (ret)
			return ret;
		dst.offset += dst_pitch;
		src.offset += src_pitch;
	}
	return 0;
}

int vgpu_chan_present(struct vgpu_chan *chan, uint64_t offset, uint32_t width,
		      uint32_t height, uint32_t pitch)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_PRESENT,
		.dst = htole64(offset),
		.present_width = htole32(width),
		.present_height = htole32(height),
		.present_pitch = htole32(pitch),
		.present_format = htole32(VGPU_HW_FORMAT_XRGB8888),
	};

	return vgpu_chan_submit(chan, &p, 1);
}
