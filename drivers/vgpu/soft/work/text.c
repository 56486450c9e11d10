// SPDX-License-Identifier: GPL-2.0
/*
 * Texts of programs: read and decoded by the vGPU's worker, which may wait for memory. A text of a
 * MiB takes milliseconds.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../memory/memory.h"
#include "../memory/space.h"
#include "lanes.h"
#include "programs.h"
#include "text.h"

static struct soft_program *soft_text_alloc(struct soft_memory *mem, u32 nr)
{
	size_t bytes = offsetof(struct soft_program, text) + simt_program_bytes(nr);
	struct soft_program *program;
	struct mem_cgroup *old;

	old = set_active_memcg(mem->fb.memcg);
	/* In one piece if there is one, as that is freed fast; none is made of others' memory. */
	program = kmalloc(bytes, (SOFT_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY | __GFP_NOWARN);
	if (!program)
		program = __vmalloc(bytes, SOFT_GFP);
	set_active_memcg(old);
	return program;
}

/*
 * Copies @count words of the text, which lie in one page, out of the framebuffer: each is read
 * once, as the guest may be changing it. Returns false if they have no translation.
 */
static bool soft_text_read(struct soft_programs *programs, struct soft_memory *mem, u32 root,
			   u64 va, __le32 *words, u32 count)
{
	struct page *page = NULL;
	const u32 *from;
	u64 addr;
	bool ok;
	u32 i;

	mutex_lock(&programs->reading);
	down_read(&mem->fb.drop_lock);
	ok = soft_space_look_up(mem, root, va, VGPU_HW_PTE_X, &addr);
	if (ok)
		page = soft_store_peek(&mem->fb, addr >> PAGE_SHIFT);
	from = page ? page_address(page) + offset_in_page(addr) : NULL;
	for (i = 0; i < count; i++)
		words[i] = from ? (__force __le32)READ_ONCE(from[i]) : 0;
	up_read(&mem->fb.drop_lock);
	mutex_unlock(&programs->reading);
	return ok;
}

static int soft_text_decode(struct soft_programs *programs, struct soft_memory *mem,
			    struct soft_program *program, struct soft_fault *fault)
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
		if (!soft_text_read(programs, mem, key->root, fault->addr, words, count)) {
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

/**
 * soft_text_new() - allocate and count the memory of a program
 * @programs: the vGPU's
 * @mem: its memory
 * @nr: number of instructions, at most VGPU_HW_TEXT_MAX / 4
 * @ret: set to -ENOMEM or -EBUSY if there is none
 * Context: sleeps.
 * Return: the program, of which only the bytes are set; or NULL.
 */
struct soft_program *soft_text_new(struct soft_programs *programs, struct soft_memory *mem, u32 nr,
				   int *ret)
{
	size_t bytes = offsetof(struct soft_program, text) + simt_program_bytes(nr);
	struct soft_program *program;

	*ret = -EBUSY;
	bytes = soft_programs_take(programs, bytes);
	if (!bytes)
		return NULL;
	program = soft_text_alloc(mem, nr);
	if (!program) {
		soft_programs_give(programs, bytes);
		*ret = -ENOMEM;
		return NULL;
	}
	program->bytes = bytes;
	*ret = 0;
	return program;
}

/**
 * soft_text_load() - read and decode a program
 * @programs: the vGPU's
 * @mem: its memory
 * @key: what it is made from: found good by soft_program_decode()
 * @programp: set to the program, which the caller uses until soft_programs_put()
 * @fault: set with -EFAULT: the text cannot be read
 * Context: the vGPU's worker; sleeps.
 * Return: 0; -EFAULT; -ENOMEM, also if the worker is to leave its work; -EBUSY: the programs that
 * are in use leave no room for it.
 */
int soft_text_load(struct soft_programs *programs, struct soft_memory *mem,
		   const struct soft_program_key *key, struct soft_program **programp,
		   struct soft_fault *fault)
{
	struct soft_program *program;
	int ret;

	program = soft_text_new(programs, mem, key->text_bytes / 4, &ret);
	if (!program)
		return ret;
	program->key = *key;
	soft_programs_begin(programs, program);
	ret = soft_text_decode(programs, mem, program, fault);
	if (!ret)
		program->slow = simt_program_slow(&program->text, soft_lanes->fused);
	soft_programs_end(programs, !ret);
	if (ret)
		soft_programs_put(programs, program);
	else
		*programp = program;
	return ret;
}

