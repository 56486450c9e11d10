// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of qos: two trees of the queued entities, by their tags.
 *
 * by_due holds entities with a guarantee, by the time from which they may run for it, with the
 * earliest deadline of each subtree. by_start holds all queued entities, by virtual start, with the
 * earliest time of each subtree at which a cap lets an entity run. So a pick searches one path down
 * each tree: O(log n), and no entity is moved as time passes.
 *
 * The trees have copies of the tags, which change only when an entity is queued. So the running
 * entity can stay in the trees.
 */
#include <linux/minmax.h>
#include <linux/rbtree_augmented.h>

#include "qos.h"

#define due_part(node)		rb_entry(node, struct vgpu_qos_entity, by_due)
#define start_part(node)	rb_entry(node, struct vgpu_qos_entity, by_start)

static bool qos_due_compute(struct vgpu_qos_entity *q, bool exit)
{
	struct rb_node *left = q->by_due.rb_left, *right = q->by_due.rb_right;
	u64 min_ns = q->deadline_ns;

	if (left && vgpu_qos_before(due_part(left)->min_deadline_ns, min_ns))
		min_ns = due_part(left)->min_deadline_ns;
	if (right && vgpu_qos_before(due_part(right)->min_deadline_ns, min_ns))
		min_ns = due_part(right)->min_deadline_ns;
	if (exit && q->min_deadline_ns == min_ns)
		return true;
	q->min_deadline_ns = min_ns;
	return false;
}

static bool qos_start_compute(struct vgpu_qos_entity *q, bool exit)
{
	struct rb_node *left = q->by_start.rb_left, *right = q->by_start.rb_right;
	u64 min_ns = q->free_ns;

	if (left && vgpu_qos_before(start_part(left)->min_free_ns, min_ns))
		min_ns = start_part(left)->min_free_ns;
	if (right && vgpu_qos_before(start_part(right)->min_free_ns, min_ns))
		min_ns = start_part(right)->min_free_ns;
	if (exit && q->min_free_ns == min_ns)
		return true;
	q->min_free_ns = min_ns;
	return false;
}

RB_DECLARE_CALLBACKS(static, qos_due_cb, struct vgpu_qos_entity, by_due,
		     min_deadline_ns, qos_due_compute);
RB_DECLARE_CALLBACKS(static, qos_start_cb, struct vgpu_qos_entity, by_start,
		     min_free_ns, qos_start_compute);

static bool qos_due_less(struct rb_node *a, const struct rb_node *b)
{
	return vgpu_qos_before(due_part(a)->eligible_ns, due_part(b)->eligible_ns);
}

static bool qos_start_less(struct rb_node *a, const struct rb_node *b)
{
	return vgpu_qos_before(start_part(a)->place, start_part(b)->place);
}

void vgpu_qos_tree_init(struct vgpu_qos *qos)
{
	qos->by_due = RB_ROOT_CACHED;
	qos->by_start = RB_ROOT_CACHED;
}

/* Initialises the nodes of an entity that joins the timeline: it is in no tree. */
void vgpu_qos_tree_init_entity(struct vgpu_entity *entity)
{
	RB_CLEAR_NODE(&vgpu_qos_of(entity)->by_due);
	RB_CLEAR_NODE(&vgpu_qos_of(entity)->by_start);
}

/* Removes an entity from by_start, and from by_due if it is there. */
void vgpu_qos_tree_remove(struct vgpu_qos *qos, struct vgpu_entity *entity)
{
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	rb_erase_augmented_cached(&q->by_start, &qos->by_start, &qos_start_cb);
	RB_CLEAR_NODE(&q->by_start);
	if (RB_EMPTY_NODE(&q->by_due))
		return;
	rb_erase_augmented_cached(&q->by_due, &qos->by_due, &qos_due_cb);
	RB_CLEAR_NODE(&q->by_due);
}

static u64 qos_deadline(const struct vgpu_qos *qos, struct vgpu_qos_entity *q)
{
	u64 service_ns = q->slice_ns + qos->counted_ns;

	if (q->period_of_ns != service_ns) {
		q->period_of_ns = service_ns;
		q->period_ns = vgpu_qos_span(service_ns, vgpu_part_entity(q)->share.guarantee);
	}
	return q->base_ns + q->period_ns;
}

/* Whether an entity that moves back to @key is still before the next one. */
static bool qos_stays(struct rb_node *node, u64 key, bool due)
{
	struct rb_node *next = rb_next(node);

	if (!next)
		return true;
	return vgpu_qos_before(key, due ? due_part(next)->eligible_ns : start_part(next)->place);
}

/* Inserts an entity into by_start, or moves it to its place according to its current tags. */
static void qos_place_start(struct vgpu_qos *qos, struct vgpu_qos_entity *q)
{
	u64 free_ns = q->free_ns;

	q->free_ns = q->limit_ns;
	if (!RB_EMPTY_NODE(&q->by_start)) {
		if (q->place == q->start || (vgpu_qos_before(q->place, q->start) &&
					     qos_stays(&q->by_start, q->start, false))) {
			q->place = q->start;
			if (free_ns != q->free_ns)
				qos_start_cb.propagate(&q->by_start, NULL);
			return;
		}
		rb_erase_augmented_cached(&q->by_start, &qos->by_start, &qos_start_cb);
	}
	q->place = q->start;
	q->min_free_ns = q->free_ns;
	rb_add_augmented_cached(&q->by_start, &qos->by_start, qos_start_less, &qos_start_cb);
}

