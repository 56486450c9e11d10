/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the Nth allocation (or user copy) of an operation fails, for
 * N = 1, 2, ... until it gets through. It then fails as a whole, and may be
 * tried again, or succeeds as a whole. Needs a kernel with /proc/<pid>/fail-nth.
 *
 * VGPU_TEST_INJECT_MS: of each operation; when it has passed, the distance
 * between the points tried grows (3000).
 */
#ifndef INJECT_H
#define INJECT_H

#include "fixture.h"

#define INJECT_AT	(8 * FX_MIB)	/* in the framebuffer */

/**
 * struct inject_op - an operation to be tried with each of its allocations failing
 * @name:    in notes
 * @prepare: before each try, or NULL
 * @run:     the operation: 0 or -errno
 * @check:   after each try: nothing is half done; undoes it
 */
struct inject_op {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	void (*check)(int ret, bool hit);
};

/* Skips the test if faults would put a vGPU into quarantine. */
void inject_need(void);

/* Into this task, or into another thread. */
void inject(const struct inject_op *op);
void inject_task(const struct inject_op *op, pid_t pid);

/*
 * Every allocation of a kind ("failslab", "fail_page_alloc") by these threads
 * fails, until it is said that no more does.
 */
void inject_shortage(const char *kind, const pid_t *threads, unsigned int nr);
void inject_plenty(const char *kind, const pid_t *threads, unsigned int nr);

/* So many there are, and the rest is available. */
void inject_check_counts(unsigned int instances);

/* An open vGPU works, all of it, with data. */
void inject_full_run(struct fx_vgpu *v);

int inject_main(const struct ktap_test *tests, size_t count);

#define INJECT_MAIN(tests)						\
	int main(void)							\
	{								\
		exit(inject_main(tests,					\
				 sizeof(tests) / sizeof((tests)[0])));	\
	}

#endif /* INJECT_H */
