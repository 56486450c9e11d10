/* SPDX-License-Identifier: GPL-2.0 */
/* Queues: the channels of a vGPU that wait for one engine. */
#ifndef _VGPU_SOFT_QUEUE_H
#define _VGPU_SOFT_QUEUE_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/vgpu.h>

#include "exec.h"
#include "turn.h"

struct soft_channel;
struct soft_engine;
struct soft_queues;

/**
 * struct soft_queue - the channels of a vGPU that wait for one engine
 * @ready:    channels that are AWAKE and not busy, in the order in which the engine takes them
 * @nr_ready: length of @ready (the engine's thread also reads it without the lock)
 * @paced:    channels that are AWAKE, but held back by the frame-rate limit or because a request
 *            could not be allocated, in the order in which they came
 * @due_ns:   no channel on @paced is due before this time; U64_MAX: there is none (the engine's
 *            thread also reads it without the lock)
 * @stalled:  channels that wait for guest memory or for pages, in the order in which they came
 * @nr_stalled: length of @stalled (the engine's thread also reads it without the lock)
 * @in_run:   the engine is in a run of the vGPU
 * @last:     the last turn of the last run that had one, since the vGPU was opened
 * @given_ns: of the service that the core has charged the vGPU on the engine, what is not the
 *            channels' any more: they have got it, or it is from before the vGPU was opened
 *
 * Protected by the vGPU's queue_lock.
 */
struct soft_queue {
	struct list_head ready;
	unsigned int nr_ready;
	struct list_head paced;
	u64 due_ns;
	struct list_head stalled;
	unsigned int nr_stalled;
	bool in_run;
	struct soft_turn last;
	u64 given_ns;
};

void soft_queue_publish(struct soft_channel *ch, enum vgpu_hw_state state);
void soft_queue_add(struct soft_channel *ch);
void soft_queue_del(struct soft_channel *ch);
void soft_queue_stall(struct soft_channel *ch, bool stalled);
bool soft_queue_unstall(struct soft_channel *ch);
void soft_queue_wake(struct soft_queues *queues, unsigned int engine);
void soft_queue_announce(struct soft_queues *queues, unsigned int engine);
bool soft_queue_begin(struct soft_queues *queues, unsigned int engine);
enum vgpu_run_end soft_queue_end(struct soft_engine *engine, bool all_empty);
struct soft_channel *soft_queue_take(struct soft_queues *queues, unsigned int engine, u64 now_ns);
struct soft_channel *soft_queue_take_ended(struct soft_queues *queues, unsigned int engine);
unsigned int soft_queue_borrow(struct soft_engine *engine, struct soft_channel **chs,
			       unsigned int most);
void soft_queue_give_back(struct soft_engine *engine, struct soft_channel *const *chs,
			  unsigned int nr);
void soft_queue_release(struct soft_engine *engine, struct soft_channel *ch, enum soft_end end,
			bool sleep);

#endif /* _VGPU_SOFT_QUEUE_H */
