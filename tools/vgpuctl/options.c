// SPDX-License-Identifier: GPL-2.0
/* The command line behind a command's name. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "vgpuctl.h"

enum { KEY_JSON = 256, KEY_WATCH, KEY_COUNT, KEY_TYPE, KEY_GPU, KEY_UUID };

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

static enum exit_code parse_one(struct options *options, int key, bool *help)
{
	switch (key) {
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
	}
	return EXIT_USAGE; /* getopt has said why */
}

/* argv[0] is the command's name. */
enum exit_code options_parse(struct options *options,
			     const struct command *command, int argc,
			     char **argv, bool *help)
{
	struct option long_options[NR_KNOWN + 1];
	enum exit_code code;
	size_t i, nr = 0;
	int key, args;

	memset(options, 0, sizeof(*options));
	memset(long_options, 0, sizeof(long_options));
	for (i = 0; i < NR_KNOWN; i++)
		if (command->allowed & known[i].allowed || known[i].allowed == ~0u)
			long_options[nr++] = known[i].option;
	optind = 0;
	while ((key = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
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
	return EXIT_OK;
}
