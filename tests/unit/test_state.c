// SPDX-License-Identifier: GPL-2.0
/* vgpuctl apply: what a file declares, what is wrong with it, and what follows from it. */
#include "vgpu_test.h"

#include "vgpuctl/json.h"
#include "vgpuctl/plan.h"
#include "vgpuctl/utf8.h"

#define MUTATIONS	100000
#define NONE		UTF8_REPLACEMENT

/* UUIDs in the text and as bytes: all are alike but for the last digit. */
#define UUID(n)		"11111111-1111-4111-8111-11111111111" #n
#define GPU0		"\"address\": \"f000:00:00.0\""
#define VGPU(n, type, more) \
	"{\"uuid\": \"" UUID(n) "\", " GPU0 ", \"type\": \"" type "\"" more "}"
#define STATE(gpus, vgpus) \
	"{\"version\": 1, \"gpus\": [" gpus "], \"vgpus\": [" vgpus "]}"

#define GPU0_SET \
	"{" GPU0 ", \"policy\": \"qos\", \"slice_ns\": 2000000, \"window_ns\": 100000000,\n" \
	"\"preempt_timeout_us\": 10000, \"linger_us\": 0, \"quarantine_faults\": 3,\n" \
	"\"quarantine_backoff_ms\": 60000}"
#define FIRST_SET \
	", \"guarantee_permille\": 700, \"cap_permille\": 1000, \"weight\": 9,\n" \
	"\"frl_config_fps\": null, \"vga\": true"
#define SECOND_SET	", \"guarantee_permille\": 300, \"frl_config_fps\": 0"

#define PART(name, more)	"{\"profile\": \"" name "\"" more "}"
#define AT(start)		", \"start_eighth\": " #start
#define PARTS(parts)	", \"partitions\": [" parts "]"

static const char whole[] = STATE(GPU0_SET, VGPU(1, "SG16-4Q", FIRST_SET) ","
				  VGPU(2, "vgpu_soft-SG16-4Q", SECOND_SET));

static struct faults faults;
static char *said;
static size_t said_bytes;
static struct state state;
static struct plan plan;
static struct world world;
static struct vgpu_ctl_type types[3];
static struct vgpu_ctl_instance insts[2];
static struct world_gpu gpu;

/* From a copy of its exact length, so that a byte read behind it is noticed. */
static unsigned int parse(const char *text, size_t bytes)
{
	char *copy = malloc(bytes ?: 1);

	memcpy(copy, text, bytes);
	state_free(&state);
	free(said);
	said = NULL;
	faults = (struct faults){ .file = "F", .out = open_memstream(&said, &said_bytes) };
	state_parse(copy, bytes, &state, &faults);
	fclose(faults.out);
	free(copy);
	return faults.nr;
}

static bool left(const uint8_t *uuid)
{
	return uuid[15] == 0x19;
}

/* Parses and plans. Returns the number of faults. */
static unsigned int compare(const char *text)
{
	FILE *out;

	parse(text, strlen(text));
	plan_free(&plan);
	free(said);
	out = open_memstream(&said, &said_bytes);
	faults.out = out;
	plan_make(&state, &world, &plan, &faults);
	fclose(out);
	return faults.nr;
}

static void make_type(struct vgpu_ctl_type *type, const char *name, u32 size_gb)
{
	sprintf((char *)type->name, "SG16-%s", name);
	sprintf((char *)type->id, "vgpu_soft-SG16-%s", name);
	type->placement_size_gb = size_gb;
}

