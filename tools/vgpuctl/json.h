/* SPDX-License-Identifier: GPL-2.0 */
/* Writing and reading JSON (RFC 8259), by json-c. */
#ifndef VGPUCTL_JSON_H
#define VGPUCTL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH	8
#define JSON_WHY	128

struct json_object;

/**
 * struct json - a document in the making
 * @out:   file that it is written to
 * @lines: write the document on one line; else indent it
 * @depth: number of objects and arrays that are open
 * @open:  these, the outermost first
 */
struct json {
	FILE *out;
	bool lines;
	unsigned int depth;
	struct json_object *open[JSON_DEPTH];
};

/*
 * Add values. In an object every value has a key; in an array, and for the outermost object or
 * array, key is NULL. json_end() of the outermost one writes the document. If memory is short, the
 * program ends.
 */
void json_init(struct json *json, FILE *out, bool lines);
void json_begin(struct json *json, const char *key);
void json_begin_array(struct json *json, const char *key);
void json_end(struct json *json);
void json_text(struct json *json, const char *key, const char *text);

/* A text in an array of @room bytes, which it may fill without a 0 at the end. */
void json_bytes(struct json *json, const char *key, const void *text, size_t room);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_s64(struct json *json, const char *key, int64_t value);
void json_flag(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* @hundredths / 100, with two decimals. */
void json_centi(struct json *json, const char *key, uint64_t hundredths);

/*
 * Reads a text of @bytes bytes that is an object, for json_object_put(). If it is none, returns
 * NULL, and @why, of JSON_WHY bytes, says what is wrong and where.
 */
struct json_object *json_parse(const char *text, size_t bytes, char *why);

/* Copies a string to @text, of @room bytes. Returns false if it is none, or does not fit. */
bool json_copy(struct json_object *string, char *text, size_t room);

#endif /* VGPUCTL_JSON_H */
