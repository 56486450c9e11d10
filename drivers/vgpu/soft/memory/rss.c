// SPDX-License-Identifier: GPL-2.0
/*
 * A vGPU's memory in the resident set of the process that has it, and when the host has no memory.
 *
 * Pages that an engine has filled are mapped nowhere, so the kernel counts them in no process:
 * ps would not show them, and the OOM killer would spare the process whose end frees them, which
 * looks small, and kill another one. Pages that are mapped are counted by the kernel, in each
 * process that has them mapped.
 *
 * So this file adds the number of allocated pages that are not mapped, as shared memory. The
 * kernel tells no driver that a mapping has gone (munmap, MADV_DONTNEED), and counting at each
 * page would slow engines and page faults down. So a work item looks at the pages from time to
 * time. In between it is known what has come by a FILL and what by a touch, and so where it is.
 *
 * Contexts and programs are added. A reserved store is not counted: its pages stay when its user
 * is killed.
 *
 * When the OOM killer is about to choose its victim, it is asked to try again once the work item
 * has looked at everything: it waits for no tenant, and not for long. It is also told when memory
 * is about to come back: it chooses the next victim as soon as the mappings of the first one are
 * gone, but the pages here come back when the vGPU is closed, which takes a little longer.
 *
 * The core chooses the process that shows the pages (core/objects/owner.c). Where the core knows no
 * living holder of a vGPU, no kill would free its memory: the work item takes the memory before the
 * OOM killer chooses.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "memory.h"
#include "oom_hold.h"

/*
 * vGPUs are looked at once in a period; those in which no page has come or gone since, only
 * once in SOFT_RSS_QUIET periods. All looks together take at most 1/SOFT_RSS_LOAD of a
 * processor: where a round takes long, the next one comes later, but not by more than
 * SOFT_RSS_DELAY_MAX. How long it takes is told by the clock, which also counts the time that
 * other tasks had the processor: a round that stood still for two seconds would leave wrong
 * figures for a minute.
 */
#define SOFT_RSS_PERIOD		(HZ / 2)
#define SOFT_RSS_QUIET		8
#define SOFT_RSS_LOAD		32
#define SOFT_RSS_DELAY_MAX	(10 * HZ)

/*
 * How long the OOM killer waits for a round; then it has to do with what is known. It asks for
 * another one after SOFT_RSS_AGAIN, or after SOFT_RSS_UNANSWERED if the round has not ended.
 */
#define SOFT_RSS_PATIENCE	HZ
#define SOFT_RSS_AGAIN		(HZ / 10)
#define SOFT_RSS_UNANSWERED	(5 * HZ)

/*
 * A process that ends closes its vGPU within that time, or another process keeps the vGPU open. (An
 * access to guest memory that does not answer may hold up the close; it is given up within 2 s.)
 * Or the process to which the open file was left has not used it yet.
 */
#define SOFT_RSS_ENDING		(5 * HZ)

static void soft_rss_work(struct work_struct *work);

/*
 * Protects the list, struct soft_rss and the variables here. Every tenant takes this lock, in open,
 * close and reset, and the OOM killer does. So it is held for a few steps only (for a few per vGPU
 * by the OOM killer), and it is a raw spinlock: a tenant that its cgroup does not let run would
 * keep a mutex. vgpu_owner.lock of the core is taken inside.
 *
 * Pages are looked at without the lock. The vGPU is @soft_rss_looked meanwhile, so that
 * soft_rss_end() waits; what comes of the look counts unless the pages have been dropped in the
 * meantime.
 */
static DEFINE_RAW_SPINLOCK(soft_rss_lock);
static LIST_HEAD(soft_rss_list);	/* of open vGPUs */
static unsigned int soft_rss_nr;	/* length of the list */
static struct soft_rss *soft_rss_looked;	/* the work item is looking at this one */
static unsigned int soft_rss_asked;	/* counts the rounds that the OOM killer has asked for */
static unsigned int soft_rss_answered;	/* what soft_rss_asked was when the latest of them began */
static unsigned long soft_rss_asked_at;
static unsigned long soft_rss_whole_at;	/* when the latest round ended that left no vGPU out */
static struct soft_oom_hold soft_rss_hold;	/* how long the OOM killer was held up of late */

static struct workqueue_struct *soft_rss_wq;
static DECLARE_DELAYED_WORK(soft_rss_delayed, soft_rss_work);
static unsigned int soft_rss_round;	/* rounds so far; used by soft_rss_work() only */

static struct soft_memory *soft_rss_memory(struct soft_rss *rss)
{
	return container_of(rss, struct soft_memory, rss);
}

/*
 * Shows the allocated pages that are not mapped, as far as they are known, and the memory that is
 * in no BAR. Remembers since when the core has known no living holder of the vGPU.
 */