/* A GPU of 16 GiB with types of 1, 4 and 8 GiB, and @nr vGPUs of 4 GiB. */
static void make_world(size_t nr)
{
	size_t i;

	memset(types, 0, sizeof(types));
	memset(insts, 0, sizeof(insts));
	memset(&gpu, 0, sizeof(gpu));
	make_type(&types[0], "1Q", 1);
	make_type(&types[1], "4Q", 4);
	make_type(&types[2], "8Q", 8);
	strcpy((char *)gpu.gpu.address, "f000:00:00.0");
	gpu.gpu.types = ARRAY_SIZE(types);
	gpu.gpu.fb_bytes = 16ull << 30;
	gpu.type = types;
	strcpy((char *)gpu.sched.policy, "best_effort");
	gpu.sched.slice_ns = 1000000;
	gpu.sched.frequency_hz = 1000;
	gpu.sched.window_ns = 100000000;
	gpu.sched.preempt_timeout_us = 10000;
	for (i = 0; i < nr; i++) {
		memset(insts[i].uuid, 0x11, sizeof(insts[i].uuid));
		insts[i].uuid[6] = 0x41;
		insts[i].uuid[8] = 0x81;
		insts[i].uuid[15] = (u8)(0x11 + i);
		insts[i].type_index = 1;
		strcpy((char *)insts[i].type_name, "SG16-4Q");
		insts[i].placement_gb = (u32)i * 4;
		insts[i].guarantee = 250;
		insts[i].cap = 1000;
		insts[i].weight = 250;
		insts[i].frl_config = VGPU_FRL_DEFAULT;
	}
	world = (struct world){
		.gpu = &gpu, .nr_gpus = 1, .inst = insts, .nr_insts = nr,
		.policies = "best_effort equal_share fixed_share qos", .left = left,
	};
}

static void test_whole(void **unused)
{
	const struct vgpu_ctl_sched *sched;

	check_that(!parse(whole, strlen(whole)), "%s", said);
	assert_int_equal(state.nr_gpus, 1);
	assert_int_equal(state.nr_vgpus, 2);
	sched = &state.gpu[0].set;
	assert_string_equal(state.gpu[0].address, "f000:00:00.0");
	assert_string_equal(sched->policy, "qos");
	assert_int_equal(sched->slice_ns, 2000000);
	assert_int_equal(sched->valid, 0xff & ~VGPU_SCHED_FREQUENCY);
	assert_string_equal(state.vgpu[0].type, "SG16-4Q");
	assert_int_equal(state.vgpu[0].set.valid, 0x1f);
	assert_int_equal(state.vgpu[0].set.frl, VGPU_FRL_DEFAULT);
	assert_int_equal(state.vgpu[0].set.vga, 1);
	assert_int_equal(state.vgpu[0].set.uuid[15], 0x11);
	assert_int_equal(state.vgpu[1].set.valid, VGPU_SHARE_GUARANTEE | VGPU_SHARE_FRL);
	assert_int_equal(state.vgpu[1].set.frl, 0);
	assert_int_equal(parse("{\"version\": 1}", 14), 0);
	assert_int_equal(state.nr_vgpus, 0);
}

