// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a vGPU that is being saved: what is read from it is a stream (stream.h).
 *
 * While the vGPU runs, the stream has pages of its framebuffer: those that are backed, and then, in
 * passes, those that were written meanwhile. A pass makes mappings and translations anew, which
 * costs the guest time, so passes are some time apart. When the vGPU stands still, the stream has
 * the pages of a last pass, and then all that is no framebuffer.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vgpu_record.h>

#include "../core/objects/about.h"
#include "../core/objects/state.h"
#include "device.h"
#include "migrate.h"

/* Bytes of data of the frames that this makes: a compromise of memory and of calls. */
#define SAVE_RUN		64U		/* pages */
#define SAVE_PART		(SAVE_RUN * VGPU_STREAM_PAGE)

#define SAVE_PASS_NS		(100 * NSEC_PER_MSEC)

/**
 * struct vgpu_save - a stream that is being read
 * @user_lock: one read at a time; protects @frame. To change @bytes, or @at to less, takes both
 *          locks; to read them takes one
 * @dev_lock: protects the other fields, but for @file
 * @file:   its file, which owns this structure; constant
 * @dev:    the device; NULL: the stream is over
 * @frame:  a frame, with its head
 * @bytes:  length of @frame
 * @at:     bytes of @frame that were read
 * @number: number of frames so far
 * @stage:  type of the next frame
 * @stopped: the vGPU stands still for the last part of the stream
 * @pass:   the pass that is under way
 * @pass_ns: when it began, CLOCK_MONOTONIC; 0: none has begun
 * @initial: it is the first one
 * @renew:  a pass was cut short when it began, and its pages must not be saved yet
 * @dropped: all memory was dropped, and the stream does not say that yet
 * @left:   pages of the pass that were not saved
 * @first:  number of the first page of the run that is to be saved next
 * @nr:     length of that run; 0: the next one is to be taken from the pass
 * @channel: number of the next page of channels
 * @function: the frame FUNCTION as it was when the vGPU stood still
 * @function_bytes: length of @function
 * @state:  the records
 * @state_at: bytes of them that were saved
 * @restarts: of the vGPU when it stood still: what is left after a later one is not its state
 */
struct vgpu_save {
	struct mutex user_lock;	/* frame; with dev_lock: bytes, at */
	struct mutex dev_lock;	/* the others */
	struct file *file;
	struct vgpu_vfio *dev;
	struct vgpu_frame_head *frame;
	size_t bytes;
	size_t at;
	u32 number;
	enum vgpu_frame_type stage;
	bool stopped;
	struct vgpu_dirty_pass pass;
	u64 pass_ns;
	bool initial;
	bool renew;
	bool dropped;
	u64 left;
	u64 first;
	u64 nr;
	u64 channel;
	struct vgpu_frame_function *function;
	size_t function_bytes;
	struct vgpu_records state;
	size_t state_at;
	u64 restarts;
};

/* The frame's data are there. */
static void save_seal(struct vgpu_save *save, size_t length)
{
	lockdep_assert_held(&save->dev_lock);
	vgpu_frame_seal(save->frame, save->stage, length, save->number++);
	save->bytes = sizeof(*save->frame) + length;
	WRITE_ONCE(save->at, 0);
}

/* Bytes that can be read before the next pass begins; with dev_lock alone that is an estimate. */
static u64 save_unread(const struct vgpu_save *save)
{
	u64 begin = sizeof(struct vgpu_frame_head) + sizeof(struct vgpu_stream_about);
	u64 empty = sizeof(struct vgpu_frame_head) + sizeof(struct vgpu_frame_pages);

	lockdep_assert_held(&save->dev_lock);
	return (save->stage == VGPU_FRAME_BEGIN ? begin : 0) + save->bytes - READ_ONCE(save->at) +
	       (save->left + save->nr) * VGPU_STREAM_PAGE + (save->dropped ? empty : 0);
}

/* Tells how far it has come, with @more bytes that are about to be read. */
static void save_tell(struct vgpu_save *save, size_t more)
{
	u64 left = (save->left + save->nr) * VGPU_STREAM_PAGE;

	lockdep_assert_held(&save->dev_lock);
	if (save->stopped)
		left += save->state.bytes - save->state_at;
	vgpu_move_progress(&save->dev->instance->move, more, left);
}

static int save_read_page(struct vgpu_save *save, unsigned int bar, u64 page, void *to)
{
	return vgpu_instance_region_rw(save->dev->instance, bar, page * VGPU_STREAM_PAGE, to,
				       VGPU_STREAM_PAGE, false);
}

