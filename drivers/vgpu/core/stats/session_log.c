// SPDX-License-Identifier: GPL-2.0
/*
 * The sessions of a GPU's vGPUs: those that have not ended, and the last VGPU_SESSIONS_KEPT that
 * have.
 *
 * If more sessions have ended, the log forgets the oldest session of the vGPU with the most ended
 * sessions; if several vGPUs have as many, of the vGPU whose oldest session began first. So a vGPU
 * that is opened and closed all the time pushes out its own sessions once it has more than others,
 * and each of n vGPUs can keep at least 1/n of the log. The log finds the source of a vGPU by its
 * UUID, so a vGPU that is removed and created again has the same source.
 *
 * A session takes 144 bytes and 8 for each engine, and a source 88: together at most 1.1 MB for a
 * GPU with five engines.
 *
 * Callers serialise by a raw spinlock. No function that is called with it held allocates or frees
 * memory, and all of them take time in the logarithm of the number of sessions: trees have them by
 * id, and sources by UUID and by rank. Compiled in user space too.
 */
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "session_log.h"

/**
 * vgpu_session_log_init() - set up a log without sessions
 * @log:     to set up
 * @engines: number of engines of the GPU
 */
void vgpu_session_log_init(struct vgpu_session_log *log, unsigned int engines)
{
	memset(log, 0, sizeof(*log));
	log->engines = engines;
	log->sessions = RB_ROOT;
	log->sources = RB_ROOT;
	log->ranking = RB_ROOT;
}

static struct vgpu_session *session_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct vgpu_session, node);
}

static bool session_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_session, node)->id <
	       rb_entry(b, struct vgpu_session, node)->id;
}

static int session_source_cmp(struct rb_node *a, const struct rb_node *b)
{
	return memcmp(rb_entry(a, struct vgpu_session_source, node)->uuid,
		      rb_entry(b, struct vgpu_session_source, node)->uuid, VGPU_UUID_LEN);
}

/* Returns the oldest ended session of a source that has one. */
static struct vgpu_session *session_first(const struct vgpu_session_source *source)
{
	return list_first_entry(&source->ended, struct vgpu_session, ended);
}

/* Whether the log forgets a session of @a before one of @b. */
static bool session_source_before(struct rb_node *a, const struct rb_node *b)
{
	const struct vgpu_session_source *x = rb_entry(a, struct vgpu_session_source, rank);
	const struct vgpu_session_source *y = rb_entry(b, struct vgpu_session_source, rank);

	if (x->nr_ended != y->nr_ended)
		return x->nr_ended > y->nr_ended;
	return session_first(x)->id < session_first(y)->id;
}

/* Takes a source out of the ranking, so that its list of ended sessions can be changed. */
static void session_source_unrank(struct vgpu_session_log *log, struct vgpu_session_source *source)
{
	if (source->nr_ended)
		rb_erase(&source->rank, &log->ranking);
}

static void session_source_rank(struct vgpu_session_log *log, struct vgpu_session_source *source)
{
	if (source->nr_ended)
		rb_add(&source->rank, &log->ranking, session_source_before);
}

static void session_source_drop(struct vgpu_session_log *log, struct vgpu_session_source *source,
				struct vgpu_session_rest *rest)
{
	if (source->users || source->nr_ended)
		return;
	rb_erase(&source->node, &log->sources);
	rest->source = source;
}

/* Forgets an ended session. */
static void session_forget(struct vgpu_session_log *log, struct vgpu_session *session,
			   struct vgpu_session_rest *rest)
{
	struct vgpu_session_source *source = session->source;

	rb_erase(&session->node, &log->sessions);
	session_source_unrank(log, source);
	list_del(&session->ended);
	source->nr_ended--;
	session_source_rank(log, source);
	log->nr_ended--;
	rest->session = session;
	session_source_drop(log, source, rest);
}

/**
 * vgpu_session_free() - free what has left the log
 * @rest: from vgpu_session_log_end() or vgpu_session_source_put()
 *
 * Context: without the lock.
 */
void vgpu_session_free(struct vgpu_session_rest *rest)
{
	kfree(rest->session);
	kfree(rest->source);
}

/**
 * vgpu_session_log_exit() - forget all sessions
 * @log: no source in it has a user, so all sessions have ended
 *
 * Context: may sleep; without the lock.
 */
void vgpu_session_log_exit(struct vgpu_session_log *log)
{
	while (!RB_EMPTY_ROOT(&log->sessions)) {
		struct vgpu_session_rest rest = {};

		session_forget(log, session_of(rb_first(&log->sessions)), &rest);
		vgpu_session_free(&rest);
	}
}

/**
 * vgpu_session_source_new() - allocate the source of a vGPU's sessions
 * @uuid: the vGPU's
 *
 * Context: may sleep; without the lock.
 * Return: a source for vgpu_session_source_get(), or NULL without memory.
 */
