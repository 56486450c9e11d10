// SPDX-License-Identifier: GPL-2.0
/* Samples of a GPU and its vGPUs: what they say, when there are any, and several readers. */
#include <string.h>

#include "fixture.h"
#include "load.h"

#define NR_VGPUS	3
#define ROOM		1024
#define PERIOD_NS	100000000ull
#define READERS		2

static struct fx_vgpu v[NR_VGPUS];
static struct load load[NR_VGPUS];
static uint32_t gpu_id;

/**
 * struct reader - who reads samples at times of its own
 * @since_ns: up to where it has read
 * @nr:       how many samples it has
 * @sample:   all of them
 */
static struct reader {
	uint64_t since_ns;
	unsigned int nr;
	struct vgpu_ctl_sample sample[4 * ROOM];
} readers[READERS], later;

static const uint8_t no_uuid[VGPU_UUID_LEN];

/* Reads all that is new, @room samples at a time. */
static void catch_up(struct reader *r, uint32_t room)
{
	struct vgpu_ctl_samples ctl = { .since_ns = r->since_ns };

	do {
		CHECK(r->nr + room <= sizeof(r->sample) / sizeof(r->sample[0]));
		CHECK_EQ(node_samples(fx_control(), gpu_id, &ctl, &r->sample[r->nr], room), 0);
		CHECK(ctl.count <= room, "%u samples", ctl.count);
		r->nr += ctl.count;
		CHECK_EQ(ctl.next_ns, ctl.count ? r->sample[r->nr - 1].time_ns : ctl.since_ns);
		CHECK(ctl.next_ns <= ctl.now_ns, "in the future");
		ctl.since_ns = ctl.next_ns;
	} while (ctl.more);
	r->since_ns = ctl.next_ns;
}

static bool is_gpu(const struct vgpu_ctl_sample *sample)
{
	return !memcmp(sample->uuid, no_uuid, sizeof(no_uuid));
}

/*
 * Each period begins where the last ended and has the GPU first, which has as much as its vGPUs.
 * The machine may be away between a look at the clock and one at the engine, or catch up with
 * timers that it has missed: what holds on the whole need not hold of each period.
 */
static void check_periods(const struct reader *r, unsigned int engine)
{
	uint64_t busy = 0, backed = 0, all_busy_ns = 0, all_ns = 0, periods = 0;
	const struct vgpu_ctl_sample *gpu = NULL, *s;
	unsigned int i;

	for (i = 0; i < r->nr; i++) {
		s = &r->sample[i];
		if (!is_gpu(s)) {
			CHECK(gpu && s->time_ns == gpu->time_ns, "no period of the GPU's");
			CHECK_EQ(s->period_ns, gpu->period_ns);
			busy += s->engine[engine].busy_ns;
			backed += s->fb_backed_bytes;
			continue;
		}
		if (gpu) {
			CHECK_EQ(s->time_ns - s->period_ns, gpu->time_ns);
			CHECK_EQ(gpu->engine[engine].busy_ns, busy);
			CHECK_EQ(gpu->fb_backed_bytes, backed);
		}
		CHECK(s->period_ns, "an empty period");
		all_busy_ns += s->engine[engine].busy_ns;
		all_ns += s->period_ns;
		periods++;
		gpu = s;
		busy = 0;
		backed = 0;
	}
	CHECK(all_ns >= periods * PERIOD_NS * 8 / 10, "%llu periods of %llu ns together",
	      (unsigned long long)periods, (unsigned long long)all_ns);
	CHECK(all_busy_ns <= all_ns + PERIOD_NS, "%llu of %llu ns", (unsigned long long)all_busy_ns,
	      (unsigned long long)all_ns);
}

/* All service of a vGPU that the samples have. */
static uint64_t sampled_ns(const struct reader *r, const struct fx_vgpu *vgpu, unsigned int engine)
{
	uint64_t busy = 0;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (!memcmp(r->sample[i].uuid, vgpu->id, sizeof(vgpu->id)))
			busy += r->sample[i].engine[engine].busy_ns;
	return busy;
}

/* When the last session of a vGPU ended. */
static uint64_t ended_ns(const struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_sessions ctl = {};
	struct vgpu_ctl_session session;
	uint64_t end_ns = 0;

	while (!node_sessions(fx_control(), gpu_id, &ctl, &session, 1) && ctl.count) {
		if (!memcmp(session.uuid, vgpu->id, sizeof(vgpu->id)))
			end_ns = session.end_ns;
		ctl.first_id = ctl.next_id;
	}
	CHECK(end_ns, "no session has ended");
	return end_ns;
}

/*
 * Closes all vGPUs, and waits for a sample that has all that they did. Returns when they were
 * closed: a sample that came before, and after the end of the last session, is not the last one.
 */
