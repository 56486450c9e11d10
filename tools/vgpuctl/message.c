// SPDX-License-Identifier: GPL-2.0
/* What vgpuctl says on standard error when a command fails, and the exit code that goes with it. */
#include <stdarg.h>
#include <stdio.h>

#include "vgpuctl.h"

static void say(const char *fmt, va_list ap)
{
	fputs("vgpuctl: ", stderr);
	vfprintf(stderr, fmt, ap);
	putc('\n', stderr);
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
