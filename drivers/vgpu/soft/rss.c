// SPDX-License-Identifier: GPL-2.0
/*
 * Framebuffer in the resident set of the process that opened the vGPU.
 *
 * Pages that an engine has filled are mapped nowhere, so the kernel counts them in no process:
 * ps would not show them, and the OOM killer would spare the process whose end frees them, which
 * looks small, and kill another one. Pages that are mapped are counted by the kernel, in each
 * process that has them mapped.
 *
 * So the number of pages that are there and not mapped is added here, as shared memory. The
 * kernel tells no driver that a mapping has gone (munmap, MADV_DONTNEED), and counting at each
 * page would slow engines and page faults down. So the pages are looked at again from time to
 * time, and all of them when the OOM killer is about to choose its victim.
 *
 * A reserved store is not counted: its pages stay when its user is killed.
 *
 * The OOM killer chooses the next victim as soon as the mappings of the first one are gone, but
 * the pages here come back when the vGPU is closed, which takes a little longer. So while the
 * processes of an address space are ending, the OOM killer is told that memory is being freed.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/oom.h>
#include <linux/percpu_counter.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "instance.h"

/*
 * Stores are looked at once in a period; those in which no page has come or gone since, only
 * once in SOFT_RSS_QUIET periods. All looks together take at most 1/SOFT_RSS_LOAD of a
 * processor: where a round takes long, the next one comes later.
 */
#define SOFT_RSS_PERIOD		(HZ / 2)
#define SOFT_RSS_QUIET		8
#define SOFT_RSS_LOAD		32

/*
 * For so long the OOM killer is told that an ending process will free memory. An access to guest
 * memory that does not answer may hold up the close of the vGPU; it is given up within 2 s.
 */
#define SOFT_RSS_ENDING		(5 * HZ)

static void soft_rss_work(struct work_struct *work);

/*
 * Protects the list and struct soft_rss. The OOM killer waits for this lock, so its holders
 * allocate nothing and wait for no other lock.
 */
static DEFINE_MUTEX(soft_rss_lock);
static LIST_HEAD(soft_rss_list);	/* of open vGPUs */
static unsigned int soft_rss_nr;	/* length of the list */
static unsigned int soft_rss_round;	/* periods so far; used by soft_rss_work() only */
static DECLARE_DELAYED_WORK(soft_rss_delayed, soft_rss_work);

static struct soft_instance *soft_rss_instance(struct soft_rss *rss)
{
	return container_of(rss, struct soft_instance, rss);
}

static void soft_rss_show(struct soft_rss *rss, long nr)
{
	lockdep_assert_held(&soft_rss_lock);
	/* add_mm_counter() has a tracepoint that is not exported to modules. */
	percpu_counter_add(&rss->mm->rss_stat[MM_SHMEMPAGES], nr - rss->shown);
	rss->shown = nr;
}

static void soft_rss_count(struct soft_rss *rss)
{
	struct soft_store *fb = &soft_rss_instance(rss)->fb;
	long backed = atomic_long_read(&fb->backed), nr;

	lockdep_assert_held(&soft_rss_lock);
	/* The processes of the mm have ended, but another one keeps the vGPU open. */
	if (!atomic_read(&rss->mm->mm_users)) {
		soft_rss_show(rss, 0);
		WRITE_ONCE(rss->orphan, true);
		return;
	}
	nr = soft_store_unmapped(fb);
	if (nr < 0)
		return;
	soft_rss_show(rss, nr);
	rss->seen = backed;
}

/* Looks at each vGPU once. The lock is released in between. */
static void soft_rss_work(struct work_struct *work)
{
	bool all = soft_rss_round++ % SOFT_RSS_QUIET == 0;
	unsigned long start = jiffies;
	struct soft_rss *rss;
	unsigned int nr;

	mutex_lock(&soft_rss_lock);
	for (nr = soft_rss_nr; nr; nr--) {
		rss = list_first_entry_or_null(&soft_rss_list, struct soft_rss, link);
		if (!rss)
			break;
		list_move_tail(&rss->link, &soft_rss_list);
		if (all || rss->seen != atomic_long_read(&soft_rss_instance(rss)->fb.backed))
			soft_rss_count(rss);
		mutex_unlock(&soft_rss_lock);
		cond_resched();
		mutex_lock(&soft_rss_lock);
	}
	if (soft_rss_nr)
		queue_delayed_work(system_long_wq, &soft_rss_delayed,
				   max_t(unsigned long, SOFT_RSS_PERIOD,
					 (jiffies - start) * SOFT_RSS_LOAD));
	mutex_unlock(&soft_rss_lock);
}

