// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile states of a whole vGPU of the software GPU (soft/card/state.h). An input is the number of
 * a guest, and then the records of a state, which is loaded into a vGPU of that guest. What is
 * accepted must be saved as it was loaded, and must run within the vGPU's memory.
 *
 *	fuzz_vgpu seeds DIRECTORY	writes states of vGPUs at work, for the corpus
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "vgpu_world.h"

#define SEEDS		12
#define SEED_BYTES	16000	/* of a state at most: what is long is fuzzed slowly */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy;

	if (!size)
		return 0;
	/* Aligned, and a byte beyond its end is found. */
	copy = malloc(size - 1 + (size == 1));
	memcpy(copy, data + 1, size - 1);
	vgpu_world_try(data[0], copy, size - 1);
	free(copy);
	return 0;
}

static void write_seed(uint8_t seed, const struct vgpu_records *state, const char *directory)
{
	char name[512];
	FILE *out;

	snprintf(name, sizeof(name), "%s/guest-%u", directory, seed);
	out = fopen(name, "wb");
	if (!out || fwrite(&seed, 1, 1, out) != 1 ||
	    fwrite(state->data, 1, state->bytes, out) != state->bytes || fclose(out)) {
		perror(name);
		exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned int seed, n = 0;

	if (*argc != 3 || strcmp((*argv)[1], "seeds"))
		return 0;
	for (seed = 0; seed < 256 && n < SEEDS; seed++) {
		struct vgpu_records state = {};

		vgpu_world_make(seed, &state);
		if (state.bytes < SEED_BYTES) {
			write_seed(seed, &state, (*argv)[2]);
			n++;
		}
		vgpu_records_free(&state);
	}
	printf("%u states\n", n);
	exit(0);
}
