// SPDX-License-Identifier: GPL-2.0
/*
 * Pauses (debugfs files pause and resume): a vGPU stands still and goes on as if nothing had
 * happened, even if its state was saved, given up and built anew meanwhile (file reload). At
 * random moments of random work no packet is lost or done twice: the work counts, so that each
 * would change the result.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "compute.h"
#include "hang.h"
#include "load.h"
#include "silent.h"
#include "tune.h"

#define DEBUGFS		"/sys/kernel/debug/vgpu"
#define WORDS		4096u
#define BYTES		(WORDS * 4)
#define A		COMPUTE_OUT
#define B		(A + FX_MIB)
#define PICTURE		(A + 2 * FX_MIB)

static struct fx_vgpu v, other;

static void pause_vgpu(const struct fx_vgpu *vgpu)
{
	int ret = fx_debugfs(vgpu, "pause");

	CHECK(!ret, "%s", strerror(-ret));
}

static void resume_vgpu(const struct fx_vgpu *vgpu)
{
	int ret = fx_debugfs(vgpu, "resume");

	CHECK(!ret, "%s", strerror(-ret));
}

static bool is_paused(const struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	return inst.status & VGPU_INSTANCE_PAUSED;
}

static void refusals(void)
{
	static const char * const bad[] = {
		"x", "00000000-0000-0000-0000-00000000000",
		"00000000-0000-0000-0000-0000000000000",
		"00000000-0000-0000-0000-00000000000g",
	};
	char path[128];
	unsigned int i;

	fx_create(&v, "1Q");
	CHECK_EQ(fx_debugfs(&v, "pause"), -ENODEV);
	CHECK_EQ(fx_debugfs(&v, "resume"), -ENODEV);
	CHECK_EQ(fx_debugfs(&v, "reload"), -ENODEV);
	fx_open(&v);
	CHECK_EQ(fx_debugfs(&v, "resume"), -EINVAL);
	CHECK_EQ(fx_debugfs(&v, "reload"), -EBUSY);
	fx_new_uuid(&other);
	CHECK_EQ(fx_debugfs(&other, "pause"), -ENODEV);
	snprintf(path, sizeof(path), DEBUGFS "/%s/pause", fx_gpu());
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(file_write(path, bad[i]), -EINVAL, "%s", bad[i]);
	CHECK(!is_paused(&v), "");
}

/* A channel with a program that adds 1 to each word at A. */
static struct vgpu_chan *counting_chan(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 2),
		RV_ADD(RV_A0, RV_A0, RV_T0), RV_LW(RV_T1, 0, RV_A0),
		RV_ADDI(RV_T1, RV_T1, 1), RV_SW(RV_T1, 0, RV_A0), RV_RET,
	};
	struct vgpu_chan *chan = compute_chan(&v);

	COMPUTE_LOAD(&v, words);
	return chan;
}

static void count(struct vgpu_chan *chan)
{
	compute_dispatch(chan, COMPUTE_SIZE(WORDS, 1, 1), COMPUTE_SIZE(64, 1, 1), 0);
}

/* Doorbells of a paused vGPU are kept, policies count it as started, and pauses nest. */
static void stands_still(void)
{
	struct vgpu_chan *chan = counting_chan();
	struct vgpu_ctl_instance before, after;
	unsigned int i;

	count(chan);
	fx_finish(chan);
	/* Long enough that the channel sleeps: the doorbell is rung while the vGPU is paused. */
	FX_SOON(vgpu_chan_state(chan) == VGPU_HW_STATE_SLEEPING);
	for (i = 0; i < 3; i++)
		pause_vgpu(&v);
	CHECK(is_paused(&v), "");
	fx_instance(&v, &before);
	CHECK_EQ(before.state, VGPU_STATE_STARTED);
	count(chan);
	for (i = 0; i < 3; i++) {
		clk_sleep_ms(50);
		fx_instance(&v, &after);
		CHECK_EQ(after.engine[chan->engine].runs, before.engine[chan->engine].runs);
		fx_check_words(v.dev->fb + A, BYTES, 1);
		resume_vgpu(&v);
	}
	CHECK(!is_paused(&v), "");
	fx_finish(chan);
	fx_check_words(v.dev->fb + A, BYTES, 2);
}

