// SPDX-License-Identifier: GPL-2.0
/* See options.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_sched.h"
#include "options.h"

#define MAX_OPTIONS	16

/* The command line is not what @usage says. */
void bench_usage(const char *usage)
{
	fputs(usage, stderr);
	exit(2);
}

static u64 parse_number(const char *option, const char *words)
{
	char *end;
	u64 number = strtoull(words, &end, 0);

	if (*end || end == words) {
		fprintf(stderr, "%s: --%s %s is not a number\n", program_invocation_short_name,
			option, words);
		exit(2);
	}
	return number;
}

/**
 * bench_options() - read the command line, or exit with 2
 * @argc:  of main()
 * @argv:  of main()
 * @usage: text of --help, which is an option of every program
 * @table: the other options
 */
void bench_options(int argc, char **argv, const char *usage, const struct bench_option *table)
{
	struct option longs[MAX_OPTIONS + 2] = {};
	unsigned int nr;
	int c;

	for (nr = 0; table[nr].name; nr++) {
		if (nr == MAX_OPTIONS)
			bench_die("more than %d options", MAX_OPTIONS);
		longs[nr] = (struct option){
			table[nr].name, table[nr].flag ? no_argument : required_argument, NULL, nr,
		};
	}
	longs[nr] = (struct option){ "help", no_argument, NULL, nr };
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == nr) {
			fputs(usage, stdout);
			exit(0);
		} else if (c < 0 || c > nr) {
			bench_usage(usage);
		} else if (table[c].number) {
			*table[c].number = parse_number(table[c].name, optarg);
		} else if (table[c].words) {
			*table[c].words = optarg;
		} else {
			*table[c].flag = true;
		}
	}
	if (optind != argc)
		bench_usage(usage);
}
