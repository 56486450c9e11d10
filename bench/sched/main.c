// SPDX-License-Identifier: GPL-2.0
/* bench_sched: runs what the command line names and shows what came of it. */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "rows.h"
#include "run.h"

#define QUIET_NS	(2 * SEC)	/* so long nothing is said of progress */
#define PICK_REPEATS	21

const struct vgpu_sched_policy *const bench_policies[BENCH_POLICIES] = {
	&vgpu_policy_best_effort,
	&vgpu_policy_equal_share,
	&vgpu_policy_fixed_share,
	&vgpu_policy_qos,
	&bench_policy_gvt_like,
};

const char *const bench_promise_names[BENCH_PROMISES] = {
	"G", "G2", "C", "W", "P", "L",
};

/**
 * struct options - the command line
 * @seed:     of all that is random
 * @scenario: the only one; NULL: all
 * @policy:   the only one; NULL: all
 * @json:     file; NULL: none
 * @rows:     file; NULL: none
 * @svg:      file; NULL: none
 * @rst:      tables as reStructuredText
 * @no_rows:  scenarios only
 * @loads:    random loads of the row qos_violations
 */
struct options {
	u64 seed;
	const char *scenario;
	const char *policy;
	const char *json;
	const char *rows;
	const char *svg;
	bool rst;
	bool no_rows;
	unsigned int loads;
};

static const char usage_text[] =
	"Usage: bench_sched [OPTION]...\n"
	"\n"
	"Runs the scheduler's policies, and one of GVT-g's kind, on simulated engines in\n"
	"virtual time, all on the same arrivals, and prints how they compare.\n"
	"\n"
	"  --seed N         of all that is random (default 0x5eed)\n"
	"  --scenario NAME  this one only, and no rows\n"
	"  --policy NAME    this one only, and no rows\n"
	"  --loads N        random loads in which violations are looked for (10000)\n"
	"  --json FILE      write all results\n"
	"  --rows FILE      write the rows for build/bench.json, see bench/merge.py\n"
	"  --svg FILE       write charts\n"
	"  --rst            print tables as reStructuredText\n"
	"  --list           name scenarios and policies\n"
	"  --help           this\n";

static u64 began_ns;

void bench_progress(const char *fmt, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO) || bench_clock_ns() - began_ns < QUIET_NS)
		return;
	fputs("\r\033[K", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
}

static void list(void)
{
	unsigned int i;

	puts("scenarios:");
	for (i = 0; i < bench_nr_scenarios; i++)
		printf("  %-18s %s\n", bench_scenarios[i].name,
		       bench_scenarios[i].what);
	puts("policies:");
	for (i = 0; i < BENCH_POLICIES; i++)
		printf("  %s\n", bench_policies[i]->name);
}

static void usage_error(const char *what, const char *name)
{
	fprintf(stderr, "bench_sched: no %s %s; --list names them\n", what,
		name);
	exit(2);
}

static u64 parse_number(const char *option, const char *words)
{
	u64 number;
	char *end;

	number = strtoull(words, &end, 0);
	if (*end || end == words) {
		fprintf(stderr, "bench_sched: %s %s is not a number\n", option,
			words);
		exit(2);
	}
	return number;
}

static void parse(int argc, char **argv, struct options *options)
{
	enum { SEED = 1, SCENARIO, POLICY, LOADS, JSON, ROWS, SVG, RST, LIST,
	       HELP };
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, SEED },
		{ "scenario", required_argument, NULL, SCENARIO },
		{ "policy", required_argument, NULL, POLICY },
		{ "loads", required_argument, NULL, LOADS },
		{ "json", required_argument, NULL, JSON },
		{ "rows", required_argument, NULL, ROWS },
		{ "svg", required_argument, NULL, SVG },
		{ "rst", no_argument, NULL, RST },
		{ "list", no_argument, NULL, LIST },
		{ "help", no_argument, NULL, HELP },
		{},
	};
	bool known = false;
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case SEED:
			options->seed = parse_number("--seed", optarg);
			break;
		case LOADS:
			options->loads = max(parse_number("--loads", optarg), 1ULL);
			break;
		case SCENARIO:
			options->scenario = optarg;
			break;
		case POLICY:
			options->policy = optarg;
			break;
		case JSON:
			options->json = optarg;
			break;
		case ROWS:
			options->rows = optarg;
			break;
		case SVG:
			options->svg = optarg;
			break;
		case RST:
			options->rst = true;
			break;
		case LIST:
			list();
			exit(0);
		case HELP:
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind != argc)
		usage_error("argument", argv[optind]);
	if (options->scenario && !bench_scenario(options->scenario))
		usage_error("scenario", options->scenario);
	for (i = 0; i < BENCH_POLICIES; i++)
		known |= options->policy &&
			 !strcmp(options->policy, bench_policies[i]->name);
	if (options->policy && !known)
		usage_error("policy", options->policy);
	options->no_rows = options->scenario || options->policy;
}

