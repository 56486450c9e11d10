/* SPDX-License-Identifier: GPL-2.0 */
/* What FILL and COPY remember of how far they have come. */
#ifndef _VGPU_SOFT_MOVE_H
#define _VGPU_SOFT_MOVE_H

#include <linux/types.h>

#include "../queue/exec.h"
#include "packet_types.h"

/**
 * struct soft_move - how far a FILL or a COPY has come
 * @col:     bytes of @row that are done
 * @row:     the row that is being filled or copied
 * @chunk:   bytes of the last request to guest memory
 * @pattern: so many bounce pages hold the FILL's pattern
 * @bounced: the last request was the first half of a copy from guest to guest memory: it reads
 *           @chunk bytes into the bounce pages
 * @write_back: it has read them, and they are to be written
 */
struct soft_move {
	u64 col;
	u32 row;
	u32 chunk;
	u32 pattern;
	bool bounced;
	bool write_back;
};

static inline const struct soft_move_operands *soft_move_operands(const struct soft_packet *packet)
{
	return soft_packet_operands(packet, const struct soft_move_operands);
}

/* Notes that @len more bytes of the present row are done, which has so many left. */
static inline void soft_move_advance(struct soft_move *move, const struct soft_move_operands *op,
				     u32 len)
{
	move->col += len;
	if (move->col == op->width) {
		move->col = 0;
		move->row++;
	}
}

#endif /* _VGPU_SOFT_MOVE_H */
