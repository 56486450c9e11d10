/* SPDX-License-Identifier: GPL-2.0 */
/* How far a FILL or a COPY has come, as a record. */
#ifndef _VGPU_SOFT_MOVE_STATE_H
#define _VGPU_SOFT_MOVE_STATE_H

#include <linux/types.h>

struct soft_packet;

/**
 * struct soft_move_record - how far a FILL or a COPY has come
 * @col:    bytes of @row that are done
 * @row:    the row that is being filled or copied
 * @pad:    0
 */
struct soft_move_record {
	__le64 col;
	__le32 row;
	__le32 pad;
};

const char *soft_move_record_check(const struct soft_move_record *record,
				   const struct soft_packet *packet);

#endif /* _VGPU_SOFT_MOVE_STATE_H */
