/* SPDX-License-Identifier: GPL-2.0 */
/* Loads (load.h) on this CPU: work-items are coroutines, groups run one after the other. */
#ifndef LOAD_CPU_H
#define LOAD_CPU_H

#include "load.h"

/* The load of that name; NULL: there is none. */
const struct load *load_cpu_find(const char *name);

/* Runs a load on @mem of LOAD_BYTES. */
void load_cpu_run(const struct load *load, u8 *mem, const u32 *grid, const u32 *group);

#endif /* LOAD_CPU_H */
