// SPDX-License-Identifier: GPL-2.0
/* The samples and their programs, which are part of this one. SAMPLES_DIR is where they are. */
#include <string.h>

#include "samples.h"

#define SAMPLES(X) \
	X(mandelbrot) X(sgemm) X(blur) X(sha256) X(reduce) X(triad) X(copy) X(latency) X(bandwidth)

#define EMBED(name)								\
	__asm__(".pushsection .rodata\n"					\
		".balign 8\n"							\
		"program_" #name ":\n"						\
		".incbin \"" SAMPLES_DIR "/" #name ".elf\"\n"			\
		"program_" #name "_end:\n"					\
		".popsection\n");						\
	extern const uint8_t program_##name[], program_##name##_end[]
#define ENTRY(name)	{ &sample_##name, program_##name, program_##name##_end },

#define EMBED_ONE(name)	EMBED(name);
SAMPLES(EMBED_ONE)

static const struct {
	const struct sample *sample;
	const uint8_t *program;
	const uint8_t *end;
} entries[] = {
	SAMPLES(ENTRY)
};

const struct sample *sample_at(size_t i)
{
	return i < sizeof(entries) / sizeof(entries[0]) ? entries[i].sample : NULL;
}

const struct sample *sample_find(const char *name)
{
	const struct sample *sample;
	size_t i;

	for (i = 0; (sample = sample_at(i)); i++)
		if (!strcmp(sample->name, name))
			return sample;
	return NULL;
}

const void *sample_program(const struct sample *sample, size_t *bytes)
{
	size_t i;

	for (i = 0; sample_at(i); i++) {
		if (strcmp(entries[i].sample->name, sample->name))
			continue;
		*bytes = (size_t)(entries[i].end - entries[i].program);
		return entries[i].program;
	}
	*bytes = 0;
	return NULL;
}
