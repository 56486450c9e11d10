// SPDX-License-Identifier: GPL-2.0
/*
 * The worker that accesses guest memory, under random interleavings (tasks.h): accesses that are
 * submitted, forgotten, cancelled and paused, while guest memory answers late or never. The file
 * under test is included: its other half, the instance, is a few fields here (CPPFLAGS leave out
 * core.h).
 */
#include "vgpu_test.h"

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vgpu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define ROUNDS		1500
#define SUBMITTERS	3
#define ACCESSES	6	/* of each */
#define JITTER_NS	(20 * US)

struct vgpu_dma_worker;
struct vgpu_instance;

struct vgpu_front_ops {
	int (*guest_rw)(struct vgpu_instance *instance, u64 addr, void *buf, size_t len,
			bool write);
	bool (*may_dma)(struct vgpu_instance *instance);
};

struct vgpu_instance {
	const struct vgpu_front_ops *front;
	struct vgpu_dma_worker *dma;
	atomic64_t dma_read_bytes;
	atomic64_t dma_written_bytes;
};

/* The watch, which ends what nobody has any more, does not run. */
struct delayed_work {
	struct work_struct work;
};

#define system_unbound_wq			NULL
#define INIT_DELAYED_WORK(dwork, fn)		INIT_WORK(&(dwork)->work, fn)
#define to_delayed_work(item)			container_of(item, struct delayed_work, work)
#define queue_delayed_work(wq, dwork, delay)	((void)(dwork), (void)(delay))
#define cancel_delayed_work_sync(dwork)		((void)(dwork))
#undef IS_ENABLED
#define IS_ENABLED(CONFIG_option)		1
#define kmap_local_page(page)			((void *)(page))
#define kunmap_local(at)			((void)(at))
#define put_page(page)				((void)(page))
#define GFP_NOWAIT				0U

static struct task_struct *vgpu_thread_run(struct vgpu_instance *instance, int (*fn)(void *data),
					   void *data, const char *name)
{
	return sim_spawn(fn, data, true);
}

static void vgpu_thread_uncharge(struct task_struct *task)
{
}

static bool vgpu_mm_ending(struct mm_struct *mm)
{
	return false;
}

void vgpu_dma_kick(struct vgpu_dma_worker *worker);
void vgpu_dma_unpause(struct vgpu_dma_worker *worker);

/* The time is over after some steps, whatever it was to be. */
#define wait_event_timeout(head, cond, timeout) ({		\
	unsigned int __steps = sim_random(0, 12);		\
								\
	(void)(timeout);					\
	while (__steps-- && !(cond))				\
		sim_sleep(10 * US);				\
	(cond);							\
})

#include "core/objects/dma.c"

/**
 * struct access - an access of a submitter
 * @dma:     it, with a reference
 * @late:    it is answered after some time; else never, unless it is ended
 * @done:    guest memory was accessed
 * @ended:   its complete() has run
 * @result:  what it was told
 * @useless: it was forgotten: nothing happens any more
 */
struct access {
	struct vgpu_dma *dma;
	bool late;
	bool done;
	bool ended;
	int result;
	bool useless;
};

/**
 * struct world - all of a run
 * @instance:  has the worker
 * @access:    accesses of each submitter
 * @page:      where they read to
 * @killed:    the worker has a signal
 * @may_dma:   the function is bus master
 * @flaps:     until the worker asks again
 * @cancelled: vgpu_dma_abort() has returned, vgpu_dma_resume() is not called yet
 * @paused:    vgpu_dma_pause() has returned, vgpu_dma_unpause() is not called yet
 * @stopping:  nobody submits
 * @nr_pending: submitters that wait for an access, or forget it
 * @nr_done:   submitters that are at their end
 */
static struct world {
	struct vgpu_instance instance;
	struct access access[SUBMITTERS][ACCESSES];
	u8 page[PAGE_SIZE];
	bool killed;
	bool may_dma;
	bool flaps;
	bool cancelled;
	bool paused;
	bool stopping;
	unsigned int nr_pending;
	unsigned int nr_done;
} world;

