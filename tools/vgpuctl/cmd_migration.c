// SPDX-License-Identifier: GPL-2.0
/* The commands migration show and migration check. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "about.h"
#include "command.h"
#include "ctl.h"
#include "uuid.h"

#define WIDTH	20

/**
 * struct target - the vGPU, or the type of a GPU, that a command is about
 * @of_type: it is a type
 * @uuid:    of the vGPU
 * @type:    the type; the vGPU's has a name only
 * @gpu:     the GPU
 */
struct target {
	bool of_type;
	uint8_t uuid[VGPU_UUID_LEN];
	struct vgpu_ctl_type type;
	struct vgpu_ctl_gpu gpu;
};

/**
 * struct wanted - a type that is searched for
 * @name:   the user's word for it
 * @target: where it goes
 * @found:  it is there
 */
struct wanted {
	const char *name;
	struct target *target;
	bool found;
};

static int find_in(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct wanted *wanted = arg;
	int ret;

	if (wanted->found)
		return 0;
	ret = ctl_find_type(fd, gpu, wanted->name, &wanted->target->type);
	if (ret)
		return ret;
	wanted->target->gpu = *gpu;
	wanted->found = true;
	return 0;
}

/* Opens the node, and finds what the command line names. If anything fails, nothing is open. */
static enum exit_code target_open(const struct options *options, int *fd, struct target *target)
{
	struct wanted wanted = { options->type, target, false };
	struct vgpu_ctl_instance inst;
	enum exit_code code;

	memset(target, 0, sizeof(*target));
	target->of_type = options->type;
	if (!options->type && !options->uuid)
		return fail_usage("%s: a vGPU's UUID or --type is needed", options->command->name);
	if (options->type && options->uuid)
		return fail_usage("%s: a UUID does not go with --type", options->command->name);
	if (options->gpu && !options->type)
		return fail_usage("%s: --gpu goes with --type only", options->command->name);
	if (!target->of_type) {
		code = ctl_open_vgpu(options->uuid, fd, &inst, &target->gpu);
		if (code)
			return code;
		memcpy(target->uuid, inst.uuid, sizeof(target->uuid));
		memcpy(target->type.name, inst.type_name, sizeof(target->type.name));
		return EXIT_OK;
	}
	*fd = ctl_open();
	if (*fd < 0)
		return EXIT_FAILED;
	code = ctl_visit_gpus(*fd, options->gpu, &wanted, find_in);
	if (!code && !wanted.found)
		code = fail("no %s has a type %s (vgpuctl types lists them)",
			    options->gpu ? "such GPU" : "GPU", options->type);
	if (code)
		close(*fd);
	return code;
}

/* How messages call it. */
static const char *target_name(const struct target *target, char *text, size_t room)
{
	char uuid[UUID_STR_LEN];

	if (target->of_type)
		snprintf(text, room, "type %.*s of GPU %u", TEXT(target->type.name),
			 target->gpu.gpu);
	else
		snprintf(text, room, "vGPU %s", uuid_format(target->uuid, uuid));
	return text;
}

static enum exit_code target_fail(const struct target *target, int ret)
{
	char text[128];

	if (!target->of_type)
		return ctl_fail_vgpu(target->uuid, ret);
	return fail("%s: %s", target_name(target, text, sizeof(text)), ctl_error(ret));
}

static void target_json(struct json *json, const struct target *target)
{
	char uuid[UUID_STR_LEN];

	if (target->of_type)
		json_null(json, "uuid");
	else
		json_text(json, "uuid", uuid_format(target->uuid, uuid));
	json_u64(json, "gpu", target->gpu.gpu);
	json_bytes(json, "address", target->gpu.address, sizeof(target->gpu.address));
	json_bytes(json, "type", target->type.name, sizeof(target->type.name));
}

static void show_json(const struct target *target, const struct vgpu_ctl_migration *migration,
		      const struct about *about)
{
	struct json json;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	target_json(&json, target);
	json_flag(&json, "live", migration->can & VGPU_MIGRATION_PRE_COPY);
	json_flag(&json, "save", migration->can & VGPU_MIGRATION_STOP_COPY);
	json_u64(&json, "stream_writes", migration->writes);
	json_u64(&json, "stream_reads_from", migration->reads_from);
	json_u64(&json, "stream_reads_to", migration->reads_to);
	about_json(&json, about);
	json_end(&json);
}

