// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>

#include "json.h"
#include "message.h"
#include "sched.h"
#include "share.h"
#include "state.h"
#include "uuid.h"

#define PLACE_ROOM	64
#define STATE_ELEMENTS	4096	/* more than a host has vGPUs */

static void fault_say(const struct faults *faults, const char *fmt, va_list ap)
{
	char *text, *c;

	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory();
	/* Names out of the file, in a message on one line, and nothing for a terminal. */
	for (c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	fprintf(faults->out, "%s%s: %s\n", message_prefix, faults->file, text);
	free(text);
}

void fault_add(struct faults *faults, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_say(faults, fmt, ap);
	va_end(ap);
	faults->nr++;
}

void fault_warn(struct faults *faults, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_say(faults, fmt, ap);
	va_end(ap);
}

/* Reads a text of less than @room bytes, or says at @place.@key what is wrong. */
static bool read_text(struct json_object *value, const char *place, const char *key, char *text,
		      size_t room, struct faults *faults)
{
	if (json_copy(value, text, room) && *text)
		return true;
	fault_add(faults, "%s.%s: a text of 1 to %zu bytes is needed", place, key, room - 1);
	return false;
}

/* Reads a member that is a setting. Returns false if it is none. */
static bool read_setting(struct json_object *value, const char *place, const char *key,
			 const struct setting_table *table, void *set, struct faults *faults)
{
	const struct setting *setting = setting_of_key(table, key);
	char wanted[128];

	if (!setting)
		return false;
	if (!setting_load(table, setting, value, set, wanted, sizeof(wanted)))
		fault_add(faults, "%s.%s: %s is needed", place, key, wanted);
	return true;
}

/* Settings that say the same thing twice may contradict each other. */
static void check_setting(const struct setting_table *table, uint32_t valid, const char *place,
			  struct faults *faults)
{
	const struct setting *setting;

	for (setting = table->setting; setting < table->setting + table->nr; setting++)
		if (valid & setting->valid && valid & setting->excludes)
			fault_add(faults, "%s.%s: another key sets the same thing", place,
				  setting->key);
}

static void read_start(struct json_object *value, const char *place, const char *key,
		       uint32_t *to, struct faults *faults)
{
	int64_t start = json_object_is_type(value, json_type_int) ?
			json_object_get_int64(value) : -1;

	if (start < 0 || start >= VGPU_PARTITION_EIGHTHS)
		fault_add(faults, "%s.%s: a number of 0 to %d is needed", place, key,
			  VGPU_PARTITION_EIGHTHS - 1);
	else
		*to = (uint32_t)start;
}

static void parse_part(struct json_object *from, const char *place, struct state_part *part,
		       struct faults *faults)
{
	part->start = VGPU_PARTITION_ANYWHERE;
	json_object_object_foreach(from, key, value) {
		if (!strcmp(key, "profile"))
			read_text(value, place, key, part->profile, sizeof(part->profile), faults);
		else if (!strcmp(key, "start_eighth"))
			read_start(value, place, key, &part->start, faults);
		else if (!read_setting(value, place, key, &sched_settings, &part->set, faults))
			fault_add(faults, "%s.%s: no such key", place, key);
	}
	if (!json_object_object_get_ex(from, "profile", NULL))
		fault_add(faults, "%s: the key profile is missing", place);
	check_setting(&sched_settings, part->set.valid, place, faults);
}

static void parse_parts(struct json_object *array, const char *place, struct state_gpu *gpu,
			struct faults *faults)
{
	char part_place[PLACE_ROOM + 32];
	struct json_object *element;
	size_t i, nr;

	gpu->divided = true;
	if (!json_object_is_type(array, json_type_array)) {
		fault_add(faults, "%s.partitions: an array is needed", place);
		return;
	}
	nr = json_object_array_length(array);
	if (nr > VGPU_PARTITION_SLICES) {
		fault_add(faults, "%s.partitions: at most %d are possible", place,
			  VGPU_PARTITION_SLICES);
		return;
	}
	for (i = 0; i < nr; i++) {
		element = json_object_array_get_idx(array, i);
		snprintf(part_place, sizeof(part_place), "%s.partitions[%zu]", place, i);
		if (json_object_is_type(element, json_type_object))
			parse_part(element, part_place, &gpu->part[gpu->nr_parts++], faults);
		else
			fault_add(faults, "%s: an object is needed", part_place);
	}
}

static void parse_gpu(struct json_object *from, const char *place, struct state *state,
		      struct faults *faults)
{
	struct state_gpu *gpu = &state->gpu[state->nr_gpus];
	size_t i;

	json_object_object_foreach(from, key, value) {
		if (!strcmp(key, "address"))
			read_text(value, place, key, gpu->address, sizeof(gpu->address), faults);
		else if (!strcmp(key, "partitions"))
			parse_parts(value, place, gpu, faults);
		else if (!read_setting(value, place, key, &sched_settings, &gpu->set, faults))
			fault_add(faults, "%s.%s: no such key", place, key);
	}
	if (!json_object_object_get_ex(from, "address", NULL))
		fault_add(faults, "%s: the key address is missing", place);
	check_setting(&sched_settings, gpu->set.valid, place, faults);
	for (i = 0; i < state->nr_gpus && *gpu->address; i++)
		if (!strcasecmp(state->gpu[i].address, gpu->address))
			fault_add(faults, "%s.address: %s stands in gpus[%zu] already", place,
				  gpu->address, i);
	state->nr_gpus++;
}

static void read_uuid(struct json_object *value, const char *place, struct state *state,
		      struct faults *faults)
{
	struct state_vgpu *vgpu = &state->vgpu[state->nr_vgpus];
	char text[UUID_STR_LEN];
	size_t i;

	if (!read_text(value, place, "uuid", text, sizeof(text), faults))
		return;
	if (uuid_parse(text, vgpu->set.uuid) || uuid_is_null(vgpu->set.uuid)) {
		fault_add(faults, "%s.uuid: not a UUID", place);
		return;
	}
	for (i = 0; i < state->nr_vgpus; i++)
		if (!uuid_compare(state->vgpu[i].set.uuid, vgpu->set.uuid))
			fault_add(faults, "%s.uuid: %s stands in vgpus[%zu] already", place, text,
				  i);
}

static void parse_vgpu(struct json_object *from, const char *place, struct state *state,
		       struct faults *faults)
{
	static const char * const needed[] = { "uuid", "address", "type" };
	struct state_vgpu *vgpu = &state->vgpu[state->nr_vgpus];
	size_t i;

	vgpu->start = VGPU_PARTITION_ANYWHERE;
	json_object_object_foreach(from, key, value) {
		if (!strcmp(key, "uuid"))
			read_uuid(value, place, state, faults);
		else if (!strcmp(key, "address"))
			read_text(value, place, key, vgpu->address, sizeof(vgpu->address), faults);
		else if (!strcmp(key, "type"))
			read_text(value, place, key, vgpu->type, sizeof(vgpu->type), faults);
		else if (!strcmp(key, "partition_start_eighth"))
			read_start(value, place, key, &vgpu->start, faults);
		else if (!read_setting(value, place, key, &share_settings, &vgpu->set, faults))
			fault_add(faults, "%s.%s: no such key", place, key);
	}
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!json_object_object_get_ex(from, needed[i], NULL))
			fault_add(faults, "%s: the key %s is missing", place, needed[i]);
	state->nr_vgpus++;
}

