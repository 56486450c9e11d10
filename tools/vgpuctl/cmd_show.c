// SPDX-License-Identifier: GPL-2.0
/* The command show. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "guest.h"
#include "listing.h"
#include "share.h"
#include "uuid.h"

static void show_engine_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			     const struct vgpu_ctl_instance *inst, uint32_t i)
{
	const struct vgpu_ctl_instance_engine *e = &inst->engine[i];

	json_begin(json, NULL);
	json_bytes(json, "name", gpu->engine[i].name,
		   sizeof(gpu->engine[i].name));
	json_u64(json, "busy_ns", e->busy_ns);
	json_u64(json, "linger_ns", inst->engine[i].linger_ns);
	json_u64(json, "window_ns", inst->engine[i].window_ns);
	json_u64(json, "wait_ns", e->wait_ns);
	json_u64(json, "max_wait_ns", e->max_wait_ns);
	json_u64(json, "runs", e->runs);
	json_u64(json, "switches", e->switches);
	json_u64(json, "preemptions", e->preemptions);
	json_u64(json, "overruns", e->overruns);
	json_u64(json, "overrun_ns", e->overrun_ns);
	json_u64(json, "max_overrun_ns", e->max_overrun_ns);
	json_u64(json, "stalls", e->stalls);
	json_u64(json, "faults", e->faults);
	json_u64(json, "resets", e->resets);
	json_u64(json, "packets", e->packets);
	json_u64(json, "bytes", e->bytes);
	json_end(json);
}

static void show_driver_json(struct json *json, const struct guest *guest)
{
	if (!guest_tells(guest)) {
		json_null(json, "guest_driver");
		return;
	}
	json_begin(json, "guest_driver");
	json_text(json, "told_by", "guest");
	json_text(json, "name", guest->name);
	json_text(json, "version", guest->version);
	json_text(json, "os", guest->os);
	json_end(json);
}

static void show_json(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_instance *inst,
		      const struct guest *guest)
{
	char uuid[UUID_STR_LEN];
	struct json json;
	uint32_t i;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_text(&json, "uuid", uuid_format(inst->uuid, uuid));
	json_u64(&json, "gpu", inst->gpu);
	json_bytes(&json, "address", gpu->address, sizeof(gpu->address));
	json_bytes(&json, "type", inst->type_name, sizeof(inst->type_name));
	json_text(&json, "state", ctl_state_name(inst->state));
	json_flag(&json, "quarantined",
		  inst->status & VGPU_INSTANCE_QUARANTINED);
	json_flag(&json, "paused", inst->status & VGPU_INSTANCE_PAUSED);
	listing_move_json(&json, inst);
	json_u64(&json, "quarantine_until_ns", inst->quarantine_until_ns);
	json_u64(&json, "quarantines", inst->quarantines);
	if (inst->owner_pid)
		json_s64(&json, "owner_pid", inst->owner_pid);
	else
		json_null(&json, "owner_pid");
	show_driver_json(&json, guest);
	json_u64(&json, "partition", inst->partition);
	json_u64(&json, "placement_gib", inst->placement_gb);
	json_u64(&json, "fb_bytes", inst->fb_bytes);
	json_u64(&json, "fb_backed_bytes", inst->fb_backed_bytes);
	setting_json(&share_settings, &json, inst);
	json_u64(&json, "first_channel", inst->first_channel);
	json_u64(&json, "channels", inst->channels);
	json_u64(&json, "created_ns", inst->created_ns);
	json_u64(&json, "started_ns", inst->started_ns);
	json_u64(&json, "now_ns", inst->now_ns);
	json_u64(&json, "frames", inst->frames);
	json_u64(&json, "faults", inst->faults);
	json_u64(&json, "interrupts", inst->interrupts);
	json_u64(&json, "doorbells", inst->doorbells);
	json_u64(&json, "resets", inst->resets);
	json_u64(&json, "dma_read_bytes", inst->dma_read_bytes);
	json_u64(&json, "dma_written_bytes", inst->dma_written_bytes);
	json_begin_array(&json, "engines");
	for (i = 0; i < ctl_engines(inst->engines); i++)
		show_engine_json(&json, gpu, inst, i);
	json_end(&json);
	json_end(&json);
}

static void show_line_u64(const char *name, uint64_t value)
{
	printf("%-22s%" PRIu64 "\n", name, value);
}

static void show_line_size(const char *name, uint64_t bytes)
{
	char text[32];

	printf("%-22s%s\n", name, table_size(text, sizeof(text), bytes));
}

static void show_line_ago(const char *name, uint64_t now_ns, uint64_t then_ns)
{
	char text[32];

	if (!then_ns)
		return;
	printf("%-22s%s ago\n", name,
	       table_duration(text, sizeof(text),
			      now_ns > then_ns ? now_ns - then_ns : 0));
}

static void show_status(const struct vgpu_ctl_instance *inst)
{
	char text[32], owner[CTL_OWNER_LEN];

	printf("%-22s%s%s", "State", ctl_state_name(inst->state),
	       inst->status & VGPU_INSTANCE_PAUSED ? ", paused" : "");
	if (inst->state == VGPU_STATE_STARTED)
		printf(", in use by %s", ctl_owner_text(inst, owner));
	putchar('\n');
	if (inst->status & VGPU_INSTANCE_QUARANTINED)
		printf("%-22sfor another %s\n", "Quarantined",
		       table_duration(text, sizeof(text),
				      inst->quarantine_until_ns > inst->now_ns ?
				      inst->quarantine_until_ns - inst->now_ns : 0));
	show_line_u64("Quarantines", inst->quarantines);
}

static void show_move(const struct vgpu_ctl_instance *inst)
{
	char done[32], left[32], rate[32], time[32];

	table_size(done, sizeof(done), inst->move_bytes);
	table_size(left, sizeof(left), inst->move_left_bytes);
	table_size(rate, sizeof(rate), listing_move_rate(inst));
	table_duration(time, sizeof(time), inst->move_ns);
	switch (inst->move) {
	case VGPU_MOVE_SAVING:
	case VGPU_MOVE_SAVING_STOPPED:
		printf("%-22s%s, %s are read in %s (%s/s), %s are left\n", "Move",
		       inst->move == VGPU_MOVE_SAVING ? "is saved while its guest works" :
		       "is saved while it stands still", done, time, rate, left);
		break;
	case VGPU_MOVE_LOADING:
		printf("%-22sis loaded, %s are written in %s (%s/s)\n", "Move", done, time, rate);
		break;
	}
}

static void show_guest(const struct guest *guest)
{
	if (guest->old)
		printf("%-22snot known: %s\n", "Guest driver", ctl_error(-ENOTTY));
	if (guest->name[0] || guest->version[0])
		printf("%-22s%s%s%s (the guest's word)\n", "Guest driver", guest->name,
		       guest->name[0] && guest->version[0] ? " " : "", guest->version);
	if (guest->os[0])
		printf("%-22s%s (the guest's word)\n", "Guest OS", guest->os);
}

static void show_duration(struct table *table, uint64_t ns)
{
	char text[32];

	table_add(table, "%s", table_duration(text, sizeof(text), ns));
}

static void show_engines_table(const struct vgpu_ctl_gpu *gpu,
			       const struct vgpu_ctl_instance *inst)
{
	const struct vgpu_ctl_instance_engine *e;
	struct table table;
	uint32_t i;

	table_init(&table,
		   "ENGINE|>BUSY|>LINGER|>WAIT|>MAX WAIT|>RUNS|>SWITCHES|>PREEMPTIONS|>OVERRUNS|>OVERRUN|>MAX OVERRUN|>STALLS|>FAULTS|>RESETS|>PACKETS|>WRITTEN");
	for (i = 0; i < ctl_engines(inst->engines); i++) {
		e = &inst->engine[i];
		table_add(&table, "%.*s", TEXT(gpu->engine[i].name));
		show_duration(&table, e->busy_ns);
		show_duration(&table, inst->engine[i].linger_ns);
		show_duration(&table, e->wait_ns);
		show_duration(&table, e->max_wait_ns);
		table_add(&table, "%llu", e->runs);
		table_add(&table, "%llu", e->switches);
		table_add(&table, "%llu", e->preemptions);
		table_add(&table, "%llu", e->overruns);
		show_duration(&table, e->overrun_ns);
		show_duration(&table, e->max_overrun_ns);
		table_add(&table, "%llu", e->stalls);
		table_add(&table, "%llu", e->faults);
		table_add(&table, "%llu", e->resets);
		table_add(&table, "%llu", e->packets);
		table_add_bytes(&table, e->bytes);
	}
	putchar('\n');
	table_print(&table, stdout, NULL);
}

static void show_text(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_instance *inst,
		      const struct guest *guest)
{
	char uuid[UUID_STR_LEN];

	printf("%-22s%s\n", "UUID", uuid_format(inst->uuid, uuid));
	printf("%-22s%u, %.*s\n", "GPU", inst->gpu, TEXT(gpu->address));
	printf("%-22s%.*s\n", "Type", TEXT(inst->type_name));
	show_status(inst);
	show_move(inst);
	show_guest(guest);
	setting_print(&share_settings, 22, inst);
	if (inst->partition)
		show_line_u64("Partition", inst->partition);
	printf("%-22s%u GiB\n", "Placement", inst->placement_gb);
	show_line_size("Framebuffer", inst->fb_bytes);
	show_line_size("Framebuffer backed", inst->fb_backed_bytes);
	printf("%-22s%u, from %u\n", "Channels", inst->channels,
	       inst->first_channel);
	show_line_ago("Created", inst->now_ns, inst->created_ns);
	show_line_ago("Started", inst->now_ns, inst->started_ns);
	show_line_u64("Frames", inst->frames);
	show_line_u64("Channel faults", inst->faults);
	show_line_u64("Interrupts", inst->interrupts);
	show_line_u64("Doorbells", inst->doorbells);
	show_line_u64("Device resets", inst->resets);
	show_line_size("Guest memory read", inst->dma_read_bytes);
	show_line_size("Guest memory written", inst->dma_written_bytes);
	show_engines_table(gpu, inst);
}

enum exit_code cmd_show(const struct options *options)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	struct guest guest;
	int fd, ret;

	code = ctl_open_vgpu(options->uuid, &fd, &inst, &gpu);
	if (code)
		return code;
	ret = guest_read(fd, inst.uuid, &guest);
	close(fd);
	if (ret)
		return ctl_fail_vgpu(inst.uuid, ret);
	if (options->json)
		show_json(&gpu, &inst, &guest);
	else
		show_text(&gpu, &inst, &guest);
	guest_free(&guest);
	return EXIT_OK;
}
