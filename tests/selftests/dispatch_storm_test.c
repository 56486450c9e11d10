// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of a guest that pulls everything from under them while they run: pages, page tables,
 * code, channels, the device. Nothing of it reaches memory that is not theirs, or a neighbour; and
 * nothing stays behind.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <pthread.h>
#include <libvgpu_elf.h>

#include "compute.h"
#include "rng.h"
#include "space.h"

#define DATA_VA		0x122000000ull	/* two pages, which may move */
#define SEEN_VA		(DATA_VA + 0x1000000)

static struct fx_vgpu other;

static struct vgpu_chan *begin(const uint32_t *words, uint32_t nr)
{
	fx_need_no_quarantine();
	return compute_load_in_space(words, nr, 64);
}

#define BEGIN(words)	begin(words, sizeof(words) / sizeof((words)[0]))

/*
 * For ever: counts, stores the count in each way that stores are made, and tells what is in the
 * second page of the data. a0 is DATA_VA.
 */
static const uint32_t busy[] = {
	RV_LUI(RV_A1, 0x1000), RV_ADD(RV_A1, RV_A1, RV_A0),
	RV_LUI(RV_A2, 1), RV_ADD(RV_A2, RV_A0, RV_A2),
	RV_CSRR(RV_A3, VGPU_HW_CSR_LOCAL_ID), RV_SLLI(RV_A4, RV_A3, 3),
	RV_ADD(RV_A4, RV_A4, RV_A0),			/* a row */
	RV_MUL(RV_A5, RV_A3, RV_A3), RV_SLLI(RV_A5, RV_A5, 1),
	RV_ADD(RV_A5, RV_A5, RV_A0),			/* misaligned, all over the page */
	RV_LI(RV_T1, 0),
	RV_ADDI(RV_T1, RV_T1, 1),			/* 11: */
	RV_SD(RV_T1, 0, RV_A0),
	RV_SD(RV_T1, 256, RV_A4),
	RV_SD(RV_T1, 1024, RV_A5),
	RV_ADDI(RV_T2, RV_A4, 512), RV_AMOADD_D(RV_T0, RV_T1, RV_T2),
	RV_LW(RV_T2, 0, RV_A2), RV_SW(RV_T2, 0, RV_A1), RV_SD(RV_T1, 8, RV_A1),
	RV_J(-36),
};

struct busy_out {
	uint32_t seen;
	uint32_t pad;
	uint64_t count;
};

static void wait_for_rounds(const volatile struct busy_out *out, unsigned int nr)
{
	uint64_t from = out->count;

	FX_SOON(out->count > from + nr || out->count < from, "the program stands still");
}

/* What is unmapped and invalidated is the guest's again, whatever runs. */
static void pages_move(void)
{
	struct vgpu_chan *chan = BEGIN(busy);
	uint64_t at = fx_fb(&v, 5 * PAGE, PAGE), mine, theirs;
	volatile struct busy_out *out;
	struct vgpu_fault fault;
	uint32_t round;

	out = (void *)(v.dev->fb + at + 4 * PAGE);
	space_map_page(SEEN_VA, at + 4 * PAGE, RW);
	space_map_page(DATA_VA, at, RW);
	space_map_page(DATA_VA + PAGE, at + 2 * PAGE, VGPU_HW_PTE_R);
	compute_dispatch_head(chan, COMPUTE_HEAD_VA, DATA_VA, COMPUTE_ALL, COMPUTE_SIZE(32, 1, 1),
			      0);
	for (round = 1; round <= 300; round++) {
		mine = at + (round & 1 ? 0 : PAGE);
		theirs = at + (round & 1 ? PAGE : 0);
		wait_for_rounds(out, 3);
		*(volatile uint32_t *)(v.dev->fb + theirs + 2 * PAGE) = htole32(round);
		space_map_page(DATA_VA, theirs, RW);
		space_map_page(DATA_VA + PAGE, theirs + 2 * PAGE, VGPU_HW_PTE_R);
		FX_OK(v.dev, vgpu_space_invalidate(space));
		memset(v.dev->fb + mine, 0xee, PAGE);
		memset(v.dev->fb + mine + 2 * PAGE, 0xdd, PAGE);
		wait_for_rounds(out, 3);
		/* A lane stores in its next turn what it has loaded before, and does so once. */
		FX_SOON(le32toh(out->seen) == round, "%u is seen in round %u",
			le32toh(out->seen), round);
		fx_check_words(v.dev->fb + mine, PAGE, 0xeeeeeeee);
	}
	FX_OK(v.dev, vgpu_space_unmap(space, DATA_VA, PAGE));
	FX_OK(v.dev, vgpu_space_invalidate(space));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_PAGE);
	CHECK_EQ(fault.addr / PAGE, DATA_VA / PAGE);
	vgpu_chan_destroy(chan);
}

