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
 * struct tenant - a vGPU and its client
 * @uuid: the vGPU
 * @id:   the same as 16 bytes
 * @dev:  open, or NULL
 * @load: its client; dev is NULL: none
 * @busy: main thread keeps its ring full
 */
struct tenant {
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
	struct tenant tenant[TENANTS];
};

extern struct score score;

/**
 * struct reading - counters at one time
 * @now_ns:  when
 * @ran_ns:  engine time: what the engine could work so far
 * @busy_ns: service of all
 * @service_ns: of each
 * @linger_ns: of the first one's service, the engine waited for work
 * @jobs:    completed, as each client sees it
 */
struct reading {
	uint64_t now_ns;
	uint64_t ran_ns;
	uint64_t busy_ns;
	uint64_t service_ns[TENANTS];
	uint64_t linger_ns;
	uint64_t jobs[TENANTS];
};

/**
 * struct result - a row
 * @value:  measured
 * @reach:  the goal, if it is only known now; else 0
 * @detail: how
 */
struct result {
	double value;
	double reach;
	char detail[DETAIL_LEN];
};

/* score.c */
void die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void check(const struct load *load, int ret);
void add(struct result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void result(const char *name, const struct result *result);
double quantile(double *values, unsigned int nr, double q);
uint64_t soft_counter(const char *name);
void take(struct reading *r);
void policy(const char *name);
void shares(const unsigned int triple[TENANTS][3]);
void open_tenant(unsigned int i);
void close_tenant(unsigned int i);
void progress(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
void start_load(unsigned int i, uint64_t job_ns, unsigned int order, bool irq);
void stop_load(unsigned int i);
void nap(uint64_t ns);
void keep(uint64_t for_ns);
void idle(unsigned int i);
uint64_t random_below(uint64_t limit);
bool wanted(const char *name);

/* The rows. */
void rows_share(void);
void rows_change(void);
void rows_pairs(void);
void rows_error(void);

#endif /* SCORE_H */
