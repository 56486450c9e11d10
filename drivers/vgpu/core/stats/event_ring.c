// SPDX-License-Identifier: GPL-2.0
/*
 * The events that are kept for readers of /dev/vgpu. Every source (a vGPU, a GPU) has slots of its
 * own, and a new event takes the slot of the oldest one of the same source: however much one tenant
 * makes happen, the events of the others stay. The latest event of each type stays, too, whatever
 * else its source does: a vGPU that is opened and closed in a loop still shows why it was
 * quarantined. A tree holds the slots of all sources in the order
 * in which the events happened, so a reader is nothing but the number of its next event, and any
 * number of readers costs a writer nothing.
 *
 * Pure logic, compiled in user space too; callers serialise.
 */
#include <linux/string.h>

#include "event_ring.h"

/**
 * vgpu_event_ring_init() - nothing has happened yet
 * @ring: to set up
 */
void vgpu_event_ring_init(struct vgpu_event_ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	ring->events = RB_ROOT;
	INIT_LIST_HEAD(&ring->retired);
}

/**
 * vgpu_event_ring_start() - a new source
 * @ring: that will take its events
 * @source: to set up
 * @uuid: of the vGPU, or NULL
 */
void vgpu_event_ring_start(struct vgpu_event_ring *ring,
			   struct vgpu_event_source *source, const u8 *uuid)
{
	unsigned int i;

	memset(source, 0, sizeof(*source));
	INIT_LIST_HEAD(&source->link);
	source->id = ++ring->last_id;
	if (uuid)
		memcpy(source->uuid, uuid, sizeof(source->uuid));
	for (i = 0; i < VGPU_EVENT_SLOTS; i++)
		RB_CLEAR_NODE(&source->slot[i].node);
	for (i = 0; i < VGPU_EVENT_TYPES; i++)
		RB_CLEAR_NODE(&source->last[i].node);
}

/**
 * vgpu_event_ring_revive() - the source of a vGPU that was there before
 * @ring: that has its events
 * @uuid: the vGPU's
 *
 * A vGPU that is removed and created in a loop has one source all the time,
 * and pushes out no retired source of others.
 *
 * Return: the source, not retired any more, or NULL if there is none.
 */
struct vgpu_event_source *vgpu_event_ring_revive(struct vgpu_event_ring *ring, const u8 *uuid)
{
	struct vgpu_event_source *source;

	list_for_each_entry(source, &ring->retired, link) {
		if (memcmp(source->uuid, uuid, sizeof(source->uuid)))
			continue;
		list_del_init(&source->link);
		ring->nr_retired--;
		return source;
	}
	return NULL;
}

/* Empties a slot, if it is in use. */
static void event_ring_erase(struct vgpu_event_ring *ring, struct vgpu_event_slot *slot)
{
	if (RB_EMPTY_NODE(&slot->node))
		return;
	rb_erase(&slot->node, &ring->events);
	RB_CLEAR_NODE(&slot->node);
}

static void event_ring_forget(struct vgpu_event_ring *ring, struct vgpu_event_source *source)
{
	unsigned int i;

	for (i = 0; i < VGPU_EVENT_SLOTS; i++)
		event_ring_erase(ring, &source->slot[i]);
	for (i = 0; i < VGPU_EVENT_TYPES; i++)
		event_ring_erase(ring, &source->last[i]);
}

/**
 * vgpu_event_ring_drop() - forget the source that has been retired the longest
 * @ring: which
 *
 * Return: the source, for the caller to free, or NULL if none is retired.
 */
struct vgpu_event_source *vgpu_event_ring_drop(struct vgpu_event_ring *ring)
{
	struct vgpu_event_source *source;

	if (list_empty(&ring->retired))
		return NULL;
	source = list_entry(ring->retired.next, struct vgpu_event_source, link);
	list_del_init(&source->link);
	ring->nr_retired--;
	event_ring_forget(ring, source);
	return source;
}

/**
 * vgpu_event_ring_retire() - a source has nothing to say any more
 * @ring: that has its events
 * @source: whose owner goes; its events can be read for some time to come
 *
 * Return: a source for the caller to free, this one or another, or NULL.
 */
struct vgpu_event_source *
vgpu_event_ring_retire(struct vgpu_event_ring *ring, struct vgpu_event_source *source)
{
	if (!source->stored)
		return source;
	list_add_tail(&source->link, &ring->retired);
	if (++ring->nr_retired <= VGPU_EVENT_RETIRED)
		return NULL;
	return vgpu_event_ring_drop(ring);
}

static bool event_ring_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_event_slot, node)->event.seq <
	       rb_entry(b, struct vgpu_event_slot, node)->event.seq;
}

/* Empties a slot for a newer event. What is the latest of its type moves out of the way. */
static void event_ring_evict(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			     struct vgpu_event_slot *slot)
{
	u32 type = slot->event.type;
	struct vgpu_event_slot *last;

	if (RB_EMPTY_NODE(&slot->node))
		return;
	event_ring_erase(ring, slot);
	if (type >= VGPU_EVENT_TYPES || source->latest[type] != slot->event.seq)
		return;
	last = &source->last[type];
	last->event = slot->event;
	rb_add(&last->node, &ring->events, event_ring_less);
}

/**
 * vgpu_event_ring_add() - an event has happened
 * @ring: keeps it
 * @source: whose
 * @event: all but the numbers, which it is given here
 */
void vgpu_event_ring_add(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			 const struct vgpu_ctl_event *event)
{
	struct vgpu_event_slot *slot = &source->slot[source->stored++ % VGPU_EVENT_SLOTS];

	if (event->type < VGPU_EVENT_TYPES) {
		source->latest[event->type] = ring->seq;
		event_ring_erase(ring, &source->last[event->type]);
	}
	event_ring_evict(ring, source, slot);
	slot->event = *event;
	slot->event.seq = ring->seq++;
	slot->event.source = source->id;
	slot->event.source_seq = source->seq++;
	rb_add(&slot->node, &ring->events, event_ring_less);
}

/**
 * vgpu_event_ring_skip() - an event has happened that is left out
 * @source: whose; its readers find a gap in source_seq
 */
void vgpu_event_ring_skip(struct vgpu_event_source *source)
{
	source->seq++;
}

/**
 * vgpu_event_ring_find() - the first event that a reader has not read
 * @ring: which
 * @seq: number of the first event the reader wants
 *
 * Return: the oldest kept event that is not older, or NULL. It stays until the
 * next change of @ring.
 */
const struct vgpu_ctl_event *vgpu_event_ring_find(const struct vgpu_event_ring *ring, u64 seq)
{
	const struct rb_node *node = ring->events.rb_node;
	const struct vgpu_event_slot *slot, *found = NULL;

	while (node) {
		slot = rb_entry(node, struct vgpu_event_slot, node);
		if (slot->event.seq >= seq) {
			found = slot;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found ? &found->event : NULL;
}
