// SPDX-License-Identifier: GPL-2.0
/*
 * Time slots on a grid: what equal_share and fixed_share have in common.
 *
 * Time division as in time-triggered systems (H. Kopetz, "Event-triggered versus
 * time-triggered real-time systems", LNCS 563, 1991): a cycle of slots of one
 * length S, each with an owner or none, and in a slot only its owner runs. Work
 * that arrives in the middle of a slot starts at once with the rest of it; an
 * owner that goes idle keeps it. So nobody's load is seen by anybody else, but
 * for overruns.
 *
 * Slots begin on the grid and not when somebody gets round to it: a slot that is
 * begun late, as the timer's interrupt or the thread that was to begin it was
 * late, ends when it would have ended, and the next one begins where it would
 * have begun. The latency is taken from the slot it is in, moves nobody's slots,
 * is not charged, and is nobody's debt. It is not an overrun.
 *
 * Overruns are not cut out of a later slot, and slots are always full: the grid
 * waits until the engine is free, and goes on from there; the offender owes what
 * it took, and carries it like a deficit (M. Shreedhar and G. Varghese, "Efficient
 * fair queuing using deficit round-robin", IEEE/ACM Transactions on Networking
 * 4(3), 1996). Once it owes a slot its next slot is taken out of the cycle, which
 * brings forward what follows: so the others get back what they lost.
 *
 * What follows from that. Let a debt be overrun not yet paid back, D the sum of
 * all, s an entity's share of the cycle. A slot passes in S plus its overrun, or
 * in no time if it is taken out, and so, whatever anybody does,
 *
 *	service - debt - s (time - D)
 *
 * of an entity that is always runnable changes, in any interval, by no more
 * than its slots are unevenly spaced: by less than S where each has the same
 * distance to the next (fixed_share.c says where not, and by how many S then: as
 * many take the place of the first S in T1 and T3). Of others it does not grow by
 * more. A debt stays below S + p, p the largest overrun of its owner. This gives
 *
 * T1 always runnable: |service - s T| <= S + p + debts outstanding;
 * T2 with neighbours hogging and with neighbours off, start times and completed
 *    work differ by no more than the debts outstanding, so not at all if there
 *    are none;
 * T3 whatever an entity does, with D at the beginning of T:
 *    if it never overruns, service <= s T + S + s D. However long others overrun,
 *    of that it gets its share of what they owe as they pay it back, and nothing
 *    more;
 *    if it does, p being its own longest overrun, service <= s T + S + s D
 *    + (S + p): the last term is the debt that it carries. Whoever overruns
 *    a little each time gets there: less would need short slots, or more taken
 *    away than is owed.
 *
 * All of that while slot length and membership stay the same; both change at the
 * end of a cycle only.
 *
 * The grid is not walked. Trees have those who are queued and those who owe a
 * slot, by the number of the next slot of each, found by calculation. Between
 * two that matter the grid advances by division. A slot that is taken out has
 * cost a slot of overrun before, and where time or debts are long whole cycles
 * pass at once.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "slots.h"

static struct vgpu_entity *slots_first(const struct rb_root_cached *tree)
{
	struct rb_node *first = rb_first_cached(tree);

	return first ? rb_entry(first, struct vgpu_entity, slots.rb) : NULL;
}

static bool slots_earlier(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_entity, slots.rb)->slots.slot <
	       rb_entry(b, struct vgpu_entity, slots.rb)->slots.slot;
}

/* Does the next cycle differ from this? */
static bool slots_changing(const struct vgpu_rq *rq,
			   const struct vgpu_slots *slots)
{
	return slots->dirty || slots->slot_ns != rq->slice_ns;
}

/**
 * vgpu_slots_setup() - no grid, nobody there
 * @slots: all 0
 * @ops:   who owns which slot
 */
void vgpu_slots_setup(struct vgpu_slots *slots,
		      const struct vgpu_slots_ops *ops)
{
	slots->ops = ops;
	slots->queue = RB_ROOT_CACHED;
	slots->debtors = RB_ROOT_CACHED;
}

