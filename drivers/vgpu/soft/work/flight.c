// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a flight. A context has one of its own. Others are made where a dispatch has
 * several groups in flight; they have a bound of their own, so that they leave the room of contexts
 * alone.
 */
#include <linux/align.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../memory/memory.h"
#include "context.h"
#include "flight.h"
#include "lanes.h"

#define SOFT_FLIGHT_ALIGN	64

/* What a flight needs for groups of that size and what they have of memory. Context: any. */
struct soft_context_size soft_flight_size(const u32 group[3], u32 private_bytes, u32 local_bytes)
{
	return (struct soft_context_size) {
		.warps = simt_warps_bytes(group),
		.data = ALIGN(simt_private_bytes(group, private_bytes), SOFT_FLIGHT_ALIGN) +
			local_bytes,
	};
}

/**
 * soft_flight_make() - make the memory of a flight
 * @compute: of the vGPU, whose user is charged
 * @flight: zeroed
 * @size: what it is to have room for
 * @gfp: SOFT_GFP, or SOFT_GFP_SPARE
 * Context: sleeps; not in an engine's thread.
 * Return: 0 or -ENOMEM. Undone by soft_flight_drop().
 */
int soft_flight_make(struct soft_compute *compute, struct soft_flight *flight,
		     const struct soft_context_size *size, gfp_t gfp)
{
	struct mem_cgroup *old = set_active_memcg(compute->mem->fb.memcg);

	flight->size = *size;
	/* Zeroed, so that a program finds nothing of others in its memory. */
	flight->warps = __vmalloc(size->warps, gfp);
	flight->data = size->data ? __vmalloc(size->data, gfp) : NULL;
	set_active_memcg(old);
	if (flight->warps && (!size->data || flight->data))
		return 0;
	soft_flight_drop(flight);
	return -ENOMEM;
}

/* Frees the memory of a flight. May sleep. */
void soft_flight_drop(struct soft_flight *flight)
{
	vfree(flight->data);
	vfree(flight->warps);
}

/**
 * soft_flight_alloc() - make a flight that is no context's own
 * @compute: of the vGPU, whose user is charged
 * @size: what it is to have room for
 * @spare: its dispatch can do without it: half of the bound is left to others, and memory is not
 *         waited for
 * @ret: set to 0, -ENOMEM, or -EBUSY: other flights leave no room for it
 * Context: sleeps; not in an engine's thread.
 * Return: the flight, or NULL. Undone by soft_flight_free().
 */
struct soft_flight *soft_flight_alloc(struct soft_compute *compute,
				      const struct soft_context_size *size, bool spare, int *ret)
{
	s64 most = spare ? SOFT_FLIGHTS_BYTES / 2 : SOFT_FLIGHTS_BYTES;
	gfp_t gfp = spare ? SOFT_GFP_SPARE : SOFT_GFP;
	size_t bytes = soft_flight_bytes(size);
	struct soft_flight *flight;
	struct mem_cgroup *old;

	*ret = -EBUSY;
	if (atomic64_add_return(bytes, &compute->flight_bytes) > most)
		goto err_bytes;
	*ret = -ENOMEM;
	old = set_active_memcg(compute->mem->fb.memcg);
	flight = kzalloc(sizeof(*flight), gfp);
	set_active_memcg(old);
	if (!flight)
		goto err_bytes;
	*ret = soft_flight_make(compute, flight, size, gfp);
	if (!*ret)
		return flight;
	kfree(flight);
err_bytes:
	atomic64_sub(bytes, &compute->flight_bytes);
	return NULL;
}

/* Frees what soft_flight_alloc() has made. May sleep. */
void soft_flight_free(struct soft_compute *compute, struct soft_flight *flight)
{
	soft_flight_drop(flight);
	atomic64_sub(soft_flight_bytes(&flight->size), &compute->flight_bytes);
	kfree(flight);
}

/**
 * soft_flight_set() - give a flight to a dispatch
 * @flight: one that is large enough
 * @context: the context, with what is dispatched; simt_group_init() follows when it has begun
 * Context: any; does not sleep.
 */
void soft_flight_set(struct soft_flight *flight, struct soft_context *context)
{
	const struct simt_dispatch *dispatch = &context->dispatch;
	struct simt_group *group = &flight->group;
	size_t private = simt_private_bytes(dispatch->group, dispatch->private_bytes);

	flight->context = context;
	flight->piece = SOFT_PIECE_FIRST;
	memset(group, 0, sizeof(*group));
	group->mem = &flight->mem;
	group->warps = flight->warps;
	group->private = flight->data;
	group->local = dispatch->local_bytes ? flight->data + ALIGN(private, SOFT_FLIGHT_ALIGN) :
					       NULL;
}
