// SPDX-License-Identifier: GPL-2.0
/* The log of guest memory that a vGPU writes: see dma_log.h. */
#include <linux/iova_bitmap.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

#include "device.h"
#include "dma_log.h"

static struct vgpu_vfio *to_dev(struct vfio_device *vdev)
{
	return container_of(vdev, struct vgpu_vfio, vdev);
}

/*
 * Ranges say where a log need not be kept. What was written there is no more than what was written
 * elsewhere, so it is noted, too.
 */
static int dma_log_start(struct vfio_device *vdev, struct rb_root_cached *ranges, u32 nr,
			 u64 *page_size)
{
	struct vgpu_dma_log *log = &to_dev(vdev)->log;
	int ret;

	ret = mutex_lock_killable(&log->lock);
	if (ret)
		return ret;
	if (log->on)
		ret = -EBUSY;
	WRITE_ONCE(log->on, true);
	mutex_unlock(&log->lock);
	/* Pairs with that of vgpu_dma_log_note(): what is not noted was written before. */
	smp_mb();
	*page_size = 1ULL << VGPU_WRITTEN_SHIFT;
	return ret;
}

static int dma_log_stop(struct vfio_device *vdev)
{
	struct vgpu_dma_log *log = &to_dev(vdev)->log;
	int ret;

	mutex_lock(&log->lock);
	ret = log->on ? 0 : -EINVAL;
	WRITE_ONCE(log->on, false);
	vgpu_written_free(&log->written);
	mutex_unlock(&log->lock);
	return ret;
}

/* Takes the next bytes that were written: returns their number, 0: there are none, or -errno. */
static s64 dma_log_take(struct vgpu_dma_log *log, u64 *at, u64 last)
{
	s64 ret;

	ret = mutex_lock_killable(&log->lock);
	if (ret)
		return ret;
	/* The number of bytes must be no error. */
	last = min(last, *at + (1ULL << 62));
	ret = log->on ? vgpu_written_take(&log->written, at, last) : -EINVAL;
	mutex_unlock(&log->lock);
	return ret;
}

static int dma_log_read_and_clear(struct vfio_device *vdev, unsigned long iova,
				  unsigned long length, struct iova_bitmap *dirty)
{
	u64 at = iova, last = iova + length - 1;
	s64 bytes;

	while (length && at >= iova && at <= last) {
		bytes = dma_log_take(&to_dev(vdev)->log, &at, last);
		if (bytes <= 0)
			return bytes;
		/* This may access user memory. */
		iova_bitmap_set(dirty, at, bytes);
		at += bytes;
		cond_resched();
	}
	return 0;
}

static const struct vfio_log_ops dma_log_ops = {
	.log_start = dma_log_start,
	.log_stop = dma_log_stop,
	.log_read_and_clear = dma_log_read_and_clear,
};

/**
 * vgpu_dma_log_init() - initialise the lock of a new device; vgpu_dma_log_exit() undoes that
 * @dev: the device
 */
void vgpu_dma_log_init(struct vgpu_vfio *dev)
{
	mutex_init(&dev->log.lock);
}

/**
 * vgpu_dma_log_setup() - offer the log to the device's users, if the kernel can pass it on
 * @dev: the device, which is not registered yet
 */
void vgpu_dma_log_setup(struct vgpu_vfio *dev)
{
	/* VFIO would answer users who ask for the log with success, and show no page as written. */
	if (IS_ENABLED(CONFIG_IOMMUFD_DRIVER))
		dev->vdev.log_ops = &dma_log_ops;
}

/**
 * vgpu_dma_log_note() - note that guest memory was written
 * @dev: a device that is open
 * @addr: first byte
 * @len: number of bytes, not 0; they were mapped
 *
 * Context: sleeps.
 */
void vgpu_dma_log_note(struct vgpu_vfio *dev, u64 addr, size_t len)
{
	struct vgpu_dma_log *log = &dev->log;
	struct mem_cgroup *old;

	smp_mb();	/* what was written comes first */
	if (likely(!READ_ONCE(log->on)))
		return;
	old = set_active_memcg(dev->instance->info.memcg);
	mutex_lock(&log->lock);
	if (log->on)
		vgpu_written_note(&log->written, addr, len);
	mutex_unlock(&log->lock);
	set_active_memcg(old);
}

/**
 * vgpu_dma_log_close() - end the log of a device that is being closed
 * @dev: the device
 *
 * Context: sleeps.
 */
void vgpu_dma_log_close(struct vgpu_vfio *dev)
{
	dma_log_stop(&dev->vdev);
}

/* Undoes vgpu_dma_log_init(). */
void vgpu_dma_log_exit(struct vgpu_vfio *dev)
{
	mutex_destroy(&dev->log.lock);
}
