// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "node.h"

static int node_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int node_gpus(int fd, uint32_t *ids, uint32_t *count)
{
	struct vgpu_ctl_list list = {
		.size = sizeof(list),
		.count = *count,
		.ids = (uintptr_t)ids,
	};
	int ret = node_call(fd, VGPU_IOC_GPUS, &list);

	*count = list.count;
	return ret;
}

int node_gpu(int fd, uint32_t id, struct vgpu_ctl_gpu *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->size = sizeof(*gpu);
	gpu->gpu = id;
	return node_call(fd, VGPU_IOC_GPU, gpu);
}

int node_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst)
{
	memset(inst, 0, sizeof(*inst));
	inst->size = sizeof(*inst);
	memcpy(inst->uuid, uuid, sizeof(inst->uuid));
	return node_call(fd, VGPU_IOC_INSTANCE, inst);
}

int node_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal)
{
	memset(refusal, 0, sizeof(*refusal));
	refusal->size = sizeof(*refusal);
	memcpy(refusal->uuid, uuid, sizeof(refusal->uuid));
	return node_call(fd, VGPU_IOC_REFUSAL, refusal);
}

int node_release(int fd, const uint8_t *uuid)
{
	struct vgpu_ctl_instance_op op = { .size = sizeof(op) };

	memcpy(op.uuid, uuid, sizeof(op.uuid));
	return node_call(fd, VGPU_IOC_RELEASE, &op);
}

int node_sched(int fd, uint32_t gpu, struct vgpu_ctl_sched *sched)
{
	memset(sched, 0, sizeof(*sched));
	sched->size = sizeof(*sched);
	sched->gpu = gpu;
	return node_call(fd, VGPU_IOC_SCHED, sched);
}

int node_sched_set(int fd, uint32_t gpu, struct vgpu_ctl_sched *sched, uint32_t valid)
{
	sched->size = sizeof(*sched);
	sched->flags = 0;
	sched->gpu = gpu;
	sched->valid = valid;
	return node_call(fd, VGPU_IOC_SCHED_SET, sched);
}

int node_part_sched(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_sched *sched)
{
	memset(sched, 0, sizeof(*sched));
	sched->size = sizeof(*sched);
	sched->flags = VGPU_SCHED_OF_PARTITION;
	sched->gpu = gpu;
	sched->partition = id;
	return node_call(fd, VGPU_IOC_SCHED, sched);
}

int node_part_sched_set(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_sched *sched,
			uint32_t valid)
{
	sched->size = sizeof(*sched);
	sched->flags = VGPU_SCHED_OF_PARTITION;
	sched->gpu = gpu;
	sched->valid = valid;
	sched->partition = id;
	return node_call(fd, VGPU_IOC_SCHED_SET, sched);
}

int node_shares_set(int fd, const struct vgpu_ctl_share *entries, uint32_t count, char *text)
{
	struct vgpu_ctl_shares shares = {
		.size = sizeof(shares),
		.count = count,
		.entry_size = sizeof(*entries),
		.entries = (uintptr_t)entries,
	};
	int ret;

	/* So that a call that forgets to write a text is seen. */
	memset(shares.text, 'x', sizeof(shares.text));
	ret = node_call(fd, VGPU_IOC_SHARES_SET, &shares);
	memcpy(text, shares.text, sizeof(shares.text));
	return ret;
}

int node_sched_log(int fd, uint32_t gpu, uint32_t engine, struct vgpu_ctl_switch *entries,
		   uint32_t *count, uint64_t *total)
{
	struct vgpu_ctl_sched_log log = {
		.size = sizeof(log),
		.gpu = gpu,
		.engine = engine,
		.count = *count,
		.entry_size = sizeof(*entries),
		.entries = (uintptr_t)entries,
	};
	int ret = node_call(fd, VGPU_IOC_SCHED_LOG, &log);

	*count = log.count;
	*total = log.total;
	return ret;
}

