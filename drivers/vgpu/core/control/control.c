// SPDX-License-Identifier: GPL-2.0
/* The control node /dev/vgpu. include/uapi/linux/vgpu.h defines its ABI. */
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/device/class.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "control.h"
#include "../core.h"
#include "../stats/stats.h"

#define VGPU_LIST_MAX	4096

static int vgpu_ctl_version(void *arg)
{
	struct vgpu_ctl_version *v = arg;

	v->abi_major = VGPU_ABI_MAJOR;
	v->abi_minor = VGPU_ABI_MINOR;
	strscpy(v->driver_version, VGPU_DRIVER_VERSION, sizeof(v->driver_version));
	return 0;
}

static int vgpu_ctl_gpus(void *arg)
{
	struct vgpu_ctl_list *list = arg;
	unsigned int room = min_t(u32, list->count, VGPU_LIST_MAX);
	unsigned int nr;
	u32 *ids;
	int ret = 0;

	if (list->gpu)
		return -EINVAL;
	ids = kvcalloc(room ?: 1, sizeof(*ids), GFP_KERNEL_ACCOUNT);
	if (!ids)
		return -ENOMEM;
	nr = vgpu_gpu_ids(ids, room);
	list->count = nr;
	if (copy_to_user(u64_to_user_ptr(list->ids), ids, min(nr, room) * sizeof(*ids)))
		ret = -EFAULT;
	kvfree(ids);
	return ret;
}

static unsigned int vgpu_ctl_uuids(u32 id, u8 (*uuids)[VGPU_UUID_LEN],
				   unsigned int nr, unsigned int room)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find(id);
	struct vgpu_instance *instance;

	if (!gpu)
		return nr;
	raw_spin_lock(&gpu->data_lock);
	list_for_each_entry(instance, &gpu->instances, link) {
		if (nr < room)
			vgpu_uuid_export(uuids[nr], &instance->uuid);
		nr++;
	}
	raw_spin_unlock(&gpu->data_lock);
	vgpu_gpu_put(gpu);
	return nr;
}

static int vgpu_ctl_instances(void *arg)
{
	struct vgpu_ctl_list *list = arg;
	unsigned int room = min_t(u32, list->count, VGPU_LIST_MAX);
	u32 gpus[64];
	unsigned int nr_gpus, nr = 0, i;
	u8 (*uuids)[VGPU_UUID_LEN];
	int ret = 0;

	if (list->gpu == ~0U) {
		nr_gpus = min_t(unsigned int, vgpu_gpu_ids(gpus, ARRAY_SIZE(gpus)),
				ARRAY_SIZE(gpus));
	} else {
		struct vgpu_gpu *gpu = vgpu_gpu_find(list->gpu);

		if (!gpu)
			return -ENODEV;
		vgpu_gpu_put(gpu);
		gpus[0] = list->gpu;
		nr_gpus = 1;
	}

	uuids = kvcalloc(room ?: 1, sizeof(*uuids), GFP_KERNEL_ACCOUNT);
	if (!uuids)
		return -ENOMEM;
	for (i = 0; i < nr_gpus; i++)
		nr = vgpu_ctl_uuids(gpus[i], uuids, nr, room);
	list->count = nr;
	if (copy_to_user(u64_to_user_ptr(list->ids), uuids, min(nr, room) * sizeof(*uuids)))
		ret = -EFAULT;
	kvfree(uuids);
	return ret;
}

/* Fills in the GPU's settings, and the sums over its instances. */
static void vgpu_ctl_fill_sums(struct vgpu_gpu *gpu, struct vgpu_ctl_gpu *out)
{
	const struct vgpu_partition *part = &gpu->part0;
	struct vgpu_instance *instance;

	raw_spin_lock(&gpu->data_lock);
	out->instances = gpu->nr_instances;
	list_for_each_entry(instance, &gpu->instances, link) {
		out->channels_used += instance->info.nr_channels;
		out->fb_used_bytes += instance->info.fb_bytes;
		out->fb_backed_bytes += vgpu_instance_backed_bytes(instance);
	}
	out->partition_mode = gpu->division.on ? VGPU_PARTITION_MODE_ON : VGPU_PARTITION_MODE_OFF;
	out->partitions = list_count_nodes(&gpu->division.partitions) - 1;
	out->guarantee_sum = part->guarantee_sum;
	out->slice_ns = part->settings.slice_ns;
	out->preempt_timeout_us = part->settings.preempt_timeout_us;
	strscpy(out->policy, part->settings.policy, sizeof(out->policy));
	raw_spin_unlock(&gpu->data_lock);
	out->due = vgpu_sched_policy(out->policy)->due;
}

