// SPDX-License-Identifier: GPL-2.0
/* The call-out for mdevctl: the configuration that it is given, and the attributes in it. */
#include "vgpu_test.h"

#include "mdevctl/attrs.h"
#include "mdevctl/config.h"
#include "mdevctl/quote.h"
#include "mdevctl/room.h"

#define UUID		"11111111-1111-4111-8111-111111111111"
#define OTHER		"22222222-2222-4222-8222-222222222222"
#define TYPE		"vgpu_soft-SG16-4Q"
#define ATTRS(text)	"{\"mdev_type\":\"" TYPE "\",\"start\":\"auto\",\"attrs\":" text "}"
#define MUTATIONS	200000

static char why[CONFIG_WHY];

/* From a copy of its exact length, so that a byte read behind it is noticed. */
static bool parse(const char *text, size_t bytes, struct config *config)
{
	char *copy = malloc(bytes ?: 1);
	bool good;

	memcpy(copy, text, bytes);
	why[0] = 0;
	good = config_parse(copy, bytes, UUID, config, why);
	free(copy);
	if (!good)
		assert_true(why[0]);
	return good;
}

static bool parses(const char *text)
{
	struct config config;
	bool good = parse(text, strlen(text), &config);

	config_free(&config);
	return good;
}

static void test_config(void **state)
{
	struct config config;
	static const char attrs[] = "[ {\"vgpu/cap\" : \"8\\u00e4\\ud83d\\ude00\\n\"} , {\"\\u0076\":\"\"}]";
	static const char other[] = "[1, -2.5e+3, {\"a\": [[]]}, true,null,\"\\\"\\\\\\/\\b\\f\\r\\t\"]";
	char text[200];

	sprintf(text, "\r{\"attrs\":%s,\n\t\"mdev_type\": \"x\" ,\"later\" :%s}\r\n", attrs, other);
	assert_true(parse(text, strlen(text), &config));
	assert_string_equal(config.type, "x");
	assert_int_equal(config.nr, 2);
	assert_string_equal(config.attr[0].name, "vgpu/cap");
	assert_string_equal(config.attr[0].value, "8\xc3\xa4\xf0\x9f\x98\x80\n");
	assert_string_equal(config.attr[1].name, "v");
	assert_string_equal(config.attr[1].value, "");
	config_free(&config);
	assert_true(parses(ATTRS("[]")));
	assert_true(parses("{}"));
}

static void test_config_refused(void **state)
{
	static const char * const texts[] = {
		"", " ", "{", "}", "[]", "1", "null", "\"x\"", "{}{}", "{} x", "{,}", "{\"a\":1,}",
		"{\"a\" 1}", "{\"a\":}", "{\"a\":1 \"b\":2}", "{a:1}", "{\"a\":tru}", "{\"a\":01}",
		"{\"a\":1e}", "{\"a\":-}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":nul",
		"{\"a\":\"", "{\"a\":\"\\", "{\"a\":\"\\u", "{\"a\":\"\\u12\"}", "{\"a\":\"\\x\"}",
		"{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":[1 2]}",
		"{\"mdev_type\":7}",
		"{\"" UUID "\":{}}", "{\"" OTHER "\":{}}",
		ATTRS("{}"), ATTRS("[1]"), ATTRS("[[]]"), ATTRS("[{}]"), ATTRS("[{\"a\":1}]"),
		ATTRS("[{\"a\":null}]"), ATTRS("[{\"a\":\"1\",\"b\":\"2\"}]"),
		ATTRS("[{\"a\":\"\\u0000\"}]"), ATTRS("[{\"a\":\"1\"}"), ATTRS("[{\"a\":\"1\"]"),
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_that(!parses(texts[i]), "%s", texts[i]);
	parses("{\"" OTHER "\":{}}");
	assert_non_null(strstr(why, "another vGPU, " OTHER));
}

/* A 0 that stands in the text itself ends nothing. */
static void test_config_zero(void **state)
{
	static const char zero[] = "{\"mdev_type\":\"a\0b\"}", behind[] = "{}\0";
	struct config config;

	assert_false(parse(zero, sizeof(zero) - 1, &config));
	config_free(&config);
	assert_false(parse(behind, sizeof(behind) - 1, &config));
	config_free(&config);
}

