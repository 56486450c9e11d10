// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "say.h"

__attribute__((format(printf, 2, 0)))
static void print_line(const char *begin, const char *fmt, va_list args)
{
	fputs(begin, stdout);
	vprintf(fmt, args);
	putchar('\n');
	fflush(stdout);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("guest: ", fmt, args);
	va_end(args);
}

bool failed(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_line("guest: FAILED: ", fmt, args);
	va_end(args);
	return false;
}
