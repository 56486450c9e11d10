// SPDX-License-Identifier: GPL-2.0
/*
 * The events that are kept for readers of /dev/vgpu. Every source (a vGPU, a GPU) has slots of its
 * own: however much one tenant makes happen, the events of the others stay. Within a source the
 * types are apart in the same way: a new event takes the slot of the oldest one of the type that
 * has the most, so a vGPU that is opened and closed in a loop still shows why it was quarantined.
 * And of each type there are only so many new records in a second: what happens beyond that is
 * counted in the newest one.
 *
 * A tree holds the slots of all sources in the order in which the events happened, so a reader is
 * nothing but the number of its next event, and any number of readers costs a writer nothing.
 *
 * Pure logic, compiled in user space too; callers serialise.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "event_ring.h"

#define SECOND_NS	1000000000LL

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
	for (i = 0; i < VGPU_EVENT_TYPES; i++)
		INIT_LIST_HEAD(&source->kept[i].slots);
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

static void event_ring_forget(struct vgpu_event_ring *ring, struct vgpu_event_source *source)
{
	unsigned int i;

	for (i = 0; i < source->used; i++)
		rb_erase(&source->slot[i].node, &ring->events);
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
 * @source: its vGPU or GPU goes; its events can be read for some time to come
 *
 * Return: a source for the caller to free, this one or another, or NULL.
 */
struct vgpu_event_source *
vgpu_event_ring_retire(struct vgpu_event_ring *ring, struct vgpu_event_source *source)
{
	if (!source->used)
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

/* Such events only say that something has happened once more, and a guest can repeat them. */
static bool event_is_occurrence(u32 type)
{
	return type == VGPU_EVENT_RESET || type == VGPU_EVENT_FAULT ||
	       type == VGPU_EVENT_ENGINE_RESET;
}

/* Whether a type may have one more new record at that time. */
static bool event_may_record(struct vgpu_event_kept *kept, u64 time_ns)
{
	/* Events that happen at the same time may come here in either order. */
	if (!kept->seq || (s64)(time_ns - kept->begin_ns) >= SECOND_NS) {
		kept->begin_ns = time_ns;
		kept->records = 0;
	}
	return kept->records < VGPU_EVENTS_PER_S;
}

static void event_ring_insert(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			      struct vgpu_event_slot *slot)
{
	slot->event.seq = ring->seq++;
	slot->event.source_seq = source->seq;
	rb_add(&slot->node, &ring->events, event_ring_less);
}

/* Counts @event in the newest record of its type. Returns whether readers find that there. */
static bool event_ring_repeat(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			      struct vgpu_event_slot *slot, const struct vgpu_ctl_event *event)
{
	slot->event.repeats++;
	slot->event.last_ns = event->time_ns;
	if (event_is_occurrence(event->type))
		return false;
	slot->event.a = event->a;
	slot->event.b = event->b;
	slot->event.c = event->c;
	rb_erase(&slot->node, &ring->events);
	event_ring_insert(ring, source, slot);
	return true;
}

static struct vgpu_event_slot *event_oldest(const struct vgpu_event_kept *kept)
{
	return list_first_entry(&kept->slots, struct vgpu_event_slot, link);
}

/*
 * Finds a slot for a new event of @kept. If all are in use, the oldest event goes of the type that
 * would have the most; of several such types, the oldest one of all. That is not the latest of its
 * type: there are more slots than types.
 */
static struct vgpu_event_slot *event_ring_room(struct vgpu_event_ring *ring,
					       struct vgpu_event_source *source,
					       const struct vgpu_event_kept *kept)
{
	struct vgpu_event_kept *of, *most = NULL;
	struct vgpu_event_slot *slot;
	unsigned int nr, nr_most = 0;

	if (source->used < VGPU_EVENT_SLOTS)
		return &source->slot[source->used++];
	for (of = source->kept; of < source->kept + VGPU_EVENT_TYPES; of++) {
		nr = of->nr + (of == kept);
		if (!of->nr || nr < nr_most)
			continue;
		if (nr > nr_most ||
		    event_oldest(of)->event.seq < event_oldest(most)->event.seq)
			most = of;
		nr_most = nr;
	}
	slot = event_oldest(most);
	list_del(&slot->link);
	most->nr--;
	rb_erase(&slot->node, &ring->events);
	return slot;
}

/**
 * vgpu_event_ring_add() - an event has happened
 * @ring: keeps it
 * @source: the source of the event
 * @event: its time, type, a, b and c, and the vGPU or GPU that it is about
 *
 * Return: whether readers find something that they have not read.
 */
bool vgpu_event_ring_add(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			 const struct vgpu_ctl_event *event)
{
	struct vgpu_event_kept *kept =
		&source->kept[min_t(u32, event->type, VGPU_EVENT_TYPES - 1)];
	bool may_record = event_may_record(kept, event->time_ns), is_new = true;
	struct vgpu_event_slot *slot = NULL;

	/* Those that are refused are each another vGPU, of one source. */
	if (!may_record) {
		slot = list_last_entry(&kept->slots, struct vgpu_event_slot, link);
		if (memcmp(slot->event.uuid, event->uuid, sizeof(event->uuid)))
			slot = NULL;
	}
	if (slot) {
		is_new = event_ring_repeat(ring, source, slot, event);
	} else {
		slot = event_ring_room(ring, source, kept);
		slot->event = *event;
		slot->event.source = source->id;
		slot->event.type_seq = kept->seq;
		slot->event.repeats = 0;
		slot->event.last_ns = event->time_ns;
		list_add_tail(&slot->link, &kept->slots);
		kept->nr++;
		kept->records++;
		event_ring_insert(ring, source, slot);
	}
	kept->seq++;
	source->seq++;
	return is_new;
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
