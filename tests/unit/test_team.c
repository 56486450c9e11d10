// SPDX-License-Identifier: GPL-2.0
/*
 * Teams of units under random interleavings (tasks.h): helpers work inside of the leader's sections
 * only, no more of them than may, with the leader's view and without its processor, in pieces that
 * are short; they come again while a section stays open, and leave when it is closed; one that
 * sleeps is woken; all can be stopped at any time.
 */
#include "vgpu_test.h"

#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/rcuwait.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "team_engine.h"

#define MOST		5
#define CHANNELS	3
#define SECTIONS	200
#define SECTION_NS	50000
#define STEP_NS		5000	/* of a helper's work, until it looks at flags and the clock */
#define JITTER_NS	20000
#define CALM_NS		100	/* of jitter, where it is counted how often helpers come */

/* What team.c uses of the kernel. */
#define need_resched()			sim_one_in(20)
#define cond_resched()			world_resched()
#undef cond_resched_tasks_rcu_qs
#define cond_resched_tasks_rcu_qs()	world_quiet()
#define cpu_relax()			sim_yield()
#define raw_smp_processor_id()		world_cpu()
#ifndef smp_load_acquire
#define smp_load_acquire(ptr)		({ sim_yield(); *(ptr); })
#endif

static void world_resched(void);
static void world_quiet(void);
static unsigned int world_cpus(void);
static unsigned int world_cpu(void);

int soft_unit_start(struct soft_unit *unit, struct soft_engine *engine, unsigned int index,
		    int (*thread)(void *unit), const char *gpu_name)
{
	if (!strcmp(gpu_name, "fails") && index == 3)
		return -ENOMEM;
	unit->engine = engine;
	rcuwait_init(&unit->wake);
	unit->task = sim_spawn(thread, unit, true);
	return 0;
}

void soft_unit_stop(struct soft_unit *unit)
{
	kthread_stop(unit->task);
}

void soft_unit_place(const struct soft_unit *unit)
{
}

void soft_unit_pin(const struct soft_unit *unit)
{
}

unsigned int soft_unit_cpus(const struct soft_engine *engine)
{
	return world_cpus();
}

#include "soft/queue/team.c"

/**
 * struct world - an engine and what helpers do
 * @helped: how often a helper was at work
 * @on:     how many are
 * @by:     by channel, how often helpers were called for it
 * @left:   by helper, so many channels it has to go to before it leaves
 * @next:   by helper, the channel that it goes to next
 * @open:   the leader is in a section
 * @end_ns: by then all have to leave it
 * @idle:   there is no work
 * @lead:   the leader's processor; helpers have those from 1 on
 * @came:   by helper, how often it has joined a section
 * @quiet:  by helper, how often it has said that it is in no critical section of RCU-tasks
 * @most:   how many may help in it
 * @nr_ch:  and on how many channels
 * @wake_ns: how long a helper takes to wake
 * @cpus:   processors; 0: one for each
 * @with:   so many helpers have the leader's
 */
static struct {
	struct soft_engine engine;
	struct soft_unit helper[MOST];
	struct soft_channel ch[CHANNELS];
	unsigned int by[CHANNELS];
	unsigned int left[MOST];
	unsigned int next[MOST];
	unsigned int helped;
	unsigned int on;
	bool open;
	u64 end_ns;
	bool idle;
	unsigned int lead;
	unsigned int came[MOST];
	unsigned int quiet[MOST];
	unsigned int most;
	unsigned int nr_ch;
	u64 wake_ns;
	unsigned int cpus;
	unsigned int with;
} world;

static unsigned int world_cpus(void)
{
	return world.cpus ?: MOST + 1;
}

static unsigned int world_cpu(void)
{
	unsigned int i;

	for (i = world.with; i < world.engine.team.nr; i++)
		if (world.helper[i].task == sim_current())
			return i + 1;
	return world.lead;
}

/* The leader does not have a processor to wake. */
static void world_resched(void)
{
	unsigned int i;

	sim_yield();
	for (i = 0; world.wake_ns && i < world.engine.team.nr; i++)
		if (world.helper[i].task == sim_current())
			sim_sleep(world.wake_ns);
}

static void world_quiet(void)
{
	unsigned int i;

	for (i = 0; i < world.engine.team.nr; i++)
		world.quiet[i] += world.helper[i].task == sim_current();
	sim_yield();
}

/* What a translation was made with. */
static u64 now(void)
{
	return world.engine.runs << 32 | world.engine.lead.view.gen;
}

