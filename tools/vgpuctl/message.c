// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/vgpu.h>

#include "message.h"

const char *message_prefix = "vgpuctl: ";
FILE *message_file;

static void say(const char *fmt, va_list ap)
{
	FILE *file = message_file ? message_file : stderr;
	char *text = NULL;

	/* In one call, which is one write: several tools may have the same standard error. */
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	fprintf(file, "%s%s\n", message_prefix, text ? text : fmt);
	free(text);
}

enum exit_code fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return EXIT_FAILED;
}

enum exit_code fail_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return EXIT_USAGE;
}

/*
 * Why the driver refused a setting: @reason, the driver's own words (VGPU_TEXT_LEN bytes), or words
 * for the negative errno @ret if the driver gave none. The words go to @text, which is returned.
 */
const char *message_refusal(const uint8_t *reason, int ret, char *text, size_t room)
{
	if (reason[0])
		snprintf(text, room, "%.*s", VGPU_TEXT_LEN, (const char *)reason);
	else if (ret == -EPERM || ret == -EACCES)
		snprintf(text, room, "permission denied; needs CAP_SYS_ADMIN");
	else
		snprintf(text, room, "%s", strerror(-ret));
	return text;
}

void *need_zeroed(size_t nr, size_t size)
{
	void *memory = calloc(nr ? nr : 1, size);

	need_memory(memory);
	return memory;
}

void out_of_memory(void)
{
	exit(fail("out of memory"));
}
