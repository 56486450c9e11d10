// SPDX-License-Identifier: GPL-2.0
/* A vGPU of the software GPU in one thread: see vgpu_world.h. What its files call of the core. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "soft/card/gpu.h"
#include "soft/card/instance.h"
#include "soft/card/state.h"
#include "soft/work/flight.h"
#include "soft/work/lanes.h"
#include "soft/work/packet_types.h"
#include "soft/work/section.h"
#include "vgpu_world.h"
#include "vgpu_world_guest.h"

#define TURN_NS		300000
#define STEPS		64	/* of packets in a turn */

unsigned int engine_warnings;
struct page engine_zero_page;
const struct simt_isa *soft_lanes = &simt_isa_scalar;

static const struct vgpu_engine_desc descs[SOFT_ENGINES] = {
	{ "gr0", VGPU_HW_ENGINE_GR, 0 }, { "ce0", VGPU_HW_ENGINE_CE, 0 },
	{ "ce1", VGPU_HW_ENGINE_CE, 1 },
};

static const struct vgpu_instance_info info = {
	.fb_bytes = WORLD_FB, .nr_channels = WORLD_CHANNELS, .num_heads = 2, .max_width = 1920,
	.max_height = 1200,
};

/**
 * struct loose - a page that belongs to no address
 * @page: the page; first, so that a reference to it is one to this
 * @next: in the list of all
 */
struct loose {
	struct page page;
	struct loose *next;
};

static struct {
	struct soft_gpu gpu;
	unsigned int asked;
	struct soft_instance *inst;
	struct page *fb[WORLD_FB / PAGE_SIZE];
	struct page *pages[WORLD_CHANNELS];
	u8 sys[WORLD_SYS];
	struct loose *loose;
	struct list_head pending;
	u64 now_ns;
	u32 paced;
} world;

static struct vgpu_instance *vgpu(void)
{
	return (struct vgpu_instance *)&world;
}

u64 ktime_get_ns(void)
{
	world.now_ns += WORLD_LOOK_NS;
	return world.now_ns;
}

void *memset32(u32 *at, u32 value, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++)
		at[i] = value;
	return at;
}

static struct page **slot(struct soft_store *store, unsigned long pgoff)
{
	bool fb = store == &world.inst->mem.fb;

	DIE_IF(!fb && store != &world.inst->mem.pages);
	DIE_IF(pgoff >= (fb ? ARRAY_SIZE(world.fb) : ARRAY_SIZE(world.pages)));
	return fb ? &world.fb[pgoff] : &world.pages[pgoff];
}

struct page *soft_store_peek(struct soft_store *store, unsigned long pgoff)
{
	return *slot(store, pgoff);
}

struct page *soft_store_page(struct soft_store *store, unsigned long pgoff, gfp_t gfp)
{
	struct page **page = slot(store, pgoff);

	/* An engine does not always get memory at once. */
	if (!*page && gfp == SOFT_GFP_ENGINE && ++world.asked % 3)
		return NULL;
	if (!*page)
		*page = calloc(1, sizeof(**page));
	return *page;
}

struct page *soft_store_alloc(struct soft_store *store, gfp_t gfp)
{
	struct loose *loose = calloc(1, sizeof(*loose));

	loose->next = world.loose;
	world.loose = loose;
	return &loose->page;
}

void soft_store_mark_tracked(struct soft_store *store, unsigned long pgoff)
{
	DIE_IF("nothing is tracked");
}

bool soft_store_host_short(void)
{
	return false;
}

/* The worker, which does its requests between two turns. */

struct vgpu_dma *vgpu_dma_alloc(struct vgpu_instance *instance, gfp_t gfp)
{
	struct vgpu_dma *dma = calloc(1, sizeof(*dma));

	dma->ref.count = 1;
	INIT_LIST_HEAD(&dma->link);
	return dma;
}

void vgpu_dma_put(struct vgpu_dma *dma)
{
	DIE_IF(dma->ref.count <= 0);
	if (--dma->ref.count)
		return;
	if (dma->release)
		dma->release(dma);
	free(dma);
}

void vgpu_dma_submit(struct vgpu_dma *dma)
{
	dma->ref.count++;
	list_add_tail(&dma->link, &world.pending);
}

void vgpu_dma_forget(struct vgpu_dma *dma)
{
	if (!list_empty(&dma->link)) {
		list_del_init(&dma->link);
		vgpu_dma_put(dma);
	}
	vgpu_dma_put(dma);
}

