/* SPDX-License-Identifier: GPL-2.0 */
/* A walk through page tables to compare with: by the words of the specification, and slow. */
#ifndef WALK_NAIVE_H
#define WALK_NAIVE_H

#include <linux/types.h>

#include "soft/memory/walk.h"

#define VA_HALF		(1ULL << 38)

/* Has none of the code's masks and shifts. @read: the entry at an offset in the framebuffer. */
static inline bool walk_naive(u64 (*read)(u64 at), u64 fb_bytes, u64 page, u64 va,
			      struct soft_walk *walk)
{
	static const u64 sizes[] = { 1ULL << 30, 1ULL << 21, 1ULL << 12 };
	u64 low = va % (2 * VA_HALF);
	unsigned int i;

	if (va >= VA_HALF && va < -VA_HALF)
		return false;
	for (i = 0; i < 3; i++) {
		u64 index = low / sizes[i] % 512, entry, at;

		if (page * 4096 + 4096 > fb_bytes)
			return false;
		entry = read(page * 4096 + index * 8);
		page = entry / 1024 % (1ULL << 44);
		at = page * 4096;
		if (entry % 2 == 0 || entry >= 1ULL << 54)
			return false;
		switch (entry / 2 % 8) {
		case 0:
			if (entry / 256 % 2)
				return false;
			continue;
		case 2:
		case 6:
			return false;
		}
		if (at % sizes[i])
			return false;
		if (entry / 256 % 2 == 0 && at + sizes[i] > fb_bytes)
			return false;
		walk->addr = at + low % sizes[i];
		walk->bytes = sizes[i] - low % sizes[i];
		walk->flags = (entry % 16 & ~1U) + (entry / 256 % 2) * 256;
		return true;
	}
	return false;
}

#endif /* WALK_NAIVE_H */
