/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of vgpuctl. */
#ifndef VGPUCTL_COMMAND_H
#define VGPUCTL_COMMAND_H

#include <stddef.h>

#include "options.h"

#define COMMAND_OPTIONS	6

/* What the argument of a command is. */
enum command_argument {
	ARGUMENT_UUID = 0,
	ARGUMENT_PARTITION,
	ARGUMENT_PROFILE,
	ARGUMENT_SWITCH,
};

/**
 * struct command_option - an option that a command has beside settings, --json and --help
 * @id:   the option
 * @help: what the option means to this command
 */
struct command_option {
	enum option_id id;
	const char *help;
};

/**
 * struct command - a command
 * @heading:  of the commands from this one on, in the list of all; NULL: as the one before
 * @name:     what the user types: a word or two
 * @brief:    one line, which begins with a small letter
 * @synopsis: what follows the name
 * @about:    more lines for --help, or NULL
 * @option:   the options, the last one followed by OPT_NONE
 * @settings: what the command can set, or NULL
 * @columns:  headings of the table that it prints, as table_init() takes them; NULL: -o and
 *            --noheadings are not for it
 * @shown:    settings whose columns follow these, or NULL
 * @notes:    lines for --help after the options, or NULL
 * @no_json:  --json is not for it
 * @argument: what the argument is
 * @args_min: least number of arguments, 0 or 1
 * @args_max: largest number of arguments, 0 or 1
 * @run:      executes the command
 */
struct command {
	const char *heading;
	const char *name;
	const char *brief;
	const char *synopsis;
	const char *about;
	struct command_option option[COMMAND_OPTIONS];
	const struct setting_table *settings;
	const char *columns;
	const struct setting_table *shown;
	const char *notes;
	bool no_json;
	enum command_argument argument;
	int args_min;
	int args_max;
	enum exit_code (*run)(const struct options *options);
};

const struct command *command_at(size_t i);
const struct command *command_find(int argc, char **argv, int *words);
bool command_has(const char *word);
const char *command_near(int argc, char **argv);
bool command_first_word_is(const struct command *command, const char *word);
const char *command_second_word(const struct command *command);
const char *command_headings(const struct command *command, char *text, size_t room);

/* Each in cmd_*.c, the headings beside the rows that belong below them. */
extern const char gpus_columns[];
extern const char types_columns[];
extern const char creatable_columns[];
extern const char list_columns[];
extern const char placement_columns[];
extern const char partitions_columns[];
extern const char profiles_columns[];
extern const char process_columns[];
extern const char sessions_columns[];
extern const char caps_columns[];
extern const char stats_columns[];
extern const char shares_columns[];

enum exit_code cmd_overview(const struct options *options);
enum exit_code cmd_gpus(const struct options *options);
enum exit_code cmd_types(const struct options *options);
enum exit_code cmd_creatable(const struct options *options);
enum exit_code cmd_placement(const struct options *options);
enum exit_code cmd_process(const struct options *options);
enum exit_code cmd_sessions(const struct options *options);
enum exit_code cmd_top(const struct options *options);
enum exit_code cmd_metrics(const struct options *options);
enum exit_code cmd_caps(const struct options *options);
enum exit_code cmd_list(const struct options *options);
enum exit_code cmd_show(const struct options *options);
enum exit_code cmd_stats(const struct options *options);
enum exit_code cmd_create(const struct options *options);
enum exit_code cmd_remove(const struct options *options);
enum exit_code cmd_release(const struct options *options);
enum exit_code cmd_events(const struct options *options);
enum exit_code cmd_log(const struct options *options);
enum exit_code cmd_sched_show(const struct options *options);
enum exit_code cmd_sched_set(const struct options *options);
enum exit_code cmd_sched_log(const struct options *options);
enum exit_code cmd_partition_list(const struct options *options);
enum exit_code cmd_partition_profiles(const struct options *options);
enum exit_code cmd_partition_show(const struct options *options);
enum exit_code cmd_partition_create(const struct options *options);
enum exit_code cmd_partition_remove(const struct options *options);
enum exit_code cmd_partition_mode(const struct options *options);
enum exit_code cmd_share_show(const struct options *options);
enum exit_code cmd_share_set(const struct options *options);
enum exit_code cmd_save(const struct options *options);
enum exit_code cmd_apply(const struct options *options);
enum exit_code cmd_hist(const struct options *options);
enum exit_code cmd_migration_show(const struct options *options);
enum exit_code cmd_migration_check(const struct options *options);

#endif /* VGPUCTL_COMMAND_H */
