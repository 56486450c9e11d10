// SPDX-License-Identifier: GPL-2.0
/* The mdev front end: each GPU is a parent with its types, each mdev is a vGPU. */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mdev.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../core/objects/about.h"
#include "../vfio/vfio.h"
#include "mdev.h"

struct vgpu_mdev_gpu;

/**
 * struct vgpu_mdev_gpu_type - a type of a GPU, in sysfs
 * @type:  mdev's structure of the type
 * @mgpu:  the parent that has this type
 * @gpu:   the GPU in the core
 * @index: number of the type on its GPU
 */
struct vgpu_mdev_gpu_type {
	struct mdev_type type;
	struct vgpu_mdev_gpu *mgpu;
	struct vgpu_gpu *gpu;
	unsigned int index;
};

/**
 * struct vgpu_mdev_gpu - a GPU as a parent
 * @link:   on vgpu_mdev_gpus
 * @gpu:    the GPU in the core, which keeps it until remove_gpu has returned
 * @parent: mdev's structure of the GPU
 * @list:   pointers to @types, as mdev_register_parent() takes them
 * @mdev_ktype: mdev's kobj_type of the kobjects of @types
 * @unreleased: number of kobjects of @types that were counted and are not yet released, plus 1
 *          until vgpu_mdev_free_gpu()
 * @released: completed when @unreleased is 0
 * @types:  all types of the GPU
 */
struct vgpu_mdev_gpu {
	struct list_head link;
	struct vgpu_gpu *gpu;
	struct mdev_parent parent;
	struct mdev_type **list;
	const struct kobj_type *mdev_ktype;
	atomic_t unreleased;
	struct completion released;
	struct vgpu_mdev_gpu_type types[];
};

static LIST_HEAD(vgpu_mdev_gpus);
static DEFINE_MUTEX(vgpu_mdev_gpus_lock);	/* protects vgpu_mdev_gpus */

static struct vgpu_mdev_gpu_type *to_gpu_type(struct mdev_type *type)
{
	return container_of(type, struct vgpu_mdev_gpu_type, type);
}

static int vgpu_mdev_probe(struct mdev_device *mdev)
{
	struct vgpu_mdev_gpu_type *type = to_gpu_type(mdev->type);
	struct vgpu_vfio *dev;

	dev = vgpu_vfio_add(&mdev->dev, type->gpu, type->index, &mdev->uuid);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	/* Attributes need this; mdev adds them after probe. */
	dev_set_drvdata(&mdev->dev, dev);
	return 0;
}

/* Waits until the user has closed the device. */
static void vgpu_mdev_remove(struct mdev_device *mdev)
{
	vgpu_vfio_remove(dev_get_drvdata(&mdev->dev));
}

static unsigned int vgpu_mdev_get_available(struct mdev_type *mtype)
{
	struct vgpu_mdev_gpu_type *type = to_gpu_type(mtype);

	return vgpu_gpu_available(type->gpu, type->index);
}

static ssize_t vgpu_mdev_show_description(struct mdev_type *mtype, char *buf)
{
	struct vgpu_mdev_gpu_type *type = to_gpu_type(mtype);

	return vgpu_type_describe(&type->gpu->types[type->index],
				  vgpu_gpu_can_move(type->gpu) & VGPU_MIGRATION_PRE_COPY, buf,
				  PAGE_SIZE);
}

static struct mdev_driver vgpu_mdev_driver = {
	.device_api = VFIO_DEVICE_API_PCI_STRING,
	.driver = {
		.name = "vgpu_mdev",
		.owner = THIS_MODULE,
		.mod_name = KBUILD_MODNAME,
		.dev_groups = vgpu_mdev_attr_groups,
	},
	.probe = vgpu_mdev_probe,
	.remove = vgpu_mdev_remove,
	.get_available = vgpu_mdev_get_available,
	.show_description = vgpu_mdev_show_description,
};

/*
 * The types are kobjects in memory of this front end, but mdev has set their release function.
 * There may be references to a type after mdev_unregister_parent() has returned: the struct
 * device of a vGPU holds one until it is released itself. So the types get a release function that
 * also counts, and vgpu_mdev_free_gpu() waits until all of them are released. The same wait keeps
 * what mdev's release function uses: the parent, the driver and the modules.
 */
static void vgpu_mdev_type_release(struct kobject *kobj)
{
	struct mdev_type *type = container_of(kobj, struct mdev_type, kobj);
	struct vgpu_mdev_gpu *mgpu = to_gpu_type(type)->mgpu;

	mgpu->mdev_ktype->release(kobj);
	if (atomic_dec_and_test(&mgpu->unreleased))
		complete(&mgpu->released);
}

/* It has no attributes: a type gets it after the type has been removed from sysfs. */
static const struct kobj_type vgpu_mdev_type_ktype = {
	.release = vgpu_mdev_type_release,
};

static void vgpu_mdev_count_type(struct vgpu_mdev_gpu *mgpu, struct kobject *kobj)
{
	mgpu->mdev_ktype = kobj->ktype;
	atomic_inc(&mgpu->unreleased);
	kobj->ktype = &vgpu_mdev_type_ktype;
}

