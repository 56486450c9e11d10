// SPDX-License-Identifier: GPL-2.0
/*
 * Time slots on a grid: the common part of equal_share and fixed_share.
 *
 * Time division as in time-triggered systems (H. Kopetz, "Event-triggered versus time-triggered
 * real-time systems", LNCS 563, 1991): a cycle of slots of one length S, each with an owner or
 * none; in a slot only its owner runs. Work that arrives in the middle of a slot starts at once
 * with the rest of it; an owner that goes idle keeps its slot. So, except for overruns, no entity
 * notices another's load.
 *
 * A slot begins at its time on the grid, however late the timer's interrupt or the thread is that
 * begins it: its end and the next slot do not move. Such a latency shortens the slot that it falls
 * into, and no other slot. It is not charged, is no entity's debt and no overrun.
 *
 * An overrun does not shorten a later slot, slots are always full: the grid waits until the engine
 * is free, and goes on from there; the entity that overran owes the time, and carries it like a
 * deficit (M. Shreedhar and G. Varghese, "Efficient fair queuing using deficit round-robin",
 * IEEE/ACM Transactions on Networking 4(3), 1996). Once an entity owes a slot, its next slot is
 * taken out of the cycle, which brings forward what follows: so the others get back what they lost.
 *
 * Consequences. Let a debt be overrun not yet paid back, D the sum of all debts, s an entity's
 * share of the cycle. A slot passes in S plus its overrun, or in no time if it is taken out, and
 * so, whatever any entity does,
 *
 *	service - debt - s (time - D)
 *
 * of an entity that is always runnable changes, in any interval, by no more than its slots are
 * unevenly spaced: by less than S where each has the same distance to the next (fixed_share.c says
 * where not, and by how many S then: as many take the place of the first S in T1 and T3). For other
 * entities it does not grow by more. A debt stays below S + p, p the largest overrun of its owner.
 * This gives
 *
 * T1 always runnable: |service - s T| <= S + p + debts outstanding;
 * T2 with neighbours hogging and with neighbours off, start times and completed work differ by no
 *    more than the debts outstanding, so not at all if there are none;
 * T3 whatever an entity does, with D at the beginning of T:
 *    if it never overruns, service <= s T + S + s D. However long others overrun, of that it gets
 *    its share of what they owe as they pay it back, and nothing more;
 *    if it does, p being its own longest overrun, service <= s T + S + s D + (S + p): the last term
 *    is the debt that it carries. An entity that overruns a little each time gets there: less would
 *    need short slots, or more taken away than is owed.
 *
 * All of that while slot length and membership stay the same; both change at the end of a cycle
 * only.
 *
 * The grid is not walked. Two trees hold the queued entities and those that owe a slot, by the
 * number of each one's next slot, which is calculated. Between two slots that matter the grid
 * advances by division. A slot that is taken out has cost a slot of overrun before, and where time
 * or debts are long whole cycles pass at once.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "slots.h"

static struct vgpu_entity *slots_first(const struct rb_root_cached *tree)
{
	struct rb_node *first = rb_first_cached(tree);

	return first ? vgpu_part_entity(rb_entry(first, struct vgpu_slot_entity, rb)) : NULL;
}

static bool slots_earlier(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_slot_entity, rb)->slot <
	       rb_entry(b, struct vgpu_slot_entity, rb)->slot;
}

/* Whether the next cycle differs from the current one. */
static bool slots_changing(const struct vgpu_rq *rq, const struct vgpu_slots *slots)
{
	return slots->dirty || slots->slot_ns != rq->slice_ns;
}

/* Sets up a run queue without a grid. @slots is zeroed; @ops live as long as @slots. */
void vgpu_slots_setup(struct vgpu_slots *slots, const struct vgpu_slots_ops *ops)
{
	slots->ops = ops;
	slots->queue = RB_ROOT_CACHED;
	slots->debtors = RB_ROOT_CACHED;
}

/* Inserts an entity, which is in no tree, into the tree to which it belongs, if any. */
void vgpu_slots_place(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);
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

/* Removes an entity from its tree, if it is in any. */
void vgpu_slots_unplace(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);

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

/* Forgets an entity that leaves the timeline and is not queued. */
void vgpu_slots_forget(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	vgpu_slots_unplace(slots, entity);
	if (slots->owner == entity)
		slots->owner = NULL;
}

/* Begins a cycle with the current slot; slot length and membership may have changed. */
static void slots_renew(struct vgpu_rq *rq, struct vgpu_slots *slots)
{
	slots->cycle = slots->slot;
	slots->slot_ns = rq->slice_ns;
	slots->dirty = false;
	slots->ops->renew(slots);
}

/* Begins a new cycle now; no entity runs in the current slot. */
void vgpu_slots_begin(struct vgpu_rq *rq, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;

	slots->begin_ns = now_ns;
	slots_renew(rq, slots);
}

/*
 * Skips whole cycles in which debtors pay and nothing else happens, as many as time and debts
 * allow. Returns whether a cycle was skipped.
 *
 * If tried at most once per cycle, this costs no more than walking the slots that it skips, since
 * each debtor has at least one.
 */
