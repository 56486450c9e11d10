// SPDX-License-Identifier: GPL-2.0
/*
 * Bad programs: each fault of a dispatch has its code, and says where and for which work-item;
 * nothing that a program does reaches a neighbour.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "compute.h"
#include "space.h"

#define PC(index)	(VGPU_HW_VA_IMAGE + 4 * (index))
#define OUT_VA		(VGPU_HW_VA_GLOBAL + COMPUTE_OUT)

static struct fx_vgpu other;

static struct vgpu_chan *open_gr(void)
{
	fx_need_no_quarantine();
	return compute_chan(&v);
}

/* Before the instructions of a case: only work-item 37, 1, 0 gets there, and T2 is the address. */
#define BEFORE								\
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),				\
	RV_LI(RV_T1, 37),						\
	RV_BNE(RV_T0, RV_T1, 12),					\
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID + 1),			\
	RV_BNE(RV_T0, RV_ZERO, 8),					\
	RV_RET,								\
	RV_LD(RV_T2, 0, RV_A0)
#define NR_BEFORE	7

/**
 * struct bad - a program that faults
 * @what:  the mistake, in words
 * @code:  the fault that comes of it
 * @at:    which of @words faults
 * @addr:  the address that T2 has
 * @end:   counted from the framebuffer's end
 * @fault_addr: the fault has an address: that one, with @more added
 * @more:  see there
 * @words: instructions
 */
struct bad {
	const char *what;
	enum vgpu_hw_fault code;
	unsigned int at;
	uint64_t addr;
	bool end;
	bool fault_addr;
	int more;
	uint32_t words[4];
};

#define LOAD	{ RV_LW(RV_T0, 0, RV_T2) }
#define STORE	{ RV_SW(RV_T0, 0, RV_T2) }
#define ATOMIC	{ RV_AMOADD_W(RV_T0, RV_T0, RV_T2) }