struct vgpu_session_source *vgpu_session_source_new(const u8 *uuid)
{
	struct vgpu_session_source *source = kzalloc(sizeof(*source), GFP_KERNEL_ACCOUNT);

	if (!source)
		return NULL;
	memcpy(source->uuid, uuid, sizeof(source->uuid));
	INIT_LIST_HEAD(&source->ended);
	return source;
}

/**
 * vgpu_session_source_get() - add a user to the source of a vGPU, which is created if need be
 * @log:    of the vGPU's GPU
 * @source: from vgpu_session_source_new()
 *
 * Return: a source for vgpu_session_source_put(): @source, or the one in the log if that has
 * sessions of a vGPU with this UUID. In the latter case the caller frees @source by kfree().
 */
struct vgpu_session_source *vgpu_session_source_get(struct vgpu_session_log *log,
						    struct vgpu_session_source *source)
{
	struct rb_node *node;

	node = rb_find_add(&source->node, &log->sources, session_source_cmp);

	if (node)
		source = rb_entry(node, struct vgpu_session_source, node);
	source->users++;
	return source;
}

/**
 * vgpu_session_source_put() - remove a user from a source, whose vGPU is being destroyed
 * @log:    of the vGPU's GPU
 * @source: from vgpu_session_source_get(); all its sessions have ended, and are kept
 * @rest:   zeroed; set to what the caller must free
 */
void vgpu_session_source_put(struct vgpu_session_log *log, struct vgpu_session_source *source,
			     struct vgpu_session_rest *rest)
{
	source->users--;
	session_source_drop(log, source, rest);
}

/**
 * vgpu_session_alloc() - allocate a session
 * @engines: number of engines of the GPU
 *
 * Context: may sleep; without the lock.
 * Return: a zeroed session for vgpu_session_log_begin() or kfree(), or NULL without memory.
 */
struct vgpu_session *vgpu_session_alloc(unsigned int engines)
{
	struct vgpu_session *session;

	return kzalloc(struct_size(session, sum.busy_ns, engines), GFP_KERNEL_ACCOUNT);
}

/**
 * vgpu_session_log_begin() - add the session of a vGPU that was opened
 * @log:     of the vGPU's GPU
 * @source:  of the vGPU; has a user until the session has ended
 * @session: from vgpu_session_alloc(), filled in by the caller but for @source, @id and the fields
 *           of trees and lists; owned by the log from now on
 */
void vgpu_session_log_begin(struct vgpu_session_log *log, struct vgpu_session_source *source,
			    struct vgpu_session *session)
{
	session->source = source;
	session->id = ++log->last_id;
	rb_add(&session->node, &log->sessions, session_less);
}

/* Sets @sum, the activity of a vGPU until a session began, to that from then until @now. */
static void session_since(struct vgpu_session_sum *sum, const struct vgpu_session_sum *now,
			  unsigned int engines)
{
	unsigned int i;

	for (i = 0; i < engines; i++)
		sum->busy_ns[i] = now->busy_ns[i] - sum->busy_ns[i];
	sum->frames = now->frames - sum->frames;
	sum->faults = now->faults - sum->faults;
	sum->resets = now->resets - sum->resets;
}

/**
 * vgpu_session_log_end() - end the session of a vGPU that was closed
 * @log:     of the vGPU's GPU
 * @session: has begun and not ended; the log may forget it at once
 * @now:     activity of the vGPU until now
 * @end_ns:  when the vGPU was closed, CLOCK_MONOTONIC
 * @rest:    zeroed; set to what the caller must free
 */
void vgpu_session_log_end(struct vgpu_session_log *log, struct vgpu_session *session,
			  const struct vgpu_session_sum *now, u64 end_ns,
			  struct vgpu_session_rest *rest)
{
	struct vgpu_session_source *source = session->source;

	session_since(&session->sum, now, log->engines);
	session->end_ns = end_ns;
	session_source_unrank(log, source);
	list_add_tail(&session->ended, &source->ended);
	source->nr_ended++;
	session_source_rank(log, source);
	if (++log->nr_ended <= VGPU_SESSIONS_KEPT)
		return;
	source = rb_entry(rb_first(&log->ranking), struct vgpu_session_source, rank);
	session_forget(log, session_first(source), rest);
}

/**
 * vgpu_session_find() - find the first session with at least a given id
 * @log:      the log
 * @first_id: any number
 *
 * Return: the session with the smallest id of at least @first_id, or NULL.
 */
const struct vgpu_session *vgpu_session_find(const struct vgpu_session_log *log, u64 first_id)
{
	struct rb_node *node = log->sessions.rb_node;
	const struct vgpu_session *found = NULL;

	while (node) {
		const struct vgpu_session *session = session_of(node);

		if (session->id >= first_id) {
			found = session;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/**
 * vgpu_session_next() - find the session after another
 * @session: a session in the log
 *
 * Return: the session with the next id, or NULL.
 */
const struct vgpu_session *vgpu_session_next(const struct vgpu_session *session)
{
	return session_of(rb_next(&session->node));
}