int node_stats(int fd, uint32_t gpu, struct vgpu_ctl_stats *stats,
	       struct vgpu_ctl_instance *entries, uint32_t room)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	stats->gpu = gpu;
	stats->count = room;
	stats->entry_size = sizeof(*entries);
	stats->entries = (uintptr_t)entries;
	return node_call(fd, VGPU_IOC_STATS, stats);
}

int node_samples(int fd, uint32_t gpu, struct vgpu_ctl_samples *ctl,
		 struct vgpu_ctl_sample *entries, uint32_t room)
{
	uint64_t since_ns = ctl->since_ns;

	memset(ctl, 0, sizeof(*ctl));
	ctl->size = sizeof(*ctl);
	ctl->gpu = gpu;
	ctl->count = room;
	ctl->entry_size = sizeof(*entries);
	ctl->entries = (uintptr_t)entries;
	ctl->since_ns = since_ns;
	return node_call(fd, VGPU_IOC_SAMPLES, ctl);
}

int node_sessions(int fd, uint32_t gpu, struct vgpu_ctl_sessions *ctl,
		  struct vgpu_ctl_session *entries, uint32_t room)
{
	uint64_t first_id = ctl->first_id;

	memset(ctl, 0, sizeof(*ctl));
	ctl->size = sizeof(*ctl);
	ctl->gpu = gpu;
	ctl->count = room;
	ctl->entry_size = sizeof(*entries);
	ctl->entries = (uintptr_t)entries;
	ctl->first_id = first_id;
	return node_call(fd, VGPU_IOC_SESSIONS, ctl);
}

int node_profile(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->size = sizeof(*profile);
	profile->gpu = gpu;
	profile->index = index;
	return node_call(fd, VGPU_IOC_PROFILE, profile);
}

int node_partitions(int fd, uint32_t gpu, uint32_t *ids, uint32_t *count)
{
	struct vgpu_ctl_list list = {
		.size = sizeof(list),
		.gpu = gpu,
		.count = *count,
		.ids = (uintptr_t)ids,
	};
	int ret = node_call(fd, VGPU_IOC_PARTITIONS, &list);

	*count = list.count;
	return ret;
}

int node_partition(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part)
{
	memset(part, 0, sizeof(*part));
	part->size = sizeof(*part);
	part->gpu = gpu;
	part->partition = id;
	return node_call(fd, VGPU_IOC_PARTITION, part);
}

int node_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t *start, uint32_t *id,
			  char *text)
{
	struct vgpu_ctl_partition_create create = {
		.size = sizeof(create),
		.gpu = gpu,
		.profile = profile,
		.start = *start,
	};
	int ret;

	memset(create.text, 'x', sizeof(create.text));
	ret = node_call(fd, VGPU_IOC_PARTITION_CREATE, &create);
	memcpy(text, create.text, sizeof(create.text));
	*start = create.start;
	*id = create.partition;
	return ret;
}

int node_partition_remove(int fd, uint32_t gpu, uint32_t id, char *text)
{
	struct vgpu_ctl_partition_remove remove = {
		.size = sizeof(remove),
		.gpu = gpu,
		.partition = id,
	};
	int ret;

	memset(remove.text, 'x', sizeof(remove.text));
	ret = node_call(fd, VGPU_IOC_PARTITION_REMOVE, &remove);
	memcpy(text, remove.text, sizeof(remove.text));
	return ret;
}

int node_partition_mode(int fd, uint32_t gpu, uint32_t mode, char *text)
{
	struct vgpu_ctl_partition_set_mode set = {
		.size = sizeof(set),
		.gpu = gpu,
		.mode = mode,
	};
	int ret;

	memset(set.text, 'x', sizeof(set.text));
	ret = node_call(fd, VGPU_IOC_PARTITION_MODE, &set);
	memcpy(text, set.text, sizeof(set.text));
	return ret;
}

int node_events(int fd)
{
	struct vgpu_ctl_events setup = {
		.size = sizeof(setup),
		.event_size = sizeof(struct vgpu_ctl_event),
	};
	int ret = node_call(fd, VGPU_IOC_EVENTS, &setup);

	if (!ret && setup.known_size != sizeof(struct vgpu_ctl_event))
		return -EPROTO;
	return ret;
}