static const struct bad bads[] = {
	{ "word 0", VGPU_HW_FAULT_ILLEGAL, 0, .words = { 0 } },
	{ "all ones", VGPU_HW_FAULT_ILLEGAL, 0, .words = { ~0u } },
	{ "a compressed instruction", VGPU_HW_FAULT_ILLEGAL, 0, .words = { 0x00010001 } },
	{ "ecall", VGPU_HW_FAULT_ILLEGAL, 1, .words = { RV_LI(RV_T0, 1), RV_ECALL } },
	{ "a CSR of the system", VGPU_HW_FAULT_ILLEGAL, 0, .words = { RV_CSRR(RV_T0, 0x300) } },
	{ "jump out of the text", VGPU_HW_FAULT_ILLEGAL, 0, PC(NR_BEFORE), false, true, 4096,
		{ RV_J(4096) } },
	{ "jump into an instruction", VGPU_HW_FAULT_ILLEGAL, 0, PC(NR_BEFORE), false, true, 6,
		{ RV_J(6) } },
	{ "branch back into one", VGPU_HW_FAULT_ILLEGAL, 0, PC(NR_BEFORE), false, true, -6,
		{ RV_BEQ(0, 0, -6) } },
	{ "jump to data", VGPU_HW_FAULT_ILLEGAL, 0, OUT_VA, false, true, 0, { RV_JR(RV_T2) } },
	{ "jump to 0", VGPU_HW_FAULT_ILLEGAL, 0, 0, false, true, 0, { RV_JR(RV_T2) } },
	{ "jump between instructions", VGPU_HW_FAULT_ILLEGAL, 0, PC(1) + 2, false, true, 0,
		{ RV_JR(RV_T2) } },
	{ "jump between instructions, by 6", VGPU_HW_FAULT_ILLEGAL, 0, PC(NR_BEFORE), false, true,
		6, { 0x0060006f } },
	{ "branch between instructions, by 10", VGPU_HW_FAULT_ILLEGAL, 0, PC(NR_BEFORE), false,
		true, 10, { 0x00000563 } },
	{ "load behind the framebuffer", VGPU_HW_FAULT_ADDRESS, 0, VGPU_HW_VA_GLOBAL, true, true, 0,
		LOAD },
	{ "store behind the framebuffer", VGPU_HW_FAULT_ADDRESS, 0, VGPU_HW_VA_GLOBAL, true, true, 0,
		STORE },
	{ "atomic behind the framebuffer", VGPU_HW_FAULT_ADDRESS, 0, VGPU_HW_VA_GLOBAL, true, true,
		0, ATOMIC },
	{ "load over the framebuffer's end", VGPU_HW_FAULT_ADDRESS, 0, VGPU_HW_VA_GLOBAL - 2, true,
		true, 2, LOAD },
	{ "store over the framebuffer's end", VGPU_HW_FAULT_ADDRESS, 0, VGPU_HW_VA_GLOBAL - 2, true,
		true, 2, STORE },
	{ "load far away", VGPU_HW_FAULT_ADDRESS, 0, ~7ull, false, true, 0, LOAD },
	{ "store far away", VGPU_HW_FAULT_ADDRESS, 0, 1ull << 63, false, true, 0, STORE },
	{ "load at 0", VGPU_HW_FAULT_PAGE, 0, 0, false, true, 0, LOAD },
	{ "store at 0", VGPU_HW_FAULT_PAGE, 0, 0, false, true, 0, STORE },
	{ "atomic at 0", VGPU_HW_FAULT_PAGE, 0, 0, false, true, 0, ATOMIC },
	{ "store to the image", VGPU_HW_FAULT_PAGE, 0, PC(2), false, true, 0, STORE },
	{ "atomic on the image", VGPU_HW_FAULT_PAGE, 0, PC(2), false, true, 0, ATOMIC },
	{ "load behind the image", VGPU_HW_FAULT_PAGE, 0, PC(1024), false, true, 0, LOAD },
	{ "load behind the group's memory", VGPU_HW_FAULT_PAGE, 0, VGPU_HW_VA_LOCAL + 64, false,
		true, 0, LOAD },
	{ "store over its end", VGPU_HW_FAULT_PAGE, 0, VGPU_HW_VA_LOCAL + 62, false, true, 2,
		STORE },
	{ "load above the stack", VGPU_HW_FAULT_STACK, 0, VGPU_HW_VA_PRIVATE + 4096, false, true, 0,
		LOAD },
	{ "store below the stack", VGPU_HW_FAULT_STACK, 0, VGPU_HW_VA_PRIVATE - 8, false, true, 0,
		STORE },
	{ "atomic, misaligned", VGPU_HW_FAULT_ALIGN, 0, OUT_VA + 2, false, true, 0, ATOMIC },
	{ "atomic of 8 bytes, misaligned", VGPU_HW_FAULT_ALIGN, 0, OUT_VA + 4, false, true, 0,
		{ RV_AMOADD_D(RV_T0, RV_T0, RV_T2) } },
};

static void load_bad(const struct bad *bad, uint64_t addr)
{
	const uint32_t before[] = { BEFORE };
	uint32_t words[64] = {};

	memcpy(words, before, sizeof(before));
	memcpy(words + NR_BEFORE, bad->words, sizeof(bad->words));
	compute_load(&v, words, 64, 4096);
	*(uint64_t *)(v.dev->fb + COMPUTE_OUT) = htole64(addr);
}

static void every_fault_of_a_program(void)
{
	struct vgpu_chan *chan = open_gr(), *bystander;
	const struct bad *bad;
	unsigned int i;
	uint64_t addr;

	bystander = compute_chan(&v);
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		bad = &bads[i];
		addr = bad->addr + (bad->end ? v.dev->fb_bytes : 0);
		load_bad(bad, addr);
		compute_dispatch(chan, COMPUTE_SIZE(100, 2, 1), COMPUTE_SIZE(50, 1, 1), 64);
		compute_check_fault(chan, bad->code, bad->fault_addr ? addr + bad->more : 0,
				    PC(NR_BEFORE + bad->at), COMPUTE_SIZE(37, 1, 0), bad->what);
		compute_check_host(&v, chan, bad->code, bad->fault_addr ? addr + bad->more : 0,
				   PC(NR_BEFORE + bad->at), COMPUTE_SIZE(37, 1, 0), bad->what);
		fx_finish(bystander);
		fx_again(chan);
		CHECK_EQ(le64toh(chan->page->fault_pc), 0);
		CHECK_EQ(le32toh(chan->page->fault_id[0]), 0);
	}
}

