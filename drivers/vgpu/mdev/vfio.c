// SPDX-License-Identifier: GPL-2.0
/* A vGPU as a VFIO device: accesses to its regions, ioctls, open and close. */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../compat.h"
#include "mdev.h"

static_assert(VGPU_REGION_CONFIG == VFIO_PCI_CONFIG_REGION_INDEX);
static_assert(VGPU_REGION_MAX == VFIO_PCI_ROM_REGION_INDEX);

static struct vgpu_mdev *vgpu_vfio_to_mdev(struct vfio_device *vdev)
{
	return container_of(vdev, struct vgpu_mdev, vdev);
}

static struct vgpu_mdev *instance_to_mdev(const struct vgpu_instance *instance)
{
	return instance->front_data;
}

static int vgpu_vfio_front_guest_rw(struct vgpu_instance *instance, u64 addr,
				    void *buf, size_t len, bool write)
{
	struct vgpu_mdev *dev = instance_to_mdev(instance);

	switch (vfio_dma_rw(&dev->vdev, addr, buf, len, write)) {
	case 0:
		return 0;
	case -EINVAL:		/* nothing is mapped there */
	case -ENOENT:		/* the same, of iommufd */
	case -EOVERFLOW:
	case -EPERM:		/* read-only; type 1: or its process has exited */
		return -EFAULT;
	default:
		/*
		 * -EFAULT and others: mapped, but its page cannot be faulted in. (iommufd says that
		 * of a process that has exited, too.)
		 */
		return -ENOMEM;
	}
}

static bool vgpu_vfio_front_may_dma(struct vgpu_instance *instance)
{
	return READ_ONCE(instance_to_mdev(instance)->state) & VGPU_CONFIG_MASTER;
}

static void vgpu_vfio_front_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
	vgpu_irq_raise(instance_to_mdev(instance), vector);
}

static void vgpu_vfio_front_zap(struct vgpu_instance *instance, unsigned int bar)
{
	struct vgpu_mdev *dev = instance_to_mdev(instance);

	vgpu_mdev_zap(dev, bar);
	if (bar == VGPU_HW_BAR_FB)
		vgpu_plane_drop(dev);
}

static const struct vgpu_front_ops vgpu_vfio_front_ops = {
	.guest_rw = vgpu_vfio_front_guest_rw,
	.may_dma = vgpu_vfio_front_may_dma,
	.raise_irq = vgpu_vfio_front_raise_irq,
	.zap = vgpu_vfio_front_zap,
};

static void vgpu_vfio_config_reset(struct vgpu_mdev *dev)
{
	mutex_lock(&dev->config_lock);
	vgpu_config_reset(&dev->config);
	WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	mutex_unlock(&dev->config_lock);
}

/* For a device that has been opened: its IDs and BARs may not be those that it had before. */
static void vgpu_vfio_config_init(struct vgpu_mdev *dev)
{
	struct vgpu_function_desc desc;

	vgpu_instance_describe(dev->instance, &desc);
	WARN_ON(vgpu_regions_init(&dev->regions, &desc));
	mutex_lock(&dev->config_lock);
	vgpu_config_init(&dev->config, &desc);
	WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	mutex_unlock(&dev->config_lock);
}

/* For VFIO_DEVICE_RESET and function level reset, of a device that is open. */
static int vgpu_vfio_reset(struct vgpu_mdev *dev)
{
	int ret;

	vgpu_vfio_config_reset(dev);
	ret = vgpu_instance_reset(dev->instance);
	/* Comes last, since engines may raise interrupts until they have stopped. */
	vgpu_irq_reset(&dev->irqs);
	return ret;
}

static int vgpu_vfio_config_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len, bool write)
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
		return vgpu_vfio_reset(dev);
	if ((old ^ now) & VGPU_CONFIG_MASTER)
		vgpu_irq_master(dev);
	if (events & VGPU_CONFIG_MASTER_ON)
		vgpu_instance_bus_master(dev->instance);
	return 0;
}

static int vgpu_vfio_piece_rw(struct vgpu_mdev *dev, unsigned int index,
			      const struct vgpu_piece *piece, void *buf, bool write)
{
	switch (piece->target) {
	case VGPU_TARGET_CONFIG:
		return vgpu_vfio_config_rw(dev, piece->offset, buf, piece->len, write);
	case VGPU_TARGET_REGISTERS:
	case VGPU_TARGET_MEMORY:
		return vgpu_instance_region_rw(dev->instance, index, piece->offset, buf, piece->len,
					       write);
	case VGPU_TARGET_MSIX:
		return vgpu_irq_table_rw(dev, piece->offset, buf, piece->len, write);
	case VGPU_TARGET_EDID:
		return vgpu_edid_region_rw(dev, piece->offset, buf, piece->len, write);
	case VGPU_TARGET_PLANE:
		return write ? -EINVAL : vgpu_plane_read(dev, piece->offset, buf, piece->len);
	case VGPU_TARGET_TAIL:
		if (!write)
			memset(buf, 0xff, piece->len);
		return 0;
	}
	return -EINVAL;
}

