// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a paused instance: saved as records (linux/vgpu_record.h), and built from records.
 * The core's records come first, then those of the back end. What a host measures, sets or counts
 * is no state of an instance; nor is the content of its memory, which is copied page by page.
 */
#include <linux/vgpu_record.h>

#include "../core.h"
#include "state.h"

/**
 * struct edid_record - the monitor that the guest sees
 * @size: bytes of the EDID; 0: there is no monitor
 * @blob: the EDID, followed by zeros
 */
struct edid_record {
	__le32 size;
	u8 blob[VGPU_EDID_MAX];
};

static void state_save_edid(struct vgpu_instance *instance, struct vgpu_records *to)
{
	struct edid_record *record = vgpu_record_add(to, VGPU_RECORD_EDID, sizeof(*record));

	if (!record)
		return;
	mutex_lock(&instance->edid.lock);
	record->size = cpu_to_le32(instance->edid.size);
	memcpy(record->blob, instance->edid.blob, sizeof(record->blob));
	mutex_unlock(&instance->edid.lock);
}

static int state_load_edid(struct vgpu_instance *instance, struct vgpu_record_reader *from)
{
	struct edid_record record;
	u32 size;
	int ret;

	ret = vgpu_record_take_struct(from, VGPU_RECORD_EDID, "edid", &record, blob);
	if (ret)
		return ret;
	size = le32_to_cpu(record.size);
	if (size > VGPU_EDID_MAX || memchr_inv(record.blob + size, 0, VGPU_EDID_MAX - size))
		return vgpu_record_refuse(from, "edid", "size");
	if (vgpu_edid_set(instance, record.blob, size))
		return vgpu_record_refuse(from, "edid", "blob");
	return 0;
}

static int state_save(struct vgpu_instance *instance, struct vgpu_records *to)
{
	int ret;

	state_save_edid(instance, to);
	ret = instance->gpu->ops->state_save(instance, to);
	return ret ?: to->error;
}

static int state_load(struct vgpu_instance *instance, const struct vgpu_records *records)
{
	struct vgpu_record_reader from;
	int ret;

	ret = vgpu_record_begin(&from, records->data, records->bytes);
	if (!ret)
		ret = state_load_edid(instance, &from) ?:
		      instance->gpu->ops->state_load(instance, &from);
	while (!ret && from.type)
		ret = vgpu_record_skip(&from);
	if (ret == -EINVAL)
		vgpu_inst_notice_limited(instance, "state refused: record %u, %s: %s\n",
					 from.looked, from.record, from.field);
	return ret;
}

/*
 * Takes the state lock of an instance, and access_lock, for its state. Returns 0; -ENODEV if the
 * device is not open; -EOPNOTSUPP if the back end cannot save; -EBUSY if the instance is not
 * paused; -EINTR if the task was killed: then neither is held.
 */
static int state_begin(struct vgpu_instance *instance)
{
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	if (!instance->opened)
		ret = -ENODEV;
	else if (!instance->gpu->ops->state_save)
		ret = -EOPNOTSUPP;
	else if (!instance->pauses)
		ret = -EBUSY;
	else
		ret = down_write_killable(&instance->access_lock);
	if (ret)
		mutex_unlock(&instance->state_lock);
	return ret;
}

static void state_end(struct vgpu_instance *instance)
{
	up_write(&instance->access_lock);
	mutex_unlock(&instance->state_lock);
}

/**
 * vgpu_instance_save() - save the state of an instance
 * @instance: the instance, paused
 * @to: empty; the records are added there, and the caller frees them, whatever is returned
 *
 * The content of memory is not in it.
 *
 * Context: sleeps, killable until it begins.
 * Return: 0; -ENODEV if the device is not open; -EOPNOTSUPP if the back end cannot save; -EBUSY if
 * it is not paused; -EINTR if the task was killed; -ENOMEM; -E2BIG.
 */
int vgpu_instance_save(struct vgpu_instance *instance, struct vgpu_records *to)
{
	int ret;

	ret = state_begin(instance);
	if (ret)
		return ret;
	ret = state_save(instance, to);
	WRITE_ONCE(instance->state_bytes, to->bytes);
	state_end(instance);
	return ret;
}

