// SPDX-License-Identifier: GPL-2.0
/*
 * What an attack gained or cost.
 *
 * Due is what honest clients, busy without a pause and without overruns, get in the attackers'
 * place, all else being equal: a rate, by the policy's own rule. A gain is service of all attackers
 * together beyond that rate in some interval; a loss is what the victim, which is always runnable,
 * lacks of its own rate. Every interval that begins and ends where runs do is looked at: others
 * have less.
 *
 * Each policy promises its rates but for a constant, as slices are not divided and overruns are
 * repaid later. That constant is not a gain, as no repetition adds to it. It is subtracted, with
 * the overruns as they were, which leaves what is beyond the bound; the raw figure is printed
 * beside.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/minmax.h>

#include "attack.h"
#include "due.h"

#define HONEST_NS	(20 * SEC)
#define LEAST_NS	(1 * US)	/* a piece of work and the thought after it */

/* Attacks in which things happen more often than this on average take too long to simulate. */
#define LEAST_EVENT_NS	(20 * US)

/* A turn of sign * (service - due): at a low, or at a high. */
struct turn {
	u64 at_ns;
	double excess_ns;
	bool high;
};

struct turns {
	struct turn *at;
	size_t nr;
};

/* Whether the plan lets time pass: pieces of work without length and pause do not. */
static bool plan_goes_on(const struct attack_plan *plan)
{
	unsigned int i;

	for (i = 0; i < ATTACK_PHASES; i++) {
		const struct attack_phase *phase = &plan->phase[i];
		u64 least_ns = phase->gap_ns;

		if (phase->move == ATTACK_SLEEP || (!phase->job_ns &&
						    !phase->tail_ns))
			continue;
		/*
		 * A piece of work that ends before the end of a slice may be as short as it likes.
		 */
		if (!phase->tail_ns)
			least_ns += phase->job_ns;
		if (least_ns < LEAST_NS)
			return false;
	}
	return !plan->ring_ns || plan->ring_ns >= 2 * LEAST_NS;
}

/**
 * attack_possible() - whether the host would take the settings, and clients could follow the plan
 * @attack: an attack, of which any field may have any value
 *
 * Return: whether both are so.
 */
bool attack_possible(const struct attack *attack)
{
	const struct attack_env *env = &attack->env;
	u64 i;

	if (env->slice_ns < VGPU_SLICE_MIN_NS ||
	    env->slice_ns > VGPU_SLICE_MAX_NS || !env->attackers ||
	    env->attackers + env->others + 1 > ATTACK_CLIENTS)
		return false;
	for (i = 0; i < ATTACK_PHASES; i++)
		if (attack->plan.phase[i].move >= ATTACK_MOVES)
			return false;
	if (!plan_goes_on(&attack->plan))
		return false;
	if (attack->policy->due == VGPU_DUE_SIZE)
		return env->a_slots && env->v_slots &&
		       (env->o_slots || !env->others) &&
		       env->attackers * env->a_slots + env->v_slots +
		       env->others * env->o_slots <= env->nr_slots;
	if (attack->policy->due != VGPU_DUE_SHARE)
		return true;
	return env->a_weight && env->v_weight &&
	       (env->o_weight || !env->others) &&
	       env->attackers * env->a_guarantee + env->v_guarantee +
	       env->others * env->o_guarantee <= VGPU_PER_MILLE &&
	       (!env->a_cap || (env->a_cap >= env->a_guarantee &&
				env->a_cap <= VGPU_PER_MILLE));
}

static void add_clients(struct attack_sim_config *config, u64 nr,
			enum attack_group group, const struct vgpu_share *share,
			const struct attack_plan *plan, u32 *slot)
{
	u64 i;

	for (i = 0; i < nr; i++) {
		struct attack_sim_client *client = &config->client[config->nr++];

		client->group = group;
		client->share = *share;
		client->share.cap = share->cap ?: VGPU_PER_MILLE;
		/* A type's placements are multiples of its size. */
		if (share->nr_slots)
			*slot = roundup(*slot, share->nr_slots);
		client->share.first_slot = *slot;
		*slot += share->nr_slots;
		client->plan = *plan;
		client->plan.start_ns += i * plan->spread_ns;
	}
}

/* A plan of being busy all the time, with the attackers' overruns if all are to overrun. */
static struct attack_plan busy_plan(const struct attack *attack, bool honest)
{
	struct attack_plan plan = {};
	unsigned int i;

	for (i = 0; attack->env.all_overrun && !honest && i < ATTACK_PHASES; i++) {
		plan.phase[i].length_ns = attack->plan.phase[i].length_ns;
		plan.phase[i].overrun_ns = attack->plan.phase[i].overrun_ns;
		plan.phase[i].overrun_every = attack->plan.phase[i].overrun_every;
	}
	return plan;
}

