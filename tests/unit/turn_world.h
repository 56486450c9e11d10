/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world of test_turn.c: channels, a guest, engines and the core in one thread, which do what
 * the test says; and what belongs to whom by the test's own account.
 */
#ifndef _TURN_WORLD_H
#define _TURN_WORLD_H

#include "vgpu_test.h"

#include "soft/memory/memory.h"
#include "soft/queue/queues.h"

#define CHANNELS	5u
#define NOBODY		CHANNELS

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
/* Twice the set of channels whose packets helpers end beside work(), and 1; 0: there are none. */
static unsigned int beside;
static u64 now_ns;
static u64 present_ns[CHANNELS], earlier_ns[CHANNELS], moved_ns[CHANNELS], forgot_ns;
static unsigned int enabling[CHANNELS];
static union {
	struct vgpu_hw_channel hw;
	u8 bytes[VGPU_HW_PAGE_SIZE];
} pages[CHANNELS];

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
	memset(moved_ns, 0, sizeof(moved_ns));
	memset(pages, 0xff, sizeof(pages));
	forgot_ns = 0;
	beside = 0;
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

static u64 told(unsigned int i)
{
	return le64_to_cpu(pages[i].hw.service_ns);
}

static void enable(unsigned int i, unsigned int engine)
{
	struct soft_channel *ch = &queues->channel[i];

	now_ns += 10;
	raw_spin_lock(&queues->queue_lock);
	ch->engine = engine;
	ch->hw = &pages[i].hw;
	soft_turn_enable(ch, now_ns);
	soft_queue_publish(ch, VGPU_HW_STATE_AWAKE);
	soft_queue_add(ch);
	raw_spin_unlock(&queues->queue_lock);
	earlier_ns[i] += present_ns[i];
	present_ns[i] = 0;
	moved_ns[i] = 0;
	enabling[i]++;
	assert_int_equal(told(i), 0);
}

static void move(unsigned int i, u64 told_ns)
{
	raw_spin_lock(&queues->queue_lock);
	soft_turn_move(&queues->channel[i], told_ns);
	raw_spin_unlock(&queues->queue_lock);
	moved_ns[i] = told_ns - present_ns[i];
}

/*
 * Runs without a turn are charged to the next turn that ends a run. Who asks before that run is
 * charged, too, finds them there already, less what the run's other turns have got.
 */
static u64 early_ns(unsigned int i)
{
	const struct side *s;
	u64 sum_ns = 0;

	for (s = side; s < side + SOFT_ENGINES; s++)
		if (s->phase == LEFT && s->turn.ch == i && s->turn.enabling == enabling[i] &&
		    s->nobodys_ns > s->given_ns)
			sum_ns += s->nobodys_ns - s->given_ns;
	return sum_ns;
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
	assert_int_equal(soft_turn_told_ns(ch), moved_ns[i] + present_ns[i] + early_ns(i));
	soft_queue_publish(ch, VGPU_HW_STATE_DISABLED);
	ch->hw = NULL;
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

/* What the turn has got so far. */
static u64 turn_ns(const struct side *s)
{
	return now_ns - (s->start_ns + BEGIN_NS) - s->idle_ns - s->given_ns;
}

/* Of channels whose packets helpers can work on. */
static void help(struct soft_unit *unit, struct soft_channel *ch)
{
}

static const struct soft_packet_desc helped = { .help = help };

/*
 * Helpers work on packets of other channels while the engine works on one; they end those of
 * channels that are in @ended. Returns how many there are.
 */
static unsigned int work_beside(unsigned int e, unsigned int ended)
{
	struct soft_channel *chs[CHANNELS];
	unsigned int nr = soft_queue_borrow(&engines[e], chs, CHANNELS), i;
	unsigned int ready = queues->queue[e].nr_ready;
	bool any = false;

	for (i = 0; i < nr; i++) {
		assert_true(chs[i]->busy);
		assert_ptr_equal(chs[i]->exec.packet.desc, &helped);
		chs[i]->exec.ended = ended & 1u << chs[i]->index;
		any |= chs[i]->exec.ended;
	}
	soft_queue_give_back(&engines[e], chs, nr);
	assert_int_equal(queues->queue[e].nr_ready, ready);
	for (i = 0; i < nr; i++)
		assert_true(!chs[i]->busy && !list_empty(&chs[i]->link));
	/* Those are the next ones. */
	assert_true(!any || list_first_entry(&queues->queue[e].ready, struct soft_channel,
					     link)->exec.ended);
	return nr;
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
	if (beside)
		work_beside(e, beside >> 1);
	soft_turn_note(&engine->turns, now_ns, s->idle_ns);
	soft_queue_release(engine, ch, end, false);
	assert_int_equal(told(ch->index),
			 moved_ns[ch->index] + present_ns[ch->index] + turn_ns(s));
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
		soft_turn_note(&engine->turns, now_ns, s->idle_ns);
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
	struct side *s = &side[e];

	s->phase = LEFT;
	soft_turn_note(&engines[e].turns, now_ns, s->idle_ns);
	soft_queue_end(&engines[e], false);
	if (s->turn.ch != NOBODY && s->turn.enabling == enabling[s->turn.ch] &&
	    queues->channel[s->turn.ch].hw)
		assert_int_equal(told(s->turn.ch), moved_ns[s->turn.ch] +
				 present_ns[s->turn.ch] + turn_ns(s));
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

/*
 * All is as the test has it, and the guest reads it, too; runs that have not been charged are over,
 * or have not begun.
 */
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
		if (queues->channel[i].hw)
			assert_int_equal(told(i), moved_ns[i] + present_ns[i]);
		sum += out.total_busy_ns;
	}
	for (i = 0; i < SOFT_ENGINES; i++)
		service += side[i].charged_ns - side[i].nobodys_ns;
	assert_int_equal(sum, service - forgot_ns);
}

#endif /* _TURN_WORLD_H */
