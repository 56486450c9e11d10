// SPDX-License-Identifier: GPL-2.0
/* What the rows of all tables of settings have in common, and the kinds of settings. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>
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

static bool policy_load(const struct setting *setting, struct json_object *value, void *field)
{
	(void)setting;
	return json_copy(value, field, VGPU_ADDR_LEN) && *(const char *)field;
}

const struct setting_kind setting_policy = {
	policy_parse, policy_json, policy_text, policy_load, sysfs_policies,
	VGPU_ADDR_LEN, "the name of a policy",
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

/* Reads a whole number within the limits of the setting. */
static bool read_number(const struct setting *setting, struct json_object *value, uint64_t *number)
{
	/* What is larger than an int64_t becomes the largest one. */
	int64_t signed_number = json_object_get_int64(value);

	*number = (uint64_t)signed_number;
	return json_object_is_type(value, json_type_int) && signed_number >= 0 &&
		*number >= setting->min && *number <= setting->max;
}

static bool number_load(const struct setting *setting, struct json_object *value, void *field)
{
	uint64_t number;

	if (!read_number(setting, value, &number))
		return false;
	*(uint32_t *)field = (uint32_t)number;
	return true;
}

#define NUMBER_KIND(parse, text) { \
	parse, number_json, text, number_load, NULL, sizeof(uint32_t), "" }

const struct setting_kind setting_number = NUMBER_KIND(number_parse, number_text);

static void faults_text(char *text, size_t room, const void *field)
{
	if (number_of(field))
		snprintf(text, room, "after %u faults in 60 s", number_of(field));
	else
		snprintf(text, room, "never");
}

const struct setting_kind setting_faults = NUMBER_KIND(number_parse, faults_text);

/* Parts of an engine, per mille. */

static enum exit_code permille_parse(const struct setting *setting, const char *text, void *field)
{
	return value_permille(setting->name, text, setting->min, field);
}

static void permille_text(char *text, size_t room, const void *field)
{
	snprintf(text, room, "%u.%u", number_of(field) / 10, number_of(field) % 10);
}

const struct setting_kind setting_permille = NUMBER_KIND(permille_parse, permille_text);

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

static bool fps_load(const struct setting *setting, struct json_object *value, void *field)
{
	if (value)
		return number_load(setting, value, field);
	*(uint32_t *)field = VGPU_FRL_DEFAULT;
	return true;
}

const struct setting_kind setting_fps = {
	fps_parse, fps_json, fps_text, fps_load, fps_words, sizeof(uint32_t), "null or ",
};

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

static bool switch_load(const struct setting *setting, struct json_object *value, void *field)
{
	(void)setting;
	*(uint32_t *)field = json_object_get_boolean(value);
	return json_object_is_type(value, json_type_boolean);
}

const struct setting_kind setting_switch = {
	switch_parse, switch_json, switch_text, switch_load, switch_words, sizeof(uint32_t),
	"true or false",
};

static enum exit_code hz_parse(const struct setting *setting, const char *text, void *field)
{
	return value_frequency(setting->name, text, field);
}

const struct setting_kind setting_hz = NUMBER_KIND(hz_parse, number_text);

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

static bool ns_load(const struct setting *setting, struct json_object *value, void *field)
{
	return read_number(setting, value, field);
}

const struct setting_kind setting_ns = {
	ns_parse, ns_json, ns_text, ns_load, NULL, sizeof(uint64_t), "",
};

static enum exit_code us_parse(const struct setting *setting, const char *text, void *field)
{
	return time32_parse(setting, text, 1000, field);
}

static void us_text(char *text, size_t room, const void *field)
{
	time_text(text, room, number_of(field) * 1000ull);
}

const struct setting_kind setting_us = NUMBER_KIND(us_parse, us_text);

static enum exit_code ms_parse(const struct setting *setting, const char *text, void *field)
{
	return time32_parse(setting, text, 1000000, field);
}

static void ms_text(char *text, size_t room, const void *field)
{
	table_duration(text, room, number_of(field) * 1000000ull);
}

