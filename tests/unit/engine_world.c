// SPDX-License-Identifier: GPL-2.0
/* What surrounds the execution of packets, as far as it comes to that. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "soft/work/beside.h"
#include "soft/work/lanes.h"
#include "engine_world.h"

struct engine_world world;
unsigned int engine_warnings;
struct page engine_zero_page;
const struct simt_isa *soft_lanes;

static const struct vgpu_instance_info info = { .fb_bytes = FB_BYTES, .num_heads = 1 };
static const struct vgpu_engine_desc desc = { "ce0", VGPU_HW_ENGINE_CE, 0 };
static struct soft_packet_desc packet_desc;
static struct page *pages[FB_BYTES / PAGE];
static u64 next_table;

u64 ktime_get_ns(void)
{
	return world.now_ns;
}

/* Work takes its time. Others read the clock, too; only soft_stop_clock() says when it did. */
static void pass(u64 ns)
{
	world.looks += world.unit->now_ns != world.looked_ns;
	world.looked_ns = world.unit->now_ns;
	world.now_ns += ns;
	world.gap_ns = max(world.gap_ns, world.now_ns - world.looked_ns);
	if (world.events && !--world.events) {
		world.event();
		/* As soft_stop_wanted() would, had it been called here. */
		world.inst->queues.space_gen++;
		soft_invalidate_look(world.unit);
	}
}

void *memset32(u32 *at, u32 value, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++)
		at[i] = value;
	pass(words / WORDS_PER_NS);
	return at;
}

void world_open(void)
{
	struct soft_instance *inst = calloc(1, sizeof(*inst) + sizeof(inst->queues.channel[0]));

	memset(&world, 0, sizeof(world));
	memset(pages, 0, sizeof(pages));
	next_table = 2 * PAGE;
	inst->gpu = &world.gpu;
	inst->mem.fb_bytes = FB_BYTES;
	inst->queues.info = &info;
	inst->queues.engine = world.gpu.part0.engine;
	inst->queues.mem = &inst->mem;
	inst->queues.work = &inst->work;
	inst->work.compute.channel = &world.contexts;
	inst->queues.nr_channels = 1;
	world.inst = inst;
	world.ch = inst->queues.channel;
	world.ch->queues = &inst->queues;
	world.ch->hw = &world.hw;
	world.engine = &world.gpu.part0.engine[0];
	world.engine->queues = &inst->queues;
	world.engine->desc = &desc;
	world.engine->types = soft_packet_types;
	world.engine->state.counter = SOFT_ENGINE_RUNNING;
	world.engine->run.deadline_ns = U64_MAX;
	world.unit = &world.engine->lead;
	world.unit->engine = world.engine;
	world.unit->view.mem = &inst->mem;
	world.unit->section = &world.section;
}

void world_close(void)
{
	size_t i;

	BUG_ON(engine_warnings);
	for (i = 0; i < FB_BYTES / PAGE; i++)
		free(pages[i]);
	for (i = 0; i < SOFT_BOUNCE_PAGES; i++)
		free(world.ch->exec.bounce[i]);
	free(world.inst);
}

void *world_page(u64 at)
{
	struct page **page = &pages[at / PAGE];

	if (!*page)
		*page = calloc(1, sizeof(**page));
	return (*page)->bytes + at % PAGE;
}

void world_unmap(void)
{
	memset(world_page((ROOT & VGPU_HW_ROOT_PAGE_MASK) * PAGE), 0, PAGE);
}

void world_map(u64 va, u64 at, u64 flags)
{
	u64 *table = world_page((ROOT & VGPU_HW_ROOT_PAGE_MASK) * PAGE), *entry;
	unsigned int level;

	for (level = 2; level; level--) {
		entry = &table[va >> (12 + 9 * level) & 511];
		if (!*entry) {
			*entry = htole64(next_table / PAGE << VGPU_HW_PTE_PAGE_SHIFT |
					 VGPU_HW_PTE_V);
			next_table += PAGE;
		}
		table = world_page((le64toh(*entry) >> VGPU_HW_PTE_PAGE_SHIFT) * PAGE);
	}
	table[va >> 12 & 511] = htole64(at / PAGE << VGPU_HW_PTE_PAGE_SHIFT | flags |
					VGPU_HW_PTE_V | VGPU_HW_PTE_R | VGPU_HW_PTE_W);
}

enum soft_end world_execute_type(const void *operands, size_t bytes, void *execute)
{
	struct soft_exec *exec = &world.ch->exec;

	packet_desc.execute = execute;
	memset(&exec->packet, 0, sizeof(exec->packet));
	BUG_ON(bytes > sizeof(exec->packet.operands));
	memcpy(exec->packet.operands, operands, bytes);
	exec->packet.desc = &packet_desc;
	memset(exec->work, 0, sizeof(exec->work));
	exec->step = SOFT_STEP_BODY;
	return world_run(1);
}

enum soft_end world_run(u32 nr)
{
	enum soft_end end;

	do {
		soft_stop_wanted(world.unit, NULL, SOFT_PACKET_WORK);
		pass(PACKET_NS);
		end = soft_exec(world.engine, world.ch, &world.fault);
	} while ((end == SOFT_END_STOPPED && !world.unit->rests) || end == SOFT_END_WAIT ||
		 (end == SOFT_END_PACKET && --nr));
	return end;
}

struct page *soft_store_peek(struct soft_store *store, unsigned long pgoff)
{
	pass(LOOK_NS);
	return pages[pgoff];
}

