// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"

#define NODE	"/dev/vgpu"

static struct vgpu_ctl_version driver;	/* for ctl_error() */

int ctl_open(void)
{
	struct vgpu_ctl_version version;
	int fd, ret;

	fd = open(NODE, O_RDWR | O_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		fd = open(NODE, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV)
			fail(NODE ": not there: no driver of a GPU is loaded (the software GPU's: modprobe vgpu_soft)");
		else if (ret == -EACCES || ret == -EPERM)
			fail(NODE ": permission denied; reading needs membership in the node's group");
		else
			fail(NODE ": %s", strerror(-ret));
		return ret;
	}
	ret = ctl_version(fd, &version);
	if (!ret && version.abi_major != VGPU_ABI_MAJOR) {
		fail(NODE ": driver %.*s speaks ABI %u.%u, this tool, %s, %u.%u",
		     TEXT(version.driver_version), version.abi_major, version.abi_minor,
		     VGPUCTL_VERSION, VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
		ret = -EPROTO;
	} else if (ret) {
		fail(NODE ": version: %s", strerror(-ret));
	}
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static int ctl_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

const char *ctl_error(int ret)
{
	static char text[VGPU_NAME_LEN + 80];

	if (ret != -ENOTTY)
		return strerror(-ret);
	snprintf(text, sizeof(text), "the driver of /dev/vgpu, %.*s with ABI %u.%u, cannot do that",
		 TEXT(driver.driver_version), driver.abi_major, driver.abi_minor);
	return text;
}

int ctl_version(int fd, struct vgpu_ctl_version *version)
{
	int ret;

	memset(version, 0, sizeof(*version));
	version->size = sizeof(*version);
	ret = ctl_call(fd, VGPU_IOC_VERSION, version);
	if (!ret)
		driver = *version;
	return ret;
}

/* A list may have grown since the driver told its length: asks again until the whole list fits. */
static int ctl_list(int fd, unsigned long request, uint32_t gpu, size_t each,
		    void **items, uint32_t *count)
{
	struct vgpu_ctl_list list;
	uint32_t room = 16;
	void *buf;
	int ret;

	for (;;) {
		buf = calloc(room, each);
		if (!buf)
			return -ENOMEM;
		memset(&list, 0, sizeof(list));
		list.size = sizeof(list);
		list.gpu = gpu;
		list.count = room;
		list.ids = (uintptr_t)buf;
		ret = ctl_call(fd, request, &list);
		if (!ret && list.count <= room) {
			*items = buf;
			*count = list.count;
			return 0;
		}
		free(buf);
		if (ret)
			return ret;
		room = list.count + 16;
	}
}

int ctl_gpus(int fd, uint32_t **ids, uint32_t *count)
{
	void *items = NULL;
	int ret;

	ret = ctl_list(fd, VGPU_IOC_GPUS, 0, sizeof(**ids), &items, count);
	*ids = items;
	return ret;
}

int ctl_instances(int fd, uint32_t gpu, uint8_t **uuids, uint32_t *count)
{
	void *items = NULL;
	int ret;

	ret = ctl_list(fd, VGPU_IOC_INSTANCES, gpu, VGPU_UUID_LEN, &items,
		       count);
	*uuids = items;
	return ret;
}

int ctl_gpu(int fd, uint32_t id, struct vgpu_ctl_gpu *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->size = sizeof(*gpu);
	gpu->gpu = id;
	return ctl_call(fd, VGPU_IOC_GPU, gpu);
}

int ctl_type(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_type *type)
{
	memset(type, 0, sizeof(*type));
	type->size = sizeof(*type);
	type->gpu = gpu;
	type->index = index;
	return ctl_call(fd, VGPU_IOC_TYPE, type);
}

int ctl_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst)
{
	memset(inst, 0, sizeof(*inst));
	inst->size = sizeof(*inst);
	memcpy(inst->uuid, uuid, VGPU_UUID_LEN);
	return ctl_call(fd, VGPU_IOC_INSTANCE, inst);
}

int ctl_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal)
{
	memset(refusal, 0, sizeof(*refusal));
	refusal->size = sizeof(*refusal);
	memcpy(refusal->uuid, uuid, VGPU_UUID_LEN);
	return ctl_call(fd, VGPU_IOC_REFUSAL, refusal);
}

