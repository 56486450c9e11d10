/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Concurrency under control: tasks are coroutines, and which one goes on is
 * drawn by seed wherever the kernel could switch: where a
 * lock is taken or given back, where a task wakes, sleeps or says what it is
 * about to do. Time is virtual: it jumps to the next timer or sleeper when nobody
 * can run. If there is none of these either, that is a lost wake-up, and the
 * test dies.
 *
 * The shims of spinlock.h, mutex.h, wait.h, hrtimer.h, kthread.h and sched.h
 * are made of this.
 */
#ifndef _VGPU_TASKS_H
#define _VGPU_TASKS_H

#include <ucontext.h>

#include <linux/bug.h>
#include <linux/list.h>
#include <linux/types.h>

/**
 * struct task_struct - a task
 * @link:    all of them
 * @context: where it goes on
 * @stack:   its own; the first task's is known once it was switched away
 * @stack_size: of that
 * @fake:    AddressSanitizer's
 * @state:   what it said by set_current_state()
 * @blocked: in schedule(), with a state other than TASK_RUNNING
 * @until_ns: sleeps by sim_sleep()
 * @joiner:  waits for its end
 * @locks:   spinlocks held; it is not switched away then
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
};

/* The caller is the first task. jitter_ns: how long one is switched away at most. */
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