/* Most accesses are to registers, of 4 or 8 bytes, for which get_user() is cheaper. */
static int vgpu_vfio_from_user(void *buf, const char __user *user, size_t len)
{
	if (len == 4)
		return get_user(*(u32 *)buf, (u32 __user *)user);
	if (len == 8)
		return get_user(*(u64 *)buf, (u64 __user *)user);
	return copy_from_user(buf, user, len) ? -EFAULT : 0;
}

static int vgpu_vfio_to_user(char __user *user, const void *buf, size_t len)
{
	if (len == 4)
		return put_user(*(u32 *)buf, (u32 __user *)user);
	if (len == 8)
		return put_user(*(u64 *)buf, (u64 __user *)user);
	return copy_to_user(user, buf, len) ? -EFAULT : 0;
}

static __always_inline int vgpu_vfio_piece_user(struct vgpu_mdev *dev, unsigned int index,
						const struct vgpu_piece *piece,
						char __user *user, void *buf, bool write)
{
	int ret = 0;

	if (write)
		ret = vgpu_vfio_from_user(buf, user, piece->len);
	if (!ret)
		ret = vgpu_vfio_piece_rw(dev, index, piece, buf, write);
	if (!ret && !write)
		ret = vgpu_vfio_to_user(user, buf, piece->len);
	return ret;
}

/* Cuts off the first piece of an access. While memory decoding is off, nothing is behind a BAR. */
static void vgpu_vfio_piece(struct vgpu_mdev *dev, unsigned int index, u64 offset, size_t left,
			    struct vgpu_piece *piece)
{
	vgpu_region_piece(&dev->regions, index, offset, left, piece);
	if (index < VGPU_REGION_MAX && !(READ_ONCE(dev->state) & VGPU_CONFIG_MEMORY))
		piece->target = VGPU_TARGET_TAIL;
}

/*
 * Does an access piece by piece. Returns how many bytes are done, or the error if the first
 * piece fails.
 */
static noinline ssize_t vgpu_vfio_pieces(struct vgpu_mdev *dev, unsigned int index, u64 offset,
					 char __user *user, size_t count, bool write)
{
	struct vgpu_piece piece;
	size_t done = 0;
	void *page = NULL;
	void *buf;
	u64 word;
	int ret;

	while (done < count) {
		vgpu_vfio_piece(dev, index, offset + done, count - done, &piece);
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
		ret = vgpu_vfio_piece_user(dev, index, &piece, user + done, buf, write);
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

static ssize_t vgpu_vfio_rw(struct vgpu_mdev *dev, char __user *user, size_t count,
			    loff_t *ppos, bool write)
{
	struct vgpu_piece piece;
	unsigned int index;
	u64 offset, word;
	ssize_t ret;

	vgpu_owner_call(dev->instance);
	if (!count)
		return 0;
	ret = vgpu_region_decode(&dev->regions, *ppos, count, &index, &offset);
	if (ret)
		return ret;
	vgpu_vfio_piece(dev, index, offset, count, &piece);
	if (likely(piece.len == count && count <= sizeof(word)))
		ret = vgpu_vfio_piece_user(dev, index, &piece, user, &word, write) ?: count;
	else
		ret = vgpu_vfio_pieces(dev, index, offset, user, count, write);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static ssize_t vgpu_vfio_read(struct vfio_device *vdev, char __user *buf,
			      size_t count, loff_t *ppos)
{
	return vgpu_vfio_rw(vgpu_vfio_to_mdev(vdev), buf, count, ppos, false);
}

static ssize_t vgpu_vfio_write(struct vfio_device *vdev, const char __user *buf,
			       size_t count, loff_t *ppos)
{
	return vgpu_vfio_rw(vgpu_vfio_to_mdev(vdev), (char __user *)buf, count, ppos, true);
}

static int vgpu_vfio_mmap(struct vfio_device *vdev, struct vm_area_struct *vma)
{
	return vgpu_map_mmap(vgpu_vfio_to_mdev(vdev), vma);
}

static int vgpu_vfio_device_info(struct vgpu_mdev *dev, void __user *arg)
{
	struct vfio_device_info info = {};
	size_t minsz = offsetofend(struct vfio_device_info, num_irqs);
	u32 argsz;

	if (copy_from_user(&argsz, arg, sizeof(argsz)))
		return -EFAULT;
	if (argsz < minsz)
		return -EINVAL;
	info.argsz = argsz;
	info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	info.num_regions = vgpu_region_count(&dev->regions);
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	if (copy_to_user(arg, &info, min_t(size_t, argsz, sizeof(info))))
		return -EFAULT;
	return 0;
}

static int vgpu_vfio_add_sparse(struct vfio_info_cap *caps, u64 bytes)
{
	struct vfio_region_info_cap_sparse_mmap *sparse;
	size_t size = struct_size(sparse, areas, 1);
	int ret;

	sparse = kzalloc(size, GFP_KERNEL);
	if (!sparse)
		return -ENOMEM;
	sparse->header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP;
	sparse->header.version = 1;
	sparse->nr_areas = 1;
	sparse->areas[0].size = bytes;
	ret = vfio_info_add_capability(caps, &sparse->header, size);
	kfree(sparse);
	return ret;
}

static int vgpu_vfio_add_edid_type(struct vfio_info_cap *caps)
{
	struct vfio_region_info_cap_type type = {
		.header.id = VFIO_REGION_INFO_CAP_TYPE,
		.header.version = 1,
		.type = VFIO_REGION_TYPE_GFX,
		.subtype = VFIO_REGION_SUBTYPE_GFX_EDID,
	};

	return vfio_info_add_capability(caps, &type.header, sizeof(type));
}

static int vgpu_vfio_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
				 struct vfio_info_cap *caps)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);
	const struct vgpu_region *bar;
	u64 mappable;
	u32 index;

	if (info->index >= vgpu_region_count(&dev->regions))
		return -EINVAL;
	index = array_index_nospec(info->index, VGPU_REGION_END);

	info->flags = 0;
	info->offset = vgpu_region_offset(index);
	info->size = vgpu_region_bytes(&dev->regions, index);
	if (!info->size)
		return 0;
	if (index == VGPU_REGION_PLANE) {
		info->flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_MMAP;
		return 0;
	}
	info->flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (index == VGPU_REGION_EDID)
		return vgpu_vfio_add_edid_type(caps);
	if (index == VGPU_REGION_CONFIG)
		return 0;

	bar = &dev->regions.bar[array_index_nospec(index, VGPU_REGION_MAX)];
	mappable = round_down(bar->owned, PAGE_SIZE);
	if (!bar->memory || !mappable)
		return 0;
	info->flags |= VFIO_REGION_INFO_FLAG_MMAP;
	return vgpu_vfio_add_sparse(caps, mappable);
}

