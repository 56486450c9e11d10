// SPDX-License-Identifier: GPL-2.0
/*
 * What each channel gets of a vGPU's service (soft/queue/turn.c), with the queues as they are:
 * channels are disabled, enabled and bound elsewhere while engines have their turns and while runs
 * are not charged yet; and what the guest reads of it. What belongs to whom is kept a second time
 * here, to the ns. One thread does what engines and the guest do, in steps, and the clock is the
 * test's.
 */
#include "turn_world.h"

#define STEPS		200000u

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
	assert_int_equal(told(0), 20 * MS);
	assert_int_equal(report(0).busy_ns, 0);
	enable(0, 0);
	charge(0);
	check_all();
	assert_int_equal(report(0).busy_ns, 0);
}

/* The charge has come, but nobody has looked: the guest that disables the channel is told of it. */
static void after_the_charge(void **state)
{
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	end(0);
	assert_int_equal(told(0), 20 * MS);
	disable(0);
	assert_int_equal(told(0), 20 * MS + BEGIN_NS + END_NS);
	begin(0);
	end(0);
	check_all();
	assert_int_equal(told(0), 20 * MS + BEGIN_NS + END_NS);
}

/* An older run of nobody's is charged to the channel before its own run: nothing is untold. */
static void nobodys_charge(void **state)
{
	begin(0);
	now_ns += 5 * MS;
	end(0);
	enable(0, 0);
	begin(0);
	work(0, 20 * MS, SOFT_END_PACKET);
	leave(0);
	report(0);
	assert_int_equal(told(0), 20 * MS);
	charge(0);
	check_all();
	assert_int_equal(told(0), 25 * MS + 2 * (BEGIN_NS + END_NS));
}

/* The vGPU has come from another host, where the channel has had some service. */
static void moved(void **state)
{
	enable(0, 0);
	move(0, 5 * MS);
	assert_int_equal(told(0), 5 * MS);
	begin(0);
	work(0, 1 * MS, SOFT_END_PACKET);
	assert_int_equal(told(0), 6 * MS);
	end(0);
	assert_int_equal(report(0).busy_ns, 1 * MS + BEGIN_NS + END_NS);
	assert_int_equal(told(0), 6 * MS + BEGIN_NS + END_NS);
	move(0, 2 * MS);
	assert_int_equal(told(0), 2 * MS);
	disable(0);
	enable(0, 0);
	check_all();
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

/* Nor does what the guest reads, as long as a channel is enabled. */
static void guest_looks(u64 *read_ns, unsigned int *when)
{
	unsigned int i;

	for (i = 0; i < CHANNELS; i++) {
		if (when[i] == enabling[i])
			assert_true(told(i) >= read_ns[i]);
		when[i] = enabling[i];
		read_ns[i] = told(i);
	}
}

/* Readers come at any time: what they are told never shrinks, and at the end it is right. */
static void random_steps(void **state)
{
	struct vgpu_ctl_channel seen[CHANNELS] = {}, out;
	unsigned int when[CHANNELS] = {}, n, i, e;
	u64 rng = test_seed(), read_ns[CHANNELS];

	for (i = 0; i < CHANNELS; i += 2) {
		queues->channel[i].exec.step = SOFT_STEP_BODY;
		queues->channel[i].exec.packet.desc = &helped;
	}
	for (n = 0; n < STEPS; n++) {
		beside = random_one_in(&rng, 2) ?
			 1 | (unsigned int)random_range(&rng, 0, (1 << CHANNELS) - 1) << 1 : 0;
		if (random_one_in(&rng, 10))
			guest_step(&rng);
		else
			engine_step(&rng, (unsigned int)random_range(&rng, 0, SOFT_ENGINES - 1));
		guest_looks(read_ns, when);
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

/*
 * Two channels have packets that helpers work on, for long, and one has others: each is the next
 * one in its turn, as if there were no helpers.
 */
static void keeps_places(void **state)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		enable(i, 0);
	for (i = 0; i < 2; i++) {
		queues->channel[i].exec.step = SOFT_STEP_BODY;
		queues->channel[i].exec.packet.desc = &helped;
	}
	beside = 1;
	begin(0);
	for (i = 0; i < 30; i++)
		assert_int_equal(work(0, MS, SOFT_END_STOPPED), i % 3);
	/* And one whose packet has ended comes before the others, once. */
	beside = 1 | 1 << 1 << 1;
	assert_int_equal(work(0, MS, SOFT_END_STOPPED), 0);
	beside = 1;
	assert_ptr_equal(soft_queue_take_ended(queues, 0), &queues->channel[1]);
	soft_queue_release(&engines[0], &queues->channel[1], SOFT_END_PACKET, false);
	assert_null(soft_queue_take_ended(queues, 0));
	assert_int_equal(work(0, MS, SOFT_END_STOPPED), 2);
	assert_int_equal(work(0, MS, SOFT_END_STOPPED), 0);
	assert_int_equal(work(0, MS, SOFT_END_STOPPED), 1);
}

/* A channel that is disabled while it is borrowed is off the queue, and waited for. */
static void disabled_beside(void **state)
{
	struct soft_channel *ch, *chs[CHANNELS];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		enable(i, 0);
		queues->channel[i].exec.step = SOFT_STEP_BODY;
		queues->channel[i].exec.packet.desc = &helped;
	}
	begin(0);
	ch = soft_queue_take(queues, 0, now_ns);
	assert_int_equal(soft_queue_borrow(&engines[0], chs, CHANNELS), 2);
	chs[0]->exec.ended = true;
	chs[0]->stop = true;
	raw_spin_lock(&queues->queue_lock);
	soft_queue_del(chs[0]);
	raw_spin_unlock(&queues->queue_lock);
	soft_queue_give_back(&engines[0], chs, 2);
	assert_false(chs[0]->busy);
	assert_true(list_empty(&chs[0]->link));
	assert_null(soft_queue_take_ended(queues, 0));
	soft_queue_release(&engines[0], ch, SOFT_END_PACKET, false);
	assert_int_equal(work(0, MS, SOFT_END_PACKET), 2);
	assert_int_equal(work(0, MS, SOFT_END_PACKET), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(enabled_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(both_work, setup, teardown),
		cmocka_unit_test_setup_teardown(before_the_charge, setup, teardown),
		cmocka_unit_test_setup_teardown(after_the_charge, setup, teardown),
		cmocka_unit_test_setup_teardown(nobodys_charge, setup, teardown),
		cmocka_unit_test_setup_teardown(moved, setup, teardown),
		cmocka_unit_test_setup_teardown(on_two_engines, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(rung_for_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(keeps_places, setup, teardown),
		cmocka_unit_test_setup_teardown(disabled_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(random_steps, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
