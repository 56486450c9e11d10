// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile states of a dispatch (simt/state.h). An input is the number of a random program, and then
 * the records of a dispatch of it. What is accepted must be saved as it was loaded, and must run
 * within the memory and the budget that it was given.
 *
 *	fuzz_state seeds DIRECTORY	writes states of programs that were stopped, for the corpus
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "state_image.h"
#include "state_world.h"

#define CALLS	8
#define BUDGET	40

/* Takes @bytes off the input. */
static bool take(const uint8_t **data, size_t *left, void *to, size_t bytes)
{
	if (*left < bytes)
		return false;
	memcpy(to, *data, bytes);
	*data += bytes;
	*left -= bytes;
	return true;
}

/* Reads a record of a warp after its length, into memory of its own. */
static uint8_t *take_warp(const uint8_t **data, size_t *left, size_t *bytes)
{
	uint16_t length;
	uint8_t *record;

	if (!take(data, left, &length, sizeof(length)))
		length = 0;
	*bytes = length < *left ? length : *left;
	record = malloc(*bytes + !*bytes);
	take(data, left, record, *bytes);
	return record;
}

static bool load(struct simt_group *group, const uint8_t *data, size_t left)
{
	struct simt_state_dispatch whole;
	struct simt_state_group position;
	bool ok = true;
	u32 i;

	if (!take(&data, &left, &whole, sizeof(whole)) ||
	    !take(&data, &left, &position, sizeof(position)) ||
	    simt_state_load_dispatch(group->dispatch, &whole))
		return false;
	simt_group_init(group, group->dispatch);
	if (simt_state_load_group(group, &position))
		return false;
	for (i = 0; i < group->nr_warps && ok; i++) {
		uint8_t *again = malloc(SIMT_STATE_WARP_MAX), *record;
		size_t bytes;

		record = take_warp(&data, &left, &bytes);
		ok = !simt_state_load_warp(group, i, record, bytes);
		if (ok && (simt_state_save_warp(group, i, again) != bytes ||
			   memcmp(again, record, bytes)))
			abort();
		free(record);
		free(again);
	}
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct simt_isa *const isas[] = { &simt_isa_scalar, &simt_isa_sse2 };
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct state_world world;
	u64 executed, seed = 1;
	uint8_t program;
	int i;

	if (!take(&data, &size, &program, 1))
		return 0;
	state_world_init(&world, program);
	state_world_dispatch(&world, &dispatch, &group);
	group.isa = isas[size % 2];
	state_memory(&group, &seed);
	if (load(&group, data, size)) {
		executed = group.executed;
		for (i = 0; i < CALLS; i++) {
			enum simt_end end = simt_group_run(&group, BUDGET);

			if (end != SIMT_MORE && end != SIMT_WAIT)
				break;
			simt_tlb_flush(&world.tlb);
		}
		if (group.executed - executed > CALLS * BUDGET)
			abort();
	}
	state_memory_free(&group);
	state_world_exit(&world);
	return 0;
}

static void write_seed(const struct state_image *image, uint8_t program, const char *directory)
{
	char name[512];
	FILE *out;
	u32 i;

	snprintf(name, sizeof(name), "%s/program-%u", directory, program);
	out = fopen(name, "wb");
	if (!out) {
		perror(name);
		exit(1);
	}
	fwrite(&program, 1, 1, out);
	fwrite(&image->dispatch, 1, sizeof(image->dispatch), out);
	fwrite(&image->group, 1, sizeof(image->group), out);
	for (i = 0; i < image->nr; i++) {
		uint16_t length = image->bytes[i];

		fwrite(&length, 1, sizeof(length), out);
		fwrite(image->warp[i], 1, length, out);
	}
	if (fclose(out)) {
		perror(name);
		exit(1);
	}
}

/* A program of this number that still runs after some instructions; its state is not too long. */
static bool seed_of(uint8_t program, const char *directory)
{
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct state_world world;
	struct state_image image;
	enum simt_end end = SIMT_MORE;
	u64 seed = program;
	bool ok = false;
	int i;

	state_world_init(&world, program);
	state_world_dispatch(&world, &dispatch, &group);
	state_memory(&group, &seed);
	state_begin(&dispatch, &group);
	for (i = 0; i < 5 + program % 20 && (end == SIMT_MORE || end == SIMT_WAIT); i++) {
		end = simt_group_run(&group, 7);
		simt_tlb_flush(&world.tlb);
	}
	if (end == SIMT_MORE || end == SIMT_WAIT) {
		state_image_save(&image, &group);
		ok = image.nr == 1 && image.bytes[0] < 3000;
		if (ok)
			write_seed(&image, program, directory);
		state_image_free(&image);
	}
	state_memory_free(&group);
	state_world_exit(&world);
	return ok;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned int program, n = 0;

	if (*argc != 3 || strcmp((*argv)[1], "seeds"))
		return 0;
	for (program = 0; program < 256 && n < 24; program++)
		n += seed_of(program, (*argv)[2]);
	printf("%u states\n", n);
	exit(0);
}
