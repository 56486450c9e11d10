// SPDX-License-Identifier: GPL-2.0
/* The commands gpus, types, creatable and list. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvgpu_names.h>

#include "listing.h"
#include "uuid.h"

#define BYTES(a)	(a), sizeof(a)

/* Keys of what each partition has for itself, if the GPU is divided. */
static void whole_json(struct json *json, const struct vgpu_ctl_gpu *gpu)
{
	if (ctl_is_divided(gpu)) {
		json_null(json, "policy");
		json_null(json, "slice_ns");
		json_null(json, "preempt_timeout_us");
		json_null(json, "guarantee_sum_permille");
		return;
	}
	json_bytes(json, "policy", BYTES(gpu->policy));
	json_u64(json, "slice_ns", gpu->slice_ns);
	json_u64(json, "preempt_timeout_us", gpu->preempt_timeout_us);
	json_u64(json, "guarantee_sum_permille", gpu->guarantee_sum);
}

void listing_gpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu)
{
	uint32_t i;

	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", BYTES(gpu->address));
	json_bytes(json, "board", BYTES(gpu->board));
	json_bytes(json, "driver", BYTES(gpu->driver));
	json_u64(json, "types", gpu->types);
	json_u64(json, "instances", gpu->instances);
	json_u64(json, "channels", gpu->channels);
	json_u64(json, "channels_used", gpu->channels_used);
	json_u64(json, "fb_bytes", gpu->fb_bytes);
	json_u64(json, "fb_used_bytes", gpu->fb_used_bytes);
	json_u64(json, "fb_backed_bytes", gpu->fb_backed_bytes);
	json_text(json, "placement", ctl_placement_name(gpu->placement));
	whole_json(json, gpu);
	json_u64(json, "registered_ns", gpu->registered_ns);
	json_flag(json, "divisible", gpu->profiles);
	json_flag(json, "divided", ctl_is_divided(gpu));
	json_u64(json, "partitions", gpu->partitions);
	json_u64(json, "now_ns", gpu->now_ns);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		json_begin(json, NULL);
		json_bytes(json, "name", BYTES(gpu->engine[i].name));
		json_text(json, "class",
			  vgpu_engine_class_name(gpu->engine[i].engine_class));
		json_u64(json, "instance", gpu->engine[i].instance);
		json_u64(json, "units", gpu->engine[i].units);
		json_u64(json, "busy_ns", gpu->engine[i].busy_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

const char gpus_columns[] =
	">GPU|ADDRESS|BOARD|DRIVER|>FB|>USED|>BACKED|>CHANNELS|>VGPUS|>PARTITIONS|POLICY|>SLICE|>GUARANTEED %|ENGINES";

void listing_policy_cells(struct table *table, const struct vgpu_ctl_gpu *gpu)
{
	char slice[32];

	if (ctl_is_divided(gpu)) {
		table_add(table, "-");
		table_add(table, "-");
		return;
	}
	table_add(table, "%.*s", TEXT(gpu->policy));
	table_add(table, "%s", table_duration(slice, sizeof(slice), gpu->slice_ns));
}

static void gpu_row(struct table *table, const struct vgpu_ctl_gpu *gpu)
{
	char total[32], used[32];
	char text[CTL_ENGINE_NAMES];

	table_add(table, "%u", gpu->gpu);
	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%.*s", TEXT(gpu->board));
	table_add(table, "%.*s", TEXT(gpu->driver));
	table_add(table, "%s", table_size(total, sizeof(total), gpu->fb_bytes));
	table_add(table, "%s", table_size(used, sizeof(used), gpu->fb_used_bytes));
	table_add_bytes(table, gpu->fb_backed_bytes);
	table_add(table, "%u/%u", gpu->channels_used, gpu->channels);
	table_add(table, "%u", gpu->instances);
	if (ctl_is_divided(gpu))
		table_add(table, "%u", gpu->partitions);
	else
		table_add(table, "-");
	listing_policy_cells(table, gpu);
	if (ctl_is_divided(gpu))
		table_add(table, "-");
	else
		table_add(table, "%u.%u", gpu->guarantee_sum / 10, gpu->guarantee_sum % 10);
	table_add(table, "%s", ctl_engine_names(gpu, text));
}

static int gpu_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	(void)fd;
	if (listing->json)
		listing_gpu_json(listing->json, gpu);
	else
		gpu_row(listing->table, gpu);
	return 0;
}

static void type_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
		      const struct vgpu_ctl_type *type)
{
	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", BYTES(gpu->address));
	json_bytes(json, "name", BYTES(type->name));
	json_bytes(json, "id", BYTES(type->id));
	json_bytes(json, "edition", BYTES(type->edition));
	json_u64(json, "available", type->available);
	json_u64(json, "max_instances", type->max_instances);
	json_u64(json, "fb_bytes", type->fb_bytes);
	json_u64(json, "channels", type->channels);
	json_u64(json, "placement_size_gib", type->placement_size_gb);
	json_u64(json, "num_heads", type->num_heads);
	json_u64(json, "max_width_px", type->max_width);
	json_u64(json, "max_height_px", type->max_height);
	json_u64(json, "frl_fps", type->frl_fps);
	json_u64(json, "slices", type->slices);
	json_end(json);
}

const char types_columns[] =
	"GPU|NAME|ID|>AVAILABLE|>MAX|>FB|>CHANNELS|>HEADS|>RESOLUTION|>FRL|EDITION";

