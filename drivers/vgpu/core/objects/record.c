// SPDX-License-Identifier: GPL-2.0
/* Records: a buffer of them, and a reader that trusts no byte of what it reads. */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vgpu_record.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define cpu_to_le16(x)	htole16(x)
#define cpu_to_le32(x)	htole32(x)
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#endif

#define RECORDS_FIRST	4096	/* bytes of a buffer's first room */

/* Makes room for @more bytes. */
static int records_grow(struct vgpu_records *to, size_t more)
{
	size_t room = to->room ?: RECORDS_FIRST;
	u8 *data;

	if (more <= to->room - to->bytes)
		return 0;
	if (more > VGPU_RECORDS_MAX - to->bytes)
		return -E2BIG;
	while (room < to->bytes + more)
		room *= 2;
	data = kvmalloc(room, VGPU_RECORD_GFP);
	if (!data)
		return -ENOMEM;
	if (to->bytes)
		memcpy(data, to->data, to->bytes);
	kvfree(to->data);
	to->data = data;
	to->room = room;
	return 0;
}

/**
 * vgpu_record_add() - add a record
 * @to: the buffer
 * @type: of the record
 * @length: bytes of its data, at most VGPU_RECORD_MAX
 *
 * Context: sleeps.
 * Return: the record's data, zeroed, for the caller to fill in before the next record is added;
 * NULL with an error in @to.
 */
void *vgpu_record_add(struct vgpu_records *to, u32 type, size_t length)
{
	size_t bytes = sizeof(struct vgpu_record_head) + ALIGN(length, VGPU_RECORD_ALIGN);
	struct vgpu_record_head *head;

	if (!to->error)
		to->error = length > VGPU_RECORD_MAX ? -E2BIG : records_grow(to, bytes);
	if (to->error)
		return NULL;
	head = (struct vgpu_record_head *)(to->data + to->bytes);
	memset(head, 0, bytes);
	head->type = cpu_to_le16(type);
	head->flags = cpu_to_le16(VGPU_RECORD_REQUIRED);
	head->length = cpu_to_le32(length);
	to->bytes += bytes;
	return head + 1;
}
EXPORT_SYMBOL_GPL(vgpu_record_add);

/**
 * vgpu_record_add_bytes() - add bytes of any length, as records of VGPU_RECORD_MAX and a rest
 * @to: the buffer; an error stays in it
 * @type: of the records
 * @data: the bytes
 * @length: their number; 0: no record is added
 *
 * Context: sleeps.
 */
void vgpu_record_add_bytes(struct vgpu_records *to, u32 type, const void *data, size_t length)
{
	size_t part;
	void *at;

	for (; length; length -= part, data += part) {
		part = min_t(size_t, length, VGPU_RECORD_MAX);
		at = vgpu_record_add(to, type, part);
		if (!at)
			return;
		memcpy(at, data, part);
	}
}
EXPORT_SYMBOL_GPL(vgpu_record_add_bytes);

/**
 * vgpu_records_append() - append bytes of another buffer of records
 * @to: the buffer; an error stays in it
 * @data: the bytes, which need not be whole records
 * @length: their number
 *
 * Context: sleeps.
 * Return: 0, or the error of @to.
 */
int vgpu_records_append(struct vgpu_records *to, const void *data, size_t length)
{
	if (!to->error)
		to->error = records_grow(to, length);
	if (to->error)
		return to->error;
	memcpy(to->data + to->bytes, data, length);
	to->bytes += length;
	return 0;
}

/**
 * vgpu_records_free() - free a buffer
 * @records: the buffer, which is empty afterwards
 *
 * Context: may sleep.
 */
void vgpu_records_free(struct vgpu_records *records)
{
	kvfree(records->data);
	*records = (struct vgpu_records){};
}
EXPORT_SYMBOL_GPL(vgpu_records_free);

/**
 * vgpu_record_refuse() - say why a state is refused
 * @reader: note the reason there
 * @record: name of the record that is wrong; a constant
 * @field: name of the field likewise
 *
 * Context: any.
 * Return: -EINVAL.
 */