#define TABLES		32u
#define HIGH_VA		(-FX_GIB)	/* what the program leaves alone */

struct vandal_args {
	uint64_t root;
	uint64_t tables;
	uint64_t page;
	uint64_t root_page;
	uint64_t seed;
	uint64_t rounds;
};

/* Maps at HIGH_VA, page by page: the ring, the head, arguments, the root, tables, the image. */
static void vandal_map(const struct vgpu_elf *elf, uint64_t tables)
{
	struct vgpu_hw_program *head = (void *)(v.dev->fb + COMPUTE_HEAD);
	uint64_t root = (space->root & VGPU_HW_ROOT_PAGE_MASK) * PAGE, i;

	memcpy(v.dev->fb + COMPUTE_IMAGE, elf->image, elf->image_bytes);
	compute_head(&v, COMPUTE_HEAD, HIGH_VA + 64 * PAGE, elf->image_bytes / 4,
		     elf->kernel[0].private_bytes);
	head->text_bytes = htole32(elf->text_bytes);
	head->entry = htole32(elf->kernel[0].entry);
	space_map_page(HIGH_VA + PAGE, COMPUTE_HEAD, VGPU_HW_PTE_R);
	space_map_page(HIGH_VA + 2 * PAGE, COMPUTE_ARGS, RW);
	space_map_page(HIGH_VA + 3 * PAGE, root, RW);
	for (i = 0; i < TABLES; i++)
		space_map_page(HIGH_VA + (4 + i) * PAGE, tables + i * PAGE, RW);
	for (i = 0; i < elf->image_bytes; i += PAGE)
		space_map_page(HIGH_VA + 64 * PAGE + i, COMPUTE_IMAGE + i,
			       VGPU_HW_PTE_R | VGPU_HW_PTE_X);
}

/* Beside its program it has memory that nobody else may change. */
static struct vgpu_chan *neighbour_open(void)
{
	struct vgpu_chan *neighbour = compute_neighbour(&other);

	memset(other.dev->fb + 8 * FX_MIB, 0x5a, FX_MIB);
	return neighbour;
}

static void neighbour_check(void)
{
	fx_check_words(other.dev->fb + 8 * FX_MIB, FX_MIB, 0x5a5a5a5a);
}

