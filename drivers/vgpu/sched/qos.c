// SPDX-License-Identifier: GPL-2.0
/*
 * qos: a guarantee, a cap and a weight per vGPU; unused time is given away.
 *
 * Two classes. What a vGPU gets of its guarantee is served first, by earliest
 * deadline; what is left goes to all by weight; the cap bounds both. Each entity
 * has three tags, as in
 *
 *   A. Gulati, A. Merchant, P. Varman, "mClock: handling throughput variability
 *   for hypervisor IO scheduling", OSDI 2010:
 *
 * - reservation: when its guarantee is due next. The guaranteed are constant
 *   bandwidth servers under earliest deadline first: L. Abeni, G. Buttazzo,
 *   "Integrating multimedia applications in hard real-time systems", RTSS 1998;
 *   C. Liu, J. Layland, "Scheduling algorithms for multiprogramming in a
 *   hard-real-time environment", JACM 20(1), 1973.
 * - virtual start: its place in the excess, by start-time fair queuing: P. Goyal,
 *   H. Vin, H. Cheng, "Start-time fair queueing: a scheduling algorithm for
 *   integrated services packet switching networks", SIGCOMM 1996.
 * - limit: before that it may not run. A run may begin as if up to one slice of
 *   cap had been saved up: with nothing saved a cap near the guarantee starves it,
 *   with more it leaks.
 *
 * Unlike mClock, service of the guarantee does not move the place in the excess,
 * so that the excess comes on top of it, and tags are moved for nobody else when
 * somebody falls idle. An entity that wakes has no credit: its tags are brought
 * up to now, but for one foreign run's time if it was away for no longer than it
 * takes to think (qos_wake()). The tags of an entity that stays runnable are not
 * touched: what it waited too long is made good. Tags outlive close and reset. A
 * run is charged in full, overrun included.
 *
 * With S the slice, p the largest overrun past it, Q = S + p, every interval T:
 * service of who is runnable >= g T - 2 Q; service <= c T + 2 Q; the engine is
 * not idle while a cap lets somebody run (Documentation/scheduler.rst).
 *
 * Both trees are augmented, so a pick searches one path down each: O(log n),
 * with no entity to be moved as time passes. The trees have copies of the tags,
 * which change when an entity is queued and at no other time: so the entity that
 * runs can stay in them.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rbtree_augmented.h>
#include <linux/slab.h>

#include "policy.h"
#include "trace.h"

/*
 * p is the largest overrun of late, of which no more than this is believed: the
 * largest preemption timeout. It is halved in some 700 runs.
 */
#define QOS_OVERRUN_NS	(1000 * 1000 * 1000ULL)
#define QOS_DECAY	10

/*
 * What p deadlines are counted with falls only when p is less by this part of the
 * least Q. So overruns of about one size, with others between, change no deadline
 * of what is queued.
 */
#define QOS_COUNTED_PART	16

/*
 * A reservation tag may lag behind by what its entity is owed; but after the
 * whole machine stood still, the guaranteed would have all of the engine for as
 * long again. So the lag ends at as many runs, and a second.
 */
#define QOS_LAG_RUNS	4
#define QOS_LAG_NS	(1000 * 1000 * 1000ULL)

/*
 * Distances of tags stay where they can be told and multiplied by 1000: not more
 * than this, some hours, is charged of a run (a clock that jumped), nor kept of
 * what a tag lags; and a virtual start is no further from virtual time, which
 * can pass 1000 times as fast as time: that wraps within months.
 */
#define QOS_RAN_NS	(10000ULL * 1000 * 1000 * 1000)
#define QOS_BEHIND_NS	(1000 * QOS_RAN_NS / 2)
#define QOS_VIRTUAL	BIT_ULL(54)

/**
 * struct vgpu_qos - a run queue's state
 * @by_due:    queued entities with a guarantee, by when it may run for it
 * @by_start:  all queued, by virtual start
 * @now:       virtual time: the start of the last run of the excess
 * @overrun_ns: the largest of late
 * @counted_ns: as deadlines are counted: not less, nor more than p ever was
 * @last:      the entity that was picked last, in the trees still; NULL: none.
 *             Most often it is queued again at once, and one tree at most changes
 * @slice_ns:  of the run under way; 0: it is not of this policy
 * @linger_ns: likewise, how long the engine waits for more of it
 * @begin_ns:  when that began
 */
