/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scoreboard: rows of GPU-Virt-Bench (arXiv 2512.22125) that fit a vGPU
 * scheduler, measured on four vGPUs of a quarter each.
 */
#ifndef SCORE_H
#define SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include <load.h>

#define TENANTS		4
#define PAIRS_MAX	200
#define DETAIL_LEN	1200
#define PAGE		4096ull
#define ALL_ORDER	16	/* of a ring that is to last for all of the engine */

#define MS		1000000ull
#define US		1000ull

/**
 * struct score_tenant - a vGPU and its client
 * @uuid: the vGPU
 * @id:   the same as 16 bytes
 * @dev:  open, or NULL
 * @load: its client; dev is NULL: none
 * @busy: main thread keeps its ring full
 */
struct score_tenant {
	char uuid[37];
	uint8_t id[VGPU_UUID_LEN];
	struct vgpu_dev *dev;
	struct load load;
	bool busy;
};

/**
 * struct score - the whole
 * @control:  /dev/vgpu
 * @gpu:      its id
 * @engine:   index of gr
 * @slice_ns: in force
 * @usual_slice_ns: the GPU's default
 * @seed:     of all that is random
 * @pairs:    interleaved, for rows that compare
 * @only:     names of the rows that are to be measured; NULL: all
 * @icount:   the machine's clock counts its instructions, so that no time in it
 *            is lost to others; else the engine's own time is the measure
 * @tenant:   the vGPUs
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
 * @now_ns:  when
 * @ran_ns:  engine time: what the engine could work so far
 * @busy_ns: service of all
 * @service_ns: of each
 * @linger_ns: of the first one's service, the engine waited for work
 * @jobs:    completed, as each client sees it
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
 * struct score_result - a row
 * @value:  measured
 * @reach:  the goal, if it is only known now; else 0
 * @detail: how
 */
struct score_result {
	double value;
	double reach;
	char detail[DETAIL_LEN];
};

/* score_world.c: /dev/vgpu, the GPU, and what a row says meanwhile */
void score_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void score_progress(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
uint64_t score_random_below(uint64_t limit);
void score_find_gpu(void);
void score_read_gpu(struct vgpu_ctl_gpu *gpu);
bool score_parse_uuid(const char *text, struct score_tenant *t);
uint64_t score_counter(const char *name);
void score_policy(const char *name);
void score_shares(const unsigned int triple[TENANTS][3]);

/* score_load.c: tenants, and the work that they have */
void score_check(const struct load *load, int ret);
void score_nap(uint64_t ns);
void score_open(unsigned int i);
void score_close(unsigned int i);
void score_start(unsigned int i, uint64_t job_ns, unsigned int order, bool irq);
void score_stop(unsigned int i);
void score_keep(uint64_t for_ns);
void score_idle(unsigned int i);

/* score_reading.c */
void score_take(struct score_reading *r);

/* score_board.c: the rows, what they have measured, and the table of them */
bool score_wanted(const char *name);
void score_add(struct score_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void score_result(const char *name, const struct score_result *result);
void score_print(void);
void score_write(const char *path);

/* The rows. */
void score_rows_share(void);
void score_rows_change(void);
void score_rows_pairs(void);
void score_rows_error(void);

#endif /* SCORE_H */
