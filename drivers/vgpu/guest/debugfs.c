// SPDX-License-Identifier: GPL-2.0
/*
 * Files in debugfs, for who looks for what is wrong with a program or with the driver. The locks
 * that they take are those of fences, under which no memory is allocated: a seq_file makes its
 * buffer larger between two tries.
 */
#include <drm/drm_debugfs.h>

#include "channel.h"
#include "device.h"
#include "queue.h"
#include "vm.h"

static struct guest_dev *debugfs_dev(struct seq_file *m)
{
	const struct drm_info_node *node = m->private;

	return to_guest_dev(node->minor->dev);
}

static int debugfs_gpuvas(struct seq_file *m, void *unused)
{
	struct guest_dev *gdev = debugfs_dev(m);
	struct guest_vm *vm;
	int ret = 0;

	mutex_lock(&gdev->vm_mutex);
	list_for_each_entry(vm, &gdev->vms, link) {
		mutex_lock(&vm->lock);
		ret = drm_debugfs_gpuva_info(m, &vm->base);
		mutex_unlock(&vm->lock);
		/* All of it is printed anew then. */
		if (ret || seq_has_overflowed(m))
			break;
		seq_puts(m, "\n");
	}
	mutex_unlock(&gdev->vm_mutex);
	return ret;
}

static void show_queue(struct seq_file *m, struct guest_queue *queue)
{
	u64 submitted, completed;
	int error;

	spin_lock_irq(&queue->lock);
	submitted = queue->submitted;
	completed = queue->completed;
	error = queue->error;
	spin_unlock_irq(&queue->lock);
	seq_printf(m, "%.*s %u: client %llu, engine %u, priority %d, ",
		   (int)sizeof(queue->label.comm), queue->label.comm,
		   le32_to_cpu(queue->label.pid), le64_to_cpu(queue->label.client), queue->engine,
		   queue->priority);
	if (queue->channel == GUEST_NO_CHANNEL)
		seq_puts(m, list_empty(&queue->waiting) ? "no channel, " : "waits for a channel, ");
	else
		seq_printf(m, "channel %u, ", queue->channel);
	seq_printf(m, "packets %llu, done %llu, error %d\n", submitted, completed, error);
}

static int debugfs_queues(struct seq_file *m, void *unused)
{
	struct guest_dev *gdev = debugfs_dev(m);
	struct guest_queue *queue;

	mutex_lock(&gdev->channel_mutex);
	list_for_each_entry(queue, &gdev->queues, link)
		show_queue(m, queue);
	mutex_unlock(&gdev->channel_mutex);
	return 0;
}

/* What was done, and no interrupt has told of it in time. */
static int debugfs_late(struct seq_file *m, void *unused)
{
	struct guest_dev *gdev = debugfs_dev(m);

	seq_printf(m, "jobs %llu\nmoves %llu\n", READ_ONCE(gdev->late_jobs),
		   READ_ONCE(gdev->move.late));
	return 0;
}

static const struct drm_info_list debugfs_files[] = {
	DRM_DEBUGFS_GPUVA_INFO(debugfs_gpuvas, NULL),
	{ .name = "queues", .show = debugfs_queues },
	{ .name = "late", .show = debugfs_late },
};

void guest_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(debugfs_files, ARRAY_SIZE(debugfs_files), minor->debugfs_root,
				 minor);
}
