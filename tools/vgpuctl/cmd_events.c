// SPDX-License-Identifier: GPL-2.0
/* The commands events and log. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvgpu_names.h>

#include "command.h"
#include "ctl.h"
#include "json.h"
#include "sched.h"
#include "share.h"
#include "uuid.h"

static const char * const event_names[] = {
	[VGPU_EVENT_GPU_ADDED] = "gpu_added",
	[VGPU_EVENT_GPU_REMOVED] = "gpu_removed",
	[VGPU_EVENT_CREATED] = "created",
	[VGPU_EVENT_REMOVED] = "removed",
	[VGPU_EVENT_STARTED] = "started",
	[VGPU_EVENT_STOPPED] = "stopped",
	[VGPU_EVENT_RESET] = "reset",
	[VGPU_EVENT_FAULT] = "fault",
	[VGPU_EVENT_ENGINE_RESET] = "engine_reset",
	[VGPU_EVENT_QUARANTINED] = "quarantined",
	[VGPU_EVENT_RELEASED] = "released",
	[VGPU_EVENT_REFUSED] = "refused",
	[VGPU_EVENT_SCHED] = "sched",
	[VGPU_EVENT_SHARE] = "share",
	[VGPU_EVENT_MOVE] = "move",
	[VGPU_EVENT_PARTITION] = "partition",
};

static const char * const partition_names[] = {
	[VGPU_PARTITION_CREATED] = "created",
	[VGPU_PARTITION_REMOVED] = "removed",
	[VGPU_PARTITION_ON] = "on",
	[VGPU_PARTITION_OFF] = "off",
};

/* The name of the setting that bit @i of an event about settings stands for. */
static const char *bit_name(const struct vgpu_ctl_event *event, uint32_t i, char *text, size_t room)
{
	return setting_changed(event->type == VGPU_EVENT_SCHED ? &sched_settings : &share_settings,
			       1u << i, text, room);
}

/* The settings that have changed: the names of the bits in a. */
static void changed_json(struct json *json, const struct vgpu_ctl_event *event)
{
	char name[64];
	uint32_t i;

	json_begin_array(json, "changed");
	for (i = 0; i < 32; i++)
		if (event->a & 1u << i)
			json_text(json, NULL, bit_name(event, i, name, sizeof(name)));
	json_end(json);
}

static void changed_text(const struct vgpu_ctl_event *event)
{
	const char *between = ": ";
	char name[64];
	uint32_t i;

	for (i = 0; i < 32; i++) {
		if (!(event->a & 1u << i))
			continue;
		printf("%s%s", between, bit_name(event, i, name, sizeof(name)));
		between = ", ";
	}
}

/*
 * Asks the driver why something was refused to a vGPU, but not if @fd is negative. The driver keeps
 * the newest refusal for each UUID and GPU, which is most likely that of the event. Returns false
 * if there is no reason in words.
 */
static bool refusal_text(int fd, const struct vgpu_ctl_event *event,
			 struct vgpu_ctl_refusal *refusal)
{
	if (fd < 0 || ctl_refusal_of(fd, event->uuid, event->gpu, refusal))
		return false;
	refusal->text[sizeof(refusal->text) - 1] = 0;
	return refusal->text[0];
}

static void event_json(int fd, const struct vgpu_ctl_event *event,
		       const uint64_t *missed)
{
	struct vgpu_ctl_refusal refusal;
	char uuid[UUID_STR_LEN];
	struct json json;

	json_init(&json, stdout, true);
	json_begin(&json, NULL);
	json_u64(&json, "seq", event->seq);
	json_u64(&json, "time_ns", event->time_ns);
	json_text(&json, "type", VGPU_NAME_OF(event_names, event->type));
	json_u64(&json, "type_number", event->type);
	json_u64(&json, "gpu", event->gpu);
	if (uuid_is_null(event->uuid))
		json_null(&json, "uuid");
	else
		json_text(&json, "uuid", uuid_format(event->uuid, uuid));
	if (missed)
		json_u64(&json, "missed", *missed);
	else
		json_null(&json, "missed");
	json_u64(&json, "type_seq", event->type_seq);
	json_u64(&json, "repeats", event->repeats);
	json_u64(&json, "last_ns", event->last_ns);
	switch (event->type) {
	case VGPU_EVENT_FAULT:
		json_u64(&json, "channel", event->a);
		json_text(&json, "fault", vgpu_fault_name(event->b));
		json_u64(&json, "fault_code", event->b);
		json_u64(&json, "packet", event->c);
		break;
	case VGPU_EVENT_ENGINE_RESET:
		json_u64(&json, "engine", event->a);
		break;
	case VGPU_EVENT_QUARANTINED:
		json_u64(&json, "until_ns", event->c);
		break;
	case VGPU_EVENT_REFUSED:
		json_u64(&json, "errno", event->a);
		if (refusal_text(fd, event, &refusal))
			json_text(&json, "reason", (const char *)refusal.text);
		break;
	case VGPU_EVENT_SCHED:
		json_u64(&json, "partition", event->b);
		changed_json(&json, event);
		break;
	case VGPU_EVENT_SHARE:
		changed_json(&json, event);
		break;
	case VGPU_EVENT_PARTITION:
		json_text(&json, "change", VGPU_NAME_OF(partition_names, event->b));
		json_u64(&json, "partition", event->a);
		json_u64(&json, "slices", event->c);
		break;
	case VGPU_EVENT_MOVE:
		json_text(&json, "move", ctl_move_name(event->a));
		json_text(&json, "move_before", ctl_move_name(event->b));
		json_u64(&json, "move_bytes", event->c);
		break;
	}
	json_end(&json);
}

