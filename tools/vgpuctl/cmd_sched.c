// SPDX-License-Identifier: GPL-2.0
/* The commands sched show and sched set. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "due.h"
#include "sched.h"
#include "share.h"
#include "uuid.h"

#define WHOLE	1000.0	/* an engine; what is due is computed per mille */

/**
 * struct scope - whose scheduler it is: that of a GPU or of a partition
 * @gpu:       the GPU
 * @partition: number of the partition; 0: the whole GPU
 * @profile:   profile of the partition
 * @due:       what its policy gives to each vGPU
 * @fb_bytes:  framebuffer
 * @guarantee_sum: per mille, of its vGPUs
 */
struct scope {
	const struct vgpu_ctl_gpu *gpu;
	uint32_t partition;
	char profile[VGPU_PROFILE_NAME_LEN + 1];
	uint32_t due;
	uint64_t fb_bytes;
	uint32_t guarantee_sum;
};

static void scope_gpu(struct scope *scope, const struct vgpu_ctl_gpu *gpu)
{
	*scope = (struct scope){
		.gpu = gpu,
		.due = gpu->due,
		.fb_bytes = gpu->fb_bytes,
		.guarantee_sum = gpu->guarantee_sum,
	};
}

static void scope_partition(struct scope *scope, const struct vgpu_ctl_gpu *gpu,
			    const struct vgpu_ctl_partition *part)
{
	*scope = (struct scope){
		.gpu = gpu,
		.partition = part->partition,
		.due = part->due,
		.fb_bytes = part->fb_bytes,
		.guarantee_sum = part->guarantee_sum,
	};
	snprintf(scope->profile, sizeof(scope->profile), "%.*s", TEXT(part->profile));
}

/* Reads the GPU, or one of its partitions if @partition is not 0. */
static int scope_read(int fd, const struct vgpu_ctl_gpu *gpu, uint32_t partition,
		      struct scope *scope)
{
	struct vgpu_ctl_partition part;
	int ret = 0;

	scope_gpu(scope, gpu);
	if (partition)
		ret = ctl_partition(fd, gpu->gpu, partition, &part);
	if (partition && !ret)
		scope_partition(scope, gpu, &part);
	return ret;
}

/**
 * struct vgpus - the vGPUs of a GPU or of a partition
 * @inst:  the vGPUs; allocated
 * @due:   what is due to each vGPU of an engine, in hundredths of a per cent; allocated
 * @known: it is known what is due
 * @nr:    number of vGPUs
 */
struct vgpus {
	struct vgpu_ctl_instance *inst;
	uint64_t *due;
	bool known;
	uint32_t nr;
};

static void vgpus_free(struct vgpus *vgpus)
{
	free(vgpus->inst);
	free(vgpus->due);
}

/* Sets @due of all @vgpus, if it is known what is due under the policy. */
static int vgpus_due(const struct scope *scope, struct vgpus *vgpus)
{
	struct due_claim *claims = calloc(vgpus->nr, sizeof(*claims));
	uint32_t i;

	vgpus->due = calloc(vgpus->nr, sizeof(*vgpus->due));
	if (!claims || !vgpus->due) {
		free(claims);
		return -ENOMEM;
	}
	for (i = 0; i < vgpus->nr; i++) {
		const struct vgpu_ctl_instance *inst = &vgpus->inst[i];

		claims[i] = (struct due_claim){
			.guarantee = inst->guarantee,
			.cap = inst->cap,
			.weight = inst->weight,
			.part = scope->fb_bytes ? WHOLE * inst->fb_bytes / scope->fb_bytes : 0,
			.demand = WHOLE,
			.started = inst->state == VGPU_STATE_STARTED,
			.held = inst->status & VGPU_INSTANCE_QUARANTINED,
		};
	}
	vgpus->known = due_by_rule(scope->due, claims, vgpus->nr, WHOLE);
	for (i = 0; i < vgpus->nr; i++)
		vgpus->due[i] = (uint64_t)(claims[i].due * 10 + 0.5);
	free(claims);
	return 0;
}

static int vgpus_read(int fd, const struct scope *scope, struct vgpus *vgpus)
{
	struct vgpu_ctl_stats stats;
	uint32_t i;
	int ret;

	memset(vgpus, 0, sizeof(*vgpus));
	ret = ctl_stats(fd, scope->gpu->gpu, &stats, &vgpus->inst);
	if (ret)
		return ret;
	for (i = 0; i < stats.count; i++)
		if (vgpus->inst[i].partition == scope->partition)
			vgpus->inst[vgpus->nr++] = vgpus->inst[i];
	if (vgpus->nr)
		ret = vgpus_due(scope, vgpus);
	if (ret)
		vgpus_free(vgpus);
	return ret;
}

