// SPDX-License-Identifier: GPL-2.0
/*
 * How long programs take to stop: from a request until the engine is free. As in
 * soft/work/dispatch.c, the engine executes a section of a program, looks whether it is to stop,
 * and executes another one; a section is soft/work/lanes.c as it is. Pages are found by a walk
 * through three levels of tables for each miss of the TLB. Requests come at times that are drawn
 * beforehand, and have nothing to do with sections: another thread would have to get a processor
 * first.
 *
 * In the kernel preemption is off in a section. Here another process may get the processor
 * meanwhile; then the section is over by the clock, whatever the program has done of it. Such stops
 * are not counted, but told.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/container_of.h>
#include <linux/minmax.h>

#include "clk.h"
#include "die.h"
#include "engine.h"
#include "host_team.h"
#include "programs.h"
#include "rows.h"
#include "soft/memory/walk.h"
#include "soft/queue/team.h"
#include "soft/work/lanes.h"
#include "stats.h"

#define PAGE		((u64)VGPU_HW_PAGE_SIZE)
#define STOPS		2000
#define STOPS_LEAST	50
#define TRIES		(5 * STOPS)
#define ASK_NS		100000	/* after a stop, at least, and at most twice this */
#define REACH_US	100
#define LOST_NS		5000	/* of a section, in which its thread had no processor */
#define FOR_EVER	(~0ull)
#define CHECK_ROUNDS	7
#define CHECK_ITEMS	256	/* a group of 8 warps */
#define PRIVATE_BYTES	64

/* Entries of a table, and tables of the lowest level: for 64 MiB of pattern and some more. */
#define ENTRIES		512
#define TABLES		33
#define PATTERN_PAGES	16384
#define FB_PAGES	((2 + TABLES) + TABLES * ENTRIES)
#define FB_BYTES	(FB_PAGES * PAGE)

/* Pages of the framebuffer: tables, and behind them what programs see from VGPU_HW_VA_GLOBAL on. */
#define ROOT_PAGE	0
#define MIDDLE_PAGE	1
#define TABLE_PAGE	2
#define DATA_PAGE	(TABLE_PAGE + TABLES)

/* Where programs have their things, from VGPU_HW_VA_GLOBAL on. */
#define ARGS_AT		0
#define OUT_AT		PAGE
#define PATTERN_AT	(2 * PAGE)

/**
 * struct stopper - an engine that is asked to stop
 * @mem:      finds pages
 * @tlb:      where they are
 * @dispatch: what is executed
 * @group:    its group in flight
 * @program:  the same, decoded
 * @fb:       the vGPU's framebuffer
 * @looks:    how often a page was looked for in this section
 * @end_ns:   when this section is to end
 * @leave:    it is to end at once
 * @piece:    see soft_lanes_section()
 * @slow:     likewise
 * @lost_ns:  for how long its thread had no processor in its last section
 * @random:   when it is asked to stop
 */
struct stopper {
	struct simt_mem mem;
	struct simt_tlb tlb;
	struct simt_dispatch dispatch;
	struct simt_group group;
	struct simt_program *program;
	u8 *fb;
	u32 looks;
	u64 end_ns;
	const bool *leave;
	u32 piece;
	bool slow;
	u64 lost_ns;
	uint64_t random;
};

/**
 * struct stop_case - a program that is to be stopped
 * @program: which
 * @pages:   in which it looks for memory: a power of two, and more or fewer than a TLB has entries
 * @items:   of a work-group
 */
static const struct stop_case {
	const struct program *program;
	u32 pages;
	u32 items;
} cases[] = {
	{ &program_loop, 1, CHECK_ITEMS },
	{ &program_diverged, 1, CHECK_ITEMS },
	{ &program_slow, 1, CHECK_ITEMS },
	{ &program_bursts, 1, CHECK_ITEMS },
	{ &program_loads, PATTERN_PAGES, CHECK_ITEMS },
	{ &program_loads, SIMT_TLB / 4, CHECK_ITEMS },
	{ &program_misses, PATTERN_PAGES, CHECK_ITEMS },
	{ &program_misses, SIMT_TLB / 4, CHECK_ITEMS },
	{ &program_atomics, PATTERN_PAGES, CHECK_ITEMS },
	{ &program_atomics, SIMT_TLB / 4, CHECK_ITEMS },
	{ &program_empty, 1, VGPU_HW_GROUP_MAX },
};

