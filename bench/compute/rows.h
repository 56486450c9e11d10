/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of the bench of compute that are about more than a sample's speed. */
#ifndef BENCH_COMPUTE_ROWS_H
#define BENCH_COMPUTE_ROWS_H

#include <stdbool.h>

/* choice.c: the interpreter that the module would choose, beside the fastest. */
void row_choice(unsigned int pairs);

/* units.c: samples on several units beside one. */
void row_units(unsigned int pairs);

/* apart.c: samples on an engine, beside another engine on another processor. */
void row_apart(unsigned int pairs);

/* stop.c: how long programs take to stop, on one unit, or on @all that there are processors for. */
void row_stop(bool all);

/*
 * natives.c: programs that nobody tuned for lanes, beside the same natively. @name: only that one;
 * NULL: all, their median and the worst.
 */
void row_natives(unsigned int pairs, const char *name);

#endif /* BENCH_COMPUTE_ROWS_H */