static int save_take_pass(struct vgpu_save *save)
{
	int ret;

	lockdep_assert_held(&save->dev_lock);
	save->pass.dropped = false;
	ret = vgpu_dirty_pass(save->dev->instance, VGPU_DIRTY_MOVE, &save->pass);
	/*
	 * A run that was taken from the last pass, and not saved, is in no pass any more, unless
	 * its pages are gone: it is saved as it is now. That they are gone is told once only, even
	 * if the pass is cut short.
	 */
	if (save->pass.dropped) {
		save->dropped = true;
		save->nr = 0;
	}
	save->renew = ret;
	if (ret)
		return ret;
	save->initial = !save->pass_ns;
	save->pass_ns = ktime_get_ns();
	save->left = save->pass.pages;
	save_tell(save, 0);
	return 0;
}

/* Begins a pass if the last one is over, and it is time; or if that was cut short. */
static int save_refresh(struct vgpu_save *save)
{
	bool over = !save->left && !save->nr;

	if (save->pass_ns && ktime_get_ns() - save->pass_ns < SAVE_PASS_NS)
		over = false;
	if (save->stopped || !(over || save->renew))
		return 0;
	return save_take_pass(save);
}

/* Takes the next run, if the last one was saved. Whether the pass has more is in @nr. */
static int save_take_run(struct vgpu_save *save)
{
	int ret;

	if (save->nr)
		return 0;
	ret = vgpu_dirty_next(save->dev->instance, &save->pass, &save->first, &save->nr);
	if (ret)
		return ret;
	save->left = save->nr ? save->left - min(save->left, save->nr) : 0;
	return 0;
}

/* A frame of pages: returns the number of bytes of data, 0 if the pass has no more, or -errno. */
static ssize_t save_memory(struct vgpu_save *save)
{
	struct vgpu_frame_pages *pages = (void *)(save->frame + 1);
	u32 nr, i;
	int ret;

	ret = save_take_run(save);
	if (ret)
		return ret;
	nr = min_t(u64, save->nr, SAVE_RUN);
	if (!nr && !save->dropped)
		return 0;
	*pages = (struct vgpu_frame_pages){
		.first = cpu_to_le64(nr ? save->first : 0),
		.nr = cpu_to_le32(nr),
		.flags = cpu_to_le32(save->dropped ? VGPU_PAGES_DROPPED : 0),
	};
	for (i = 0; i < nr; i++) {
		ret = save_read_page(save, VGPU_HW_BAR_FB, save->first + i,
				     (u8 *)(pages + 1) + i * VGPU_STREAM_PAGE);
		if (ret)
			return ret;
	}
	save->dropped = false;
	save->first += nr;
	save->nr -= nr;
	return sizeof(*pages) + nr * VGPU_STREAM_PAGE;
}

/* Likewise of the channels' pages, of which those that read zero are left out. */
static ssize_t save_channel(struct vgpu_save *save)
{
	struct vgpu_frame_pages *pages = (void *)(save->frame + 1);
	int ret;

	for (; save->channel < save->dev->instance->info.nr_channels; save->channel++) {
		ret = save_read_page(save, VGPU_HW_BAR_CHANNELS, save->channel, pages + 1);
		if (ret)
			return ret;
		if (!memchr_inv(pages + 1, 0, VGPU_STREAM_PAGE))
			continue;
		*pages = (struct vgpu_frame_pages){
			.first = cpu_to_le64(save->channel++),
			.nr = cpu_to_le32(1),
		};
		return sizeof(*pages) + VGPU_STREAM_PAGE;
	}
	return 0;
}

static ssize_t save_faults(struct vgpu_save *save)
{
	struct vgpu_frame_faults *faults = (void *)(save->frame + 1);
	struct vgpu_quarantine_ages ages;
	u32 i;

	vgpu_instance_faults_export(save->dev->instance, &ages);
	*faults = (struct vgpu_frame_faults){
		.faults = cpu_to_le32(ages.nr_faults),
		.quarantines = cpu_to_le32(ages.quarantines),
		.left_ns = cpu_to_le64(ages.left_ns),
		.next_ns = cpu_to_le64(ages.next_ns),
		.quiet_ns = cpu_to_le64(ages.quiet_ns),
	};
	BUILD_BUG_ON(ARRAY_SIZE(faults->age_ns) != ARRAY_SIZE(ages.age_ns));
	for (i = 0; i < ARRAY_SIZE(ages.age_ns); i++)
		faults->age_ns[i] = cpu_to_le64(ages.age_ns[i]);
	return sizeof(*faults);
}

static ssize_t save_part(struct vgpu_save *save)
{
	size_t part = min_t(size_t, save->state.bytes - save->state_at, SAVE_PART);

	memcpy(save->frame + 1, save->state.data + save->state_at, part);
	save->state_at += part;
	return part;
}