static double stop_us[STOPS];
static unsigned int nr_stops, nr_lost;	/* of the last program, and of all that do not count */

/* By unit. They have one framebuffer. */
static struct stopper stoppers[SOFT_UNITS_MAX];
static const struct stop_case *stopped;
static const bool never;

/* When it is asked to stop, and what lost_ns() was when it looked last. */
static u64 asked_ns, before_ns;

static void *allocate(size_t bytes)
{
	void *at = aligned_alloc(PAGE, (bytes + PAGE - 1) & ~(PAGE - 1));

	if (!at)
		bench_die("out of memory");
	memset(at, 0, bytes);
	return at;
}

/* How long this thread had no processor so far. */
static u64 lost_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return clk_ns() - (u64)ts.tv_sec * 1000000000 - (u64)ts.tv_nsec;
}

/* As soft_dispatch_until(). */
static u64 stopper_until(const struct stopper *s)
{
	return READ_ONCE(*s->leave) ? 0 : s->end_ns;
}

static enum simt_end stopper_map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
				 enum vgpu_hw_fault *code)
{
	struct stopper *s = container_of(mem, struct stopper, mem);
	enum soft_walk_end end;
	struct soft_walk walk;

	if (soft_lanes_looked(&s->looks, stopper_until(s)))
		return SIMT_WAIT;
	end = soft_walk_begin(&walk, VGPU_HW_ROOT_VALID | ROOT_PAGE, va, FB_BYTES);
	while (end == SOFT_WALK_MORE)
		end = soft_walk_step(&walk, le64toh(*(u64 *)(s->fb + walk.at)));
	if (end == SOFT_WALK_FAULT) {
		*code = VGPU_HW_FAULT_PAGE;
		return SIMT_FAULT;
	}
	*keep = true;
	*page = s->fb + (walk.addr & ~(PAGE - 1));
	return SIMT_DONE;
}

/* struct simt_mem.over, as soft/work/dispatch.c has it. */
static bool stopper_over(struct simt_mem *mem)
{
	return clk_ns() >= stopper_until(container_of(mem, struct stopper, mem));
}

static void set_entry(struct stopper *s, u64 table, u64 index, u64 page, u64 flags)
{
	u64 *entry = (u64 *)(s->fb + table * PAGE) + index;

	*entry = htole64(page << VGPU_HW_PTE_PAGE_SHIFT | VGPU_HW_PTE_V | flags);
}

static void make_tables(struct stopper *s)
{
	u64 i;

	set_entry(s, ROOT_PAGE, VGPU_HW_VA_GLOBAL >> 30, MIDDLE_PAGE, 0);
	for (i = 0; i < TABLES; i++)
		set_entry(s, MIDDLE_PAGE, i, TABLE_PAGE + i, 0);
	for (i = 0; i < TABLES * ENTRIES; i++)
		set_entry(s, TABLE_PAGE + i / ENTRIES, i % ENTRIES, DATA_PAGE + i,
			  VGPU_HW_PTE_R | VGPU_HW_PTE_W);
}

/* What a program sees at that distance from VGPU_HW_VA_GLOBAL. */
static void *global(struct stopper *s, u64 at)
{
	return s->fb + DATA_PAGE * PAGE + at;
}

static void stopper_open(struct stopper *s)
{
	memset(s, 0, sizeof(*s));
	s->fb = allocate(FB_BYTES);
	/* No fault of this process may be part of a section: the engine's pages are there. */
	memset(s->fb, PROGRAM_PATTERN & 0xff, FB_BYTES);
	memset(s->fb, 0, DATA_PAGE * PAGE);
	make_tables(s);
	memset(global(s, PATTERN_AT), PROGRAM_PATTERN & 0xff, (PATTERN_PAGES + 1) * PAGE);
	s->mem.map = stopper_map;
	s->mem.over = stopper_over;
	s->random = 88172645463325252ull;
}

