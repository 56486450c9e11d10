// SPDX-License-Identifier: GPL-2.0
/*
 * A synchronous client, with one short job at a time and the next submitted a
 * moment after it has seen the end of the last, leaves the engine without work for
 * that moment. An
 * engine that waits for it then (linger_us) gives it its guarantee beside a hog;
 * one that does not wait makes it queue again for each job.
 *
 * Client and engine share a processor (vgpu_soft's engine_cpus=0), and the client
 * goes first: so what it takes to wake one another does not depend on what else
 * this machine and its host do.
 */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "tune.h"

#define GR		VGPU_HW_ENGINE_GR
#define GUARANTEE	500
#define SLICE_NS	8000000
#define JOB_NS		100000
#define PREEMPT_MIN_NS	500000	/* what a hog's turn has before it is preempted */
#define HOG_BYTES	(16 * FX_MIB)
#define HOG_ORDER	12
#define WATCH_NS	300000000ull
#define ROUNDS		5

static struct fx_vgpu client, other;
static struct load sizer, hog;
static struct vgpu_chan *chan;
static uint64_t job_bytes, think_ns;

/**
 * struct result - what the client got
 * @jobs:      done
 * @time_ns:   in that time
 * @busy_ns:   charged for it
 * @linger_ns: of this
 * @runs:      turns it took
 */
struct result {
	uint64_t jobs;
	uint64_t time_ns;
	uint64_t busy_ns;
	uint64_t linger_ns;
	uint64_t runs;
};

static double rate(const struct result *r)
{
	return (double)r->jobs * 1e9 / (double)r->time_ns;
}

static double per_turn(const struct result *r)
{
	return (double)r->jobs / (double)r->runs;
}

static void think(void)
{
	const struct timespec ts = { .tv_nsec = (long)think_ns };

	nanosleep(&ts, NULL);
}

static void one_job(void)
{
	uint64_t fence, since = 0;

	FX_OK(client.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 0x5eed,
					 job_bytes));
	FX_OK(client.dev, vgpu_chan_fence(chan, &fence));
	while (le64toh(__atomic_load_n(chan->signal, __ATOMIC_ACQUIRE)) <
	       fence) {
		vgpu_irq_wait(client.dev, chan->vector, 1000);
		if (!since)
			since = fx_now_ms();
		CHECK(fx_now_ms() - since < FX_TIMEOUT_MS, "%s",
		      vgpu_dev_error(client.dev));
	}
}

static void set_realtime(bool on)
{
	const struct sched_param param = { .sched_priority = on ? 2 : 0 };

	CHECK(!sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param),
	      "%s", strerror(errno));
}

/* The client at work for a while, beside the hog if that has work. */
static void watch(struct result *sum, bool beside)
{
	struct vgpu_ctl_instance before, after;
	uint64_t start;

	if (beside) {
		if (load_keep(&hog, load_room(&hog)))
			FAIL("%s", hog.text);
		FX_SOON(load_jobs(&hog) > hog.put - load_room(&hog));
	}
	set_realtime(true);
	fx_instance(&client, &before);
	start = load_now_ns();
	while (load_now_ns() - start < WATCH_NS) {
		one_job();
		sum->jobs++;
		think();
	}
	fx_instance(&client, &after);
	sum->time_ns += after.now_ns - before.now_ns;
	sum->busy_ns += after.engine[chan->engine].busy_ns -
			before.engine[chan->engine].busy_ns;
	sum->runs += after.engine[chan->engine].runs -
		     before.engine[chan->engine].runs;
	sum->linger_ns += after.linger_ns[chan->engine] -
			  before.linger_ns[chan->engine];
	set_realtime(false);
	if (beside)
		CHECK(load_jobs(&hog) < hog.put, "the hog ran out of work");
}

static void set_linger(uint32_t linger_us)
{
	struct vgpu_ctl_sched sched = { .linger_us = linger_us };

	tune_set(&sched, VGPU_SCHED_LINGER);
	CHECK_EQ(sched.linger_us, linger_us);
}

