// SPDX-License-Identifier: GPL-2.0
/* Quarantine, and a model of it that keeps the whole history. */
#include "vgpu_test.h"

#include "core/objects/quarantine.h"

static void test_defaults(void **state)
{
	struct vgpu_quarantine q;

	vgpu_quarantine_init(&q, VGPU_QUARANTINE_FAULTS,
			     VGPU_QUARANTINE_WINDOW_NS,
			     VGPU_QUARANTINE_BACKOFF_NS);
	assert_false(vgpu_quarantine_fault(&q, 100 * SEC));
	assert_false(vgpu_quarantine_fault(&q, 101 * SEC));
	assert_int_equal(q.until_ns, 0);
	/* The third within 60 s. */
	assert_true(vgpu_quarantine_fault(&q, 160 * SEC));
	assert_int_equal(q.until_ns, 220 * SEC);
	assert_int_equal(q.quarantines, 1);
	/* Faults during the quarantine do not count. */
	assert_false(vgpu_quarantine_fault(&q, 170 * SEC));
	assert_false(vgpu_quarantine_expire(&q, 220 * SEC - 1));
	assert_true(vgpu_quarantine_expire(&q, 220 * SEC));
	assert_false(vgpu_quarantine_expire(&q, 220 * SEC));
	assert_int_equal(q.until_ns, 0);
	/* Three new faults are needed, and the next quarantine is twice as long. */
	assert_false(vgpu_quarantine_fault(&q, 221 * SEC));
	assert_false(vgpu_quarantine_fault(&q, 221 * SEC));
	assert_true(vgpu_quarantine_fault(&q, 221 * SEC));
	assert_int_equal(q.until_ns, 341 * SEC);
	assert_int_equal(q.quarantines, 2);
}

static void test_window_edge(void **state)
{
	struct vgpu_quarantine q;

	vgpu_quarantine_init(&q, 3, 60 * SEC, 60 * SEC);
	vgpu_quarantine_fault(&q, 10 * SEC);
	vgpu_quarantine_fault(&q, 20 * SEC);
	assert_false(vgpu_quarantine_fault(&q, 70 * SEC + 1));
	assert_true(vgpu_quarantine_fault(&q, 80 * SEC));
}

static void test_off_and_limits(void **state)
{
	struct vgpu_quarantine q;
	unsigned int i;

	vgpu_quarantine_init(&q, 0, 60 * SEC, 60 * SEC);
	for (i = 0; i < 100; i++)
		assert_false(vgpu_quarantine_fault(&q, i));

	vgpu_quarantine_init(&q, 1, 0, 60 * SEC);
	assert_true(vgpu_quarantine_fault(&q, 5));

	vgpu_quarantine_init(&q, 1000, 60 * SEC, 60 * SEC);
	for (i = 1; i < VGPU_QUARANTINE_MAX_FAULTS; i++)
		assert_false(vgpu_quarantine_fault(&q, i));
	assert_true(vgpu_quarantine_fault(&q, i));
}

static void test_backoff(void **state)
{
	struct vgpu_quarantine q;
	u64 now_ns = SEC, want_ns = 60 * SEC;
	unsigned int i;

	vgpu_quarantine_init(&q, 1, SEC, 60 * SEC);
	for (i = 0; i < 100; i++) {
		assert_true(vgpu_quarantine_fault(&q, now_ns));
		assert_int_equal(q.until_ns - now_ns, want_ns);
		now_ns = q.until_ns;
		assert_true(vgpu_quarantine_expire(&q, now_ns));
		want_ns = min(want_ns * 2, VGPU_QUARANTINE_LIMIT_NS);
	}
	assert_int_equal(want_ns, VGPU_QUARANTINE_LIMIT_NS);

	/* Quiet for VGPU_QUARANTINE_QUIET_NS and no longer: still the longest quarantine. */
	now_ns += VGPU_QUARANTINE_QUIET_NS;
	assert_true(vgpu_quarantine_fault(&q, now_ns));
	assert_int_equal(q.until_ns - now_ns, VGPU_QUARANTINE_LIMIT_NS);
	now_ns = q.until_ns;
	assert_true(vgpu_quarantine_expire(&q, now_ns));
	now_ns += VGPU_QUARANTINE_QUIET_NS + 1;
	assert_true(vgpu_quarantine_fault(&q, now_ns));
	assert_int_equal(q.until_ns - now_ns, 60 * SEC);

	/* After the host has forgiven, the shortest one again. */
	vgpu_quarantine_release(&q);
	assert_int_equal(q.until_ns, 0);
	assert_true(vgpu_quarantine_fault(&q, now_ns + 1));
	assert_int_equal(q.until_ns - now_ns - 1, 60 * SEC);
}

