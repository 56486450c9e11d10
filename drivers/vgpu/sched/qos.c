// SPDX-License-Identifier: GPL-2.0
/*
 * qos: a guarantee, a cap and a weight per vGPU; unused time is given away.
 *
 * There are two classes of runs. Entities whose guarantee is due are served first, by earliest
 * deadline. The excess, which is the time left, goes to all entities by weight. A cap bounds both.
 * Each entity has three tags, as in
 *
 *   A. Gulati, A. Merchant, P. Varman, "mClock: handling throughput variability for hypervisor IO
 *   scheduling", OSDI 2010:
 *
 * - reservation: when the entity's guarantee is due next. Entities with a guarantee are constant
 *   bandwidth servers under earliest deadline first: L. Abeni, G. Buttazzo, "Integrating multimedia
 *   applications in hard real-time systems", RTSS 1998; C. Liu, J. Layland, "Scheduling algorithms
 *   for multiprogramming in a hard-real-time environment", JACM 20(1), 1973.
 * - virtual start: the entity's place in the excess, by start-time fair queuing: P. Goyal, H. Vin,
 *   H. Cheng, "Start-time fair queueing: a scheduling algorithm for integrated services packet
 *   switching networks", SIGCOMM 1996.
 * - limit: the entity may not run before this time. A run may begin as if up to one slice of cap
 *   had been saved up: with nothing saved, a cap near the guarantee starves the guarantee; with
 *   more, the cap leaks.
 *
 * Two things differ from mClock: service of the guarantee does not move the place in the excess, so
 * that the excess comes on top of the guarantee; and when an entity falls idle, no other entity's
 * tags are moved. An entity that wakes has no credit: its tags are moved up to now, minus the time
 * of one run of another entity if the gap was no longer than a guest thinks (qos_wake()). The tags
 * of an entity that stays runnable are not moved: it gets back the time that it waited too long.
 * Tags outlive close and reset. A run is charged in full, overrun included.
 *
 * With S the slice, p the largest overrun past it, Q = S + p, in every interval T: service of a
 * runnable entity >= g T - 2 Q; service <= c T + 2 Q; the engine is not idle while a cap lets a
 * runnable entity run (Documentation/scheduler.rst).
 *
 * qos_tree.c finds the entity with the earliest deadline, or the least virtual start, in O(log n).
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "qos.h"
#include "trace.h"

/*
 * p is the largest recent overrun, limited to the largest preemption timeout, which is this. It
 * decays by half in some 700 runs.
 */
#define QOS_OVERRUN_NS	(1000 * 1000 * 1000ULL)
#define QOS_DECAY	10

/*
 * Deadlines are computed with a p (the largest recent overrun) that falls only when p has fallen by
 * this part of the least Q. So overruns of about one size, with smaller ones between them, do not
 * change the deadlines of queued entities.
 */
#define QOS_COUNTED_PART	16

/*
 * A reservation tag may lag behind the clock by the service that its entity is owed. But after the
 * whole machine stood still, entities with a guarantee would then have the whole engine for as long
 * again. So a tag lags by at most this number of runs plus a second.
 */
#define QOS_LAG_RUNS	4
#define QOS_LAG_NS	(1000 * 1000 * 1000ULL)

/*
 * Distances of tags stay small enough to be told from a wrap and to be multiplied by 1000: one run
 * is charged at most QOS_RAN_NS, some hours (after a clock that jumped); a tag lags by at most
 * QOS_BEHIND_NS; and a virtual start is at most QOS_VIRTUAL away from virtual time, which can pass
 * 1000 times as fast as time, so that it wraps within months.
 */
#define QOS_RAN_NS	(10000ULL * 1000 * 1000 * 1000)
#define QOS_BEHIND_NS	(1000 * QOS_RAN_NS / 2)
#define QOS_VIRTUAL	BIT_ULL(54)

/* Moves a virtual start in the past up to virtual time @now, however old it is. */
static u64 qos_start(u64 start, u64 now)
{
	return start - now <= QOS_VIRTUAL ? start : now;
}

