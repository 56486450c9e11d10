// SPDX-License-Identifier: GPL-2.0
/* See tasks.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/common_interface_defs.h>

#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "random.h"
#include "tasks.h"

/* No test takes so long: by then a task waits and is never woken. */
#define SIM_END_NS		(200ULL * 1000 * 1000 * 1000)

static struct {
	struct list_head tasks;
	struct list_head timers;
	u64 random;
	u64 now_ns;
	u64 jitter_ns;
	struct task_struct first;
} sim;

#define SIM_STACK_SIZE		(256 * 1024)

/* The task that runs, and the one that ran before the last switch. */
static struct task_struct *sim_me, *sim_before;

u64 sim_now_ns(void)
{
	return sim.now_ns;
}

struct task_struct *sim_current(void)
{
	return sim_me;
}

u64 sim_random(u64 lo, u64 hi)
{
	return random_range(&sim.random, lo, hi);
}

bool sim_one_in(u64 n)
{
	return sim_random(1, n) == 1;
}

static void sim_interrupts(void)
{
	struct hrtimer *timer;

again:
	list_for_each_entry(timer, &sim.timers, link) {
		if (timer->expires_ns > sim.now_ns)
			continue;
		list_del(&timer->link);
		timer->queued = false;
		sim_me->locks++;
		timer->function(timer);
		sim_me->locks--;
		goto again;
	}
}

static bool sim_can_run(const struct task_struct *task)
{
	return !task->done && !task->blocked && task->until_ns <= sim.now_ns;
}

static struct task_struct *sim_draw(void)
{
	struct task_struct *task;
	unsigned int nr = 0;

	list_for_each_entry(task, &sim.tasks, link)
		nr += sim_can_run(task);
	if (!nr)
		return NULL;
	nr = sim_random(0, nr - 1);
	list_for_each_entry(task, &sim.tasks, link)
		if (sim_can_run(task) && !nr--)
			return task;
	return NULL;
}

/* No task can run now: time passes until one can. */
static void sim_jump(void)
{
	struct task_struct *task;
	struct hrtimer *timer;
	u64 next_ns = U64_MAX;

	list_for_each_entry(task, &sim.tasks, link)
		if (!task->done && !task->blocked)
			next_ns = min(next_ns, task->until_ns);
	list_for_each_entry(timer, &sim.timers, link)
		next_ns = min(next_ns, timer->expires_ns);
	if (next_ns == U64_MAX || sim.now_ns > SIM_END_NS) {
		printf("# somebody waits for ever at %llu ns\n", sim.now_ns);
		fflush(stdout);
		abort();
	}
	sim.now_ns = max(sim.now_ns, next_ns);
}

/* On the new stack: tells AddressSanitizer, which tells the stack of the task before. */
static void sim_switched(struct task_struct *me)
{
	__sanitizer_finish_switch_fiber(me->fake, &sim_before->stack, &sim_before->stack_size);
}

static void sim_switch(void)
{
	struct task_struct *me = sim_me, *next;

	SHIM_DIE_IF("sleeps with a lock held", me->locks);
	for (;;) {
		sim_interrupts();
		next = sim_draw();
		if (next)
			break;
		sim_jump();
	}
	if (next == me)
		return;
	sim_before = me;
	sim_me = next;
	__sanitizer_start_switch_fiber(me->done ? NULL : &me->fake,
				       next->stack, next->stack_size);
	swapcontext(&me->context, &next->context);
	sim_switched(me);
}

void sim_sleep(u64 ns)
{
	sim_me->until_ns = sim.now_ns + ns;
	sim_switch();
	sim_me->until_ns = 0;
}

void sim_yield(void)
{
	if (sim_me->locks)
		return;
	if (sim.jitter_ns && sim_one_in(8))
		sim_sleep(sim_random(1, sim.jitter_ns));
	else
		sim_switch();
}

static void sim_task(void)
{
	struct task_struct *task = sim_me;

	sim_switched(task);
	task->fn(task->data);
	task->done = true;
	if (task->joiner)
		task->joiner->blocked = false;
	sim_switch();
}

struct task_struct *sim_spawn(int (*fn)(void *data), void *data, bool run)
{
	struct task_struct *task = calloc(1, sizeof(*task));
	void *stack = malloc(SIM_STACK_SIZE);

	SHIM_DIE_IF("no memory", !task || !stack);
	task->fn = fn;
	task->data = data;
	task->refs = 1;
	task->blocked = !run;
	task->state = run ? TASK_RUNNING : TASK_UNINTERRUPTIBLE;
	task->stack = stack;
	task->stack_size = SIM_STACK_SIZE;
	getcontext(&task->context);
	task->context.uc_stack.ss_sp = stack;
	task->context.uc_stack.ss_size = SIM_STACK_SIZE;
	makecontext(&task->context, sim_task, 0);
	list_add_tail(&task->link, &sim.tasks);
	return task;
}