static void test_config_large(void **state)
{
	static char text[1 << 16];
	size_t depth, n, i;

	for (depth = 1; depth < 100; depth++) {
		n = (size_t)sprintf(text, "{\"a\":");
		memset(text + n, '[', depth);
		memset(text + n + depth, ']', depth);
		strcpy(text + n + 2 * depth, "}");
		/* 32 with the object. */
		check_that(parses(text) == (depth < 32), "%zu deep: %s", depth, why);
	}
	for (n = 120; n < 140; n++) {
		i = (size_t)sprintf(text, "{\"mdev_type\":\"");
		memset(text + i, 'x', n);
		strcpy(text + i + n, "\"}");
		check_that(parses(text) == (n < CONFIG_NAME), "%zu bytes", n);
	}
	for (n = 250; n < 260; n++) {
		strcpy(text, "{\"attrs\":[");
		for (i = 0; i < n; i++)
			strcat(text, i ? ",{\"a\":\"b\"}" : "{\"a\":\"b\"}");
		strcat(text, "]}");
		check_that(parses(text) == (n <= 256), "%zu attributes", n);
	}
}

/* Whatever is read, nothing is read or written beyond its end; most of it is refused. */
static void test_config_mutated(void **state)
{
	static const char good[] = ATTRS("[{\"vgpu/cap\":\"5\\u00e4\"},{\"vgpu/frl\":\"default\"}]");
	static const char bytes[] = "{}[]\",:\\u0dtfn-1e.\n ";
	u64 seed = test_seed(), i, k;
	char text[sizeof(good)];
	struct config config;
	unsigned int bad = 0;
	size_t length;

	for (i = 0; i < MUTATIONS; i++) {
		memcpy(text, good, sizeof(good));
		length = random_one_in(&seed, 4) ? random_next(&seed) % sizeof(good) :
						   sizeof(good) - 1;
		for (k = random_next(&seed) % 4; k; k--)
			text[random_next(&seed) % (sizeof(good) - 1)] =
				random_one_in(&seed, 2) ? (char)random_next(&seed) :
				bytes[random_next(&seed) % (sizeof(bytes) - 1)];
		bad += !parse(text, length, &config);
		config_free(&config);
	}
	check_that(bad > MUTATIONS / 3 && bad < MUTATIONS, "%u refused", bad);
}

static void test_version(void **state)
{
	static const char * const bad[] = {
		"", "{}", "{\"provides\":2}", "{\"provides\":{}}", "{\"provides\":{\"version\":\"2\"}}",
		"{\"provides\":{\"version\":-1}}", "{\"provides\":{\"version\":1.5}}",
		"{\"provides\":{\"version\":0}}", "{\"provides\":{\"version\":02}}",
		"{\"provides\":{\"version\":18446744073709551616}}",
	};
	const char *text = "{\"provides\":{\"actions\":[\"start\"],\"version\":2,\"events\":[]}}";
	uint64_t version;
	size_t i;

	assert_true(config_version(text, strlen(text), &version, why));
	assert_int_equal(version, 2);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_that(!config_version(bad[i], strlen(bad[i]), &version, why), "%s", bad[i]);
}

/* Whether a vGPU there can be given these attributes: "NAME VALUE NAME VALUE ...". */
static bool check_room(const char *words, const struct attrs_room *room, bool start)
{
	struct config_attr attr[8];
	struct config config = { .attr = attr };
	int n;

	while (sscanf(words, " vgpu/%100s %100s%n", attr[config.nr].name,
		      attr[config.nr].value, &n) == 2) {
		memmove(attr[config.nr].name + 5, attr[config.nr].name,
			strlen(attr[config.nr].name) + 1);
		memcpy(attr[config.nr].name, "vgpu/", 5);
		config.nr++;
		words += n;
	}
	why[0] = 0;
	return attrs_check(&config, room, start, why);
}

/* Likewise a vGPU of 4 of 16 GiB. */
static bool check(const char *words, bool known, u32 guarantees)
{
	struct attrs_room room = { .size_gb = 4, .region_gb = 16, .guarantees = guarantees };

	return check_room(words, known ? &room : NULL, guarantees);
}

