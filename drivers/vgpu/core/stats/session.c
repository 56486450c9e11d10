// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: which process had a vGPU open, and the vGPU's activity meanwhile (session_log.h). The
 * record is allocated when the device is opened, so that closing the device cannot fail.
 */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../core.h"

/* Number of sessions that are listed with the lock held, and preemption off. */
#define SESSION_BATCH	32U

/**
 * vgpu_session_join() - add a new vGPU to the sessions of its GPU
 * @instance: private to the caller
 *
 * Context: sleeps.
 * Return: 0, which vgpu_session_leave() undoes, or -ENOMEM.
 */
int vgpu_session_join(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_session_source *source;
	u8 uuid[VGPU_UUID_LEN];

	vgpu_uuid_export(uuid, &instance->uuid);
	source = vgpu_session_source_new(uuid);
	if (!source)
		return -ENOMEM;
	raw_spin_lock(&gpu->session_lock);
	instance->session_source = vgpu_session_source_get(&gpu->sessions, source);
	raw_spin_unlock(&gpu->session_lock);
	if (instance->session_source != source)
		kfree(source);
	return 0;
}

/**
 * vgpu_session_leave() - remove a vGPU that is being destroyed; its sessions are kept
 * @instance: not open
 *
 * Context: sleeps.
 */
void vgpu_session_leave(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_session_rest rest = {};

	raw_spin_lock(&gpu->session_lock);
	vgpu_session_source_put(&gpu->sessions, instance->session_source, &rest);
	raw_spin_unlock(&gpu->session_lock);
	vgpu_session_free(&rest);
}

/**
 * vgpu_session_new() - make a session of the process that opens a vGPU
 * @gpu: the vGPU's
 *
 * Context: process that opens the vGPU; sleeps.
 * Return: a session for vgpu_session_begin() or kfree(), or NULL without memory.
 */
struct vgpu_session *vgpu_session_new(const struct vgpu_gpu *gpu)
{
	struct vgpu_session *session = vgpu_session_alloc(gpu->info.nr_engines);

	if (!session)
		return NULL;
	BUILD_BUG_ON(sizeof(session->comm) != TASK_COMM_LEN);
	session->pid = task_tgid_nr(current);
	session->uid = from_kuid_munged(&init_user_ns, current_uid());
	/* The name of the process: that of the thread that opens the device may be meaningless. */
	get_task_comm(session->comm, current->group_leader);
	return session;
}

/* Sums up the activity of a vGPU until now. */
static void session_sum(struct vgpu_instance *instance, struct vgpu_session_sum *sum)
{
	unsigned int i;

	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		sum->busy_ns[i] = vgpu_entity_busy_ns(&instance->entity[i]);
	sum->frames = atomic64_read(&instance->frames);
	sum->faults = atomic64_read(&instance->faults);
	sum->resets = atomic64_read(&instance->resets);
}

static u64 session_max_fb_bytes(struct vgpu_instance *instance)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;

	return ops->peak_bytes ? ops->peak_bytes(instance) : 0;
}

/**
 * vgpu_session_begin() - begin the session of a vGPU that was opened
 * @instance: its state lock is held; not started yet
 * @session:  a session from vgpu_session_new()
 *
 * Context: process context; does not sleep.
 */
void vgpu_session_begin(struct vgpu_instance *instance, struct vgpu_session *session)
{
	struct vgpu_gpu *gpu = instance->gpu;

	lockdep_assert_held(&instance->state_lock);
	session->type_name = instance->type->name;
	session->instance = instance;
	session_sum(instance, &session->sum);
	raw_spin_lock(&gpu->session_lock);
	session->start_ns = ktime_get_ns();
	vgpu_session_log_begin(&gpu->sessions, instance->session_source, session);
	instance->session = session;
	instance->started_ns = session->start_ns;
	raw_spin_unlock(&gpu->session_lock);
}

/**
 * vgpu_session_end() - end the session of a vGPU that was closed
 * @instance: its state lock is held; stopped, and off the engines
 *
 * Context: process context; does not sleep.
 */
void vgpu_session_end(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_session_rest rest = {};
	DEFINE_RAW_FLEX(struct vgpu_session_sum, sum, busy_ns, VGPU_MAX_ENGINES);

	lockdep_assert_held(&instance->state_lock);
	session_sum(instance, sum);
	raw_spin_lock(&gpu->session_lock);
	instance->session->max_fb_bytes = session_max_fb_bytes(instance);
	instance->session->instance = NULL;
	vgpu_session_log_end(&gpu->sessions, instance->session, sum, ktime_get_ns(), &rest);
	instance->session = NULL;
	instance->started_ns = 0;
	raw_spin_unlock(&gpu->session_lock);
	vgpu_session_free(&rest);
}

/**
 * vgpu_session_report() - report which process has a vGPU open
 * @instance: its GPU has been entered by vgpu_gpu_enter(), or is not gone
 * @out:      its fields for the session are set, or unchanged if there is no session
 *
 * Context: does not sleep.
 */
