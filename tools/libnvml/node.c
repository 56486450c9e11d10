// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: its calls, and their errors as clients of NVML know them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

#define NODE	"/dev/vgpu"

nvmlReturn_t nv_node_open(int flags, int *fd)
{
	*fd = open(NODE, O_RDONLY | O_CLOEXEC | flags);
	return *fd >= 0 ? NVML_SUCCESS : nv_open_error(errno);
}

nvmlReturn_t nv_open_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case ENOTDIR:
		return NVML_ERROR_DRIVER_NOT_LOADED;
	case EMFILE:
	case ENFILE:
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	default:
		return nv_node_error(error);
	}
}

nvmlReturn_t nv_node_error(int error)
{
	switch (error) {
	case 0:
		return NVML_SUCCESS;
	case EACCES:
	case EPERM:
		return NVML_ERROR_NO_PERMISSION;
	case ENODEV:
		return NVML_ERROR_GPU_IS_LOST;
	case ENOTTY:
	case EOPNOTSUPP:
		return NVML_ERROR_NOT_SUPPORTED;
	case EINVAL:
	case ERANGE:
		return NVML_ERROR_INVALID_ARGUMENT;
	case ENOMEM:
		return NVML_ERROR_MEMORY;
	case ENOENT:
		return NVML_ERROR_NOT_FOUND;
	case EBUSY:
		return NVML_ERROR_IN_USE;
	case ENOSPC:
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	default:
		return NVML_ERROR_UNKNOWN;
	}
}

nvmlReturn_t nv_node_call(unsigned long request, void *arg)
{
	return nv_node_error(ioctl(nv.fd, request, arg) < 0 ? errno : 0);
}

/* A list may have grown since the driver told its length: asks until all of it fits. */
static nvmlReturn_t node_list(unsigned long request, uint32_t gpu, size_t each, void **items,
			      unsigned int *nr)
{
	struct vgpu_ctl_list list;
	uint32_t room = NV_VGPUS_MAX;
	nvmlReturn_t ret;

	for (;;) {
		*items = calloc(room, each);
		if (!*items)
			return NVML_ERROR_MEMORY;
		memset(&list, 0, sizeof(list));
		list.size = sizeof(list);
		list.gpu = gpu;
		list.count = room;
		list.ids = (uintptr_t)*items;
		ret = nv_node_call(request, &list);
		*nr = list.count;
		if (!ret && list.count <= room)
			return NVML_SUCCESS;
		free(*items);
		*items = NULL;
		if (ret)
			return ret;
		room = list.count + NV_VGPUS_MAX;
	}
}

nvmlReturn_t nv_node_gpus(uint32_t **ids, unsigned int *nr)
{
	void *items;
	nvmlReturn_t ret = node_list(VGPU_IOC_GPUS, 0, sizeof(**ids), &items, nr);

	*ids = items;
	return ret;
}

nvmlReturn_t nv_node_gpu(uint32_t id, struct vgpu_ctl_gpu *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->size = sizeof(*gpu);
	gpu->gpu = id;
	return nv_node_call(VGPU_IOC_GPU, gpu);
}

nvmlReturn_t nv_node_divided(uint32_t id, bool *divided)
{
	struct vgpu_ctl_gpu gpu;
	nvmlReturn_t ret = nv_node_gpu(id, &gpu);

	*divided = !ret && gpu.partition_mode == VGPU_PARTITION_MODE_ON;
	return ret;
}

nvmlReturn_t nv_node_whole(uint32_t id)
{
	bool divided;
	nvmlReturn_t ret = nv_node_divided(id, &divided);

	return !ret && divided ? NVML_ERROR_NOT_SUPPORTED : ret;
}

nvmlReturn_t nv_node_type(uint32_t gpu, uint32_t index, struct vgpu_ctl_type *type)
{
	memset(type, 0, sizeof(*type));
	type->size = sizeof(*type);
	type->gpu = gpu;
	type->index = index;
	return nv_node_call(VGPU_IOC_TYPE, type);
}

