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

#include "flights.h"

#define CALLS	8
#define BUDGET	40
#define GROUPS	3

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

static bool load_group(struct simt_group *group, const struct simt_group *before,
		       const uint8_t **data, size_t *left)
{
	struct simt_state_group position;
	bool ok = true;
	u32 i;

	if (!take(data, left, &position, sizeof(position)))
		return false;
	simt_group_init(group, group->dispatch);
	if (simt_state_load_group(group, before, &position))
		return false;
	for (i = 0; i < group->nr_warps && ok; i++) {
		uint8_t *again = malloc(SIMT_STATE_WARP_MAX), *record;
		size_t bytes;

		record = take_warp(data, left, &bytes);
		ok = !simt_state_load_warp(group, i, record, bytes);
		if (ok && (simt_state_save_warp(group, i, again) != bytes ||
			   memcmp(again, record, bytes)))
			abort();
		free(record);
		free(again);
	}
	return ok;
}

/* Returns how many groups there are; 0: a record is refused. */
static u32 load(struct flights *flights, const uint8_t *data, size_t left)
{
	struct simt_state_dispatch whole;
	u32 nr, i;

	if (!take(&data, &left, &whole, sizeof(whole)) ||
	    simt_state_load_dispatch(&flights->dispatch, &whole, &nr) || nr > flights->nr)
		return 0;
	for (i = 0; i < nr; i++)
		if (!load_group(&flights->group[i], i ? &flights->group[i - 1] : NULL, &data,
				&left))
			return 0;
	return nr;
}

static void run(struct simt_group *group)
{
	u64 executed = group->executed;
	int i;

	for (i = 0; i < CALLS; i++) {
		enum simt_end end = simt_group_run(group, BUDGET);

		if (!flights_go_on(end))
			break;
		simt_tlb_flush(group->tlb);
	}
	if (group->executed - executed > CALLS * BUDGET)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct simt_isa *const isas[] = { &simt_isa_scalar, &simt_isa_sse2 };
	struct state_world world;
	struct flights flights;
	uint8_t program;
	u64 seed = 1;
	u32 nr, i;

	if (!take(&data, &size, &program, 1))
		return 0;
	state_world_init(&world, program);
	flights_begin(&flights, &world, GROUPS, &seed);
	flights.dispatch.alone = 0;
	nr = load(&flights, data, size);
	for (i = 0; i < nr; i++) {
		flights.group[i].isa = isas[size % 2];
		run(&flights.group[i]);
	}
	flights_end(&flights);
	state_world_exit(&world);
	return 0;
}

static void write_group(const struct state_image_group *image, FILE *out)
{
	u32 i;

	fwrite(&image->group, 1, sizeof(image->group), out);
	for (i = 0; i < image->nr; i++) {
		uint16_t length = image->bytes[i];

		fwrite(&length, 1, sizeof(length), out);
		fwrite(image->warp[i], 1, length, out);
	}
}

static void write_seed(const struct state_image *image, uint8_t program, const char *directory)
{
	char name[512];
	FILE *out;
	u32 i;

	snprintf(name, sizeof(name), "%s/%s-%u", directory, image->nr > 1 ? "groups" : "program",
		 program);
	out = fopen(name, "wb");
	if (!out) {
		perror(name);
		exit(1);
	}
	fwrite(&program, 1, 1, out);
	fwrite(&image->dispatch, 1, sizeof(image->dispatch), out);
	for (i = 0; i < image->nr; i++)
		write_group(&image->group[i], out);
	if (fclose(out)) {
		perror(name);
		exit(1);
	}
}

static bool is_short(const struct state_image *image)
{
	size_t bytes = 0;
	u32 i, k;

	for (i = 0; i < image->nr; i++)
		for (k = 0; k < image->group[i].nr; k++)
			bytes += image->group[i].bytes[k];
	return bytes < 3000;
}

/* A program of this number with so many groups that have begun, whose state is not too long. */
static bool seed_of(uint8_t program, u32 nr, const char *directory)
{
	enum simt_end end = SIMT_MORE;
	struct state_flights begun;
	struct state_world world;
	struct state_image image;
	struct simt_group *group;
	struct flights flights;
	u64 seed = program;
	bool ok = false;
	int i;

	state_world_init(&world, program);
	flights_begin(&flights, &world, nr, &seed);
	for (i = 0; i < 5 + program % 20 && flights_go_on(end); i++) {
		group = flights_some(&flights, &seed);
		if (!group)
			break;
		end = flights_run(&flights, group, 7);
	}
	begun = flights_begun(&flights);
	if (flights_go_on(end) && begun.nr == nr) {
		state_image_save(&image, &begun);
		ok = is_short(&image);
		if (ok)
			write_seed(&image, program, directory);
		state_image_free(&image);
	}
	flights_end(&flights);
	state_world_exit(&world);
	return ok;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned int program, nr, n[GROUPS + 1] = {};

	if (*argc != 3 || strcmp((*argv)[1], "seeds"))
		return 0;
	for (nr = 1; nr <= GROUPS; nr++)
		for (program = 0; program < 256 && n[nr] < 24 / nr; program++)
			n[nr] += seed_of(program, nr, (*argv)[2]);
	printf("%u states of a group, %u and %u of several\n", n[1], n[2], n[3]);
	exit(0);
}
