// SPDX-License-Identifier: GPL-2.0
/*
 * Each command and each setting of vgpuctl is in the help, the man page, the completion and the
 * schema, and a wrong command line is told what was meant.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <json-c/json.h>

/* Before cmocka, which has a macro fail(). */
#include "command.h"
#include "complete.h"
#include "ctl.h"
#include "help.h"
#include "sched.h"
#include "share.h"

#include "vgpu_test.h"

#include "core/settings/share_rules.h"

#define TEXT_ROOM	(256 * 1024)

static char manual[TEXT_ROOM], schema[TEXT_ROOM], attributes[TEXT_ROOM], said[TEXT_ROOM];

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	assert_string_equal(path, "/dev/vgpu");
	errno = ENOENT;
	return -1;
}

static void read_all(FILE *file, char *text)
{
	size_t length = fread(text, 1, TEXT_ROOM, file);

	assert_true(length > 0 && length < TEXT_ROOM);
	text[length] = 0;
}

static void read_path(const char *path, char *text)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	read_all(file, text);
	fclose(file);
}

static int read_files(void **state)
{
	read_path(CTL_MANUAL, manual);
	read_path(CTL_SCHEMA, schema);
	read_path(CTL_ATTRIBUTES, attributes);
	return 0;
}

/* Has the text a line of these words? */
static bool has_line(const char *text, const char *line)
{
	size_t length = strlen(line);
	const char *at;

	for (at = strstr(text, line); at; at = strstr(at + 1, line))
		if ((at == text || at[-1] == '\n') && (!at[length] || at[length] == '\n'))
			return true;
	return false;
}

/* The part of the man page that begins with the line @from, and ends with @to. */
static char *part_of_manual(const char *from, const char *to)
{
	char *begin = strstr(manual, from), *end = begin ? strstr(begin, to) : NULL;

	assert_non_null(begin);
	assert_non_null(end);
	begin = strndup(begin, end - begin);
	assert_non_null(begin);
	return begin;
}

/* Names of the man page: a line of one, or of one of several, as in ".It Cm share show , share set". */
static bool part_has(const char *part, const char *macro, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %s", macro, name);
	if (has_line(part, line))
		return true;
	snprintf(line, sizeof(line), "\n%s %s , ", macro, name);
	if (strstr(part, line))
		return true;
	snprintf(line, sizeof(line), " , %s\n", name);
	return strstr(part, line);
}

static bool synopsis_has(const char *synopsis, const char *name)
{
	const char *space = strchr(name, ' ');
	char line[128];

	if (part_has(synopsis, ".Cm", name) || part_has(synopsis, ".Op Cm", name))
		return true;
	if (!space)
		return false;
	/* A second word that may be left out. */
	snprintf(line, sizeof(line), ".Cm %.*s Op Cm%s", (int)(space - name), name, space);
	return has_line(synopsis, line);
}

static bool options_have(const char *options, const char *name)
{
	char item[64];
	const char *at;

	snprintf(item, sizeof(item), "\n.It Fl -%s", name);
	at = strstr(options, item);
	return at && !strchr("abcdefghijklmnopqrstuvwxyz-", at[strlen(item)]);
}

/* Where the man page has no word of the command; empty: it has all. */
static const char *missing_in_manual(const struct command *command)
{
	char *synopsis = part_of_manual(".Sh SYNOPSIS", ".Sh DESCRIPTION");
	char *about = part_of_manual(".Sh DESCRIPTION", ".Ss Options");
	char *options = part_of_manual(".Ss Options", ".Ss JSON keys");
	char *keys = part_of_manual(".Ss JSON keys", ".Sh ENVIRONMENT");
	const char *missing = "";
	size_t i;

	if (!synopsis_has(synopsis, command->name))
		missing = "SYNOPSIS";
	else if (!part_has(about, ".It Cm", command->name))
		missing = "DESCRIPTION";
	else if (!command->no_json && !part_has(keys, ".It Cm", command->name))
		missing = "JSON keys";
	for (i = 0; i < COMMAND_OPTIONS && command->option[i].id && !*missing; i++)
		if (!options_have(options, options_form(command->option[i].id)->name))
			missing = options_form(command->option[i].id)->name;
	free(synopsis);
	free(about);
	free(options);
	free(keys);
	return missing;
}

static bool schema_has(const char *name)
{
	struct json_object *all = json_tokener_parse(schema), *defs, *of_command;
	bool has;

	assert_non_null(all);
	assert_true(json_object_object_get_ex(all, "$defs", &defs));
	has = json_object_object_get_ex(defs, name, &of_command);
	json_object_put(all);
	return has;
}

/* What the completion offers in place of the last one of the words; NULL ends them. */
static const char *completions(const char *first, const char *second, const char *third)
{
	char *words[] = { (char *)first, (char *)second, (char *)third, NULL };
	int keep = dup(STDOUT_FILENO), nr = 0;
	FILE *file = tmpfile();

	assert_non_null(file);
	while (words[nr])
		nr++;
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	complete_print(nr, words);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	rewind(file);
	read_all(file, said);
	fclose(file);
	return said;
}

