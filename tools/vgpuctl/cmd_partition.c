// SPDX-License-Identifier: GPL-2.0
/* The commands partition list, profiles, show, create, remove and mode. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "listing.h"
#include "uuid.h"
#include "value.h"

#define EIGHTHS_ROOM	(2 * VGPU_PARTITION_EIGHTHS + 1)

/* Keys in an object that is open. */
static void partition_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			   const struct vgpu_ctl_partition *part)
{
	const struct vgpu_ctl_stats_engine *engine;
	uint32_t i;

	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_u64(json, "partition", part->partition);
	json_bytes(json, "profile", part->profile, sizeof(part->profile));
	json_u64(json, "slices", part->slices);
	json_u64(json, "eighths", part->eighths);
	json_u64(json, "start_eighth", part->start);
	json_u64(json, "placement_gib", part->fb_start >> 30);
	json_u64(json, "fb_bytes", part->fb_bytes);
	json_u64(json, "fb_used_bytes", part->fb_used_bytes);
	json_u64(json, "instances", part->instances);
	json_bytes(json, "policy", part->policy, sizeof(part->policy));
	json_u64(json, "slice_ns", part->slice_ns);
	json_u64(json, "guarantee_sum_permille", part->guarantee_sum);
	json_flag(json, "shared_in_time", part->shared_time);
	json_u64(json, "created_ns", part->created_ns);
	json_u64(json, "now_ns", part->now_ns);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(part->engines); i++) {
		engine = &part->engine[i];
		json_begin(json, NULL);
		json_bytes(json, "name", gpu->engine[i].name, sizeof(gpu->engine[i].name));
		json_u64(json, "units", engine->units);
		json_u64(json, "busy_ns", engine->busy_ns);
		json_u64(json, "gone_ns", engine->gone_ns);
		json_u64(json, "linger_ns", engine->linger_ns);
		json_u64(json, "wall_ns", engine->wall_ns);
		json_u64(json, "runs", engine->runs);
		json_u64(json, "switches", engine->switches);
		json_u64(json, "resets", engine->resets);
		json_end(json);
	}
	json_end(json);
}

/**
 * struct rows - where partitions are listed
 * @listing: rows are written there
 * @gpu:     GPU of the partitions
 */
struct rows {
	struct listing *listing;
	const struct vgpu_ctl_gpu *gpu;
};

static const char *cpus_text(const struct vgpu_ctl_partition *part)
{
	return part->shared_time ? "shared in time" : "not shared";
}

const char partitions_columns[] =
	"GPU|>NUMBER|PROFILE|>START|>START GiB|>FB|>USED|>VGPUS|POLICY|>SLICE|>GUARANTEED %|CPUS";

static void partition_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
			  const struct vgpu_ctl_partition *part)
{
	char slice[32];

	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%u", part->partition);
	table_add(table, "%.*s", TEXT(part->profile));
	table_add(table, "%u", part->start);
	table_add(table, "%llu", part->fb_start >> 30);
	table_add_bytes(table, part->fb_bytes);
	table_add_bytes(table, part->fb_used_bytes);
	table_add(table, "%u", part->instances);
	table_add(table, "%.*s", TEXT(part->policy));
	table_add(table, "%s", table_duration(slice, sizeof(slice), part->slice_ns));
	table_add(table, "%u.%u", part->guarantee_sum / 10, part->guarantee_sum % 10);
	table_add(table, "%s", cpus_text(part));
}

static int list_partition(const struct vgpu_ctl_partition *part, void *arg)
{
	const struct rows *rows = arg;

	if (rows->listing->json) {
		json_begin(rows->listing->json, NULL);
		partition_json(rows->listing->json, rows->gpu, part);
		json_end(rows->listing->json);
	} else {
		partition_row(rows->listing->table, rows->gpu, part);
	}
	return 0;
}

static int list_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	struct rows rows = { listing, gpu };

	return ctl_visit_partitions(fd, gpu->gpu, &rows, list_partition);
}

enum exit_code cmd_partition_list(const struct options *options)
{
	return listing_print(options, list_each);
}

static void eighths_json(struct json *json, const char *key, uint32_t mask)
{
	uint32_t i;

	json_begin_array(json, key);
	for (i = 0; i < VGPU_PARTITION_EIGHTHS; i++)
		if (mask & 1u << i)
			json_u64(json, NULL, i);
	json_end(json);
}

/* Writes eighths, as "0,4", to EIGHTHS_ROOM bytes at @text, and returns it. */
static const char *eighths_text(uint32_t mask, char *text)
{
	size_t length = 0;
	uint32_t i;

	for (i = 0; i < VGPU_PARTITION_EIGHTHS; i++) {
		if (!(mask & 1u << i))
			continue;
		if (length)
			text[length++] = ',';
		text[length++] = (char)('0' + i);
	}
	if (!length)
		text[length++] = '-';
	text[length] = 0;
	return text;
}

