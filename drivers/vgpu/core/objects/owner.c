// SPDX-License-Identifier: GPL-2.0
/*
 * The holders of a vGPU: the address spaces that may show its memory in their resident sets.
 *
 * A holder makes itself known: by opening the device; by a mapping of a BAR, which a child inherits
 * from its parent, too; or by a call on the device's file, if its memory cgroup is the one that is
 * charged. The core searches for no holder. A page fault says nothing about the process that
 * touches the page: a debugger, or any process that reads another's memory, faults in pages of the
 * other.
 *
 * An address space is left out once the OOM killer would find nothing in it: its last user has let
 * go of it, or the OOM killer has emptied it. A process that ends says nothing about that: others
 * may share its address space. Only the structure is kept (mmgrab): a reference to its users
 * (mmget) would keep the address space from ending, and the device from closing. The pages that it
 * shows are subtracted before the structure goes, or the kernel would report a bad counter.
 *
 * A process that has only the file and does not use it is not known as a holder; nor is a process
 * beyond the greatest number of holders, until it touches a page. If no known holder is left, the
 * host may take the memory (vgpu_instance_reclaim()).
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/percpu_counter.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>

#include "../../compat.h"
#include "../core.h"

/* Not add_mm_counter(): its tracepoint is not exported to modules. */
static void vgpu_owner_set(struct vgpu_holder *holder, long nr)
{
	if (nr != holder->shown)
		percpu_counter_add(&holder->mm->rss_stat[MM_SHMEMPAGES], nr - holder->shown);
	holder->shown = nr;
}

/* Whether the memory of @instance, which is open, is charged to the cgroup of @mm or above it. */
static bool vgpu_owner_pays(const struct vgpu_instance *instance, const struct mm_struct *mm)
{
	bool pays = true;

#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;

	if (!instance->info.memcg)
		return true;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(rcu_dereference(mm->owner));
	pays = memcg && mem_cgroup_is_descendant(memcg, instance->info.memcg);
	rcu_read_unlock();
#endif
	return pays;
}

/*
 * What speaks for a holder as the owner: that it has the memory mapped, and then that its cgroup
 * pays for it. A call says little: an agent of the host makes one on a file that it was sent.
 */
static unsigned int vgpu_owner_value(const struct vgpu_instance *instance,
				     const struct vgpu_holder *holder)
{
	if (!atomic_read(&holder->mm->mm_users) || mm_flags_test(MMF_OOM_SKIP, holder->mm))
		return 0;
	return 1 + 2 * !!holder->maps + vgpu_owner_pays(instance, holder->mm);
}

/* The holder with the largest value, the oldest of them, is the owner. NULL: there is none. */
static struct vgpu_holder *vgpu_owner_choose(struct vgpu_instance *instance)
{
	struct vgpu_owner *owner = &instance->owner;
	struct vgpu_holder *best = NULL;
	unsigned int i, value, most = 0;

	lockdep_assert_held(&owner->lock);
	for (i = 0; i < owner->nr; i++) {
		value = vgpu_owner_value(instance, &owner->holder[i]);
		if (value > most) {
			most = value;
			best = &owner->holder[i];
		}
	}
	return best;
}

