// SPDX-License-Identifier: GPL-2.0
/* The command process. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "listing.h"
#include "share.h"
#include "sysfs.h"
#include "uuid.h"

/**
 * struct process_row - what process_inst() needs beside the vGPU
 * @listing:   where the rows are written to
 * @gpu:       GPU of the vGPU
 * @window_ns: length of the scheduler's window on this GPU
 */
struct process_row {
	struct listing *listing;
	const struct vgpu_ctl_gpu *gpu;
	uint64_t window_ns;
};

static void process_json(const struct process_row *row, const struct vgpu_ctl_instance *inst,
			 const char *command)
{
	struct json *json = row->listing->json;
	char uuid[UUID_STR_LEN];
	uint32_t i;

	json_begin(json, NULL);
	json_s64(json, "pid", inst->owner_pid);
	json_text(json, "command", command);
	json_u64(json, "uid", inst->owner_uid);
	json_u64(json, "session", inst->session);
	json_text(json, "uuid", uuid_format(inst->uuid, uuid));
	json_u64(json, "gpu", inst->gpu);
	json_bytes(json, "address", row->gpu->address, sizeof(row->gpu->address));
	json_bytes(json, "type", inst->type_name, sizeof(inst->type_name));
	json_u64(json, "started_ns", inst->started_ns);
	json_u64(json, "now_ns", inst->now_ns);
	json_u64(json, "fb_backed_bytes", inst->fb_backed_bytes);
	json_u64(json, "max_fb_bytes", inst->max_fb_bytes);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(inst->engines); i++) {
		json_begin(json, NULL);
		json_bytes(json, "name", row->gpu->engine[i].name,
			   sizeof(row->gpu->engine[i].name));
		json_centi(json, "window_percent",
			   share_centi(inst->engine[i].window_ns, row->window_ns));
		json_u64(json, "busy_ns", inst->engine[i].busy_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

const char process_columns[] =
	">PID|COMMAND|>UID|GPU|UUID|TYPE|>BACKED|>MOST|ENGINE|>WINDOW %|>BUSY ms";

static void process_rows(const struct process_row *row, const struct vgpu_ctl_instance *inst,
			 const char *command)
{
	struct table *table = row->listing->table;
	char uuid[UUID_STR_LEN];
	uint32_t i;

	for (i = 0; i < ctl_engines(inst->engines); i++) {
		table_add(table, "%d", inst->owner_pid);
		table_add(table, "%s", command);
		table_add(table, "%u", inst->owner_uid);
		table_add(table, "%.*s", TEXT(row->gpu->address));
		table_add(table, "%s", uuid_format(inst->uuid, uuid));
		table_add(table, "%.*s", TEXT(inst->type_name));
		table_add_bytes(table, inst->fb_backed_bytes);
		table_add_bytes(table, inst->max_fb_bytes);
		table_add(table, "%.*s", TEXT(row->gpu->engine[i].name));
		share_cell(table, share_centi(inst->engine[i].window_ns, row->window_ns));
		table_add(table, "%" PRIu64, (uint64_t)inst->engine[i].busy_ns / 1000000);
	}
}

static int process_inst(const struct vgpu_ctl_instance *inst, void *arg)
{
	const struct process_row *row = arg;
	char command[64];

	if (!inst->owner_pid)
		return 0;
	snprintf(command, sizeof(command), "%.*s", TEXT(inst->owner_comm));
	if (row->listing->json)
		process_json(row, inst, command);
	else
		process_rows(row, inst, command);
	return 0;
}

static int process_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	struct process_row row = { .listing = listing, .gpu = gpu };
	struct vgpu_ctl_sched sched;
	int ret;

	ret = ctl_sched(fd, gpu->gpu, &sched);
	if (ret)
		return ret;
	row.window_ns = sched.window_ns;
	return ctl_visit_instances(fd, gpu->gpu, &row, process_inst);
}

enum exit_code cmd_process(const struct options *options)
{
	return listing_print(options, process_each);
}