static void profile_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			 const struct vgpu_ctl_profile *profile)
{
	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_bytes(json, "profile", profile->name, sizeof(profile->name));
	json_u64(json, "slices", profile->slices);
	json_u64(json, "eighths", profile->eighths);
	json_u64(json, "fb_bytes", profile->fb_bytes);
	eighths_json(json, "starts", profile->starts);
	eighths_json(json, "free_starts", profile->fits);
	json_end(json);
}

const char profiles_columns[] = "GPU|PROFILE|>UNITS|>FB|>FIT|STARTS|FREE";

static void profile_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
			const struct vgpu_ctl_profile *profile)
{
	char text[EIGHTHS_ROOM];

	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%.*s", TEXT(profile->name));
	table_add(table, "%u/%u", profile->slices, VGPU_PARTITION_SLICES);
	table_add_bytes(table, profile->fb_bytes);
	/* Places of one profile never overlap. */
	table_add(table, "%d", __builtin_popcount(profile->fits));
	table_add(table, "%s", eighths_text(profile->starts, text));
	table_add(table, "%s", eighths_text(profile->fits, text));
}

static int profiles_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	struct vgpu_ctl_profile profile;
	uint32_t i;
	int ret;

	for (i = 0;; i++) {
		ret = ctl_profile(fd, gpu->gpu, i, &profile);
		if (ret)
			return ret == -ENOENT ? 0 : ret;
		/* One that the framebuffer is too small for. */
		if (!profile.fb_bytes)
			continue;
		if (listing->json)
			profile_json(listing->json, gpu, &profile);
		else
			profile_row(listing->table, gpu, &profile);
	}
}

enum exit_code cmd_partition_profiles(const struct options *options)
{
	return listing_print(options, profiles_each);
}

/* ---- about one GPU or one partition ---- */

/* Opens /dev/vgpu and reads the GPU that --gpu names, or the only one. The caller closes @fd. */
static enum exit_code open_gpu(const struct options *options, int *fd, struct vgpu_ctl_gpu *gpu)
{
	enum exit_code code;
	uint32_t id;
	int ret;

	*fd = ctl_open();
	if (*fd < 0)
		return EXIT_FAILED;
	code = ctl_choose_gpu(*fd, options->gpu, &id);
	if (!code) {
		ret = ctl_gpu(*fd, id, gpu);
		code = ret ? fail("GPU %u: %s", id, ctl_error(ret)) : EXIT_OK;
	}
	if (code)
		close(*fd);
	return code;
}

/* The argument, which is the number of a partition. */
static enum exit_code argument_partition(const struct options *options, uint32_t *id)
{
	if (value_is_number(options->argument, 1, UINT32_MAX, id))
		return EXIT_OK;
	return fail_usage("partition %s: a number from 1 on is needed (vgpuctl partition list shows them)",
			  options->argument);
}

static enum exit_code fail_partition(uint32_t id, int ret)
{
	if (ret == -ENOENT)
		return fail("partition %u: there is none (vgpuctl partition list shows them)", id);
	return fail("partition %u: %s", id, ctl_error(ret));
}

/* What the driver has refused, and why. */
static enum exit_code fail_refused(const char *what, const uint8_t *text, int ret)
{
	char reason[VGPU_TEXT_LEN + 1];

	if (ret == -ENOTTY)
		return fail("%s: %s", what, ctl_error(ret));
	return fail("%s: %s", what, message_refusal(text, ret, reason, sizeof(reason)));
}

static void show_json(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_partition *part)
{
	struct json json;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	partition_json(&json, gpu, part);
	json_end(&json);
}

static void show_engines(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_partition *part)
{
	const struct vgpu_ctl_stats_engine *engine;
	char busy[32], wall[32];
	struct table table;
	uint32_t i;

	table_init(&table, "ENGINE|>UNITS|>BUSY|>OF|>RUNS|>SWITCHES|>RESETS");
	for (i = 0; i < ctl_engines(part->engines); i++) {
		engine = &part->engine[i];
		table_add(&table, "%.*s", TEXT(gpu->engine[i].name));
		table_add(&table, "%u", engine->units);
		table_add(&table, "%s", table_duration(busy, sizeof(busy), engine->busy_ns));
		table_add(&table, "%s", table_duration(wall, sizeof(wall), engine->wall_ns));
		table_add(&table, "%llu", engine->runs);
		table_add(&table, "%llu", engine->switches);
		table_add(&table, "%llu", engine->resets);
	}
	putchar('\n');
	table_print(&table, stdout, NULL);
}

