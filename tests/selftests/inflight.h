/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups in flight of a dispatch, in the stream of a vGPU: a stream is made in which several
 * are, whatever the GPU executes at a time.
 */
#ifndef INFLIGHT_H
#define INFLIGHT_H

#include "frames.h"

/**
 * struct inflight - the records of a channel's dispatch in a stream's state
 * @state:  of the stream: what its frames have of it together
 * @length: of @state
 * @at:     where its position is
 * @groups: where its groups are
 * @end:    what follows these
 */
struct inflight {
	uint8_t *state;
	size_t length;
	size_t at;
	size_t groups;
	size_t end;
};

/* Finds the dispatch of the first channel that has one. Undone by inflight_free(). */
void inflight_find(const struct hop_stream *of, struct inflight *found);
void inflight_free(struct inflight *found);

/* How many groups are in flight. */
uint32_t inflight_groups(const struct inflight *of);
uint32_t inflight_count(const struct hop_stream *of);

/* The id of the first group in flight, in the first dimension. */
uint32_t inflight_id(const struct inflight *of);

/*
 * Returns the state of @first, with the groups of @second in flight, too: the same dispatch, in
 * which these were in flight later, one and one. The caller frees it.
 */
uint8_t *inflight_join(const struct inflight *first, const struct inflight *second,
		       uint32_t *bytes);

#endif /* INFLIGHT_H */