/**
 * vgpu_slots_place() - put an entity into the tree where it belongs
 * @slots:  the grid
 * @entity: in no tree
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_place(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	struct vgpu_slot_entity *se = &entity->slots;
	bool owes = se->debt_ns >= slots->slot_ns;

	if (!slots->len || !se->nr || !(owes || se->queued))
		return;
	se->slot = slots->ops->next(slots, entity, slots->slot);
	if (se->slot == VGPU_SLOT_NONE)
		return;
	se->debtor = owes;
	if (owes) {
		slots->debtor_slots += se->nr;
		rb_add_cached(&se->rb, &slots->debtors, slots_earlier);
	} else {
		rb_add_cached(&se->rb, &slots->queue, slots_earlier);
	}
}

/**
 * vgpu_slots_unplace() - take an entity out of the tree it is in
 * @slots:  the grid
 * @entity: perhaps in one
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_unplace(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	struct vgpu_slot_entity *se = &entity->slots;

	if (RB_EMPTY_NODE(&se->rb))
		return;
	if (se->debtor) {
		slots->debtor_slots -= se->nr;
		rb_erase_cached(&se->rb, &slots->debtors);
	} else {
		rb_erase_cached(&se->rb, &slots->queue);
	}
	RB_CLEAR_NODE(&se->rb);
}

static void slots_replace(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	vgpu_slots_unplace(slots, entity);
	vgpu_slots_place(slots, entity);
}

/**
 * vgpu_slots_forget() - an entity leaves
 * @slots:  the grid
 * @entity: not queued
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_forget(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	vgpu_slots_unplace(slots, entity);
	if (slots->owner == entity)
		slots->owner = NULL;
}

/* A cycle begins with the present slot, perhaps unlike the one before. */
static void slots_renew(struct vgpu_rq *rq, struct vgpu_slots *slots)
{
	slots->cycle = slots->slot;
	slots->slot_ns = rq->slice_ns;
	slots->dirty = false;
	slots->ops->renew(slots);
}

/**
 * vgpu_slots_begin() - begin a new cycle now
 * @rq:     run queue
 * @now_ns: the time
 *
 * Nobody runs in the present slot.
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_begin(struct vgpu_rq *rq, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;

	slots->begin_ns = now_ns;
	slots_renew(rq, slots);
}

/*
 * Lets whole cycles pass in which nothing happens but that those who owe a slot
 * pay: as many as time and debts allow. Return: whether any did.
 *
 * Tried once per cycle at most, it costs no more than the slots it saves: each
 * debtor has one at least.
 */
static bool slots_sweep(struct vgpu_slots *slots, u64 now_ns)
{
	struct vgpu_entity *entity;
	u64 left, cycle_ns, cycles = U64_MAX;
	struct rb_node *node, *next;

	if (slots->slot < slots->sweep || slots->debtor_slots > slots->len)
		return false;
	left = slots->len - slots->debtor_slots;
	cycle_ns = left * slots->slot_ns;
	if (now_ns - slots->begin_ns < cycle_ns)
		return false;
	slots->sweep = slots->slot + slots->len;
	if (cycle_ns)
		cycles = div64_u64(now_ns - slots->begin_ns, cycle_ns);
	for (node = rb_first_cached(&slots->debtors); node;
	     node = rb_next(node)) {
		entity = rb_entry(node, struct vgpu_entity, slots.rb);
		cycles = min(cycles, div64_u64(entity->slots.debt_ns,
					       slots->slot_ns *
					       entity->slots.nr));
	}
	if (!cycles)
		return false;

	slots->slot += cycles * slots->len;
	slots->cycle += cycles * slots->len;
	slots->begin_ns += cycles * cycle_ns;
	for (node = rb_first_cached(&slots->debtors); node; node = next) {
		next = rb_next(node);
		entity = rb_entry(node, struct vgpu_entity, slots.rb);
		entity->slots.slot += cycles * slots->len;
		entity->slots.debt_ns -= cycles * entity->slots.nr *
					 slots->slot_ns;
		if (entity->slots.debt_ns < slots->slot_ns)
			slots_replace(slots, entity);
	}
	return true;
}

/*
 * The present slot is a debtor's: it is taken out of the cycle. Unless it was
 * already, for another: shares should not overlap, but nothing hangs on that.
 */
static void slots_repay(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	if (entity->slots.slot == slots->slot) {
		entity->slots.debt_ns -= slots->slot_ns;
		slots->slot++;
	}
	slots_replace(slots, entity);
}

