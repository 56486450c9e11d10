// SPDX-License-Identifier: GPL-2.0
/*
 * The worker that accesses an instance's guest memory.
 *
 * An access to guest memory can block for ever: userfaultfd, FUSE, a dead disk. So engines hand
 * accesses to one thread per open instance, the worker, and no other instance waits for it. The
 * worker takes SIGKILL. A page fault on such memory is killable, so a guest that never answers does
 * not block a reset or a close. (A work item could not be interrupted. When the user exits, it
 * would wait for a userfaultfd whose file is closed after the device.)
 *
 * An access holds the address space of the guest memory, the address space holds its mappings, and
 * mappings of BARs hold the device. If all processes of that address space were killed while
 * another process does not provide the memory, the device would never be closed. So a watch checks
 * during long accesses whether a process of the address space still runs. The process that opened
 * the device does not matter: it may have handed the device over and exited.
 *
 * Guest memory is not pinned, so the host may be unable to provide a page of it: a pool of huge
 * pages is empty, swap fails. That is not the guest's fault, so the worker retries the access for
 * some seconds. Longer retries would not help, and would delay the instance's other accesses.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/rcuwait.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../core.h"

/**
 * struct vgpu_dma_worker - accesses the guest memory of an open instance
 * @instance: the instance
 * @task:     runs vgpu_dma_thread()
 * @wait:     @task sleeps here while there is nothing to do
 * @watch:    ends accesses to an address space whose processes have all ended; looks once a second
 *            while there are accesses
 * @signal_lock: protects @current_dma; @lock nests inside it. Engines do not take it, since signals
 *            take spinlocks that sleep under PREEMPT_RT
 * @current_dma: the access that @task does now. SIGKILL is sent only while it is set, and flushed
 *            when it is set and when it is cleared
 * @cut:      vgpu_dma_pause() has sent SIGKILL to end @current_dma; protected by @signal_lock
 * @busy:     an access has been taken off @queue, and has neither ended nor been put back;
 *            protected by @signal_lock
 * @left:     vgpu_dma_pause() sleeps here until @busy is false
 * @lock:     protects the fields below; engines take it
 * @queue:    accesses that are submitted and not begun, in order
 * @aborting: accesses are cancelled instead of begun
 * @paused:   accesses stay on the queue
 */
struct vgpu_dma_worker {
	struct vgpu_instance *instance;
	struct task_struct *task;
	struct rcuwait wait;
	struct delayed_work watch;
	spinlock_t signal_lock;		/* current_dma, cut, busy */
	struct vgpu_dma *current_dma;
	bool cut;
	bool busy;
	wait_queue_head_t left;
	raw_spinlock_t lock;		/* queue, aborting, paused */
	struct list_head queue;
	bool aborting;
	bool paused;
};

/* Time for which a pause waits for an access before it ends it, and after that. */
#define VGPU_DMA_PAUSE_MS	2000
#define VGPU_DMA_CUT_MS		(2 * VGPU_SHORT_MS)

/* Period of the watch after it has ended an access: more such accesses may follow. */
#define VGPU_DMA_ORPHAN_MS	10

enum {
	VGPU_DMA_NEW,
	VGPU_DMA_QUEUED,
	VGPU_DMA_DONE,		/* @result is valid; complete() may run */
	VGPU_DMA_RETURNED,	/* complete() does not run any more */
	VGPU_DMA_FORGOTTEN,
};

static void vgpu_dma_free(struct kref *ref)
{
	struct vgpu_dma *dma = container_of(ref, struct vgpu_dma, ref);
	unsigned int i;

	for (i = 0; i < dma->nr_vec; i++)
		put_page(dma->vec[i].bv_page);
	if (dma->release)
		dma->release(dma);
	kfree(dma);
}

/**
 * vgpu_dma_alloc() - allocate an access to guest memory
 * @instance: the instance whose guest memory it is
 * @gfp: how to allocate
 *
 * Context: as @gfp says.
 * Return: the access, with a reference for the submitter, or NULL.
 */
struct vgpu_dma *vgpu_dma_alloc(struct vgpu_instance *instance, gfp_t gfp)
{
	struct vgpu_dma *dma = kzalloc(sizeof(*dma), gfp);

	if (!dma)
		return NULL;
	dma->instance = instance;
	kref_init(&dma->ref);
	atomic_set(&dma->state, VGPU_DMA_NEW);
	INIT_LIST_HEAD(&dma->link);
	rcuwait_init(&dma->left);
	return dma;
}
EXPORT_SYMBOL_GPL(vgpu_dma_alloc);

