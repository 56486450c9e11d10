/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scoreboard: rows of GPU-Virt-Bench (arXiv 2512.22125) that fit a vGPU scheduler, measured on
 * four vGPUs that have a quarter of the GPU each.
 */
#ifndef SCORE_H
#define SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "clk.h"
#include "die.h"
#include "load.h"
#include "uuid.h"

#define TENANTS		4
#define PAIRS_MAX	200
#define DETAIL_LEN	1200
#define PAGE		4096ull
#define SCORE_PAUSES	400
#define ALL_ORDER	16	/* log2 of a ring that holds enough work for a whole engine */

#define MS		1000000ull
#define US		1000ull

/**
 * struct score_tenant - a vGPU and its client
 * @uuid: the vGPU
 * @id:   the same as 16 bytes
 * @dev:  the open vGPU, or NULL
 * @load: the client; its dev is NULL if there is none
 * @busy: score_keep() keeps the client's ring full
 */
struct score_tenant {
	char uuid[UUID_STR_LEN];
	uint8_t id[VGPU_UUID_LEN];
	struct vgpu_dev *dev;
	struct load load;
	bool busy;
};

/**
 * struct score - what all rows share
 * @control:  an open /dev/vgpu
 * @gpu:      number of the GPU
 * @engine:   index of gr
 * @slice_ns: set with each policy
 * @usual_slice_ns: the GPU's when the program began
 * @seed:     of everything random
 * @pairs:    interleaved pairs of windows, for rows that compare
 * @only:     names of the rows to measure; NULL: all
 * @icount:   the machine's clock counts its instructions, so that none of its time is lost to
 *            others; else rates are rates of the engine's own time
 * @tenant:   the vGPUs and their clients
 */
struct score {
	int control;
	uint32_t gpu;
	unsigned int engine;
	uint64_t slice_ns;
	uint64_t usual_slice_ns;
	uint64_t seed;
	unsigned int pairs;
	const char *only;
	bool icount;
	struct score_tenant tenant[TENANTS];
};

extern struct score score;

/**
 * struct score_reading - counters at one time
 * @now_ns:     when they were read, on the driver's clock
 * @ran_ns:     how long the engine could work so far, by its own account
 * @busy_ns:    how long the engine was busy so far
 * @service_ns: charged to each tenant so far
 * @linger_ns:  part of the first tenant's service: the engine waited for its next job
 * @jobs:       completed so far, as each client sees it
 */
struct score_reading {
	uint64_t now_ns;
	uint64_t ran_ns;
	uint64_t busy_ns;
	uint64_t service_ns[TENANTS];
	uint64_t linger_ns;
	uint64_t jobs[TENANTS];
};

/**
 * struct score_result - what was measured for a row
 * @value:  in the row's unit
 * @reach:  the goal, if it is only known after the measurement; else 0
 * @detail: how it was measured, in words
 */
struct score_result {
	double value;
	double reach;
	char detail[DETAIL_LEN];
};

/* score_world.c: the GPU and its settings */

/* Says on standard error where the program is; rows go to standard output. */
void score_progress(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
uint64_t score_random_below(uint64_t limit);
void score_find_gpu(void);
void score_read_gpu(struct vgpu_ctl_gpu *gpu);
bool score_parse_uuid(const char *text, struct score_tenant *t);

/* A measurement of gr in debugfs. */
uint64_t score_counter(const char *name);

/* Sets what of @sched @valid names, VGPU_SCHED_*. */
void score_set(struct vgpu_ctl_sched *sched, uint32_t valid);

/* Sets the policy, and the slice to score.slice_ns. */
void score_policy(const char *name);

/* Sets guarantee and cap in per mille, and weight, of each tenant. */
void score_shares(const unsigned int triple[TENANTS][3]);

/* Reads the newest runs of gr, up to VGPU_SCHED_LOG; returns how many. @total: all runs so far. */
uint32_t score_log(struct vgpu_ctl_switch *entries, uint64_t *total);

/* score_load.c: the i-th tenant and its work */

/* Ends the program with the client's text unless @ret is 0. */
void score_check(const struct load *load, int ret);
void score_open(unsigned int i);
void score_close(unsigned int i);

/*
 * Starts a client with jobs that take @job_ns on an idle engine, and a ring of 2^@order packets;
 * with @irq whoever waits for a job of this client sleeps until its interrupt comes.
 */
void score_start(unsigned int i, uint64_t job_ns, unsigned int order, bool irq);
void score_stop(unsigned int i);

/* Keeps the rings of busy tenants full for that long. */
void score_keep(uint64_t for_ns);

/* Lets the tenant's ring run empty, while those of busy tenants are kept full. */
void score_idle(unsigned int i);

/*
 * score_reading.c: reads all counters. If this program lost the processor meanwhile, they are
 * read again, so that they belong to one time.
 */
void score_take(struct score_reading *r);

/* score_board.c: the rows, and what was measured for them */
bool score_wanted(const char *name);

/* Adds text to the detail of a result. */
void score_add(struct score_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Keeps the result for the row of that name, if it is wanted, and prints it. */
void score_result(const char *name, const struct score_result *result);

/* Prints the scoreboard of what was measured; writes it for merge.py. */
void score_print(void);
void score_write(const char *path);

/*
 * score_share.c: what switches took of the service between two readings, in per cent, and whether
 * service and idle time are all of the time that there was, as the engine had work all the time.
 */
void score_switch_loss(struct score_result *loss, const struct score_reading *a,
		       const struct score_reading *b, uint64_t switches, uint64_t switch_ns);

/*
 * score_pause.c: pauses each tenant in turn, and sets how long the calls took, and the goal. @keep
 * keeps the tenants busy for that long.
 */
void score_pauses(struct score_result *result, void (*keep)(uint64_t for_ns));

/*
 * score_pause.c: pauses each tenant in turn, in a dispatch, and sets how long it takes to save its
 * state, to build it anew and to save that; and how many bytes it has.
 */
void score_reloads(struct score_result *result, void (*keep)(uint64_t for_ns));

/* The rows of each file that are wanted are measured. */
void score_rows_share(void);
void score_rows_compute(void);
void score_rows_change(void);
void score_rows_pairs(void);
void score_rows_error(void);
void score_rows_pause(void);

#endif /* SCORE_H */
