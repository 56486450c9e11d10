// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a vGPU that is being loaded: what is written to it is a stream (stream.h), of which
 * no byte is trusted. Memory is written as it comes, by the entrances that the guest has; all else
 * is kept until the stream is complete.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vgpu_record.h>

#include "../core/objects/about.h"
#include "../core/objects/state.h"
#include "access.h"
#include "device.h"
#include "migrate.h"

/**
 * struct vgpu_load - a stream that is being written
 * @user_lock: one write at a time; protects @stream and @error
 * @dev_lock: protects the other fields, but for @file
 * @file:    its file, which owns this structure; constant
 * @dev:     the device; NULL: the stream is over
 * @stream:  its reader
 * @error:   0, or why it cannot be read any further
 * @ended:   it is complete
 * @restarts: of the vGPU when it was cleared last: a later one has lost memory
 * @function: the frame FUNCTION, or NULL
 * @faults:  the frame FAULTS
 * @state:   the records so far
 */
struct vgpu_load {
	struct mutex user_lock;	/* stream, error */
	struct mutex dev_lock;	/* the others */
	struct file *file;
	struct vgpu_vfio *dev;
	struct vgpu_stream stream;
	int error;
	bool ended;
	u64 restarts;
	struct vgpu_frame_function *function;
	struct vgpu_frame_faults faults;
	struct vgpu_records state;
};

/* All pages of the framebuffer read zero afterwards. */
static int load_drop(struct vgpu_load *load)
{
	return vgpu_instance_clear(load->dev->instance, &load->restarts);
}

static int load_pages(struct vgpu_load *load, unsigned int bar)
{
	const struct vgpu_frame_pages *pages = (const void *)load->stream.data;
	u64 at = le64_to_cpu(pages->first) * VGPU_STREAM_PAGE;
	u32 nr = le32_to_cpu(pages->nr), i;
	u8 *from = (u8 *)(pages + 1);
	int ret = 0;

	if (le32_to_cpu(pages->flags) & VGPU_PAGES_DROPPED)
		ret = load_drop(load);
	for (i = 0; !ret && i < nr; i++) {
		ret = vgpu_instance_region_rw(load->dev->instance, bar, at, from,
					      VGPU_STREAM_PAGE, true);
		at += VGPU_STREAM_PAGE;
		from += VGPU_STREAM_PAGE;
		cond_resched();
	}
	return ret;
}

/* Keeps the frame for the end. */
static int load_function(struct vgpu_load *load)
{
	load->function = kvmemdup(load->stream.data, vgpu_stream_length(&load->stream),
				  VGPU_RECORD_GFP);
	return load->function ? 0 : -ENOMEM;
}

/* Does with a frame, which was checked, what is to be done with it. */
static int load_frame(struct vgpu_load *load)
{
	lockdep_assert_held(&load->dev_lock);
	switch (vgpu_stream_type(&load->stream)) {
	case VGPU_FRAME_MEMORY:
		return load_pages(load, VGPU_HW_BAR_FB);
	case VGPU_FRAME_CHANNELS:
		return load_pages(load, VGPU_HW_BAR_CHANNELS);
	case VGPU_FRAME_FUNCTION:
		return load_function(load);
	case VGPU_FRAME_FAULTS:
		vgpu_stream_faults(&load->stream, &load->faults);
		return 0;
	case VGPU_FRAME_STATE:
		return vgpu_records_append(&load->state, load->stream.data,
					   vgpu_stream_length(&load->stream));
	case VGPU_FRAME_END:
		load->ended = true;
		return 0;
	default:	/* BEGIN, and what a later version has added and may be left out */
		return 0;
	}
}

/* Tells the reader that bytes were copied, and acts on the frame if that has ended it. */
static int load_take(struct vgpu_load *load, size_t bytes)
{
	int ret;

	lockdep_assert_held(&load->user_lock);
	ret = vgpu_stream_got(&load->stream, bytes);
	if (!ret)
		return 0;
	if (mutex_lock_killable(&load->dev_lock))
		return -EINTR;
	if (!load->dev)
		ret = -ENODEV;
	else if (ret == -EINVAL)
		vgpu_inst_notice_limited(load->dev->instance, "state refused: %s\n",
					 load->stream.why);
	else if (ret > 0)
		ret = load_frame(load);
	if (load->dev)
		vgpu_move_progress(&load->dev->instance->move, vgpu_stream_length(&load->stream) +
				   sizeof(struct vgpu_frame_head), 0);
	mutex_unlock(&load->dev_lock);
	return ret;
}

