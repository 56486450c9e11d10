// SPDX-License-Identifier: GPL-2.0
/* The log of runs, against a plain count, and histograms. */
#include "vgpu_test.h"

#include "sched/log.h"

static void fill(struct vgpu_sched_log *log, u64 from, u64 to)
{
	struct vgpu_ctl_switch *entry;

	for (; from < to; from++) {
		entry = vgpu_sched_log_next(log);
		memset(entry, 0, sizeof(*entry));
		entry->time_ns = from;
		assert_int_equal(log->total, from + 1);
	}
}

/* A copy has the last entries that fit, oldest first, and nothing is written behind them. */
static void check_copy(const struct vgpu_sched_log *log, unsigned int room)
{
	struct vgpu_ctl_switch *copy, guard;
	unsigned int count, i, expect;

	expect = min_t(u64, room, min_t(u64, log->total, VGPU_SCHED_LOG));
	copy = calloc(room + 1, sizeof(*copy));
	assert_non_null(copy);
	memset(&guard, 0x5a, sizeof(guard));
	copy[expect] = guard;
	count = vgpu_sched_log_copy(log, copy, room);
	check_that(count == expect, "%u of %llu, room %u", count, log->total, room);
	for (i = 0; i < count; i++)
		check_that(copy[i].time_ns == log->total - count + i,
			   "entry %u of %u: %llu of %llu", i, count,
			   copy[i].time_ns, log->total);
	assert_memory_equal(&copy[expect], &guard, sizeof(guard));
	free(copy);
}

static void test_ring(void **state)
{
	static const u64 sizes[] = {
		0, 1, 2, 100, VGPU_SCHED_LOG - 1, VGPU_SCHED_LOG,
		VGPU_SCHED_LOG + 1, 2 * VGPU_SCHED_LOG - 1,
		2 * VGPU_SCHED_LOG, 5 * VGPU_SCHED_LOG + 7,
	};
	static const unsigned int rooms[] = {
		0, 1, 50, VGPU_SCHED_LOG - 1, VGPU_SCHED_LOG,
		VGPU_SCHED_LOG + 1, 1000,
	};
	static struct vgpu_sched_log log;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(&log, log.total, sizes[i]);
		for (j = 0; j < ARRAY_SIZE(rooms); j++)
			check_copy(&log, rooms[j]);
	}
}

static unsigned int bucket_of(u64 time_ns)
{
	struct vgpu_hist hist = {};
	unsigned int i, bucket = VGPU_HIST_BUCKETS;

	vgpu_hist_add(&hist, time_ns);
	for (i = 0; i < VGPU_HIST_BUCKETS; i++) {
		if (!hist.count[i])
			continue;
		assert_int_equal(hist.count[i], 1);
		assert_int_equal(bucket, VGPU_HIST_BUCKETS);
		bucket = i;
	}
	return bucket;
}

static void test_buckets(void **state)
{
	unsigned int i, last = VGPU_HIST_BUCKETS - 1;
	u64 us;

	assert_int_equal(bucket_of(0), 0);
	assert_int_equal(bucket_of(999), 0);
	assert_int_equal(bucket_of(1000), 1);
	assert_int_equal(bucket_of(1999), 1);
	for (i = 1; i < 60; i++) {
		us = 1ULL << (i - 1);
		if (us > U64_MAX / 2000)
			break;
		assert_int_equal(bucket_of(us * 1000), min(i, last));
		assert_int_equal(bucket_of(us * 2000 - 1), min(i, last));
	}
	assert_int_equal(bucket_of(U64_MAX), last);
}

static void test_counts_add_up(void **state)
{
	u64 rnd = test_seed(), sum = 0;
	struct vgpu_hist hist = {};
	unsigned int i;

	for (i = 0; i < 10000; i++)
		vgpu_hist_add(&hist, random_next(&rnd) >> random_range(&rnd, 0, 63));
	for (i = 0; i < VGPU_HIST_BUCKETS; i++)
		sum += hist.count[i];
	assert_int_equal(sum, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_counts_add_up),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