struct page *soft_store_page(struct soft_store *store, unsigned long pgoff, gfp_t gfp)
{
	if (!pages[pgoff])
		pass(FRESH_NS);
	world_page(pgoff * PAGE);
	return pages[pgoff];
}

/* Nothing is tracked here. */
void soft_store_mark_tracked(struct soft_store *store, unsigned long pgoff)
{
	abort();
}

struct page *soft_store_alloc(struct soft_store *store, gfp_t gfp)
{
	pass(FRESH_NS);
	return calloc(1, sizeof(struct page));
}

struct vgpu_dma *vgpu_dma_alloc(struct vgpu_instance *instance, gfp_t gfp)
{
	pass(0);
	return calloc(1, sizeof(struct vgpu_dma));
}

void vgpu_dma_submit(struct vgpu_dma *dma)
{
	if (world.transfer && !dma->work)
		world.transfer(dma);
	dma->complete(dma);
}

void vgpu_dma_put(struct vgpu_dma *dma)
{
	free(dma);
}

void vgpu_dma_forget(struct vgpu_dma *dma)
{
	abort();
}

bool soft_queue_unstall(struct soft_channel *ch)
{
	return false;
}

void soft_queue_announce(struct soft_queues *queues, unsigned int engine)
{
}

bool vgpu_short_pause(unsigned long *since)
{
	abort();
}

void host_sleep(void)
{
	BUG_ON(!world.sleep);
	world.sleep();
}

/* The core is told what happens. */
void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			   u64 put)
{
}

void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine, u32 channel, u64 index,
		      u8 type, u64 bytes)
{
}

void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
}

u64 vgpu_present(struct vgpu_instance *instance)
{
	return 0;
}

void *vgpu_instance_backend(const struct vgpu_instance *instance)
{
	return &world.inst->queues;
}

void world_dispatch(struct soft_context *context, struct soft_program *program)
{
	memset(context, 0, sizeof(*context));
	context->program = program;
	context->ch = world.ch;
	context->serial = 1;
	context->own.context = context;
	context->own.group.dispatch = &context->dispatch;
	context->own.group.mem = &context->own.mem;
	context->own.group.executed = 1;
	soft_flights_init(&context->flights);
	soft_flights_add(&context->flights, &context->own, true);
	world.contexts.used = context;
}

/* The engine has one unit. */
bool soft_beside_any(const struct soft_engine *engine)
{
	return false;
}

void soft_beside_begin(struct soft_beside *beside, struct soft_channel *ch)
{
	beside->nr = 1;
}

unsigned int soft_beside_take(struct soft_beside *beside, struct soft_engine *engine,
			      unsigned int most)
{
	abort();
}

void soft_beside_give_back(struct soft_beside *beside, struct soft_unit *unit)
{
}

unsigned int soft_team_ready(struct soft_engine *engine)
{
	return 0;
}

void soft_team_open(struct soft_engine *engine, struct soft_channel *const *ch, unsigned int nr_ch,
		    unsigned int most, u64 end_ns)
{
	abort();
}

/* No engine here hangs. */
void soft_rest(struct soft_engine *engine)
{
}

bool soft_team_extend(struct soft_engine *engine, u64 end_ns)
{
	abort();
}

void soft_team_close(struct soft_engine *engine)
{
	abort();
}

bool soft_beside_stays(const struct soft_beside *beside, const struct soft_engine *engine)
{
	abort();
}

bool soft_context_grow(struct soft_channel *ch)
{
	abort();
}

/* Programs have begun, and do what the test says or fault at the end of a section. */
enum simt_end soft_lanes_section(struct simt_group *group, u32 *piece, bool slow, u64 end_ns,
				 const bool *leave, u64 *took_ns)
{
	u64 from_ns = world.now_ns;
	enum simt_end end;

	if (world.program) {
		group->executed++;
		end = world.program(group);
		*took_ns = world.now_ns - from_ns;
		return end;
	}
	pass(SECTION_NS);
	*took_ns = SECTION_NS;
	group->executed++;
	return SIMT_FAULT;
}

bool soft_lanes_looked(u32 *looks, u64 end_ns)
{
	return false;
}

bool simt_dispatch_next(struct simt_dispatch *dispatch, struct simt_group *group)
{
	abort();
}

void simt_tlb_flush(struct simt_tlb *tlb)
{
	world.flushes++;
}

enum vgpu_hw_fault soft_program_decode(const struct vgpu_hw_program *raw,
				       const struct soft_limits *limits,
				       const struct soft_dispatch_operands *op,
				       struct soft_program_head *head, u64 *fault_addr)
{
	abort();
}

struct soft_program *soft_programs_find(struct soft_programs *programs,
					const struct soft_program_key *key)
{
	abort();
}

bool soft_programs_valid(struct soft_programs *programs, const struct soft_program *program)
{
	return true;
}

void soft_programs_put(struct soft_programs *programs, struct soft_program *program)
{
	abort();
}

bool soft_context_ready(struct soft_channel *ch, bool prepared)
{
	abort();
}

void soft_context_begin(struct soft_channel *ch, struct soft_program *program)
{
	abort();
}

void soft_context_end(struct soft_channel *ch)
{
	world.contexts.used = NULL;
}

enum soft_end soft_context_prepare(struct soft_channel *ch, const struct soft_program_key *key,
				   struct soft_program *program)
{
	abort();
}

enum soft_end soft_context_prepared(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault)
{
	abort();
}