static int transfer(struct vgpu_dma *dma)
{
	u64 at = dma->addr;
	unsigned int i;

	DIE_IF(!dma->len || dma->len > VGPU_DMA_MAX || dma->nr_vec > VGPU_DMA_MAX_VEC);
	if (at >= WORLD_SYS || dma->len > WORLD_SYS - at)
		return -EFAULT;
	for (i = 0; i < dma->nr_vec; i++) {
		const struct bio_vec *vec = &dma->vec[i];
		u8 *bytes = vec->bv_page->bytes + vec->bv_offset;

		DIE_IF(vec->bv_offset + vec->bv_len > PAGE_SIZE);
		if (dma->write)
			memcpy(world.sys + at, bytes, vec->bv_len);
		else
			memcpy(bytes, world.sys + at, vec->bv_len);
		at += vec->bv_len;
	}
	DIE_IF(at != dma->addr + dma->len);
	return 0;
}

static void work(struct vgpu_dma *dma)
{
	list_del_init(&dma->link);
	dma->result = dma->work ? dma->work(dma) : transfer(dma);
	if (dma->ran)
		dma->ran(dma);
	if (dma->complete)
		dma->complete(dma);
	vgpu_dma_put(dma);
}

static void work_all(void)
{
	struct vgpu_dma *dma, *next;

	list_for_each_entry_safe(dma, next, &world.pending, link)
		work(dma);
}

bool vgpu_short_pause(unsigned long *since)
{
	return false;
}

void host_sleep(void)
{
	DIE_IF("nobody is there to wait for");
}

/* The core. Each eighth frame is not due yet. */

u64 vgpu_present(struct vgpu_instance *instance)
{
	return ++world.paced % 8 ? 0 : world.now_ns + TURN_NS;
}

void *vgpu_instance_backend(const struct vgpu_instance *instance)
{
	return &world.inst->queues;
}

void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			   u64 put)
{
}

void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine, u32 channel, u64 index,
		      u8 type, u64 bytes)
{
}

void vgpu_channel_fault(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			enum vgpu_hw_fault code, u64 index)
{
}

void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
	DIE_IF(vector >= VGPU_HW_VECTORS);
}

void vgpu_doorbell(struct vgpu_instance *instance)
{
}

/* Nothing is charged here. */
u64 vgpu_engine_charged_ns(const struct vgpu_instance *instance, unsigned int engine)
{
	return 0;
}

u64 vgpu_engine_busy_ns(struct vgpu_instance *instance, unsigned int engine)
{
	return 0;
}

unsigned int vgpu_engine_due(struct vgpu_instance *instance, unsigned int engine)
{
	return 0;
}

void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine)
{
}

void vgpu_edid_read(struct vgpu_instance *instance, u32 offset, void *buf, size_t count)
{
}

/* No engine here hangs. */
void soft_rest(struct soft_engine *engine)
{
}

/* The vGPU */

static void make_engine(struct soft_engine *engine, unsigned int index)
{
	engine->index = index;
	engine->desc = &descs[index];
	engine->types = soft_packet_types;
	engine->queues = &world.inst->queues;
	engine->state.counter = SOFT_ENGINE_RUNNING;
	engine->lead.engine = engine;
	engine->lead.view.mem = &world.inst->mem;
	if (index)
		return;
	engine->lead.section = calloc(1, sizeof(*engine->lead.section));
	world_team_init(engine);
}

void vgpu_world_open(u64 seed)
{
	struct soft_instance *inst;
	unsigned int i;

	inst = calloc(1, sizeof(*inst) + WORLD_CHANNELS * sizeof(inst->queues.channel[0]));
	memset(&world, 0, sizeof(world));
	INIT_LIST_HEAD(&world.pending);
	engine_warnings = 0;
	world.inst = inst;
	inst->gpu = &world.gpu;
	inst->info = &info;
	inst->mem.vgpu = vgpu();
	inst->mem.fb_bytes = WORLD_FB;
	inst->mem.fb.nr_pages = ARRAY_SIZE(world.fb);
	inst->mem.pages.nr_pages = WORLD_CHANNELS;
	DIE_IF(soft_compute_init(&inst->work.compute, &inst->mem, WORLD_CHANNELS,
				 &world.gpu.programs_decoded));
	inst->display.vgpu = vgpu();
	inst->display.info = &info;
	inst->display.screen = &inst->work.screen;
	raw_spin_lock_init(&inst->work.screen.lock);
	soft_display_reset(&inst->display);
	inst->queues.info = &info;
	inst->queues.engine = world.gpu.part0.engine;
	inst->queues.mem = &inst->mem;
	inst->queues.work = &inst->work;
	inst->queues.nr_channels = WORLD_CHANNELS;
	soft_queues_init(&inst->queues);
	for (i = 0; i < SOFT_ENGINES; i++)
		make_engine(&world.gpu.part0.engine[i], i);
	guest_fill_memory(seed);
}

