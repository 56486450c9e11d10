// SPDX-License-Identifier: GPL-2.0
/*
 * Shares due. A client's demand d is what it gets of an engine that it has for
 * itself. What is due to it is min(d, c, g + lambda w), with one lambda for all
 * who are there such that nothing is left over, or everybody has min(d, c).
 */
#include <math.h>
#include <stdlib.h>

#include "due.h"

#define DUE_EPSILON	0.000001

/* Of who wants all of an engine. */
struct bench_claim bench_claim(const struct vgpu_share *share)
{
	return (struct bench_claim){
		.guarantee = share->guarantee / 1000.0,
		.cap = share->cap / 1000.0,
		.weight = share->weight / 1000.0,
		.demand = 1,
		.share = *share,
		.there = true,
	};
}

static double due_at(const struct bench_claim *claim, double lambda)
{
	return min(min(claim->demand, claim->cap),
		   claim->guarantee + lambda * claim->weight);
}

static double due_sum(const struct bench_claim *claims, unsigned int nr,
		      double lambda)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (claims[i].there)
			sum += due_at(&claims[i], lambda);
	return sum;
}

/**
 * bench_due() - what is due to those who are there
 * @claims: of all clients; @due is written, 0 for who is not there
 * @nr:     how many
 */
void bench_due(struct bench_claim *claims, unsigned int nr)
{
	double low = 0, high = 2000;
	unsigned int i;

	if (due_sum(claims, nr, high) > 1) {
		for (i = 0; i < 60; i++) {
			double lambda = (low + high) / 2;

			if (due_sum(claims, nr, lambda) > 1)
				high = lambda;
			else
				low = lambda;
		}
	}
	for (i = 0; i < nr; i++)
		claims[i].due = claims[i].there ? due_at(&claims[i], high) : 0;
}

/* Who lacks most slots, or has too many and more than one. */
static struct bench_claim *due_worst(struct bench_claim *claims,
				     unsigned int nr, u32 nr_slots,
				     bool too_many)
{
	struct bench_claim *worst = NULL;
	double off, most = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		off = claims[i].due * nr_slots - claims[i].share.nr_slots;
		if (too_many) {
			if (claims[i].share.nr_slots < 2)
				continue;
			off = -off;
		}
		if (!worst || off > most + DUE_EPSILON) {
			worst = &claims[i];
			most = off;
		}
	}
	return worst;
}

/**
 * bench_due_slots() - slots and weights that say the same as guarantee, cap and
 *                     weight do when all are busy
 * @claims: by bench_claim(), of all clients; first_slot, nr_slots and weight of
 *          @share are written
 * @nr:     how many
 *
 * For policies that know no guarantee. Each client has a slot at least, all are
 * sold, who is short of most gets the next one.
 *
 * Return: slots of a cycle.
 */
u32 bench_due_slots(struct bench_claim *claims, unsigned int nr)
{
	u32 nr_slots = 32, sold = 0, slot = 0, slots;
	double most = 0;
	unsigned int i;

	while (nr_slots < 4 * nr)
		nr_slots *= 2;
	bench_due(claims, nr);
	for (i = 0; i < nr; i++)
		most = max(most, claims[i].due);
	for (i = 0; i < nr; i++) {
		slots = (u32)(claims[i].due * nr_slots + DUE_EPSILON);
		claims[i].share.nr_slots = max(slots, 1U);
		sold += claims[i].share.nr_slots;
		claims[i].share.weight = max(lround(VGPU_WEIGHT_MAX *
						    claims[i].due / most), 1L);
	}
	while (sold != nr_slots) {
		struct bench_claim *who;

		/* Of whom has most too many, or too few, but nobody's last. */
		who = due_worst(claims, nr, nr_slots, sold > nr_slots);
		if (sold > nr_slots) {
			who->share.nr_slots--;
			sold--;
		} else {
			who->share.nr_slots++;
			sold++;
		}
	}
	for (i = 0; i < nr; i++) {
		claims[i].share.first_slot = slot;
		slot += claims[i].share.nr_slots;
	}
	return nr_slots;
}

static double part(double mine, double all)
{
	return all > 0 ? mine / all : 0;
}

/* What the policy's rule gives to those who are there. */
static void due_by_policy(const struct vgpu_sched_policy *policy,
			  struct bench_claim *claims, unsigned int nr)
{
	struct bench_claim *claim;
	double weights = 0;
	unsigned int i, started = 0;

	for (i = 0; i < nr; i++) {
		started += claims[i].there;
		weights += claims[i].there ? claims[i].share.weight : 0;
	}
	if (policy == &vgpu_policy_best_effort) {
		for (i = 0; i < nr; i++) {
			claims[i].guarantee = 0;
			claims[i].cap = 1;
			claims[i].weight = 1;
		}
	}
	if (policy == &vgpu_policy_best_effort || policy == &vgpu_policy_qos) {
		bench_due(claims, nr);
		return;
	}
	for (claim = claims; claim < claims + nr; claim++) {
		if (!claim->there)
			claim->due = 0;
		else if (policy == &vgpu_policy_equal_share)
			claim->due = part(1, started);
		else if (policy == &vgpu_policy_fixed_share)
			claim->due = part(claim->share.nr_slots,
					  claim->nr_slots);
		else
			claim->due = part(claim->share.weight, weights);
		claim->due = min(claim->due, claim->demand);
	}
}

/**
 * bench_due_over() - what is due over a whole run
 * @config: of the run
 * @policy: whose rule; NULL: guarantee, cap and weight as @claims has them
 * @claims: of all clients, with the demand of the time in which they are there;
 *          @due is written
 */
void bench_due_over(const struct des_config *config,
		    const struct vgpu_sched_policy *policy,
		    struct bench_claim *claims)
{
	unsigned int nr = config->nr_clients, i, at = 0;
	struct bench_claim *work = bench_alloc(nr * sizeof(*work));
	u64 now_ns = 0, next_ns;

	for (i = 0; i < nr; i++) {
		claims[i].there = !config->client[i].stopped;
		claims[i].due = 0;
	}
	while (now_ns < config->length_ns) {
		next_ns = config->length_ns;
		for (; at < config->nr_actions; at++) {
			const struct des_action *action = &config->action[at];

			if (action->at_ns > now_ns) {
				next_ns = min(next_ns, action->at_ns);
				break;
			}
			if (action->kind == DES_START)
				claims[action->client].there = true;
			if (action->kind == DES_STOP)
				claims[action->client].there = false;
		}
		memcpy(work, claims, nr * sizeof(*work));
		if (policy)
			due_by_policy(policy, work, nr);
		else
			bench_due(work, nr);
		for (i = 0; i < nr; i++)
			claims[i].due += work[i].due * (next_ns - now_ns) /
					 config->length_ns;
		now_ns = next_ns;
	}
	free(work);
}