/* A program that writes anything to its own tables reaches its own framebuffer at most. */
static void tables_of_its_own(void)
{
	static const uint32_t none[] = { RV_RET };
	unsigned int faults[VGPU_HW_FAULT_END] = { 0 };
	struct vgpu_chan *chan = BEGIN(none), *neighbour;
	struct vandal_args *args;
	struct vgpu_elf elf;
	uint64_t tables, end, i, rounds = 0, *entry, high;

	CHECK(!vgpu_elf_read(&elf, "build/selftests/device/vandal.elf"), "%s", elf.error);
	vgpu_chan_destroy(chan);
	chan = fx_chan_in(space, VGPU_HW_ENGINE_GR, 0, HIGH_VA, 4);
	neighbour = neighbour_open();
	tables = fx_fb(&v, TABLES * PAGE, PAGE);
	vandal_map(&elf, tables);
	vgpu_elf_free(&elf);
	entry = vgpu_space_entry(space, HIGH_VA, 2);
	high = *entry;
	args = (void *)(v.dev->fb + COMPUTE_ARGS);
	*args = (struct vandal_args) {
		.root = htole64(HIGH_VA + 3 * PAGE), .tables = htole64(HIGH_VA + 4 * PAGE),
		.page = htole64(tables / PAGE), .rounds = htole64(HIGH_VA + 2 * PAGE + 64),
		.root_page = htole64(space->root & VGPU_HW_ROOT_PAGE_MASK),
	};
	end = clk_ms() + fx_env("VGPU_TEST_SCRIBBLE_MS", 3000);
	/* A host that stands still for so long leaves no time for a fault. */
	for (i = 0; clk_ms() < end || !faults[VGPU_HW_FAULT_PAGE]; i++) {
		CHECK(clk_ms() < end + FX_TIMEOUT_MS, "nothing happened");
		args->seed = htole64(fx_random() | 1);
		compute_dispatch_head(chan, HIGH_VA + PAGE, HIGH_VA + 2 * PAGE, COMPUTE_ALL,
				      COMPUTE_SIZE(1 + fx_random_below(3), 1, 1), 0);
		compute_check_sum(neighbour, i, fx_random());
		if (vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED) {
			CHECK(le32toh(chan->page->fault_code) < VGPU_HW_FAULT_END, "");
			faults[le32toh(chan->page->fault_code)]++;
		}
		*entry = high;
		fx_again(chan);
		rounds += le64toh(((volatile uint64_t *)args)[8]);
		((volatile uint64_t *)args)[8] = 0;
	}
	ktap_note("%llu dispatches, %llu rounds; faults: %u page, %u align, %u address",
		  (unsigned long long)i, (unsigned long long)rounds, faults[VGPU_HW_FAULT_PAGE],
		  faults[VGPU_HW_FAULT_ALIGN], faults[VGPU_HW_FAULT_ADDRESS]);
	neighbour_check();
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON(compute_counter(&v, "context_bytes ") == 0);
	FX_SOON(compute_counter(&v, "program_bytes ") == 0);
}

#define CHANNELS	8u
#define PROGRAMS	24u
#define PROGRAM_AT(i)	((16 + 2ull * (i)) * FX_MIB)	/* the head, and then the image */

static volatile bool stop;
static pthread_t threads[2];
static struct rng rngs[3];	/* of the threads, and of the test */
static unsigned int nr_threads;

