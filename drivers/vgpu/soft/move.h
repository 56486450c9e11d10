/* SPDX-License-Identifier: GPL-2.0 */
/* What packets do to memory: the execute functions of the table in packet.c. */
#ifndef _VGPU_SOFT_MOVE_H
#define _VGPU_SOFT_MOVE_H

#include "packet.h"

enum soft_end soft_move_fill(struct soft_engine *engine, struct soft_channel *ch);
enum soft_end soft_move_copy(struct soft_engine *engine, struct soft_channel *ch);

#endif /* _VGPU_SOFT_MOVE_H */