static void config_of(const struct attack *attack, bool honest, u64 length_ns,
		      struct attack_sim_config *config)
{
	const struct attack_env *env = &attack->env;
	const struct vgpu_share a = {
		.guarantee = env->a_guarantee, .cap = env->a_cap,
		.weight = env->a_weight, .nr_slots = env->a_slots,
	}, v = {
		.guarantee = env->v_guarantee,
		.weight = env->v_weight, .nr_slots = env->v_slots,
	}, o = {
		.guarantee = env->o_guarantee,
		.weight = env->o_weight, .nr_slots = env->o_slots,
	};
	struct attack_plan busy = busy_plan(attack, honest), victim = busy;
	u32 slot = 0;

	*config = (struct attack_sim_config){
		.params = {
			.policy = attack->policy,
			.slice_ns = env->slice_ns,
			.window_ns = VGPU_WINDOW_NS,
			.preempt_timeout_us = 10000,
			.linger_us = VGPU_LINGER_US,
			.nr_slots = max(env->nr_slots, 1ULL),
		},
		.seed = 1,
		.length_ns = length_ns,
		.machine = env->machine,
	};
	if (env->victim_job_ns) {
		victim = (struct attack_plan){};
		victim.phase[0].job_ns = env->victim_job_ns;
		victim.phase[0].gap_ns = env->victim_gap_ns;
	}
	add_clients(config, 1, ATTACK_VICTIM, &v, &victim, &slot);
	add_clients(config, env->attackers, ATTACK_ATTACKER, &a,
		    honest ? &busy : &attack->plan, &slot);
	add_clients(config, env->others, ATTACK_OTHER, &o, &busy, &slot);
}

/*
 * Sets @due to what the policy's rule gives to a client of each group while all clients are busy.
 */
static void due_of(const struct attack_sim_config *config, double *due)
{
	struct due_claim claims[ATTACK_CLIENTS];
	unsigned int i;

	for (i = 0; i < config->nr; i++) {
		claims[i] = bench_claim(&config->client[i].share);
		claims[i].part = (double)config->client[i].share.nr_slots / config->params.nr_slots;
	}
	due_by_rule(config->params.policy->due, claims, config->nr, 1);
	for (i = 0; i < config->nr; i++)
		due[config->client[i].group] = claims[i].due;
}

/**
 * attack_honest_run() - what is due to attackers and victim
 * @attack: the attack, of which only policy and settings count
 * @honest: set to what is due
 *
 * That follows from the policy's rule for busy clients. What a victim that pauses gets is measured.
 *
 * Return: number of things that happened in the simulation.
 */
u64 attack_honest_run(const struct attack *attack, struct attack_honest *honest)
{
	double due[ATTACK_GROUPS] = {};
	struct attack_sim_config config;
	struct attack_sim_result result;
	u64 events;

	config_of(attack, true, HONEST_NS, &config);
	due_of(&config, due);
	honest->capped = attack->env.a_cap &&
			 due[ATTACK_ATTACKER] * VGPU_PER_MILLE >
			 attack->env.a_cap - 0.001;
	honest->attacker = attack->env.attackers * due[ATTACK_ATTACKER];
	honest->victim = due[ATTACK_VICTIM];
	if (!attack->env.victim_job_ns)
		return 0;
	attack_sim_run(&config, &result);
	honest->victim = (double)result.record[ATTACK_VICTIM].service_ns /
			 HONEST_NS;
	events = result.events;
	attack_sim_free(&result);
	return events;
}

/* The turns of @sign * (service - due), which the caller frees. */
static struct turns turns_of(const struct attack_record *record, double rate,
			     int sign, u64 length_ns)
{
	struct turns turns = {
		.at = bench_alloc((2 * record->nr + 2) * sizeof(*turns.at)),
	};
	double service_ns = 0;
	size_t i;

	turns.at[turns.nr++] = (struct turn){ 0, 0, false };
	for (i = 0; i < record->nr; i++) {
		const struct attack_span *span = &record->span[i];

		turns.at[turns.nr++] = (struct turn){
			span->start_ns,
			sign * (service_ns - rate * span->start_ns), sign < 0,
		};
		service_ns += span->end_ns - span->start_ns;
		turns.at[turns.nr++] = (struct turn){
			span->end_ns,
			sign * (service_ns - rate * span->end_ns), sign > 0,
		};
	}
	turns.at[turns.nr++] = (struct turn){
		length_ns, sign * (service_ns - rate * length_ns), true,
	};
	return turns;
}

