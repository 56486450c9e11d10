// SPDX-License-Identifier: GPL-2.0
/* A vGPU as a VFIO device: creation, open, ioctls, close, removal. */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../compat.h"
#include "access.h"
#include "vfio.h"

static_assert(VGPU_REGION_CONFIG == VFIO_PCI_CONFIG_REGION_INDEX);
static_assert(VGPU_REGION_MAX == VFIO_PCI_ROM_REGION_INDEX);

static struct vgpu_vfio *to_vgpu_vfio(struct vfio_device *vdev)
{
	return container_of(vdev, struct vgpu_vfio, vdev);
}

static struct vgpu_vfio *instance_to_vfio(const struct vgpu_instance *instance)
{
	return instance->front_data;
}

/* What an access to guest memory returns, as the core has it. */
static int dma_error(int ret)
{
	switch (ret) {
	case 0:
		return 0;
	case -EINVAL:		/* nothing is mapped there */
	case -ENOENT:		/* the same, with iommufd */
	case -EOVERFLOW:
	case -EPERM:		/* read-only; type 1: or the owner of the memory has exited */
		return -EFAULT;
	default:
		/*
		 * -EFAULT and others: mapped, but the page cannot be faulted in. (iommufd also
		 * returns -EFAULT if the owner of the memory has exited.)
		 */
		return -ENOMEM;
	}
}

static int vgpu_vfio_front_guest_rw(struct vgpu_instance *instance, u64 addr,
				    void *buf, size_t len, bool write)
{
	struct vgpu_vfio *dev = instance_to_vfio(instance);
	size_t part;
	int ret = 0;

	if (!write)
		return dma_error(vfio_dma_rw(&dev->vdev, addr, buf, len, false));
	/*
	 * Page by page: what has failed may have been written in part, but not a page that the
	 * guest has not, of which nothing is noted; nor does type 1 note any page of an access that
	 * has failed in a later one.
	 */
	for (; !ret && len; len -= part, addr += part, buf += part) {
		part = min_t(size_t, len, VGPU_WRITTEN_PAGE - addr % VGPU_WRITTEN_PAGE);
		ret = dma_error(vfio_dma_rw(&dev->vdev, addr, buf, part, true));
		if (ret != -EFAULT)
			vgpu_dma_log_note(dev, addr, part);
	}
	return ret;
}

static bool vgpu_vfio_front_may_dma(struct vgpu_instance *instance)
{
	return READ_ONCE(instance_to_vfio(instance)->state) & VGPU_CONFIG_MASTER;
}

static void vgpu_vfio_front_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
	vgpu_irq_raise(&instance_to_vfio(instance)->irqs, vector);
}

static void vgpu_vfio_front_zap(struct vgpu_instance *instance, unsigned int bar)
{
	struct vgpu_vfio *dev = instance_to_vfio(instance);

	vgpu_map_zap(&dev->map, bar);
	if (bar == VGPU_HW_BAR_FB)
		vgpu_plane_drop(&dev->plane);
}

static void vgpu_vfio_front_unmap(struct vgpu_instance *instance, unsigned int bar)
{
	vgpu_map_zap(&instance_to_vfio(instance)->map, bar);
}

static const struct vgpu_front_ops vgpu_vfio_front_ops = {
	.guest_rw = vgpu_vfio_front_guest_rw,
	.may_dma = vgpu_vfio_front_may_dma,
	.raise_irq = vgpu_vfio_front_raise_irq,
	.zap = vgpu_vfio_front_zap,
	.unmap = vgpu_vfio_front_unmap,
};

/* Called at each open: IDs and BARs may differ from those of the last open. */
static void vgpu_vfio_config_init(struct vgpu_vfio *dev)
{
	struct vgpu_function_desc desc;

	vgpu_instance_describe(dev->instance, &desc);
	WARN_ON(vgpu_regions_init(&dev->map.regions, &desc));
	mutex_lock(&dev->config_lock);
	vgpu_config_init(&dev->config, &desc);
	WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	mutex_unlock(&dev->config_lock);
}

