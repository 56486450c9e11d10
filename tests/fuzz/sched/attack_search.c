// SPDX-License-Identifier: GPL-2.0
/*
 * Hill climbing with restarts: settings drawn at random, the best of some random
 * plans, then one or two changes at a time, kept if they are no worse, until nothing
 * has come of it for a while. All of it follows from the seed.
 */
#include <string.h>

#include <linux/kernel.h>
#include <linux/minmax.h>

#include "attack.h"

#define SEARCH_LENGTH_NS	(4 * SEC)
#define SEARCH_PLANS		10	/* random ones, to begin with */
#define SEARCH_PATIENCE		30	/* changes in vain */

/* Called after each climb, unless NULL. */
void (*attack_on_climb)(const struct attack *attack,
			const struct attack_result *result, bool gain);

static bool one_in(u64 *seed, u64 n)
{
	return !bench_random(seed, n);
}

/* One of low .. high, each power of two of low as likely as the next. */
static u64 random_log(u64 *seed, u64 low, u64 high)
{
	u64 bits = 1, top;

	while (low << bits < high)
		bits++;
	top = low << bench_random(seed, bits);
	return min(top + bench_random(seed, top), high);
}

/* Shares of an engine, in the ways that matter. */
static void random_shares(struct attack_env *env, u64 *seed)
{
	u64 nr = env->attackers + env->others + 1;

	env->a_weight = 1;
	env->v_weight = 1;
	env->o_weight = 1;
	switch (bench_random(seed, 6)) {
	case 0:		/* all is guaranteed, in even parts */
		env->a_guarantee = VGPU_PER_MILLE / nr;
		env->o_guarantee = env->a_guarantee;
		env->v_guarantee = VGPU_PER_MILLE -
				   (nr - 1) * env->a_guarantee;
		break;
	case 1:		/* little to each attacker */
		env->a_guarantee = 1 + bench_random(seed, 10);
		env->o_guarantee = env->others ? 10 : 0;
		env->v_guarantee = VGPU_PER_MILLE -
				   env->attackers * env->a_guarantee -
				   env->others * env->o_guarantee;
		break;
	case 2:		/* half is guaranteed */
		env->a_guarantee = VGPU_PER_MILLE / nr / 2;
		env->o_guarantee = env->a_guarantee;
		env->v_guarantee = env->a_guarantee;
		break;
	case 3:		/* only the victim has a guarantee */
		env->v_guarantee = 100 * (1 + bench_random(seed, 9));
		env->a_weight = random_log(seed, 1, VGPU_WEIGHT_MAX);
		break;
	case 4:		/* no client has a guarantee */
		env->a_weight = random_log(seed, 1, VGPU_WEIGHT_MAX);
		env->v_weight = random_log(seed, 1, VGPU_WEIGHT_MAX);
		env->o_weight = random_log(seed, 1, VGPU_WEIGHT_MAX);
		break;
	case 5:		/* the attackers have a cap */
		env->a_guarantee = bench_random(seed, 500 / env->attackers);
		env->v_guarantee = bench_random(seed, 500);
		env->a_cap = env->a_guarantee + 1 + bench_random(seed, 200);
		break;
	}
}

static void random_env(const struct vgpu_sched_policy *policy, bool gain,
		       u64 *seed, struct attack_env *env)
{
	static const u64 many[] = { 1, 1, 1, 1, 2, 3, 7, 31 };

	memset(env, 0, sizeof(*env));
	env->slice_ns = one_in(seed, 2) ? 1 * MS : 2 * MS;
	env->attackers = many[bench_random(seed, ARRAY_SIZE(many))];
	env->others = env->attackers < 4 ? bench_random(seed, 3) : 0;
	if (!gain && policy->due != VGPU_DUE_EQUAL && one_in(seed, 3)) {
		env->victim_job_ns = random_log(seed, 50 * US, env->slice_ns);
		env->victim_gap_ns = 10 * US + bench_random(seed, 80 * US);
	}
	if (policy->due == VGPU_DUE_SHARE) {
		random_shares(env, seed);
		if (env->victim_job_ns)
			env->v_guarantee = max(env->v_guarantee, 1ULL);
	}
	if (policy->due == VGPU_DUE_SIZE) {
		env->a_slots = 1 << bench_random(seed, 2);
		env->v_slots = env->a_slots << bench_random(seed, 2);
		env->o_slots = 1;
		env->nr_slots = 4;
		while (env->nr_slots < env->attackers * env->a_slots + env->v_slots + env->others)
			env->nr_slots *= 2;
	}
	/*
	 * A victim that pauses and keeps its slot meanwhile pays for its own wake-ups and switches,
	 * by chance and whatever others do: such losses are not searched for.
	 */
	if (one_in(seed, 2) && (policy->due == VGPU_DUE_SHARE ||
				!env->victim_job_ns)) {
		env->machine.late_ns = 10 * US;
		env->machine.kick_ns = one_in(seed, 3) ? 200 * US : 20 * US;
		env->machine.switch_ns = 10 * US;
		env->machine.poll_ns = 50 * US;
	}
	if (one_in(seed, 2))
		env->machine.stall_ns = 200 * US;
}

