// SPDX-License-Identifier: GPL-2.0
/*
 * What is due to a vGPU of an engine: what it would get if it always had work, by the policy and by
 * what the others have used of late. Guests are told.
 *
 * Under a policy that gives unused time away an entity gets
 *
 *   min(demand, cap, guarantee + level * weight)
 *
 * with the one level at which all together get the whole engine, or with any level if demands and
 * caps do not reach that. What is due to an entity follows if its own demand has no limit. The
 * demand of the others is what they have used: one that wanted more has had its part at the level
 * of that time, and the level is not higher if one more always has work; so that one counts as one
 * that wants more, too.
 *
 * Each entity has a level of its own, as each has another demand without a limit. With the claims
 * in the order of the levels at which they reach their limits, and with sums over those before
 * each, a level is found by a binary search: O(n log n) for all.
 *
 * A guest may ask at any time, and there may be 1024 of them. So the answers are computed at most
 * once per window of statistics and change of the settings, for all entities of the timeline, by
 * the first who asks. Who asks meanwhile gets the answer of before: a thread of a tenant computes,
 * and its cgroup may stop it. The timeline's lock is released after every few entities.
 */
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "due.h"
#include "timeline.h"

/*
 * Bits of a level's fraction. A level is at most VGPU_DUE_WHOLE, below 2^20; and a sum of weights,
 * 1024 of at most 1000, fits beside it.
 */
#define DUE_BITS	20

/* A per mille of an engine. */
#define DUE_MILLE	(VGPU_DUE_WHOLE / VGPU_PER_MILLE)

/* Entities that are looked at without releasing the lock. */
#define DUE_BATCH	32

/* How often the answers are computed anew because something has changed meanwhile. */
#define DUE_TRIES	3

/* &struct vgpu_timeline.due_window: the answers are too old in any window. */
#define DUE_NEVER	U64_MAX

/* &struct vgpu_entity.due: there is no answer yet. */
#define DUE_UNKNOWN	U16_MAX

static bool due_is_out(const struct vgpu_due_claim *claim)
{
	return !claim->started || claim->held;
}

static u32 due_guarantee(const struct vgpu_due_claim *claim)
{
	return claim->share.guarantee * DUE_MILLE;
}

static u32 due_cap(const struct vgpu_due_claim *claim)
{
	return claim->share.cap * DUE_MILLE;
}

static u64 due_level_part(u64 level, u64 weights)
{
	return (level * weights) >> DUE_BITS;
}

/* One that is out gets nothing at any level. */
static void due_prepare(struct vgpu_due_claim *claim)
{
	claim->limit = 0;
	claim->floor = 0;
	claim->reach = 0;
	if (due_is_out(claim)) {
		claim->share.weight = 0;
		return;
	}
	claim->limit = min(claim->demand, due_cap(claim));
	claim->floor = min(claim->limit, due_guarantee(claim));
	if (claim->limit > claim->floor)
		claim->reach = div_u64((u64)(claim->limit - claim->floor) << DUE_BITS,
				       claim->share.weight);
}

static int due_order(const void *a, const void *b)
{
	u64 left = ((const struct vgpu_due_claim *)a)->reach;
	u64 right = ((const struct vgpu_due_claim *)b)->reach;

	return left < right ? -1 : left > right;
}

/* Also of claims[nr], which is none: its sums are those over all claims. */
static void due_sum(struct vgpu_due_claim *claims, unsigned int nr)
{
	struct vgpu_due_claim *claim;

	claims->limits = 0;
	claims->floors = 0;
	claims->weights = 0;
	for (claim = claims; claim < claims + nr; claim++) {
		claim[1].limits = claim->limits + claim->limit;
		claim[1].floors = claim->floors + claim->floor;
		claim[1].weights = claim->weights + claim->share.weight;
	}
}

/**
 * struct due_sums - what all entities get at a level: @fixed + level * @weights
 * @fixed:   limits of those that have reached them, and floors of the others
 * @weights: weights of the others
 */
struct due_sums {
	u64 fixed;
	u64 weights;
};

/* If the claims before claims[k] have reached their limits, and claims[self] has none. */
static struct due_sums due_sums_at(const struct vgpu_due_claim *claims, unsigned int nr,
				   unsigned int k, unsigned int self)
{
	struct due_sums sums = {
		.fixed = claims[k].limits + claims[nr].floors - claims[k].floors,
		.weights = claims[nr].weights - claims[k].weights,
	};

	sums.fixed += due_guarantee(&claims[self]);
	if (self < k) {
		sums.fixed -= claims[self].limit;
		sums.weights += claims[self].share.weight;
	} else {
		sums.fixed -= claims[self].floor;
	}
	return sums;
}

