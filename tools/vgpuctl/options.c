// SPDX-License-Identifier: GPL-2.0
/* The command line behind a command's name. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "vgpuctl.h"

enum {
	KEY_ARGUMENT = 1, /* getopt's, where the order matters */
	KEY_JSON = 256, KEY_WATCH, KEY_COUNT, KEY_TYPE, KEY_GPU, KEY_UUID,
	KEY_ENGINE, KEY_FOLLOW, KEY_CHART,
	KEY_POLICY, KEY_SLICE, KEY_FREQUENCY, KEY_WINDOW, KEY_PREEMPT_TIMEOUT,
	KEY_LINGER, KEY_QUARANTINE_FAULTS, KEY_QUARANTINE_BACKOFF,
	KEY_GUARANTEE, KEY_CAP, KEY_WEIGHT, KEY_FRL,
};

#define MAX_SHARES	256	/* of one VGPU_IOC_SHARES_SET */

static const struct {
	unsigned int allowed;
	struct option option;
} known[] = {
	{ ~0u, { "help", no_argument, NULL, 'h' } },
	{ OPT_JSON, { "json", no_argument, NULL, KEY_JSON } },
	{ OPT_WATCH, { "watch", optional_argument, NULL, KEY_WATCH } },
	{ OPT_COUNT, { "count", required_argument, NULL, KEY_COUNT } },
	{ OPT_TYPE, { "type", required_argument, NULL, KEY_TYPE } },
	{ OPT_GPU, { "gpu", required_argument, NULL, KEY_GPU } },
	{ OPT_UUID, { "uuid", required_argument, NULL, KEY_UUID } },
	{ OPT_ENGINE, { "engine", required_argument, NULL, KEY_ENGINE } },
	{ OPT_LOG, { "follow", no_argument, NULL, KEY_FOLLOW } },
	{ OPT_LOG, { "chart", no_argument, NULL, KEY_CHART } },
	{ OPT_SCHED, { "policy", required_argument, NULL, KEY_POLICY } },
	{ OPT_SCHED, { "slice", required_argument, NULL, KEY_SLICE } },
	{ OPT_SCHED, { "frequency", required_argument, NULL, KEY_FREQUENCY } },
	{ OPT_SCHED, { "window", required_argument, NULL, KEY_WINDOW } },
	{ OPT_SCHED, { "preempt-timeout", required_argument, NULL,
		       KEY_PREEMPT_TIMEOUT } },
	{ OPT_SCHED, { "linger", required_argument, NULL, KEY_LINGER } },
	{ OPT_SCHED, { "quarantine-faults", required_argument, NULL,
		       KEY_QUARANTINE_FAULTS } },
	{ OPT_SCHED, { "quarantine-backoff", required_argument, NULL,
		       KEY_QUARANTINE_BACKOFF } },
	{ OPT_SHARES, { "guarantee", required_argument, NULL, KEY_GUARANTEE } },
	{ OPT_SHARES, { "cap", required_argument, NULL, KEY_CAP } },
	{ OPT_SHARES, { "weight", required_argument, NULL, KEY_WEIGHT } },
	{ OPT_SHARES, { "frl", required_argument, NULL, KEY_FRL } },
};

#define NR_KNOWN	(sizeof(known) / sizeof(known[0]))

static enum exit_code parse_watch(const char *text, uint64_t *ns)
{
	double seconds = 1;
	char *end;

	if (text) {
		seconds = strtod(text, &end);
		if (*end || end == text || !(seconds >= 0.01 && seconds <= 86400))
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
	if (*end || end == text || errno || !*count || *text == '-')
		return fail_usage("--count %s: a number of at least 1 is needed",
				  text);
	return EXIT_OK;
}

static enum exit_code parse_policy(const char *text, uint8_t *policy)
{
	size_t length = strlen(text);

