// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "load_cpu.h"

#define STACK	(64 * 1024)
#define MAX	1024	/* work-items of a group */

enum state { READY, WAITS, ENDED };

static struct item {
	ucontext_t context;
	enum state state;
	u32 lid[3];
	u8 *stack;
} items[MAX];

static ucontext_t scheduler;
static const struct load *running;
static struct load_args running_args;
static struct item *current;
static u32 grid[3], group[3], size[3], group_id[3];

extern const struct load __start_loads[], __stop_loads[];

u32 load_csr(int n)
{
	int k = n % 3;

	switch (n - k) {
	case LOAD_ID:
		return group_id[k] * group[k] + current->lid[k];
	case LOAD_LOCAL_ID:
		return current->lid[k];
	case LOAD_GROUP_ID:
		return group_id[k];
	case LOAD_LOCAL_SIZE:
		return size[k];
	case LOAD_GLOBAL_SIZE:
		return grid[k];
	default:
		return (grid[k] - 1) / group[k] + 1;
	}
}

void load_relax(void)
{
	swapcontext(&current->context, &scheduler);
}

void load_barrier(void)
{
	current->state = WAITS;
	load_relax();
}

static void start(void)
{
	running->run(&running_args);
	current->state = ENDED;
	setcontext(&scheduler);
}

static void set_up(struct item *item, u32 number)
{
	item->lid[0] = number % size[0];
	item->lid[1] = number / size[0] % size[1];
	item->lid[2] = number / size[0] / size[1];
	item->state = READY;
	if (!item->stack)
		item->stack = malloc(STACK);
	getcontext(&item->context);
	item->context.uc_stack.ss_sp = item->stack;
	item->context.uc_stack.ss_size = STACK;
	makecontext(&item->context, start, 0);
}

/* In turns, until all have ended; where none can go on all that wait do. */
static void run_group(void)
{
	u32 nr = size[0] * size[1] * size[2], i, ran, waiting;

	for (i = 0; i < nr; i++)
		set_up(&items[i], i);
	do {
		for (i = 0, ran = 0, waiting = 0; i < nr; i++) {
			current = &items[i];
			if (current->state == READY) {
				swapcontext(&scheduler, &current->context);
				ran++;
			}
			waiting += current->state == WAITS;
		}
		for (i = 0; !ran && i < nr; i++)
			if (items[i].state == WAITS)
				items[i].state = READY;
	} while (ran || waiting);
}

void load_cpu_run(const struct load *load, u8 *mem, const u32 *grid_, const u32 *group_)
{
	int k;

	running = load;
	running_args.mem = mem;
	memcpy(grid, grid_, sizeof(grid));
	memcpy(group, group_, sizeof(group));
	memset(group_id, 0, sizeof(group_id));
	do {
		for (k = 0; k < 3; k++) {
			size[k] = grid[k] - group_id[k] * group[k];
			if (size[k] > group[k])
				size[k] = group[k];
		}
		run_group();
		for (k = 0; k < 3; k++) {
			if (++group_id[k] < (grid[k] - 1) / group[k] + 1)
				break;
			group_id[k] = 0;
		}
	} while (k < 3);
}

const struct load *load_cpu_find(const char *name)
{
	const struct load *load;

	for (load = __start_loads; load < __stop_loads; load++)
		if (!strncmp(load->name, name, sizeof(load->name)))
			return load;
	return NULL;
}
