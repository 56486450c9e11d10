// SPDX-License-Identifier: GPL-2.0
/* How far a vGPU has come that moves: for the control node, as events, and as a tracepoint. */
#include "../core.h"
#include "../stats/trace.h"

/**
 * vgpu_move_phase() - tell in which phase of a move a vGPU is
 * @instance: the vGPU
 * @phase: the phase; if it was in that already, nothing happens
 *
 * Context: process context, does not sleep; one caller at a time.
 */
void vgpu_move_phase(struct vgpu_instance *instance, enum vgpu_ctl_move phase)
{
	struct vgpu_move *move = &instance->move;
	u32 was = move->phase;
	u64 bytes;

	if (phase == was)
		return;
	bytes = atomic64_read(&move->bytes);
	if (was == VGPU_MOVE_NONE)
		WRITE_ONCE(move->begun_ns, ktime_get_ns());
	WRITE_ONCE(move->phase, phase);
	if (phase == VGPU_MOVE_NONE) {
		atomic64_set(&move->left, 0);
		atomic64_set(&move->bytes, 0);
	}
	trace_vgpu_move(&instance->uuid, phase, was, bytes);
	vgpu_instance_event(instance, VGPU_EVENT_MOVE, phase, was, bytes);
}

/**
 * vgpu_move_progress() - tell that a stream has gone on
 * @move: the vGPU's; its stream has not ended
 * @more: bytes of the stream since the last call
 * @left: bytes that are left to be saved
 *
 * Context: any.
 */
void vgpu_move_progress(struct vgpu_move *move, u64 more, u64 left)
{
	atomic64_add(more, &move->bytes);
	atomic64_set(&move->left, left);
}

/**
 * vgpu_move_report() - report how far a vGPU has come
 * @move: the vGPU's
 * @out: its fields about the move are set
 *
 * Context: any.
 */
void vgpu_move_report(const struct vgpu_move *move, struct vgpu_ctl_instance *out)
{
	out->move = READ_ONCE(move->phase);
	if (out->move == VGPU_MOVE_NONE)
		return;
	out->move_bytes = atomic64_read(&move->bytes);
	out->move_left_bytes = atomic64_read(&move->left);
	out->move_ns = ktime_get_ns() - READ_ONCE(move->begun_ns);
}