int ctl_refusal_of(int fd, const uint8_t *uuid, uint32_t gpu, struct vgpu_ctl_refusal *refusal)
{
	memset(refusal, 0, sizeof(*refusal));
	refusal->size = sizeof(*refusal);
	refusal->flags = VGPU_REFUSAL_OF_GPU;
	refusal->gpu = gpu;
	memcpy(refusal->uuid, uuid, VGPU_UUID_LEN);
	return ctl_call(fd, VGPU_IOC_REFUSAL, refusal);
}

int ctl_release(int fd, const uint8_t *uuid)
{
	struct vgpu_ctl_instance_op op = { .size = sizeof(op) };

	memcpy(op.uuid, uuid, VGPU_UUID_LEN);
	return ctl_call(fd, VGPU_IOC_RELEASE, &op);
}

int ctl_sched(int fd, uint32_t gpu, uint32_t partition, struct vgpu_ctl_sched *sched)
{
	memset(sched, 0, sizeof(*sched));
	sched->size = sizeof(*sched);
	sched->flags = partition ? VGPU_SCHED_OF_PARTITION : 0;
	sched->gpu = gpu;
	sched->partition = partition;
	return ctl_call(fd, VGPU_IOC_SCHED, sched);
}

int ctl_sched_set(int fd, struct vgpu_ctl_sched *sched)
{
	sched->size = sizeof(*sched);
	sched->flags = sched->partition ? VGPU_SCHED_OF_PARTITION : 0;
	return ctl_call(fd, VGPU_IOC_SCHED_SET, sched);
}

int ctl_shares_set(int fd, const struct vgpu_ctl_share *shares, uint32_t count,
		   uint8_t *text)
{
	struct vgpu_ctl_shares set = {
		.size = sizeof(set),
		.count = count,
		.entry_size = sizeof(*shares),
		.entries = (uintptr_t)shares,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_SHARES_SET, &set);
	memcpy(text, set.text, sizeof(set.text));
	return ret;
}

int ctl_sched_log(int fd, uint32_t gpu, uint32_t partition, uint32_t engine,
		  struct vgpu_ctl_switch *entries, uint32_t *count, uint64_t *total)
{
	struct vgpu_ctl_sched_log log = {
		.size = sizeof(log),
		.gpu = gpu,
		.engine = engine,
		.count = *count,
		.entry_size = sizeof(*entries),
		.entries = (uintptr_t)entries,
		.partition = partition,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_SCHED_LOG, &log);
	if (ret)
		return ret;
	if (log.count < *count)
		*count = log.count;
	*total = log.total;
	return 0;
}

int ctl_events(int fd, uint32_t flags, uint64_t *next_seq)
{
	struct vgpu_ctl_events events = {
		.size = sizeof(events),
		.flags = flags,
		.event_size = sizeof(struct vgpu_ctl_event),
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_EVENTS, &events);
	*next_seq = events.next_seq;
	return ret;
}

int ctl_hist(int fd, const uint8_t *uuid, uint32_t engine,
	     struct vgpu_ctl_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	hist->size = sizeof(*hist);
	hist->engine = engine;
	memcpy(hist->uuid, uuid, VGPU_UUID_LEN);
	return ctl_call(fd, VGPU_IOC_HIST, hist);
}

int ctl_stats(int fd, uint32_t gpu, struct vgpu_ctl_stats *stats, struct vgpu_ctl_instance **inst)
{
	struct vgpu_ctl_instance *buf;
	uint32_t room = 32;
	int ret;

	for (;;) {
		buf = calloc(room, sizeof(*buf));
		if (!buf)
			return -ENOMEM;
		memset(stats, 0, sizeof(*stats));
		stats->size = sizeof(*stats);
		stats->gpu = gpu;
		stats->count = room;
		stats->entry_size = sizeof(*buf);
		stats->entries = (uintptr_t)buf;
		ret = ctl_call(fd, VGPU_IOC_STATS, stats);
		stats->entries = 0;
		if (!ret && stats->count <= room) {
			*inst = buf;
			return 0;
		}
		free(buf);
		if (ret)
			return ret;
		room = stats->count + 16;
	}
}

int ctl_sessions(int fd, uint32_t gpu, uint64_t *first_id, struct vgpu_ctl_session *sessions,
		 uint32_t *count, uint64_t *now_ns)
{
	struct vgpu_ctl_sessions ctl = {
		.size = sizeof(ctl),
		.gpu = gpu,
		.count = *count,
		.entry_size = sizeof(*sessions),
		.entries = (uintptr_t)sessions,
		.first_id = *first_id,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_SESSIONS, &ctl);
	if (ret)
		return ret;
	if (ctl.count < *count)
		*count = ctl.count;
	*first_id = ctl.next_id;
	*now_ns = ctl.now_ns;
	return 0;
}

