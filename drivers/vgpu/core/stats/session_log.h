/* SPDX-License-Identifier: GPL-2.0 */
/* The sessions of a GPU's vGPUs, and what is counted in each. Compiled in user space too. */
#ifndef _VGPU_SESSION_LOG_H
#define _VGPU_SESSION_LOG_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

struct vgpu_instance;

/**
 * struct vgpu_session_sum - activity of a vGPU
 * @frames:  PRESENT packets completed
 * @faults:  channel faults
 * @resets:  resets of the device
 * @busy_ns: service, for each engine of the GPU
 */
struct vgpu_session_sum {
	u64 frames;
	u64 faults;
	u64 resets;
	u64 busy_ns[];
};

/**
 * struct vgpu_session_source - what the sessions of a vGPU have in common
 * @node:  in the log's tree of sources
 * @rank:  in the log's ranking, if @nr_ended is not 0
 * @uuid:  of the vGPU
 * @ended: its ended sessions, the one that ended first at the head
 * @nr_ended: length of @ended
 * @users: 1 for the vGPU while it exists; a source without users and sessions is freed
 */
struct vgpu_session_source {
	struct rb_node node;
	struct rb_node rank;
	u8 uuid[VGPU_UUID_LEN];
	struct list_head ended;
	unsigned int nr_ended;
	unsigned int users;
};

/**
 * struct vgpu_session - the time in which a process has a vGPU open
 * @node:     in the log's tree of sessions
 * @ended:    in the source's list, once the session has ended
 * @source:   the vGPU's
 * @id:       1 for the first session of the GPU
 * @start_ns: when the session began, CLOCK_MONOTONIC
 * @end_ns:   when it ended; 0: it has not ended
 * @instance: the vGPU while it is open, then NULL; for the caller
 * @type_name: name of the vGPU's type; lives as long as the log
 * @pid:      process that opened the vGPU
 * @uid:      user of that process
 * @comm:     name of that process
 * @max_fb_bytes: largest amount of framebuffer that was backed at a time; 0 until the session ends
 * @sum:      activity in the session; until the session ends, activity before it
 */
struct vgpu_session {
	struct rb_node node;
	struct list_head ended;
	struct vgpu_session_source *source;
	u64 id;
	u64 start_ns;
	u64 end_ns;
	struct vgpu_instance *instance;
	const char *type_name;
	s32 pid;
	u32 uid;
	u8 comm[VGPU_COMM_LEN];
	u64 max_fb_bytes;
	struct vgpu_session_sum sum;
};

/**
 * struct vgpu_session_log - the sessions of a GPU's vGPUs
 * @sessions: tree of all sessions, by id
 * @sources:  tree of the sources of existing vGPUs and of vGPUs with sessions, by UUID
 * @ranking:  tree of the sources with ended sessions; the log forgets a session of the first one
 * @engines:  number of engines of the GPU
 * @nr_ended: number of ended sessions, at most VGPU_SESSIONS_KEPT
 * @last_id:  id of the newest session; 0: there has been none
 */
struct vgpu_session_log {
	struct rb_root sessions;
	struct rb_root sources;
	struct rb_root ranking;
	unsigned int engines;
	unsigned int nr_ended;
	u64 last_id;
};

/**
 * struct vgpu_session_rest - what has left the log, for the caller to free without the lock
 * @session: or NULL
 * @source:  or NULL
 */
struct vgpu_session_rest {
	struct vgpu_session *session;
	struct vgpu_session_source *source;
};

void vgpu_session_log_init(struct vgpu_session_log *log, unsigned int engines);
void vgpu_session_log_exit(struct vgpu_session_log *log);
struct vgpu_session_source *vgpu_session_source_new(const u8 *uuid);
struct vgpu_session_source *vgpu_session_source_get(struct vgpu_session_log *log,
						    struct vgpu_session_source *source);
void vgpu_session_source_put(struct vgpu_session_log *log, struct vgpu_session_source *source,
			     struct vgpu_session_rest *rest);
struct vgpu_session *vgpu_session_alloc(unsigned int engines);
void vgpu_session_log_begin(struct vgpu_session_log *log, struct vgpu_session_source *source,
			    struct vgpu_session *session);
void vgpu_session_log_end(struct vgpu_session_log *log, struct vgpu_session *session,
			  const struct vgpu_session_sum *now, u64 end_ns,
			  struct vgpu_session_rest *rest);
void vgpu_session_free(struct vgpu_session_rest *rest);
const struct vgpu_session *vgpu_session_find(const struct vgpu_session_log *log, u64 first_id);
const struct vgpu_session *vgpu_session_next(const struct vgpu_session *session);

#endif /* _VGPU_SESSION_LOG_H */
