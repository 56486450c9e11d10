/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ordered trees with the kernel's calls, balanced as treaps: each node's
 * priority is a hash of its address. Equal keys stay in order of insertion.
 */
#ifndef _SHIM_LINUX_RBTREE_H
#define _SHIM_LINUX_RBTREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *parent, *left, *right;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

#define RB_ROOT			((struct rb_root){ NULL })
#define RB_ROOT_CACHED		((struct rb_root_cached){ { NULL } })
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_EMPTY_NODE(node)	((node)->parent == (node))
#define RB_CLEAR_NODE(node)	((node)->parent = (node))
#define rb_entry(ptr, type, member)	container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member) ({				\
	__typeof__(ptr) __safe = (ptr);					\
									\
	__safe ? rb_entry(__safe, type, member) : NULL;			\
})

static inline u64 shim_rb_priority(const struct rb_node *node)
{
	u64 x = (uintptr_t)node;

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
	else if (parent->left == old)
		parent->left = node;
	else
		parent->right = node;
	if (node)
		node->parent = parent;
}

/* Lifts @node over its parent. */
static inline void shim_rb_lift(struct rb_root *root, struct rb_node *node)
{
	struct rb_node *parent = node->parent, *inner;

	shim_rb_replace(root, parent, node);
	if (parent->left == node) {
		inner = node->right;
		node->right = parent;
		parent->left = inner;
	} else {
		inner = node->left;
		node->left = parent;
		parent->right = inner;
	}
	parent->parent = node;
	if (inner)
		inner->parent = parent;
}

static inline void rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(struct rb_node *, const struct rb_node *))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->left : &parent->right;
	}
	node->parent = parent;
	node->left = NULL;
	node->right = NULL;
	*link = node;
	while (node->parent &&
	       shim_rb_priority(node) < shim_rb_priority(node->parent))
		shim_rb_lift(root, node);
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	while (node->left && node->right)
		shim_rb_lift(root, shim_rb_priority(node->left) <
				   shim_rb_priority(node->right) ?
				   node->left : node->right);
	shim_rb_replace(root, node, node->left ? node->left : node->right);
}

static inline struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->left)
		node = node->left;
	return node;
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *next = node->right;

	if (next) {
		while (next->left)
			next = next->left;
		return next;
	}
	while (node->parent && node == node->parent->right)
		node = node->parent;
	return node->parent;
}

static inline struct rb_node *rb_first_cached(const struct rb_root_cached *root)
{
	return rb_first(&root->rb_root);
}

static inline struct rb_node *
rb_add_cached(struct rb_node *node, struct rb_root_cached *root,
	      bool (*less)(struct rb_node *, const struct rb_node *))
{
	rb_add(node, &root->rb_root, less);
	return rb_first_cached(root) == node ? node : NULL;
}

static inline struct rb_node *rb_erase_cached(struct rb_node *node,
					      struct rb_root_cached *root)
{
	struct rb_node *next = rb_first_cached(root) == node ? rb_next(node) :
							       NULL;

	rb_erase(node, &root->rb_root);
	return next;
}

#endif /* _SHIM_LINUX_RBTREE_H */
