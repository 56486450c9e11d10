// SPDX-License-Identifier: GPL-2.0
/* The command placement. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "listing.h"
#include "ranges.h"
#include "uuid.h"

#define LINE_MAX_WIDTH	200

/**
 * struct vgpus - the vGPUs and partitions of a GPU
 * @inst:   the vGPUs; allocated
 * @ranges: what they have of the framebuffer, and what is free; allocated. None is in two
 *          partitions
 * @nr:     number of ranges
 * @part:   the partitions
 * @parts:  number of partitions
 */
struct vgpus {
	struct vgpu_ctl_instance *inst;
	struct range *ranges;
	size_t nr;
	struct vgpu_ctl_partition part[VGPU_PARTITION_EIGHTHS];
	size_t parts;
};

static int add_partition(const struct vgpu_ctl_partition *part, void *arg)
{
	struct vgpus *vgpus = arg;

	if (vgpus->parts < VGPU_PARTITION_EIGHTHS)
		vgpus->part[vgpus->parts++] = *part;
	return 0;
}

static uint32_t part_start_gb(const struct vgpu_ctl_partition *part)
{
	return (uint32_t)(part->fb_start >> 30);
}

static uint32_t part_size_gb(const struct vgpu_ctl_partition *part)
{
	return (uint32_t)(part->fb_bytes >> 30);
}

/* The partition that a range lies in, or NULL. */
static const struct vgpu_ctl_partition *part_of(const struct vgpus *vgpus,
						const struct range *range)
{
	size_t i;

	for (i = 0; i < vgpus->parts; i++)
		if (range->start_gb >= part_start_gb(&vgpus->part[i]) &&
		    range->start_gb - part_start_gb(&vgpus->part[i]) <
		    part_size_gb(&vgpus->part[i]))
			return &vgpus->part[i];
	return NULL;
}

static int vgpus_read(int fd, const struct vgpu_ctl_gpu *gpu, struct vgpus *vgpus)
{
	struct vgpu_ctl_stats stats;
	size_t i;
	int ret;

	memset(vgpus, 0, sizeof(*vgpus));
	if (gpu->partitions)
		ret = ctl_visit_partitions(fd, gpu->gpu, vgpus, add_partition);
	else
		ret = 0;
	if (!ret)
		ret = ctl_stats(fd, gpu->gpu, &stats, &vgpus->inst);
	if (ret)
		return ret;
	/*
	 * Between the vGPUs, before and behind them there may be ranges that are free, and a
	 * partition cuts one at its start and one at its end.
	 */
	vgpus->ranges = need_zeroed(2 * stats.count + 1 + 2 * vgpus->parts, sizeof(*vgpus->ranges));
	for (i = 0; i < stats.count; i++) {
		const struct vgpu_ctl_instance *inst = &vgpus->inst[i];

		vgpus->ranges[i] = (struct range){
			inst->placement_gb, (uint32_t)(inst->fb_bytes >> 30), (int)i,
		};
	}
	vgpus->nr = ranges_fill(vgpus->ranges, stats.count, (uint32_t)(gpu->fb_bytes >> 30));
	for (i = 0; i < vgpus->parts; i++) {
		uint32_t start_gb = part_start_gb(&vgpus->part[i]);

		vgpus->nr = ranges_cut(vgpus->ranges, vgpus->nr, start_gb);
		vgpus->nr = ranges_cut(vgpus->ranges, vgpus->nr,
				       start_gb + part_size_gb(&vgpus->part[i]));
	}
	return 0;
}

static void range_json(struct json *json, const struct vgpus *vgpus, const struct range *range)
{
	const struct vgpu_ctl_partition *part = part_of(vgpus, range);
	const struct vgpu_ctl_instance *inst;
	char uuid[UUID_STR_LEN];

	json_begin(json, NULL);
	json_u64(json, "start_gib", range->start_gb);
	json_u64(json, "size_gib", range->size_gb);
	json_u64(json, "partition", part ? part->partition : 0);
	if (range->owner == RANGE_FREE) {
		json_null(json, "uuid");
		json_null(json, "type");
	} else {
		inst = &vgpus->inst[range->owner];
		json_text(json, "uuid", uuid_format(inst->uuid, uuid));
		json_bytes(json, "type", inst->type_name, sizeof(inst->type_name));
	}
	json_end(json);
}