/* Of one number of clients, found out once. */
static double pick_cost(unsigned int policy, unsigned int nr, u64 seed)
{
	static struct {
		unsigned int nr;
		double ns;
	} known[BENCH_POLICIES][16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known[0]); i++) {
		if (!known[policy][i].nr) {
			known[policy][i].nr = nr;
			known[policy][i].ns =
				bench_pick_cost(bench_policies[policy], nr,
						seed, PICK_REPEATS);
		}
		if (known[policy][i].nr == nr)
			return known[policy][i].ns;
	}
	bench_die("more than %zu sizes", ARRAY_SIZE(known[0]));
}

static void run_scenario(const struct bench_scenario *scenario,
			 const struct options *options,
			 struct bench_report *report)
{
	struct bench_case *bcase = bench_case_create(scenario, options->seed);
	unsigned int i, first = report->nr;

	for (i = 0; i < BENCH_POLICIES; i++) {
		struct bench_result *result = &report->result[report->nr];

		if (options->policy &&
		    strcmp(options->policy, bench_policies[i]->name))
			continue;
		bench_progress("%s, %s", scenario->name,
			       bench_policies[i]->name);
		bench_case_run(bcase, bench_policies[i], result);
		result->pick_ns = pick_cost(i, bcase->nr, options->seed);
		report->nr++;
	}
	bench_case_destroy(bcase);
	bench_progress("%s", "");
	bench_show_scenario(report, first, options->rst);
	fflush(stdout);
}

static void write_file(const char *name,
		       void (*write)(FILE *out,
				     const struct bench_report *report),
		       const struct bench_report *report)
{
	FILE *out;

	if (!name)
		return;
	out = fopen(name, "w");
	if (!out)
		bench_die("%s: %m", name);
	write(out, report);
	if (fclose(out))
		bench_die("%s: %m", name);
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 0x5eed, .loads = 10000 };
	const char *commit = getenv("COMMIT");
	struct bench_report report = {
		.commit = commit ? commit : "unknown",
		.picture = "hog_interactive",
		.bursty = "inference",
	};
	time_t now = time(NULL);
	unsigned int i;

	began_ns = bench_clock_ns();
	parse(argc, argv, &options);
	if (options.scenario) {
		report.picture = options.scenario;
		report.bursty = options.scenario;
	}
	report.seed = options.seed;
	report.result = bench_alloc(bench_nr_scenarios * BENCH_POLICIES *
				    sizeof(*report.result));
	strftime(report.date, sizeof(report.date), "%Y-%m-%d", gmtime(&now));
	bench_show_setup(&report);
	for (i = 0; i < bench_nr_scenarios; i++)
		if (!options.scenario ||
		    !strcmp(options.scenario, bench_scenarios[i].name))
			run_scenario(&bench_scenarios[i], &options, &report);
	if (!options.scenario)
		bench_show_summary(&report, options.rst);
	if (!options.no_rows)
		bench_rows(&report, options.loads, options.rst);
	bench_progress("%s", "");
	write_file(options.json, bench_json, &report);
	write_file(options.rows, bench_json_rows, &report);
	write_file(options.svg, bench_svg, &report);
	for (i = 0; i < report.nr; i++)
		free(report.result[i].span);
	free(report.result);
	free(report.loads);
	return 0;
}
