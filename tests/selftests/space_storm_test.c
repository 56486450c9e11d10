// SPDX-License-Identifier: GPL-2.0
/*
 * A guest that writes anything to its page tables, while engines walk them, while they are
 * invalidated and by the packets themselves, harms nobody but itself.
 */
#include <endian.h>
#include <pthread.h>
#include <string.h>

#include "load.h"
#include "rng.h"
#include "space.h"

#define CE		VGPU_HW_ENGINE_CE
#define TABLES		32u	/* pages that anything is written to */
#define PAGES		128u	/* the first ones, with tables and rings */
#define RINGS_VA	(-FX_GIB)
#define CHANNELS	6u
#define PACKETS		8u
#define RESTORE		256u	/* turns after which what leads to the rings is made anew */

static struct fx_vgpu other;

/**
 * struct vandal - a guest's threads, each with its own random numbers
 * @rng:     of the thread
 * @tables:  offset of the tables
 * @rings:   offset of the rings, a page for each channel
 * @thread:  the thread
 * @running: there is one, to be joined
 * @stop:    it is to end
 * @times:   what it has done so often
 */
struct vandal {
	struct rng rng;
	uint64_t tables;
	uint64_t rings;
	pthread_t thread;
	bool running;
	volatile bool stop;
	volatile uint64_t times;
};

/* They go on until cleanup() if the test fails. */
static struct vandal writer, flusher;
static struct load_client client;	/* load NULL: does not run */
static struct load load;

/**
 * struct way - entries that lead to the rings, and what they are to be
 * @middle: in the table that @to_top leads to
 * @bottom: in the table behind it, one for each ring
 * @to_*:   what is in there; @to_top is in the last entry of each of the tables
 */
static struct way {
	uint64_t *middle;
	uint64_t *bottom;
	uint64_t to_top;
	uint64_t to_middle;
	uint64_t to_bottom[CHANNELS];
} way;

/* Mostly an entry that leads to something, and to few pages, so that the machine has memory. */
static uint64_t some_entry(struct rng *rng, uint64_t tables)
{
	uint64_t page = tables / PAGE + rng_below(rng, TABLES), bits = VGPU_HW_PTE_V;

	switch (rng_below(rng, 16)) {
	case 0:
		return rng_next(rng);
	case 1 ... 3:	/* good at each level */
		page = 0;
		bits |= RW;
		break;
	case 4 ... 5:
		page = rng_below(rng, PAGES);
		bits |= RW;
		break;
	case 6 ... 7:
		page = buf.iova / PAGE + rng_below(rng, 20);
		bits |= RW | VGPU_HW_PTE_SYS;
		break;
	case 8:
		bits |= RW;
		break;
	}
	if (rng_below(rng, 16) == 0)
		bits ^= 1ull << rng_below(rng, 64);
	return page << VGPU_HW_PTE_PAGE_SHIFT | bits;
}

static void scribble(struct vandal *me)
{
	uint64_t at = rng_below(&me->rng, TABLES) * 512 + rng_below(&me->rng, 8);
	volatile uint64_t *entry = (void *)(v.dev->fb + me->tables);

	entry[at] = htole64(some_entry(&me->rng, me->tables));
	me->times++;
}

