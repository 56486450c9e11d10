/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Concurrency under control: tasks are coroutines, and the task that goes on is drawn by seed
 * wherever the kernel could switch: where a task takes a lock or gives it back, wakes another task,
 * sleeps, or sets its state. Time is virtual: when no task can run, it jumps to the next timer or
 * to the end of the next sleep. If there is none of these either, a wake-up was lost, and the test
 * dies.
 *
 * The shims of spinlock.h, mutex.h, wait.h, rcuwait.h, hrtimer.h, kthread.h and sched.h are made of
 * this.
 */
#ifndef _VGPU_TASKS_H
#define _VGPU_TASKS_H

#include <ucontext.h>

#include <linux/bug.h>
#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;

/**
 * struct task_struct - a task
 * @link:    on the list of all tasks
 * @context: registers, while another task runs
 * @stack:   stack; that of the first task is known once it was switched away
 * @stack_size: size of @stack
 * @fake:    AddressSanitizer's, while another task runs
 * @fn:      what the task runs
 * @data:    argument of @fn
 * @state:   what the task set by set_current_state()
 * @blocked: the task is in schedule(), with a state other than TASK_RUNNING
 * @done:    @fn has returned
 * @should_stop: kthread_stop() was called
 * @until_ns: when sim_sleep() ends; 0: the task does not sleep
 * @joiner:  task that waits for the end of this one
 * @locks:   number of raw spinlocks that the task holds; it is not switched away then
 * @refs:    references to the task, which is freed with the last one
 * @mm:      address space; of the tests that have one
 */
struct task_struct {
	struct list_head link;
	ucontext_t context;
	const void *stack;
	size_t stack_size;
	void *fake;
	int (*fn)(void *data);
	void *data;
	unsigned int state;
	bool blocked;
	bool done;
	bool should_stop;
	u64 until_ns;
	struct task_struct *joiner;
	unsigned int locks;
	unsigned int refs;
	struct mm_struct *mm;
};

/* The caller becomes the first task. A task is switched away for up to @jitter_ns. */
void sim_begin(u64 seed, u64 jitter_ns);
void sim_end(void);
u64 sim_now_ns(void);
u64 sim_random(u64 lo, u64 hi);
bool sim_one_in(u64 n);
struct task_struct *sim_current(void);
struct task_struct *sim_spawn(int (*fn)(void *data), void *data, bool run);
void sim_join(struct task_struct *task);
void sim_yield(void);
void sim_sleep(u64 ns);
void sim_put(struct task_struct *task);

#endif /* _VGPU_TASKS_H */
