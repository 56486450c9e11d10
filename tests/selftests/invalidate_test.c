// SPDX-License-Identifier: GPL-2.0
/*
 * INVALIDATE_PAGES: translations go, decoded programs stay. What INVALIDATE does to translations is
 * in space_sync_test and space_storm_test, which use either register.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "compute.h"
#include "silent.h"
#include "space.h"

#define PAGES		(VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE_PAGES)
#define DATA_VA		0x140000000ull
#define DATA		(8 * FX_MIB)
#define OTHER		(DATA + PAGE)
#define WORDS		1024u
#define ROUNDS		16u

/* Adds 1 to the word of each work-item. */
static const uint32_t count[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 2),
	RV_ADD(RV_A0, RV_A0, RV_T0), RV_LW(RV_T1, 0, RV_A0),
	RV_ADDI(RV_T1, RV_T1, 1), RV_SW(RV_T1, 0, RV_A0), RV_RET,
};

static struct fx_vgpu other;

static void begin(void)
{
	chan = compute_load_in_space(count, sizeof(count) / 4, 64);
	space_map_page(DATA_VA, DATA, RW);
}

static void invalidate_pages(uint32_t root)
{
	FX_OK(v.dev, vgpu_reg_write32(v.dev, PAGES, root));
}

static void dispatch(void)
{
	compute_dispatch_head(chan, COMPUTE_HEAD_VA, DATA_VA, COMPUTE_SIZE(WORDS, 1, 1),
			      COMPUTE_SIZE(64, 1, 1), 0);
}

static void check_decoded(uint64_t times, uint64_t found)
{
	CHECK_EQ(compute_counter(&v, "program_misses "), times);
	CHECK_EQ(compute_counter(&v, "program_hits "), found);
}

static void the_register(void)
{
	static const uint32_t bad[] = { 1, 0x7fffffff, 0x00001000, 0x40000000 };
	uint64_t value = 0;
	unsigned int i;

	fx_need("address spaces");
	fx_create_open(&v, fx_default_type());
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(vgpu_reg_write32(v.dev, PAGES, bad[i]), -EINVAL, "%#x", bad[i]);
	FX_OK(v.dev, vgpu_reg_write32(v.dev, PAGES, 0));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, PAGES, ~0u));
	for (i = 1; i <= 8; i *= 2) {
		CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, PAGES, &value, i), -ENXIO);
		if (i != 4)
			CHECK_EQ(vgpu_region_write(v.dev, VGPU_HW_BAR_REGS, PAGES, &value, i),
				 -EINVAL);
	}
}

/* A data buffer that is unmapped and mapped elsewhere: the program is decoded once. */
static void programs_stay(void)
{
	unsigned int i;

	begin();
	for (i = 1; i <= ROUNDS; i++) {
		dispatch();
		fx_finish(chan);
		fx_check_words(v.dev->fb + DATA, PAGE, (i + 1) / 2);
		fx_check_words(v.dev->fb + OTHER, PAGE, i / 2);
		check_decoded(1, i - 1);
		FX_OK(v.dev, vgpu_space_unmap(space, DATA_VA, PAGE));
		space_map_page(DATA_VA, i & 1 ? OTHER : DATA, RW);
		invalidate_pages(space->root);
	}
	/* Also of another address space, and of none. */
	invalidate_pages(0);
	invalidate_pages(VGPU_HW_ROOT_VALID | 1);
	dispatch();
	fx_finish(chan);
	check_decoded(1, ROUNDS);
	compute_invalidate(&v, space->root);
	dispatch();
	fx_finish(chan);
	check_decoded(2, ROUNDS);
}

