// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of samples, against a naive model that keeps all samples for ever: several readers with
 * positions of their own, fast and slow, and positions out of the air.
 */
#include "vgpu_test.h"

#include "core/stats/sample_ring.h"

#define SAMPLES	2000
#define READERS	4

/* A sample in the model: with all engines that there may be. */
struct model_sample {
	u64 time_ns, period_ns, fb_backed_bytes, frames;
	u64 busy_ns[VGPU_MAX_ENGINES];
};

/**
 * struct model - a ring, what the model knows of it, and readers
 * @ring:   the ring under test
 * @engines: how many it has
 * @sample: all samples there ever were
 * @so_far: all of them together, at the end of the last one
 * @nr:     how many
 * @since:  the position of each reader
 * @sum:    all that a reader has read
 */
static struct model {
	struct vgpu_sample_ring *ring;
	unsigned int engines;
	struct model_sample sample[SAMPLES], so_far;
	unsigned int nr;
	u64 since[READERS];
	struct model_sample sum[READERS];
} w;

static void add(u64 *rnd)
{
	struct vgpu_sample *next = vgpu_sample_ring_next(w.ring);
	struct model_sample *sample = &w.sample[w.nr++];
	unsigned int i;

	sample->period_ns = random_range(rnd, 1, 300 * MS);
	/* There are none while no vGPU is open. */
	sample->time_ns = w.so_far.time_ns + sample->period_ns +
			  (random_one_in(rnd, 20) ? random_range(rnd, 0, DAY) : 0);
	for (i = 0; i < w.engines; i++)
		sample->busy_ns[i] = random_one_in(rnd, 3) ? 0 :
				     random_range(rnd, 0, sample->period_ns);
	sample->fb_backed_bytes = random_next(rnd);
	sample->frames = random_range(rnd, 0, 100);

	w.so_far.time_ns = sample->time_ns;
	w.so_far.frames += sample->frames;
	next->time_ns = sample->time_ns;
	next->period_ns = sample->period_ns;
	next->fb_backed_bytes = sample->fb_backed_bytes;
	next->frames = w.so_far.frames;
	for (i = 0; i < w.engines; i++)
		next->busy_ns[i] = w.so_far.busy_ns[i] += sample->busy_ns[i];
	vgpu_sample_ring_add(w.ring);
}

static bool is_same(const struct vgpu_sample *got, const struct model_sample *want)
{
	return got->time_ns == want->time_ns && got->period_ns == want->period_ns &&
	       got->fb_backed_bytes == want->fb_backed_bytes && got->frames == want->frames &&
	       !memcmp(got->busy_ns, want->busy_ns, w.engines * sizeof(u64));
}

static const struct model_sample *model_after(u64 since_ns)
{
	unsigned int i = w.nr > VGPU_SAMPLES_KEPT ? w.nr - VGPU_SAMPLES_KEPT : 0;

	for (; i < w.nr; i++)
		if (w.sample[i].time_ns > since_ns)
			return &w.sample[i];
	return NULL;
}

static const struct vgpu_sample *check_after(u64 since_ns)
{
	const struct model_sample *want = model_after(since_ns);
	const struct vgpu_sample *got = vgpu_sample_ring_after(w.ring, since_ns);

	check_that(!want == !got, "after %llu", (unsigned long long)since_ns);
	if (got)
		check_that(is_same(got, want), "%llu instead of %llu",
			   (unsigned long long)got->time_ns, (unsigned long long)want->time_ns);
	return got;
}

static void read_all(unsigned int r)
{
	const struct vgpu_sample *got;
	unsigned int i;

	while ((got = check_after(w.since[r]))) {
		w.since[r] = got->time_ns;
		for (i = 0; i < w.engines; i++)
			w.sum[r].busy_ns[i] += got->busy_ns[i];
		w.sum[r].frames += got->frames;
	}
}

static void check_at(u64 *rnd)
{
	const struct model_sample *any = &w.sample[random_range(rnd, 0, w.nr - 1)];
	const struct vgpu_sample *got = vgpu_sample_ring_at(w.ring, any->time_ns);
	bool kept = any >= w.sample + w.nr - min_t(unsigned int, w.nr, VGPU_SAMPLES_KEPT);

	assert_true(!got == !kept);
	assert_true(!got || is_same(got, any));
	if (any == w.sample || any[-1].time_ns != any->time_ns - 1)
		assert_null(vgpu_sample_ring_at(w.ring, any->time_ns - 1));
}

static void test_readers(void **state)
{
	unsigned int run, i;
	u64 rnd = test_seed();

	for (run = 0; run < 30; run++) {
		memset(&w, 0, sizeof(w));
		w.engines = run ? random_range(&rnd, 1, VGPU_MAX_ENGINES) : VGPU_MAX_ENGINES;
		w.ring = vgpu_sample_ring_new(w.engines);
		assert_non_null(w.ring);
		assert_null(check_after(0));
		assert_null(vgpu_sample_ring_at(w.ring, 1));
		while (w.nr < SAMPLES) {
			add(&rnd);
			/* The first reader is never late, the second one sometimes. */
			if (w.nr % 100 == 0 || random_one_in(&rnd, 100))
				read_all(0);
			for (i = 1; i < READERS; i++)
				if (random_one_in(&rnd, 100 * i))
					read_all(i);
			check_after(random_next(&rnd) % (w.so_far.time_ns + 2));
			check_at(&rnd);
		}
		read_all(0);
		assert_memory_equal(w.sum[0].busy_ns, w.so_far.busy_ns,
				    sizeof(w.sum[0].busy_ns));
		assert_int_equal(w.sum[0].frames, w.so_far.frames);
		assert_null(check_after(U64_MAX));
		free(w.ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers),
	};

	return cmocka_run_group_tests_name("sample_ring", tests, NULL, NULL);
}
