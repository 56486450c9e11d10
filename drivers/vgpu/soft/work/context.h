/* SPDX-License-Identifier: GPL-2.0 */
/* Contexts: the state of a channel's dispatch, and what it takes to begin one. */
#ifndef _VGPU_SOFT_CONTEXT_H
#define _VGPU_SOFT_CONTEXT_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "../queue/exec.h"
#include "flights.h"
#include "head.h"
#include "programs.h"
#include "../simt/simt.h"

/*
 * Flights for which there was no memory or room are tried again after so long. Then contexts that
 * have been idle for as long go, as the channel would have one unit for ever.
 */
#define SOFT_LACKS_JIFFIES	HZ

struct seq_file;
struct soft_channel;
struct soft_context;
struct soft_memory;
struct vgpu_dma;

/**
 * struct soft_contexts - the contexts of a channel
 * @used: what the channel's DISPATCH has; NULL: none. Belongs to whom struct soft_exec belongs to
 * @kept: what an earlier one has left for the next one; NULL: nothing, or others have needed the
 *        room. Protected by soft_compute.kept_lock
 */
struct soft_contexts {
	struct soft_context *used;
	struct soft_context *kept;
};

/**
 * struct soft_compute - what a vGPU has of programs
 * @mem:      the vGPU's memory; constant
 * @channel:  contexts by number of the channel; constant
 * @nr_channels: number of channels; constant
 * @programs: decoded programs
 * @decoded:  of all vGPUs of the GPU together: how many programs were decoded; constant
 * @context_bytes: memory of all contexts, until it is free, but for flights
 * @flight_bytes: memory of flights beside those that contexts have of their own
 * @context_going: of this, what the worker was given to free
 * @loaded:   programs of the state that is being loaded, by their number; NULL: none is. Used by
 *            the thread that loads, see program_state.c
 * @nr_loaded: length of @loaded
 * @serial:   how often soft_context_set() was called: by the thread of gr, or for a paused vGPU
 * @kept_lock: protects @kept, struct soft_contexts.kept, and the link of these contexts
 * @kept:     contexts that are idle, that which has been for longest first
 * @hits:     how many dispatches have begun with a program that another one had begun with before.
 *            This and the following fields are written by the thread of gr only
 * @misses:   how many have begun with one that was new; dispatches that only wait are neither
 * @dispatches: how many dispatches have ended well
 * @groups:   how many work-groups they had
 * @insns:    instructions that warps have executed, also of dispatches that have not ended
 */
struct soft_compute {
	struct soft_memory *mem;
	struct soft_contexts *channel;
	u32 nr_channels;
	struct soft_programs programs;
	atomic_t *decoded;
	atomic64_t context_bytes;
	atomic64_t flight_bytes;
	atomic64_t context_going;
	struct soft_program **loaded;
	u32 nr_loaded;
	u64 serial;
	raw_spinlock_t kept_lock;	/* idle contexts */
	struct list_head kept;
	u64 hits;
	u64 misses;
	u64 dispatches;
	u64 groups;
	u64 insns;
};

/**
 * struct soft_context - the state of a channel's dispatch, which stays in place across preemption
 * @dispatch: what is executed, and which of its groups have begun
 * @own:      a flight that is the context's, with or without a program
 * @flights:  this and others, while there is a program
 * @lock:     protects @flights while helpers work on the dispatch; else it is the channel's
 * @spare:    flights that are not among @flights: for dispatches with several groups
 * @made:     how many flights there are, @own and @spare with them
 * @lacks:    for one more there was no memory or no room; it is tried again after @again
 * @again:    in jiffies
 * @serial:   struct soft_compute.serial when the dispatch was set up: no other one of the vGPU has
 *            the same
 * @compute:  of the vGPU; constant
 * @program:  the program that @dispatch executes; NULL: none, the context is idle
 * @ch:       the channel, while there is a @program, and while it keeps the context
 * @link:     in struct soft_compute.kept, while the channel keeps it
 * @kept_at:  in jiffies, since when
 * @image:    address of the program's image in the channel's address space
 */
struct soft_context {
	struct simt_dispatch dispatch;
	struct soft_flight own;
	struct soft_flights flights;
	raw_spinlock_t lock;	/* flights */
	struct list_head spare;
	unsigned int made;
	bool lacks;
	unsigned long again;
	u64 serial;
	struct soft_compute *compute;
	struct soft_program *program;
	struct soft_channel *ch;
	struct list_head link;
	unsigned long kept_at;
	u64 image;
};

static inline const struct soft_dispatch_operands *
soft_dispatch_operands(const struct soft_packet *packet)
{
	return soft_packet_operands(packet, const struct soft_dispatch_operands);
}

/* How many instructions the dispatch has executed; 0: it has not begun to. */
static inline u64 soft_context_executed(const struct soft_context *context)
{
	return context->dispatch.executed + soft_flights_executed(&context->flights);
}

/* What a DISPATCH remembers: the head of its program, as it was read last. */
static inline struct soft_program_head *soft_context_head(struct soft_exec *exec)
{
	return soft_exec_work(exec, struct soft_program_head);
}

int soft_compute_init(struct soft_compute *compute, struct soft_memory *mem, u32 nr_channels,
		      atomic_t *decoded);
void soft_compute_exit(struct soft_compute *compute);
bool soft_context_ready(struct soft_channel *ch, bool prepared);
void soft_context_fill_up(struct soft_context *context, unsigned int nr);
struct soft_context_size soft_context_size(struct soft_exec *exec);
struct soft_context *soft_context_alloc(struct soft_compute *compute,
					const struct soft_context_size *size, int *ret);
void soft_context_set(struct soft_channel *ch, struct soft_program *program);
void soft_context_begin(struct soft_channel *ch, struct soft_program *program);
enum soft_end soft_context_prepare(struct soft_channel *ch, const struct soft_program_key *key,
				   struct soft_program *program);
enum soft_end soft_context_prepared(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault);
void soft_context_show(struct soft_compute *compute, struct seq_file *m);

/* context_flights.c */
unsigned int soft_context_flights(const struct soft_channel *ch);
bool soft_context_lacks(const struct soft_context *context, unsigned int nr);
void soft_context_add(struct soft_context *context, struct soft_flight *flight);
bool soft_context_grow(struct soft_channel *ch);
void soft_context_idle(struct soft_context *context);
void soft_context_free_flights(struct soft_context *context);
int soft_context_fill(struct soft_context *context, unsigned int nr);

#endif /* _VGPU_SOFT_CONTEXT_H */
