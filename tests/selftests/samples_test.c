// SPDX-License-Identifier: GPL-2.0
/*
 * The samples: what the engine has made of their memory is what the CPU makes of it. Alone, several
 * on one channel, and four vGPUs at once on a contended engine.
 */
#include <string.h>

#include <samples.h>

#include "compute.h"

#define VGPUS	4

static struct fx_vgpu v[VGPUS];

static void check_result(const struct sample_run *run)
{
	uint64_t native_ns;
	int64_t differs = sample_compare(run, &native_ns);

	CHECK(differs != -2, "out of memory");
	CHECK_EQ(differs, -1, "%s: the offset of the first byte that is wrong", run->sample->name);
}

/* Returns where its program was in the framebuffer. */
static uint64_t run_sample(struct fx_vgpu *of, struct vgpu_chan *chan, const struct sample *sample)
{
	struct sample_run run;
	uint64_t ns;

	FX_OK(of->dev, sample_load(of->dev, sample, &run));
	FX_OK(of->dev, sample_run(&run, chan, FX_TIMEOUT_MS, &ns));
	ktap_note("%s: %llu us", sample->name, (unsigned long long)(ns / 1000));
	check_result(&run);
	sample_unload(&run);
	return run.program.image;
}

static void alone(const struct sample *sample)
{
	run_sample(&v[0], compute_chan(&v[0]), sample);
}

#define ALONE(name)			\
static void name(void)			\
{					\
	alone(&sample_##name);		\
}

ALONE(mandelbrot)
ALONE(sgemm)
ALONE(blur)
ALONE(sha256)
ALONE(reduce)
ALONE(triad)
ALONE(copy)
ALONE(latency)
ALONE(bandwidth)

/* The digest of 32 zero bytes, as others compute it. */
static void sha256_is_right(void)
{
	static const uint32_t digest[8] = {
		0x66687aad, 0xf862bd77, 0x6c8fc18b, 0x8e9f8e20, 0x08971485, 0x6ee233b3,
		0x902a591d, 0x0d5f2925,
	};
	struct vgpu_chan *chan;
	struct sample_run run;
	uint64_t ns;

	chan = compute_chan(&v[0]);
	FX_OK(v[0].dev, sample_load(v[0].dev, &sample_sha256, &run));
	FX_OK(v[0].dev, sample_run(&run, chan, FX_TIMEOUT_MS, &ns));
	CHECK(!memcmp(v[0].dev->fb + run.memory + sample_sha256.bytes / 2, digest, sizeof(digest)));
	sample_unload(&run);
}

/* Each is loaded where the one before was: the engine must not take one for the other. */
static void all_in_one_place(void)
{
	uint64_t place;
	const struct sample *sample;
	struct vgpu_chan *chan;
	size_t i;

	chan = compute_chan(&v[0]);
	place = run_sample(&v[0], chan, &sample_copy);
	for (i = 0; (sample = sample_at(i)); i++)
		CHECK_EQ(run_sample(&v[0], chan, sample), place, "%s is elsewhere", sample->name);
}

/* Loads the @nth of all samples, and begins again with the first one behind the last. */
static void load_nth(struct fx_vgpu *of, size_t nth, struct sample_run *run)
{
	size_t nr = 0;

	while (sample_at(nr))
		nr++;
	FX_OK(of->dev, sample_load(of->dev, sample_at(nth % nr), run));
	sample_prepare(run);
}

/*
 * Different samples, so that registers, private and local memory are mixed up if they can be. In
 * three rounds each of the samples meets three others.
 */
static void four_at_once(void)
{
	struct vgpu_chan *chan[VGPUS];
	struct sample_run run[VGPUS];
	unsigned int i, round;
	uint64_t fence;

	for (i = 0; i < VGPUS; i++)
		chan[i] = compute_chan(&v[i]);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < VGPUS; i++)
			load_nth(&v[i], VGPUS * round + i, &run[i]);
		for (i = 0; i < VGPUS; i++)
			FX_OK(v[i].dev, vgpu_chan_dispatch(chan[i], &run[i].launch));
		for (i = 0; i < VGPUS; i++) {
			FX_OK(v[i].dev, vgpu_chan_fence(chan[i], &fence));
			FX_OK(v[i].dev, vgpu_chan_wait(chan[i], fence, 4 * FX_TIMEOUT_MS));
			check_result(&run[i]);
			sample_unload(&run[i]);
		}
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(mandelbrot),
	KTAP_TEST(sgemm),
	KTAP_TEST(blur),
	KTAP_TEST(sha256),
	KTAP_TEST(reduce),
	KTAP_TEST(triad),
	KTAP_TEST(copy),
	KTAP_TEST(latency),
	KTAP_TEST(bandwidth),
	KTAP_TEST(sha256_is_right),
	KTAP_TEST(all_in_one_place),
	KTAP_TEST(four_at_once),
};

KTAP_MAIN(tests, fx_cleanup)
