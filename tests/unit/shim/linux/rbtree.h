/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ordered trees with the kernel's calls, balanced as treaps: each node's
 * priority is a hash of how many were added to its tree before, so that the
 * same calls make the same tree. Equal keys stay in order of insertion.
 */
#ifndef _SHIM_LINUX_RBTREE_H
#define _SHIM_LINUX_RBTREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *parent, *rb_left, *rb_right;
	u64 priority;
};

struct rb_root {
	struct rb_node *rb_node;
	u64 added;
};

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};

/* As the kernel calls them; see rbtree_augmented.h. */
struct rb_augment_callbacks {
	void (*propagate)(struct rb_node *node, struct rb_node *stop);
	void (*copy)(struct rb_node *old, struct rb_node *new);
	void (*rotate)(struct rb_node *old, struct rb_node *new);
};

#define RB_ROOT			((struct rb_root){ NULL, 0 })
#define RB_ROOT_CACHED		((struct rb_root_cached){ { NULL, 0 }, NULL })
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_EMPTY_NODE(node)	((node)->parent == (node))
#define RB_CLEAR_NODE(node)	((node)->parent = (node))
#define rb_parent(node)		((node)->parent)
#define rb_entry(ptr, type, member)	container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member) ({				\
	__typeof__(ptr) __safe = (ptr);					\
									\
	__safe ? rb_entry(__safe, type, member) : NULL;			\
})

static inline u64 shim_rb_priority(u64 x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
	return x ^ (x >> 32);
}

static inline void shim_rb_replace(struct rb_root *root, struct rb_node *old,
				   struct rb_node *node)
{
	struct rb_node *parent = old->parent;

	if (!parent)
		root->rb_node = node;
	else if (parent->rb_left == old)
		parent->rb_left = node;
	else
		parent->rb_right = node;
	if (node)
		node->parent = parent;
}

/* Lifts @node over its parent. */
static inline void shim_rb_lift(struct rb_root *root, struct rb_node *node,
				const struct rb_augment_callbacks *augment)
{
	struct rb_node *parent = node->parent, *inner;

	shim_rb_replace(root, parent, node);
	if (parent->rb_left == node) {
		inner = node->rb_right;
		node->rb_right = parent;
		parent->rb_left = inner;
	} else {
		inner = node->rb_left;
		node->rb_left = parent;
		parent->rb_right = inner;
	}
	parent->parent = node;
	if (inner)
		inner->parent = parent;
	if (augment)
		augment->rotate(parent, node);
}

static inline void shim_rb_add(struct rb_node *node, struct rb_root *root,
			       bool (*less)(struct rb_node *,
					    const struct rb_node *),
			       const struct rb_augment_callbacks *augment)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left :
					    &parent->rb_right;
	}
	node->parent = parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
	node->priority = shim_rb_priority(++root->added);
	*link = node;
	/* As in the kernel, what @node itself has is its owner's to set. */
	if (augment)
		augment->propagate(parent, NULL);
	while (node->parent && node->priority < node->parent->priority)
		shim_rb_lift(root, node, augment);
}

static inline void shim_rb_erase(struct rb_node *node, struct rb_root *root,
				 const struct rb_augment_callbacks *augment)
{
	while (node->rb_left && node->rb_right)
		shim_rb_lift(root, node->rb_left->priority <
				   node->rb_right->priority ?
				   node->rb_left : node->rb_right, augment);
	shim_rb_replace(root, node,
			node->rb_left ? node->rb_left : node->rb_right);
	if (augment)
		augment->propagate(node->parent, NULL);
}

static inline void rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(struct rb_node *, const struct rb_node *))
{
	shim_rb_add(node, root, less, NULL);
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	shim_rb_erase(node, root, NULL);
}

static inline struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *next = node->rb_right;

	if (next) {
		while (next->rb_left)
			next = next->rb_left;
		return next;
	}
	while (node->parent && node == node->parent->rb_right)
		node = node->parent;
	return node->parent;
}

static inline struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *prev = node->rb_left;

	if (prev) {
		while (prev->rb_right)
			prev = prev->rb_right;
		return prev;
	}
	while (node->parent && node == node->parent->rb_left)
		node = node->parent;
	return node->parent;
}

/* Children before parents. */
static inline struct rb_node *shim_rb_deepest(struct rb_node *node)
{
	while (node && (node->rb_left || node->rb_right))
		node = node->rb_left ? node->rb_left : node->rb_right;
	return node;
}

static inline struct rb_node *rb_first_postorder(const struct rb_root *root)
{
	return shim_rb_deepest(root->rb_node);
}

static inline struct rb_node *rb_next_postorder(const struct rb_node *node)
{
	struct rb_node *parent = node->parent;

	if (parent && node == parent->rb_left && parent->rb_right)
		return shim_rb_deepest(parent->rb_right);
	return parent;
}

static inline struct rb_node *rb_first_cached(const struct rb_root_cached *root)
{
	return root->rb_leftmost;
}

static inline struct rb_node *
shim_rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
		   bool (*less)(struct rb_node *, const struct rb_node *),
		   const struct rb_augment_callbacks *augment)
{
	bool first = !root->rb_leftmost || less(node, root->rb_leftmost);

	shim_rb_add(node, &root->rb_root, less, augment);
	if (first)
		root->rb_leftmost = node;
	return first ? node : NULL;
}

static inline struct rb_node *
shim_rb_erase_cached(struct rb_node *node, struct rb_root_cached *root,
		     const struct rb_augment_callbacks *augment)
{
	struct rb_node *next = NULL;

	if (root->rb_leftmost == node) {
		next = rb_next(node);
		root->rb_leftmost = next;
	}
	shim_rb_erase(node, &root->rb_root, augment);
	return next;
}

static inline struct rb_node *
rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
	      bool (*less)(struct rb_node *, const struct rb_node *))
{
	return shim_rb_add_cached(node, root, less, NULL);
}

static inline struct rb_node *rb_erase_cached(struct rb_node *node,
					      struct rb_root_cached *root)
{
	return shim_rb_erase_cached(node, root, NULL);
}

#endif /* _SHIM_LINUX_RBTREE_H */
