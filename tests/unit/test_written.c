// SPDX-License-Identifier: GPL-2.0
/* Pages of guest memory that were written (vfio/written.h), against a plain array of them. */
#include <linux/slab.h>

#include "vgpu_test.h"

#include "vfio/written.h"

#define PAGE		4096ULL
#define PAGES		(5 * VGPU_WRITTEN_PAGES + 77)
#define BASE		(~0ULL - PAGES * PAGE + 1)	/* up to the last address */

static bool model[PAGES];

/* Takes what there is from @at to @last, in pieces, and checks it. */
static void check_take(struct vgpu_written *written, u64 base, u64 at, u64 last)
{
	u64 first, bytes, page, next = at;

	for (;;) {
		first = next;
		bytes = vgpu_written_take(written, &first, last);
		if (!bytes)
			break;
		check_that(first >= next && first + bytes - 1 <= last, "%llu bytes at %#llx",
			   (unsigned long long)bytes, (unsigned long long)first);
		/* What was passed over was not written; what was found was. */
		for (page = next / PAGE; page < first / PAGE; page++)
			check_that(!model[page - base / PAGE], "page %llu is missing",
				   (unsigned long long)page);
		for (page = first / PAGE; page <= (first + bytes - 1) / PAGE; page++) {
			check_that(model[page - base / PAGE], "page %llu",
				   (unsigned long long)page);
			model[page - base / PAGE] = false;
		}
		next = first + bytes;
		if (!next || next > last)
			return;
		/* The rest of a page that was found in part was found with it. */
		if (next % PAGE)
			next = (next | (PAGE - 1)) + 1;
	}
	for (page = next / PAGE; page <= last / PAGE; page++)
		check_that(!model[page - base / PAGE], "page %llu is missing at the end",
			   (unsigned long long)page);
}

static void random_writes(u64 base)
{
	struct vgpu_written written = {};
	u64 seed = test_seed(), addr, len, at, last, page;
	unsigned int i, k;

	memset(model, 0, sizeof(model));
	for (i = 0; i < 2000; i++) {
		for (k = random_next(&seed) % 8; k; k--) {
			addr = random_next(&seed) % (PAGES * PAGE);
			len = 1 + random_next(&seed) % (random_one_in(&seed, 8) ? 3000 * PAGE :
							9000);
			len = min(len, PAGES * PAGE - addr);
			vgpu_written_note(&written, base + addr, len);
			for (page = addr / PAGE; page <= (addr + len - 1) / PAGE; page++)
				model[page] = true;
		}
		at = random_next(&seed) % (PAGES * PAGE);
		last = at + random_next(&seed) % (PAGES * PAGE - at);
		/* Mostly whole pages, as VFIO asks for them. */
		if (!random_one_in(&seed, 8)) {
			at &= ~(PAGE - 1);
			last |= PAGE - 1;
		}
		check_take(&written, base, base + at, base + last);
	}
	check_take(&written, base, base, base + PAGES * PAGE - 1);
	vgpu_written_free(&written);
	at = base;
	assert_int_equal(vgpu_written_take(&written, &at, base + PAGES * PAGE - 1), 0);
}

static void test_random(void **state)
{
	random_writes(0);
	random_writes(1ULL << 40);
	random_writes(BASE);
}

static void test_edges(void **state)
{
	struct vgpu_written written = {};
	u64 at = 0;

	vgpu_written_note(&written, 5, 0);
	assert_int_equal(vgpu_written_take(&written, &at, ~0ULL), 0);
	/* Longer than there is memory. */
	vgpu_written_note(&written, ~0ULL - 1, 100);
	assert_int_equal(vgpu_written_take(&written, &at, ~0ULL), PAGE);
	assert_int_equal(at, ~0ULL - PAGE + 1);
	at = 1;
	assert_int_equal(vgpu_written_take(&written, &at, 0), 0);
	vgpu_written_free(&written);
}

/* Without memory for a chunk nothing is forgotten: all counts as written until the end. */
static void test_all(void **state)
{
	struct vgpu_written written = { .all = true };
	u64 at = 3 * PAGE;
	unsigned int i;

	vgpu_written_note(&written, 0, PAGE);
	for (i = 0; i < 2; i++) {
		assert_int_equal(vgpu_written_take(&written, &at, 9 * PAGE - 1), 6 * PAGE);
		assert_int_equal(at, 3 * PAGE);
	}
	vgpu_written_free(&written);
	assert_int_equal(vgpu_written_take(&written, &at, 9 * PAGE - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
