/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a program of the bench that cannot measure. */
#ifndef DIE_H
#define DIE_H

/* Prints the text behind the program's name on standard error, and exits with status 1. */
void bench_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

#endif /* DIE_H */
