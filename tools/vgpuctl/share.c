// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "share.h"

/* "60", "off" or "default". */
void share_frl_text(char *text, size_t room, uint32_t fps)
{
	if (fps == VGPU_FRL_DEFAULT)
		snprintf(text, room, "default");
	else if (fps)
		snprintf(text, room, "%u", fps);
	else
		snprintf(text, room, "off");
}

/* Keys in an object that is open. */
void share_json(struct json *json, const struct vgpu_ctl_instance *inst)
{
	json_u64(json, "guarantee_permille", inst->guarantee);
	json_u64(json, "cap_permille", inst->cap);
	json_u64(json, "weight", inst->weight);
	if (inst->frl_config == VGPU_FRL_DEFAULT)
		json_null(json, "frl_config_fps");
	else
		json_u64(json, "frl_config_fps", inst->frl_config);
	json_u64(json, "frl_fps", inst->frl_fps);
}

static void permille_cell(struct table *table, uint32_t permille)
{
	table_add(table, "%u.%u", permille / 10, permille % 10);
}

/* Cells below SHARE_HEADINGS. */
void share_cells(struct table *table, const struct vgpu_ctl_instance *inst)
{
	char text[16];

	permille_cell(table, inst->guarantee);
	permille_cell(table, inst->cap);
	table_add(table, "%u", inst->weight);
	share_frl_text(text, sizeof(text), inst->frl_config);
	table_add(table, "%s", text);
	share_frl_text(text, sizeof(text), inst->frl_fps);
	table_add(table, "%s", text);
}

/* In hundredths of a per cent. */
uint64_t share_centi(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (uint64_t)((double)part_ns * 10000 /
				     (double)whole_ns + 0.5) : 0;
}

void share_cell(struct table *table, uint64_t centi)
{
	table_add(table, "%" PRIu64 ".%02" PRIu64, centi / 100, centi % 100);
}

/* The kernel's own words where it has any. @room: for the text. */
const char *share_refusal(const uint8_t *text, int ret, char *room,
			  size_t bytes)
{
	if (text[0])
		snprintf(room, bytes, "%.*s", VGPU_TEXT_LEN, (const char *)text);
	else if (ret == -EPERM || ret == -EACCES)
		snprintf(room, bytes, "permission denied; needs CAP_SYS_ADMIN");
	else
		snprintf(room, bytes, "%s", strerror(-ret));
	return room;
}