/* What the completion does not offer of the command; empty: it offers all. */
static const char *missing_in_completion(const struct command *command)
{
	const char *second = command_second_word(command), *offered;
	char first[32], option[64];
	size_t i;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(command->name, " "), command->name);
	if (!has_line(completions("", NULL, NULL), first))
		return "its name";
	if (second && !has_line(completions(first, "", NULL), second))
		return "its second word";
	offered = completions(first, second ? second : "--", second ? "--" : NULL);
	for (i = 0; i < COMMAND_OPTIONS && command->option[i].id; i++) {
		snprintf(option, sizeof(option), "--%s",
			 options_form(command->option[i].id)->name);
		if (!has_line(offered, option))
			return options_form(command->option[i].id)->name;
	}
	return has_line(offered, "--help") && has_line(offered, "--json") == !command->no_json ?
		"" : "--help and --json";
}

static void test_manual(void **state)
{
	const struct command *command;
	unsigned int bad = 0;
	size_t i;

	for (i = 0; (command = command_at(i)); i++) {
		const char *missing = missing_in_manual(command);

		if (*missing)
			printf("# vgpuctl %s: not in vgpuctl.8: %s\n", command->name, missing);
		bad += !!*missing;
	}
	assert_int_equal(bad, 0);
	assert_true(i > 20);
}