static u64 due_level(const struct vgpu_due_claim *claims, unsigned int nr, unsigned int self)
{
	unsigned int low = 0, high = nr, k;
	struct due_sums sums;

	/* The first claim at whose reach all get the whole engine; nr: none. */
	while (low < high) {
		k = low + (high - low) / 2;
		sums = due_sums_at(claims, nr, k, self);
		if (sums.fixed + due_level_part(claims[k].reach, sums.weights) >= VGPU_DUE_WHOLE)
			high = k;
		else
			low = k + 1;
	}
	sums = due_sums_at(claims, nr, low, self);
	if (sums.fixed >= VGPU_DUE_WHOLE)
		return 0;
	return div64_u64((VGPU_DUE_WHOLE - sums.fixed) << DUE_BITS, sums.weights);
}

static void due_by_level(struct vgpu_due_claim *claims, unsigned int nr)
{
	struct vgpu_due_claim *claim;
	unsigned int i;
	u64 due;

	for (i = 0; i < nr; i++)
		due_prepare(&claims[i]);
	sort(claims, nr, sizeof(*claims), due_order, NULL);
	due_sum(claims, nr);
	for (i = 0; i < nr; i++) {
		claim = &claims[i];
		if (due_is_out(claim))
			continue;
		due = due_guarantee(claim) +
		      due_level_part(due_level(claims, nr, i), claim->share.weight);
		due = min_t(u64, due, due_cap(claim));
		claim->due = div_u64(due + DUE_MILLE / 2, DUE_MILLE);
	}
}

static void due_even(struct vgpu_due_claim *claims, unsigned int nr)
{
	struct vgpu_due_claim *claim;

	for (claim = claims; claim < claims + nr; claim++)
		claim->share = (struct vgpu_share) { .cap = VGPU_PER_MILLE, .weight = 1 };
	due_by_level(claims, nr);
}

/* The same fixed part for each that is started, whatever they use. */
static void due_slot(struct vgpu_due_claim *claims, unsigned int nr)
{
	struct vgpu_due_claim *claim;
	unsigned int started = 0;

	for (claim = claims; claim < claims + nr; claim++)
		started += claim->started;
	for (claim = claims; claim < claims + nr; claim++)
		if (!due_is_out(claim))
			claim->due = DIV_ROUND_CLOSEST(VGPU_PER_MILLE, started);
}

/* The fixed part that comes with the type. */
static void due_size(struct vgpu_due_claim *claims, unsigned int nr, u32 nr_slots)
{
	struct vgpu_due_claim *claim;

	for (claim = claims; claim < claims + nr; claim++)
		if (!due_is_out(claim))
			claim->due = DIV_ROUND_CLOSEST(VGPU_PER_MILLE *
						       min(claim->share.nr_slots, nr_slots),
						       nr_slots);
}

/**
 * vgpu_due_rule() - compute what is due to each entity of an engine
 * @rule:     kind of the policy
 * @nr_slots: slots of a cycle, for VGPU_DUE_SIZE
 * @claims:   @nr + 1 elements, of which the last is not set. Their due is written, and 0 if the
 *            kind is not known; their shares may be; and they may come in another order
 * @nr:       number of claims
 *
 * Context: any; pure.
 */
void vgpu_due_rule(enum vgpu_ctl_due rule, u32 nr_slots, struct vgpu_due_claim *claims,
		   unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		claims[i].due = 0;
	switch (rule) {
	case VGPU_DUE_EQUAL:
		return due_even(claims, nr);
	case VGPU_DUE_SLOT:
		return due_slot(claims, nr);
	case VGPU_DUE_SIZE:
		return due_size(claims, nr, nr_slots);
	case VGPU_DUE_SHARE:
		return due_by_level(claims, nr);
	default:
		return;
	}
}

/**
 * struct due_round - what the answers of all entities are computed from
 * @rule:     kind of the policy
 * @nr_slots: slots of a cycle
 * @window:   number of the window of statistics after the one that counts
 * @changes:  &struct vgpu_timeline.due_changes
 * @claims:   claims of all entities, and room for one more
 * @nr:       number of claims
 */
struct due_round {
	enum vgpu_ctl_due rule;
	u32 nr_slots;
	u64 window;
	u64 changes;
	struct vgpu_due_claim *claims;
	unsigned int nr;
};

static void due_claim(struct vgpu_timeline *tl, struct vgpu_entity *entity,
		      struct vgpu_due_claim *claim, u64 now_ns)
{
	u64 used_ns = vgpu_account_last_window(tl, entity, now_ns);

