// SPDX-License-Identifier: GPL-2.0
/* The commands create, remove and release. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "json.h"
#include "sysfs.h"
#include "uuid.h"

/**
 * struct candidate - a GPU that has the type of the vGPU to be created
 * @gpu:     the GPU
 * @type:    the type as this GPU has it
 * @free_fb: bytes of framebuffer that no vGPU owns
 * @reason:  why the driver has refused to create the vGPU on this GPU
 */
struct candidate {
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_type type;
	uint64_t free_fb;
	char reason[VGPU_TEXT_LEN];
};

/* GPUs with room for the type come first, and of these the one with most framebuffer left. */
static int candidate_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (!x->type.available != !y->type.available)
		return x->type.available ? -1 : 1;
	if (x->free_fb != y->free_fb)
		return x->free_fb > y->free_fb ? -1 : 1;
	return x->gpu.gpu < y->gpu.gpu ? -1 : 1;
}

static int find_candidates(int fd, const char *text, uint32_t only,
			   struct candidate **found, uint32_t *nr)
{
	uint32_t *ids, count, i;
	int ret;

	*nr = 0;
	*found = NULL;
	ret = ctl_gpus(fd, &ids, &count);
	if (ret)
		return ret;
	*found = calloc(count ? count : 1, sizeof(**found));
	for (i = 0; *found && i < count; i++) {
		struct candidate *c = &(*found)[*nr];

		if (only != ALL_GPUS && ids[i] != only)
			continue;
		if (ctl_gpu(fd, ids[i], &c->gpu) ||
		    ctl_find_type(fd, &c->gpu, text, &c->type))
			continue;
		c->gpu.address[sizeof(c->gpu.address) - 1] = 0;
		c->type.id[sizeof(c->type.id) - 1] = 0;
		c->free_fb = c->gpu.fb_bytes - c->gpu.fb_used_bytes;
		(*nr)++;
	}
	free(ids);
	if (!*found)
		return -ENOMEM;
	qsort(*found, *nr, sizeof(**found), candidate_order);
	return 0;
}

/*
 * Prints the names of types: with @room those that fit on the GPU @only, and how many; else all
 * that the GPU @only, or the first GPU if @only is ALL_GPUS, has.
 */
static void print_types(int fd, const char *intro, uint32_t only, bool room)
{
	struct vgpu_ctl_type type;
	uint32_t *ids, count, i, k;
	struct vgpu_ctl_gpu gpu;
	bool any = false;

	if (ctl_gpus(fd, &ids, &count))
		return;
	for (i = 0; i < count; i++) {
		if ((only != ALL_GPUS && ids[i] != only) ||
		    ctl_gpu(fd, ids[i], &gpu))
			continue;
		for (k = 0; k < gpu.types; k++) {
			if (ctl_type(fd, ids[i], k, &type) ||
			    (room && !type.available))
				continue;
			if (!any)
				fprintf(stderr, "vgpuctl: %s:", intro);
			if (room)
				fprintf(stderr, " %.*s (%u)", TEXT(type.name),
					type.available);
			else
				fprintf(stderr, " %.*s", TEXT(type.name));
			any = true;
		}
		if (any && !room)
			break; /* types of other GPUs have the same names */
	}
	if (any)
		putc('\n', stderr);
	else if (room)
		fputs("vgpuctl: no type has room on this GPU\n", stderr);
	free(ids);
}

