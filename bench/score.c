// SPDX-License-Identifier: GPL-2.0
/*
 * score [--seed N] [--pairs N] [--only ROWS] [--measured HOW]
 *       OUT.json UUID UUID UUID UUID
 *
 * Measures, prints the scoreboard beside what HAMi-core, BUD-FCSP and MIG have
 * published, and writes rows for merge.py. Work is what clients see completed and
 * have verified; where a reference is needed it is measured between (A B B A).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "score.h"

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "pairs", required_argument, NULL, 'p' },
		{ "only", required_argument, NULL, 'o' },
		{ "measured", required_argument, NULL, 'm' },
		{ 0 },
	};
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 's')
			score.seed = strtoull(optarg, NULL, 0);
		else if (c == 'p')
			score.pairs = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'o')
			score.only = optarg;
		else if (c == 'm')
			score.icount = !strcmp(optarg, "icount");
		else
			return 2;
	}
	if (argc - optind != 1 + TENANTS || score.pairs < 2 || score.pairs >= PAIRS_MAX)
		bench_die("arguments: [--seed N] [--pairs N] [--only ROWS] [--measured HOW] OUT.json UUID UUID UUID UUID");
	score_find_gpu();
	for (i = 0; i < TENANTS; i++)
		if (!score_parse_uuid(argv[optind + 1 + (int)i], &score.tenant[i]))
			bench_die("no UUID: %s", argv[optind + 1 + (int)i]);
	printf("# seed %llu, %u pairs, slice %llu us\n", (unsigned long long)score.seed,
	       score.pairs, (unsigned long long)(score.slice_ns / US));
	score_rows_share();
	score_rows_compute();
	score_rows_change();
	score_rows_pairs();
	score_rows_error();
	score_rows_pause();
	for (i = 0; i < TENANTS; i++)
		score_close(i);
	score_policy("best_effort");
	score_print();
	score_write(argv[optind]);
	return 0;
}
