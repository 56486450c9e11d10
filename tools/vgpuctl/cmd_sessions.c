// SPDX-License-Identifier: GPL-2.0
/* The command sessions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "listing.h"
#include "uuid.h"

#define CHUNK	256	/* VGPU_IOC_SESSIONS gives no more at once */

/**
 * struct sessions - the sessions of a GPU's vGPUs
 * @session: these, the oldest first; allocated
 * @nr:      their number
 * @now_ns:  when the last of them was read
 */
struct sessions {
	struct vgpu_ctl_session *session;
	uint32_t nr;
	uint64_t now_ns;
};

/* Of the next @count sessions keeps those of the vGPU @uuid; all if @uuid is NULL. */
static void sessions_keep(struct sessions *sessions, uint32_t count, const uint8_t *uuid)
{
	const struct vgpu_ctl_session *next = sessions->session + sessions->nr;
	const struct vgpu_ctl_session *end = next + count;

	for (; next < end; next++)
		if (!uuid || !memcmp(next->uuid, uuid, VGPU_UUID_LEN))
			sessions->session[sessions->nr++] = *next;
}

static int sessions_read(int fd, uint32_t gpu, const uint8_t *uuid, struct sessions *sessions)
{
	uint64_t first_id = 0;
	uint32_t count;
	int ret;

	memset(sessions, 0, sizeof(*sessions));
	for (;;) {
		sessions->session = reallocarray(sessions->session, sessions->nr + CHUNK,
						 sizeof(*sessions->session));
		need_memory(sessions->session);
		count = CHUNK;
		ret = ctl_sessions(fd, gpu, &first_id, sessions->session + sessions->nr, &count,
				   &sessions->now_ns);
		if (ret || !count)
			return ret;
		sessions_keep(sessions, count, uuid);
	}
}

static void session_json(struct json *json, const struct vgpu_ctl_gpu *gpu,
			 const struct vgpu_ctl_session *session, uint64_t now_ns)
{
	char uuid[UUID_STR_LEN];
	uint32_t i;

	json_begin(json, NULL);
	json_u64(json, "session", session->id);
	json_s64(json, "pid", session->pid);
	json_bytes(json, "command", session->comm, sizeof(session->comm));
	json_u64(json, "uid", session->uid);
	json_text(json, "uuid", uuid_format(session->uuid, uuid));
	json_u64(json, "gpu", gpu->gpu);
	json_bytes(json, "address", gpu->address, sizeof(gpu->address));
	json_bytes(json, "type", session->type_name, sizeof(session->type_name));
	json_u64(json, "started_ns", session->start_ns);
	if (session->end_ns)
		json_u64(json, "ended_ns", session->end_ns);
	else
		json_null(json, "ended_ns");
	json_u64(json, "now_ns", now_ns);
	json_u64(json, "max_fb_bytes", session->max_fb_bytes);
	json_u64(json, "frames", session->frames);
	json_u64(json, "faults", session->faults);
	json_u64(json, "resets", session->resets);
	json_begin_array(json, "engines");
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		json_begin(json, NULL);
		json_bytes(json, "name", gpu->engine[i].name, sizeof(gpu->engine[i].name));
		json_u64(json, "busy_ns", session->engine[i].busy_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* "gr 1200, ce0 3": the engines that were used, for how many ms. */
static const char *busy_text(char *text, size_t room, const struct vgpu_ctl_gpu *gpu,
			     const struct vgpu_ctl_session *session)
{
	size_t length = 0;
	uint32_t i;

	snprintf(text, room, "-");
	for (i = 0; i < ctl_engines(gpu->engines) && length < room; i++)
		if (session->engine[i].busy_ns)
			length += (size_t)snprintf(text + length, room - length,
						   "%s%.*s %" PRIu64, length ? ", " : "",
						   TEXT(gpu->engine[i].name),
						   (uint64_t)session->engine[i].busy_ns / 1000000);
	return text;
}

const char sessions_columns[] =
	">PID|COMMAND|>UID|GPU|UUID|TYPE|STATE|>LASTED|>MOST|>FRAMES|>FAULTS|>RESETS|BUSY ms";

static void session_row(struct table *table, const struct vgpu_ctl_gpu *gpu,
			const struct vgpu_ctl_session *session, uint64_t now_ns)
{
	uint64_t end_ns = session->end_ns ? session->end_ns : now_ns;
	char uuid[UUID_STR_LEN], text[VGPU_MAX_ENGINES * 40], command[GUEST_TEXT(VGPU_COMM_LEN)];

	table_add(table, "%d", session->pid);
	table_add(table, "%s", guest_text(session->comm, sizeof(session->comm), command));
	table_add(table, "%u", session->uid);
	table_add(table, "%.*s", TEXT(gpu->address));
	table_add(table, "%s", uuid_format(session->uuid, uuid));
	table_add(table, "%.*s", TEXT(session->type_name));
	table_add(table, "%s", session->end_ns ? "ended" : "open");
	table_add(table, "%s", table_duration(text, sizeof(text), end_ns - session->start_ns));
	table_add_bytes(table, session->max_fb_bytes);
	table_add(table, "%llu", session->frames);
	table_add(table, "%llu", session->faults);
	table_add(table, "%llu", session->resets);
	table_add(table, "%s", busy_text(text, sizeof(text), gpu, session));
}

static int sessions_each(int fd, const struct vgpu_ctl_gpu *gpu, struct listing *listing)
{
	const struct options *options = listing->options;
	struct sessions sessions;
	uint8_t uuid[VGPU_UUID_LEN];
	uint32_t i = 0;
	int ret;

	if (options->uuid)
		uuid_parse(options->uuid, uuid);
	ret = sessions_read(fd, gpu->gpu, options->uuid ? uuid : NULL, &sessions);
	if (!ret && options->count && options->count < sessions.nr)
		i = sessions.nr - (uint32_t)options->count;
	for (; !ret && i < sessions.nr; i++) {
		if (listing->json)
			session_json(listing->json, gpu, &sessions.session[i], sessions.now_ns);
		else
			session_row(listing->table, gpu, &sessions.session[i], sessions.now_ns);
	}
	free(sessions.session);
	return ret;
}

enum exit_code cmd_sessions(const struct options *options)
{
	uint8_t uuid[VGPU_UUID_LEN];

	if (options->uuid && uuid_parse(options->uuid, uuid))
		return fail_usage("%s: not a UUID", options->uuid);
	return listing_print(options, sessions_each);
}
