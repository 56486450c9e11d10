/* SPDX-License-Identifier: GPL-2.0 */
/* How far a vGPU has come that moves. */
#ifndef _VGPU_MOVE_H
#define _VGPU_MOVE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

struct vgpu_instance;

/**
 * struct vgpu_move - a move of a vGPU
 * @phase:    enum vgpu_ctl_move; one thread at a time changes it
 * @begun_ns: when it began, as ktime_get_ns() tells
 * @bytes:    of the stream, that were made or taken so far
 * @left:     bytes of memory and state that are left to be saved, as of the last pass over memory
 *
 * All but @begun_ns is 0 while there is none.
 */
struct vgpu_move {
	u32 phase;
	u64 begun_ns;
	atomic64_t bytes;
	atomic64_t left;
};

void vgpu_move_phase(struct vgpu_instance *instance, enum vgpu_ctl_move phase);
void vgpu_move_progress(struct vgpu_move *move, u64 more, u64 left);
void vgpu_move_report(const struct vgpu_move *move, struct vgpu_ctl_instance *out);

#endif /* _VGPU_MOVE_H */
