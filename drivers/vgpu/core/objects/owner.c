// SPDX-License-Identifier: GPL-2.0
/*
 * Who has a vGPU: the address spaces in whose resident set its memory may be shown.
 *
 * They make themselves known: by opening the device, by a call on its file, or by a mapping of it,
 * which a child has from its parent, too. Nobody is searched for, and a page fault says nothing:
 * a debugger, or who else reads another's memory, faults pages in that are not its own.
 *
 * An address space is left out once its processes end. Only its structure is kept (mmgrab): who
 * kept its users would keep it from ending, and the device with it. What it was shown is
 * subtracted before the structure goes, or the kernel would report a bad counter.
 *
 * Who has nothing but the file and does nothing with it is not known, nor is who is one too many.
 * If nobody is left that is known, the host may take the memory (vgpu_instance_reclaim()).
 */
#include <linux/mm.h>
#include <linux/percpu_counter.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "../core.h"

/* The mm's counter is not add_mm_counter()'s, whose tracepoint is not exported to modules. */
static void vgpu_owner_set(struct vgpu_holder *holder, long nr)
{
	if (nr != holder->shown)
		percpu_counter_add(&holder->mm->rss_stat[MM_SHMEMPAGES], nr - holder->shown);
	holder->shown = nr;
}

/*
 * Whose the memory is: of who has it mapped and makes calls; else of who makes calls; else of who
 * has it mapped; the oldest of them. So it is not the one's who was sent the file, and had a look
 * at it, while there is another one who works with it. NULL: all that are known end.
 */
static struct vgpu_holder *vgpu_owner_choose(struct vgpu_owner *owner)
{
	struct vgpu_holder *best = NULL;
	unsigned int i, value, most = 0;

	lockdep_assert_held(&owner->lock);
	for (i = 0; i < owner->nr; i++) {
		struct vgpu_holder *holder = &owner->holder[i];

		value = 2 * holder->called + !!holder->maps;
		if (value > most && !vgpu_mm_ending(holder->mm)) {
			most = value;
			best = holder;
		}
	}
	return best;
}

static bool vgpu_owner_update(struct vgpu_owner *owner)
{
	struct vgpu_holder *best = vgpu_owner_choose(owner);
	unsigned int i;

	for (i = 0; i < owner->nr; i++)
		vgpu_owner_set(&owner->holder[i], best == &owner->holder[i] ? owner->pages : 0);
	return best;
}

static struct vgpu_holder *vgpu_owner_find(struct vgpu_owner *owner, const struct mm_struct *mm)
{
	unsigned int i;

	lockdep_assert_held(&owner->lock);
	for (i = 0; i < owner->nr; i++)
		if (owner->holder[i].mm == mm)
			return &owner->holder[i];
	return NULL;
}

/* Returns the address space, to be given back by mmdrop() when the lock is not held any more. */
static struct mm_struct *vgpu_owner_remove(struct vgpu_owner *owner, struct vgpu_holder *holder)
{
	struct mm_struct *mm = holder->mm;

	vgpu_owner_set(holder, 0);
	if (READ_ONCE(owner->caller) == mm)
		WRITE_ONCE(owner->caller, NULL);
	owner->nr--;
	/* The others stay in the order in which they came. */
	memmove(holder, holder + 1, (&owner->holder[owner->nr] - holder) * sizeof(*holder));
	return mm;
}

/*
 * Finds @mm, or adds it. Returns NULL if there are too many. @old is set to an address space that
 * has had to go, see vgpu_owner_remove(), or to NULL.
 */
static struct vgpu_holder *vgpu_owner_add(struct vgpu_owner *owner, struct mm_struct *mm,
					  struct mm_struct **old)
{
	struct vgpu_holder *holder = vgpu_owner_find(owner, mm);
	unsigned int i;

	*old = NULL;
	if (holder)
		return holder;
	for (i = 0; i < owner->nr && !*old; i++)
		if (!atomic_read(&owner->holder[i].mm->mm_users))
			*old = vgpu_owner_remove(owner, &owner->holder[i]);
	if (owner->nr == ARRAY_SIZE(owner->holder))
		return NULL;
	mmgrab(mm);
	holder = &owner->holder[owner->nr++];
	*holder = (struct vgpu_holder) { .mm = mm, .pid = task_tgid_nr(current) };
	return holder;
}