nvmlReturn_t nv_node_instance(const uint8_t *uuid, struct vgpu_ctl_instance *inst)
{
	memset(inst, 0, sizeof(*inst));
	inst->size = sizeof(*inst);
	memcpy(inst->uuid, uuid, VGPU_UUID_LEN);
	return nv_node_call(VGPU_IOC_INSTANCE, inst);
}

nvmlReturn_t nv_node_profile(uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile)
{
	memset(profile, 0, sizeof(*profile));
	profile->size = sizeof(*profile);
	profile->gpu = gpu;
	profile->index = index;
	return nv_node_call(VGPU_IOC_PROFILE, profile);
}

nvmlReturn_t nv_node_partitions(uint32_t gpu, uint32_t ids[NV_MIGS_MAX], unsigned int *nr)
{
	struct vgpu_ctl_list list = {
		.size = sizeof(list),
		.gpu = gpu,
		.count = NV_MIGS_MAX,
		.ids = (uintptr_t)ids,
	};
	nvmlReturn_t ret;

	*nr = 0;
	ret = nv_node_call(VGPU_IOC_PARTITIONS, &list);
	if (!ret)
		*nr = list.count < NV_MIGS_MAX ? list.count : NV_MIGS_MAX;
	return ret;
}

nvmlReturn_t nv_node_partition(uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part)
{
	memset(part, 0, sizeof(*part));
	part->size = sizeof(*part);
	part->gpu = gpu;
	part->partition = id;
	return nv_node_call(VGPU_IOC_PARTITION, part);
}

nvmlReturn_t nv_node_migration(const uint8_t *uuid, uint32_t gpu, uint32_t type,
			       struct vgpu_stream_about *about, uint32_t *can)
{
	struct vgpu_ctl_migration call = {
		.size = sizeof(call),
		.flags = uuid ? 0 : VGPU_MIGRATION_OF_TYPE,
		.gpu = gpu,
		.type_index = type,
		.about = (uintptr_t)about,
		.about_bytes = sizeof(*about),
	};
	nvmlReturn_t ret;

	memset(about, 0, sizeof(*about));
	if (uuid)
		memcpy(call.uuid, uuid, VGPU_UUID_LEN);
	ret = nv_node_call(VGPU_IOC_MIGRATION, &call);
	*can = ret ? 0 : call.can;
	return ret == NVML_ERROR_NOT_SUPPORTED ? NVML_SUCCESS : ret;
}

nvmlReturn_t nv_node_vgpus(uint32_t gpu, struct nv_vgpus *vgpus)
{
	struct vgpu_ctl_stats stats = {
		.size = sizeof(stats),
		.gpu = gpu,
		.count = NV_VGPUS_MAX,
		.entry_size = sizeof(struct vgpu_ctl_instance),
		.entries = (uintptr_t)vgpus->inst,
	};
	nvmlReturn_t ret;

	vgpus->nr = 0;
	ret = nv_node_call(VGPU_IOC_STATS, &stats);
	if (!ret)
		vgpus->nr = stats.count < NV_VGPUS_MAX ? stats.count : NV_VGPUS_MAX;
	vgpus->known = !ret;
	return ret;
}

/*
 * A position among the events is the open file's. That of a child of fork() is its parent's, who
 * would miss what the child reads, so the child opens its own.
 */
static void node_own(void)
{
	int fd;

	if (nv_node_open(O_NONBLOCK, &fd))
		return;
	close(nv.fd);
	nv.fd = fd;
	nv.fd_is_parents = false;
}

bool nv_node_quiet(void)
{
	struct vgpu_ctl_event events[64];
	bool quiet = true;

	if (nv.fd_is_parents) {
		node_own();
		return false;
	}
	while (read(nv.fd, events, sizeof(events)) > 0)
		quiet = false;
	return quiet && errno == EAGAIN;
}

void nv_text(char *to, const void *text, size_t room)
{
	memcpy(to, text, room);
	to[room] = 0;
}