static void event_text(int fd, const struct vgpu_ctl_event *event)
{
	struct vgpu_ctl_refusal refusal;
	char uuid[UUID_STR_LEN];

	printf("%6" PRIu64 ".%06" PRIu64 "  gpu %u  %-36s  %s",
	       (uint64_t)event->time_ns / 1000000000u,
	       (uint64_t)event->time_ns % 1000000000u / 1000u, event->gpu,
	       uuid_is_null(event->uuid) ? "-" : uuid_format(event->uuid, uuid),
	       VGPU_NAME_OF(event_names, event->type));
	switch (event->type) {
	case VGPU_EVENT_FAULT:
		printf(": channel %u, %s, packet %llu", event->a,
		       vgpu_fault_name(event->b), event->c);
		break;
	case VGPU_EVENT_ENGINE_RESET:
		printf(": engine %u", event->a);
		break;
	case VGPU_EVENT_QUARANTINED:
		if (event->c >= event->time_ns)
			printf(": for %llu s",
			       (event->c - event->time_ns) / 1000000000u);
		break;
	case VGPU_EVENT_REFUSED:
		printf(": %s", refusal_text(fd, event, &refusal) ?
		       (const char *)refusal.text : strerror((int)event->a));
		break;
	case VGPU_EVENT_SCHED:
		if (event->b)
			printf(" of partition %u", event->b);
		changed_text(event);
		break;
	case VGPU_EVENT_SHARE:
		changed_text(event);
		break;
	case VGPU_EVENT_PARTITION:
		if (event->a)
			printf(" %u, %llug: %s", event->a, event->c,
			       VGPU_NAME_OF(partition_names, event->b));
		else
			printf(": mode %s", VGPU_NAME_OF(partition_names, event->b));
		break;
	case VGPU_EVENT_MOVE:
		printf(": %s, after %s, %llu bytes", ctl_move_name(event->a),
		       ctl_move_name(event->b), event->c);
		break;
	}
	if (event->repeats)
		printf(" (and %llu more until %" PRIu64 ".%06" PRIu64 ")", event->repeats,
		       (uint64_t)event->last_ns / 1000000000u,
		       (uint64_t)event->last_ns % 1000000000u / 1000u);
	putchar('\n');
}

#define TYPES	32	/* no event is of a higher one */

/**
 * struct reader - what has been read so far
 * @fd:         file of /dev/vgpu
 * @json:       print JSON
 * @expected:   number of the next event if none is lost; 0: not known
 * @next:       by the number of a source, and by type, how many events were told of; 0: none
 * @nr_sources: length of @next
 */
struct reader {
	int fd;
	bool json;
	uint64_t expected;
	uint64_t (*next)[TYPES];
	uint32_t nr_sources;
};

/*
 * Sets @missed to the number of events of the same source and type before this one that no record
 * has told of when it was read. Returns false if it is not known.
 */
static bool missed_of_source(struct reader *reader,
			     const struct vgpu_ctl_event *event,
			     uint64_t *missed)
{
	uint64_t (*all)[TYPES], *next, before;
	uint32_t nr;

	if (!event->source || event->type >= TYPES)
		return false;
	if (event->source >= reader->nr_sources) {
		nr = event->source + 64;
		all = reallocarray(reader->next, nr, sizeof(*all));
		if (!all)
			return false;
		memset(all + reader->nr_sources, 0, (nr - reader->nr_sources) * sizeof(*all));
		reader->next = all;
		reader->nr_sources = nr;
	}
	next = &reader->next[event->source][event->type];
	before = *next;
	*next = event->type_seq + event->repeats + 1;
	*missed = event->type_seq > before ? event->type_seq - before : 0;
	/* When a type is seen for the first time, only its very first event tells. */
	return before || !event->type_seq;
}

static void say_missed(const struct vgpu_ctl_event *event, uint64_t missed)
{
	const char *name = VGPU_NAME_OF(event_names, event->type);
	char uuid[UUID_STR_LEN];

	if (uuid_is_null(event->uuid))
		fail("%" PRIu64 " events \"%s\" of GPU %u were lost, or counted after they were read",
		     missed, name, event->gpu);
	else
		fail("%" PRIu64 " events \"%s\" of %s were lost, or counted after they were read",
		     missed, name, uuid_format(event->uuid, uuid));
}

/* @fd: where to ask why something was refused, or negative */
static void print_event(struct reader *reader, const struct vgpu_ctl_event *event, int fd)
{
	uint64_t missed = 0;
	bool known = missed_of_source(reader, event, &missed);

	if (known && missed)
		say_missed(event, missed);
	if (reader->json)
		event_json(fd, event, known ? &missed : NULL);
	else
		event_text(fd, event);
}

