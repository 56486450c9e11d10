/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings. All that vgpuctl knows about a setting of a GPU or of a vGPU is one row of a table: the
 * option that sets it and its help, the field of the ABI that has its value, and how it is shown.
 * sched.c has the table for GPUs, share.c that for vGPUs.
 */
#ifndef VGPUCTL_SETTING_H
#define VGPUCTL_SETTING_H

#include "json.h"
#include "message.h"
#include "table.h"

struct setting;

/**
 * struct setting_kind - how the values of a kind of setting are typed and shown
 * @parse: writes the value that the user typed to a field, or says on standard error why it cannot
 *         be
 * @json:  writes the value of a field to an object that is open
 * @text:  writes the value of a field for people, without its unit
 * @load:  takes the value of a field out of JSON, or returns false
 * @words: writes all words that may be typed as the value, separated by blanks; NULL: there are
 *         only numbers
 * @size:  of a field in bytes
 * @wanted: what a value in JSON is; of a number what goes before its limits
 */
struct setting_kind {
	enum exit_code (*parse)(const struct setting *setting, const char *text, void *field);
	void (*json)(struct json *json, const char *key, const void *field);
	void (*text)(char *text, size_t room, const void *field);
	bool (*load)(const struct setting *setting, struct json_object *value, void *field);
	void (*words)(char *text, size_t room);
	size_t size;
	const char *wanted;
};

extern const struct setting_kind setting_policy;
extern const struct setting_kind setting_number;
extern const struct setting_kind setting_permille;
extern const struct setting_kind setting_fps;
extern const struct setting_kind setting_switch;
extern const struct setting_kind setting_hz;
extern const struct setting_kind setting_ns;
extern const struct setting_kind setting_us;
extern const struct setting_kind setting_ms;
extern const struct setting_kind setting_faults;

/**
 * struct setting - a row: one setting
 * @kind:     its kind, which must fit the type of both fields
 * @name:     name of the option that sets it; NULL: it can only be read
 * @argument: what the option's argument is called in the help
 * @help:     help of the option; NULL: the words of @kind
 * @min:      smallest number that the driver takes, in the field's unit
 * @max:      largest number that the driver takes, likewise; 0: it is a word or a name
 * @valid:    bit in the member "valid" of the structure that sets it
 * @excludes: bits in "valid" of settings that cannot be set together with this one
 * @set_at:   offset of its field in the structure that sets it
 * @read_at:  offset of its field in the structure that reads it
 * @key:      key in JSON
 * @heading:  heading of its column, as table_init() takes it
 * @title:    name for people; NULL: it is shown on the line of the row above
 * @lead:     what goes before the value on the line of the row above
 * @unit:     what follows a value for people that is a number, or NULL
 * @applies:  whether its value means anything beside the other values; NULL: always
 */
struct setting {
	const struct setting_kind *kind;
	const char *name;
	const char *argument;
	const char *help;
	uint32_t min;
	uint32_t max;
	uint32_t valid;
	uint32_t excludes;
	size_t set_at;
	size_t read_at;
	const char *key;
	const char *heading;
	const char *title;
	const char *lead;
	const char *unit;
	bool (*applies)(const void *read);
};

/**
 * struct setting_table - the settings of a GPU or of a vGPU
 * @setting:  the rows, in the order in which they are shown
 * @nr:       number of rows
 * @valid_at: offset of "valid" in the structure that sets them
 */
struct setting_table {
	const struct setting *setting;
	size_t nr;
	size_t valid_at;
};

enum exit_code setting_parse(const struct setting_table *table, const struct setting *setting,
			     const char *text, void *set);
enum exit_code setting_check(const struct setting_table *table, uint32_t valid);
const char *setting_help(const struct setting *setting, char *text, size_t room);
const char *setting_options(const struct setting_table *table, char *text, size_t room);
const char *setting_changed(const struct setting_table *table, uint32_t bit, char *text,
			    size_t room);
const struct setting *setting_of_key(const struct setting_table *table, const char *key);
bool setting_load(const struct setting_table *table, const struct setting *setting,
		  struct json_object *value, void *set, char *wanted, size_t room);
uint32_t setting_differences(const struct setting_table *table, const void *set, const void *read);
void setting_copy(const struct setting_table *table, uint32_t valid, void *set, const void *read);
uint32_t setting_all(const struct setting_table *table);
void setting_json_of(const struct setting_table *table, uint32_t valid, struct json *json,
		     const void *from, bool set);
void setting_print_changes(const struct setting_table *table, uint32_t valid, const char *name,
			   const void *set, const void *read);
void setting_json(const struct setting_table *table, struct json *json, const void *read);
void setting_print(const struct setting_table *table, int width, const void *read);
void setting_headings(const struct setting_table *table, char *text, size_t room);
void setting_cells(const struct setting_table *table, struct table *cells, const void *read);

#endif /* VGPUCTL_SETTING_H */