const struct setting_kind setting_ms = NUMBER_KIND(ms_parse, ms_text);

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

static void print_value(const struct setting *setting, const void *field)
{
	char text[TEXT_ROOM];

	setting->kind->text(text, sizeof(text), field);
	printf("%s%s", text, setting->unit && isdigit(*text) ? setting->unit : "");
}

/* A line per setting that has a title, with the title in a column of @width. */
void setting_print(const struct setting_table *table, int width, const void *read)
{
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++) {
		if (setting->applies && !setting->applies(read))
			continue;
		if (!setting->title)
			fputs(setting->lead, stdout);
		else
			printf("%s%-*s", setting == table->setting ? "" : "\n", width,
			       setting->title);
		print_value(setting, field_of(setting, read));
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

/* The setting that can be set and has this key in JSON, or NULL. */
const struct setting *setting_of_key(const struct setting_table *table, const char *key)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		if (table->setting[i].name && !strcmp(table->setting[i].key, key))
			return &table->setting[i];
	return NULL;
}

/*
 * Takes a setting's value out of JSON to its field of @set. If it is no such value, returns false,
 * and says in @wanted what would be one.
 */
bool setting_load(const struct setting_table *table, const struct setting *setting,
		  struct json_object *value, void *set, char *wanted, size_t room)
{
	if (setting->kind->load(setting, value, (char *)set + setting->set_at)) {
		*(uint32_t *)((char *)set + table->valid_at) |= setting->valid;
		return true;
	}
	if (!setting->max)
		snprintf(wanted, room, "%s", setting->kind->wanted);
	else
		snprintf(wanted, room, "%sa number from %u to %u", setting->kind->wanted,
			 setting->min, setting->max);
	return false;
}

static bool same(const struct setting *setting, const void *set, const void *read)
{
	const void *a = (const char *)set + setting->set_at, *b = field_of(setting, read);

	return setting->kind == &setting_policy ? !strncmp(a, b, VGPU_ADDR_LEN) :
		!memcmp(a, b, setting->kind->size);
}

/* Those of the settings that @set names which have another value in @read. */
uint32_t setting_differences(const struct setting_table *table, const void *set, const void *read)
{
	uint32_t valid = *(const uint32_t *)((const char *)set + table->valid_at), bits = 0;
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (valid & setting->valid && !same(setting, set, read))
			bits |= setting->valid;
	return bits;
}

/* Copies the values of the settings @valid from where they are read to where they are set. */
void setting_copy(const struct setting_table *table, uint32_t valid, void *set, const void *read)
{
	const struct setting *setting;

	*(uint32_t *)((char *)set + table->valid_at) = valid;
	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (valid & setting->valid)
			memcpy((char *)set + setting->set_at, field_of(setting, read),
			       setting->kind->size);
}

/* The bits of all settings that can be set, each once. */
uint32_t setting_all(const struct setting_table *table)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < table->nr; i++)
		if (!table->setting[i].excludes)
			bits |= table->setting[i].valid;
	return bits;
}

/*
 * Keys of the settings @valid in an object that is open: out of the structure that sets them if
 * @set, else out of that which reads them.
 */
void setting_json_of(const struct setting_table *table, uint32_t valid, struct json *json,
		     const void *from, bool set)
{
	const char *fields = from;
	const struct setting *s;

	for (s = table->setting; s < table->setting + table->nr; s++)
		if (valid & s->valid)
			s->kind->json(json, s->key, fields + (set ? s->set_at : s->read_at));
}

/* A line, which begins with @name, for each of the settings @valid; @read is NULL: it had none. */
void setting_print_changes(const struct setting_table *table, uint32_t valid, const char *name,
			   const void *set, const void *read)
{
	const struct setting *s;

	for (s = table->setting; s < table->setting + table->nr; s++) {
		if (!(valid & s->valid))
			continue;
		printf("%s: %s ", name, s->name);
		if (read) {
			print_value(s, field_of(s, read));
			fputs(" -> ", stdout);
		}
		print_value(s, (const char *)set + s->set_at);
		putchar('\n');
	}
}
