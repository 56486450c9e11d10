// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include <linux/vgpu.h>

#include "share.h"

/* The bit and the field that set a setting, and the field that reads it. */
#define SHARE_SET(bit, field) \
	.valid = VGPU_SHARE_ ## bit, .set_at = offsetof(struct vgpu_ctl_share, field)
#define SHARE_READ(field) \
	.read_at = offsetof(struct vgpu_ctl_instance, field)

static const struct setting share_rows[] = {
	{
		.kind = &setting_permille, SHARE_SET(GUARANTEE, guarantee), SHARE_READ(guarantee),
		.max = 1000,
		.name = "guarantee", .argument = "SHARE",
		.help = "of each engine, 0 to 1000 or 0% to 100%",
		.key = "guarantee_permille", .heading = ">GUARANTEE %",
		.title = "Guarantee", .unit = " % of each engine",
	},
	{
		.kind = &setting_permille, SHARE_SET(CAP, cap), SHARE_READ(cap),
		.min = 1, .max = 1000, .name = "cap", .argument = "SHARE",
		.help = "no more than this, 1 to 1000; 1000: no cap",
		.key = "cap_permille", .heading = ">CAP %", .title = "Cap", .unit = " %",
	},
	{
		.kind = &setting_number, SHARE_SET(WEIGHT, weight), SHARE_READ(weight),
		.min = 1, .max = 1000, .name = "weight", .argument = "N",
		.help = "of what is left over, 1 to 1000",
		.key = "weight", .heading = ">WEIGHT", .title = "Weight",
	},
	{
		.kind = &setting_fps, SHARE_SET(FRL, frl), SHARE_READ(frl_config),
		.max = VGPU_FRL_MAX, .name = "frl", .argument = "FPS",
		.help = "frames per second, 1 to 1000, off, or default: its type's",
		.key = "frl_config_fps", .heading = ">FRL SET fps", .title = "Frame rate limit",
	},
	{
		/* The limit that is in force under the GPU's policy. */
		.kind = &setting_fps, SHARE_READ(frl_fps), .key = "frl_fps",
		.heading = ">FRL fps", .lead = ", in force: ", .unit = " fps",
	},
	{
		.kind = &setting_switch, SHARE_SET(VGA, vga), SHARE_READ(vga),
		.name = "vga", .argument = "SWITCH",
		.help = "be a VGA card, from the next start of its VM on: on or off",
		.key = "vga", .heading = "VGA", .title = "VGA card",
	},
};

const struct setting_table share_settings = {
	.setting = share_rows,
	.nr = sizeof(share_rows) / sizeof(share_rows[0]),
	.valid_at = offsetof(struct vgpu_ctl_share, valid),
};

/* @part_ns of @whole_ns in hundredths of a per cent. */
uint64_t share_centi(uint64_t part_ns, uint64_t whole_ns)
{
	return whole_ns ? (uint64_t)((double)part_ns * 10000 / (double)whole_ns + 0.5) : 0;
}

void share_cell(struct table *table, uint64_t centi)
{
	table_add(table, "%" PRIu64 ".%02" PRIu64, centi / 100, centi % 100);
}
