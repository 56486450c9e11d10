// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the interpreters executes programs. They are compiled from the same source for several
 * instruction sets of the CPU. Which one is the fastest cannot be told from the CPU's features: in
 * an emulated machine vector instructions are slower than plain ones. So a short program is timed
 * on each when the module is loaded, as the kernel does for xor and raid6.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#ifdef CONFIG_UML
#include <asm/fpu/api.h>
#else
#include <linux/fpu.h>
#endif
#ifdef CONFIG_X86_64	/* on UML, too */
#include <asm/cpufeature.h>
#endif

#include "lanes.h"

/*
 * A section may take 100 us. Its last piece is as long as there is time for the slowest of the
 * instructions that it may have; these were timed undisturbed, so some of the time is spare.
 */
#define SOFT_SECTION_NS_MOST	(90 * NSEC_PER_USEC)

/*
 * An instruction that is not known to be slow may take this long at least: 32 loads in as many
 * pages, each of which the TLB has, from caches. Longer on a CPU that is slow at divisions, or with
 * denormal floats. Loads that miss the caches are bounded by SIMT_APART_MOST.
 */
#define SOFT_INSN_NS		350
static u32 soft_lanes_insn_ns = SOFT_INSN_NS;

/* How long the slowest one takes that simt_program_slow() tells of. */
static u32 soft_lanes_slow_ns = SOFT_INSN_NS;

/* A program is timed in pieces of so many instructions; the fastest piece counts. */
#define SOFT_LANES_PIECE	256
#define SOFT_LANES_PIECE_SLOW	16
#define SOFT_LANES_PIECES	32

const struct simt_isa *soft_lanes = &simt_isa_scalar;

#ifdef CONFIG_X86
/* Whether the kernel saves the registers of AVX. */
static bool soft_lanes_saved(void)
{
	return boot_cpu_has(X86_FEATURE_OSXSAVE) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}
#else
/* UML is a process: its host saves its registers. */
static bool soft_lanes_saved(void)
{
	return true;
}
#endif

static bool soft_lanes_always(void)
{
	return true;
}

#ifdef CONFIG_X86_64
static bool soft_lanes_avx2(void)
{
	return boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_FMA) &&
	       soft_lanes_saved();
}
#endif

/**
 * struct soft_lane_isa - an interpreter
 * @isa: the interpreter
 * @able: whether this CPU can run it
 * @ns:  how long it took for the fastest piece of the program; 0: it was not timed
 */
struct soft_lane_isa {
	const struct simt_isa *isa;
	bool (*able)(void);
	u64 ns;
};

static struct soft_lane_isa soft_lane_isas[] = {
	{ &simt_isa_scalar, soft_lanes_always },
#ifdef CONFIG_X86_64
	{ &simt_isa_sse2, soft_lanes_always },
	{ &simt_isa_avx2, soft_lanes_avx2 },
#endif
};

/* What programs do most: integers and floats of all lanes, and private memory. Does not end. */
static const u32 soft_lanes_words[] = {
	0xcc0022f3,	/* csrr   t0, global_id */
	0xfe010113,	/* addi   sp, sp, -32 */
	0xd002f053,	/* fcvt.s.w ft0, t0 */
	0x000070d3,	/* fadd.s ft1, ft0, ft0 */
	0x02628333,	/* 1: mul t1, t0, t1 */
	0x005343b3,	/* xor    t2, t1, t0 */
	0x00d39413,	/* slli   s0, t2, 13 */
	0x00740333,	/* add    t1, s0, t2 */
	0x1000f153,	/* fmul.s ft2, ft1, ft0 */
	0x000170d3,	/* fadd.s ft1, ft2, ft0 */
	0x00612023,	/* sw     t1, 0(sp) */
	0x00012383,	/* lw     t2, 0(sp) */
	0x00148493,	/* addi   s1, s1, 1 */
	0xfddff06f,	/* j      1b */
};

/* Quotients of 64 bits. */
static const u32 soft_lanes_divide[] = {
	0xcc0022f3,	/* csrr   t0, global_id */
	0xfff2c313,	/* xori   t1, t0, -1 */
	0x00328393,	/* addi   t2, t0, 3 */
	0x02735e33,	/* 1: divu t3, t1, t2 */
	0x02736eb3,	/* rem    t4, t1, t2 */
	0x02735e33,	/* divu   t3, t1, t2 */
	0x02736eb3,	/* rem    t4, t1, t2 */
	0xff1ff06f,	/* j      1b */
};