static void show_text(const struct target *target, const struct vgpu_ctl_migration *migration,
		      const struct about *about)
{
	const bool live = migration->can & VGPU_MIGRATION_PRE_COPY;
	const bool save = migration->can & VGPU_MIGRATION_STOP_COPY;
	char uuid[UUID_STR_LEN];

	if (!target->of_type)
		printf("%-*s%s\n", WIDTH, "UUID", uuid_format(target->uuid, uuid));
	printf("%-*s%u, %.*s\n", WIDTH, "GPU", target->gpu.gpu, TEXT(target->gpu.address));
	printf("%-*s%.*s\n", WIDTH, "Type", TEXT(target->type.name));
	printf("%-*s%s\n", WIDTH, "Can move", live ? "while its guest works" :
	       save ? "while its guest stands still" : "no: the GPU's driver has no such call");
	printf("%-*swrites %u, reads %u to %u\n", WIDTH, "Stream versions", migration->writes,
	       migration->reads_from, migration->reads_to);
	about_print(WIDTH, about);
}

/* Reads the whole description, whatever the driver adds to it. */
static int read_about(int fd, const struct target *target, struct vgpu_ctl_migration *migration,
		      struct about *about)
{
	uint32_t room = sizeof(struct vgpu_stream_about);
	int ret;

	for (;;) {
		about->bytes = need_zeroed(room, 1);
		ret = ctl_migration(fd, target->of_type ? NULL : target->uuid, target->gpu.gpu,
				    target->type.index, about->bytes, room, migration);
		about->nr = migration->about_bytes;
		if (!ret && about->nr && about->nr <= room)
			return 0;
		about_free(about);
		if (ret)
			return ret;
		if (!migration->about_bytes || migration->about_bytes > ABOUT_MAX)
			return -EPROTO;
		room = migration->about_bytes;
	}
}

enum exit_code cmd_migration_show(const struct options *options)
{
	struct vgpu_ctl_migration migration;
	struct target target;
	enum exit_code code;
	struct about about;
	int fd, ret;

	code = target_open(options, &fd, &target);
	if (code)
		return code;
	ret = read_about(fd, &target, &migration, &about);
	close(fd);
	if (ret)
		return target_fail(&target, ret);
	if (options->json)
		show_json(&target, &migration, &about);
	else
		show_text(&target, &migration, &about);
	about_free(&about);
	return EXIT_OK;
}

static enum exit_code print_check(const struct options *options, const struct target *target,
				  const struct vgpu_ctl_migration_check *check)
{
	char text[128];
	struct json json;

	if (options->json) {
		json_init(&json, stdout, false);
		json_begin(&json, NULL);
		target_json(&json, target);
		json_flag(&json, "fits", check->fits);
		if (check->fits)
			json_null(&json, "reason");
		else
			json_bytes(&json, "reason", check->text, sizeof(check->text));
		json_end(&json);
		return check->fits ? EXIT_OK : EXIT_FAILED;
	}
	target_name(target, text, sizeof(text));
	if (!check->fits)
		return fail("%s cannot take it over: %.*s", text, TEXT(check->text));
	printf("%s can take it over\n", text);
	return EXIT_OK;
}

enum exit_code cmd_migration_check(const struct options *options)
{
	struct vgpu_ctl_migration_check check;
	struct target target;
	enum exit_code code;
	struct about about;
	int fd, ret;

	if (!options->file)
		return fail_usage("%s: -f FILE is needed (- is standard input)",
				  options->command->name);
	code = target_open(options, &fd, &target);
	if (code)
		return code;
	code = about_read(options->file, &about);
	if (code) {
		close(fd);
		return code;
	}
	ret = ctl_migration_check(fd, target.of_type ? NULL : target.uuid, target.gpu.gpu,
				  target.type.index, about.bytes, (uint32_t)about.nr, &check);
	close(fd);
	about_free(&about);
	return ret ? target_fail(&target, ret) : print_check(options, &target, &check);
}
