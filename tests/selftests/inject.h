/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the Nth allocation (or user copy) of an operation fails, for N = 1, 2, ...
 * until the operation has no more of them. It is to fail as a whole, so that it may be tried
 * again, or to succeed as a whole. Needs a kernel with /proc/<pid>/fail-nth.
 *
 * VGPU_TEST_INJECT_MS: after so many ms per operation not each N is tried any more (3000).
 */
#ifndef INJECT_H
#define INJECT_H

#include "fixture.h"

#define INJECT_AT	(8 * FX_MIB)	/* in the framebuffer */

/**
 * struct inject_op - an operation to be tried with each of its allocations failing
 * @name:    for the output
 * @prepare: called before each try; may be NULL
 * @run:     the operation; returns 0 or a negative errno
 * @check:   called after each try with what @run has returned, and whether an allocation was made
 *           to fail; checks that nothing is half done, and undoes the operation
 */
struct inject_op {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	void (*check)(int ret, bool hit);
};

/* Skips the test if faults would put a vGPU into quarantine. */
void inject_need(void);

/* Tries the operation with faults in this thread, or in another one. */
void inject(const struct inject_op *op);
void inject_task(const struct inject_op *op, pid_t pid);

/*
 * From inject_shortage() to inject_plenty() every allocation of a kind ("failslab",
 * "fail_page_alloc") by these threads fails.
 */
void inject_shortage(const char *kind, const pid_t *threads, unsigned int nr);
void inject_plenty(const char *kind, const pid_t *threads, unsigned int nr);

/* The GPU has that many vGPUs, and the rest of it is available. */
void inject_check_counts(unsigned int instances);

/* The open vGPU works: it fills and copies, and the data is right. */
void inject_full_run(struct fx_vgpu *v);

int inject_main(const struct ktap_test *tests, size_t count);

#define INJECT_MAIN(tests)						\
	int main(void)							\
	{								\
		exit(inject_main(tests,					\
				 sizeof(tests) / sizeof((tests)[0])));	\
	}

#endif /* INJECT_H */
