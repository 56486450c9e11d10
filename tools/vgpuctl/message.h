/* SPDX-License-Identifier: GPL-2.0 */
/* What programs say on standard error, and their exit codes. */
#ifndef VGPUCTL_MESSAGE_H
#define VGPUCTL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VGPUCTL_VERSION	"0.1.0"

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,	/* the command line is wrong */
};

/* What messages begin with: "vgpuctl: ". */
extern const char *message_prefix;

/* Where they go; NULL: to standard error. */
extern FILE *message_file;

/* Each prints the prefix, the text and a newline, and returns the exit code of its name. */
__attribute__((format(printf, 1, 2)))
enum exit_code fail(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
enum exit_code fail_usage(const char *fmt, ...);

const char *message_refusal(const uint8_t *reason, int ret, char *text, size_t room);
__attribute__((noreturn))
void out_of_memory(void);

/* Allocates @nr elements of @size bytes, all 0; if memory is short, the program ends. */
void *need_zeroed(size_t nr, size_t size);

/* Ends the program if @memory, which was just allocated, is NULL. */
static inline void need_memory(const void *memory)
{
	if (!memory)
		out_of_memory();
}

#endif /* VGPUCTL_MESSAGE_H */