/* What is unmapped is gone when the write returns, also for a program that runs. */
static void a_running_program_faults(void)
{
	static const uint32_t store[] = { RV_SW(RV_ZERO, 0, RV_A0), RV_J(-4) };

	chan = compute_load_in_space(store, 2, 64);
	space_map_page(DATA_VA, DATA, RW);
	compute_dispatch_head(chan, COMPUTE_HEAD_VA, DATA_VA, COMPUTE_ONE, COMPUTE_ONE, 0);
	FX_SOON(compute_counter(&v, "instructions ") > 0);
	invalidate_pages(space->root);
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_AWAKE);
	FX_OK(v.dev, vgpu_space_unmap(space, DATA_VA, PAGE));
	invalidate_pages(space->root);
	memset(v.dev->fb + DATA, 0xff, 4);
	compute_check_fault(chan, VGPU_HW_FAULT_PAGE, DATA_VA, VGPU_HW_VA_IMAGE,
			    COMPUTE_SIZE(0, 0, 0), "after INVALIDATE_PAGES");
	fx_check_words(v.dev->fb + DATA, 4, ~0u);
}

/* An access to guest memory that never answers is made again by the new translation. */
static void guest_memory_is_accessed_anew(void)
{
	uint64_t at = SILENT_IOVA;
	const struct vgpu_buf silent = { .bytes = PAGE, .iova = at, .pages = &at };

	silent_need();
	space_make();
	silent_map(&v);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, PAGE, &buf));
	memset(buf.ptr, 0x5a, PAGE);
	space_map(DATA_VA, VGPU_SYS(&silent, 0), PAGE, VGPU_HW_PTE_R);
	space_map_page(DATA_VA + PAGE, DATA, RW);
	chan = fx_chan_in(space, VGPU_HW_ENGINE_CE, 0, RING_VA, 4);
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_VA(DATA_VA + PAGE), VGPU_VA(DATA_VA), PAGE));
	silent_wait(&v, chan->engine);
	space_map(DATA_VA, VGPU_SYS(&buf, 0), PAGE, VGPU_HW_PTE_R);
	invalidate_pages(space->root);
	fx_finish(chan);
	fx_check_words(v.dev->fb + DATA, PAGE, 0x5a5a5a5a);
	silent_answer();
	silent_unmap();
}

static atomic_bool stop;
static atomic_uint storms;

static void *storm(void *arg)
{
	(void)arg;
	while (!stop) {
		if (vgpu_reg_write32(v.dev, PAGES, storms % 4 ? space->root : 0))
			break;
		storms++;
	}
	return NULL;
}

/*
 * Three threads write the register as fast as they can: each dispatch begins and is right, the
 * program is decoded once, copies from guest memory arrive, another vGPU has its engine.
 */
static void in_a_storm(void)
{
	struct vgpu_chan *neighbour, *copy;
	pthread_t thread[3];
	unsigned int i;

	neighbour = compute_neighbour(&other);
	begin();
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, PAGE, &buf));
	copy = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	stop = false;
	storms = 0;
	for (i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, storm, NULL), "");
	for (i = 1; i <= 200; i++) {
		dispatch();
		memset(buf.ptr, (int)(i & 0xff), PAGE);
		FX_OK(v.dev, vgpu_chan_copy(copy, VGPU_FB(OTHER), VGPU_SYS(&buf, 0), PAGE));
		fx_finish(copy);
		fx_check_words(v.dev->fb + OTHER, PAGE, (i & 0xff) * 0x01010101u);
		fx_finish(chan);
		fx_check_words(v.dev->fb + DATA, PAGE, i);
		compute_check_sum(neighbour, i, 7);
	}
	CHECK(storms > 100, "%u invalidations", storms);
	stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	ktap_note("%u invalidations", storms);
	check_decoded(1, 199);
}

static void cleanup(void)
{
	stop = true;
	space_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(the_register),
	KTAP_TEST(programs_stay),
	KTAP_TEST(a_running_program_faults),
	KTAP_TEST(guest_memory_is_accessed_anew),
	KTAP_TEST(in_a_storm),
};

KTAP_MAIN(tests, cleanup)