/* Fills in the engines, with the service of all partitions', also of those that are gone. */
static void vgpu_ctl_fill_engines(struct vgpu_gpu *gpu, struct vgpu_ctl_gpu *out)
{
	const struct vgpu_gpu_info *info = &gpu->info;
	struct vgpu_timeline_stats stats;
	struct vgpu_partitions parts;
	unsigned int i, k;

	raw_spin_lock(&gpu->data_lock);
	vgpu_partitions_get_locked(gpu, &parts);
	for (i = 0; i < info->nr_engines; i++)
		out->engine[i] = (struct vgpu_ctl_engine) {
			.engine_class = info->engines[i].engine_class,
			.instance = info->engines[i].instance,
			.busy_ns = gpu->division.gone[i].busy_ns,
			.units = max(info->engines[i].units, 1U),
		};
	raw_spin_unlock(&gpu->data_lock);
	for (i = 0; i < info->nr_engines; i++) {
		strscpy(out->engine[i].name, info->engines[i].name, sizeof(out->engine[i].name));
		for (k = 0; k < parts.nr; k++) {
			vgpu_timeline_stats(vgpu_sched_timeline(parts.at[k]->sched, i), &stats);
			out->engine[i].busy_ns += stats.busy_ns;
		}
	}
	vgpu_partitions_put(&parts);
}

static void vgpu_ctl_fill_gpu(struct vgpu_gpu *gpu, struct vgpu_ctl_gpu *out)
{
	const struct vgpu_gpu_info *info = &gpu->info;

	out->types = gpu->nr_types;
	out->channels = info->channels;
	out->engines = info->nr_engines;
	out->profiles = vgpu_gpu_profiles(gpu);
	out->fb_bytes = info->fb_bytes;
	vgpu_ctl_fill_sums(gpu, out);
	out->now_ns = ktime_get_ns();
	out->registered_ns = gpu->registered_ns;
	out->placement = info->placement;
	strscpy(out->address, gpu->name, sizeof(out->address));
	strscpy(out->board, info->board, sizeof(out->board));
	strscpy(out->driver, dev_driver_string(gpu->dev), sizeof(out->driver));
	vgpu_ctl_fill_engines(gpu, out);
}

static int vgpu_ctl_gpu(void *arg)
{
	struct vgpu_ctl_gpu *out = arg;
	struct vgpu_gpu *gpu = vgpu_gpu_find(out->gpu);
	int ret = -ENODEV;

	if (!gpu)
		return -ENODEV;
	vgpu_ctl_clear(out, types);
	if (vgpu_gpu_enter(gpu)) {
		vgpu_ctl_fill_gpu(gpu, out);
		vgpu_gpu_leave(gpu);
		ret = 0;
	}
	vgpu_gpu_put(gpu);
	return ret;
}

static int vgpu_ctl_type(void *arg)
{
	struct vgpu_ctl_type *out = arg;
	struct vgpu_gpu *gpu = vgpu_gpu_find(out->gpu);
	const struct vgpu_type *type;
	int ret = 0;

	if (!gpu)
		return -ENODEV;
	if (!vgpu_gpu_enter(gpu)) {
		ret = -ENODEV;
		goto out_put;
	}
	if (out->index >= gpu->nr_types) {
		ret = -ENOENT;
		goto out_leave;
	}
	type = &gpu->types[array_index_nospec(out->index, gpu->nr_types)];
	memset_startat(out, 0, available);
	out->available = vgpu_gpu_available(gpu, type->index);
	out->max_instances = type->max_instances;
	out->num_heads = type->num_heads;
	out->max_width = type->max_width;
	out->max_height = type->max_height;
	out->frl_fps = type->frl_fps;
	out->channels = type->channels;
	out->placement_size_gb = type->size_gb;
	out->fb_bytes = (u64)type->size_gb << 30;
	strscpy(out->name, type->name, sizeof(out->name));
	snprintf(out->id, sizeof(out->id), "%s-%s", dev_driver_string(gpu->dev), type->name);
	strscpy(out->edition, type->edition, sizeof(out->edition));
	out->slices = type->profile ? type->profile->slices : 0;
out_leave:
	vgpu_gpu_leave(gpu);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}

static int vgpu_ctl_instance_fill(struct vgpu_instance *instance, void *arg)
{
	struct vgpu_ctl_instance *out = arg;

	vgpu_ctl_clear(out, gpu);
	vgpu_stats_instance(instance, out);
	return 0;
}

