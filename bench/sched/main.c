// SPDX-License-Identifier: GPL-2.0
/* bench_sched: runs the scenarios that the command line names, and shows what came of them. */
#include <stdlib.h>
#include <time.h>

#include "options.h"
#include "pick.h"
#include "report.h"
#include "rows.h"
#include "run.h"

#define PICK_REPEATS	21

/**
 * struct options - the command line
 * @seed:     seed of all that is random
 * @loads:    number of random loads of the row qos_violations
 * @scenario: name of the only scenario; NULL: all scenarios
 * @policy:   name of the only policy; NULL: all policies
 * @json:     file for all results; NULL: none
 * @rows:     file for rows; NULL: none
 * @svg:      file for charts; NULL: none
 * @rst:      tables are reStructuredText
 * @list:     only name scenarios and policies
 * @no_rows:  run scenarios only
 */
struct options {
	u64 seed;
	u64 loads;
	const char *scenario;
	const char *policy;
	const char *json;
	const char *rows;
	const char *svg;
	bool rst;
	bool list;
	bool no_rows;
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

static void list(void)
{
	unsigned int i;

	puts("scenarios:");
	for (i = 0; i < bench_nr_scenarios; i++)
		printf("  %-18s %s\n", bench_scenarios[i].name, bench_scenarios[i].what);
	puts("policies:");
	for (i = 0; i < BENCH_POLICIES; i++)
		printf("  %s\n", bench_policy_at(i)->name);
}

static void usage_error(const char *what, const char *name)
{
	fprintf(stderr, "bench_sched: no %s %s; --list names them\n", what, name);
	exit(2);
}

static void parse(int argc, char **argv, struct options *options)
{
	const struct bench_option table[] = {
		{ "seed", .number = &options->seed },
		{ "scenario", .words = &options->scenario },
		{ "policy", .words = &options->policy },
		{ "loads", .number = &options->loads },
		{ "json", .words = &options->json },
		{ "rows", .words = &options->rows },
		{ "svg", .words = &options->svg },
		{ "rst", .flag = &options->rst },
		{ "list", .flag = &options->list },
		{},
	};
	bool known = false;
	unsigned int i;

	bench_options(argc, argv, usage_text, table);
	if (options->scenario && !bench_scenario(options->scenario))
		usage_error("scenario", options->scenario);
	for (i = 0; i < BENCH_POLICIES; i++)
		known |= options->policy && !strcmp(options->policy, bench_policy_at(i)->name);
	if (options->policy && !known)
		usage_error("policy", options->policy);
	options->loads = max(options->loads, 1ULL);
	options->no_rows = options->scenario || options->policy;
}

/* What a decision of @policy costs among @nr entities; each is measured once. */
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
				bench_pick_cost(bench_policy_at(policy), nr, seed, PICK_REPEATS);
		}
		if (known[policy][i].nr == nr)
			return known[policy][i].ns;
	}
	bench_die("more than %zu sizes", ARRAY_SIZE(known[0]));
}

static void run_scenario(const struct bench_scenario *scenario, const struct options *options,
			 struct bench_report *report)
{
	struct bench_case *bcase = bench_case_create(scenario, options->seed);
	unsigned int i, first = report->nr;

	for (i = 0; i < BENCH_POLICIES; i++) {
		struct bench_result *result = &report->result[report->nr];

		if (options->policy &&
		    strcmp(options->policy, bench_policy_at(i)->name))
			continue;
		bench_progress("%s, %s", scenario->name, bench_policy_at(i)->name);
		bench_case_run(bcase, bench_policy_at(i), result);
		result->pick_ns = pick_cost(i, bcase->nr, options->seed);
		report->nr++;
	}
	bench_case_destroy(bcase);
	bench_progress("%s", "");
	bench_show_scenario(report, first, options->rst);
	fflush(stdout);
}

static void write_file(const char *name,
		       void (*write)(FILE *out, const struct bench_report *report),
		       const struct bench_report *report)
{
	FILE *out;

	if (!name)
		return;
	out = bench_open(name);
	write(out, report);
	bench_close(name, out);
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

	parse(argc, argv, &options);
	if (options.list) {
		list();
		return 0;
	}
	if (options.scenario) {
		report.picture = options.scenario;
		report.bursty = options.scenario;
	}
	report.seed = options.seed;
	report.result = bench_alloc(bench_nr_scenarios * BENCH_POLICIES * sizeof(*report.result));
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
	if (options.rows)
		bench_rows_write(options.rows, report.row, report.nr_rows);
	write_file(options.svg, bench_svg, &report);
	for (i = 0; i < report.nr; i++)
		free(report.result[i].span);
	free(report.result);
	free(report.loads);
	return 0;
}
