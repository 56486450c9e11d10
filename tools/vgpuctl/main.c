// SPDX-License-Identifier: GPL-2.0
/* vgpuctl: show and manage vGPUs. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <linux/vgpu.h>

#include "command.h"
#include "complete.h"
#include "help.h"

/* Fails if something that was printed could not be written. */
static enum exit_code finish(enum exit_code code)
{
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: cannot write");
	return code;
}

static enum exit_code run(const struct command *command, int argc, char **argv)
{
	struct options options;
	enum exit_code code;
	bool help = false;

	code = options_parse(&options, command, argc, argv, &help);
	if (code == EXIT_USAGE && options.meant)
		fail("is --%s meant? (vgpuctl %s --help tells all)", options.meant, command->name);
	else if (code == EXIT_USAGE)
		fprintf(stderr, "Usage: vgpuctl %s %s\n", command->name,
			command->synopsis);
	else if (!code && help)
		help_command(command);
	else if (!code)
		code = command->run(&options);
	options_free(&options);
	return code;
}

static enum exit_code unknown(int argc, char **argv)
{
	const char *meant = command_near(argc, argv), *second = "";

	/* Where the first word is right, it is the second that is not. */
	if (argc > 1 && command_has(argv[0]))
		second = argv[1];
	if (meant)
		return fail_usage("no command %s%s%s; is %s meant? (vgpuctl --help lists all)",
				  argv[0], *second ? " " : "", second, meant);
	return fail_usage("no command %s%s%s; vgpuctl --help lists all", argv[0],
			  *second ? " " : "", second);
}

static bool asks_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	char name[] = "vgpuctl", overview[] = "overview", *alone[] = { overview, NULL };
	const char *word = argc > 1 ? argv[1] : overview;
	const struct command *command;
	int words;

	/* libsmartcols shows what the terminal's characters can. */
	setlocale(LC_CTYPE, "");
	if (asks_help(word) || !strcmp(word, "help")) {
		help_all(stdout);
		return finish(EXIT_OK);
	}
	if (!strcmp(word, "--complete")) {
		complete_print(argc - 2, argv + 2);
		return finish(EXIT_OK);
	}
	if (!strcmp(word, "--version")) {
		printf("vgpuctl %s (ABI %u.%u)\n", VGPUCTL_VERSION,
		       VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
		return finish(EXIT_OK);
	}
	if (argc == 3 && asks_help(argv[2]) && help_group(stdout, word)) {
		puts("\n--help after both words tells about a command");
		return finish(EXIT_OK);
	}
	if (argc < 2 || *word == '-') {
		command = command_find(1, alone, &words);
		argv[0] = name; /* messages of getopt_long() begin with it */
		return finish(run(command, argc, argv));
	}
	command = command_find(argc - 1, argv + 1, &words);
	if (command) {
		argv[words] = name;
		return finish(run(command, argc - words, argv + words));
	}
	return unknown(argc - 1, argv + 1);
}