static ssize_t vgpu_vfio_read(struct vfio_device *vdev, char __user *buf,
			      size_t count, loff_t *ppos)
{
	return vgpu_access_rw(to_vgpu_vfio(vdev), buf, count, ppos, false);
}

static ssize_t vgpu_vfio_write(struct vfio_device *vdev, const char __user *buf,
			       size_t count, loff_t *ppos)
{
	return vgpu_access_rw(to_vgpu_vfio(vdev), (char __user *)buf, count, ppos, true);
}

static int vgpu_vfio_mmap(struct vfio_device *vdev, struct vm_area_struct *vma)
{
	return vgpu_map_mmap(&to_vgpu_vfio(vdev)->map, vma);
}

static int vgpu_vfio_device_info(struct vgpu_vfio *dev, void __user *arg)
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
	info.num_regions = vgpu_region_count(&dev->map.regions);
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
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);
	const struct vgpu_region *bar;
	u64 mappable;
	u32 index;

	if (info->index >= vgpu_region_count(&dev->map.regions))
		return -EINVAL;
	index = array_index_nospec(info->index, VGPU_REGION_END);

	info->flags = 0;
	info->offset = vgpu_region_offset(index);
	info->size = vgpu_region_bytes(&dev->map.regions, index);
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

	bar = &dev->map.regions.bar[array_index_nospec(index, VGPU_REGION_MAX)];
	mappable = round_down(bar->owned, PAGE_SIZE);
	if (!bar->memory || !mappable)
		return 0;
	info->flags |= VFIO_REGION_INFO_FLAG_MMAP;
	return vgpu_vfio_add_sparse(caps, mappable);
}

static int vgpu_vfio_irq_info(struct vgpu_vfio *dev, void __user *arg)
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

static int vgpu_vfio_set_irqs(struct vgpu_vfio *dev, void __user *arg)
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
	ret = vgpu_irq_set(&dev->irqs, &set, data);
	kfree(data);
	return ret;
}

static long vgpu_vfio_ioctl(struct vfio_device *vdev, unsigned int cmd, unsigned long arg)
{
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);
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
		return vgpu_migrate_reset(dev);
	case VFIO_DEVICE_QUERY_GFX_PLANE:
		return dev->map.regions.plane_bytes ? vgpu_plane_query(&dev->plane, user) : -ENOTTY;
	default:
		return -ENOTTY;
	}
}

static int vgpu_vfio_open_device(struct vfio_device *vdev)
{
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);
	int ret;

	vgpu_access_config_reset(dev);
	vgpu_irq_reset(&dev->irqs);
	ret = vgpu_irq_start(&dev->irqs);
	if (ret)
		return ret;
	ret = vgpu_instance_open(dev->instance, &vgpu_vfio_front_ops);
	if (ret) {
		vgpu_irq_stop(&dev->irqs);
		return ret;
	}
	vgpu_vfio_config_init(dev);
	vgpu_edid_region_reset(&dev->edid, dev->instance);
	WRITE_ONCE(dev->map.opened, true);
	return 0;
}

static void vgpu_vfio_close_device(struct vfio_device *vdev)
{
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);

	WRITE_ONCE(dev->map.opened, false);
	vgpu_migrate_close(dev);
	vgpu_instance_close(dev->instance);
	vgpu_dma_log_close(dev);
	vgpu_plane_close(&dev->plane);
	vgpu_irq_stop(&dev->irqs);
}

/*
 * VFIO calls this every 10 s while the removal of a device waits for its user. The messages are not
 * rate limited, so the user cannot suppress them.
 */
static void vgpu_vfio_request(struct vfio_device *vdev, unsigned int count)
{
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);
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
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);

	mutex_init(&dev->config_lock);
	mutex_init(&dev->edid.lock);
	vgpu_irq_init(&dev->irqs);
	vgpu_plane_init(&dev->plane, &dev->map);
	vgpu_migrate_init(dev);
	vgpu_dma_log_init(dev);
	return 0;
}

