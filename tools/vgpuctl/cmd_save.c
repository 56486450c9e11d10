// SPDX-License-Identifier: GPL-2.0
/* The command save. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "replace.h"
#include "plan.h"
#include "sched.h"
#include "share.h"
#include "sysfs.h"
#include "uuid.h"

static void save_parts(struct json *json, const struct world_gpu *gpu)
{
	const struct world_part *part;

	json_begin_array(json, "partitions");
	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++) {
		json_begin(json, NULL);
		json_bytes(json, "profile", part->part.profile, sizeof(part->part.profile));
		json_u64(json, "start_eighth", part->part.start);
		setting_json_of(&sched_settings, setting_all(&sched_settings), json, &part->sched,
				false);
		json_end(json);
	}
	json_end(json);
}

static void save_gpu(struct json *json, const struct world_gpu *gpu)
{
	json_begin(json, NULL);
	json_bytes(json, "address", gpu->gpu.address, sizeof(gpu->gpu.address));
	setting_json_of(&sched_settings, setting_all(&sched_settings), json, &gpu->sched, false);
	if (ctl_is_divided(&gpu->gpu))
		save_parts(json, gpu);
	json_end(json);
}

/* The partition by its place: it will have another number when the state is applied. */
static void save_start(struct json *json, const struct vgpu_ctl_instance *inst,
		       const struct world_gpu *gpu)
{
	const struct world_part *part;

	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++)
		if (part->part.partition == inst->partition)
			json_u64(json, "partition_start_eighth", part->part.start);
}

static void save_vgpu(struct json *json, const struct vgpu_ctl_instance *inst,
		      const struct world *world)
{
	const struct world_gpu *gpu = world->gpu;
	char uuid[UUID_STR_LEN];

	while (gpu->gpu.gpu != inst->gpu)
		gpu++;
	json_begin(json, NULL);
	json_text(json, "uuid", uuid_format(inst->uuid, uuid));
	json_bytes(json, "address", gpu->gpu.address, sizeof(gpu->gpu.address));
	json_bytes(json, "type", inst->type_name, sizeof(inst->type_name));
	save_start(json, inst, gpu);
	setting_json_of(&share_settings, setting_all(&share_settings), json, inst, false);
	json_end(json);
}

static void save(FILE *out, const void *arg)
{
	const struct world *world = arg;
	struct json json;
	size_t i;

	json_init(&json, out, false);
	json_begin(&json, NULL);
	json_u64(&json, "version", STATE_VERSION);
	json_begin_array(&json, "gpus");
	for (i = 0; i < world->nr_gpus; i++)
		save_gpu(&json, &world->gpu[i]);
	json_end(&json);
	json_begin_array(&json, "vgpus");
	for (i = 0; i < world->nr_insts; i++)
		if (!world->left(world->inst[i].uuid))
			save_vgpu(&json, &world->inst[i], world);
	json_end(&json);
	json_end(&json);
}

enum exit_code cmd_save(const struct options *options)
{
	enum exit_code code = EXIT_OK;
	struct world world;
	int fd, ret;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	ret = world_read(fd, &world);
	world.left = sysfs_mdevctl_defines;
	close(fd);
	if (ret)
		code = fail("cannot read the state: %s", ctl_error(ret));
	else if (options->file)
		code = replace_file(options->file, 0600, save, &world);
	else
		save(stdout, &world);
	world_free(&world);
	return code;
}