static void soft_rss_show(struct soft_rss *rss)
{
	struct soft_memory *mem = soft_rss_memory(rss);
	struct soft_store *fb = &mem->fb;
	bool ended = rss->ended;
	long nr = 0;

	lockdep_assert_held(&soft_rss_lock);
	if (!fb->reserved) {
		nr = rss->counted + soft_store_filled(fb) - rss->filled;
		/* A look does not stop the engine: what comes meanwhile may be counted twice. */
		nr = clamp(nr, 0L, atomic_long_read(&fb->backed));
	}
	nr += (READ_ONCE(*rss->programs) + atomic64_read(rss->contexts) +
	       atomic64_read(rss->flights)) >> PAGE_SHIFT;
	rss->ended = !vgpu_owner_show(mem->vgpu, nr);
	if (rss->ended && !ended)
		rss->ended_at = jiffies;
}

/* Counts pages, without the lock. */
static void soft_rss_count(struct soft_rss *rss)
{
	struct soft_store *fb = &soft_rss_memory(rss)->fb;
	unsigned int drops = READ_ONCE(rss->drops);
	long filled = soft_store_filled(fb);
	long seen = atomic_long_read(&fb->backed);
	long nr = soft_store_unmapped(fb);

	raw_spin_lock(&soft_rss_lock);
	if (nr >= 0 && drops == rss->drops) {
		rss->counted = nr;
		rss->filled = filled;
		rss->seen = seen;
		soft_rss_show(rss);
	}
	raw_spin_unlock(&soft_rss_lock);
}

/* Takes the first vGPU of the list, which becomes the last. With the lock; NULL: there is none. */
static struct soft_rss *soft_rss_next(void)
{
	struct soft_rss *rss;

	lockdep_assert_held(&soft_rss_lock);
	rss = list_first_entry_or_null(&soft_rss_list, struct soft_rss, link);
	if (rss)
		list_move_tail(&rss->link, &soft_rss_list);
	soft_rss_looked = rss;
	return rss;
}

static void soft_rss_done(void)
{
	struct soft_rss *rss;

	raw_spin_lock(&soft_rss_lock);
	rss = soft_rss_looked;
	soft_rss_looked = NULL;
	/* With the lock held: the vGPU may be closed and freed once soft_rss_left() is true. */
	if (rss)
		rcuwait_wake_up(&rss->left);
	raw_spin_unlock(&soft_rss_lock);
	cond_resched();
}

static bool soft_rss_left(const struct soft_rss *rss)
{
	bool left;

	raw_spin_lock(&soft_rss_lock);
	left = soft_rss_looked != rss;
	raw_spin_unlock(&soft_rss_lock);
	return left;
}

/* Looks at a vGPU's pages. @all: also if it seems needless. */
static void soft_rss_look(bool all)
{
	struct soft_rss *rss;
	bool count = false;

	raw_spin_lock(&soft_rss_lock);
	rss = soft_rss_next();
	if (rss) {
		struct soft_store *fb = &soft_rss_memory(rss)->fb;

		soft_rss_show(rss);
		count = !fb->reserved && (all || rss->seen != atomic_long_read(&fb->backed));
	}
	raw_spin_unlock(&soft_rss_lock);
	if (count)
		soft_rss_count(rss);
	soft_rss_done();
}

/* Looks at each vGPU once. */
static void soft_rss_work(struct work_struct *work)
{
	unsigned long start = jiffies;
	unsigned int nr, asked, i;
	bool all, again;

	raw_spin_lock(&soft_rss_lock);
	asked = soft_rss_asked;
	all = asked != soft_rss_answered;
	nr = soft_rss_nr;
	raw_spin_unlock(&soft_rss_lock);

	all |= soft_rss_round++ % SOFT_RSS_QUIET == 0;
	for (i = 0; i < nr; i++)
		soft_rss_look(all);

	raw_spin_lock(&soft_rss_lock);
	if (all)
		soft_rss_whole_at = jiffies;
	soft_rss_answered = asked;
	again = soft_rss_nr;
	raw_spin_unlock(&soft_rss_lock);
	/* Does nothing if the OOM killer has asked in the meantime: then the next round is due. */
	if (again)
		queue_delayed_work(soft_rss_wq, &soft_rss_delayed,
				   clamp_t(unsigned long, (jiffies - start) * SOFT_RSS_LOAD,
					   SOFT_RSS_PERIOD, SOFT_RSS_DELAY_MAX));
}

/* Takes the memory of a vGPU without a known holder, if it still has none. */
static void soft_rss_reclaim(struct work_struct *work)
{
	struct soft_memory *mem = container_of(work, struct soft_memory, rss.reclaim);

	/* The OOM killer may have asked again while the memory was being given back. */
	if (atomic_long_read(&mem->fb.backed))
		vgpu_instance_reclaim(mem->vgpu);
}

/* Asks for a round, if it is time. Returns true if the work item is to run. */
static bool soft_rss_ask(void)
{
	bool answered = soft_rss_asked == soft_rss_answered;

	lockdep_assert_held(&soft_rss_lock);
	if (time_before(jiffies, soft_rss_whole_at + SOFT_RSS_PATIENCE))
		return false;
	if (time_before(jiffies, soft_rss_asked_at +
			(answered ? SOFT_RSS_AGAIN : SOFT_RSS_UNANSWERED)))
		return false;
	soft_rss_asked_at = jiffies;
	soft_rss_asked++;
	return true;
}

