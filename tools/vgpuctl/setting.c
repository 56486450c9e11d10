// SPDX-License-Identifier: GPL-2.0
/* What the rows of all tables of settings have in common, and the kinds of settings. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/vgpu.h>

#include "setting.h"
#include "sysfs.h"
#include "value.h"

#define TEXT_ROOM	192

static const void *field_of(const struct setting *setting, const void *read)
{
	return (const char *)read + setting->read_at;
}

static uint32_t number_of(const void *field)
{
	return *(const uint32_t *)field;
}

/* Names of policies: texts of VGPU_ADDR_LEN bytes. Only the driver knows which there are. */

static enum exit_code policy_parse(const struct setting *setting, const char *text, void *field)
{
	size_t length = strlen(text);

	if (!length || length >= VGPU_ADDR_LEN)
		return fail_usage("--%s %s: not the name of a policy", setting->name, text);
	memcpy(field, text, length + 1);
	return EXIT_OK;
}

static void policy_json(struct json *json, const char *key, const void *field)
{
	json_bytes(json, key, field, VGPU_ADDR_LEN);
}

static void policy_text(char *text, size_t room, const void *field)
{
	snprintf(text, room, "%.*s", VGPU_ADDR_LEN, (const char *)field);
}

const struct setting_kind setting_policy = {
	policy_parse, policy_json, policy_text, sysfs_policies,
};

/* Numbers from min to max. */

static enum exit_code number_parse(const struct setting *setting, const char *text, void *field)
{
	return value_number(setting->name, text, setting->min, setting->max, field);
}

static void number_json(struct json *json, const char *key, const void *field)
{
	json_u64(json, key, number_of(field));
}

static void number_text(char *text, size_t room, const void *field)
{
	snprintf(text, room, "%u", number_of(field));
}

const struct setting_kind setting_number = { number_parse, number_json, number_text, NULL };

static void faults_text(char *text, size_t room, const void *field)
{
	if (number_of(field))
		snprintf(text, room, "after %u faults in 60 s", number_of(field));
	else
		snprintf(text, room, "never");
}

const struct setting_kind setting_faults = { number_parse, number_json, faults_text, NULL };

/* Parts of an engine, per mille. */

static enum exit_code permille_parse(const struct setting *setting, const char *text, void *field)
{
	return value_permille(setting->name, text, setting->min, field);
}

static void permille_text(char *text, size_t room, const void *field)
{
	snprintf(text, room, "%u.%u", number_of(field) / 10, number_of(field) % 10);
}

const struct setting_kind setting_permille = { permille_parse, number_json, permille_text, NULL };

/* Frame rates: frames per second, off, or that of the vGPU's type. */

static enum exit_code fps_parse(const struct setting *setting, const char *text, void *field)
{
	return value_frl(setting->name, text, field);
}

static void fps_json(struct json *json, const char *key, const void *field)
{
	if (number_of(field) == VGPU_FRL_DEFAULT)
		json_null(json, key);
	else
		number_json(json, key, field);
}

static void fps_text(char *text, size_t room, const void *field)
{
	if (number_of(field) == VGPU_FRL_DEFAULT)
		snprintf(text, room, "default");
	else if (number_of(field))
		number_text(text, room, field);
	else
		snprintf(text, room, "off");
}

static void fps_words(char *text, size_t room)
{
	snprintf(text, room, "off default");
}

const struct setting_kind setting_fps = { fps_parse, fps_json, fps_text, fps_words };

/* What is on or off: 1 or 0. */

static enum exit_code switch_parse(const struct setting *setting, const char *text, void *field)
{
	return value_switch(setting->name, text, field);
}

static void switch_json(struct json *json, const char *key, const void *field)
{
	json_flag(json, key, number_of(field));
}

static void switch_text(char *text, size_t room, const void *field)
{
	snprintf(text, room, "%s", number_of(field) ? "on" : "off");
}

static void switch_words(char *text, size_t room)
{
	snprintf(text, room, "on off");
}

const struct setting_kind setting_switch = {
	switch_parse, switch_json, switch_text, switch_words,
};

static enum exit_code hz_parse(const struct setting *setting, const char *text, void *field)
{
	return value_frequency(setting->name, text, field);
}

const struct setting_kind setting_hz = { hz_parse, number_json, number_text, NULL };

/* Times: 64 bits of nanoseconds, or 32 bits of microseconds or milliseconds. */

static enum exit_code time32_parse(const struct setting *setting, const char *text,
				   uint64_t unit_ns, void *field)
{
	enum exit_code code;
	uint64_t units;

	code = value_time(setting->name, text, unit_ns, UINT32_MAX, &units);
	if (!code)
		*(uint32_t *)field = (uint32_t)units;
	return code;
}