	/* With many others a window may pass without a run of one that always wants to run. */
	if (entity->queued && now_ns - entity->ready_ns >= tl->window_ns)
		used_ns = tl->window_ns;
	*claim = (struct vgpu_due_claim) {
		.entity = entity,
		.share = entity->share,
		.demand = div64_u64(used_ns * VGPU_DUE_WHOLE, tl->window_ns),
		.started = entity->started,
		.held = entity->hold & VGPU_HOLD_QUARANTINE,
	};
}

/* Lets others have the lock after every few entities. Returns false if something has changed. */
static bool due_let(struct vgpu_timeline *tl, const struct due_round *round, unsigned int i,
		    unsigned long *flags)
{
	if (!i || i % DUE_BATCH)
		return true;
	raw_spin_unlock_irqrestore(&tl->lock, *flags);
	raw_spin_lock_irqsave(&tl->lock, *flags);
	return tl->due_changes == round->changes;
}

static bool due_collect(struct vgpu_timeline *tl, struct due_round *round, unsigned int room)
{
	struct vgpu_entity *entity;
	unsigned long flags;
	bool same;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	round->rule = tl->rq.policy->due;
	round->nr_slots = tl->rq.nr_slots;
	round->window = div64_u64(now_ns, tl->window_ns);
	round->changes = tl->due_changes;
	round->nr = 0;
	same = tl->nr_entities <= room;
	list_for_each_entry(entity, &tl->entities, node) {
		same = same && due_let(tl, round, round->nr, &flags);
		if (!same)
			break;
		due_claim(tl, entity, &round->claims[round->nr++], now_ns);
	}
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return same;
}

static void due_announce(struct vgpu_timeline *tl, const struct due_round *round)
{
	unsigned long flags;
	unsigned int i;
	bool same;

	raw_spin_lock_irqsave(&tl->lock, flags);
	same = tl->due_changes == round->changes;
	for (i = 0; i < round->nr && same; i++) {
		same = due_let(tl, round, i, &flags);
		if (same)
			WRITE_ONCE(round->claims[i].entity->due, round->claims[i].due);
	}
	if (same)
		WRITE_ONCE(tl->due_window, round->window);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/* Computes the answers of all entities. If that is in vain, they stay as they were. */
static void due_compute(struct vgpu_timeline *tl)
{
	struct due_round round;
	unsigned long flags;
	unsigned int room;

	raw_spin_lock_irqsave(&tl->lock, flags);
	room = tl->nr_entities;
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	round.claims = kvmalloc_array(room + 1, sizeof(*round.claims), GFP_KERNEL);
	if (round.claims && due_collect(tl, &round, room)) {
		vgpu_due_rule(round.rule, round.nr_slots, round.claims, round.nr);
		due_announce(tl, &round);
	}
	kvfree(round.claims);
}

static bool due_is_fresh(struct vgpu_timeline *tl)
{
	u64 now_ns = vgpu_timeline_now_ns(tl);

	return READ_ONCE(tl->due_window) == div64_u64(now_ns, READ_ONCE(tl->window_ns));
}

/* Has the answers computed again when somebody asks. With the timeline's lock held. */
void vgpu_due_change(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	tl->due_changes++;
	WRITE_ONCE(tl->due_window, DUE_NEVER);
}

/* Forgets an entity's answer, too. With the timeline's lock held. */
void vgpu_due_forget(struct vgpu_entity *entity)
{
	WRITE_ONCE(entity->due, DUE_UNKNOWN);
	vgpu_due_change(entity->tl);
}

/**
 * vgpu_entity_due() - tell what an entity would get of its engine if it always had work
 * @entity: on a timeline
 *
 * By the policy and its settings, and by what other entities have had in the last window of
 * statistics. In that of the last but one, if other threads ask at the same time.
 *
 * Context: process; may sleep.
 * Return: per mille of the engine. 0: nothing, as the vGPU is closed or in quarantine; or memory
 * was short and there is no earlier answer.
 */
unsigned int vgpu_entity_due(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned int due = READ_ONCE(entity->due), i;

	if (!due_is_fresh(tl)) {
		if (due == DUE_UNKNOWN)
			mutex_lock(&tl->due_mutex);
		else if (!mutex_trylock(&tl->due_mutex))
			return due;
		for (i = 0; i < DUE_TRIES && !due_is_fresh(tl); i++)
			due_compute(tl);
		mutex_unlock(&tl->due_mutex);
		due = READ_ONCE(entity->due);
	}
	return due == DUE_UNKNOWN ? 0 : due;
}