static int vgpu_ctl_instance(void *arg)
{
	struct vgpu_ctl_instance *out = arg;

	return vgpu_instance_call(out->uuid, vgpu_ctl_instance_fill, arg);
}

static int vgpu_ctl_refusal(void *arg)
{
	struct vgpu_ctl_refusal *out = arg;
	guid_t guid;

	vgpu_uuid_import(&guid, out->uuid);
	out->error = 0;
	memset_startat(out, 0, time_ns);
	return vgpu_refusal_get(&guid, out);
}

static int vgpu_ctl_release_one(struct vgpu_instance *instance, void *arg)
{
	int ret;

	mutex_lock(&instance->gpu->lock);
	ret = instance->gone ? -ENODEV : vgpu_instance_release(instance);
	mutex_unlock(&instance->gpu->lock);
	return ret;
}

static int vgpu_ctl_release(void *arg)
{
	struct vgpu_ctl_instance_op *op = arg;

	return vgpu_instance_call(op->uuid, vgpu_ctl_release_one, arg);
}

/**
 * struct vgpu_ctl_call - an ioctl
 * @cmd:   number of the ioctl
 * @func:  does the call, on the structure in kernel memory
 * @reader_func: used instead of @func by a call that concerns the open file
 * @flags: flags that the call accepts
 * @min_size: bytes of the structure's first version; of a structure that ends in engine[], the
 *         bytes before that
 * @size:  bytes of the structure's present version, which begins like struct vgpu_ctl_head
 * @admin: the call needs CAP_SYS_ADMIN
 * @text:  offset of a field of VGPU_TEXT_LEN bytes for the reason of a failure, which is copied to
 *         the caller even if the call fails; 0: no such field
 * @engines: offset of the field that has the number of elements of engine[] that @func has filled,
 *         all of their bytes; 0: the structure has no engine[]
 */
struct vgpu_ctl_call {
	unsigned int cmd;
	int (*func)(void *arg);
	size_t min_size;
	size_t size;
	bool admin;
	size_t text;
	int (*reader_func)(struct vgpu_event_reader *reader, void *arg);
	u32 flags;
	size_t engines;
};

/* The last columns of a call whose structure ends in engine[]. */
#define VGPU_CTL_ENGINES(type) \
	offsetof(struct type, engine), sizeof(struct type), false, \
	.engines = offsetof(struct type, engines)