static void gpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu, const struct vgpus *vgpus)
{
	size_t i;

	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_text(json, "placement", ctl_placement_name(gpu->placement));
	json_u64(json, "fb_bytes", gpu->fb_bytes);
	json_u64(json, "fb_used_bytes", gpu->fb_used_bytes);
	json_begin_array(json, "ranges");
	for (i = 0; i < vgpus->nr; i++)
		range_json(json, vgpus, &vgpus->ranges[i]);
	json_end(json);
	json_end(json);
}

const char placement_columns[] = "GPU|>PARTITION|MARK|>START GiB|>SIZE GiB|TYPE|UUID";

static void gpu_rows(struct table *table, const struct vgpu_ctl_gpu *gpu,
		     const struct vgpus *vgpus)
{
	const struct vgpu_ctl_partition *part;
	const struct vgpu_ctl_instance *inst;
	const struct range *range;
	char uuid[UUID_STR_LEN];
	size_t i;

	for (i = 0; i < vgpus->nr; i++) {
		range = &vgpus->ranges[i];
		part = part_of(vgpus, range);

		table_add(table, "%.*s", TEXT(gpu->address));
		if (part)
			table_add(table, "%u", part->partition);
		else
			table_add(table, "-");
		table_add(table, "%c", ranges_mark(range->owner));
		table_add(table, "%u", range->start_gb);
		table_add(table, "%u", range->size_gb);
		if (range->owner == RANGE_FREE) {
			table_add(table, "free");
			table_add(table, "-");
		} else {
			inst = &vgpus->inst[range->owner];
			table_add(table, "%.*s", TEXT(inst->type_name));
			table_add(table, "%s", uuid_format(inst->uuid, uuid));
		}
	}
}

/* Draws the framebuffer; in a whole number of characters per GiB if the terminal is wide enough. */
static void gpu_picture(const struct vgpu_ctl_gpu *gpu, const struct vgpus *vgpus)
{
	uint32_t region_gb = (uint32_t)(gpu->fb_bytes >> 30);
	size_t width = table_width();
	char line[LINE_MAX_WIDTH + 1], name[VGPU_PROFILE_NAME_LEN + 16];
	size_t i;

	width = width < 22 ? 20 : width > LINE_MAX_WIDTH + 2 ? LINE_MAX_WIDTH : width - 2;
	if (region_gb && region_gb <= width)
		width -= width % region_gb;
	printf("%.*s: %u GiB, sizes %s\n", TEXT(gpu->address), region_gb,
	       gpu->placement == VGPU_PLACEMENT_MIXED ? "may be mixed" : "must be the same");
	if (vgpus->parts) {
		memset(line, ' ', width);
		line[width] = 0;
		for (i = 0; i < vgpus->parts; i++) {
			snprintf(name, sizeof(name), "%u:%.*s", vgpus->part[i].partition,
				 TEXT(vgpus->part[i].profile));
			ranges_bracket(part_start_gb(&vgpus->part[i]),
				       part_size_gb(&vgpus->part[i]), region_gb, name, line, width);
		}
		printf(" %s\n", line);
	}
	ranges_draw(vgpus->ranges, vgpus->nr, region_gb, line, width);
	printf("|%s|\n\n", line);
}

static int placement_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	const struct table_form *form = &listing->options->form;
	struct vgpus vgpus;
	int ret;

	ret = vgpus_read(fd, gpu, &vgpus);
	if (ret)
		return ret;
	if (listing->json)
		gpu_json(listing->json, gpu, &vgpus);
	else
		gpu_rows(listing->table, gpu, &vgpus);
	if (!listing->json && !form->columns && !form->bare && isatty(STDOUT_FILENO))
		gpu_picture(gpu, &vgpus);
	free(vgpus.inst);
	free(vgpus.ranges);
	return 0;
}

enum exit_code cmd_placement(const struct options *options)
{
	return listing_print(options, placement_each);
}