/* What fails before the first instruction has neither pc nor work-item. */
static void every_fault_of_a_head(void)
{
	static const uint32_t words[] = { RV_RET };
	struct vgpu_hw_program *head, good;
	struct vgpu_chan *chan = open_gr();
	uint64_t end = v.dev->fb_bytes;

	COMPUTE_LOAD(&v, words);
	head = (void *)(v.dev->fb + COMPUTE_HEAD);
	good = *head;
#define HEAD(code, addr, group, ...)					\
	do {								\
		*head = good;						\
		__VA_ARGS__;						\
		compute_dispatch(chan, COMPUTE_ONE, COMPUTE_SIZE(group, 1, 1), 0); \
		compute_check_fault(chan, VGPU_HW_FAULT_##code, addr, 0, \
				    COMPUTE_SIZE(0, 0, 0), #__VA_ARGS__); \
		fx_again(chan);						\
	} while (0)
	HEAD(PROGRAM, COMPUTE_HEAD, 1, head->magic = 0);
	HEAD(PROGRAM, COMPUTE_HEAD, 1, head->text_bytes = 0);
	HEAD(PROGRAM, COMPUTE_HEAD, 1, head->entry = htole32(4));
	HEAD(PROGRAM, COMPUTE_HEAD, 1, head->image_bytes = htole32(VGPU_HW_IMAGE_MAX + 4));
	HEAD(PROGRAM, COMPUTE_HEAD, 1, head->pad[8] = 1);
	HEAD(ALIGN, COMPUTE_IMAGE + 64, 1, head->image = htole64(COMPUTE_IMAGE + 64));
	HEAD(ADDRESS, end, 1, head->image = htole64(end));
	HEAD(GRID, 0, 1024, head->private_bytes = htole32(8192 + 16));
	HEAD(GRID, 0, 1025, head->pad[8] = 0);
#undef HEAD
	*head = good;
	compute_dispatch_head(chan, COMPUTE_HEAD + 32, 0, COMPUTE_ONE, COMPUTE_ONE, 0);
	compute_check_fault(chan, VGPU_HW_FAULT_ALIGN, COMPUTE_HEAD + 32, 0, COMPUTE_SIZE(0, 0, 0),
			    "head misaligned");
	fx_again(chan);
	compute_dispatch_head(chan, end, 0, COMPUTE_ONE, COMPUTE_ONE, 0);
	compute_check_fault(chan, VGPU_HW_FAULT_ADDRESS, end, 0, COMPUTE_SIZE(0, 0, 0),
			    "head behind the framebuffer");
	fx_again(chan);
	/* Memory that was never touched is no program. */
	compute_dispatch_head(chan, end - 64, 0, COMPUTE_ONE, COMPUTE_ONE, 0);
	compute_check_fault(chan, VGPU_HW_FAULT_PROGRAM, end - 64, 0, COMPUTE_SIZE(0, 0, 0),
			    "no program");
	fx_again(chan);
	compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
	fx_finish(chan);
}

#define DATA_VA		0x4000000000ull - 4096	/* the last page of the lower half */

/* Under a root all addresses of a program are those of its address space, and so are its rights. */
static void address_space(void)
{
	static const uint32_t words[] = {
		RV_LW(RV_T0, 0, RV_A0),
		RV_ADDI(RV_T0, RV_T0, 1),
		RV_SW(RV_T0, 4, RV_A0),
		RV_RET,
	};
	uint32_t *data, root;
	struct vgpu_chan *chan;

	fx_need_no_quarantine();
	chan = compute_load_in_space(words, 4, 0);
	root = space->root;
	data = (void *)(v.dev->fb + COMPUTE_OUT);
	space_map_page(DATA_VA, COMPUTE_OUT, RW);
	data[0] = 41;
#define RUN	compute_dispatch_head(chan, COMPUTE_HEAD_VA, DATA_VA, COMPUTE_ONE, COMPUTE_ONE, 0)
#define RUN_FAULTS(addr, pc, what)					\
	do {								\
		compute_invalidate(&v, root);				\
		RUN;							\
		compute_check_fault(chan, VGPU_HW_FAULT_PAGE, addr, pc,	\
				    COMPUTE_SIZE(0, 0, 0), what);	\
		fx_again(chan);						\
	} while (0)
	RUN;
	fx_finish(chan);
	CHECK_EQ(data[1], 42);

	/* The same addresses lead elsewhere: other data, then other code. */
	space_map_page(DATA_VA, COMPUTE_OUT + PAGE, RW);
	compute_invalidate(&v, root);
	RUN;
	fx_finish(chan);
	CHECK_EQ(data[1024 + 1], 1);
	memcpy(v.dev->fb + COMPUTE_IMAGE + PAGE, words, sizeof(words));
	*(uint32_t *)(v.dev->fb + COMPUTE_IMAGE + PAGE + 4) = htole32(RV_ADDI(RV_T0, RV_T0, 100));
	space_map_page(COMPUTE_IMAGE_VA, COMPUTE_IMAGE + PAGE, VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	compute_invalidate(&v, root);
	RUN;
	fx_finish(chan);
	CHECK_EQ(data[1024 + 1], 100);

	space_map_page(DATA_VA, COMPUTE_OUT, VGPU_HW_PTE_R);
	RUN_FAULTS(DATA_VA + 4, PC(2), "read-only data");
	FX_OK(v.dev, vgpu_space_unmap(space, DATA_VA, PAGE));
	RUN_FAULTS(DATA_VA, PC(0), "no data");
	*vgpu_space_entry(space, DATA_VA, 0) = htole64(0x1000ull << 8 | VGPU_HW_PTE_V |
						       VGPU_HW_PTE_SYS | RW);
	RUN_FAULTS(DATA_VA, PC(0), "guest memory");
	space_map_page(DATA_VA, COMPUTE_OUT, RW);
	space_map_page(COMPUTE_IMAGE_VA, COMPUTE_IMAGE, VGPU_HW_PTE_R);
	RUN_FAULTS(COMPUTE_IMAGE_VA, 0, "no right to execute");
	FX_OK(v.dev, vgpu_space_unmap(space, COMPUTE_HEAD_VA, PAGE));
	RUN_FAULTS(COMPUTE_HEAD_VA, 0, "no head");
	vgpu_chan_destroy(chan);
}

/*
 * Random programs, some of which loop for ever, change their own code and overwrite their ring,
 * beside a vGPU that computes: its results are right, and it is not held up.
 */
static void hostile_code(void)
{
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 300), faults = 0, loops = 0, i, k;
	struct vgpu_chan *chan = open_gr(), *neighbour;
	struct rng rng = rng_seed(fx_random());
	uint32_t words[256];

	neighbour = compute_neighbour(&other);
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 256; k++)
			words[k] = rv_random(&rng);
		compute_load(&v, words, 256, fx_random_below(3) * 512);
		/* Data at the head and the code of the program itself, and at its ring. */
		compute_dispatch_head(chan, COMPUTE_HEAD, fx_random_below(2) ? COMPUTE_HEAD + 2048 :
				      chan->ring_addr, COMPUTE_ALL,
				      COMPUTE_SIZE(1 + fx_random_below(64), 1 + fx_random_below(4),
						   1 + fx_random_below(4)), 256);
		for (k = 0; k < 5; k++)
			compute_check_sum(neighbour, i, k);
		if (vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED)
			faults++;
		else
			loops++;
		FX_OK(v.dev, vgpu_chan_disable(chan));
		memset(chan->ring, 0, sizeof(struct vgpu_hw_packet) << chan->order);
		FX_OK(v.dev, vgpu_chan_enable(chan));
	}
	ktap_note("%llu faults, %llu that went on", (unsigned long long)faults,
		  (unsigned long long)loops);
	CHECK(faults && loops, "the programs were not hostile");
	fx_finish(chan);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_fault_of_a_program),
	KTAP_TEST(every_fault_of_a_head),
	KTAP_TEST(address_space),
	KTAP_TEST(hostile_code),
};

KTAP_MAIN(tests, space_cleanup)
