// SPDX-License-Identifier: GPL-2.0
/* Recursion: the value of an expression that is a tree, another one for each work-item. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	1024
#define NODES	400	/* of a tree, at most */

struct node {
	int32_t kind;	/* of what is below, or -1: there is nothing */
	int32_t value;
	int32_t left, right;
};

static int32_t value_of(const struct node *tree, int32_t at)
{
	const struct node *node = tree + at;
	int32_t a, b;

	if (node->kind < 0)
		return node->value;
	a = value_of(tree, node->left);
	if (node->kind == 3 && a > 0)	/* or else */
		return a;
	b = value_of(tree, node->right);
	switch (node->kind) {
	case 0:
		return (int32_t)((uint32_t)a + (uint32_t)b);
	case 1:
		return (int32_t)((uint32_t)a * (uint32_t)b);
	case 2:
		return a > b ? a : b;
	default:
		return b;
	}
}

static void item(const struct node *in, int32_t *out, uint32_t id)
{
	out[id] = value_of(in + id * NODES, 0);
}

HOST int32_t grow(struct node *tree, int32_t *nr, uint32_t depth)
{
	int32_t at = (*nr)++;

	tree[at] = (struct node) { .kind = -1, .value = (int32_t)pick(1000) - 500 };
	if (!depth || *nr > NODES - 20 || !pick(6))
		return at;
	tree[at].kind = (int32_t)pick(4);
	tree[at].left = grow(tree, nr, depth - 1);
	tree[at].right = grow(tree, nr, depth - 1);
	return at;
}

HOST void prepare(struct node *in)
{
	int32_t i, nr;

	for (i = 0; i < ITEMS; i++) {
		nr = 0;
		grow(in + i * NODES, &nr, 10);
	}
}

PROGRAM(walk, "values of expressions, trees, recursive", ITEMS,
	ITEMS * NODES * sizeof(struct node), 4 * ITEMS)
