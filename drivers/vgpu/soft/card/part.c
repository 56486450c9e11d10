// SPDX-License-Identifier: GPL-2.0
/* The engines of a partition of a software GPU: their start and stop, and files in debugfs. */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/slab.h>

#include "../work/packet_types.h"
#include "../work/section.h"
#include "params.h"
#include "part.h"

const struct vgpu_engine_desc soft_engine_desc[SOFT_ENGINES] = {
	{ .name = "gr", .engine_class = VGPU_HW_ENGINE_GR, .instance = 0 },
	{ .name = "ce0", .engine_class = VGPU_HW_ENGINE_CE, .instance = 0 },
	{ .name = "ce1", .engine_class = VGPU_HW_ENGINE_CE, .instance = 1 },
};

static int soft_hang_get(void *data, u64 *value)
{
	struct soft_engine *engine = data;

	*value = READ_ONCE(engine->hang);
	return 0;
}

static int soft_hang_set(void *data, u64 value)
{
	struct soft_engine *engine = data;

	if (value && !soft_packet_name(engine->types, value))
		return -EINVAL;
	WRITE_ONCE(engine->hang, value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(soft_hang_fops, soft_hang_get, soft_hang_set, "%llu\n");

/**
 * soft_part_debugfs() - make the directories of a partition's engines
 * @part: the partition, with its engines and its directory. soft_gpu_debugfs_init() says what is in
 *        them
 *
 * Context: sleeps.
 */
void soft_part_debugfs(struct soft_part *part)
{
	struct dentry *dir;
	unsigned int i;

	for (i = 0; i < SOFT_ENGINES; i++) {
		struct soft_engine *engine = &part->engine[i];

		dir = debugfs_create_dir(soft_engine_desc[i].name, part->debugfs);
		debugfs_create_file_unsafe("hang", 0600, dir, engine, &soft_hang_fops);
		debugfs_create_u32("hold_reset", 0600, dir, &engine->hold_reset);
		debugfs_create_u64("switches", 0400, dir, &engine->switches);
		debugfs_create_u64("switch_ns", 0400, dir, &engine->switch_ns);
		engine->switch_array.array = engine->switch_hist;
		engine->switch_array.n_elements = SOFT_HIST;
		debugfs_create_u32_array("switch_hist", 0400, dir, &engine->switch_array);
		debugfs_create_u64("ran_ns", 0400, dir, &engine->lead.ran_ns);
		soft_section_debugfs(engine->lead.section, dir);
		if (!engine->lead.section)
			continue;
		debugfs_create_u32("helpers", 0400, dir, &engine->team.nr);
		debugfs_create_u64("helped", 0400, dir, &engine->team.helped);
		debugfs_create_u64("beside", 0400, dir, &engine->team.beside);
	}
}

static void part_units_free(struct soft_engine *engine)
{
	unsigned int i;

	for (i = 0; i < engine->team.nr; i++)
		soft_section_free(engine->team.helper[i].section);
	kfree(engine->team.helper);
	soft_section_free(engine->lead.section);
}

/* Allocates what units of an engine need to execute programs. Returns 0 or -ENOMEM. */
static int part_units_alloc(struct soft_engine *engine, unsigned int units)
{
	struct soft_team *team = &engine->team;

	engine->lead.section = soft_section_alloc();
	team->helper = kcalloc(units - 1, sizeof(*team->helper), GFP_KERNEL_ACCOUNT);
	if (!engine->lead.section || !team->helper)
		goto err_free;
	while (team->nr < units - 1) {
		struct soft_unit *helper = &team->helper[team->nr];

		helper->section = soft_section_alloc();
		if (!helper->section)
			goto err_free;
		team->nr++;
	}
	return 0;

err_free:
	part_units_free(engine);
	return -ENOMEM;
}

static int part_engine_init(struct soft_part *part, unsigned int i, unsigned int units,
			    const char *name)
{
	struct soft_engine *engine = &part->engine[i];
	int ret;

	engine->index = i;
	engine->desc = &soft_engine_desc[i];
	engine->poll_ns = soft_params.poll_ns;
	engine->cpus = &part->cpus;
	engine->clock = part->clock;
	engine->types = soft_packet_types;
	if (engine->desc->engine_class == VGPU_HW_ENGINE_GR) {
		ret = part_units_alloc(engine, units);
		if (ret)
			return ret;
	}
	ret = soft_engine_init(engine, name);
	if (ret)
		part_units_free(engine);
	return ret;
}

static void part_engines_exit(struct soft_part *part, unsigned int nr)
{
	while (nr--) {
		soft_engine_exit(&part->engine[nr]);
		part_units_free(&part->engine[nr]);
	}
}

/*
 * Of the GPU's CPUs those of slices @first .. @first + @nr - 1: each slice has its part, which is
 * the same whatever CPUs are online now. Each GPU has as many CPUs.
 */
static void part_cpus(struct soft_part *part, unsigned int gpu, unsigned int first, unsigned int nr)
{
	unsigned int cpus = cpumask_weight(&soft_params.slice_cpus) / soft_params.nr_gpus;
	unsigned int i = 0, cpu, slice;

	for_each_cpu(cpu, &soft_params.slice_cpus) {
		slice = vgpu_slot_of_cpu(i % cpus, cpus);
		if (i++ / cpus == gpu && slice >= first && slice < first + nr)
			cpumask_set_cpu(cpu, &part->cpus);
	}
}

/**
 * soft_part_place() - tell a partition where and when its engines work
 * @part: zeroed
 * @gpu: number of the GPU
 * @vgpu: the core's structure of it; NULL: it is partition 0
 *
 * Context: any.
 */
void soft_part_place(struct soft_part *part, unsigned int gpu, const struct vgpu_partition *vgpu)
{
	u32 first, slices;

	if (vgpu) {
		part->clock = *vgpu_partition_clock(vgpu);
		first = vgpu_partition_place(vgpu, &slices);
	}
	if (vgpu && soft_params.own_cpus)
		part_cpus(part, gpu, first, slices);
	else
		cpumask_copy(&part->cpus, &soft_params.cpus);
}

/**
 * soft_part_init() - start the engines of a partition
 * @part: after soft_part_place()
 * @units: how many threads the engine that executes programs has, 1..SOFT_UNITS_MAX
 * @name: ends the names of the engines' threads
 *
 * Context: sleeps.
 * Return: 0, or -errno and no engine is left.
 */
int soft_part_init(struct soft_part *part, unsigned int units, const char *name)
{
	unsigned int i;
	int ret;

	for (i = 0; i < SOFT_ENGINES; i++) {
		ret = part_engine_init(part, i, units, name);
		if (ret) {
			part_engines_exit(part, i);
			return ret;
		}
	}
	return 0;
}

/**
 * soft_part_exit() - stop the engines of a partition
 * @part: the core calls no op about them any more
 *
 * Context: sleeps.
 */
void soft_part_exit(struct soft_part *part)
{
	part_engines_exit(part, SOFT_ENGINES);
}
