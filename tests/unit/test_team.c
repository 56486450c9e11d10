// SPDX-License-Identifier: GPL-2.0
/*
 * Teams of units under random interleavings (tasks.h): helpers work inside of the leader's sections
 * only, no more of them than may, with the leader's view and without its processor; one that sleeps
 * is woken; all can be stopped at any time.
 */
#include "vgpu_test.h"

#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcuwait.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "soft/queue/team.h"
#include "soft/queue/unit.h"

#define MOST		5
#define CHANNELS	3
#define SECTIONS	200
#define SECTION_NS	50000
#define JITTER_NS	20000

/* What team.c uses of the rest of the engine, and of the kernel. */
struct soft_packet_desc {
	void (*help)(struct soft_unit *unit, struct soft_channel *ch);
};

struct soft_channel {
	u32 space;
	struct {
		struct {
			const struct soft_packet_desc *desc;
		} packet;
	} exec;
};

struct soft_engine {
	struct soft_unit lead;
	struct soft_team team;
	const void *cpus;
	u64 runs;
};

#define cpumask_empty(mask)		((void)(mask), true)
#define set_cpus_allowed_ptr(task, mask) ((void)(mask))
#define need_resched()			sim_one_in(20)
#define cond_resched()			world_resched()
#define cpu_relax()			sim_yield()
#define num_online_cpus()		world_cpus()
#define raw_smp_processor_id()		world_cpu()
#ifndef smp_load_acquire
#define smp_load_acquire(ptr)		({ sim_yield(); *(ptr); })
#endif

static void world_resched(void);
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

#include "soft/queue/team.c"

/**
 * struct world - an engine and what helpers do
 * @helped: how often a helper was at work
 * @on:     how many are
 * @by:     by channel, how often helpers were called for it
 * @seen:   by helper, the section that it has worked in last
 * @next:   by helper, the channel that it goes to next
 * @open:   the leader is in a section
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
	u32 seen[MOST];
	unsigned int next[MOST];
	unsigned int helped;
	unsigned int on;
	bool open;
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
	return 0;
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

/* What a translation was made with. */
static u64 now(void)
{
	return world.engine.runs << 32 | world.engine.lead.view.gen;
}

static void help(struct soft_unit *unit, struct soft_channel *ch)
{
	const struct soft_view *view = &unit->view, *lead = &world.engine.lead.view;
	unsigned int me = unit - world.helper, i;

	assert_true(world.open);
	/* Helpers begin with different channels, and look at all of them. */
	if (world.seen[me] != unit->section_number)
		world.next[me] = (me + 1) % world.nr_ch;
	world.seen[me] = unit->section_number;
	assert_ptr_equal(ch, &world.ch[world.next[me]]);
	world.next[me] = (world.next[me] + 1) % world.nr_ch;
	assert_true(ch - world.ch < world.nr_ch);
	assert_true(++world.on <= world.most);
	world.by[ch - world.ch]++;
	assert_true(unit - world.helper >= world.with);
	world.helped++;
	for (i = 0; i < 3; i++) {
		assert_ptr_equal(view->mem, lead->mem);
		assert_int_equal(view->gen, lead->gen);
		assert_int_equal(view->root, ch->space);
		assert_int_equal(unit->run, world.engine.runs);
		/* Nothing of another run, or of before an invalidation, is there. */
		check_that(!view->tlb.entry[0].root || view->tlb.entry[0].pte == now(),
			   "an old translation");
		if (sim_one_in(2))
			sim_sleep(sim_random(1, SECTION_NS));
		assert_true(world.open);
	}
	unit->view.tlb.entry[0].root = 1;
	unit->view.tlb.entry[0].pte = now();
	world.on--;
}

static const struct soft_packet_desc desc = { .help = help };

static void begin(u64 seed, unsigned int nr)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	sim_begin(seed, JITTER_NS);
	world.engine.team.helper = world.helper;
	world.engine.team.nr = nr;
	world.engine.lead.view.mem = (void *)&world;
	for (i = 0; i < CHANNELS; i++) {
		world.ch[i].exec.packet.desc = &desc;
		world.ch[i].space = 7 * i;
	}
	assert_int_equal(soft_team_init(&world.engine, "gpu"), 0);
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
	soft_team_open(&world.engine, ch, nr_ch, most, end_ns);
	memset(ch, 0xff, sizeof(ch));
	assert_false(world.engine.team.leave);
	return true;
}

/* A section, in which the leader works for @ns. Returns how many times helpers have worked. */
static unsigned int section(unsigned int most, u64 ns)
{
	unsigned int before = world.helped, nr_ch = sim_random(1, CHANNELS);
	bool leave;

	if (!section_open(most, nr_ch, sim_now_ns() + max_t(u64, ns, SECTION_NS)))
		return 0;
	sim_sleep(ns);
	leave = sim_one_in(2);
	soft_team_close(&world.engine, leave);
	assert_int_equal(world.engine.team.leave, leave);
	assert_int_equal(world.on, 0);
	world.open = false;
	return (world.helped - before) / nr_ch;
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
			helped += section(sim_random(0, MOST), sim_random(1, SECTION_NS));
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
	unsigned int i, n;

	for (n = 0; n < 200; n++) {
		begin(seed + n, MOST);
		for (i = 0; i < 20; i++) {
			assert_int_equal(section(MOST, 100 * SECTION_NS), MOST);
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
		soft_team_close(&world.engine, false);
		called++;
	}
	check_that(called > 1540 && called < 1590, "%u", called);
	/* Those for which nobody could have come in time do not count. */
	world.engine.team.skip = 0;
	for (i = 0; i < 100; i++) {
		called = world.engine.team.missed;
		assert_true(section_open(1, 1, 0));
		sim_sleep(SOFT_TEAM_FAIR_NS - 1);
		soft_team_close(&world.engine, false);
		assert_int_equal(called, world.engine.team.missed);
	}
	/* One that comes is called each time again. */
	world.engine.team.skip = 0;
	assert_true(section_open(1, 1, 0));
	world.engine.team.joined = 1;
	soft_team_close(&world.engine, false);
	for (i = 0; i < SOFT_TEAM_MISSES; i++) {
		assert_true(section_open(1, 1, 0));
		soft_team_close(&world.engine, false);
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
		helped += section(1, SECTION_NS);
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
		assert_int_equal(section(MOST, 100 * SECTION_NS), 0);
	world.cpus = 3;
	for (i = 0; i < 20; i++)
		helped += section(MOST, 100 * SECTION_NS);
	check_that(helped, "%u", helped);
	world.cpus = MOST;
	world.with = 2;
	for (i = 0, helped = 0; i < 20; i++)
		helped += section(MOST, 100 * SECTION_NS);
	check_that(helped, "%u", helped);
	end();
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
		cmocka_unit_test(test_start_fails),
	};

	return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
