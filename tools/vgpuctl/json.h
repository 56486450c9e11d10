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
 * @out:   where to
 * @lines: one line per document, else indented
 * @depth: open objects and arrays
 * @empty: nothing was written yet at this depth
 */
struct json {
	FILE *out;
	bool lines;
	unsigned int depth;
	bool empty;
};

/*
 * In an object every value has a key; in an array, and for the document
 * itself, key is NULL. The document ends with its outermost end.
 */
void json_init(struct json *json, FILE *out, bool lines);
void json_object(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_end(struct json *json);
void json_text(struct json *json, const char *key, const char *text);
void json_bytes(struct json *json, const char *key, const void *text,
		size_t room);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_s64(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
void json_centi(struct json *json, const char *key, uint64_t hundredths);

#endif /* VGPUCTL_JSON_H */