static uint64_t close_all(void)
{
	struct reader *r = &readers[0];
	uint64_t end_ns, closed_ns;
	unsigned int i;

	for (i = NR_VGPUS; i--;) {
		load_exit(&load[i]);
		fx_close(&v[i]);
	}
	closed_ns = clk_ns();
	end_ns = ended_ns(&v[0]);
	FX_SOON((catch_up(r, ROOM), r->since_ns > end_ns), "no sample after the close");
	return closed_ns;
}

/* All of them read what is new; true if they have come equally far. */
static bool all_catch_up(void)
{
	unsigned int i;

	catch_up(&later, ROOM);
	for (i = 0; i < READERS; i++)
		catch_up(&readers[i], ROOM);
	for (i = 0; i < READERS; i++)
		if (readers[i].since_ns != later.since_ns)
			return false;
	return true;
}

/* How many periods end after that. */
static unsigned int periods_after(const struct reader *r, uint64_t ns)
{
	unsigned int i, nr = 0;

	for (i = 0; i < r->nr; i++)
		nr += is_gpu(&r->sample[i]) && r->sample[i].time_ns > ns;
	return nr;
}

static void begin(void)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = 6,
		.job_bytes = FX_MIB,
		.seed = fx_random(),
	};
	unsigned int i;

	fx_need("execution");
	gpu_id = fx_gpu_id();
	memset(readers, 0, sizeof(readers));
	memset(&later, 0, sizeof(later));
	/* From here on period follows period. What is there is what tests before have left. */
	fx_create_open(&v[0], fx_default_type());
	catch_up(&later, ROOM);
	for (i = 0; i < READERS; i++)
		readers[i].since_ns = later.since_ns;
	for (i = 0; i < NR_VGPUS; i++) {
		if (i)
			fx_create_open(&v[i], fx_default_type());
		if (load_init(&load[i], v[i].dev, &config))
			FAIL("%s", load[i].text);
	}
}

static void keep(uint64_t ms)
{
	uint64_t end;
	unsigned int i;

	for (end = clk_ms() + ms; clk_ms() < end; clk_sleep_ms(2))
		for (i = 0; i < NR_VGPUS; i++)
			if (load_keep(&load[i], load_room(&load[i])))
				FAIL("%s", load[i].text);
}

/* Readers with positions of their own see the same, and it is what the vGPUs did. */
static void readers_see_the_same(void)
{
	uint64_t before, all[NR_VGPUS];
	struct vgpu_ctl_instance inst;
	unsigned int i, engine, n;

	begin();
	before = later.since_ns;
	engine = load[0].chan->engine;
	for (n = 0; readers[0].nr < 20 * (NR_VGPUS + 1); n++) {
		keep(70);
		catch_up(&readers[0], VGPU_SAMPLES_ROOM);
		if (n % 10 == 5)
			catch_up(&readers[1], VGPU_SAMPLES_ROOM + 1);
	}
	close_all();
	for (i = 0; i < NR_VGPUS; i++) {
		fx_instance(&v[i], &inst);
		all[i] = inst.engine[engine].busy_ns;
		CHECK(all[i], "no service");
	}
	memset(&later, 0, sizeof(later));
	later.since_ns = before;
	/* There may be one more sample to come. */
	FX_SOON(all_catch_up(), "there is no end of samples");
	check_periods(&later, engine);
	for (i = 0; i < READERS; i++) {
		CHECK_EQ(readers[i].nr, later.nr, "reader %u", i);
		CHECK(!memcmp(readers[i].sample, later.sample, later.nr * sizeof(later.sample[0])),
		      "reader %u", i);
	}
	for (i = 0; i < NR_VGPUS; i++)
		CHECK_EQ(sampled_ns(&later, &v[i], engine), all[i], "vGPU %u", i);
}

/* While no vGPU is open there are no samples; a vGPU that is gone has none any more. */
static void nothing_while_none_is_open(void)
{
	uint64_t closed_ns, opened_ns, begin_ns;
	unsigned int nr;

	begin();
	keep(250);
	closed_ns = close_all();
	CHECK(readers[0].nr, "no samples");
	clk_sleep_ms(1500);
	catch_up(&readers[0], ROOM);
	CHECK(periods_after(&readers[0], closed_ns) <= 1, "samples of nothing");
	nr = readers[0].nr;
	fx_remove(&v[0]);
	catch_up(&readers[1], ROOM);
	CHECK_EQ(sampled_ns(&readers[1], &v[0], 0), 0);
	CHECK(readers[1].nr < nr, "samples of a vGPU that is gone");

	/* The time in between belongs to no period. */
	opened_ns = clk_ns();
	fx_open(&v[1]);
	FX_SOON((catch_up(&readers[0], ROOM), readers[0].nr > nr), "no sample");
	begin_ns = readers[0].sample[nr].time_ns - readers[0].sample[nr].period_ns;
	CHECK(begin_ns >= opened_ns, "begins %llu ns before",
	      (unsigned long long)(opened_ns - begin_ns));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(readers_see_the_same),
	KTAP_TEST(nothing_while_none_is_open),
};

KTAP_MAIN(tests, fx_cleanup)
