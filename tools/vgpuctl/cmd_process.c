// SPDX-License-Identifier: GPL-2.0
/* The command process: who has vGPUs open, and below it what their guests say of themselves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "listing.h"
#include "share.h"
#include "sysfs.h"
#include "uuid.h"

/**
 * struct process_row - what process_inst() needs beside the vGPU
 * @listing:   where the rows are written to
 * @guests:    the table of processes or channels in guests; NULL: it is not shown
 * @fd:        /dev/vgpu
 * @gpu:       GPU of the vGPU
 * @sched:     the settings of this GPU
 * @window_ns: length of the scheduler's window in the vGPU's partition
 */
struct process_row {
	struct listing *listing;
	struct table *guests;
	int fd;
	const struct vgpu_ctl_gpu *gpu;
	struct vgpu_ctl_sched sched;
	uint64_t window_ns;
};

/* The keys of a label. Without one they are null. */
static void label_json(struct json *json, bool named, uint32_t pid, uint32_t uid, uint64_t client,
		       const char *command)
{
	if (named) {
		json_text(json, "told_by", "guest");
		json_u64(json, "pid", pid);
		json_text(json, "command", command);
		json_u64(json, "uid", uid);
		json_u64(json, "client", client);
	} else {
		json_null(json, "told_by");
		json_null(json, "pid");
		json_null(json, "command");
		json_null(json, "uid");
		json_null(json, "client");
	}
}

