/* SPDX-License-Identifier: GPL-2.0 */
/* Decoded programs of a vGPU. */
#ifndef _VGPU_SOFT_PROGRAMS_H
#define _VGPU_SOFT_PROGRAMS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "exec.h"
#include "simt/program.h"

struct soft_instance;

/**
 * struct soft_program_key - what a decoded program is found by
 * @root:       address space that @image is in; 0: the partition
 * @image:      address of the image
 * @text_bytes: how much of the image's beginning is instructions
 */
struct soft_program_key {
	u32 root;
	u32 text_bytes;
	u64 image;
};

/**
 * struct soft_program - a decoded program
 * @key:    what it was made from; constant
 * @bytes:  what it counts for; constant
 * @slow:   may have some of the slowest instructions, see soft_program_slow_op(); constant
 * @link:   in struct soft_programs.list if @cached, else empty. This and the following fields up
 *          to @text are protected by the lock there
 * @cached: can be found. Else it is freed when @users gets 0
 * @users:  dispatches, and preparations of some, that use it
 * @text:   the instructions; constant
 */
struct soft_program {
	struct soft_program_key key;
	size_t bytes;
	bool slow;
	struct list_head link;
	bool cached;
	unsigned int users;
	struct simt_program text;
};

/**
 * struct soft_programs - the decoded programs of a vGPU
 * @reading: held while a page of text is translated and read: invalidations wait for it
 * @lock:    protects the following, and what struct soft_program says
 * @list:    programs that can be found, the one that was used last at the end
 * @bytes:   of all programs, also of those that cannot be found any more
 * @invalidations: counts the calls of soft_programs_invalidate(). What was read from memory before
 *           the last one must not be found
 * @hits:    how often a program was found
 * @misses:  how often one was made
 */
struct soft_programs {
	struct mutex reading;		/* the use of translations */
	spinlock_t lock;		/* of all of this */
	struct list_head list;
	size_t bytes;
	u64 invalidations;
	u64 hits;
	u64 misses;
};

void soft_programs_init(struct soft_programs *programs);
struct soft_program *soft_programs_find(struct soft_programs *programs,
					const struct soft_program_key *key);
int soft_programs_load(struct soft_instance *inst, const struct soft_program_key *key,
		       struct soft_program **programp, struct soft_fault *fault);
void soft_programs_put(struct soft_programs *programs, struct soft_program *program);
void soft_programs_invalidate(struct soft_programs *programs, u32 root);
void soft_programs_drop(struct soft_programs *programs);

#endif /* _VGPU_SOFT_PROGRAMS_H */
