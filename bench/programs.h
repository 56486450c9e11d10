/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that are hard to stop, as words of RISC-V code: each keeps the engine busy with another
 * kind of slow instruction, and leaves a number for each work-item that the CPU knows, too.
 */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include <stdint.h>

/* What all memory that programs look at consists of. */
#define PROGRAM_PATTERN		0x0101010101010101ull

/**
 * struct program_args - the arguments of a program, which it finds at a0
 * @rounds: how often it does what it does, at least 1
 * @out:    where the numbers are to go, 64 bits of each work-item
 * @memory: address of memory full of PROGRAM_PATTERN
 * @mask:   of the offsets of pages in that memory, whose number is a power of two; one page more
 *          must be there
 */
struct program_args {
	uint64_t rounds;
	uint64_t out;
	uint64_t memory;
	uint64_t mask;
};

/**
 * struct program - a program
 * @name:   short
 * @brief:  what it does
 * @words:  its text
 * @nr:     length of @words
 * @result: the number of a work-item after so many rounds; NULL: it leaves none
 */
struct program {
	const char *name;
	const char *brief;
	const uint32_t *words;
	uint32_t nr;
	uint64_t (*result)(uint64_t id, uint64_t rounds);
};

extern const struct program program_loop, program_diverged, program_slow, program_misses;
extern const struct program program_loads, program_atomics, program_bursts, program_empty;
extern const struct program program_count;

#endif /* BENCH_PROGRAMS_H */
