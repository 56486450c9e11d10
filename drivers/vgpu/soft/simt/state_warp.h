/* SPDX-License-Identifier: GPL-2.0 */
/* What saves a warp (state_save.c) and what loads it (state_load.c) agree on. */
#ifndef _VGPU_SIMT_STATE_WARP_H
#define _VGPU_SIMT_STATE_WARP_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define cpu_to_le32(x)	htole32(x)
#define cpu_to_le64(x)	htole64(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "reg.h"
#include "state.h"

/* Integer registers that a record may have: not x0, which is 0, nor SIMT_X_SINK. */
#define SIMT_STATE_X	0xfffffffeU

/* Each lane of a set, from the lowest on. */
#define simt_state_each(l, set)							\
	for (u32 rest_ = (set), l; rest_ && (l = __ffs(rest_), true); rest_ &= rest_ - 1)

/* Whether the next running group must be picked, and no group is kept by a barrier. */
static inline bool simt_state_parted(const struct simt_warp *w)
{
	return w->ip == SIMT_LEAVE && !w->met;
}

/* Lanes that have a pc of their own. */
static inline u32 simt_state_waiting(const struct simt_warp *w)
{
	if (simt_state_parted(w))
		return w->live;
	return w->met ? 0 : w->live & ~w->active;
}

/* Integer registers of the record. All others have the values of simt_warp_start(). */
static inline u32 simt_state_x(const struct simt_group *group)
{
	return group->dispatch->program->written & SIMT_STATE_X;
}

static inline s32 simt_state_depth(s32 depth)
{
	return clamp(depth, -SIMT_STATE_DEPTH_MAX, SIMT_STATE_DEPTH_MAX);
}

#endif /* _VGPU_SIMT_STATE_WARP_H */