/* Returns how many pages come back soon because the processes they are shown in end. */
static unsigned long soft_rss_coming(struct soft_rss *rss)
{
	lockdep_assert_held(&soft_rss_lock);
	if (soft_rss_instance(rss)->fb.reserved || !vgpu_mm_ending(rss->mm)) {
		rss->ending = false;
		return 0;
	}
	if (!rss->ending)
		rss->ending_since = jiffies;
	rss->ending = true;
	if (time_after(jiffies, rss->ending_since + SOFT_RSS_ENDING))
		return 0;
	return atomic_long_read(&soft_rss_instance(rss)->fb.backed);
}

/* The OOM killer is about to choose a victim. It does not if @freed is not 0. */
static int soft_rss_oom(struct notifier_block *nb, unsigned long unused, void *freed)
{
	struct soft_rss *rss;

	mutex_lock(&soft_rss_lock);
	list_for_each_entry(rss, &soft_rss_list, link) {
		soft_rss_count(rss);
		*(unsigned long *)freed += soft_rss_coming(rss);
	}
	mutex_unlock(&soft_rss_lock);
	return NOTIFY_OK;
}

static struct notifier_block soft_rss_notifier = {
	.notifier_call = soft_rss_oom,
};

/**
 * soft_rss_begin() - show a vGPU's framebuffer in the current process
 * @inst: a vGPU that is being opened
 * Context: may sleep.
 */
void soft_rss_begin(struct soft_instance *inst)
{
	struct soft_rss *rss = &inst->rss;

	/* A reference to mm_users would keep the process from closing the vGPU at its end. */
	mmgrab(current->mm);
	rss->mm = current->mm;
	rss->shown = 0;
	rss->seen = 0;
	rss->orphan = false;
	rss->ending = false;
	mutex_lock(&soft_rss_lock);
	list_add_tail(&rss->link, &soft_rss_list);
	if (!soft_rss_nr++)
		mod_delayed_work(system_long_wq, &soft_rss_delayed, SOFT_RSS_PERIOD);
	mutex_unlock(&soft_rss_lock);
}

/**
 * soft_rss_end() - undo soft_rss_begin()
 * @inst: a vGPU that is being closed
 * Context: may sleep.
 */
void soft_rss_end(struct soft_instance *inst)
{
	struct soft_rss *rss = &inst->rss;

	mutex_lock(&soft_rss_lock);
	list_del(&rss->link);
	soft_rss_nr--;
	/* The kernel reports a counter that is not 0 when the mm is freed. */
	soft_rss_show(rss, 0);
	mutex_unlock(&soft_rss_lock);
	mmdrop(rss->mm);
	rss->mm = NULL;
}

/* Counts the pages of an open vGPU now, since they have been dropped. May sleep. */
void soft_rss_update(struct soft_instance *inst)
{
	mutex_lock(&soft_rss_lock);
	soft_rss_count(&inst->rss);
	mutex_unlock(&soft_rss_lock);
}

/**
 * soft_rss_adopt() - show a vGPU's framebuffer in the current process from now on
 * @inst: an open vGPU whose @orphan was set: the process it was shown in has ended
 * Context: may sleep. The current process is using the vGPU, in a call or a page fault.
 */
void soft_rss_adopt(struct soft_instance *inst)
{
	struct soft_rss *rss = &inst->rss;
	struct mm_struct *old = NULL;

	mutex_lock(&soft_rss_lock);
	if (rss->orphan && current->mm) {
		soft_rss_show(rss, 0);
		old = rss->mm;
		mmgrab(current->mm);
		rss->mm = current->mm;
		WRITE_ONCE(rss->orphan, false);
		rss->ending = false;
		soft_rss_count(rss);
	}
	mutex_unlock(&soft_rss_lock);
	if (old)
		mmdrop(old);
}

/* Begins to answer the OOM killer. Returns 0 or -errno. */
int soft_rss_init(void)
{
	return register_oom_notifier(&soft_rss_notifier);
}

/* Undoes soft_rss_init(), when no vGPU is left. */
void soft_rss_exit(void)
{
	unregister_oom_notifier(&soft_rss_notifier);
	cancel_delayed_work_sync(&soft_rss_delayed);
}
