// SPDX-License-Identifier: GPL-2.0
/* See due.h. A whole engine is 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "due.h"

#define DUE_EPSILON	0.000001

/**
 * bench_claim() - the claim of a client that always has work
 * @share: the client's share
 *
 * Return: the claim; for policies with slots the caller sets its @part.
 */
struct due_claim bench_claim(const struct vgpu_share *share)
{
	return (struct due_claim){
		.guarantee = share->guarantee / 1000.0,
		.cap = share->cap / 1000.0,
		.weight = share->weight / 1000.0,
		.demand = 1,
		.started = true,
	};
}

/*
 * The client that lacks most slots of what is due to it, or that has most too many and more than
 * one.
 */
static unsigned int due_worst(const struct due_claim *claims, const struct vgpu_share *shares,
			      unsigned int nr, u32 nr_slots, bool too_many)
{
	unsigned int i, worst = nr;
	double off, most = 0;

	for (i = 0; i < nr; i++) {
		off = claims[i].due * nr_slots - shares[i].nr_slots;
		if (too_many) {
			if (shares[i].nr_slots < 2)
				continue;
			off = -off;
		}
		if (worst == nr || off > most + DUE_EPSILON) {
			worst = i;
			most = off;
		}
	}
	return worst;
}

/**
 * bench_due_slots() - slots and weights that say the same as guarantees, caps and weights do when
 * all are busy
 * @claims: claims of all clients, by bench_claim(); @due of each is written
 * @shares: their shares, of which first_slot, nr_slots and weight are written
 * @nr:     number of clients
 *
 * For policies that know no guarantee. Each client has at least one slot, all slots are sold, and
 * the client that is short of most of a slot gets the next one.
 *
 * Return: number of slots of a cycle.
 */
u32 bench_due_slots(struct due_claim *claims, struct vgpu_share *shares, unsigned int nr)
{
	u32 nr_slots = 32, sold = 0, slot = 0, slots;
	unsigned int i;
	double most = 0;

	while (nr_slots < 4 * nr)
		nr_slots *= 2;
	due_by_level(claims, nr, 1);
	for (i = 0; i < nr; i++)
		most = max(most, claims[i].due);
	for (i = 0; i < nr; i++) {
		slots = (u32)(claims[i].due * nr_slots + DUE_EPSILON);
		shares[i].nr_slots = max(slots, 1U);
		sold += shares[i].nr_slots;
		shares[i].weight = max(lround(VGPU_WEIGHT_MAX * claims[i].due / most), 1L);
	}
	while (sold != nr_slots) {
		bool too_many = sold > nr_slots;

		i = due_worst(claims, shares, nr, nr_slots, too_many);
		shares[i].nr_slots += too_many ? -1 : 1;
		sold += too_many ? -1 : 1;
	}
	for (i = 0; i < nr; i++) {
		shares[i].first_slot = slot;
		slot += shares[i].nr_slots;
	}
	return nr_slots;
}

/* gvt_like gives each started client a fixed part by the weight that it has in @config. */
static void due_by_weight(const struct des_config *config, struct due_claim *claims)
{
	unsigned int nr = config->nr_clients, i;
	double weights = 0;

	for (i = 0; i < nr; i++)
		weights += claims[i].started ? config->client[i].share.weight : 0;
	for (i = 0; i < nr; i++)
		claims[i].part = weights > 0 ? config->client[i].share.weight / weights : 0;
	due_by_rule(VGPU_DUE_SIZE, claims, nr, 1);
}

/**
 * bench_due_over() - what is due on average over a whole run
 * @config: configuration of the run
 * @policy: policy by whose rule it is due; NULL: by guarantee, cap and weight as @claims has them
 * @claims: claims of all clients, with the demand of the time in which they are started; @due of
 *          each is written
 */
void bench_due_over(const struct des_config *config, const struct vgpu_sched_policy *policy,
		    struct due_claim *claims)
{
	unsigned int nr = config->nr_clients, i, at = 0;
	struct due_claim *work = bench_alloc(nr * sizeof(*work));
	u64 now_ns = 0, next_ns;

	for (i = 0; i < nr; i++) {
		claims[i].started = !config->client[i].stopped;
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
				claims[action->client].started = true;
			if (action->kind == DES_STOP)
				claims[action->client].started = false;
		}
		memcpy(work, claims, nr * sizeof(*work));
		if (policy == &bench_policy_gvt_like)
			due_by_weight(config, work);
		else if (policy)
			due_by_rule(policy->due, work, nr, 1);
		else
			due_by_level(work, nr, 1);
		for (i = 0; i < nr; i++)
			claims[i].due += work[i].due * (next_ns - now_ns) / config->length_ns;
		now_ns = next_ns;
	}
	free(work);
}