static void stopper_begin(struct stopper *s)
{
	simt_dispatch_begin(&s->dispatch);
	simt_group_init(&s->group, &s->dispatch);
	simt_dispatch_next(&s->dispatch, &s->group);
}

static void stopper_load(struct stopper *s, const struct stop_case *c, bool ends)
{
	const struct program *program = c->program;
	struct simt_dispatch *dispatch = &s->dispatch;
	const u32 size[3] = { c->items, 1, 1 };
	struct program_args *args = global(s, ARGS_AT);

	*args = (struct program_args) {
		.rounds = ends ? CHECK_ROUNDS : FOR_EVER,
		.out = VGPU_HW_VA_GLOBAL + OUT_AT,
		.memory = VGPU_HW_VA_GLOBAL + PATTERN_AT,
		.mask = (c->pages - 1) * PAGE,
	};
	s->program = allocate(simt_program_bytes(program->nr));
	simt_program_init(s->program, program->nr);
	simt_program_decode(s->program, 0, program->words, program->nr);
	simt_program_finish(s->program);
	s->slow = simt_program_slow(s->program, soft_lanes->fused);
	s->piece = SOFT_PIECE_FIRST;
	*dispatch = (struct simt_dispatch) {
		.program = s->program,
		.image_bytes = program->nr * 4,
		.args = VGPU_HW_VA_GLOBAL + ARGS_AT,
		.private_bytes = PRIVATE_BYTES,
		.grid = { ends ? c->items : ~0u, 1, 1 },
	};
	memcpy(dispatch->group, size, sizeof(size));
	s->group = (struct simt_group) {
		.isa = soft_lanes,
		.tlb = &s->tlb,
		.mem = &s->mem,
		.private = allocate(simt_private_bytes(size, PRIVATE_BYTES)),
		.warps = allocate(simt_warps_bytes(size)),
	};
	simt_tlb_flush(&s->tlb);
	stopper_begin(s);
}

static void stopper_unload(struct stopper *s)
{
	free(s->group.warps);
	free(s->group.private);
	free(s->program);
}

static enum simt_end section_until(struct stopper *s, const struct program *program, u64 end_ns,
				   const bool *leave)
{
	u64 took_ns;
	enum simt_end end;

	s->looks = 0;
	s->end_ns = end_ns;
	s->leave = leave;
	end = soft_lanes_section(&s->group, &s->piece, s->slow, s->end_ns, leave, &took_ns);
	if (end == SIMT_FAULT)
		bench_die("%s: fault %d at pc %#llx, address %#llx", program->name,
			  s->group.fault.code, s->group.fault.pc, s->group.fault.addr);
	return end;
}

static enum simt_end section(struct stopper *s, const struct program *program)
{
	return section_until(s, program, clk_ns() + SOFT_SECTION_NS, &never);
}

/* Does the program what it is to do? */
static void check(struct stopper *s, const struct stop_case *c)
{
	const struct program *program = c->program;
	const u64 *out = global(s, OUT_AT);
	u64 id, has;

	stopper_load(s, c, true);
	while (section(s, program) != SIMT_DONE)
		;
	for (id = 0; program->result && id < c->items; id++) {
		has = le64toh(out[id]);
		if (has != program->result(id, CHECK_ROUNDS))
			bench_die("%s: work-item %llu has computed %#llx", program->name, id, has);
	}
	stopper_unload(s);
}

/* Each unit has an endless program of its own. */
static void section_once(unsigned int unit, u64 end_ns, const bool *leave)
{
	struct stopper *s = &stoppers[unit];
	u64 from_ns = lost_ns();

	if (section_until(s, stopped->program, end_ns, leave) == SIMT_DONE)
		stopper_begin(s);
	s->lost_ns = lost_ns() - from_ns;
}

/* As soft_dispatch_groups(). */
static bool section_work(unsigned int unit, u64 end_ns, const bool *leave)
{
	do {
		section_once(unit, end_ns, leave);
	} while (!READ_ONCE(*leave) && clk_ns() < end_ns);
	return true;
}

