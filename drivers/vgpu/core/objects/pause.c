// SPDX-License-Identifier: GPL-2.0
/*
 * Pause: an open vGPU stands still with all it has begun, and goes on later as if nothing had
 * happened.
 *
 * A paused vGPU is on no engine and accesses no guest memory. Its channels stay as they are: a
 * packet that had begun goes on where the engine left it, and a doorbell that is rung meanwhile is
 * kept. The guest can still access registers and memory, and disable channels; a reset leaves the
 * vGPU paused. Policies count it as started: it keeps its slots and shares.
 */
#include <linux/limits.h>

#include "../core.h"

static void pause_end(struct vgpu_instance *instance)
{
	lockdep_assert_held(&instance->state_lock);
	WRITE_ONCE(instance->pauses, 0);
	vgpu_dma_unpause(instance->dma);
	vgpu_instance_unhold(instance, VGPU_HOLD_PAUSED);
}

/**
 * vgpu_instance_pause() - take an instance off all engines, and let its work wait
 * @instance: the instance
 *
 * Pauses nest: the instance is paused until vgpu_instance_resume() has been called as often, or
 * until it is closed. Waits until no engine works for the instance, which takes at most the rest of
 * a slice and the preemption timeout, or a reset of the engine; and until the access to guest
 * memory that the worker has begun is over, see vgpu_dma_pause().
 *
 * Context: sleeps, killable until it begins; not from an engine's thread, nor from the instance's
 * worker.
 * Return: 0; -EINTR if the task was killed; -ENODEV if the device is not open; -EBUSY if it is paused UINT_MAX times; -ETIMEDOUT
 * if the access is not over after some seconds more: then the instance is not paused.
 */
int vgpu_instance_pause(struct vgpu_instance *instance)
{
	unsigned int i;
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	if (!instance->opened) {
		ret = -ENODEV;
	} else if (instance->pauses == UINT_MAX) {
		ret = -EBUSY;
	} else if (!instance->pauses) {
		/* Engines first: they leave at the same time. */
		vgpu_instance_hold(instance, VGPU_HOLD_PAUSED);
		for (i = 0; i < instance->gpu->info.nr_engines; i++)
			vgpu_entity_hold_sync(&instance->entity[i], VGPU_HOLD_PAUSED);
		ret = vgpu_dma_pause(instance->dma);
		if (ret)
			vgpu_instance_unhold(instance, VGPU_HOLD_PAUSED);
	}
	if (!ret)
		WRITE_ONCE(instance->pauses, instance->pauses + 1);
	mutex_unlock(&instance->state_lock);
	return ret;
}

/**
 * vgpu_instance_resume() - undo a call of vgpu_instance_pause()
 * @instance: the instance
 *
 * Context: sleeps.
 * Return: 0; -ENODEV if the device is not open; -EINVAL if it is not paused.
 */
int vgpu_instance_resume(struct vgpu_instance *instance)
{
	int ret = 0;

	mutex_lock(&instance->state_lock);
	if (!instance->opened)
		ret = -ENODEV;
	else if (!instance->pauses)
		ret = -EINVAL;
	else if (instance->pauses == 1)
		pause_end(instance);
	else
		WRITE_ONCE(instance->pauses, instance->pauses - 1);
	mutex_unlock(&instance->state_lock);
	return ret;
}

/**
 * vgpu_pause_close() - end all pauses of an instance that is being closed
 * @instance: stopped; its state lock is held
 *
 * Context: does not sleep.
 */
void vgpu_pause_close(struct vgpu_instance *instance)
{
	if (instance->pauses)
		pause_end(instance);
}