/* The third column is the size of the call's first version; it stays when structures grow. */
static const struct vgpu_ctl_call vgpu_ctl_calls[] = {
	{ VGPU_IOC_VERSION, vgpu_ctl_version, 80,
	  sizeof(struct vgpu_ctl_version), false },
	{ VGPU_IOC_GPUS, vgpu_ctl_gpus, 24,
	  sizeof(struct vgpu_ctl_list), false },
	{ VGPU_IOC_GPU, vgpu_ctl_gpu, VGPU_CTL_ENGINES(vgpu_ctl_gpu) },
	{ VGPU_IOC_TYPE, vgpu_ctl_type, 248,
	  sizeof(struct vgpu_ctl_type), false },
	{ VGPU_IOC_INSTANCES, vgpu_ctl_instances, 24,
	  sizeof(struct vgpu_ctl_list), false },
	{ VGPU_IOC_INSTANCE, vgpu_ctl_instance, VGPU_CTL_ENGINES(vgpu_ctl_instance) },
	{ VGPU_IOC_REFUSAL, vgpu_ctl_refusal, 232,
	  sizeof(struct vgpu_ctl_refusal), false, .flags = VGPU_REFUSAL_OF_GPU },
	{ VGPU_IOC_RELEASE, vgpu_ctl_release, 24,
	  sizeof(struct vgpu_ctl_instance_op), true },
	{ VGPU_IOC_SCHED, vgpu_ctl_sched, 280,
	  sizeof(struct vgpu_ctl_sched), false, .flags = VGPU_SCHED_OF_PARTITION },
	{ VGPU_IOC_SCHED_SET, vgpu_ctl_sched_set, 280,
	  sizeof(struct vgpu_ctl_sched), true,
	  offsetof(struct vgpu_ctl_sched, text), .flags = VGPU_SCHED_OF_PARTITION },
	{ VGPU_IOC_SHARES_SET, vgpu_ctl_shares_set, 216,
	  sizeof(struct vgpu_ctl_shares), true,
	  offsetof(struct vgpu_ctl_shares, text) },
	{ VGPU_IOC_SCHED_LOG, vgpu_ctl_sched_log, 40,
	  sizeof(struct vgpu_ctl_sched_log), false },
	{ VGPU_IOC_HIST, vgpu_ctl_hist, 608,
	  sizeof(struct vgpu_ctl_hist), false },
	{ VGPU_IOC_EVENTS, NULL, 24, sizeof(struct vgpu_ctl_events), false,
	  .reader_func = vgpu_event_setup, .flags = VGPU_EVENTS_KEPT },
	{ VGPU_IOC_STATS, vgpu_ctl_stats, VGPU_CTL_ENGINES(vgpu_ctl_stats) },
	{ VGPU_IOC_SAMPLES, vgpu_ctl_samples, 64,
	  sizeof(struct vgpu_ctl_samples), false },
	{ VGPU_IOC_SESSIONS, vgpu_ctl_sessions, 64,
	  sizeof(struct vgpu_ctl_sessions), false },
	{ VGPU_IOC_CHANNELS, vgpu_ctl_channels, 120,
	  sizeof(struct vgpu_ctl_channels), false },
	{ VGPU_IOC_MIGRATION, vgpu_ctl_migration, 64,
	  sizeof(struct vgpu_ctl_migration), false, .flags = VGPU_MIGRATION_OF_TYPE },
	{ VGPU_IOC_MIGRATION_CHECK, vgpu_ctl_migration_check, 240,
	  sizeof(struct vgpu_ctl_migration_check), false,
	  offsetof(struct vgpu_ctl_migration_check, text), .flags = VGPU_MIGRATION_OF_TYPE },
	{ VGPU_IOC_PROFILE, vgpu_ctl_profile, 56,
	  sizeof(struct vgpu_ctl_profile), false },
	{ VGPU_IOC_PARTITIONS, vgpu_ctl_partitions, 24,
	  sizeof(struct vgpu_ctl_list), false },
	{ VGPU_IOC_PARTITION, vgpu_ctl_partition, VGPU_CTL_ENGINES(vgpu_ctl_partition) },
	{ VGPU_IOC_PARTITION_CREATE, vgpu_ctl_partition_create, 216,
	  sizeof(struct vgpu_ctl_partition_create), true,
	  offsetof(struct vgpu_ctl_partition_create, text) },
	{ VGPU_IOC_PARTITION_REMOVE, vgpu_ctl_partition_remove, 208,
	  sizeof(struct vgpu_ctl_partition_remove), true,
	  offsetof(struct vgpu_ctl_partition_remove, text) },
	{ VGPU_IOC_PARTITION_MODE, vgpu_ctl_partition_mode, 208,
	  sizeof(struct vgpu_ctl_partition_set_mode), true,
	  offsetof(struct vgpu_ctl_partition_set_mode, text) },
};

struct vgpu_ctl_head {
	__u32 size;
	__u32 flags;
};

static int vgpu_ctl_do(const struct vgpu_ctl_call *call, struct file *file, void *arg)
{
	return call->reader_func ? call->reader_func(file->private_data, arg) : call->func(arg);
}

/*
 * Reads the caller's structure of @usize bytes, to @arg of call->size bytes. What a caller has in
 * engine[] does not count, and is not read.
 */
static int vgpu_ctl_read(const struct vgpu_ctl_call *call, void *arg, void __user *user,
			 size_t usize)
{
	int zero = 1;

	if (!call->engines)
		return copy_struct_from_user(arg, call->size, user, usize);
	if (copy_from_user(arg, user, call->min_size))
		return -EFAULT;
	if (usize > call->size)
		zero = check_zeroed_user(user + call->size, usize - call->size);
	return zero < 0 ? zero : zero ? 0 : -E2BIG;
}

/* How many bytes of a structure that the call has filled in the caller gets, out of @usize. */
static size_t vgpu_ctl_filled(const struct vgpu_ctl_call *call, const void *arg, size_t usize)
{
	size_t size = call->size, each;

	if (call->engines) {
		each = (call->size - call->min_size) / VGPU_MAX_ENGINES;
		size = call->min_size + *(const u32 *)(arg + call->engines) * each;
	}
	return min(usize, size);
}

