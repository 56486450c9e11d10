// SPDX-License-Identifier: GPL-2.0
/* Graph search: the shortest way through a maze, breadth first, a maze for each work-item. */
#include "native.h"

#define ITEMS	512
#define EDGE	16
#define CELLS	(EDGE * EDGE)

static uint32_t search(const uint8_t *wall, uint32_t from, uint32_t to)
{
	static const int step[4] = { -1, 1, -EDGE, EDGE };
	uint32_t head = 0, tail = 0, at, next, i;
	uint8_t queue[CELLS], way[CELLS] = {};

	way[from] = 1;
	queue[tail++] = (uint8_t)from;
	while (head < tail) {
		at = queue[head++];
		if (at == to)
			return way[at];
		for (i = 0; i < 4; i++) {
			next = at + (uint32_t)step[i];
			if (wall[next] || way[next])
				continue;
			way[next] = (uint8_t)(way[at] + 1);
			queue[tail++] = (uint8_t)next;
		}
	}
	return 0;
}

static void item(const uint8_t *in, uint32_t *out, uint32_t id)
{
	out[id] = search(in + id * CELLS, EDGE + 1, CELLS - EDGE - 2);
}

HOST void prepare(uint8_t *in)
{
	uint32_t i, x, y;

	for (i = 0; i < ITEMS * CELLS; i++) {
		x = i % EDGE;
		y = i / EDGE % EDGE;
		in[i] = !x || !y || x == EDGE - 1 || y == EDGE - 1 ||
			(pick(10) < 3 && x + y != 2 && x + y != 2 * EDGE - 4);
	}
}

PROGRAM(bfs, "ways through mazes, breadth first", ITEMS, CELLS * ITEMS, 4 * ITEMS)