/* 2083333 ns is "2.083 ms": a slice may come from a frequency. */
static void time_text(char *text, size_t room, uint64_t ns)
{
	if (ns < 1000000)
		snprintf(text, room, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
	else
		snprintf(text, room, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000,
			 ns / 1000 % 1000);
}

static enum exit_code ns_parse(const struct setting *setting, const char *text, void *field)
{
	enum exit_code code;
	uint64_t ns;

	code = value_time(setting->name, text, 1, UINT64_MAX, &ns);
	if (!code)
		*(uint64_t *)field = ns;
	return code;
}

static void ns_json(struct json *json, const char *key, const void *field)
{
	json_u64(json, key, *(const uint64_t *)field);
}

static void ns_text(char *text, size_t room, const void *field)
{
	time_text(text, room, *(const uint64_t *)field);
}

const struct setting_kind setting_ns = { ns_parse, ns_json, ns_text, NULL };

static enum exit_code us_parse(const struct setting *setting, const char *text, void *field)
{
	return time32_parse(setting, text, 1000, field);
}

static void us_text(char *text, size_t room, const void *field)
{
	time_text(text, room, number_of(field) * 1000ull);
}

const struct setting_kind setting_us = { us_parse, number_json, us_text, NULL };

static enum exit_code ms_parse(const struct setting *setting, const char *text, void *field)
{
	return time32_parse(setting, text, 1000000, field);
}

static void ms_text(char *text, size_t room, const void *field)
{
	table_duration(text, room, number_of(field) * 1000000ull);
}

const struct setting_kind setting_ms = { ms_parse, number_json, ms_text, NULL };

/* Writes the value that the user typed, @text, to its field of @set. */
enum exit_code setting_parse(const struct setting_table *table, const struct setting *setting,
			     const char *text, void *set)
{
	*(uint32_t *)((char *)set + table->valid_at) |= setting->valid;
	return setting->kind->parse(setting, text, (char *)set + setting->set_at);
}

static const struct setting *setting_of_bits(const struct setting_table *table, uint32_t bits)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		if (table->setting[i].valid & bits)
			return &table->setting[i];
	return NULL;
}

/* Whether the settings that @valid names can be set together. */
enum exit_code setting_check(const struct setting_table *table, uint32_t valid)
{
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (valid & setting->valid && valid & setting->excludes)
			return fail_usage("--%s and --%s set the same thing: one of them is enough",
					  setting_of_bits(table, valid & setting->excludes)->name,
					  setting->name);
	return EXIT_OK;
}

/* The help of an option, which may be written to @text. */
const char *setting_help(const struct setting *setting, char *text, size_t room)
{
	char words[TEXT_ROOM], *rest = words, *word;
	size_t length = 0;

	if (setting->help)
		return setting->help;
	setting->kind->words(words, sizeof(words));
	while ((word = strsep(&rest, " ")) && length < room)
		length += (size_t)snprintf(text + length, room - length, "%s%s",
					   length ? ", " : "", word);
	return length ? text : "a name; the driver, which is not loaded, knows which there are";
}

/* All options of a table in a sentence: "--guarantee, --cap or --weight". */
const char *setting_options(const struct setting_table *table, char *text, size_t room)
{
	const struct setting *setting, *last = NULL;
	size_t length = 0;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (setting->name)
			last = setting;
	text[0] = 0;
	for (setting = table->setting; setting < table->setting + table->nr; setting++) {
		if (!setting->name || length >= room)
			continue;
		length += (size_t)snprintf(text + length, room - length, "%s--%s",
					   !length ? "" : setting == last ? " or " : ", ",
					   setting->name);
	}
	return text;
}

/* What events call the setting of this bit: the name of its option, with "_" instead of "-". */
const char *setting_changed(const struct setting_table *table, uint32_t bit, char *text,
			    size_t room)
{
	const struct setting *setting = setting_of_bits(table, bit);
	char *dash;

	snprintf(text, room, "%s", setting ? setting->name : "unknown");
	while ((dash = strchr(text, '-')))
		*dash = '_';
	return text;
}

/* Keys in an object that is open. */
void setting_json(const struct setting_table *table, struct json *json, const void *read)
{
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		setting->kind->json(json, setting->key, field_of(setting, read));
}

/* A line per setting that has a title, with the title in a column of @width. */
void setting_print(const struct setting_table *table, int width, const void *read)
{
	const struct setting *setting;
	char text[TEXT_ROOM];

	for (setting = table->setting; setting < table->setting + table->nr; setting++) {
		if (setting->applies && !setting->applies(read))
			continue;
		if (!setting->title)
			fputs(setting->lead, stdout);
		else
			printf("%s%-*s", setting == table->setting ? "" : "\n", width,
			       setting->title);
		setting->kind->text(text, sizeof(text), field_of(setting, read));
		printf("%s%s", text, setting->unit && isdigit(*text) ? setting->unit : "");
	}
	putchar('\n');
}

/* Appends the headings of all settings to headings for table_init(). */
void setting_headings(const struct setting_table *table, char *text, size_t room)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		table_heading(text, room, "%s", table->setting[i].heading);
}

/* Adds the cells below these headings. */
void setting_cells(const struct setting_table *table, struct table *cells, const void *read)
{
	const struct setting *setting;
	char text[TEXT_ROOM];

	for (setting = table->setting; setting < table->setting + table->nr; setting++) {
		setting->kind->text(text, sizeof(text), field_of(setting, read));
		table_add(cells, "%s", text);
	}
}
