// SPDX-License-Identifier: GPL-2.0
/* The stream of a vGPU that moves: its frames, and a reader that trusts no byte of them. */
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/vgpu_record.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>

#include "../compat.h"
#else
#include <endian.h>
#define cpu_to_le16(x)	htole16(x)
#define cpu_to_le32(x)	htole32(x)
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#define vgpu_crc32c	crc32c
#endif

#include "../core/objects/about.h"
#include "stream.h"

#define refuse(stream, fmt, ...) ({						\
	snprintf((stream)->why, sizeof((stream)->why), fmt, ##__VA_ARGS__);	\
	-EINVAL;								\
})

static u32 frame_crc(struct vgpu_frame_head head, const void *data, size_t length)
{
	head.crc = 0;
	return ~vgpu_crc32c(vgpu_crc32c(~0U, &head, sizeof(head)), data, length);
}

/**
 * vgpu_frame_seal() - fill in the head of a frame
 * @head: of the frame, which the data follow
 * @type: enum vgpu_frame_type
 * @length: bytes of data, at most VGPU_FRAME_MAX
 * @number: of the frame in its stream
 *
 * Context: any.
 */
void vgpu_frame_seal(struct vgpu_frame_head *head, u32 type, u32 length, u32 number)
{
	*head = (struct vgpu_frame_head){
		.type = cpu_to_le16(type),
		.flags = cpu_to_le16(VGPU_FRAME_REQUIRED),
		.length = cpu_to_le32(length),
		.number = cpu_to_le32(number),
	};
	head->crc = cpu_to_le32(frame_crc(*head, head + 1, length));
}

/**
 * vgpu_stream_init() - begin to read a stream
 * @stream: set up
 * @mine: the vGPU that it is for
 * @vectors: number of its vectors
 *
 * Context: any.
 */
void vgpu_stream_init(struct vgpu_stream *stream, const struct vgpu_stream_about *mine,
		      u32 vectors)
{
	*stream = (struct vgpu_stream){ .mine = *mine, .vectors = vectors };
}

/* Undoes vgpu_stream_init(). Context: may sleep. */
void vgpu_stream_free(struct vgpu_stream *stream)
{
	kvfree(stream->data);
	stream->data = NULL;
	stream->room = 0;
}

/* Type of the frame that is being read, or was just read. */
u32 vgpu_stream_type(const struct vgpu_stream *stream)
{
	return le16_to_cpu(stream->head.type);
}

/* Bytes of its data. */
u32 vgpu_stream_length(const struct vgpu_stream *stream)
{
	return le32_to_cpu(stream->head.length);
}

/* Whether the stream is complete. */
bool vgpu_stream_ended(const struct vgpu_stream *stream)
{
	return stream->stage == VGPU_FRAME_END;
}

/**
 * vgpu_stream_want() - ask which bytes come next
 * @stream: being read
 * @to: set to where they are to be copied
 *
 * Context: any.
 * Return: so many bytes, at least 1, or fewer. What the caller has copied it tells by
 * vgpu_stream_got().
 */
size_t vgpu_stream_want(struct vgpu_stream *stream, void **to)
{
	if (stream->got < sizeof(stream->head)) {
		*to = (u8 *)&stream->head + stream->got;
		return sizeof(stream->head) - stream->got;
	}
	*to = stream->data + stream->got - sizeof(stream->head);
	return sizeof(stream->head) + vgpu_stream_length(stream) - stream->got;
}

/* The head is there: makes room for the data. */
static int frame_began(struct vgpu_stream *stream)
{
	u32 length = vgpu_stream_length(stream);
	u32 number = le32_to_cpu(stream->head.number);

	if (!stream->number && (vgpu_stream_type(stream) != VGPU_FRAME_BEGIN ||
				length < sizeof(struct vgpu_stream_about)))
		return refuse(stream, "not the state of a vGPU");
	if (number != stream->number)
		return refuse(stream, "frame %u comes where frame %u is to be", number,
			      stream->number);
	if (length > VGPU_FRAME_MAX)
		return refuse(stream, "frame %u has %u bytes, at most %u are allowed", number,
			      length, VGPU_FRAME_MAX);
	if (length <= stream->room)
		return 0;
	vgpu_stream_free(stream);
	stream->data = kvmalloc(length, VGPU_RECORD_GFP);
	if (!stream->data)
		return -ENOMEM;
	stream->room = length;
	return 0;
}

static int wrong_length(struct vgpu_stream *stream)
{
	return refuse(stream, "frame %u of type %u has a wrong length, %u", stream->number,
		      vgpu_stream_type(stream), vgpu_stream_length(stream));
}

static int check_pages(struct vgpu_stream *stream, u64 pages, u32 flags)
{
	const struct vgpu_frame_pages *run = (const void *)stream->data;
	u32 length = vgpu_stream_length(stream), nr;
	u64 first;

	if (length < sizeof(*run))
		return wrong_length(stream);
	first = le64_to_cpu(run->first);
	nr = le32_to_cpu(run->nr);
	if (nr > VGPU_STREAM_RUN || length != sizeof(*run) + nr * VGPU_STREAM_PAGE)
		return wrong_length(stream);
	if (first > pages || nr > pages - first)
		return refuse(stream, "frame %u has pages %llu and %u more, there are %llu",
			      stream->number, (unsigned long long)first, nr,
			      (unsigned long long)pages);
	if (le32_to_cpu(run->flags) & ~flags)
		return refuse(stream, "frame %u has unknown flags", stream->number);
	return 0;
}