/* What the guest may do meanwhile: disable channels, reset the device, close it. */
static void guest_goes_on(void)
{
	struct vgpu_chan *chan = counting_chan();

	compute_load(&v, compute_loop, 3, 64);
	compute_dispatch(chan, COMPUTE_ALL, COMPUTE_SIZE(64, 1, 1), 0);
	FX_SOON(compute_counter(&v, "instructions ") > 0);
	pause_vgpu(&v);
	FX_OK(v.dev, vgpu_chan_disable(chan));
	CHECK_EQ(compute_counter(&v, "context_bytes "), 0);
	FX_OK(v.dev, vgpu_chan_enable(chan));
	FX_OK(v.dev, vgpu_chan_nop(chan));
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(is_paused(&v), "a reset has ended the pause");
	fx_close(&v);
	CHECK(!is_paused(&v), "");
	CHECK_EQ(fx_debugfs(&v, "resume"), -ENODEV);

	fx_open(&v);
	chan = counting_chan();
	count(chan);
	fx_finish(chan);
	fx_check_words(v.dev->fb + A, BYTES, 1);
}

/**
 * struct pauser - a thread that pauses @vgpu at random moments
 * @reload: and has its state built anew in each so many pauses
 * @nr:    pauses so far
 * @worst_us: the longest call
 * @gap_us: most time between two pauses
 * @ret:   0, or the negative errno for which the thread has ended
 */
struct pauser {
	const struct fx_vgpu *vgpu;
	pthread_t thread;
	atomic_bool stop;
	unsigned int reload;
	atomic_uint nr;
	uint64_t worst_us;
	uint64_t gap_us;
	uint64_t seed;
	atomic_int ret;
};

static void *pauser_run(void *arg)
{
	struct pauser *p = arg;
	struct timespec gap = {};
	uint64_t start_ns, took_us;

	while (!p->stop && !p->ret) {
		/* xorshift64: fx_random() belongs to the test's thread. */
		p->seed ^= p->seed << 13;
		p->seed ^= p->seed >> 7;
		p->seed ^= p->seed << 17;
		gap.tv_nsec = (long)(p->seed % (p->gap_us + 1) * 1000);
		nanosleep(&gap, NULL);
		start_ns = clk_ns();
		p->ret = fx_debugfs(p->vgpu, "pause");
		took_us = (clk_ns() - start_ns) / 1000;
		if (took_us > p->worst_us)
			p->worst_us = took_us;
		if (!p->ret && p->nr % p->reload == 0)
			p->ret = fx_debugfs(p->vgpu, "reload");
		if (!p->ret)
			p->ret = fx_debugfs(p->vgpu, "resume");
		p->nr++;
	}
	return NULL;
}

static void pauser_start(struct pauser *p, const struct fx_vgpu *vgpu, uint64_t gap_us,
			 unsigned int reload)
{
	memset(p, 0, sizeof(*p));
	p->reload = reload;
	p->vgpu = vgpu;
	p->gap_us = gap_us;
	p->seed = fx_random() | 1;
	CHECK(!pthread_create(&p->thread, NULL, pauser_run, p), "");
}

static void pauser_stop(struct pauser *p)
{
	p->stop = true;
	pthread_join(p->thread, NULL);
	CHECK_EQ(p->ret, 0, "%s", strerror(-p->ret));
	CHECK(p->nr, "");
	ktap_note("%u pauses, the longest took %llu us", p->nr, (unsigned long long)p->worst_us);
}

/* Adds 1 at A, and takes what is there round through guest memory and framebuffer. */
static void round_trip(struct vgpu_chan *chan, struct vgpu_buf *buf, bool present)
{
	count(chan);
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_SYS(buf, 0), VGPU_FB(A), BYTES));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(A), 0xdeadbeef, BYTES));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_SYS(buf, BYTES), VGPU_SYS(buf, 0), BYTES));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_FB(B), VGPU_SYS(buf, BYTES), BYTES));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_FB(A), VGPU_FB(B), BYTES));
	if (present)
		FX_OK(v.dev, vgpu_chan_present(chan, PICTURE, 64, 32, 256));
}