void sim_put(struct task_struct *task)
{
	if (--task->refs)
		return;
	SHIM_DIE_IF("runs still", !task->done);
	free((void *)task->stack);
	free(task);
}

void sim_join(struct task_struct *task)
{
	if (!task->done) {
		task->joiner = sim_me;
		sim_me->blocked = true;
		sim_switch();
	}
	list_del(&task->link);
	sim_put(task);
}

void sim_begin(u64 seed, u64 jitter_ns)
{
	memset(&sim, 0, sizeof(sim));
	INIT_LIST_HEAD(&sim.tasks);
	INIT_LIST_HEAD(&sim.timers);
	sim.random = seed;
	sim.now_ns = 1000000;
	sim.jitter_ns = jitter_ns;
	sim.first.refs = 1;
	list_add_tail(&sim.first.link, &sim.tasks);
	sim_me = &sim.first;
}

void sim_end(void)
{
	list_del(&sim.first.link);
	SHIM_DIE_IF("left over", !list_empty(&sim.tasks));
	SHIM_DIE_IF("left over", !list_empty(&sim.timers));
	sim_me = NULL;
}

/* What the shims of sched.h and kthread.h declare. */

void schedule(void)
{
	if (sim_me->state != TASK_RUNNING)
		sim_me->blocked = true;
	sim_switch();
}

int wake_up_process(struct task_struct *task)
{
	int slept = task->state != TASK_RUNNING;

	SHIM_DIE_IF("gone", !task->refs);
	task->state = TASK_RUNNING;
	task->blocked = false;
	sim_yield();
	return slept;
}

/*
 * Workers: each queued work gets a task of its own, which is reaped when the next work is queued.
 */
#define SIM_MAX_WORKERS	16

struct workqueue_struct {
	struct task_struct *worker[SIM_MAX_WORKERS];
};

struct workqueue_struct *sim_workqueue(void)
{
	struct workqueue_struct *wq = calloc(1, sizeof(*wq));

	SHIM_DIE_IF("no memory", !wq);
	return wq;
}

static int sim_worker(void *data)
{
	struct work_struct *work = data;

	sim_yield();
	work->func(work);
	return 0;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < SIM_MAX_WORKERS; i++) {
		if (wq->worker[i] && wq->worker[i]->done) {
			sim_join(wq->worker[i]);
			wq->worker[i] = NULL;
		}
		if (!wq->worker[i])
			break;
	}
	SHIM_DIE_IF("too many works", i == SIM_MAX_WORKERS);
	wq->worker[i] = sim_spawn(sim_worker, work, true);
	return true;
}

void flush_workqueue(struct workqueue_struct *wq)
{
	unsigned int i;

	for (i = 0; i < SIM_MAX_WORKERS; i++) {
		if (wq->worker[i])
			sim_join(wq->worker[i]);
		wq->worker[i] = NULL;
	}
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	flush_workqueue(wq);
	free(wq);
}

int kthread_stop(struct task_struct *task)
{
	task->should_stop = true;
	wake_up_process(task);
	sim_join(task);
	return 0;
}

void wait_prepare(wait_queue_head_t *head, struct wait_entry *entry)
{
	if (list_empty(&entry->link)) {
		entry->task = sim_me;
		list_add_tail(&entry->link, &head->entries);
	}
	sim_me->state = TASK_UNINTERRUPTIBLE;
	sim_yield();
}

void wait_finish(struct wait_entry *entry)
{
	sim_me->state = TASK_RUNNING;
	if (!list_empty(&entry->link))
		list_del_init(&entry->link);
}

void wake_up_all(wait_queue_head_t *head)
{
	struct task_struct *task;
	struct wait_entry *entry;

	while (!list_empty(&head->entries)) {
		entry = list_first_entry(&head->entries, struct wait_entry, link);
		task = entry->task;
		list_del_init(&entry->link);
		task->state = TASK_RUNNING;
		task->blocked = false;
	}
	sim_yield();
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, int mode)
{
	if (!timer->queued)
		list_add_tail(&timer->link, &sim.timers);
	timer->queued = true;
	timer->expires_ns = expires;
	sim_yield();
}

int hrtimer_cancel(struct hrtimer *timer)
{
	sim_yield();
	if (!timer->queued)
		return 0;
	list_del(&timer->link);
	timer->queued = false;
	return 1;
}
