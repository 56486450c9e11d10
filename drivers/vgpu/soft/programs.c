// SPDX-License-Identifier: GPL-2.0
/*
 * Decoded programs of a vGPU: kept from the first dispatch of a program on, until the guest
 * invalidates the address space that it was read from, the vGPU is reset, or the room is needed
 * for another program.
 *
 * An engine finds programs. The vGPU's worker makes them: it may wait for memory, and a program
 * of a million bytes takes milliseconds to read and to decode.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "instance.h"
#include "programs.h"

/* What the programs of a vGPU may take together; four times the largest one at least. */
#define SOFT_PROGRAMS_BYTES	0x1000000

/* A program counts for so much at least. So there are at most 1024, and a search is short. */
#define SOFT_PROGRAM_LEAST	0x4000

/* Sets up the programs of a new vGPU: none. */
void soft_programs_init(struct soft_programs *programs)
{
	mutex_init(&programs->reading);
	spin_lock_init(&programs->lock);
	INIT_LIST_HEAD(&programs->list);
}

static bool soft_program_is(const struct soft_program *program, const struct soft_program_key *key)
{
	return program->key.root == key->root && program->key.image == key->image &&
	       program->key.text_bytes == key->text_bytes;
}

/* Takes a program out of the list; returns true if the caller is to free it. */
static bool soft_program_forget(struct soft_programs *programs, struct soft_program *program)
{
	lockdep_assert_held(&programs->lock);
	list_del_init(&program->link);
	program->cached = false;
	if (program->users)
		return false;
	programs->bytes -= program->bytes;
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

	spin_lock(&programs->lock);
	list_for_each_entry_reverse(program, &programs->list, link) {
		if (!soft_program_is(program, key))
			continue;
		list_move_tail(&program->link, &programs->list);
		program->users++;
		programs->hits++;
		spin_unlock(&programs->lock);
		return program;
	}
	spin_unlock(&programs->lock);
	return NULL;
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

	spin_lock(&programs->lock);
	gone = !--program->users && !program->cached;
	if (gone)
		programs->bytes -= program->bytes;
	spin_unlock(&programs->lock);
	if (gone)
		kvfree(program);
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
		kvfree(program);
}

/* Counts the bytes of a program that is to be made. */
static bool soft_programs_take(struct soft_programs *programs, size_t bytes, u64 *invalidations)
{
	LIST_HEAD(dead);
	bool ok;

	spin_lock(&programs->lock);
	ok = soft_programs_room(programs, bytes, &dead);
	if (ok)
		programs->bytes += bytes;
	programs->misses += ok;
	*invalidations = programs->invalidations;
	spin_unlock(&programs->lock);
	soft_programs_free(&dead);
	return ok;
}

static void soft_programs_give(struct soft_programs *programs, size_t bytes)
{
	spin_lock(&programs->lock);
	programs->bytes -= bytes;
	spin_unlock(&programs->lock);
}

static struct soft_program *soft_program_alloc(struct soft_instance *inst, u32 nr)
{
	size_t bytes = offsetof(struct soft_program, text) + simt_program_bytes(nr);
	struct soft_program *program;
	struct mem_cgroup *old;

	old = set_active_memcg(inst->fb.memcg);
	program = kvmalloc(bytes, SOFT_GFP);
	set_active_memcg(old);
	return program;
}

/*
 * Copies @count words of the text, which lie in one page, out of the framebuffer: each is read
 * once, as the guest may be changing it. Returns false if they have no translation.
 */
static bool soft_program_read(struct soft_instance *inst, u32 root, u64 va, __le32 *words,
			      u32 count)
{
	struct soft_programs *programs = &inst->compute.programs;
	struct page *page = NULL;
	const u32 *from;
	u64 addr;
	bool ok;
	u32 i;

	mutex_lock(&programs->reading);
	down_read(&inst->fb.drop_lock);
	ok = soft_space_look_up(inst, root, va, VGPU_HW_PTE_X, &addr);
	if (ok)
		page = soft_store_peek(&inst->fb, addr >> PAGE_SHIFT);
	from = page ? page_address(page) + offset_in_page(addr) : NULL;
	for (i = 0; i < count; i++)
		words[i] = from ? (__force __le32)READ_ONCE(from[i]) : 0;
	up_read(&inst->fb.drop_lock);
	mutex_unlock(&programs->reading);
	return ok;
}

static int soft_program_decode_text(struct soft_instance *inst, struct soft_program *program,
				    struct soft_fault *fault)
{
	const struct soft_program_key *key = &program->key;
	u32 nr = key->text_bytes / 4, step = PAGE_SIZE / 4, first, count;
	__le32 *words = kmalloc(PAGE_SIZE, SOFT_GFP);
	int ret = 0;

