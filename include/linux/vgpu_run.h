/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a run ended, and what an engine does when it finds no work. The scheduler, the core and the
 * back ends share these terms. A run is the time that one engine works for one entity (one vGPU),
 * from engine_run to the end that the engine reports.
 */
#ifndef _LINUX_VGPU_RUN_H
#define _LINUX_VGPU_RUN_H

/**
 * enum vgpu_run_end - why a run ended, as the engine saw it
 * @VGPU_RUN_IDLE:      the entity has no work left
 * @VGPU_RUN_PREEMPTED: the deadline passed or the engine was asked to stop, and the entity has work
 *                      left that could continue at once
 * @VGPU_RUN_STALLED:   the entity has work left, but all of it waits for guest memory. The engine
 *                      reports the entity ready again when the guest memory has been reached
 */
enum vgpu_run_end {
	VGPU_RUN_IDLE,
	VGPU_RUN_PREEMPTED,
	VGPU_RUN_STALLED,
};

/**
 * enum vgpu_poll - what an engine must do when the entity it runs has no work
 * @VGPU_POLL_IDLE:   poll for as long as the engine chooses to. No other entity could use the
 *                    engine now. The time is idle: charged to nobody
 * @VGPU_POLL_WAIT:   keep polling, even if the engine would otherwise sleep: more work of this
 *                    entity is expected soon. The time is idle, too
 * @VGPU_POLL_LINGER: keep polling, although another entity waits: the policy keeps the engine for
 *                    this entity for a moment. The time is charged to this entity as service
 * @VGPU_POLL_STOP:   end the run now
 */
enum vgpu_poll {
	VGPU_POLL_IDLE,
	VGPU_POLL_WAIT,
	VGPU_POLL_LINGER,
	VGPU_POLL_STOP,
};

#endif /* _LINUX_VGPU_RUN_H */
