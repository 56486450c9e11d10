// SPDX-License-Identifier: GPL-2.0
/*
 * The shim's trees, on which the other tests stand: order, the first of equals, and what a node
 * knows of the nodes below it, checked by a walk over all nodes.
 */
#include "vgpu_test.h"

#include <linux/rbtree_augmented.h>

#define NR	200

struct item {
	struct rb_node node;
	u64 key;
	u64 value;
	u64 min_value;	/* of all below, itself included */
	u64 serial;
	bool in;
};

static bool item_compute(struct item *item, bool exit)
{
	struct item *left = rb_entry_safe(item->node.rb_left, struct item, node);
	struct item *right = rb_entry_safe(item->node.rb_right, struct item, node);
	u64 value = item->value;

	if (left)
		value = min(value, left->min_value);
	if (right)
		value = min(value, right->min_value);
	if (exit && item->min_value == value)
		return true;
	item->min_value = value;
	return false;
}

RB_DECLARE_CALLBACKS(static, item_callbacks, struct item, node, min_value, item_compute);

static bool item_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct item, node)->key <
	       rb_entry(b, struct item, node)->key;
}

static u64 item_check(struct rb_node *node, struct rb_node *parent,
		      unsigned int *nr, unsigned int depth, unsigned int *deepest)
{
	struct item *item = rb_entry(node, struct item, node);
	u64 value = item->value;

	assert_ptr_equal(rb_parent(node), parent);
	*deepest = max(*deepest, depth);
	if (node->rb_left)
		value = min(value, item_check(node->rb_left, node, nr, depth + 1, deepest));
	(*nr)++;
	if (node->rb_right)
		value = min(value, item_check(node->rb_right, node, nr, depth + 1, deepest));
	assert_true(item->min_value == value);
	return value;
}

/* No red node has a red child, and all paths have the same number of black nodes. */
static unsigned int check_colors(const struct rb_node *node)
{
	unsigned int left, right;
	bool black = shim_rb_is_black(node);

	if (!node)
		return 1;
	left = check_colors(node->rb_left);
	right = check_colors(node->rb_right);
	assert_int_equal(left, right);
	assert_true(black || (shim_rb_is_black(node->rb_left) && shim_rb_is_black(node->rb_right)));
	return left + black;
}

/* The walk has children before their parents, and all nodes. */
static void check_postorder(const struct rb_root *root, unsigned int nr)
{
	struct rb_node *node, *last = NULL;
	unsigned int walked = 0;

	for (node = rb_first_postorder(root); node; node = rb_next_postorder(node)) {
		if (node->rb_right)
			assert_ptr_equal(last, node->rb_right);
		else if (node->rb_left)
			assert_ptr_equal(last, node->rb_left);
		last = node;
		walked++;
	}
	assert_ptr_equal(last, root->rb_node);
	assert_int_equal(walked, nr);
}

static void check_tree(const struct rb_root_cached *root, unsigned int nr)
{
	unsigned int found = 0, walked = 0, deepest = 0;
	struct item *before = NULL, *item;
	struct rb_node *node;

	if (root->rb_root.rb_node)
		item_check(root->rb_root.rb_node, NULL, &found, 1, &deepest);
	assert_int_equal(found, nr);
	/* A perfect tree of NR nodes has 7.6 levels, a red-black tree at most twice that. */
	assert_in_range(deepest, 0, 15);
	check_colors(root->rb_root.rb_node);
	assert_true(shim_rb_is_black(root->rb_root.rb_node));
	check_postorder(&root->rb_root, nr);
	assert_ptr_equal(rb_first_cached(root), rb_first(&root->rb_root));
	for (node = rb_first_cached(root); node; node = rb_next(node)) {
		item = rb_entry(node, struct item, node);
		if (before) {
			assert_true(before->key <= item->key);
			if (before->key == item->key)
				assert_true(before->serial < item->serial);
			assert_ptr_equal(rb_prev(node), &before->node);
		}
		before = item;
		walked++;
	}
	assert_int_equal(walked, nr);
}

static void test_random(void **state)
{
	struct rb_root_cached root = RB_ROOT_CACHED;
	static struct item items[NR];
	u64 seed = test_seed(), serial = 0;
	unsigned int nr = 0, i, step;

	memset(items, 0, sizeof(items));
	for (step = 0; step < 20000; step++) {
		/* There are phases in which the tree fills and in which it empties. */
		struct item *item = &items[random_range(&seed, 0, NR - 1)];
		bool add = random_one_in(&seed, step / 1000 % 2 ? 4 : 2);

		if (item->in && !add) {
			rb_erase_augmented_cached(&item->node, &root, &item_callbacks);
			item->in = false;
			nr--;
		} else if (!item->in) {
			item->key = random_range(&seed, 0, 30);
			item->value = random_range(&seed, 0, 1000);
			item->min_value = item->value;
			item->serial = serial++;
			rb_add_augmented_cached(&item->node, &root, item_less, &item_callbacks);
			item->in = true;
			nr++;
		}
		if (step % 16 == 0)
			check_tree(&root, nr);
	}
	for (i = 0; i < NR; i++)
		if (items[i].in) {
			rb_erase_augmented_cached(&items[i].node, &root, &item_callbacks);
			check_tree(&root, --nr);
		}
	assert_true(RB_EMPTY_ROOT(&root.rb_root));
}

/* Ascending, descending and equal keys do not make a list of a tree. */
static void test_shapes(void **state)
{
	static struct item items[NR];
	unsigned int i, shape;

	for (shape = 0; shape < 3; shape++) {
		struct rb_root_cached root = RB_ROOT_CACHED;
		struct rb_node *first;

		memset(items, 0, sizeof(items));
		for (i = 0; i < NR; i++) {
			items[i].key = shape == 0 ? i : shape == 1 ? NR - i : 0;
			items[i].value = i ^ 0x55;
			items[i].min_value = items[i].value;
			items[i].serial = i;
			first = rb_add_augmented_cached(&items[i].node, &root,
							item_less,
							&item_callbacks);
			assert_int_equal(!!first, i == 0 || shape == 1);
			check_tree(&root, i + 1);
		}
		for (i = NR; i; i--) {
			rb_erase_augmented_cached(root.rb_leftmost, &root, &item_callbacks);
			check_tree(&root, i - 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
