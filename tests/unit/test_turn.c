// SPDX-License-Identifier: GPL-2.0
/*
 * What each channel gets of a vGPU's service (soft/queue/turn.c), with the queues as they are:
 * channels are disabled, enabled and bound elsewhere while engines have their turns and while runs
 * are not charged yet. What belongs to whom is kept a second time here, to the ns. One thread does
 * what engines and the guest do, in steps, and the clock is the test's.
 */
#include "vgpu_test.h"

#include "soft/memory/memory.h"
#include "soft/queue/queues.h"

#define CHANNELS	5u
#define NOBODY		CHANNELS
#define STEPS		200000u

/* What comes before the engine's own look at the clock, and after it, and is charged, too. */
#define BEGIN_NS	700
#define END_NS		900

enum phase {
	IDLE,
	IN_RUN,
	LEFT,	/* the engine has left its run, which is not charged yet */
};

/**
 * struct owner - whose a time is
 * @ch:       the channel
 * @enabling: which enabling of it
 */
struct owner {
	unsigned int ch;
	unsigned int enabling;
};

/**
 * struct side - an engine, and what the test knows of its run
 * @phase:      where it is
 * @start_ns:   when the core has begun the run
 * @idle_ns:    time without work so far
 * @given_ns:   service of the run that turns which are over have got
 * @turn:       whose turn it is
 * @worked:     whose turn it was when a channel had work last, in the run
 * @last:       whose turn was the last one of all runs
 * @nobodys_ns: service of runs before there was a turn
 * @charged_ns: what the core has charged the vGPU
 */
struct side {
	enum phase phase;
	u64 start_ns;
	u64 idle_ns;
	u64 given_ns;
	struct owner turn;
	struct owner worked;
	struct owner last;
	u64 nobodys_ns;
	u64 charged_ns;
};

static struct soft_engine engines[SOFT_ENGINES];
static struct soft_memory mem;
static struct soft_queues *queues;
static struct side side[SOFT_ENGINES];
static u64 now_ns;
static u64 present_ns[CHANNELS], earlier_ns[CHANNELS], forgot_ns;
static unsigned int enabling[CHANNELS];
unsigned int engine_warnings;

u64 vgpu_engine_charged_ns(const struct vgpu_instance *instance, unsigned int engine)
{
	return side[engine].charged_ns;
}

void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine)
{
}

u64 ktime_get_ns(void)
{
	return now_ns;
}

static int setup(void **state)
{
	unsigned int i;

	queues = calloc(1, sizeof(*queues) + CHANNELS * sizeof(queues->channel[0]));
	memset(engines, 0, sizeof(engines));
	memset(side, 0, sizeof(side));
	memset(present_ns, 0, sizeof(present_ns));
	memset(earlier_ns, 0, sizeof(earlier_ns));
	memset(enabling, 0, sizeof(enabling));
	forgot_ns = 0;
	now_ns = SEC;
	queues->engine = engines;
	queues->mem = &mem;
	queues->nr_channels = CHANNELS;
	raw_spin_lock_init(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++) {
		engines[i].index = i;
		side[i].turn.ch = NOBODY;
		side[i].last.ch = NOBODY;
		INIT_LIST_HEAD(&queues->queue[i].ready);
		INIT_LIST_HEAD(&queues->queue[i].paced);
		INIT_LIST_HEAD(&queues->queue[i].stalled);
		queues->queue[i].due_ns = U64_MAX;
	}
	for (i = 0; i < CHANNELS; i++) {
		queues->channel[i].queues = queues;
		queues->channel[i].index = i;
		INIT_LIST_HEAD(&queues->channel[i].link);
		INIT_LIST_HEAD(&queues->channel[i].waiting);
	}
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(engine_warnings, 0);
	free(queues);
	return 0;
}

/* The guest. */

static void enable(unsigned int i, unsigned int engine)
{
	struct soft_channel *ch = &queues->channel[i];

	now_ns += 10;
	raw_spin_lock(&queues->queue_lock);
	ch->engine = engine;
	soft_turn_enable(ch, now_ns);
	soft_queue_publish(ch, VGPU_HW_STATE_AWAKE);
	soft_queue_add(ch);
	raw_spin_unlock(&queues->queue_lock);
	earlier_ns[i] += present_ns[i];
	present_ns[i] = 0;
	enabling[i]++;
}

