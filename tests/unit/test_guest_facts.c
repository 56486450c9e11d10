// SPDX-License-Identifier: GPL-2.0
/* A device that lies to the guest's driver: what that takes keeps it within BARs and arrays. */
#include "vgpu_test.h"

#include "guest/facts.h"
#include "random.h"

#define GIB	(1ull << 30)

static const struct guest_facts good = {
	.id = VGPU_HW_ID_MAGIC,
	.version = VGPU_HW_VERSION_CURRENT,
	.channels = 16,
	.nr_engines = 3,
	.vectors = VGPU_HW_VECTORS,
	.fb_bytes = GIB,
	.bar_regs = VGPU_HW_REGS_SIZE,
	.bar_pages = 16 * VGPU_HW_PAGE_SIZE,
	.bar_fb = GIB,
};

/* What the driver does with facts that it has taken. */
static void stays_inside(const struct guest_facts *facts)
{
	assert_true(facts->bar_regs >= VGPU_HW_REGS_SIZE);
	assert_true(VGPU_HW_CHAN_BASE + (u64)facts->channels * VGPU_HW_CHAN_STRIDE <=
		    VGPU_HW_REGS_SIZE);
	assert_true((u64)facts->channels * VGPU_HW_PAGE_SIZE <= facts->bar_pages);
	assert_in_range(facts->channels, 1, VGPU_HW_MAX_CHANNELS);
	assert_in_range(facts->nr_engines, 1, VGPU_HW_MAX_ENGINES);
	assert_true(facts->fb_bytes && facts->fb_bytes <= facts->bar_fb);
	assert_int_equal(facts->fb_bytes % VGPU_HW_PAGE_SIZE, 0);
	/* Vector 0 tells of faults, and a channel has one of the others. */
	assert_true(facts->vectors >= 2);
}

#define REFUSED(name, member, value) do {					\
	struct guest_facts lie = good;						\
	const char *wrong;							\
										\
	lie.member = value;							\
	wrong = guest_facts_wrong(&lie);					\
	assert_non_null(wrong);							\
	assert_memory_equal(wrong, name, strlen(name));				\
} while (0)

#define TAKEN(member, value) do {						\
	struct guest_facts facts = good;					\
										\
	facts.member = value;							\
	assert_null(guest_facts_wrong(&facts));					\
	stays_inside(&facts);							\
} while (0)

static void test_each_lie_is_named(void **state)
{
	assert_null(guest_facts_wrong(&good));
	stays_inside(&good);
	REFUSED("ID", id, 0);
	REFUSED("ID", id, ~0u);
	REFUSED("version", version, 0);
	REFUSED("version", version, VGPU_HW_VERSION_1_1);
	REFUSED("version", version, 0x00020000);
	REFUSED("version", version, 0x0002ffff);
	REFUSED("version", version, ~0u);
	TAKEN(version, VGPU_HW_VERSION_1_2);
	TAKEN(version, 0x0001ffff);
	REFUSED("channels", channels, 0);
	REFUSED("channels", channels, 17);
	REFUSED("channels", channels, VGPU_HW_MAX_CHANNELS + 1);
	REFUSED("channels", channels, ~0u);
	REFUSED("channels", bar_pages, 0);
	REFUSED("channels", bar_pages, 16 * VGPU_HW_PAGE_SIZE - 1);
	TAKEN(channels, 1);
	TAKEN(bar_pages, ~0ull);
	REFUSED("framebuffer", fb_bytes, 0);
	REFUSED("framebuffer", fb_bytes, 1);
	REFUSED("framebuffer", fb_bytes, GIB - 1);
	REFUSED("framebuffer", fb_bytes, GIB + VGPU_HW_PAGE_SIZE);
	REFUSED("framebuffer", fb_bytes, ~0ull);
	REFUSED("framebuffer", bar_fb, 0);
	TAKEN(fb_bytes, VGPU_HW_PAGE_SIZE);
	REFUSED("engines", nr_engines, 0);
	REFUSED("engines", nr_engines, VGPU_HW_MAX_ENGINES + 1);
	REFUSED("engines", nr_engines, ~0u);
	TAKEN(nr_engines, VGPU_HW_MAX_ENGINES);
	REFUSED("interrupts", vectors, 0);
	REFUSED("interrupts", vectors, 1);
	TAKEN(vectors, ~0u);
	REFUSED("registers", bar_regs, 0);
	REFUSED("registers", bar_regs, VGPU_HW_REGS_SIZE - 1);
}

/* As many channels as there may be, in a BAR that has room for more. */
static void test_most_channels(void **state)
{
	struct guest_facts facts = good;

	facts.bar_pages = ~0ull;
	facts.channels = VGPU_HW_MAX_CHANNELS;
	assert_null(guest_facts_wrong(&facts));
	stays_inside(&facts);
	facts.channels++;
	assert_non_null(guest_facts_wrong(&facts));
}

/* Mostly near what is right, so that some are taken. */
static u64 any_number(u64 *seed, u64 right)
{
	switch (random_range(seed, 0, 7)) {
	case 0:
		return random_next(seed);
	case 1:
		return random_next(seed) >> random_range(seed, 0, 63);
	case 2:
		return right + random_range(seed, 0, 2) - 1;
	case 3:
		return right << random_range(seed, 0, 8);
	default:
		return right;
	}
}

static void test_random_lies(void **state)
{
	u64 seed = test_seed(), taken = 0, i;
	struct guest_facts facts;

	for (i = 0; i < 1000000; i++) {
		facts = (struct guest_facts){
			.id = any_number(&seed, good.id),
			.version = any_number(&seed, good.version),
			.channels = any_number(&seed, good.channels),
			.nr_engines = any_number(&seed, good.nr_engines),
			.vectors = any_number(&seed, good.vectors),
			.fb_bytes = any_number(&seed, good.fb_bytes),
			.bar_regs = any_number(&seed, good.bar_regs),
			.bar_pages = any_number(&seed, good.bar_pages),
			.bar_fb = any_number(&seed, good.bar_fb),
		};
		if (guest_facts_wrong(&facts))
			continue;
		stays_inside(&facts);
		taken++;
	}
	assert_in_range(taken, 1000, 900000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_lie_is_named),
		cmocka_unit_test(test_most_channels),
		cmocka_unit_test(test_random_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