int vgpu_record_refuse(struct vgpu_record_reader *reader, const char *record, const char *field)
{
	reader->record = record;
	reader->field = field;
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(vgpu_record_refuse);

static int record_bad_head(struct vgpu_record_reader *reader, const char *field)
{
	reader->looked = reader->index;
	return vgpu_record_refuse(reader, "head", field);
}

/* The caller looks at the present record: whether it is of this type. */
static int record_look(struct vgpu_record_reader *reader, u32 type, const char *name)
{
	reader->looked = reader->index;
	return reader->type == type ? 0 : vgpu_record_refuse(reader, name, "missing");
}

/* Makes the record at reader->at the present one. */
static int record_read(struct vgpu_record_reader *reader)
{
	const struct vgpu_record_head *head = (const struct vgpu_record_head *)reader->at;
	size_t bytes;

	reader->type = 0;
	reader->length = 0;
	reader->data = NULL;
	if (!reader->left)
		return 0;
	if (reader->left < sizeof(*head))
		return record_bad_head(reader, "cut off");
	reader->flags = le16_to_cpu(head->flags);
	reader->length = le32_to_cpu(head->length);
	if (!head->type)
		return record_bad_head(reader, "type");
	if (reader->flags & ~VGPU_RECORD_FLAGS)
		return record_bad_head(reader, "flags");
	if (reader->length > VGPU_RECORD_MAX)
		return record_bad_head(reader, "length");
	bytes = sizeof(*head) + ALIGN(reader->length, VGPU_RECORD_ALIGN);
	if (bytes > reader->left)
		return record_bad_head(reader, "data cut off");
	reader->data = head + 1;
	if (memchr_inv(reader->data + reader->length, 0, bytes - sizeof(*head) - reader->length))
		return record_bad_head(reader, "padding");
	reader->type = le16_to_cpu(head->type);
	reader->at += bytes;
	reader->left -= bytes;
	return 0;
}

/**
 * vgpu_record_begin() - begin to read records
 * @reader: set up; the first record is the present one
 * @data: the records, aligned to VGPU_RECORD_ALIGN. No thread changes them meanwhile
 * @bytes: their length
 *
 * Context: any.
 * Return: 0, or -EINVAL with a reason in @reader.
 */
int vgpu_record_begin(struct vgpu_record_reader *reader, const void *data, size_t bytes)
{
	*reader = (struct vgpu_record_reader){ .at = data, .left = bytes };
	return record_read(reader);
}
EXPORT_SYMBOL_GPL(vgpu_record_begin);

/**
 * vgpu_record_next() - go on to the next record
 * @reader: has a present record
 *
 * Context: any.
 * Return: 0, or -EINVAL with a reason in @reader.
 */
int vgpu_record_next(struct vgpu_record_reader *reader)
{
	reader->index++;
	return record_read(reader);
}
EXPORT_SYMBOL_GPL(vgpu_record_next);

/**
 * vgpu_record_skip() - go on to the next record, without an idea of what the present one is
 * @reader: has a present record
 *
 * Context: any.
 * Return: 0, or -EINVAL: who does not know the record must refuse the state.
 */
int vgpu_record_skip(struct vgpu_record_reader *reader)
{
	reader->looked = reader->index;
	if (reader->flags & VGPU_RECORD_REQUIRED)
		return vgpu_record_refuse(reader, "unknown", "type");
	return vgpu_record_next(reader);
}
EXPORT_SYMBOL_GPL(vgpu_record_skip);

/**
 * vgpu_record_take() - take the data of the present record, and go on to the next one
 * @reader: the reader
 * @type: the record must be of this type
 * @name: of such records, for messages; a constant
 * @length: and of this length
 * @data: set to its data
 *
 * Context: any.
 * Return: 0, or -EINVAL with a reason in @reader.
 */
int vgpu_record_take(struct vgpu_record_reader *reader, u32 type, const char *name, size_t length,
		     const void **data)
{
	if (record_look(reader, type, name))
		return -EINVAL;
	if (reader->length != length)
		return vgpu_record_refuse(reader, name, "length");
	*data = reader->data;
	return vgpu_record_next(reader);
}
EXPORT_SYMBOL_GPL(vgpu_record_take);

/**
 * vgpu_record_take_sized() - copy the present record, and go on to the next one
 * @reader: the reader
 * @type: the record must be of this type
 * @name: of such records, for messages; a constant
 * @to: copy the data there, and set to 0 what the record has not got
 * @size: bytes of @to: the record must have no more
 * @least: and no fewer than these
 *
 * Context: any.
 * Return: 0, or -EINVAL with a reason in @reader.
 */
int vgpu_record_take_sized(struct vgpu_record_reader *reader, u32 type, const char *name, void *to,
			   size_t size, size_t least)
{
	if (record_look(reader, type, name))
		return -EINVAL;
	if (reader->length < least || reader->length > size)
		return vgpu_record_refuse(reader, name, "length");
	memcpy(to, reader->data, reader->length);
	memset(to + reader->length, 0, size - reader->length);
	return vgpu_record_next(reader);
}
EXPORT_SYMBOL_GPL(vgpu_record_take_sized);

/**
 * vgpu_record_take_bytes() - take what vgpu_record_add_bytes() has added
 * @reader: the reader
 * @type: of the records
 * @name: of such records, for messages; a constant
 * @to: copy the bytes there
 * @length: number of all bytes
 *
 * Context: any.
 * Return: 0, or -EINVAL with a reason in @reader; then some of the bytes may have been copied.
 */
int vgpu_record_take_bytes(struct vgpu_record_reader *reader, u32 type, const char *name, void *to,
			   size_t length)
{
	const void *data;
	size_t part;
	int ret;

	for (; length; length -= part, to += part) {
		part = min_t(size_t, length, VGPU_RECORD_MAX);
		ret = vgpu_record_take(reader, type, name, part, &data);
		if (ret)
			return ret;
		memcpy(to, data, part);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(vgpu_record_take_bytes);

/**
 * vgpu_records_same() - compare two states
 * @a: complete, and made by vgpu_record_add()
 * @b: likewise
 * @index: set to the number of the first record that differs
 * @type: set to its type: in @a, or in @b if @a ends before
 *
 * Context: any.
 * Return: whether they are the same.
 */
bool vgpu_records_same(const struct vgpu_records *a, const struct vgpu_records *b, u32 *index,
		       u32 *type)
{
	struct vgpu_record_reader ra, rb;
	int ret = vgpu_record_begin(&ra, a->data, a->bytes) ?:
		  vgpu_record_begin(&rb, b->data, b->bytes);

	while (!ret && ra.type && ra.type == rb.type && ra.flags == rb.flags &&
	       ra.length == rb.length && !memcmp(ra.data, rb.data, ra.length))
		ret = vgpu_record_next(&ra) ?: vgpu_record_next(&rb);
	*index = ra.index;
	*type = ra.type ?: rb.type;
	return !ret && !ra.type && !rb.type;
}
