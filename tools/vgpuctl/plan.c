// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/objects/placement.h"
#include "core/settings/share_rules.h"

#include "ctl.h"
#include "message.h"
#include "plan.h"
#include "sched.h"
#include "share.h"
#include "uuid.h"

#define WINDOW_SLICES	10u	/* slices that a window has at least */
#define NS_PER_S	1000000000u

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

static bool is_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		if (strcspn(words, " ") == length && !memcmp(words, word, length))
			return true;
		words += strcspn(words, " ");
	}
	return false;
}

/* The window must be so many slices, of what is in force then. */
static void check_window(const struct plan_gpu *gpu, size_t i, struct faults *faults)
{
	const struct vgpu_ctl_sched *set = &gpu->want->set, *is = &gpu->is->sched;
	uint64_t window_ns = set->valid & VGPU_SCHED_WINDOW ? set->window_ns : is->window_ns;
	uint64_t slice_ns = is->slice_ns;

	if (set->valid & VGPU_SCHED_SLICE)
		slice_ns = set->slice_ns;
	else if (set->valid & VGPU_SCHED_FREQUENCY && set->frequency_hz)
		slice_ns = NS_PER_S / set->frequency_hz;
	if (window_ns < WINDOW_SLICES * slice_ns)
		fault_add(faults, "gpus[%zu].%s: a window of %llu ns has less than %u slices of %llu ns",
			  i, set->valid & VGPU_SCHED_WINDOW ? "window_ns" : "slice_ns",
			  (unsigned long long)window_ns, WINDOW_SLICES,
			  (unsigned long long)slice_ns);
}

static void plan_gpu(const struct world *world, size_t i, struct plan_gpu *gpu,
		     struct faults *faults)
{
	const struct vgpu_ctl_sched *set = &gpu->want->set;
	const char *policy = (const char *)set->policy;

	if (set->valid & VGPU_SCHED_POLICY && !is_word(world->policies, policy))
		fault_add(faults, "gpus[%zu].policy: there is no policy %s; there are: %s", i,
			  policy, world->policies);
	/* Without an address a fault was found already. */
	if (*gpu->want->address)
		gpu->is = need_gpu(world, gpu->want->address, "gpus", i, faults);
	if (!gpu->is)
		return;
	check_window(gpu, i, faults);
	gpu->changed = setting_differences(&sched_settings, set, &gpu->is->sched);
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

static u32 region_gb(const struct world_gpu *gpu)
{
	return (u32)(gpu->gpu.fb_bytes >> 30);
}

/* What the vGPU has now, or at first if it is new. */
static void settings_now(const struct plan_vgpu *vgpu, struct vgpu_ctl_share *settings)
{
	if (vgpu->is)
		setting_copy(&share_settings, ~0u, settings, vgpu->is);
	else
		vgpu_share_default(settings, vgpu->type->placement_size_gb, region_gb(vgpu->gpu));
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

bool plan_first(const struct plan_vgpu *vgpu)
{
	return vgpu->is && vgpu->changed && vgpu->guarantee < vgpu->is->guarantee;
}

static int create_order(const void *a, const void *b, void *arg)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct plan *plan = arg;
	u32 x_gb = plan->vgpu[x].type->placement_size_gb;
	u32 y_gb = plan->vgpu[y].type->placement_size_gb;

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

static const struct plan_vgpu *planned(const struct plan *plan, const struct vgpu_ctl_instance *is)
{
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++)
		if (plan->vgpu[i].is == is && plan->vgpu[i].gpu)
			return &plan->vgpu[i];
	return NULL;
}

/* Finds places for the new vGPUs of a GPU, and room for the guarantees that they have at first. */
static void check_creates(struct plan *plan, const struct world_gpu *gpu,
			  struct vgpu_placement *placement, u32 guarantees, struct faults *faults)
{
	static const char * const shorts[] = {
		[VGPU_SHORT_INSTANCES] = "the GPU can have no more vGPUs",
		[VGPU_SHORT_SIZE] = "vGPUs of this GPU must be of one size",
		[VGPU_SHORT_FRAMEBUFFER] = "too little framebuffer is free",
		[VGPU_SHORT_PLACEMENT] = "enough framebuffer is free, but not in one piece",
	};
	struct vgpu_ctl_share settings;
	char why[VGPU_TEXT_LEN];
	enum vgpu_short result;
	u32 start_gb, size_gb;
	size_t i, k;