/* A paused vGPU changes nothing, wherever its engines and its worker were. */
static void check_still(struct vgpu_chan *chan, struct vgpu_buf *buf, const struct load *load)
{
	static uint8_t fb[2 * BYTES], sys[2 * BYTES];
	uint64_t get, jobs;

	pause_vgpu(&v);
	get = vgpu_chan_get(chan);
	jobs = vgpu_chan_get(load->chan);
	memcpy(fb, v.dev->fb + A, BYTES);
	memcpy(fb + BYTES, v.dev->fb + B, BYTES);
	memcpy(sys, buf->ptr, sizeof(sys));
	clk_sleep_ms(3);
	CHECK_EQ(vgpu_chan_get(chan), get);
	CHECK_EQ(vgpu_chan_get(load->chan), jobs);
	CHECK(!memcmp(fb, v.dev->fb + A, BYTES), "framebuffer has changed");
	CHECK(!memcmp(fb + BYTES, v.dev->fb + B, BYTES), "framebuffer has changed");
	CHECK(!memcmp(sys, buf->ptr, sizeof(sys)), "guest memory has changed");
	resume_vgpu(&v);
}

/*
 * Rounds on gr under pauses, and a load with a verified checksum on ce, until there have been
 * enough pauses. Each round is a step of a count in all of WORDS words: a packet that is lost, done
 * twice, or done late gives another number.
 */
static void rounds(enum vgpu_ring where, uint32_t order, unsigned int pauses)
{
	const struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_CE, .order = 4, .job_bytes = 1 << 16,
		.seed = fx_random(),
	};
	static struct load load;
	struct vgpu_chan *chan;
	struct pauser pauser;
	unsigned int done = 0;
	struct vgpu_buf buf;

	chan = counting_chan();
	vgpu_chan_destroy(chan);
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, where, order);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 2 * BYTES, &buf));
	v.dev->fb_next = PICTURE + FX_MIB;
	CHECK(!load_init(&load, v.dev, &config), "%s", load.text);
	memset(v.dev->fb + A, 0, BYTES);

	pauser_start(&pauser, &v, 3000, 1);
	while (pauser.nr < pauses && !pauser.ret) {
		round_trip(chan, &buf, done % 16 == 0);
		done++;
		CHECK(!load_keep(&load, load_room(&load)), "%s", load.text);
		if (fx_random_below(8) == 0)
			check_still(chan, &buf, &load);
		/* Now and then the channel falls asleep. */
		if (fx_random_below(8) == 0) {
			fx_finish(chan);
			fx_check_words(v.dev->fb + A, BYTES, done);
			fx_check_words(buf.ptr, 2 * BYTES, done);
		}
	}
	pauser_stop(&pauser);
	fx_finish(chan);
	fx_check_words(v.dev->fb + A, BYTES, done);
	CHECK(!load_drain(&load, FX_TIMEOUT_MS), "%s", load.text);
	ktap_note("%u rounds, %llu jobs", done, (unsigned long long)load_jobs(&load));
	load_exit(&load);
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
	fx_close(&v);
}

static void no_packet_is_lost_or_doubled(void)
{
	unsigned int pauses = (unsigned int)fx_env("VGPU_TEST_PAUSES", 1000), i;

	fx_need("execute packets");
	fx_create(&v, "1Q");
	for (i = 0; i < tune_nr_policies(); i++) {
		tune_policy(tune_policy_at(i));
		fx_open(&v);
		rounds(i & 1 ? VGPU_RING_SYS : VGPU_RING_FB, 4 + i, pauses / tune_nr_policies());
	}
}