static void guest_process_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			       const struct guest_process *process)
{
	const struct guest_engine *engine = process->engine;
	uint32_t i;

	json_begin(json, NULL);
	label_json(json, process->named, process->pid, process->uid, process->client,
		   process->command);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		if (!engine[i].channels)
			continue;
		json_begin(json, NULL);
		json_bytes(json, "name", gpu->engine[i].name, sizeof(gpu->engine[i].name));
		json_u64(json, "channels", engine[i].channels);
		json_u64(json, "busy_ns", engine[i].busy_ns);
		json_u64(json, "total_busy_ns", engine[i].total_busy_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* What stands for an engine whose index is none of the GPU's has no bytes. */
static const struct vgpu_ctl_engine *engine_of(const struct vgpu_ctl_gpu *gpu, uint32_t i)
{
	static const struct vgpu_ctl_engine none;

	return i < ctl_engines(gpu->engines) ? &gpu->engine[i] : &none;
}

static void channel_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			 const struct vgpu_ctl_channel *channel)
{
	const struct vgpu_ctl_engine *engine = engine_of(gpu, channel->engine);
	char command[GUEST_TEXT(VGPU_COMM_LEN)];

	json_begin(json, NULL);
	json_u64(json, "channel", channel->channel);
	json_bytes(json, "engine", engine->name, sizeof(engine->name));
	json_text(json, "state", guest_state_name(channel->state));
	json_u64(json, "enabled_ns", channel->enabled_ns);
	json_u64(json, "busy_ns", channel->busy_ns);
	json_u64(json, "total_busy_ns", channel->total_busy_ns);
	label_json(json, channel->flags & VGPU_CHANNEL_LABEL, channel->pid, channel->uid,
		   channel->client, guest_text(channel->comm, sizeof(channel->comm), command));
	json_end(json);
}

static void guest_json(const struct process_row *row, const struct guest *guest)
{
	struct json *json = row->listing->json;
	struct guest_process *process;
	uint32_t nr, i;

	if (!guest->known) {
		json_null(json, "guest");
		return;
	}
	json_begin(json, "guest");
	json_text(json, "driver_name", guest->name);
	json_text(json, "driver_version", guest->version);
	json_u64(json, "now_ns", guest->now_ns);
	process = guest_processes(guest, &nr);
	json_begin_array(json, "processes");
	for (i = 0; i < nr; i++)
		guest_process_json(json, row->gpu, &process[i]);
	json_end(json);
	free(process);
	if (row->listing->options->channels) {
		json_begin_array(json, "channels");
		for (i = 0; i < guest->nr; i++)
			channel_json(json, row->gpu, &guest->channel[i]);
		json_end(json);
	}
	json_end(json);
}

static void process_json(const struct process_row *row, const struct vgpu_ctl_instance *inst,
			 const struct guest *guest)
{
	struct json *json = row->listing->json;
	char uuid[UUID_STR_LEN];
	uint32_t i;

	json_begin(json, NULL);
	if (inst->owner_pid)
		json_s64(json, "pid", inst->owner_pid);
	else
		json_null(json, "pid");
	json_bytes(json, "command", inst->owner_comm, sizeof(inst->owner_comm));
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
	guest_json(row, guest);
	json_end(json);
}

const char process_columns[] =
	">PID|COMMAND|>UID|GPU|UUID|TYPE|>BACKED|>MOST|ENGINE|>WINDOW %|>BUSY ms";

static void process_rows(const struct process_row *row, const struct vgpu_ctl_instance *inst)
{
	char uuid[UUID_STR_LEN], command[GUEST_TEXT(VGPU_COMM_LEN)];
	struct table *table = row->listing->table;
	uint32_t i;

	for (i = 0; i < ctl_engines(inst->engines); i++) {
		if (inst->owner_pid)
			table_add(table, "%d", inst->owner_pid);
		else
			table_add(table, "-");
		/* It may have any name, as what runs in a guest. */
		table_add(table, "%s", guest_text(inst->owner_comm, VGPU_COMM_LEN, command));
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

/* The table below the other one. What the guest says stands in columns that say so. */
static const char guests_note[] =
	"In the guests: names and numbers of processes are each guest's word, times are measured.";
static const char guest_processes_columns[] =
	"UUID|>GUEST PID|GUEST COMMAND|>GUEST UID|>GUEST CLIENT|>CHANNELS|ENGINE|>BUSY ms|>TOTAL ms";
static const char guest_channels_columns[] =
	"UUID|>CHANNEL|STATE|>ENABLED|>GUEST PID|GUEST COMMAND|>GUEST UID|>GUEST CLIENT|ENGINE|>BUSY ms|>TOTAL ms";

static void label_cells(struct table *table, bool named, uint32_t pid, uint32_t uid,
			uint64_t client, const char *command)
{
	if (named) {
		table_add(table, "%u", pid);
		table_add(table, "%s", command);
		table_add(table, "%u", uid);
		table_add(table, "%" PRIu64, client);
		return;
	}
	table_add(table, "-");
	table_add(table, "-");
	table_add(table, "-");
	table_add(table, "-");
}

static void guest_process_rows(const struct process_row *row, const char *uuid,
			       const struct guest_process *process)
{
	const struct guest_engine *engine = process->engine;
	struct table *table = row->guests;
	uint32_t i;

	for (i = 0; i < ctl_engines(row->gpu->engines); i++) {
		if (!engine[i].channels)
			continue;
		table_add(table, "%s", uuid);
		label_cells(table, process->named, process->pid, process->uid, process->client,
			    process->command);
		table_add(table, "%u", engine[i].channels);
		table_add(table, "%.*s", TEXT(row->gpu->engine[i].name));
		table_add(table, "%" PRIu64, engine[i].busy_ns / 1000000);
		table_add(table, "%" PRIu64, engine[i].total_busy_ns / 1000000);
	}
}

static void channel_row(const struct process_row *row, const char *uuid, uint64_t now_ns,
			const struct vgpu_ctl_channel *channel)
{
	char text[32], command[GUEST_TEXT(VGPU_COMM_LEN)];
	struct table *table = row->guests;

	table_add(table, "%s", uuid);
	table_add(table, "%u", channel->channel);
	table_add(table, "%s", guest_state_name(channel->state));
	table_add(table, "%s ago", table_duration(text, sizeof(text), now_ns > channel->enabled_ns ?
						  now_ns - channel->enabled_ns : 0));
	label_cells(table, channel->flags & VGPU_CHANNEL_LABEL, channel->pid, channel->uid,
		    channel->client, guest_text(channel->comm, sizeof(channel->comm), command));
	table_add(table, "%.*s", TEXT(engine_of(row->gpu, channel->engine)->name));
	table_add(table, "%" PRIu64, (uint64_t)channel->busy_ns / 1000000);
	table_add(table, "%" PRIu64, (uint64_t)channel->total_busy_ns / 1000000);
}

static void guest_rows(const struct process_row *row, const struct vgpu_ctl_instance *inst,
		       const struct guest *guest)
{
	struct guest_process *process;
	char uuid[UUID_STR_LEN];
	uint32_t nr, i;

	uuid_format(inst->uuid, uuid);
	if (row->listing->options->channels) {
		for (i = 0; i < guest->nr; i++)
			channel_row(row, uuid, guest->now_ns, &guest->channel[i]);
		return;
	}
	process = guest_processes(guest, &nr);
	for (i = 0; i < nr; i++)
		guest_process_rows(row, uuid, &process[i]);
	free(process);
}

static int process_inst(const struct vgpu_ctl_instance *inst, void *arg)
{
	struct process_row *row = arg;
	struct guest guest = { .known = false };
	int ret;

	/* Nobody has it open. */
	if (!inst->session)
		return 0;
	ret = ctl_window(row->fd, inst, &row->sched, &row->window_ns);
	if (!ret && (row->listing->json || row->guests))
		ret = guest_read(row->fd, inst->uuid, &guest);
	if (ret)
		return ret;
	if (row->listing->json) {
		process_json(row, inst, &guest);
	} else {
		process_rows(row, inst);
		if (row->guests)
			guest_rows(row, inst, &guest);
		row->listing->untold |= guest.old;
	}
	guest_free(&guest);
	return 0;
}

static int process_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	struct process_row row = {
		.listing = listing, .guests = listing->below, .fd = fd, .gpu = gpu,
	};
	int ret;

	ret = ctl_sched(fd, gpu->gpu, 0, &row.sched);
	if (ret)
		return ret;
	return ctl_visit_instances(fd, gpu->gpu, &row, process_inst);
}

enum exit_code cmd_process(const struct options *options)
{
	const bool part = options->form.columns || options->form.bare;

	if (options->channels && part)
		return fail_usage("--channels goes with neither -o nor --noheadings, which are for the processes of the host");
	return listing_print_below(options, process_each, part ? NULL : options->channels ?
				   guest_channels_columns : guest_processes_columns, guests_note,
				   options->channels ? "channels of guests" : "processes in guests");
}
