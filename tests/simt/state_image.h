/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a dispatch, all of it: saved, compared, and loaded into memory full of garbage. */
#ifndef STATE_IMAGE_H
#define STATE_IMAGE_H

#include "soft/simt/state.h"

#define STATE_WARPS	(VGPU_HW_GROUP_MAX / SIMT_LANES)

#define STATE_GROUPS	4	/* in flight at most */

/**
 * struct state_image_group - the records of a group in flight
 * @group:   of the group
 * @local:   the group's local memory
 * @private: its private memory
 * @local_bytes: length of @local
 * @private_bytes: length of @private
 * @nr:      number of its warps
 * @warp:    their records, each in memory of its exact length
 * @bytes:   these lengths
 */
struct state_image_group {
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
 * struct state_image - the records of a dispatch
 * @dispatch: of the dispatch
 * @nr:      number of groups in flight
 * @group:   these
 */
struct state_image {
	struct simt_state_dispatch dispatch;
	u32 nr;
	struct state_image_group group[STATE_GROUPS];
};

/**
 * struct state_flights - the groups of a dispatch that are in flight
 * @nr:      their number
 * @group:   these, in any order
 * @executed: instructions of the dispatch so far, those of groups that are complete with them
 */
struct state_flights {
	u32 nr;
	struct simt_group *group[STATE_GROUPS];
	u64 executed;
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
struct state_flights state_flight(struct simt_group *group);
void state_image_save(struct state_image *image, const struct state_flights *flights);
void state_image_copy(struct state_image *image, const struct state_image *from);
void state_image_forget_ended(struct state_image *image, const struct state_flights *loaded);
void state_image_free(struct state_image *image);
bool state_image_same(const struct state_image *a, const struct state_image *b);
void state_image_print(const struct state_image *a, const struct state_image *b);
const char *state_image_load(const struct state_image *image,
			     const struct state_flights *flights);
void state_move(const struct state_flights *flights, struct state_moves *moves);
void state_moves_print(const struct state_moves *moves, const char *what);

#endif /* STATE_IMAGE_H */