int ctl_channels(int fd, const uint8_t *uuid, uint32_t first, struct vgpu_ctl_channel *channels,
		 uint32_t *count, struct vgpu_ctl_channels *head)
{
	int ret;

	memset(head, 0, sizeof(*head));
	head->size = sizeof(*head);
	memcpy(head->uuid, uuid, VGPU_UUID_LEN);
	head->count = *count;
	head->entry_size = sizeof(*channels);
	head->entries = (uintptr_t)channels;
	head->first = first;
	ret = ctl_call(fd, VGPU_IOC_CHANNELS, head);
	head->entries = 0;
	if (ret)
		return ret;
	if (head->count < *count)
		*count = head->count;
	return 0;
}

int ctl_migration(int fd, const uint8_t *uuid, uint32_t gpu, uint32_t type, void *about,
		  uint32_t room, struct vgpu_ctl_migration *migration)
{
	int ret;

	memset(migration, 0, sizeof(*migration));
	migration->size = sizeof(*migration);
	migration->flags = uuid ? 0 : VGPU_MIGRATION_OF_TYPE;
	if (uuid)
		memcpy(migration->uuid, uuid, VGPU_UUID_LEN);
	migration->gpu = gpu;
	migration->type_index = type;
	migration->about = (uintptr_t)about;
	migration->about_bytes = room;
	ret = ctl_call(fd, VGPU_IOC_MIGRATION, migration);
	migration->about = 0;
	return ret;
}

int ctl_migration_check(int fd, const uint8_t *uuid, uint32_t gpu, uint32_t type,
			const void *about, uint32_t bytes,
			struct vgpu_ctl_migration_check *check)
{
	int ret;

	memset(check, 0, sizeof(*check));
	check->size = sizeof(*check);
	check->flags = uuid ? 0 : VGPU_MIGRATION_OF_TYPE;
	if (uuid)
		memcpy(check->uuid, uuid, VGPU_UUID_LEN);
	check->gpu = gpu;
	check->type_index = type;
	check->about = (uintptr_t)about;
	check->about_bytes = bytes;
	ret = ctl_call(fd, VGPU_IOC_MIGRATION_CHECK, check);
	check->about = 0;
	return ret;
}

int ctl_profile(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->size = sizeof(*profile);
	profile->gpu = gpu;
	profile->index = index;
	return ctl_call(fd, VGPU_IOC_PROFILE, profile);
}

int ctl_partitions(int fd, uint32_t gpu, uint32_t **ids, uint32_t *count)
{
	void *items = NULL;
	int ret;

	ret = ctl_list(fd, VGPU_IOC_PARTITIONS, gpu, sizeof(**ids), &items, count);
	*ids = items;
	return ret;
}

int ctl_partition(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part)
{
	memset(part, 0, sizeof(*part));
	part->size = sizeof(*part);
	part->gpu = gpu;
	part->partition = id;
	return ctl_call(fd, VGPU_IOC_PARTITION, part);
}

int ctl_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t start, uint32_t *id,
			 uint8_t *text)
{
	struct vgpu_ctl_partition_create create = {
		.size = sizeof(create),
		.gpu = gpu,
		.profile = profile,
		.start = start,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_PARTITION_CREATE, &create);
	memcpy(text, create.text, sizeof(create.text));
	*id = create.partition;
	return ret;
}

int ctl_partition_remove(int fd, uint32_t gpu, uint32_t id, uint8_t *text)
{
	struct vgpu_ctl_partition_remove remove = {
		.size = sizeof(remove),
		.gpu = gpu,
		.partition = id,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_PARTITION_REMOVE, &remove);
	memcpy(text, remove.text, sizeof(remove.text));
	return ret;
}

int ctl_partition_mode(int fd, uint32_t gpu, uint32_t mode, uint8_t *text)
{
	struct vgpu_ctl_partition_set_mode set = {
		.size = sizeof(set),
		.gpu = gpu,
		.mode = mode,
	};
	int ret;

	ret = ctl_call(fd, VGPU_IOC_PARTITION_MODE, &set);
	memcpy(text, set.text, sizeof(set.text));
	return ret;
}