static void disable(unsigned int i)
{
	struct soft_channel *ch = &queues->channel[i];

	now_ns += 10;
	raw_spin_lock(&queues->queue_lock);
	if (!list_empty(&ch->link))
		soft_queue_del(ch);
	if (ch->stalled)
		soft_queue_stall(ch, false);
	soft_queue_publish(ch, VGPU_HW_STATE_DISABLED);
	raw_spin_unlock(&queues->queue_lock);
}

/* The engines. */

static void owns(const struct owner *owner, u64 ns)
{
	if (owner->enabling == enabling[owner->ch])
		present_ns[owner->ch] += ns;
	else
		earlier_ns[owner->ch] += ns;
}

static void turn_of(struct side *s, struct owner owner)
{
	const u64 service_ns = now_ns - (s->start_ns + BEGIN_NS) - s->idle_ns;

	if (s->turn.ch == owner.ch && s->turn.enabling == owner.enabling)
		return;
	if (s->turn.ch != NOBODY) {
		owns(&s->turn, service_ns - s->given_ns);
		s->given_ns = service_ns;
	}
	s->turn = owner;
}

static void works(struct side *s, unsigned int i)
{
	s->worked = (struct owner) { i, enabling[i] };
	turn_of(s, s->worked);
}

static void begin(unsigned int e)
{
	struct soft_engine *engine = &engines[e];
	struct side *s = &side[e];

	s->start_ns = now_ns;
	now_ns += BEGIN_NS;
	s->phase = IN_RUN;
	s->idle_ns = 0;
	s->given_ns = 0;
	s->turn.ch = NOBODY;
	s->worked.ch = NOBODY;
	soft_turn_begin_run(&engine->turns, now_ns);
	assert_true(soft_queue_begin(queues, e));
	engine->queues = queues;
}

static void idle(unsigned int e, u64 ns)
{
	now_ns += ns;
	side[e].idle_ns += ns;
}

/* Works for so long on the channel that is next. Returns that, or NOBODY: there is none. */
static unsigned int work(unsigned int e, u64 ns, enum soft_end end)
{
	struct soft_engine *engine = &engines[e];
	struct side *s = &side[e];
	struct soft_channel *ch = soft_queue_take(queues, e, now_ns);
	bool ends;

	if (!ch)
		return NOBODY;
	ends = s->turn.ch != NOBODY &&
	       (s->turn.ch != ch->index || s->turn.enabling != enabling[ch->index]);
	assert_int_equal(soft_turn_ends(&engine->turns, ch), ends);
	soft_turn_next(&engine->turns, ch, now_ns, s->idle_ns);
	works(s, ch->index);
	now_ns += ns;
	soft_queue_release(engine, ch, end, false);
	return ch->index;
}

/* Looks for so long at the channel that is next, for nothing; at last at all of them. */
static void look(unsigned int e, u64 ns, bool at_all)
{
	struct soft_engine *engine = &engines[e];
	struct side *s = &side[e];
	struct soft_channel *ch = soft_queue_take(queues, e, now_ns);

	if (!ch)
		return;
	if (!at_all || s->turn.ch == NOBODY) {
		soft_turn_look(&engine->turns, ch, now_ns, s->idle_ns);
		turn_of(s, (struct owner) { ch->index, enabling[ch->index] });
	}
	now_ns += ns;
	if (at_all) {
		soft_turn_idle(&engine->turns, now_ns, s->idle_ns);
		if (s->worked.ch != NOBODY)
			turn_of(s, s->worked);
	}
	soft_queue_release(engine, ch, SOFT_END_EMPTY, false);
}

/* Waits for guest memory of the channel that has waited for longest, if there is one. */
static void wait_stalled(unsigned int e, u64 ns)
{
	struct list_head *stalled = &queues->queue[e].stalled;

	if (!list_empty(stalled))
		works(&side[e], list_first_entry(stalled, struct soft_channel, waiting)->index);
	soft_turn_wait(&engines[e], now_ns, side[e].idle_ns);
	now_ns += ns;
}

