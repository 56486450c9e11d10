// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

/* The head of a frame, in the order of its bytes. */
struct head {
	uint16_t type;
	uint16_t flags;
	uint32_t length;
	uint32_t number;
	uint32_t crc;
};

static uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t nr)
{
	static uint32_t table[256];
	uint32_t i, k;

	for (i = 1; !table[255] && i < 256; i++)
		for (table[i] = i, k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
	while (nr--)
		crc = crc >> 8 ^ table[(uint8_t)(crc ^ *bytes++)];
	return crc;
}

static void reserve(struct hop_stream *stream, size_t more)
{
	if (stream->room - stream->nr >= more)
		return;
	stream->room = 2 * stream->room + more;
	stream->bytes = realloc(stream->bytes, stream->room);
	CHECK(stream->bytes, "memory");
}

/* The head of the frame at @*at, which is moved on to the next one; NULL: there are no more. */
static struct head *next_frame(const struct hop_stream *stream, size_t *at)
{
	struct head *head = (void *)(stream->bytes + *at);

	if (*at >= stream->nr)
		return NULL;
	CHECK(stream->nr - *at >= FRAMES_HEAD, "at %zu", *at);
	*at += FRAMES_HEAD + le32toh(head->length);
	CHECK(*at <= stream->nr, "to %zu of %zu", *at, stream->nr);
	return head;
}

uint8_t *frames_find(const struct hop_stream *stream, unsigned int type, unsigned int nth,
		     uint32_t *length)
{
	struct head *head;
	size_t at = 0;

	while ((head = next_frame(stream, &at))) {
		if (le16toh(head->type) != type || nth--)
			continue;
		if (length)
			*length = le32toh(head->length);
		return (uint8_t *)(head + 1);
	}
	return NULL;
}

void frames_add(struct hop_stream *to, unsigned int type, const void *data, uint32_t length)
{
	struct head head = {
		.type = htole16((uint16_t)type), .flags = htole16(1), .length = htole32(length),
	};

	reserve(to, sizeof(head) + length);
	memcpy(to->bytes + to->nr, &head, sizeof(head));
	if (length)
		memcpy(to->bytes + to->nr + sizeof(head), data, length);
	to->nr += sizeof(head) + length;
}

void frames_copy(struct hop_stream *to, const struct hop_stream *from, unsigned int first,
		 unsigned int last)
{
	struct head *head;
	size_t at = 0;

	while ((head = next_frame(from, &at)))
		if (le16toh(head->type) >= first && le16toh(head->type) <= last)
			frames_add(to, le16toh(head->type), head + 1, le32toh(head->length));
}

unsigned int frames_copy_nth(struct hop_stream *to, const struct hop_stream *from,
			     unsigned int nth)
{
	struct head *head;
	size_t at = 0;

	do {
		head = next_frame(from, &at);
	} while (head && nth--);
	if (!head)
		return 0;
	reserve(to, sizeof(*head) + le32toh(head->length));
	memcpy(to->bytes + to->nr, head, sizeof(*head) + le32toh(head->length));
	to->nr += sizeof(*head) + le32toh(head->length);
	return le16toh(head->type);
}

void frames_seal(struct hop_stream *stream)
{
	uint32_t number = 0;
	struct head *head;
	size_t at = 0;

	while ((head = next_frame(stream, &at))) {
		head->number = htole32(number++);
		head->crc = 0;
		head->crc = htole32(~crc32c(~0u, (void *)head,
					    sizeof(*head) + le32toh(head->length)));
	}
}