static bool slots_sweep(struct vgpu_slots *slots, u64 now_ns)
{
	u64 left, cycle_ns, cycles = U64_MAX;
	struct rb_node *node, *next;
	struct vgpu_slot_entity *se;

	if (slots->slot < slots->sweep || slots->debtor_slots > slots->len)
		return false;
	left = slots->len - slots->debtor_slots;
	cycle_ns = left * slots->slot_ns;
	if (now_ns - slots->begin_ns < cycle_ns)
		return false;
	slots->sweep = slots->slot + slots->len;
	if (cycle_ns)
		cycles = div64_u64(now_ns - slots->begin_ns, cycle_ns);
	for (node = rb_first_cached(&slots->debtors); node; node = rb_next(node)) {
		se = rb_entry(node, struct vgpu_slot_entity, rb);
		cycles = min(cycles, div64_u64(se->debt_ns, slots->slot_ns * se->nr));
	}
	if (!cycles)
		return false;

	slots->slot += cycles * slots->len;
	slots->cycle += cycles * slots->len;
	slots->begin_ns += cycles * cycle_ns;
	for (node = rb_first_cached(&slots->debtors); node; node = next) {
		next = rb_next(node);
		se = rb_entry(node, struct vgpu_slot_entity, rb);
		se->slot += cycles * slots->len;
		se->debt_ns -= cycles * se->nr * slots->slot_ns;
		if (se->debt_ns < slots->slot_ns)
			slots_replace(slots, vgpu_part_entity(se));
	}
	return true;
}

/*
 * Takes the current slot, a debtor's, out of the cycle, unless it was already taken out for another
 * debtor. (Shares should not overlap, but nothing depends on that.)
 */
static void slots_repay(struct vgpu_slots *slots, struct vgpu_entity *entity)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);

	if (se->slot == slots->slot) {
		se->debt_ns -= slots->slot_ns;
		slots->slot++;
	}
	slots_replace(slots, entity);
}

/*
 * Advances the grid: afterwards @now_ns lies in the current slot, unless that slot's owner is still
 * running.
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
				slots->cycle += div_u64(slots->slot - slots->cycle, slots->len) *
						slots->len;
			continue;
		}

		debtor = slots_first(&slots->debtors);
		if (debtor && vgpu_slots_of(debtor)->slot <= slots->slot) {
			if (changing || !slots_sweep(slots, now_ns))
				slots_repay(slots, debtor);
			continue;
		}

		if (now_ns - slots->begin_ns < slots->slot_ns)
			break;
		slots_passed = div64_u64(now_ns - slots->begin_ns, slots->slot_ns);
		end = changing ? slots->cycle + slots->len : U64_MAX;
		if (debtor)
			end = min(end, vgpu_slots_of(debtor)->slot);
		slots_passed = min(slots_passed, end - slots->slot);
		slots->slot += slots_passed;
		slots->begin_ns += slots_passed * slots->slot_ns;
	}
}

/* ->enqueue(): never preempts an entity in its slot for another one. */
bool vgpu_slots_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);

	vgpu_slots_advance(rq, now_ns);
	se->queued = true;
	if (RB_EMPTY_NODE(&se->rb))
		vgpu_slots_place(rq->data, entity);
	return false;
}

void vgpu_slots_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);

	vgpu_slots_advance(rq, now_ns);
	se->queued = false;
	if (!se->debtor)
		vgpu_slots_unplace(rq->data, entity);
}

/* Returns when to ask again if no entity may run now. @first is the first of slots->queue. */
static u64 slots_until_ns(const struct vgpu_rq *rq, const struct vgpu_slots *slots,
			  const struct vgpu_entity *first)
{
	const struct vgpu_entity *debtor = slots_first(&slots->debtors);
	u64 slot = VGPU_SLOT_NONE;

	if (slots_changing(rq, slots))
		slot = slots->cycle + slots->len;
	if (first)
		slot = min(slot, vgpu_slots_of(first)->slot);
	if (debtor)
		slot = min(slot, vgpu_slots_of(debtor)->slot);
	if (slot == VGPU_SLOT_NONE)
		return 0;
	return slots->begin_ns + (slot - slots->slot) * slots->slot_ns;
}

/* ->pick(): picks the owner of the current slot, if it is queued, for the rest of that slot. */
struct vgpu_entity *vgpu_slots_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_entity *first;

	vgpu_slots_advance(rq, now_ns);
	if (!slots->len)
		return NULL;
	/* Entities whose slot has passed unused get the number of their next one. */
	while ((first = slots_first(&slots->queue)) && vgpu_slots_of(first)->slot < slots->slot)
		slots_replace(slots, first);
	if (!first || vgpu_slots_of(first)->slot > slots->slot) {
		pick->until_ns = slots_until_ns(rq, slots, first);
		return NULL;
	}
	vgpu_slots_unplace(slots, first);
	vgpu_slots_of(first)->queued = false;
	slots->owner = first;
	pick->slice_ns = slots->begin_ns + slots->slot_ns - now_ns;
	pick->exclusive = true;
	return first;
}

/*
 * ->charge(): the end of the run counts, not its service. An entity that another policy put on the
 * engine owes nothing, and the grid begins when that entity is off the engine.
 */
void vgpu_slots_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
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
	vgpu_slots_of(entity)->debt_ns += used_ns - slots->slot_ns;
	slots->slot++;
	slots->begin_ns = now_ns;
	slots_replace(slots, entity);
}