	if (!words)
		return -ENOMEM;
	simt_program_init(&program->text, nr);
	for (first = 0; first < nr; first += count) {
		count = min(nr - first, step);
		fault->addr = key->image + (u64)first * 4;
		if (!soft_program_read(inst, key->root, fault->addr, words, count)) {
			fault->code = VGPU_HW_FAULT_PAGE;
			ret = -EFAULT;
			break;
		}
		if (fatal_signal_pending(current)) {
			ret = -ENOMEM;
			break;
		}
		simt_program_decode(&program->text, first, words, count);
		cond_resched();
	}
	kfree(words);
	if (!ret)
		simt_program_finish(&program->text);
	return ret;
}

/*
 * Operations that take some microseconds: floats in integers, the last ones of enum simt_op, and
 * fused ones where the CPU has none; and atomics, if threads of the VM fight for the same words.
 */
static bool soft_program_slow_op(unsigned int op)
{
	return op >= SIMT_FMIN_S_X || (op >= SIMT_LR_W && op <= SIMT_AMOMAXU_D) ||
	       (op >= SIMT_FMADD_S && op <= SIMT_FNMADD_S) ||
	       (op >= SIMT_FMADD_D && op <= SIMT_FNMADD_D);
}

static bool soft_program_slow(const struct simt_program *text)
{
	u32 i;

	for (i = 0; i < text->nr; i++)
		if (soft_program_slow_op(text->insn[i].op))
			return true;
	return false;
}

/* Has a new program found, unless what it was made from may be out of date by now. */
static void soft_programs_add(struct soft_programs *programs, struct soft_program *program,
			      u64 invalidations)
{
	spin_lock(&programs->lock);
	program->users = 1;
	INIT_LIST_HEAD(&program->link);
	program->cached = programs->invalidations == invalidations;
	if (program->cached)
		list_add_tail(&program->link, &programs->list);
	spin_unlock(&programs->lock);
}

/**
 * soft_programs_load() - read and decode a program
 * @inst: the vGPU
 * @key: what it is made from: found good by soft_program_decode()
 * @programp: set to the program, which the caller uses until soft_programs_put()
 * @fault: set with -EFAULT: the text cannot be read
 * Context: the vGPU's worker; sleeps.
 * Return: 0; -EFAULT; -ENOMEM, also if the worker is to leave its work; -EBUSY: the programs that
 * are in use leave no room for it.
 */
int soft_programs_load(struct soft_instance *inst, const struct soft_program_key *key,
		       struct soft_program **programp, struct soft_fault *fault)
{
	struct soft_programs *programs = &inst->compute.programs;
	struct soft_program *program;
	u32 nr = key->text_bytes / 4;
	u64 invalidations;
	size_t bytes;
	int ret;

	bytes = offsetof(struct soft_program, text) + simt_program_bytes(nr);
	bytes = max_t(size_t, bytes, SOFT_PROGRAM_LEAST);
	if (!soft_programs_take(programs, bytes, &invalidations))
		return -EBUSY;
	program = soft_program_alloc(inst, nr);
	if (!program) {
		ret = -ENOMEM;
		goto err_give;
	}
	program->key = *key;
	program->bytes = bytes;
	ret = soft_program_decode_text(inst, program, fault);
	if (ret)
		goto err_free;
	program->slow = soft_program_slow(&program->text);
	soft_programs_add(programs, program, invalidations);
	*programp = program;
	return 0;

err_free:
	kvfree(program);
err_give:
	soft_programs_give(programs, bytes);
	return ret;
}

static void soft_programs_forget(struct soft_programs *programs, bool all, u32 root)
{
	struct soft_program *program, *next;
	LIST_HEAD(dead);

	spin_lock(&programs->lock);
	programs->invalidations++;
	list_for_each_entry_safe(program, next, &programs->list, link)
		if ((all || program->key.root == root) && soft_program_forget(programs, program))
			list_add(&program->link, &dead);
	spin_unlock(&programs->lock);
	soft_programs_free(&dead);
}

/**
 * soft_programs_invalidate() - what was read from an address space may be out of date
 * @programs: the vGPU's
 * @root: the address space; 0: the partition
 *
 * Dispatches that begin later do not find what was decoded before. A dispatch that has begun goes
 * on with the code that it began with. When this returns no program is being read by translations
 * that were made before.
 *
 * Context: sleeps.
 */
void soft_programs_invalidate(struct soft_programs *programs, u32 root)
{
	soft_programs_forget(programs, false, root);
	mutex_lock(&programs->reading);
	mutex_unlock(&programs->reading);
}

/* Invalidates all, as the vGPU's memory is being dropped. May sleep. */
void soft_programs_drop(struct soft_programs *programs)
{
	soft_programs_forget(programs, true, 0);
}
