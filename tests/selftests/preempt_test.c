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

static struct fx_vgpu hog, other;

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

static void long_fill_is_preempted(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *big, *small;
	uint64_t bytes, fence, mine, start, done_before = 0;
	struct vgpu_ctl_gpu gpu;

	fx_create_open(&hog, "2Q");
	fx_create_open(&other, "1Q");
	big = fx_chan(&hog, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	small = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	bytes = fill_bytes(hog.dev->fb_bytes);
	fx_instance(&hog, &before);
	fx_ctl_gpu(&gpu);
	start = clk_ms();
	FX_OK(hog.dev, vgpu_chan_fill(big, VGPU_FB(FX_MIB), 0xc0ffee11, bytes));
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
	ktap_note("%llu MiB in %llu ms, %llu jobs of the other beside it, %llu preemptions, %llu overruns, max %llu us past the slice",
		  (unsigned long long)(bytes >> 20), (unsigned long long)(clk_ms() - start),
		  (unsigned long long)done_before,
		  after.engine[big->engine].preemptions - before.engine[big->engine].preemptions,
		  after.engine[big->engine].overruns - before.engine[big->engine].overruns,
		  after.engine[big->engine].max_overrun_ns / 1000);
	check_filled(&hog, FX_MIB, bytes, 0xc0ffee11);
	CHECK_EQ(after.faults, before.faults);
	/* If that was work for many slices: another vGPU wanted the engine, too. */
	if (after.engine[big->engine].busy_ns -
	    before.engine[big->engine].busy_ns > 4 * gpu.slice_ns) {
		CHECK(after.engine[big->engine].preemptions >
		      before.engine[big->engine].preemptions, "none");
		CHECK(done_before > 1, "the other starved");
	}
	CHECK_EQ(after.engine[big->engine].resets, before.engine[big->engine].resets);
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

/*
 * The same with copies of which each word is found by two walks through page tables: none leaves a
 * row out, and the neighbour gets its turns. (How long the engine goes without a look at the clock
 * is what tests/unit/test_engine_clock.c is about.)
 */
static void rows_far_apart(void)
{
	struct vgpu_ctl_instance before, after;
	uint64_t fence, mine, busy_ns, jobs = 0, at, got;
	struct vgpu_chan *rows, *small;
	struct vgpu_space *space;
	struct vgpu_ctl_gpu gpu;
	uint32_t *words;
	unsigned int i;

	fx_need("execution");
	fx_create_open(&hog, "1Q");
	fx_create_open(&other, "1Q");
	FX_OK(hog.dev, vgpu_space_create(hog.dev, &space));
	rows = fx_chan_in(space, VGPU_HW_ENGINE_CE, 0, ROWS_RING_VA, 8);
	small = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	CHECK_EQ(small->engine, rows->engine);
	at = fx_fb(&hog, 2 * 4096, 4096);
	map_rows(space, ROWS_FROM_VA, at);
	map_rows(space, ROWS_TO_VA, at + 4096);
	got = fx_fb(&hog, ROWS_COPIES * 4096, 4096);
	FX_OK(hog.dev, vgpu_space_map(space, ROWS_GOT_VA, VGPU_FB(got), ROWS_COPIES * 4096,
				      VGPU_HW_PTE_R | VGPU_HW_PTE_W));
	words = (uint32_t *)(hog.dev->fb + at);
	for (i = 0; i < ROWS; i++)
		words[i] = i * 2654435761u;
	fx_instance(&hog, &before);
	for (i = 0; i < ROWS_COPIES; i++) {
		FX_OK(hog.dev, vgpu_chan_fill(rows, VGPU_VA(ROWS_TO_VA), ~i, 4096));
		FX_OK(hog.dev, vgpu_chan_copy2d(rows, VGPU_VA(ROWS_TO_VA), ROW_PITCH,
						VGPU_VA(ROWS_FROM_VA), ROW_PITCH, 4, ROWS));
		FX_OK(hog.dev, vgpu_chan_copy(rows, VGPU_VA(ROWS_GOT_VA + i * 4096ull),
					      VGPU_VA(ROWS_TO_VA), 4096));
	}
	FX_OK(hog.dev, vgpu_chan_fence(rows, &fence));
	while (le64toh(__atomic_load_n(rows->signal, __ATOMIC_ACQUIRE)) < fence) {
		FX_OK(other.dev, vgpu_chan_fence(small, &mine));
		FX_OK(other.dev, vgpu_chan_wait(small, mine, FX_TIMEOUT_MS));
		jobs++;
		CHECK(vgpu_chan_state(rows) != VGPU_HW_STATE_FAULTED, "%s",
		      vgpu_dev_error(hog.dev));
	}
	fx_instance(&hog, &after);
	fx_ctl_gpu(&gpu);
	busy_ns = after.engine[rows->engine].busy_ns - before.engine[rows->engine].busy_ns;
	ktap_note("%u rows in %llu us, %llu jobs of the other beside them, %llu preemptions, max %llu us past the slice",
		  ROWS * ROWS_COPIES, (unsigned long long)busy_ns / 1000, (unsigned long long)jobs,
		  after.engine[rows->engine].preemptions - before.engine[rows->engine].preemptions,
		  after.engine[rows->engine].max_overrun_ns / 1000);
	for (i = 0; i < ROWS_COPIES; i++)
		CHECK(!memcmp(words, hog.dev->fb + got + i * 4096ull, 4096),
		      "copy %u has left rows out", i);
	CHECK(jobs > 1 || busy_ns < 4 * gpu.slice_ns, "the other starved");
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

/* The services of all vGPUs add up to the time that the engine says it was busy. */
static void service_adds_up(void)
{
	struct vgpu_ctl_instance a, b;
	struct vgpu_chan *chan[2];
	struct vgpu_ctl_gpu before, after;
	uint64_t fence, sum;
	unsigned int i, gr;

	fx_create_open(&hog, "1Q");
	fx_create_open(&other, "1Q");
	chan[0] = fx_chan(&hog, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	chan[1] = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	gr = chan[0]->engine;
	fx_ctl_gpu(&before);
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
	clk_sleep_ms(50);
	fx_instance(&hog, &a);
	fx_instance(&other, &b);
	fx_ctl_gpu(&after);
	sum = a.engine[gr].busy_ns + b.engine[gr].busy_ns;
	ktap_note("%llu us + %llu us, engine %llu us of %llu us",
		  a.engine[gr].busy_ns / 1000, b.engine[gr].busy_ns / 1000,
		  (after.engine[gr].busy_ns - before.engine[gr].busy_ns) / 1000,
		  (after.now_ns - before.now_ns) / 1000);
	CHECK(after.engine[gr].busy_ns - before.engine[gr].busy_ns <=
	      after.now_ns - before.now_ns, "busier than the clock");
	CHECK(sum <= after.now_ns - before.now_ns, "more than there was");
	CHECK(sum, "nothing was charged");
	CHECK_EQ(after.engine[gr].busy_ns - before.engine[gr].busy_ns, sum);
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
