/* SPDX-License-Identifier: GPL-2.0 */
/* A copy, 8 bytes per work-item. */
#ifndef SAMPLE_COPY_H
#define SAMPLE_COPY_H

#include <stdint.h>

struct copy_args {
	uint64_t *to;
	const uint64_t *from;
};

static inline void copy_item(const struct copy_args *args, uint32_t id)
{
	args->to[id] = args->from[id];
}

#endif /* SAMPLE_COPY_H */
