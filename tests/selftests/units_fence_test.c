// SPDX-License-Identifier: GPL-2.0
/*
 * Fences between groups that two units execute at the same time: of two which each write a word,
 * then read the other's, at least one sees what the other has written. CPUs that are TSO do so with
 * a full fence only.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"
#include "file.h"
#include "soft.h"

#define ROUNDS		2000u	/* up to 0x7ff */
#define POLLS		0x40u	/* times 4096: how often one looks in vain for the other */
#define BUSY		0x20u	/* times 4096: rounds of a lane that does something else */
#define MEETINGS	10000u
#define HELPED		100u
#define MOST_ITEMS	2u	/* of a group */
#define PLACES		4096u	/* beyond COMPUTE_OUT: in each round 64 bytes for each group */
#define ROUND_BYTES	128u
#define FAR_PLACES	0x100000u	/* likewise; 8 MiB for each group */
#define MET		2u	/* bits of a result */
#define DONE		4u
#define TRIES_MS	(2 * FX_TIMEOUT_MS)
#define FILE_CODE	"/sys/kernel/debug/vgpu_soft/native"
#define FILE_SWITCH	"/sys/module/vgpu_soft/parameters/native"

#define FENCE_RW_RW	0x0330000fu

enum { OWN = 16, OTHER = 17, LAST = 18, FAR = 19 };

static struct fx_vgpu v;
static struct vgpu_chan *chan;

/*
 * Two groups. In each round their first work-items meet, by a count of each at a0 and a0 + 64; as
 * long as there are polls left they wait for each other, so that the program ends whatever units
 * there are. Then each writes 1 to its place and reads the other's. Its result, what it has read
 * among it, comes behind its place. A second work-item counts: lanes that part run alone.
 *
 * A CPU's writes become seen in order. So those to the place come late, behind others to lines that
 * no cache near the CPU has any more, but whose page the unit has found before the two meet.
 */
static const uint32_t dekker[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_LOCAL_ID), RV_CSRR(RV_T1, VGPU_HW_CSR_GROUP_ID),
	RV_BNE(RV_T0, RV_ZERO, 41 * 4),
	RV_SLLI(FAR, RV_T1, 23), RV_ADD(FAR, FAR, RV_A0), RV_LUI(RV_T2, FAR_PLACES >> 12),
	RV_ADD(FAR, FAR, RV_T2),
	RV_SLLI(RV_T1, RV_T1, 6), RV_ADD(RV_A1, RV_A0, RV_T1),
	RV_LI(RV_A2, 64), RV_XOR(RV_A2, RV_A2, RV_A1),
	RV_LUI(RV_A4, 1), RV_ADD(OWN, RV_A1, RV_A4), RV_ADD(OTHER, RV_A2, RV_A4),
	RV_LUI(RV_A3, POLLS), RV_LI(LAST, ROUNDS), RV_LI(RV_A5, 0), RV_LI(RV_T2, 1),
	/* 18: a round */
	RV_ADDI(RV_A5, RV_A5, 1), RV_SD(RV_A5, 2040, FAR), RV_SD(RV_A5, 0, RV_A1),
	RV_LI(RV_T1, DONE | MET),
	/* 22: is the other there? */
	RV_LD(RV_T0, 0, RV_A2), RV_BLT(RV_T0, RV_A5, 8), RV_J(20),
	RV_ADDI(RV_A3, RV_A3, -1), RV_BNE(RV_A3, RV_ZERO, -16),
	RV_LI(RV_A3, 1), RV_LI(RV_T1, DONE),
	/* 29: */
	RV_SD(RV_A5, 0, FAR), RV_SD(RV_A5, 512, FAR), RV_SD(RV_A5, 1024, FAR),
	RV_SD(RV_A5, 1536, FAR),
	RV_SD(RV_T2, 0, OWN), FENCE_RW_RW, RV_LD(RV_T0, 0, OTHER),
	RV_ADD(RV_T1, RV_T1, RV_T0), RV_SD(RV_T1, 8, OWN), RV_ADD(FAR, FAR, RV_A4),
	RV_ADDI(OWN, OWN, ROUND_BYTES), RV_ADDI(OTHER, OTHER, ROUND_BYTES),
	RV_BNE(RV_A5, LAST, -23 * 4), RV_RET,
	/* 43: the second work-item */
	RV_LUI(RV_T2, BUSY), RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -4), RV_RET,
};