/* There was a call, or else there is one more mapping. */
static void vgpu_owner_note(struct vgpu_owner *owner, struct mm_struct *mm, bool call)
{
	struct vgpu_holder *holder;
	struct mm_struct *old;

	raw_spin_lock(&owner->lock);
	holder = vgpu_owner_add(owner, mm, &old);
	if (holder) {
		holder->maps += !call;
		holder->called |= call;
		if (call)
			WRITE_ONCE(owner->caller, mm);
	}
	vgpu_owner_update(owner);
	raw_spin_unlock(&owner->lock);
	if (old)
		mmdrop(old);
}

/**
 * vgpu_owner_call() - the current process makes a call on the device's file
 * @instance: open
 * Context: a system call on the file, never a page fault. May sleep.
 */
void vgpu_owner_call(struct vgpu_instance *instance)
{
	struct vgpu_owner *owner = &instance->owner;
	struct mm_struct *mm = current->mm;

	/* There is a reference to who called last, so it is not another one of the same address. */
	if (likely(READ_ONCE(owner->caller) == mm) || !mm || current->flags & PF_KTHREAD)
		return;
	vgpu_owner_note(owner, mm, true);
}

/**
 * vgpu_owner_map() - there is one more mapping of the device
 * @instance: open
 * @mm: in which the mapping is; it is current's, or of a child that current makes
 * Context: may sleep. The mm is locked for writing.
 */
void vgpu_owner_map(struct vgpu_instance *instance, struct mm_struct *mm)
{
	vgpu_owner_note(&instance->owner, mm, false);
}

/**
 * vgpu_owner_unmap() - there is one mapping less
 * @instance: open
 * @mm: in which the mapping was, perhaps of a process that has ended
 * Context: may sleep. The mm may be locked for writing.
 */
void vgpu_owner_unmap(struct vgpu_instance *instance, struct mm_struct *mm)
{
	struct vgpu_owner *owner = &instance->owner;
	struct mm_struct *old = NULL;
	struct vgpu_holder *holder;

	raw_spin_lock(&owner->lock);
	holder = vgpu_owner_find(owner, mm);
	if (holder) {
		holder->maps -= !!holder->maps;
		if (!holder->maps && !holder->called)
			old = vgpu_owner_remove(owner, holder);
	}
	vgpu_owner_update(owner);
	raw_spin_unlock(&owner->lock);
	if (old)
		mmdrop(old);
}

/**
 * vgpu_owner_show() - show a vGPU's memory in the resident set of who has it
 * @instance: between its instance_open and its instance_close
 * @pages: how many pages it has that no process has mapped
 *
 * They are shown there until the next call, also if somebody else has the vGPU meanwhile.
 *
 * Context: any but an interrupt.
 * Return: false: no living process is known that has the vGPU.
 */
bool vgpu_owner_show(struct vgpu_instance *instance, long pages)
{
	struct vgpu_owner *owner = &instance->owner;
	bool known;

	raw_spin_lock(&owner->lock);
	owner->pages = pages;
	known = vgpu_owner_update(owner);
	raw_spin_unlock(&owner->lock);
	return known;
}
EXPORT_SYMBOL_GPL(vgpu_owner_show);

static pid_t vgpu_owner_task(const struct vgpu_holder *holder)
{
	pid_t pid = holder->pid;

#ifdef CONFIG_MEMCG
	struct task_struct *task;

	/* A child has its mappings before it runs, so it was not current. */
	rcu_read_lock();
	task = rcu_dereference(holder->mm->owner);
	pid = task ? task_tgid_nr(task) : 0;
	rcu_read_unlock();
#endif
	return pid;
}

/**
 * vgpu_owner_pid() - find the process in which a vGPU's memory is shown
 * @instance: the vGPU
 * Context: any but an interrupt.
 * Return: the process, or 0 if none is known.
 */
pid_t vgpu_owner_pid(struct vgpu_instance *instance)
{
	struct vgpu_owner *owner = &instance->owner;
	struct vgpu_holder *best;
	pid_t pid = 0;

	raw_spin_lock(&owner->lock);
	best = vgpu_owner_choose(owner);
	if (best)
		pid = vgpu_owner_task(best);
	raw_spin_unlock(&owner->lock);
	return pid;
}

/**
 * vgpu_owner_end() - forget who had a vGPU
 * @instance: being closed, without mappings
 * Context: may sleep.
 */
void vgpu_owner_end(struct vgpu_instance *instance)
{
	struct vgpu_owner *owner = &instance->owner;
	struct mm_struct *old;

	do {
		old = NULL;
		raw_spin_lock(&owner->lock);
		owner->pages = 0;
		if (owner->nr)
			old = vgpu_owner_remove(owner, &owner->holder[0]);
		raw_spin_unlock(&owner->lock);
		if (old)
			mmdrop(old);
	} while (old);
}
