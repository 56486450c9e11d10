// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "near.h"
#include "setting.h"
#include "share.h"
#include "uuid.h"
#include "value.h"

#define MAX_SHARES	256	/* of one VGPU_IOC_SHARES_SET */
#define MAX_OPTIONS	32

static const struct option_form forms[] = {
	{ OPT_HELP, "help", NULL, false },
	{ OPT_JSON, "json", NULL, false },
	{ OPT_COLUMNS, "output", "COLUMNS", false },
	{ OPT_NOHEADINGS, "noheadings", NULL, false },
	{ OPT_FILE, "file", "FILE", false },
	{ OPT_DRY_RUN, "dry-run", NULL, false },
	{ OPT_OPENMETRICS, "openmetrics", NULL, false },
	{ OPT_ONCE, "once", NULL, false },
	{ OPT_CHANNELS, "channels", NULL, false },
	{ OPT_NO_GUESTS, "no-guests", NULL, false },
	{ OPT_WATCH, "watch", "SECS", true },
	{ OPT_COUNT, "count", "N", false },
	{ OPT_TYPE, "type", "TYPE", false },
	{ OPT_GPU, "gpu", "GPU", false },
	{ OPT_UUID, "uuid", "UUID", false },
	{ OPT_ENGINE, "engine", "ENGINE", false },
	{ OPT_FOLLOW, "follow", NULL, false },
	{ OPT_CHART, "chart", NULL, false },
	{ OPT_PARTITION, "partition", "NUMBER", false },
	{ OPT_START, "start", "EIGHTH", false },
};

/* How the option @id is typed, or NULL. */
const struct option_form *options_form(enum option_id id)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].id == id)
			return &forms[i];
	return NULL;
}

/* What is said if a command's argument is missing. */
static const char * const needed[] = {
	[ARGUMENT_UUID] = "a vGPU's UUID is needed (vgpuctl list shows them)",
	[ARGUMENT_PARTITION] = "a partition's number is needed (vgpuctl partition list shows them)",
	[ARGUMENT_PROFILE] = "a profile is needed (vgpuctl partition profiles lists them)",
	[ARGUMENT_SWITCH] = "on or off is needed",
};

static enum exit_code parse_watch(const char *text, uint64_t *ns)
{
	double seconds = 1;
	char *end;

	if (text) {
		seconds = strtod(text, &end);
		if (*end || isspace((unsigned char)*text) || !(seconds >= 0.01 && seconds <= 86400))
			return fail_usage("--watch=%s: 0.01 to 86400 seconds are possible",
					  text);
	}
	*ns = (uint64_t)(seconds * 1e9);
	return EXIT_OK;
}

static enum exit_code parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !*count)
		return fail_usage("--count %s: a number of at least 1 is needed",
				  text);
	return EXIT_OK;
}

/* The options that follow are for the vGPU with the UUID @text. */
static enum exit_code add_share(struct options *options, const char *text)
{
	struct vgpu_ctl_share *share;

	if (!options->shares)
		options->shares = calloc(MAX_SHARES, sizeof(*options->shares));
	if (!options->shares)
		return fail("out of memory");
	if (options->nr_shares == MAX_SHARES)
		return fail_usage("%s: more than %u vGPUs cannot be set at once",
				  text, MAX_SHARES);
	share = &options->shares[options->nr_shares];
	if (uuid_parse(text, share->uuid))
		return fail_usage("%s: not a UUID", text);
	options->nr_shares++;
	return EXIT_OK;
}

/* A setting of the GPU, or of the vGPU whose UUID came last. */
static enum exit_code parse_setting(struct options *options, const struct setting_table *settings,
				    const struct setting *setting)
{
	void *set = &options->sched;

	if (settings == &share_settings) {
		if (!options->nr_shares)
			return fail_usage("--%s %s: of which vGPU? Its UUID comes first",
					  setting->name, optarg);
		set = &options->shares[options->nr_shares - 1];
	}
	return setting_parse(settings, setting, optarg, set);
}

static enum exit_code parse_one(struct options *options, int key)
{
	switch (key) {
	case OPT_ARGUMENT:
		return add_share(options, optarg);
	case OPT_JSON:
		options->json = true;
		return EXIT_OK;
	case OPT_COLUMNS:
		options->form.columns = optarg;
		return EXIT_OK;
	case OPT_NOHEADINGS:
		options->form.bare = true;
		return EXIT_OK;
	case OPT_FILE:
		options->file = optarg;
		return EXIT_OK;
	case OPT_DRY_RUN:
		options->dry_run = true;
		return EXIT_OK;
	case OPT_OPENMETRICS:
		options->openmetrics = true;
		return EXIT_OK;
	case OPT_ONCE:
		options->once = true;
		return EXIT_OK;
	case OPT_CHANNELS:
		options->channels = true;
		return EXIT_OK;
	case OPT_NO_GUESTS:
		options->no_guests = true;
		return EXIT_OK;
	case OPT_WATCH:
		return parse_watch(optarg, &options->watch_ns);
	case OPT_COUNT:
		return parse_count(optarg, &options->count);
	case OPT_TYPE:
		options->type = optarg;
		return EXIT_OK;
	case OPT_GPU:
		options->gpu = optarg;
		return EXIT_OK;
	case OPT_UUID:
		options->uuid = optarg;
		return EXIT_OK;
	case OPT_PARTITION:
		return value_number("partition", optarg, 1, UINT32_MAX, &options->partition);
	case OPT_START:
		return value_number("start", optarg, 0, VGPU_PARTITION_EIGHTHS - 1,
				    &options->start);
	case OPT_ENGINE:
		options->engine = optarg;
		return EXIT_OK;
	case OPT_FOLLOW:
		options->follow = true;
		return EXIT_OK;
	case OPT_CHART:
		options->chart = true;
		return EXIT_OK;
	}
	return EXIT_USAGE; /* getopt has said why */
}