/* Whether the engine is not asked to stop: it looks after each piece of work. */
static bool section_stays(void)
{
	if (clk_ns() >= asked_ns)
		return false;
	before_ns = lost_ns();
	return true;
}

/* Returns false if a section does not count, as not all units have joined it. */
static bool section_all(unsigned int units)
{
	before_ns = lost_ns();
	if (units > 1)
		return host_team_section(units - 1, section_stays) >= units - 1;
	section_once(0, clk_ns() + SOFT_SECTION_NS, &never);
	return true;
}

/* Whether another process had the processor of a unit that was to stop. */
static bool is_lost(unsigned int units)
{
	unsigned int i;

	for (i = 1; i < units; i++)
		if (stoppers[i].lost_ns > LOST_NS)
			return true;
	return lost_ns() - before_ns > LOST_NS;
}

/* The engine goes on after each stop as in a new turn: with empty TLBs. */
static void collect(const struct program *program, unsigned int units)
{
	u64 now_ns;
	unsigned int tries = 0, i;
	bool all;

	nr_stops = 0;
	asked_ns = 0;
	while (nr_stops < STOPS && tries < TRIES) {
		if (!asked_ns)
			asked_ns = clk_ns() + ASK_NS + sample_random(&stoppers->random) % ASK_NS;
		all = section_all(units);
		now_ns = clk_ns();
		if (now_ns < asked_ns)
			continue;
		tries++;
		if (!all || is_lost(units))
			nr_lost++;
		else
			stop_us[nr_stops++] = (double)(now_ns - asked_ns) / 1000;
		for (i = 0; i < units; i++)
			simt_tlb_flush(&stoppers[i].tlb);
		asked_ns = 0;
	}
	if (nr_stops < STOPS_LEAST)
		bench_die("%s: other processes had the processor in %u stops of %u", program->name,
			  tries - nr_stops, tries);
}

static void measure(const struct stop_case *c, unsigned int units)
{
	unsigned int i;

	check(stoppers, c);
	stopped = c;
	for (i = 0; i < units; i++)
		stopper_load(&stoppers[i], c, false);
	collect(c->program, units);
	for (i = 0; i < units; i++)
		stopper_unload(&stoppers[i]);
}

static void print_stops(const char *name, unsigned int units)
{
	double worst = 0, p99;
	char *detail = NULL;
	size_t bytes, i;
	FILE *text = open_memstream(&detail, &bytes);

	if (!text)
		bench_die("out of memory");
	nr_lost = 0;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		measure(&cases[i], units);
		p99 = stats_quantile(stop_us, nr_stops, 0.99);
		worst = p99 > worst ? p99 : worst;
		fprintf(text, "; %s (%s", cases[i].program->name, cases[i].program->brief);
		if (cases[i].pages > 1)
			fprintf(text, ", of %u", cases[i].pages);
		fprintf(text, "): %.1f, %.1f, %.1f", stats_quantile(stop_us, nr_stops, 0.5), p99,
			stop_us[nr_stops - 1]);
	}
	fclose(text);
	printf("{\"name\": \"%s\", \"value\": %.1f, \"peer\": null, \"ratio\": null, \"unit\": \"us\", \"measured\": \"wall\", \"higher\": false, \"reach\": %d, \"detail\": \"request to stop until the engine is free, %u units at work; 99th percentile of the worst program; up to %u stops of each in user space on %s, beside %u that do not count as another process had the processor; median, 99th percentile, largest%s\"}\n",
	       name, worst, REACH_US, units, STOPS, soft_lanes->name, nr_lost, detail);
	fflush(stdout);
	free(detail);
}

void row_stop(bool all)
{
	unsigned int units = 1, i;

	if (soft_lanes_init("auto"))
		bench_die("no interpreter runs on this CPU");
	if (all)
		units = host_team_open(section_work);
	stopper_open(stoppers);
	for (i = 1; i < units; i++)
		stoppers[i] = stoppers[0];
	if (!all)
		print_stops("compute_stop", 1);
	else if (units > 1)
		print_stops("compute_units_stop", units);
	if (all)
		host_team_close();
	free(stoppers->fb);
}
