/* SPDX-License-Identifier: GPL-2.0 */
/* Figures of a vGPU beside those of a peer, in the same machine. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PAIRS	1000

/**
 * struct bench_side - one of the two that are compared
 * @block: does a block of work; what one unit of it cost, or < 0: failed
 * @arg:   for @block
 */
struct bench_side {
	double (*block)(void *arg);
	void *arg;
};

/**
 * struct bench_row - a comparison
 * @name:   as in bench.json
 * @unit:   of a block's answer
 * @reach:  the ratio to reach
 * @higher: whether more is better
 * @ours:   the vGPU
 * @peer:   what it is measured against
 * @detail: what the two did
 * @tell:   optional: more of it, known afterwards
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
extern unsigned int bench_pairs;

void bench_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
double bench_now_ns(void);
void bench_compare(const struct bench_row *row);

/* mdev.c: a device through VFIO, whatever it is */
struct mdev_region {
	uint64_t bytes;
	uint64_t offset;
};

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

/* The rows. */
void row_region_read(const char *ours, const char *mtty);
void row_create_remove(const char *ours_type, const char *mbochs_type);
void row_fb_first_touch(const char *ours, const char *mbochs);
void row_empty_packet(const char *ours);
void row_copy_bandwidth(const char *ours);

#endif /* BENCH_H */
