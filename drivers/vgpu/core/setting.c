// SPDX-License-Identifier: GPL-2.0
/*
 * What the rows of a table of settings have in common: access to the fields and checks.
 * Pure logic, compiled in user space too.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "setting.h"

/**
 * vgpu_setting_number() - read a setting that is a number
 * @setting:  its row
 * @settings: the structure with the field
 *
 * Context: any.
 * Return: the number in the field's unit.
 */
u64 vgpu_setting_number(const struct vgpu_setting *setting, const void *settings)
{
	const void *field = settings + setting->offset;

	return setting->size == sizeof(u64) ? *(const u64 *)field : *(const u32 *)field;
}

/**
 * vgpu_setting_set_number() - write a setting that is a number
 * @setting:  its row
 * @settings: the structure with the field
 * @number:   in the field's unit; need not be one that the setting can have
 *
 * Context: any.
 * Return: false, and nothing is written, if the field is too small for @number.
 */
bool vgpu_setting_set_number(const struct vgpu_setting *setting, void *settings, u64 number)
{
	void *field = settings + setting->offset;

	if (setting->size == sizeof(u64))
		*(u64 *)field = number;
	else if (number <= U32_MAX)
		*(u32 *)field = number;
	else
		return false;
	return true;
}

/**
 * vgpu_settings_check_form() - whether a call names settings that there are
 * @table: all settings that the call is about
 * @valid: bits of the settings that the call names
 * @pad:   of the call's structure
 * @why:   gets the reason of a refusal, for the user
 * @size:  of @why in bytes
 *
 * Context: any.
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
		 "valid is %#x: must name what to set, of %#x, and what is reserved must be 0",
		 valid, all);
	return -EINVAL;
}

/**
 * vgpu_settings_copy() - copy some settings
 * @table: all settings that the structures have fields for
 * @valid: bits of the settings to be copied
 * @to:    the other fields are left alone
 * @from:  a structure of the same type
 *
 * Context: any.
 */
void vgpu_settings_copy(const struct vgpu_setting *table, u32 valid, void *to, const void *from)
{
	for (; table->name; table++)
		if (valid & table->valid)
			memcpy(to + table->offset, from + table->offset, table->size);
}

static int check_text(const struct vgpu_setting *setting, const u8 *text, char *why, size_t size)
{
	unsigned int i;

	for (i = 0; i < setting->size && text[i]; i++) {
		if (text[i] < ' ' || text[i] == 0x7f) {
			snprintf(why, size, "%s: must not have control characters", setting->name);
			return -EINVAL;
		}
	}
	if (i < setting->size)
		return 0;
	snprintf(why, size, "%s: must have at most %u bytes", setting->name, setting->size - 1);
	return -EINVAL;
}

static int check_number(const struct vgpu_setting *setting, u64 number, char *why, size_t size)
{
	if (!setting->what || (number >= setting->min && number <= setting->max) ||
	    (setting->other_name && number == setting->other))
		return 0;
	snprintf(why, size, "%s %llu%s: must be %llu%s..%llu", setting->what, number,
		 setting->unit ?: "", setting->min, setting->zero ?: "", setting->max);
	return -ERANGE;
}

/**
 * vgpu_settings_check() - whether settings can be as they are
 * @table:    all settings of the structure
 * @valid:    bits of the settings to be checked
 * @settings: the structure
 * @why:      gets the reason of a refusal, for the user
 * @size:     of @why in bytes
 *
 * Context: any.
 * Return: 0; -ERANGE for a number beyond its limits, -EINVAL for a bad text, or what the check of
 * a row returned.
 */
int vgpu_settings_check(const struct vgpu_setting *table, u32 valid, const void *settings,
			char *why, size_t size)
{
	int ret;

	for (; table->name; table++) {
		if (!(valid & table->valid))
			continue;
		if (table->text)
			ret = check_text(table, settings + table->offset, why, size);
		else
			ret = check_number(table, vgpu_setting_number(table, settings), why, size);
		if (!ret && table->check)
			ret = table->check(settings, why, size);
		if (ret)
			return ret;
	}
	return 0;
}