/* Keeps the driver's reason for a refusal. */
static void keep_reason(int fd, struct candidate *c, const uint8_t *uuid,
			int error)
{
	struct vgpu_ctl_refusal refusal;
	const char *reason = strerror(-error);

	/* A reason with another errno is from an earlier attempt. */
	if (!ctl_refusal_of(fd, uuid, c->gpu.gpu, &refusal) && refusal.error == -error &&
	    refusal.text[0]) {
		refusal.text[sizeof(refusal.text) - 1] = 0;
		reason = (const char *)refusal.text;
	}
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

static void refused(int fd, const struct candidate *c)
{
	fail("GPU %s: cannot create a %.*s: %s", (const char *)c->gpu.address,
	     TEXT(c->type.name), c->reason);
	print_types(fd, "what fits there", c->gpu.gpu, true);
}

static void created(const struct options *options, const struct candidate *c,
		    const char *text)
{
	struct json json;

	if (!options->json) {
		puts(text);
		return;
	}
	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_text(&json, "uuid", text);
	json_u64(&json, "gpu", c->gpu.gpu);
	json_bytes(&json, "address", c->gpu.address, sizeof(c->gpu.address));
	json_bytes(&json, "type", c->type.name, sizeof(c->type.name));
	json_bytes(&json, "id", c->type.id, sizeof(c->type.id));
	json_u64(&json, "fb_bytes", c->type.fb_bytes);
	json_end(&json);
}

static enum exit_code create_on_any(int fd, const struct options *options,
				    struct candidate *found, uint32_t nr,
				    const uint8_t *uuid)
{
	char text[UUID_STR_LEN];
	uint32_t i;
	int ret;

	uuid_format(uuid, text);
	for (i = 0; i < nr; i++) {
		ret = sysfs_create((const char *)found[i].gpu.address,
				   (const char *)found[i].type.id, text);
		if (!ret) {
			created(options, &found[i], text);
			return EXIT_OK;
		}
		if (ret == -EEXIST)
			return fail("vGPU %s: exists already", text);
		if (ret == -EACCES || ret == -EPERM)
			return fail("vGPU %s: permission denied; creating needs root",
				    text);
		keep_reason(fd, &found[i], uuid, ret);
	}
	for (i = 0; i < nr; i++)
		refused(fd, &found[i]);
	return EXIT_FAILED;
}

static enum exit_code create(int fd, const struct options *options,
			     const uint8_t *uuid)
{
	struct candidate *found;
	uint32_t nr, only = ALL_GPUS;
	enum exit_code code;
	int ret;

	if (options->gpu && ctl_find_gpu(fd, options->gpu, &only))
		return fail("GPU %s: there is none (vgpuctl gpus lists them)",
			    options->gpu);
	ret = find_candidates(fd, options->type, only, &found, &nr);
	if (ret)
		return fail("GPUs: %s", strerror(-ret));
	if (nr) {
		code = create_on_any(fd, options, found, nr, uuid);
	} else {
		code = fail("type %s: no GPU%s%s has it", options->type,
			    options->gpu ? " " : "",
			    options->gpu ? options->gpu : "");
		print_types(fd, "types there are", only, false);
	}
	free(found);
	return code;
}

enum exit_code cmd_create(const struct options *options)
{
	uint8_t uuid[VGPU_UUID_LEN];
	enum exit_code code;
	int fd;

	if (!options->type)
		return fail_usage("create: --type is needed (vgpuctl types lists them)");
	if (options->uuid && uuid_parse(options->uuid, uuid))
		return fail_usage("%s: not a UUID", options->uuid);
	if (!options->uuid)
		uuid_generate_random(uuid);
	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	code = create(fd, options, uuid);
	close(fd);
	return code;
}

static void done(const struct options *options, const char *uuid,
		 const char *key)
{
	struct json json;

	if (!options->json)
		return;
	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_text(&json, "uuid", uuid);
	json_flag(&json, key, true);
	json_end(&json);
}

enum exit_code cmd_remove(const struct options *options)
{
	struct vgpu_ctl_instance inst;
	char text[UUID_STR_LEN], owner[CTL_OWNER_LEN];
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	int fd, ret;

	code = ctl_open_vgpu(options->uuid, &fd, &inst, &gpu);
	if (code)
		return code;
	close(fd);
	uuid_format(inst.uuid, text);
	if (!sysfs_can_remove(text))
		return fail("vGPU %s: is being removed already, and goes when nobody has it open",
			    text);
	if (inst.state == VGPU_STATE_STARTED) {
		fail("vGPU %s: in use by %s; waiting until it lets go", text,
		     ctl_owner_text(&inst, owner));
		fflush(stderr);
	}
	ret = sysfs_remove(text);
	if (ret == -EACCES || ret == -EPERM)
		return fail("vGPU %s: permission denied; removing needs root",
			    text);
	if (ret)
		return fail("vGPU %s: cannot remove it: %s", text,
			    strerror(-ret));
	done(options, text, "removed");
	return EXIT_OK;
}

enum exit_code cmd_release(const struct options *options)
{
	struct vgpu_ctl_instance inst;
	char text[UUID_STR_LEN];
	struct vgpu_ctl_gpu gpu;
	enum exit_code code;
	int fd, ret;

	code = ctl_open_vgpu(options->uuid, &fd, &inst, &gpu);
	if (code)
		return code;
	uuid_format(inst.uuid, text);
	ret = ctl_release(fd, inst.uuid);
	close(fd);
	if (ret == -EINVAL)
		return fail("vGPU %s: is not in quarantine", text);
	if (ret == -EPERM)
		return fail("vGPU %s: permission denied; needs CAP_SYS_ADMIN",
			    text);
	if (ret)
		return fail("vGPU %s: %s", text, strerror(-ret));
	done(options, text, "released");
	return EXIT_OK;
}
