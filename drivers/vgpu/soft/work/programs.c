// SPDX-License-Identifier: GPL-2.0
/*
 * Decoded programs of a vGPU: kept from the first dispatch of a program on, until the guest
 * invalidates the address space that it was read from, the vGPU is reset, or the room is needed
 * for another program.
 *
 * An engine finds programs. The vGPU's worker makes them, see text.c. Knows neither vGPU nor
 * memory, so it compiles in user space, too.
 */
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "native.h"
#include "programs.h"

/* What the programs of a vGPU may take together; four times the largest one at least. */
#define SOFT_PROGRAMS_BYTES	0x1000000

/* A program counts for so much at least. So there are at most 1024: some four of a hash. */
#define SOFT_PROGRAM_LEAST	0x4000

/* Likewise, of these, code of the CPU. */
#define SOFT_PROGRAMS_NATIVE	0x200000

/* Sets up the programs of a new vGPU, which are zeroed: none. */
void soft_programs_init(struct soft_programs *programs)
{
	mutex_init(&programs->reading);
	raw_spin_lock_init(&programs->lock);
	INIT_LIST_HEAD(&programs->list);
	hash_init(programs->table);
}

static u64 soft_program_hash(const struct soft_program_key *key)
{
	return key->image ^ (u64)key->text_bytes << 20 ^ (u64)key->root << 32;
}

static bool soft_program_is(const struct soft_program *program, const struct soft_program_key *key)
{
	return program->key.root == key->root && program->key.image == key->image &&
	       program->key.text_bytes == key->text_bytes;
}

static void soft_program_uncount(struct soft_programs *programs,
				 const struct soft_program *program)
{
	lockdep_assert_held(&programs->lock);
	programs->bytes -= program->bytes;
	programs->native_bytes -= program->native_bytes;
}

static void soft_program_free(struct soft_program *program)
{
	soft_native_free(program->native);
	kvfree(program);
}

/* Takes a program out of the list; returns true if the caller is to free it. */
static bool soft_program_forget(struct soft_programs *programs, struct soft_program *program)
{
	lockdep_assert_held(&programs->lock);
	list_del_init(&program->link);
	hash_del(&program->node);
	program->valid = false;
	if (program->users)
		return false;
	soft_program_uncount(programs, program);
	return true;
}

/**
 * soft_programs_find() - find a program
 * @programs: the vGPU's
 * @key: what it was made from
 * Context: any; does not sleep.
 * Return: the program, which the caller uses until soft_programs_put(); NULL: there is none.
 */
struct soft_program *soft_programs_find(struct soft_programs *programs,
					const struct soft_program_key *key)
{
	struct soft_program *program;

	raw_spin_lock(&programs->lock);
	hash_for_each_possible(programs->table, program, node, soft_program_hash(key)) {
		if (!soft_program_is(program, key))
			continue;
		list_move_tail(&program->link, &programs->list);
		program->users++;
		raw_spin_unlock(&programs->lock);
		return program;
	}
	raw_spin_unlock(&programs->lock);
	return NULL;
}

/* Whether nothing that @program was made from was invalidated since. Context: any. */
bool soft_programs_valid(struct soft_programs *programs, const struct soft_program *program)
{
	bool valid;

	raw_spin_lock(&programs->lock);
	valid = program->valid;
	raw_spin_unlock(&programs->lock);
	return valid;
}

/**
 * soft_programs_put() - end the use of a program
 * @programs: the vGPU's
 * @program: one that the caller uses
 * Context: may sleep.
 */
void soft_programs_put(struct soft_programs *programs, struct soft_program *program)
{
	bool gone;

	raw_spin_lock(&programs->lock);
	gone = !--program->users && !program->valid;
	if (gone)
		soft_program_uncount(programs, program);
	raw_spin_unlock(&programs->lock);
	if (gone)
		soft_program_free(program);
}

/*
 * Takes out of the list, to @dead, the programs that have not been used for longest, as many as it
 * takes to make room. Returns false if those in use leave no room.
 */
static bool soft_programs_room(struct soft_programs *programs, size_t bytes,
			       struct list_head *dead)
{
	struct soft_program *program, *next;

	lockdep_assert_held(&programs->lock);
	list_for_each_entry_safe(program, next, &programs->list, link) {
		if (programs->bytes + bytes <= SOFT_PROGRAMS_BYTES)
			break;
		if (program->users)
			continue;
		soft_program_forget(programs, program);
		list_add(&program->link, dead);
	}
	return programs->bytes + bytes <= SOFT_PROGRAMS_BYTES;
}

static void soft_programs_free(struct list_head *dead)
{
	struct soft_program *program, *next;

	list_for_each_entry_safe(program, next, dead, link)
		soft_program_free(program);
}

/**
 * soft_programs_take() - count the memory of a program that is to be made
 * @programs: the vGPU's
 * @bytes: what the program takes
 * Context: may sleep.
 * Return: what it counts for; 0: the programs that are in use leave no room for it.
 */
size_t soft_programs_take(struct soft_programs *programs, size_t bytes)
{
	LIST_HEAD(dead);
	bool ok;

	bytes = max_t(size_t, bytes, SOFT_PROGRAM_LEAST);
	raw_spin_lock(&programs->lock);
	ok = soft_programs_room(programs, bytes, &dead);
	if (ok)
		programs->bytes += bytes;
	raw_spin_unlock(&programs->lock);
	soft_programs_free(&dead);
	return ok ? bytes : 0;
}

