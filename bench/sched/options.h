/* SPDX-License-Identifier: GPL-2.0 */
/* The command lines of bench_sched and fuzz_sched. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <linux/types.h>

/**
 * struct bench_option - an option; a table of them ends with an empty one
 * @name:   the long name, without dashes
 * @number: where its number goes
 * @words:  or where its words go, which are the caller's argv
 * @flag:   or, without an argument, what is set to true
 */
struct bench_option {
	const char *name;
	u64 *number;
	const char **words;
	bool *flag;
};

void bench_options(int argc, char **argv, const char *usage, const struct bench_option *table);
void bench_usage(const char *usage) __attribute__((noreturn));

#endif /* BENCH_OPTIONS_H */
