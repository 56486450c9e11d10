/* SPDX-License-Identifier: GPL-2.0 */
/* Figures of a vGPU beside those of a peer, in the same machine. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "die.h"

#define MAX_PAIRS	1000

/**
 * struct bench_side - one of the two sides that are compared
 * @block: does a block of work; returns what one unit of it cost, which is above 0
 * @arg:   passed to @block
 */
struct bench_side {
	double (*block)(void *arg);
	void *arg;
};

/**
 * struct bench_row - a comparison
 * @name:   as in bench.json
 * @unit:   of what the blocks return
 * @reach:  the ratio of @ours to @peer that is to be reached; 0: it is only shown
 * @higher: a higher ratio is better, else a lower one
 * @ours:   the vGPU
 * @peer:   what the vGPU is measured against
 * @detail: what the two sides did
 * @tell:   writes to @text what is to be added to @detail after the measurement; may be NULL
 */
struct bench_row {
	const char *name;
	const char *unit;
	double reach;
	bool higher;
	struct bench_side ours;
	struct bench_side peer;
	const char *detail;
	void (*tell)(void *arg, char *text, size_t bytes);
};

/* compare.c */
extern unsigned int bench_pairs;	/* pairs of blocks per row, at most MAX_PAIRS */

/* Time in ns, as the blocks measure it. */
double bench_now_ns(void);

/* Measures both sides of the row and prints it. */
void bench_compare(const struct bench_row *row);

/* mdev.c: any mdev, created in sysfs and opened through VFIO */

/**
 * struct mdev_region - a region of a device
 * @bytes:  its size
 * @offset: of its first byte in the device's file
 */
struct mdev_region {
	uint64_t bytes;
	uint64_t offset;
};

/**
 * struct mdev - an open device
 * @container: file descriptor of its VFIO container
 * @group:     file descriptor of its VFIO group
 * @fd:        file descriptor of the device
 */
struct mdev {
	int container;
	int group;
	int fd;
};

void mdev_open(struct mdev *mdev, const char *uuid);
struct mdev_region mdev_region(struct mdev *mdev, unsigned int index);
void mdev_close(struct mdev *mdev);
void mdev_create(const char *type_dir, const char *uuid);
void mdev_remove(const char *uuid);

/* device.c, engine.c, display.c, space.c, attach.c, listing.c: the rows */
void row_region_read(const char *ours, const char *mtty);
void row_create_remove(const char *ours_type, const char *mbochs_type);
void row_fb_first_touch(const char *ours, const char *mbochs);
void row_empty_packet(const char *ours);
void row_compute_dispatch(const char *ours);
void row_copy_bandwidth(const char *ours);
void row_plane_query(const char *ours, const char *mbochs);
void row_display_frames(const char *ours, const char *mdpy);
void row_display_flips(const char *ours, const char *mdpy);
void row_partition_space(const char *uuid, const char *other);
void row_attach(const char *ours, const char *mbochs);
/* migrate.c, migrate_track.c: of these the first one prints three rows */
void row_migrate_move(const char *from, const char *to);
void row_migrate_pause(const char *one, const char *two);
void row_migrate_tracking(const char *uuid);
void row_migrate_tracking_copy(const char *uuid);
/* Those of who looks at 32 vGPUs; false: there is no such row. */
bool row_of_lookers(const char *row, const char *vgpuctl, const char *address);

#endif /* BENCH_H */
