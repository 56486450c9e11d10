/* SPDX-License-Identifier: GPL-2.0 */
/* Decoded programs of a vGPU. */
#ifndef _VGPU_SOFT_PROGRAMS_H
#define _VGPU_SOFT_PROGRAMS_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "../simt/native.h"

#define SOFT_PROGRAMS_BITS	8	/* log2 of the hashes of programs */

/**
 * struct soft_program_key - what a decoded program is found by
 * @root:       address space that @image is in; 0: the vGPU's framebuffer
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
 * @bytes:  what it counts for; protected by the lock of struct soft_programs
 * @native_bytes: of that, its code of the CPU; likewise
 * @slow:   may have some of the slowest instructions, see simt_program_slow(); constant
 * @ran:    a dispatch has begun with it; used by the thread of gr only
 * @hot:    lanes run alone in it for long: code of the CPU would be faster. Set by any unit
 * @asked:  that code was asked for; used by the thread of gr only
 * @native: the code; NULL: none so far. Set once, with smp_store_release()
 * @link:   in struct soft_programs.list if @valid and made, else empty. This and the following
 *          fields up to @text are protected by the lock there
 * @node:   likewise in struct soft_programs.table
 * @valid:  nothing that it was made from was invalidated since. Else it cannot be found, and is
 *          freed when @users gets 0
 * @users:  dispatches, and preparations of some, that use it
 * @number: of the state that is being saved: 1 and up; 0: not saved so far. Used by the thread that
 *          saves, see program_state.c
 * @text:   the instructions; constant
 */
struct soft_program {
	struct soft_program_key key;
	size_t bytes;
	size_t native_bytes;
	bool slow;
	bool ran;
	bool hot;
	bool asked;
	struct simt_native *native;
	struct list_head link;
	struct hlist_node node;
	bool valid;
	unsigned int users;
	u32 number;
	struct simt_program text;
};

/**
 * struct soft_programs - the decoded programs of a vGPU
 * @reading: held while a page of text is translated and read: invalidations wait for it
 * @lock:    protects the following, and what struct soft_program says
 * @list:    programs that can be found, the one that was used last at the end
 * @table:   the same, by the hash of what they are found by
 * @bytes:   of all programs, also of those that cannot be found any more
 * @native_bytes: of code of the CPU, as far as it is in @bytes
 * @native_work: makes code of the CPU
 * @native_program: of this program; NULL: of none. Set by the thread of gr while it is NULL, and
 *           else by @native_work; not protected by the lock
 * @making:  the program that is being made, by the one worker of the vGPU; or NULL
 */
struct soft_programs {
	struct mutex reading;		/* the use of translations */
	raw_spinlock_t lock;		/* of all of this */
	struct list_head list;
	DECLARE_HASHTABLE(table, SOFT_PROGRAMS_BITS);
	size_t bytes;
	size_t native_bytes;
	struct work_struct native_work;
	struct soft_program *native_program;
	struct soft_program *making;
};

void soft_programs_init(struct soft_programs *programs);
struct soft_program *soft_programs_find(struct soft_programs *programs,
					const struct soft_program_key *key);
size_t soft_programs_take(struct soft_programs *programs, size_t bytes);
void soft_programs_give(struct soft_programs *programs, size_t bytes);
bool soft_programs_add(struct soft_programs *programs, struct soft_program *program,
		       size_t bytes);
void soft_programs_begin(struct soft_programs *programs, struct soft_program *program);
void soft_programs_adopt(struct soft_program *program);
void soft_programs_use(struct soft_programs *programs, struct soft_program *program);
void soft_programs_end(struct soft_programs *programs, bool made);
bool soft_programs_valid(struct soft_programs *programs, const struct soft_program *program);
void soft_programs_put(struct soft_programs *programs, struct soft_program *program);
void soft_programs_sync(struct soft_programs *programs);
void soft_programs_invalidate(struct soft_programs *programs, u32 root);
void soft_programs_drop(struct soft_programs *programs);

#endif /* _VGPU_SOFT_PROGRAMS_H */
