/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stream of a vGPU that moves: what the file of a migration delivers on the one side, and takes
 * on the other. Documentation/migration.rst describes it. Pure logic, compiled in user space too.
 *
 * A stream is a sequence of frames. Each has a head with its number, its length and a checksum, so
 * that a frame that is cut off, changed, repeated or out of order is found. Frames come in the
 * order of their types, of which those may be missing that are not needed; BEGIN and END are in
 * each stream.
 *
 * A driver reads streams of the versions before its own, too. So a frame's structure grows at its
 * end only, and 0 in a new field means what was so without it; what changes in another way gets a
 * new type; and a number keeps its meaning.
 */
#ifndef _VGPU_STREAM_H
#define _VGPU_STREAM_H

#include <linux/types.h>
#include <linux/vgpu_migration.h>

#define VGPU_STREAM_PAGE	4096
#define VGPU_STREAM_VECTORS	2048	/* maximum of PCI */

#define VGPU_FRAME_MAX		0x100000	/* bytes of a frame's data */

/* enum vgpu_frame_type - what a frame is, in the order of frames in a stream */
enum vgpu_frame_type {
	VGPU_FRAME_BEGIN = 1,	/* struct vgpu_stream_about (linux/vgpu_migration.h) */
	VGPU_FRAME_MEMORY = 2,	/* struct vgpu_frame_pages: pages of the framebuffer */
	VGPU_FRAME_CHANNELS = 3, /* likewise, of the BAR of channels */
	VGPU_FRAME_FUNCTION = 4, /* struct vgpu_frame_function */
	VGPU_FRAME_FAULTS = 5,	/* struct vgpu_frame_faults */
	VGPU_FRAME_STATE = 6,	/* a part of the state's records (linux/vgpu_record.h) */
	VGPU_FRAME_END = 7,	/* no data; nothing follows */
};

/* struct vgpu_frame_head.flags: a reader that does not know the type must refuse the stream. */
#define VGPU_FRAME_REQUIRED	0x1

/**
 * struct vgpu_frame_head - the head of a frame; its data follow
 * @type:   enum vgpu_frame_type
 * @flags:  VGPU_FRAME_*
 * @length: bytes of data, at most VGPU_FRAME_MAX
 * @number: of the frame in its stream, from 0 on
 * @crc:    CRC-32C of the head, with 0 here, and the data
 */
struct vgpu_frame_head {
	__le16 type;
	__le16 flags;
	__le32 length;
	__le32 number;
	__le32 crc;
};

#define VGPU_PAGES_DROPPED	0x1	/* all pages read zero, but for those that follow */

/**
 * struct vgpu_frame_pages - pages of memory; their content follows
 * @first: number of the first page
 * @nr:    number of pages; 0 if @flags alone matter
 * @flags: VGPU_PAGES_DROPPED; of the framebuffer only
 */
struct vgpu_frame_pages {
	__le64 first;
	__le32 nr;
	__le32 flags;
};

#define VGPU_STREAM_RUN \
	((VGPU_FRAME_MAX - sizeof(struct vgpu_frame_pages)) / VGPU_STREAM_PAGE)

/**
 * struct vgpu_frame_vector - an MSI-X vector
 * @entry: of the table
 * @state: VGPU_VECTOR_*
 */
struct vgpu_frame_vector {
	__le32 entry[4];
	__le32 state;
};

#define VGPU_VECTOR_PENDING	0x1	/* raised, and not signalled yet */
#define VGPU_VECTOR_MASKED	0x2	/* the user has masked it in the table */
#define VGPU_VECTOR_STATES	0x3

/**
 * struct vgpu_frame_function - the PCI function
 * @config:  the head of configuration space
 * @vectors: number of vectors
 * @vector:  each of them
 */
struct vgpu_frame_function {
	u8 config[256];
	__le32 vectors;
	struct vgpu_frame_vector vector[];
};

/**
 * struct vgpu_frame_faults - what counts towards a quarantine
 * @faults:     number of faults that count
 * @quarantines: number of quarantines so far
 * @left_ns:    rest of the present quarantine; 0: there is none
 * @next_ns:    length of the next quarantine
 * @quiet_ns:   time since the last fault, or since the last quarantine has ended; ~0: never
 * @age_ns:     age of each fault, the oldest first
 */
struct vgpu_frame_faults {
	__le32 faults;
	__le32 quarantines;
	__le64 left_ns;
	__le64 next_ns;
	__le64 quiet_ns;
	__le64 age_ns[16];
};

/**
 * struct vgpu_stream - reads a stream
 * @mine:  the vGPU that the stream is for
 * @vectors: number of its vectors
 * @head:  head of the frame that is being read
 * @got:   bytes of that frame's head and data so far
 * @data:  its data; a buffer that the reader owns
 * @room:  length of @data
 * @number: number of frames before it
 * @stage: type of the last frame of a known type; 0: there was none
 * @state_bytes: bytes of the state so far
 * @why:   why the stream was refused, if it was
 */
struct vgpu_stream {
	struct vgpu_stream_about mine;
	u32 vectors;
	struct vgpu_frame_head head;
	size_t got;
	u8 *data;
	size_t room;
	u32 number;
	u32 stage;
	u64 state_bytes;
	char why[160];
};

void vgpu_frame_seal(struct vgpu_frame_head *head, u32 type, u32 length, u32 number);
void vgpu_stream_init(struct vgpu_stream *stream, const struct vgpu_stream_about *mine,
		      u32 vectors);
void vgpu_stream_free(struct vgpu_stream *stream);
size_t vgpu_stream_want(struct vgpu_stream *stream, void **to);
int vgpu_stream_got(struct vgpu_stream *stream, size_t bytes);
bool vgpu_stream_ended(const struct vgpu_stream *stream);
u32 vgpu_stream_type(const struct vgpu_stream *stream);
u32 vgpu_stream_length(const struct vgpu_stream *stream);
void vgpu_stream_faults(const struct vgpu_stream *stream, struct vgpu_frame_faults *faults);

#endif /* _VGPU_STREAM_H */
