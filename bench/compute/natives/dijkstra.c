// SPDX-License-Identifier: GPL-2.0
/* Graph search: sum of the distances from a node to all others, with a heap. */
#define VGPU_PRIVATE_BYTES	8192
#include "native.h"

#define NODES	128
#define DEGREE	5
#define ITEMS	256

struct edge {
	uint16_t to;
	uint16_t length;
};

struct heap {
	uint32_t nr;
	uint32_t entry[NODES * DEGREE];	/* distance, then the node in 8 bits */
};

static void push(struct heap *heap, uint32_t entry)
{
	uint32_t i = heap->nr++;

	for (; i && heap->entry[(i - 1) / 2] > entry; i = (i - 1) / 2)
		heap->entry[i] = heap->entry[(i - 1) / 2];
	heap->entry[i] = entry;
}

static uint32_t pop(struct heap *heap)
{
	uint32_t least = heap->entry[0], last = heap->entry[--heap->nr], i = 0, child;

	while ((child = 2 * i + 1) < heap->nr) {
		if (child + 1 < heap->nr && heap->entry[child + 1] < heap->entry[child])
			child++;
		if (heap->entry[child] >= last)
			break;
		heap->entry[i] = heap->entry[child];
		i = child;
	}
	heap->entry[i] = last;
	return least;
}

static void item(const struct edge *in, uint32_t *out, uint32_t id)
{
	uint32_t distance[NODES], entry, node, far, i, sum = 0;
	const struct edge *edge;
	struct heap heap;

	for (i = 0; i < NODES; i++)
		distance[i] = ~0u;
	heap.nr = 0;
	distance[id % NODES] = 0;
	push(&heap, id % NODES);
	while (heap.nr) {
		entry = pop(&heap);
		node = entry % 256;
		if (entry / 256 > distance[node])
			continue;
		sum += entry / 256;
		edge = in + (id / NODES * NODES + node) * DEGREE;
		for (i = 0; i < DEGREE; i++, edge++) {
			far = entry / 256 + edge->length;
			if (far >= distance[edge->to])
				continue;
			distance[edge->to] = far;
			push(&heap, far << 8 | edge->to);
		}
	}
	out[id] = sum;
}

HOST void prepare(struct edge *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * DEGREE; i++)
		in[i] = (struct edge) { (uint16_t)pick(NODES), (uint16_t)(1 + pick(1000)) };
}

PROGRAM(dijkstra, "shortest ways in graphs, with a heap", ITEMS,
	ITEMS * DEGREE * sizeof(struct edge), 4 * ITEMS)