static void show_event(struct reader *reader, const struct vgpu_ctl_event *event)
{
	if (reader->expected && event->seq != reader->expected)
		fail("%" PRIu64 " events were lost",
		     (uint64_t)event->seq - reader->expected);
	reader->expected = event->seq + 1;
	print_event(reader, event, reader->fd);
}

/* Prints @count events, or all that come if @count is 0. Returns 0 or a positive errno. */
static int read_events(struct reader *reader, uint64_t count)
{
	struct vgpu_ctl_event events[64];
	const ssize_t size = sizeof(events[0]);
	uint64_t seen = 0;
	ssize_t n, i;
	int ret;

	ret = ctl_events(reader->fd, 0, &reader->expected);
	if (ret)
		return -ret;
	while (!count || seen < count) {
		n = read(reader->fd, events, sizeof(events));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : 0;
		for (i = 0; i < n / size; i++) {
			show_event(reader, &events[i]);
			if (++seen == count)
				break;
		}
		if (fflush(stdout))
			break;
	}
	return 0;
}

enum exit_code cmd_events(const struct options *options)
{
	struct reader reader = { .json = options->json };
	enum exit_code code = EXIT_OK;
	int error;

	reader.fd = ctl_open();
	if (reader.fd < 0)
		return EXIT_FAILED;
	error = read_events(&reader, options->count);
	if (error)
		code = fail("/dev/vgpu: events: %s", strerror(error));
	free(reader.next);
	close(reader.fd);
	return code;
}

/**
 * struct log - events that the driver has kept
 * @event: all of them, the oldest first
 * @nr:    how many
 * @room:  for how many there is memory
 */
struct log {
	struct vgpu_ctl_event *event;
	size_t nr;
	size_t room;
};

static bool log_add(struct log *log, const struct vgpu_ctl_event *record)
{
	struct vgpu_ctl_event *event = log->event;

	if (log->nr == log->room) {
		event = reallocarray(event, log->room + 1024, sizeof(*event));
		if (!event)
			return false;
		log->event = event;
		log->room += 1024;
	}
	event[log->nr++] = *record;
	return true;
}

/* Reads what is kept, up to what happens while it is read. Returns 0 or a negative errno. */
static int log_read(int fd, struct log *log)
{
	struct vgpu_ctl_event events[64];
	const ssize_t size = sizeof(events[0]);
	uint64_t first;
	ssize_t n, i;
	int ret;

	ret = ctl_events(fd, VGPU_EVENTS_KEPT, &first);
	if (ret)
		return ret;
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		return -errno;
	for (;;) {
		n = read(fd, events, sizeof(events));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n && errno != EAGAIN ? -errno : 0;
		for (i = 0; i < n / size; i++)
			if (!log_add(log, &events[i]))
				return -ENOMEM;
	}
}

/*
 * Whether event @i is a refusal after which the same vGPU had another, by the same GPU: the driver
 * tells of that.
 */
static bool log_refused_since(const struct log *log, size_t i)
{
	const struct vgpu_ctl_event *event = &log->event[i];

	if (event->type != VGPU_EVENT_REFUSED)
		return false;
	while (++i < log->nr)
		if (log->event[i].type == VGPU_EVENT_REFUSED &&
		    !memcmp(log->event[i].uuid, event->uuid, sizeof(event->uuid)) &&
		    log->event[i].gpu == event->gpu)
			return true;
	return false;
}

/* Prints the events of a vGPU, or all if @uuid is NULL; if @count is not 0, only so many. */
static enum exit_code log_show(struct reader *reader, const struct log *log, const uint8_t *uuid,
			       uint64_t count)
{
	uint64_t wanted = 0, nr = 0;
	size_t i;

	for (i = 0; i < log->nr; i++)
		wanted += !uuid || !memcmp(log->event[i].uuid, uuid, VGPU_UUID_LEN);
	if (uuid && !wanted)
		return fail("nothing is known to have happened to this vGPU");
	for (i = 0; i < log->nr; i++) {
		if (uuid && memcmp(log->event[i].uuid, uuid, VGPU_UUID_LEN))
			continue;
		if (!count || wanted - nr++ <= count)
			print_event(reader, &log->event[i],
				    log_refused_since(log, i) ? -1 : reader->fd);
	}
	return EXIT_OK;
}

enum exit_code cmd_log(const struct options *options)
{
	struct reader reader = { .json = options->json };
	enum exit_code code = EXIT_OK;
	uint8_t uuid[VGPU_UUID_LEN];
	struct log log = { 0 };
	int ret;

	if (options->uuid && uuid_parse(options->uuid, uuid))
		return fail_usage("%s: not a UUID", options->uuid);
	reader.fd = ctl_open();
	if (reader.fd < 0)
		return EXIT_FAILED;
	ret = log_read(reader.fd, &log);
	if (!ret)
		code = log_show(&reader, &log, options->uuid ? uuid : NULL, options->count);
	else
		code = fail("events: %s", ctl_error(ret));
	free(log.event);
	free(reader.next);
	close(reader.fd);
	return code;
}