static uint64_t number(const char *engine, const char *what)
{
	uint64_t value;

	if (engine)
		CHECK(!soft_counter(NULL, engine, what, &value), "%s", what);
	else
		CHECK(!file_number(FILE_CODE, what, &value), "%s", what);
	return value;
}

static void begin(const char *native)
{
	uint64_t helpers;

	if (soft_counter(NULL, "gr", "helpers", &helpers) || !helpers)
		ktap_skip("the GPU has one unit");
	CHECK(!file_write(FILE_SWITCH, native));
	chan = compute_chan(&v);
	COMPUTE_LOAD(&v, dekker);
}

/* What has become of rounds: how many there were, in which both were there, and saw nothing. */
struct tally {
	uint64_t rounds, met, none;
};

static void run_once(uint32_t items, struct tally *tally)
{
	uint8_t *out = v.dev->fb + COMPUTE_OUT;
	volatile uint64_t *places = (void *)(out + PLACES);
	uint64_t result[2];
	unsigned int i, k;

	memset(out, 0, PLACES + ROUNDS * ROUND_BYTES);
	compute_dispatch(chan, COMPUTE_SIZE(2 * items, 1, 1), COMPUTE_SIZE(items, 1, 1), 0);
	fx_finish(chan);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < 2; k++) {
			result[k] = le64toh(places[(i * ROUND_BYTES + k * 64 + 8) / 8]);
			CHECK((result[k] & ~(1ull | MET)) == DONE, "round %u: %#llx", i,
			      (unsigned long long)result[k]);
		}
		tally->met += !!(result[0] & result[1] & MET);
		tally->none += !((result[0] | result[1]) & 1);
	}
	tally->rounds += ROUNDS;
}

/*
 * Goes on until groups have met often enough, and units have helped for so many pieces of 50 us:
 * groups that one unit executes by turns meet, too.
 */
static void check_rounds(uint32_t items)
{
	uint64_t end = clk_ms() + TRIES_MS, before = number("gr", "helped"), helped;
	struct tally tally = {};

	do {
		run_once(items, &tally);
		helped = number("gr", "helped") - before;
		CHECK(clk_ms() < end, "met in %llu rounds of %llu, helped %llu times",
		      (unsigned long long)tally.met, (unsigned long long)tally.rounds,
		      (unsigned long long)helped);
	} while ((tally.met < MEETINGS || helped < HELPED) && sysconf(_SC_NPROCESSORS_ONLN) > 1);
	ktap_note("met in %llu rounds of %llu, units have helped %llu times",
		  (unsigned long long)tally.met, (unsigned long long)tally.rounds,
		  (unsigned long long)helped);
	CHECK_EQ(tally.none, 0, "%s", "neither has seen the other's write");
}

/* One lane in a warp: the warp's interpreter executes it. */
static void of_warps(void)
{
	begin("0");
	check_rounds(1);
}

static void of_lanes_alone(void)
{
	begin("0");
	check_rounds(MOST_ITEMS);
}

static void of_code(void)
{
	uint64_t made, refused, end = clk_ms() + TRIES_MS;
	struct tally unused = {};

	made = number(NULL, "programs ");
	refused = number(NULL, "refused ");
	begin("1");
	while (number(NULL, "programs ") == made) {
		if (number(NULL, "refused ") != refused)
			ktap_skip("the kernel compiles no BPF");
		CHECK(clk_ms() < end, "no code is made of the program");
		run_once(MOST_ITEMS, &unused);
	}
	check_rounds(MOST_ITEMS);
}

static void cleanup(void)
{
	file_write(FILE_SWITCH, "1");
	fx_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(of_warps),
	KTAP_TEST(of_lanes_alone),
	KTAP_TEST(of_code),
};

KTAP_MAIN(tests, cleanup)
