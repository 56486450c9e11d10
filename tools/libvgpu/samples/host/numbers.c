// SPDX-License-Identifier: GPL-2.0
/* Samples that compute numbers. */
#include <string.h>

#include "../reduce.h"
#include "../sgemm.h"
#include "../sha256.h"
#include "samples.h"

#define SEED		88172645463325252ull
#define SGEMM_NR	(256u >> SAMPLES_HALVED)
#define SGEMM_FLOATS	(SGEMM_NR * SGEMM_NR)
#define SHA256_ITEMS	(16384u >> 2 * SAMPLES_HALVED)
#define REDUCE_ITEMS	(65536u >> 2 * SAMPLES_HALVED)
#define REDUCE_AT	64 /* of the numbers, behind the sum */

static void sgemm_prepare(void *memory, uint64_t address, void *args)
{
	uint64_t random = SEED;
	float *a = memory;
	uint32_t i;

	*(struct sgemm_args *)args = (struct sgemm_args) {
		.a = (float *)(uintptr_t)address,
		.b = (float *)(uintptr_t)address + SGEMM_FLOATS,
		.c = (float *)(uintptr_t)address + 2 * SGEMM_FLOATS,
		.nr = SGEMM_NR,
	};
	for (i = 0; i < 2 * SGEMM_FLOATS; i++)
		a[i] = (float)(sample_random(&random) >> 40) / (1 << 23) - 1;
}

static void sgemm_native(const void *args)
{
	uint32_t column, row;

	for (row = 0; row < SGEMM_NR; row++)
		for (column = 0; column < SGEMM_NR; column++)
			sgemm_item(args, column, row);
}

const struct sample sample_sgemm = {
	.name = "sgemm",
	.brief = "product of two matrices of 256 x 256 floats",
	.grid = { SGEMM_NR, SGEMM_NR, 1 },
	.group = { 32, 8, 1 },
	.bytes = 3 * SGEMM_FLOATS * sizeof(float),
	.work = 2.0 * SGEMM_NR * SGEMM_NR * SGEMM_NR,
	.unit = "flops",
	.prepare = sgemm_prepare,
	.native = sgemm_native,
};

static void sha256_prepare(void *memory, uint64_t address, void *args)
{
	uint64_t random = SEED;
	uint32_t *message = memory, i;

	*(struct sha256_args *)args = (struct sha256_args) {
		.messages = (uint32_t *)(uintptr_t)address,
		.digests = (uint32_t *)(uintptr_t)address + SHA256_ITEMS * SHA256_WORDS,
	};
	/* The first message is zero: its digest is known. */
	memset(message, 0, SHA256_WORDS * sizeof(uint32_t));
	for (i = SHA256_WORDS; i < SHA256_ITEMS * SHA256_WORDS; i++)
		message[i] = (uint32_t)sample_random(&random);
}

static void sha256_native(const void *args)
{
	uint32_t id;

	for (id = 0; id < SHA256_ITEMS; id++)
		sha256_item(args, id);
}

const struct sample sample_sha256 = {
	.name = "sha256",
	.brief = "SHA-256 of 16384 messages of 32 bytes",
	.grid = { SHA256_ITEMS, 1, 1 },
	.group = { 256, 1, 1 },
	.bytes = 2 * SHA256_ITEMS * SHA256_WORDS * sizeof(uint32_t),
	.work = SHA256_ITEMS,
	.unit = "hashes",
	.prepare = sha256_prepare,
	.native = sha256_native,
};

static void reduce_prepare(void *memory, uint64_t address, void *args)
{
	uint32_t *number = (uint32_t *)((uint8_t *)memory + REDUCE_AT), i;
	uint64_t random = SEED;

	*(struct reduce_args *)args = (struct reduce_args) {
		.sum = (uint32_t *)(uintptr_t)address,
		.numbers = (uint32_t *)(uintptr_t)(address + REDUCE_AT),
	};
	for (i = 0; i < REDUCE_ITEMS * REDUCE_EACH; i++)
		number[i] = (uint32_t)sample_random(&random);
}

/* What the items of a group do between two barriers, one after the other. */
static uint32_t reduce_group(const struct reduce_args *args, uint32_t first)
{
	uint32_t part[REDUCE_GROUP];
	uint32_t me, half;

	for (me = 0; me < REDUCE_GROUP; me++)
		part[me] = reduce_part(args, first + me);
	for (half = REDUCE_GROUP / 2; half; half /= 2)
		for (me = 0; me < half; me++)
			part[me] += part[me + half];
	return part[0];
}

static void reduce_native(const void *args)
{
	const struct reduce_args *reduce = args;
	uint32_t first;

	for (first = 0; first < REDUCE_ITEMS; first += REDUCE_GROUP)
		*reduce->sum += reduce_group(reduce, first);
}

const struct sample sample_reduce = {
	.name = "reduce",
	.brief = "sum of 4194304 numbers: work-group memory, barriers, atomics",
	.grid = { REDUCE_ITEMS, 1, 1 },
	.group = { REDUCE_GROUP, 1, 1 },
	.bytes = REDUCE_AT + REDUCE_ITEMS * REDUCE_EACH * sizeof(uint32_t),
	.clear_bytes = REDUCE_AT,
	.work = REDUCE_ITEMS * REDUCE_EACH,
	.unit = "numbers",
	.prepare = reduce_prepare,
	.native = reduce_native,
};