/* Whether more may be written: 0 or -errno. What follows the end of a stream makes it a bad one. */
static int load_check(struct vgpu_load *load)
{
	int ret;

	lockdep_assert_held(&load->user_lock);
	ret = mutex_lock_killable(&load->dev_lock);
	if (ret)
		return ret;
	if (!load->dev) {
		ret = -ENODEV;
	} else if (vgpu_stream_ended(&load->stream)) {
		vgpu_inst_notice_limited(load->dev->instance,
					 "state refused: more comes behind its end\n");
		load->ended = false;
		ret = -EINVAL;
	}
	mutex_unlock(&load->dev_lock);
	return ret;
}

static ssize_t load_write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct vgpu_load *load = file->private_data;
	size_t done = 0, part;
	void *to;
	int ret;

	ret = mutex_lock_killable(&load->user_lock);
	if (ret)
		return ret;
	while (!load->error && done < count) {
		/* Once in a frame is enough: load_take() looks, too. */
		if (!done || vgpu_stream_ended(&load->stream))
			load->error = load_check(load);
		if (load->error)
			break;
		part = min(vgpu_stream_want(&load->stream, &to), count - done);
		if (copy_from_user(to, user + done, part)) {
			ret = -EFAULT;
			break;
		}
		load->error = load_take(load, part);
		done += part;
		if (fatal_signal_pending(current))
			ret = -EINTR;
		if (ret)
			break;
		cond_resched();
	}
	/* An error belongs to the stream as a whole: nothing that was written counts any more. */
	if (load->error)
		ret = load->error;
	else if (done)
		ret = 0;
	mutex_unlock(&load->user_lock);
	return ret ?: done;
}

static void load_free(struct vgpu_load *load)
{
	vgpu_records_free(&load->state);
	kvfree(load->function);
	vgpu_stream_free(&load->stream);
	mutex_destroy(&load->dev_lock);
	mutex_destroy(&load->user_lock);
	kfree(load);
}

static int load_release(struct inode *inode, struct file *file)
{
	load_free(file->private_data);
	return 0;
}

static const struct file_operations load_fops = {
	.owner = THIS_MODULE,
	.write = load_write,
	.release = load_release,
};

static int load_clear(struct vgpu_vfio *dev, u64 *restarts)
{
	int ret = vgpu_instance_clear(dev->instance, restarts);

	if (ret)
		return ret;
	vgpu_access_config_reset(dev);
	vgpu_irq_reset(&dev->irqs);
	return 0;
}

/**
 * vgpu_load_begin() - begin to load a vGPU, which loses the state that it has
 * @dev: a device that is open and paused
 *
 * Context: sleeps, killable.
 * Return: the stream, which vgpu_load_end() ends; or an ERR_PTR: -ENOMEM, -ENFILE, or an error of
 * vgpu_instance_clear(): then the device has its state.
 */
struct vgpu_load *vgpu_load_begin(struct vgpu_vfio *dev)
{
	struct vgpu_load *load = kzalloc(sizeof(*load), VGPU_RECORD_GFP);
	struct vgpu_stream_about mine;
	int ret;

	if (!load)
		return ERR_PTR(-ENOMEM);
	mutex_init(&load->user_lock);
	mutex_init(&load->dev_lock);
	vgpu_instance_about(dev->instance, &mine);
	vgpu_stream_init(&load->stream, &mine, dev->irqs.nr);
	load->file = anon_inode_getfile("vgpu-load", &load_fops, load, O_WRONLY);
	if (IS_ERR(load->file)) {
		ret = PTR_ERR(load->file);
		load_free(load);
		return ERR_PTR(ret);
	}
	stream_open(file_inode(load->file), load->file);
	ret = load_clear(dev, &load->restarts);
	if (ret) {
		fput(load->file);
		return ERR_PTR(ret);
	}
	/* Without a frame FAULTS there was none. */
	load->faults.quiet_ns = cpu_to_le64(~0ULL);
	load->dev = dev;
	return load;
}

