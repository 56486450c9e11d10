// SPDX-License-Identifier: GPL-2.0
/* bench_attack: the adversarial search by itself, its table and its rows. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "report.h"

#define MAIN_EVENTS	(60 * 1000 * 1000ULL)
#define MAIN_LENGTH_NS	(16 * SEC)
#define MAIN_POLICIES	4

static const char *const policies[MAIN_POLICIES] = {
	"best_effort", "equal_share", "fixed_share", "qos",
};

struct options {
	u64 seed;
	u64 seconds;
	u64 events;
	const char *policy;
	const char *rows;
	const char *replay;
	bool rst;
	bool verbose;
};

static const char usage_text[] =
	"Usage: bench_attack [OPTION]...\n"
	"\n"
	"Looks for client behaviour that gains more of an engine than is due, or costs a\n"
	"neighbour what is due to it, under each policy, in virtual time.\n"
	"\n"
	"  --seed N         of all that is random (default 0xa77ac)\n"
	"  --seconds S      search so long, in all; default: as long as --events says\n"
	"  --events N       simulate about so many for each policy (default 60000000)\n"
	"  --policy NAME    this one only\n"
	"  --replay ATTACK  run this one, as the tables write it\n"
	"  --rows FILE      write the rows for build/bench.json, see bench/merge.py\n"
	"  --rst            print tables as reStructuredText\n"
	"  --verbose        name what each climb found\n"
	"  --help           this\n";

static u64 parse_number(const char *option, const char *words)
{
	u64 number;
	char *end;

	number = strtoull(words, &end, 0);
	if (*end || end == words) {
		fprintf(stderr, "bench_attack: %s %s is not a number\n", option,
			words);
		exit(2);
	}
	return number;
}

static void parse(int argc, char **argv, struct options *options)
{
	enum { SEED = 1, SECONDS, EVENTS, POLICY, REPLAY, ROWS, RST, VERBOSE,
	       HELP };
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, SEED },
		{ "seconds", required_argument, NULL, SECONDS },
		{ "events", required_argument, NULL, EVENTS },
		{ "policy", required_argument, NULL, POLICY },
		{ "replay", required_argument, NULL, REPLAY },
		{ "rows", required_argument, NULL, ROWS },
		{ "rst", no_argument, NULL, RST },
		{ "verbose", no_argument, NULL, VERBOSE },
		{ "help", no_argument, NULL, HELP },
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case SEED:
			options->seed = parse_number("--seed", optarg);
			break;
		case SECONDS:
			options->seconds = parse_number("--seconds", optarg);
			break;
		case EVENTS:
			options->events = parse_number("--events", optarg);
			break;
		case POLICY:
			options->policy = optarg;
			break;
		case REPLAY:
			options->replay = optarg;
			break;
		case ROWS:
			options->rows = optarg;
			break;
		case RST:
			options->rst = true;
			break;
		case VERBOSE:
			options->verbose = true;
			break;
		case HELP:
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind != argc || (options->policy &&
			       !attack_policy(options->policy))) {
		fputs(usage_text, stderr);
		exit(2);
	}
}

static void print_score(const char *what, const struct attack_score *score)
{
	printf("  %s %.4f %% raw (honest %.4f), %.4f %% beyond %.3f ms\n", what,
	       score->raw, score->honest, score->beyond, score->bound_ns / MS);
}

static void print_result(const struct attack_result *result)
{
	print_score("gain", &result->gain);
	print_score("loss", &result->loss);
	if (result->short_of_guarantee.bound_ns)
		print_score("short of its guarantee",
			    &result->short_of_guarantee);
}

static void print_attack(const char *what, const struct attack *attack,
			 const struct attack_result *result)
{
	char text[ATTACK_TEXT];

	attack_print(attack, text, sizeof(text));
	printf("%s: %s\n", what, text);
	print_result(result);
	fflush(stdout);
}

static void on_climb(const struct attack *attack,
		     const struct attack_result *result, bool gain)
{
	struct attack shorter = *attack;
	struct attack_result less;

	attack_shorten(&shorter, gain, &less);
	print_attack(gain ? "climb, gain" : "climb, loss", &shorter, &less);
}

/* Runs an attack for longer than the search does, to see that it lasts. */
static void rerun(const struct attack *attack, struct attack_result *result)
{
	attack_compare(attack, MAIN_LENGTH_NS, result);
}

