// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

enum {
	OPT_KERNEL = 'k',
	OPT_GRID = 'g',
	OPT_ARG = 'a',
	OPT_DEVICE = 'd',
	OPT_OUT = 'o',
	OPT_HELP = 'h',
	OPT_GROUP = 256,
	OPT_LOCAL,
	OPT_TIMEOUT,
	OPT_TIME,
	OPT_JSON,
	OPT_LIST,
};

static const struct option long_options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "grid", required_argument, NULL, OPT_GRID },
	{ "group", required_argument, NULL, OPT_GROUP },
	{ "local", required_argument, NULL, OPT_LOCAL },
	{ "arg", required_argument, NULL, OPT_ARG },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "time", no_argument, NULL, OPT_TIME },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ }
};

static const char usage[] =
	"Usage: vgpu-run PROGRAM --kernel NAME --grid X[,Y[,Z]] [OPTION...] [--arg VALUE...]\n"
	"       vgpu-run PROGRAM --list [--json]\n";

static const char help_text[] =
	"\n"
	"Runs a kernel of a program, an ELF file for RISC-V made with vgpu_device.h, on a vGPU.\n"
	"\n"
	"  -k, --kernel NAME      which kernel\n"
	"  -g, --grid X[,Y[,Z]]   work-items per dimension\n"
	"      --group X[,Y[,Z]]  work-items of a work-group; without it, vgpu-run chooses\n"
	"      --local BYTES      memory of a work-group, beside the program's variables there\n"
	"  -a, --arg VALUE        the kernel's next argument, see below\n"
	"  -o, --out FILE         gets the buffer of the last --arg before it\n"
	"  -d, --device DEVICE    UUID of an mdev; in a virtual machine a render node or PCI address;\n"
	"                         without it, the first vGPU in a virtual machine, the only mdev on\n"
	"                         the host\n"
	"      --timeout SECS     gives up after SECS seconds\n"
	"      --time             says how long the kernel took\n"
	"      --json             the result, or the kernels of --list, as JSON on standard output\n"
	"      --list             shows the program's kernels and their arguments, runs nothing\n"
	"\n"
	"VALUE is a number, or for a buffer a size with what it holds, with the type before it or\n"
	"without:\n"
	"\n"
	"  5, u32:5, f32:1.5      u32, i32, f32, u64, i64 or f64, as the kernel declares\n"
	"  buf:64K                a buffer of 64 KiB, which is zero (K, M, G)\n"
	"  buf:64K=FILE           with the content of FILE\n"
	"  buf:=FILE              the same, as large as FILE\n"
	"  buf:64K>FILE           which is written to FILE at the end\n"
	"  local:4K               memory of the work-group\n"
	"\n"
	"A log, for what the kernel prints, needs no --arg.\n";

/* "4096", "64K". */
bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	*bytes = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || errno)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

static enum exit_code parse_shape(const char *option, const char *text, uint32_t *shape)
{
	const char *at = text;
	unsigned long value;
	unsigned int i;
	char *end;

	for (i = 0; i < 3; i++)
		shape[i] = 1;
	for (i = 0; i < 3; i++) {
		errno = 0;
		value = strtoul(at, &end, 0);
		if (!isdigit((unsigned char)*at) || errno || !value || value > UINT32_MAX)
			break;
		shape[i] = (uint32_t)value;
		if (!*end)
			return EXIT_OK;
		if (*end != ',')
			break;
		at = end + 1;
	}
	return fail_usage("--%s %s: one to three numbers from 1 to 4294967295 are needed", option,
			  text);
}

static enum exit_code parse_local(struct options *options, const char *text)
{
	uint64_t bytes;

	if (!parse_bytes(text, &bytes) || bytes > VGPU_HW_LOCAL_MAX)
		return fail_usage("--local %s: up to %u bytes are possible", text,
				  VGPU_HW_LOCAL_MAX);
	options->local_bytes = (uint32_t)bytes;
	return EXIT_OK;
}

static enum exit_code parse_timeout(struct options *options, const char *text)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (*end || isspace((unsigned char)*text) || !(seconds >= 0.001 && seconds <= 1e9))
		return fail_usage("--timeout %s: 0.001 to 1e9 seconds are possible", text);
	options->timeout_ms = (uint64_t)(seconds * 1000);
	return EXIT_OK;
}

static enum exit_code add_arg(struct options *options, const char *text)
{
	if (options->nr_args == VGPU_KERNEL_ARGS)
		return fail_usage("--arg %s: more than %u arguments", text, VGPU_KERNEL_ARGS);
	options->arg[options->nr_args++].text = text;
	return EXIT_OK;
}

static enum exit_code add_out(struct options *options, const char *file)
{
	if (!options->nr_args)
		return fail_usage("--out %s: of which buffer? Its --arg comes first", file);
	if (options->arg[options->nr_args - 1].out)
		return fail_usage("--out %s: that buffer goes to %s already", file,
				  options->arg[options->nr_args - 1].out);
	options->arg[options->nr_args - 1].out = file;
	return EXIT_OK;
}

static enum exit_code parse_one(struct options *options, int key)
{
	switch (key) {
	case OPT_KERNEL:
		options->kernel = optarg;
		return EXIT_OK;
	case OPT_DEVICE:
		options->device = optarg;
		return EXIT_OK;
	case OPT_GRID:
		return parse_shape("grid", optarg, options->grid);
	case OPT_GROUP:
		return parse_shape("group", optarg, options->group);
	case OPT_LOCAL:
		return parse_local(options, optarg);
	case OPT_TIMEOUT:
		return parse_timeout(options, optarg);
	case OPT_ARG:
		return add_arg(options, optarg);
	case OPT_OUT:
		return add_out(options, optarg);
	case OPT_TIME:
		options->time = true;
		return EXIT_OK;
	case OPT_JSON:
		options->json = true;
		return EXIT_OK;
	case OPT_LIST:
		options->list = true;
		return EXIT_OK;
	}
	return EXIT_USAGE; /* getopt has said why */
}

static enum exit_code check(const struct options *options)
{
	if (!options->program)
		return fail_usage("which program?");
	if (options->list)
		return EXIT_OK;
	if (!options->kernel)
		return fail_usage("which kernel? --kernel NAME is needed (--list shows them)");
	if (!options->grid[0])
		return fail_usage("how many work-items? --grid X[,Y[,Z]] is needed");
	return EXIT_OK;
}

static enum exit_code parse_words(struct options *options, int argc, char **argv, bool *help)
{
	enum exit_code code = EXIT_OK;
	int key;

	while (!code && (key = getopt_long(argc, argv, "k:g:a:o:d:h", long_options, NULL)) != -1) {
		*help = key == OPT_HELP;
		if (*help)
			return EXIT_OK;
		code = parse_one(options, key);
	}
	if (code)
		return code;
	if (optind < argc)
		options->program = argv[optind++];
	if (optind < argc)
		return fail_usage("unexpected argument %s", argv[optind]);
	return check(options);
}

enum exit_code options_parse(struct options *options, int argc, char **argv, bool *help)
{
	enum exit_code code;

	memset(options, 0, sizeof(*options));
	code = parse_words(options, argc, argv, help);
	if (code)
		fputs(usage, stderr);
	else if (*help)
		printf("%s%s", usage, help_text);
	return code;
}