static void test_attrs(void **state)
{
	assert_true(check("", true, 750));
	assert_true(check("vgpu/guarantee 600 vgpu/cap 800 vgpu/weight 7 vgpu/frl default", true,
			  400));
	assert_true(check("vgpu/frl 0x1e", true, 0));
	assert_false(check("vgpu/weight 2000", true, 0));
	assert_non_null(strstr(why, "weight 2000: must be 1..1000"));
	/* Its guarantee is 250 at first. */
	assert_false(check("vgpu/cap 100", true, 0));
	assert_null(strstr(why, "another order"));
	assert_false(check("vgpu/cap 100 vgpu/guarantee 50", true, 0));
	assert_non_null(strstr(why, "another order"));
	assert_true(check("vgpu/guarantee 50 vgpu/cap 100", true, 0));
	/* Nobody knows its size. */
	assert_true(check("vgpu/cap 100 vgpu/guarantee 50", false, 0));
	assert_false(check("vgpu/guarantee 200 vgpu/cap 100", false, 0));
	/* Whether it fits beside others counts when it is started. */
	assert_true(check("vgpu/guarantee 600", true, 400));
	assert_false(check("vgpu/guarantee 600", true, 401));
	assert_non_null(strstr(why, "lower theirs by 1"));
	/* So does that which it has at first, and each in between. */
	assert_false(check("vgpu/guarantee 50", true, 751));
	assert_non_null(strstr(why, "as a new vGPU has it, guarantee 250 per mille"));
	assert_false(check("vgpu/guarantee 600 vgpu/guarantee 50", true, 401));
	assert_false(check("vgpu/../remove 1", true, 0));
	assert_false(check("vgpu/capx 1", true, 0));
	assert_non_null(strstr(why, "vgpu/guarantee, vgpu/cap"));
	assert_null(attrs_find(""));
	assert_null(attrs_find("vgpu/"));
	assert_null(attrs_find("cap"));
}

/* The limits are those of the driver's table. */
static void test_attrs_limits(void **state)
{
	const struct vgpu_setting *s;
	char words[200];

	for (s = vgpu_share_settings; s->name; s++) {
		if (s->type == VGPU_SETTING_TEXT)
			continue;
		sprintf(words, "vgpu/%s %llu", s->name, s->max);
		check_that(check(words, false, 0), "%s: %s", words, why);
		sprintf(words, "vgpu/%s %llu", s->name, s->max + 1);
		check_that(!check(words, false, 0), "%s", words);
		sprintf(words, "vgpu/%s %llu", s->name, s->min);
		check_that(check(words, false, 0), "%s: %s", words, why);
		sprintf(words, "vgpu/%s %lld", s->name, s->min - 1);
		check_that(!check(words, false, 0), "%s", words);
		sprintf(words, "vgpu/%s %llu", s->name, s->min + (1ULL << 32));
		check_that(!check(words, false, 0), "%s", words);
		sprintf(words, "vgpu/%s 0%llu", s->name, ~0ULL);
		check_that(!check(words, false, 0), "%s", words);
		sprintf(words, "vgpu/%s %llux", s->name, s->max);
		check_that(!check(words, false, 0), "%s", words);
		sprintf(words, "vgpu/%s %s", s->name, s->other_name ?: "default");
		check_that(check(words, false, 0) == !!s->other_name, "%s: %s", words, why);
		sprintf(words, "vgpu/%s %llu", s->name, s->other ?: ~0ULL);
		check_that(!check(words, false, 0), "%s", words);
	}
}

/* Set at once, the order does not matter, and the last value of an attribute counts. */
static void test_attrs_change(void **state)
{
	struct config_attr attr[] = {
		{ "vgpu/cap", "100" }, { "vgpu/guarantee", "50" }, { "vgpu/cap", "200" },
	};
	struct config config = { .attr = attr, .nr = 3 };
	struct vgpu_ctl_share change;

	assert_true(attrs_change(&config, &change, why));
	assert_int_equal(change.valid, VGPU_SHARE_CAP | VGPU_SHARE_GUARANTEE);
	assert_int_equal(change.cap, 200);
	assert_int_equal(change.guarantee, 50);
	assert_true(attrs_same(attrs_find("vgpu/cap"), "200", &change));
	assert_true(attrs_same(attrs_find("vgpu/cap"), "0xc8", &change));
	assert_false(attrs_same(attrs_find("vgpu/cap"), "201", &change));
	assert_false(attrs_same(attrs_find("vgpu/cap"), "", &change));
	assert_false(attrs_same(attrs_find("vgpu/frl"), "default", &change));
	strcpy(attr[1].value, "50\n");
	assert_false(attrs_change(&config, &change, why));
	strcpy(attr[1].value, "");
	assert_false(attrs_change(&config, &change, why));
	strcpy(attr[1].value, " 50");
	assert_false(attrs_change(&config, &change, why));
	strcpy(attr[1].value, "-1");
	assert_false(attrs_change(&config, &change, why));
}

