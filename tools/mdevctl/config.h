/* SPDX-License-Identifier: GPL-2.0 */
/* What mdevctl writes to the standard input of a call-out. */
#ifndef VGPU_MDEVCTL_CONFIG_H
#define VGPU_MDEVCTL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_NAME	128
#define CONFIG_WHY	512

/* An attribute: a file below the mdev's directory, and what is to be written there. */
struct config_attr {
	char name[CONFIG_NAME];
	char value[CONFIG_NAME];
};

/**
 * struct config - the configuration of a vGPU
 * @type: type of the vGPU; empty if it names none
 * @attr: attributes in their order, in which mdevctl writes them when it starts the vGPU
 * @nr:   number of attributes
 */
struct config {
	char type[CONFIG_NAME];
	struct config_attr *attr;
	size_t nr;
};

/*
 * Each reads a document of @bytes bytes. If it is not what it must be, false is returned, and @why,
 * of CONFIG_WHY bytes, says what is wrong.
 *
 * config_parse() refuses the configuration of another vGPU than @uuid; config_free() is the
 * caller's in any case. config_version() reads which version of the protocol mdevctl speaks.
 */
bool config_parse(const char *text, size_t bytes, const char *uuid, struct config *config,
		  char *why);
void config_free(struct config *config);
bool config_version(const char *text, size_t bytes, uint64_t *version, char *why);

/*
 * Reads a file to its end. Returns the text, to be freed, and its length; or NULL, with the reason
 * in @why.
 */
char *config_read(FILE *file, size_t *bytes, char *why);

#endif /* VGPU_MDEVCTL_CONFIG_H */