static void *invalidator(void *arg)
{
	struct rng *rng = arg;
	uint32_t reg;

	while (!stop) {
		reg = rng_below(rng, 2) ? VGPU_HW_INVALIDATE_PAGES : VGPU_HW_INVALIDATE;
		if (vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + reg, 0))
			break;
		if (rng_below(rng, 8) == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

/* The beginning of a program, over and over, while it is read, decoded and executed. */
static void scribble(struct rng *rng, uint64_t image)
{
	static const uint32_t words[] = {
		RV_RET, RV_J(0), RV_J(-4), RV_BARRIER, RV_LI(RV_T0, 1), RV_SD(RV_T0, -8, RV_SP),
		RV_AMOADD_W(RV_T1, RV_T0, RV_A0), RV_RET,
	};
	volatile uint32_t *text = (void *)(v.dev->fb + image);
	unsigned int i;

	for (i = 0; i < 8; i++)
		text[i] = htole32(words[rng_below(rng, 8)]);
}

static void *scribbler(void *arg)
{
	struct rng *rng = arg;

	while (!stop) {
		scribble(rng, PROGRAM_AT(rng_below(rng, PROGRAMS)) + PAGE);
		if (rng_below(rng, 64) == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

static void thread_start(void *(*run)(void *rng))
{
	stop = false;
	CHECK(!pthread_create(&threads[nr_threads], NULL, run, &rngs[nr_threads]), "thread");
	nr_threads++;
}

static void threads_end(void)
{
	stop = true;
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
}

static void sow_program(struct rng *rng, unsigned int i)
{
	static const uint32_t private_bytes[] = { 0, 64, 4096, 8192 };
	uint32_t nr = i % 3 ? 8 + (uint32_t)rng_below(rng, 2000) : VGPU_HW_TEXT_MAX / 4;

	compute_head(&v, PROGRAM_AT(i), PROGRAM_AT(i) + PAGE, nr, private_bytes[i % 4]);
	scribble(rng, PROGRAM_AT(i) + PAGE);
}

static void some_dispatch(struct rng *rng, struct vgpu_chan *chan)
{
	unsigned int i = (unsigned int)rng_below(rng, PROGRAMS);

	if (chan->put - vgpu_chan_get(chan) >= 8)
		return;
	if (rng_below(rng, 16) == 0)
		sow_program(rng, i);
	compute_dispatch_head(chan, PROGRAM_AT(i), COMPUTE_OUT,
			      COMPUTE_SIZE(1 + rng_below(rng, 4000), 1, 1),
			      COMPUTE_SIZE(1 + rng_below(rng, 1024), 1, 1),
			      (uint32_t)rng_below(rng, 2) * VGPU_HW_LOCAL_MAX);
}

static void reset(struct vgpu_chan **chan)
{
	unsigned int i;

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	for (i = 0; i < CHANNELS; i++)
		FX_OK(v.dev, vgpu_chan_enable(chan[i]));
}

/*
 * Programs and contexts come and go, by channels that are disabled, devices that are reset, code
 * that is invalidated at any moment.
 */
static void programs_come_and_go(void)
{
	struct vgpu_chan *chan[CHANNELS], *neighbour, *c;
	uint64_t ms = fx_env("VGPU_TEST_SCRIBBLE_MS", 3000), end, i, faults = 0, resets = 0;
	uint64_t made = 0, found;
	struct rng *rng = &rngs[2];
	bool faulted;

	fx_need_no_quarantine();
	for (i = 0; i < CHANNELS; i++)
		chan[i] = compute_chan(&v);
	neighbour = neighbour_open();
	for (i = 0; i < 3; i++)
		rngs[i] = rng_seed(fx_random());
	for (i = 0; i < PROGRAMS; i++)
		sow_program(rng, i);
	thread_start(invalidator);
	thread_start(scribbler);
	end = clk_ms() + ms;
	/* How many programs are made in that time depends on the machine. */
	for (i = 0; made <= PROGRAMS || !faults || clk_ms() < end; i++) {
		if (clk_ms() >= end)
			made = compute_counter(&v, "program_misses ");
		CHECK(clk_ms() < end + FX_TIMEOUT_MS, "%llu programs made, %llu faults",
		      (unsigned long long)made, (unsigned long long)faults);
		c = chan[rng_below(rng, CHANNELS)];
		faulted = vgpu_chan_state(c) == VGPU_HW_STATE_FAULTED;
		faults += faulted;
		if (faulted || rng_below(rng, 16) == 0)
			fx_again(c);
		some_dispatch(rng, c);
		if (rng_below(rng, 32) == 0)
			compute_check_sum(neighbour, i, fx_random());
		if (rng_below(rng, 1024) == 0 || (!resets && clk_ms() > end - ms / 2)) {
			reset(chan);
			resets++;
		}
	}
	made = compute_counter(&v, "program_misses ");
	found = compute_counter(&v, "program_hits ");
	threads_end();
	ktap_note("%llu turns, %llu faults, %llu resets, %llu programs made, %llu found",
		  (unsigned long long)i, (unsigned long long)faults, (unsigned long long)resets,
		  (unsigned long long)made, (unsigned long long)found);
	CHECK(resets, "nothing happened");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON(!compute_counter(&v, "program_bytes "), "");
	FX_SOON(!compute_counter(&v, "context_bytes "), "");
	neighbour_check();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(programs_come_and_go),
	KTAP_TEST(tables_of_its_own),
	KTAP_TEST(pages_move),
};

/* Before the framebuffer is unmapped, to which the threads of a test that failed still write. */
static void cleanup(void)
{
	threads_end();
	space_cleanup();
}

KTAP_MAIN(tests, cleanup)
