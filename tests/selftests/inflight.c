// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "inflight.h"

/* The head of a record of the state. */
struct record {
	uint16_t type;
	uint16_t flags;
	uint32_t length;
};

/* Types of records (soft/state/records.h): the position of a dispatch, then each of its groups. */
#define RECORD_DISPATCH		0x108
#define RECORD_GROUP		0x109
#define RECORD_WARP		0x10c
#define DISPATCH_GROUPS		20	/* where the position has the number of groups in flight */

/* A frame has 1 MiB at most, so a state may be in several, cut anywhere. */
static uint8_t *join_frames(const struct hop_stream *of, size_t *length)
{
	uint8_t *state = malloc(of->nr);
	const uint8_t *data;
	uint32_t nr, i;

	CHECK(state, "memory");
	*length = 0;
	for (i = 0; (data = frames_find(of, FRAME_STATE, i, &nr)); i++) {
		memcpy(state + *length, data, nr);
		*length += nr;
	}
	CHECK(*length, "no state");
	return state;
}

void inflight_find(const struct hop_stream *of, struct inflight *found)
{
	const struct record *record;
	size_t at = 0, next;

	memset(found, 0, sizeof(*found));
	found->state = join_frames(of, &found->length);
	for (; at < found->length && !found->end; at = next) {
		record = (const void *)(found->state + at);
		next = at + sizeof(*record) + ((le32toh(record->length) + 7) & ~7u);
		if (le16toh(record->type) == RECORD_DISPATCH && !found->groups) {
			found->at = at;
			found->groups = next;
		} else if (found->groups && (le16toh(record->type) < RECORD_GROUP ||
					     le16toh(record->type) > RECORD_WARP)) {
			found->end = at;
		}
	}
	if (!found->end)
		found->end = found->length;
	CHECK(found->groups, "no dispatch");
}

void inflight_free(struct inflight *found)
{
	free(found->state);
	memset(found, 0, sizeof(*found));
}

uint32_t inflight_groups(const struct inflight *of)
{
	uint32_t groups;

	memcpy(&groups, of->state + of->at + sizeof(struct record) + DISPATCH_GROUPS, 4);
	return le32toh(groups);
}

uint32_t inflight_count(const struct hop_stream *of)
{
	struct inflight found;
	uint32_t groups;

	inflight_find(of, &found);
	groups = inflight_groups(&found);
	inflight_free(&found);
	return groups;
}

uint32_t inflight_id(const struct inflight *of)
{
	uint32_t id;

	memcpy(&id, of->state + of->groups + sizeof(struct record), sizeof(id));
	return le32toh(id);
}

static size_t copy(uint8_t *to, const struct inflight *from, size_t at, size_t end)
{
	memcpy(to, from->state + at, end - at);
	return end - at;
}

uint8_t *inflight_join(const struct inflight *first, const struct inflight *second,
		       uint32_t *bytes)
{
	uint8_t *state = malloc(first->length + second->end - second->at);
	uint32_t groups = htole32(2);
	size_t at;

	CHECK(state, "memory");
	at = copy(state, first, 0, first->at);
	at += copy(state + at, second, second->at, second->groups);
	memcpy(state + first->at + sizeof(struct record) + DISPATCH_GROUPS, &groups, 4);
	at += copy(state + at, first, first->groups, first->end);
	at += copy(state + at, second, second->groups, second->end);
	at += copy(state + at, first, first->end, first->length);
	*bytes = (uint32_t)at;
	return state;
}
