// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/vgpu.h>

#include "config.h"
#include "json.h"
#include "uuid.h"

/* Far more than vGPUs have. Whoever writes more is no mdevctl. */
#define CONFIG_BYTES	(1 << 20)
#define CONFIG_ATTRS	256

char *config_read(FILE *file, size_t *bytes, char *why)
{
	char *text = malloc(CONFIG_BYTES);

	if (!text) {
		snprintf(why, CONFIG_WHY, "out of memory");
		return NULL;
	}
	*bytes = fread(text, 1, CONFIG_BYTES, file);
	if (ferror(file))
		snprintf(why, CONFIG_WHY, "cannot read it: %s", strerror(errno));
	else if (*bytes == CONFIG_BYTES)
		snprintf(why, CONFIG_WHY, "is longer than %d bytes", CONFIG_BYTES - 1);
	else
		return text;
	free(text);
	return NULL;
}

static bool parse_attr(struct json_object *from, size_t i, struct config_attr *attr, char *why)
{
	if (!json_object_is_type(from, json_type_object) || json_object_object_length(from) != 1) {
		snprintf(why, CONFIG_WHY, "attribute %zu is no object with one name", i);
		return false;
	}
	json_object_object_foreach(from, key, value) {
		if (strlen(key) >= sizeof(attr->name) ||
		    !json_copy(value, attr->value, sizeof(attr->value))) {
			snprintf(why, CONFIG_WHY,
				 "attribute %zu: a name and a text of less than %d bytes are needed",
				 i, CONFIG_NAME);
			return false;
		}
		strcpy(attr->name, key);
	}
	return true;
}

static bool parse_attrs(struct json_object *from, struct config *config, char *why)
{
	size_t i, nr;

	if (!json_object_is_type(from, json_type_array)) {
		snprintf(why, CONFIG_WHY, "has attributes that are no array");
		return false;
	}
	nr = json_object_array_length(from);
	if (nr > CONFIG_ATTRS) {
		snprintf(why, CONFIG_WHY, "has more than %d attributes", CONFIG_ATTRS);
		return false;
	}
	for (i = 0; i < nr; i++, config->nr++)
		if (!parse_attr(json_object_array_get_idx(from, i), i, &config->attr[i], why))
			return false;
	return true;
}

static bool parse_member(const char *name, struct json_object *value, const uint8_t *uuid,
			 struct config *config, char *why)
{
	uint8_t other[VGPU_UUID_LEN];

	if (!strcmp(name, "attrs"))
		return parse_attrs(value, config, why);
	if (!strcmp(name, "mdev_type")) {
		if (json_copy(value, config->type, sizeof(config->type)))
			return true;
		snprintf(why, CONFIG_WHY, "has a type that is no text of less than %d bytes",
			 CONFIG_NAME);
		return false;
	}
	/* "mdevctl list --dumpjson" of several vGPUs prints objects with such names. */
	if (!uuid_parse(name, other)) {
		snprintf(why, CONFIG_WHY, memcmp(other, uuid, sizeof(other)) ?
			 "names another vGPU, %s" : "is one of a list, with its UUID %s", name);
		return false;
	}
	/* "start" is mdevctl's own business, and so is what later versions may add. */
	return true;
}

/* Reads the JSON, or says why it is none. */
static struct json_object *parse(const char *text, size_t bytes, char *why)
{
	char what[JSON_WHY];
	struct json_object *document = json_parse(text, bytes, what);

	if (!document)
		snprintf(why, CONFIG_WHY, "is not the JSON that mdevctl writes: %s", what);
	return document;
}

bool config_parse(const char *text, size_t bytes, const char *uuid, struct config *config,
		  char *why)
{
	struct json_object *document;
	uint8_t id[VGPU_UUID_LEN];
	bool good;

	*config = (struct config){ .attr = calloc(CONFIG_ATTRS, sizeof(*config->attr)) };
	if (!config->attr || uuid_parse(uuid, id)) {
		snprintf(why, CONFIG_WHY, config->attr ? "%s is no UUID" : "out of memory", uuid);
		return false;
	}
	document = parse(text, bytes, why);
	good = document;
	if (document) {
		json_object_object_foreach(document, key, value)
			good = good && parse_member(key, value, id, config, why);
	}
	json_object_put(document);
	return good;
}

void config_free(struct config *config)
{
	free(config->attr);
	config->attr = NULL;
}

bool config_version(const char *text, size_t bytes, uint64_t *version, char *why)
{
	struct json_object *document = parse(text, bytes, why), *provides, *number;
	int64_t value = 0;

	if (!document)
		return false;
	if (json_object_object_get_ex(document, "provides", &provides) &&
	    json_object_object_get_ex(provides, "version", &number) &&
	    json_object_is_type(number, json_type_int))
		value = json_object_get_int64(number);
	json_object_put(document);
	/* A number that is too large for json-c becomes the largest one. */
	if (value <= 0 || value == INT64_MAX) {
		snprintf(why, CONFIG_WHY, "names no version");
		return false;
	}
	*version = (uint64_t)value;
	return true;
}
