// SPDX-License-Identifier: GPL-2.0
/* The command caps. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libvgpu_names.h>

#include "listing.h"
#include "sched.h"
#include "share.h"
#include "sysfs.h"

#define POLICIES_ROOM	192

/* The most vGPUs that a GPU can have, which are those of its smallest type. */
static int most_vgpus(int fd, const struct vgpu_ctl_gpu *gpu, uint32_t *most)
{
	struct vgpu_ctl_type type;
	uint32_t i;
	int ret;

	*most = 0;
	for (i = 0; i < gpu->types; i++) {
		ret = ctl_type(fd, gpu->gpu, i, &type);
		if (ret)
			return ret;
		if (type.max_instances > *most)
			*most = type.max_instances;
	}
	return 0;
}

static void gpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu, uint32_t most)
{
	uint32_t i;

	json_begin(json, NULL);
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_bytes(json, "board", gpu->board, sizeof(gpu->board));
	json_bytes(json, "driver", gpu->driver, sizeof(gpu->driver));
	json_text(json, "placement", ctl_placement_name(gpu->placement));
	json_u64(json, "types", gpu->types);
	json_u64(json, "max_instances", most);
	json_u64(json, "channels", gpu->channels);
	json_u64(json, "fb_bytes", gpu->fb_bytes);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		json_begin(json, NULL);
		json_bytes(json, "name", gpu->engine[i].name, sizeof(gpu->engine[i].name));
		json_text(json, "class", vgpu_engine_class_name(gpu->engine[i].engine_class));
		json_u64(json, "units", gpu->engine[i].units);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

const char caps_columns[] =
	">GPU|ADDRESS|BOARD|BACK END|PLACEMENT|>TYPES|>MAX VGPUS|>CHANNELS|>FB|ENGINES";

static void gpu_row(struct table *table, const struct vgpu_ctl_gpu *gpu, uint32_t most)
{
	char engines[CTL_ENGINE_NAMES];

	table_add(table, "%u", gpu->gpu);
	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%.*s", TEXT(gpu->board));
	table_add(table, "%.*s", TEXT(gpu->driver));
	table_add(table, "%s", ctl_placement_name(gpu->placement));
	table_add(table, "%u", gpu->types);
	table_add(table, "%u", most);
	table_add(table, "%u", gpu->channels);
	table_add_bytes(table, gpu->fb_bytes);
	table_add(table, "%s", ctl_engine_names(gpu, engines));
}

static int caps_gpu(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	uint32_t most;
	int ret;

	ret = most_vgpus(fd, gpu, &most);
	if (ret)
		return ret;
	if (listing->json)
		gpu_json(listing->json, gpu, most);
	else
		gpu_row(listing->table, gpu, most);
	return 0;
}

static void limits_json(struct json *json, const char *key, const struct setting_table *table)
{
	const struct setting *setting;

	json_begin(json, key);
	for (setting = table->setting; setting < table->setting + table->nr; setting++) {
		if (!setting->name || !setting->max)
			continue;
		json_begin(json, setting->key);
		json_u64(json, "min", setting->min);
		json_u64(json, "max", setting->max);
		json_end(json);
	}
	json_end(json);
}

static void driver_json(struct json *json, const struct vgpu_ctl_version *version)
{
	char policies[POLICIES_ROOM], *rest = policies, *name;

	json_begin(json, NULL);
	json_text(json, "tool_version", VGPUCTL_VERSION);
	json_u64(json, "tool_abi_major", VGPU_ABI_MAJOR);
	json_u64(json, "tool_abi_minor", VGPU_ABI_MINOR);
	json_bytes(json, "driver_version", version->driver_version,
		   sizeof(version->driver_version));
	json_u64(json, "abi_major", version->abi_major);
	json_u64(json, "abi_minor", version->abi_minor);
	sysfs_policies(policies, sizeof(policies));
	json_begin_array(json, "policies");
	while ((name = strsep(&rest, " ")))
		if (*name)
			json_text(json, NULL, name);
	json_end(json);
	limits_json(json, "gpu_limits", &sched_settings);
	limits_json(json, "vgpu_limits", &share_settings);
}

static void limits_text(const struct setting_table *table)
{
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (setting->name && setting->help && setting->max)
			printf("  %-20s  %s\n", setting->name, setting->help);
}

static void driver_text(const struct vgpu_ctl_version *version)
{
	char policies[POLICIES_ROOM];

	sysfs_policies(policies, sizeof(policies));
	printf("%-10s%.*s, ABI %u.%u\n", "Driver", TEXT(version->driver_version),
	       version->abi_major, version->abi_minor);
	printf("%-10s%s, ABI %u.%u\n", "Tool", VGPUCTL_VERSION, VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
	printf("%-10s%s\n", "Policies", policies);
	puts("\nOf a GPU can be set:");
	limits_text(&sched_settings);
	puts("\nOf a vGPU can be set:");
	limits_text(&share_settings);
	putchar('\n');
}

static enum exit_code caps_print(int fd, const struct options *options,
				 const struct vgpu_ctl_version *version)
{
	struct listing listing = { .options = options };
	enum exit_code code;
	struct table table;
	struct json json;

	if (options->json) {
		json_init(&json, stdout, false);
		driver_json(&json, version);
		json_begin_array(&json, "gpus");
		listing.json = &json;
	} else {
		if (!options->form.columns && !options->form.bare)
			driver_text(version);
		table_init(&table, options->command->columns);
		listing.table = &table;
	}
	code = listing_visit(fd, &listing, caps_gpu);
	if (options->json) {
		json_end(&json);
		json_end(&json);
	} else {
		table_print(&table, stdout, &options->form);
	}
	return code;
}

enum exit_code cmd_caps(const struct options *options)
{
	struct vgpu_ctl_version version;
	enum exit_code code;
	int fd, ret;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	ret = ctl_version(fd, &version);
	code = ret ? fail("/dev/vgpu: version: %s", strerror(-ret)) :
		caps_print(fd, options, &version);
	close(fd);
	return code;
}