static int check_function(struct vgpu_stream *stream)
{
	const struct vgpu_frame_function *function = (const void *)stream->data;
	u32 length = vgpu_stream_length(stream), i;

	if (length < sizeof(*function))
		return wrong_length(stream);
	if (le32_to_cpu(function->vectors) != stream->vectors)
		return refuse(stream, "number of vectors is %u there, %u here",
			      le32_to_cpu(function->vectors), stream->vectors);
	if (stream->vectors > VGPU_STREAM_VECTORS ||
	    length < struct_size(function, vector, stream->vectors))
		return wrong_length(stream);
	for (i = 0; i < stream->vectors; i++)
		if (le32_to_cpu(function->vector[i].state) & ~VGPU_VECTOR_STATES)
			return refuse(stream, "vector %u has an unknown state", i);
	return 0;
}

static int check_begin(struct vgpu_stream *stream)
{
	/* What is longer comes from a later version, which says whether this one can read it. */
	if (!vgpu_about_fits(&stream->mine, (const void *)stream->data, stream->why,
			     sizeof(stream->why)))
		return -EINVAL;
	return 0;
}

static int check_state(struct vgpu_stream *stream)
{
	stream->state_bytes += vgpu_stream_length(stream);
	if (stream->state_bytes > VGPU_RECORDS_MAX)
		return refuse(stream, "more than %u bytes of state", VGPU_RECORDS_MAX);
	return 0;
}

static int check_data(struct vgpu_stream *stream)
{
	u64 pages = le64_to_cpu(stream->mine.fb_bytes) / VGPU_STREAM_PAGE;

	switch (vgpu_stream_type(stream)) {
	case VGPU_FRAME_BEGIN:
		return check_begin(stream);
	case VGPU_FRAME_MEMORY:
		return check_pages(stream, pages, VGPU_PAGES_DROPPED);
	case VGPU_FRAME_CHANNELS:
		return check_pages(stream, le32_to_cpu(stream->mine.channels), 0);
	case VGPU_FRAME_FUNCTION:
		return check_function(stream);
	case VGPU_FRAME_FAULTS:
		if (vgpu_stream_length(stream) < sizeof(struct vgpu_frame_faults))
			return wrong_length(stream);
		return 0;
	case VGPU_FRAME_STATE:
		return check_state(stream);
	default:
		return vgpu_stream_length(stream) ? wrong_length(stream) : 0;
	}
}

/* Whether a frame may come behind those that came before it. */
static bool in_order(const struct vgpu_stream *stream, u32 type)
{
	if (type == stream->stage)
		return type == VGPU_FRAME_MEMORY || type == VGPU_FRAME_CHANNELS ||
		       type == VGPU_FRAME_STATE;
	if (type < stream->stage)
		return false;
	/* A move cannot do without these. */
	if (type > VGPU_FRAME_FUNCTION && stream->stage < VGPU_FRAME_FUNCTION)
		return false;
	return type != VGPU_FRAME_END || stream->stage == VGPU_FRAME_STATE;
}

/* The frame is there. */
static int frame_ended(struct vgpu_stream *stream)
{
	u32 type = vgpu_stream_type(stream);
	int ret;

	if (le32_to_cpu(stream->head.crc) !=
	    frame_crc(stream->head, stream->data, vgpu_stream_length(stream)))
		return refuse(stream, "frame %u has a wrong checksum", stream->number);
	if (!type || type > VGPU_FRAME_END) {
		if (le16_to_cpu(stream->head.flags) & VGPU_FRAME_REQUIRED)
			return refuse(stream, "frame %u is of type %u, which is not known here",
				      stream->number, type);
		return 0;
	}
	if (!in_order(stream, type))
		return refuse(stream, "frame %u of type %u comes behind one of type %u",
			      stream->number, type, stream->stage);
	ret = check_data(stream);
	if (!ret)
		stream->stage = type;
	return ret;
}

/**
 * vgpu_stream_got() - take bytes of the stream
 * @stream: being read, not complete
 * @bytes: so many have been copied to where vgpu_stream_want() has said; 1 or more
 *
 * A frame that this returns, with its type, length and data, was checked: it comes in order, and no
 * number in it is larger than the vGPU. It stays until the next call.
 *
 * Context: may sleep.
 * Return: 0: the frame is not complete; 1: it is; -EINVAL with the reason in @stream, or -ENOMEM:
 * then the stream cannot be read any further.
 */
int vgpu_stream_got(struct vgpu_stream *stream, size_t bytes)
{
	bool head = stream->got < sizeof(stream->head);
	int ret;

	stream->got += bytes;
	if (stream->got < sizeof(stream->head))
		return 0;
	ret = head ? frame_began(stream) : 0;
	if (ret || stream->got < sizeof(stream->head) + vgpu_stream_length(stream))
		return ret;
	ret = frame_ended(stream);
	stream->got = 0;
	stream->number++;
	return ret ?: 1;
}

/**
 * vgpu_stream_faults() - copy the frame FAULTS that was read
 * @stream: has such a frame
 * @faults: set
 *
 * Context: any.
 */
void vgpu_stream_faults(const struct vgpu_stream *stream, struct vgpu_frame_faults *faults)
{
	memcpy(faults, stream->data, sizeof(*faults));
}