/* Undoes soft_programs_take(), if there is no program. @bytes are those that it has returned. */
void soft_programs_give(struct soft_programs *programs, size_t bytes)
{
	raw_spin_lock(&programs->lock);
	programs->bytes -= bytes;
	raw_spin_unlock(&programs->lock);
}

/* What a program has when it is new. */
static void soft_program_init(struct soft_program *program)
{
	program->hot = false;
	program->asked = false;
	program->native = NULL;
	program->native_bytes = 0;
	program->number = 0;
	program->users = 1;
	INIT_LIST_HEAD(&program->link);
	INIT_HLIST_NODE(&program->node);
}

/**
 * soft_programs_add() - count the code of a program
 * @programs: the vGPU's
 * @program: one that the caller uses, and which has no code
 * @bytes: length of the code
 * Context: any.
 * Return: false: the vGPU has too much of it.
 */
bool soft_programs_add(struct soft_programs *programs, struct soft_program *program,
		       size_t bytes)
{
	bool ok;

	raw_spin_lock(&programs->lock);
	ok = programs->native_bytes + bytes <= SOFT_PROGRAMS_NATIVE &&
	     programs->bytes + bytes <= SOFT_PROGRAMS_BYTES;
	if (ok) {
		programs->native_bytes += bytes;
		programs->bytes += bytes;
		program->native_bytes = bytes;
		program->bytes += bytes;
	}
	raw_spin_unlock(&programs->lock);
	return ok;
}

/**
 * soft_programs_begin() - begin to make a program
 * @programs: the vGPU's
 * @program: with its key and its bytes. The caller uses it from now on until soft_programs_put(),
 *           and calls soft_programs_end() before that
 *
 * Nothing that the program is made from was read before.
 *
 * Context: the one thread that makes programs of the vGPU.
 */
void soft_programs_begin(struct soft_programs *programs, struct soft_program *program)
{
	soft_program_init(program);
	program->ran = false;
	program->valid = true;
	raw_spin_lock(&programs->lock);
	programs->making = program;
	raw_spin_unlock(&programs->lock);
}

/**
 * soft_programs_adopt() - set up a program that is not found by what it was made from
 * @program: with its bytes, and with its text or not. The caller uses it until soft_programs_put()
 * Context: any.
 */
void soft_programs_adopt(struct soft_program *program)
{
	soft_program_init(program);
	memset(&program->key, 0, sizeof(program->key));
	program->ran = true;
	program->valid = false;
}

/* One more use of a program that the caller uses. Context: any. */
void soft_programs_use(struct soft_programs *programs, struct soft_program *program)
{
	raw_spin_lock(&programs->lock);
	program->users++;
	raw_spin_unlock(&programs->lock);
}

/**
 * soft_programs_end() - end to make the program for which soft_programs_begin() was called
 * @programs: the vGPU's
 * @made: it is complete, and is found from now on, unless it is out of date already
 * Context: as soft_programs_begin().
 */
void soft_programs_end(struct soft_programs *programs, bool made)
{
	struct soft_program *program;

	raw_spin_lock(&programs->lock);
	program = programs->making;
	programs->making = NULL;
	program->valid &= made;
	if (program->valid) {
		list_add_tail(&program->link, &programs->list);
		hash_add(programs->table, &program->node, soft_program_hash(&program->key));
	}
	raw_spin_unlock(&programs->lock);
}

static void soft_programs_forget(struct soft_programs *programs, bool all, u32 root)
{
	struct soft_program *program, *next;
	LIST_HEAD(dead);

	raw_spin_lock(&programs->lock);
	program = programs->making;
	if (program && (all || program->key.root == root))
		program->valid = false;
	list_for_each_entry_safe(program, next, &programs->list, link)
		if ((all || program->key.root == root) && soft_program_forget(programs, program))
			list_add(&program->link, &dead);
	raw_spin_unlock(&programs->lock);
	soft_programs_free(&dead);
}

/**
 * soft_programs_sync() - wait until no program is being read by an old translation
 * @programs: the vGPU's
 *
 * When this returns no program is being read by translations that were made before. What was
 * decoded stays.
 *
 * Context: sleeps.
 */
void soft_programs_sync(struct soft_programs *programs)
{
	mutex_lock(&programs->reading);
	mutex_unlock(&programs->reading);
}

/**
 * soft_programs_invalidate() - what was read from an address space may be out of date
 * @programs: the vGPU's
 * @root: the address space; 0: the vGPU's framebuffer
 *
 * Dispatches that begin later do not find what was decoded before; nor do those find it that wait,
 * as soft_dispatch_begin() looks for it again. A dispatch that has begun goes on with the code that
 * it began with. When this returns no program is being read by translations that were made before.
 *
 * Context: sleeps.
 */
void soft_programs_invalidate(struct soft_programs *programs, u32 root)
{
	soft_programs_forget(programs, false, root);
	soft_programs_sync(programs);
}

/**
 * soft_programs_drop() - invalidate all programs
 * @programs: those of a vGPU that has lost its memory, so what the worker begins to make from now
 *            on is made of new memory
 * Context: may sleep.
 */
void soft_programs_drop(struct soft_programs *programs)
{
	soft_programs_forget(programs, true, 0);
}