/* Floats so small that some CPUs work on them in microcode. */
static const u32 soft_lanes_denormal[] = {
	0xcc0022f3,	/* csrr   t0, global_id */
	0x00128293,	/* addi   t0, t0, 1 */
	0xf2028053,	/* fmv.d.x ft0, t0 */
	0xd20280d3,	/* fcvt.d.w ft1, t0 */
	0x12100153,	/* 1: fmul.d ft2, ft0, ft1 */
	0x022001d3,	/* fadd.d ft3, ft0, ft2 */
	0x12100153,	/* fmul.d ft2, ft0, ft1 */
	0x022001d3,	/* fadd.d ft3, ft0, ft2 */
	0xff1ff06f,	/* j      1b */
};

/* Exact quotients, bit by bit in integers: x - 1 / x over and over; no CPU predicts the bits. */
static const u32 soft_lanes_quotient[] = {
	0xcc0022f3,	/* csrr   t0, global_id */
	0x00228293,	/* addi   t0, t0, 2 */
	0xd2028053,	/* fcvt.d.w ft0, t0 */
	0x00100313,	/* li     t1, 1 */
	0xd20300d3,	/* fcvt.d.w ft1, t1 */
	0x1a00c153,	/* 1: fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0x1a00c153,	/* fdiv.d ft2, ft1, ft0, rmm */
	0x0a204053,	/* fsub.d ft0, ft0, ft2, rmm */
	0xfc1ff06f,	/* j      1b */
};

#define SOFT_LANES_WORDS	22	/* of the longest of these */
#define SOFT_LANES_PRIVATE	64

/**
 * struct soft_lanes_bench - what it takes to run the program
 * @mem: no memory but the private one
 * @tlb: empty
 * @dispatch: one group
 * @group: one warp
 * @program: the program
 */
struct soft_lanes_bench {
	struct simt_mem mem;
	struct simt_tlb tlb;
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct simt_program *program;
};

/*
 * Runs a piece, and makes the next one longer while pieces are short, or shorter: so that neither
 * a piece takes long, nor looks at the clock much of the time. A fast instruction takes some 5 ns;
 * the piece after many of these may have slow ones only.
 */
static enum simt_end soft_lanes_piece(struct simt_group *group, u32 *piece, u32 most, u32 left,
				      u64 *now_ns)
{
	u64 from_ns = *now_ns, took_ns;
	enum simt_end end;

	*piece = min(*piece, clamp(left, 1, most));
	end = simt_group_run(group, *piece);
	*now_ns = ktime_get_ns();
	took_ns = *now_ns - from_ns;
	if (took_ns > SOFT_SECTION_NS / 4)
		*piece = max_t(u64, div64_u64(*piece * SOFT_SECTION_NS / 8, took_ns), 1);
	else if (end == SIMT_MORE && took_ns < SOFT_SECTION_NS / 16)
		*piece = min(*piece * 2, most);
	return end;
}

/**
 * soft_lanes_section() - run a group for a while, with the CPU's vector registers
 * @group: has begun, and has a TLB
 * @piece: how many instructions are executed between two looks at the clock; SOFT_PIECE_FIRST at
 *         first; updated
 * @slow:  simt_program_slow() of the program
 * @end_ns: when to end, by ktime_get_ns(): at most SOFT_SECTION_NS from now. One piece is run even
 *         after that
 * @leave: may become true at any time: then to end
 * @took_ns: set to how long preemption was off
 * Context: task context; does not sleep.
 * Return: see simt_group_run().
 */
enum simt_end soft_lanes_section(struct simt_group *group, u32 *piece, bool slow, u64 end_ns,
				 const bool *leave, u64 *took_ns)
{
	u32 insn_ns = slow ? soft_lanes_slow_ns : soft_lanes_insn_ns;
	u32 most = slow ? SOFT_PIECE_MOST_SLOW : SOFT_PIECE_MOST;
	u64 from_ns, now_ns, most_ns;
	enum simt_end end;
	u32 left;

	kernel_fpu_begin();
	from_ns = ktime_get_ns();
	now_ns = from_ns;
	/* Another group may have used up a part of the section before this one. */
	most_ns = end_ns > from_ns ? min(end_ns - from_ns, SOFT_SECTION_NS) : 0;
	most_ns += from_ns + SOFT_SECTION_NS_MOST - SOFT_SECTION_NS;
	do {
		left = now_ns < most_ns ? div_u64(most_ns - now_ns, insn_ns) : 0;
		end = soft_lanes_piece(group, piece, most, left, &now_ns);
	} while (end == SIMT_MORE && now_ns < end_ns && !READ_ONCE(*leave));
	kernel_fpu_end();
	*took_ns = now_ns - from_ns;
	return end;
}

