// SPDX-License-Identifier: GPL-2.0
/*
 * Two vGPUs on one engine: a packet that takes long is preempted while it executes and later
 * goes on where it was; meanwhile the other vGPU gets its turns.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "soft.h"

/* Rows of 4 bytes, each in a region of its own; what they copy is a page. */
#define ROWS		1024u
#define ROW_PITCH	(32u * (unsigned int)FX_MIB + 4)
#define ROWS_TO_VA	(64 * FX_GIB)
#define ROWS_FROM_VA	(128 * FX_GIB)
#define ROWS_GOT_VA	(192 * FX_GIB)	/* a page for each copy: what it left */
#define ROWS_RING_VA	(FX_GIB)
#define ROWS_COPIES	60u
#define TRIES		10
#define JOB_BYTES	(4 * FX_MIB)	/* of the neighbour, whose ring lasts for slices */

static struct fx_vgpu hog, other;
static uint64_t rows_from;	/* where the page that is copied by rows lies */

/* Bytes of the long fill: 1 GiB (VGPU_TEST_FILL_MB), if vGPU and machine have the memory. */
static uint64_t fill_bytes(uint64_t fb_bytes)
{
	uint64_t bytes = fx_env("VGPU_TEST_FILL_MB", 1024) << 20;
	uint64_t most = fx_memory_bytes() / 2 & ~(FX_MIB - 1);

	if (bytes > most)
		bytes = most;
	if (bytes > fb_bytes - FX_MIB)
		bytes = fb_bytes - FX_MIB;
	return bytes;
}

static void check_filled(const struct fx_vgpu *v, uint64_t at, uint64_t bytes, uint32_t value)
{
	const uint32_t *words = (const void *)(v->dev->fb + at);
	uint64_t i;

	/* Every word of the first and the last page, one word of each page between. */
	for (i = 0; i < bytes / 4; i += i < 1024 || i > bytes / 4 - 1024 ? 1 : 1024)
		CHECK_EQ(words[i], value, "word %llu", (unsigned long long)i);
}

/*
 * Fills by @big, and does a job of @small after the other beside it. Returns false if the fill was
 * work for many slices, and it is not to be seen that another vGPU wanted the engine, too.
 */
static bool fill_beside_jobs(struct vgpu_chan *big, struct vgpu_chan *small, uint64_t bytes,
			     uint32_t value)
{
	uint64_t fence, mine, start, preemptions, done_before = 0;
	struct vgpu_ctl_instance before, after;
	struct vgpu_ctl_gpu gpu;

	fx_instance(&hog, &before);
	fx_ctl_gpu(&gpu);
	start = clk_ms();
	FX_OK(hog.dev, vgpu_chan_fill(big, VGPU_FB(FX_MIB), value, bytes));
	FX_OK(hog.dev, vgpu_chan_fence(big, &fence));
	while (le64toh(__atomic_load_n(big->signal, __ATOMIC_ACQUIRE)) < fence) {
		FX_OK(other.dev, vgpu_chan_fill(small, VGPU_FB(FX_MIB),
						(uint32_t)done_before, 4096));
		FX_OK(other.dev, vgpu_chan_fence(small, &mine));
		FX_OK(other.dev, vgpu_chan_wait(small, mine, FX_TIMEOUT_MS));
		done_before++;
		CHECK(clk_ms() - start < 5 * FX_TIMEOUT_MS,
		      "the fill does not end: %s", vgpu_dev_error(hog.dev));
		CHECK(vgpu_chan_state(big) != VGPU_HW_STATE_FAULTED, "%s", vgpu_dev_error(hog.dev));
	}
	fx_instance(&hog, &after);
	preemptions = after.engine[big->engine].preemptions -
		      before.engine[big->engine].preemptions;
	ktap_note("%llu MiB in %llu ms, %llu jobs of the other beside it, %llu preemptions, %llu overruns, max %llu us past the slice",
		  (unsigned long long)(bytes >> 20), (unsigned long long)(clk_ms() - start),
		  (unsigned long long)done_before, (unsigned long long)preemptions,
		  after.engine[big->engine].overruns - before.engine[big->engine].overruns,
		  after.engine[big->engine].max_overrun_ns / 1000);
	check_filled(&hog, FX_MIB, bytes, value);
	CHECK_EQ(after.faults, before.faults);
	CHECK_EQ(after.engine[big->engine].resets, before.engine[big->engine].resets);
	return after.engine[big->engine].busy_ns -
	       before.engine[big->engine].busy_ns <= 4 * gpu.slice_ns ||
	       (preemptions && done_before > 1);
}