static void test_set(void **state)
{
	struct vgpu_quarantine q;

	vgpu_quarantine_init(&q, 5, 60 * SEC, 60 * SEC);
	vgpu_quarantine_fault(&q, 100 * SEC);
	vgpu_quarantine_fault(&q, 101 * SEC);
	vgpu_quarantine_fault(&q, 102 * SEC);
	/* There are as many faults already: the next one begins a quarantine. */
	vgpu_quarantine_set(&q, 3, 60 * SEC);
	assert_int_equal(q.until_ns, 0);
	assert_true(vgpu_quarantine_fault(&q, 103 * SEC));
	/* A quarantine that has begun goes on, whatever is set; the next one is as long as set. */
	vgpu_quarantine_set(&q, 0, 7 * SEC);
	assert_int_equal(q.until_ns, 163 * SEC);
	assert_false(vgpu_quarantine_expire(&q, 163 * SEC - 1));
	assert_true(vgpu_quarantine_expire(&q, 163 * SEC));
	assert_false(vgpu_quarantine_fault(&q, 164 * SEC));
	vgpu_quarantine_set(&q, 1, 7 * SEC);
	assert_true(vgpu_quarantine_fault(&q, 165 * SEC));
	assert_int_equal(q.until_ns, 172 * SEC);
	assert_true(vgpu_quarantine_expire(&q, 172 * SEC));
	/* The same settings again change nothing: the time is still doubled. */
	vgpu_quarantine_set(&q, 1, 7 * SEC);
	assert_true(vgpu_quarantine_fault(&q, 173 * SEC));
	assert_int_equal(q.until_ns, 187 * SEC);
	assert_true(vgpu_quarantine_expire(&q, 187 * SEC));
	/* A threshold above the number of faults that are remembered becomes that number. */
	vgpu_quarantine_set(&q, 1000, 0);
	assert_int_equal(q.threshold, VGPU_QUARANTINE_MAX_FAULTS);
	assert_int_equal(q.backoff_ns, 1);
}

static void test_end_of_time(void **state)
{
	struct vgpu_quarantine q;

	vgpu_quarantine_init(&q, 1, SEC, U64_MAX);
	assert_true(vgpu_quarantine_fault(&q, 5));
	assert_true(q.until_ns == U64_MAX);
	assert_false(vgpu_quarantine_expire(&q, U64_MAX - 1));
	vgpu_quarantine_release(&q);
	assert_true(vgpu_quarantine_fault(&q, 6));
	assert_true(q.until_ns == U64_MAX);
}

#define MODEL_MAX	4096

/* The definition of quarantine, word for word. */
struct model {
	u64 fault_ns[MODEL_MAX];
	unsigned int nr;
	unsigned int doublings;
	u64 until_ns;
	u64 last_ns;
};

static bool model_fault(struct model *m, const struct vgpu_quarantine *q, u64 now_ns)
{
	unsigned int i, recent = 0;
	u64 len_ns;

	if (!q->threshold || m->until_ns)
		return false;
	if (now_ns - m->last_ns > VGPU_QUARANTINE_QUIET_NS)
		m->doublings = 0;
	m->last_ns = now_ns;
	m->fault_ns[m->nr++] = now_ns;
	for (i = 0; i < m->nr; i++)
		recent += m->fault_ns[i] + q->window_ns >= now_ns;
	if (recent < q->threshold)
		return false;
	len_ns = q->backoff_ns;
	for (i = 0; i < m->doublings && len_ns < VGPU_QUARANTINE_LIMIT_NS; i++)
		len_ns *= 2;
	if (m->doublings)
		len_ns = min(len_ns, max(q->backoff_ns, VGPU_QUARANTINE_LIMIT_NS));
	m->until_ns = now_ns + len_ns;
	m->doublings++;
	m->nr = 0;
	return true;
}

