// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of a vGPU that moves. The input is a list of frames: type, flags, a byte that says
 * what is wrong with the head, one with the page count of its data, and 12 bytes with which the
 * data begin; numbers and checksums are made right, as no input would have them. What is accepted
 * is within the vGPU, and END comes last.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/crc32.h>

#include "core/objects/about.h"
#include "vfio/stream.h"

#define ITEM		16
#define FRAMES		24
#define FB_PAGES	64
#define CHANNELS	8
#define VECTORS		4
#define ROOM		(16 + sizeof(struct vgpu_frame_pages) + 3 * VGPU_STREAM_PAGE)

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static const struct vgpu_stream_about mine = {
	.magic = VGPU_STREAM_MAGIC,
	.version = VGPU_STREAM_VERSION,
	.least = VGPU_STREAM_VERSION,
	.fb_bytes = FB_PAGES * VGPU_STREAM_PAGE,
	.channels = CHANNELS,
};

/* Makes a frame of an item of the input. Returns its length. */
static size_t make(const uint8_t *item, uint32_t number, uint8_t *to)
{
	struct vgpu_frame_head *head = (void *)to;
	uint8_t *data = to + sizeof(*head);
	size_t length = 12;

	memset(to, 0, ROOM);
	switch (item[0]) {
	case VGPU_FRAME_BEGIN:
		length = sizeof(mine);
		memcpy(data, &mine, sizeof(mine));
		data[item[4] % sizeof(mine)] ^= item[5];
		break;
	case VGPU_FRAME_MEMORY:
	case VGPU_FRAME_CHANNELS:
		length = sizeof(struct vgpu_frame_pages) + item[3] % 4 * VGPU_STREAM_PAGE;
		memcpy(data, item + 4, 12);
		break;
	case VGPU_FRAME_FUNCTION:
		length = sizeof(struct vgpu_frame_function) +
			VECTORS * sizeof(struct vgpu_frame_vector);
		data[256] = item[4];
		memcpy(data + 260, item + 5, 11);
		break;
	case VGPU_FRAME_FAULTS:
		length = sizeof(struct vgpu_frame_faults);
		break;
	case VGPU_FRAME_END:
		length = 0;
		break;
	}
	vgpu_frame_seal(head, item[0], length, number);
	head->flags = item[1];
	if (item[2] & 1)
		head->length = htole32(length + item[3]);
	if (item[2] & 2)
		head->number = htole32(item[3]);
	if (item[2] & 4)
		head->type = htole16(item[3] | item[0] << 8);
	head->crc = 0;
	if (!(item[2] & 8) && le32toh(head->length) <= ROOM - sizeof(*head)) {
		length = le32toh(head->length);
		head->crc = htole32(~crc32c(~0u, head, sizeof(*head) + length));
	}
	return sizeof(*head) + length;
}

static void check(const struct vgpu_stream *stream)
{
	const struct vgpu_frame_pages *pages = (const void *)stream->data;
	uint64_t most = vgpu_stream_type(stream) == VGPU_FRAME_MEMORY ? FB_PAGES : CHANNELS;
	uint32_t length = vgpu_stream_length(stream);

	expect(length <= stream->room);
	if (vgpu_stream_type(stream) == VGPU_FRAME_MEMORY ||
	    vgpu_stream_type(stream) == VGPU_FRAME_CHANNELS) {
		expect(le64toh(pages->first) <= most);
		expect(le32toh(pages->nr) <= most - le64toh(pages->first));
		expect(length == sizeof(*pages) + le32toh(pages->nr) * VGPU_STREAM_PAGE);
	}
	if (vgpu_stream_type(stream) == VGPU_FRAME_FUNCTION)
		expect(length >= sizeof(struct vgpu_frame_function) +
		       VECTORS * sizeof(struct vgpu_frame_vector));
}

/* Returns whether the stream can be read further. */
static bool feed(struct vgpu_stream *stream, const uint8_t *bytes, size_t nr, uint8_t cut)
{
	size_t part;
	void *to;
	int ret;

	while (nr && !vgpu_stream_ended(stream)) {
		part = vgpu_stream_want(stream, &to);
		if (cut && part > cut)
			part = cut;
		part = part < nr ? part : nr;
		memcpy(to, bytes, part);
		bytes += part;
		nr -= part;
		ret = vgpu_stream_got(stream, part);
		if (ret < 0) {
			expect(ret != -EINVAL || stream->why[0]);
			return false;
		}
		if (ret)
			check(stream);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[ROOM];
	struct vgpu_stream stream;
	uint32_t i;

	vgpu_stream_init(&stream, &mine, VECTORS);
	for (i = 0; i < FRAMES && (i + 1) * ITEM <= size; i++)
		if (!feed(&stream, frame, make(data + i * ITEM, i, frame), data[0]))
			break;
	expect(!vgpu_stream_ended(&stream) || i >= 3);
	vgpu_stream_free(&stream);
	return 0;
}
