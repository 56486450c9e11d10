// SPDX-License-Identifier: GPL-2.0
/* A guest without a vGPU: counts in its memory, sleeps, and looks whether all is as it was. */
#include <stdlib.h>

#include "guest.h"

#define STEP_NS		1000000ull

bool memory_run(struct vgpu_dev *dev, const struct options *options)
{
	size_t words = options->mib * MIB / 8, i, at = 0, part = 4096;
	uint64_t *word = calloc(words, 8), round = 0, start = clk_ns();
	int port = tell_open();
	bool ok = true;

	(void)dev;
	if (port < 0)
		return false;
	if (!word)
		return failed("no memory");
	say("working: %u MiB", options->mib);
	while (ok && !tell_over(port, start, options->seconds, &ok)) {
		for (i = 0; i < part; i++, at++) {
			if (at == words) {
				at = 0;
				round++;
			}
			if (word[at] != round * (at + 1))
				return failed("word %zu of round %llu is %#llx", at,
					      (unsigned long long)round,
					      (unsigned long long)word[at]);
			word[at] += at + 1;
		}
		clk_sleep_ns(STEP_NS);
	}
	say("rounds %llu", (unsigned long long)round);
	free(word);
	return ok;
}
