/* SPDX-License-Identifier: GPL-2.0 */
/* A chain of loads, each of which needs the one before: how long does one take? */
#ifndef SAMPLE_LATENCY_H
#define SAMPLE_LATENCY_H

#include <stdint.h>

/**
 * struct latency_args - arguments
 * @next:  of each element the one that comes next
 * @end:   the element that is reached, per work-item
 * @loads: how many
 */
struct latency_args {
	const uint32_t *next;
	uint32_t *end;
	uint32_t loads;
};

static inline void latency_item(const struct latency_args *args, uint32_t id)
{
	uint32_t i, at = id;

	for (i = 0; i < args->loads; i++)
		at = args->next[at];
	args->end[id] = at;
}

#endif /* SAMPLE_LATENCY_H */
