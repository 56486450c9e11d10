// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "near.h"
#include "sched.h"
#include "share.h"

#define THIS_GPU_ONLY		{ OPT_GPU, "of this GPU only (number or PCI address)" }
#define THE_GPU			{ OPT_GPU, "this GPU (number or PCI address); else the only one" }
#define THIS_PARTITION_ONLY	{ OPT_PARTITION, "of this partition only" }
#define THIS_ENGINE_ONLY(on)	{ OPT_ENGINE, on " this engine only (gr, ce0, ...)" }

static const struct command commands[] = {
	{
		.heading = "See GPUs and vGPUs",
		.name = "overview", .run = cmd_overview,
		.brief = "show GPUs, their vGPUs, and how busy they are",
		.synopsis = "[--gpu GPU] [--json]",
		.about =
		"vgpuctl without a command does the same. USED is framebuffer that belongs to vGPUs,\n"
		"BACKED the part of it that memory of the host backs. BUSY is per engine, in the\n"
		"scheduler's last window.\n",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "gpus", .run = cmd_gpus, .columns = gpus_columns,
		.brief = "list the GPUs that are shared",
		.synopsis = "[--json | -o COLUMNS]",
		.about = "Memory, channels, scheduler and engines of each GPU.\n",
	},
	{
		.name = "list", .run = cmd_list, .columns = list_columns,
		.brief = "list the vGPUs",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "show", .run = cmd_show, .args_min = 1, .args_max = 1,
		.brief = "show all about a vGPU",
		.synopsis = "UUID [--json]",
	},
	{
		.name = "types", .run = cmd_types, .columns = types_columns,
		.brief = "list the types, and how many more of each fit",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "creatable", .run = cmd_creatable, .columns = creatable_columns,
		.brief = "list the types of which more fit now, by GPU",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "placement", .run = cmd_placement, .columns = placement_columns,
		.brief = "show where vGPUs lie in the framebuffer, and what is free",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.about =
		"On a terminal it is also drawn, with the letters of the column MARK, and above them\n"
		"the partitions.\n",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "caps", .run = cmd_caps, .columns = caps_columns,
		.brief = "show what the driver and each GPU can do",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.about = "With -o or --noheadings it prints only the table of the GPUs.\n",
		.option = { THIS_GPU_ONLY },
	},
	{
		.heading = "Create and remove vGPUs",
		.name = "create", .run = cmd_create,
		.brief = "create a vGPU and print its UUID",
		.synopsis = "--type TYPE [--gpu GPU] [--uuid UUID] [--json]",
		.option = {
			{ OPT_TYPE, "SG16-4Q, or as in sysfs: vgpu_soft-SG16-4Q" },
			{ OPT_GPU, "on this GPU (number or PCI address); else on one with room" },
			{ OPT_UUID, "its name; else a random one" },
		},
	},
	{
		.name = "remove", .run = cmd_remove, .args_min = 1, .args_max = 1,
		.brief = "remove a vGPU",
		.synopsis = "UUID [--json]",
		.about =
		"If it is in use, its user is asked to let go of it, and the command waits\n"
		"until it has.\n",
	},
	{
		.name = "release", .run = cmd_release, .args_min = 1, .args_max = 1,
		.brief = "lift a vGPU's quarantine",
		.synopsis = "UUID [--json]",
	},
	{
		.heading = "Divide GPUs",
		.name = "partition list", .run = cmd_partition_list, .columns = partitions_columns,
		.brief = "list the partitions of GPUs",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "partition profiles", .run = cmd_partition_profiles,
		.columns = profiles_columns,
		.brief = "list the profiles, and where more of each fit",
		.synopsis = "[--gpu GPU] [--json | -o COLUMNS]",
		.about =
		"STARTS are the eighths of the framebuffer at which a partition can start, FREE\n"
		"those at which one would fit now.\n",
		.option = { THIS_GPU_ONLY },
	},
	{
		.name = "partition show", .run = cmd_partition_show,
		.argument = ARGUMENT_PARTITION, .args_min = 1, .args_max = 1,
		.brief = "show all about a partition",
		.synopsis = "NUMBER [--gpu GPU] [--json]",
		.option = { THE_GPU },
	},
	{
		.name = "partition create", .run = cmd_partition_create,
		.argument = ARGUMENT_PROFILE, .args_min = 1, .args_max = 1,
		.brief = "create a partition and print its number",
		.synopsis = "PROFILE [--start EIGHTH] [--gpu GPU] [--json]",
		.about = "vGPUs of other partitions run on. It needs the mode on.\n",
		.option = {
			{ OPT_START, "eighth of the framebuffer; else where it leaves most places" },
			THE_GPU,
		},
	},
	{
		.name = "partition remove", .run = cmd_partition_remove,
		.argument = ARGUMENT_PARTITION, .args_min = 1, .args_max = 1,
		.brief = "remove a partition that has no vGPUs",
		.synopsis = "NUMBER [--gpu GPU] [--json]",
		.option = { THE_GPU },
	},
	{
		.name = "partition mode", .run = cmd_partition_mode,
		.argument = ARGUMENT_SWITCH, .args_min = 1, .args_max = 1,
		.brief = "divide a GPU, or join it again",
		.synopsis = "on | off [--gpu GPU] [--json]",
		.about =
		"On: vGPUs are in partitions; it needs that no vGPU is on the whole GPU. Off: vGPUs\n"
		"are on the whole GPU; it needs that there are no partitions.\n",
		.option = { THE_GPU },
	},
	{
		.heading = "Watch what they do",
		.name = "top", .run = cmd_top, .no_json = true,
		.brief = "watch engines and vGPUs live, and change shares",
		.synopsis = "[--gpu GPU] [--watch=SECS] [--once]",
		.about =
		"Keys: q quits, s sorts by something else, r the other way round, e shows the next\n"
		"engine, up and down choose a vGPU, g, c and w set its guarantee, cap and weight,\n"
		"space stops and goes on. stats --watch --json is for programs.\n",
		.option = {
			THIS_GPU_ONLY,
			{ OPT_WATCH, "sample every SECS seconds (1)" },
			{ OPT_ONCE, "print it once, after SECS, with no terminal needed" },
		},
	},
	{
		.name = "stats", .run = cmd_stats, .args_max = 1, .columns = stats_columns,
		.brief = "show what vGPUs got of the engines",
		.synopsis = "[UUID] [--watch[=SECS]] [--count N] [--json | -o COLUMNS]",
		.about =
		"Per engine: share of the time since the last sample (since the vGPU was\n"
		"created, without --watch) and counters since it was created.\n",
		.option = {
			{ OPT_WATCH, "sample every SECS seconds (1); with --json one line each" },
			{ OPT_COUNT, "end after N samples (implies --watch)" },
		},
	},
	{
		.name = "process", .run = cmd_process, .columns = process_columns,
		.brief = "show processes that have vGPUs open, and their use",
		.synopsis = "[--gpu GPU] [--channels] [--json | -o COLUMNS]",
		.about =
		"Share of the scheduler's last window, and time since the vGPU was created. Below\n"
		"that the processes in the guests: their names and numbers are what each guest says,\n"
		"and may be false; their time is measured. BUSY is since the process's channels were\n"
		"enabled, TOTAL what these channels got since the vGPU was opened. With -o or\n"
		"--noheadings it prints only the processes of the host.\n",
		.option = {
			THIS_GPU_ONLY,
			{ OPT_CHANNELS, "show the channels of guests one by one" },
		},
	},
	{
		.name = "sessions", .run = cmd_sessions, .args_max = 1,
		.columns = sessions_columns,
		.brief = "show which processes had vGPUs open, and their use",
		.synopsis = "[UUID] [--gpu GPU] [--count N] [--json | -o COLUMNS]",
		.about =
		"From open to close, the oldest first: those that are open, and of each GPU the\n"
		"last 4000 that have ended, also of vGPUs that are gone.\n",
		.option = {
			THIS_GPU_ONLY,
			{ OPT_COUNT, "of each GPU only the newest N" },
		},
	},
	{
		.name = "hist", .run = cmd_hist, .args_min = 1, .args_max = 1,
		.brief = "show how long a vGPU waited, overran and took to stop",
		.synopsis = "UUID [--engine ENGINE] [--json]",
		.option = { THIS_ENGINE_ONLY("on") },
	},
	{
		.name = "events", .run = cmd_events,
		.brief = "print events as they happen",
		.synopsis = "[--count N] [--json]",
		.option = { { OPT_COUNT, "end after N events" } },
		.notes = "With --json one line each.\n",
	},
	{
		.name = "log", .run = cmd_log, .args_max = 1,
		.brief = "print past events, and what was refused and why",
		.synopsis = "[UUID] [--count N] [--json]",
		.about =
		"The newest 64 events of each vGPU and GPU, the oldest first; of those that are\n"
		"gone, of the last 64. The reason is given for a vGPU's newest refusal by each GPU;\n"
		"the kernel's log has the reasons of all refusals.\n",
		.option = { { OPT_COUNT, "only the newest N" } },
		.notes = "With --json one line each.\n",
	},
	{
		.name = "metrics", .run = cmd_metrics, .no_json = true,
		.brief = "print all figures as text for Prometheus",
		.synopsis = "[--file FILE] [--openmetrics] [--no-guests]",
		.about =
		"With --file a new file takes the place of FILE at once, as node_exporter's\n"
		"textfile collector needs it. If the driver is not loaded, vgpu_up is 0. All users\n"
		"of the host may read FILE: --no-guests keeps processes of guests out of it.\n",
		.option = {
			{ OPT_FILE, "(-f) to this file; else to standard output" },
			{ OPT_OPENMETRICS, "OpenMetrics 1.0, which node_exporter does not read" },
			{ OPT_NO_GUESTS, "nothing that guests say: no processes, no drivers" },
		},
	},
	{
		.heading = "Share the engines",
		.name = "sched show", .run = cmd_sched_show,
		.brief = "show how GPUs are scheduled, and what vGPUs get",
		.synopsis = "[--gpu GPU] [--partition NUMBER] [--json]",
		.about =
		"Per engine: share of the last window that a vGPU got. DUE is what it gets of\n"
		"an engine on which all vGPUs in use always have work. Of a GPU that is divided each\n"
		"partition is shown.\n",
		.option = { THIS_GPU_ONLY, THIS_PARTITION_ONLY },
	},
	{
		.name = "sched set", .run = cmd_sched_set,
		.brief = "set how a GPU is scheduled",
		.synopsis = "[--gpu GPU] [--partition NUMBER] OPTION... [--json]",
		.about = "Sets all options or none, while vGPUs run; prints the settings that hold then.\n",
		.option = { THE_GPU, { OPT_PARTITION, "this partition of it; else the whole GPU" } },
		.settings = &sched_settings,
		.notes = "A TIME has a unit: ns, us, ms or s.\n",
	},
	{
		.name = "sched log", .run = cmd_sched_log,
		.brief = "show which vGPU ran when, and why it stopped",
		.synopsis = "[--gpu GPU] [--partition NUMBER] [--engine ENGINE] [--count N] [--follow | --chart] [--json]",
		.about = "The last 200 runs of each engine that have ended.\n",
		.option = {
			THIS_GPU_ONLY,
			THIS_PARTITION_ONLY,
			THIS_ENGINE_ONLY("of"),
			{ OPT_COUNT, "of each engine only the last N" },
			{ OPT_FOLLOW, "go on with runs that end from now on; with --json one line each" },
			{ OPT_CHART, "draw which vGPU had each engine when" },
		},
	},
	{
		.name = "share show", .run = cmd_share_show, .args_max = 1,
		.columns = shares_columns, .shown = &share_settings,
		.brief = "show what vGPUs are to get",
		.synopsis = "[UUID] [--json | -o COLUMNS]",
	},
	{
		.name = "share set", .run = cmd_share_set,
		.brief = "set what vGPUs are to get",
		.synopsis = "UUID OPTION... [UUID OPTION...]... [--json]",
		.about = "Sets all vGPUs named at once, or none; prints the settings that hold then.\n",
		.settings = &share_settings,
		.notes =
		"A SHARE is per mille (250) or per cent (25%). Policies other than qos do not\n"
		"look at guarantee, cap and weight, but the sum of guarantees is checked.\n",
	},
	{
		.heading = "Save and restore",
		.name = "save", .run = cmd_save,
		.brief = "write the state of GPUs and vGPUs as apply takes it",
		.synopsis = "[-f FILE]",
		.about =
		"Partitions, policies, settings and vGPUs; vGPUs that mdevctl defines are left out.\n",
		.option = { { OPT_FILE, "(-f) to this file; else to standard output" } },
	},
	{
		.name = "apply", .run = cmd_apply,
		.brief = "bring GPUs and vGPUs into the state that a file declares",
		.synopsis = "-f FILE [--dry-run] [--json]",
		.about =
		"All that is wrong with the file is said, with its place, before anything is\n"
		"changed. vGPUs that the file does not name stay as they are.\n",
		.option = {
			{ OPT_FILE, "(-f) as save writes it; -: standard input" },
			{ OPT_DRY_RUN, "only say what would be changed" },
		},
	},
	{
		.heading = "Move to another host",
		.name = "migration show", .run = cmd_migration_show, .args_max = 1,
		.brief = "show what a vGPU is for a move",
		.synopsis = "UUID | --type TYPE [--gpu GPU] [--json]",
		.about =
		"The JSON is what migration check of another host takes. Of a type it is told what\n"
		"a new vGPU would be.\n",
		.option = {
			{ OPT_TYPE, "SG16-4Q, or as in sysfs: vgpu_soft-SG16-4Q" },
			{ OPT_GPU, "of this GPU (number or PCI address); else of the first that has it" },
		},
	},
	{
		.name = "migration check", .run = cmd_migration_check, .args_max = 1,
		.brief = "tell whether a vGPU can take over another one's state",
		.synopsis = "-f FILE UUID | --type TYPE [--gpu GPU] [--json]",
		.about =
		"If it cannot, the exit status is 1, and what differs is named. Whether there is\n"
		"room now does not count.\n",
		.option = {
			{ OPT_FILE, "(-f) JSON of migration show, or a saved stream; -: standard input" },
			{ OPT_TYPE, "a new vGPU of this type, as migration show takes it" },
			{ OPT_GPU, "of this GPU (number or PCI address); else of the first that has it" },
		},
	},
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

/* The commands in the order in which the help lists them; NULL after the last one. */
const struct command *command_at(size_t i)
{
	return i < NR_COMMANDS ? &commands[i] : NULL;
}

bool command_first_word_is(const struct command *command, const char *word)
{
	size_t length = strcspn(command->name, " ");

	return strlen(word) == length && !memcmp(command->name, word, length);
}

/* The second word of the command's name, or NULL if the name is one word. */
const char *command_second_word(const struct command *command)
{
	const char *space = strchr(command->name, ' ');

	return space ? space + 1 : NULL;
}

/* Writes all headings of the command's table to @text and returns it. */
const char *command_headings(const struct command *command, char *text, size_t room)
{
	snprintf(text, room, "%s", command->columns);
	if (command->shown)
		setting_headings(command->shown, text, room);
	return text;
}

/*
 * Finds the command that the words of @argv begin with, or returns NULL. Where a name has two
 * words, the second may be left out of the first such command, which is "show" or "list". @words
 * is set to the number of words that are the name.
 */
const struct command *command_find(int argc, char **argv, int *words)
{
	const char *next = argc > 1 ? argv[1] : NULL, *second;
	size_t i;

	*words = next && *next != '-' ? 2 : 1;
	for (i = 0; i < NR_COMMANDS; i++) {
		if (!command_first_word_is(&commands[i], argv[0]))
			continue;
		second = command_second_word(&commands[i]);
		if (!second)
			*words = 1;
		if (!second || *words == 1 || !strcmp(second, next))
			return &commands[i];
	}
	return NULL;
}

/* Is @word the first of two words of a command's name? */
bool command_has(const char *word)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (command_second_word(&commands[i]) && command_first_word_is(&commands[i], word))
			return true;
	return false;
}

/*
 * The name of the command that is most like the words of @argv, or NULL if none is like them. It is
 * for words that command_find() does not find.
 */
const char *command_near(int argc, char **argv)
{
	const char *next = argc > 1 && *argv[1] != '-' ? argv[1] : "", *second;
	bool first_known = command_has(argv[0]);
	struct near near = { NULL, 0 };
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		second = command_second_word(&commands[i]);
		if (first_known && second && command_first_word_is(&commands[i], argv[0]))
			near_try(&near, next, second, strlen(second), commands[i].name);
		else if (!first_known && second && !strcmp(second, next))
			near_try(&near, argv[0], commands[i].name,
				 strcspn(commands[i].name, " "), commands[i].name);
	}
	/* Where first words are equally near, those with the right second word have had theirs. */
	for (i = 0; i < NR_COMMANDS && !first_known; i++)
		near_try(&near, argv[0], commands[i].name, strcspn(commands[i].name, " "),
			 commands[i].name);
	return near.name;
}
