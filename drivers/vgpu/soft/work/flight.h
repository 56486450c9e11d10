/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a flight (flights.h). */
#ifndef _VGPU_SOFT_FLIGHT_H
#define _VGPU_SOFT_FLIGHT_H

#include "flights.h"

struct soft_compute;

/* What the flights of a vGPU may take together, but for those that contexts have of their own. */
#define SOFT_FLIGHTS_BYTES	0x2000000

#define SOFT_GFP_SPARE	((SOFT_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY)

static inline size_t soft_flight_bytes(const struct soft_context_size *size)
{
	return size->warps + size->data;
}

struct soft_context_size soft_flight_size(const u32 group[3], u32 private_bytes, u32 local_bytes);
int soft_flight_make(struct soft_compute *compute, struct soft_flight *flight,
		     const struct soft_context_size *size, gfp_t gfp);
void soft_flight_drop(struct soft_flight *flight);
struct soft_flight *soft_flight_alloc(struct soft_compute *compute,
				      const struct soft_context_size *size, bool spare, int *ret);
void soft_flight_free(struct soft_compute *compute, struct soft_flight *flight);
void soft_flight_set(struct soft_flight *flight, struct soft_context *context);

#endif /* _VGPU_SOFT_FLIGHT_H */