static int vgpu_vfio_irq_info(struct vgpu_mdev *dev, void __user *arg)
{
	struct vfio_irq_info info;
	size_t minsz = offsetofend(struct vfio_irq_info, count);

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;

	info.flags = 0;
	switch (info.index) {
	case VFIO_PCI_INTX_IRQ_INDEX:
	case VFIO_PCI_MSI_IRQ_INDEX:
		break;
	case VFIO_PCI_MSIX_IRQ_INDEX:
		/* VFIO_IRQ_INFO_NORESIZE is not set: the user may add vectors one by one. */
		info.flags = VFIO_IRQ_INFO_EVENTFD;
		break;
	case VFIO_PCI_REQ_IRQ_INDEX:
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
		break;
	default:	/* also VFIO_PCI_ERR_IRQ_INDEX: the bus has no errors to report */
		return -EINVAL;
	}
	info.count = vgpu_irq_count(&dev->irqs, info.index);
	return copy_to_user(arg, &info, minsz) ? -EFAULT : 0;
}

static int vgpu_vfio_set_irqs(struct vgpu_mdev *dev, void __user *arg)
{
	struct vfio_irq_set set;
	size_t minsz = offsetofend(struct vfio_irq_set, count);
	size_t data_size = 0;
	void *data = NULL;
	int ret;

	if (copy_from_user(&set, arg, minsz))
		return -EFAULT;
	ret = vfio_set_irqs_validate_and_prepare(&set, vgpu_irq_count(&dev->irqs, set.index),
						 VFIO_PCI_NUM_IRQS, &data_size);
	if (ret)
		return ret;
	set.start = array_index_nospec(set.start, vgpu_irq_count(&dev->irqs, set.index));
	if (data_size) {
		data = memdup_user(arg + minsz, data_size);
		if (IS_ERR(data))
			return PTR_ERR(data);
	}
	ret = vgpu_irq_set(dev, &set, data);
	kfree(data);
	return ret;
}

static long vgpu_vfio_ioctl(struct vfio_device *vdev, unsigned int cmd, unsigned long arg)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);
	void __user *user = (void __user *)arg;

	vgpu_owner_call(dev->instance);
	switch (cmd) {
	case VFIO_DEVICE_GET_INFO:
		return vgpu_vfio_device_info(dev, user);
	case VFIO_DEVICE_GET_REGION_INFO:
		return vgpu_region_info_ioctl(vdev, user, vgpu_vfio_region_info);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return vgpu_vfio_irq_info(dev, user);
	case VFIO_DEVICE_SET_IRQS:
		return vgpu_vfio_set_irqs(dev, user);
	case VFIO_DEVICE_RESET:
		return vgpu_vfio_reset(dev);
	case VFIO_DEVICE_QUERY_GFX_PLANE:
		return dev->regions.plane_bytes ? vgpu_plane_query(dev, user) : -ENOTTY;
	default:
		return -ENOTTY;
	}
}