static void leave(unsigned int e)
{
	side[e].phase = LEFT;
	soft_queue_end(&engines[e], false);
}

static void charge(unsigned int e)
{
	struct side *s = &side[e];
	u64 ran_ns;

	now_ns += END_NS;
	ran_ns = now_ns - s->start_ns - s->idle_ns;
	s->phase = IDLE;
	s->charged_ns += ran_ns;
	if (s->turn.ch != NOBODY) {
		s->last = s->turn;
		ran_ns += s->nobodys_ns;
		s->nobodys_ns = 0;
	}
	if (s->last.ch != NOBODY)
		owns(&s->last, ran_ns - s->given_ns);
	else
		s->nobodys_ns += ran_ns;
}

static void end(unsigned int e)
{
	leave(e);
	charge(e);
}

/* The host. */

static struct vgpu_ctl_channel report(unsigned int i)
{
	struct vgpu_ctl_channel out = {};

	assert_int_equal(soft_turn_report(&queues->channel[i], &out), enabling[i] != 0);
	return out;
}

/* All is as the test has it; runs that have not been charged are over, or have not begun. */
static void check_all(void)
{
	struct vgpu_ctl_channel out;
	u64 sum = 0, service = 0;
	unsigned int i;

	for (i = 0; i < CHANNELS; i++) {
		out = report(i);
		check_that(out.busy_ns == present_ns[i], "%u: %llu, not %llu", i,
			   (unsigned long long)out.busy_ns, (unsigned long long)present_ns[i]);
		check_that(out.total_busy_ns - out.busy_ns == earlier_ns[i], "%u: %llu, not %llu",
			   i, (unsigned long long)(out.total_busy_ns - out.busy_ns),
			   (unsigned long long)earlier_ns[i]);
		sum += out.total_busy_ns;
	}
	for (i = 0; i < SOFT_ENGINES; i++)
		service += side[i].charged_ns - side[i].nobodys_ns;
	assert_int_equal(sum, service - forgot_ns);
}

/* Another process gets the channel in the run that the old one has worked in, and does nothing. */
static void enabled_anew(void **state)
{
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	disable(0);
	enable(0, 0);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 0);
	assert_int_equal(report(0).total_busy_ns, 20 * MS + BEGIN_NS + END_NS + 20);
}

/* It works in that run, too: its turn is another one, and the run's last. */
static void both_work(void **state)
{
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	disable(0);
	enable(0, 0);
	work(0, 3 * MS, SOFT_END_PACKET);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 3 * MS + BEGIN_NS + END_NS);
}

/* The engine has left the run, and the charge comes when the channel is another process's. */
static void before_the_charge(void **state)
{
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	leave(0);
	disable(0);
	assert_int_equal(report(0).busy_ns, 0);
	enable(0, 0);
	charge(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 0);
}

/* The channel works on another engine, while the first one has its old turn. */
static void on_two_engines(void **state)
{
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	disable(0);
	enable(0, 1);
	begin(1);
	work(1, 2 * MS, SOFT_END_PACKET);
	end(1);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 2 * MS + BEGIN_NS + END_NS);
	disable(0);
	enable(0, 0);
	begin(0);
	work(0, 1 * MS, SOFT_END_PACKET);
	end(0);
	check_all();
}

/* What finds no channel is not charged to one that has been disabled or bound elsewhere since. */
static void finds_nobody(void **state)
{
	u64 total_ns;

	begin(0);
	end(0);
	check_all();
	enable(0, 0);
	begin(0);
	work(0, 1 * MS, SOFT_END_PACKET);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 1 * MS + 2 * (BEGIN_NS + END_NS));
	disable(0);
	enable(0, 1);
	total_ns = report(0).total_busy_ns;
	begin(0);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 0);
	assert_int_equal(report(0).total_busy_ns, total_ns + BEGIN_NS + END_NS);
}

