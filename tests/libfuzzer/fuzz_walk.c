// SPDX-License-Identifier: GPL-2.0
/*
 * Walks through page tables that are the input: word 0 has the root's page in its lower half and
 * the framebuffer's pages in its upper one, word 1 is the address, all others are entries. A walk
 * through tables that stay as they are comes to the same as a naive one; one through tables that
 * change with each read ends in the vGPU's framebuffer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "walk_naive.h"

#define WORDS	1024

static u64 words[WORDS];
static size_t nr_words;
static size_t turn;

/* Many tables have the same entries, as an input is short. */
static u64 entry_at(u64 at)
{
	return words[2 + at / 8 % (nr_words - 2)];
}

static u64 entry_of_turn(u64 at)
{
	return words[2 + (at / 8 + turn++) % (nr_words - 2)];
}

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static bool walk_to(u64 (*read)(u64 at), u64 fb_bytes, u64 page, u64 va, struct soft_walk *walk)
{
	enum soft_walk_end end;
	unsigned int steps;

	end = soft_walk_begin(walk, (u32)(VGPU_HW_ROOT_VALID | page), va, fb_bytes);
	for (steps = 0; end == SOFT_WALK_MORE; steps++) {
		expect(steps < SOFT_WALK_LEVELS && walk->at % 8 == 0);
		expect(walk->at < fb_bytes && fb_bytes - walk->at >= 8);
		end = soft_walk_step(walk, read(walk->at));
	}
	if (end != SOFT_WALK_LEAF)
		return false;
	expect(walk->bytes);
	if (!(walk->flags & VGPU_HW_PTE_SYS))
		expect(walk->addr < fb_bytes && walk->bytes <= fb_bytes - walk->addr);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 page, fb_bytes, va;
	struct soft_walk walk, want;
	bool leaf;

	nr_words = size / 8 < WORDS ? size / 8 : WORDS;
	if (nr_words < 3)
		return 0;
	memcpy(words, data, nr_words * 8);
	page = words[0] & VGPU_HW_ROOT_PAGE_MASK;
	fb_bytes = (words[0] >> 32) * VGPU_HW_PAGE_SIZE;
	va = words[1];
	leaf = walk_to(entry_at, fb_bytes, page, va, &walk);
	expect(leaf == walk_naive(entry_at, fb_bytes, page, va, &want));
	if (leaf)
		expect(walk.addr == want.addr && walk.bytes == want.bytes &&
		       walk.flags == want.flags);
	turn = 0;
	walk_to(entry_of_turn, fb_bytes, page, va, &walk);
	return 0;
}