	/* Which policies there are, the driver knows. */
	if (!length || length >= VGPU_ADDR_LEN)
		return fail_usage("--policy %s: not the name of a policy", text);
	memcpy(policy, text, length + 1);
	return EXIT_OK;
}

/* A time of which the ABI takes a 32-bit number of @unit_ns. */
static enum exit_code parse_time32(const char *option, uint64_t unit_ns,
				   uint32_t *value)
{
	enum exit_code code;
	uint64_t units;

	code = value_time(option, optarg, unit_ns, UINT32_MAX, &units);
	if (!code)
		*value = (uint32_t)units;
	return code;
}

static enum exit_code parse_time64(const char *option, uint64_t *ns)
{
	uint64_t units;
	enum exit_code code;

	code = value_time(option, optarg, 1, UINT64_MAX, &units);
	if (!code)
		*ns = units;
	return code;
}

static enum exit_code parse_sched(struct vgpu_ctl_sched *sched, int key)
{
	uint64_t ns = 0;
	enum exit_code code;

	switch (key) {
	case KEY_POLICY:
		sched->valid |= VGPU_SCHED_POLICY;
		return parse_policy(optarg, sched->policy);
	case KEY_SLICE:
		sched->valid |= VGPU_SCHED_SLICE;
		code = parse_time64("slice", &ns);
		sched->slice_ns = ns;
		return code;
	case KEY_FREQUENCY:
		sched->valid |= VGPU_SCHED_FREQUENCY;
		return value_frequency("frequency", optarg,
				       &sched->frequency_hz);
	case KEY_WINDOW:
		sched->valid |= VGPU_SCHED_WINDOW;
		code = parse_time64("window", &ns);
		sched->window_ns = ns;
		return code;
	case KEY_PREEMPT_TIMEOUT:
		sched->valid |= VGPU_SCHED_PREEMPT_TIMEOUT;
		return parse_time32("preempt-timeout", 1000,
				    &sched->preempt_timeout_us);
	case KEY_LINGER:
		sched->valid |= VGPU_SCHED_LINGER;
		return parse_time32("linger", 1000, &sched->linger_us);
	case KEY_QUARANTINE_FAULTS:
		sched->valid |= VGPU_SCHED_QUARANTINE_FAULTS;
		return value_number("quarantine-faults", optarg, 0, UINT32_MAX,
				    &sched->quarantine_faults);
	case KEY_QUARANTINE_BACKOFF:
		sched->valid |= VGPU_SCHED_QUARANTINE_BACKOFF;
		return parse_time32("quarantine-backoff", 1000000,
				    &sched->quarantine_backoff_ms);
	}
	return EXIT_USAGE;
}

/* What follows is about this vGPU. */
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
	if (!uuid_parse(text, share->uuid))
		return fail_usage("%s: not a UUID", text);
	options->nr_shares++;
	return EXIT_OK;
}

static enum exit_code parse_share(struct options *options, int key)
{
	static const char * const names[] = { "guarantee", "cap", "weight", "frl" };
	const char *name = names[key - KEY_GUARANTEE];
	struct vgpu_ctl_share *share;

	if (!options->nr_shares)
		return fail_usage("--%s %s: of which vGPU? Its UUID comes first",
				  name, optarg);
	share = &options->shares[options->nr_shares - 1];
	switch (key) {
	case KEY_GUARANTEE:
		share->valid |= VGPU_SHARE_GUARANTEE;
		return value_permille(name, optarg, 0, &share->guarantee);
	case KEY_CAP:
		share->valid |= VGPU_SHARE_CAP;
		return value_permille(name, optarg, 1, &share->cap);
	case KEY_WEIGHT:
		share->valid |= VGPU_SHARE_WEIGHT;
		return value_number(name, optarg, 1, 1000, &share->weight);
	case KEY_FRL:
		share->valid |= VGPU_SHARE_FRL;
		return value_frl(name, optarg, &share->frl);
	}
	return EXIT_USAGE;
}

