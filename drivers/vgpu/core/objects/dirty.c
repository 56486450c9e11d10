// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty pages: which pages of an open vGPU's framebuffer are written, while somebody wants to know.
 *
 * The back end notes the pages, and vgpu_dirty_pass() takes what it has noted so far. Whoever
 * copies the pages of each pass, and those of a last pass while the vGPU is paused and its
 * processors stand still, has the framebuffer.
 *
 * A page that was returned to somebody is in no later pass, so the passes of a vGPU are for one
 * reader: a stream that saves the vGPU, or debugfs, whoever was first. Debugfs can have several
 * readers, and tells all of them: the pass of the one ends when the other begins one, and the
 * numbers of the passes that it takes are not one after the other.
 *
 * A CPU writes to a mapped page without a fault, so a mapping counts as a write: a page fault maps
 * one page only and notes it, and each pass takes all pages out of all mappings. (A page that is
 * mapped for reading first and written later would need the op page_mkwrite, and where a mapping
 * has that, no other device can pin the page for long.)
 */
#include "../core.h"

static void dirty_stop(struct vgpu_instance *instance)
{
	lockdep_assert_held(&instance->state_lock);
	down_write(&instance->map_lock);
	instance->tracked = false;
	up_write(&instance->map_lock);
	instance->gpu->ops->dirty_stop(instance);
}

/**
 * vgpu_dirty_start() - begin to note which pages of the framebuffer are written
 * @instance: the instance
 * @reader: who will take the passes
 *
 * All pages that are backed count as written, and are in the first pass. A reset does not end this;
 * to close the device does.
 *
 * Context: sleeps, killable.
 * Return: 0; -EINTR if the task was killed; -ENODEV if the device is not open; -EBUSY if pages are
 * being noted; -EOPNOTSUPP if the back end cannot; -ENOMEM.
 */
int vgpu_dirty_start(struct vgpu_instance *instance, enum vgpu_dirty_reader reader)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	if (!instance->opened)
		ret = -ENODEV;
	else if (!ops->dirty_start)
		ret = -EOPNOTSUPP;
	else if (instance->tracked)
		ret = -EBUSY;
	else
		ret = ops->dirty_start(instance);
	if (!ret) {
		instance->dirty_pass++;
		instance->dirty_reader = reader;
		down_write(&instance->map_lock);
		instance->tracked = true;
		up_write(&instance->map_lock);
	}
	mutex_unlock(&instance->state_lock);
	return ret;
}

/* Whether pages of the instance are being noted, for that reader: 0 or -errno. */
static int dirty_check(const struct vgpu_instance *instance, enum vgpu_dirty_reader reader)
{
	lockdep_assert_held(&instance->state_lock);
	if (!instance->opened)
		return -ENODEV;
	if (!instance->tracked)
		return -EINVAL;
	return instance->dirty_reader == reader ? 0 : -EBUSY;
}

/**
 * vgpu_dirty_stop() - undo vgpu_dirty_start()
 * @instance: the instance
 * @reader: as vgpu_dirty_start() was given it
 *
 * Context: sleeps.
 * Return: 0; -ENODEV if the device is not open; -EINVAL if pages are not being noted; -EBUSY if
 * they are for another reader.
 */
int vgpu_dirty_stop(struct vgpu_instance *instance, enum vgpu_dirty_reader reader)
{
	int ret;

	mutex_lock(&instance->state_lock);
	ret = dirty_check(instance, reader);
	if (!ret)
		dirty_stop(instance);
	mutex_unlock(&instance->state_lock);
	return ret;
}

/**
 * vgpu_dirty_pass() - begin a pass over the pages that were written
 * @instance: the instance
 * @reader: as vgpu_dirty_start() was given it
 * @pass: set to what is in the pass
 *
 * The pass has what was written since the last one, and what vgpu_dirty_next() has not returned of
 * that; the last one is over. Afterwards a page of the pass may be copied: what is written to it
 * later is in the next pass. All mappings of the framebuffer fault again, and engines translate
 * anew, so passes should be some time apart.
 *
 * Context: sleeps; waits for engines as the disabling of a channel does, and for one that is being
 * disabled. Killable.
 * Return: 0; -EINTR if the task was killed: the pages are in the next pass; or an error of
 * vgpu_dirty_stop().
 */
int vgpu_dirty_pass(struct vgpu_instance *instance, enum vgpu_dirty_reader reader,
		    struct vgpu_dirty_pass *pass)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	ret = dirty_check(instance, reader);
	if (!ret) {
		/* What a CPU writes from here on, it writes after a page fault, which waits. */
		down_write(&instance->map_lock);
		instance->front->unmap(instance, VGPU_HW_BAR_FB);
		ops->dirty_take(instance, pass);
		up_write(&instance->map_lock);
		pass->number = ++instance->dirty_pass;
		ret = ops->dirty_sync(instance);
	}
	mutex_unlock(&instance->state_lock);
	return ret;
}

/**
 * vgpu_dirty_next() - take the next pages of a pass
 * @instance: the instance
 * @pass: what vgpu_dirty_pass() has set
 * @first: set to the number of the first page
 * @nr: set to the number of pages; 0: the pass has no more
 *
 * Pages come in order, and each once.
 *
 * Context: sleeps, killable.
 * Return: 0; -EINTR if the task was killed; -ESTALE if the pass is over, as another one has begun,
 * or the noting of pages has begun anew; or an error of vgpu_dirty_stop().
 */
int vgpu_dirty_next(struct vgpu_instance *instance, const struct vgpu_dirty_pass *pass, u64 *first,
		    u64 *nr)
{
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	ret = dirty_check(instance, instance->dirty_reader);
	if (!ret && pass->number != instance->dirty_pass)
		ret = -ESTALE;
	if (!ret)
		*nr = instance->gpu->ops->dirty_next(instance, first);
	mutex_unlock(&instance->state_lock);
	return ret;
}

/**
 * vgpu_dirty_close() - note no pages any more
 * @instance: stopped, and being closed; its state lock is held
 *
 * Context: sleeps.
 */
void vgpu_dirty_close(struct vgpu_instance *instance)
{
	if (instance->tracked)
		dirty_stop(instance);
}