struct vgpu_qos {
	struct rb_root_cached by_due;
	struct rb_root_cached by_start;
	u64 now;
	u64 overrun_ns;
	u64 counted_ns;
	struct vgpu_entity *last;
	u64 slice_ns;
	u64 linger_ns;
	u64 begin_ns;
};

#define due_entity(node)	rb_entry(node, struct vgpu_entity, qos.by_due)
#define start_entity(node)	rb_entry(node, struct vgpu_entity, qos.by_start)

/* Tags wrap, like the clock. */
static bool qos_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static u64 qos_later(u64 a, u64 b)
{
	return qos_before(a, b) ? b : a;
}

/* A virtual start that is not in the past, though that may be long ago. */
static u64 qos_start(u64 start, u64 now)
{
	return start - now <= QOS_VIRTUAL ? start : now;
}

/* For how long @service_ns lasts at @share per mille, or by weight. */
static u64 qos_span(u64 service_ns, u32 share)
{
	return div_u64(service_ns * VGPU_PER_MILLE, share);
}

static bool qos_due_compute(struct vgpu_entity *entity, bool exit)
{
	struct vgpu_qos_entity *q = &entity->qos;
	struct rb_node *left = q->by_due.rb_left, *right = q->by_due.rb_right;
	u64 min_ns = q->deadline_ns;

	if (left && qos_before(due_entity(left)->qos.min_deadline_ns, min_ns))
		min_ns = due_entity(left)->qos.min_deadline_ns;
	if (right && qos_before(due_entity(right)->qos.min_deadline_ns, min_ns))
		min_ns = due_entity(right)->qos.min_deadline_ns;
	if (exit && q->min_deadline_ns == min_ns)
		return true;
	q->min_deadline_ns = min_ns;
	return false;
}

static bool qos_start_compute(struct vgpu_entity *entity, bool exit)
{
	struct vgpu_qos_entity *q = &entity->qos;
	struct rb_node *left = q->by_start.rb_left;
	struct rb_node *right = q->by_start.rb_right;
	u64 min_ns = q->free_ns;

	if (left && qos_before(start_entity(left)->qos.min_free_ns, min_ns))
		min_ns = start_entity(left)->qos.min_free_ns;
	if (right && qos_before(start_entity(right)->qos.min_free_ns, min_ns))
		min_ns = start_entity(right)->qos.min_free_ns;
	if (exit && q->min_free_ns == min_ns)
		return true;
	q->min_free_ns = min_ns;
	return false;
}

RB_DECLARE_CALLBACKS(static, qos_due_cb, struct vgpu_entity, qos.by_due,
		     qos.min_deadline_ns, qos_due_compute);
RB_DECLARE_CALLBACKS(static, qos_start_cb, struct vgpu_entity, qos.by_start,
		     qos.min_free_ns, qos_start_compute);

static bool qos_due_less(struct rb_node *a, const struct rb_node *b)
{
	return qos_before(due_entity(a)->qos.eligible_ns,
			  due_entity(b)->qos.eligible_ns);
}

static bool qos_start_less(struct rb_node *a, const struct rb_node *b)
{
	return qos_before(start_entity(a)->qos.place,
			  start_entity(b)->qos.place);
}

static int qos_rq_init(struct vgpu_rq *rq)
{
	struct vgpu_qos *qos = kzalloc(sizeof(*qos), GFP_KERNEL);

	if (!qos)
		return -ENOMEM;
	qos->by_due = RB_ROOT_CACHED;
	qos->by_start = RB_ROOT_CACHED;
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
	struct vgpu_qos_entity *q = &entity->qos;

	q->reserve_ns = now_ns;
	q->limit_ns = now_ns;
	q->start = qos->now;
	q->reserved = false;
	q->end_ns = now_ns;
	RB_CLEAR_NODE(&q->by_due);
	RB_CLEAR_NODE(&q->by_start);
}

/* Takes an entity out of the trees. */
static void qos_remove(struct vgpu_qos *qos, struct vgpu_entity *entity)
{
	struct vgpu_qos_entity *q = &entity->qos;

	rb_erase_augmented_cached(&q->by_start, &qos->by_start, &qos_start_cb);
	RB_CLEAR_NODE(&q->by_start);
	if (RB_EMPTY_NODE(&q->by_due))
		return;
	rb_erase_augmented_cached(&q->by_due, &qos->by_due, &qos_due_cb);
	RB_CLEAR_NODE(&q->by_due);
}