/* Keys in an object that is open. */
static void params_json(struct json *json, const struct scope *scope,
			const struct vgpu_ctl_sched *sched)
{
	const struct vgpu_ctl_gpu *gpu = scope->gpu;

	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_bytes(json, "board", gpu->board, sizeof(gpu->board));
	json_u64(json, "partition", scope->partition);
	setting_json(&sched_settings, json, sched);
	json_u64(json, "guarantee_sum_permille", scope->guarantee_sum);
}

static void vgpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
		      const struct vgpu_ctl_sched *sched,
		      const struct vgpus *vgpus, uint32_t i)
{
	const struct vgpu_ctl_instance *inst = &vgpus->inst[i];
	char uuid[UUID_STR_LEN];
	uint32_t k;

	json_begin(json, NULL);
	json_text(json, "uuid", uuid_format(inst->uuid, uuid));
	json_bytes(json, "type", inst->type_name, sizeof(inst->type_name));
	json_text(json, "state", ctl_state_name(inst->state));
	json_flag(json, "quarantined",
		  inst->status & VGPU_INSTANCE_QUARANTINED);
	setting_json(&share_settings, json, inst);
	if (vgpus->known)
		json_centi(json, "due_percent", vgpus->due[i]);
	else
		json_null(json, "due_percent");
	json_begin_array(json, "engines");
	for (k = 0; k < ctl_engines(inst->engines); k++) {
		json_begin(json, NULL);
		json_bytes(json, "name", gpu->engine[k].name,
			   sizeof(gpu->engine[k].name));
		json_u64(json, "window_ns", inst->engine[k].window_ns);
		json_centi(json, "window_percent",
			   share_centi(inst->engine[k].window_ns, sched->window_ns));
		json_u64(json, "busy_ns", inst->engine[k].busy_ns);
		json_u64(json, "linger_ns", inst->engine[k].linger_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void show_json(struct json *json, const struct scope *scope,
		      const struct vgpu_ctl_sched *sched,
		      const struct vgpus *vgpus)
{
	uint32_t i;

	json_begin(json, NULL);
	params_json(json, scope, sched);
	json_begin_array(json, "vgpus");
	for (i = 0; i < vgpus->nr; i++)
		vgpu_json(json, scope->gpu, sched, vgpus, i);
	json_end(json);
	json_end(json);
}

static void params_text(const struct scope *scope, const struct vgpu_ctl_sched *sched)
{
	const struct vgpu_ctl_gpu *gpu = scope->gpu;

	printf("%-18s%u, %.*s, %.*s\n", "GPU", gpu->gpu, TEXT(gpu->address), TEXT(gpu->board));
	if (scope->partition)
		printf("%-18s%u, %s\n", "Partition", scope->partition, scope->profile);
	setting_print(&sched_settings, 18, sched);
	printf("%-18s%u.%u %% of each engine\n", "Guaranteed", scope->guarantee_sum / 10,
	       scope->guarantee_sum % 10);
}

static void vgpu_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
		     const struct vgpu_ctl_sched *sched,
		     const struct vgpus *vgpus, uint32_t i)
{
	const struct vgpu_ctl_instance *inst = &vgpus->inst[i];
	char uuid[UUID_STR_LEN], status[CTL_STATUS_LEN];
	uint32_t k;

	table_add(table, "%s", uuid_format(inst->uuid, uuid));
	table_add(table, "%.*s", TEXT(inst->type_name));
	table_add(table, "%s%s", ctl_state_name(inst->state), ctl_status_text(inst, status));
	setting_cells(&share_settings, table, inst);
	if (vgpus->known)
		share_cell(table, vgpus->due[i]);
	else
		table_add(table, "-");
	for (k = 0; k < ctl_engines(gpu->engines); k++)
		share_cell(table, share_centi(inst->engine[k].window_ns,
					      sched->window_ns));
}

static void show_text(const struct scope *scope, const struct vgpu_ctl_sched *sched,
		      const struct vgpus *vgpus)
{
	const struct vgpu_ctl_gpu *gpu = scope->gpu;
	char headings[512 + VGPU_MAX_ENGINES * 20];
	struct table table;
	uint32_t i;

	params_text(scope, sched);
	if (!vgpus->nr)
		return;
	strcpy(headings, "UUID|TYPE|STATE");
	setting_headings(&share_settings, headings, sizeof(headings));
	table_heading(headings, sizeof(headings), "%s", ">DUE %");
	for (i = 0; i < ctl_engines(gpu->engines); i++)
		table_heading(headings, sizeof(headings), ">%.*s %%", TEXT(gpu->engine[i].name));
	table_init(&table, headings);
	for (i = 0; i < vgpus->nr; i++)
		vgpu_row(&table, gpu, sched, vgpus, i);
	putchar('\n');
	table_print(&table, stdout, NULL);
}

/**
 * struct show - where GPUs are shown
 * @fd:        file of /dev/vgpu
 * @json:      the JSON document; NULL: as text
 * @partition: only this partition; 0: all
 * @gpu:       the GPU that is shown now
 * @any:       something has been shown
 */
struct show {
	int fd;
	struct json *json;
	uint32_t partition;
	const struct vgpu_ctl_gpu *gpu;
	bool any;
};

static int show_scope(struct show *show, const struct scope *scope)
{
	struct vgpu_ctl_sched sched;
	struct vgpus vgpus;
	int ret;

	ret = ctl_sched(show->fd, scope->gpu->gpu, scope->partition, &sched);
	if (ret)
		return ret;
	ret = vgpus_read(show->fd, scope, &vgpus);
	if (ret)
		return ret;
	if (show->json) {
		show_json(show->json, scope, &sched, &vgpus);
	} else {
		if (show->any)
			putchar('\n');
		show_text(scope, &sched, &vgpus);
	}
	show->any = true;
	vgpus_free(&vgpus);
	return ret;
}

static int show_partition(const struct vgpu_ctl_partition *part, void *arg)
{
	struct show *show = arg;
	struct scope scope;
	int ret;

	scope_partition(&scope, show->gpu, part);
	ret = show_scope(show, &scope);
	return ret == -ENOENT ? 0 : ret; /* removed meanwhile */
}

static int show_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct show *show = arg;
	struct scope scope;
	int ret;

	show->gpu = gpu;
	if (!show->partition && ctl_is_divided(gpu))
		return ctl_visit_partitions(fd, gpu->gpu, show, show_partition);
	ret = scope_read(fd, gpu, show->partition, &scope);
	if (!ret)
		ret = show_scope(show, &scope);
	/* Another GPU may have a partition of that number. */
	return ret == -ENOENT ? 0 : ret;
}

enum exit_code cmd_sched_show(const struct options *options)
{
	struct show show = { .partition = options->partition };
	enum exit_code code;
	struct json json;
	int fd;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	if (options->json) {
		json_init(&json, stdout, false);
		json_begin_array(&json, NULL);
		show.json = &json;
	}
	show.fd = fd;
	code = ctl_visit_gpus(fd, options->gpu, &show, show_gpu);
	if (!code && options->partition && !show.any)
		code = fail("partition %u: there is none (vgpuctl partition list shows them)",
			    options->partition);
	close(fd);
	if (options->json)
		json_end(&json);
	return code;
}

static void set_done(const struct options *options, const struct scope *scope,
		     const struct vgpu_ctl_sched *sched)
{
	struct json json;

	if (!options->json) {
		params_text(scope, sched);
		return;
	}
	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	params_json(&json, scope, sched);
	json_end(&json);
}

/*
 * The driver would take the settings of the whole GPU, which has no vGPUs while it is divided: they
 * would seem to be in force, and change nothing.
 */
static enum exit_code set_is_of_something(int fd, uint32_t id)
{
	char numbers[VGPU_PARTITION_EIGHTHS * 12 + 1];
	uint32_t *ids, count, i;
	struct vgpu_ctl_gpu gpu;
	size_t length = 0;
	int ret;

	ret = ctl_gpu(fd, id, &gpu);
	if (!ret && !ctl_is_divided(&gpu))
		return EXIT_OK;
	if (!ret)
		ret = ctl_partitions(fd, id, &ids, &count);
	if (ret)
		return fail("GPU %u: %s", id, ctl_error(ret));
	for (i = 0; i < count && i < VGPU_PARTITION_EIGHTHS; i++)
		length += (size_t)sprintf(numbers + length, "%s%u", i ? ", " : "", ids[i]);
	free(ids);
	if (!length)
		return fail("GPU %u is divided, and has no partition yet: nothing is to be set",
			    id);
	return fail("GPU %u is divided: name a partition (--partition), there are %s", id, numbers);
}

static enum exit_code set_fail(const struct vgpu_ctl_sched *sched, const char *why)
{
	if (sched->partition)
		return fail("GPU %u, partition %u: %s", sched->gpu, sched->partition, why);
	return fail("GPU %u: %s", sched->gpu, why);
}

enum exit_code cmd_sched_set(const struct options *options)
{
	struct vgpu_ctl_sched sched = options->sched;
	char reason[VGPU_TEXT_LEN + 1];
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	struct scope scope;
	int fd, ret;

	sched.partition = options->partition;
	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	code = ctl_choose_gpu(fd, options->gpu, &sched.gpu);
	if (!code && !sched.partition)
		code = set_is_of_something(fd, sched.gpu);
	if (code) {
		close(fd);
		return code;
	}
	ret = ctl_sched_set(fd, &sched);
	if (ret)
		code = set_fail(&sched, message_refusal(sched.text, ret, reason, sizeof(reason)));
	if (!ret) {
		ret = ctl_gpu(fd, sched.gpu, &gpu);
		if (!ret)
			ret = scope_read(fd, &gpu, options->partition, &scope);
		if (ret)
			code = set_fail(&sched, strerror(-ret));
		else
			set_done(options, &scope, &sched);
	}
	close(fd);
	return code;
}
