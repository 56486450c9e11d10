/* SPDX-License-Identifier: GPL-2.0 */
/* Commands that print rows about GPUs: a table, or an array in JSON. */
#ifndef VGPUCTL_LISTING_H
#define VGPUCTL_LISTING_H

#include "command.h"
#include "ctl.h"
#include "json.h"
#include "table.h"

/**
 * struct listing - where rows are written to
 * @options: of the command
 * @json:    the JSON document, in which an array is open; NULL: rows go to @table
 * @table:   the table
 * @below:   a second table, which is printed below if it has rows; NULL: there is none
 * @untold:  the driver is too old to tell what would stand in @below
 */
struct listing {
	const struct options *options;
	struct json *json;
	struct table *table;
	struct table *below;
	bool untold;
};

typedef int listing_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing);

/* Rows of gpus and list, which have more users: keys and cells as in the tables of cmd_read.c. */
void listing_gpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu);

/* Policy and slice of a GPU; those of one that is divided are in force nowhere. */
void listing_policy_cells(struct table *table, const struct vgpu_ctl_gpu *gpu);
void listing_vgpu_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
		       const struct vgpu_ctl_instance *inst);

/* Keys of the move that is under way. */
/* Bytes per second of its stream, on average since the move began; 0: none is under way. */
uint64_t listing_move_rate(const struct vgpu_ctl_instance *inst);
void listing_move_json(struct json *json, const struct vgpu_ctl_instance *inst);
void listing_vgpu_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
		      const struct vgpu_ctl_instance *inst);

/* Calls @each for each GPU, or for the one that --gpu names. */
enum exit_code listing_visit(int fd, struct listing *listing, listing_each *each);

/* Prints a table or an array of what @each adds so. */
enum exit_code listing_print(const struct options *options, listing_each *each);

/*
 * The same with a second table of the headings @below, and the line @note above it. If @below is
 * NULL, there is none. @what names what it shows, for the message that the driver does not tell.
 */
enum exit_code listing_print_below(const struct options *options, listing_each *each,
				   const char *below, const char *note, const char *what);

#endif /* VGPUCTL_LISTING_H */
