// SPDX-License-Identifier: GPL-2.0
/* Which partitions are to be created and set. */
#include <string.h>
#include <strings.h>

#include <linux/minmax.h>

#include "core/objects/placement.h"
#include "core/objects/profile.h"
#include "core/settings/setting.h"
#include "sched/sched.h"

#include "ctl.h"
#include "plan.h"
#include "sched.h"

#define PLACE_ROOM	64
#define NS_PER_S	1000000000u

/* The number of a partition that is to be created, of the file's k-th. */
#define PLANNED(k)	(~(uint32_t)(k))

static u32 gpu_gb(const struct plan_gpu *gpu)
{
	return (u32)(gpu->is->gpu.fb_bytes >> 30);
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

void plan_window(const struct vgpu_ctl_sched *set, const struct vgpu_ctl_sched *is,
		 const char *place, struct faults *faults)
{
	uint64_t window_ns = set->valid & VGPU_SCHED_WINDOW ? set->window_ns : is->window_ns;
	uint64_t slice_ns = is->slice_ns;

	if (set->valid & VGPU_SCHED_SLICE)
		slice_ns = set->slice_ns;
	else if (set->valid & VGPU_SCHED_FREQUENCY && set->frequency_hz)
		slice_ns = NS_PER_S / set->frequency_hz;
	if (window_ns && slice_ns && window_ns < VGPU_WINDOW_SLICES * slice_ns)
		fault_add(faults, "%s.%s: a window of %llu ns has less than %u slices of %llu ns",
			  place, set->valid & VGPU_SCHED_WINDOW ? "window_ns" : "slice_ns",
			  (unsigned long long)window_ns, VGPU_WINDOW_SLICES,
			  (unsigned long long)slice_ns);
}

void plan_policy(const struct world *world, const struct vgpu_ctl_sched *set,
		 const char *place, struct faults *faults)
{
	const char *policy = (const char *)set->policy;

	if (set->valid & VGPU_SCHED_POLICY && !is_word(world->policies, policy))
		fault_add(faults, "%s.policy: there is no policy %s; there are: %s", place, policy,
			  world->policies);
}

static const char *part_place(size_t gpu, size_t part, char *text)
{
	snprintf(text, PLACE_ROOM, "gpus[%zu].partitions[%zu]", gpu, part);
	return text;
}

/* A partition that is there, is as the file wants it, and is no other one of the file. */
static const struct world_part *find_part(const struct plan_gpu *gpu,
					  const struct state_part *want)
{
	const struct world_part *is;
	size_t k;

	for (is = gpu->is->part; is < gpu->is->part + gpu->is->nr_parts; is++) {
		if (!ctl_text_is(is->part.profile, sizeof(is->part.profile), want->profile) ||
		    (want->start != VGPU_PARTITION_ANYWHERE && want->start != is->part.start))
			continue;
		for (k = 0; k < gpu->nr_parts && gpu->part[k].is != is; k++)
			;
		if (k == gpu->nr_parts)
			return is;
	}
	return NULL;
}

/* Finds what is there; of those with a place first, as the others take any. */
static void find_parts(struct plan_gpu *gpu, bool placed)
{
	struct plan_part *part;
	bool anywhere;

	for (part = gpu->part; part < gpu->part + gpu->nr_parts; part++) {
		anywhere = part->want->start == VGPU_PARTITION_ANYWHERE;
		if (placed == anywhere)
			continue;
		part->is = find_part(gpu, part->want);
		if (!part->is)
			continue;
		part->id = part->is->part.partition;
		part->start = part->is->part.start;
	}
}

/* Does the file put a vGPU into the partition? */
static bool part_lived_in(const struct state *state, const struct plan_gpu *gpu,
			  const struct plan_part *part)
{
	size_t i;

	for (i = 0; i < state->nr_vgpus; i++)
		if (part->start != VGPU_PARTITION_ANYWHERE &&
		    state->vgpu[i].start == part->start &&
		    !strcasecmp(state->vgpu[i].address, gpu->want->address))
			return true;
	return false;
}

/*
 * Is @a to be created before @b? Those with a place, then the largest. Of two empty partitions the
 * driver takes the older one for a vGPU: that must not be one which stays empty.
 */
static bool part_before(const struct plan_part *a, const struct plan_part *b)
{
	bool a_placed = a->start != VGPU_PARTITION_ANYWHERE;
	bool b_placed = b->start != VGPU_PARTITION_ANYWHERE;

	if (a_placed != b_placed)
		return a_placed;
	if (a->lived_in != b->lived_in)
		return a->lived_in;
	return vgpu_profiles[a->profile].eighths > vgpu_profiles[b->profile].eighths;
}

static void order_creates(struct plan_gpu *gpu)
{
	size_t k, at;

	for (k = 0; k < gpu->nr_parts; k++) {
		if (gpu->part[k].is || gpu->part[k].profile == VGPU_PROFILES)
			continue;
		for (at = gpu->nr_creates++; at; at--) {
			if (!part_before(&gpu->part[k], &gpu->part[gpu->create[at - 1]]))
				break;
			gpu->create[at] = gpu->create[at - 1];
		}
		gpu->create[at] = k;
	}
}

/* What a new partition has at first, by the driver's own rule. */
static void first_settings(const struct world *world, const struct plan_gpu *gpu,
			   const struct plan_part *part, struct vgpu_ctl_sched *first)
{
	const struct vgpu_profile *profile = &vgpu_profiles[part->profile];
	const struct vgpu_ctl_type *type = gpu->is->type;
	struct vgpu_placement placement;
	unsigned int most = 0;

	vgpu_placement_init(&placement, vgpu_profile_size_gb(profile, gpu_gb(gpu)),
			    gpu->is->gpu.placement == VGPU_PLACEMENT_HOMOGENEOUS);
	for (; type < gpu->is->type + gpu->is->gpu.types; type++)
		if (type->slices == profile->slices)
			most = max(most, vgpu_placement_count(&placement,
							      type->placement_size_gb));
	*first = (struct vgpu_ctl_sched){
		.slice_ns = world->slice_ns, .window_ns = world->window_ns,
	};
	vgpu_settings_auto(first, most);
}

/* The driver knows numbers only. What is taken by a partition of the file is so by its place. */
static void name_owners(size_t i, const struct plan_gpu *gpu, char *why)
{
	char rest[VGPU_TEXT_LEN], number[32], place[PLACE_ROOM], *at;
	size_t k;

	for (k = 0; k < gpu->nr_parts; k++) {
		snprintf(number, sizeof(number), "partition %u;", PLANNED(k));
		at = strstr(why, number);
		if (!at)
			continue;
		snprintf(rest, sizeof(rest), "%s", at + strlen(number) - 1);
		snprintf(at, VGPU_TEXT_LEN - (size_t)(at - why), "%s%s", part_place(i, k, place),
			 rest);
	}
}

/* Finds places by the driver's own rule, so that it will take the same ones. */
static void place_creates(size_t i, struct plan_gpu *gpu, struct faults *faults)
{
	struct vgpu_profile_map map = { .region_gb = gpu_gb(gpu) };
	char why[VGPU_TEXT_LEN], place[PLACE_ROOM];
	const struct vgpu_ctl_partition *is;
	struct plan_part *part;
	uint32_t eighth;
	size_t k;
	int ret;

	for (k = 0; k < gpu->is->nr_parts; k++) {
		is = &gpu->is->part[k].part;
		for (eighth = is->start; eighth < is->start + is->eighths &&
		     eighth < VGPU_PROFILE_EIGHTHS; eighth++)
			map.owner[eighth] = is->partition;
	}
	for (k = 0; k < gpu->nr_creates; k++) {
		part = &gpu->part[gpu->create[k]];
		ret = vgpu_profile_take(&map, &vgpu_profiles[part->profile], part->start,
					PLANNED(gpu->create[k]), why, sizeof(why));
		if (ret >= 0) {
			part->start = (uint32_t)ret;
			continue;
		}
		name_owners(i, gpu, why);
		fault_add(faults, "%s: %s", part_place(i, gpu->create[k], place), why);
	}
}

static void check_mode(const struct world *world, size_t i, struct plan_gpu *gpu,
		       struct faults *faults)
{
	size_t k;

	gpu->divide = !ctl_is_divided(&gpu->is->gpu);
	for (k = 0; gpu->divide && k < world->nr_insts; k++) {
		if (world->inst[k].gpu != gpu->is->gpu.gpu)
			continue;
		fault_add(faults, "gpus[%zu].partitions: there are vGPUs on the whole GPU: remove them first",
			  i);
		return;
	}
}

void plan_parts(const struct state *state, const struct world *world, size_t i,
		struct plan_gpu *gpu, struct faults *faults)
{
	struct vgpu_ctl_sched first = {};
	const struct vgpu_ctl_sched *is;
	char place[PLACE_ROOM];
	struct plan_part *part;
	size_t k;

	if (!gpu->is->gpu.profiles) {
		fault_add(faults, "gpus[%zu].partitions: GPU %s cannot be divided", i,
			  gpu->want->address);
		return;
	}
	check_mode(world, i, gpu, faults);
	gpu->nr_parts = gpu->want->nr_parts;
	for (k = 0; k < gpu->nr_parts; k++) {
		part = &gpu->part[k];
		part->want = &gpu->want->part[k];
		part->start = part->want->start;
		part->lived_in = part_lived_in(state, gpu, part);
		while (part->profile < VGPU_PROFILES &&
		       strcmp(vgpu_profiles[part->profile].name, part->want->profile))
			part->profile++;
		if (part->profile == VGPU_PROFILES && *part->want->profile)
			fault_add(faults, "%s.profile: there is no profile %s (vgpuctl partition profiles lists them)",
				  part_place(i, k, place), part->want->profile);
	}
	find_parts(gpu, true);
	find_parts(gpu, false);
	for (k = 0; k < gpu->nr_parts; k++) {
		part = &gpu->part[k];
		is = part->is ? &part->is->sched : NULL;
		plan_policy(world, &part->want->set, part_place(i, k, place), faults);
		if (!is && part->profile < VGPU_PROFILES)
			first_settings(world, gpu, part, &first);
		plan_window(&part->want->set, is ? is : &first, place, faults);
		part->changed = is ? setting_differences(&sched_settings, &part->want->set, is) :
				part->want->set.valid;
	}
	order_creates(gpu);
	place_creates(i, gpu, faults);
}