static u64 random_gap(u64 *seed)
{
	switch (bench_random(seed, 4)) {
	case 0:		/* about as long as an engine lingers */
		return VGPU_LINGER_US * US - 50 * US +
		       bench_random(seed, 60 * US);
	case 1:		/* about as long as an engine waits for memory */
		return 150 * US + bench_random(seed, 150 * US);
	case 2:
		return random_log(seed, US, 500 * US);
	default:
		return random_log(seed, US, 20 * MS);
	}
}

static void random_overrun(u64 *seed, struct attack_phase *phase)
{
	phase->overrun_ns = random_log(seed, 10 * US, 9900 * US);
	phase->overrun_every = random_log(seed, 1, 16);
}

static void random_phase(u64 *seed, struct attack_phase *phase)
{
	memset(phase, 0, sizeof(*phase));
	phase->length_ns = random_log(seed, 2 * MS, 1200 * MS);
	if (one_in(seed, 4))
		random_overrun(seed, phase);
	if (one_in(seed, 8))
		phase->tail_ns = random_log(seed, 1, 500 * US);
	if (one_in(seed, 3))
		return;
	phase->move = bench_random(seed, ATTACK_MOVES);
	phase->gap_ns = random_gap(seed);
	if (phase->tail_ns)
		return;
	phase->job_ns = one_in(seed, 2) ? random_log(seed, US, 500 * US) :
					  random_log(seed, US, 20 * MS);
}

static void random_plan(u64 *seed, struct attack_plan *plan)
{
	u64 i, nr = 1 + bench_random(seed, ATTACK_PHASES);

	memset(plan, 0, sizeof(*plan));
	for (i = 0; i < nr; i++)
		random_phase(seed, &plan->phase[i]);
	plan->channels = one_in(seed, 4) ? 2 + bench_random(seed, 3) : 1;
	if (plan->channels > 1)
		plan->stagger_ns = random_log(seed, US, 20 * MS);
	if (one_in(seed, 2))
		plan->start_ns = random_log(seed, US, 20 * MS);
	if (one_in(seed, 2))
		plan->spread_ns = random_log(seed, US, 5 * MS);
	if (one_in(seed, 10))
		plan->ring_ns = random_log(seed, 10 * US, 10 * MS);
}

static u64 nudge(u64 *seed, u64 value)
{
	switch (bench_random(seed, 5)) {
	case 0:
		return value / 2;
	case 1:
		return value * 2;
	case 2:
		return value + value * bench_random(seed, 100) / 500;
	case 3:
		return value - value * bench_random(seed, 100) / 500;
	default:
		return value + bench_random(seed, 21 * US) -
		       min(value, 10 * US);
	}
}

static void change_phase(u64 *seed, struct attack_phase *phase)
{
	switch (bench_random(seed, 9)) {
	case 0:
		random_phase(seed, phase);
		break;
	case 1:
		phase->length_ns = min(nudge(seed, phase->length_ns), 1500 * MS);
		break;
	case 2:
		phase->move = bench_random(seed, ATTACK_MOVES);
		break;
	case 3:
		phase->gap_ns = one_in(seed, 3) ? random_gap(seed) :
						  nudge(seed, phase->gap_ns);
		break;
	case 4:
		phase->tail_ns = phase->tail_ns && !one_in(seed, 3) ?
				 nudge(seed, phase->tail_ns) :
				 one_in(seed, 2) * random_log(seed, 1, 500 * US);
		break;
	case 5:
		if (phase->overrun_every && one_in(seed, 2))
			phase->overrun_every = 0;
		else
			random_overrun(seed, phase);
		break;
	case 6:
		phase->overrun_ns = min(nudge(seed, phase->overrun_ns), 9900 * US);
		break;
	default:
		phase->job_ns = phase->job_ns && !one_in(seed, 5) ?
				nudge(seed, phase->job_ns) :
				random_log(seed, US, 5 * MS);
		break;
	}
}

static void change_plan(u64 *seed, struct attack_plan *plan)
{
	struct attack_phase *phase =
		&plan->phase[bench_random(seed, ATTACK_PHASES)];

	switch (bench_random(seed, 12)) {
	case 0:
		plan->start_ns = nudge(seed, plan->start_ns);
		break;
	case 1:
		plan->spread_ns = nudge(seed, plan->spread_ns);
		break;
	case 2:
		plan->channels = 1 + bench_random(seed, ATTACK_CHANNELS);
		plan->stagger_ns = random_log(seed, US, 20 * MS);
		break;
	case 3:
		plan->ring_ns = plan->ring_ns ? 0 :
				random_log(seed, 10 * US, 10 * MS);
		break;
	default:
		change_phase(seed, phase);
		break;
	}
}

/*
 * A victim that pauses gets the time that others overran back in slots that follow its own, and
 * then fewer of its pauses fall between slots. That is part of the promise T2, so it is no loss to
 * search for.
 */
