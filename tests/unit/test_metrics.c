// SPDX-License-Identifier: GPL-2.0
/* vgpuctl metrics: the text's grammar, whatever the driver says, and figures in it. */
#include <ctype.h>

/* Before cmocka, which has a macro fail(). */
#include "metrics.h"
#include "utf8.h"

#include "vgpu_test.h"

#define NONE		UTF8_REPLACEMENT
#define GPUS		3
#define MOST		4000	/* metrics, and samples of one */

static struct metrics_gpu gpus[GPUS];
static struct metrics metrics = { .up = true, .gpu = gpus, .nr_gpus = GPUS };

/**
 * struct reader - a text that is read
 * @line:    the line
 * @family:  the metric that was described last
 * @type:    its type
 * @helped:  the line before was its help
 * @known:   metrics that were described so far
 * @nr:      their number
 * @sample:  samples of the last one: name and labels
 * @samples: their number
 */
struct reader {
	char *line;
	char family[128];
	char type[16];
	bool helped;
	char *known[MOST];
	size_t nr;
	char *sample[MOST];
	size_t samples;
};

static void list_clear(char **list, size_t *nr)
{
	while (*nr)
		free(list[--*nr]);
}

static void list_add(char **list, size_t *nr, const char *text, size_t length)
{
	size_t i;

	assert_true(*nr < MOST);
	list[*nr] = strndup(text, length);
	for (i = 0; i < *nr; i++)
		check_that(strcmp(list[i], list[*nr]), "%s is there twice", list[*nr]);
	++*nr;
}

static bool ends_in(const char *name, size_t length, const char *end)
{
	return length > strlen(end) && !memcmp(name + length - strlen(end), end, strlen(end));
}

static const char *read_name(const char *s)
{
	assert_true(isalpha((unsigned char)*s) || *s == '_');
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return s;
}

/* "# HELP name text." and then "# TYPE name counter" */
static void read_comment(struct reader *reader)
{
	bool help = !strncmp(reader->line, "# HELP ", 7);
	const char *name = reader->line + 7, *end = read_name(name);

	assert_true(help || !strncmp(reader->line, "# TYPE ", 7));
	assert_int_equal(*end, ' ');
	if (help) {
		assert_false(reader->helped);
		list_add(reader->known, &reader->nr, name, (size_t)(end - name));
		snprintf(reader->family, sizeof(reader->family), "%.*s", (int)(end - name), name);
		assert_true(strlen(end) > 2);
		assert_null(strchr(end, '\\'));
		list_clear(reader->sample, &reader->samples);
	} else {
		assert_true(reader->helped);
		assert_int_equal(strlen(reader->family), end - name);
		assert_memory_equal(reader->family, name, (size_t)(end - name));
		snprintf(reader->type, sizeof(reader->type), "%s", end + 1);
		assert_true(!strcmp(reader->type, "gauge") || !strcmp(reader->type, "counter"));
	}
	reader->helped = help;
}

/* {key="value",...} */
static const char *read_labels(const char *s)
{
	size_t n;

	do {
		s = read_name(s + 1);
		assert_memory_equal(s, "=\"", 2);
		for (s += 2; *s != '"'; s += n) {
			n = utf8_length((const unsigned char *)s, strlen(s));
			check_that(n, "no UTF-8: %s", s);
			if (*s == '\\') {
				n = 2;
				assert_true(s[1] && strchr("\\\"n", s[1]));
			}
		}
		s++;
	} while (*s == ',');
	assert_int_equal(*s, '}');
	return s + 1;
}

static void read_sample(struct reader *reader)
{
	const char *end = read_name(reader->line);
	size_t length = (size_t)(end - reader->line), family = strlen(reader->family);
	bool counter = !strcmp(reader->type, "counter");
	char *rest;

	assert_false(reader->helped);
	assert_int_equal(counter, ends_in(reader->line, length, "_total"));
	if (counter && metrics.open)
		length -= strlen("_total");
	check_that(length == family && !memcmp(reader->line, reader->family, length),
		   "%s is below %s", reader->line, reader->family);
	if (*end == '{')
		end = read_labels(end);
	list_add(reader->sample, &reader->samples, reader->line, (size_t)(end - reader->line));
	assert_int_equal(*end, ' ');
	assert_true(isdigit((unsigned char)end[1]));
	strtod(end + 1, &rest);
	assert_int_equal(*rest, 0);
}

