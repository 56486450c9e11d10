// SPDX-License-Identifier: GPL-2.0
/* vgpuctl: show and manage vGPUs. */
#include <stdio.h>
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
	{
		.name = "sched show", .run = cmd_sched_show,
		.allowed = OPT_JSON | OPT_GPU,
		.brief = "show how GPUs are scheduled, and what vGPUs get",
		.synopsis = "[--gpu GPU] [--json]",
		.help =
		"Per engine: share of the last window that a vGPU got. DUE is what it gets of\n"
		"an engine on which all vGPUs in use always have work.\n"
		"\n"
		"  --gpu GPU   of this GPU only (number or PCI address)\n",
	},
	{
		.name = "sched set", .run = cmd_sched_set,
		.allowed = OPT_JSON | OPT_GPU | OPT_SCHED,
		.brief = "set how a GPU is scheduled",
		.synopsis = "[--gpu GPU] OPTION... [--json]",
		.help =
		"All or nothing, while vGPUs run; prints what holds then.\n"
		"\n"
		"  --gpu GPU                  this GPU (number or PCI address); else the only one\n"
		"  --policy POLICY            best_effort, equal_share, fixed_share, qos\n"
		"  --slice TIME               how long a vGPU runs at a time, 1ms to 30ms\n"
		"  --frequency HZ             the same as slices per second, 63 to 960\n"
		"  --window TIME              what shares are measured in, 10ms to 1s\n"
		"  --preempt-timeout TIME     to stop within, else the engine is reset, 1ms to 1s\n"
		"  --linger TIME              wait for more work of the same vGPU, 0us to 1ms\n"
		"  --quarantine-faults N      faults in 60 s that lead to quarantine; 0: none do\n"
		"  --quarantine-backoff TIME  how long the first quarantine lasts, 1ms to 3600s\n"
		"\n"
		"A TIME has a unit: ns, us, ms or s.\n",
	},
	{
		.name = "sched log", .run = cmd_sched_log,
		.allowed = OPT_JSON | OPT_GPU | OPT_ENGINE | OPT_COUNT | OPT_LOG,
		.brief = "show which vGPU ran when, and why it stopped",
		.synopsis = "[--gpu GPU] [--engine ENGINE] [--count N] [--follow | --chart] [--json]",
		.help =
		"The last 200 runs of each engine that have ended.\n"
		"\n"
		"  --gpu GPU        of this GPU only (number or PCI address)\n"
		"  --engine ENGINE  of this engine only (gr, ce0, ...)\n"
		"  --count N        of each engine only the last N\n"
		"  --follow         go on with those to come; with --json one line each\n"
		"  --chart          draw who had each engine\n",
	},
	{
		.name = "share show", .run = cmd_share_show, .allowed = OPT_JSON,
		.args_max = 1,
		.brief = "show what vGPUs are to get",
		.synopsis = "[UUID] [--json]",
		.help = "",
	},
	{
		.name = "share set", .run = cmd_share_set,
		.allowed = OPT_JSON | OPT_SHARES,
		.brief = "set what vGPUs are to get",
		.synopsis = "UUID OPTION... [UUID OPTION...]... [--json]",
		.help =
		"All vGPUs named are set at once, or none is; prints what holds then.\n"
		"\n"
		"  --guarantee SHARE  of each engine, 0 to 1000 or 0% to 100%\n"
		"  --cap SHARE        no more than this, 1 to 1000; 1000: no cap\n"
		"  --weight N         of what is left over, 1 to 1000\n"
		"  --frl FPS          frames per second, 1 to 1000, off, or default: its type's\n"
		"\n"
		"A SHARE is per mille (250) or per cent (25%). Policies other than qos do not\n"
		"look at guarantee, cap and weight, but the sum of guarantees is checked.\n",
	},
	{
		.name = "hist", .run = cmd_hist,
		.allowed = OPT_JSON | OPT_ENGINE, .args_min = 1, .args_max = 1,
		.brief = "show how long a vGPU waited, overran and took to stop",
		.synopsis = "UUID [--engine ENGINE] [--json]",
		.help =
		"  --engine ENGINE  on this engine only (gr, ce0, ...)\n",
	},
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
	size_t i;

	fputs("Usage: vgpuctl COMMAND [OPTION...]\n\n", out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s  %s\n", commands[i].name, commands[i].brief);
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
	if (code == EXIT_USAGE)
		fprintf(stderr, "Usage: vgpuctl %s %s\n", command->name,
			command->synopsis);
	else if (!code && help)
		usage_command(command);
	else if (!code)
		code = command->run(&options);
	options_free(&options);
	return code;
}

/* Is @word the first one of the command's name? */
static bool first_word_is(const struct command *command, const char *word)
{
	size_t length = strcspn(command->name, " ");

	return strlen(word) == length && !memcmp(command->name, word, length);
}

/* The second one, or NULL. */
static const char *second_word(const struct command *command)
{
	const char *space = strchr(command->name, ' ');

	return space ? space + 1 : NULL;
}

static bool asks_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/*
 * @argv begins with a command. Where its name has two words, "show" may be
 * left out. @words: how many words there are before the options.
 */
static const struct command *find_command(int argc, char **argv, int *words)
{
	const char *next = argc > 1 ? argv[1] : NULL, *second;
	size_t i;

	*words = next && *next != '-' ? 2 : 1;
	for (i = 0; i < NR_COMMANDS; i++) {
		if (!first_word_is(&commands[i], argv[0]))
			continue;
		second = second_word(&commands[i]);
		if (!second)
			*words = 1;
		if (!second || !strcmp(second, *words == 2 ? next : "show"))
			return &commands[i];
	}
	return NULL;
}

/* What there is that begins with @word. */
static bool usage_group(FILE *out, const char *word)
{
	bool any = false;
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (!first_word_is(&commands[i], word) ||
		    !second_word(&commands[i]))
			continue;
		fprintf(out, "%s vgpuctl %s %s\n", any ? "      " : "Usage:",
			commands[i].name, commands[i].synopsis);
		any = true;
	}
	return any;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command;
	char name[] = "vgpuctl";
	int words;

	if (!word) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (asks_help(word) || !strcmp(word, "help")) {
		usage(stdout);
		return finish(EXIT_OK);
	}
	if (!strcmp(word, "--version")) {
		printf("vgpuctl %s (ABI %u.%u)\n", VGPUCTL_VERSION,
		       VGPU_ABI_MAJOR, VGPU_ABI_MINOR);
		return finish(EXIT_OK);
	}
	if (argc == 3 && asks_help(argv[2]) && usage_group(stdout, word)) {
		puts("\n--help after both words tells about a command");
		return finish(EXIT_OK);
	}
	command = find_command(argc - 1, argv + 1, &words);
	if (command) {
		argv[words] = name; /* what getopt's messages begin with */
		return finish(run(command, argc - words, argv + words));
	}
	if (words == 2 && usage_group(stderr, word))
		return fail_usage("no command %s %s", word, argv[2]);
	usage(stderr);
	return fail_usage("no command %s", word);
}