static int qos_rq_init(struct vgpu_rq *rq)
{
	struct vgpu_qos *qos = kzalloc(sizeof(*qos), GFP_KERNEL);

	if (!qos)
		return -ENOMEM;
	vgpu_qos_tree_init(qos);
	rq->data = qos;
	return 0;
}

static void qos_rq_exit(struct vgpu_rq *rq)
{
	kfree(rq->data);
	rq->data = NULL;
}

static void qos_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	q->reserve_ns = now_ns;
	q->limit_ns = now_ns;
	q->start = qos->now;
	q->end_ns = now_ns;
	vgpu_qos_tree_init_entity(entity);
}

/* Removes the entity that was picked last from the trees, unless it was queued again. */
static void qos_remove_last(struct vgpu_qos *qos)
{
	if (qos->last)
		vgpu_qos_tree_remove(qos, qos->last);
	qos->last = NULL;
}

static void qos_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	struct vgpu_qos *qos = rq->data;

	if (qos->last == entity)
		qos_remove_last(qos);
}

/*
 * Moves the tags of an entity that wakes up to now: it gets no credit for its sleep. But an entity
 * that ran out of work and soon has more is treated as always busy: its reservation tag may lag
 * behind, as the entity is owed the time that it waited before the gap, and also the gap if others
 * had the engine then.
 *
 * Whatever the cause of a gap (no work, stalls, resets, closing), the lag that survives it is
 * limited to the longest run of another entity plus the gap itself. (The engine lingers on an
 * entity that is owed more, which then has no gap.) This is time, not service: all entities of a
 * GPU, whose guarantees sum up to at most the whole engine, together save up at most one such time
 * of service.
 *
 * For gaps longer than linger_ns the kept lag shrinks, down to nothing at twice linger_ns: with a
 * sharp limit, a guest would lose most of its service by thinking a microsecond longer.
 */
static void qos_wake(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);
	u64 slept_ns = now_ns - q->end_ns, gap_ns = q->gap_ns + slept_ns;
	u64 kept_ns = 0;

	q->stay_ns = 0;
	if (gap_ns < 2 * rq->linger_ns) {
		q->stay_ns = min(rq->linger_ns, 2 * rq->linger_ns - gap_ns);
		kept_ns = rq->slice_ns + qos->overrun_ns + gap_ns;
		if (q->stay_ns < rq->linger_ns)
			kept_ns = mul_u64_u32_div(kept_ns, q->stay_ns, rq->linger_ns);
		if (q->idled && vgpu_qos_before(q->reserve_ns, q->end_ns))
			q->reserve_ns += slept_ns;
	}
	/* An entity that is owed nothing gets its guarantee without lingering. */
	if (gap_ns > rq->linger_ns && !vgpu_qos_before(q->reserve_ns, now_ns))
		q->stay_ns = 0;
	q->reserve_ns = vgpu_qos_later(q->reserve_ns, now_ns - kept_ns);
	q->start = qos_start(q->start, qos->now);
}

static bool qos_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	if (qos->last == entity)
		qos->last = NULL;
	if (woken)
		qos_wake(rq, entity, now_ns);
	q->slice_ns = rq->slice_ns;
	vgpu_qos_tree_add(qos, entity, now_ns);
	/* A guarantee that is due preempts a run of the excess. */
	return woken && entity->share.guarantee && rq->running &&
	       !vgpu_qos_of(rq->running)->reserved && !vgpu_qos_before(now_ns, q->eligible_ns);
}

static void qos_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	vgpu_qos_tree_remove(rq->data, entity);
}

/*
 * Returns for how long the engine lingers in a run of the guarantee. If the entity's last gap was
 * at most linger_ns, the engine waits for linger_ns in each run. With longer gaps, up to twice
 * linger_ns, the engine waits for twice linger_ns, in fewer runs the longer the gap was. So a
 * guest's service decreases gradually with the time that it thinks, without a step at linger_ns.
 */
