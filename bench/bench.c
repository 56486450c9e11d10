// SPDX-License-Identifier: GPL-2.0
/*
 * bench PAIRS ROW [ARGUMENT...]: measures one row and prints it as a line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

int main(int argc, char **argv)
{
	const char *row, *first, *second;

	if (argc < 3) {
		fprintf(stderr, "usage: bench PAIRS ROW [ARGUMENT...]\n");
		return 2;
	}
	bench_pairs = (unsigned int)strtoul(argv[1], NULL, 10);
	if (bench_pairs < 1 || bench_pairs > MAX_PAIRS)
		bench_die("1 to %u pairs", MAX_PAIRS);
	row = argv[2];
	first = argc > 3 ? argv[3] : "";
	second = argc > 4 ? argv[4] : "";
	if (!strcmp(row, "region_read"))
		row_region_read(first, second);
	else if (!strcmp(row, "create_remove"))
		row_create_remove(first, second);
	else if (!strcmp(row, "fb_first_touch"))
		row_fb_first_touch(first, second);
	else if (!strcmp(row, "empty_packet"))
		row_empty_packet(first);
	else if (!strcmp(row, "compute_dispatch"))
		row_compute_dispatch(first);
	else if (!strcmp(row, "copy_bandwidth"))
		row_copy_bandwidth(first);
	else if (!strcmp(row, "plane_query"))
		row_plane_query(first, second);
	else if (!strcmp(row, "display_frames"))
		row_display_frames(first, second);
	else if (!strcmp(row, "display_flips"))
		row_display_flips(first, second);
	else if (!strcmp(row, "partition_space"))
		row_partition_space(first, second);
	else if (!strcmp(row, "attach"))
		row_attach(first, second);
	else if (!strcmp(row, "migrate_move"))
		row_migrate_move(first, second);
	else if (!strcmp(row, "migrate_pause"))
		row_migrate_pause(first, second);
	else if (!strcmp(row, "migrate_tracking"))
		row_migrate_tracking(first);
	else if (!strcmp(row, "migrate_tracking_copy"))
		row_migrate_tracking_copy(first);
	else if (!row_of_lookers(row, first, second))
		bench_die("no row %s", row);
	return 0;
}
