/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records: the state of a vGPU as plain bytes, without a pointer. Each record has a type and a
 * length; a topic adds its own records and takes them back, in the order in which it added them.
 * Whoever takes a record checks every field, as a stream of records may come from anybody.
 *
 * A driver reads the records of the version before it, too. So:
 *
 * - A structure grows at its end only, and 0 in a new field means what was so without the field:
 *   vgpu_record_take_struct() sets fields to 0 that a record has not got.
 * - What changes in another way is a record of a new type. Who takes it takes the old one, too.
 * - A number that has had a meaning in a record, of a type or in a field, gets no other one.
 *
 * Pure logic, compiled in user space too.
 */
#ifndef _LINUX_VGPU_RECORD_H
#define _LINUX_VGPU_RECORD_H

#include <linux/stddef.h>
#include <linux/types.h>

#define VGPU_RECORD_MAX		0x100000	/* bytes of one record's data */
#define VGPU_RECORDS_MAX	0x10000000	/* bytes of all records of a vGPU */
#define VGPU_RECORD_ALIGN	8

/*
 * How memory is taken for a vGPU that moves: the user who reads or writes the stream pays, and how
 * much it is another host may say. Where there is none, the move fails, and nobody is killed.
 */
#define VGPU_RECORD_GFP		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Types of the core's records. Those of a back end begin at VGPU_RECORD_BACKEND. */
#define VGPU_RECORD_EDID	1
#define VGPU_RECORD_BACKEND	0x100

/* struct vgpu_record_head.flags: who does not know the type must refuse the state. */
#define VGPU_RECORD_REQUIRED	0x1
#define VGPU_RECORD_FLAGS	0x1

/**
 * struct vgpu_record_head - the head of a record
 * @type:   what the record is, not 0
 * @flags:  VGPU_RECORD_*
 * @length: bytes of data that follow, at most VGPU_RECORD_MAX; then zeros, up to the next multiple
 *          of VGPU_RECORD_ALIGN
 */
struct vgpu_record_head {
	__le16 type;
	__le16 flags;
	__le32 length;
};

/**
 * struct vgpu_records - a buffer of records, which grows
 * @data:  the records; NULL: none so far
 * @bytes: length of the records
 * @room:  length of @data
 * @error: 0; -ENOMEM: there was no memory for a record; -E2BIG: there would have been too many
 *         bytes. Nothing is added any more
 *
 * All 0 is an empty buffer.
 */
struct vgpu_records {
	u8 *data;
	size_t bytes;
	size_t room;
	int error;
};

void *vgpu_record_add(struct vgpu_records *to, u32 type, size_t length);
void vgpu_record_add_bytes(struct vgpu_records *to, u32 type, const void *data, size_t length);
int vgpu_records_append(struct vgpu_records *to, const void *data, size_t length);
void vgpu_records_free(struct vgpu_records *records);

/**
 * struct vgpu_record_reader - reads records, one after the other
 * @at:     what follows the present record
 * @left:   bytes from @at on
 * @type:   of the present record; 0: there is none, all have been read
 * @flags:  of the present record
 * @length: likewise
 * @data:   likewise, aligned to VGPU_RECORD_ALIGN; stays valid as long as what is read
 * @index:  number of records before the present one
 * @looked: number of records before the one that was looked at last, to take it or to read its head
 * @record: why vgpu_record_refuse() was called for that one: the name of the record
 * @field:  likewise, the name of the field that is wrong
 */
struct vgpu_record_reader {
	const u8 *at;
	size_t left;
	u32 type;
	u32 flags;
	u32 length;
	const void *data;
	u32 index;
	u32 looked;
	const char *record;
	const char *field;
};

int vgpu_record_begin(struct vgpu_record_reader *reader, const void *data, size_t bytes);
int vgpu_record_next(struct vgpu_record_reader *reader);
int vgpu_record_skip(struct vgpu_record_reader *reader);
int vgpu_record_take(struct vgpu_record_reader *reader, u32 type, const char *name, size_t length,
		     const void **data);
int vgpu_record_take_sized(struct vgpu_record_reader *reader, u32 type, const char *name, void *to,
			   size_t size, size_t least);
int vgpu_record_take_bytes(struct vgpu_record_reader *reader, u32 type, const char *name, void *to,
			   size_t length);
int vgpu_record_refuse(struct vgpu_record_reader *reader, const char *record, const char *field);
bool vgpu_records_same(const struct vgpu_records *a, const struct vgpu_records *b, u32 *index,
		       u32 *type);

/**
 * vgpu_record_take_struct() - take the present record as a structure, and go on to the next one
 * @reader: the reader
 * @type: the record must be of this type
 * @name: of such records, for messages; a constant
 * @to: the structure, which is set
 * @last: the last field that the structure had when there were first such records; constant, also
 *        when the structure has grown
 *
 * Context: any.
 * Return: as vgpu_record_take_sized().
 */
#define vgpu_record_take_struct(reader, type, name, to, last) ({			\
	typeof(to) to_ = (to);								\
											\
	vgpu_record_take_sized(reader, type, name, to_, sizeof(*to_),			\
			       offsetofend(typeof(*to_), last));			\
})

#endif /* _LINUX_VGPU_RECORD_H */
