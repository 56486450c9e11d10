/* SPDX-License-Identifier: GPL-2.0 */
/* What a test expects of parsed JSON. */
#ifndef JSON_TEST_H
#define JSON_TEST_H

#include <json-c/json.h>

#include "vgpu_test.h"

static inline struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value;

	check_that(json_object_object_get_ex(object, key, &value), "%s", key);
	return value;
}

static inline struct json_object *at(struct json_object *array, size_t i)
{
	assert_true(i < json_object_array_length(array));
	return json_object_array_get_idx(array, i);
}

static inline void is(struct json_object *object, const char *key, uint64_t value)
{
	check_that(json_object_get_uint64(get(object, key)) == value, "%s: %s", key,
		   json_object_to_json_string(object));
}

static inline void says(struct json_object *object, const char *key, const char *text)
{
	assert_string_equal(json_object_get_string(get(object, key)), text);
}

#endif /* JSON_TEST_H */