/* Who rings for nothing has the looks, and who works has its packets and the end. */
static void rung_for_nothing(void **state)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		enable(i, 0);
	begin(0);
	assert_int_equal(work(0, 1 * MS, SOFT_END_PACKET), 0);
	look(0, 100, false);
	look(0, 200, false);
	assert_int_equal(work(0, 1 * MS, SOFT_END_PACKET), 0);
	look(0, 100, false);
	look(0, 200, true);
	end(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 2 * MS + BEGIN_NS + END_NS);
	assert_int_equal(report(1).busy_ns, 2 * 100 + 200);
	assert_int_equal(report(2).busy_ns, 200);
}

/* Between two users of the vGPU nothing stays, also not what no channel has got. */
static void forgotten(void **state)
{
	unsigned int i;

	begin(1);
	end(1);
	enable(0, 0);
	begin(0);
	work(0, 1 * MS, SOFT_END_PACKET);
	end(0);
	disable(0);
	soft_turn_forget(queues);
	for (i = 0; i < SOFT_ENGINES; i++) {
		forgot_ns += side[i].charged_ns;
		side[i].last.ch = NOBODY;
		side[i].nobodys_ns = 0;
	}
	memset(present_ns, 0, sizeof(present_ns));
	memset(earlier_ns, 0, sizeof(earlier_ns));
	memset(enabling, 0, sizeof(enabling));
	assert_int_equal(report(0).enabled_ns, 0);
	queues->channel[0].enabling = 0;
	enable(0, 1);
	check_all();
	begin(1);
	work(1, 2 * MS, SOFT_END_PACKET);
	end(1);
	check_all();
	assert_int_equal(report(0).total_busy_ns, 2 * MS + BEGIN_NS + END_NS);
}

static void guest_step(u64 *rng)
{
	unsigned int i = (unsigned int)random_range(rng, 0, CHANNELS - 1);
	struct soft_channel *ch = &queues->channel[i];

	if (ch->state == VGPU_HW_STATE_DISABLED) {
		enable(i, (unsigned int)random_range(rng, 0, SOFT_ENGINES - 1));
	} else if (ch->stalled && random_one_in(rng, 2)) {
		raw_spin_lock(&queues->queue_lock);
		soft_queue_unstall(ch);
		raw_spin_unlock(&queues->queue_lock);
	} else {
		disable(i);
	}
}

static void engine_step(u64 *rng, unsigned int e)
{
	u64 ns = random_range(rng, 0, 100 * US);

	switch (side[e].phase) {
	case IDLE:
		begin(e);
		break;
	case LEFT:
		charge(e);
		break;
	case IN_RUN:
		if (random_one_in(rng, 8))
			leave(e);
		else if (random_one_in(rng, 8))
			idle(e, ns);
		else if (random_one_in(rng, 8))
			wait_stalled(e, ns);
		else if (random_one_in(rng, 4))
			look(e, ns, random_one_in(rng, 2));
		else
			work(e, ns, random_one_in(rng, 6) ? SOFT_END_WAIT : SOFT_END_PACKET);
		break;
	}
}

/* Readers come at any time: what they are told never shrinks, and at the end it is right. */
static void random_steps(void **state)
{
	struct vgpu_ctl_channel seen[CHANNELS] = {}, out;
	u64 rng = test_seed();
	unsigned int n, i, e;

	for (n = 0; n < STEPS; n++) {
		if (random_one_in(&rng, 10))
			guest_step(&rng);
		else
			engine_step(&rng, (unsigned int)random_range(&rng, 0, SOFT_ENGINES - 1));
		if (random_one_in(&rng, 4)) {
			i = (unsigned int)random_range(&rng, 0, CHANNELS - 1);
			out = report(i);
			assert_true(out.total_busy_ns >= seen[i].total_busy_ns);
			assert_true(out.busy_ns <= out.total_busy_ns);
			if (out.enabled_ns == seen[i].enabled_ns)
				assert_true(out.busy_ns >= seen[i].busy_ns);
			seen[i] = out;
		}
		if (n % 100 == 0) {
			for (e = 0; e < SOFT_ENGINES; e++) {
				if (side[e].phase == IN_RUN)
					leave(e);
				if (side[e].phase == LEFT)
					charge(e);
			}
			check_all();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(enabled_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(both_work, setup, teardown),
		cmocka_unit_test_setup_teardown(before_the_charge, setup, teardown),
		cmocka_unit_test_setup_teardown(on_two_engines, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(rung_for_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(random_steps, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