/* The entity that ran last does not stay, or cannot stay where it was. */
static void qos_remove_last(struct vgpu_qos *qos)
{
	if (qos->last)
		qos_remove(qos, qos->last);
	qos->last = NULL;
}

static void qos_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	struct vgpu_qos *qos = rq->data;

	if (qos->last == entity)
		qos_remove_last(qos);
}

/*
 * A sleeping entity gets no credit. But an entity that ran out of work and has
 * more soon is as good as always busy: its tag is not brought up to now, as it
 * is owed what it waited before, and while it was away, too, if the engine went
 * to others.
 *
 * However the gaps were made, by want of work, stalls, resets or closing, no
 * more than this survives one: the time for which the run of another entity can
 * have kept the engine, and the gap itself. An entity that is owed more would
 * not have been off the engine, as the engine lingers on it. As time, not as
 * service: so the entities of a GPU, whose guarantees are not more than the
 * whole engine, have saved up one such time of service together at most.
 *
 * From gaps of linger_ns on all of this becomes less, and is nothing at twice
 * that: a sharp end would be a cliff to fall off for a microsecond of thinking.
 */
static void qos_wake(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = &entity->qos;
	u64 slept_ns = now_ns - q->end_ns, gap_ns = q->gap_ns + slept_ns;
	u64 kept_ns = 0;

	q->stay_ns = 0;
	if (gap_ns < 2 * rq->linger_ns) {
		q->stay_ns = min(rq->linger_ns, 2 * rq->linger_ns - gap_ns);
		kept_ns = rq->slice_ns + qos->overrun_ns + gap_ns;
		if (q->stay_ns < rq->linger_ns)
			kept_ns = mul_u64_u32_div(kept_ns, q->stay_ns,
						  rq->linger_ns);
		if (q->idled && qos_before(q->reserve_ns, q->end_ns))
			q->reserve_ns += slept_ns;
	}
	/* Its short turns are enough for its guarantee: no need to wait for more. */
	if (gap_ns > rq->linger_ns && !qos_before(q->reserve_ns, now_ns))
		q->stay_ns = 0;
	q->reserve_ns = qos_later(q->reserve_ns, now_ns - kept_ns);
	q->start = qos_start(q->start, qos->now);
}

static u64 qos_deadline(const struct vgpu_qos *qos, struct vgpu_entity *entity)
{
	struct vgpu_qos_entity *q = &entity->qos;
	u64 service_ns = q->slice_ns + qos->counted_ns;

	if (q->period_of_ns != service_ns) {
		q->period_of_ns = service_ns;
		q->period_ns = qos_span(service_ns, entity->share.guarantee);
	}
	return q->base_ns + q->period_ns;
}

/* Whether an entity that moves back to @key is still before the next one. */
static bool qos_stays(struct rb_node *node, u64 key, bool due)
{
	struct rb_node *next = rb_next(node);

	if (!next)
		return true;
	return qos_before(key, due ? due_entity(next)->qos.eligible_ns :
				     start_entity(next)->qos.place);
}

/* Into the tree of all, or to where it belongs there now. */
static void qos_place_start(struct vgpu_qos *qos, struct vgpu_entity *entity)
{
	struct vgpu_qos_entity *q = &entity->qos;
	u64 free_ns = q->free_ns;

	q->free_ns = q->limit_ns;
	if (!RB_EMPTY_NODE(&q->by_start)) {
		if (q->place == q->start ||
		    (qos_before(q->place, q->start) &&
		     qos_stays(&q->by_start, q->start, false))) {
			q->place = q->start;
			if (free_ns != q->free_ns)
				qos_start_cb.propagate(&q->by_start, NULL);
			return;
		}
		rb_erase_augmented_cached(&q->by_start, &qos->by_start,
					  &qos_start_cb);
	}
	q->place = q->start;
	q->min_free_ns = q->free_ns;
	rb_add_augmented_cached(&q->by_start, &qos->by_start, qos_start_less,
				&qos_start_cb);
}

