// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "quote.h"

#define QUOTED	200

const struct vgpu_setting *attrs_find(const char *name)
{
	const struct vgpu_setting *setting;

	if (strncmp(name, ATTRS_GROUP, strlen(ATTRS_GROUP)))
		return NULL;
	for (setting = vgpu_share_settings; setting->name; setting++)
		if (!strcmp(name + strlen(ATTRS_GROUP), setting->name))
			return setting;
	return NULL;
}

static void refuse_name(const char *name, char *why)
{
	const struct vgpu_setting *setting;
	char quoted[QUOTED];
	size_t length;

	length = (size_t)snprintf(why, CONFIG_WHY, "%s: a vGPU has no such attribute to be set; it has",
				  quote(name, quoted, sizeof(quoted)));
	for (setting = vgpu_share_settings; setting->name && length < CONFIG_WHY; setting++)
		length += (size_t)snprintf(why + length, CONFIG_WHY - length, "%s %s%s",
					   setting == vgpu_share_settings ? "" : ",", ATTRS_GROUP,
					   setting->name);
}

/* As the kernel's kstrtou64() does, but for a sign and a newline, which it takes, too. */
static bool parse_number(const char *text, u64 *number)
{
	char *end;

	errno = 0;
	*number = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 0) : 0;
	return isdigit((unsigned char)text[0]) && !errno && !*end;
}

static bool parse_value(const struct vgpu_setting *setting, const char *text, void *change)
{
	u64 number;

	if (setting->type == VGPU_SETTING_TEXT) {
		memset(change + setting->offset, 0, VGPU_ADDR_LEN);
		if (strlen(text) >= VGPU_ADDR_LEN)
			return false;
		memcpy(change + setting->offset, text, strlen(text));
		return true;
	}
	if (setting->other_name && !strcmp(text, setting->other_name))
		return vgpu_setting_set_number(setting, change, setting->other);
	return parse_number(text, &number) &&
	       !__builtin_mul_overflow(number, setting->attr_unit ?: 1, &number) &&
	       !(setting->other_name && number == setting->other) &&
	       vgpu_setting_set_number(setting, change, number);
}

/* Adds one attribute to @change. */
static bool add(const struct config_attr *attr, struct vgpu_ctl_share *change, char *why)
{
	const struct vgpu_setting *setting = attrs_find(attr->name);
	char quoted[QUOTED];

	if (!setting) {
		refuse_name(attr->name, why);
		return false;
	}
	change->valid |= setting->valid;
	if (parse_value(setting, attr->value, change))
		return true;
	snprintf(why, CONFIG_WHY, "%s: %s is not what it can be", attr->name,
		 quote(attr->value, quoted, sizeof(quoted)));
	return false;
}

bool attrs_change(const struct config *config, struct vgpu_ctl_share *change, char *why)
{
	size_t i;

	memset(change, 0, sizeof(*change));
	for (i = 0; i < config->nr; i++)
		if (!add(&config->attr[i], change, why))
			return false;
	return true;
}

bool attrs_same(const struct vgpu_setting *setting, const char *text,
		const struct vgpu_ctl_share *change)
{
	struct vgpu_ctl_share now = {};

	return parse_value(setting, text, &now) &&
	       !memcmp((const char *)&now + setting->offset,
		       (const char *)change + setting->offset, vgpu_setting_size(setting));
}

/* Would the attributes do if they were set at once? */
static bool good_at_once(const struct config *config, const struct vgpu_ctl_share *initial)
{
	struct vgpu_ctl_share settings = *initial, change;
	char text[VGPU_TEXT_LEN], why[CONFIG_WHY];

	return attrs_change(config, &change, why) &&
	       !vgpu_share_change(&settings, &change, text, sizeof(text));
}

/* Does the guarantee fit beside those of the vGPUs that are there? */
static bool admit(const struct attrs_room *room, const struct vgpu_ctl_share *settings,
		  const char *what, char *why)
{
	char text[VGPU_TEXT_LEN];

	if (!vgpu_share_admit(room->guarantees, settings->guarantee, text, sizeof(text)))
		return true;
	snprintf(why, CONFIG_WHY, "%s: %s%s", room->name, what, text);
	return false;
}

bool attrs_check(const struct config *config, const struct attrs_room *room, bool start,
		 char *why)
{
	struct vgpu_ctl_share initial, settings, change;
	const struct config_attr *attr;
	char text[VGPU_TEXT_LEN];

	/* Of a vGPU without framebuffer the guarantee is 0 at first: below every cap. */
	vgpu_share_default(&initial, room ? room->size_gb : 0, room ? room->region_gb : 1);
	settings = initial;
	start = start && room;
	if (start && room->none[0]) {
		snprintf(why, CONFIG_WHY, "%s", room->none);
		return false;
	}
	if (start && !admit(room, &initial, "as a new vGPU has it, ", why))
		return false;
	for (attr = config->attr; attr < config->attr + config->nr; attr++) {
		memset(&change, 0, sizeof(change));
		if (!add(attr, &change, why))
			return false;
		if (vgpu_share_change(&settings, &change, text, sizeof(text))) {
			snprintf(why, CONFIG_WHY, "%s: %s%s", attr->name, text,
				 good_at_once(config, &initial) ?
				 "; mdevctl sets one attribute after the other: give them in another order" :
				 "");
			return false;
		}
		if (start && !admit(room, &settings, "", why))
			return false;
	}
	return true;
}