static ssize_t save_data(struct vgpu_save *save)
{
	switch (save->stage) {
	case VGPU_FRAME_BEGIN:
		vgpu_instance_about(save->dev->instance, (void *)(save->frame + 1));
		return sizeof(struct vgpu_stream_about);
	case VGPU_FRAME_MEMORY:
		return save_memory(save);
	case VGPU_FRAME_CHANNELS:
		return save_channel(save);
	case VGPU_FRAME_FUNCTION:
		memcpy(save->frame + 1, save->function, save->function_bytes);
		return save->function_bytes;
	case VGPU_FRAME_FAULTS:
		return save_faults(save);
	case VGPU_FRAME_STATE:
		return save_part(save);
	default:
		return 0;
	}
}

static u64 save_restarts(const struct vgpu_save *save)
{
	return atomic64_read(&save->dev->instance->restarts);
}

/* Whether the vGPU is what it was when it stood still. An administrator can end a pause, too. */
static bool save_is_still(const struct vgpu_save *save)
{
	return save->restarts == save_restarts(save) && READ_ONCE(save->dev->instance->pauses);
}

/*
 * Makes the next frame. Returns 0: it is there, or the stream is complete, and then @bytes is 0;
 * -ENOMSG if there is none as long as the vGPU runs; -EIO if the vGPU stood still, and was reset,
 * or goes on; or -errno.
 */
static int save_next(struct vgpu_save *save)
{
	ssize_t length;
	int ret;

	lockdep_assert_held(&save->dev_lock);
	save->bytes = 0;
	WRITE_ONCE(save->at, 0);
	while (save->stage <= VGPU_FRAME_END) {
		if (save->stopped && !save_is_still(save))
			return -EIO;
		if (save->stage == VGPU_FRAME_MEMORY) {
			ret = save_refresh(save);
			if (ret)
				return ret;
		}
		length = save_data(save);
		if (length < 0)
			return length;
		if (length || save->stage == VGPU_FRAME_END)
			save_seal(save, length);
		if (!length && save->stage == VGPU_FRAME_MEMORY && !save->stopped)
			return -ENOMSG;
		/* What has no more, and what there is once, is followed by the next. */
		if (!length || save->stage == VGPU_FRAME_BEGIN ||
		    save->stage == VGPU_FRAME_FUNCTION || save->stage == VGPU_FRAME_FAULTS)
			save->stage++;
		if (save->bytes)
			return 0;
	}
	return 0;
}

/* Makes a frame if the last one was read. What the device was, nobody reads when it has ended. */
static int save_fill(struct vgpu_save *save)
{
	int ret;

	lockdep_assert_held(&save->user_lock);
	ret = mutex_lock_killable(&save->dev_lock);
	if (ret)
		return ret;
	if (!save->dev) {
		ret = -ENODEV;
	} else if (save->at == save->bytes) {
		ret = save_next(save);
		save_tell(save, save->bytes);
	}
	mutex_unlock(&save->dev_lock);
	return ret;
}