static u64 qos_linger_ns(const struct vgpu_rq *rq, struct vgpu_qos_entity *q)
{
	q->stayed_ns += q->stay_ns;
	if (!q->stay_ns || q->stayed_ns < rq->linger_ns)
		return 0;
	q->stayed_ns = min_t(u64, q->stayed_ns - rq->linger_ns, rq->linger_ns);
	return q->stay_ns < rq->linger_ns ? 2 * rq->linger_ns : rq->linger_ns;
}

/* Limit of a run of the excess: until the next guarantee comes due, but at least half a slice. */
static u64 qos_excess_ns(const struct vgpu_rq *rq, u64 now_ns)
{
	const struct vgpu_qos *qos = rq->data;
	struct rb_node *node = rb_first_cached(&qos->by_due);
	u64 due_ns = U64_MAX;

	/* The guarantee of the entity that runs does not count. */
	if (node && node == &vgpu_qos_of(qos->last)->by_due)
		node = rb_next(node);
	if (node)
		due_ns = rb_entry(node, struct vgpu_qos_entity, by_due)->eligible_ns - now_ns;
	return clamp(due_ns, rq->slice_ns / 2, rq->slice_ns);
}

static struct vgpu_entity *qos_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_qos *qos = rq->data;
	u64 most_ns = rq->slice_ns + qos->overrun_ns, lag_ns;
	struct vgpu_entity *entity;
	struct vgpu_qos_entity *q;
	bool due;

	qos_remove_last(qos);
	entity = vgpu_qos_tree_pick(qos, now_ns, &due);
	if (!entity) {
		pick->until_ns = vgpu_qos_tree_next_free(qos);
		return NULL;
	}
	q = vgpu_qos_of(entity);
	q->reserved = due;
	qos->last = entity;
	if (due) {
		if (vgpu_qos_before(q->reserve_ns, now_ns - QOS_LAG_NS)) {
			lag_ns = QOS_LAG_NS + vgpu_qos_span(QOS_LAG_RUNS * most_ns,
							    entity->share.guarantee);
			q->reserve_ns = vgpu_qos_later(q->reserve_ns, now_ns - lag_ns);
		}
		pick->slice_ns = min(q->slice_ns, rq->slice_ns);
		pick->linger_ns = qos_linger_ns(rq, q);
		q->start = vgpu_qos_later(q->start, qos->now - QOS_VIRTUAL);
	} else {
		q->start = vgpu_qos_later(q->start, qos->now);
		qos->now = q->start;
		pick->slice_ns = qos_excess_ns(rq, now_ns);
	}
	if (entity->share.cap < VGPU_PER_MILLE)
		q->limit_ns = vgpu_qos_later(q->limit_ns, now_ns -
					     vgpu_qos_span(most_ns, entity->share.cap));
	qos->slice_ns = pick->slice_ns;
	qos->linger_ns = pick->linger_ns;
	qos->begin_ns = now_ns;
	trace_vgpu_qos(entity);
	return entity;
}