/* Calls @parse for the objects in the array @key. */
static void parse_array(struct json_object *array, const char *key, struct state *state,
			struct faults *faults,
			void (*parse)(struct json_object *from, const char *place,
				      struct state *state, struct faults *faults))
{
	struct json_object *element;
	char place[PLACE_ROOM];
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		element = json_object_array_get_idx(array, i);
		snprintf(place, sizeof(place), "%s[%zu]", key, i);
		if (json_object_is_type(element, json_type_object))
			parse(element, place, state, faults);
		else
			fault_add(faults, "%s: an object is needed", place);
	}
}

static void parse_member(const char *key, struct json_object *value, struct state *state,
			 struct faults *faults)
{
	const bool gpus = !strcmp(key, "gpus");
	size_t nr;

	if (!strcmp(key, "version")) {
		if (!json_object_is_type(value, json_type_int) ||
		    json_object_get_int64(value) != STATE_VERSION)
			fault_add(faults, "version: only %d is known", STATE_VERSION);
		return;
	}
	if (!gpus && strcmp(key, "vgpus")) {
		fault_add(faults, "%s: no such key", key);
		return;
	}
	if (!json_object_is_type(value, json_type_array)) {
		fault_add(faults, "%s: an array is needed", key);
		return;
	}
	nr = json_object_array_length(value);
	if (nr > STATE_ELEMENTS) {
		fault_add(faults, "%s: at most %d elements are possible", key, STATE_ELEMENTS);
		return;
	}
	if (gpus)
		state->gpu = need_zeroed(nr, sizeof(*state->gpu));
	else
		state->vgpu = need_zeroed(nr, sizeof(*state->vgpu));
	parse_array(value, key, state, faults, gpus ? parse_gpu : parse_vgpu);
}

static void parse_document(struct json_object *document, struct state *state,
			   struct faults *faults)
{
	json_object_object_foreach(document, key, value)
		parse_member(key, value, state, faults);
	if (!json_object_object_get_ex(document, "version", NULL))
		fault_add(faults, "the key version is missing: %d", STATE_VERSION);
}

void state_parse(const char *text, size_t bytes, struct state *state, struct faults *faults)
{
	struct json_object *document;
	char why[JSON_WHY];

	memset(state, 0, sizeof(*state));
	document = json_parse(text, bytes, why);
	if (!document)
		fault_add(faults, "%s", why);
	else
		parse_document(document, state, faults);
	json_object_put(document);
}

void state_free(struct state *state)
{
	free(state->gpu);
	free(state->vgpu);
	memset(state, 0, sizeof(*state));
}
