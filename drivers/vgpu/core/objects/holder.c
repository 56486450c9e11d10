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

#include "../core.h"

/* So many files are looked at with the locks of a task. */
#define VGPU_HOLDER_FILES	1000

/* What vgpu_holder_file() returns if it is the device's file; else the next descriptor. */
#define VGPU_HOLDER_FOUND	(-1)

/**
 * struct vgpu_holder_search - whose file is looked for
 * @instance: the vGPU
 * @front:    its front end
 * @fd:       the first file descriptor of the task that is to be looked at; 0: all are
 * @files:    the task's file table, if @fd is not 0
 * @without:  the file table that was looked at last and does not have the file. Most threads share
 *            the table of the thread before. It may be another one by now, at the same address:
 *            then the file is found in a later search
 * @seen:     files that were looked at since the task's locks were taken
 * @spared:   a process was found that the OOM killer does not choose
 */
struct vgpu_holder_search {
	const struct vgpu_instance *instance;
	const struct vgpu_front_ops *front;
	unsigned int fd;
	const struct files_struct *files;
	const struct files_struct *without;
	unsigned int seen;
	bool spared;
};

static int vgpu_holder_file(const void *data, struct file *file, unsigned int fd)
{
	struct vgpu_holder_search *search = (void *)data;

	if (search->front->is_file(search->instance, file))
		return VGPU_HOLDER_FOUND;
	return ++search->seen < VGPU_HOLDER_FILES ? 0 : fd + 1;
}

/*
 * Looks at some of the task's files, from @fd on. Returns true if the file is one of them; if there
 * are more to be looked at, @search's fd is not 0. With task_lock() held, which keeps the files.
 */
static bool vgpu_holder_has(struct vgpu_holder_search *search, const struct task_struct *task,
			    unsigned int fd)
{
	int ret;

	/* To begin with each new table of a thread might have no end. */
	if (fd && task->files != search->files)
		return false;
	search->files = task->files;
	search->seen = 0;
	ret = iterate_fd(task->files, fd, vgpu_holder_file, search);
	search->fd = max(ret, 0);
	if (!ret)
		search->without = task->files;
	return ret == VGPU_HOLDER_FOUND;
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

/*
 * Returns the task's address space, with a reference to its structure, if the task has the file.
 * NULL: it has not, or there are more files to be looked at, and @fd is not 0.
 */
static struct mm_struct *vgpu_holder_mm(struct vgpu_holder_search *search,
					struct task_struct *task)
{
	unsigned int fd = search->fd;
	struct mm_struct *mm = NULL;

	search->fd = 0;
	/* The lock keeps both the files and the mm. */
	task_lock(task);
	if (task->mm && !vgpu_mm_ending(task->mm) && task->files &&
	    task->files != search->without && vgpu_holder_has(search, task, fd)) {
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
		if (!task || pid_nr(pid) != nr)
			search.fd = 0;
		if (task)
			mm = vgpu_holder_mm(&search, task);
		nr = pid_nr(pid) + !search.fd;
		rcu_read_unlock();
		cond_resched();
		/* A file table is looked at as a whole, or a long one would have no end. */
		if (pid && !mm && !search.fd && time_after_eq(jiffies, deadline)) {
			*next = nr;
			break;
		}
	} while (pid && !mm && !READ_ONCE(*stop));
	*spared |= search.spared;
	return mm;
}
EXPORT_SYMBOL_GPL(vgpu_instance_holder);