/* Removes the mdevs, waiting for their users, and removes the types from sysfs. */
static void vgpu_mdev_unregister(struct vgpu_mdev_gpu *mgpu)
{
	unsigned int i;

	/* Without this reference, a type could be released before it is counted. */
	for (i = 0; i < mgpu->gpu->nr_types; i++)
		kobject_get(&mgpu->types[i].type.kobj);
	mdev_unregister_parent(&mgpu->parent);
	for (i = 0; i < mgpu->gpu->nr_types; i++) {
		vgpu_mdev_count_type(mgpu, &mgpu->types[i].type.kobj);
		kobject_put(&mgpu->types[i].type.kobj);
	}
}

/*
 * Cleans up after mdev_register_parent() has failed. The types that it had added have no references
 * left and are released, unless CONFIG_DEBUG_KOBJECT_RELEASE delays each release by a second or
 * more.
 */
static void vgpu_mdev_failed(struct vgpu_mdev_gpu *mgpu)
{
	unsigned int i;

	for (i = 0; i < mgpu->gpu->nr_types; i++)
		if (IS_ENABLED(CONFIG_DEBUG_KOBJECT_RELEASE) &&
		    mgpu->types[i].type.kobj.state_initialized)
			vgpu_mdev_count_type(mgpu, &mgpu->types[i].type.kobj);
}

/* Waits until all counted types are released, then frees the GPU. */
static void vgpu_mdev_free_gpu(struct vgpu_mdev_gpu *mgpu)
{
	if (!atomic_dec_and_test(&mgpu->unreleased))
		wait_for_completion(&mgpu->released);
	kfree(mgpu->list);
	kfree(mgpu);
}

static int vgpu_mdev_add_gpu(struct vgpu_gpu *gpu)
{
	struct vgpu_mdev_gpu *mgpu;
	unsigned int i;
	int ret;

	mgpu = kzalloc(struct_size(mgpu, types, gpu->nr_types), GFP_KERNEL);
	if (!mgpu)
		return -ENOMEM;
	mgpu->list = kcalloc(gpu->nr_types, sizeof(*mgpu->list), GFP_KERNEL);
	if (!mgpu->list) {
		kfree(mgpu);
		return -ENOMEM;
	}
	mgpu->gpu = gpu;
	atomic_set(&mgpu->unreleased, 1);
	init_completion(&mgpu->released);
	for (i = 0; i < gpu->nr_types; i++) {
		mgpu->types[i].type.sysfs_name = gpu->types[i].name;
		mgpu->types[i].type.pretty_name = gpu->types[i].name;
		mgpu->types[i].mgpu = mgpu;
		mgpu->types[i].gpu = gpu;
		mgpu->types[i].index = i;
		mgpu->list[i] = &mgpu->types[i].type;
	}

	ret = mdev_register_parent(&mgpu->parent, gpu->dev, &vgpu_mdev_driver,
				   mgpu->list, gpu->nr_types);
	if (ret) {
		vgpu_mdev_failed(mgpu);
		vgpu_mdev_free_gpu(mgpu);
		return ret;
	}

	mutex_lock(&vgpu_mdev_gpus_lock);
	list_add_tail(&mgpu->link, &vgpu_mdev_gpus);
	mutex_unlock(&vgpu_mdev_gpus_lock);
	return 0;
}

static struct vgpu_mdev_gpu *vgpu_mdev_take_gpu(struct vgpu_gpu *gpu)
{
	struct vgpu_mdev_gpu *mgpu, *found = NULL;

	mutex_lock(&vgpu_mdev_gpus_lock);
	list_for_each_entry(mgpu, &vgpu_mdev_gpus, link) {
		if (mgpu->gpu == gpu) {
			list_del(&mgpu->link);
			found = mgpu;
			break;
		}
	}
	mutex_unlock(&vgpu_mdev_gpus_lock);
	return found;
}

static void vgpu_mdev_remove_gpu(struct vgpu_gpu *gpu)
{
	struct vgpu_mdev_gpu *mgpu = vgpu_mdev_take_gpu(gpu);

	if (WARN_ON(!mgpu))
		return;
	vgpu_mdev_unregister(mgpu);
	vgpu_mdev_free_gpu(mgpu);
}

static struct vgpu_front vgpu_mdev_front = {
	.name = "mdev",
	.add_gpu = vgpu_mdev_add_gpu,
	.remove_gpu = vgpu_mdev_remove_gpu,
};

/* Registers the front end with mdev and with the core. Returns 0 or -errno. */
int vgpu_mdev_init(void)
{
	int ret;

	vgpu_mdev_attrs_init();
	ret = mdev_register_driver(&vgpu_mdev_driver);
	if (ret)
		return ret;
	vgpu_front_register(&vgpu_mdev_front);
	return 0;
}

/* Undoes vgpu_mdev_init(). No GPU is registered any more. */
void vgpu_mdev_exit(void)
{
	vgpu_front_unregister(&vgpu_mdev_front);
	mdev_unregister_driver(&vgpu_mdev_driver);
}
