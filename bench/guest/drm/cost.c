// SPDX-License-Identifier: GPL-2.0
/* The row guest_cost: a long program by the node, against the same one by a channel of our own. */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "node.h"
#include "programs.h"
#include "rows.h"

#define ENGINE_GR	0
#define RUNS		3u
#define ITEMS		32u
#define LONG_NS		150e6

/**
 * struct costs - both sides
 * @fd:     of the node
 * @queue:  id
 * @sync:   handle of the syncobj that each job signals
 * @direct: the other vGPU
 * @rounds: of the program, so that it takes LONG_NS or more
 * @page:   of each side, the arguments and behind them the numbers
 */
struct costs {
	int fd;
	uint32_t queue;
	uint32_t sync;
	struct direct direct;
	uint64_t rounds;
	uint64_t *page[2];
};

static const struct program *const program = &program_loop;

/* Both find the same at the same addresses. */
static void fill_args(uint64_t *page, uint64_t rounds)
{
	struct program_args *args = (void *)page;

	memset(page, 0, PAGE);
	args->rounds = htole64(rounds);
	args->out = htole64(VA_DATA + PAGE / 2);
}

static struct vgpu_hw_packet packet(void)
{
	return packet_dispatch(VA_MORE, VA_DATA, ITEMS, ITEMS);
}

static void check_numbers(const uint64_t *page, uint64_t rounds)
{
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		if (page[PAGE / 16 + i] != program->result(i, rounds))
			bench_die("work-item %u has a wrong number", i);
}

static double block_node(void *arg)
{
	struct costs *costs = arg;
	const struct vgpu_hw_packet dispatch = packet();
	double start, spent = 0;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		fill_args(costs->page[0], costs->rounds);
		start = bench_now_ns();
		CHECK_RET(exec(costs->fd, costs->queue, &dispatch, 1, 0, costs->sync), 0);
		CHECK_RET(sync_wait(costs->fd, costs->sync, WAIT_MS), 0);
		spent += bench_now_ns() - start;
		check_numbers(costs->page[0], costs->rounds);
	}
	return spent / RUNS / 1e6;
}

static double block_direct(void *arg)
{
	struct costs *costs = arg;
	const struct vgpu_hw_packet dispatch = packet();
	double start, spent = 0;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		fill_args(costs->page[1], costs->rounds);
		start = bench_now_ns();
		direct_run(&costs->direct, dispatch);
		spent += bench_now_ns() - start;
		check_numbers(costs->page[1], costs->rounds);
	}
	return spent / RUNS / 1e6;
}

static void open_node(struct costs *costs)
{
	struct buf text, args;
	uint32_t vm;

	costs->fd = node_open();
	CHECK(costs->fd >= 0);
	CHECK_RET(vm_make(costs->fd, &vm), 0);
	CHECK_RET(queue_make(costs->fd, vm, ENGINE_GR, 4, &costs->queue), 0);
	CHECK_RET(sync_make(costs->fd, &costs->sync), 0);
	CHECK_RET(program_load(costs->fd, vm, program->words, program->nr, VA_MORE, &text), 0);
	CHECK_RET(buf_make(costs->fd, PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &args), 0);
	CHECK_RET(bind_map(costs->fd, vm, args.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	costs->page[0] = args.ptr;
}

/* The same address space, program and channel as on the other side. */
static void place_direct(struct costs *costs)
{
	struct vgpu_dev *dev = costs->direct.dev;
	struct vgpu_hw_program *head;
	struct vgpu_space *space;
	uint64_t text, args;
	uint32_t *words, i;
	int engine;

	vgpu_chan_destroy(costs->direct.chan);
	engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);
	if (engine < 0 || vgpu_space_create(dev, &space) ||
	    vgpu_fb_alloc(dev, 2 * PAGE, PAGE, &text) || vgpu_fb_alloc(dev, PAGE, PAGE, &args) ||
	    vgpu_space_map(space, VA_MORE, VGPU_FB(text), 2 * PAGE,
			   VGPU_HW_PTE_R | VGPU_HW_PTE_X) ||
	    vgpu_space_map(space, VA_DATA, VGPU_FB(args), PAGE, VGPU_HW_PTE_R | VGPU_HW_PTE_W) ||
	    vgpu_chan_create_in(space, (uint32_t)engine, 4, VA_MORE + MIB, &costs->direct.chan))
		bench_die("direct: %s", vgpu_dev_error(dev));
	head = (void *)(dev->fb + text);
	*head = (struct vgpu_hw_program){
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = htole32(program->nr * 4),
		.text_bytes = htole32(program->nr * 4),
		.image = htole64(VA_MORE + PAGE),
		.private_bytes = htole32(4096),
	};
	words = (void *)(dev->fb + text + PAGE);
	for (i = 0; i < program->nr; i++)
		words[i] = htole32(program->words[i]);
	costs->page[1] = (void *)(dev->fb + args);
}

/* On the direct side, so that ours cannot choose how long it takes. */
static void choose_rounds(struct costs *costs)
{
	costs->rounds = 1000;
	while (block_direct(costs) * 1e6 < LONG_NS)
		costs->rounds *= 2;
}

static void tell(void *arg, char *text, size_t bytes)
{
	struct costs *costs = arg;

	snprintf(text, bytes, "; %llu rounds of the program \\\"%s\\\"",
		 (unsigned long long)costs->rounds, program->name);
}

void row_cost(void)
{
	struct costs costs;
	struct bench_row row = {
		.name = "guest_cost", .unit = "ms", .reach = 1.01,
		.ours = { block_node, &costs }, .peer = { block_direct, &costs },
		.detail = "in a VM, DISPATCH of a long program, EXEC to return of SYNCOBJ_WAIT, against store of put to return of read() of the interrupt on a vGPU of the same VM that a program drives itself; both in an address space; 3 per block, numbers of all 32 work-items checked",
		.tell = tell,
	};

	memset(&costs, 0, sizeof(costs));
	open_node(&costs);
	direct_open(&costs.direct);
	place_direct(&costs);
	choose_rounds(&costs);
	bench_compare(&row);
	direct_close(&costs.direct);
}
