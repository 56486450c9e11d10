// SPDX-License-Identifier: GPL-2.0
/* Queues: how they come and go. */
#include <linux/capability.h>

#include "bo.h"
#include "channel.h"
#include "device.h"
#include "done.h"
#include "queue.h"
#include "time.h"
#include "vm.h"

/* Where rings are in the VM of their queues: in the upper half, each in its slot. */
#define RING_VA		0xffffffc000000000ULL
#define RING_BYTES_MAX	((u64)sizeof(struct vgpu_hw_packet) << VGPU_HW_RING_ORDER_MAX)

#define RING_SLOTS	(BIT_ULL(GUEST_VA_BITS) / RING_BYTES_MAX)

/* An open file has no more. */
#define QUEUES_MAX	1024

static void queue_release(struct work_struct *work);

struct guest_queue *guest_queue_find(struct drm_file *file, u32 id)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_queue *queue;

	xa_lock(&gfile->queues);
	queue = xa_load(&gfile->queues, id);
	if (queue)
		kref_get(&queue->ref);
	xa_unlock(&gfile->queues);
	return queue;
}

/* The channel has faulted, or the device has said what cannot be, or something took too long. */
static void queue_lost(struct work_struct *work)
{
	struct guest_queue *queue = container_of(work, struct guest_queue, lost);

	guest_queue_stop(queue, READ_ONCE(queue->cause), -EIO);
	guest_queue_put(queue);
}

static int queue_init_sched(struct guest_queue *queue)
{
	const struct drm_sched_init_args args = {
		.ops = &guest_job_ops,
		.submit_wq = guest_submit_wq,
		.num_rqs = 1,
		.credit_limit = 1u << queue->order,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.timeout_wq = guest_stop_wq,
		.name = "vgpu_guest-queue",
		.dev = queue->gdev->drm.dev,
	};
	struct drm_gpu_scheduler *sched = &queue->sched;
	int ret;

	ret = drm_sched_init(sched, &args);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&queue->entity, 0, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	return ret;
}

static int queue_init_ring(struct guest_queue *queue)
{
	u64 bytes = PAGE_ALIGN((u64)sizeof(struct vgpu_hw_packet) << queue->order);
	int ret;

	queue->ring = guest_bo_create_own(queue->gdev, bytes);
	if (IS_ERR(queue->ring))
		return PTR_ERR(queue->ring);
	ret = guest_vm_map_own(queue->vm, queue->ring_va, queue->ring);
	if (ret)
		guest_bo_destroy_own(queue->ring);
	return ret;
}

static struct guest_queue *queue_create(struct guest_dev *gdev, struct guest_vm *vm,
					const struct drm_vgpu_queue_create *args,
					const struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_queue *queue;
	int ret;

	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->gdev = gdev;
	queue->vm = guest_vm_get(vm);
	queue->engine = args->engine;
	queue->order = args->ring_order;
	queue->priority = args->priority;
	kref_init(&queue->ref);
	mutex_init(&queue->submit_lock);
	mutex_init(&queue->stop_lock);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->waiting);
	queue->channel = GUEST_NO_CHANNEL;
	guest_label_make(&queue->label, file);
	INIT_WORK(&queue->lost, queue_lost);
	INIT_WORK(&queue->release, queue_release);
	queue->fence_context = dma_fence_context_alloc(3);
	ret = ida_alloc_max(&vm->rings, RING_SLOTS - 1, GFP_KERNEL);
	if (ret < 0)
		goto err_vm;
	queue->slot = ret;
	queue->ring_va = RING_VA + queue->slot * RING_BYTES_MAX;
	ret = queue_init_ring(queue);
	if (ret)
		goto err_slot;
	ret = queue_init_sched(queue);
	if (ret)
		goto err_ring;
	queue->time = guest_time_get(gfile->time);
	guest_dev_get(gdev);
	mutex_lock(&gdev->channel_mutex);
	queue->epoch = gdev->epoch;
	list_add_tail(&queue->link, &gdev->queues);
	mutex_unlock(&gdev->channel_mutex);
	return queue;

err_ring:
	guest_vm_unmap_own(vm, queue->ring_va, guest_bo_bytes(queue->ring));
	guest_bo_destroy_own(queue->ring);
err_slot:
	ida_free(&vm->rings, queue->slot);
err_vm:
	guest_vm_put(vm);
	kfree(queue);
	return ERR_PTR(ret);
}

static void queue_release(struct work_struct *work)
{
	struct guest_queue *queue = container_of(work, struct guest_queue, release);
	struct guest_dev *gdev = queue->gdev;

	drm_sched_fini(&queue->sched);
	guest_channel_release(queue);
	guest_vm_unmap_own(queue->vm, queue->ring_va, guest_bo_bytes(queue->ring));
	guest_bo_destroy_own(queue->ring);
	ida_free(&queue->vm->rings, queue->slot);
	guest_vm_put(queue->vm);
	guest_time_put(queue->time);
	mutex_destroy(&queue->stop_lock);
	mutex_destroy(&queue->submit_lock);
	kfree(queue);
	guest_dev_put(gdev);
}

