// SPDX-License-Identifier: GPL-2.0
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

static int world_add_gpu(int fd, uint32_t id, struct world *world)
{
	struct world_gpu *gpu = &world->gpu[world->nr_gpus];
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
	return ret ? ret : ctl_visit_instances(fd, id, world, world_add_inst);
}

int world_read(int fd, struct world *world)
{
	uint32_t *ids, count, i;
	int ret;

	memset(world, 0, sizeof(*world));
	sysfs_policies(world->policies, sizeof(world->policies));
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