static enum exit_code parse_one(struct options *options, int key, bool *help)
{
	switch (key) {
	case KEY_ARGUMENT:
		return add_share(options, optarg);
	case 'h':
		*help = true;
		return EXIT_OK;
	case KEY_JSON:
		options->json = true;
		return EXIT_OK;
	case KEY_WATCH:
		return parse_watch(optarg, &options->watch_ns);
	case KEY_COUNT:
		return parse_count(optarg, &options->count);
	case KEY_TYPE:
		options->type = optarg;
		return EXIT_OK;
	case KEY_GPU:
		options->gpu = optarg;
		return EXIT_OK;
	case KEY_UUID:
		options->uuid = optarg;
		return EXIT_OK;
	case KEY_ENGINE:
		options->engine = optarg;
		return EXIT_OK;
	case KEY_FOLLOW:
		options->follow = true;
		return EXIT_OK;
	case KEY_CHART:
		options->chart = true;
		return EXIT_OK;
	case KEY_POLICY ... KEY_QUARANTINE_BACKOFF:
		return parse_sched(&options->sched, key);
	case KEY_GUARANTEE ... KEY_FRL:
		return parse_share(options, key);
	}
	return EXIT_USAGE; /* getopt has said why */
}

/* What is wrong though each option for itself is right. */
static enum exit_code check_shares(const struct options *options,
				   const struct command *command)
{
	char uuid[UUID_TEXT_LEN];
	uint32_t i;

	if (!options->nr_shares)
		return fail_usage("%s: a vGPU's UUID is needed (vgpuctl list shows them)",
				  command->name);
	for (i = 0; i < options->nr_shares; i++)
		if (!options->shares[i].valid)
			return fail_usage("vGPU %s: what is it to get? --guarantee, --cap, --weight or --frl is needed",
					  uuid_format(options->shares[i].uuid, uuid));
	return EXIT_OK;
}

static enum exit_code check_sched(const struct options *options,
				  const struct command *command)
{
	const uint32_t both = VGPU_SCHED_SLICE | VGPU_SCHED_FREQUENCY;

	if (!options->sched.valid)
		return fail_usage("%s: nothing is to be set", command->name);
	if ((options->sched.valid & both) == both)
		return fail_usage("--slice and --frequency set the same thing: one of them is enough");
	return EXIT_OK;
}

void options_free(struct options *options)
{
	free(options->shares);
	options->shares = NULL;
	options->nr_shares = 0;
}

/* argv[0] is what messages begin with. options_free() in any case. */
enum exit_code options_parse(struct options *options,
			     const struct command *command, int argc,
			     char **argv, bool *help)
{
	struct option long_options[NR_KNOWN + 1];
	const char *short_options;
	enum exit_code code;
	size_t i, nr = 0;
	int key, args;

	memset(options, 0, sizeof(*options));
	memset(long_options, 0, sizeof(long_options));
	for (i = 0; i < NR_KNOWN; i++)
		if (command->allowed & known[i].allowed || known[i].allowed == ~0u)
			long_options[nr++] = known[i].option;
	optind = 0;
	short_options = command->allowed & OPT_SHARES ? "-h" : "h";
	while ((key = getopt_long(argc, argv, short_options, long_options,
				  NULL)) != -1) {
		code = parse_one(options, key, help);
		if (code || *help)
			return code;
	}
	args = argc - optind;
	if (args < command->args_min)
		return fail_usage("%s: a vGPU's UUID is needed (vgpuctl list shows them)",
				  command->name);
	if (args > command->args_max)
		return fail_usage("%s: unexpected argument %s", command->name,
				  argv[optind + command->args_max]);
	if (args)
		options->uuid = argv[optind];
	if (command->allowed & OPT_SHARES)
		return check_shares(options, command);
	if (command->allowed & OPT_SCHED)
		return check_sched(options, command);
	return EXIT_OK;
}
