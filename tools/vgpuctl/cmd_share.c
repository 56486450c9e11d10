// SPDX-License-Identifier: GPL-2.0
/* The commands share show and share set. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "share.h"
#include "uuid.h"

/**
 * struct shares - where vGPUs are shown
 * @fd:    file of /dev/vgpu
 * @json:  the JSON document, or NULL
 * @table: the table if @json is NULL
 * @gpu:   GPU of the vGPUs that are shown now
 */
struct shares {
	int fd;
	struct json *json;
	struct table *table;
	const struct vgpu_ctl_gpu *gpu;
};

/* Those of the settings follow. */
const char shares_columns[] = "UUID|GPU|TYPE|STATE";

static int shares_inst(const struct vgpu_ctl_instance *inst, void *arg)
{
	const struct shares *shares = arg;
	char uuid[UUID_STR_LEN];

	uuid_format(inst->uuid, uuid);
	if (shares->json) {
		json_begin(shares->json, NULL);
		json_text(shares->json, "uuid", uuid);
		json_u64(shares->json, "gpu", inst->gpu);
		json_bytes(shares->json, "address", shares->gpu->address,
			   sizeof(shares->gpu->address));
		json_bytes(shares->json, "type", inst->type_name,
			   sizeof(inst->type_name));
		json_text(shares->json, "state", ctl_state_name(inst->state));
		setting_json(&share_settings, shares->json, inst);
		json_end(shares->json);
		return 0;
	}
	table_add(shares->table, "%s", uuid);
	table_add(shares->table, "%.*s", TEXT(shares->gpu->address));
	table_add(shares->table, "%.*s", TEXT(inst->type_name));
	table_add(shares->table, "%s", ctl_state_name(inst->state));
	setting_cells(&share_settings, shares->table, inst);
	return 0;
}

static int shares_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct shares *shares = arg;

	shares->gpu = gpu;
	return ctl_visit_instances(fd, gpu->gpu, shares, shares_inst);
}

static enum exit_code shares_one(struct shares *shares, const uint8_t *id)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	int ret;

	ret = ctl_instance(shares->fd, id, &inst);
	if (!ret)
		ret = ctl_gpu(shares->fd, inst.gpu, &gpu);
	if (ret)
		return ctl_fail_vgpu(id, ret);
	shares->gpu = &gpu;
	shares_inst(&inst, shares);
	return EXIT_OK;
}

/* Shows the @nr vGPUs of @set, or all vGPUs if @set is NULL. */
static enum exit_code shares_show(int fd, const struct options *options,
				  const struct vgpu_ctl_share *set, uint32_t nr)
{
	struct shares shares = { .fd = fd };
	enum exit_code code = EXIT_OK;
	char headings[512];
	struct table table;
	struct json json;
	uint32_t i;

	if (options->json) {
		json_init(&json, stdout, false);
		json_begin_array(&json, NULL);
		shares.json = &json;
	} else {
		strcpy(headings, shares_columns);
		setting_headings(&share_settings, headings, sizeof(headings));
		table_init(&table, headings);
		shares.table = &table;
	}
	if (!set)
		code = ctl_visit_gpus(fd, NULL, &shares, shares_gpu);
	for (i = 0; i < nr && !code; i++)
		code = shares_one(&shares, set[i].uuid);
	if (options->json)
		json_end(&json);
	else
		table_print(&table, stdout, &options->form);
	return code;
}

enum exit_code cmd_share_show(const struct options *options)
{
	struct vgpu_ctl_share one;
	enum exit_code code;
	int fd;

	if (options->uuid && uuid_parse(options->uuid, one.uuid))
		return fail_usage("%s: not a UUID", options->uuid);
	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	code = shares_show(fd, options, options->uuid ? &one : NULL,
			   options->uuid ? 1 : 0);
	close(fd);
	return code;
}

enum exit_code cmd_share_set(const struct options *options)
{
	char reason[VGPU_TEXT_LEN + 1];
	uint8_t text[VGPU_TEXT_LEN];
	enum exit_code code;
	int fd, ret;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	ret = ctl_shares_set(fd, options->shares, options->nr_shares, text);
	if (ret)
		/* The driver's reason names the vGPU. */
		code = fail("cannot set shares: %s",
			    message_refusal(text, ret, reason, sizeof(reason)));
	else
		code = shares_show(fd, options, options->shares,
				   options->nr_shares);
	close(fd);
	return code;
}