static void qos_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	const struct vgpu_share *share = &entity->share;
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);
	u64 idle_ns = now_ns - qos->begin_ns - ran_ns, least_ns;

	ran_ns = min(ran_ns, QOS_RAN_NS);
	qos->overrun_ns -= qos->overrun_ns >> QOS_DECAY;
	if (qos->slice_ns && ran_ns > qos->slice_ns)
		qos->overrun_ns = clamp(ran_ns - qos->slice_ns, qos->overrun_ns, QOS_OVERRUN_NS);
	least_ns = VGPU_SLICE_MIN_NS + qos->overrun_ns;
	if (qos->overrun_ns > qos->counted_ns)
		vgpu_qos_tree_recount(qos);
	else
		qos->counted_ns = min(qos->counted_ns,
				      qos->overrun_ns + least_ns / QOS_COUNTED_PART);
	if (!qos->slice_ns) {
		/* Another policy began the run: only the time after the change counts. */
		ran_ns = min(ran_ns, now_ns - q->end_ns);
		idle_ns = 0;
	}
	qos->slice_ns = 0;

	if (share->cap < VGPU_PER_MILLE)
		q->limit_ns += vgpu_qos_span(ran_ns, share->cap);
	if (q->reserved && share->guarantee) {
		/* While the engine was idle the entity was owed nothing. */
		q->reserve_ns += max(vgpu_qos_span(ran_ns, share->guarantee), ran_ns + idle_ns);
	} else {
		q->start += vgpu_qos_span(ran_ns, share->weight);
		if (idle_ns)
			q->reserve_ns = vgpu_qos_later(q->reserve_ns, now_ns - ran_ns);
	}
	q->reserved = false;
	q->gap_ns = rq->outlasted ? qos->linger_ns + 1 : 0;
	q->idled = idle_ns;
	q->end_ns = now_ns;
}

/* Moves a tag so that it stands for as much service before or after @now as before. */
static u64 qos_rescale(u64 tag, u64 now, u32 from, u32 to)
{
	s64 ahead = tag - now;

	if (ahead < 0)
		return now - mul_u64_u32_div(min_t(u64, -ahead, QOS_BEHIND_NS), from, to);
	return now + mul_u64_u32_div(ahead, from, to);
}

/*
 * The service of the current run so far counts by the old share, but the whole run will be charged
 * by the new one: subtract the difference beforehand.
 *
 * A raised cap holds at once, and service above the old cap is forgiven: otherwise the engine would
 * be idle while the entity may use it.
 */
static void qos_reshare(struct vgpu_rq *rq, struct vgpu_entity *entity,
			const struct vgpu_share *share, u64 now_ns)
{
	const struct vgpu_share *old = &entity->share;
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);
	u64 ran_ns = 0, reserved_ns = 0;

	if (qos->last == entity)
		qos_remove_last(qos);
	q->period_of_ns = 0;
	if (rq->running == entity)
		ran_ns = min(now_ns - vgpu_qos_later(qos->begin_ns, q->end_ns), QOS_RAN_NS);
	if (q->reserved)
		swap(ran_ns, reserved_ns);

	if (!old->guarantee || !share->guarantee) {
		q->reserve_ns = now_ns;
	} else {
		q->reserve_ns += vgpu_qos_span(reserved_ns, old->guarantee);
		q->reserve_ns = qos_rescale(q->reserve_ns, now_ns, old->guarantee,
					    share->guarantee);
		q->reserve_ns -= vgpu_qos_span(reserved_ns, share->guarantee);
	}
	/* The amount of cap that may be saved up is limited when a run begins. */
	if (old->cap == VGPU_PER_MILLE)
		q->limit_ns = now_ns;
	else
		q->limit_ns += vgpu_qos_span(ran_ns + reserved_ns, old->cap);
	q->limit_ns = qos_rescale(q->limit_ns, now_ns, old->cap, share->cap);
	if (share->cap > old->cap && vgpu_qos_before(now_ns, q->limit_ns))
		q->limit_ns = now_ns;
	q->limit_ns -= vgpu_qos_span(ran_ns + reserved_ns, share->cap);

	q->start = qos_start(q->start, qos->now) + vgpu_qos_span(ran_ns, old->weight);
	q->start = qos_rescale(q->start, qos->now, old->weight, share->weight) -
		   vgpu_qos_span(ran_ns, share->weight);
}

const struct vgpu_sched_policy vgpu_policy_qos = {
	.name = "qos",
	.frl = VGPU_FRL_MODE_SET,
	.due = VGPU_DUE_SHARE,
	.rq_init = qos_rq_init,
	.rq_exit = qos_rq_exit,
	.init = qos_init,
	.exit = qos_exit,
	.enqueue = qos_enqueue,
	.dequeue = qos_dequeue,
	.pick = qos_pick,
	.charge = qos_charge,
	.reshare = qos_reshare,
};