static void stop_on_time(struct attack_plan *plan)
{
	unsigned int i;

	for (i = 0; i < ATTACK_PHASES; i++)
		plan->phase[i].overrun_every = 0;
}

static double fitness(const struct attack_result *result, bool gain)
{
	return gain ? result->gain.beyond : attack_worst_loss(result);
}

/*
 * Compares attacks of different settings: by how far they are beyond the bound, or if they are not,
 * by what they gain or cost more than honest clients, which use different parts of the bound in
 * different settings.
 */
static double rank(const struct attack_result *result,
		   const struct attack_result *plain, bool gain)
{
	double beyond = fitness(result, gain);

	return beyond > 0 ? 100 + beyond : beyond - fitness(plain, gain);
}

static void note(struct attack_found *found, const struct attack *attack,
		 const struct attack_result *result, const struct attack_result *plain)
{
	double gain = rank(result, plain, true);
	double loss = rank(result, plain, false);

	/* -100: the victim pauses, so that there is no gain. */
	if (result->gain.beyond > -100 &&
	    (!found->gain.policy || gain > found->gain_rank)) {
		found->gain = *attack;
		found->gain_result = *result;
		found->gain_rank = gain;
	}
	if (!found->loss.policy || loss > found->loss_rank) {
		found->loss = *attack;
		found->loss_result = *result;
		found->loss_rank = loss;
	}
}

static void climb(const struct vgpu_sched_policy *policy, u64 seed, bool gain,
		  u64 events, struct attack_found *found)
{
	struct attack attack = { .policy = policy }, best = {};
	struct attack_result result, plain, best_result = {};
	unsigned int runs = 0, vain = 0, i;
	struct attack_honest honest;

	random_env(policy, gain, &seed, &attack.env);
	if (!attack_possible(&attack))
		return;
	found->climbs++;
	found->events += attack_honest_run(&attack, &honest);
	attack_run(&attack, &honest, SEARCH_LENGTH_NS, &plain);
	while ((runs < SEARCH_PLANS || vain < SEARCH_PATIENCE) &&
	       (found->events < events || !runs)) {
		if (runs < SEARCH_PLANS) {
			random_plan(&seed, &attack.plan);
		} else {
			attack.plan = best.plan;
			for (i = bench_random(&seed, 3); i < 3; i++)
				change_plan(&seed, &attack.plan);
		}
		if (attack.env.victim_job_ns && policy->due != VGPU_DUE_SHARE)
			stop_on_time(&attack.plan);
		if (!attack_possible(&attack))
			continue;
		attack_run(&attack, &honest, SEARCH_LENGTH_NS, &result);
		note(found, &attack, &result, &plain);
		found->runs++;
		found->events += result.events;
		runs++;
		vain++;
		if (runs > 1 && fitness(&result, gain) < fitness(&best_result, gain))
			continue;
		if (runs == 1 ||
		    fitness(&result, gain) > fitness(&best_result, gain) + 0.001)
			vain = 0;
		best = attack;
		best_result = result;
	}
	if (attack_on_climb)
		attack_on_climb(&best, &best_result, gain);
}

/**
 * attack_shorten() - leave everything out of an attack that it works without
 * @attack: the attack; changed
 * @gain:   it is to keep its gain; false: its loss
 * @result: set to what came of the attack as it is then
 */
void attack_shorten(struct attack *attack, bool gain, struct attack_result *result)
{
	struct attack_honest honest;
	struct attack_result less_result;
	double enough;
	struct attack less;
	unsigned int i;

	attack_honest_run(attack, &honest);
	attack_run(attack, &honest, SEARCH_LENGTH_NS, result);
	enough = fitness(result, gain);
	enough -= enough > 0 ? 0.1 * enough : 0.002;
	for (i = 0, less = *attack; attack_simplify(&less, i); i++, less = *attack) {
		if (!memcmp(&less, attack, sizeof(less)) ||
		    !attack_possible(&less))
			continue;
		attack_run(&less, &honest, SEARCH_LENGTH_NS, &less_result);
		if (fitness(&less_result, gain) < enough)
			continue;
		*attack = less;
		*result = less_result;
	}
}

/**
 * attack_search() - look for the worst attacks on a policy
 * @policy:  the policy
 * @seed:    seed of all that is random
 * @events:  no further climb begins after so many things have happened
 * @seconds: instead, no further climb begins after so many seconds of the real world, and what is
 *           found depends on the machine; 0: @events counts
 * @found:   set to the attacks that were found
 */
void attack_search(const struct vgpu_sched_policy *policy, u64 seed, u64 events,
		   u64 seconds, struct attack_found *found)
{
	u64 until_ns = bench_clock_ns() + seconds * SEC;
	bool gain = true;

	memset(found, 0, sizeof(*found));
	do {
		climb(policy, bench_random(&seed, U64_MAX), gain,
		      seconds ? U64_MAX : events, found);
		gain = !gain;
	} while (seconds ? bench_clock_ns() < until_ns : found->events < events);
}
