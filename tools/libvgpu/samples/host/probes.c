// SPDX-License-Identifier: GPL-2.0
/* Samples about memory. */
#include "../bandwidth.h"
#include "../copy.h"
#include "../latency.h"
#include "../triad.h"
#include "samples.h"

#define SEED		88172645463325252ull
#define TRIAD_ITEMS	(1u << 20 >> 2 * SAMPLES_HALVED)
#define COPY_ITEMS	(1u << 20 >> 2 * SAMPLES_HALVED)
#define LATENCY_WORDS	(1u << 16 >> 2 * SAMPLES_HALVED)
#define LATENCY_LOADS	(65536u >> 2 * SAMPLES_HALVED)
#define BANDWIDTH_ITEMS	(1u << 15 >> 2 * SAMPLES_HALVED)

static void triad_prepare(void *memory, uint64_t address, void *args)
{
	float *from = (float *)memory + TRIAD_ITEMS;
	uint64_t random = SEED;
	uint32_t i;

	*(struct triad_args *)args = (struct triad_args) {
		.a = (float *)(uintptr_t)address,
		.b = (float *)(uintptr_t)address + TRIAD_ITEMS,
		.c = (float *)(uintptr_t)address + 2 * TRIAD_ITEMS,
		.factor = 3,
	};
	for (i = 0; i < 2 * TRIAD_ITEMS; i++)
		from[i] = (float)(sample_random(&random) >> 40);
}

static void triad_native(const void *args)
{
	uint32_t id;

	for (id = 0; id < TRIAD_ITEMS; id++)
		triad_item(args, id);
}

const struct sample sample_triad = {
	.name = "triad",
	.brief = "a = b + 3 c, vectors of 1048576 floats",
	.grid = { TRIAD_ITEMS, 1, 1 },
	.group = { 256, 1, 1 },
	.bytes = 3 * TRIAD_ITEMS * sizeof(float),
	.work = 3.0 * TRIAD_ITEMS * sizeof(float),
	.unit = "bytes",
	.prepare = triad_prepare,
	.native = triad_native,
};

static void copy_prepare(void *memory, uint64_t address, void *args)
{
	uint64_t random = SEED, *from = (uint64_t *)memory + COPY_ITEMS;
	uint32_t i;

	*(struct copy_args *)args = (struct copy_args) {
		.to = (uint64_t *)(uintptr_t)address,
		.from = (uint64_t *)(uintptr_t)address + COPY_ITEMS,
	};
	for (i = 0; i < COPY_ITEMS; i++)
		from[i] = sample_random(&random);
}

static void copy_native(const void *args)
{
	uint32_t id;

	for (id = 0; id < COPY_ITEMS; id++)
		copy_item(args, id);
}

const struct sample sample_copy = {
	.name = "copy",
	.brief = "8 MiB copied, 8 bytes per work-item",
	.grid = { COPY_ITEMS, 1, 1 },
	.group = { 256, 1, 1 },
	.bytes = 2 * COPY_ITEMS * sizeof(uint64_t),
	.work = 2.0 * COPY_ITEMS * sizeof(uint64_t),
	.unit = "bytes",
	.prepare = copy_prepare,
	.native = copy_native,
};

/* One cycle through all elements, in random order (Sattolo). */
static void latency_prepare(void *memory, uint64_t address, void *args)
{
	uint32_t *next = memory, i, k, was;
	uint64_t random = SEED;

	*(struct latency_args *)args = (struct latency_args) {
		.next = (uint32_t *)(uintptr_t)address,
		.end = (uint32_t *)(uintptr_t)address + LATENCY_WORDS,
		.loads = LATENCY_LOADS,
	};
	for (i = 0; i < LATENCY_WORDS; i++)
		next[i] = i;
	for (i = LATENCY_WORDS - 1; i; i--) {
		k = (uint32_t)(sample_random(&random) % i);
		was = next[i];
		next[i] = next[k];
		next[k] = was;
	}
}

static void latency_native(const void *args)
{
	latency_item(args, 0);
}

const struct sample sample_latency = {
	.name = "latency",
	.brief = "65536 loads in 256 KiB, each of which needs the one before",
	.grid = { 1, 1, 1 },
	.group = { 1, 1, 1 },
	.bytes = (LATENCY_WORDS + 1) * sizeof(uint32_t),
	.work = LATENCY_LOADS,
	.unit = "loads",
	.prepare = latency_prepare,
	.native = latency_native,
};

static void bandwidth_prepare(void *memory, uint64_t address, void *args)
{
	uint64_t random = SEED, *word = (uint64_t *)memory + BANDWIDTH_ITEMS;
	uint32_t i;

	*(struct bandwidth_args *)args = (struct bandwidth_args) {
		.xor = (uint64_t *)(uintptr_t)address,
		.words = (uint64_t *)(uintptr_t)address + BANDWIDTH_ITEMS,
	};
	for (i = 0; i < BANDWIDTH_ITEMS * BANDWIDTH_EACH; i++)
		word[i] = sample_random(&random);
}

/* The order is the one in which a CPU reads fastest. */
static void bandwidth_native(const void *args)
{
	const struct bandwidth_args *bandwidth = args;
	const uint64_t *word = bandwidth->words;
	uint32_t row, item, i;
	uint64_t *xor;

	for (row = 0; row < BANDWIDTH_ITEMS / BANDWIDTH_ROW; row++) {
		xor = bandwidth->xor + (uint64_t)row * BANDWIDTH_ROW;
		for (item = 0; item < BANDWIDTH_ROW; item++)
			xor[item] = *word++;
		for (i = 1; i < BANDWIDTH_EACH; i++)
			for (item = 0; item < BANDWIDTH_ROW; item++)
				xor[item] ^= *word++;
	}
}

const struct sample sample_bandwidth = {
	.name = "bandwidth",
	.brief = "16 MiB read, 8 bytes at a time",
	.grid = { BANDWIDTH_ITEMS, 1, 1 },
	.group = { 256, 1, 1 },
	.bytes = BANDWIDTH_ITEMS * (BANDWIDTH_EACH + 1) * sizeof(uint64_t),
	.work = BANDWIDTH_ITEMS * BANDWIDTH_EACH * sizeof(uint64_t),
	.unit = "bytes",
	.prepare = bandwidth_prepare,
	.native = bandwidth_native,
};