/* A fault under pauses is the same fault, once. */
static void faults_are_the_same(void)
{
	struct vgpu_ctl_sched off = { .quarantine_faults = 0 };
	struct vgpu_fault fault;
	struct pauser pauser;
	struct vgpu_chan *chan;
	unsigned int i;

	fx_need("execute packets");
	tune_set(&off, VGPU_SCHED_QUARANTINE_FAULTS);
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	pauser_start(&pauser, &v, 500, 1);
	for (i = 0; i < 100; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(A), i, BYTES));
		fx_fill_fails(chan, v.dev->fb_bytes, &fault);
		CHECK_EQ(fault.code, VGPU_HW_FAULT_ADDRESS);
		fx_check_words(v.dev->fb + A, BYTES, i);
		/* Counted after the guest is told. */
		FX_SOON(fx_faults(&v) == i + 1);
		fx_again(chan);
	}
	pauser_stop(&pauser);
}

/* An access that never answers is cut short, and done again after the pause. */
static void memory_that_does_not_answer(void)
{
	static const uint32_t flags[] = { VGPU_HW_OP_SRC_SYS, VGPU_HW_OP_DST_SYS };
	struct vgpu_chan *chan, *neighbour;
	uint64_t start, took;
	unsigned int i;
	int uffd;

	silent_need();
	neighbour = compute_neighbour(&other);
	for (i = 0; i < 2; i++) {
		fx_create_open(&v, "1Q");
		uffd = silent_map(&v);
		CHECK(uffd >= 0, "");
		chan = silent_copy(&v, 0, flags[i]);
		silent_wait(&v, chan->engine);
		start = clk_ms();
		pause_vgpu(&v);
		took = clk_ms() - start;
		CHECK(took >= 1900 && took < 20000, "%llu ms", (unsigned long long)took);
		compute_check_sum(neighbour, i, 7);
		/* Nothing is under way any more, so this one has not to wait. */
		resume_vgpu(&v);
		pause_vgpu(&v);
		CHECK_EQ(fx_debugfs(&v, "reload"), 0);
		silent_answer();
		CHECK_EQ(vgpu_chan_get(chan), 0);
		resume_vgpu(&v);
		fx_finish(chan);
		CHECK_EQ(fx_faults(&v), 0);
		fx_close(&v);
		silent_unmap();
		fx_remove(&v);
	}
}

static int locked_ret;

/* Pauses until the worker's access is under way, so that it cannot be paused. */
static void pause_locked(void *unused)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS / 2;

	(void)unused;
	while (clk_ms() < end) {
		locked_ret = fx_debugfs(&v, "pause");
		if (locked_ret)
			break;
		resume_vgpu(&v);
		clk_sleep_ms(10);
	}
}

static void answer(void *unused)
{
	(void)unused;
	silent_answer();
}

/* An access that waits for a lock of VFIO cannot be cut short: the pause fails, and only that. */
static void container_that_is_locked(void)
{
	struct vgpu_chan *chan;

	silent_need();
	fx_create_open(&v, "1Q");
	silent_map(&v);
	silent_lock(&v);
	chan = silent_copy(&v, 0, VGPU_HW_OP_SRC_SYS);
	silent_wait(&v, chan->engine);
	silent_bounded("pause", pause_locked, NULL, FX_TIMEOUT_MS, answer, NULL);
	CHECK_EQ(locked_ret, -ETIMEDOUT);
	CHECK(!is_paused(&v), "");
	silent_answer();
	fx_finish(chan);
	CHECK_EQ(fx_faults(&v), 0);
	pause_vgpu(&v);
	resume_vgpu(&v);
	fx_close(&v);
	silent_unmap();
}

/*
 * Pauses and resumes of several threads, beside resets and switches of the policy. What the worker
 * makes for a dispatch that has not begun is made again after each reload: so there are fewer.
 */
static void beside_everything(void)
{
	struct pauser pauser[3];
	struct vgpu_chan *chan;
	unsigned int i, k;

	fx_need("execute packets");
	chan = counting_chan();
	for (i = 0; i < 3; i++)
		pauser_start(&pauser[i], &v, 1000, 16);
	for (i = 0; i < 40; i++) {
		memset(v.dev->fb + A, 0, BYTES);
		for (k = 0; k < 8; k++)
			count(chan);
		tune_policy(tune_policy_at(i % tune_nr_policies()));
		if (i % 4 == 3) {
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
			chan = counting_chan();
			continue;
		}
		fx_finish(chan);
		fx_check_words(v.dev->fb + A, BYTES, 8);
	}
	for (i = 0; i < 3; i++)
		pauser_stop(&pauser[i]);
	CHECK(!is_paused(&v), "");
}

