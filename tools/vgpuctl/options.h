/* SPDX-License-Identifier: GPL-2.0 */
/* The command line behind a command's name. */
#ifndef VGPUCTL_OPTIONS_H
#define VGPUCTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/vgpu.h>

#include "message.h"
#include "table.h"

struct command;

/* The numbers that getopt_long() returns. */
enum option_id {
	OPT_NONE = 0,
	OPT_ARGUMENT = 1,	/* no option: a UUID, after which options for this vGPU come */
	OPT_HELP = 'h',
	OPT_COLUMNS = 'o',
	OPT_FILE = 'f',
	OPT_JSON = 256,
	OPT_WATCH,
	OPT_COUNT,
	OPT_TYPE,
	OPT_GPU,
	OPT_UUID,
	OPT_ENGINE,
	OPT_FOLLOW,
	OPT_CHART,
	OPT_NOHEADINGS,
	OPT_DRY_RUN,
	OPT_OPENMETRICS,
	OPT_ONCE,
	OPT_CHANNELS,
	OPT_NO_GUESTS,
	OPT_PARTITION,
	OPT_START,
	OPT_SETTING,		/* from here on: the rows of the command's settings */
};

/**
 * struct option_form - how an option is typed that is no setting
 * @id:       its number
 * @name:     its name, without the dashes
 * @argument: how the help calls its argument; NULL: it has none
 * @optional: the argument may be left out
 */
struct option_form {
	enum option_id id;
	const char *name;
	const char *argument;
	bool optional;
};

/**
 * struct options - a command's line, taken apart
 * @command:   the command
 * @json:      print JSON
 * @form:      which part of a table is printed
 * @watch_ns:  time between two samples; 0: take one sample
 * @count:     end after this many samples, events or runs; 0: --count is not given
 * @type:      argument of --type, or NULL
 * @gpu:       argument of --gpu, or NULL
 * @uuid:      argument of --uuid or of the command, or NULL
 * @argument:  argument of the command that is no UUID, or NULL
 * @partition: argument of --partition; 0: it is not given
 * @start:     argument of --start, or VGPU_PARTITION_ANYWHERE
 * @engine:    argument of --engine, or NULL
 * @follow:    go on with runs that end from now on
 * @chart:     draw runs
 * @file:      argument of --file, or NULL
 * @dry_run:   only say what would be done
 * @openmetrics: write OpenMetrics
 * @once:      show it once, and end
 * @channels:  show channels one by one
 * @no_guests: leave out what guests say
 * @sched:     settings of a GPU's scheduler; @sched.valid says which are given
 * @shares:    settings of vGPUs, one element for each, or NULL; options_free() frees it
 * @nr_shares: number of elements of @shares
 * @meant:     the option that is most like one that is not known, or NULL
 */
struct options {
	const struct command *command;
	bool json;
	struct table_form form;
	uint64_t watch_ns;
	uint64_t count;
	const char *type;
	const char *gpu;
	const char *uuid;
	const char *argument;
	uint32_t partition;
	uint32_t start;
	const char *engine;
	bool follow;
	bool chart;
	const char *file;
	bool dry_run;
	bool openmetrics;
	bool once;
	bool channels;
	bool no_guests;
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_share *shares;
	uint32_t nr_shares;
	const char *meant;
};

const struct option_form *options_form(enum option_id id);
enum exit_code options_parse(struct options *options, const struct command *command, int argc,
			     char **argv, bool *help);
void options_free(struct options *options);

#endif /* VGPUCTL_OPTIONS_H */