/* A GPU of 16 GiB, with types of the whole GPU, of 2g (4 GiB) and of 3g (8 GiB). */
static struct vgpu_ctl_type types[] = {
	{ .name = "SG16-4Q", .id = "vgpu_soft-SG16-4Q", .placement_size_gb = 4 },
	{ .name = "SG16-2-4C", .id = "vgpu_soft-SG16-2-4C", .placement_size_gb = 4, .slices = 2 },
	{ .name = "SG16-3-4C", .id = "vgpu_soft-SG16-3-4C", .placement_size_gb = 4, .slices = 3 },
	{ .name = "SG16-3-8C", .id = "vgpu_soft-SG16-3-8C", .placement_size_gb = 8, .slices = 3 },
};

static struct vgpu_ctl_instance insts[VGPU_PARTITION_EIGHTHS];
static struct room_gpu gpu;

static void gpu_new(bool divided)
{
	gpu = (struct room_gpu){ .type = types, .inst = insts };
	strcpy((char *)gpu.gpu.address, "f000:00:00.0");
	gpu.gpu.fb_bytes = 16ULL << 30;
	gpu.gpu.types = sizeof(types) / sizeof(types[0]);
	gpu.gpu.partition_mode = divided;
}

static void gpu_part(uint32_t id, uint32_t slices, uint64_t start_gb, uint64_t size_gb)
{
	gpu.part[gpu.nr_parts++] = (struct vgpu_ctl_partition){
		.partition = id, .slices = slices, .fb_start = start_gb << 30,
		.fb_bytes = size_gb << 30,
	};
}

static void gpu_vgpu(uint32_t partition, uint32_t type, uint32_t placement_gb, uint32_t guarantee)
{
	uint32_t i;

	insts[gpu.nr_insts++] = (struct vgpu_ctl_instance){
		.partition = partition, .type_index = type, .placement_gb = placement_gb,
		.guarantee = guarantee,
	};
	if (!partition)
		gpu.gpu.guarantee_sum += guarantee;
	for (i = 0; i < gpu.nr_parts; i++)
		if (gpu.part[i].partition == partition)
			gpu.part[i].guarantee_sum += guarantee;
}

static struct attrs_room room_of(uint32_t type)
{
	struct attrs_room room;

	assert_true(room_find(&gpu, (char *)types[type].id, &room));
	return room;
}

/* What a vGPU has at first is by the partition that it will be in, not by the GPU. */
static void test_room_sizes(void **state)
{
	struct attrs_room room;

	gpu_new(false);
	room = room_of(0);
	assert_int_equal(room.region_gb, 16);
	assert_string_equal(room.name, "f000:00:00.0");
	assert_string_equal(room.none, "");
	/* Also of a definition, before the GPU is divided. */
	room = room_of(1);
	assert_int_equal(room.size_gb, 4);
	assert_int_equal(room.region_gb, 4);
	assert_false(check_room("vgpu/cap 500", &room, false));
	assert_non_null(strstr(why, "guarantee 1000 per mille is above the cap, 500"));
	assert_false(check_room("vgpu/cap 500 vgpu/guarantee 100", &room, false));
	assert_non_null(strstr(why, "another order"));
	assert_true(check_room("vgpu/guarantee 100 vgpu/cap 500", &room, false));
	room = room_of(2);
	assert_int_equal(room.region_gb, 8);
	assert_true(check_room("vgpu/cap 500", &room, false));
	assert_false(check_room("vgpu/cap 499", &room, false));
	assert_false(room_find(&gpu, "vgpu_soft-SG16-7-16C", &room));
	assert_false(room_find(&gpu, "SG16-4Q", &room));
}

