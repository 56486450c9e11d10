// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "message.h"
#include "plan.h"
#include "sysfs.h"

static int world_add_inst(const struct vgpu_ctl_instance *inst, void *arg)
{
	struct world *world = arg;

	world->inst = reallocarray(world->inst, world->nr_insts + 1, sizeof(*world->inst));
	need_memory(world->inst);
	world->inst[world->nr_insts++] = *inst;
	return 0;
}

/* Argument of world_add_part(). */
struct world_parts {
	int fd;
	struct world_gpu *gpu;
};

static int world_add_part(const struct vgpu_ctl_partition *part, void *arg)
{
	struct world_parts *parts = arg;
	struct world_gpu *gpu = parts->gpu;
	struct world_part *to = &gpu->part[gpu->nr_parts];
	int ret;

	if (gpu->nr_parts == VGPU_PARTITION_EIGHTHS)
		return -EPROTO;
	to->part = *part;
	ret = ctl_sched(parts->fd, gpu->gpu.gpu, part->partition, &to->sched);
	gpu->nr_parts += !ret;
	return ret == -ENOENT ? 0 : ret; /* removed meanwhile */
}

static int world_add_gpu(int fd, uint32_t id, struct world *world)
{
	struct world_gpu *gpu = &world->gpu[world->nr_gpus];
	struct world_parts parts = { fd, gpu };
	uint32_t i;
	int ret;

	ret = ctl_gpu(fd, id, &gpu->gpu);
	if (!ret)
		ret = ctl_sched(fd, id, 0, &gpu->sched);
	if (ret)
		return ctl_is_gone(ret) ? 0 : ret;
	world->nr_gpus++;
	gpu->gpu.address[sizeof(gpu->gpu.address) - 1] = 0;
	gpu->type = need_zeroed(gpu->gpu.types, sizeof(*gpu->type));
	for (i = 0; i < gpu->gpu.types && !ret; i++)
		ret = ctl_type(fd, id, i, &gpu->type[i]);
	if (!ret && gpu->gpu.partitions)
		ret = ctl_visit_partitions(fd, id, &parts, world_add_part);
	return ret ? ret : ctl_visit_instances(fd, id, world, world_add_inst);
}

int world_read(int fd, struct world *world)
{
	uint32_t *ids, count, i;
	int ret;

	memset(world, 0, sizeof(*world));
	sysfs_policies(world->policies, sizeof(world->policies));
	world->slice_ns = sysfs_parameter("slice_us") * 1000;
	world->window_ns = sysfs_parameter("window_ms") * 1000000;
	ret = ctl_gpus(fd, &ids, &count);
	if (ret)
		return ret;
	world->gpu = need_zeroed(count, sizeof(*world->gpu));
	for (i = 0; i < count && !ret; i++)
		ret = world_add_gpu(fd, ids[i], world);
	free(ids);
	return ret;
}

void world_free(struct world *world)
{
	size_t i;

	for (i = 0; i < world->nr_gpus; i++)
		free(world->gpu[i].type);
	free(world->gpu);
	free(world->inst);
	memset(world, 0, sizeof(*world));
}