struct soft_queues *world_queues(void)
{
	return &world.inst->queues;
}

void *world_at(u64 offset)
{
	struct page *page = soft_store_page(&world.inst->mem.fb, offset / PAGE_SIZE, 0);

	return page->bytes + offset % PAGE_SIZE;
}

u8 *world_sys(void)
{
	return world.sys;
}

void vgpu_world_submit(u64 seed)
{
	guest_submit(seed);
}

/* As soft_engine_step() does. */
static void step(struct soft_engine *engine, struct soft_channel *ch)
{
	struct soft_fault fault = {};
	enum soft_end end = soft_exec(engine, ch, &fault);

	if (end == SOFT_END_FAULT)
		soft_channel_fault(ch, &fault, ch->get);
	soft_queue_release(engine, ch, end, end == SOFT_END_EMPTY);
}

/* What helpers have ended is no dispatch any more: a state has no form for that. */
static void check_left(const struct soft_channel *ch)
{
	const struct soft_context *context = soft_context(ch);

	DIE_IF(ch->exec.ended || ch->busy);
	if (context && context->program && ch->state == VGPU_HW_STATE_AWAKE)
		DIE_IF(soft_flights_ended(&context->flights, &context->dispatch));
}

/* As soft_engine_do_run() does. */
static void turn(struct soft_engine *engine)
{
	struct soft_queues *queues = &world.inst->queues;
	struct soft_unit *unit = &engine->lead;
	struct soft_channel *ch;
	unsigned int steps = 0, i;

	engine->run.instance = vgpu();
	/* Long enough now and then that the leader goes round. */
	engine->run.deadline_ns = world.now_ns + (engine->runs % 4 ? TURN_NS : 8 * TURN_NS);
	engine->preempt = false;
	engine->state.counter = SOFT_ENGINE_RUNNING;
	engine->runs++;
	soft_unit_begin_run(unit, world.now_ns);
	soft_turn_begin_run(&engine->turns, unit->now_ns);
	DIE_IF(!soft_queue_begin(queues, engine->index));
	engine->queues = queues;
	soft_invalidate_begin_run(unit);
	while (!soft_stop_wanted(unit, NULL, SOFT_PACKET_WORK) && steps++ < STEPS) {
		ch = soft_queue_take(queues, engine->index, unit->now_ns);
		if (!ch)
			break;
		step(engine, ch);
	}
	while ((ch = soft_queue_take_ended(queues, engine->index)))
		step(engine, ch);
	for (i = 0; i < queues->nr_channels; i++)
		check_left(&queues->channel[i]);
	soft_queue_end(engine, false);
}

void vgpu_world_run(unsigned int turns)
{
	unsigned int i;

	while (turns--) {
		for (i = 0; i < SOFT_ENGINES; i++)
			turn(&world.gpu.part0.engine[i]);
		if (turns)
			work_all();
	}
}

void vgpu_world_save(struct vgpu_records *to)
{
	DIE_IF(soft_state_save(vgpu(), to));
}

int vgpu_world_load(const void *data, size_t bytes, struct vgpu_record_reader *from)
{
	int ret = vgpu_record_begin(from, data, bytes) ?: soft_state_load(vgpu(), from);

	while (!ret && from->type)
		ret = vgpu_record_skip(from);
	return ret;
}

void vgpu_world_reset(void)
{
	struct soft_instance *inst = world.inst;

	soft_channel_stop_all(&inst->queues);
	soft_display_reset(&inst->display);
	soft_programs_drop(&inst->work.compute.programs);
	soft_channel_restart(&inst->queues);
}

u64 vgpu_world_beside;

void vgpu_world_close(void)
{
	struct soft_instance *inst = world.inst;
	struct loose *loose;
	size_t i;

	vgpu_world_reset();
	work_all();
	DIE_IF(engine_warnings);
	DIE_IF(inst->work.compute.programs.bytes);
	DIE_IF(atomic64_read(&inst->work.compute.context_bytes));
	DIE_IF(atomic64_read(&inst->work.compute.flight_bytes));
	soft_compute_exit(&inst->work.compute);
	for (i = 0; i < ARRAY_SIZE(world.fb); i++)
		free(world.fb[i]);
	for (i = 0; i < WORLD_CHANNELS; i++)
		free(world.pages[i]);
	while (world.loose) {
		loose = world.loose;
		world.loose = loose->next;
		free(loose);
	}
	vgpu_world_beside += world.gpu.part0.engine[0].team.beside;
	free(world.gpu.part0.engine[0].lead.section);
	free(inst);
}