/* Is each vGPU given something, and is there one? */
static enum exit_code check_shares(const struct options *options, const struct command *command)
{
	char uuid[UUID_STR_LEN], names[256];
	uint32_t i;

	if (!options->nr_shares)
		return fail_usage("%s: a vGPU's UUID is needed (vgpuctl list shows them)",
				  command->name);
	for (i = 0; i < options->nr_shares; i++)
		if (!options->shares[i].valid)
			return fail_usage("vGPU %s: what is it to get? %s is needed",
					  uuid_format(options->shares[i].uuid, uuid),
					  setting_options(command->settings, names, sizeof(names)));
	return EXIT_OK;
}

static enum exit_code check_sched(const struct options *options, const struct command *command)
{
	if (!options->sched.valid)
		return fail_usage("%s: nothing is to be set", command->name);
	return setting_check(command->settings, options->sched.valid);
}

/* JSON has all keys, whatever is shown of a table. */
static enum exit_code check_form(const struct options *options)
{
	char headings[512];

	if (options->json && (options->form.columns || options->form.bare))
		return fail_usage("--json goes with neither -o nor --noheadings, which are for tables");
	if (!options->form.columns)
		return EXIT_OK;
	return table_check(command_headings(options->command, headings, sizeof(headings)),
			   &options->form);
}

void options_free(struct options *options)
{
	free(options->shares);
	options->shares = NULL;
	options->nr_shares = 0;
}

static void add_form(struct option *to, const struct option_form *form)
{
	to->name = form->name;
	to->has_arg = form->optional ? optional_argument :
		form->argument ? required_argument : no_argument;
	to->val = (int)form->id;
}

/* The options of a command for getopt_long(). @to has MAX_OPTIONS elements. */
static void list_options(const struct command *command, struct option *to)
{
	const struct setting_table *settings = command->settings;
	size_t i, nr = 0;

	memset(to, 0, MAX_OPTIONS * sizeof(*to));
	add_form(&to[nr++], options_form(OPT_HELP));
	if (!command->no_json)
		add_form(&to[nr++], options_form(OPT_JSON));
	if (command->columns) {
		add_form(&to[nr++], options_form(OPT_COLUMNS));
		add_form(&to[nr++], options_form(OPT_NOHEADINGS));
	}
	for (i = 0; i < COMMAND_OPTIONS && command->option[i].id; i++)
		add_form(&to[nr++], options_form(command->option[i].id));
	for (i = 0; settings && i < settings->nr && nr < MAX_OPTIONS - 1; i++) {
		if (!settings->setting[i].name)
			continue;
		to[nr].name = settings->setting[i].name;
		to[nr].has_arg = required_argument;
		to[nr++].val = OPT_SETTING + (int)i;
	}
}

/* getopt_long() does not know the option @typed: which one may be meant? */
static const char *nearest_option(const char *typed, const struct option *known)
{
	struct near near = { NULL, 0 };
	char name[64];

	typed += strspn(typed, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	for (; known->name; known++) {
		/* Of several that begin so getopt_long() has told all. */
		if (!strncmp(name, known->name, strlen(name)))
			return NULL;
		near_try(&near, name, known->name, strlen(known->name), known->name);
	}
	return near.name;
}

/*
 * Takes the words behind a command's name apart. argv[0] is what the messages of getopt_long()
 * begin with.
 * @help is set if the user asks for help. options_free() must be called whatever is returned.
 */
enum exit_code options_parse(struct options *options, const struct command *command, int argc,
			     char **argv, bool *help)
{
	const struct setting_table *settings = command->settings;
	struct option long_options[MAX_OPTIONS];
	const char *short_options;
	enum exit_code code;
	int key, args;

	memset(options, 0, sizeof(*options));
	options->command = command;
	options->start = VGPU_PARTITION_ANYWHERE;
	list_options(command, long_options);
	optind = 0;
	short_options = settings == &share_settings ? "-h" :
		command->columns ? "ho:" : command->option[0].id == OPT_FILE ? "hf:" : "h";
	while ((key = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (key == '?' && !optopt)
			options->meant = nearest_option(argv[optind - 1], long_options);
		*help = key == OPT_HELP;
		if (*help)
			return EXIT_OK;
		if (key >= OPT_SETTING)
			code = parse_setting(options, settings,
					     &settings->setting[key - OPT_SETTING]);
		else
			code = parse_one(options, key);
		if (code)
			return code;
	}
	args = argc - optind;
	if (args < command->args_min)
		return fail_usage("%s: %s", command->name, needed[command->argument]);
	if (args > command->args_max)
		return fail_usage("%s: unexpected argument %s", command->name,
				  argv[optind + command->args_max]);
	if (args && command->argument)
		options->argument = argv[optind];
	else if (args)
		options->uuid = argv[optind];
	if (settings == &share_settings)
		return check_shares(options, command);
	return settings ? check_sched(options, command) : check_form(options);
}