/* New settings: of the faults no more are kept than the old threshold and the new one ask for. */
static void model_set(struct model *m, const struct vgpu_quarantine *q,
		      unsigned int threshold, u64 backoff_ns)
{
	unsigned int keep = min(m->nr, min(q->threshold, threshold));

	if (threshold != q->threshold) {
		memmove(m->fault_ns, m->fault_ns + m->nr - keep, keep * sizeof(m->fault_ns[0]));
		m->nr = keep;
	}
	if (backoff_ns != q->backoff_ns)
		m->doublings = 0;
}

static void set_both(struct model *m, struct vgpu_quarantine *q, u64 *rnd)
{
	unsigned int threshold = q->threshold;
	u64 backoff_ns = q->backoff_ns;

	if (random_one_in(rnd, 2))
		threshold = random_range(rnd, 0, 16);
	if (random_one_in(rnd, 2))
		backoff_ns = random_range(rnd, 1, 4000 * SEC);
	model_set(m, q, threshold, backoff_ns);
	vgpu_quarantine_set(q, threshold, backoff_ns);
}

static void run_model(u64 *rnd)
{
	static struct model m;
	struct vgpu_quarantine q;
	u64 now_ns = random_range(rnd, 0, 1000 * SEC), begun = 0;
	unsigned int i;

	memset(&m, 0, sizeof(m));
	vgpu_quarantine_init(&q, random_range(rnd, 0, 16),
			     random_range(rnd, 0, 100 * SEC),
			     random_range(rnd, 1, 4000 * SEC));
	for (i = 0; i < MODEL_MAX; i++) {
		switch (random_range(rnd, 0, 62)) {
		case 0:
			now_ns += random_range(rnd, 0, 2 * VGPU_QUARANTINE_QUIET_NS);
			break;
		case 1:
			vgpu_quarantine_release(&q);
			m.until_ns = 0;
			m.doublings = 0;
			m.nr = 0;
			break;
		case 61 ... 62:
			set_both(&m, &q, rnd);
			break;
		case 2 ... 9:
			now_ns += random_range(rnd, 0, 30 * SEC);
			break;
		case 10 ... 20:
			now_ns += random_range(rnd, 0, 10);
			break;
		case 21 ... 30:
			if (random_one_in(rnd, 2) && q.until_ns)
				now_ns = max(now_ns, q.until_ns);
			check_that(vgpu_quarantine_expire(&q, now_ns) ==
				   (m.until_ns && m.until_ns <= now_ns),
				   "at %llu", now_ns);
			if (m.until_ns && m.until_ns <= now_ns) {
				m.last_ns = m.until_ns;
				m.until_ns = 0;
			}
			break;
		default:
			check_that(vgpu_quarantine_fault(&q, now_ns) ==
				   model_fault(&m, &q, now_ns),
				   "at %llu", now_ns);
		}
		check_that(q.until_ns == m.until_ns, "%llu, not %llu", q.until_ns, m.until_ns);
		check_that(q.quarantines >= begun, "%u", q.quarantines);
		begun = q.quarantines;
	}
}

static void test_model(void **state)
{
	u64 rnd = test_seed();
	unsigned int i;

	for (i = 0; i < 300; i++)
		run_model(&rnd);
}

/* A vGPU that moves goes on as one that does not, however the clocks of the two hosts differ. */
static void test_moves(void **state)
{
	u64 seed = test_seed(), now, shift, step;
	struct vgpu_quarantine stays, moves, next;
	struct vgpu_quarantine_ages ages;
	unsigned int i, round, before;
	bool begins;

	for (round = 0; round < 200; round++) {
		now = 100 * SEC + random_next(&seed) % (1000000 * SEC);
		shift = 0;
		vgpu_quarantine_init(&stays, 1 + random_next(&seed) % 5, 60 * SEC, 60 * SEC);
		moves = stays;
		before = 0;
		for (i = 0; i < 100; i++) {
			step = random_next(&seed) % 4 ? 30 * SEC : 5000 * SEC;
			step = random_next(&seed) % step;
			now += step;
			assert_int_equal(vgpu_quarantine_expire(&stays, now),
					 vgpu_quarantine_expire(&moves, now + shift));
			begins = vgpu_quarantine_fault(&stays, now);
			assert_int_equal(vgpu_quarantine_fault(&moves, now + shift), begins);
			check_that(!!stays.until_ns == !!moves.until_ns, "%u", i);
			if (random_next(&seed) % 3)
				continue;
			vgpu_quarantine_export(&moves, now + shift, &ages);
			shift = random_next(&seed) % (1000 * SEC);
			vgpu_quarantine_init(&next, moves.threshold, 60 * SEC, 60 * SEC);
			vgpu_quarantine_import(&next, now + shift, &ages);
			before += moves.quarantines;
			moves = next;
		}
		/* Each host counts those that it has begun. */
		assert_int_equal(stays.quarantines, before + moves.quarantines);
	}
}