static void test_room_missing(void **state)
{
	struct attrs_room room;

	gpu_new(false);
	room = room_of(1);
	assert_false(check_room("", &room, true));
	assert_string_equal(why, "SG16-2-4C: partition: there is no 2g on f000:00:00.0");
	gpu_new(true);
	gpu_part(1, 2, 0, 4);
	room = room_of(0);
	assert_true(check_room("", &room, false));
	assert_false(check_room("", &room, true));
	assert_non_null(strstr(why, "SG16-4Q: partition: f000:00:00.0 is divided"));
	room = room_of(1);
	assert_true(check_room("", &room, true));
	assert_string_equal(room.name, "f000:00:00.0.1");
	room = room_of(2);
	assert_false(check_room("", &room, true));
	assert_non_null(strstr(why, "there is no 3g"));
	gpu_vgpu(1, 1, 0, 0);
	room = room_of(1);
	assert_false(check_room("", &room, true));
	assert_non_null(strstr(why, "0 of 4 GiB are free on f000:00:00.0.1"));
	gpu_new(false);
	gpu_vgpu(0, 0, 0, 250);
	gpu_vgpu(0, 0, 4, 250);
	room = room_of(0);
	assert_int_equal(room.guarantees, 500);
	assert_true(check_room("vgpu/guarantee 500", &room, true));
	assert_false(check_room("vgpu/guarantee 501", &room, true));
	gpu_vgpu(0, 0, 8, 0);
	gpu_vgpu(0, 0, 12, 0);
	room = room_of(0);
	assert_false(check_room("", &room, true));
	assert_non_null(strstr(why, "0 of 16 GiB are free on f000:00:00.0"));
}

/* Guarantees are those of the partition that the driver chooses, whichever comes first. */
static void test_room_guarantees(void **state)
{
	struct attrs_room room;
	unsigned int swap;

	for (swap = 0; swap < 2; swap++) {
		gpu_new(true);
		gpu_part(1 + swap, 3, swap ? 8 : 0, 8);
		gpu_part(2 - swap, 3, swap ? 0 : 8, 8);
		/* The fuller one. */
		gpu_vgpu(1, 2, 0, 400);
		room = room_of(2);
		assert_string_equal(room.name, "f000:00:00.0.1");
		assert_int_equal(room.guarantees, 400);
		assert_true(check_room("vgpu/guarantee 600", &room, true));
		assert_false(check_room("vgpu/guarantee 601", &room, true));
		assert_non_null(strstr(why, "f000:00:00.0.1: guarantee 601 per mille"));
		/* It has a place for the type, but not for its guarantee. */
		gpu_new(true);
		gpu_part(1 + swap, 3, swap ? 8 : 0, 8);
		gpu_part(2 - swap, 3, swap ? 0 : 8, 8);
		gpu_vgpu(1, 2, 4, 501);
		room = room_of(2);
		assert_string_equal(room.name, "f000:00:00.0.2");
		assert_int_equal(room.guarantees, 0);
		/* Where none fits the driver refuses with what is wrong in the emptier one. */
		gpu_vgpu(2, 3, 8, 0);
		room = room_of(2);
		assert_string_equal(room.name, "f000:00:00.0.1");
		assert_false(check_room("vgpu/guarantee 100", &room, true));
		assert_non_null(strstr(why, "f000:00:00.0.1: as a new vGPU has it, guarantee 500"));
		/* Of two that are as empty it is the older one. */
		gpu.nr_insts = 1;
		gpu_vgpu(2, 2, 8, 501);
		room = room_of(2);
		assert_string_equal(room.name, swap ? "f000:00:00.0.2" : "f000:00:00.0.1");
	}
}

static void test_quote(void **state)
{
	char room[16];

	assert_string_equal(quote("a b", room, sizeof(room)), "\"a b\"");
	assert_string_equal(quote("\"\\\n", room, sizeof(room)), "\"\\x22\\x5c...\"");
	assert_string_equal(quote("\x1b\xff", room, sizeof(room)), "\"\\x1b\\xff\"");
	assert_string_equal(quote("0123456789abcdef", room, sizeof(room)), "\"01234567...\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_refused),
		cmocka_unit_test(test_config_zero),
		cmocka_unit_test(test_config_large),
		cmocka_unit_test(test_config_mutated),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_attrs),
		cmocka_unit_test(test_attrs_limits),
		cmocka_unit_test(test_attrs_change),
		cmocka_unit_test(test_room_sizes),
		cmocka_unit_test(test_room_missing),
		cmocka_unit_test(test_room_guarantees),
		cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests_name("mdevctl", tests, NULL, NULL);
}
