// SPDX-License-Identifier: GPL-2.0
/*
 * vgpuctl apply on a GPU that is divided: a saved state comes back with each vGPU in its partition,
 * whatever was created, set and removed before it was saved. The driver's choice is modelled here.
 */
#include "vgpu_test.h"

#include "core/objects/placement.h"
#include "core/objects/profile.h"
#include "core/settings/share_rules.h"

#include "vgpuctl/plan.h"

#define ROUNDS	2000
#define VGPUS	14
#define TEXT	8192
#define UUID	"11111111-1111-4111-8111-1111111111"	/* but for the last two digits */
#define GPU0	"\"address\": \"f000:00:00.0\""
#define NOWHERE	VGPU_PARTITION_ANYWHERE

/* The driver: its partitions and vGPUs, each in the order of its list. */
struct model_part {
	const struct vgpu_profile *profile;
	u32 start;
	u32 sum;
	struct vgpu_placement placement;
};

struct model_vgpu {
	unsigned int number;
	const struct vgpu_ctl_type *type;
	unsigned int part;
	u32 start_gb;
	u32 guarantee;
};

static struct model {
	struct model_part part[VGPU_PARTITION_EIGHTHS];
	unsigned int parts;
	struct model_vgpu vgpu[VGPUS];
	unsigned int vgpus;
} model;

static struct vgpu_ctl_type types[16];
static u32 nr_types;
static struct world_gpu gpu;
static struct world world;
static struct vgpu_ctl_instance insts[2];
static struct state state;
static struct plan plan;
static struct faults faults;
static char *said;
static size_t said_bytes;

static bool left(const uint8_t *uuid)
{
	return false;
}

/* Types of each profile, of all of a partition's framebuffer, and of half and a quarter of it. */
static void make_types(void)
{
	const struct vgpu_profile *profile;
	u32 size, whole;

	nr_types = 0;
	for (profile = vgpu_profiles; profile < vgpu_profiles + 3; profile++) {
		whole = vgpu_profile_size_gb(profile, 16);
		for (size = whole; size && size * 4 >= whole; size /= 2) {
			types[nr_types].slices = profile->slices;
			types[nr_types].placement_size_gb = size;
			sprintf((char *)types[nr_types++].name, "SG16-%u-%uC", profile->slices,
				size);
		}
	}
}

/* A GPU that is whole. */
static void make_world(void)
{
	memset(&model, 0, sizeof(model));
	memset(&gpu, 0, sizeof(gpu));
	memset(insts, 0, sizeof(insts));
	strcpy((char *)gpu.gpu.address, "f000:00:00.0");
	gpu.gpu.types = nr_types;
	gpu.gpu.profiles = 5;
	gpu.gpu.fb_bytes = 16ull << 30;
	gpu.type = types;
	world = (struct world){
		.gpu = &gpu, .nr_gpus = 1, .inst = insts, .policies = "best_effort", .left = left,
	};
}

static void model_part(const char *profile, u32 start)
{
	struct model_part *part = &model.part[model.parts++];

	part->profile = vgpu_profiles;
	while (strcmp(part->profile->name, profile))
		part->profile++;
	part->start = start;
	part->sum = 0;
	vgpu_placement_init(&part->placement, vgpu_profile_size_gb(part->profile, 16), false);
}

static const struct vgpu_ctl_type *type_named(const char *name)
{
	u32 i;

	for (i = 0; strcmp((char *)types[i].name, name); i++)
		assert_true(i + 1 < nr_types);
	return &types[i];
}

/* As core/objects/place_rules.c of the driver, in words of its own; NULL: nothing has room. */
static struct model_part *model_choose(const struct vgpu_ctl_type *type)
{
	u32 size = type->placement_size_gb, least = ~0u;
	struct model_part *part, *choice = NULL;

	for (part = model.part; part < model.part + model.parts; part++) {
		if (part->profile->slices != type->slices ||
		    !vgpu_share_room(part->sum, size, part->placement.region_gb,
				     vgpu_placement_available(&part->placement, size)))
			continue;
		if (vgpu_placement_free_gb(&part->placement) < least) {
			choice = part;
			least = vgpu_placement_free_gb(&part->placement);
		}
	}
	return choice;
}

