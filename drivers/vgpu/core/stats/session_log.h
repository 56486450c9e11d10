/* SPDX-License-Identifier: GPL-2.0 */
/* The sessions of a GPU's vGPUs, and what is counted in each. Compiled in user space too. */
#ifndef _VGPU_SESSION_LOG_H
#define _VGPU_SESSION_LOG_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

struct vgpu_instance;

/**
 * struct vgpu_session_sum - what is added up for a session
 * @frames:  PRESENT packets completed
 * @faults:  channel faults
 * @resets:  resets of the device
 * @busy_ns: service, for each engine that the GPU has
 */
struct vgpu_session_sum {
	u64 frames;
	u64 faults;
	u64 resets;
	u64 busy_ns[];
};

/**
 * struct vgpu_session_source - the sessions of a vGPU
 * @link:  in the log
 * @uuid:  of the vGPU
 * @ended: its sessions that have ended, the first at the head
 * @nr_ended: length of @ended
 * @users: how many have the source; it is freed when there is none, and no session
 */
struct vgpu_session_source {
	struct list_head link;
	u8 uuid[VGPU_UUID_LEN];
	struct list_head ended;
	unsigned int nr_ended;
	unsigned int users;
};

/**
 * struct vgpu_session - a vGPU was open
 * @link:     in the log
 * @ended:    in the source's list, when it has ended
 * @source:   the vGPU; it has a user until the session has ended
 * @id:       from 1 on
 * @start_ns: when it began, CLOCK_MONOTONIC
 * @end_ns:   when it ended; 0: it has not
 * @instance: the vGPU while it is open, then NULL; the caller's
 * @type_name: the vGPU's type; lives as long as the log
 * @pid:      process that opened the vGPU
 * @uid:      its user
 * @comm:     its name
 * @max_fb_bytes: most framebuffer backed at a time; until its end, 0
 * @sum:      what was done in the session; until its end, what had been done before it
 */
struct vgpu_session {
	struct list_head link;
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
 * @sessions: by id
 * @sources:  of the vGPUs that there are, and of those of which there are sessions
 * @engines:  how many the GPU has
 * @nr_ended: how many of @sessions have ended, VGPU_SESSIONS_KEPT at most
 * @last_id:  of the newest session; 0: there was none
 */
struct vgpu_session_log {
	struct list_head sessions;
	struct list_head sources;
	unsigned int engines;
	unsigned int nr_ended;
	u64 last_id;
};

/**
 * struct vgpu_session_rest - what has left the log, to be freed without the caller's lock
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
const struct vgpu_session *vgpu_session_next(const struct vgpu_session_log *log,
					     const struct vgpu_session *session);

#endif /* _VGPU_SESSION_LOG_H */