/**
 * vgpu_instance_load() - build the state of an instance from records
 * @instance: the instance, paused; its memory has the content that belongs to the state
 * @from: the records, any byte of which may be wrong
 * @restarts: of the instance, from vgpu_instance_clear(): after a later reset its memory is gone
 *
 * If that fails once it has begun, the device is reset, and that is not counted as a reset.
 *
 * Context: sleeps, killable until it begins.
 * Return: 0; -EINVAL if the records are refused, which is logged; else as vgpu_instance_save().
 */
int vgpu_instance_load(struct vgpu_instance *instance, const struct vgpu_records *from,
		       u64 restarts)
{
	int ret;

	ret = state_begin(instance);
	if (ret)
		return ret;
	if (atomic64_read(&instance->restarts) == restarts) {
		ret = state_load(instance, from);
	} else {
		vgpu_inst_notice_limited(instance, "state refused: the vGPU was reset meanwhile\n");
		ret = -EINVAL;
	}
	if (ret)
		vgpu_instance_restart(instance);
	state_end(instance);
	return ret;
}

/**
 * vgpu_instance_clear() - reset the device, as it is about to be given another state
 * @instance: the instance
 * @restarts: set to the number that vgpu_instance_load() is to be given
 *
 * That is not counted as a reset. The instance stays paused if it is.
 *
 * Context: sleeps, killable until it begins.
 * Return: 0; -ENODEV if the device is not open; -EINTR if the task was killed.
 */
int vgpu_instance_clear(struct vgpu_instance *instance, u64 *restarts)
{
	int ret;

	ret = mutex_lock_killable(&instance->state_lock);
	if (ret)
		return ret;
	if (instance->opened)
		vgpu_instance_restart(instance);
	else
		ret = -ENODEV;
	*restarts = atomic64_read(&instance->restarts);
	mutex_unlock(&instance->state_lock);
	return ret;
}

/* Saves the state, builds it anew, and saves it once more: it is to be the same. */
static int state_reload(struct vgpu_instance *instance)
{
	struct vgpu_records before = {}, after = {};
	u32 index, type;
	int ret;

	lockdep_assert_held(&instance->state_lock);
	ret = state_save(instance, &before);
	if (ret)
		goto free;
	WRITE_ONCE(instance->state_bytes, before.bytes);
	ret = state_load(instance, &before);
	if (ret)
		goto reset;
	/* If there is no memory to compare it, the state is there nevertheless. */
	ret = state_save(instance, &after);
	if (ret || vgpu_records_same(&before, &after, &index, &type))
		goto free;
	vgpu_inst_notice(instance, "state differs after it was loaded: record %u, type %#x\n",
			 index, type);
	ret = -EIO;
reset:
	vgpu_instance_restart(instance);
free:
	vgpu_records_free(&before);
	vgpu_records_free(&after);
	return ret;
}

/**
 * vgpu_instance_reload() - save the state of an instance, and build it anew from what was saved
 * @instance: the instance, paused
 *
 * A proof that what is saved is complete: nothing else is left of what engines have begun. The
 * guest's accesses to registers wait meanwhile; its memory, and its mappings of that, stay. If
 * building fails, or the state is not the same afterwards, the device is reset, and that is not
 * counted as a reset. After any other error the state is what it was.
 *
 * Context: sleeps, killable until it begins.
 * Return: 0; -ENODEV if the device is not open; -EBUSY if it is not paused; -EOPNOTSUPP if the back
 * end cannot save; -EIO if the state is not the same afterwards, or was refused; -EINTR if the task
 * was killed; -ENOMEM: then there was no memory to save, to build or to compare; or the back end's
 * error.
 */
int vgpu_instance_reload(struct vgpu_instance *instance)
{
	int ret;

	ret = state_begin(instance);
	if (ret)
		return ret;
	ret = state_reload(instance);
	state_end(instance);
	return ret == -EINVAL ? -EIO : ret;
}
