// SPDX-License-Identifier: GPL-2.0
/* The command hist. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "json.h"
#include "table.h"
#include "uuid.h"

#define BAR	40	/* columns of the longest bar */
#define LAST	(VGPU_HIST_BUCKETS - 1)

/**
 * struct kind - a kind of histogram
 * @key:   key in JSON
 * @title: heading for people, which follows the engine's name
 */
struct kind {
	const char *key;
	const char *title;
};

static const struct kind kinds[] = {
	{ "wait", "waited before a run" },
	{ "overrun", "ran past the deadline by" },
	{ "preempt", "took to stop" },
};

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static const __u64 *kind_buckets(const struct vgpu_ctl_hist *hist, size_t kind)
{
	const __u64 * const all[NR_KINDS] = {
		hist->wait, hist->overrun, hist->preempt,
	};

	return all[kind];
}

/* The shortest time that bucket @i counts. */
static uint64_t bucket_from_ns(unsigned int i)
{
	return i ? 1000ull << (i - 1) : 0;
}

static uint64_t hist_count(const __u64 *buckets)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < VGPU_HIST_BUCKETS; i++)
		count += buckets[i];
	return count;
}

/* The first bucket such that it and those below count at least @percent of all times. */
static unsigned int hist_percentile(const __u64 *buckets, unsigned int percent)
{
	double wanted = (double)hist_count(buckets) * percent / 100, seen = 0;
	unsigned int i;

	for (i = 0; i < LAST; i++) {
		seen += (double)buckets[i];
		if (seen >= wanted)
			break;
	}
	return i;
}

static void percentile_json(struct json *json, const char *key,
			    const __u64 *buckets, unsigned int percent)
{
	unsigned int i = hist_percentile(buckets, percent);

	if (!hist_count(buckets) || i == LAST)
		json_null(json, key);
	else
		json_u64(json, key, bucket_from_ns(i + 1));
}

static void hist_json(struct json *json, const struct kind *kind,
		      const __u64 *buckets)
{
	unsigned int i;

	json_begin(json, kind->key);
	json_u64(json, "count", hist_count(buckets));
	percentile_json(json, "p50_below_ns", buckets, 50);
	percentile_json(json, "p99_below_ns", buckets, 99);
	json_begin_array(json, "buckets");
	for (i = 0; i < VGPU_HIST_BUCKETS; i++) {
		json_begin(json, NULL);
		json_u64(json, "from_ns", bucket_from_ns(i));
		if (i == LAST)
			json_null(json, "to_ns");
		else
			json_u64(json, "to_ns", bucket_from_ns(i + 1));
		json_u64(json, "count", buckets[i]);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static const char *percentile_text(char *text, size_t room,
				   const __u64 *buckets, unsigned int percent)
{
	unsigned int i = hist_percentile(buckets, percent);
	char time[32];

	table_duration(time, sizeof(time), bucket_from_ns(i == LAST ? i : i + 1));
	snprintf(text, room, "p%u %s %s", percent, i == LAST ? ">=" : "<", time);
	return text;
}

static void bucket_line(const __u64 *buckets, unsigned int i, uint64_t most)
{
	char from[32], to[32];
	unsigned int bar;

	table_duration(from, sizeof(from), bucket_from_ns(i));
	table_duration(to, sizeof(to), bucket_from_ns(i + 1));
	printf("  %9s .. %-9s  %10llu", from, i == LAST ? "" : to, buckets[i]);
	bar = (unsigned int)((double)buckets[i] * BAR / (double)most + 0.5);
	if (buckets[i])
		fputs(bar ? "  " : "  .", stdout);
	while (bar--)
		putchar('#');
	putchar('\n');
}

/*
 * The bucket to be printed next: @i, or the next one that has counted something if this is at least
 * three buckets further; then prints a line in place of those between.
 */
static unsigned int skip_empty(const __u64 *buckets, unsigned int i)
{
	unsigned int next = i;

	while (next < LAST && !buckets[next])
		next++;
	if (next - i < 3)
		return i;
	puts("            ..");
	return next;
}

static void hist_text(const char *engine, int length, const struct kind *kind,
		      const __u64 *buckets)
{
	uint64_t count = hist_count(buckets), most = 0;
	unsigned int i, first = VGPU_HIST_BUCKETS, last = 0;
	bool bold = table_colour(stdout);
	char p50[64], p99[64];

	printf("%s%.*s: %s%s: ", bold ? "\033[1m" : "", length, engine,
	       kind->title, bold ? "\033[0m" : "");
	if (!count) {
		puts("never");
		return;
	}
	printf("%" PRIu64 " times, %s, %s\n", count,
	       percentile_text(p50, sizeof(p50), buckets, 50),
	       percentile_text(p99, sizeof(p99), buckets, 99));
	for (i = 0; i < VGPU_HIST_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		if (first == VGPU_HIST_BUCKETS)
			first = i;
		last = i;
		if (buckets[i] > most)
			most = buckets[i];
	}
	for (i = first; i <= last; i++) {
		i = skip_empty(buckets, i);
		bucket_line(buckets, i, most);
	}
}

static int hist_engine(int fd, const struct vgpu_ctl_instance *inst,
		       const struct vgpu_ctl_gpu *gpu, uint32_t engine,
		       struct json *json)
{
	const uint8_t *name = gpu->engine[engine].name;
	const size_t room = sizeof(gpu->engine[engine].name);
	struct vgpu_ctl_hist hist;
	size_t i;
	int ret;

	ret = ctl_hist(fd, inst->uuid, engine, &hist);
	if (ret)
		return ret;
	if (json) {
		json_begin(json, NULL);
		json_bytes(json, "name", name, room);
	}
	for (i = 0; i < NR_KINDS; i++) {
		if (json)
			hist_json(json, &kinds[i], kind_buckets(&hist, i));
		else
			hist_text((const char *)name, (int)room, &kinds[i],
				  kind_buckets(&hist, i));
	}
	if (json)
		json_end(json);
	return 0;
}

static int hist_all(int fd, const struct options *options,
		    const struct vgpu_ctl_instance *inst,
		    const struct vgpu_ctl_gpu *gpu)
{
	char uuid[UUID_STR_LEN];
	bool first = true;
	struct json json;
	int ret = 0;
	uint32_t i;

	if (options->json) {
		json_init(&json, stdout, false);
		json_begin(&json, NULL);
		json_text(&json, "uuid", uuid_format(inst->uuid, uuid));
		json_u64(&json, "gpu", inst->gpu);
		json_begin_array(&json, "engines");
	}
	for (i = 0; i < ctl_engines(inst->engines) && !ret; i++) {
		if (options->engine && !ctl_engine_is(gpu, i, options->engine))
			continue;
		if (!first && !options->json)
			putchar('\n');
		first = false;
		ret = hist_engine(fd, inst, gpu, i,
				  options->json ? &json : NULL);
	}
	if (options->json) {
		json_end(&json);
		json_end(&json);
	}
	return ret;
}

enum exit_code cmd_hist(const struct options *options)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	int fd, ret = 0;

	code = ctl_open_vgpu(options->uuid, &fd, &inst, &gpu);
	if (code)
		return code;
	if (options->engine && !ctl_has_engine(&gpu, options->engine))
		code = ctl_fail_engine(&gpu, options->engine);
	else
		ret = hist_all(fd, options, &inst, &gpu);
	close(fd);
	return ret ? ctl_fail_vgpu(inst.uuid, ret) : code;
}