/**
 * vgpu_dma_put() - drop the submitter's reference
 * @dma: completed, or never submitted
 *
 * Context: any, does not sleep; if the access has a release(), the context of that.
 */
void vgpu_dma_put(struct vgpu_dma *dma)
{
	kref_put(&dma->ref, vgpu_dma_free);
}
EXPORT_SYMBOL_GPL(vgpu_dma_put);

/*
 * Ends an access and drops the worker's reference. No lock is held.
 *
 * vgpu_dma_forget() sleeps until complete() has returned. It must not spin: complete() may be
 * preempted, and a caller of higher priority would spin for ever.
 */
static void vgpu_dma_end(struct vgpu_dma *dma, int result)
{
	/* A forgotten access has no reader of @result. */
	dma->result = result;
	if (atomic_cmpxchg(&dma->state, VGPU_DMA_QUEUED, VGPU_DMA_DONE) == VGPU_DMA_QUEUED) {
		if (dma->complete)
			dma->complete(dma);
		atomic_set_release(&dma->state, VGPU_DMA_RETURNED);
	}
	rcuwait_wake_up(&dma->left);
	vgpu_dma_put(dma);
}

/**
 * vgpu_dma_submit() - hand an access to the worker
 * @dma: set up by the submitter, and not submitted before; its instance is open
 *
 * The worker does the accesses of an instance one after the other, in the order of submission.
 *
 * Context: process context, without a spinlock held. Does not wait for the access. If all accesses
 * are being cancelled, this calls complete() of @dma. It also calls release(), which may sleep, if
 * the submitter's reference is gone by then, as vgpu_dma_forget() may have dropped it.
 */
void vgpu_dma_submit(struct vgpu_dma *dma)
{
	struct vgpu_dma_worker *worker = dma->instance->dma;
	bool aborting;

	might_sleep();
	kref_get(&dma->ref);
	atomic_set(&dma->state, VGPU_DMA_QUEUED);

	raw_spin_lock(&worker->lock);
	aborting = worker->aborting;
	if (!aborting)
		list_add_tail(&dma->link, &worker->queue);
	raw_spin_unlock(&worker->lock);

	if (aborting)
		vgpu_dma_end(dma, -ECANCELED);
	else
		rcuwait_wake_up(&worker->wait);
}
EXPORT_SYMBOL_GPL(vgpu_dma_submit);

/* Returns the result of guest_rw(), or -EAGAIN if the function is not bus master any more. */
static int vgpu_dma_run_piece(struct vgpu_dma *dma, const struct bio_vec *vec, u64 addr,
			      unsigned long *since)
{
	struct vgpu_instance *instance = dma->instance;
	const struct vgpu_front_ops *front = instance->front;
	void *page;
	int ret;

	do {
		/* The worker was told to end the access: write nothing any more. */
		if (fatal_signal_pending(current))
			return -EFAULT;
		if (!front->may_dma(instance))
			return -EAGAIN;
		page = kmap_local_page(vec->bv_page);
		ret = front->guest_rw(instance, addr, page + vec->bv_offset,
				      vec->bv_len, dma->write);
		kunmap_local(page);
	} while (ret == -ENOMEM && vgpu_short_pause(since));

	/* After a signal, it is not lack of memory that ended the access. */
	if (ret == -ENOMEM && fatal_signal_pending(current))
		return -EFAULT;
	return ret;
}

static int vgpu_dma_run(struct vgpu_dma *dma)
{
	struct vgpu_instance *instance = dma->instance;
	unsigned long since = 0;
	unsigned int i;
	u64 addr = dma->addr;
	int ret = 0;

	if (dma->work)
		return dma->work(dma);

	for (i = 0; i < dma->nr_vec && !ret; i++) {
		ret = vgpu_dma_run_piece(dma, &dma->vec[i], addr, &since);
		addr += dma->vec[i].bv_len;
	}
	if (dma->ran)
		dma->ran(dma);
	if (!ret)
		atomic64_add(dma->len, dma->write ? &instance->dma_written_bytes :
						    &instance->dma_read_bytes);
	return ret;
}

/* Takes the next access off the queue. While the function is not bus master, @work is required. */
static struct vgpu_dma *vgpu_dma_take(struct vgpu_dma_worker *worker)
{
	struct vgpu_instance *instance = worker->instance;
	bool may_dma = instance->front->may_dma(instance);
	struct vgpu_dma *dma, *found = NULL;