/* The other has no job while this process is off its processor: then it is tried again. */
static void long_fill_is_preempted(void)
{
	struct vgpu_chan *big, *small;
	unsigned int tries;
	uint64_t bytes;

	fx_create_open(&hog, "2Q");
	fx_create_open(&other, "1Q");
	big = fx_chan(&hog, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	small = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	bytes = fill_bytes(hog.dev->fb_bytes);
	for (tries = 1; !fill_beside_jobs(big, small, bytes, 0xc0ffee11 + tries); tries++)
		CHECK(tries < TRIES, "not preempted, or the other starved");
	vgpu_chan_destroy(big);
	vgpu_chan_destroy(small);
}

/* All rows of a surface lie in the page at @at, one after the other. */
static void map_rows(struct vgpu_space *space, uint64_t va, uint64_t at)
{
	unsigned int i;

	for (i = 0; i < ROWS; i++)
		FX_OK(hog.dev, vgpu_space_map(space, (va + i * (uint64_t)ROW_PITCH) & ~4095ull,
					      VGPU_FB(at), 4096, VGPU_HW_PTE_R | VGPU_HW_PTE_W));
}

/* Copies of rows; what each has left is copied to a page of its own. */
static void submit_rows(struct vgpu_chan *rows)
{
	unsigned int i;

	for (i = 0; i < ROWS_COPIES; i++) {
		FX_OK(hog.dev, vgpu_chan_fill(rows, VGPU_VA(ROWS_TO_VA), ~i, 4096));
		FX_OK(hog.dev, vgpu_chan_copy2d(rows, VGPU_VA(ROWS_TO_VA), ROW_PITCH,
						VGPU_VA(ROWS_FROM_VA), ROW_PITCH, 4, ROWS));
		FX_OK(hog.dev, vgpu_chan_copy(rows, VGPU_VA(ROWS_GOT_VA + i * 4096ull),
					      VGPU_VA(ROWS_TO_VA), 4096));
	}
}

/* The neighbour is not to run out of work while this process is off its processor. */
static void keep_busy(struct vgpu_chan *small)
{
	while (small->put - vgpu_chan_get(small) < 15)
		FX_OK(other.dev, vgpu_chan_fill(small, VGPU_FB(FX_MIB), (uint32_t)small->put,
						JOB_BYTES));
}

/*
 * Waits for the rows, and checks them. Returns how many jobs the neighbour was seen to complete
 * meanwhile; it may have completed more. Only this process gives it work: so where there is some at
 * each look it has not been without, and otherwise *@ran_out is set.
 */
static uint64_t finish_rows(struct vgpu_chan *rows, struct vgpu_chan *small, uint64_t got,
			    bool *ran_out)
{
	uint64_t before = vgpu_chan_get(small), now = before, end = clk_ms() + FX_TIMEOUT_MS, fence;
	uint64_t jobs = 0;
	unsigned int i;

	FX_OK(hog.dev, vgpu_chan_fence(rows, &fence));
	while (le64toh(__atomic_load_n(rows->signal, __ATOMIC_ACQUIRE)) < fence) {
		jobs = now - before;
		*ran_out |= vgpu_chan_get(small) == small->put;
		keep_busy(small);
		now = vgpu_chan_get(small);
		CHECK(vgpu_chan_state(rows) != VGPU_HW_STATE_FAULTED, "%s",
		      vgpu_dev_error(hog.dev));
		CHECK(clk_ms() < end, "the rows do not end");
		clk_sleep_ns(100000);
	}
	*ran_out |= vgpu_chan_get(small) == small->put;
	for (i = 0; i < ROWS_COPIES; i++)
		CHECK(!memcmp(hog.dev->fb + rows_from, hog.dev->fb + got + i * 4096ull, 4096),
		      "copy %u has left rows out", i);
	return jobs;
}

/*
 * The same with copies of which each word is found by two walks through page tables: none leaves a
 * row out, and the neighbour gets its turns. (How long the engine goes without a look at the clock
 * is what tests/unit/test_engine_clock.c is about.) Both are to have work all the time, but either
 * runs out of it while this process is off its processor, so turns are to be seen once, and in a
 * round in which the neighbour is known to have had work nearly always: the machine may stand still
 * in the last of the rows.
 */
static void rows_far_apart(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *rows, *small;
	uint64_t got, jobs, preemptions, busy_ns, end;
	unsigned int i, starved = 0;
	struct vgpu_space *space;
	struct vgpu_ctl_gpu gpu;
	bool ran_out;

	fx_need("execution");
	fx_create_open(&hog, "1Q");
	fx_create_open(&other, "1Q");
	FX_OK(hog.dev, vgpu_space_create(hog.dev, &space));
	rows = fx_chan_in(space, VGPU_HW_ENGINE_CE, 0, ROWS_RING_VA, 8);
	small = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	CHECK_EQ(small->engine, rows->engine);
	rows_from = fx_fb(&hog, 2 * 4096, 4096);
	map_rows(space, ROWS_FROM_VA, rows_from);
	map_rows(space, ROWS_TO_VA, rows_from + 4096);
	got = fx_fb(&hog, ROWS_COPIES * 4096, 4096);
	FX_OK(hog.dev, vgpu_space_map(space, ROWS_GOT_VA, VGPU_FB(got), ROWS_COPIES * 4096,
				      VGPU_HW_PTE_R | VGPU_HW_PTE_W));
	for (i = 0; i < ROWS; i++)
		((uint32_t *)(hog.dev->fb + rows_from))[i] = i * 2654435761u;
	fx_ctl_gpu(&gpu);
	end = clk_ms() + FX_TIMEOUT_MS;
	do {
		CHECK(clk_ms() < end, "the other starves, or has to wait until all rows are done");
		keep_busy(small);
		fx_instance(&hog, &before);
		submit_rows(rows);
		ran_out = false;
		jobs = finish_rows(rows, small, got, &ran_out);
		memset(hog.dev->fb + got, 0, ROWS_COPIES * 4096);
		fx_instance(&hog, &after);
		preemptions = after.engine[rows->engine].preemptions -
			      before.engine[rows->engine].preemptions;
		busy_ns = after.engine[rows->engine].busy_ns - before.engine[rows->engine].busy_ns;
		starved += !ran_out && busy_ns >= 4 * gpu.slice_ns && !preemptions;
		CHECK(starved < 3, "the other had work and no turn");
		ktap_note("%u rows in %llu us, %llu jobs of the other beside them, %llu preemptions, max %llu us past the slice",
			  ROWS * ROWS_COPIES, (unsigned long long)busy_ns / 1000,
			  (unsigned long long)jobs,
			  (unsigned long long)preemptions,
			  after.engine[rows->engine].max_overrun_ns / 1000);
	} while (!jobs || !preemptions);
	vgpu_chan_destroy(rows);
	vgpu_chan_destroy(small);
	vgpu_space_destroy(space);
}

/* Two vGPUs run long packets of all kinds, and the results of both are right. */
static void both_long(void)
{
	const uint64_t bytes = 48 * FX_MIB;
	struct fx_vgpu *v[2] = { &hog, &other };
	struct vgpu_chan *chan[2];
	struct vgpu_buf buf[2];
	uint64_t fence[2];
	unsigned int i, round;

	for (i = 0; i < 2; i++) {
		fx_create_open(v[i], "1Q");
		chan[i] = fx_chan(v[i], VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
		FX_OK(v[i]->dev, vgpu_buf_alloc(v[i]->dev, 4 * FX_MIB, &buf[i]));
	}
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2; i++) {
			uint32_t value = 0x01010101u * (1 + i + 2 * round);

			FX_OK(v[i]->dev, vgpu_chan_fill(chan[i], VGPU_FB(FX_MIB), value, bytes));
			FX_OK(v[i]->dev, vgpu_chan_copy(chan[i], VGPU_FB(FX_MIB + bytes),
							VGPU_FB(FX_MIB), bytes));
			FX_OK(v[i]->dev, vgpu_chan_copy(chan[i], VGPU_SYS(&buf[i], 0),
							VGPU_FB(2 * bytes - 3 * FX_MIB),
							4 * FX_MIB));
			FX_OK(v[i]->dev, vgpu_chan_fence(chan[i], &fence[i]));
		}
		for (i = 0; i < 2; i++) {
			uint32_t value = 0x01010101u * (1 + i + 2 * round);

			FX_OK(v[i]->dev, vgpu_chan_wait(chan[i], fence[i], FX_TIMEOUT_MS));
			check_filled(v[i], FX_MIB, 2 * bytes, value);
			CHECK_EQ(*(uint32_t *)buf[i].ptr, value);
			CHECK(!memcmp(buf[i].ptr, (char *)buf[i].ptr + 4,
				      4 * FX_MIB - 4), "guest memory");
		}
	}
	for (i = 0; i < 2; i++) {
		vgpu_chan_destroy(chan[i]);
		vgpu_buf_free(&buf[i]);
	}
}

