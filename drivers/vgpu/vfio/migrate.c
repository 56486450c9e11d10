// SPDX-License-Identifier: GPL-2.0
/*
 * The states of a vGPU that moves, and what it takes to go from one to the next.
 *
 * A vGPU is paused in all states but RUNNING and PRE_COPY: then no engine works for it, and it does
 * not access guest memory. A reset by the guest changes no state: what was noted of its memory
 * begins anew. A reset by the user (VFIO_DEVICE_RESET) leads to RUNNING, as VFIO demands.
 */
#include <linux/err.h>
#include <linux/file.h>

#include "access.h"
#include "../core/objects/about.h"
#include "../core/objects/state.h"
#include "device.h"
#include "migrate.h"

static struct vgpu_vfio *to_dev(struct vfio_device *vdev)
{
	return container_of(vdev, struct vgpu_vfio, vdev);
}

static void migrate_end_files(struct vgpu_migrate *migrate)
{
	lockdep_assert_held(&migrate->lock);
	if (migrate->save)
		vgpu_save_end(migrate->save);
	migrate->save = NULL;
	if (migrate->load)
		vgpu_load_end(migrate->load);
	migrate->load = NULL;
}

static int migrate_pause(struct vgpu_vfio *dev)
{
	int ret = vgpu_instance_pause(dev->instance);

	if (!ret)
		dev->migrate.paused = true;
	return ret;
}

/* The host's administrator may have ended the pause before (debugfs): then there is none to end. */
static void migrate_resume(struct vgpu_vfio *dev)
{
	vgpu_instance_resume(dev->instance);
	dev->migrate.paused = false;
}

/* Begins to save. Returns the stream's file, with a reference for the user, or an ERR_PTR. */
static struct file *migrate_save(struct vgpu_vfio *dev, bool stop)
{
	struct vgpu_save *save = vgpu_save_begin(dev);
	int ret;

	if (IS_ERR(save))
		return ERR_CAST(save);
	ret = stop ? vgpu_save_stop(save) : 0;
	if (ret) {
		vgpu_save_end(save);
		return ERR_PTR(ret);
	}
	dev->migrate.save = save;
	return get_file(vgpu_save_file(save));
}

/* The last part of a stream: the guest stands still, and hears nothing. */
static int migrate_save_stop(struct vgpu_vfio *dev)
{
	int ret;

	vgpu_irq_hold(&dev->irqs, true);
	ret = vgpu_save_stop(dev->migrate.save);
	if (ret)
		vgpu_irq_hold(&dev->irqs, false);
	return ret;
}

static struct file *migrate_load(struct vgpu_vfio *dev)
{
	struct vgpu_load *load = vgpu_load_begin(dev);

	if (IS_ERR(load))
		return ERR_CAST(load);
	dev->migrate.load = load;
	return get_file(vgpu_load_file(load));
}

/* A stream that does not fit leaves nothing behind; the device needs a reset before it is used. */
static int migrate_loaded(struct vgpu_vfio *dev)
{
	int ret = vgpu_load_finish(dev->migrate.load);

	migrate_end_files(&dev->migrate);
	if (!ret)
		return 0;
	vgpu_load_forget(dev);
	dev->migrate.state = VFIO_DEVICE_STATE_ERROR;
	return ret;
}

/* Tells in which phase of a move the device is, by its state and streams. */
static void migrate_tell(struct vgpu_vfio *dev)
{
	const struct vgpu_migrate *migrate = &dev->migrate;
	enum vgpu_ctl_move phase = VGPU_MOVE_NONE;

	lockdep_assert_held(&migrate->lock);
	if (migrate->load)
		phase = VGPU_MOVE_LOADING;
	else if (migrate->save && migrate->state == VFIO_DEVICE_STATE_STOP_COPY)
		phase = VGPU_MOVE_SAVING_STOPPED;
	else if (migrate->save)
		phase = VGPU_MOVE_SAVING;
	vgpu_move_phase(dev->instance, phase);
}

#define ARC(from, to)	(VFIO_DEVICE_STATE_##from << 8 | VFIO_DEVICE_STATE_##to)

/* One step. Returns NULL, the file of a stream with a reference for the user, or an ERR_PTR. */
static struct file *migrate_step(struct vgpu_vfio *dev, enum vfio_device_mig_state to)
{
	struct vgpu_migrate *migrate = &dev->migrate;

	switch (migrate->state << 8 | to) {
	case ARC(RUNNING, RUNNING_P2P):
	case ARC(PRE_COPY, PRE_COPY_P2P):
		return ERR_PTR(migrate_pause(dev));
	case ARC(RUNNING_P2P, RUNNING):
	case ARC(PRE_COPY_P2P, PRE_COPY):
		migrate_resume(dev);
		return NULL;
	case ARC(RUNNING_P2P, STOP):
	case ARC(STOP, RUNNING_P2P):
		vgpu_irq_hold(&dev->irqs, to == VFIO_DEVICE_STATE_STOP);
		return NULL;
	case ARC(RUNNING, PRE_COPY):
	case ARC(RUNNING_P2P, PRE_COPY_P2P):
		return migrate_save(dev, false);
	case ARC(STOP, STOP_COPY):
		return migrate_save(dev, true);
	case ARC(PRE_COPY_P2P, STOP_COPY):
		return ERR_PTR(migrate_save_stop(dev));
	case ARC(PRE_COPY, RUNNING):
	case ARC(PRE_COPY_P2P, RUNNING_P2P):
	case ARC(STOP_COPY, STOP):
		migrate_end_files(migrate);
		return NULL;
	case ARC(STOP, RESUMING):
		return migrate_load(dev);
	case ARC(RESUMING, STOP):
		return ERR_PTR(migrate_loaded(dev));
	default:
		/* vfio_mig_get_next_state() has no other arcs. */
		WARN_ON_ONCE(true);
		return ERR_PTR(-EINVAL);
	}
}

