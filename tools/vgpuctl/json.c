// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "json.h"
#include "message.h"
#include "utf8.h"

void json_init(struct json *json, FILE *out, bool lines)
{
	json->out = out;
	json->lines = lines;
	json->depth = 0;
}

/* Adds @value, which is NULL for null, to what is open. */
static void json_add(struct json *json, const char *key, struct json_object *value)
{
	struct json_object *to;

	if (!json->depth)
		return;
	to = json->open[json->depth - 1];
	if (key ? json_object_object_add(to, key, value) : json_object_array_add(to, value))
		out_of_memory();
}

static void json_add_new(struct json *json, const char *key, struct json_object *value)
{
	need_memory(value);
	json_add(json, key, value);
}

static void json_open(struct json *json, const char *key, struct json_object *value)
{
	json_add_new(json, key, value);
	json->open[json->depth++] = value;
}

void json_begin(struct json *json, const char *key)
{
	json_open(json, key, json_object_new_object());
}

void json_begin_array(struct json *json, const char *key)
{
	json_open(json, key, json_object_new_array());
}

void json_end(struct json *json)
{
	const int style = JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE |
		(json->lines ? 0 : JSON_C_TO_STRING_PRETTY);
	struct json_object *ended = json->open[--json->depth];
	const char *text;

	if (json->depth)
		return;
	text = json_object_to_json_string_ext(ended, style);
	need_memory(text);
	fprintf(json->out, "%s\n", text);
	fflush(json->out);
	json_object_put(ended);
}

/* json-c writes strings as they are: bytes that are no UTF-8 become U+FFFD here. */
void json_bytes(struct json *json, const char *key, const void *text, size_t room)
{
	const size_t bytes = strnlen(text, room);
	const unsigned char *s = text, *end = s + bytes;
	char *good = malloc(3 * bytes + 1), *to = good;
	size_t n;

	need_memory(good);
	while (s < end) {
		n = utf8_length(s, (size_t)(end - s));
		to = n ? mempcpy(to, s, n) : mempcpy(to, UTF8_REPLACEMENT, 3);
		s += n ? n : 1;
	}
	json_add_new(json, key, json_object_new_string_len(good, (int)(to - good)));
	free(good);
}

void json_text(struct json *json, const char *key, const char *text)
{
	json_bytes(json, key, text, strlen(text));
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	json_add_new(json, key, json_object_new_uint64(value));
}

void json_s64(struct json *json, const char *key, int64_t value)
{
	json_add_new(json, key, json_object_new_int64(value));
}

void json_flag(struct json *json, const char *key, bool value)
{
	json_add_new(json, key, json_object_new_boolean(value));
}

void json_null(struct json *json, const char *key)
{
	json_add(json, key, NULL);
}

void json_centi(struct json *json, const char *key, uint64_t hundredths)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
	json_add_new(json, key, json_object_new_double_s((double)hundredths / 100, text));
}
