// SPDX-License-Identifier: GPL-2.0
/* vgpu-samples: runs the samples on a vGPU and compares what they do with what the CPU does. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices.h"
#include "json.h"
#include "message.h"
#include "samples.h"

#define TIMEOUT_MS	600000
#define RING_ORDER	4

/**
 * struct options - the command line
 * @device:  UUID, render node or PCI address; NULL: the only one
 * @png:     directory for pictures; NULL: none
 * @seconds: how long each sample is repeated; 0: it runs once
 * @json:    the results as JSON
 * @list:    show the samples, run nothing
 * @help:    say how it is used, run nothing
 */
struct options {
	const char *device;
	const char *png;
	double seconds;
	bool json;
	bool list;
	bool help;
};

static const struct option long_options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "png", required_argument, NULL, 'p' },
	{ "seconds", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "list", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const char usage[] = "Usage: vgpu-samples [OPTION...] [NAME...]\n";

static const char help_text[] =
	"\n"
	"Runs samples, all or those that are named, on a vGPU. What each has done to its memory must\n"
	"be what the same code, compiled for the CPU, does.\n"
	"\n"
	"  -d, --device DEVICE  UUID of an mdev; in a virtual machine a render node or PCI address;\n"
	"                       without it, the first vGPU in a virtual machine, the only mdev on\n"
	"                       the host\n"
	"  -p, --png DIR        writes the pictures to DIR/NAME.png\n"
	"  -s, --seconds SECS   repeats each sample for so long\n"
	"      --json           results as JSON on standard output\n"
	"      --list           shows the samples, runs none\n";

/**
 * struct result - of a sample
 * @sample:    which
 * @runs:      how often it ran
 * @ns:        of all runs together
 * @native_ns: what the CPU took for one
 */
struct result {
	const struct sample *sample;
	unsigned int runs;
	uint64_t ns;
	uint64_t native_ns;
};

static void print_result(const struct result *result)
{
	static const char * const prefixes[] = { "", "k", "M", "G" };
	double rate = result->sample->work * result->runs * 1e9 / (double)result->ns;
	unsigned int i;

	for (i = 0; i < 3 && rate >= 1000; i++)
		rate /= 1000;
	printf("%-10s  %9.3f ms  %6.1f %s%s/s  CPU %9.3f ms  equal", result->sample->name,
	       (double)result->ns / 1e6 / result->runs, rate, prefixes[i], result->sample->unit,
	       (double)result->native_ns / 1e6);
	if (result->runs > 1)
		printf("  %u runs, %.2f/s", result->runs,
		       result->runs * 1e9 / (double)result->ns);
	putchar('\n');
	fflush(stdout);
}

static void json_result(struct json *json, const struct result *result)
{
	json_begin(json, NULL);
	json_text(json, "name", result->sample->name);
	json_u64(json, "runs", result->runs);
	json_u64(json, "time_ns", result->ns);
	json_u64(json, "cpu_time_ns", result->native_ns);
	json_u64(json, "work_per_run", (uint64_t)result->sample->work);
	json_text(json, "unit", result->sample->unit);
	json_end(json);
}

static enum exit_code fail_run(struct sample_run *run, struct vgpu_chan *chan, int ret)
{
	char text[256];

	if (ret == -EIO && !vgpu_chan_explain(chan, &run->elf, text, sizeof(text)))
		return fail("%s: %s", run->sample->name, text);
	return fail("%s: %s", run->sample->name, vgpu_dev_error(run->dev));
}

static enum exit_code write_picture(const struct options *options, const struct sample_run *run)
{
	const struct sample *sample = run->sample;
	char *path;
	int ret;

	if (!options->png || !sample->has_picture)
		return EXIT_OK;
	if (asprintf(&path, "%s/%s.png", options->png, sample->name) < 0)
		out_of_memory();
	ret = png_write(path, (const uint32_t *)(run->dev->fb + run->memory + sample->picture_at),
			sample->grid[0], sample->grid[1]);
	if (ret)
		fail("%s: %s", path, strerror(-ret));
	free(path);
	return ret ? EXIT_FAILED : EXIT_OK;
}

static enum exit_code run_loaded(const struct options *options, struct sample_run *run,
				 struct vgpu_chan *chan, struct result *result)
{
	int64_t differs;
	uint64_t ns;
	int ret;

	do {
		ret = sample_run(run, chan, TIMEOUT_MS, &ns);
		if (ret)
			return fail_run(run, chan, ret);
		result->ns += ns;
		result->runs++;
	} while ((double)result->ns < options->seconds * 1e9);
	differs = sample_compare(run, &result->native_ns);
	if (differs >= 0)
		return fail("%s: the CPU computes another byte %lld", run->sample->name,
			    (long long)differs);
	if (differs < -1)
		out_of_memory();
	return write_picture(options, run);
}

static enum exit_code run_sample(const struct options *options, struct vgpu_dev *dev,
				 struct vgpu_chan *chan, const struct sample *sample,
				 struct json *json)
{
	struct result result = { .sample = sample };
	struct sample_run run;
	enum exit_code code;

	if (sample_load(dev, sample, &run))
		return fail("%s: %s", sample->name, vgpu_dev_error(dev));
	code = run_loaded(options, &run, chan, &result);
	sample_unload(&run);
	if (!code && json)
		json_result(json, &result);
	else if (!code)
		print_result(&result);
	return code;
}

static enum exit_code run_samples(const struct options *options, struct vgpu_dev *dev,
				  struct vgpu_chan *chan, char **names)
{
	enum exit_code code = EXIT_OK;
	const struct sample *sample;
	struct json json;
	size_t i;

	json_init(&json, stdout, false);
	json_begin_array(&json, NULL);
	for (i = 0; !code && (*names ? !!names[i] : !!sample_at(i)); i++) {
		sample = *names ? sample_find(names[i]) : sample_at(i);
		code = run_sample(options, dev, chan, sample, options->json ? &json : NULL);
	}
	if (options->json)
		json_end(&json);
	return code;
}

static enum exit_code open_and_run(const struct options *options, char **names)
{
	struct vgpu_chan *chan = NULL;
	struct vgpu_dev *dev;
	enum exit_code code;
	int engine;

	if (options->png && access(options->png, W_OK | X_OK))
		return fail("%s: %s", options->png, strerror(errno));
	if (vgpu_dev_open(&dev, options->device))
		return fail("%s", vgpu_dev_error(NULL));
	engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);
	if (engine < 0 ||
	    vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER, &chan))
		code = fail("%s", vgpu_dev_error(dev));
	else
		code = run_samples(options, dev, chan, names);
	vgpu_chan_destroy(chan);
	vgpu_dev_close(dev);
	return code;
}

