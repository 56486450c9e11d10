// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "complete.h"
#include "ctl.h"
#include "share.h"
#include "uuid.h"

#define WORDS_ROOM	512

/* The first words of all commands. */
static void print_names(void)
{
	const struct command *command;
	const char *last = "";
	size_t i;

	/* Commands with the same first word stand together. */
	for (i = 0; (command = command_at(i)); last = command->name, i++)
		if (strcspn(last, " ") != strcspn(command->name, " ") ||
		    strncmp(last, command->name, strcspn(last, " ")))
			printf("%.*s\n", (int)strcspn(command->name, " "), command->name);
}

/* The second words of the commands whose first word is @first. Returns false if there is none. */
static bool print_second_names(const char *first)
{
	const struct command *command;
	bool any = false;
	size_t i;

	for (i = 0; (command = command_at(i)); i++) {
		if (!command_first_word_is(command, first) || !command_second_word(command))
			continue;
		puts(command_second_word(command));
		any = true;
	}
	return any;
}

static void print_options(const struct command *command)
{
	const struct setting_table *settings = command->settings;
	const struct option_form *form;
	size_t i;

	for (i = 0; i < COMMAND_OPTIONS && command->option[i].id; i++) {
		form = options_form(command->option[i].id);
		printf("--%s\n", form->name);
		if (form->optional)
			printf("--%s=\n", form->name);
	}
	for (i = 0; settings && i < settings->nr; i++)
		if (settings->setting[i].name)
			printf("--%s\n", settings->setting[i].name);
	puts(command->no_json ? "--help" : "--json\n--help");
	if (command->columns)
		puts("--output\n--noheadings");
}

static int print_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	(void)fd;
	(void)arg;
	printf("%u\n%.*s\n", gpu->gpu, TEXT(gpu->address));
	return 0;
}

static int print_types(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct vgpu_ctl_type type;
	uint32_t i;

	(void)arg;
	for (i = 0; i < gpu->types; i++)
		if (!ctl_type(fd, gpu->gpu, i, &type))
			printf("%.*s\n", TEXT(type.name));
	return 0;
}

static int print_engines(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	uint32_t i;

	(void)fd;
	(void)arg;
	for (i = 0; i < ctl_engines(gpu->engines); i++)
		printf("%.*s\n", TEXT(gpu->engine[i].name));
	return 0;
}

static int print_uuid(const struct vgpu_ctl_instance *inst, void *arg)
{
	char uuid[UUID_STR_LEN];

	(void)arg;
	puts(uuid_format(inst->uuid, uuid));
	return 0;
}

static int print_uuids(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	return ctl_visit_instances(fd, gpu->gpu, arg, print_uuid);
}

static int print_partition(const struct vgpu_ctl_partition *part, void *arg)
{
	(void)arg;
	printf("%u\n", part->partition);
	return 0;
}

static int print_partitions(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	return ctl_visit_partitions(fd, gpu->gpu, arg, print_partition);
}

static int print_profiles(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct vgpu_ctl_profile profile;
	uint32_t i;

	(void)arg;
	for (i = 0; i < gpu->profiles; i++)
		if (!ctl_profile(fd, gpu->gpu, i, &profile) && profile.fb_bytes)
			printf("%.*s\n", TEXT(profile.name));
	return 0;
}

static void visit_gpus(int (*each)(int fd, const struct vgpu_ctl_gpu *gpu, void *arg))
{
	int fd = ctl_open();

	if (fd < 0)
		return;
	ctl_visit_gpus(fd, NULL, NULL, each);
	close(fd);
}

static void print_arguments(enum command_argument argument)
{
	switch (argument) {
	case ARGUMENT_UUID:
		visit_gpus(print_uuids);
		break;
	case ARGUMENT_PARTITION:
		visit_gpus(print_partitions);
		break;
	case ARGUMENT_PROFILE:
		visit_gpus(print_profiles);
		break;
	case ARGUMENT_SWITCH:
		puts("on\noff");
		break;
	}
}

/* What can follow @option, an option of the command. Returns false if it has no argument. */
static bool print_values(const struct command *command, const char *option)
{
	const struct setting_table *settings = command->settings;
	const struct option_form *form;
	char words[WORDS_ROOM];
	size_t i;

	for (i = 0; settings && i < settings->nr; i++) {
		const struct setting *setting = &settings->setting[i];

		if (!setting->name || strcmp(setting->name, option))
			continue;
		if (setting->kind->words) {
			setting->kind->words(words, sizeof(words));
			puts(words);
		}
		return true;
	}
	for (i = 0; i < COMMAND_OPTIONS && command->option[i].id; i++) {
		form = options_form(command->option[i].id);
		if (strcmp(form->name, option))
			continue;
		if (form->id == OPT_GPU)
			visit_gpus(print_gpu);
		else if (form->id == OPT_TYPE)
			visit_gpus(print_types);
		else if (form->id == OPT_ENGINE)
			visit_gpus(print_engines);
		else if (form->id == OPT_PARTITION)
			visit_gpus(print_partitions);
		return form->argument && !form->optional;
	}
	if (command->columns && !strcmp(option, options_form(OPT_COLUMNS)->name)) {
		table_names(command_headings(command, words, sizeof(words)), stdout, "\n");
		return true;
	}
	return false;
}

/*
 * Prints the words that may stand in place of the last word of @argv, the words behind "vgpuctl".
 * They are separated by blanks and newlines, and need not begin like what the user has typed of the
 * last word.
 */
void complete_print(int argc, char **argv)
{
	const char *last, *before;
	const struct command *command;
	int words;

	if (argc < 2) {
		print_names();
		puts("--help\n--version");
		return;
	}
	last = argv[argc - 1];
	before = argv[argc - 2];
	if (argc == 2 && *last != '-' && print_second_names(before))
		return;
	command = command_find(argc - 1, argv, &words);
	if (!command)
		return;
	if (!strcmp(before, "-o"))
		before = "--output";
	if (!strncmp(before, "--", 2) && print_values(command, before + 2))
		return;
	if (*last != '-' && (command->args_max || command->settings == &share_settings))
		print_arguments(command->argument);
	else
		print_options(command);
}