	raw_spin_lock(&worker->lock);
	list_for_each_entry(dma, &worker->queue, link) {
		if (worker->aborting || worker->paused)
			break;
		if (!may_dma && !dma->work)
			continue;
		list_del_init(&dma->link);
		found = dma;
		break;
	}
	raw_spin_unlock(&worker->lock);
	return found;
}

/* Begins the next access, if there is one. */
static struct vgpu_dma *vgpu_dma_next(struct vgpu_dma_worker *worker)
{
	struct vgpu_dma *dma;

	spin_lock(&worker->signal_lock);
	dma = vgpu_dma_take(worker);
	if (dma) {
		flush_signals(current);
		worker->current_dma = dma;
		worker->cut = false;
		worker->busy = true;
	}
	spin_unlock(&worker->signal_lock);
	return dma;
}

/*
 * Ends the access that the worker has made with *@ret, unless that is to say that it was cancelled.
 * Returns true if it is on the queue again, as the first: it begins anew when the function is bus
 * master, or when a pause that cut it short is over; unless it was forgotten. An access that a
 * pause would have cut short but that has succeeded keeps its result: a second write would destroy
 * what the guest has written there since it saw the first.
 */
static bool vgpu_dma_again(struct vgpu_dma_worker *worker, struct vgpu_dma *dma, int *ret)
{
	bool again;

	spin_lock(&worker->signal_lock);
	worker->current_dma = NULL;
	flush_signals(current);
	raw_spin_lock(&worker->lock);
	if (worker->aborting)
		*ret = -ECANCELED;
	again = (*ret == -EAGAIN || (*ret && worker->cut)) && !dma->work &&
		!worker->aborting && atomic_read(&dma->state) == VGPU_DMA_QUEUED;
	if (again)
		list_add(&dma->link, &worker->queue);
	raw_spin_unlock(&worker->lock);
	spin_unlock(&worker->signal_lock);
	return again;
}

/*
 * Whether all processes of the address space that the worker accesses have exited or been killed. A
 * process that is being killed may be unable to exit before the access ends, as it waits for a lock
 * of the container. Kernels without memory cgroups do not know the owner of an address space: there
 * the only remaining user must be the worker.
 */
static bool vgpu_dma_orphaned(struct vgpu_dma_worker *worker)
{
	struct task_struct *task = worker->task;
	struct mm_struct *mm;
	bool orphaned = false;

	lockdep_assert_held(&worker->signal_lock);
	/* VFIO makes the worker use the owner's address space during an access. */
	task_lock(task);
	mm = task->mm;
	if (mm)
		orphaned = vgpu_mm_ending(mm) ||
			   (!IS_ENABLED(CONFIG_MEMCG) && atomic_read(&mm->mm_users) == 1);
	task_unlock(task);
	return orphaned;
}

/* On an unbound workqueue: the watch may wait for signal_lock, and the works of a CPU for it. */
static void vgpu_dma_watch_in(struct vgpu_dma_worker *worker, unsigned long delay)
{
	queue_delayed_work(system_unbound_wq, &worker->watch, delay);
}

static void vgpu_dma_watch(struct work_struct *work)
{
	struct vgpu_dma_worker *worker =
		container_of(to_delayed_work(work), struct vgpu_dma_worker, watch);
	bool busy, orphaned;

	spin_lock(&worker->signal_lock);
	busy = worker->current_dma;
	orphaned = busy && vgpu_dma_orphaned(worker);
	/* This ends only one access: the next may be to the memory of another process. */
	if (orphaned)
		send_sig(SIGKILL, worker->task, 1);
	spin_unlock(&worker->signal_lock);

	if (busy)
		vgpu_dma_watch_in(worker, orphaned ? msecs_to_jiffies(VGPU_DMA_ORPHAN_MS) : HZ);
}

static void vgpu_dma_leave(struct vgpu_dma_worker *worker)
{
	spin_lock(&worker->signal_lock);
	worker->busy = false;
	spin_unlock(&worker->signal_lock);
	wake_up_all(&worker->left);
}

