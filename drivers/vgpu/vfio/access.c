// SPDX-License-Identifier: GPL-2.0
/* Accesses to the regions of a device's file, piece by piece, and the reset of the device. */
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "access.h"
#include "device.h"

/**
 * vgpu_access_config_reset() - reset the configuration space
 * @dev: the device
 *
 * Context: sleeps.
 */
void vgpu_access_config_reset(struct vgpu_vfio *dev)
{
	mutex_lock(&dev->config_lock);
	vgpu_config_reset(&dev->config);
	WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	mutex_unlock(&dev->config_lock);
}

/**
 * vgpu_access_reset() - reset a device, for VFIO_DEVICE_RESET and function level reset
 * @dev: a device that is open
 *
 * Context: sleeps; waits for engines.
 * Return: 0 or an error of vgpu_instance_reset().
 */
int vgpu_access_reset(struct vgpu_vfio *dev)
{
	int ret;

	vgpu_access_config_reset(dev);
	ret = vgpu_instance_reset(dev->instance);
	/* The interrupts come last: engines may raise them until they have stopped. */
	vgpu_irq_reset(&dev->irqs);
	return ret;
}

static int access_config_rw(struct vgpu_vfio *dev, u32 offset, void *buf, u32 len, bool write)
{
	unsigned int events = 0, old, now;

	mutex_lock(&dev->config_lock);
	old = dev->state;
	if (write) {
		events = vgpu_config_write(&dev->config, offset, buf, len);
		WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	} else {
		vgpu_config_read(&dev->config, offset, buf, len);
	}
	now = dev->state;
	mutex_unlock(&dev->config_lock);

	if (events & VGPU_CONFIG_RESET)
		return vgpu_access_reset(dev);
	if ((old ^ now) & VGPU_CONFIG_MASTER)
		vgpu_irq_master(&dev->irqs);
	if (events & VGPU_CONFIG_MASTER_ON)
		vgpu_instance_bus_master(dev->instance);
	return 0;
}

static int access_piece_rw(struct vgpu_vfio *dev, unsigned int index,
			   const struct vgpu_piece *piece, void *buf, bool write)
{
	switch (piece->target) {
	case VGPU_TARGET_CONFIG:
		return access_config_rw(dev, piece->offset, buf, piece->len, write);
	case VGPU_TARGET_REGISTERS:
	case VGPU_TARGET_MEMORY:
		return vgpu_instance_region_rw(dev->instance, index, piece->offset, buf, piece->len,
					       write);
	case VGPU_TARGET_MSIX:
		return vgpu_irq_table_rw(&dev->irqs, piece->offset, buf, piece->len, write);
	case VGPU_TARGET_EDID:
		return vgpu_edid_region_rw(&dev->edid, dev->instance, piece->offset, buf,
					   piece->len, write);
	case VGPU_TARGET_PLANE:
		if (write)
			return -EINVAL;
		return vgpu_plane_read(&dev->plane, piece->offset, buf, piece->len);
	case VGPU_TARGET_TAIL:
		if (!write)
			memset(buf, 0xff, piece->len);
		return 0;
	}
	return -EINVAL;
}

/* Most accesses are to registers of 4 or 8 bytes, for which get_user() is cheaper. */
static int access_from_user(void *buf, const char __user *user, size_t len)
{
	if (len == 4)
		return get_user(*(u32 *)buf, (u32 __user *)user);
	if (len == 8)
		return get_user(*(u64 *)buf, (u64 __user *)user);
	return copy_from_user(buf, user, len) ? -EFAULT : 0;
}

static int access_to_user(char __user *user, const void *buf, size_t len)
{
	if (len == 4)
		return put_user(*(u32 *)buf, (u32 __user *)user);
	if (len == 8)
		return put_user(*(u64 *)buf, (u64 __user *)user);
	return copy_to_user(user, buf, len) ? -EFAULT : 0;
}

static __always_inline int access_piece_user(struct vgpu_vfio *dev, unsigned int index,
					     const struct vgpu_piece *piece,
						char __user *user, void *buf, bool write)
{
	int ret = 0;

	if (write)
		ret = access_from_user(buf, user, piece->len);
	if (!ret)
		ret = access_piece_rw(dev, index, piece, buf, write);
	if (!ret && !write)
		ret = access_to_user(user, buf, piece->len);
	return ret;
}

/* Cuts off the first piece of an access. BARs do not answer while memory decoding is off. */
static void access_piece(struct vgpu_vfio *dev, unsigned int index, u64 offset, size_t left,
			 struct vgpu_piece *piece)
{
	vgpu_region_piece(&dev->map.regions, index, offset, left, piece);
	if (index < VGPU_REGION_MAX && !(READ_ONCE(dev->state) & VGPU_CONFIG_MEMORY))
		piece->target = VGPU_TARGET_TAIL;
}

/*
 * Does an access piece by piece. Returns the number of bytes done, or the error if the first
 * piece fails.
 */
static noinline ssize_t access_pieces(struct vgpu_vfio *dev, unsigned int index, u64 offset,
				      char __user *user, size_t count, bool write)
{
	struct vgpu_piece piece;
	size_t done = 0;
	void *page = NULL;
	void *buf;
	u64 word;
	int ret;

	while (done < count) {
		access_piece(dev, index, offset + done, count - done, &piece);
		buf = &word;
		if (piece.len > sizeof(word)) {
			if (!page)
				page = (void *)__get_free_page(GFP_KERNEL);
			if (!page) {
				ret = -ENOMEM;
				break;
			}
			buf = page;
		}
		ret = access_piece_user(dev, index, &piece, user + done, buf, write);
		if (ret)
			break;
		done += piece.len;
		if (done == count)
			break;

		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		cond_resched();
	}
	if (page)
		free_page((unsigned long)page);
	return done ?: ret;
}

/**
 * vgpu_access_rw() - read or write the device's file
 * @dev: a device that is open
 * @user: the user's buffer
 * @count: its length in bytes
 * @ppos: position in the file; advanced by the number of bytes done
 * @write: write to the file, else read
 *
 * Context: sleeps.
 * Return: the number of bytes done, or -errno if there are none.
 */
ssize_t vgpu_access_rw(struct vgpu_vfio *dev, char __user *user, size_t count, loff_t *ppos,
		       bool write)
{
	struct vgpu_piece piece;
	unsigned int index;
	u64 offset, word;
	ssize_t ret;

	vgpu_owner_call(dev->instance);
	if (!count)
		return 0;
	ret = vgpu_region_decode(&dev->map.regions, *ppos, count, &index, &offset);
	if (ret)
		return ret;
	access_piece(dev, index, offset, count, &piece);
	if (likely(piece.len == count && count <= sizeof(word)))
		ret = access_piece_user(dev, index, &piece, user, &word, write) ?: count;
	else
		ret = access_pieces(dev, index, offset, user, count, write);
	if (ret > 0)
		*ppos += ret;
	return ret;
}