static void type_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
		     const struct vgpu_ctl_type *type)
{
	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%.*s", TEXT(type->name));
	table_add(table, "%.*s", TEXT(type->id));
	table_add(table, "%u", type->available);
	table_add(table, "%u", type->max_instances);
	table_add_bytes(table, type->fb_bytes);
	table_add(table, "%u", type->channels);
	table_add(table, "%u", type->num_heads);
	table_add(table, "%ux%u", type->max_width, type->max_height);
	if (type->frl_fps)
		table_add(table, "%u fps", type->frl_fps);
	else
		table_add(table, "none");
	table_add(table, "%.*s", TEXT(type->edition));
}

/* Calls @row for the types of a GPU, or only for those of which @creatable more fit. */
static int type_rows(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing,
		     bool creatable,
		     void (*row)(struct table *table, const struct vgpu_ctl_gpu *gpu,
				 const struct vgpu_ctl_type *type))
{
	struct vgpu_ctl_type type;
	uint32_t i;
	int ret;

	for (i = 0; i < gpu->types; i++) {
		ret = ctl_type(fd, gpu->gpu, i, &type);
		if (ret)
			return ret;
		if (creatable && !type.available)
			continue;
		if (listing->json)
			type_json(listing->json, gpu, &type);
		else
			row(listing->table, gpu, &type);
	}
	return 0;
}

static int type_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	return type_rows(fd, gpu, listing, false, type_row);
}

const char creatable_columns[] = "GPU|NAME|>FIT|>FB|>CHANNELS";

static void creatable_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
			  const struct vgpu_ctl_type *type)
{
	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%.*s", TEXT(type->name));
	table_add(table, "%u", type->available);
	table_add_bytes(table, type->fb_bytes);
	table_add(table, "%u", type->channels);
}

static int creatable_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	return type_rows(fd, gpu, listing, true, creatable_row);
}

uint64_t listing_move_rate(const struct vgpu_ctl_instance *inst)
{
	return inst->move_ns ? (uint64_t)((double)inst->move_bytes * 1e9 / (double)inst->move_ns) :
		0;
}

void listing_move_json(struct json *json, const struct vgpu_ctl_instance *inst)
{
	json_text(json, "move", ctl_move_name(inst->move));
	json_u64(json, "move_bytes", inst->move_bytes);
	json_u64(json, "move_left_bytes", inst->move_left_bytes);
	json_u64(json, "move_ns", inst->move_ns);
	json_u64(json, "move_bytes_per_s", listing_move_rate(inst));
}

void listing_vgpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
		       const struct vgpu_ctl_instance *inst)
{
	char uuid[UUID_STR_LEN];

	json_begin(json, NULL);
	json_text(json, "uuid", uuid_format(inst->uuid, uuid));
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", BYTES(gpu->address));
	json_bytes(json, "type", BYTES(inst->type_name));
	json_text(json, "state", ctl_state_name(inst->state));
	json_flag(json, "quarantined",
		  inst->status & VGPU_INSTANCE_QUARANTINED);
	json_flag(json, "paused", inst->status & VGPU_INSTANCE_PAUSED);
	listing_move_json(json, inst);
	json_u64(json, "partition", inst->partition);
	json_u64(json, "placement_gib", inst->placement_gb);
	json_u64(json, "fb_bytes", inst->fb_bytes);
	json_u64(json, "fb_backed_bytes", inst->fb_backed_bytes);
	if (inst->owner_pid)
		json_s64(json, "owner_pid", inst->owner_pid);
	else
		json_null(json, "owner_pid");
	json_end(json);
}

const char list_columns[] = "UUID|GPU|>PARTITION|TYPE|STATE|>FB|>BACKED|>PID";

void listing_vgpu_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
		      const struct vgpu_ctl_instance *inst)
{
	char uuid[UUID_STR_LEN], status[CTL_STATUS_LEN];

	table_add(table, "%s", uuid_format(inst->uuid, uuid));
	table_add(table, "%.*s", TEXT(gpu->address));
	if (inst->partition)
		table_add(table, "%u", inst->partition);
	else
		table_add(table, "-");
	table_add(table, "%.*s", TEXT(inst->type_name));
	table_add(table, "%s%s", ctl_state_name(inst->state), ctl_status_text(inst, status));
	table_add_bytes(table, inst->fb_bytes);
	table_add_bytes(table, inst->fb_backed_bytes);
	if (inst->owner_pid)
		table_add(table, "%d", inst->owner_pid);
	else
		table_add(table, "-");
}

/**
 * struct list_row - what list_inst() needs beside the vGPU
 * @listing: where the row is written to
 * @gpu:     GPU of the vGPU
 */
struct list_row {
	struct listing *listing;
	const struct vgpu_ctl_gpu *gpu;
};

static int list_inst(const struct vgpu_ctl_instance *inst, void *arg)
{
	const struct list_row *row = arg;

	if (row->listing->json)
		listing_vgpu_json(row->listing->json, row->gpu, inst);
	else
		listing_vgpu_row(row->listing->table, row->gpu, inst);
	return 0;
}

static int list_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	struct list_row row = { listing, gpu };

	return ctl_visit_instances(fd, gpu->gpu, &row, list_inst);
}

enum exit_code cmd_gpus(const struct options *options)
{
	return listing_print(options, gpu_each);
}

enum exit_code cmd_types(const struct options *options)
{
	return listing_print(options, type_each);
}

enum exit_code cmd_creatable(const struct options *options)
{
	return listing_print(options, creatable_each);
}

enum exit_code cmd_list(const struct options *options)
{
	return listing_print(options, list_each);
}
