// SPDX-License-Identifier: GPL-2.0
/*
 * Who has a vGPU now. The process that opened the device may have ended, or have become another
 * program (execve), and left the device's file to others. No event tells of that: a file passes to
 * a child, through a socket, or stays over an execve. So the files of all processes are looked at.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "core.h"

/**
 * struct vgpu_holder_search - whose file is looked for
 * @instance: the vGPU
 * @front:    its front end
 * @files:    the file table that was looked at last, of a thread of @tgid
 * @tgid:     see @files
 * @spared:   a process was found that the OOM killer does not choose
 */
struct vgpu_holder_search {
	const struct vgpu_instance *instance;
	const struct vgpu_front_ops *front;
	const struct files_struct *files;
	pid_t tgid;
	bool spared;
};

static int vgpu_holder_file(const void *data, struct file *file, unsigned int fd)
{
	const struct vgpu_holder_search *search = data;

	return search->front->is_file(search->instance, file);
}

/* Most threads share the file table of the thread before. With task_lock() held. */
static bool vgpu_holder_is_new(struct vgpu_holder_search *search, const struct task_struct *task)
{
	if (task->files == search->files && task->tgid == search->tgid)
		return false;
	search->files = task->files;
	search->tgid = task->tgid;
	return true;
}

/*
 * Who has the device shows its memory to be chosen by the OOM killer, so it is nobody whom that
 * spares.
 */
static bool vgpu_holder_is_spared(struct task_struct *task)
{
	return is_global_init(task) ||
	       READ_ONCE(task->signal->oom_score_adj) == OOM_SCORE_ADJ_MIN;
}

/* Returns the task's address space, with a reference to its structure, if the task has the file. */
static struct mm_struct *vgpu_holder_mm(struct vgpu_holder_search *search,
					struct task_struct *task)
{
	struct mm_struct *mm = NULL;

	/* The lock keeps both the files and the mm. */
	task_lock(task);
	if (task->mm && !vgpu_mm_ending(task->mm) && vgpu_holder_is_new(search, task) &&
	    iterate_fd(task->files, 0, vgpu_holder_file, search)) {
		if (vgpu_holder_is_spared(task)) {
			search->spared = true;
		} else {
			mm = task->mm;
			mmgrab(mm);
		}
	}
	task_unlock(task);
	return mm;
}

/**
 * vgpu_instance_holder() - find a process that has the file of an open device
 * @instance: open; its instance_close has not returned
 * @next: where the search begins, 0 at first; set to where it is to go on, 0: it is complete
 * @deadline: in jiffies: then the search is to go on another time
 * @stop: the search is given up when this becomes true
 * @spared: set to true if there is a process that has the file, but that the OOM killer spares
 *
 * Processes that are ending are left out. Not found is who has the device mapped, but not its file;
 * and a file that is on its way through a socket.
 *
 * Context: process context; looks at all threads, and reschedules in between.
 * Return: the address space of one such process, to be given back by mmdrop(); or NULL.
 */
struct mm_struct *vgpu_instance_holder(struct vgpu_instance *instance, int *next,
				       unsigned long deadline, const bool *stop,
				       bool *spared)
{
	struct vgpu_holder_search search = { .instance = instance };
	struct mm_struct *mm = NULL;
	struct task_struct *task;
	struct pid *pid;
	int nr = max(*next, 1);

	*next = 0;
	spin_lock(&instance->front_lock);
	search.front = instance->front;
	spin_unlock(&instance->front_lock);
	if (!search.front)
		return NULL;
	do {
		rcu_read_lock();
		pid = find_ge_pid(nr, &init_pid_ns);
		task = pid_task(pid, PIDTYPE_PID);
		if (task)
			mm = vgpu_holder_mm(&search, task);
		nr = pid_nr(pid) + 1;
		rcu_read_unlock();
		cond_resched();
		if (pid && !mm && time_after_eq(jiffies, deadline)) {
			*next = nr;
			break;
		}
	} while (pid && !mm && !READ_ONCE(*stop));
	*spared |= search.spared;
	return mm;
}
EXPORT_SYMBOL_GPL(vgpu_instance_holder);