/* Each text has just the faults that are named; of several the words come in their order. */
static void test_faults(void **unused)
{
	static const struct {
		const char *text;
		unsigned int nr;
		const char *words[3];
	} cases[] = {
		{ "", 1, { "line 1, column 1: ends before", "cut off" } },
		{ "\n{\"version\": 1,\n \"gpus\" [] }", 1, { "line 3, column 9:" } },
		{ "{\"version\": 1} x", 1, { "line 1, column 1" } },
		{ "null ", 1, { "an object" } },
		{ "7 ", 1, { "an object" } },
		{ "{\"version\": 1, \"gpus\": [}", 1, { "line 1, column 25" } },
		{ "{\"version\": 1, \"gpus\": \"\xff\"}", 1, { "line 1, column" } },
		{ "{\"version\": 1,\n \"vgpus\": [], \"gpus\": [], \"vgpus\": []}", 1,
		  { "line 2, column 27: this name stands in the object already" } },
		{ STATE("{" GPU0 ", \"linger_us\": 1, \"linger_\\u0075s\": 2}", ""), 1,
		  { "line 1, column 69: this name" } },
		{ "{\"version\": 1, \"gpus\\u0000\": []}", 1, { "column 16: a name with a byte 0" } },
		{ "{\"version\": 1, 'gpus' : []}", 1, { "column 16: a name in double quotes" } },
		{ "[]", 1, { "an object" } },
		{ "{}", 1, { "version is missing" } },
		{ "{\"version\": 2}", 1, { "version: only 1" } },
		{ "{\"version\": \"1\"}", 1, { "version: only 1" } },
		{ "{\"version\": 1, \"gpu\": [], \"vgpus\": {}}", 2,
		  { "F: gpu: no such key", "F: vgpus: an array" } },
		{ STATE("7", "null"), 2, { "gpus[0]: an object", "vgpus[0]: an object" } },
		{ STATE("{}", "{}"), 4, { "gpus[0]: the key address", "key uuid", "key type" } },
		{ STATE("{" GPU0 "}, {\"address\": \"F000:00:00.0\"}", ""), 1,
		  { "gpus[1].address: F000:00:00.0 stands in gpus[0]" } },
		{ STATE("{" GPU0 ", \"polcy\": \"qos\", \"slice_ns\": 31000000}", ""), 2,
		  { "gpus[0].polcy: no such key", "gpus[0].slice_ns: a number from 1000000" } },
		{ STATE("{" GPU0 ", \"slice_ns\": 2000000, \"frequency_hz\": 500}", ""), 1,
		  { "gpus[0].frequency_hz: another key" } },
		{ STATE("{" GPU0 ", \"linger_us\": -1, \"window_ns\": 1e8, \"policy\": null}", ""),
		  3, { "linger_us: a number from 0 to 1000", "window_ns", "name of a policy" } },
		{ STATE("{" GPU0 ", \"slice_ns\": 99999999999999999999999}", ""), 1,
		  { "slice_ns: a number" } },
		{ STATE("{" GPU0 ", \"policy\": \"a\\u0000b\"}", ""), 1, { "name of a policy" } },
		{ STATE("", VGPU(1, "X", ", \"guarantee_permille\": 1001, \"cap_permille\": 0")), 2,
		  { "vgpus[0].guarantee_permille: a number from 0 to 1000", "number from 1" } },
		{ STATE("", VGPU(1, "X", ", \"frl_fps\": 60, \"frl_config_fps\": \"off\"")), 2,
		  { "frl_fps: no such key", "frl_config_fps: null or a number from 0 to 1000" } },
		{ STATE("", VGPU(1, "X", ", \"vga\": 1")), 1, { "vga: true or false" } },
		{ STATE("", VGPU(1, "X", "") "," VGPU(1, "X", "")), 1,
		  { "vgpus[1].uuid: " UUID(1) " stands in vgpus[0]" } },
		{ STATE("", "{\"uuid\": \"1\", " GPU0 ", \"type\": 4}"), 2,
		  { "vgpus[0].uuid: not a UUID", "vgpus[0].type: a text" } },
		{ STATE("", VGPU(1, "", ", \"\\u001b[31m\": 1")), 2,
		  { "type: a text of 1 to 63", "vgpus[0].?[31m: no such key" } },
		{ STATE("{" GPU0 ", \"partitions\": {}}", ""), 1,
		  { "gpus[0].partitions: an array" } },
		{ STATE("{" GPU0 ", \"partitions\": [7, {}]}", ""), 2,
		  { "partitions[0]: an object", "partitions[1]: the key profile is missing" } },
		{ STATE("{" GPU0 PARTS(PART("1g", AT(8)) ", "
				       PART("2g", ", \"start\": 1, \"slice_ns\": 1")) "}", ""), 3,
		  { "[0].start_eighth: a number of 0 to 7", "[1].start: no such", "[1].slice_ns" } },
		{ STATE("{" GPU0 PARTS("1, 2, 3, 4, 5, 6, 7, 8") "}", ""), 1,
		  { "gpus[0].partitions: at most 7" } },
	};
	const char *at;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		check_that(parse(cases[i].text, strlen(cases[i].text)) == cases[i].nr,
			   "%u faults of %s: %s", faults.nr, cases[i].text, said);
		for (k = 0, at = said; k < 3 && cases[i].words[k]; k++) {
			at = strstr(at, cases[i].words[k]);
			check_that(at, "%s: %s", cases[i].words[k], said);
		}
	}
}