static int replay(const char *text)
{
	struct attack_result result;
	struct attack attack;

	if (!attack_parse(&attack, text)) {
		fprintf(stderr, "bench_attack: that is no attack: %s\n", text);
		return 2;
	}
	rerun(&attack, &result);
	print_attack("attack", &attack, &result);
	return 0;
}

/**
 * struct worst - of a policy
 * @policy: its name
 * @found:  by the search; results are of runs of MAIN_LENGTH_NS
 * @gain:   of these and of the known ones
 * @gain_by: that attack
 * @loss:   likewise
 * @loss_by: likewise
 */
struct worst {
	const char *policy;
	struct attack_found found;
	struct attack_score gain;
	struct attack gain_by;
	struct attack_score loss;
	struct attack loss_by;
};

/* What of its part or of its guarantee the victim lacks more of. */
static struct attack_score loss_of(const struct attack_result *result)
{
	return result->short_of_guarantee.beyond > result->loss.beyond ?
	       result->short_of_guarantee : result->loss;
}

static void search(const struct options *options, const char *policy,
		   struct worst *worst)
{
	struct attack_found *found = &worst->found;

	worst->policy = policy;
	attack_search(attack_policy(policy), options->seed, options->events,
		      options->policy ? options->seconds :
		      (options->seconds + MAIN_POLICIES - 1) / MAIN_POLICIES,
		      found);
	attack_shorten(&found->gain, true, &found->gain_result);
	attack_shorten(&found->loss, false, &found->loss_result);
	rerun(&found->gain, &found->gain_result);
	rerun(&found->loss, &found->loss_result);
	worst->gain = found->gain_result.gain;
	worst->gain_by = found->gain;
	worst->loss = loss_of(&found->loss_result);
	worst->loss_by = found->loss;
}

static void cells(struct bench_table *table, const struct attack_result *result)
{
	const struct attack_score loss = loss_of(result);

	/* Where what the attacker got is no gain: the victim leaves it. */
	if (result->gain.beyond <= -100) {
		bench_cell(table, "-");
		bench_cell(table, "-");
		bench_cell(table, "-");
		bench_cell(table, "-");
	} else {
		bench_cell(table, "%.4f", result->gain.raw);
		bench_cell(table, "%.4f", result->gain.honest);
		bench_cell(table, "%.3f", result->gain.bound_ns / MS);
		bench_cell(table, "%.4f", result->gain.beyond);
	}
	bench_cell(table, "%.4f", loss.raw);
	bench_cell(table, "%.4f", loss.honest);
	bench_cell(table, "%.3f", loss.bound_ns / MS);
	bench_cell(table, "%.4f", loss.beyond);
}

static void title(const char *words, bool rst)
{
	size_t i;

	puts(words);
	for (i = 0; rst && i < strlen(words); i++)
		putchar('~');
	puts(rst ? "\n" : "");
}

static void show_texts(char (*text)[ATTACK_TEXT], unsigned int nr, bool rst)
{
	unsigned int i;

	puts(rst ? "::\n" : "");
	for (i = 0; i < nr; i++)
		printf("  %u: %s\n", i + 1, text[i]);
	puts("");
}

static void show_found(const struct worst *worst, unsigned int nr, bool rst)
{
	static const char *const head[] = {
		"the worst found for", "no", "gain raw %", "honest %", "bound ms",
		"beyond %", "loss raw %", "honest %", "bound ms", "beyond %",
	};
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	char text[2 * MAIN_POLICIES][ATTACK_TEXT];
	unsigned int i, line = 0;

	for (i = 0; i < nr; i++) {
		const struct attack_found *found = &worst[i].found;

		bench_table_line(table);
		bench_cell(table, "%s, gain", worst[i].policy);
		bench_cell(table, "%u", line + 1);
		cells(table, &found->gain_result);
		attack_print(&found->gain, text[line++], ATTACK_TEXT);
		bench_table_line(table);
		bench_cell(table, "%s, loss", worst[i].policy);
		bench_cell(table, "%u", line + 1);
		cells(table, &found->loss_result);
		attack_print(&found->loss, text[line++], ATTACK_TEXT);
	}
	bench_table_print(table, rst);
	show_texts(text, line, rst);
}

