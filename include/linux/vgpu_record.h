/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records: the state of a vGPU as plain bytes, without a pointer. Each record has a type and a
 * length; a topic adds its own records and takes them back, in the order in which it added them.
 * Whoever takes a record checks every field, as a stream of records may come from anybody.
 *
 * Pure logic, compiled in user space too.
 */
#ifndef _LINUX_VGPU_RECORD_H
#define _LINUX_VGPU_RECORD_H

#include <linux/types.h>

#define VGPU_RECORD_MAX		0x100000	/* bytes of one record's data */
#define VGPU_RECORDS_MAX	0x10000000	/* bytes of all records of a vGPU */
#define VGPU_RECORD_ALIGN	8

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
 * @record: why vgpu_record_refuse() was called: the name of the record
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
	const char *record;
	const char *field;
};

int vgpu_record_begin(struct vgpu_record_reader *reader, const void *data, size_t bytes);
int vgpu_record_next(struct vgpu_record_reader *reader);
int vgpu_record_skip(struct vgpu_record_reader *reader);
int vgpu_record_take(struct vgpu_record_reader *reader, u32 type, const char *name, size_t length,
		     const void **data);
int vgpu_record_take_bytes(struct vgpu_record_reader *reader, u32 type, const char *name, void *to,
			   size_t length);
int vgpu_record_refuse(struct vgpu_record_reader *reader, const char *record, const char *field);
bool vgpu_records_same(const struct vgpu_records *a, const struct vgpu_records *b, u32 *index,
		       u32 *type);

#endif /* _LINUX_VGPU_RECORD_H */