static bool model_create(unsigned int number, const struct vgpu_ctl_type *type)
{
	struct model_vgpu *vgpu = &model.vgpu[model.vgpus];
	struct model_part *part = model_choose(type);
	struct vgpu_ctl_share share;

	if (!part || model.vgpus == VGPUS)
		return false;
	*vgpu = (struct model_vgpu){
		.number = number, .type = type, .part = (unsigned int)(part - model.part),
	};
	assert_int_equal(vgpu_placement_take(&part->placement, type->placement_size_gb,
					     &vgpu->start_gb), VGPU_SHORT_NOTHING);
	vgpu_share_default(&share, type->placement_size_gb, part->placement.region_gb);
	vgpu->guarantee = share.guarantee;
	part->sum += share.guarantee;
	model.vgpus++;
	return true;
}

static void model_remove(unsigned int at)
{
	struct model_vgpu *vgpu = &model.vgpu[at];

	vgpu_placement_put(&model.part[vgpu->part].placement, vgpu->start_gb);
	model.part[vgpu->part].sum -= vgpu->guarantee;
	memmove(vgpu, vgpu + 1, (--model.vgpus - at) * sizeof(*vgpu));
}

static void model_set(unsigned int at, u32 guarantee)
{
	struct model_vgpu *vgpu = &model.vgpu[at];
	struct model_part *part = &model.part[vgpu->part];

	part->sum += guarantee - vgpu->guarantee;
	vgpu->guarantee = guarantee;
	assert_in_range(part->sum, 0, 1000);
}

static unsigned int model_find(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < model.vgpus && model.vgpu[i].number != number; i++)
		;
	assert_true(i < model.vgpus);
	return i;
}

/* What vgpuctl save would write; @named: with the partition of each vGPU. */
static void save(char *text, bool named)
{
	const struct model_vgpu *vgpu;
	unsigned int i;

	text += sprintf(text, "{\"version\": 1, \"gpus\": [{" GPU0 ", \"partitions\": [");
	for (i = 0; i < model.parts; i++)
		text += sprintf(text, "%s{\"profile\": \"%s\", \"start_eighth\": %u}",
				i ? ", " : "", model.part[i].profile->name, model.part[i].start);
	text += sprintf(text, "]}], \"vgpus\": [");
	for (i = 0; i < model.vgpus; i++) {
		vgpu = &model.vgpu[i];
		text += sprintf(text, "%s{\"uuid\": \"" UUID "%02u\", "
				GPU0 ", \"type\": \"%s\", \"guarantee_permille\": %u",
				i ? ", " : "", vgpu->number, (char *)vgpu->type->name,
				vgpu->guarantee);
		if (named)
			text += sprintf(text, ", \"partition_start_eighth\": %u",
					model.part[vgpu->part].start);
		text += sprintf(text, "}");
	}
	sprintf(text, "]}");
}

static unsigned int make_plan(const char *text)
{
	state_free(&state);
	plan_free(&plan);
	free(said);
	faults = (struct faults){ .file = "F", .out = open_memstream(&said, &said_bytes) };
	state_parse(text, strlen(text), &state, &faults);
	plan_make(&state, &world, &plan, &faults);
	fclose(faults.out);
	return faults.nr;
}

static unsigned int number_of(size_t i)
{
	const uint8_t last = plan.vgpu[i].want->set.uuid[15];

	return (last >> 4) * 10u + (last & 15);
}