/* The OOM killer is about to choose a victim. It does not, but tries again, if @freed is not 0. */
static int soft_rss_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	bool any = false, coming = false, ask, wait;
	struct soft_rss *rss;

	raw_spin_lock(&soft_rss_lock);
	list_for_each_entry(rss, &soft_rss_list, link) {
		soft_rss_show(rss);
		if (soft_rss_memory(rss)->fb.reserved ||
		    !atomic_long_read(&soft_rss_memory(rss)->fb.backed))
			continue;
		any = true;
		if (!rss->ended)
			continue;
		/* Either the last holder is closing the vGPU, or its memory is being taken. */
		coming = true;
		if (time_after(jiffies, rss->ended_at + SOFT_RSS_ENDING))
			queue_work(soft_rss_wq, &rss->reclaim);
	}
	ask = any && soft_rss_ask();
	wait = any && soft_rss_asked != soft_rss_answered &&
	       time_before(jiffies, soft_rss_asked_at + SOFT_RSS_PATIENCE);
	if (soft_oom_hold(&soft_rss_hold, jiffies, wait || coming))
		*(unsigned long *)freed += 1;
	raw_spin_unlock(&soft_rss_lock);

	if (ask)
		mod_delayed_work(soft_rss_wq, &soft_rss_delayed, 0);
	return NOTIFY_OK;
}

static struct notifier_block soft_rss_notifier = {
	.notifier_call = soft_rss_oom,
};

/**
 * soft_rss_init() - set up what is shown of a new vGPU
 * @rss: zeroed
 * @programs: bytes of the vGPU's programs
 * @contexts: bytes of its contexts
 * @flights: bytes of flights beside these
 * Context: any. Undone by soft_rss_exit().
 */
void soft_rss_init(struct soft_rss *rss, const size_t *programs, const atomic64_t *contexts,
		   const atomic64_t *flights)
{
	rss->programs = programs;
	rss->contexts = contexts;
	rss->flights = flights;
	rcuwait_init(&rss->left);
	INIT_WORK(&rss->reclaim, soft_rss_reclaim);
}

/* The vGPU is not open and goes. May sleep. */
void soft_rss_exit(struct soft_rss *rss)
{
	cancel_work_sync(&rss->reclaim);
}

/**
 * soft_rss_begin() - begin to show a vGPU's memory in the process that has it
 * @mem: of a vGPU that is being opened
 * Context: may sleep.
 */
void soft_rss_begin(struct soft_memory *mem)
{
	struct soft_rss *rss = &mem->rss;
	bool first;

	rss->counted = 0;
	rss->filled = soft_store_filled(&mem->fb);
	rss->seen = 0;
	rss->ended = false;
	raw_spin_lock(&soft_rss_lock);
	list_add_tail(&rss->link, &soft_rss_list);
	first = !soft_rss_nr++;
	raw_spin_unlock(&soft_rss_lock);
	if (first)
		mod_delayed_work(soft_rss_wq, &soft_rss_delayed, SOFT_RSS_PERIOD);
}

/**
 * soft_rss_end() - undo soft_rss_begin()
 * @mem: of a vGPU that is being closed
 * Context: may sleep.
 */
void soft_rss_end(struct soft_memory *mem)
{
	struct soft_rss *rss = &mem->rss;

	raw_spin_lock(&soft_rss_lock);
	list_del(&rss->link);
	soft_rss_nr--;
	raw_spin_unlock(&soft_rss_lock);
	rcuwait_wait_event(&rss->left, soft_rss_left(rss), TASK_UNINTERRUPTIBLE);
	vgpu_owner_show(mem->vgpu, 0);
}

/* The pages of an open vGPU have been dropped: none of them is shown any more. */
void soft_rss_update(struct soft_memory *mem)
{
	struct soft_rss *rss = &mem->rss;

	raw_spin_lock(&soft_rss_lock);
	rss->drops++;
	rss->counted = 0;
	rss->filled = soft_store_filled(&mem->fb);
	rss->seen = -1;
	soft_rss_show(rss);
	raw_spin_unlock(&soft_rss_lock);
}

/* Begins to answer the OOM killer. Returns 0 or -errno. */
int soft_rss_start(void)
{
	int ret;

	soft_rss_whole_at = jiffies - 2 * SOFT_RSS_PATIENCE;
	soft_rss_asked_at = jiffies - SOFT_RSS_UNANSWERED;
	soft_rss_hold.called_at = jiffies;
	/* The OOM killer waits for it, so there is a thread for it when none can be made. */
	soft_rss_wq = alloc_workqueue("vgpu_soft_rss", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!soft_rss_wq)
		return -ENOMEM;
	ret = register_oom_notifier(&soft_rss_notifier);
	if (ret)
		destroy_workqueue(soft_rss_wq);
	return ret;
}

/* Undoes soft_rss_start(), when no vGPU is left. */
void soft_rss_stop(void)
{
	unregister_oom_notifier(&soft_rss_notifier);
	cancel_delayed_work_sync(&soft_rss_delayed);
	destroy_workqueue(soft_rss_wq);
}