/**
 * vgpu_slots_advance() - bring the grid up to date
 * @rq:     run queue
 * @now_ns: the time
 *
 * Afterwards it is the present slot in which @now_ns lies, unless its owner runs
 * still.
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_advance(struct vgpu_rq *rq, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_entity *debtor;
	u64 slots_passed, end;

	if (slots->owner)
		return;
	while (slots->len) {
		bool changing = slots_changing(rq, slots);

		if (slots->slot - slots->cycle >= slots->len) {
			if (changing)
				slots_renew(rq, slots);
			else
				slots->cycle += div_u64(slots->slot -
							slots->cycle,
							slots->len) *
						slots->len;
			continue;
		}

		debtor = slots_first(&slots->debtors);
		if (debtor && debtor->slots.slot <= slots->slot) {
			if (changing || !slots_sweep(slots, now_ns))
				slots_repay(slots, debtor);
			continue;
		}

		if (now_ns - slots->begin_ns < slots->slot_ns)
			break;
		slots_passed = div64_u64(now_ns - slots->begin_ns,
					 slots->slot_ns);
		end = changing ? slots->cycle + slots->len : U64_MAX;
		if (debtor)
			end = min(end, debtor->slots.slot);
		slots_passed = min(slots_passed, end - slots->slot);
		slots->slot += slots_passed;
		slots->begin_ns += slots_passed * slots->slot_ns;
	}
}

/**
 * vgpu_slots_enqueue() - a policy's enqueue
 * @rq:     run queue
 * @entity: runnable
 * @woken:  whether it was not before
 * @now_ns: the time
 *
 * Context: the timeline's lock is held.
 * Return: false: nobody is in anybody's way.
 */
bool vgpu_slots_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			bool woken, u64 now_ns)
{
	vgpu_slots_advance(rq, now_ns);
	entity->slots.queued = true;
	if (RB_EMPTY_NODE(&entity->slots.rb))
		vgpu_slots_place(rq->data, entity);
	return false;
}

/**
 * vgpu_slots_dequeue() - a policy's dequeue
 * @rq:     run queue
 * @entity: queued
 * @now_ns: the time
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns)
{
	vgpu_slots_advance(rq, now_ns);
	entity->slots.queued = false;
	if (!entity->slots.debtor)
		vgpu_slots_unplace(rq->data, entity);
}

/* When to ask again, if nobody may run now. */
static u64 slots_until_ns(const struct vgpu_rq *rq,
			  const struct vgpu_slots *slots,
			  const struct vgpu_entity *first)
{
	const struct vgpu_entity *debtor = slots_first(&slots->debtors);
	u64 slot = VGPU_SLOT_NONE;

	if (slots_changing(rq, slots))
		slot = slots->cycle + slots->len;
	if (first)
		slot = min(slot, first->slots.slot);
	if (debtor)
		slot = min(slot, debtor->slots.slot);
	if (slot == VGPU_SLOT_NONE)
		return 0;
	return slots->begin_ns + (slot - slots->slot) * slots->slot_ns;
}

/**
 * vgpu_slots_pick() - a policy's pick
 * @rq:     run queue
 * @now_ns: the time
 * @pick:   set
 *
 * Context: the timeline's lock is held.
 * Return: the owner of the present slot, if it is queued, with the rest of that;
 * or NULL.
 */
struct vgpu_entity *vgpu_slots_pick(struct vgpu_rq *rq, u64 now_ns,
				    struct vgpu_pick *pick)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_entity *first;

	vgpu_slots_advance(rq, now_ns);
	if (!slots->len)
		return NULL;
	/* Whose slot has passed unused. */
	while ((first = slots_first(&slots->queue)) &&
	       first->slots.slot < slots->slot)
		slots_replace(slots, first);
	if (!first || first->slots.slot > slots->slot) {
		pick->until_ns = slots_until_ns(rq, slots, first);
		return NULL;
	}
	vgpu_slots_unplace(slots, first);
	first->slots.queued = false;
	slots->owner = first;
	pick->slice_ns = slots->begin_ns + slots->slot_ns - now_ns;
	pick->exclusive = true;
	return first;
}

/**
 * vgpu_slots_charge() - a policy's charge
 * @rq:     run queue
 * @entity: what ran
 * @ran_ns: how long it worked; all that counts is when it came to its end
 * @now_ns: the time
 *
 * What was put on the engine by another policy owes nothing, and the grid begins
 * when it is off.
 *
 * Context: the timeline's lock is held.
 */
void vgpu_slots_charge(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 ran_ns, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;
	u64 used_ns;

	if (slots->owner != entity) {
		vgpu_slots_advance(rq, now_ns);
		slots->slot = slots->cycle + slots->len;
		vgpu_slots_begin(rq, now_ns);
		return;
	}
	slots->owner = NULL;
	used_ns = now_ns - slots->begin_ns;
	if (used_ns <= slots->slot_ns)
		return;
	entity->slots.debt_ns += used_ns - slots->slot_ns;
	slots->slot++;
	slots->begin_ns = now_ns;
	slots_replace(slots, entity);
}