static void vgpu_vfio_release(struct vfio_device *vdev)
{
	struct vgpu_vfio *dev = to_vgpu_vfio(vdev);

	vgpu_dma_log_exit(dev);
	vgpu_migrate_exit(dev);
	vgpu_plane_exit(&dev->plane);
	vgpu_irq_free(&dev->irqs);
	mutex_destroy(&dev->edid.lock);
	mutex_destroy(&dev->config_lock);
}

static const struct vfio_device_ops vgpu_vfio_ops = {
	.name = "vgpu",
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

/* The operation @pages of struct vgpu_map. */
static int vgpu_vfio_map_pages(struct vgpu_map *map, unsigned int region, u64 first,
			       struct page **pages, unsigned int nr)
{
	struct vgpu_vfio *dev = container_of(map, struct vgpu_vfio, map);

	if (region == VGPU_REGION_PLANE)
		return vgpu_plane_pages(&dev->plane, first, pages, nr);
	return vgpu_instance_map_pages(dev->instance, region, first, pages, nr);
}

/* Connects a new device with its instance. vgpu_vfio_release() frees what this allocates. */
static int vgpu_vfio_setup(struct vgpu_vfio *dev, struct vgpu_instance *instance)
{
	struct vgpu_function_desc desc;
	int ret;

	vgpu_instance_describe(instance, &desc);
	ret = vgpu_regions_init(&dev->map.regions, &desc);
	if (ret)
		return vgpu_refuse(instance, ret,
				   "%s: the back end describes no valid PCI function",
				   instance->type->name);
	/* Registering the device would do this, too, but would ignore a failure. */
	ret = vfio_assign_device_set(&dev->vdev, dev);
	if (ret)
		return ret;
	ret = vgpu_irq_setup(&dev->irqs, instance, &dev->map.regions, &dev->state);
	if (ret)
		return ret;
	dev->map.instance = instance;
	dev->map.pages = vgpu_vfio_map_pages;
	dev->map.mapping = dev->vdev.inode->i_mapping;
	dev->instance = instance;
	instance->front_data = dev;
	vgpu_migrate_setup(dev);
	return 0;
}

/**
 * vgpu_vfio_add() - create a vGPU and its VFIO device
 * @device: the front end's device, which has no VFIO device yet
 * @gpu: the GPU that gets the vGPU
 * @type: number of the vGPU's type on @gpu
 * @uuid: name of the vGPU
 *
 * The device has an emulated IOMMU: its DMA is done by the kernel, in the guest's memory.
 *
 * Context: sleeps.
 * Return: the device, which vgpu_vfio_remove() removes; or an ERR_PTR: an error of
 * vgpu_instance_create(); -EINVAL if the back end describes no valid PCI function; -ENOMEM.
 */
struct vgpu_vfio *vgpu_vfio_add(struct device *device, struct vgpu_gpu *gpu, unsigned int type,
				const guid_t *uuid)
{
	struct vgpu_instance *instance;
	struct vgpu_vfio *dev;
	int ret;

	dev = vfio_alloc_device(vgpu_vfio, vdev, device, &vgpu_vfio_ops);
	if (IS_ERR(dev))
		return dev;

	instance = vgpu_instance_create(gpu, type, uuid);
	if (IS_ERR(instance)) {
		ret = PTR_ERR(instance);
		goto err_put;
	}
	ret = vgpu_vfio_setup(dev, instance);
	if (ret)
		goto err_destroy;
	ret = vfio_register_emulated_iommu_dev(&dev->vdev);
	if (ret)
		goto err_destroy;
	return dev;

err_destroy:
	vgpu_instance_destroy(instance);
err_put:
	vfio_put_device(&dev->vdev);
	return ERR_PTR(ret);
}

/**
 * vgpu_vfio_remove() - undo vgpu_vfio_add()
 * @dev: the device
 *
 * Waits until the user has closed the device; meanwhile VFIO calls vgpu_vfio_request().
 *
 * Context: sleeps.
 */
void vgpu_vfio_remove(struct vgpu_vfio *dev)
{
	vfio_unregister_group_dev(&dev->vdev);
	vgpu_instance_destroy(dev->instance);
	vfio_put_device(&dev->vdev);
}
