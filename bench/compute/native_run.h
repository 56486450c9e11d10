/* SPDX-License-Identifier: GPL-2.0 */
/* What a sample does on the engine, on the CPU. */
#ifndef BENCH_COMPUTE_NATIVE_RUN_H
#define BENCH_COMPUTE_NATIVE_RUN_H

#include "engine.h"

/**
 * struct native - a sample on the CPU
 * @sample: which
 * @memory: what it works on
 * @args:   its arguments
 */
struct native {
	const struct sample *sample;
	uint8_t *memory;
	uint64_t args[SAMPLE_ARGS_WORDS];
};

void native_open(struct native *native, const struct sample *sample);
void native_close(struct native *native);
void native_run(struct native *native);

/* Exits if what the engine has computed is not the same. */
void native_compare(const struct native *native, const struct engine *engine);

#endif /* BENCH_COMPUTE_NATIVE_RUN_H */
