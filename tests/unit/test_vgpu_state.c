// SPDX-License-Identifier: GPL-2.0
/*
 * The loader of a whole vGPU's state (soft/card/state.h), with states of vGPUs at work in which
 * each word is wrong, one at a time, and some bits at random. What is accepted is saved as it was
 * loaded, and runs.
 */
#include "vgpu_test.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "soft/simt/state.h"
#include "soft/state/records.h"
#include "soft/work/context_record.h"
#include "soft/work/flight.h"
#include "soft/work/packet_types.h"
#include "soft/work/work.h"
#include "vgpu_world.h"
#include "vgpu_world_guest.h"

#define STATES	12
#define FLIPS	1500
#define RARELY	40	/* of long records, one word of so many is tried */
#define SEVERAL	20	/* states with several groups of a dispatch in flight */
#define TYPES	(SOFT_RECORD_WARP - SOFT_RECORD_DEVICE + 1)

/*
 * ASan keeps 256 MiB of what was freed, to find that it is used. So each of 20000 worlds, which
 * take less than a MiB, would have memory that is new to the processor's caches and to the kernel.
 * This is what several worlds have freed.
 */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

static bool try(u64 seed, const struct vgpu_records *state)
{
	/* A copy of its own, so that a byte beyond its end is found. */
	void *copy = malloc(state->bytes);
	bool ok;

	memcpy(copy, state->data, state->bytes);
	ok = vgpu_world_try(seed, copy, state->bytes);
	free(copy);
	return ok;
}

/* In flight, as the record that is read next says. */
static u32 groups(struct vgpu_record_reader *from)
{
	struct vgpu_record_reader copy = *from;
	struct simt_state_dispatch position;

	assert_int_equal(vgpu_record_take_struct(&copy, SOFT_RECORD_DISPATCH, "position",
						 &position, groups), 0);
	return le32toh(position.groups);
}

/* What random worlds are to have had: some have it seldom, so there are as many as it takes. */
static bool had_all(const unsigned int nr[TYPES], unsigned int several)
{
	unsigned int i;

	for (i = 0; i < TYPES; i++)
		if (nr[i] <= 5)
			return false;
	return several >= SEVERAL && vgpu_world_beside >= 5 && vgpu_world_extended >= 100;
}

static void test_as_it_is(void **state)
{
	unsigned int i, several = 0, nr[TYPES] = {};
	u64 seed = test_seed();

	for (i = 0; i < 100 || (i < 1000 && !had_all(nr, several)); i++) {
		struct vgpu_records records = {};
		struct vgpu_record_reader from;

		vgpu_world_make(seed + i, &records);
		/* Into a vGPU that was doing the same, or something else. */
		check_that(try(seed + i % 40, &records), "%u", i);
		assert_int_equal(vgpu_record_begin(&from, records.data, records.bytes), 0);
		while (from.type) {
			if (from.type == SOFT_RECORD_DISPATCH)
				several += groups(&from) > 1;
			nr[from.type - SOFT_RECORD_DEVICE]++;
			assert_int_equal(vgpu_record_next(&from), 0);
		}
		vgpu_records_free(&records);
	}
	for (i = 0; i < TYPES; i++)
		check_that(nr[i] > 5, "%u of type %u", nr[i], i);
	check_that(several >= SEVERAL, "%u of several groups", several);
	check_that(vgpu_world_beside >= 5, "%llu dispatches beside others",
		   vgpu_world_beside);
	check_that(vgpu_world_extended >= 100, "%llu sections have stayed open",
		   vgpu_world_extended);
}

static u32 wrong(u64 *seed, u32 word, unsigned int how)
{
	switch (how) {
	case 0:
		return word ? 0 : 1;
	case 1:
		return word == ~0U ? 0x80000000 : ~0U;
	case 2:
		return word + 1;
	default:
		return word ^ 1U << random_next(seed) % 32;
	}
}

/* All words of records, and of their heads. */
static void test_each_word(void **state)
{
	unsigned int i, how, tried = 0, accepted = 0;
	u64 seed = test_seed();

	for (i = 0; i < STATES; i++) {
		struct vgpu_records records = {};
		u32 *word, good, type = 0;
		size_t at, next = 0;

		vgpu_world_make(seed + i, &records);
		for (at = 0; at < records.bytes; at += 4) {
			word = (u32 *)(records.data + at);
			if (at == next) {
				const struct vgpu_record_head *head = (void *)word;

				type = head->type;
				next += sizeof(*head) + (head->length + 7) / 8 * 8;
			} else if (type >= SOFT_RECORD_LOCAL && !random_one_in(&seed, RARELY)) {
				continue;
			}
			good = *word;
			for (how = 0; how < 4; how++) {
				*word = wrong(&seed, good, how);
				tried++;
				accepted += try(seed, &records);
			}
			*word = good;
		}
		vgpu_records_free(&records);
	}
	printf("# %u of %u were accepted\n", accepted, tried);
	check_that(tried > 1000 && accepted > tried / 50 && accepted < tried, "%u of %u", accepted,
		   tried);
}