/*
 * A program looks for pages so often in a section; then the section ends. If it has lasted long
 * enough by then, as looks take 0.5 us where tables are in no cache, it ends after fewer of them:
 * but after more than an instruction may want, which is two pages for each lane.
 */
#define SOFT_LOOKS_MOST		256
#define SOFT_LOOKS_LEAST	80

/**
 * soft_lanes_looked() - count a look for a page in a section
 * @looks: so far; 0 at the section's beginning; updated
 * @end_ns: when the section is to end, by ktime_get_ns()
 * Context: any.
 * Return: whether the look is one too many: struct simt_mem.map is to return SIMT_WAIT.
 */
bool soft_lanes_looked(u32 *looks, u64 end_ns)
{
	u32 before = (*looks)++;

	if (before < SOFT_LOOKS_LEAST)
		return false;
	return before >= SOFT_LOOKS_MOST || ktime_get_ns() >= end_ns;
}

static enum simt_end soft_lanes_map(struct simt_mem *mem, u64 va, bool write, void **page,
				    bool *keep, enum vgpu_hw_fault *code)
{
	*code = VGPU_HW_FAULT_ADDRESS;
	return SIMT_FAULT;
}

/*
 * Returns the time of a program's fastest piece of @piece instructions; 0: the program has not run
 * as it should.
 */
static u64 soft_lanes_time(struct soft_lanes_bench *bench, const struct simt_isa *isa,
			   const u32 *words, u32 nr, u32 piece)
{
	u64 best_ns = U64_MAX, from_ns;
	enum simt_end end;
	unsigned int i;

	simt_program_init(bench->program, nr);
	simt_program_decode(bench->program, 0, (const __le32 __force *)words, nr);
	simt_program_finish(bench->program);
	bench->dispatch.image_bytes = 4 * nr;
	bench->group.isa = isa;
	simt_tlb_flush(&bench->tlb);
	simt_dispatch_begin(&bench->dispatch);
	simt_group_init(&bench->group, &bench->dispatch);
	simt_dispatch_next(&bench->dispatch, &bench->group);
	for (i = 0; i < SOFT_LANES_PIECES; i++) {
		kernel_fpu_begin();
		from_ns = ktime_get_ns();
		end = simt_group_run(&bench->group, piece);
		if (i)	/* the first piece has what comes before the loop */
			best_ns = min(best_ns, ktime_get_ns() - from_ns);
		kernel_fpu_end();
		if (end != SIMT_MORE)
			return 0;
		cond_resched();
	}
	return max(best_ns, 1);
}

static void soft_lanes_bench_free(struct soft_lanes_bench *bench)
{
	kvfree(bench->group.warps);
	kvfree(bench->group.private);
	kfree(bench->program);
	kvfree(bench);
}

static struct soft_lanes_bench *soft_lanes_bench_alloc(void)
{
	static const u32 one[3] = { SIMT_LANES, 1, 1 };
	struct soft_lanes_bench *bench = kvzalloc(sizeof(*bench), GFP_KERNEL);

	if (!bench)
		return NULL;
	bench->program = kmalloc(simt_program_bytes(SOFT_LANES_WORDS), GFP_KERNEL);
	bench->group.warps = kvzalloc(simt_warps_bytes(one), GFP_KERNEL);
	bench->group.private = kvzalloc(simt_private_bytes(one, SOFT_LANES_PRIVATE), GFP_KERNEL);
	if (!bench->program || !bench->group.warps || !bench->group.private) {
		soft_lanes_bench_free(bench);
		return NULL;
	}
	bench->mem.map = soft_lanes_map;
	bench->dispatch.program = bench->program;
	bench->group.mem = &bench->mem;
	bench->group.tlb = &bench->tlb;
	bench->dispatch.private_bytes = SOFT_LANES_PRIVATE;
	memcpy(bench->dispatch.grid, one, sizeof(one));
	memcpy(bench->dispatch.group, one, sizeof(one));
	return bench;
}

static void soft_lanes_time_all(struct soft_lanes_bench *bench)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(soft_lanes_words) > SOFT_LANES_WORDS ||
		     ARRAY_SIZE(soft_lanes_divide) > SOFT_LANES_WORDS ||
		     ARRAY_SIZE(soft_lanes_denormal) > SOFT_LANES_WORDS ||
		     ARRAY_SIZE(soft_lanes_quotient) > SOFT_LANES_WORDS);
	for (i = 0; i < ARRAY_SIZE(soft_lane_isas); i++)
		if (soft_lane_isas[i].able())
			soft_lane_isas[i].ns = soft_lanes_time(bench, soft_lane_isas[i].isa,
							       soft_lanes_words,
							       ARRAY_SIZE(soft_lanes_words),
							       SOFT_LANES_PIECE);
}

