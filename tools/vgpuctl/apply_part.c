// SPDX-License-Identifier: GPL-2.0
#include "apply.h"
#include "ctl.h"
#include "sched.h"

/* ---- doing it, and undoing it ---- */

#define NAME_ROOM	96

static const char *part_name(const struct plan_gpu *gpu, const struct plan_part *part, char *text)
{
	size_t length = (size_t)snprintf(text, NAME_ROOM, "GPU %s, partition ",
					 gpu->want->address);

	if (part->id)
		length += (size_t)snprintf(text + length, NAME_ROOM - length, "%u, ", part->id);
	snprintf(text + length, NAME_ROOM - length, "%s at %u", part->want->profile, part->start);
	return text;
}

/* Tells why the driver refused what the file says in gpus[i], or in a partition there. */
static enum exit_code refused(const struct plan *plan, const struct plan_gpu *gpu,
			      const struct plan_part *part, const uint8_t *text, int ret)
{
	char reason[VGPU_TEXT_LEN + 1], name[NAME_ROOM];

	message_refusal(text, ret, reason, sizeof(reason));
	if (!part)
		return fail("gpus[%zu].partitions: GPU %s: %s", (size_t)(gpu - plan->gpu),
			    gpu->want->address, reason);
	return fail("gpus[%zu].partitions[%zu]: %s: %s", (size_t)(gpu - plan->gpu),
		    (size_t)(part - gpu->part), part_name(gpu, part, name), reason);
}

static enum exit_code create_parts(int fd, const struct plan *plan, struct plan_gpu *gpu)
{
	uint32_t id = gpu->is->gpu.gpu;
	uint8_t text[VGPU_TEXT_LEN];
	struct plan_part *part;
	size_t i;
	int ret;

	for (i = 0; i < gpu->nr_creates; i++) {
		part = &gpu->part[gpu->create[i]];
		ret = ctl_partition_create(fd, id, part->profile, part->start, &part->id, text);
		if (ret) {
			part->id = 0;
			return refused(plan, gpu, part, text, ret);
		}
	}
	return EXIT_OK;
}

static enum exit_code set_parts(int fd, const struct plan *plan, struct plan_gpu *gpu)
{
	struct vgpu_ctl_sched sched;
	struct plan_part *part;
	int ret;

	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++) {
		if (!part->changed)
			continue;
		sched = part->want->set;
		sched.gpu = gpu->is->gpu.gpu;
		sched.partition = part->id;
		sched.valid = part->changed;
		ret = ctl_sched_set(fd, &sched);
		if (ret)
			return refused(plan, gpu, part, sched.text, ret);
		part->set = true;
	}
	return EXIT_OK;
}

enum exit_code apply_parts(int fd, struct plan *plan)
{
	enum exit_code code = EXIT_OK;
	uint8_t text[VGPU_TEXT_LEN];
	struct plan_gpu *gpu;
	int ret;

	for (gpu = plan->gpu; gpu < plan->gpu + plan->nr_gpus && !code; gpu++) {
		if (gpu->divide) {
			ret = ctl_partition_mode(fd, gpu->is->gpu.gpu, VGPU_PARTITION_MODE_ON,
						 text);
			if (ret)
				return refused(plan, gpu, NULL, text, ret);
			gpu->divided = true;
		}
		code = create_parts(fd, plan, gpu);
		if (!code)
			code = set_parts(fd, plan, gpu);
	}
	return code;
}

/* Gives the partition that was there its settings, or removes the one that was not. */
static void undo_part(int fd, const struct plan_gpu *gpu, const struct plan_part *part)
{
	struct vgpu_ctl_sched sched;
	uint8_t text[VGPU_TEXT_LEN];

	if (!part->is) {
		if (part->id && ctl_partition_remove(fd, gpu->is->gpu.gpu, part->id, text))
			fail("GPU %s: cannot remove partition %u", gpu->want->address, part->id);
		return;
	}
	if (!part->set)
		return;
	sched = part->is->sched;
	/* A frequency that is read need not be one that can be set. */
	sched.valid = part->changed & VGPU_SCHED_FREQUENCY ?
		(part->changed & ~VGPU_SCHED_FREQUENCY) | VGPU_SCHED_SLICE : part->changed;
	if (ctl_sched_set(fd, &sched))
		fail("GPU %s: cannot set partition %u back", gpu->want->address, part->id);
}

void apply_parts_undo(int fd, struct plan *plan)
{
	uint8_t text[VGPU_TEXT_LEN];
	struct plan_gpu *gpu;
	size_t i;

	for (gpu = plan->gpu; gpu < plan->gpu + plan->nr_gpus; gpu++) {
		for (i = gpu->nr_parts; i--;)
			undo_part(fd, gpu, &gpu->part[i]);
		if (gpu->divided && ctl_partition_mode(fd, gpu->is->gpu.gpu,
						       VGPU_PARTITION_MODE_OFF, text))
			fail("GPU %s: cannot set its mode back", gpu->want->address);
	}
}

/* ---- what is different ---- */

static bool part_differs(const struct plan_part *part)
{
	return !part->is || part->changed;
}

bool apply_parts_any(const struct plan_gpu *gpu)
{
	bool any = gpu->divide;
	size_t i;

	for (i = 0; i < gpu->nr_parts; i++)
		any |= part_differs(&gpu->part[i]);
	return any;
}

void apply_parts_text(const struct plan_gpu *gpu)
{
	const struct plan_part *part;
	char name[NAME_ROOM];

	if (gpu->divide)
		printf("GPU %s: divide it\n", gpu->want->address);
	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++) {
		part_name(gpu, part, name);
		if (!part->is)
			printf("%s: create it\n", name);
		setting_print_changes(&sched_settings, part->changed, name, &part->want->set,
				      part->is ? &part->is->sched : NULL);
	}
}

void apply_difference_json(struct json *json, const struct setting_table *table, uint32_t changed,
			   const void *set, const void *read)
{
	json_begin(json, "set");
	setting_json_of(table, changed, json, set, true);
	json_end(json);
	if (!read) {
		json_null(json, "was");
		return;
	}
	json_begin(json, "was");
	setting_json_of(table, changed, json, read, false);
	json_end(json);
}

void apply_parts_json(struct json *json, const struct plan_gpu *gpu)
{
	const struct plan_part *part;

	json_flag(json, "divide", gpu->divide);
	json_begin_array(json, "partitions");
	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++) {
		if (!part_differs(part))
			continue;
		json_begin(json, NULL);
		json_text(json, "profile", part->want->profile);
		json_u64(json, "start_eighth", part->start);
		if (part->id)
			json_u64(json, "partition", part->id);
		else
			json_null(json, "partition");
		json_flag(json, "create", !part->is);
		apply_difference_json(json, &sched_settings, part->changed, &part->want->set,
				      part->is ? &part->is->sched : NULL);
		json_end(json);
	}
	json_end(json);
}
