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
 * struct vgpus - the vGPUs of a GPU
 * @inst:   the vGPUs; allocated
 * @ranges: what they have of the framebuffer, and what is free; allocated
 */
struct vgpus {
	struct vgpu_ctl_instance *inst;
	struct range *ranges;
};

static int vgpus_read(int fd, uint32_t gpu, struct vgpus *vgpus, size_t *nr)
{
	struct vgpu_ctl_stats stats;
	size_t i;
	int ret;

	ret = ctl_stats(fd, gpu, &stats, &vgpus->inst);
	if (ret)
		return ret;
	*nr = stats.count;
	/* Between the vGPUs, before and behind them there may be ranges that are free. */
	vgpus->ranges = need_zeroed(2 * *nr + 1, sizeof(*vgpus->ranges));
	for (i = 0; i < *nr; i++) {
		const struct vgpu_ctl_instance *inst = &vgpus->inst[i];

		vgpus->ranges[i] = (struct range){
			inst->placement_gb, (uint32_t)(inst->fb_bytes >> 30), (int)i,
		};
	}
	return 0;
}

static void range_json(struct json *json, const struct vgpus *vgpus, const struct range *range)
{
	const struct vgpu_ctl_instance *inst;
	char uuid[UUID_STR_LEN];

	json_begin(json, NULL);
	json_u64(json, "start_gib", range->start_gb);
	json_u64(json, "size_gib", range->size_gb);
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

static void gpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu, const struct vgpus *vgpus,
		     size_t nr)
{
	size_t i;

	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_text(json, "placement", ctl_placement_name(gpu->placement));
	json_u64(json, "fb_bytes", gpu->fb_bytes);
	json_u64(json, "fb_used_bytes", gpu->fb_used_bytes);
	json_begin_array(json, "ranges");
	for (i = 0; i < nr; i++)
		range_json(json, vgpus, &vgpus->ranges[i]);
	json_end(json);
	json_end(json);
}

const char placement_columns[] = "GPU|MARK|>START GiB|>SIZE GiB|TYPE|UUID";

static void gpu_rows(struct table *table, const struct vgpu_ctl_gpu *gpu,
		     const struct vgpus *vgpus, size_t nr)
{
	const struct vgpu_ctl_instance *inst;
	const struct range *range;
	char uuid[UUID_STR_LEN];
	size_t i;

	for (i = 0; i < nr; i++) {
		range = &vgpus->ranges[i];

		table_add(table, "%.*s", TEXT(gpu->address));
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
static void gpu_picture(const struct vgpu_ctl_gpu *gpu, const struct vgpus *vgpus, size_t nr)
{
	uint32_t region_gb = (uint32_t)(gpu->fb_bytes >> 30);
	size_t width = table_width();
	char line[LINE_MAX_WIDTH + 1];

	width = width < 22 ? 20 : width > LINE_MAX_WIDTH + 2 ? LINE_MAX_WIDTH : width - 2;
	if (region_gb && region_gb <= width)
		width -= width % region_gb;
	ranges_draw(vgpus->ranges, nr, region_gb, line, width);
	printf("%.*s: %u GiB, sizes %s\n|%s|\n\n", TEXT(gpu->address), region_gb,
	       gpu->placement == VGPU_PLACEMENT_MIXED ? "may be mixed" : "must be the same", line);
}

static int placement_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	const struct table_form *form = &listing->options->form;
	struct vgpus vgpus;
	size_t nr;
	int ret;

	ret = vgpus_read(fd, gpu->gpu, &vgpus, &nr);
	if (ret)
		return ret;
	nr = ranges_fill(vgpus.ranges, nr, (uint32_t)(gpu->fb_bytes >> 30));
	if (listing->json)
		gpu_json(listing->json, gpu, &vgpus, nr);
	else
		gpu_rows(listing->table, gpu, &vgpus, nr);
	if (!listing->json && !form->columns && !form->bare && isatty(STDOUT_FILENO))
		gpu_picture(gpu, &vgpus, nr);
	free(vgpus.inst);
	free(vgpus.ranges);
	return 0;
}

enum exit_code cmd_placement(const struct options *options)
{
	return listing_print(options, placement_each);
}