static void test_flips(void **state)
{
	unsigned int i, k, accepted = 0;
	u64 seed = test_seed();

	for (i = 0; i < FLIPS; i++) {
		struct vgpu_records records = {};

		vgpu_world_make(seed + i % 50, &records);
		for (k = random_next(&seed) % 4 + 1; k; k--)
			records.data[random_next(&seed) % records.bytes] ^=
				1 << random_next(&seed) % 8;
		if (random_one_in(&seed, 50))
			records.bytes = random_next(&seed) % records.bytes;
		accepted += try(seed, &records);
		vgpu_records_free(&records);
	}
	printf("# %u of %u were accepted\n", accepted, FLIPS);
	check_that(accepted > FLIPS / 50 && accepted < FLIPS, "%u", accepted);
}

/* A dispatch whose head names a program of another length than the one that comes with it. */
static void test_other_text(void **state)
{
	unsigned int i, tried = 0;
	u64 seed = test_seed();

	for (i = 0; i < FLIPS; i++) {
		struct vgpu_records records = {};
		size_t next = 0;

		vgpu_world_make(seed + i % 50, &records);
		while (next < records.bytes) {
			const struct vgpu_record_head *head = (void *)(records.data + next);
			struct soft_context_record *context = (void *)(head + 1);
			u32 bytes;

			next += sizeof(*head) + (head->length + 7) / 8 * 8;
			if (head->type != SOFT_RECORD_CONTEXT || context->head.text_bytes <= 4)
				continue;
			bytes = context->head.text_bytes;
			context->head.text_bytes = bytes - 4;
			check_that(!try(seed, &records), "%u bytes", bytes);
			context->head.text_bytes = bytes;
			tried++;
		}
		vgpu_records_free(&records);
		if (tried >= 50)
			break;
	}
	check_that(tried, "no state has a dispatch");
}

/* Flights beside those of contexts have a bound of their own, and what is free can be had again. */
static void test_flights_bound(void **state)
{
	const struct soft_context_size size = { .warps = 1 << 20, .data = 3 << 20 };
	struct soft_flight *flight[8];
	struct soft_compute *compute;
	struct soft_context *context;
	unsigned int i;
	int ret;

	vgpu_world_open(1);
	compute = &world_queues()->work->compute;
	for (i = 0; i < 8; i++) {
		flight[i] = soft_flight_alloc(compute, &size, false, &ret);
		check_that(flight[i] && !ret, "%u: %d", i, ret);
	}
	assert_null(soft_flight_alloc(compute, &size, false, &ret));
	assert_int_equal(ret, -EBUSY);
	/* The room of contexts is as it was. */
	context = soft_context_alloc(compute, &size, &ret);
	assert_non_null(context);
	assert_int_equal(atomic64_read(&compute->context_bytes), 4 << 20);
	soft_contexts(world_queues()->channel)->used = context;
	soft_flight_free(compute, flight[3]);
	flight[3] = soft_flight_alloc(compute, &size, false, &ret);
	assert_non_null(flight[3]);
	/* Those of a context go with it. */
	for (i = 0; i < 8; i++)
		soft_flights_add(&context->flights, flight[i], false);
	soft_context_exit(world_queues()->channel);
	assert_int_equal(atomic64_read(&compute->flight_bytes), 0);
	vgpu_world_close();
}

/* What was executed is added to, and must never be 0 again: then flights would be forgotten. */
static void test_executed(void **state)
{
	struct vgpu_record_reader from;
	u64 seed = test_seed(), i;
	unsigned int tried = 0;

	for (i = 0; i < 400 && tried < 20; i++) {
		struct vgpu_records records = {};
		struct simt_state_dispatch *position;

		vgpu_world_make(seed + i, &records);
		assert_int_equal(vgpu_record_begin(&from, records.data, records.bytes), 0);
		while (from.type && from.type != SOFT_RECORD_DISPATCH)
			assert_int_equal(vgpu_record_next(&from), 0);
		if (from.type) {
			position = (void *)from.data;
			assert_true(try(seed + i, &records));
			position->executed = htole64(i % 2 ? U64_MAX : (u64)S64_MAX + 1);
			assert_false(try(seed + i, &records));
			tried++;
		}
		vgpu_records_free(&records);
	}
	check_that(tried == 20, "%u states with a dispatch", tried);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_it_is),
		cmocka_unit_test(test_each_word),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_other_text),
		cmocka_unit_test(test_flights_bound),
		cmocka_unit_test(test_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