/* Returns the text, which the caller frees. */
static char *write_and_read(void)
{
	struct reader reader = { NULL };
	char *text = NULL, *copy, *next;
	size_t length, nr;
	FILE *out;

	out = open_memstream(&text, &length);
	metrics_write(out, &metrics);
	fclose(out);
	assert_true(length && text[length - 1] == '\n');
	assert_int_equal(strlen(text), length);
	copy = strdup(text);
	copy[length - 1] = 0;
	next = copy;
	while ((reader.line = strsep(&next, "\n"))) {
		assert_int_not_equal(*reader.line, 0);
		if (metrics.open && !strcmp(reader.line, "# EOF"))
			assert_null(next);
		else if (*reader.line == '#')
			read_comment(&reader);
		else
			read_sample(&reader);
	}
	assert_false(reader.helped);
	nr = reader.nr;
	assert_true(metrics.up ? nr > 40 : nr == 1);
	list_clear(reader.sample, &reader.samples);
	list_clear(reader.known, &reader.nr);
	free(copy);
	return text;
}

static void random_bytes(u64 *rnd, void *to, size_t bytes)
{
	unsigned char *b = to;

	while (bytes--)
		*b++ = (unsigned char)random_next(rnd);
}

/* Channels of any kind; in some guests labels differ only in bytes that are not shown. */
static void random_guest(u64 *rnd, struct guest *guest)
{
	bool alike = random_one_in(rnd, 2);
	uint8_t bytes[VGPU_GUEST_NAME_LEN];
	uint32_t i;

	random_bytes(rnd, bytes, sizeof(bytes));
	guest_text(bytes, sizeof(bytes), guest->name);
	guest_text(bytes, sizeof(bytes), guest->os);
	guest->nr = (uint32_t)random_range(rnd, 0, 60);
	guest->channel = calloc(guest->nr + 1, sizeof(*guest->channel));
	random_bytes(rnd, guest->channel, guest->nr * sizeof(*guest->channel));
	for (i = 0; i < guest->nr; i++) {
		guest->channel[i].engine %= 40;
		if (!alike)
			continue;
		guest->channel[i].client = 1;
		guest->channel[i].pid = 2;
		guest->channel[i].uid = 3;
		memset(guest->channel[i].comm, (int)random_range(rnd, 0xf8, 0xff), VGPU_COMM_LEN);
	}
}

static void random_gpu(u64 *rnd, struct metrics_gpu *gpu, unsigned int id)
{
	uint32_t i;

	random_bytes(rnd, &gpu->gpu, sizeof(gpu->gpu));
	random_bytes(rnd, &gpu->stats, sizeof(gpu->stats));
	/* What makes them different; the rest may be anything. */
	snprintf((char *)gpu->gpu.address, sizeof(gpu->gpu.address), "%04x:00:00.0", id);
	for (i = 0; i < VGPU_MAX_ENGINES; i++)
		snprintf((char *)gpu->gpu.engine[i].name, sizeof(gpu->gpu.engine[i].name),
			 "ce%u", i);
	gpu->gpu.types = (uint32_t)random_range(rnd, 0, 4);
	gpu->stats.count = (uint32_t)random_range(rnd, 0, 12);
	gpu->type = calloc(gpu->gpu.types + 1, sizeof(*gpu->type));
	gpu->inst = calloc(gpu->stats.count + 1, sizeof(*gpu->inst));
	random_bytes(rnd, gpu->type, gpu->gpu.types * sizeof(*gpu->type));
	random_bytes(rnd, gpu->inst, gpu->stats.count * sizeof(*gpu->inst));
	gpu->guest = calloc(gpu->stats.count + 1, sizeof(*gpu->guest));
	for (i = 0; i < gpu->stats.count; i++)
		random_guest(rnd, &gpu->guest[i]);
	gpu->nr_parts = (uint32_t)random_range(rnd, 0, VGPU_PARTITION_EIGHTHS);
	gpu->part = calloc(gpu->nr_parts + 1, sizeof(*gpu->part));
	random_bytes(rnd, gpu->part, gpu->nr_parts * sizeof(*gpu->part));
	for (i = 0; i < gpu->nr_parts; i++)
		gpu->part[i].partition = i ? i : UINT32_MAX;
	for (i = 0; i < gpu->gpu.types; i++)
		snprintf((char *)gpu->type[i].name, sizeof(gpu->type[i].name), "T\"%u", i);
}