static void show_text(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_partition *part)
{
	char size[32], used[32], time[32];

	printf("%-14s%u\n", "Partition", part->partition);
	printf("%-14s%u, %.*s, %.*s\n", "GPU", gpu->gpu, TEXT(gpu->address), TEXT(gpu->board));
	printf("%-14s%.*s at %u, %u/%u of the %s\n", "Profile", TEXT(part->profile), part->start,
	       part->slices, VGPU_PARTITION_SLICES, part->shared_time ? "time" : "units");
	printf("%-14s%s from %llu GiB on, %s used\n", "Framebuffer",
	       table_size(size, sizeof(size), part->fb_bytes), part->fb_start >> 30,
	       table_size(used, sizeof(used), part->fb_used_bytes));
	printf("%-14s%s\n", "CPUs", cpus_text(part));
	printf("%-14s%u\n", "vGPUs", part->instances);
	printf("%-14s%.*s, slice %s\n", "Policy", TEXT(part->policy),
	       table_duration(time, sizeof(time), part->slice_ns));
	printf("%-14s%u.%u %% of each engine\n", "Guaranteed", part->guarantee_sum / 10,
	       part->guarantee_sum % 10);
	printf("%-14s%s ago\n", "Created",
	       table_duration(time, sizeof(time), part->now_ns - part->created_ns));
	show_engines(gpu, part);
}

enum exit_code cmd_partition_show(const struct options *options)
{
	struct vgpu_ctl_partition part;
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	uint32_t id;
	int fd, ret;

	code = argument_partition(options, &id);
	if (!code)
		code = open_gpu(options, &fd, &gpu);
	if (code)
		return code;
	ret = ctl_partition(fd, gpu.gpu, id, &part);
	close(fd);
	if (ret)
		return fail_partition(id, ret);
	if (options->json)
		show_json(&gpu, &part);
	else
		show_text(&gpu, &part);
	return EXIT_OK;
}

static enum exit_code create(int fd, const struct vgpu_ctl_gpu *gpu, const struct options *options)
{
	struct vgpu_ctl_profile profile;
	struct vgpu_ctl_partition part;
	uint8_t text[VGPU_TEXT_LEN];
	uint32_t id;
	int ret;

	ret = ctl_find_profile(fd, gpu->gpu, options->argument, &profile);
	if (ret == -ENOENT)
		return fail("profile %s: GPU %u has none of that name (vgpuctl partition profiles lists them)",
			    options->argument, gpu->gpu);
	if (ret)
		return fail("profile %s: %s", options->argument, ctl_error(ret));
	ret = ctl_partition_create(fd, gpu->gpu, profile.index, options->start, &id, text);
	if (ret)
		return fail_refused("cannot create a partition", text, ret);
	if (!options->json) {
		printf("%u\n", id);
		return EXIT_OK;
	}
	ret = ctl_partition(fd, gpu->gpu, id, &part);
	if (ret)
		return fail_partition(id, ret);
	show_json(gpu, &part);
	return EXIT_OK;
}

enum exit_code cmd_partition_create(const struct options *options)
{
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	int fd;

	code = open_gpu(options, &fd, &gpu);
	if (code)
		return code;
	code = create(fd, &gpu, options);
	close(fd);
	return code;
}

/* Prints an object with the GPU and what @key and @value tell. */
static void done(const struct options *options, const struct vgpu_ctl_gpu *gpu,
		 const uint32_t *partition, const char *key, bool value)
{
	struct json json;

	if (!options->json)
		return;
	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_u64(&json, "gpu", gpu->gpu);
	json_bytes(&json, "address", gpu->address, sizeof(gpu->address));
	if (partition)
		json_u64(&json, "partition", *partition);
	json_flag(&json, key, value);
	json_end(&json);
}

enum exit_code cmd_partition_remove(const struct options *options)
{
	uint8_t text[VGPU_TEXT_LEN];
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	uint32_t id;
	int fd, ret;

	code = argument_partition(options, &id);
	if (!code)
		code = open_gpu(options, &fd, &gpu);
	if (code)
		return code;
	ret = ctl_partition_remove(fd, gpu.gpu, id, text);
	close(fd);
	if (ret)
		return fail_refused("cannot remove the partition", text, ret);
	done(options, &gpu, &id, "removed", true);
	return EXIT_OK;
}

enum exit_code cmd_partition_mode(const struct options *options)
{
	uint8_t text[VGPU_TEXT_LEN];
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	uint32_t on;
	int fd, ret;

	if (!value_is_switch(options->argument, &on))
		return fail_usage("mode %s: on or off is possible", options->argument);
	code = open_gpu(options, &fd, &gpu);
	if (code)
		return code;
	ret = ctl_partition_mode(fd, gpu.gpu, on, text);
	close(fd);
	if (ret)
		return fail_refused("cannot set the mode", text, ret);
	done(options, &gpu, NULL, "divided", on);
	return EXIT_OK;
}
