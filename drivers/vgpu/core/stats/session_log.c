// SPDX-License-Identifier: GPL-2.0
/*
 * The sessions of a GPU's vGPUs: those that have not ended, and VGPU_SESSIONS_KEPT that have.
 *
 * Beyond that the oldest session of the vGPU that has the most is forgotten; of several such vGPUs,
 * of the one with the session that began first. So a vGPU that is opened and closed all the time
 * pushes out its own sessions as soon as it has more than others, and n vGPUs keep at least
 * 1/n of the room each, if they have use for it. The source of a vGPU is found by its UUID: to
 * remove the vGPU and to create it again makes no other one of it.
 *
 * A session takes 152 bytes and 8 for each engine, and the source of a vGPU 64: together 1.1 MB at
 * most for a GPU with five engines.
 *
 * Callers serialise, by a lock under which memory is neither allocated nor freed: functions of
 * their own do that. Compiled in user space too.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "session_log.h"

/**
 * vgpu_session_log_init() - there was no session yet
 * @log:     to set up
 * @engines: how many the GPU has
 */
void vgpu_session_log_init(struct vgpu_session_log *log, unsigned int engines)
{
	memset(log, 0, sizeof(*log));
	log->engines = engines;
	INIT_LIST_HEAD(&log->sessions);
	INIT_LIST_HEAD(&log->sources);
}

static void session_source_drop(struct vgpu_session_source *source,
				struct vgpu_session_rest *rest)
{
	if (source->users || source->nr_ended)
		return;
	list_del(&source->link);
	rest->source = source;
}

/* Forgets a session that has ended. */
static void session_forget(struct vgpu_session_log *log, struct vgpu_session *session,
			   struct vgpu_session_rest *rest)
{
	struct vgpu_session_source *source = session->source;

	list_del(&session->link);
	list_del(&session->ended);
	source->nr_ended--;
	log->nr_ended--;
	rest->session = session;
	session_source_drop(source, rest);
}

/**
 * vgpu_session_free() - free what has left the log
 * @rest: of vgpu_session_log_end() or vgpu_session_source_put(); without the lock
 */
void vgpu_session_free(struct vgpu_session_rest *rest)
{
	kfree(rest->session);
	kfree(rest->source);
}

/**
 * vgpu_session_log_exit() - forget all sessions
 * @log: of which no source has a user, so that all sessions have ended
 */
void vgpu_session_log_exit(struct vgpu_session_log *log)
{
	struct vgpu_session *session;

	while (!list_empty(&log->sessions)) {
		struct vgpu_session_rest rest = {};

		session = list_first_entry(&log->sessions, struct vgpu_session, link);
		session_forget(log, session, &rest);
		vgpu_session_free(&rest);
	}
}

/**
 * vgpu_session_source_new() - make what the sessions of a vGPU are counted by
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
 * vgpu_session_source_get() - put the source of a vGPU into the log
 * @log:    of the vGPU's GPU
 * @source: of vgpu_session_source_new()
 *
 * Return: a source for vgpu_session_source_put(): @source, or another one that is there already, if
 * there are sessions of a vGPU of that name; then @source stays the caller's, for kfree().
 */
struct vgpu_session_source *vgpu_session_source_get(struct vgpu_session_log *log,
						    struct vgpu_session_source *source)
{
	struct vgpu_session_source *there;

	list_for_each_entry(there, &log->sources, link) {
		if (!memcmp(there->uuid, source->uuid, sizeof(there->uuid))) {
			there->users++;
			return there;
		}
	}
	list_add_tail(&source->link, &log->sources);
	source->users++;
	return source;
}

/**
 * vgpu_session_source_put() - a vGPU goes
 * @log:    of its GPU
 * @source: of vgpu_session_source_get(); all its sessions have ended, and are kept
 * @rest:   zeroed; gets what is to be freed
 */