static void clear(void)
{
	unsigned int i, v;

	for (i = 0; i < GPUS; i++) {
		for (v = 0; gpus[i].guest && v < gpus[i].stats.count; v++)
			guest_free(&gpus[i].guest[v]);
		free(gpus[i].guest);
		free(gpus[i].type);
		free(gpus[i].inst);
		free(gpus[i].part);
	}
	memset(gpus, 0, sizeof(gpus));
	metrics.up = true;
	metrics.open = false;
	metrics.nr_gpus = GPUS;
}

/* Bytes of any kind, also where texts are and where numbers of engines are. */
static void test_grammar(void **state)
{
	u64 rnd = test_seed();
	unsigned int round, i;

	for (round = 0; round < 150; round++) {
		for (i = 0; i < GPUS; i++)
			random_gpu(&rnd, &gpus[i], i);
		random_bytes(&rnd, &metrics.version, sizeof(metrics.version));
		metrics.nr_gpus = random_range(&rnd, 0, GPUS);
		metrics.open = round % 2;
		free(write_and_read());
		clear();
	}
}

static void has(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	check_that(at && (at == text || at[-1] == '\n'), "%s", line);
}

static void test_down(void **state)
{
	char *text;

	metrics.up = false;
	text = write_and_read();
	has(text, "vgpu_up 0\n");
	free(text);
	clear();
}

#define VGPU0	"{gpu=\"0000:00:00.0\",uuid=\"01000000-0000-0000-0000-000000000000\""

/* A year in ns, parts, names that want to be more than that. */
static void test_values(void **state)
{
	struct vgpu_ctl_instance *inst = calloc(1, sizeof(*inst));
	char *text;

	metrics.nr_gpus = 1;
	snprintf((char *)gpus[0].gpu.address, sizeof(gpus[0].gpu.address), "0000:00:00.0");
	snprintf((char *)gpus[0].gpu.engine[0].name, sizeof(gpus[0].gpu.engine[0].name), "gr");
	gpus[0].gpu.engines = 1;
	gpus[0].gpu.engine[0].units = 4;
	gpus[0].gpu.guarantee_sum = 1000;
	gpus[0].stats.count = 1;
	gpus[0].stats.engine[0].busy_ns = 7;
	gpus[0].inst = inst;
	gpus[0].guest = calloc(1, sizeof(*gpus[0].guest));
	inst->uuid[0] = 1;
	inst->engines = 1;
	inst->guarantee = 5;
	inst->cap = 1000;
	inst->fb_bytes = 17ull << 30;
	inst->state = VGPU_STATE_STARTED;
	inst->session = 3;
	inst->owner_pid = 77;
	inst->owner_uid = UINT32_MAX;
	memcpy(inst->owner_comm, "a\"} 1\n\\\xff\xc3\xa4\033\x7f\xc2\x9b\xc2\xa0", 16);
	inst->move = VGPU_MOVE_SAVING_STOPPED;
	inst->move_bytes = 1ull << 40;
	inst->move_left_bytes = 5;
	inst->move_ns = 2500000000;
	inst->engine[0].busy_ns = 31536000000000001ull;
	inst->engine[0].linger_ns = 1500000000;
	text = write_and_read();
	has(text, "vgpu_up 1\n");
	has(text, "vgpu_gpu_guaranteed_ratio{gpu=\"0000:00:00.0\"} 1.000\n");
	has(text, "vgpu_engine_units{gpu=\"0000:00:00.0\",engine=\"gr\"} 4\n");
	has(text, "vgpu_engine_busy_seconds_total{gpu=\"0000:00:00.0\",engine=\"gr\"} 0.000000007\n");
	has(text, "vgpu_vgpu_guarantee_ratio" VGPU0 "} 0.005\n");
	has(text, "vgpu_vgpu_cap_ratio" VGPU0 "} 1.000\n");
	has(text, "vgpu_vgpu_framebuffer_bytes" VGPU0 "} 18253611008\n");
	has(text, "vgpu_vgpu_started" VGPU0 "} 1\n");
	has(text, "vgpu_vgpu_move_phase" VGPU0 "} 2\n");
	has(text, "vgpu_vgpu_move_bytes" VGPU0 "} 1099511627776\n");
	has(text, "vgpu_vgpu_move_left_bytes" VGPU0 "} 5\n");
	has(text, "vgpu_vgpu_move_seconds" VGPU0 "} 2.500000000\n");
	has(text, "vgpu_vgpu_quarantined" VGPU0 "} 0\n");
	has(text, "vgpu_vgpu_engine_busy_seconds_total" VGPU0 ",engine=\"gr\"} 31536000.000000001\n");
	has(text, "vgpu_vgpu_engine_linger_seconds_total" VGPU0 ",engine=\"gr\"} 1.500000000\n");
	has(text, "vgpu_vgpu_owner_info" VGPU0 ",pid=\"77\",uid=\"4294967295\",command=\"a\\\"} 1\\n\\\\" NONE "\xc3\xa4" NONE NONE NONE NONE "\xc2\xa0\"} 1\n");
	has(text, "# TYPE vgpu_engine_busy_seconds_total counter\n");
	free(text);
	metrics.open = true;
	text = write_and_read();
	has(text, "# TYPE vgpu_engine_busy_seconds counter\n");
	has(text, "# EOF\n");
	free(text);
	clear();
}