static void test_schema(void **state)
{
	const struct command *command;
	unsigned int bad = 0;
	size_t i;

	for (i = 0; (command = command_at(i)); i++) {
		if (schema_has(command->name) == !command->no_json)
			continue;
		printf("# vgpuctl %s: %s the schema\n", command->name,
		       command->no_json ? "has no JSON, but is in" : "is not in");
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void test_completion(void **state)
{
	const struct command *command;
	unsigned int bad = 0;
	size_t i;

	for (i = 0; (command = command_at(i)); i++) {
		const char *missing = missing_in_completion(command);

		if (*missing)
			printf("# vgpuctl %s: not offered: %s\n", command->name, missing);
		bad += !!*missing;
	}
	assert_int_equal(bad, 0);
}

static bool has_word(const char *text, const char *word)
{
	const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", *at;

	for (at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at > text && !strchr(letters, at[-1]) && !strchr(letters, at[strlen(word)]))
			return true;
	return false;
}

/* The document that does not have the setting; empty: all have it. */
static const char *missing_setting(const struct setting *setting)
{
	char *synopsis = part_of_manual(".Sh SYNOPSIS", ".Sh DESCRIPTION");
	char *options = part_of_manual(".Ss Options", ".Ss JSON keys");
	char *keys = part_of_manual(".Ss JSON keys", ".Sh ENVIRONMENT");
	const char *missing = "";
	char text[128];

	if (setting->name) {
		snprintf(text, sizeof(text), "Fl -%s Ar %s", setting->name, setting->argument);
		if (!has_word(synopsis, text))
			missing = "SYNOPSIS";
		else if (!options_have(options, setting->name))
			missing = "Options";
	}
	snprintf(text, sizeof(text), "\"%s\": {", setting->key);
	if (!has_word(keys, setting->key))
		missing = "JSON keys";
	else if (!strstr(schema, text))
		missing = "the schema";
	free(synopsis);
	free(options);
	free(keys);
	return missing;
}

static unsigned int bad_settings(const struct setting_table *table)
{
	unsigned int bad = 0;
	size_t i;

	for (i = 0; i < table->nr; i++) {
		const char *missing = missing_setting(&table->setting[i]);

		if (*missing)
			printf("# setting %s: not in %s\n", table->setting[i].key, missing);
		bad += !!*missing;
	}
	return bad;
}

/* The document that does not have the attribute of a vGPU's setting; empty: both have it. */
static const char *missing_attribute(const char *name)
{
	char *files = part_of_manual(".Sh FILES", ".Sh EXAMPLES");
	const char *missing = "";
	char line[128];

	snprintf(line, sizeof(line), "What:\t\t/sys/bus/mdev/devices/<uuid>/vgpu/%s", name);
	if (!has_line(attributes, line))
		missing = "sysfs-vgpu";
	else if (!has_word(files, name))
		missing = "FILES";
	free(files);
	return missing;
}

static void test_settings(void **state)
{
	static const struct setting nowhere[] = {
		{ .name = "frob", .argument = "N", .key = "weight" }, { .key = "weigh" },
	};
	const struct vgpu_setting *attribute;

	assert_int_equal(bad_settings(&sched_settings), 0);
	assert_int_equal(bad_settings(&share_settings), 0);
	for (attribute = vgpu_share_settings; attribute->name; attribute++)
		assert_string_equal(missing_attribute(attribute->name), "");

	assert_string_equal(missing_setting(&nowhere[0]), "SYNOPSIS");
	assert_string_equal(missing_setting(&nowhere[1]), "JSON keys");
	assert_string_equal(missing_attribute("frob"), "sysfs-vgpu");
}

/* The tests of commands above see what is missing: they are told of commands that are nowhere. */
static void test_nowhere(void **state)
{
	static const struct command nowhere[] = {
		{ .name = "frobnicate" }, { .name = "sched frobnicate" }, { .name = "sch" },
	};
	struct command known = *command_at(0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		assert_string_equal(missing_in_manual(&nowhere[i]), "SYNOPSIS");
		assert_false(schema_has(nowhere[i].name));
		assert_string_not_equal(missing_in_completion(&nowhere[i]), "");
	}
	assert_string_equal(missing_in_manual(&known), "");
	known.option[0].id = OPT_CHART;
	assert_string_equal(missing_in_completion(&known), "chart");
}

/* All commands are in the list of the help, each below a heading, and no line is too long. */
static void test_help(void **state)
{
	const struct command *command;
	FILE *file = tmpfile();
	char line[128];
	size_t i;

	assert_non_null(file);
	help_all(file);
	rewind(file);
	while (fgets(line, sizeof(line), file))
		assert_true(strlen(line) <= 81);
	rewind(file);
	read_all(file, said);
	fclose(file);
	assert_non_null(command_at(0)->heading);
	for (i = 0; (command = command_at(i)); i++) {
		snprintf(line, sizeof(line), "\n  %-10s  %s\n", command->name, command->brief);
		assert_non_null(strstr(said, line));
		if (!command->heading)
			continue;
		snprintf(line, sizeof(line), "\n\n%s:\n  %s ", command->heading, command->name);
		assert_non_null(strstr(said, line));
	}
}

static void test_near(void **state)
{
	static const struct {
		const char *first, *second, *meant;
	} cases[] = {
		{ "lst", NULL, "list" },
		{ "lsit", NULL, "list" },
		{ "lst", "--json", "list" },
		{ "cretae", "--type", "create" },
		{ "sess", NULL, "sessions" },
		{ "schd", NULL, "sched show" },
		{ "schd", "log", "sched log" },
		{ "sched", "st", "sched set" },
		{ "shar", "set", "share set" },
		{ "sched", "frob", NULL },
		{ "frobnicate", NULL, NULL },
		{ "frobnicate", "show", NULL },
		{ "x", NULL, NULL },
		{ "", NULL, NULL },
		{ "listlistlistlistlistlistlistlistlistlist", NULL, NULL },
	};
	size_t i;
	int words;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *second = cases[i].second, *meant;
		char *argv[] = { (char *)cases[i].first, (char *)second, NULL };
		int argc = second ? 2 : 1;

		assert_null(command_find(argc, argv, &words));
		meant = command_near(argc, argv);
		if (cases[i].meant && meant)
			assert_string_equal(meant, cases[i].meant);
		else
			assert_ptr_equal(meant, cases[i].meant);
	}
}

/* The option that may be meant by @option, which is wrong behind a command of one word or two. */
static const char *meant_option(const char *first, const char *second, const char *option)
{
	char *argv[] = { (char *)"vgpuctl", (char *)option, NULL };
	char *line[] = { (char *)first, (char *)second };
	const struct command *command;
	struct options options;
	bool help = false;
	int words;

	command = command_find(second ? 2 : 1, line, &words);
	assert_non_null(command);
	opterr = 0;
	assert_int_equal(options_parse(&options, command, 2, argv, &help), EXIT_USAGE);
	options_free(&options);
	return options.meant;
}

static void test_near_option(void **state)
{
	assert_string_equal(meant_option("list", NULL, "--gup=1"), "gpu");
	assert_string_equal(meant_option("list", NULL, "--jsn"), "json");
	assert_null(meant_option("list", NULL, "--frob"));
	assert_null(meant_option("list", NULL, "-x"));
	assert_null(meant_option("list", NULL, "--json=1"));
	/* Of several that begin so getopt_long() names all. */
	assert_null(meant_option("sched", "log", "--c"));
}

/* With no driver the overview says so, and what can be done. */
static void test_overview_without_driver(void **state)
{
	struct options options = { .command = command_at(0) };

	message_file = tmpfile();
	assert_non_null(message_file);
	assert_int_equal(cmd_overview(&options), EXIT_FAILED);
	rewind(message_file);
	read_all(message_file, said);
	fclose(message_file);
	message_file = NULL;
	assert_non_null(strstr(said, "no driver of a GPU is loaded"));
	assert_non_null(strstr(said, "vgpuctl --help"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_near_option),
		cmocka_unit_test(test_overview_without_driver),
	};

	return cmocka_run_group_tests_name("commands", tests, read_files, NULL);
}
