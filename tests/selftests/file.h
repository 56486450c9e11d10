/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small text files, as those of sysfs, procfs and debugfs; used by the selftests, the fuzzer
 * and the bench. Functions that can fail return a negative errno.
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes all of @text with one call of write(); 0 if the file has taken it. */
int file_write(const char *path, const char *text);

/* Reads up to @room - 1 bytes and terminates them; returns how many were read. */
int file_read(const char *path, char *text, size_t room);

/*
 * The number at the start of the file or, with @key, behind the first place where @key
 * stands. Octal and hexadecimal numbers are read as such.
 */
int file_number(const char *path, const char *key, uint64_t *value);

/* PID of the first process whose name begins with @prefix; 0: there is none. */
pid_t file_find_process(const char *prefix);

#endif /* FILE_H */