#define PART3	"{gpu=\"0000:00:00.0\",partition=\"3\",profile=\"1g\""
#define PART4	"{gpu=\"0000:00:00.0\",partition=\"4\",profile=\"3g\""

/* Of each partition its own, though the engines have the same names. */
static void test_partitions(void **state)
{
	struct vgpu_ctl_partition *part = calloc(2, sizeof(*part));
	char *text;

	metrics.nr_gpus = 1;
	snprintf((char *)gpus[0].gpu.address, sizeof(gpus[0].gpu.address), "0000:00:00.0");
	snprintf((char *)gpus[0].gpu.engine[0].name, sizeof(gpus[0].gpu.engine[0].name), "gr");
	snprintf((char *)gpus[0].gpu.engine[1].name, sizeof(gpus[0].gpu.engine[1].name), "ce0");
	gpus[0].gpu.engines = 2;
	gpus[0].gpu.partitions = 2;
	gpus[0].gpu.partition_mode = VGPU_PARTITION_MODE_ON;
	gpus[0].part = part;
	gpus[0].nr_parts = 2;
	part[0] = (struct vgpu_ctl_partition){
		.partition = 3, .slices = 1, .eighths = 1, .instances = 2, .fb_bytes = 2ull << 30,
		.fb_used_bytes = 1ull << 30, .slice_ns = 2000000, .guarantee_sum = 250,
		.engines = 2, .shared_time = 1, .policy = "qos", .profile = "1g",
		.engine[0] = { .busy_ns = 5, .wall_ns = 10, .linger_ns = 1, .units = 1 },
		.engine[1] = { .busy_ns = 6, .runs = 9, .switches = 8, .resets = 7, .units = 2 },
	};
	part[1] = (struct vgpu_ctl_partition){
		.partition = 4, .slices = 3, .engines = 2, .policy = "best_effort",
		.profile = "3g", .engine[1] = { .busy_ns = 31536000000000001ull },
	};
	text = write_and_read();
	/* What was the whole GPU's is in force nowhere. */
	assert_null(strstr(text, "vgpu_gpu_guaranteed_ratio{"));
	assert_null(strstr(text, "vgpu_gpu_slice_seconds{"));
	has(text, "vgpu_gpu_info{gpu=\"0000:00:00.0\",board=\"\",driver=\"\",placement=");
	has(text, "vgpu_partition_info" PART3 ",policy=\"qos\"} 1\n");
	has(text, "vgpu_partition_info" PART4 ",policy=\"best_effort\"} 1\n");
	has(text, "vgpu_partition_framebuffer_bytes" PART3 "} 2147483648\n");
	has(text, "vgpu_partition_framebuffer_owned_bytes" PART3 "} 1073741824\n");
	has(text, "vgpu_partition_slices" PART4 "} 3\n");
	has(text, "vgpu_partition_vgpus" PART3 "} 2\n");
	has(text, "vgpu_partition_guaranteed_ratio" PART3 "} 0.250\n");
	has(text, "vgpu_partition_slice_seconds" PART3 "} 0.002000000\n");
	has(text, "vgpu_partition_shared_in_time" PART3 "} 1\n");
	has(text, "vgpu_partition_shared_in_time" PART4 "} 0\n");
	has(text, "vgpu_partition_engine_units" PART3 ",engine=\"ce0\"} 2\n");
	has(text, "vgpu_partition_engine_busy_seconds_total" PART3 ",engine=\"gr\"} 0.000000005\n");
	has(text, "vgpu_partition_engine_busy_seconds_total" PART4
	    ",engine=\"ce0\"} 31536000.000000001\n");
	has(text, "vgpu_partition_engine_linger_seconds_total" PART3
	    ",engine=\"gr\"} 0.000000001\n");
	has(text, "vgpu_partition_engine_wall_seconds_total" PART3 ",engine=\"gr\"} 0.000000010\n");
	has(text, "vgpu_partition_engine_runs_total" PART3 ",engine=\"ce0\"} 9\n");
	has(text, "vgpu_partition_engine_switches_total" PART3 ",engine=\"ce0\"} 8\n");
	has(text, "vgpu_partition_engine_resets_total" PART3 ",engine=\"ce0\"} 7\n");
	free(text);
	clear();
}