static int vgpu_dma_thread(void *data)
{
	struct vgpu_dma_worker *worker = data;
	struct vgpu_dma *dma;
	int ret;

	allow_signal(SIGKILL);
	while (!kthread_should_stop()) {
		dma = NULL;
		/* Not interruptible: signals are meant for guest_rw only. */
		rcuwait_wait_event(&worker->wait, (dma = vgpu_dma_next(worker)) ||
				   kthread_should_stop(), TASK_IDLE);
		if (!dma)
			continue;

		vgpu_dma_watch_in(worker, HZ);
		ret = vgpu_dma_run(dma);
		if (!vgpu_dma_again(worker, dma, &ret))
			vgpu_dma_end(dma, ret);
		vgpu_dma_leave(worker);
		/* Several channels may always have the next access: it never sleeps then. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/**
 * vgpu_dma_start() - start the worker of an instance that is being opened
 * @instance: the instance; its front end's ops are set
 *
 * The worker's processor time is charged to the cgroups of current.
 *
 * Context: sleeps.
 * Return: the worker, or an ERR_PTR.
 */
struct vgpu_dma_worker *vgpu_dma_start(struct vgpu_instance *instance)
{
	struct vgpu_dma_worker *worker;
	int ret;

	worker = kzalloc(sizeof(*worker), GFP_KERNEL);
	if (!worker)
		return ERR_PTR(-ENOMEM);
	worker->instance = instance;
	rcuwait_init(&worker->wait);
	spin_lock_init(&worker->signal_lock);
	init_waitqueue_head(&worker->left);
	raw_spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->queue);
	INIT_DELAYED_WORK(&worker->watch, vgpu_dma_watch);
	worker->task = vgpu_thread_run(instance, vgpu_dma_thread, worker, "vgpu-dma");
	if (IS_ERR(worker->task)) {
		ret = PTR_ERR(worker->task);
		kfree(worker);
		return ERR_PTR(ret);
	}
	return worker;
}

static void vgpu_dma_set(struct vgpu_dma_worker *worker, bool *flag, bool value)
{
	raw_spin_lock(&worker->lock);
	*flag = value;
	raw_spin_unlock(&worker->lock);
}

/**
 * vgpu_dma_abort() - cancel all accesses, and those submitted until vgpu_dma_resume()
 * @worker: worker of an open instance
 *
 * The current access will fail soon; this does not wait for its end.
 *
 * Context: process context, without a lock held that a complete() takes. Sleeps if release() of a
 * cancelled access does.
 */
void vgpu_dma_abort(struct vgpu_dma_worker *worker)
{
	struct vgpu_dma *dma;

	might_sleep();
	vgpu_dma_set(worker, &worker->aborting, true);
	spin_lock(&worker->signal_lock);
	if (worker->current_dma)
		send_sig(SIGKILL, worker->task, 1);
	spin_unlock(&worker->signal_lock);

	/* One by one: whenever the lock is released, vgpu_dma_forget() may take any of them off. */
	raw_spin_lock(&worker->lock);
	while ((dma = list_first_entry_or_null(&worker->queue, struct vgpu_dma, link))) {
		list_del_init(&dma->link);
		raw_spin_unlock(&worker->lock);
		vgpu_dma_end(dma, -ECANCELED);
		raw_spin_lock(&worker->lock);
	}
	raw_spin_unlock(&worker->lock);
}

/**
 * vgpu_dma_resume() - allow accesses again
 * @worker: worker whose accesses vgpu_dma_abort() has cancelled
 *
 * Context: process context. Does not sleep.
 */
void vgpu_dma_resume(struct vgpu_dma_worker *worker)
{
	vgpu_dma_set(worker, &worker->aborting, false);
}

static bool vgpu_dma_is_idle(struct vgpu_dma_worker *worker)
{
	bool idle;

	spin_lock(&worker->signal_lock);
	idle = !worker->busy;
	spin_unlock(&worker->signal_lock);
	return idle;
}

static bool vgpu_dma_wait_idle(struct vgpu_dma_worker *worker, unsigned int ms)
{
	return wait_event_timeout(worker->left, vgpu_dma_is_idle(worker), msecs_to_jiffies(ms));
}

/**
 * vgpu_dma_pause() - let accesses wait until vgpu_dma_unpause()
 * @worker: worker of an open instance
 *
 * Waits until the current access is over. An access to guest memory that is not over within
 * VGPU_DMA_PAUSE_MS is cut short, and begins anew after the pause. That fails while it waits for a
 * lock of VFIO, which the user may hold for ever. A request for memory of the host gives up by
 * itself.
 *
 * Context: sleeps, without a lock held that a complete() takes.
 * Return: 0, or -ETIMEDOUT: the access is not over, and nothing is paused.
 */
int vgpu_dma_pause(struct vgpu_dma_worker *worker)
{
	vgpu_dma_set(worker, &worker->paused, true);
	if (vgpu_dma_wait_idle(worker, VGPU_DMA_PAUSE_MS))
		return 0;

	spin_lock(&worker->signal_lock);
	if (worker->current_dma && !worker->current_dma->work) {
		worker->cut = true;
		send_sig(SIGKILL, worker->task, 1);
	}
	spin_unlock(&worker->signal_lock);
	if (vgpu_dma_wait_idle(worker, VGPU_DMA_CUT_MS))
		return 0;
	vgpu_dma_unpause(worker);
	return -ETIMEDOUT;
}

/* Undoes vgpu_dma_pause(). Context: process context. Does not sleep. */
void vgpu_dma_unpause(struct vgpu_dma_worker *worker)
{
	vgpu_dma_set(worker, &worker->paused, false);
	vgpu_dma_kick(worker);
}

/**
 * vgpu_dma_kick() - make the worker look at its queue again
 * @worker: worker of an open instance
 *
 * Context: any. Does not sleep.
 */
void vgpu_dma_kick(struct vgpu_dma_worker *worker)
{
	rcuwait_wake_up(&worker->wait);
}

/**
 * vgpu_dma_uncharge() - move the worker out of its user's cgroups, see vgpu_thread_uncharge()
 * @worker: worker of an instance that is being closed
 *
 * Context: sleeps.
 */
void vgpu_dma_uncharge(struct vgpu_dma_worker *worker)
{
	vgpu_thread_uncharge(worker->task);
}

/**
 * vgpu_dma_stop() - stop and free a worker
 * @worker: the worker; vgpu_dma_abort() has cancelled its accesses
 *
 * Context: sleeps, until the worker has ended its current access.
 */
void vgpu_dma_stop(struct vgpu_dma_worker *worker)
{
	kthread_stop(worker->task);
	cancel_delayed_work_sync(&worker->watch);
	WARN_ON(!list_empty(&worker->queue));
	kfree(worker);
}

static bool vgpu_dma_is_current(struct vgpu_dma_worker *worker, const struct vgpu_dma *dma)
{
	bool is_current;

	spin_lock(&worker->signal_lock);
	is_current = worker->current_dma == dma;
	spin_unlock(&worker->signal_lock);
	return is_current;
}

/* Takes an access off the queue, or makes the worker end it. */
static void vgpu_dma_cancel(struct vgpu_dma_worker *worker, struct vgpu_dma *dma)
{
	bool queued;

	spin_lock(&worker->signal_lock);
	raw_spin_lock(&worker->lock);
	queued = !list_empty(&dma->link);
	list_del_init(&dma->link);
	raw_spin_unlock(&worker->lock);
	if (worker->current_dma == dma)
		send_sig(SIGKILL, worker->task, 1);
	spin_unlock(&worker->signal_lock);
	if (queued)
		vgpu_dma_put(dma);

	/* A caller that is being killed does not wait: its guest memory goes away with it. */
	rcuwait_wait_event(&dma->left, !vgpu_dma_is_current(worker, dma), TASK_KILLABLE);
}

/**
 * vgpu_dma_forget() - cancel an access whose result is not needed any more
 * @dma: a submitted access of an open instance. The submitter's reference is dropped
 *
 * When this returns, the access does not touch guest memory any more, and its complete() does not
 * run. Only if the caller is being killed may the access still go on; then its pages stay until it
 * has ended.
 *
 * Context: sleeps, and waits for a complete() that runs in another thread: the caller must not hold
 * a lock that complete() takes, nor one that an access to guest memory may need.
 */
void vgpu_dma_forget(struct vgpu_dma *dma)
{
	struct vgpu_dma_worker *worker = dma->instance->dma;

	if (atomic_cmpxchg(&dma->state, VGPU_DMA_QUEUED, VGPU_DMA_FORGOTTEN) == VGPU_DMA_QUEUED)
		vgpu_dma_cancel(worker, dma);
	else
		rcuwait_wait_event(&dma->left,
				   atomic_read_acquire(&dma->state) == VGPU_DMA_RETURNED,
				   TASK_UNINTERRUPTIBLE);
	vgpu_dma_put(dma);
}
EXPORT_SYMBOL_GPL(vgpu_dma_forget);
