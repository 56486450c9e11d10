/* SPDX-License-Identifier: GPL-2.0 */
/* All channels and queues of a vGPU. */
#ifndef _VGPU_SOFT_QUEUES_H
#define _VGPU_SOFT_QUEUES_H

#include <linux/mutex.h>
#include <linux/rcuwait.h>
#include <linux/spinlock.h>
#include <linux/vgpu.h>

#include "channel.h"
#include "engine.h"
#include "queue.h"

struct soft_memory;
struct soft_work;
struct vgpu_record_reader;
struct vgpu_records;

#define SOFT_GUEST_WORDS	(sizeof(struct vgpu_hw_guest_info) / 4)

/**
 * struct soft_regs - the device registers that change
 * @intr:     VGPU_HW_INTR
 * @fault_channel: VGPU_HW_FAULT_CHANNEL
 * @guest_info: VGPU_HW_GUEST_INFO
 * @began_ns: VGPU_HW_USAGE_TIME is CLOCK_MONOTONIC less this
 * @before_ns: likewise, VGPU_HW_USAGE_SERVICE() is vgpu_engine_busy_ns() less this
 *
 * What is added here is added to struct soft_regs_record, too. A reset and a load set all of it.
 */
struct soft_regs {
	u32 intr;
	u32 fault_channel;
	u32 guest_info[SOFT_GUEST_WORDS];
	u64 began_ns;
	u64 before_ns[SOFT_ENGINES];
};

/**
 * struct soft_queues - all channels and queues of a vGPU
 * @info:     the part of the GPU that the vGPU owns; this and the next three fields are constant
 * @engine:   the GPU's engines, by number
 * @mem:      the vGPU's memory
 * @work:     data of the packet types for the vGPU
 * @config_lock: serialises writes that enable and disable channels, and invalidations
 * @queue_lock: protects the states of channels, @queue, @stopping and @regs
 * @wait:     a thread that holds @config_lock waits here for engines to leave a channel or the
 *            vGPU, or to look at @space_gen
 * @space_gen: number of invalidations of address spaces so far; changes under both locks
 * @stopping: no run begins and no channel is enabled: true from instance_stop to the end of
 *            drop_memory (also read without the lock)
 * @regs:     the device registers
 * @queue:    queues by number of the engine
 * @nr_channels: length of @channel
 * @channel:  channels by number
 */
struct soft_queues {
	const struct vgpu_instance_info *info;
	struct soft_engine *engine;
	struct soft_memory *mem;
	struct soft_work *work;
	struct mutex config_lock;	/* enabling and disabling */
	raw_spinlock_t queue_lock;	/* states and queues */
	struct rcuwait wait;
	u32 space_gen;
	bool stopping;
	struct soft_regs regs;
	struct soft_queue queue[SOFT_ENGINES];
	u32 nr_channels;
	struct soft_channel channel[] __counted_by(nr_channels);
};

/* The back end's data that the core keeps for a vGPU: see soft_instance(). */
static inline struct soft_queues *soft_queues(struct vgpu_instance *vgpu)
{
	return vgpu_instance_backend(vgpu);
}

/**
 * soft_invalidate_gen() - get the current generation of a vGPU's translations
 * @queues: queues of the vGPU
 *
 * Translations carry struct soft_view.gen, the generation when the unit last looked at it. So
 * this may be newer than the generation of present translations.
 *
 * Context: any.
 * Return: a number that each invalidation changes.
 */
static inline u32 soft_invalidate_gen(const struct soft_queues *queues)
{
	/* Pairs with soft_invalidate_sync(). */
	return smp_load_acquire(&queues->space_gen);
}

/* What the packets of a channel may access and use, once its engine and space are latched. */
static inline void soft_channel_limits(const struct soft_channel *ch, struct soft_limits *limits)
{
	*limits = (struct soft_limits) {
		.fb_bytes = ch->queues->info->fb_bytes,
		.virt = ch->space,
		.engine_class = ch->queues->engine[ch->engine].desc->engine_class,
		.vectors = VGPU_HW_VECTORS,
		.num_heads = ch->queues->info->num_heads,
	};
}

/* channel.c */
void soft_queues_init(struct soft_queues *queues);

/* channel_state.c */
void soft_channel_save_all(struct soft_queues *queues, struct vgpu_records *to);
void soft_channel_leave_all(struct soft_queues *queues);
int soft_channel_load_all(struct soft_queues *queues, struct vgpu_record_reader *from);
void soft_channel_announce_all(struct soft_queues *queues);

/* invalidate.c */
void soft_invalidate_begin_run(struct soft_unit *unit);
void soft_invalidate_look(struct soft_unit *unit);
int soft_invalidate(struct soft_queues *queues, u32 root);

/* usage.c */
unsigned int soft_usage_read(struct soft_queues *queues, u32 reg, u64 *value);
int soft_usage_read_word(struct soft_queues *queues, u32 reg, u32 *value);
void soft_usage_reset(const struct soft_queues *queues, struct soft_regs *regs);
void soft_usage_save(struct soft_queues *queues, __le64 *service_ns);
void soft_usage_load(struct soft_queues *queues, struct soft_regs *regs, const __le64 *service_ns);

#endif /* _VGPU_SOFT_QUEUES_H */