/* The most that sign * (service - due) grows in an interval of up to @window_ns. */
static double turns_most(const struct turns *turns, u64 window_ns)
{
	size_t *lows = bench_alloc(turns->nr * sizeof(*lows)), i;
	size_t head = 0, nr = 0;
	double most = 0;

	for (i = 0; i < turns->nr; i++) {
		const struct turn *turn = &turns->at[i];

		if (!turn->high) {
			while (nr > head && turns->at[lows[nr - 1]].excess_ns >= turn->excess_ns)
				nr--;
			lows[nr++] = i;
			continue;
		}
		while (head < nr && turn->at_ns - turns->at[lows[head]].at_ns > window_ns)
			head++;
		if (head < nr)
			most = max(most, turn->excess_ns - turns->at[lows[head]].excess_ns);
	}
	free(lows);
	return most;
}

/**
 * attack_most_ns() - the most that a group had too much, or too little, in some interval
 * @record:    record of the group
 * @rate:      what is due to the group, a fraction of the engine
 * @sign:      1: too much; -1: too little
 * @length_ns: length of the run
 * @window_ns: intervals of up to this are looked at
 *
 * Return: ns of service, at least 0.
 */
double attack_most_ns(const struct attack_record *record, double rate, int sign,
		      u64 length_ns, u64 window_ns)
{
	struct turns turns = turns_of(record, rate, sign, length_ns);
	double most_ns = turns_most(&turns, window_ns);

	free(turns.at);
	return most_ns;
}

static struct attack_score score(const struct attack_record *record, double rate,
				 int sign, double bound_ns, u64 length_ns)
{
	struct turns turns = turns_of(record, rate, sign, length_ns);
	struct attack_score score = { .bound_ns = bound_ns };
	double most_ns, beyond;
	u64 window_ns;

	for (window_ns = ATTACK_WINDOW_NS; ; window_ns *= 2) {
		window_ns = min(window_ns, max(length_ns, ATTACK_WINDOW_NS));
		most_ns = turns_most(&turns, window_ns);
		beyond = 100 * (most_ns - bound_ns) / window_ns;
		if (window_ns == ATTACK_WINDOW_NS) {
			score.raw = 100 * most_ns / ATTACK_WINDOW_NS;
			score.beyond = beyond;
		}
		/* Divided by a long window, what is left of the bound would look like little. */
		if (beyond > 0)
			score.beyond = max(score.beyond, beyond);
		if (window_ns >= length_ns)
			break;
	}
	free(turns.at);
	return score;
}

/*
 * qos: guarantees hold to 2 Q (G), and so do caps (C). The excess of two clients that are runnable
 * and have no cap differs by 3 Q (1/w + 1/w') (P), so the excess of one client differs from its
 * part by the last term, the sum over all others; and each client with a cap may be ahead by 2 Q at
 * its cost.
 */
static double qos_bound_ns(const struct attack_env *env, const struct attack_honest *honest,
			   enum attack_group group, double q_ns)
{
	u64 weight = group == ATTACK_ATTACKER ? env->a_weight :
		     group == ATTACK_VICTIM ? env->v_weight : env->o_weight;
	double weights = env->v_weight + env->others * env->o_weight;
	double nr = 1 + env->others, capped = 0;

	if ((group == ATTACK_ATTACKER && honest->capped) ||
	    env->attackers * env->a_guarantee + env->v_guarantee +
	    env->others * env->o_guarantee == VGPU_PER_MILLE)
		return 2 * q_ns;
	if (honest->capped) {
		capped = env->attackers;
	} else {
		nr += env->attackers;
		weights += env->attackers * env->a_weight;
	}
	return 2 * q_ns * (1 + capped) +
	       3 * q_ns * (weights - weight + (nr - 1) * weight) / weights;
}

/* How much the promise lets a client of @group lack, or an attacker have too much. */
static double bound_of(const struct attack *attack, const struct attack_sim_result *result,
		       const struct attack_honest *honest, enum attack_group group)
{
	const struct attack_env *env = &attack->env;
	double debts_ns = 0, p_ns = 0, nr = env->attackers + env->others;
	unsigned int i;

	for (i = 0; i < ATTACK_GROUPS; i++) {
		p_ns = max_t(double, p_ns, result->overrun_ns[i]);
		debts_ns += result->record[i].debts_ns;
	}
	/* best_effort.c bounds the difference of two clients; this is that of one from the mean. */
	if (attack->policy->due == VGPU_DUE_EQUAL)
		return 2 * (2 * env->slice_ns + p_ns) * nr / (nr + 1);
	if (attack->policy->due == VGPU_DUE_SHARE)
		return qos_bound_ns(env, honest, group, env->slice_ns + p_ns);
	/* T3: its own debt, which is less than a slot, and its part of all debts; T1: all debts. */
	if (group == ATTACK_ATTACKER)
		return env->slice_ns + p_ns +
		       honest->attacker / env->attackers * debts_ns +
		       (result->overrun_ns[group] ? env->slice_ns : 0);
	return env->slice_ns + p_ns + debts_ns;
}

