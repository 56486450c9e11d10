// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/settings/share_rules.h"

#include "ctl.h"
#include "message.h"
#include "plan.h"
#include "sched.h"
#include "share.h"
#include "uuid.h"

static const struct world_gpu *find_gpu(const struct world *world, const char *address)
{
	size_t i;

	for (i = 0; i < world->nr_gpus; i++)
		if (!strncasecmp((const char *)world->gpu[i].gpu.address, address, VGPU_ADDR_LEN))
			return &world->gpu[i];
	return NULL;
}

static const struct world_gpu *need_gpu(const struct world *world, const char *address,
					const char *array, size_t i, struct faults *faults)
{
	const struct world_gpu *gpu = find_gpu(world, address);

	if (!gpu)
		fault_add(faults, "%s[%zu].address: there is no GPU %s (vgpuctl gpus lists them)",
			  array, i, address);
	return gpu;
}

static void plan_gpu(const struct state *state, const struct world *world, size_t i,
		     struct plan_gpu *gpu, struct faults *faults)
{
	const struct vgpu_ctl_sched *set = &gpu->want->set;
	char place[32];

	snprintf(place, sizeof(place), "gpus[%zu]", i);
	plan_policy(world, set, place, faults);
	/* Without an address a fault was found already. */
	if (*gpu->want->address)
		gpu->is = need_gpu(world, gpu->want->address, "gpus", i, faults);
	if (!gpu->is)
		return;
	plan_window(set, &gpu->is->sched, place, faults);
	gpu->changed = setting_differences(&sched_settings, set, &gpu->is->sched);
	if (gpu->want->divided)
		plan_parts(state, world, i, gpu, faults);
}

static bool type_is(const struct vgpu_ctl_type *type, const char *name)
{
	return ctl_text_is(type->name, sizeof(type->name), name) ||
		ctl_text_is(type->id, sizeof(type->id), name);
}

static const struct vgpu_ctl_type *find_type(const struct world_gpu *gpu, const char *name)
{
	uint32_t i;

	for (i = 0; i < gpu->gpu.types; i++)
		if (type_is(&gpu->type[i], name))
			return &gpu->type[i];
	return NULL;
}

static const struct vgpu_ctl_instance *find_inst(const struct world *world, const uint8_t *uuid)
{
	size_t i;

	for (i = 0; i < world->nr_insts; i++)
		if (!uuid_compare(world->inst[i].uuid, uuid))
			return &world->inst[i];
	return NULL;
}

/* A vGPU cannot change its GPU and type. */
static bool check_inst(const struct plan_vgpu *vgpu, size_t i,
		       struct faults *faults)
{
	const struct vgpu_ctl_instance *is = vgpu->is;
	char uuid[UUID_STR_LEN];

	if (is->gpu == vgpu->gpu->gpu.gpu &&
	    ctl_text_is(is->type_name, sizeof(is->type_name), (const char *)vgpu->type->name))
		return true;
	fault_add(faults, "vgpus[%zu].%s: vGPU %s is there as a %.*s of GPU %u: remove it first", i,
		  is->gpu == vgpu->gpu->gpu.gpu ? "type" : "address",
		  uuid_format(is->uuid, uuid), TEXT(is->type_name), is->gpu);
	return false;
}

/* What the vGPU has now, or at first if it is new. */
static void settings_now(const struct plan_vgpu *vgpu, struct vgpu_ctl_share *settings)
{
	if (vgpu->is)
		setting_copy(&share_settings, ~0u, settings, vgpu->is);
	else
		vgpu_share_default(settings, vgpu->type->placement_size_gb,
				   plan_region_gb(vgpu->gpu, vgpu->type));
}

static void plan_vgpu(const struct world *world, size_t i, struct plan_vgpu *vgpu,
		      struct faults *faults)
{
	const struct state_vgpu *want = vgpu->want;
	const struct world_gpu *gpu;
	struct vgpu_ctl_share settings;
	char why[VGPU_TEXT_LEN];

	if (!*want->address || !*want->type || uuid_is_null(want->set.uuid))
		return; /* a fault was found already */
	vgpu->left = world->left(want->set.uuid);
	if (vgpu->left)
		return;
	gpu = need_gpu(world, want->address, "vgpus", i, faults);
	if (!gpu)
		return;
	vgpu->type = find_type(gpu, want->type);
	if (!vgpu->type) {
		fault_add(faults, "vgpus[%zu].type: GPU %s has no type %s (vgpuctl types lists them)",
			  i, want->address, want->type);
		return;
	}
	vgpu->gpu = gpu;
	vgpu->is = find_inst(world, want->set.uuid);
	if (vgpu->is && !check_inst(vgpu, i, faults)) {
		vgpu->gpu = NULL;
		return;
	}
	settings_now(vgpu, &settings);
	if (want->set.valid && vgpu_share_change(&settings, &want->set, why, sizeof(why)))
		fault_add(faults, "vgpus[%zu]: %s", i, why);
	vgpu->guarantee = settings.guarantee;
	vgpu->changed = vgpu->is ? setting_differences(&share_settings, &want->set, vgpu->is) :
		want->set.valid;
}

static int create_order(const void *a, const void *b, void *arg)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct plan *plan = arg;
	u32 x_gb = plan->vgpu[x].type->placement_size_gb;
	u32 y_gb = plan->vgpu[y].type->placement_size_gb;
	bool x_any = plan->vgpu[x].want->start == VGPU_PARTITION_ANYWHERE;
	bool y_any = plan->vgpu[y].want->start == VGPU_PARTITION_ANYWHERE;

	if (x_any != y_any)
		return x_any ? 1 : -1;
	return x_gb != y_gb ? (x_gb > y_gb ? -1 : 1) : x < y ? -1 : 1;
}

static void plan_creates(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++)
		if (plan->vgpu[i].gpu && !plan->vgpu[i].is)
			plan->create[plan->nr_creates++] = i;
	qsort_r(plan->create, plan->nr_creates, sizeof(*plan->create), create_order, plan);
}

void plan_make(const struct state *state, const struct world *world, struct plan *plan,
	       struct faults *faults)
{
	size_t i;

	memset(plan, 0, sizeof(*plan));
	plan->nr_gpus = state->nr_gpus;
	plan->nr_vgpus = state->nr_vgpus;
	plan->gpu = need_zeroed(plan->nr_gpus, sizeof(*plan->gpu));
	plan->vgpu = need_zeroed(plan->nr_vgpus, sizeof(*plan->vgpu));
	plan->create = need_zeroed(plan->nr_vgpus, sizeof(*plan->create));
	for (i = 0; i < plan->nr_gpus; i++) {
		plan->gpu[i].want = &state->gpu[i];
		plan_gpu(state, world, i, &plan->gpu[i], faults);
	}
	for (i = 0; i < plan->nr_vgpus; i++) {
		plan->vgpu[i].want = &state->vgpu[i];
		plan->vgpu[i].start = VGPU_PARTITION_ANYWHERE;
		plan_vgpu(world, i, &plan->vgpu[i], faults);
	}
	plan_creates(plan);
	plan_rooms(plan, world, faults);
}

void plan_free(struct plan *plan)
{
	free(plan->gpu);
	free(plan->vgpu);
	free(plan->create);
	free(plan->step);
	memset(plan, 0, sizeof(*plan));
}