static long vgpu_ctl_call(const struct vgpu_ctl_call *call, struct file *file, void __user *user)
{
	struct vgpu_ctl_head *arg;
	u32 usize;
	int ret;

	if (call->admin && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (get_user(usize, (u32 __user *)user))
		return -EFAULT;
	if (usize < call->min_size)
		return -EINVAL;
	if (usize > VGPU_CTL_SIZE_MAX)
		return -E2BIG;

	/* Not zeroed: all of it is read, or filled before it is given back. */
	arg = kmalloc(call->size, GFP_KERNEL_ACCOUNT);
	if (!arg)
		return -ENOMEM;
	ret = vgpu_ctl_read(call, arg, user, usize);
	if (ret)
		goto out_free;
	/* The caller may have changed its size field since get_user(). */
	arg->size = usize;
	if (call->text)
		memset((void *)arg + call->text, 0, VGPU_TEXT_LEN);
	if (!(arg->flags & ~call->flags)) {
		ret = vgpu_ctl_do(call, file, arg);
	} else {
		ret = -EINVAL;
		if (call->text)
			strscpy((char *)arg + call->text, "flags must be 0", VGPU_TEXT_LEN);
	}

	if (!ret)
		ret = copy_to_user(user, arg, vgpu_ctl_filled(call, arg, usize)) ? -EFAULT : 0;
	else if (call->text &&
		 copy_to_user(user + call->text, (void *)arg + call->text, VGPU_TEXT_LEN))
		ret = -EFAULT;
out_free:
	kfree(arg);
	return ret;
}

/* Finds a call by type, number and direction. The size in @cmd is that of the caller's header. */
static long vgpu_control_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vgpu_ctl_calls); i++) {
		const struct vgpu_ctl_call *call = &vgpu_ctl_calls[i];

		if (_IOC_TYPE(cmd) == _IOC_TYPE(call->cmd) && _IOC_NR(cmd) == _IOC_NR(call->cmd) &&
		    _IOC_DIR(cmd) == _IOC_DIR(call->cmd))
			return vgpu_ctl_call(call, file, (void __user *)user);
	}
	return -ENOTTY;
}

static int vgpu_control_open(struct inode *inode, struct file *file)
{
	file->private_data = vgpu_event_open();
	if (!file->private_data)
		return -ENOMEM;
	return stream_open(inode, file);
}

static int vgpu_control_release(struct inode *inode, struct file *file)
{
	vgpu_event_close(file->private_data);
	return 0;
}

static ssize_t vgpu_control_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return vgpu_event_read(file->private_data, buf, count, file->f_flags & O_NONBLOCK);
}

static __poll_t vgpu_control_poll(struct file *file, struct poll_table_struct *table)
{
	return vgpu_event_poll(file->private_data, file, table);
}

static const struct file_operations vgpu_control_fops = {
	.owner = THIS_MODULE,
	.open = vgpu_control_open,
	.release = vgpu_control_release,
	.read = vgpu_control_read,
	.poll = vgpu_control_poll,
	.unlocked_ioctl = vgpu_control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static char *vgpu_control_devnode(const struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0640;
	return NULL;
}

/*
 * Not a miscdevice: to open one takes a mutex of all of them, and a reader would be stopped with it
 * in the middle of vgpu_control_open().
 */
static const struct class vgpu_control_class = {
	.name = "vgpu",
	.devnode = vgpu_control_devnode,
};

static dev_t vgpu_control_devt;
static struct cdev *vgpu_control_cdev;

static int vgpu_control_add_cdev(void)
{
	int ret;

	vgpu_control_cdev = cdev_alloc();
	if (!vgpu_control_cdev)
		return -ENOMEM;
	vgpu_control_cdev->owner = THIS_MODULE;
	vgpu_control_cdev->ops = &vgpu_control_fops;
	ret = cdev_add(vgpu_control_cdev, vgpu_control_devt, 1);
	if (ret)
		kobject_put(&vgpu_control_cdev->kobj);
	return ret;
}

/**
 * vgpu_control_init() - create the control node, when the module loads
 *
 * Return: 0 or -errno.
 */
int vgpu_control_init(void)
{
	struct device *dev;
	int ret;

	ret = class_register(&vgpu_control_class);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&vgpu_control_devt, 0, 1, "vgpu");
	if (ret)
		goto err_class;
	ret = vgpu_control_add_cdev();
	if (ret)
		goto err_region;
	dev = device_create(&vgpu_control_class, NULL, vgpu_control_devt, NULL, "vgpu");
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto err_cdev;
	}
	return 0;

err_cdev:
	cdev_del(vgpu_control_cdev);
err_region:
	unregister_chrdev_region(vgpu_control_devt, 1);
err_class:
	class_unregister(&vgpu_control_class);
	return ret;
}

/**
 * vgpu_control_exit() - remove the control node, when the module unloads
 */
void vgpu_control_exit(void)
{
	device_destroy(&vgpu_control_class, vgpu_control_devt);
	cdev_del(vgpu_control_cdev);
	unregister_chrdev_region(vgpu_control_devt, 1);
	class_unregister(&vgpu_control_class);
}