/* Pause and quarantine are apart: each ends by itself, in either order. */
static void quarantine(void)
{
	struct vgpu_ctl_sched one = { .quarantine_faults = 1, .quarantine_backoff_ms = 600000 };
	struct vgpu_chan *chan, *next;
	unsigned int i;

	fx_need("execute packets");
	tune_set(&one, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	next = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	for (i = 1; i <= 4; i++) {
		hang_once(chan);
		fx_again(chan);
		FX_SOON(fx_quarantined(&v));
		pause_vgpu(&v);
		CHECK(fx_quarantined(&v) && is_paused(&v), "");
		FX_OK(v.dev, vgpu_chan_fill(next, VGPU_FB(A), i, BYTES));
		if (i & 1)
			resume_vgpu(&v);
		else
			fx_release(&v);
		CHECK_EQ(is_paused(&v), !(i & 1));
		CHECK_EQ(fx_quarantined(&v), i & 1);
		clk_sleep_ms(50);
		fx_check_words(v.dev->fb + A, BYTES, i - 1);
		if (i & 1)
			fx_release(&v);
		else
			resume_vgpu(&v);
		fx_finish(next);
		fx_check_words(v.dev->fb + A, BYTES, i);
	}
}

/**
 * struct bully - a thread that pauses and resumes vGPUs as often as it can, whatever it is told
 * @vgpu:  UUIDs of the vGPUs, one after the other
 * @at:    the vGPU that there is now
 * @done:  calls that succeeded
 * @wrong: a call failed with this errno, for which there is no reason
 */
struct bully {
	const struct fx_vgpu *vgpu;
	atomic_uint at;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint done;
	atomic_int wrong;
};

static void *bully_run(void *arg)
{
	struct bully *b = arg;
	unsigned int i;
	int ret;

	for (i = 0; !b->stop; i++) {
		/* Not open, not there, or another thread has resumed it. */
		ret = fx_debugfs(&b->vgpu[b->at], i % 3 ? "resume" : "pause");
		if (!ret)
			b->done++;
		else if (ret != -ENODEV && (ret != -EINVAL || !(i % 3)))
			b->wrong = -ret;
	}
	return NULL;
}

/* Opens, closes and removals while others pause and resume: none leaves a pause behind. */
static void close_and_removal(void)
{
	static struct fx_vgpu names[11];
	struct bully bully[2] = { 0 };
	struct vgpu_chan *chan;
	unsigned int i, k;

	fx_need("execute packets");
	fx_create(&v, "1Q");
	names[0] = v;
	for (i = 0; i < 2; i++) {
		bully[i].vgpu = names;
		CHECK(!pthread_create(&bully[i].thread, NULL, bully_run, &bully[i]), "");
	}
	for (i = 0; i < 60; i++) {
		fx_open(&v);
		chan = counting_chan();
		count(chan);
		if (i % 3)
			fx_finish(chan);
		fx_close(&v);
		if (i % 6 == 5) {
			fx_remove(&v);
			fx_create(&v, "1Q");
			names[i / 6 + 1] = v;
			for (k = 0; k < 2; k++)
				bully[k].at = i / 6 + 1;
		}
	}
	for (i = 0; i < 2; i++) {
		bully[i].stop = true;
		pthread_join(bully[i].thread, NULL);
		CHECK_EQ(bully[i].wrong, 0, "%s", strerror(bully[i].wrong));
		CHECK(bully[i].done, "");
	}
	fx_open(&v);
	CHECK(!is_paused(&v), "");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(refusals),
	KTAP_TEST(stands_still),
	KTAP_TEST(guest_goes_on),
	KTAP_TEST(no_packet_is_lost_or_doubled),
	KTAP_TEST(faults_are_the_same),
	KTAP_TEST(memory_that_does_not_answer),
	KTAP_TEST(container_that_is_locked),
	KTAP_TEST(beside_everything),
	KTAP_TEST(quarantine),
	KTAP_TEST(close_and_removal),
};

KTAP_MAIN(tests, tune_cleanup)