static struct task_struct *worker_task(void)
{
	return world.instance.dma ? world.instance.dma->task : NULL;
}

bool fatal_signal_pending(const struct task_struct *task)
{
	bool pending = task == worker_task() && world.killed;

	sim_yield();
	return pending;
}

void flush_signals(struct task_struct *task)
{
	sim_yield();
	world.killed = false;
	sim_yield();
}

void send_sig(int sig, struct task_struct *task, int priv)
{
	sim_yield();
	world.killed = true;
	sim_yield();
}

/* The host always has memory here. */
bool vgpu_short_pause(unsigned long *since)
{
	check_that(false, "waits for memory");
	return false;
}

static int guest_rw(struct vgpu_instance *instance, u64 addr, void *buf, size_t len, bool write)
{
	struct access *access = (struct access *)(uintptr_t)addr;
	unsigned int steps = sim_random(0, 5);

	check_that(!access->useless, "begins after it was forgotten");
	check_that(!access->done, "is done again");
	check_that(!world.cancelled || world.killed, "begins after all were cancelled");
	check_that(!world.paused, "begins in a pause");
	/* A signal may have come since the worker has looked for one. */
	while (!world.killed && (!access->late || steps--)) {
		sim_sleep(10 * US);
		check_that(!access->useless, "goes on after it was forgotten");
		check_that(!world.paused, "goes on in a pause");
	}
	access->done = !world.killed;
	return access->done ? 0 : -EFAULT;
}

/* Bus mastering goes at any time; when it comes, the worker is told. */
static bool may_dma(struct vgpu_instance *instance)
{
	if (world.flaps && sim_one_in(4))
		world.may_dma = false;
	return world.may_dma;
}

static const struct vgpu_front_ops front = { .guest_rw = guest_rw, .may_dma = may_dma };

static void complete(struct vgpu_dma *dma)
{
	struct access *access = dma->private;

	check_that(!access->useless && !access->ended, "completes again, or after it was forgotten");
	check_that(!world.paused || dma->result == -ECANCELED, "completes in a pause");
	sim_yield();
	access->result = dma->result;
	access->ended = true;
}

static void submit(struct access *access, bool late)
{
	struct vgpu_dma *dma = vgpu_dma_alloc(&world.instance, GFP_KERNEL);

	*access = (struct access){ .dma = dma, .late = late };
	dma->addr = (uintptr_t)access;
	dma->len = 1;
	dma->vec[0] = (struct bio_vec){ .bv_page = (void *)world.page, .bv_len = 1 };
	dma->nr_vec = 1;
	dma->complete = complete;
	dma->private = access;
	vgpu_dma_submit(dma);
}

/* Forgets some accesses after some time, and waits for the others. */
static int submitter(void *data)
{
	struct access *access = data;
	unsigned int i;

	for (i = 0; i < ACCESSES; i++, access++) {
		while (world.stopping)
			sim_sleep(10 * US);
		world.nr_pending++;
		/* What is never answered ends when all is cancelled. */
		submit(access, sim_one_in(2));
		if (sim_one_in(3)) {
			sim_sleep(sim_random(0, 60 * US));
			vgpu_dma_forget(access->dma);
			access->useless = true;
			world.nr_pending--;
			continue;
		}
		while (!access->ended)
			sim_sleep(10 * US);
		/* No end of another access is taken for one of this. */
		check_that(access->result == -ECANCELED || (!access->result && access->late),
			   "%d", access->result);
		vgpu_dma_put(access->dma);
		world.nr_pending--;
	}
	world.nr_done++;
	return 0;
}

/* Nothing begins, goes on or completes in a pause, unless all is cancelled or some is forgotten. */
static void pause_all(void)
{
	int ret = vgpu_dma_pause(world.instance.dma);

	/* One that fails has paused nothing. */
	check_that(!ret || ret == -ETIMEDOUT, "%d", ret);
	world.paused = !ret;
	sim_sleep(sim_random(0, 100 * US));
}

static void unpause_all(void)
{
	if (!world.paused)
		return;
	world.paused = false;
	vgpu_dma_unpause(world.instance.dma);
}