/* A file that is cut off anywhere is a fault; a mutated one is at least no harm. */
/* What a terminal would obey is not written, whoever has chosen the text. */
static void test_written(void **unused)
{
	char *text = NULL;
	struct json json;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	json_init(&json, out, true);
	json_begin_array(&json, NULL);
	json_text(&json, NULL, "\033[2J\n\"\\");
	json_text(&json, NULL, "\x7f\xc2\x9b\xff\xc2\xa0\xe2\x82\xac\xc2");
	json_end(&json);
	fclose(out);
	check_that(!strcmp(text, "[ \"\\u001b[2J\\n\\\"\\\\\", \"" NONE NONE NONE NONE
			   "\xc2\xa0\xe2\x82\xac" NONE "\" ]\n"), "%s", text);
	free(text);
}

static void test_cut_and_mutated(void **unused)
{
	u64 rnd = test_seed();
	char text[sizeof(whole)];
	size_t i, k;

	for (i = 0; i < strlen(whole); i++)
		check_that(parse(whole, i), "cut after %zu", i);
	make_world(2);
	for (i = 0; i < MUTATIONS / 100; i++) {
		memcpy(text, whole, sizeof(whole));
		for (k = random_range(&rnd, 1, 4); k; k--)
			text[random_range(&rnd, 0, strlen(whole) - 1)] =
				(char)random_range(&rnd, 1, 255);
		compare(text);
	}
}

static void test_nothing_to_do(void **unused)
{
	make_world(2);
	check_that(!compare(STATE("{" GPU0 ", \"policy\": \"best_effort\", \"slice_ns\": 1000000}",
				  VGPU(1, "SG16-4Q", ", \"guarantee_permille\": 250") ","
				  VGPU(2, "vgpu_soft-SG16-4Q", ", \"frl_config_fps\": null"))),
		   "%s", said);
	assert_int_equal(plan.gpu[0].changed, 0);
	assert_ptr_equal(plan.vgpu[0].is, &insts[0]);
	assert_int_equal(plan.vgpu[0].changed | plan.vgpu[1].changed, 0);
	assert_int_equal(plan.nr_creates, 0);
}

