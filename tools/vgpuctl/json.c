// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "json.h"

void json_init(struct json *json, FILE *out, bool lines)
{
	json->out = out;
	json->lines = lines;
	json->depth = 0;
	json->empty = true;
}

/* Length of the UTF-8 sequence at @s (RFC 3629), or 0 if there is no valid one. */
static size_t utf8_length(const unsigned char *s, size_t room)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > room)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

static void json_string(struct json *json, const void *text, size_t bytes)
{
	const unsigned char *s = text, *end = s + bytes;
	size_t n;

	putc('"', json->out);
	while (s < end) {
		n = utf8_length(s, (size_t)(end - s));
		if (!n) {
			fputs("\\ufffd", json->out);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(json->out, "\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(json->out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, n, json->out);
		}
		s += n;
	}
	putc('"', json->out);
}

static void json_newline(struct json *json)
{
	unsigned int i;

	if (json->lines)
		return;
	putc('\n', json->out);
	for (i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void json_key(struct json *json, const char *key)
{
	if (json->depth) {
		if (!json->empty)
			fputs(json->lines ? ", " : ",", json->out);
		json_newline(json);
	}
	json->empty = false;
	if (key) {
		json_string(json, key, strlen(key));
		fputs(": ", json->out);
	}
}

static void json_open(struct json *json, const char *key, char c)
{
	json_key(json, key);
	putc(c, json->out);
	json->depth++;
	json->empty = true;
}

static void json_close(struct json *json, char c)
{
	bool empty = json->empty;

	json->depth--;
	if (!empty)
		json_newline(json);
	putc(c, json->out);
	json->empty = false;
	if (!json->depth) {
		putc('\n', json->out);
		fflush(json->out);
		json->empty = true;
	}
}

void json_object(struct json *json, const char *key)
{
	json_open(json, key, '{');
}

void json_object_end(struct json *json)
{
	json_close(json, '}');
}

void json_array(struct json *json, const char *key)
{
	json_open(json, key, '[');
}

void json_array_end(struct json *json)
{
	json_close(json, ']');
}

void json_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_string(json, text, strlen(text));
}

void json_bytes(struct json *json, const char *key, const void *text,
		size_t room)
{
	json_key(json, key);
	json_string(json, text, strnlen(text, room));
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_s64(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	json_key(json, key);
	fputs("null", json->out);
}

void json_centi(struct json *json, const char *key, uint64_t hundredths)
{
	json_key(json, key);
	fprintf(json->out, "%" PRIu64 ".%02" PRIu64, hundredths / 100,
		hundredths % 100);
}