static void *scribbler(void *arg)
{
	struct vandal *me = arg;

	while (!me->stop) {
		scribble(me);
		if (me->times % 4096 == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

static void *invalidator(void *arg)
{
	struct vandal *me = arg;
	uint32_t page, root, reg;

	while (!me->stop) {
		page = (uint32_t)(me->tables / PAGE + rng_below(&me->rng, TABLES));
		root = rng_below(&me->rng, 4) ? VGPU_HW_ROOT_VALID | page : 0;
		reg = rng_below(&me->rng, 2) ? VGPU_HW_INVALIDATE_PAGES : VGPU_HW_INVALIDATE;
		if (!vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + reg, root))
			me->times++;
		if (rng_below(&me->rng, 16) == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

static uint64_t some_va(struct rng *rng)
{
	uint64_t va = rng_below(rng, 8) << 30 | rng_below(rng, 8) << 21 | rng_below(rng, 8) << 12 |
		(rng_below(rng, 512) & ~1ull) * 8;

	return rng_below(rng, 8) ? va : -va;
}

static void some_packet(struct rng *rng, struct vgpu_hw_packet *p)
{
	memset(p, 0, sizeof(*p));
	p->type = (uint8_t)(VGPU_HW_PKT_FILL + rng_below(rng, 2));
	p->dst = htole64(some_va(rng));
	p->width = htole64(8 + rng_below(rng, 2048) * 8);
	p->rows = htole32(1);
	if (p->type == VGPU_HW_PKT_COPY)
		p->src = htole64(some_va(rng));
	else
		p->value = htole32((uint32_t)some_entry(rng, 0));
	if (rng_below(rng, 4) == 0) {
		p->flags = VGPU_HW_PKT_SIGNAL;
		p->signal_addr = htole64(some_va(rng));
		p->signal_value = htole64(some_entry(rng, 0));
	}
	if (rng_below(rng, 16) == 0) {
		p->type = VGPU_HW_PKT_PRESENT;
		p->width = 0;
		p->rows = 0;
		p->present_width = htole32(64);
		p->present_height = htole32(1 + (uint32_t)rng_below(rng, 100));
		p->present_pitch = htole32(256);
		p->present_format = htole32(VGPU_HW_FORMAT_XRGB8888);
	}
}

/**
 * struct prey - a channel with any root and any ring
 * @id:  number of the channel
 * @done: packets that it has completed before it was enabled last
 */
struct prey {
	uint32_t id;
	uint64_t done;
};

static uint32_t prey_reg(const struct prey *prey, uint32_t reg)
{
	uint32_t value;

	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(prey->id, reg), &value));
	return value;
}

static void prey_enable(struct vandal *me, struct prey *prey)
{
	volatile struct vgpu_hw_channel *page =
		(void *)(v.dev->chan_pages + prey->id * VGPU_HW_PAGE_SIZE);
	uint32_t root = VGPU_HW_ROOT_VALID | (uint32_t)(me->tables / PAGE +
			rng_below(&me->rng, TABLES));
	uint64_t ring = RINGS_VA + rng_below(&me->rng, CHANNELS) * PAGE;

	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(prey->id, VGPU_HW_CHAN_CTRL), 0));
	prey->done += le64toh(page->get);
	page->put = 0;
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(prey->id, VGPU_HW_CHAN_ROOT), root));
	FX_OK(v.dev, vgpu_reg_write64(v.dev, vgpu_chan_reg(prey->id, VGPU_HW_CHAN_RING), ring));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(prey->id, VGPU_HW_CHAN_CTRL),
				      VGPU_HW_CTRL_ENABLE | 4 << VGPU_HW_CTRL_ORDER_SHIFT |
				      (uint32_t)rng_below(&me->rng, v.dev->engines) <<
				      VGPU_HW_CTRL_ENGINE_SHIFT));
}

/* Packets may have written over what leads to the rings: no other packet would be found then. */
static void rings_restore(struct vandal *me)
{
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		((uint64_t *)(v.dev->fb + me->tables + i * PAGE))[511] = way.to_top;
	*way.middle = way.to_middle;
	memcpy(way.bottom, way.to_bottom, sizeof(way.to_bottom));
}

/* Makes rings that are found from any table: entries that are not scribbled over lead there. */
static void rings_init(struct vandal *me)
{
	FX_OK(v.dev, vgpu_space_create(v.dev, &space));
	FX_OK(v.dev, vgpu_space_map(space, RINGS_VA, VGPU_FB(me->rings), CHANNELS * PAGE, RW));
	way.middle = vgpu_space_entry(space, RINGS_VA, 1);
	way.bottom = vgpu_space_entry(space, RINGS_VA, 0);
	CHECK(way.middle && way.bottom, "the rings are not mapped by pages");
	way.to_top = *vgpu_space_entry(space, RINGS_VA, 2);
	way.to_middle = *way.middle;
	memcpy(way.to_bottom, way.bottom, sizeof(way.to_bottom));
	rings_restore(me);
}

static void sow_packets(struct vandal *me)
{
	uint64_t at = me->rings + rng_below(&me->rng, CHANNELS) * PAGE;
	struct vgpu_hw_packet p;
	unsigned int i;

	for (i = 0; i < PACKETS; i++) {
		some_packet(&me->rng, &p);
		memcpy(v.dev->fb + at + rng_below(&me->rng, 16) * sizeof(p), &p, sizeof(p));
	}
}

static void prey_turn(struct vandal *me, struct prey *prey, unsigned int *faults)
{
	volatile struct vgpu_hw_channel *page =
		(void *)(v.dev->chan_pages + prey->id * VGPU_HW_PAGE_SIZE);
	uint32_t state = prey_reg(prey, VGPU_HW_CHAN_STATE), code;

	if (state == VGPU_HW_STATE_FAULTED) {
		code = prey_reg(prey, VGPU_HW_CHAN_FAULT_CODE);
		CHECK(code && code <= VGPU_HW_FAULT_PAGE && code != VGPU_HW_FAULT_RESET,
		      "fault %u", code);
		faults[code]++;
	}
	if (state == VGPU_HW_STATE_FAULTED || state == VGPU_HW_STATE_DISABLED ||
	    rng_below(&me->rng, 64) == 0)
		prey_enable(me, prey);
	page->put = htole64(le64toh(page->get) + 1 + rng_below(&me->rng, 16));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(prey->id, VGPU_HW_CHAN_DOORBELL), 1));
}

