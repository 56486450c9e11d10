/* SPDX-License-Identifier: GPL-2.0 */
/* A writer of JSON (RFC 8259). */
#ifndef VGPUCTL_JSON_H
#define VGPUCTL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct json - a document being written
 * @out:   file that it is written to
 * @lines: write the document on one line; else indent it
 * @depth: number of objects and arrays that are open
 * @empty: the innermost of these has no value yet
 */
struct json {
	FILE *out;
	bool lines;
	unsigned int depth;
	bool empty;
};

/*
 * Write values. In an object every value has a key; in an array, and for the outermost object or
 * array, key is NULL. The document is complete when its outermost object or array is ended.
 */
void json_init(struct json *json, FILE *out, bool lines);
void json_object(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_end(struct json *json);
void json_text(struct json *json, const char *key, const char *text);

/* A text in an array of @room bytes, which it may fill without a 0 at the end. */
void json_bytes(struct json *json, const char *key, const void *text, size_t room);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_s64(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* @hundredths / 100, with two decimals. */
void json_centi(struct json *json, const char *key, uint64_t hundredths);

#endif /* VGPUCTL_JSON_H */