static struct file *migrate_set_state(struct vfio_device *vdev, enum vfio_device_mig_state to)
{
	struct vgpu_vfio *dev = to_dev(vdev);
	struct vgpu_migrate *migrate = &dev->migrate;
	enum vfio_device_mig_state next;
	struct file *file = NULL;
	int ret;

	vgpu_owner_call(dev->instance);
	ret = mutex_lock_killable(&migrate->lock);
	if (ret)
		return ERR_PTR(ret);
	while (!IS_ERR(file) && migrate->state != to) {
		/* Only a reset leads out of it; VFIO warns who asks for another way. */
		if (migrate->state == VFIO_DEVICE_STATE_ERROR) {
			file = ERR_PTR(-EINVAL);
			break;
		}
		ret = vfio_mig_get_next_state(vdev, migrate->state, to, &next);
		file = ret ? ERR_PTR(ret) : migrate_step(dev, next);
		if (IS_ERR(file))
			break;
		migrate->state = next;
		/* Only the last step opens a stream. */
		if (WARN_ON_ONCE(file && next != to)) {
			fput(file);
			file = ERR_PTR(-EINVAL);
		}
	}
	migrate_tell(dev);
	mutex_unlock(&migrate->lock);
	return file;
}

static int migrate_get_state(struct vfio_device *vdev, enum vfio_device_mig_state *state)
{
	struct vgpu_migrate *migrate = &to_dev(vdev)->migrate;
	int ret;

	ret = mutex_lock_killable(&migrate->lock);
	if (ret)
		return ret;
	*state = migrate->state;
	mutex_unlock(&migrate->lock);
	return 0;
}

/* How much would be read in STOP_COPY if that began now. */
static int migrate_data_size(struct vfio_device *vdev, unsigned long *bytes)
{
	struct vgpu_vfio *dev = to_dev(vdev);
	struct vgpu_instance *instance = dev->instance;
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;
	u64 memory = 0, state;
	int ret;

	ret = mutex_lock_killable(&dev->migrate.lock);
	if (ret)
		return ret;
	if (dev->migrate.save)
		ret = vgpu_save_left(dev->migrate.save, &memory);
	else if (ops->backed_bytes)
		memory = ops->backed_bytes(instance);
	state = ops->state_bytes ? ops->state_bytes(instance) : 0;
	mutex_unlock(&dev->migrate.lock);
	*bytes = memory + max_t(u64, state, READ_ONCE(instance->state_bytes)) +
		 (u64)instance->info.nr_channels * VGPU_STREAM_PAGE;
	return ret;
}

static const struct vfio_migration_ops migrate_ops = {
	.migration_set_state = migrate_set_state,
	.migration_get_state = migrate_get_state,
	.migration_get_data_size = migrate_data_size,
};

/**
 * vgpu_migrate_init() - initialise the lock of a new device; vgpu_migrate_exit() undoes that
 * @dev: the device
 */
void vgpu_migrate_init(struct vgpu_vfio *dev)
{
	mutex_init(&dev->migrate.lock);
	dev->migrate.state = VFIO_DEVICE_STATE_RUNNING;
}

/**
 * vgpu_migrate_setup() - offer migration to the device's users, if the back end can do it
 * @dev: the device, which is not registered yet
 */
void vgpu_migrate_setup(struct vgpu_vfio *dev)
{
	if (!vgpu_gpu_can_move(dev->instance->gpu))
		return;
	dev->vdev.migration_flags = VFIO_MIGRATION_STOP_COPY | VFIO_MIGRATION_P2P |
				    VFIO_MIGRATION_PRE_COPY;
	dev->vdev.mig_ops = &migrate_ops;
	vgpu_dma_log_setup(dev);
}

/**
 * vgpu_migrate_close() - end all streams of a device that is being closed
 * @dev: the device; vgpu_instance_close() ends its pauses
 *
 * Context: sleeps.
 */
void vgpu_migrate_close(struct vgpu_vfio *dev)
{
	struct vgpu_migrate *migrate = &dev->migrate;

	mutex_lock(&migrate->lock);
	migrate_end_files(migrate);
	vgpu_irq_hold(&dev->irqs, false);
	migrate->state = VFIO_DEVICE_STATE_RUNNING;
	migrate->paused = false;
	migrate_tell(dev);
	mutex_unlock(&migrate->lock);
}

/* Undoes vgpu_migrate_init(). */
void vgpu_migrate_exit(struct vgpu_vfio *dev)
{
	mutex_destroy(&dev->migrate.lock);
}

/**
 * vgpu_migrate_reset() - reset the device for its user: VFIO_DEVICE_RESET
 * @dev: a device that is open
 *
 * Streams end; the device runs.
 *
 * Context: sleeps; killable until it begins.
 * Return: 0; -EINTR if the task was killed; or an error of vgpu_access_reset().
 */
int vgpu_migrate_reset(struct vgpu_vfio *dev)
{
	struct vgpu_migrate *migrate = &dev->migrate;
	int ret;

	ret = mutex_lock_killable(&migrate->lock);
	if (ret)
		return ret;
	migrate_end_files(migrate);
	ret = vgpu_access_reset(dev);
	if (!ret) {
		if (migrate->paused)
			migrate_resume(dev);
		vgpu_irq_hold(&dev->irqs, false);
		migrate->state = VFIO_DEVICE_STATE_RUNNING;
	}
	migrate_tell(dev);
	mutex_unlock(&migrate->lock);
	return ret;
}
