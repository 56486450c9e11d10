// SPDX-License-Identifier: GPL-2.0
/*
 * copy BYTES: how many ns memcpy() of so many bytes takes here, by the faster one of two ways,
 * between buffers whose pages are all there. The row guest_evict is measured against it in the
 * machine that has the engines: that of an emulated VM would be too easy to beat.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clk.h"

/* Pages at a distance of a power of two push each other out of an emulated processor's tables. */
#define SKEW	(17 * 4096)

static void copy_libc(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void copy_words(void *to, const void *from, size_t bytes)
{
#ifdef __x86_64__
	size_t words = bytes / 8;

	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
#else
	memcpy(to, from, bytes);
#endif
}

int main(int argc, char **argv)
{
	void (* const copy[])(void *to, const void *from, size_t bytes) = {
		copy_libc, copy_words, copy_libc, copy_words,
	};
	size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 0) : 0, i;
	uint64_t best = UINT64_MAX, ns;
	uint8_t *from, *to;

	from = mmap(NULL, 2 * bytes + SKEW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (!bytes || from == MAP_FAILED) {
		fprintf(stderr, "usage: copy BYTES, of which there must be twice as many\n");
		return 2;
	}
	to = from + bytes + SKEW;
	memset(from, 1, bytes);
	memset(to, 2, bytes);
	for (i = 0; i < sizeof(copy) / sizeof(copy[0]); i++) {
		ns = clk_ns();
		copy[i](to, from, bytes);
		ns = clk_ns() - ns;
		if (ns < best)
			best = ns;
	}
	if (memcmp(to, from, bytes))
		return 1;
	printf("%llu\n", (unsigned long long)best);
	return 0;
}
