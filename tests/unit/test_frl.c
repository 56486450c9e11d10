// SPDX-License-Identifier: GPL-2.0
/*
 * The two promises of the frame-rate limiter, over every interval: never too many frames, and never
 * too few for a guest that is not too late.
 */
#include "vgpu_test.h"

#include <uapi/linux/vgpu.h>

#include "sched/frl.h"

#define MAX_FRAMES	3000

/*
 * b - a + 1 <= fps (shown[b] - shown[a]) + 2 for all a <= b: how late a frame is, compared with an
 * even row of frames, never falls by more than the time of one frame.
 */
static void check_never_too_many(const u64 *shown, unsigned int nr, u32 fps)
{
	s64 late, most = S64_MIN;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		late = (s64)(fps * (shown[i] - shown[0])) - (s64)(i * SEC);
		most = max(most, late);
		check_that(most - late <= (s64)SEC, "frame %u at %llu, %u fps", i, shown[i], fps);
	}
}

/* How long after its last frame was shown a guest, of one of several kinds, has the next one. */
static u64 next_frame_ns(u64 *rnd, unsigned int kind, u64 period_ns)
{
	switch (kind) {
	case 0:		/* always has a frame ready */
		return 0;
	case 1:		/* renders for some time */
		return random_range(rnd, 0, period_ns);
	case 2:		/* is slow at times */
		return random_one_in(rnd, 10) ? random_range(rnd, 0, 10 * period_ns) :
					     random_range(rnd, 0, period_ns / 2);
	case 3:		/* bursts */
		return random_one_in(rnd, 20) ? random_range(rnd, 0, 50 * period_ns) :
					     0;
	default:
		return random_next(rnd) >> random_range(rnd, 30, 60);
	}
}

static void test_never_too_many(void **state)
{
	static u64 shown[MAX_FRAMES];
	u64 rnd = test_seed(), now_ns, due_ns;
	struct vgpu_frl frl;
	unsigned int load, nr, kind;
	u32 fps;

	for (load = 0; load < 400; load++) {
		fps = random_one_in(&rnd, 2) ? 60 :
		      random_range(&rnd, 1, VGPU_FRL_MAX);
		kind = random_range(&rnd, 0, 4);
		memset(&frl, 0, sizeof(frl));
		vgpu_frl_set(&frl, fps);
		now_ns = random_next(&rnd) >> random_range(&rnd, 20, 60);
		for (nr = 0; nr < MAX_FRAMES / 10;) {
			due_ns = vgpu_frl_present(&frl, now_ns);
			if (due_ns) {
				assert_true(due_ns > now_ns);
				assert_true(due_ns - now_ns <= SEC / fps + 1);
				/* Asking again too early changes nothing. */
				assert_int_equal(vgpu_frl_present(&frl, now_ns), due_ns);
				assert_int_equal(vgpu_frl_present(&frl, due_ns - 1), due_ns);
				now_ns = due_ns;
				continue;
			}
			shown[nr++] = now_ns;
			now_ns += next_frame_ns(&rnd, kind, SEC / fps);
			if (now_ns - shown[0] > 1000 * SEC)
				break;
		}
		check_never_too_many(shown, nr, fps);
	}
}

/* The guest comes up to a period after each frame was due, and still shows all of them. */
static void test_late_but_all(void **state)
{
	u64 rnd = test_seed() + 1, now_ns, begin_ns, due_ns, late_ns, period_ns;
	unsigned int load, nr;
	struct vgpu_frl frl;
	u32 fps;

	for (load = 0; load < 200; load++) {
		fps = random_one_in(&rnd, 2) ? 60 :
		      random_range(&rnd, 1, VGPU_FRL_MAX);
		period_ns = SEC / fps;
		late_ns = random_range(&rnd, 0, 2) * period_ns / 2;
		memset(&frl, 0, sizeof(frl));
		vgpu_frl_set(&frl, fps);
		/* The first two frames may come at once, if the clock is past a period. */
		now_ns = random_range(&rnd, period_ns + 1, 100 * SEC);
		assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
		assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
		begin_ns = now_ns;
		for (nr = 0; nr < MAX_FRAMES; nr++) {
			due_ns = vgpu_frl_present(&frl, now_ns);
			if (due_ns)
				now_ns = due_ns + random_range(&rnd, 0, late_ns);
			/* The guest comes, perhaps late; its next frame is ready then. */
			if (due_ns)
				assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
		}
		/* The rate is exact but for ns of rounding and how late the last frame was. */
		check_that(now_ns - begin_ns <= nr * (u64)(SEC / fps + 1) + late_ns,
			   "%u frames in %llu ns at %u fps, %llu ns late", nr,
			   now_ns - begin_ns, fps, late_ns);
		check_that(now_ns - begin_ns >= nr * (u64)(SEC / fps),
			   "%u frames in %llu ns at %u fps", nr,
			   now_ns - begin_ns, fps);
	}
}

/* Within the first period of the clock the second frame waits until the period is over. */
static void test_young_clock(void **state)
{
	u64 rnd = test_seed() + 2, now_ns, period_ns;
	struct vgpu_frl frl;
	unsigned int load;
	u32 fps;

	for (load = 0; load < 1000; load++) {
		fps = random_range(&rnd, 1, VGPU_FRL_MAX);
		period_ns = DIV_ROUND_UP(SEC, fps);
		now_ns = random_one_in(&rnd, 10) ? 0 :
			 random_range(&rnd, 0, period_ns - 1);
		memset(&frl, 0, sizeof(frl));
		vgpu_frl_set(&frl, fps);
		assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
		assert_int_equal(vgpu_frl_present(&frl, now_ns), period_ns);
		assert_int_equal(vgpu_frl_present(&frl, period_ns), 0);
		assert_int_equal(vgpu_frl_present(&frl, period_ns), 2 * period_ns);
	}
}

static void test_off(void **state)
{
	struct vgpu_frl frl = {};
	unsigned int i;

	for (i = 0; i < 1000; i++)
		assert_int_equal(vgpu_frl_present(&frl, 1000), 0);
	vgpu_frl_set(&frl, 60);
	assert_int_equal(vgpu_frl_present(&frl, 1000), 0);
	vgpu_frl_set(&frl, 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(vgpu_frl_present(&frl, 1000), 0);
}

/* A guest that waits under a low limit goes on as soon as a higher one lets it. */
static void test_changes(void **state)
{
	u64 now_ns = 50 * SEC, due_ns;
	struct vgpu_frl frl = {};

	vgpu_frl_set(&frl, 1);
	assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
	assert_int_equal(vgpu_frl_present(&frl, now_ns), 0);
	assert_int_equal(vgpu_frl_present(&frl, now_ns), now_ns + SEC);
	vgpu_frl_set(&frl, 100);
	due_ns = vgpu_frl_present(&frl, now_ns);
	assert_int_equal(due_ns, now_ns + SEC / 100);
	/* The time stays the same, however often the guest asks meanwhile. */
	assert_int_equal(vgpu_frl_present(&frl, now_ns + 1), due_ns);
	assert_int_equal(vgpu_frl_present(&frl, due_ns), 0);
	assert_int_equal(vgpu_frl_present(&frl, due_ns), due_ns + SEC / 100);
	vgpu_frl_set(&frl, 1);
	assert_int_equal(vgpu_frl_present(&frl, due_ns + SEC / 100), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_too_many),
		cmocka_unit_test(test_late_but_all),
		cmocka_unit_test(test_young_clock),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests_name("frl", tests, NULL, NULL);
}