static int vgpu_vfio_open_device(struct vfio_device *vdev)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);
	int ret;

	vgpu_vfio_config_reset(dev);
	vgpu_irq_reset(&dev->irqs);
	ret = vgpu_irq_start(dev);
	if (ret)
		return ret;
	ret = vgpu_instance_open(dev->instance, &vgpu_vfio_front_ops);
	if (ret) {
		vgpu_irq_stop(dev);
		return ret;
	}
	vgpu_vfio_config_init(dev);
	vgpu_edid_region_reset(dev);
	WRITE_ONCE(dev->opened, true);
	return 0;
}

static void vgpu_vfio_close_device(struct vfio_device *vdev)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);

	WRITE_ONCE(dev->opened, false);
	vgpu_instance_close(dev->instance);
	vgpu_plane_close(dev);
	vgpu_irq_stop(dev);
}

/*
 * VFIO calls this every 10 s while the removal of a device waits for its user. What the user does
 * is no reason to leave a message out.
 */
static void vgpu_vfio_request(struct vfio_device *vdev, unsigned int count)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);
	struct vgpu_instance *instance = dev->instance;
	pid_t pid = vgpu_owner_pid(instance);

	if (vgpu_irq_request(&dev->irqs))
		vgpu_inst_notice(instance,
				 "to be removed, asked pid %d to let go of it (%u): unplug it from the VM, or stop the VM\n",
				 pid, count + 1);
	else
		vgpu_inst_notice(instance,
				 "to be removed, but pid %d holds it open and takes no requests: end that process\n",
				 pid);
}

static int vgpu_vfio_init(struct vfio_device *vdev)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);

	mutex_init(&dev->config_lock);
	mutex_init(&dev->edid_lock);
	mutex_init(&dev->plane.lock);
	mutex_init(&dev->irqs.lock);
	spin_lock_init(&dev->irqs.raise_lock);
	init_waitqueue_head(&dev->irqs.wait);
	return 0;
}

static void vgpu_vfio_release(struct vfio_device *vdev)
{
	struct vgpu_mdev *dev = vgpu_vfio_to_mdev(vdev);

	vgpu_irq_free(&dev->irqs);
	mutex_destroy(&dev->irqs.lock);
	mutex_destroy(&dev->plane.lock);
	mutex_destroy(&dev->edid_lock);
	mutex_destroy(&dev->config_lock);
}

const struct vfio_device_ops vgpu_vfio_ops = {
	.name = "vgpu-mdev",
	.init = vgpu_vfio_init,
	.release = vgpu_vfio_release,
	.bind_iommufd = vfio_iommufd_emulated_bind,
	.unbind_iommufd = vfio_iommufd_emulated_unbind,
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,
	.detach_ioas = vfio_iommufd_emulated_detach_ioas,
	.open_device = vgpu_vfio_open_device,
	.close_device = vgpu_vfio_close_device,
	.read = vgpu_vfio_read,
	.write = vgpu_vfio_write,
	.ioctl = vgpu_vfio_ioctl,
#ifdef VGPU_HAVE_REGION_INFO_OP
	.get_region_info_caps = vgpu_vfio_region_info,
#endif
	.mmap = vgpu_vfio_mmap,
	.request = vgpu_vfio_request,
};

/**
 * vgpu_vfio_setup() - give a new device its instance
 * @dev: from vfio_alloc_device() with vgpu_vfio_ops, whose release also frees what is allocated
 *       here
 * @instance: the caller destroys it after @dev has been unregistered
 *
 * Sleeps.
 *
 * Return: 0; -EINVAL if there can be no PCI function such as the back end describes; -ENOMEM.
 */
int vgpu_vfio_setup(struct vgpu_mdev *dev, struct vgpu_instance *instance)
{
	struct vgpu_function_desc desc;
	int ret;

	vgpu_instance_describe(instance, &desc);
	ret = vgpu_regions_init(&dev->regions, &desc);
	if (ret)
		return vgpu_refuse(instance, ret,
				   "%s: the back end describes no valid PCI function",
				   instance->type->name);
	/* Registering the device would do this, too, but ignores whether it fails. */
	ret = vfio_assign_device_set(&dev->vdev, dev);
	if (ret)
		return ret;
	ret = vgpu_irq_init(&dev->irqs, dev->regions.vectors);
	if (ret)
		return ret;
	dev->instance = instance;
	instance->front_data = dev;
	return 0;
}