/* The stream's file. No reference is taken. */
struct file *vgpu_load_file(struct vgpu_load *load)
{
	return load->file;
}

static void load_import_faults(struct vgpu_load *load)
{
	const struct vgpu_frame_faults *faults = &load->faults;
	struct vgpu_quarantine_ages ages = {
		.nr_faults = le32_to_cpu(faults->faults),
		.quarantines = le32_to_cpu(faults->quarantines),
		.left_ns = le64_to_cpu(faults->left_ns),
		.next_ns = le64_to_cpu(faults->next_ns),
		.quiet_ns = le64_to_cpu(faults->quiet_ns),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ages.age_ns); i++)
		ages.age_ns[i] = le64_to_cpu(faults->age_ns[i]);
	vgpu_instance_faults_import(load->dev->instance, &ages);
}

/* Configuration space is written as the guest would. */
static int load_config(struct vgpu_load *load)
{
	struct vgpu_vfio *dev = load->dev;
	unsigned int events;

	mutex_lock(&dev->config_lock);
	events = vgpu_config_write(&dev->config, 0, load->function->config,
				   sizeof(load->function->config));
	WRITE_ONCE(dev->state, vgpu_config_state(&dev->config));
	mutex_unlock(&dev->config_lock);
	if (events & VGPU_CONFIG_RESET) {
		vgpu_inst_notice_limited(dev->instance,
					 "state refused: configuration space asks for a reset\n");
		return -EINVAL;
	}
	vgpu_irq_master(&dev->irqs);
	if (events & VGPU_CONFIG_MASTER_ON)
		vgpu_instance_bus_master(dev->instance);
	return 0;
}

/**
 * vgpu_load_finish() - build the vGPU from what was written
 * @load: the stream
 *
 * Context: sleeps, killable.
 * Return: 0; -EINVAL if the stream is not complete or was refused, or the vGPU was reset; or an
 * error of vgpu_instance_load(). After an error the device must be reset.
 */
int vgpu_load_finish(struct vgpu_load *load)
{
	struct vgpu_instance *instance;
	int ret;

	ret = mutex_lock_killable(&load->dev_lock);
	if (ret)
		return ret;
	instance = load->dev->instance;
	if (!load->ended) {
		vgpu_inst_notice_limited(instance, "state refused: it is not complete\n");
		ret = -EINVAL;
		goto unlock;
	}
	/* What it has done elsewhere counts, even if the rest is refused. */
	load_import_faults(load);
	ret = vgpu_instance_load(instance, &load->state, load->restarts);
	if (!ret)
		ret = load_config(load);
	if (!ret) {
		vgpu_irq_load(&load->dev->irqs, load->function);
		vgpu_edid_region_reset(&load->dev->edid, instance);
	}
unlock:
	mutex_unlock(&load->dev_lock);
	return ret;
}

/**
 * vgpu_load_forget() - reset a device whose stream was refused: nothing of that is left
 * @dev: the device
 *
 * Context: sleeps; does nothing if the task was killed, which is about to close the device.
 */
void vgpu_load_forget(struct vgpu_vfio *dev)
{
	u64 restarts;

	if (load_clear(dev, &restarts))
		return;
	vgpu_edid_reset(dev->instance);
	vgpu_edid_region_reset(&dev->edid, dev->instance);
}

/**
 * vgpu_load_end() - end a stream, and let go of its file
 * @load: the stream; the caller must not use it afterwards
 *
 * Who writes to the file gets ENODEV.
 *
 * Context: sleeps.
 */
void vgpu_load_end(struct vgpu_load *load)
{
	mutex_lock(&load->dev_lock);
	load->dev = NULL;
	vgpu_records_free(&load->state);
	mutex_unlock(&load->dev_lock);
	fput(load->file);
}