/* The same for by_due. */
static void qos_place_due(struct vgpu_qos *qos, struct vgpu_qos_entity *q, u64 now_ns)
{
	u64 eligible_ns = vgpu_qos_later(q->reserve_ns, q->limit_ns);
	u64 deadline_ns = q->deadline_ns;

	/* An entity that its cap held back is not late, and must not overtake the others. */
	q->base_ns = vgpu_qos_before(now_ns, q->limit_ns) ? eligible_ns : q->reserve_ns;
	q->deadline_ns = qos_deadline(qos, q);
	if (!RB_EMPTY_NODE(&q->by_due)) {
		if (q->eligible_ns == eligible_ns ||
		    (vgpu_qos_before(q->eligible_ns, eligible_ns) &&
		     qos_stays(&q->by_due, eligible_ns, true))) {
			q->eligible_ns = eligible_ns;
			if (deadline_ns != q->deadline_ns)
				qos_due_cb.propagate(&q->by_due, NULL);
			return;
		}
		rb_erase_augmented_cached(&q->by_due, &qos->by_due, &qos_due_cb);
	}
	q->eligible_ns = eligible_ns;
	q->min_deadline_ns = q->deadline_ns;
	rb_add_augmented_cached(&q->by_due, &qos->by_due, qos_due_less, &qos_due_cb);
}

/*
 * Inserts an entity into the trees according to its current tags; if it is still in the trees with
 * old tags, moves it to its new places.
 */
void vgpu_qos_tree_add(struct vgpu_qos *qos, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	qos_place_start(qos, q);
	if (entity->share.guarantee)
		qos_place_due(qos, q, now_ns);
}

/*
 * Computes deadlines again when qos->overrun_ns, that is p, exceeds all recent values of p.
 *
 * A deadline must not be earlier than a run of S + p that begins at the entity's tag could be over
 * at the rate of its guarantee: else entities with small guarantees that queued up when p was small
 * crowd all others out when p jumps. Nor may a deadline be later, by p rounded up by e: one e / g
 * would not be within 2 Q for a small guarantee beside a large one. So queued entities get new
 * deadlines each time p is larger than any p of late. A deadline counted with a larger p asks for
 * less, so none needs to be brought forward when p falls.
 *
 * An entity that overruns by more each time causes one such walk of the tree per run, which lasts
 * more than a slice, until its engine is reset; overruns that vary cause few walks, as counted_ns
 * does not fall for some 60 runs at least.
 *
 * The order of the tree, by eligible_ns, stays: this is one walk, children before parents.
 */
void vgpu_qos_tree_recount(struct vgpu_qos *qos)
{
	struct rb_node *node;

	qos->counted_ns = qos->overrun_ns;
	for (node = rb_first_postorder(&qos->by_due.rb_root); node;
	     node = rb_next_postorder(node)) {
		struct vgpu_qos_entity *q = due_part(node);

		q->deadline_ns = vgpu_qos_later(q->deadline_ns, qos_deadline(qos, q));
		qos_due_compute(q, false);
	}
}

/* Returns the entity with the earliest deadline whose guarantee is due and whose cap allows it. */
static struct vgpu_entity *qos_pick_due(struct vgpu_qos *qos, u64 now_ns)
{
	struct rb_node *node = qos->by_due.rb_root.rb_node;
	struct rb_node *best = NULL, *left;
	bool subtree = false;
	u64 best_ns = 0;

	/* All to the left of an eligible node are eligible, too. */
	while (node) {
		struct vgpu_qos_entity *q = due_part(node);

		if (vgpu_qos_before(now_ns, q->eligible_ns)) {
			node = node->rb_left;
			continue;
		}
		left = node->rb_left;
		if (left && (!best || vgpu_qos_before(due_part(left)->min_deadline_ns, best_ns))) {
			best = left;
			best_ns = due_part(left)->min_deadline_ns;
			subtree = true;
		}
		if (!best || vgpu_qos_before(q->deadline_ns, best_ns)) {
			best = node;
			best_ns = q->deadline_ns;
			subtree = false;
		}
		node = node->rb_right;
	}
	while (subtree && due_part(best)->deadline_ns != best_ns) {
		left = best->rb_left;
		best = left && due_part(left)->min_deadline_ns == best_ns ? left : best->rb_right;
	}
	return best ? vgpu_part_entity(due_part(best)) : NULL;
}

/* Returns the entity with the least virtual start among those that no cap holds back. */
static struct vgpu_entity *qos_pick_start(struct vgpu_qos *qos, u64 now_ns)
{
	struct rb_node *node = qos->by_start.rb_root.rb_node;

	if (!node || vgpu_qos_before(now_ns, start_part(node)->min_free_ns))
		return NULL;
	for (;;) {
		struct rb_node *left = node->rb_left;

		if (left && !vgpu_qos_before(now_ns, start_part(left)->min_free_ns)) {
			node = left;
			continue;
		}
		if (!vgpu_qos_before(now_ns, start_part(node)->free_ns))
			return vgpu_part_entity(start_part(node));
		node = node->rb_right;
	}
}

/*
 * Returns the next entity, which stays in the trees, and sets @due if it runs for its guarantee.
 * NULL: caps hold back all queued entities, or none is queued.
 */
struct vgpu_entity *vgpu_qos_tree_pick(struct vgpu_qos *qos, u64 now_ns, bool *due)
{
	struct vgpu_entity *entity = qos_pick_due(qos, now_ns);

	*due = entity;
	return entity ? entity : qos_pick_start(qos, now_ns);
}

/* Returns the earliest time at which a cap lets a queued entity run; 0: no entity is queued. */
u64 vgpu_qos_tree_next_free(struct vgpu_qos *qos)
{
	struct rb_node *root = qos->by_start.rb_root.rb_node;

	return root ? start_part(root)->min_free_ns : 0;
}