/* Does to the model what the plan says, as vgpuctl apply does it. */
static void follow(void)
{
	const struct plan_part *part;
	const struct plan_step *step;
	size_t i;

	for (i = 0; i < plan.nr_gpus && i < 1; i++)
		for (size_t k = 0; k < plan.gpu[i].nr_creates; k++) {
			part = &plan.gpu[i].part[plan.gpu[i].create[k]];
			model_part(part->want->profile, part->start);
		}
	for (step = plan.step; step < plan.step + plan.nr_steps; step++) {
		if (step->create)
			assert_true(model_create(number_of(step->vgpu),
						 plan.vgpu[step->vgpu].type));
		else
			model_set(model_find(number_of(step->vgpu)), step->guarantee);
	}
	/* All at once: what gets less before what gets more. */
	for (i = 0; i < plan.nr_vgpus; i++)
		if (model.vgpu[model_find(number_of(i))].guarantee > plan.vgpu[i].guarantee)
			model_set(model_find(number_of(i)), plan.vgpu[i].guarantee);
	for (i = 0; i < plan.nr_vgpus; i++)
		model_set(model_find(number_of(i)), plan.vgpu[i].guarantee);
}

/* Returns the number of steps that only lead the driver. */
static size_t restore_and_compare(void)
{
	const struct model was = model;
	const struct model_vgpu *vgpu;
	char text[TEXT];
	unsigned int i;

	save(text, true);
	check_that(!make_plan(text) && !*said, "%s: %s", said, text);
	memset(&model, 0, sizeof(model));
	follow();
	assert_int_equal(model.vgpus, was.vgpus);
	for (i = 0; i < was.vgpus; i++) {
		vgpu = &model.vgpu[model_find(was.vgpu[i].number)];
		check_that(model.part[vgpu->part].start == was.part[was.vgpu[i].part].start,
			   "vGPU %u is at %u: %s", was.vgpu[i].number, model.part[vgpu->part].start,
			   text);
		assert_int_equal(vgpu->guarantee, was.vgpu[i].guarantee);
	}
	return plan.nr_steps - plan.nr_creates;
}

/* What the driver let happen comes back. */
static void test_histories(void **unused)
{
	static const char * const divisions[][8] = {
		{ "3g0", "3g4" }, { "3g4", "3g0" }, { "2g4", "2g0", "2g2" },
		{ "1g6", "1g0", "1g3", "1g1", "1g2", "1g5", "1g4" }, { "3g4", "2g0", "1g2", "1g3" },
	};
	u64 rnd = test_seed();
	unsigned int round, i, number, at, room;
	const char * const *division;
	char profile[3] = "";
	size_t led = 0;

	for (round = 0; round < ROUNDS; round++) {
		make_world();
		division = divisions[random_range(&rnd, 0, ARRAY_SIZE(divisions) - 1)];
		for (i = 0; division[i]; i++) {
			memcpy(profile, division[i], 2);
			model_part(profile, (u32)(division[i][2] - '0'));
		}
		for (i = (unsigned int)random_range(&rnd, 1, 60), number = 0; i; i--) {
			at = model.vgpus ? (unsigned int)random_range(&rnd, 0, model.vgpus - 1) : 0;
			switch (random_range(&rnd, 0, 3)) {
			case 0:
				if (model.vgpus)
					model_remove(at);
				break;
			case 1:
				if (!model.vgpus)
					break;
				room = 1000 - model.part[model.vgpu[at].part].sum +
				       model.vgpu[at].guarantee;
				model_set(at, random_range(&rnd, 0, 1) ? room :
					  (u32)random_range(&rnd, 0, room));
				break;
			default:
				number += model_create(number, &types[random_range(&rnd, 0,
										   nr_types - 1)]);
			}
		}
		led += restore_and_compare();
	}
	print_message("# guarantees on the way: %zu\n", led);
	assert_true(led);
}

/* The partitions that a plan puts vGPUs into, in the order of the file. */
static void goes_to(const char *text, u32 first, u32 second, u32 third)
{
	const u32 to[] = { first, second, third };
	size_t i;

	check_that(!make_plan(text), "%s: %s", said, text);
	for (i = 0; i < plan.nr_vgpus; i++)
		check_that(plan.vgpu[i].start == to[i], "vGPU %zu goes to %u", i,
			   plan.vgpu[i].start);
}