/*
 * Cancels all accesses, again and again, until the submitters are at their end; and waits for the
 * end of each, as a reset does. Bus mastering goes and comes.
 */
static void cancel_all(void)
{
	while (world.nr_done < SUBMITTERS) {
		sim_sleep(sim_random(0, 100 * US));
		world.may_dma = sim_one_in(2);
		if (world.may_dma)
			vgpu_dma_kick(world.instance.dma);
		if (!world.paused && sim_one_in(3))
			pause_all();
		if (sim_one_in(2))
			unpause_all();
		if (!sim_one_in(3))
			continue;
		vgpu_dma_abort(world.instance.dma);
		world.cancelled = true;
		sim_sleep(sim_random(0, 60 * US));
		world.stopping = true;
		while (world.nr_pending)
			sim_sleep(10 * US);
		world.cancelled = false;
		vgpu_dma_resume(world.instance.dma);
		world.stopping = false;
	}
}

static void begin(u64 seed)
{
	memset(&world, 0, sizeof(world));
	sim_begin(seed, JITTER_NS);
	world.may_dma = true;
	world.instance.front = &front;
	world.instance.dma = vgpu_dma_start(&world.instance);
}

static void end(void)
{
	vgpu_dma_stop(world.instance.dma);
	world.instance.dma = NULL;
	sim_end();
}

static void run(u64 seed)
{
	struct task_struct *task[SUBMITTERS];
	unsigned int i;

	begin(seed);
	world.flaps = sim_one_in(2);
	for (i = 0; i < SUBMITTERS; i++)
		task[i] = sim_spawn(submitter, world.access[i], true);
	cancel_all();
	unpause_all();
	for (i = 0; i < SUBMITTERS; i++)
		sim_join(task[i]);
	vgpu_dma_abort(world.instance.dma);
	end();
}

static void test_random(void **state)
{
	u64 seed = test_seed();
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		run(random_next(&seed));
}

/* Waits for all accesses of the first submitter. */
static void check_results(int result)
{
	struct access *access;

	for (access = world.access[0]; access < world.access[1]; access++) {
		while (!access->ended)
			sim_sleep(10 * US);
		check_that(access->result == result, "%d", access->result);
		vgpu_dma_put(access->dma);
	}
}

/* Nothing but a submission, or bus mastering that is switched on, wakes the worker. */
static void test_each_is_done(void **state)
{
	u64 seed = test_seed();
	unsigned int i, k;

	for (i = 0; i < ROUNDS; i++) {
		begin(random_next(&seed));
		world.may_dma = sim_one_in(2);
		for (k = 0; k < ACCESSES; k++) {
			submit(&world.access[0][k], true);
			sim_sleep(sim_random(0, 100 * US));
		}
		if (!world.may_dma) {
			world.may_dma = true;
			vgpu_dma_kick(world.instance.dma);
		}
		check_results(0);
		end();
	}
}

/*
 * One access is under way, others wait, and none is ever answered: to cancel all ends each of them,
 * also one that the worker would begin while the others are being cancelled.
 */
static void test_abort_ends_all(void **state)
{
	u64 seed = test_seed();
	unsigned int i, k;

	for (i = 0; i < ROUNDS; i++) {
		begin(random_next(&seed));
		for (k = 0; k < ACCESSES; k++)
			submit(&world.access[0][k], false);
		sim_sleep(sim_random(0, 100 * US));
		vgpu_dma_abort(world.instance.dma);
		check_results(-ECANCELED);
		end();
	}
}

/* A pause, however short its patience, changes no result: each is done after it. */
static void test_pause_keeps_all(void **state)
{
	u64 seed = test_seed();
	unsigned int i, k;

	for (i = 0; i < ROUNDS; i++) {
		begin(random_next(&seed));
		for (k = 0; k < ACCESSES; k++)
			submit(&world.access[0][k], true);
		for (k = 0; k < 3; k++) {
			sim_sleep(sim_random(0, 60 * US));
			pause_all();
			unpause_all();
		}
		check_results(0);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_done),
		cmocka_unit_test(test_abort_ends_all),
		cmocka_unit_test(test_pause_keeps_all),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
