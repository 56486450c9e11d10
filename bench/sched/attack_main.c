// SPDX-License-Identifier: GPL-2.0
/* bench_attack: the adversarial search by itself, its table and its rows. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "report.h"

#define MAIN_EVENTS	(20 * 1000 * 1000ULL)
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
	"  --seconds S      search so long, in all; default: as many events as take some 30 s\n"
	"  --events N       simulate about so many for each policy (default 20000000)\n"
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

static void print_result(const struct attack_result *result)
{
	printf("  gain %.4f %% raw, %.4f %% beyond a bound of %.3f ms; loss %.4f %% raw, %.4f %% beyond %.3f ms",
	       result->gain.raw, result->gain.beyond,
	       result->gain.bound_ns / MS, result->loss.raw,
	       result->loss.beyond, result->loss.bound_ns / MS);
	if (result->short_of_guarantee.bound_ns)
		printf("; of its guarantee %.4f %% raw, %.4f %% beyond %.3f ms",
		       result->short_of_guarantee.raw,
		       result->short_of_guarantee.beyond,
		       result->short_of_guarantee.bound_ns / MS);
	puts("");
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
	struct attack_honest honest;

	attack_honest_run(attack, &honest);
	attack_run(attack, &honest, MAIN_LENGTH_NS, result);
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

static void row(FILE *out, const char *what, const char *policy, double value,
		double raw, const struct attack *attack,
		const struct attack_found *found, u64 seed)
{
	char text[ATTACK_TEXT];

	attack_print(attack, text, sizeof(text));
	fprintf(out, "{\"name\": \"attack_%s_%s\", \"value\": %.6g, \"peer\": null, \"ratio\": null, \"unit\": \"%%\", \"reach\": %g, \"higher\": false, \"detail\": \"of an engine over 2 s, beyond the policy's bound; raw %.4f; the worst of %u runs in %u climbs from seed %#llx, and of the known attacks, in virtual time: %s\"}\n",
		what, policy, value, ATTACK_GOAL, raw, found->runs,
		found->climbs, (unsigned long long)seed, text);
}

static void known(const char *policy, struct attack_found *found)
{
	struct attack_result result;
	struct attack attack;
	unsigned int i;

	for (i = 0; i < attack_nr_known; i++) {
		if (!attack_parse(&attack, attack_known[i].text))
			bench_die("%s is no attack", attack_known[i].name);
		if (strcmp(attack.policy->name, policy))
			continue;
		rerun(&attack, &result);
		print_attack(attack_known[i].name, &attack, &result);
	}
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 0xa77ac, .events = MAIN_EVENTS };
	struct attack_found found;
	unsigned int i;

	parse(argc, argv, &options);
	if (options.replay)
		return replay(options.replay);
	if (options.verbose)
		attack_on_climb = on_climb;
	for (i = 0; i < MAIN_POLICIES; i++) {
		if (options.policy && strcmp(policies[i], options.policy))
			continue;
		known(policies[i], &found);
		attack_search(attack_policy(policies[i]), options.seed,
			      options.events, options.seconds /
			      (options.policy ? 1 : MAIN_POLICIES), &found);
		attack_shorten(&found.gain, true, &found.gain_result);
		attack_shorten(&found.loss, false, &found.loss_result);
		printf("%s: %u climbs, %u runs, %llu events\n", policies[i],
		       found.climbs, found.runs,
		       (unsigned long long)found.events);
		print_attack("worst gain", &found.gain, &found.gain_result);
		print_attack("worst loss", &found.loss, &found.loss_result);
	}
	return 0;
}
