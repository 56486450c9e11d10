// SPDX-License-Identifier: GPL-2.0
/* vgpuctl: show and manage vGPUs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgpuctl.h"

static const struct command commands[] = {
	{
		.name = "gpus", .run = cmd_gpus, .allowed = OPT_JSON,
		.brief = "list the GPUs that are shared",
		.synopsis = "[--json]",
		.help = "Memory, channels, scheduler and engines of each GPU.\n",
	},
	{
		.name = "types", .run = cmd_types, .allowed = OPT_JSON | OPT_GPU,
		.brief = "list the types, and how many more of each fit",
		.synopsis = "[--gpu GPU] [--json]",
		.help = "  --gpu GPU   of this GPU only (number or PCI address)\n",
	},
	{
		.name = "list", .run = cmd_list, .allowed = OPT_JSON | OPT_GPU,
		.brief = "list the vGPUs",
		.synopsis = "[--gpu GPU] [--json]",
		.help = "  --gpu GPU   of this GPU only (number or PCI address)\n",
	},
	{
		.name = "show", .run = cmd_show, .allowed = OPT_JSON,
		.args_min = 1, .args_max = 1,
		.brief = "show all about a vGPU",
		.synopsis = "UUID [--json]",
		.help = "",
	},
	{
		.name = "stats", .run = cmd_stats,
		.allowed = OPT_JSON | OPT_WATCH | OPT_COUNT, .args_max = 1,
		.brief = "show what vGPUs got of the engines",
		.synopsis = "[UUID] [--watch[=SECS]] [--count N] [--json]",
		.help =
		"Per engine: share of the time since the last sample (since the vGPU was\n"
		"created, without --watch) and counters since it was created.\n"
		"\n"
		"  --watch[=SECS]  sample every SECS seconds (1); with --json one line each\n"
		"  --count N       end after N samples (implies --watch)\n",
	},
	{
		.name = "create", .run = cmd_create,
		.allowed = OPT_JSON | OPT_TYPE | OPT_GPU | OPT_UUID,
		.brief = "create a vGPU and print its UUID",
		.synopsis = "--type TYPE [--gpu GPU] [--uuid UUID] [--json]",
		.help =
		"  --type TYPE  SG16-4Q, or as in sysfs: vgpu_soft-SG16-4Q\n"
		"  --gpu GPU    on this GPU (number or PCI address); else on one with room\n"
		"  --uuid UUID  its name; else a random one\n",
	},
	{
		.name = "remove", .run = cmd_remove, .allowed = OPT_JSON,
		.args_min = 1, .args_max = 1,
		.brief = "remove a vGPU",
		.synopsis = "UUID [--json]",
		.help =
		"If it is in use, its user is asked to let go of it, and the command waits\n"
		"until it has.\n",
	},
	{
		.name = "release", .run = cmd_release, .allowed = OPT_JSON,
		.args_min = 1, .args_max = 1,
		.brief = "lift a vGPU's quarantine",
		.synopsis = "UUID [--json]",
		.help = "",
	},
	{
		.name = "events", .run = cmd_events,
		.allowed = OPT_JSON | OPT_COUNT,
		.brief = "print events as they happen",
		.synopsis = "[--count N] [--json]",
		.help =
		"  --count N  end after N events\n"
		"\n"
		"With --json one line each.\n",
	},
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void say(const char *fmt, va_list ap)
{
	fputs("vgpuctl: ", stderr);
	vfprintf(stderr, fmt, ap);
	putc('\n', stderr);
}

enum exit_code fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return EXIT_FAILED;
}

enum exit_code fail_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return EXIT_USAGE;
}

static void usage(FILE *out)
{
	size_t i;

	fputs("Usage: vgpuctl COMMAND [OPTION...]\n\n", out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].brief);
	fputs("\n  vgpuctl COMMAND --help tells about a command\n"
	      "  vgpuctl --version\n", out);
}

static void usage_command(const struct command *command)
{
	printf("Usage: vgpuctl %s %s\n\n%c%s.\n", command->name,
	       command->synopsis, command->brief[0] - 'a' + 'A',
	       command->brief + 1);
	if (*command->help)
		printf("\n%s", command->help);
	if (command->allowed & OPT_JSON)
		puts("\n  --json  JSON on standard output; vgpuctl(8) lists the keys");
}

/* What was printed must have arrived. */
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
	if (code) {
		fprintf(stderr, "Usage: vgpuctl %s %s\n", command->name,
			command->synopsis);
		return code;
	}
	if (help) {
		usage_command(command);
		return EXIT_OK;
	}
	return command->run(&options);
}

int main(int argc, char **argv)
{
	char name[] = "vgpuctl";
	const char *word = argc > 1 ? argv[1] : NULL;
	size_t i;

	if (!word) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    !strcmp(word, "help")) {
		usage(stdout);
		return finish(EXIT_OK);
	}
	if (!strcmp(word, "--version")) {
		printf("vgpuctl %s (ABI %u.%u)\n", VGPUCTL_VERSION,
		       VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
		return finish(EXIT_OK);
	}
	for (i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(word, commands[i].name)) {
			argv[1] = name; /* what getopt's messages begin with */
			return finish(run(&commands[i], argc - 1, argv + 1));
		}
	}
	usage(stderr);
	return fail_usage("no command %s", word);
}
