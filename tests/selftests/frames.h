/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frames of a stream (Documentation/migration.rst), for tests that say what no vGPU would: any
 * byte may be changed, and the checksums made right again.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include "hop.h"

#define FRAMES_HEAD	16	/* bytes of a frame's head */

enum frames_type {
	FRAME_BEGIN = 1, FRAME_MEMORY, FRAME_CHANNELS, FRAME_FUNCTION, FRAME_FAULTS, FRAME_STATE,
	FRAME_END,
};

/* Where some of their data begin. */
#define FRAME_BEGIN_TYPE	48	/* the type's name */
#define FRAME_PAGES_NR		8	/* number of pages, then the flags */
#define FRAME_PAGES_FLAGS	12
#define FRAME_PAGES_DATA	16

/* Data and length of the nth frame of that type; NULL: there are not so many. */
uint8_t *frames_find(const struct hop_stream *stream, unsigned int type, unsigned int nth,
		     uint32_t *length);

/* Appends a frame. */
void frames_add(struct hop_stream *to, unsigned int type, const void *data, uint32_t length);

/* Appends all frames of @from of the types from @first to @last. */
void frames_copy(struct hop_stream *to, const struct hop_stream *from, unsigned int first,
		 unsigned int last);

/* Appends the nth frame of @from, as it is there. Returns its type; 0: there are not so many. */
unsigned int frames_copy_nth(struct hop_stream *to, const struct hop_stream *from,
			     unsigned int nth);

/* Numbers the frames, and makes their checksums. */
void frames_seal(struct hop_stream *stream);

#endif /* FRAMES_H */
