/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a dispatch, all of it: saved, compared, and loaded into memory full of garbage. */
#ifndef STATE_IMAGE_H
#define STATE_IMAGE_H

#include "soft/simt/state.h"

#define STATE_WARPS	(VGPU_HW_GROUP_MAX / SIMT_LANES)

/**
 * struct state_image - the records of a dispatch
 * @dispatch: of the dispatch
 * @group:   of its group in flight
 * @local:   the group's local memory
 * @private: its private memory
 * @local_bytes: length of @local
 * @private_bytes: length of @private
 * @nr:      number of its warps
 * @warp:    their records, each in memory of its exact length
 * @bytes:   these lengths
 */
struct state_image {
	struct simt_state_dispatch dispatch;
	struct simt_state_group group;
	u8 *local;
	u8 *private;
	size_t local_bytes;
	size_t private_bytes;
	u32 nr;
	u8 *warp[STATE_WARPS];
	size_t bytes[STATE_WARPS];
};

/**
 * struct state_moves - what has been moved
 * @seed:  random numbers
 * @one_in: so many stops, on average, make one move; 0: none
 * @count: moves
 * @warps: warps, those that had ended not counted
 * @bytes: of their records
 * @most:  of the longest record
 */
struct state_moves {
	u64 seed;
	u32 one_in;
	u64 count;
	u64 warps;
	u64 bytes;
	u64 most;
};

void state_memory(struct simt_group *group, u64 *seed);
void state_memory_free(struct simt_group *group);
void state_begin(struct simt_dispatch *dispatch, struct simt_group *group);

/* How many instructions the dispatch has executed, of which this is the only group in flight. */
u64 state_executed(const struct simt_group *group);
void state_image_save(struct state_image *image, const struct simt_group *group);
void state_image_copy(struct state_image *image, const struct state_image *from);
void state_image_forget_ended(struct state_image *image, const struct simt_group *group);
void state_image_free(struct state_image *image);
bool state_image_same(const struct state_image *a, const struct state_image *b);
void state_image_print(const struct state_image *a, const struct state_image *b);
const char *state_image_load(const struct state_image *image, struct simt_group *group);
void state_move(struct simt_group *group, struct state_moves *moves);
void state_moves_print(const struct state_moves *moves, const char *what);

#endif /* STATE_IMAGE_H */
