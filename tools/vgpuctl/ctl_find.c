// SPDX-License-Identifier: GPL-2.0
/* Finding GPUs and vGPUs, and numbers of the ABI in words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvgpu_names.h>

#include "ctl.h"
#include "uuid.h"

bool ctl_is_gone(int ret)
{
	return ret == -ENOENT || ret == -ENODEV;
}

bool ctl_text_is(const void *text, size_t room, const char *other)
{
	size_t length = strnlen(text, room);

	return length == strlen(other) && !memcmp(text, other, length);
}

int ctl_find_gpu(int fd, const char *text, uint32_t *id)
{
	uint32_t *ids, count, i;
	struct vgpu_ctl_gpu gpu;
	unsigned long number;
	const char *colon;
	char *end;
	bool match;
	int ret;

	number = strtoul(text, &end, 10);
	if (*end || end == text)
		number = ~0ul;
	ret = ctl_gpus(fd, &ids, &count);
	if (ret)
		return ret;
	ret = -ENOENT;
	for (i = 0; i < count && ret; i++) {
		if (ctl_gpu(fd, ids[i], &gpu))
			continue;
		gpu.address[sizeof(gpu.address) - 1] = 0;
		colon = strchr((char *)gpu.address, ':');
		match = ids[i] == number ||
			!strcasecmp((char *)gpu.address, text) ||
			(colon && !strcasecmp(colon + 1, text));
		if (match) {
			*id = ids[i];
			ret = 0;
		}
	}
	free(ids);
	return ret;
}

int ctl_find_type(int fd, const struct vgpu_ctl_gpu *gpu, const char *text,
		  struct vgpu_ctl_type *type)
{
	uint32_t i;
	int ret;

	for (i = 0; i < gpu->types; i++) {
		ret = ctl_type(fd, gpu->gpu, i, type);
		if (ret || ctl_text_is(type->name, sizeof(type->name), text) ||
		    ctl_text_is(type->id, sizeof(type->id), text))
			return ret;
	}
	return -ENOENT;
}

enum exit_code ctl_choose_gpu(int fd, const char *text, uint32_t *id)
{
	enum exit_code code = EXIT_OK;
	uint32_t *ids, count;
	int ret;

	if (text) {
		if (ctl_find_gpu(fd, text, id))
			return fail("GPU %s: there is none (vgpuctl gpus lists them)",
				    text);
		return EXIT_OK;
	}
	ret = ctl_gpus(fd, &ids, &count);
	if (ret)
		return fail("GPUs: %s", strerror(-ret));
	if (!count)
		code = fail("there is no GPU");
	else if (count > 1)
		code = fail_usage("there are %u GPUs: --gpu says which one (vgpuctl gpus lists them)",
				  count);
	else
		*id = ids[0];
	free(ids);
	return code;
}

int ctl_find_profile(int fd, uint32_t gpu, const char *name, struct vgpu_ctl_profile *profile)
{
	uint32_t i;
	int ret;

	for (i = 0;; i++) {
		ret = ctl_profile(fd, gpu, i, profile);
		if (ret || ctl_text_is(profile->name, sizeof(profile->name), name))
			return ret;
	}
}

enum exit_code ctl_fail_vgpu(const uint8_t *uuid, int ret)
{
	char text[UUID_STR_LEN];

	uuid_format(uuid, text);
	if (ctl_is_gone(ret))
		return fail("vGPU %s: there is none (vgpuctl list shows them)", text);
	return fail("vGPU %s: %s", text, ctl_error(ret));
}

enum exit_code ctl_open_vgpu(const char *text, int *fd, struct vgpu_ctl_instance *inst,
			     struct vgpu_ctl_gpu *gpu)
{
	uint8_t uuid[VGPU_UUID_LEN];
	int ret;

	if (uuid_parse(text, uuid))
		return fail_usage("%s: not a UUID", text);
	*fd = ctl_open();
	if (*fd < 0)
		return EXIT_FAILED;
	ret = ctl_instance(*fd, uuid, inst);
	if (!ret)
		ret = ctl_gpu(*fd, inst->gpu, gpu);
	if (!ret)
		return EXIT_OK;
	close(*fd);
	return ctl_fail_vgpu(uuid, ret);
}

enum exit_code ctl_visit_gpus(int fd, const char *only, void *arg,
			      int (*each)(int fd, const struct vgpu_ctl_gpu *gpu,
					  void *arg))
{
	uint32_t *ids, count, i, chosen = ALL_GPUS;
	struct vgpu_ctl_gpu gpu;
	int ret;

	if (only && ctl_find_gpu(fd, only, &chosen))
		return fail("GPU %s: there is none (vgpuctl gpus lists them)",
			    only);
	ret = ctl_gpus(fd, &ids, &count);
	if (ret)
		return fail("GPUs: %s", strerror(-ret));
	for (i = 0; i < count && !ret; i++) {
		if (chosen != ALL_GPUS && ids[i] != chosen)
			continue;
		ret = ctl_gpu(fd, ids[i], &gpu);
		if (!ret)
			ret = each(fd, &gpu, arg);
		if (ctl_is_gone(ret))
			ret = 0;
		if (ret)
			fail("GPU %u: %s", ids[i], ctl_error(ret));
	}
	free(ids);
	return ret ? EXIT_FAILED : EXIT_OK;
}

int ctl_visit_instances(int fd, uint32_t gpu, void *arg,
			int (*each)(const struct vgpu_ctl_instance *inst,
				    void *arg))
{
	struct vgpu_ctl_instance *inst;
	struct vgpu_ctl_stats stats;
	uint32_t i;
	int ret;

	ret = ctl_stats(fd, gpu, &stats, &inst);
	if (ret)
		return ret;
	for (i = 0; !ret && i < stats.count; i++)
		ret = each(&inst[i], arg);
	free(inst);
	return ret;
}

int ctl_visit_partitions(int fd, uint32_t gpu, void *arg,
			 int (*each)(const struct vgpu_ctl_partition *part, void *arg))
{
	struct vgpu_ctl_partition part;
	uint32_t *ids, count, i;
	int ret;

	ret = ctl_partitions(fd, gpu, &ids, &count);
	if (ret)
		return ret;
	for (i = 0; !ret && i < count; i++) {
		ret = ctl_partition(fd, gpu, ids[i], &part);
		if (!ret)
			ret = each(&part, arg);
		else if (ret == -ENOENT) /* removed meanwhile */
			ret = 0;
	}
	free(ids);
	return ret;
}