static bool vgpu_owner_update(struct vgpu_instance *instance)
{
	struct vgpu_holder *best = vgpu_owner_choose(instance);
	struct vgpu_owner *owner = &instance->owner;
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
 * Adds @mm, which is not there. Returns NULL if there are too many. @old is set to an address space
 * that has had to go, see vgpu_owner_remove().
 */
static struct vgpu_holder *vgpu_owner_add(struct vgpu_owner *owner, struct mm_struct *mm,
					  struct mm_struct **old)
{
	struct vgpu_holder *holder;
	unsigned int i;

	for (i = 0; i < owner->nr && !*old; i++)
		if (!atomic_read(&owner->holder[i].mm->mm_users))
			*old = vgpu_owner_remove(owner, &owner->holder[i]);
	if (owner->nr == ARRAY_SIZE(owner->holder))
		return NULL;
	mmgrab(mm);
	holder = &owner->holder[owner->nr++];
	*holder = (struct vgpu_holder) {
		.mm = mm,
		.pid = mm == current->mm ? task_tgid_nr(current) : 0,
	};
	return holder;
}

enum vgpu_owner_sign {
	VGPU_OWNER_CALLS,	/* it makes a call on the device's file */
	VGPU_OWNER_MAPS,	/* it has one more mapping */
	VGPU_OWNER_TOUCHES,	/* a page of a mapping is touched */
};

/* @mm makes itself known. */
static void vgpu_owner_note(struct vgpu_instance *instance, struct mm_struct *mm,
			    enum vgpu_owner_sign sign)
{
	struct vgpu_owner *owner = &instance->owner;
	struct mm_struct *old = NULL;
	struct vgpu_holder *holder;

	raw_spin_lock(&owner->lock);
	holder = vgpu_owner_find(owner, mm);
	if (sign == VGPU_OWNER_TOUCHES && holder && holder->maps)
		goto unlock;
	if (!holder)
		holder = vgpu_owner_add(owner, mm, &old);
	if (holder && sign == VGPU_OWNER_CALLS) {
		holder->called = true;
		WRITE_ONCE(owner->caller, mm);
	} else if (holder) {
		holder->maps++;
	}
	vgpu_owner_update(instance);
unlock:
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

	/* The last caller's mm is referenced, so no other mm can have its address. */
	if (likely(READ_ONCE(owner->caller) == mm) || !mm || current->flags & PF_KTHREAD)
		return;
	if (vgpu_owner_pays(instance, mm))
		vgpu_owner_note(instance, mm, VGPU_OWNER_CALLS);
}

/**
 * vgpu_owner_map() - there is one more mapping of a BAR
 * @instance: open
 * @mm: in which the mapping is; it is current's, or of a child that current makes
 * Context: may sleep. The mm is locked for writing.
 */
void vgpu_owner_map(struct vgpu_instance *instance, struct mm_struct *mm)
{
	vgpu_owner_note(instance, mm, VGPU_OWNER_MAPS);
}

/**
 * vgpu_owner_touch() - a page of a mapping of a BAR is touched
 * @instance: open
 * @mm: in which the mapping is; another process may be touching the page
 *
 * Makes @mm known as a holder if there was no room for it when it mapped the BAR.
 *
 * Context: may sleep. The mapping does not go meanwhile.
 */
void vgpu_owner_touch(struct vgpu_instance *instance, struct mm_struct *mm)
{
	vgpu_owner_note(instance, mm, VGPU_OWNER_TOUCHES);
}

/**
 * vgpu_owner_unmap() - there is one mapping of a BAR less
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
		/* It may have had others for which there was no room. */
		holder->maps -= !!holder->maps;
		if (!holder->maps && !holder->called)
			old = vgpu_owner_remove(owner, holder);
	}
	vgpu_owner_update(instance);
	raw_spin_unlock(&owner->lock);
	if (old)
		mmdrop(old);
}

/**
 * vgpu_owner_show() - show a vGPU's memory in the resident set of its owner
 * @instance: between its instance_open and its instance_close
 * @pages: how many pages it has that no process has mapped
 *
 * The number of pages holds until the next call. If another holder becomes the owner meanwhile, by
 * a call, a mapping or an unmapping, it shows them instead.
 *
 * Context: any but an interrupt.
 * Return: false: no living holder of the vGPU is known.
 */
bool vgpu_owner_show(struct vgpu_instance *instance, long pages)
{
	struct vgpu_owner *owner = &instance->owner;
	bool known;

	raw_spin_lock(&owner->lock);
	owner->pages = pages;
	known = vgpu_owner_update(instance);
	raw_spin_unlock(&owner->lock);
	return known;
}
EXPORT_SYMBOL_GPL(vgpu_owner_show);

static pid_t vgpu_owner_task(const struct vgpu_holder *holder)
{
	pid_t pid = holder->pid;

#ifdef CONFIG_MEMCG
	struct task_struct *task;

	rcu_read_lock();
	task = rcu_dereference(holder->mm->owner);
	pid = task ? task_tgid_nr(task) : 0;
	rcu_read_unlock();
#endif
	return pid;
}

/**
 * vgpu_owner_known() - find out whether a process is known that has a vGPU
 * @instance: the vGPU
 * Context: any but an interrupt.
 * Return: whether one is known.
 */
bool vgpu_owner_known(struct vgpu_instance *instance)
{
	bool known;

	raw_spin_lock(&instance->owner.lock);
	known = vgpu_owner_choose(instance);
	raw_spin_unlock(&instance->owner.lock);
	return known;
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
	best = vgpu_owner_choose(instance);
	if (best)
		pid = vgpu_owner_task(best);
	raw_spin_unlock(&owner->lock);
	return pid;
}

/**
 * vgpu_owner_end() - forget the holders of a vGPU
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