/* Ends what the handle stands for. */
static void queue_end(struct guest_queue *queue)
{
	mutex_lock(&queue->submit_lock);
	queue->dead = true;
	mutex_unlock(&queue->submit_lock);
	guest_queue_stop(queue, DRM_VGPU_QUEUE_OK, -ECANCELED);
	guest_entity_end(&queue->sched, &queue->entity);
	/* A job may have got a channel and never run. What others wait for may keep the queue. */
	spin_lock_irq(&queue->lock);
	queue->claimed = false;
	spin_unlock_irq(&queue->lock);
	guest_channel_kick(queue->gdev);
	guest_queue_put(queue);
}

void guest_queue_close(struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_queue *queue;
	unsigned long id;

	xa_for_each(&gfile->queues, id, queue)
		queue_end(queue);
	xa_destroy(&gfile->queues);
}

static struct guest_queue *queue_of_before(struct guest_dev *gdev)
{
	struct guest_queue *queue, *found = NULL;

	mutex_lock(&gdev->channel_mutex);
	list_for_each_entry(queue, &gdev->queues, link) {
		if (queue->epoch < gdev->epoch && !READ_ONCE(queue->error) &&
		    kref_get_unless_zero(&queue->ref)) {
			found = queue;
			break;
		}
	}
	mutex_unlock(&gdev->channel_mutex);
	return found;
}

void guest_queue_stop_old(struct guest_dev *gdev, int error)
{
	struct guest_queue *queue;

	while ((queue = queue_of_before(gdev))) {
		guest_queue_stop(queue, DRM_VGPU_QUEUE_DEVICE, error);
		guest_queue_put(queue);
	}
}

int guest_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct drm_vgpu_queue_create *args = data;
	struct guest_dev *gdev = to_guest_dev(drm);
	struct guest_queue *queue;
	struct guest_vm *vm;
	int ret;

	if (args->flags || args->engine >= gdev->nr_engines ||
	    args->ring_order < VGPU_HW_RING_ORDER_MIN ||
	    args->ring_order > VGPU_HW_RING_ORDER_MAX ||
	    args->priority < DRM_VGPU_PRIORITY_LOW || args->priority > DRM_VGPU_PRIORITY_HIGH)
		return -EINVAL;
	if (args->priority > DRM_VGPU_PRIORITY_NORMAL && !capable(CAP_SYS_NICE))
		return -EPERM;
	vm = guest_vm_find(file, args->vm_id);
	if (!vm)
		return -ENOENT;
	/* Not drm_dev_enter(): making room for a ring may wait for jobs, and an unplug for that. */
	ret = -ENODEV;
	if (drm_dev_is_unplugged(drm))
		goto out;
	queue = queue_create(gdev, vm, args, file);
	ret = PTR_ERR_OR_ZERO(queue);
	if (ret)
		goto out;
	ret = xa_alloc(&gfile->queues, &args->id, queue, XA_LIMIT(1, QUEUES_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret) {
		queue_end(queue);
		ret = ret == -EBUSY ? -ENOSPC : ret;
	}
out:
	guest_vm_put(vm);
	return ret;
}

int guest_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct drm_vgpu_queue_destroy *args = data;
	struct guest_queue *queue;

	if (args->pad)
		return -EINVAL;
	queue = xa_erase(&gfile->queues, args->id);
	if (!queue)
		return -ENOENT;
	queue_end(queue);
	return 0;
}

int guest_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_queue_query *args = data;
	struct guest_queue *queue;
	int idx;

	queue = guest_queue_find(file, args->id);
	if (!queue)
		return -ENOENT;
	if (drm_dev_enter(drm, &idx)) {
		guest_queue_poll(queue);
		drm_dev_exit(idx);
	}
	/* A queue that is being stopped says why. */
	mutex_lock(&queue->stop_lock);
	spin_lock_irq(&queue->lock);
	*args = (struct drm_vgpu_queue_query){
		.id = args->id,
		.state = queue->state,
		.submitted = queue->submitted,
		.completed = queue->completed,
		.fault_code = queue->fault.code,
		.fault_packet = queue->fault.packet,
		.fault_addr = queue->fault.addr,
		.fault_pc = queue->fault.pc,
	};
	memcpy(args->fault_id, queue->fault.id, sizeof(args->fault_id));
	spin_unlock_irq(&queue->lock);
	mutex_unlock(&queue->stop_lock);
	guest_queue_put(queue);
	return 0;
}
