/* SPDX-License-Identifier: GPL-2.0 */
/* Execution of packets, by the thread of an engine. */
#ifndef _VGPU_SOFT_EXEC_H
#define _VGPU_SOFT_EXEC_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/vgpu.h>

#include "../memory/space.h"
#include "packet.h"

struct page;
struct soft_channel;
struct soft_engine;

#define SOFT_PREFETCH		64	/* packets read at once from a ring in guest memory */
#define SOFT_EXEC_WORK		6	/* words of 64 bits for a packet type */
#define SOFT_BOUNCE_PAGES	(VGPU_DMA_MAX / VGPU_HW_PAGE_SIZE)

/* What a packet costs beside what it moves and what it looks at: see SOFT_STOP_BYTES. */
#define SOFT_PACKET_WORK	4096

enum soft_step {
	SOFT_STEP_NEXT,		/* the packet at get has not been read yet */
	SOFT_STEP_FETCH,	/* packets are being read from guest memory */
	SOFT_STEP_PACE,		/* a frame that the frame-rate limit has not let through yet */
	SOFT_STEP_PREPARE,	/* the packet's type makes what its execution needs */
	SOFT_STEP_BODY,		/* the packet's type executes it */
	SOFT_STEP_SIGNAL,	/* only the packet's signal is left to be written */
};

/**
 * struct soft_exec - how far the execution of a channel's packet at get has come
 * @step:    what is done next
 * @raw:     the packet as it was read; valid as @packet is, but for @packet.signal
 * @packet:  the packet; valid from SOFT_STEP_PACE on
 * @va:      address, as the guest has it, of the last request to guest memory or for pages
 * @gen:     generation of that address's translation, see struct soft_place
 * @ended:   helpers have ended the packet's work, by success or fault, and the engine's thread has
 *           not looked yet; only while the channel is on the ready list
 * @answered: the request to guest memory that @packet's execution made has succeeded; the
 *           execution clears this
 * @work:    what the type of @packet remembers of it, see soft_exec_work(); 0 when it begins
 * @fetch_first: index of the first packet in @fetch
 * @fetch_nr: packets in @fetch
 * @fetch:   a page of packets from a ring in guest memory, or NULL
 * @bounce:  host memory that guest memory is read into or written from; NULL where no page has
 *           been needed yet
 */
struct soft_exec {
	enum soft_step step;
	struct vgpu_hw_packet raw __aligned(8);
	struct soft_packet packet;
	u64 va;
	u32 gen;
	bool ended;
	bool answered;
	u64 work[SOFT_EXEC_WORK];
	u64 fetch_first;
	u32 fetch_nr;
	struct page *fetch;
	struct page *bounce[SOFT_BOUNCE_PAGES];
};

/**
 * soft_exec_work() - what a packet's type remembers of it
 * @exec: the channel's execution state
 * @type: the type's own structure, which has no pointer: only @exec's owner frees something
 */
#define soft_exec_work(exec, type) ({					\
	BUILD_BUG_ON(sizeof(type) > sizeof((exec)->work));		\
	(type *)(exec)->work;						\
})

enum soft_end soft_exec(struct soft_engine *engine, struct soft_channel *ch,
			struct soft_fault *fault);
void soft_exec_cancel(struct soft_channel *ch);
void soft_exec_exit(struct soft_channel *ch);

#endif /* _VGPU_SOFT_EXEC_H */