static void vandal_start(struct vandal *vandal, void *(*run)(void *arg), uint64_t tables)
{
	memset(vandal, 0, sizeof(*vandal));
	vandal->rng.state = fx_random() | 1;
	vandal->tables = tables;
	CHECK(!run || !pthread_create(&vandal->thread, NULL, run, vandal), "thread");
	vandal->running = run;
}

static void vandal_stop(struct vandal *vandal)
{
	if (!vandal->running)
		return;
	vandal->stop = true;
	pthread_join(vandal->thread, NULL);
	vandal->running = false;
}

static void client_start(void)
{
	client = (struct load_client){ .load = &load, .depth = 4 };
	if (load_client_start(&client)) {
		client.load = NULL;
		FAIL("%s", load.text);
	}
}

static int client_stop(void)
{
	int ret = client.load ? load_client_stop(&client) : 0;

	client.load = NULL;
	return ret;
}

static uint64_t packets_done(const struct prey *prey)
{
	uint64_t done = 0;
	unsigned int i;

	for (i = 0; i < CHANNELS; i++)
		done += prey[i].done;
	return done;
}

/* All have done something so far. */
static bool has_happened(const struct prey *prey, const unsigned int *faults)
{
	return load_jobs(&load) && writer.times && flusher.times && packets_done(prey) &&
	       faults[VGPU_HW_FAULT_PAGE];
}

static void scribbled_tables(void)
{
	const struct load_config config = { .engine_class = CE, .order = 6, .job_bytes = FX_MIB,
					    .seed = fx_random() };
	unsigned int faults[VGPU_HW_FAULT_PAGE + 1] = { 0 }, i;
	struct prey prey[CHANNELS];
	uint64_t tables, end, done;
	struct vandal me;

	fx_need("execution");
	fx_need_no_quarantine();
	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	CHECK(!load_init(&load, other.dev, &config), "%s", load.text);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 16 * PAGE, &buf));
	tables = fx_fb(&v, TABLES * PAGE, PAGE);
	vandal_start(&me, NULL, tables);
	me.rings = fx_fb(&v, CHANNELS * PAGE, PAGE);
	rings_init(&me);
	for (i = 0; i < 4096; i++)
		scribble(&me);
	for (i = 0; i < 16 * CHANNELS; i++)
		sow_packets(&me);
	for (i = 0; i < CHANNELS; i++)
		prey[i] = (struct prey){ .id = v.dev->channels - 1 - i };
	client_start();
	vandal_start(&writer, scribbler, tables);
	vandal_start(&flusher, invalidator, tables);
	end = clk_ms() + fx_env("VGPU_TEST_SCRIBBLE_MS", 3000);
	/* Longer where this machine stands still meanwhile. */
	for (i = 0; clk_ms() < end || !has_happened(prey, faults); i++) {
		CHECK(clk_ms() < end + FX_TIMEOUT_MS, "nothing happens");
		if (i % RESTORE == 0)
			rings_restore(&me);
		sow_packets(&me);
		prey_turn(&me, &prey[rng_below(&me.rng, CHANNELS)], faults);
	}
	vandal_stop(&writer);
	vandal_stop(&flusher);
	CHECK(!client_stop(), "%s", load.text);
	CHECK(!load_drain(&load, FX_TIMEOUT_MS), "%s", load.text);
	ktap_note("%llu entries, %llu invalidations, %llu jobs of the neighbour",
		  (unsigned long long)writer.times, (unsigned long long)flusher.times,
		  (unsigned long long)load.checked);
	done = packets_done(prey);
	ktap_note("%llu packets; faults: %u page, %u packet, %u address, %u align, %u dma, %u ring",
		  (unsigned long long)done, faults[VGPU_HW_FAULT_PAGE],
		  faults[VGPU_HW_FAULT_PACKET], faults[VGPU_HW_FAULT_ADDRESS],
		  faults[VGPU_HW_FAULT_ALIGN], faults[VGPU_HW_FAULT_DMA],
		  faults[VGPU_HW_FAULT_RING]);
	CHECK(load.checked && writer.times && flusher.times && done && faults[VGPU_HW_FAULT_PAGE],
	      "nothing happened");
	load_exit(&load);
	/* The vandal's own device works as ever. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	vgpu_chan_destroy(fx_chan(&v, CE, 0, VGPU_RING_FB, 4));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(scribbled_tables),
};

/* Before the framebuffer is unmapped, to which the threads of a test that failed still write. */
static void cleanup(void)
{
	vandal_stop(&writer);
	vandal_stop(&flusher);
	client_stop();
	load_exit(&load);
	space_cleanup();
}

KTAP_MAIN(tests, cleanup)