void vgpu_session_report(struct vgpu_instance *instance, struct vgpu_ctl_instance *out)
{
	struct vgpu_gpu *gpu = instance->gpu;
	const struct vgpu_session *session;
	pid_t pid = vgpu_owner_pid(instance);

	raw_spin_lock(&gpu->session_lock);
	session = instance->session;
	if (session) {
		out->started_ns = session->start_ns;
		out->owner_pid = pid;
		out->max_fb_bytes = session_max_fb_bytes(instance);
		out->session = session->id;
		out->owner_uid = session->uid;
		memcpy(out->owner_comm, session->comm, sizeof(out->owner_comm));
	}
	raw_spin_unlock(&gpu->session_lock);
}

/* @now: the activity of the vGPU until now, which is used if the session has not ended. */
static void session_export(const struct vgpu_session *session, const struct vgpu_session_sum *now,
			   struct vgpu_ctl_session *out, unsigned int engines)
{
	const struct vgpu_session_sum *sum = &session->sum;
	bool open = session->instance;
	unsigned int i;

	out->id = session->id;
	memcpy(out->uuid, session->source->uuid, sizeof(out->uuid));
	out->kind = VGPU_SESSION_VM;
	out->pid = session->pid;
	out->uid = session->uid;
	memcpy(out->comm, session->comm, sizeof(out->comm));
	strscpy(out->type_name, session->type_name, sizeof(out->type_name));
	out->start_ns = session->start_ns;
	out->end_ns = session->end_ns;
	out->max_fb_bytes = open ? session_max_fb_bytes(session->instance) : session->max_fb_bytes;
	/* Until a session ends, its sum is what had been done before it. */
	out->frames = open ? now->frames - sum->frames : sum->frames;
	out->faults = open ? now->faults - sum->faults : sum->faults;
	out->resets = open ? now->resets - sum->resets : sum->resets;
	for (i = 0; i < engines; i++)
		out->engine[i].busy_ns = open ? now->busy_ns[i] - sum->busy_ns[i] :
					 sum->busy_ns[i];
}

/*
 * Lists up to SESSION_BATCH sessions, without the activity of those that have not ended. Adds the
 * vGPUs of the latter to @open, each with a reference. Returns true if there may be more to list.
 */
static bool session_list_batch(struct vgpu_gpu *gpu, struct vgpu_ctl_sessions *ctl,
			       const struct vgpu_ctl_entries *entries, struct vgpu_instances *open)
{
	unsigned int end = min(entries->nr, ctl->count + SESSION_BATCH);
	const struct vgpu_session *session;
	bool more = true;

	raw_spin_lock(&gpu->session_lock);
	ctl->last_id = gpu->sessions.last_id;
	session = vgpu_session_find(&gpu->sessions, ctl->next_id);
	for (; session && ctl->count < end; session = vgpu_session_next(session)) {
		if (session->instance) {
			/* Full only if vGPUs were closed and opened again between two batches. */
			more = open->nr < ARRAY_SIZE(open->at);
			if (!more)
				break;
			kref_get(&session->instance->ref);
			open->at[open->nr++] = session->instance;
		}
		session_export(session, &session->sum, vgpu_ctl_entry(entries, ctl->count++),
			       ctl->engines);
		ctl->next_id = session->id + 1;
	}
	raw_spin_unlock(&gpu->session_lock);
	return session && more && ctl->count < entries->nr;
}

/*
 * Completes a listed session that had not ended when it was listed. If it has ended since, reports
 * that.
 */
static void session_complete(struct vgpu_instance *instance, struct vgpu_ctl_session *entry)
{
	struct vgpu_gpu *gpu = instance->gpu;
	const struct vgpu_session *session;
	DEFINE_RAW_FLEX(struct vgpu_session_sum, now, busy_ns, VGPU_MAX_ENGINES);

	session_sum(instance, now);
	raw_spin_lock(&gpu->session_lock);
	session = vgpu_session_find(&gpu->sessions, entry->id);
	/* The log has dropped it if this vGPU was opened thousands of times meanwhile. */
	if (session && session->id == entry->id)
		session_export(session, now, entry, gpu->info.nr_engines);
	raw_spin_unlock(&gpu->session_lock);
}

/**
 * vgpu_session_list() - report sessions of a GPU
 * @gpu:     entered by vgpu_gpu_enter()
 * @ctl:     first_id is the least id wanted; engines, count, next_id and last_id are set
 * @entries: struct vgpu_ctl_session, as many as there is room for; filled in
 *
 * Context: process context; sleeps only if it drops the last reference to a vGPU.
 */
void vgpu_session_list(struct vgpu_gpu *gpu, struct vgpu_ctl_sessions *ctl,
		       const struct vgpu_ctl_entries *entries)
{
	struct vgpu_instances open;
	unsigned int i, nr = 0;

	ctl->engines = gpu->info.nr_engines;
	ctl->count = 0;
	ctl->next_id = ctl->first_id;
	open.nr = 0;
	while (session_list_batch(gpu, ctl, entries, &open))
		;
	for (i = 0; i < ctl->count; i++) {
		struct vgpu_ctl_session *entry = vgpu_ctl_entry(entries, i);

		if (!entry->end_ns)
			session_complete(open.at[nr++], entry);
	}
	vgpu_instances_put(&open);
}