/* Into the tree of those with a guarantee, likewise. */
static void qos_place_due(struct vgpu_qos *qos, struct vgpu_entity *entity,
			  u64 now_ns)
{
	struct vgpu_qos_entity *q = &entity->qos;
	u64 eligible_ns = qos_later(q->reserve_ns, q->limit_ns);
	u64 deadline_ns = q->deadline_ns;

	/* Whom the cap held back is not late, and must not pass the others. */
	q->base_ns = qos_before(now_ns, q->limit_ns) ? eligible_ns :
						       q->reserve_ns;
	q->deadline_ns = qos_deadline(qos, entity);
	if (!RB_EMPTY_NODE(&q->by_due)) {
		if (q->eligible_ns == eligible_ns ||
		    (qos_before(q->eligible_ns, eligible_ns) &&
		     qos_stays(&q->by_due, eligible_ns, true))) {
			q->eligible_ns = eligible_ns;
			if (deadline_ns != q->deadline_ns)
				qos_due_cb.propagate(&q->by_due, NULL);
			return;
		}
		rb_erase_augmented_cached(&q->by_due, &qos->by_due,
					  &qos_due_cb);
	}
	q->eligible_ns = eligible_ns;
	q->min_deadline_ns = q->deadline_ns;
	rb_add_augmented_cached(&q->by_due, &qos->by_due, qos_due_less,
				&qos_due_cb);
}

static bool qos_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			bool woken, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = &entity->qos;

	if (qos->last == entity)
		qos->last = NULL;
	if (woken)
		qos_wake(rq, entity, now_ns);
	qos_place_start(qos, entity);
	if (!entity->share.guarantee)
		return false;
	q->slice_ns = rq->slice_ns;
	qos_place_due(qos, entity, now_ns);
	return woken && rq->running && !rq->running->qos.reserved &&
	       !qos_before(now_ns, q->eligible_ns);
}

static void qos_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns)
{
	qos_remove(rq->data, entity);
}

/* The earliest deadline of those whose guarantee is due and whom no cap holds. */
static struct vgpu_entity *qos_pick_due(struct vgpu_qos *qos, u64 now_ns)
{
	struct rb_node *node = qos->by_due.rb_root.rb_node;
	struct rb_node *best = NULL, *left;
	bool subtree = false;
	u64 best_ns = 0;

	/* On the path, and in trees to the left of it, all are eligible. */
	while (node) {
		struct vgpu_qos_entity *q = &due_entity(node)->qos;

		if (qos_before(now_ns, q->eligible_ns)) {
			node = node->rb_left;
			continue;
		}
		left = node->rb_left;
		if (left && (!best || qos_before(due_entity(left)->qos.min_deadline_ns,
						 best_ns))) {
			best = left;
			best_ns = due_entity(left)->qos.min_deadline_ns;
			subtree = true;
		}
		if (!best || qos_before(q->deadline_ns, best_ns)) {
			best = node;
			best_ns = q->deadline_ns;
			subtree = false;
		}
		node = node->rb_right;
	}
	while (subtree && due_entity(best)->qos.deadline_ns != best_ns) {
		left = best->rb_left;
		best = left && due_entity(left)->qos.min_deadline_ns == best_ns ?
		       left : best->rb_right;
	}
	return best ? due_entity(best) : NULL;
}

/* The least virtual start of those whom no cap holds. */
static struct vgpu_entity *qos_pick_start(struct vgpu_qos *qos, u64 now_ns)
{
	struct rb_node *node = qos->by_start.rb_root.rb_node;

	if (!node || qos_before(now_ns, start_entity(node)->qos.min_free_ns))
		return NULL;
	for (;;) {
		struct rb_node *left = node->rb_left;

		if (left && !qos_before(now_ns,
					start_entity(left)->qos.min_free_ns)) {
			node = left;
			continue;
		}
		if (!qos_before(now_ns, start_entity(node)->qos.free_ns))
			return start_entity(node);
		node = node->rb_right;
	}
}

/*
 * A run of the excess ends where the next guarantee comes due, but not in its
 * first half.
 */
static u64 qos_excess_ns(struct vgpu_rq *rq, u64 now_ns)
{
	struct vgpu_qos *qos = rq->data;
	struct rb_node *node = rb_first_cached(&qos->by_due);
	u64 due_ns;

	if (node && due_entity(node) == qos->last)
		node = rb_next(node);
	due_ns = node ? due_entity(node)->qos.eligible_ns - now_ns : U64_MAX;

	return clamp(due_ns, rq->slice_ns / 2, rq->slice_ns);
}

