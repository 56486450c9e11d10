// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "help.h"
#include "setting.h"

#define LINE_ROOM	192

/* The list of all commands. */
void help_all(FILE *out)
{
	const struct command *command;
	size_t i;

	fputs("Usage: vgpuctl [COMMAND] [OPTION...]\n", out);
	for (i = 0; (command = command_at(i)); i++) {
		if (command->heading)
			fprintf(out, "\n%s:\n", command->heading);
		fprintf(out, "  %-10s  %s\n", command->name, command->brief);
	}
	fputs("\nvgpuctl COMMAND --help tells about a command, and vgpuctl(8) about all of them.\n"
	      "vgpuctl alone is vgpuctl overview; vgpuctl --version names this version.\n", out);
}

/* The commands whose names are @word and a second word. Returns false if there is none. */
bool help_group(FILE *out, const char *word)
{
	const struct command *command;
	bool any = false;
	size_t i;

	for (i = 0; (command = command_at(i)); i++) {
		if (!command_first_word_is(command, word) || !command_second_word(command))
			continue;
		fprintf(out, "%s vgpuctl %s %s\n", any ? "      " : "Usage:", command->name,
			command->synopsis);
		any = true;
	}
	return any;
}

/*
 * Slot @i of a command's options, first those of its own, then its settings: writes "--name
 * ARGUMENT" to
 * @text and returns the help, which may be in @help. Returns NULL if the slot is empty.
 */
static const char *option_line(const struct command *command, size_t i, char *text, char *help)
{
	const struct option_form *form;
	const struct setting *setting;

	if (i >= COMMAND_OPTIONS) {
		setting = &command->settings->setting[i - COMMAND_OPTIONS];
		if (!setting->name)
			return NULL;
		snprintf(text, LINE_ROOM, "--%s %s", setting->name, setting->argument);
		return setting_help(setting, help, LINE_ROOM);
	}
	form = options_form(command->option[i].id);
	if (!form)
		return NULL;
	snprintf(text, LINE_ROOM, form->optional ? "--%s[=%s]" : form->argument ? "--%s %s" : "--%s",
		 form->name, form->argument);
	return command->option[i].help;
}

static void help_options(const struct command *command)
{
	size_t i, slots = COMMAND_OPTIONS, width = 0;
	char text[LINE_ROOM], help[LINE_ROOM];
	const char *line;

	if (command->settings)
		slots += command->settings->nr;
	for (i = 0; i < slots; i++)
		if (option_line(command, i, text, help) && strlen(text) > width)
			width = strlen(text);
	if (width)
		putchar('\n');
	for (i = 0; i < slots; i++) {
		line = option_line(command, i, text, help);
		if (line)
			printf("  %-*s  %s\n", (int)width, text, line);
	}
}

void help_command(const struct command *command)
{
	char headings[512];

	printf("Usage: vgpuctl %s %s\n\n%c%s.\n", command->name, command->synopsis,
	       command->brief[0] - 'a' + 'A', command->brief + 1);
	if (command->about)
		printf("\n%s", command->about);
	help_options(command);
	if (command->notes)
		printf("\n%s", command->notes);
	if (command->columns) {
		puts("\n  --output COLUMNS, -o COLUMNS  only these, separated by commas, in this order:");
		table_names(command_headings(command, headings, sizeof(headings)), stdout, ", ");
		puts("  --noheadings                  no headings");
	}
	if (!command->no_json)
		puts("\n  --json  JSON on standard output; vgpuctl(8) lists the keys");
}
