/* SPDX-License-Identifier: GPL-2.0 */
/* What packet types have of a vGPU, beside its channels and its memory. */
#ifndef _VGPU_SOFT_WORK_H
#define _VGPU_SOFT_WORK_H

#include "../queue/queues.h"
#include "context.h"
#include "screen.h"

/**
 * struct soft_work - what packet types have of a vGPU
 * @compute: DISPATCH: programs and contexts
 * @screen:  PRESENT: what is shown
 */
struct soft_work {
	struct soft_compute compute;
	struct soft_screen screen;
};

static inline struct soft_compute *soft_compute(const struct soft_channel *ch)
{
	return &ch->queues->work->compute;
}

static inline struct soft_contexts *soft_contexts(const struct soft_channel *ch)
{
	return &soft_compute(ch)->channel[ch->index];
}

/* What a channel's DISPATCH has. */
static inline struct soft_context *soft_context(const struct soft_channel *ch)
{
	return soft_contexts(ch)->used;
}

#endif /* _VGPU_SOFT_WORK_H */
