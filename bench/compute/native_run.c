// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "native_run.h"

void native_open(struct native *native, const struct sample *sample)
{
	native->sample = sample;
	native->memory = aligned_alloc(VGPU_HW_PAGE_SIZE, (sample->bytes + VGPU_HW_PAGE_SIZE) &
				       ~(size_t)(VGPU_HW_PAGE_SIZE - 1));
	if (!native->memory)
		bench_die("out of memory");
	memset(native->memory, 0, sample->bytes);
	sample->prepare(native->memory, (uintptr_t)native->memory, native->args);
}

void native_close(struct native *native)
{
	free(native->memory);
}

void native_run(struct native *native)
{
	memset(native->memory, 0, native->sample->clear_bytes);
	native->sample->native(native->args);
}

void native_compare(const struct native *native, const struct engine *engine)
{
	const uint8_t *has = engine->memory + ENGINE_MEMORY_AT;
	size_t i;

	for (i = 0; i < native->sample->bytes; i++)
		if (has[i] != native->memory[i])
			bench_die("%s: byte %zu is %#x, not %#x", native->sample->name, i, has[i],
				  native->memory[i]);
}
