// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
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

/*
 * json-c escapes what JSON wants it to, and leaves other bytes as they are: those that are no
 * UTF-8, and control characters, become U+FFFD here.
 */
void json_bytes(struct json *json, const char *key, const void *text, size_t room)
{
	const size_t bytes = strnlen(text, room);
	const unsigned char *s = text, *end = s + bytes;
	char *good = need_zeroed(3 * bytes + 1, 1), *to = good;
	size_t n;

	while (s < end) {
		n = *s < ' ' ? 1 : utf8_shown_length(s, (size_t)(end - s));
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

static void bad_json(char *why, const char *text, size_t at, const char *what)
{
	size_t line = 1, column = 1, i;

	for (i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	snprintf(why, JSON_WHY, "line %zu, column %zu: %s", line, column, what);
}

static struct json_tokener *new_tokener(void)
{
	struct json_tokener *tokener = json_tokener_new();

	need_memory(tokener);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	return tokener;
}

/* Adds the name of @bytes bytes, with its quotes, to those that the object has. */
static const char *add_name(struct json_object *names, const char *text, size_t bytes)
{
	struct json_tokener *tokener = new_tokener();
	struct json_object *name = json_tokener_parse_ex(tokener, text, (int)bytes);
	const char *wrong = NULL;

	if (!name)
		wrong = "a name in double quotes is needed";
	else if (strlen(json_object_get_string(name)) != (size_t)json_object_get_string_len(name))
		wrong = "a name with a byte 0";
	else if (json_object_object_get_ex(names, json_object_get_string(name), NULL))
		wrong = "this name stands in the object already";
	else if (json_object_object_add(names, json_object_get_string(name), NULL))
		out_of_memory();
	json_object_put(name);
	json_tokener_free(tokener);
	return wrong;
}

/* The last byte of the string whose first quote is at @s. */
static const char *string_end(const char *s)
{
	const char quote = *s++;

	for (; *s != quote; s++)
		s += *s == '\\';
	return s;
}

/*
 * Of members of one name json-c keeps the last one only, and of a name what stands before a 0: a
 * part of the file would be passed over without a word. Looks for such names in what json-c has
 * taken, and says what is wrong.
 */
static bool check_names(const char *text, size_t bytes, char *why)
{
	/* Of each object that is open the names so far; NULL for arrays. */
	struct json_object *open[JSON_TOKENER_DEFAULT_DEPTH + 1] = { NULL };
	const char *s, *begin = text, *end = text + bytes, *wrong = NULL;
	size_t depth = 0, length;

	for (s = text; s < end && !wrong; s++) {
		if ((*s == '{' || *s == '[') && depth < JSON_TOKENER_DEFAULT_DEPTH) {
			open[++depth] = *s == '{' ? json_object_new_object() : NULL;
		} else if (*s == '}' || *s == ']') {
			json_object_put(open[depth--]);
		} else if (*s == '"' || *s == '\'') {
			begin = s;
			s = string_end(s);
			length = (size_t)(s + 1 - begin);
			while (s + 1 < end && isspace((unsigned char)s[1]))
				s++;
			if (s + 1 < end && s[1] == ':')
				wrong = add_name(open[depth], begin, length);
		}
	}
	while (depth)
		json_object_put(open[depth--]);
	if (wrong)
		bad_json(why, text, (size_t)(begin - text), wrong);
	return !wrong;
}

struct json_object *json_parse(const char *text, size_t bytes, char *why)
{
	struct json_tokener *tokener = new_tokener();
	const char *zero = memchr(text, 0, bytes);
	enum json_tokener_error error;
	struct json_object *value;

	value = json_tokener_parse_ex(tokener, text, (int)(zero ? zero - text : (long)bytes));
	error = json_tokener_get_error(tokener);
	if (error == json_tokener_continue && !zero)
		bad_json(why, text, bytes, "ends before its JSON does: is it cut off?");
	else if (error != json_tokener_success && error != json_tokener_continue)
		bad_json(why, text, json_tokener_get_parse_end(tokener),
			 json_tokener_error_desc(error));
	else if (zero)
		bad_json(why, text, (size_t)(zero - text), "a byte 0 is no JSON");
	else if (!json_object_is_type(value, json_type_object))
		snprintf(why, JSON_WHY, "an object is needed");
	else if (check_names(text, bytes, why))
		goto out;
	json_object_put(value);
	value = NULL;
out:
	json_tokener_free(tokener);
	return value;
}

bool json_copy(struct json_object *string, char *text, size_t room)
{
	size_t length;

	if (!json_object_is_type(string, json_type_string))
		return false;
	length = (size_t)json_object_get_string_len(string);
	/* What has a 0 in it is no text. */
	if (length >= room || strlen(json_object_get_string(string)) != length)
		return false;
	memcpy(text, json_object_get_string(string), length + 1);
	return true;
}
