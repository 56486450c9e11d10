// SPDX-License-Identifier: GPL-2.0
/* A program that writes anything to the page tables that it is executed by, and uses them. */
#include <vgpu_device.h>

#define PAGE		4096ull
#define TABLES		32u
#define FIRST_INDEX	4u	/* of the root: addresses from VGPU_HW_VA_GLOBAL on */

struct vandal_args {
	uint64_t *root;		/* of the address space */
	uint64_t *tables;	/* more of them */
	uint64_t page;		/* the number of the tables' first page */
	uint64_t root_page;
	uint64_t seed;
	uint64_t *rounds;
};

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t table(const struct vandal_args *args, uint64_t r)
{
	return (args->page + r % TABLES) << 10 | 0x1;	/* V */
}

/* Mostly it leads to a table: as memory, or as one more table; or to the page that has the root. */
static uint64_t some_entry(const struct vandal_args *args, uint64_t r)
{
	switch (r & 63) {
	case 0:
		return r;
	case 1:
		return table(args, r >> 8);
	case 2:
		return table(args, r >> 8) | 0x106;	/* R, W, SYS */
	case 3 ... 8:
		return args->root_page << 10 | 0x7;
	case 9 ... 12:
		return 0x4000 << 10 | 0x7;		/* at 64 MiB, good for 2 MiB, too */
	default:
		return table(args, r >> 8) | 0x6;	/* R, W */
	}
}

static void use(uint64_t va, uint64_t r)
{
	switch (r & 7) {
	case 0:
		*(volatile uint64_t *)va = r;
		return;
	case 1:
		*(volatile uint32_t *)(va + 1) = (uint32_t)r;
		return;
	case 2:
		__atomic_fetch_add((uint64_t *)(va & ~7ull), r, __ATOMIC_RELAXED);
		return;
	case 3:
		*(volatile uint8_t *)(va | 0xfff);
		return;
	default:
		*(volatile uint64_t *)va;
	}
}

VGPU_KERNEL(vandal, "buf root, buf tables, u64 page, u64 root_page, u64 seed, buf rounds")
{
	uint64_t state = args->seed + vgpu_global_id(0) * 0x9e3779b97f4a7c15ull, r, upper, lower;

	for (;;) {
		r = next(&state);
		upper = r % TABLES;
		lower = r >> 8 & 7 ? (r >> 16) % TABLES : upper;
		args->root[FIRST_INDEX + (r >> 24 & 7)] = table(args, upper);
		args->tables[upper * 512 + (r >> 32 & 7)] =
			r >> 36 & 31 ? table(args, lower) : some_entry(args, next(&state));
		args->tables[lower * 512 + (r >> 48 & 7)] = some_entry(args, next(&state));
		use((FIRST_INDEX + (r >> 24 & 7)) << 30 | (r >> 32 & 7) << 21 |
		    (r >> 48 & 7) << 12 | (r >> 52 & 0xfff), next(&state));
		__atomic_fetch_add(args->rounds, 1, __ATOMIC_RELAXED);
	}
}