/*
 * For how long the engine waits for more of an entity whose guarantee is due. As
 * its last gap was not longer than linger_ns, so long; not as long as twice that,
 * the longer the gap, the fewer turns, or a guest that thinks for a microsecond
 * more than linger_ns would get a fraction of what it got before.
 */
static u64 qos_linger_ns(const struct vgpu_rq *rq, struct vgpu_qos_entity *q)
{
	q->stayed_ns += q->stay_ns;
	if (!q->stay_ns || q->stayed_ns < rq->linger_ns)
		return 0;
	q->stayed_ns = min_t(u64, q->stayed_ns - rq->linger_ns, rq->linger_ns);
	return q->stay_ns < rq->linger_ns ? 2 * rq->linger_ns : rq->linger_ns;
}

static struct vgpu_entity *qos_pick(struct vgpu_rq *rq, u64 now_ns,
				    struct vgpu_pick *pick)
{
	struct vgpu_qos *qos = rq->data;
	u64 most_ns = rq->slice_ns + qos->overrun_ns, lag_ns;
	struct vgpu_entity *entity;
	struct vgpu_qos_entity *q;
	struct rb_node *root;

	qos_remove_last(qos);
	entity = qos_pick_due(qos, now_ns);
	if (entity) {
		q = &entity->qos;
		q->reserved = true;
		if (qos_before(q->reserve_ns, now_ns - QOS_LAG_NS)) {
			lag_ns = QOS_LAG_NS + qos_span(QOS_LAG_RUNS * most_ns,
						       entity->share.guarantee);
			q->reserve_ns = qos_later(q->reserve_ns,
						  now_ns - lag_ns);
		}
		pick->slice_ns = min(q->slice_ns, rq->slice_ns);
		pick->linger_ns = qos_linger_ns(rq, q);
		q->start = qos_later(q->start, qos->now - QOS_VIRTUAL);
	} else {
		entity = qos_pick_start(qos, now_ns);
		if (!entity) {
			root = qos->by_start.rb_root.rb_node;
			if (root)
				pick->until_ns =
					start_entity(root)->qos.min_free_ns;
			return NULL;
		}
		q = &entity->qos;
		q->reserved = false;
		q->start = qos_later(q->start, qos->now);
		qos->now = q->start;
	}
	qos->last = entity;
	if (!q->reserved)
		pick->slice_ns = qos_excess_ns(rq, now_ns);
	if (entity->share.cap < VGPU_PER_MILLE)
		q->limit_ns = qos_later(q->limit_ns, now_ns -
					qos_span(most_ns, entity->share.cap));
	qos->slice_ns = pick->slice_ns;
	qos->linger_ns = pick->linger_ns;
	qos->begin_ns = now_ns;
	trace_vgpu_qos(entity);
	return entity;
}

/*
 * p has changed. A deadline must not be earlier than a run of S + p that begins
 * at its tag could be over at the rate of its guarantee: else those with small
 * guarantees, who queued up when p was small, crowd all others out when it jumps.
 * Nor may it be later, by p rounded up by e: one e / g would not be within 2 Q for
 * a small guarantee beside a large one. So what is queued gets its deadline anew
 * each time p is larger than any p of late. A deadline counted with a larger p asks
 * for less, so none needs to be brought forward when p falls.
 *
 * An entity that overruns by more each time makes that one walk per run, of more
 * than a slice, until its engine is reset; overruns that vary make few walks, as
 * counted_ns does not fall for some 60 runs at least.
 *
 * The tree is ordered by eligible_ns, which stays: this is one walk, children
 * before parents.
 */
static void qos_recount(struct vgpu_qos *qos)
{
	u64 least_ns = VGPU_SLICE_MIN_NS + qos->overrun_ns;
	struct rb_node *node;

	if (qos->overrun_ns <= qos->counted_ns) {
		qos->counted_ns = min(qos->counted_ns, qos->overrun_ns +
				      least_ns / QOS_COUNTED_PART);
		return;
	}
	qos->counted_ns = qos->overrun_ns;
	for (node = rb_first_postorder(&qos->by_due.rb_root); node;
	     node = rb_next_postorder(node)) {
		struct vgpu_entity *entity = due_entity(node);
		struct vgpu_qos_entity *q = &entity->qos;

		q->deadline_ns = qos_later(q->deadline_ns,
					   qos_deadline(qos, entity));
		qos_due_compute(entity, false);
	}
}