/* The time of the nth fault, 0: of the last one; 0: there are not so many. */
static u64 nth_fault(const struct vgpu_quarantine *q, unsigned int nth)
{
	return nth < q->nr_faults ?
		q->fault_ns[(q->head + q->threshold - 1 - nth) % q->threshold] : 0;
}

/* No fault that was counted here becomes older, whatever comes. */
static void check_faults(const struct vgpu_quarantine *before, const struct vgpu_quarantine *after)
{
	unsigned int i;

	for (i = 0; i < before->threshold; i++) {
		check_that(nth_fault(after, i) >= nth_fault(before, i), "%u", i);
		if (i)
			check_that(nth_fault(after, i) <= nth_fault(after, i - 1), "%u", i);
	}
}

/* A peer that tells of many faults long ago does not have the last ones forgotten. */
static void test_moves_old(void **state)
{
	struct vgpu_quarantine_ages ages = { .nr_faults = 16, .quiet_ns = ~0ULL };
	u64 now = 1000 * SEC;
	struct vgpu_quarantine q;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ages.age_ns); i++)
		ages.age_ns[i] = ~0ULL;
	vgpu_quarantine_init(&q, 3, 60 * SEC, 60 * SEC);
	assert_false(vgpu_quarantine_fault(&q, now));
	assert_false(vgpu_quarantine_fault(&q, now + SEC));
	vgpu_quarantine_import(&q, now + 2 * SEC, &ages);
	assert_true(vgpu_quarantine_fault(&q, now + 3 * SEC));
}

/* Any numbers: no quarantine longer than there can be here, and none that was here is shortened. */
static void test_moves_hostile(void **state)
{
	struct vgpu_quarantine_ages ages;
	struct vgpu_quarantine q, before;
	u64 seed = test_seed(), now, until;
	unsigned int i, k;

	for (i = 0; i < 10000; i++) {
		now = random_next(&seed) % (random_next(&seed) % 2 ? 100 : 1000000 * SEC);
		vgpu_quarantine_init(&q, random_next(&seed) % 20, 60 * SEC, 60 * SEC);
		for (k = 0; k < i % 4; k++)
			vgpu_quarantine_fault(&q, now);
		until = q.until_ns;
		before = q;
		for (k = 0; k < sizeof(ages) / 8; k++)
			((u64 *)&ages)[k] = random_next(&seed) >> random_next(&seed) % 64;
		vgpu_quarantine_import(&q, now, &ages);
		check_faults(&before, &q);
		check_that(q.until_ns >= until, "%u", i);
		check_that(q.threshold || !q.until_ns, "%u", i);
		assert_int_equal(q.quarantines, before.quarantines);
		check_that(q.until_ns <= now + VGPU_QUARANTINE_LIMIT_NS, "%u", i);
		check_that(q.next_ns >= 60 * SEC && q.next_ns <= VGPU_QUARANTINE_LIMIT_NS, "%u", i);
		check_that(q.nr_faults <= q.threshold, "%u", i);
		check_that(!q.threshold || q.head < q.threshold, "%u", i);
		vgpu_quarantine_fault(&q, now);
		vgpu_quarantine_expire(&q, now + VGPU_QUARANTINE_LIMIT_NS);
		check_that(!q.until_ns, "%u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_window_edge),
		cmocka_unit_test(test_off_and_limits),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_end_of_time),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_moves_old),
		cmocka_unit_test(test_moves_hostile),
	};

	return cmocka_run_group_tests_name("quarantine", tests, NULL, NULL);
}
