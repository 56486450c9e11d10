// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "listing.h"

/**
 * struct visit - what visit_gpu() needs beside the GPU
 * @listing: where rows are written to
 * @each:    writes them
 */
struct visit {
	struct listing *listing;
	listing_each *each;
};

static int visit_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	const struct visit *visit = arg;

	return visit->each(fd, gpu, visit->listing);
}

enum exit_code listing_visit(int fd, struct listing *listing, listing_each *each)
{
	struct visit visit = { listing, each };

	return ctl_visit_gpus(fd, listing->options->gpu, &visit, visit_gpu);
}

enum exit_code listing_print(const struct options *options, listing_each *each)
{
	return listing_print_below(options, each, NULL, NULL, NULL);
}

enum exit_code listing_print_below(const struct options *options, listing_each *each,
				   const char *below, const char *note, const char *what)
{
	struct listing listing = { .options = options };
	struct table table, second;
	enum exit_code code;
	struct json json;
	int fd;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	if (options->json) {
		json_init(&json, stdout, false);
		json_begin_array(&json, NULL);
		listing.json = &json;
	} else {
		table_init(&table, options->command->columns);
		listing.table = &table;
	}
	if (below && !options->json) {
		table_init(&second, below);
		listing.below = &second;
	}
	code = listing_visit(fd, &listing, each);
	close(fd);
	if (options->json)
		json_end(&json);
	else
		table_print(&table, stdout, &options->form);
	if (listing.below && second.line)
		printf("\n%s\n", note);
	if (listing.below)
		table_print(&second, stdout, NULL);
	if (listing.untold)
		fail("%s: %s", what, ctl_error(-ENOTTY));
	return code;
}
