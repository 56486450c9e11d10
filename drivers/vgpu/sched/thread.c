// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU's scheduler thread. It runs when it is kicked and when the earliest of the GPU's timelines
 * has something due.
 *
 * Kicks are never lost: the caller of vgpu_sched_kick() changes state first; then thread->kicked is
 * set and the thread woken. The thread sleeps only if it finds the flag clear after it has
 * announced that it sleeps, and clears the flag before it looks at the timelines.
 *
 * The thread never sleeps for one engine, since the others would have to wait. Workers do the
 * resets of engines, which sleep, any number of them at once.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "thread.h"

/* Makes the thread look at the timelines. Any context, also under a timeline's lock. */
void vgpu_sched_kick(struct vgpu_sched_thread *thread)
{
	/* Orders the change of state before the flag; pairs with the xchg() in sched_thread(). */
	smp_store_release(&thread->kicked, 1);
	wake_up_process(thread->task);
}

/*
 * Queues work that sleeps for a worker, which does it before vgpu_sched_thread_stop() returns. Any
 * context, also under a timeline's lock.
 */
void vgpu_sched_queue(struct vgpu_sched_thread *thread, struct work_struct *work)
{
	queue_work(thread->workers, work);
}

static enum hrtimer_restart sched_timer(struct hrtimer *timer)
{
	vgpu_sched_kick(container_of(timer, struct vgpu_sched_thread, timer));
	return HRTIMER_NORESTART;
}

static int sched_thread(void *data)
{
	struct vgpu_sched_thread *thread = data;
	u64 due_ns;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!xchg(&thread->kicked, 0)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);

		due_ns = thread->look(thread->data);
		if (due_ns < KTIME_MAX)
			hrtimer_start(&thread->timer, ns_to_ktime(due_ns), HRTIMER_MODE_ABS_HARD);
		/* Tenants may kick it without end: it never sleeps then. */
		cond_resched_tasks_rcu_qs();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/*
 * Sets up the workers and the thread's data. @thread is zeroed; @name is the GPU's. Sleeps. Returns
 * 0 or -ENOMEM.
 *
 * The GPU has its own workqueue, with a rescuer: closing a device, which frees memory, waits for
 * resets, so resets must not wait for memory.
 */
int vgpu_sched_thread_init(struct vgpu_sched_thread *thread, const char *name,
			   u64 (*look)(void *data), void *data)
{
	thread->look = look;
	thread->data = data;
	hrtimer_setup(&thread->timer, sched_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	thread->workers = alloc_workqueue("vgpu/%s", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM,
					  0, name);
	return thread->workers ? 0 : -ENOMEM;
}

/* Starts the thread, which waits for a kick. Sleeps. Returns 0 or -errno. */
int vgpu_sched_thread_start(struct vgpu_sched_thread *thread, const char *name)
{
	struct task_struct *task;

	task = kthread_create(sched_thread, thread, "vgpu/%s", name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	thread->task = get_task_struct(task);
	sched_set_fifo_low(task);
	wake_up_process(task);
	return 0;
}

/*
 * Stops the thread of a GPU whose timelines have no entities. Afterwards neither thread nor workers
 * touch a timeline. Sleeps.
 */
void vgpu_sched_thread_stop(struct vgpu_sched_thread *thread)
{
	/*
	 * The entity that was reset last has left, but the worker may not have kicked the thread
	 * yet. The thread arms the timer, the timer wakes the thread.
	 */
	flush_workqueue(thread->workers);
	kthread_stop(thread->task);
	hrtimer_cancel(&thread->timer);
	put_task_struct(thread->task);
}

/* Undoes vgpu_sched_thread_init(). The thread was not started, or has been stopped. Sleeps. */
void vgpu_sched_thread_exit(struct vgpu_sched_thread *thread)
{
	destroy_workqueue(thread->workers);
}