void vgpu_session_source_put(struct vgpu_session_log *log, struct vgpu_session_source *source,
			     struct vgpu_session_rest *rest)
{
	source->users--;
	session_source_drop(source, rest);
}

/**
 * vgpu_session_alloc() - allocate a session
 * @engines: how many the GPU has
 *
 * Context: may sleep; without the lock.
 * Return: a zeroed session for vgpu_session_log_begin() or kfree(), or NULL without memory.
 */
struct vgpu_session *vgpu_session_alloc(unsigned int engines)
{
	struct vgpu_session *session;

	return kzalloc(sizeof(*session) + engines * sizeof(session->sum.busy_ns[0]),
		       GFP_KERNEL_ACCOUNT);
}

/**
 * vgpu_session_log_begin() - a vGPU has been opened
 * @log:     of its GPU
 * @source:  of the vGPU; has a user until the session has ended
 * @session: of vgpu_session_alloc(), filled in by the caller but for what this does: the lists,
 *           the source and the id. The log's from now on
 */
void vgpu_session_log_begin(struct vgpu_session_log *log, struct vgpu_session_source *source,
			    struct vgpu_session *session)
{
	session->source = source;
	session->id = ++log->last_id;
	list_add_tail(&session->link, &log->sessions);
}

/* The session to forget when there are too many. */
static struct vgpu_session *session_oldest(const struct vgpu_session_log *log)
{
	struct vgpu_session_source *source;
	struct vgpu_session *session, *oldest = NULL;

	list_for_each_entry(source, &log->sources, link) {
		if (!source->nr_ended || (oldest && source->nr_ended < oldest->source->nr_ended))
			continue;
		session = list_first_entry(&source->ended, struct vgpu_session, ended);
		if (!oldest || source->nr_ended > oldest->source->nr_ended ||
		    session->id < oldest->id)
			oldest = session;
	}
	return oldest;
}

/* Makes of what had been done @before what was done since, until @now. */
static void session_since(struct vgpu_session_sum *before, const struct vgpu_session_sum *now,
			  unsigned int engines)
{
	unsigned int i;

	for (i = 0; i < engines; i++)
		before->busy_ns[i] = now->busy_ns[i] - before->busy_ns[i];
	before->frames = now->frames - before->frames;
	before->faults = now->faults - before->faults;
	before->resets = now->resets - before->resets;
}

/**
 * vgpu_session_log_end() - a vGPU has been closed
 * @log:     of its GPU
 * @session: begun before; it may be forgotten in here already
 * @now:     what was done with the vGPU until now
 * @end_ns:  when it was closed
 * @rest:    zeroed; gets what is to be freed
 */
void vgpu_session_log_end(struct vgpu_session_log *log, struct vgpu_session *session,
			  const struct vgpu_session_sum *now, u64 end_ns,
			  struct vgpu_session_rest *rest)
{
	struct vgpu_session_source *source = session->source;

	session_since(&session->sum, now, log->engines);
	session->end_ns = end_ns;
	list_add_tail(&session->ended, &source->ended);
	source->nr_ended++;
	if (++log->nr_ended > VGPU_SESSIONS_KEPT)
		session_forget(log, session_oldest(log), rest);
}

/**
 * vgpu_session_find() - find the first session from an id on
 * @log:      which
 * @first_id: any number
 *
 * Return: the session with the least id that is not less, or NULL.
 */
const struct vgpu_session *vgpu_session_find(const struct vgpu_session_log *log, u64 first_id)
{
	const struct vgpu_session *session;

	list_for_each_entry(session, &log->sessions, link)
		if (session->id >= first_id)
			return session;
	return NULL;
}

/**
 * vgpu_session_next() - find the session after another
 * @log:     which
 * @session: of the log
 *
 * Return: the session with the next id, or NULL.
 */
const struct vgpu_session *vgpu_session_next(const struct vgpu_session_log *log,
					     const struct vgpu_session *session)
{
	return list_is_last(&session->link, &log->sessions) ? NULL : list_next_entry(session, link);
}