/* Helpers begin with different channels, and look at all of them, at the leader's last. */
static void check_next(unsigned int me, struct soft_channel *ch)
{
	unsigned int others = world.nr_ch - 1;

	if (!world.left[me]) {
		world.left[me] = world.nr_ch;
		world.came[me]++;
		world.next[me] = others ? me % others : 0;
	}
	world.left[me]--;
	if (!world.left[me]) {
		assert_ptr_equal(ch, &world.ch[0]);
		return;
	}
	assert_ptr_equal(ch, &world.ch[1 + world.next[me]]);
	world.next[me] = (world.next[me] + 1) % others;
}

static void check_view(const struct soft_unit *unit, const struct soft_channel *ch)
{
	const struct soft_view *view = &unit->view, *lead = &world.engine.lead.view;

	assert_true(world.open);
	assert_true(unit->until_ns <= world.end_ns);
	assert_true(unit->until_ns <= sim_now_ns() + SOFT_TEAM_PIECE_NS);
	assert_ptr_equal(view->mem, lead->mem);
	assert_int_equal(view->gen, lead->gen);
	assert_int_equal(view->root, ch->space);
	assert_int_equal(unit->run, world.engine.runs);
	/* Nothing of another run, or of before an invalidation, is there. */
	check_that(!view->tlb.entry[0].root || view->tlb.entry[0].pte == now(),
		   "an old translation");
}

static void help(struct soft_unit *unit, struct soft_channel *ch)
{
	check_next(unit - world.helper, ch);
	assert_true(++world.on <= world.most);
	world.by[ch - world.ch]++;
	assert_true(unit - world.helper >= world.with);
	world.helped++;
	check_view(unit, ch);
	while (!world.idle && !world.engine.team.leave && sim_now_ns() < unit->until_ns) {
		sim_sleep(sim_random(1, STEP_NS));
		check_view(unit, ch);
	}
	unit->view.tlb.entry[0].root = 1;
	unit->view.tlb.entry[0].pte = now();
	world.on--;
}

static const struct soft_packet_desc desc = { .help = help };

static void begin_jitter(u64 seed, unsigned int nr, u64 jitter_ns)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	sim_begin(seed, jitter_ns);
	world.engine.team.helper = world.helper;
	world.engine.team.nr = nr;
	world.engine.lead.view.mem = (void *)&world;
	for (i = 0; i < CHANNELS; i++) {
		world.ch[i].exec.packet.desc = &desc;
		world.ch[i].space = 7 * i;
	}
	assert_int_equal(soft_team_init(&world.engine, "gpu"), 0);
}

static void begin(u64 seed, unsigned int nr)
{
	begin_jitter(seed, nr, JITTER_NS);
}

static bool section_open(unsigned int most, unsigned int nr_ch, u64 end_ns)
{
	struct soft_channel *ch[CHANNELS];
	unsigned int i;

	most = min(most, soft_team_ready(&world.engine));
	if (!most)
		return false;
	for (i = 0; i < nr_ch; i++)
		ch[i] = &world.ch[i];
	world.most = most;
	world.nr_ch = nr_ch;
	world.open = true;
	world.end_ns = end_ns;
	soft_team_open(&world.engine, ch, nr_ch, most, end_ns);
	memset(ch, 0xff, sizeof(ch));
	assert_false(world.engine.team.leave);
	return true;
}

static bool section_extend(u64 end_ns)
{
	u64 before_ns = world.end_ns;

	world.end_ns = end_ns;
	if (soft_team_extend(&world.engine, end_ns))
		return true;
	world.end_ns = before_ns;
	return false;
}

static void section_close(void)
{
	unsigned int i;

	soft_team_close(&world.engine);
	assert_int_equal(world.on, 0);
	for (i = 0; i < MOST; i++)
		assert_int_equal(world.left[i], 0);
	world.open = false;
}

/*
 * A section, in which the leader works for @ns at a time, and stays if the section does, for so
 * many pieces. Returns how many times helpers have worked.
 */
static unsigned int section(unsigned int most, u64 ns, unsigned int pieces)
{
	unsigned int before = world.helped, nr_ch = sim_random(1, CHANNELS);

	if (!section_open(most, nr_ch, sim_now_ns() + max_t(u64, ns, SECTION_NS)))
		return 0;
	do {
		sim_sleep(ns);
		if (sim_one_in(16))	/* as soft_engine_preempt() does, at any time */
			world.engine.team.leave = true;
	} while (--pieces && section_extend(sim_now_ns() + 2 * SECTION_NS));
	section_close();
	return DIV_ROUND_UP(world.helped - before, nr_ch);
}

static void end(void)
{
	soft_team_exit(&world.engine);
	assert_int_equal(world.on, 0);
	sim_end();
}

