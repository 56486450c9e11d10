/* SPDX-License-Identifier: GPL-2.0 */
/* Execution of packets, by the thread of an engine. */
#ifndef _VGPU_SOFT_EXEC_H
#define _VGPU_SOFT_EXEC_H

#include <linux/types.h>
#include <linux/vgpu.h>

#include "../memory/space.h"
#include "../work/packet.h"

struct page;
struct soft_channel;
struct soft_context;
struct soft_engine;

#define SOFT_PREFETCH		64	/* packets read at once from a ring in guest memory */
#define SOFT_BOUNCE_PAGES	(VGPU_DMA_MAX / VGPU_HW_PAGE_SIZE)

/* What a packet costs beside what it moves and what it looks at: see SOFT_STOP_BYTES. */
#define SOFT_PACKET_WORK	4096

enum soft_step {
	SOFT_STEP_NEXT,		/* the packet at get has not been read yet */
	SOFT_STEP_FETCH,	/* packets are being read from guest memory */
	SOFT_STEP_PACE,		/* a frame that the frame-rate limit has not let through yet */
	SOFT_STEP_BODY,		/* the packet's type has it executed */
	SOFT_STEP_SIGNAL,	/* only the packet's signal is left to be written */
};

/**
 * struct soft_exec - how far the execution of a channel's packet at get has come
 * @step:    what is done next
 * @packet:  the packet; valid from SOFT_STEP_PACE on
 * @va:      address, as the guest has it, of the last request to guest memory or for pages
 * @gen:     generation of that address's translation, see struct soft_place
 * @answered: the request to guest memory that @packet's execution made has succeeded; the
 *           execution clears this
 * @row:     the row that is being filled or copied. This and the next six fields belong to
 *           @packet's execution; they are 0 when it begins
 * @col:     bytes of @row that are done
 * @chunk:   bytes of the last request to guest memory
 * @bounced: the last request was the first half of a copy from guest to guest memory: it reads
 *           @chunk bytes into @bounce
 * @write_back: it has read them, and they are to be written
 * @pattern: so many pages of @bounce hold the FILL's pattern
 * @surface: PRESENT: as much of the surface as has been looked at, in one piece
 * @head:    DISPATCH: the head of its program, as it was read last
 * @context: state of the channel's dispatch, or of one that is about to begin; NULL: none
 * @kept:    left from its last dispatch; NULL: nothing, or others have needed the room. Protected
 *           by soft_compute.kept_lock
 * @fetch_first: index of the first packet in @fetch
 * @fetch_nr: packets in @fetch
 * @fetch:   a page of packets from a ring in guest memory, or NULL
 * @bounce:  host memory that guest memory is read into or written from; NULL where no page has
 *           been needed yet
 */
struct soft_exec {
	enum soft_step step;
	struct soft_packet packet;
	u64 va;
	u32 gen;
	bool answered;
	u32 row;
	u64 col;
	u32 chunk;
	bool bounced;
	bool write_back;
	u32 pattern;
	struct soft_place surface;
	struct soft_program_head head;
	struct soft_context *context;
	struct soft_context *kept;
	u64 fetch_first;
	u32 fetch_nr;
	struct page *fetch;
	struct page *bounce[SOFT_BOUNCE_PAGES];
};

enum soft_end soft_exec(struct soft_engine *engine, struct soft_channel *ch,
			struct soft_fault *fault);
enum soft_end soft_dispatch_prepared(struct soft_channel *ch, const struct vgpu_dma *dma,
				     struct soft_fault *fault);
enum soft_end soft_dispatch_fault(struct soft_channel *ch, struct soft_fault *fault);
void soft_exec_exit(struct soft_exec *exec);

#endif /* _VGPU_SOFT_EXEC_H */