/* Of the interpreter that was chosen. */
static void soft_lanes_time_slow(struct soft_lanes_bench *bench)
{
	u64 divide_ns = soft_lanes_time(bench, soft_lanes, soft_lanes_divide,
					ARRAY_SIZE(soft_lanes_divide), SOFT_LANES_PIECE);
	u64 denormal_ns = soft_lanes_time(bench, soft_lanes, soft_lanes_denormal,
					  ARRAY_SIZE(soft_lanes_denormal), SOFT_LANES_PIECE);
	u64 quotient_ns = soft_lanes_time(bench, soft_lanes, soft_lanes_quotient,
					  ARRAY_SIZE(soft_lanes_quotient), SOFT_LANES_PIECE_SLOW);

	soft_lanes_insn_ns = max(max(divide_ns, denormal_ns) / SOFT_LANES_PIECE, SOFT_INSN_NS);
	/* A quotient and the difference beside it together: somewhat more than one may take. */
	soft_lanes_slow_ns = max(2 * quotient_ns / SOFT_LANES_PIECE_SLOW, soft_lanes_insn_ns);
}

static struct soft_lane_isa *soft_lanes_best(void)
{
	struct soft_lane_isa *best = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(soft_lane_isas); i++)
		if (soft_lane_isas[i].ns && (!best || soft_lane_isas[i].ns < best->ns))
			best = &soft_lane_isas[i];
	return best;
}

static int soft_lanes_force(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(soft_lane_isas); i++) {
		if (strcmp(name, soft_lane_isas[i].isa->name))
			continue;
		if (!soft_lane_isas[i].able()) {
			pr_err("simt=%s: this CPU, or its kernel, has not got that\n", name);
			return -EINVAL;
		}
		soft_lanes = soft_lane_isas[i].isa;
		return 0;
	}
	pr_err("simt=%s: must be auto, scalar, sse2 or avx2\n", name);
	return -EINVAL;
}

static int soft_lanes_choose(const char *name)
{
	struct soft_lane_isa *best;

	if (strcmp(name, "auto"))
		return soft_lanes_force(name);
	best = soft_lanes_best();
	if (!best) {
		pr_err("no interpreter of programs runs on this CPU\n");
		return -ENODEV;
	}
	soft_lanes = best->isa;
	pr_info("programs run with %s: %llu ns for an instruction of %u lanes\n",
		soft_lanes->name, best->ns / SOFT_LANES_PIECE, SIMT_LANES);
	return 0;
}

/**
 * soft_lanes_init() - time the interpreters and choose one
 * @name: of the one to choose; "auto": the fastest
 * Context: module init.
 * Return: 0, or -errno, for which the log has the reason.
 */
int soft_lanes_init(const char *name)
{
	struct soft_lanes_bench *bench = soft_lanes_bench_alloc();
	int ret;

	if (!bench)
		return -ENOMEM;
	soft_lanes_time_all(bench);
	ret = soft_lanes_choose(name);
	if (!ret)
		soft_lanes_time_slow(bench);
	soft_lanes_bench_free(bench);
	return ret;
}

static int soft_lanes_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(soft_lane_isas); i++) {
		const struct soft_lane_isa *lane = &soft_lane_isas[i];

		if (lane->ns)
			seq_printf(m, "%s %llu ps%s\n", lane->isa->name,
				   lane->ns * 1000 / SOFT_LANES_PIECE,
				   lane->isa == soft_lanes ? " chosen" : "");
		else
			seq_printf(m, "%s not on this CPU\n", lane->isa->name);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(soft_lanes);

/*
 * Makes the files "simt", how long an instruction takes on each interpreter, and "simt_insn_ns" and
 * "simt_slow_ns", how long the engine reckons that one may take on the chosen interpreter: in most
 * programs, and in those that have some of the slowest.
 */
void soft_lanes_debugfs(struct dentry *dir)
{
	debugfs_create_file("simt", 0400, dir, NULL, &soft_lanes_fops);
	debugfs_create_u32("simt_insn_ns", 0400, dir, &soft_lanes_insn_ns);
	debugfs_create_u32("simt_slow_ns", 0400, dir, &soft_lanes_slow_ns);
}