static void test_sections(void **state)
{
	unsigned int i, n, helped = 0, by[CHANNELS] = {};
	u64 seed = test_seed();

	for (n = 0; n < 200; n++) {
		begin(seed + n, n % (MOST + 1));
		for (i = 0; i < SECTIONS; i++) {
			helped += section(sim_random(0, MOST), sim_random(1, SECTION_NS),
					  sim_random(1, 5));
			if (sim_one_in(10))
				world.engine.runs++;
			if (sim_one_in(10))
				world.engine.lead.view.gen++;
			if (sim_one_in(5))	/* they sleep meanwhile */
				sim_sleep(sim_random(1, 4 * SOFT_TEAM_POLL_NS));
		}
		for (i = 0; i < CHANNELS; i++)
			by[i] += world.by[i];
		end();
	}
	check_that(helped > 200 * SECTIONS / 4, "%u of %u", helped, 200 * SECTIONS);
	for (i = 0; i < CHANNELS; i++)
		check_that(by[i] > 200 * SECTIONS / 4, "channel %u: %u", i, by[i]);
}

/* All come, if the leader works for long enough, whether they sleep or poll. */
static void test_all_come(void **state)
{
	u64 seed = test_seed();
	unsigned int i, k, n;

	for (n = 0; n < 200; n++) {
		begin(seed + n, MOST);
		for (i = 0; i < 20; i++) {
			memset(world.came, 0, sizeof(world.came));
			section(MOST, 8 * SECTION_NS, 1);
			for (k = 0; k < MOST; k++)
				assert_true(world.came[k]);
			sim_sleep(sim_random(0, 1) * 4 * SOFT_TEAM_POLL_NS + 1);
		}
		end();
	}
}

/* Where nobody ever comes in time, they are called more and more rarely, but are called. */
static void test_nobody_comes(void **state)
{
	unsigned int i, called = 0;

	memset(&world, 0, sizeof(world));
	sim_begin(1, 0);
	raw_spin_lock_init(&world.engine.team.lock);
	world.engine.team.helper = world.helper;
	world.engine.team.nr = 1;
	for (i = 0; i < 100000; i++) {
		if (!section_open(1, 1, 0))
			continue;
		sim_sleep(SOFT_TEAM_FAIR_NS);
		section_close();
		called++;
	}
	check_that(called > 1540 && called < 1590, "%u", called);
	/* Those for which nobody could have come in time do not count. */
	world.engine.team.skip = 0;
	for (i = 0; i < 100; i++) {
		called = world.engine.team.missed;
		assert_true(section_open(1, 1, 0));
		sim_sleep(SOFT_TEAM_FAIR_NS - 1);
		section_close();
		assert_int_equal(called, world.engine.team.missed);
	}
	/* One that comes is called each time again. */
	world.engine.team.skip = 0;
	assert_true(section_open(1, 1, 0));
	world.engine.team.joined = 1;
	section_close();
	for (i = 0; i < SOFT_TEAM_MISSES; i++) {
		assert_true(section_open(1, 1, 0));
		section_close();
	}
	sim_end();
}

/* One that takes longer to wake than a section lasts comes, too, after others had the processor. */
static void test_slow_to_wake(void **state)
{
	unsigned int i, helped = 0;

	begin(test_seed(), 1);
	world.wake_ns = 5 * SECTION_NS / 2;
	world.engine.team.missed = 1000;
	for (i = 0; i < 1000; i++) {
		helped += section(1, SECTION_NS, 1);
		if (world.engine.team.skip)
			sim_sleep(SECTION_NS);
	}
	end();
	check_that(helped > 100, "%u", helped);
}

/* Helpers do not take the leader's processor, and no more are called than there are others. */
static void test_processors(void **state)
{
	unsigned int i, helped = 0;

	begin(test_seed(), MOST);
	world.cpus = 1;
	for (i = 0; i < 20; i++)
		assert_int_equal(section(MOST, 100 * SECTION_NS, 1), 0);
	world.cpus = 3;
	for (i = 0; i < 20; i++)
		helped += section(MOST, 8 * SECTION_NS, 1);
	check_that(helped, "%u", helped);
	world.cpus = MOST;
	world.with = 2;
	for (i = 0, helped = 0; i < 20; i++)
		helped += section(MOST, 8 * SECTION_NS, 1);
	check_that(helped, "%u", helped);
	end();
}

/*
 * While a section stays open all are at work all the time, and nobody waits for the others; nor
 * does RCU-tasks for one that never sleeps.
 */
static void test_stays_open(void **state)
{
	u64 seed = test_seed();
	unsigned int i, n;

	for (n = 0; n < 200; n++) {
		begin_jitter(seed + n, MOST, CALM_NS);
		assert_true(section_open(MOST, 1, sim_now_ns() + 2 * SECTION_NS));
		for (i = 0; i < 20; i++) {
			sim_sleep(SECTION_NS);
			assert_true(section_extend(sim_now_ns() + 2 * SECTION_NS));
		}
		section_close();
		for (i = 0; i < MOST; i++)
			check_that(world.came[i] >= 10 && world.came[i] <= 25 &&
				   world.quiet[i] + 1 >= world.came[i], "%u, %u", world.came[i],
				   world.quiet[i]);
		end();
	}
}