static enum exit_code parse_seconds(struct options *options, const char *text)
{
	char *end;

	options->seconds = strtod(text, &end);
	if (*end || isspace((unsigned char)*text) ||
	    !(options->seconds > 0 && options->seconds <= 1e9))
		return fail_usage("--seconds %s: more than 0, up to 1e9 are possible", text);
	return EXIT_OK;
}

/* Words for the completion of shells, where the last of @argv stands. */
static void complete(int argc, char **argv)
{
	const char *before = argc > 1 ? argv[argc - 2] : "";
	const struct sample *sample;
	size_t i;

	if (!strcmp(before, "-p") || !strcmp(before, "--png"))
		return;
	if (!strcmp(before, "-d") || !strcmp(before, "--device")) {
		complete_devices();
	} else if (argc && argv[argc - 1][0] == '-') {
		for (i = 0; long_options[i].name; i++)
			printf("--%s\n", long_options[i].name);
	} else {
		for (i = 0; (sample = sample_at(i)); i++)
			puts(sample->name);
	}
}

static enum exit_code parse(struct options *options, int argc, char **argv)
{
	enum exit_code code = EXIT_OK;
	int key, i;

	while (!code && (key = getopt_long(argc, argv, "d:p:s:h", long_options, NULL)) != -1) {
		if (key == 'd')
			options->device = optarg;
		else if (key == 'p')
			options->png = optarg;
		else if (key == 's')
			code = parse_seconds(options, optarg);
		else if (key == 'j')
			options->json = true;
		else if (key == 'l')
			options->list = true;
		else if (key == 'h')
			options->help = true;
		else
			code = EXIT_USAGE;
	}
	for (i = optind; i < argc && !code; i++)
		if (!sample_find(argv[i]))
			code = fail_usage("no sample %s (--list shows them)", argv[i]);
	return code;
}

static enum exit_code work(const struct options *options, char **names)
{
	const struct sample *sample;
	size_t i;

	if (options->help)
		printf("%s%s", usage, help_text);
	else if (!options->list)
		return open_and_run(options, names);
	for (i = 0; !options->help && (sample = sample_at(i)); i++)
		printf("%-10s  %s\n", sample->name, sample->brief);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options = {};
	enum exit_code code;

	message_prefix = "vgpu-samples: ";
	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		complete(argc - 2, argv + 2);
		return EXIT_OK;
	}
	code = parse(&options, argc, argv);
	if (code) {
		fputs(usage, stderr);
		return code;
	}
	code = work(&options, argv + optind); /* getopt has put the names last */
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: cannot write");
	return code;
}
