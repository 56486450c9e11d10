// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/vgpu.h>

#include "config.h"
#include "reader.h"
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

static bool finish(struct reader *reader, char *why)
{
	if (reader_end(reader))
		return true;
	snprintf(why, CONFIG_WHY, "is not the JSON that mdevctl writes: byte %zu: %s",
		 reader_position(reader), reader->error);
	return false;
}

/* Attributes are objects of one member each. */
static bool parse_attrs(struct reader *reader, struct config *config, char *why)
{
	struct config_attr *attr;
	char more[CONFIG_NAME];

	reader_open(reader, '[');
	while (reader_element(reader)) {
		if (config->nr == CONFIG_ATTRS) {
			snprintf(why, CONFIG_WHY, "has more than %d attributes", CONFIG_ATTRS);
			return false;
		}
		attr = &config->attr[config->nr];
		reader_open(reader, '{');
		if (!reader_member(reader, attr->name, sizeof(attr->name))) {
			if (reader->error)
				break;
			snprintf(why, CONFIG_WHY, "attribute %zu is without a name", config->nr);
			return false;
		}
		reader_string(reader, attr->value, sizeof(attr->value));
		if (reader_member(reader, more, sizeof(more))) {
			snprintf(why, CONFIG_WHY, "attribute %zu has more than one name",
				 config->nr);
			return false;
		}
		config->nr++;
	}
	return true;
}

static bool parse_member(struct reader *reader, const char *name, const uint8_t *uuid,
			 struct config *config, char *why)
{
	uint8_t other[VGPU_UUID_LEN];

	if (!strcmp(name, "mdev_type")) {
		if (config->type[0]) {
			snprintf(why, CONFIG_WHY, "has two types");
			return false;
		}
		reader_string(reader, config->type, sizeof(config->type));
		return true;
	}
	if (!strcmp(name, "attrs")) {
		if (config->nr) {
			snprintf(why, CONFIG_WHY, "has two lists of attributes");
			return false;
		}
		return parse_attrs(reader, config, why);
	}
	/* "mdevctl list --dumpjson" of several vGPUs prints objects with such names. */
	if (!uuid_parse(name, other)) {
		snprintf(why, CONFIG_WHY, memcmp(other, uuid, sizeof(other)) ?
			 "names another vGPU, %s" : "is one of a list, with its UUID %s", name);
		return false;
	}
	/* "start" is mdevctl's own business, and so is what later versions may add. */
	reader_skip(reader);
	return true;
}

bool config_parse(const char *text, size_t bytes, const char *uuid, struct config *config,
		  char *why)
{
	uint8_t id[VGPU_UUID_LEN];
	struct reader reader;
	char name[CONFIG_NAME];

	*config = (struct config){ .attr = calloc(CONFIG_ATTRS, sizeof(*config->attr)) };
	if (!config->attr || uuid_parse(uuid, id)) {
		snprintf(why, CONFIG_WHY, config->attr ? "%s is no UUID" : "out of memory", uuid);
		return false;
	}
	reader_init(&reader, text, bytes);
	reader_open(&reader, '{');
	while (reader_member(&reader, name, sizeof(name)))
		if (!parse_member(&reader, name, id, config, why))
			return false;
	return finish(&reader, why);
}

void config_free(struct config *config)
{
	free(config->attr);
	config->attr = NULL;
}

bool config_version(const char *text, size_t bytes, uint64_t *version, char *why)
{
	struct reader reader;
	char name[CONFIG_NAME];

	*version = 0;
	reader_init(&reader, text, bytes);
	reader_open(&reader, '{');
	while (reader_member(&reader, name, sizeof(name))) {
		if (strcmp(name, "provides")) {
			reader_skip(&reader);
			continue;
		}
		reader_open(&reader, '{');
		while (reader_member(&reader, name, sizeof(name))) {
			if (strcmp(name, "version"))
				reader_skip(&reader);
			else
				reader_number(&reader, version);
		}
	}
	if (!finish(&reader, why))
		return false;
	if (!*version)
		snprintf(why, CONFIG_WHY, "names no version");
	return *version;
}
