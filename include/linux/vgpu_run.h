/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a run ends and what an engine that finds no work is to do: the words in
 * which the scheduler, the core and a GPU's back end speak of a run. A run is one
 * entity's (one vGPU's) turn on one engine.
 */
#ifndef _LINUX_VGPU_RUN_H
#define _LINUX_VGPU_RUN_H

/**
 * enum vgpu_run_end - why a run ended, as the engine saw it
 * @VGPU_RUN_IDLE:      the entity has no work left
 * @VGPU_RUN_PREEMPTED: the deadline passed or the engine was asked to stop, and
 *                      the entity has work left that could go on at once
 * @VGPU_RUN_STALLED:   the entity has work left, but all of it waits for guest memory. The engine
 *                      reports the entity ready again when the guest memory has been reached
 */
enum vgpu_run_end {
	VGPU_RUN_IDLE,
	VGPU_RUN_PREEMPTED,
	VGPU_RUN_STALLED,
};

/**
 * enum vgpu_poll - what an engine is to do that finds no work of the entity it runs
 * @VGPU_POLL_IDLE:   poll for as long as the engine itself likes to. No other entity
 *                    could have the engine now. The time is idle: charged to nobody
 * @VGPU_POLL_WAIT:   poll on, even when the engine would go to sleep by itself: more
 *                    work of this entity is expected soon. The time is idle, too
 * @VGPU_POLL_LINGER: poll on, although another entity waits: the policy keeps the engine for this
 *                    entity for a moment. The time is charged to this entity as service
 * @VGPU_POLL_STOP:   end the run now
 */
enum vgpu_poll {
	VGPU_POLL_IDLE,
	VGPU_POLL_WAIT,
	VGPU_POLL_LINGER,
	VGPU_POLL_STOP,
};

#endif /* _LINUX_VGPU_RUN_H */
