// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that an open vGPU has of its own: the work they do is that of the
 * process that opened the device, so they belong to its cgroups.
 *
 * A thread that is charged to a user can be held up by the user: by the limits of
 * cgroups that the user may set, or by other processes there that use them up. So
 * nobody but the user may wait for such a thread. Who ends the use of the device
 * may be anybody, such as a kworker that drops the last reference to a file;
 * therefore the thread leaves the user's cgroups before that.
 */
#include <linux/cgroup.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "core.h"

#ifdef CONFIG_CGROUPS
static bool vgpu_thread_same_cgroups(const struct task_struct *a,
				     const struct task_struct *b)
{
	return rcu_access_pointer(a->cgroups) == rcu_access_pointer(b->cgroups);
}
#else
static bool vgpu_thread_same_cgroups(const struct task_struct *a,
				     const struct task_struct *b)
{
	return true;
}
#endif

/*
 * Attaching waits for a grace period of RCU, so not where nothing would change.
 * Where it fails the thread stays where it is.
 */
static void vgpu_thread_attach(struct task_struct *from,
			       struct task_struct *task)
{
	/*
	 * With PREEMPT_RT a thread that is not let run may hold a spinlock, for
	 * which engines would wait.
	 */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) ||
	    vgpu_thread_same_cgroups(from, task))
		return;
	if (cgroup_attach_task_all(from, task))
		pr_debug("vgpu: %s stays in its cgroups\n", task->comm);
}

/**
 * vgpu_thread_run() - start a thread in the cgroups of current
 * @instance: that is being opened
 * @fn: what the thread does, until kthread_should_stop()
 * @data: for @fn
 * @name: of its kind, 8 characters at most; the UUID's first digits follow
 *
 * Sleeps.
 *
 * Return: the thread, to be ended by kthread_stop(), or an ERR_PTR.
 */
struct task_struct *vgpu_thread_run(struct vgpu_instance *instance,
				    int (*fn)(void *data), void *data,
				    const char *name)
{
	char uuid[UUID_STRING_LEN + 1];
	struct task_struct *task;

	/* Names have room for 15 characters. */
	snprintf(uuid, sizeof(uuid), "%pUl", &instance->uuid);
	task = kthread_run(fn, data, "%s/%.6s", name, uuid);
	if (!IS_ERR(task))
		vgpu_thread_attach(current, task);
	return task;
}

/**
 * vgpu_thread_uncharge() - take a thread out of the cgroups of its user
 * @task: of a vGPU that is being closed
 *
 * From here on others may wait for it. Sleeps.
 */
void vgpu_thread_uncharge(struct task_struct *task)
{
	vgpu_thread_attach(&init_task, task);
}

/**
 * vgpu_mm_ending() - whether an address space is on its way out
 * @mm: a reference is held, of its users or of the structure
 *
 * The kernel keeps mm->owner one of the tasks that use the address space, and NULL when
 * there is none; a kthread that borrows it is none of them. Kernels without memory cgroups
 * keep no owner.
 *
 * Context: any.
 * Return: true if every process that it is of has exited or been killed.
 */
bool vgpu_mm_ending(struct mm_struct *mm)
{
	struct task_struct *owner __maybe_unused;
	bool ending = !atomic_read(&mm->mm_users);

#ifdef CONFIG_MEMCG
	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	ending |= !owner || READ_ONCE(owner->signal->flags) & SIGNAL_GROUP_EXIT;
	rcu_read_unlock();
#endif
	return ending;
}
EXPORT_SYMBOL_GPL(vgpu_mm_ending);
