/* SPDX-License-Identifier: GPL-2.0 */
/* A table of all functions of tools/libnvml that are implemented, to call them all alike. */
#ifndef NVML_ROWS_H
#define NVML_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml.h"

#define ARGS		6
#define ROOM		16384	/* more than any structure has */
#define TYPE		49909	/* SG16-4Q */

typedef nvmlReturn_t (*call_t)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

/*
 * A letter for each argument: a GPU (d), type (t), vGPU (v), set of events (e), GPU instance (g) or
 * compute instance (c); a number (i); a pointer that must not be NULL, to a result (p), to a
 * structure with a version (w), or to a text whose length comes next (s); a pointer to an array or
 * text whose length is given by pointer (o), or to an array that is as long as it has to be (a).
 */
struct row {
	const char *name;
	call_t call;
	const char *args;
	unsigned int version;
};

extern const struct row rows[];
extern const unsigned int rows_nr;

/* What arguments are right: handles, and buffers, one for each argument. */
extern nvmlDevice_t dev;
extern nvmlVgpuInstance_t vgpu;
extern nvmlEventSet_t set;
extern nvmlGpuInstance_t gi;
extern nvmlComputeInstance_t ci;
extern char buffers[ARGS][ROOM];

bool row_is(const struct row *row, void *function);

/* A GPU instance of dev, where MIG is on. */
void row_instance(void);

/* Arguments that are right. */
void row_prepare(const struct row *row, uintptr_t *arg);
nvmlReturn_t row_call(const struct row *row, const uintptr_t *arg);
void row_check(const struct row *row, const uintptr_t *arg, nvmlReturn_t wanted);

#endif /* NVML_ROWS_H */