/* A GPU that has those two vGPUs: what each and the engines did, all at one time. */
static void read_both(struct vgpu_ctl_stats *stats, struct vgpu_ctl_instance of[2])
{
	int ret = node_stats(fx_control(), fx_gpu_id(), stats, of, 2);

	CHECK(!ret, "VGPU_IOC_STATS: %s", strerror(-ret));
	CHECK_EQ(stats->count, 2);
}

/* The services of all vGPUs add up to the time that the engine says it was busy. */
static void service_adds_up(void)
{
	struct vgpu_ctl_instance of[2], of_before[2], of_later[2];
	struct vgpu_ctl_stats before, after, later;
	uint64_t fence, sum = 0, busy_ns, start_ns;
	struct vgpu_chan *chan[2];
	struct vgpu_ctl_gpu gpu;
	unsigned int i, gr;

	fx_create_open(&hog, "1Q");
	fx_create_open(&other, "1Q");
	chan[0] = fx_chan(&hog, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	chan[1] = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	gr = chan[0]->engine;
	start_ns = clk_ns();
	read_both(&before, of_before);
	for (i = 0; i < 40; i++)
		FX_OK(chan[i % 2]->dev, vgpu_chan_fill(chan[i % 2], VGPU_FB(FX_MIB), i,
						       32 * FX_MIB));
	for (i = 0; i < 2; i++) {
		FX_OK(chan[i]->dev, vgpu_chan_fence(chan[i], &fence));
		FX_OK(chan[i]->dev, vgpu_chan_wait(chan[i], fence, FX_TIMEOUT_MS));
	}
	FX_OK(hog.dev, vgpu_chan_disable(chan[0]));
	FX_OK(other.dev, vgpu_chan_disable(chan[1]));
	/* The engine may still look for more work at the end of its last turn. */
	read_both(&after, of);
	fx_ctl_gpu(&gpu);
	read_both(&later, of_later);
	busy_ns = after.engine[gr].busy_ns - before.engine[gr].busy_ns;
	for (i = 0; i < 2; i++)
		sum += of[i].engine[gr].busy_ns - of_before[i].engine[gr].busy_ns;
	ktap_note("%llu us + %llu us, engine %llu us of %llu us", of[0].engine[gr].busy_ns / 1000,
		  of[1].engine[gr].busy_ns / 1000, (unsigned long long)busy_ns / 1000,
		  (after.now_ns - start_ns) / 1000);
	CHECK_EQ(busy_ns, sum);
	CHECK(busy_ns <= after.now_ns - start_ns, "busier than the clock");
	for (i = 0; i < 2; i++)
		CHECK(of[i].engine[gr].busy_ns > of_before[i].engine[gr].busy_ns,
		      "vGPU %u was charged nothing", i);
	/* The same of the GPU alone. */
	CHECK(gpu.engine[gr].busy_ns >= after.engine[gr].busy_ns &&
	      gpu.engine[gr].busy_ns <= later.engine[gr].busy_ns, "%llu", gpu.engine[gr].busy_ns);
	vgpu_chan_destroy(chan[0]);
	vgpu_chan_destroy(chan[1]);
}

/* The sum of the numbers in a file of the engine in debugfs. */
static uint64_t debugfs_sum(const char *engine, const char *file)
{
	char path[256], text[512], *at = text, *end;
	uint64_t sum = 0;

	CHECK(!soft_path(fx_gpu(), engine, file, path, sizeof(path)), "no %s", file);
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	for (;;) {
		sum += strtoull(at, &end, 10);
		if (end == at || !*end)
			return sum;
		at = end;
	}
}

/* The engine's own count of switches between vGPUs, against the scheduler's. */
static void switches_are_counted(void)
{
	uint64_t switches = debugfs_sum("gr", "switches"), of_both = 0, fence;
	uint64_t switch_ns = debugfs_sum("gr", "switch_ns"), sum_ns = 0;
	struct fx_vgpu *both[2] = { &hog, &other };
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan[2];
	unsigned int i, job;

	for (i = 0; i < 2; i++) {
		fx_create_open(both[i], "1Q");
		chan[i] = fx_chan(both[i], VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 10);
	}
	for (job = 0; job < 60; job++)
		for (i = 0; i < 2; i++)
			FX_OK(chan[i]->dev, vgpu_chan_fill(chan[i], VGPU_FB(FX_MIB), job,
							   16 * FX_MIB));
	for (i = 0; i < 2; i++) {
		FX_OK(chan[i]->dev, vgpu_chan_fence(chan[i], &fence));
		FX_OK(chan[i]->dev, vgpu_chan_wait(chan[i], fence, FX_TIMEOUT_MS));
		FX_OK(chan[i]->dev, vgpu_chan_disable(chan[i]));
	}
	clk_sleep_ms(50);
	for (i = 0; i < 2; i++) {
		fx_instance(both[i], &inst);
		of_both += inst.engine[chan[i]->engine].switches;
		sum_ns += inst.engine[chan[i]->engine].busy_ns;
	}
	switches = debugfs_sum("gr", "switches") - switches;
	switch_ns = debugfs_sum("gr", "switch_ns") - switch_ns;
	ktap_note("%llu switches, %llu of them without a pause, of %llu ns each",
		  (unsigned long long)of_both, (unsigned long long)switches,
		  (unsigned long long)(switch_ns / (switches ? switches : 1)));
	CHECK(switches, "none");
	CHECK(switches <= of_both, "more than the scheduler's");
	CHECK(switch_ns && switch_ns < sum_ns, "of %llu ns of service", (unsigned long long)sum_ns);
	CHECK_EQ(debugfs_sum("gr", "switch_hist"), debugfs_sum("gr", "switches"));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(long_fill_is_preempted),
	KTAP_TEST(rows_far_apart),
	KTAP_TEST(both_long),
	KTAP_TEST(service_adds_up),
	KTAP_TEST(switches_are_counted),
};

KTAP_MAIN(tests, fx_cleanup)
