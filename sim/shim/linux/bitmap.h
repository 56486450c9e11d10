/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BITMAP_H
#define _SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>

#define BITS_TO_LONGS(bits)	(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)

static inline unsigned long hweight_long(unsigned long word)
{
	return __builtin_popcountl(word);
}

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return READ_ONCE(map[nr / BITS_PER_LONG]) >> nr % BITS_PER_LONG & 1;
}

/* Atomic, and orders nothing. */
static inline void set_bit(unsigned long nr, unsigned long *map)
{
	__atomic_fetch_or(&map[nr / BITS_PER_LONG], 1UL << nr % BITS_PER_LONG, __ATOMIC_RELAXED);
}

static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= 1UL << nr % BITS_PER_LONG;
}

static inline void __clear_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] &= ~(1UL << nr % BITS_PER_LONG);
}

static inline bool __test_and_clear_bit(unsigned long nr, unsigned long *map)
{
	bool was = test_bit(nr, map);

	__clear_bit(nr, map);
	return was;
}

static inline unsigned long find_next_bit(const unsigned long *map, unsigned long size,
					  unsigned long from)
{
	while (from < size && !test_bit(from, map))
		from++;
	return from;
}

#endif /* _SHIM_LINUX_BITMAP_H */