bool ctl_is_divided(const struct vgpu_ctl_gpu *gpu)
{
	return gpu->partition_mode == VGPU_PARTITION_MODE_ON;
}

int ctl_slices(int fd, const struct vgpu_ctl_instance *inst, uint32_t *slices, bool *shared_time)
{
	struct vgpu_ctl_partition part = { .slices = VGPU_PARTITION_SLICES };
	int ret = 0;

	if (inst->partition)
		ret = ctl_partition(fd, inst->gpu, inst->partition, &part);
	*slices = ret ? 0 : part.slices;
	*shared_time = !ret && part.shared_time;
	return ret == -ENOENT ? 0 : ret;
}

int ctl_window(int fd, const struct vgpu_ctl_instance *inst, const struct vgpu_ctl_sched *sched,
	       uint64_t *ns)
{
	struct vgpu_ctl_sched own;
	int ret = 0;

	if (inst->partition) {
		ret = ctl_sched(fd, inst->gpu, inst->partition, &own);
		sched = &own;
	}
	*ns = ret ? 0 : sched->window_ns;
	/* It went with its last vGPU, this one, since that was read. */
	return ret == -ENOENT ? 0 : ret;
}

uint32_t ctl_engines(uint32_t engines)
{
	return engines < VGPU_MAX_ENGINES ? engines : VGPU_MAX_ENGINES;
}

bool ctl_engine_is(const struct vgpu_ctl_gpu *gpu, uint32_t i,
		   const char *name)
{
	return ctl_text_is(gpu->engine[i].name, sizeof(gpu->engine[i].name),
			   name);
}

bool ctl_has_engine(const struct vgpu_ctl_gpu *gpu, const char *name)
{
	uint32_t i;

	for (i = 0; i < ctl_engines(gpu->engines); i++)
		if (ctl_engine_is(gpu, i, name))
			return true;
	return false;
}

const char *ctl_engine_names(const struct vgpu_ctl_gpu *gpu, char *text)
{
	size_t length = 0;
	uint32_t i;

	text[0] = 0;
	for (i = 0; i < ctl_engines(gpu->engines); i++)
		length += (size_t)sprintf(text + length, "%s%.*s", i ? " " : "",
					  TEXT(gpu->engine[i].name));
	return text;
}

enum exit_code ctl_fail_engine(const struct vgpu_ctl_gpu *gpu,
			       const char *name)
{
	char text[CTL_ENGINE_NAMES];

	return fail("GPU %u: no engine %s; there are: %s", gpu->gpu, name,
		    ctl_engine_names(gpu, text));
}

static const char * const placement_names[] = {
	[VGPU_PLACEMENT_MIXED] = "mixed",
	[VGPU_PLACEMENT_HOMOGENEOUS] = "homogeneous",
};

static const char * const state_names[] = {
	[VGPU_STATE_CREATED] = "created",
	[VGPU_STATE_STARTED] = "started",
};

const char *ctl_placement_name(uint32_t placement)
{
	return VGPU_NAME_OF(placement_names, placement);
}

const char *ctl_state_name(uint32_t state)
{
	return VGPU_NAME_OF(state_names, state);
}

static const char * const move_names[] = {
	[VGPU_MOVE_NONE] = "none",
	[VGPU_MOVE_SAVING] = "saving",
	[VGPU_MOVE_SAVING_STOPPED] = "saving_stopped",
	[VGPU_MOVE_LOADING] = "loading",
};

const char *ctl_move_name(uint32_t move)
{
	return VGPU_NAME_OF(move_names, move);
}

/* A vGPU that is loaded, or whose last part is read, stands still for that, and says no more. */
static const char *moving_text(const struct vgpu_ctl_instance *inst)
{
	const bool paused = inst->status & VGPU_INSTANCE_PAUSED;

	switch (inst->move) {
	case VGPU_MOVE_SAVING:
		return paused ? ", paused, saving" : ", saving";
	case VGPU_MOVE_SAVING_STOPPED:
		return ", saving";
	case VGPU_MOVE_LOADING:
		return ", loading";
	default:
		return paused ? ", paused" : "";
	}
}

const char *ctl_status_text(const struct vgpu_ctl_instance *inst, char *text)
{
	snprintf(text, CTL_STATUS_LEN, "%s%s", moving_text(inst),
		 inst->status & VGPU_INSTANCE_QUARANTINED ? ", quarantined" : "");
	return text;
}

const char *ctl_owner_text(const struct vgpu_ctl_instance *inst, char *text)
{
	if (inst->owner_pid)
		snprintf(text, CTL_OWNER_LEN, "process %d", inst->owner_pid);
	else
		snprintf(text, CTL_OWNER_LEN, "an unknown process");
	return text;
}
