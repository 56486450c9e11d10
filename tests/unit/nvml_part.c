// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "core/objects/place_rules.h"
#include "core/objects/profile.h"

#include "nvml_move.h"
#include "nvml_part.h"

uint32_t fake_part_flees;

/* Of a GPU: who has which eighth, and the last number. */
static struct {
	bool on;
	uint32_t last;
	struct vgpu_profile_map map;
	const struct vgpu_profile *profile[VGPU_PROFILE_EIGHTHS]; /* of who starts there */
} gpus[FAKE_GPUS];

void fake_part_reset(void)
{
	unsigned int i;

	memset(gpus, 0, sizeof(gpus));
	fake_part_flees = 0;
	for (i = 0; i < FAKE_GPUS; i++)
		gpus[i].map.region_gb = fake.fb_gb;
}

void fake_part_mode(unsigned int gpu, bool on)
{
	gpus[gpu].on = on;
}

static int part_create(unsigned int gpu, const struct vgpu_profile *profile, uint32_t *start,
		       uint32_t *id, char *why)
{
	int at = vgpu_profile_take(&gpus[gpu].map, profile, *start, gpus[gpu].last + 1, why,
				   VGPU_TEXT_LEN);

	if (at < 0)
		return at;
	gpus[gpu].profile[at] = profile;
	*start = (uint32_t)at;
	*id = ++gpus[gpu].last;
	return 0;
}

uint32_t fake_part_new(unsigned int gpu, const char *profile, uint32_t start)
{
	char why[VGPU_TEXT_LEN];
	uint32_t id = 0;
	unsigned int i;

	for (i = 0; i < VGPU_PROFILES; i++)
		if (!strcmp(vgpu_profiles[i].name, profile))
			part_create(gpu, &vgpu_profiles[i], &start, &id, why);
	return id;
}

void fake_part_remove(unsigned int gpu, uint32_t id)
{
	vgpu_profile_put(&gpus[gpu].map, id);
}

/* Sets where the vGPUs of a partition are, and adds up their guarantees. */
static uint32_t vgpus_in(unsigned int gpu, uint32_t partition, struct vgpu_placement *places)
{
	struct vgpu_ctl_instance inst;
	uint32_t guarantees = 0;
	unsigned int i;

	places->nr = 0;
	for (i = 0; i < FAKE_VGPUS && places->nr < VGPU_PLACEMENT_MAX; i++) {
		if (!fake_vgpu(i, &inst) || inst.gpu != gpu || inst.partition != partition)
			continue;
		places->used[places->nr].start_gb = inst.placement_gb;
		places->used[places->nr++].size_gb = (u32)(inst.fb_bytes >> 30);
		guarantees += inst.guarantee;
	}
	return guarantees;
}

static unsigned int vgpus_nr(unsigned int gpu, uint32_t partition)
{
	struct vgpu_placement places;

	vgpus_in(gpu, partition, &places);
	return places.nr;
}

static u32 start_gb_of(unsigned int gpu, unsigned int start)
{
	return start * gpus[gpu].map.region_gb / VGPU_PROFILE_EIGHTHS;
}

/* How many fit beside the vGPUs of a partition, whose places count from its start. */
static unsigned int room_in(unsigned int gpu, uint32_t partition, u32 start_gb, u32 region_gb,
			    u32 size_gb)
{
	struct vgpu_placement places;
	uint32_t guarantees;
	unsigned int i;

	vgpu_placement_init(&places, region_gb, fake.homogeneous);
	guarantees = vgpus_in(gpu, partition, &places);
	for (i = 0; i < places.nr; i++)
		places.used[i].start_gb -= start_gb;
	return vgpu_place_room(&places, guarantees, size_gb);
}

/* As core/objects/place.c of the driver. */
unsigned int fake_part_room(unsigned int gpu, const struct vgpu_type *type)
{
	u32 region_gb = gpus[gpu].map.region_gb, size_gb = type->size_gb;
	unsigned int i, nr = 0, there = vgpus_nr(gpu, 0);

	if (!type->profile && !gpus[gpu].on)
		nr = room_in(gpu, 0, 0, region_gb, size_gb);
	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++) {
		uint32_t id = gpus[gpu].map.owner[i];

		if (!id || (i && gpus[gpu].map.owner[i - 1] == id))
			continue;
		there += vgpus_nr(gpu, id);
		if (gpus[gpu].profile[i] == type->profile)
			nr += room_in(gpu, id, start_gb_of(gpu, i),
				      vgpu_profile_size_gb(type->profile, region_gb), size_gb);
	}
	return there + nr < VGPU_PLACEMENT_MAX ? nr : VGPU_PLACEMENT_MAX - there;
}

/* Where the partition starts; VGPU_PROFILE_EIGHTHS: there is none. */
static unsigned int part_start(unsigned int gpu, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++)
		if (id && gpus[gpu].map.owner[i] == id)
			break;
	return i;
}

/* All numbers in the order of creation, as the driver has them. */
static unsigned int part_ids(unsigned int gpu, uint32_t *ids)
{
	unsigned int nr = 0;
	uint32_t id;

	for (id = 1; id <= gpus[gpu].last; id++)
		if (part_start(gpu, id) < VGPU_PROFILE_EIGHTHS)
			ids[nr++] = id;
	return nr;
}