	for (k = 0; k < plan->nr_creates; k++) {
		i = plan->create[k];
		if (plan->vgpu[i].gpu != gpu)
			continue;
		size_gb = plan->vgpu[i].type->placement_size_gb;
		result = vgpu_placement_take(placement, size_gb, &start_gb);
		if (result) {
			fault_add(faults, "vgpus[%zu]: no room for a %.*s of %u GiB on GPU %s: %s (%u GiB free of %u)",
				  i, TEXT(plan->vgpu[i].type->name), size_gb,
				  plan->vgpu[i].want->address, shorts[result],
				  vgpu_placement_free_gb(placement), region_gb(gpu));
			plan->vgpu[i].gpu = NULL;
			continue;
		}
		vgpu_share_default(&settings, size_gb, region_gb(gpu));
		if (vgpu_share_admit(guarantees, settings.guarantee, why, sizeof(why)))
			fault_add(faults, "vgpus[%zu]: as a new vGPU has it, %s", i, why);
		else
			guarantees += settings.guarantee;
	}
}

/* Checks what depends on all vGPUs of a GPU. */
static void check_room(struct plan *plan, const struct world *world,
		       const struct world_gpu *gpu, struct faults *faults)
{
	u32 before = 0, after = 0; /* guarantees when vGPUs are created, and at the end */
	struct vgpu_placement placement;
	const struct plan_vgpu *vgpu;
	char why[VGPU_TEXT_LEN];
	size_t i;

	vgpu_placement_init(&placement, region_gb(gpu),
			    gpu->gpu.placement == VGPU_PLACEMENT_HOMOGENEOUS);
	for (i = 0; i < world->nr_insts; i++) {
		const struct vgpu_ctl_instance *is = &world->inst[i];

		if (is->gpu != gpu->gpu.gpu || is->type_index >= gpu->gpu.types ||
		    placement.nr == VGPU_PLACEMENT_MAX)
			continue;
		placement.used[placement.nr].start_gb = is->placement_gb;
		placement.used[placement.nr++].size_gb =
			gpu->type[is->type_index].placement_size_gb;
		vgpu = planned(plan, is);
		before += vgpu && plan_first(vgpu) ? vgpu->guarantee : is->guarantee;
		after += vgpu ? 0 : is->guarantee;
	}
	check_creates(plan, gpu, &placement, before, faults);
	for (i = 0; i < plan->nr_vgpus; i++) {
		vgpu = &plan->vgpu[i];
		if (vgpu->gpu != gpu)
			continue;
		if (vgpu_share_admit(after, vgpu->guarantee, why, sizeof(why)))
			fault_add(faults, "vgpus[%zu].guarantee_permille: %s", i, why);
		else
			after += vgpu->guarantee;
	}
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
		plan_gpu(world, i, &plan->gpu[i], faults);
	}
	for (i = 0; i < plan->nr_vgpus; i++) {
		plan->vgpu[i].want = &state->vgpu[i];
		plan_vgpu(world, i, &plan->vgpu[i], faults);
	}
	plan_creates(plan);
	for (i = 0; i < world->nr_gpus; i++)
		check_room(plan, world, &world->gpu[i], faults);
}

void plan_free(struct plan *plan)
{
	free(plan->gpu);
	free(plan->vgpu);
	free(plan->create);
	memset(plan, 0, sizeof(*plan));
}