/* The attackers gain no more than their own bounds, nor more than all others lack. */
static double gain_bound_ns(const struct attack *attack, const struct attack_sim_result *result,
			    const struct attack_honest *honest)
{
	const struct attack_env *env = &attack->env;
	double own = env->attackers * bound_of(attack, result, honest, ATTACK_ATTACKER);
	double theirs = bound_of(attack, result, honest, ATTACK_VICTIM) +
			env->others * bound_of(attack, result, honest, ATTACK_OTHER);

	/* A slot that no client has counts as that of a client with one slot. */
	if (attack->policy->due == VGPU_DUE_SIZE)
		theirs += (env->nr_slots - env->attackers * env->a_slots -
			   env->v_slots - env->others * env->o_slots) *
			  bound_of(attack, result, honest, ATTACK_OTHER);
	return min(own, theirs);
}

/**
 * attack_run() - what an attack gains and costs
 * @attack: an attack that is possible
 * @honest: by attack_honest_run(), of the same settings
 * @length_ns: length of the run, ATTACK_WINDOW_NS at least
 * @out:    set to what came of the attack
 */
void attack_run(const struct attack *attack, const struct attack_honest *honest,
		u64 length_ns, struct attack_result *out)
{
	const struct attack_env *env = &attack->env;
	struct attack_sim_config config;
	struct attack_sim_result result;
	double due = honest->victim, alone = 1, q_ns, bound_ns;

	config_of(attack, false, length_ns, &config);
	config.max_events = length_ns / LEAST_EVENT_NS;
	attack_sim_run(&config, &result);
	*out = (struct attack_result){
		.short_of_guarantee.beyond = -100,
		.events = result.events,
	};
	if (!result.ended) {
		out->gain.beyond = -100;
		out->loss.beyond = -100;
		attack_sim_free(&result);
		return;
	}
	q_ns = env->slice_ns + max3(result.overrun_ns[0], result.overrun_ns[1],
				    result.overrun_ns[2]);
	bound_ns = bound_of(attack, &result, honest, ATTACK_VICTIM);
	if (env->victim_job_ns)
		alone = (double)env->victim_job_ns /
			(env->victim_job_ns + env->victim_gap_ns);
	if (attack->policy->due == VGPU_DUE_SHARE) {
		double g = min(env->v_guarantee / 1000.0, alone);

		out->short_of_guarantee =
			score(&result.record[ATTACK_VICTIM], g, -1,
			      env->victim_job_ns ? 3 * q_ns : 2 * q_ns, length_ns);
		/* A victim that pauses is promised its guarantee, but no part of the excess. */
		if (env->victim_job_ns) {
			due = min(due, g);
			bound_ns = 3 * q_ns;
		}
	}
	out->loss = score(&result.record[ATTACK_VICTIM], due, -1, bound_ns, length_ns);
	out->gain = score(&result.record[ATTACK_ATTACKER], honest->attacker, 1,
			  gain_bound_ns(attack, &result, honest), length_ns);
	/* What a victim that pauses leaves, the others may take. */
	if (env->victim_job_ns)
		out->gain.beyond = -100;
	attack_sim_free(&result);
}

/**
 * attack_compare() - run an attack, and beside it honest clients in the attackers' place
 * @attack: an attack that is possible
 * @length_ns: length of each run
 * @result: set to what came of the attack, with the figures of honest clients
 */
void attack_compare(const struct attack *attack, u64 length_ns, struct attack_result *result)
{
	struct attack plain = *attack;
	struct attack_honest honest;
	struct attack_result other;

	memset(&plain.plan, 0, sizeof(plain.plan));
	plain.env.all_overrun = 0;
	attack_honest_run(attack, &honest);
	attack_run(&plain, &honest, length_ns, &other);
	attack_run(attack, &honest, length_ns, result);
	result->gain.honest = other.gain.raw;
	result->loss.honest = other.loss.raw;
	result->short_of_guarantee.honest = other.short_of_guarantee.raw;
}

/**
 * attack_worst_loss() - the victim's loss beyond the bound
 * @result: what came of an attack
 *
 * Return: loss against its part, or against its guarantee if that is larger, in per cent.
 */
double attack_worst_loss(const struct attack_result *result)
{
	return max(result->loss.beyond, result->short_of_guarantee.beyond);
}