/* Attacks of @policy that worked once. */
static void run_known(struct worst *worst, struct bench_table *table)
{
	struct attack_result result;
	struct attack attack;
	unsigned int i;

	for (i = 0; i < attack_nr_known; i++) {
		if (!attack_parse(&attack, attack_known[i].text))
			bench_die("%s is no attack", attack_known[i].name);
		if (strcmp(attack.policy->name, worst->policy))
			continue;
		rerun(&attack, &result);
		/* Where neither is beyond, what the search found is shown. */
		if (result.gain.beyond > max(worst->gain.beyond, 0.0)) {
			worst->gain = result.gain;
			worst->gain_by = attack;
		}
		if (attack_worst_loss(&result) > max(worst->loss.beyond, 0.0)) {
			worst->loss = loss_of(&result);
			worst->loss_by = attack;
		}
		bench_table_line(table);
		bench_cell(table, "%s: %s", worst->policy,
			   attack_known[i].name);
		cells(table, &result);
	}
}

static void row(FILE *out, const char *what, const struct worst *worst,
		const struct attack_score *score, const struct attack *attack,
		u64 seed)
{
	char text[ATTACK_TEXT];

	attack_print(attack, text, sizeof(text));
	fprintf(out, "{\"name\": \"attack_%s_%s\", \"value\": %.6g, \"peer\": null, \"ratio\": null, \"unit\": \"%%\", \"reach\": %g, \"higher\": false, \"detail\": \"of an engine over 2 s and more, beyond the constant that the policy's promise allows in any interval (raw %.4f; with honest clients in the attackers' place %.4f; the bound %.3f ms); the worst of %u attacks in %u climbs from seed %#llx, and of the known ones, in virtual time: %s\"}\n",
		what, worst->policy, score->beyond, ATTACK_GOAL, score->raw,
		score->honest, score->bound_ns / MS, worst->found.runs,
		worst->found.climbs, (unsigned long long)seed, text);
}

static void write_rows(const char *name, const struct worst *worst,
		       unsigned int nr, u64 seed)
{
	FILE *out = fopen(name, "w");
	unsigned int i;

	if (!out)
		bench_die("%s: %m", name);
	for (i = 0; i < nr; i++) {
		row(out, "gain", &worst[i], &worst[i].gain, &worst[i].gain_by,
		    seed);
		row(out, "loss", &worst[i], &worst[i].loss, &worst[i].loss_by,
		    seed);
	}
	if (fclose(out))
		bench_die("%s: %m", name);
}

static void explain(const struct options *options, const struct worst *worst,
		    unsigned int nr)
{
	unsigned int i;

	title("Attacks", options->rst);
	puts("The worst that hill climbing found of what clients can do to the others. Gain: what the\n"
	     "attackers got beyond the part of honest clients in their place, which are busy and do\n"
	     "not overrun; loss: what a victim that is always runnable lacks of its part, or of its\n"
	     "guarantee. Both in % of an engine over 2 s: raw is the most in any interval of up to\n"
	     "2 s; honest the same with honest clients in the attackers' place; beyond is the most in\n"
	     "any interval of up to 16 s less the bound, the constant that the policy's promise allows\n"
	     "in each, with the overruns as they were: if negative, so much of it is left. The goal is\n"
	     "0.05 beyond. scheduler.rst has the bounds. ``--replay`` runs an attack again by its text.\n");
	printf("Seed %#llx:", (unsigned long long)options->seed);
	for (i = 0; i < nr; i++)
		printf("%s %s %u attacks in %u climbs", i ? "," : "",
		       worst[i].policy, worst[i].found.runs,
		       worst[i].found.climbs);
	puts(".\n");
}

int main(int argc, char **argv)
{
	static const char *const head[] = {
		"known attack", "gain raw %", "honest %", "bound ms", "beyond %",
		"loss raw %", "honest %", "bound ms", "beyond %",
	};
	struct options options = { .seed = 0xa77ac, .events = MAIN_EVENTS };
	struct bench_table *table;
	static struct worst worst[MAIN_POLICIES];
	unsigned int i, nr = 0;

	parse(argc, argv, &options);
	if (options.replay)
		return replay(options.replay);
	if (options.verbose)
		attack_on_climb = on_climb;
	for (i = 0; i < MAIN_POLICIES; i++)
		if (!options.policy || !strcmp(policies[i], options.policy))
			search(&options, policies[i], &worst[nr++]);
	explain(&options, worst, nr);
	show_found(worst, nr, options.rst);
	table = bench_table(head, ARRAY_SIZE(head));
	for (i = 0; i < nr; i++)
		run_known(&worst[i], table);
	bench_table_print(table, options.rst);
	if (options.rows)
		write_rows(options.rows, worst, nr, options.seed);
	return 0;
}