static void test_differences(void **unused)
{
	make_world(1);
	check_that(!compare(whole), "%s", said);
	assert_int_equal(plan.gpu[0].changed, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |
			 VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	assert_int_equal(plan.vgpu[0].changed, VGPU_SHARE_GUARANTEE | VGPU_SHARE_WEIGHT |
			 VGPU_SHARE_VGA);
	assert_null(plan.vgpu[1].is);
	assert_int_equal(plan.vgpu[1].changed, VGPU_SHARE_GUARANTEE | VGPU_SHARE_FRL);
	assert_int_equal(plan.nr_creates, 1);
	assert_false(plan_first(&plan.vgpu[0]));
}

/* What the machine does not have, or cannot do: @words are said, and @nr faults are found. */
static void refused(const char *text, unsigned int nr, const char *words)
{
	check_that(compare(text) == nr, "%u faults of %s: %s", faults.nr, text, said);
	check_that(strstr(said, words), "%s: %s", words, said);
}

static void test_refused(void **unused)
{
	make_world(2);
	refused(STATE("{\"address\": \"0000:01:00.0\"}", ""), 1,
		"gpus[0].address: there is no GPU 0000:01:00.0");
	refused(STATE("{" GPU0 ", \"policy\": \"qo\"}", ""), 1,
		"gpus[0].policy: there is no policy qo; there are: best_effort");
	refused(STATE("{" GPU0 ", \"slice_ns\": 20000000}", ""), 1,
		"gpus[0].slice_ns: a window of 100000000 ns has less than 10 slices");
	refused(STATE("{" GPU0 ", \"frequency_hz\": 100, \"window_ns\": 99999999}", ""), 1,
		"gpus[0].window_ns: a window of 99999999 ns");
	refused(STATE("", VGPU(3, "SG16-16Q", "")), 1,
		"vgpus[0].type: GPU f000:00:00.0 has no type SG16-16Q");
	refused(STATE("", VGPU(1, "SG16-1Q", "")), 1, "vgpus[0].type: vGPU " UUID(1) " is there");
	refused(STATE("", VGPU(1, "SG16-4Q", ", \"cap_permille\": 100")), 1,
		"vgpus[0]: guarantee 250 per mille is above the cap");
	refused(STATE("", VGPU(1, "SG16-4Q", ", \"guarantee_permille\": 600") ","
		      VGPU(2, "SG16-4Q", ", \"guarantee_permille\": 401")), 1,
		"vgpus[1].guarantee_permille: guarantee 401 per mille does not fit: 600 of 1000");
	/* The other vGPU, which the file does not name, has 250. */
	refused(STATE("", VGPU(1, "SG16-4Q", ", \"guarantee_permille\": 751")), 1,
		"does not fit: 250 of 1000 are given");
	refused(STATE("", VGPU(3, "SG16-8Q", "") "," VGPU(4, "SG16-1Q", "")), 1,
		"vgpus[1]: no room for a SG16-1Q of 1 GiB on GPU f000:00:00.0: too little");
	/* All that is wrong is said, not only the first. */
	refused(STATE("{" GPU0 ", \"policy\": \"x\"}", VGPU(3, "x", "") "," VGPU(4, "y", "")), 3,
		"vgpus[1].type");
}

/* Small ones that are named first do not take the place of a large one. */
static void test_largest_first(void **unused)
{
	make_world(0);
	check_that(!compare(STATE("", VGPU(1, "SG16-1Q", "") "," VGPU(2, "SG16-4Q", "") ","
				  VGPU(3, "SG16-8Q", "") "," VGPU(4, "SG16-1Q", ""))), "%s", said);
	assert_int_equal(plan.nr_creates, 4);
	assert_int_equal(plan.create[0], 2);
	assert_int_equal(plan.create[1], 1);
	assert_int_equal(plan.create[2], 0);
	assert_int_equal(plan.create[3], 3);
}

/*
 * A new vGPU begins with its part as a guarantee. If that is not left, somebody must get less, and
 * gets it first.
 */
static void test_first(void **unused)
{
	static const char more[] = STATE("", VGPU(1, "SG16-4Q", "") ","
		VGPU(3, "SG16-4Q", ", \"guarantee_permille\": 0"));
	static const char less[] = STATE("", VGPU(1, "SG16-4Q", ", \"guarantee_permille\": 750") ","
		VGPU(3, "SG16-4Q", ", \"guarantee_permille\": 250"));

	make_world(1);
	insts[0].guarantee = 900;
	refused(more, 1, "vgpus[1]: as a new vGPU has it, guarantee 250 per mille does not fit");
	check_that(!compare(less), "%s", said);
	assert_true(plan_first(&plan.vgpu[0]));
	assert_false(plan_first(&plan.vgpu[1]));
}

/* What mdevctl defines is not looked at, whatever the file says of it. */
static void test_left(void **unused)
{
	make_world(0);
	check_that(!compare(STATE("", VGPU(9, "nonsense", ", \"guarantee_permille\": 1000") ","
				  VGPU(1, "SG16-4Q", ""))), "%s", said);
	assert_true(plan.vgpu[0].left);
	assert_int_equal(plan.nr_creates, 1);
	assert_int_equal(plan.create[0], 1);
}

static void add_part(const char *profile, u32 id, u32 slices, u32 eighths, u32 start)
{
	struct vgpu_ctl_partition *part = &gpu.part[gpu.nr_parts++].part;

	gpu.gpu.partition_mode = VGPU_PARTITION_MODE_ON;
	gpu.gpu.partitions = gpu.nr_parts;
	strcpy((char *)part->profile, profile);
	part->partition = id;
	part->slices = slices;
	part->eighths = eighths;
	part->start = start;
	part->fb_start = (u64)start << 31;
	part->fb_bytes = (u64)eighths << 31;
	gpu.part[gpu.nr_parts - 1].sched = gpu.sched;
}

/* A GPU that can be divided, with types of 4 GiB for 3g and of 2 GiB for 1g. */
static void make_divisible(void)
{
	make_world(0);
	gpu.gpu.profiles = 5;
	make_type(&types[0], "1-2C", 2);
	types[0].slices = 1;
	make_type(&types[1], "3-4C", 4);
	types[1].slices = 3;
}

static void test_divide(void **unused)
{
	const struct plan_gpu *p;

	make_divisible();
	check_that(!compare(STATE("{" GPU0 PARTS(PART("1g", "") ", " PART("4g", "") ", "
					       PART("2g", AT(4) ", \"policy\": \"qos\"")) "}", "")),
		   "%s", said);
	p = plan.gpu;
	assert_true(p->divide);
	/* The one with a place, then the largest. */
	assert_int_equal(p->nr_creates, 3);
	assert_int_equal(p->create[0], 2);
	assert_int_equal(p->create[1], 1);
	assert_int_equal(p->create[2], 0);
	assert_int_equal(p->part[1].start, 0);
	assert_int_equal(p->part[0].start, 6);
	assert_int_equal(p->part[2].changed, VGPU_SCHED_POLICY);

	/* What is there is not created, and any is right for one without a place. */
	add_part("1g", 5, 1, 1, 2);
	add_part("1g", 6, 1, 1, 3);
	check_that(!compare(STATE("{" GPU0 PARTS(PART("1g", "") ", " PART("1g", AT(2)) ", "
					       PART("1g", ", \"policy\": \"qos\"")) "}", "")),
		   "%s", said);
	p = plan.gpu;
	assert_false(p->divide);
	assert_int_equal(p->part[0].id, 6);
	assert_int_equal(p->part[1].id, 5);
	assert_int_equal(p->nr_creates, 1);
	assert_int_equal(p->create[0], 2);

	refused(STATE("{" GPU0 PARTS(PART("2g", AT(2))) "}", ""), 1,
		"gpus[0].partitions[0]: 2g at 2: eighth 2 is in partition 5");
	refused(STATE("{" GPU0 PARTS(PART("2g", AT(1))) "}", ""), 1, "2g at 1: can be at 0, 2, 4; free: 0, 4");
	refused(STATE("{" GPU0 PARTS(PART("1g", AT(0)) "," PART("1g", AT(0))) "}", ""), 1,
		"gpus[0].partitions[1]: 1g at 0: eighth 0 is in gpus[0].partitions[0]; what fits: 1g");
	refused(STATE("{" GPU0 PARTS(PART("1g", AT(4)) "," PART("1g", AT(2)) ", " PART("3g", AT(4)))
		      "}", ""), 1,
		"gpus[0].partitions[0]: 1g at 4: eighth 4 is in gpus[0].partitions[2]; what fits: ");
	refused(STATE("{" GPU0 PARTS(PART("9g", "")) "}", ""), 1, "there is no profile 9g");
	refused(STATE("{" GPU0 PARTS(PART("1g", ", \"policy\": \"x\"")) "}", ""), 1,
		"gpus[0].partitions[0].policy: there is no policy x");
	/* A new partition's window is 100 ms, unless the module's parameters say something else. */
	refused(STATE("{" GPU0 PARTS(PART("2g", ", \"slice_ns\": 30000000")) "}", ""), 1,
		"gpus[0].partitions[0].slice_ns: a window of 100000000 ns has less than 10 slices");
	refused(STATE("{" GPU0 PARTS(PART("2g", ", \"window_ns\": 19999999")) "}", ""), 1,
		"gpus[0].partitions[0].window_ns: a window of 19999999 ns has less than 10 slices of 2000000 ns");
	world.slice_ns = 1000000;
	world.window_ns = 300000000;
	check_that(!compare(STATE("{" GPU0 PARTS(PART("2g", ", \"slice_ns\": 30000000") ","
			PART("2g", ", \"window_ns\": 10000000")) "}", "")), "%s", said);
	world.window_ns = 0;
	world.slice_ns = 0;
	make_type(&types[0], "2-1C", 1);
	types[0].slices = 2;
	gpu.gpu.fb_bytes = 128ull << 30;
	check_that(!compare(STATE("{" GPU0 PARTS(PART("2g", ", \"window_ns\": 10000000")) "}", "")),
		   "%s", said);
	make_world(1);
	refused(STATE("{" GPU0 PARTS("") "}", ""), 1, "cannot be divided");
	gpu.gpu.profiles = 5;
	refused(STATE("{" GPU0 PARTS("") "}", ""), 1, "there are vGPUs on the whole GPU");
}

/* vGPUs go where the driver puts them, and their guarantees are those of one partition. */
static void test_rooms(void **unused)
{
	make_divisible();
	refused(STATE("", VGPU(1, "SG16-3-4C", "")), 1, "there is no partition for it");
	refused(STATE("{" GPU0 PARTS("") "}", VGPU(1, "SG16-8Q", "")), 1,
		"it is divided, only types of partitions fit");
	check_that(!compare(STATE("{" GPU0 PARTS(PART("3g", "") "," PART("1g", "")) "}",
				  VGPU(1, "SG16-1-2C", ", \"guarantee_permille\": 1000") ","
				  VGPU(2, "SG16-3-4C", ", \"guarantee_permille\": 600") ","
				  VGPU(3, "SG16-3-4C", ", \"guarantee_permille\": 400"))), "%s", said);
	assert_int_equal(plan.nr_creates, 3);
	refused(STATE("{" GPU0 PARTS(PART("3g", "")) "}",
		      VGPU(2, "SG16-3-4C", ", \"guarantee_permille\": 600") ","
		      VGPU(3, "SG16-3-4C", ", \"guarantee_permille\": 401")), 1,
		"vgpus[1].guarantee_permille: guarantee 401 per mille does not fit: 600 of 1000");
	check_that(strstr(said, "by 1 (in gpus[0].partitions[0])"), "%s", said);
	add_part("3g", 3, 3, 4, 4);
	refused(STATE("", VGPU(1, "SG16-3-4C", "") "," VGPU(2, "SG16-3-4C", "") ","
		      VGPU(3, "SG16-3-4C", "")), 1, "too little framebuffer is free (0 GiB free of 8) (in partition 3)");
	/* One is there already. */
	insts[0].uuid[15] = 0x15;
	insts[0].partition = 3;
	insts[0].type_index = 1;
	insts[0].placement_gb = 12;
	insts[0].guarantee = 700;
	world.nr_insts = 1;
	refused(STATE("", VGPU(1, "SG16-3-4C", "")), 2, "guarantee 500 per mille does not fit");
	insts[0].guarantee = 500;
	check_that(!compare(STATE("", VGPU(1, "SG16-3-4C", ""))), "%s", said);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_cut_and_mutated),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_largest_first),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_divide),
		cmocka_unit_test(test_rooms),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, clean_up);
}
