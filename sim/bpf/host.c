// SPDX-License-Identifier: GPL-2.0
/* The kernel's interface of programs of BPF in user space, and what its compiler needs. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <linux/filter.h>
#include <linux/kernel.h>

#include "jit.h"

/*
 * A call reaches 2 GiB: as far away as that, less what the program's text may take, pages are
 * looked for. Above the text is the heap, which is to grow: pages below it are taken first.
 */
#define REACH	(1UL << 30)
#define STEP	(1UL << 16)
#define STEPS	(2 * REACH / STEP)

static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long place;

u64 __bpf_call_base(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5)
{
	return 0;
}

void *bpf_host_alloc(unsigned long bytes)
{
	return calloc(1, bytes);
}

void bpf_host_free(const void *ptr)
{
	free((void *)ptr);
}

/* The address of the @n-th try: down from the program's text to REACH below it, then up. */
static unsigned long address_of(unsigned long n)
{
	unsigned long base = (unsigned long)__bpf_call_base & ~(STEP - 1), offset;

	offset = (n % (REACH / STEP) + 1) * STEP;
	if (n >= REACH / STEP)
		return base + offset;
	return base > offset ? base - offset : 0;
}

void *bpf_host_code_alloc(unsigned long bytes)
{
	void *code = MAP_FAILED;
	unsigned long tries;

	bytes = PAGE_ALIGN(bytes);
	if (bytes > REACH / 2)
		return NULL;
	pthread_mutex_lock(&place_lock);
	for (tries = 0; tries < STEPS && code == MAP_FAILED; tries++) {
		unsigned long at = address_of(place);

		if (at)
			code = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		/* Kernels before 4.17 take the address as a hint. */
		if (code != MAP_FAILED && code != (void *)at) {
			munmap(code, bytes);
			code = MAP_FAILED;
		}
		place = (place + 1) % STEPS;
	}
	pthread_mutex_unlock(&place_lock);
	if (code == MAP_FAILED) {
		bpf_host_error("no pages are free from where code can call functions\n");
		return NULL;
	}
	return code;
}

int bpf_host_code_seal(void *code, unsigned long bytes)
{
	return mprotect(code, PAGE_ALIGN(bytes), PROT_READ | PROT_EXEC);
}

void bpf_host_code_free(void *code, unsigned long bytes)
{
	munmap(code, PAGE_ALIGN(bytes));
}

void bpf_host_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}
