// SPDX-License-Identifier: GPL-2.0
/* What the library allocates: it is counted, and fails where nvml_fake.h's fake says so. */
#include <stdbool.h>
#include <stddef.h>

#include "nvml_fake.h"

static int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

static void allocated(int nr)
{
	__atomic_fetch_add(&allocations, nr, __ATOMIC_RELAXED);
}

/* Only tests with one thread make allocations fail. */
static bool fails(void)
{
	return fake.fail_allocation && !--fake.fail_allocation;
}

void *__wrap_malloc(size_t size)
{
	if (fails())
		return NULL;
	allocated(1);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	if (fails())
		return NULL;
	allocated(1);
	return __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	if (fails())
		return NULL;
	allocated(!p);
	return __real_realloc(p, size);
}

void __wrap_free(void *p)
{
	allocated(-!!p);
	__real_free(p);
}

int fake_allocations(void)
{
	return __atomic_load_n(&allocations, __ATOMIC_RELAXED);
}