static ssize_t save_read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	struct vgpu_save *save = file->private_data;
	size_t done = 0, part;
	int ret;

	ret = mutex_lock_killable(&save->user_lock);
	if (ret)
		return ret;
	while (!ret && done < count) {
		ret = save_fill(save);
		if (ret || !save->bytes)
			break;
		part = min(count - done, save->bytes - save->at);
		if (copy_to_user(user + done, (u8 *)save->frame + save->at, part)) {
			ret = -EFAULT;
			break;
		}
		WRITE_ONCE(save->at, save->at + part);
		done += part;
		if (fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	mutex_unlock(&save->user_lock);
	return done ?: ret;
}

/* VFIO_MIG_GET_PRECOPY_INFO */
static int save_precopy_info(struct vgpu_save *save, struct vfio_precopy_info *info)
{
	u64 bytes;
	int ret;

	ret = mutex_lock_killable(&save->dev_lock);
	if (ret)
		return ret;
	if (!save->dev || save->stopped)
		ret = -EINVAL;
	else
		ret = save_refresh(save);
	if (!ret) {
		bytes = save_unread(save);
		info->initial_bytes = save->initial ? bytes : 0;
		info->dirty_bytes = save->initial ? 0 : bytes;
	}
	mutex_unlock(&save->dev_lock);
	return ret;
}

static long save_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	size_t minsz = offsetofend(struct vfio_precopy_info, dirty_bytes);
	void __user *user = (void __user *)arg;
	struct vfio_precopy_info info;
	int ret;

	if (cmd != VFIO_MIG_GET_PRECOPY_INFO)
		return -ENOTTY;
	if (copy_from_user(&info, user, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	info.flags = 0;
	ret = save_precopy_info(file->private_data, &info);
	if (ret)
		return ret;
	return copy_to_user(user, &info, minsz) ? -EFAULT : 0;
}

static void save_free(struct vgpu_save *save)
{
	vgpu_records_free(&save->state);
	kvfree(save->function);
	kvfree(save->frame);
	mutex_destroy(&save->dev_lock);
	mutex_destroy(&save->user_lock);
	kfree(save);
}

static int save_release(struct inode *inode, struct file *file)
{
	save_free(file->private_data);
	return 0;
}

static const struct file_operations save_fops = {
	.owner = THIS_MODULE,
	.read = save_read,
	.unlocked_ioctl = save_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = save_release,
};

/**
 * vgpu_save_begin() - begin to save a vGPU
 * @dev: a device that is open
 *
 * Pages of its framebuffer that are written are noted from here on.
 *
 * Context: sleeps.
 * Return: the stream, which vgpu_save_end() ends; or an ERR_PTR: an error of vgpu_dirty_start(), or
 * -ENOMEM, -ENFILE.
 */
struct vgpu_save *vgpu_save_begin(struct vgpu_vfio *dev)
{
	struct vgpu_save *save = kzalloc(sizeof(*save), VGPU_RECORD_GFP);
	int ret = -ENOMEM;

	if (!save)
		return ERR_PTR(-ENOMEM);
	mutex_init(&save->user_lock);
	mutex_init(&save->dev_lock);
	save->stage = VGPU_FRAME_BEGIN;
	save->function_bytes = struct_size(save->function, vector, dev->irqs.nr);
	save->frame = kvmalloc(sizeof(*save->frame) + sizeof(struct vgpu_frame_pages) +
			       max_t(size_t, SAVE_PART, save->function_bytes),
			       VGPU_RECORD_GFP);
	save->function = kvzalloc(save->function_bytes, VGPU_RECORD_GFP);
	if (!save->frame || !save->function)
		goto err_free;
	ret = vgpu_dirty_start(dev->instance, VGPU_DIRTY_MOVE);
	if (ret)
		goto err_free;
	save->file = anon_inode_getfile("vgpu-save", &save_fops, save, O_RDONLY);
	if (IS_ERR(save->file)) {
		ret = PTR_ERR(save->file);
		goto err_stop;
	}
	stream_open(file_inode(save->file), save->file);
	save->dev = dev;
	return save;

err_stop:
	vgpu_dirty_stop(dev->instance, VGPU_DIRTY_MOVE);
err_free:
	save_free(save);
	return ERR_PTR(ret);
}

/* The stream's file. No reference is taken. */
struct file *vgpu_save_file(struct vgpu_save *save)
{
	return save->file;
}

static void save_function(struct vgpu_save *save)
{
	struct vgpu_vfio *dev = save->dev;

	mutex_lock(&dev->config_lock);
	memcpy(save->function->config, dev->config.space, sizeof(save->function->config));
	mutex_unlock(&dev->config_lock);
	vgpu_irq_save(&dev->irqs, save->function);
}

/**
 * vgpu_save_stop() - begin the last part of a stream
 * @save: the stream of a vGPU that is paused, and whose guest stands still
 *
 * Context: sleeps, killable.
 * Return: 0; -EINTR if the task was killed; or an error of vgpu_dirty_pass() or
 * vgpu_instance_save(). After an error the stream is what it was.
 */
int vgpu_save_stop(struct vgpu_save *save)
{
	struct vgpu_records state = {};
	int ret;

	ret = mutex_lock_killable(&save->dev_lock);
	if (ret)
		return ret;
	save->restarts = save_restarts(save);
	ret = vgpu_instance_save(save->dev->instance, &state);
	if (!ret)
		ret = save_take_pass(save);
	if (!ret) {
		save_function(save);
		swap(save->state, state);
		save->stopped = true;
	}
	mutex_unlock(&save->dev_lock);
	vgpu_records_free(&state);
	return ret;
}

/**
 * vgpu_save_end() - end a stream, and let go of its file
 * @save: the stream; the caller must not use it afterwards
 *
 * Who reads the file gets ENODEV. Pages that are written are not noted any more.
 *
 * Context: sleeps.
 */
void vgpu_save_end(struct vgpu_save *save)
{
	mutex_lock(&save->dev_lock);
	vgpu_dirty_stop(save->dev->instance, VGPU_DIRTY_MOVE);
	save->dev = NULL;
	vgpu_records_free(&save->state);
	mutex_unlock(&save->dev_lock);
	fput(save->file);
}

/**
 * vgpu_save_left() - tell how much is left to be read, without what comes behind the memory
 * @save: the stream
 * @bytes: set
 *
 * Context: sleeps, killable.
 * Return: 0, or an error of vgpu_dirty_pass().
 */
int vgpu_save_left(struct vgpu_save *save, u64 *bytes)
{
	int ret;

	ret = mutex_lock_killable(&save->dev_lock);
	if (ret)
		return ret;
	ret = save_refresh(save);
	*bytes = save_unread(save);
	mutex_unlock(&save->dev_lock);
	return ret;
}