static uint32_t samples_of(const char *text, const char *begin)
{
	uint32_t nr = 0;
	const char *s;

	for (s = strstr(text, begin); s; s = strstr(s + 1, begin))
		nr += s == text || s[-1] == '\n';
	return nr;
}

#define BUSY	"vgpu_vgpu_guest_busy_seconds" VGPU0 ",engine=\"gr\",process="

/* As many labels as channels: no more samples than a guest may have, and no time is lost. */
static void test_guest(void **state)
{
	struct vgpu_ctl_channel *channel = calloc(1024, sizeof(*channel));
	uint32_t i;
	char *text;

	metrics.nr_gpus = 1;
	snprintf((char *)gpus[0].gpu.address, sizeof(gpus[0].gpu.address), "0000:00:00.0");
	snprintf((char *)gpus[0].gpu.engine[0].name, sizeof(gpus[0].gpu.engine[0].name), "gr");
	gpus[0].gpu.engines = 1;
	gpus[0].stats.count = 1;
	gpus[0].inst = calloc(1, sizeof(*gpus[0].inst));
	gpus[0].inst->uuid[0] = 1;
	gpus[0].guest = calloc(1, sizeof(*gpus[0].guest));
	text = write_and_read();
	assert_int_equal(samples_of(text, "vgpu_vgpu_guest_"), 0);
	free(text);
	guest_text((const uint8_t *)"x\"\n\033", 4, gpus[0].guest->name);
	guest_text((const uint8_t *)"y\\\n", 3, gpus[0].guest->os);
	gpus[0].guest->nr = 1024;
	gpus[0].guest->channel = channel;
	for (i = 0; i < 1024; i++) {
		channel[i].channel = i;
		channel[i].busy_ns = 1000 + i;
		channel[i].flags = i < 1000 ? VGPU_CHANNEL_LABEL : 0;
		channel[i].pid = i;
		channel[i].uid = 5;
		channel[i].client = UINT64_MAX;
		memcpy(channel[i].comm, "p\",pid=\"1\"} 9\n\xff", VGPU_COMM_LEN);
	}
	text = write_and_read();
	has(text, "vgpu_vgpu_guest_driver_info" VGPU0 ",guest_driver=\"x\\\"" NONE NONE "\",guest_version=\"\",guest_os=\"y\\\\" NONE "\"} 1\n");
	assert_int_equal(samples_of(text, BUSY "\"named\""), METRICS_GUEST_PROCESSES);
	assert_int_equal(samples_of(text, "vgpu_vgpu_guest_busy_seconds"),
			 METRICS_GUEST_PROCESSES + 2);
	has(text, BUSY "\"named\",guest_pid=\"999\",guest_uid=\"5\",guest_command=\"p\\\",pid=\\\"1\\\"} 9" NONE NONE "\",guest_client=\"18446744073709551615\"} 0.000001999\n");
	/* 1000 to 1983, and 2000 to 2023. */
	has(text, BUSY "\"others\"} 0.001467636\n");
	has(text, BUSY "\"unnamed\"} 0.000048276\n");
	free(text);
	clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_guest),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