static void qos_charge(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 ran_ns, u64 now_ns)
{
	const struct vgpu_share *share = &entity->share;
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = &entity->qos;
	u64 idle_ns = now_ns - qos->begin_ns - ran_ns;

	ran_ns = min(ran_ns, QOS_RAN_NS);
	qos->overrun_ns -= qos->overrun_ns >> QOS_DECAY;
	if (qos->slice_ns && ran_ns > qos->slice_ns)
		qos->overrun_ns = clamp(ran_ns - qos->slice_ns, qos->overrun_ns,
					QOS_OVERRUN_NS);
	qos_recount(qos);
	if (!qos->slice_ns) {
		/* Another policy's run: what it had since this one is in force. */
		ran_ns = min(ran_ns, now_ns - q->end_ns);
		idle_ns = 0;
	}
	qos->slice_ns = 0;

	if (share->cap < VGPU_PER_MILLE)
		q->limit_ns += qos_span(ran_ns, share->cap);
	if (q->reserved && share->guarantee) {
		/* Nobody else wanted the engine: it is owed no more for that. */
		q->reserve_ns += max(qos_span(ran_ns, share->guarantee),
				     ran_ns + idle_ns);
	} else {
		q->start += qos_span(ran_ns, share->weight);
		if (idle_ns)
			q->reserve_ns = qos_later(q->reserve_ns,
						  now_ns - ran_ns);
	}
	q->reserved = false;
	q->gap_ns = rq->outlasted ? qos->linger_ns + 1 : 0;
	q->idled = idle_ns;
	q->end_ns = now_ns;
}

/* A tag keeps the service that it is ahead or behind. */
static u64 qos_rescale(u64 tag, u64 now, u32 from, u32 to)
{
	s64 ahead = tag - now;

	if (ahead < 0)
		return now - mul_u64_u32_div(min_t(u64, -ahead, QOS_BEHIND_NS),
					     from, to);
	return now + mul_u64_u32_div(ahead, from, to);
}

/*
 * What a run under way has had so far counts by its old share, though all of it
 * will be charged by the new one: the difference is taken off beforehand.
 *
 * A raised cap holds at once, and what was had above the old one is forgiven:
 * else the engine would be idle while the entity may have it.
 */
static void qos_reshare(struct vgpu_rq *rq, struct vgpu_entity *entity,
			const struct vgpu_share *share, u64 now_ns)
{
	const struct vgpu_share *old = &entity->share;
	struct vgpu_qos *qos = rq->data;
	struct vgpu_qos_entity *q = &entity->qos;
	u64 ran_ns = 0, reserved_ns = 0;

	if (qos->last == entity)
		qos_remove_last(qos);
	q->period_of_ns = 0;
	if (rq->running == entity)
		ran_ns = min(now_ns - qos_later(qos->begin_ns, q->end_ns),
			     QOS_RAN_NS);
	if (q->reserved)
		swap(ran_ns, reserved_ns);

	if (!old->guarantee || !share->guarantee) {
		q->reserve_ns = now_ns;
	} else {
		q->reserve_ns += qos_span(reserved_ns, old->guarantee);
		q->reserve_ns = qos_rescale(q->reserve_ns, now_ns,
					    old->guarantee, share->guarantee);
		q->reserve_ns -= qos_span(reserved_ns, share->guarantee);
	}
	/* What may be saved up of the cap is limited when a run begins. */
	if (old->cap == VGPU_PER_MILLE)
		q->limit_ns = now_ns;
	else
		q->limit_ns += qos_span(ran_ns + reserved_ns, old->cap);
	q->limit_ns = qos_rescale(q->limit_ns, now_ns, old->cap, share->cap);
	if (share->cap > old->cap && qos_before(now_ns, q->limit_ns))
		q->limit_ns = now_ns;
	q->limit_ns -= qos_span(ran_ns + reserved_ns, share->cap);

	q->start = qos_start(q->start, qos->now) +
		   qos_span(ran_ns, old->weight);
	q->start = qos_rescale(q->start, qos->now, old->weight, share->weight) -
		   qos_span(ran_ns, share->weight);
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
