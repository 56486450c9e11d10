// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of an open vGPU. They work for the user, the process that has opened the device, so they
 * belong to its cgroups.
 *
 * The user can delay such a thread: by limits of the cgroups, or by other processes in them that
 * use up what the limits allow. So no other process may wait for the thread. Any task may close the
 * device, such as a kworker that drops the last reference to its file. So a thread leaves the
 * user's cgroups before the task that closes the device waits for it.
 */
#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

#include "../core.h"

#ifdef CONFIG_CGROUPS
static bool vgpu_thread_same_cgroups(const struct task_struct *a, const struct task_struct *b)
{
	return rcu_access_pointer(a->cgroups) == rcu_access_pointer(b->cgroups);
}
#else
static bool vgpu_thread_same_cgroups(const struct task_struct *a, const struct task_struct *b)
{
	return true;
}
#endif

/**
 * struct vgpu_thread_move - a thread that is to change its cgroups
 * @work: changes them
 * @from: task whose cgroups it gets
 * @task: the thread
 */
struct vgpu_thread_move {
	struct work_struct work;
	struct task_struct *from;
	struct task_struct *task;
};

static void vgpu_thread_move(struct work_struct *work)
{
	struct vgpu_thread_move *move = container_of(work, struct vgpu_thread_move, work);

	if (cgroup_attach_task_all(move->from, move->task))
		pr_debug("vgpu: %s stays in its cgroups\n", move->task->comm);
}

/*
 * Moves @task into the cgroups of @from. Attaching waits for a grace period of RCU, so this skips
 * it if nothing would change. If it fails, @task stays in its cgroups.
 *
 * A work item does it: a user whom the cgroup stopped meanwhile would keep locks without which
 * nobody on the host forks.
 */
static void vgpu_thread_attach(struct task_struct *from, struct task_struct *task)
{
	struct vgpu_thread_move move = { .from = from, .task = task };

	if (vgpu_thread_same_cgroups(from, task))
		return;
	INIT_WORK_ONSTACK(&move.work, vgpu_thread_move);
	queue_work(system_unbound_wq, &move.work);
	flush_work(&move.work);
	destroy_work_on_stack(&move.work);
}

/**
 * vgpu_thread_run() - start a thread in the cgroups of current
 * @instance: the instance that current is opening
 * @fn: the thread's function; returns once kthread_should_stop() is true
 * @data: for @fn
 * @name: first part of the thread's name, at most 8 characters; the UUID's first digits follow
 *
 * Context: sleeps.
 * Return: the thread, which kthread_stop() stops, or an ERR_PTR.
 */
struct task_struct *vgpu_thread_run(struct vgpu_instance *instance, int (*fn)(void *data),
				    void *data, const char *name)
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
 * vgpu_thread_uncharge() - move a thread out of its user's cgroups
 * @task: thread of an instance that is being closed
 *
 * Afterwards other tasks may wait for the thread.
 *
 * Context: sleeps.
 */
void vgpu_thread_uncharge(struct task_struct *task)
{
	vgpu_thread_attach(&init_task, task);
}

/**
 * vgpu_mm_ending() - tell whether the processes of an address space are all ending
 * @mm: the address space, to which the caller has a reference; of a process that runs or has run.
 *      (The signals of a child that is being made are freed at once if it cannot be made.)
 *
 * mm->owner is one of the tasks of the address space, or NULL if there are none; a kthread that
 * borrows an address space is never its owner. Kernels without memory cgroups keep no owner.
 *
 * Context: any.
 * Return: true if all processes of the address space have exited or been killed. If several
 * processes share it (CLONE_VM), only the owner counts: while that one is held up in its exit, long
 * accesses of the others fail.
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

/**
 * vgpu_short_pause() - wait before the next try to get memory of the host
 * @since: 0 at first; set to the time at which the first try failed, in jiffies
 *
 * Each pause is as long as the time since @since, at most 256 ms, and at most the time left.
 *
 * Context: sleeps, killable, without a lock that other instances need.
 * Return: false to give up: the task is being killed, or pauses and tries have together taken
 * VGPU_SHORT_MS since the first try failed.
 */
bool vgpu_short_pause(unsigned long *since)
{
	unsigned long most = msecs_to_jiffies(VGPU_SHORT_MS), took;

	if (!*since)
		*since = jiffies ?: 1;
	took = jiffies - *since;
	if (took >= most)
		return false;
	schedule_timeout_killable(min3(max(took, 1UL), msecs_to_jiffies(256), most - took));
	return !fatal_signal_pending(current);
}
EXPORT_SYMBOL_GPL(vgpu_short_pause);