static void begin(void)
{
	struct vgpu_ctl_sched sched = {
		.policy = "qos",
		.slice_ns = SLICE_NS,
	};
	struct load_config config = {
		.engine_class = GR,
		.order = HOG_ORDER,
		.job_bytes = HOG_BYTES,
		.seed = fx_random(),
	};
	struct load_config small = { .engine_class = GR };
	uint64_t took_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CHECK(!sched_setaffinity(0, sizeof(cpus), &cpus), "%s", strerror(errno));
	tune_set(&sched, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE);
	fx_create_open(&client, "1Q");
	fx_create_open(&other, "1Q");
	tune_share(&client, GUARANTEE, 1000, 1);
	tune_share(&other, 1000 - GUARANTEE, 1000, 1);
	if (load_size(&sizer, client.dev, &small, JOB_NS, &job_bytes, &took_ns))
		FAIL("%s", sizer.text);
	FX_OK(client.dev, vgpu_irq_enable(client.dev, 2));
	chan = fx_chan(&client, GR, 0, VGPU_RING_FB, 6);
	if (load_init(&hog, other.dev, &config))
		FAIL("%s", hog.text);
}

/* All that is said of it, with gaps of about think_ns. */
static bool holds(void)
{
	struct result alone = { 0 }, with = { 0 }, without = { 0 };
	uint64_t gap_ns, job_ns;
	uint32_t linger_us = 100;
	unsigned int i;
	bool ok;

	FX_OK(other.dev, vgpu_chan_wait_idle(hog.chan, FX_TIMEOUT_MS));
	watch(&alone, false);
	gap_ns = (alone.time_ns - alone.busy_ns) / alone.jobs;
	job_ns = alone.busy_ns / alone.jobs;
	/* On a slow machine the client takes longer to come back, now and then. */
	if (gap_ns > 5000)
		linger_us = gap_ns < 50000 ? 20 * gap_ns / 1000 : 1000;
	for (i = 0; i < ROUNDS; i++) {
		set_linger(i % 2 ? 0 : linger_us);
		watch(i % 2 ? &without : &with, true);
		set_linger(i % 2 ? linger_us : 0);
		watch(i % 2 ? &with : &without, true);
	}
	ktap_note("alone %.0f jobs/s of %llu us, gaps of %llu us, %.1f jobs a turn",
		  rate(&alone), (unsigned long long)job_ns / 1000,
		  (unsigned long long)gap_ns / 1000, per_turn(&alone));
	ktap_note("beside a hog with linger_us=%u %.0f jobs/s, %.1f a turn, %llu us of %llu us lingering; without %.0f jobs/s, %.1f a turn",
		  linger_us, rate(&with), per_turn(&with),
		  (unsigned long long)with.linger_ns / 1000,
		  (unsigned long long)with.busy_ns / 1000, rate(&without),
		  per_turn(&without));
	CHECK_EQ(without.linger_ns, 0);
	CHECK(with.linger_ns < with.busy_ns, "lingering is part of service");
	ok = with.linger_ns && per_turn(&with) >= 1.5 * per_turn(&without);
	/* G2 is about gaps that the engine waits out. */
	if (4 * gap_ns <= linger_us * 1000ull)
		ok &= rate(&with) >= 0.5 * GUARANTEE / 1000 * rate(&alone);
	/* With longer jobs it matters less how soon the hog gives way. */
	if (job_ns < PREEMPT_MIN_NS)
		ok &= rate(&with) >= 1.1 * rate(&without);
	return ok;
}

/*
 * An engine does not notice what part of a gap the client works in, and how long
 * that takes is the machine's business: so gaps get longer until it does.
 */
static void guarantee_of_a_synchronous_client(void)
{
	begin();
	for (think_ns = 20000; !holds(); think_ns *= 2)
		CHECK(think_ns < 400000, "lingering does not help");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(guarantee_of_a_synchronous_client),
};

/* A failed check may have left it so. */
static void cleanup(void)
{
	set_realtime(false);
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