void fake_part_gpu(struct vgpu_ctl_gpu *gpu)
{
	uint32_t ids[VGPU_PROFILE_EIGHTHS];

	if (!fake.divisible)
		return;
	gpu->profiles = VGPU_PROFILES;
	gpu->partition_mode = gpus[gpu->gpu].on ? VGPU_PARTITION_MODE_ON : VGPU_PARTITION_MODE_OFF;
	gpu->partitions = part_ids(gpu->gpu, ids);
}

static int call_profile(struct vgpu_ctl_profile *out)
{
	const struct vgpu_profile *profile = &vgpu_profiles[out->index];

	if (!fake.divisible || out->index >= VGPU_PROFILES)
		return -ENOENT;
	out->slices = profile->slices;
	out->eighths = profile->eighths;
	out->starts = profile->starts;
	out->fits = vgpu_profile_fits(&gpus[out->gpu].map, profile);
	out->fb_bytes = (uint64_t)vgpu_profile_size_gb(profile, gpus[out->gpu].map.region_gb) << 30;
	strcpy((char *)out->name, profile->name);
	return 0;
}

static int call_partitions(struct vgpu_ctl_list *list)
{
	uint32_t *to = (void *)(uintptr_t)list->ids, ids[VGPU_PROFILE_EIGHTHS];
	unsigned int nr = part_ids(list->gpu, ids);

	memcpy(to, ids, (nr < list->count ? nr : list->count) * sizeof(*ids));
	list->count = nr;
	if (fake_part_flees)
		fake_part_remove(list->gpu, fake_part_flees);
	fake_part_flees = 0;
	return 0;
}

static int call_partition(struct vgpu_ctl_partition *part)
{
	unsigned int start = part_start(part->gpu, part->partition);
	const struct vgpu_profile *profile;
	struct vgpu_placement places;
	unsigned int i;
	uint32_t gb;

	if (start == VGPU_PROFILE_EIGHTHS)
		return -ENOENT;
	profile = gpus[part->gpu].profile[start];
	gb = vgpu_profile_size_gb(profile, gpus[part->gpu].map.region_gb);
	part->slices = profile->slices;
	part->eighths = profile->eighths;
	part->start = start;
	part->instances = vgpus_nr(part->gpu, part->partition);
	part->guarantee_sum = vgpus_in(part->gpu, part->partition, &places);
	part->shared_time = fake.share_time;
	part->fb_start = (uint64_t)start_gb_of(part->gpu, start) << 30;
	part->fb_bytes = (uint64_t)gb << 30;
	part->fb_used_bytes = (uint64_t)part->instances << 30;
	part->engines = fake.engines;
	for (i = 0; i < fake.engines; i++)
		part->engine[i].units = fake.share_time ? (i ? 1 : fake.units) :
					vgpu_profile_units(profile, i ? 1 : fake.units);
	strcpy((char *)part->profile, profile->name);
	return 0;
}

static int call_create(struct vgpu_ctl_partition_create *call)
{
	if (!fake.divisible || !gpus[call->gpu].on)
		return -EOPNOTSUPP;
	if (call->profile >= VGPU_PROFILES)
		return -EINVAL;
	return part_create(call->gpu, &vgpu_profiles[call->profile], &call->start,
			   &call->partition, (char *)call->text);
}

static int call_remove(const struct vgpu_ctl_partition_remove *call)
{
	if (part_start(call->gpu, call->partition) == VGPU_PROFILE_EIGHTHS)
		return -ENOENT;
	if (vgpus_nr(call->gpu, call->partition))
		return -EBUSY;
	fake_part_remove(call->gpu, call->partition);
	return 0;
}

static int call_mode(const struct vgpu_ctl_partition_set_mode *call)
{
	bool on = call->mode == VGPU_PARTITION_MODE_ON;
	uint32_t ids[VGPU_PROFILE_EIGHTHS];

	if (!fake.divisible)
		return -EOPNOTSUPP;
	if (on ? vgpus_nr(call->gpu, 0) : part_ids(call->gpu, ids))
		return -EBUSY;
	gpus[call->gpu].on = on;
	return 0;
}

static int call_change(unsigned long request, void *arg)
{
	if (fake.set_error)
		return -fake.set_error;
	switch (request) {
	case VGPU_IOC_PARTITION_CREATE: return call_create(arg);
	case VGPU_IOC_PARTITION_REMOVE: return call_remove(arg);
	case VGPU_IOC_PARTITION_MODE: return call_mode(arg);
	default: return -ENOTTY;
	}
}

/* All of them have the GPU at the same place. */
int fake_part_call(unsigned long request, void *arg)
{
	const struct vgpu_ctl_list *head = arg;

	if (!fake_has_gpu(head->gpu))
		return -ENODEV;
	switch (request) {
	case VGPU_IOC_PROFILE: return call_profile(arg);
	case VGPU_IOC_PARTITIONS: return call_partitions(arg);
	case VGPU_IOC_PARTITION: return call_partition(arg);
	default: return call_change(request, arg);
	}
}