/* Where the leader does not look they are out by the end that was told, and come when it has. */
static void test_without_the_leader(void **state)
{
	u64 seed = test_seed();
	unsigned int n, helped;

	for (n = 0; n < 200; n++) {
		begin(seed + n, MOST);
		assert_true(section_open(MOST, 1, sim_now_ns() + 2 * SECTION_NS));
		sim_sleep(4 * SECTION_NS);
		assert_int_equal(world.on, 0);
		helped = world.helped;
		assert_true(helped);
		sim_sleep(20 * SECTION_NS);	/* they sleep */
		assert_int_equal(world.helped, helped);
		assert_true(section_extend(sim_now_ns() + 10 * SECTION_NS));
		sim_sleep(20 * SECTION_NS);
		assert_true(world.helped > helped);
		/* None comes, as others have the processors. */
		helped = world.helped;
		assert_true(section_extend(sim_now_ns()));
		sim_sleep(SECTION_NS);
		assert_false(section_extend(sim_now_ns() + 2 * SECTION_NS));
		section_close();
		assert_int_equal(world.helped, helped);
		end();
	}
}

/* Those that have found nothing to do look once for each time that they are called. */
static void test_no_work(void **state)
{
	u64 seed = test_seed();
	unsigned int i, n;

	for (n = 0; n < 200; n++) {
		begin_jitter(seed + n, MOST, CALM_NS);
		world.idle = true;
		assert_true(section_open(MOST, 1, sim_now_ns() + 2 * SECTION_NS));
		sim_sleep(SECTION_NS);
		for (i = 0; i < 20 && section_extend(sim_now_ns() + 2 * SECTION_NS); i++)
			sim_sleep(SECTION_NS);
		world.idle = false;
		section_extend(sim_now_ns() + 2 * SECTION_NS);
		for (i = 0; i < MOST; i++)
			assert_true(world.came[i] <= 22);
		sim_sleep(4 * SECTION_NS);
		section_close();
		end();
	}
}

/* The leader waits for no more than a helper's step, wherever that is in its piece. */
static void test_closes_at_once(void **state)
{
	unsigned int n, on = 0;
	u64 seed = test_seed(), from_ns;

	for (n = 0; n < 500; n++) {
		begin_jitter(seed + n, MOST, CALM_NS);
		assert_true(section_open(MOST, 1, sim_now_ns() + 2 * SECTION_NS));
		sim_sleep(sim_random(1, 2 * SECTION_NS));
		on += world.on;
		from_ns = sim_now_ns();
		section_close();
		assert_true(sim_now_ns() - from_ns <= STEP_NS + 10 * CALM_NS);
		end();
	}
	check_that(on > 500 * MOST / 2, "%u", on);
}

/* The leader goes to a processor that a helper has, which leaves, and does not come back. */
static void test_leader_moves(void **state)
{
	unsigned int n, i, k, came[MOST];
	u64 seed = test_seed();

	for (n = 0; n < 200; n++) {
		begin_jitter(seed + n, MOST, CALM_NS);
		assert_true(section_open(MOST, 1, sim_now_ns() + 2 * SECTION_NS));
		sim_sleep(2 * SECTION_NS);
		k = sim_random(0, MOST - 1);
		assert_true(world.came[k]);
		world.lead = k + 1;
		for (i = 0; i < 8; i++) {
			if (i == 4)
				memcpy(came, world.came, sizeof(came));
			assert_true(section_extend(sim_now_ns() + 2 * SECTION_NS));
			sim_sleep(SECTION_NS);
		}
		section_close();
		for (i = 0; i < MOST; i++)
			assert_true(i == k ? world.came[i] == came[i] : world.came[i] > came[i]);
		end();
	}
}

static void test_start_fails(void **state)
{
	memset(&world, 0, sizeof(world));
	sim_begin(test_seed(), JITTER_NS);
	world.engine.team.helper = world.helper;
	world.engine.team.nr = MOST;
	assert_int_equal(soft_team_init(&world.engine, "fails"), -ENOMEM);
	sim_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_all_come),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_slow_to_wake),
		cmocka_unit_test(test_processors),
		cmocka_unit_test(test_stays_open),
		cmocka_unit_test(test_without_the_leader),
		cmocka_unit_test(test_no_work),
		cmocka_unit_test(test_closes_at_once),
		cmocka_unit_test(test_leader_moves),
		cmocka_unit_test(test_start_fails),
	};

	return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
