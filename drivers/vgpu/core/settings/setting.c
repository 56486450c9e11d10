// SPDX-License-Identifier: GPL-2.0
/* Functions for settings and the rows of a table. Pure logic, compiled in user space too. */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "../../sched/sched.h"
#include "setting.h"

/**
 * vgpu_settings_auto() - choose what module parameters leave to the driver
 * @settings: of a new partition; its slice and its window are set if they are 0
 * @most:     how many vGPUs of the smallest type fit
 */
void vgpu_settings_auto(struct vgpu_ctl_sched *settings, unsigned int most)
{
	if (!settings->slice_ns)
		settings->slice_ns = most > 8 ? 1000000 : 2000000;
	if (!settings->window_ns)
		settings->window_ns = max(VGPU_WINDOW_NS, VGPU_WINDOW_SLICES * settings->slice_ns);
}

/**
 * vgpu_setting_set_number() - write a setting that is a number
 * @setting:  row of the setting
 * @settings: the structure with the field
 * @number:   in the field's unit; need not be within the setting's limits
 *
 * Return: false if the field is too small for @number; then nothing is written.
 */
bool vgpu_setting_set_number(const struct vgpu_setting *setting, void *settings, u64 number)
{
	void *field = settings + setting->offset;

	if (setting->type == VGPU_SETTING_U64)
		*(u64 *)field = number;
	else if (number <= U32_MAX)
		*(u32 *)field = number;
	else
		return false;
	return true;
}

/**
 * vgpu_settings_check_form() - check that a call names existing settings
 * @table: the settings that the call may name
 * @valid: bits of the settings that the call names
 * @pad:   the reserved field of the call's structure
 * @why:   set to the reason of a refusal, for the user
 * @size:  bytes of @why
 *
 * Return: 0 or -EINVAL.
 */
int vgpu_settings_check_form(const struct vgpu_setting *table, u32 valid, u32 pad, char *why,
			     size_t size)
{
	u32 all = 0;

	for (; table->name; table++)
		all |= table->valid;
	if (valid && !(valid & ~all) && !pad)
		return 0;
	snprintf(why, size,
		 "valid is %#x: must be some of the bits %#x, and reserved fields must be 0",
		 valid, all);
	return -EINVAL;
}

/**
 * vgpu_settings_copy() - copy some settings
 * @table: all settings that the structures have fields for
 * @valid: bits of the settings to copy
 * @to:    destination; its other fields do not change
 * @from:  source, a structure of the same type
 */
void vgpu_settings_copy(const struct vgpu_setting *table, u32 valid, void *to, const void *from)
{
	for (; table->name; table++) {
		size_t size = vgpu_setting_size(table);

		if (!(valid & table->valid))
			continue;
		/* Do not copy the bytes after the end of a text, which the caller has not set. */
		memset(to + table->offset, 0, size);
		if (table->type == VGPU_SETTING_TEXT)
			size = strnlen(from + table->offset, size);
		memcpy(to + table->offset, from + table->offset, size);
	}
}

static int check_text(const struct vgpu_setting *s, const u8 *text, char *why, size_t size)
{
	unsigned int i;

	for (i = 0; i < VGPU_ADDR_LEN && text[i] >= ' ' && text[i] != 0x7f; i++)
		;
	if (i < VGPU_ADDR_LEN && !text[i])
		return 0;
	snprintf(why, size, "%s: must have at most %u bytes, and no control characters", s->name,
		 VGPU_ADDR_LEN - 1);
	return -EINVAL;
}

static int check_number(const struct vgpu_setting *s, u64 number, char *why, size_t size)
{
	if (!s->what || (number >= s->min && number <= s->max) ||
	    (s->other_name && number == s->other))
		return 0;
	snprintf(why, size, "%s %llu%s: must be %llu%s..%llu", s->what, number, s->unit ?: "",
		 s->min, s->zero ?: "", s->max);
	return -ERANGE;
}

/**
 * vgpu_settings_check() - check the values of settings
 * @table:    all settings of the structure
 * @valid:    bits of the settings to check
 * @settings: the structure
 * @why:      set to the reason of a refusal, for the user
 * @size:     bytes of @why
 *
 * Return: 0; -ERANGE for a number outside its limits, -EINVAL for a bad text, or the error of a
 * row's check.
 */
int vgpu_settings_check(const struct vgpu_setting *table, u32 valid, const void *settings,
			char *why, size_t size)
{
	const struct vgpu_setting *s;
	int ret;

	for (s = table; s->name; s++) {
		if (!(valid & s->valid))
			continue;
		ret = s->type == VGPU_SETTING_TEXT ?
		      check_text(s, settings + s->offset, why, size) :
		      check_number(s, vgpu_setting_number(s, settings), why, size);
		if (!ret && s->check)
			ret = s->check(settings, why, size);
		if (ret)
			return ret;
	}
	return 0;
}