/* Of a file that names no partitions: one has room for the guarantees that there will be. */
static void test_not_named(void **unused)
{
	char text[TEXT];

	make_world();
	model_part("3g", 0);
	model_part("3g", 4);
	assert_true(model_create(1, type_named("SG16-3-4C")));
	model_set(0, 1000);
	assert_true(model_create(2, type_named("SG16-3-4C")));
	assert_true(model_create(3, type_named("SG16-3-4C")));
	save(text, false);
	goes_to(text, 0, 4, 4);
	memset(&model, 0, sizeof(model));
	follow();
	assert_int_equal(model.vgpu[model_find(1)].guarantee, 1000);
}

static void add_part(u32 id, u32 start)
{
	struct vgpu_ctl_partition *part = &gpu.part[gpu.nr_parts++].part;

	gpu.gpu.partition_mode = VGPU_PARTITION_MODE_ON;
	gpu.gpu.partitions = gpu.nr_parts;
	strcpy((char *)part->profile, "3g");
	part->partition = id;
	part->slices = 3;
	part->eighths = 4;
	part->start = start;
	part->fb_start = (u64)start << 31;
	part->fb_bytes = 8ull << 30;
}

/* What cannot be as the file says is told, and the rest is done. */
static void test_elsewhere(void **unused)
{
	static const char want[] = "{\"version\": 1, \"gpus\": [], \"vgpus\": [\n"
		"{\"uuid\": \"" UUID "01\", " GPU0 ", \"type\": \"SG16-3-4C\",\n"
		"\"partition_start_eighth\": %u%s}]}";
	char text[TEXT];

	make_world();
	add_part(1, 0);
	add_part(2, 4);
	sprintf(text, want, 0, "");
	goes_to(text, 0, NOWHERE, NOWHERE);
	assert_string_equal(said, "");
	/* An empty partition that was there before comes first. */
	sprintf(text, want, 4, "");
	goes_to(text, 0, NOWHERE, NOWHERE);
	assert_true(plan.vgpu[0].elsewhere);
	check_that(strstr(said, "vgpus[0].partition_start_eighth: the driver would put it into the partition at eighth 0, not at 4"),
		   "%s", said);
	/* Somebody else's vGPU keeps its guarantee, too; a vGPU that is there does not move. */
	insts[0].partition = 1;
	insts[0].type_index = (u32)(type_named("SG16-3-4C") - types);
	insts[0].guarantee = 400;
	insts[0].cap = 1000;
	insts[0].weight = 1;
	memcpy(insts[0].type_name, "SG16-3-4C", 10);
	world.nr_insts = 1;
	goes_to(text, 0, NOWHERE, NOWHERE);
	assert_true(plan.vgpu[0].elsewhere);
	sprintf(text, want, 4, ", \"guarantee_permille\": 700");
	assert_int_equal(make_plan(text), 1);
	check_that(strstr(said, "vgpus[0]: the driver would put it into another partition, where its guarantee does not fit (in partition 2)"),
		   "%s", said);
	memcpy(insts[0].uuid, plan.vgpu[0].want->set.uuid, sizeof(insts[0].uuid));
	goes_to(text, 0, NOWHERE, NOWHERE);
	check_that(plan.vgpu[0].is && plan.vgpu[0].elsewhere &&
		   strstr(said, "it is there, and stays in the partition at eighth 0, not at 4"),
		   "%s", said);
	sprintf(text, want, 3, "");
	assert_int_equal(make_plan(text), 1);
	check_that(strstr(said, "partition_start_eighth: GPU f000:00:00.0 has no partition for a SG16-3-4C at eighth 3"),
		   "%s", said);
	sprintf(text, want, 8, "");
	assert_int_equal(make_plan(text), 1);
	check_that(strstr(said, "partition_start_eighth: a number of 0 to 7"), "%s", said);
}

static int begin(void **unused)
{
	make_types();
	return 0;
}

static int clean_up(void **unused)
{
	state_free(&state);
	plan_free(&plan);
	free(said);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
		cmocka_unit_test(test_not_named),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests_name("steer", tests, begin, clean_up);
}
