/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Red-black trees with the calls, the node layout and the algorithm (lib/rbtree.c) of the kernel,
 * so that a call costs here what it costs there. Only the mirrored halves are one function of the
 * side here. Equal keys stay in order of insertion.
 */
#ifndef _SHIM_LINUX_RBTREE_H
#define _SHIM_LINUX_RBTREE_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/types.h>

/* The lowest bit of the parent's address says that the node is black. */
struct rb_node {
	unsigned long parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
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

#define RB_ROOT			((struct rb_root){ NULL })
#define RB_ROOT_CACHED		((struct rb_root_cached){ { NULL }, NULL })
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_EMPTY_NODE(node)	((node)->parent_color == (unsigned long)(node))
#define RB_CLEAR_NODE(node)	((node)->parent_color = (unsigned long)(node))
#define rb_parent(node)		((struct rb_node *)((node)->parent_color & ~1UL))
#define rb_entry(ptr, type, member)	container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member) ({				\
	__typeof__(ptr) __safe = (ptr);					\
									\
	__safe ? rb_entry(__safe, type, member) : NULL;			\
})

#define SHIM_RB_INLINE		static inline __attribute__((always_inline))
#define SHIM_RB_RED		0UL
#define SHIM_RB_BLACK		1UL

SHIM_RB_INLINE bool shim_rb_is_black(const struct rb_node *node)
{
	return !node || node->parent_color & SHIM_RB_BLACK;
}

SHIM_RB_INLINE void shim_rb_set(struct rb_node *node, struct rb_node *parent,
				unsigned long color)
{
	node->parent_color = (unsigned long)parent | color;
}

SHIM_RB_INLINE void shim_rb_set_parent(struct rb_node *node,
				       struct rb_node *parent)
{
	shim_rb_set(node, parent, node->parent_color & SHIM_RB_BLACK);
}

SHIM_RB_INLINE struct rb_node **shim_rb_side(struct rb_node *node, bool right)
{
	return right ? &node->rb_right : &node->rb_left;
}

SHIM_RB_INLINE void shim_rb_change_child(struct rb_node *old,
					 struct rb_node *new,
					 struct rb_node *parent,
					 struct rb_root *root)
{
	if (!parent)
		root->rb_node = new;
	else if (parent->rb_left == old)
		parent->rb_left = new;
	else
		parent->rb_right = new;
}

/* @new takes the place and color of @old, which becomes its child. */
SHIM_RB_INLINE void shim_rb_swap(struct rb_node *old, struct rb_node *new,
				 struct rb_root *root, unsigned long color)
{
	struct rb_node *parent = rb_parent(old);

	new->parent_color = old->parent_color;
	shim_rb_set(old, new, color);
	shim_rb_change_child(old, new, parent, root);
}

SHIM_RB_INLINE void shim_rb_rotated(struct rb_node *old, struct rb_node *new,
				    const struct rb_augment_callbacks *augment)
{
	if (augment)
		augment->rotate(old, new);
}

/* The red @parent of the red @node is on side @r of @gparent; the uncle is black. */
SHIM_RB_INLINE void shim_rb_insert_rotate(struct rb_node *node,
					  struct rb_node *parent,
					  struct rb_node *gparent, bool r,
					  struct rb_root *root,
					  const struct rb_augment_callbacks *augment)
{
	struct rb_node *inner = *shim_rb_side(parent, !r);

	if (node == inner) {
		inner = *shim_rb_side(node, r);
		*shim_rb_side(parent, !r) = inner;
		*shim_rb_side(node, r) = parent;
		if (inner)
			shim_rb_set(inner, parent, SHIM_RB_BLACK);
		shim_rb_set(parent, node, SHIM_RB_RED);
		shim_rb_rotated(parent, node, augment);
		parent = node;
		inner = *shim_rb_side(node, !r);
	}
	*shim_rb_side(gparent, r) = inner;
	*shim_rb_side(parent, !r) = gparent;
	if (inner)
		shim_rb_set(inner, gparent, SHIM_RB_BLACK);
	shim_rb_swap(gparent, parent, root, SHIM_RB_RED);
	shim_rb_rotated(gparent, parent, augment);
}

SHIM_RB_INLINE void shim_rb_insert(struct rb_node *node, struct rb_root *root,
				   const struct rb_augment_callbacks *augment)
{
	struct rb_node *parent = rb_parent(node), *gparent, *uncle;

	for (;;) {
		if (!parent) {
			shim_rb_set(node, NULL, SHIM_RB_BLACK);
			return;
		}
		if (shim_rb_is_black(parent))
			return;
		gparent = rb_parent(parent);
		uncle = gparent->rb_left == parent ? gparent->rb_right :
						     gparent->rb_left;
		if (shim_rb_is_black(uncle))
			break;
		shim_rb_set(uncle, gparent, SHIM_RB_BLACK);
		shim_rb_set(parent, gparent, SHIM_RB_BLACK);
		node = gparent;
		parent = rb_parent(node);
		shim_rb_set(node, parent, SHIM_RB_RED);
	}
	if (gparent->rb_left == parent)
		shim_rb_insert_rotate(node, parent, gparent, false, root, augment);
	else
		shim_rb_insert_rotate(node, parent, gparent, true, root, augment);
}

/*
 * One step up: the side @r of @parent has a black node less than the other one.
 * Return: whether that has been put right.
 */
SHIM_RB_INLINE bool shim_rb_erase_side(struct rb_node *parent, bool r,
				       struct rb_root *root,
				       const struct rb_augment_callbacks *augment)
{
	struct rb_node *sibling = *shim_rb_side(parent, !r), *outer, *inner;

	if (!shim_rb_is_black(sibling)) {
		inner = *shim_rb_side(sibling, r);
		*shim_rb_side(parent, !r) = inner;
		*shim_rb_side(sibling, r) = parent;
		shim_rb_set(inner, parent, SHIM_RB_BLACK);
		shim_rb_swap(parent, sibling, root, SHIM_RB_RED);
		shim_rb_rotated(parent, sibling, augment);
		sibling = inner;
	}
	outer = *shim_rb_side(sibling, !r);
	if (shim_rb_is_black(outer)) {
		struct rb_node *near = *shim_rb_side(sibling, r);

		if (shim_rb_is_black(near)) {
			bool red = !shim_rb_is_black(parent);

			shim_rb_set(sibling, parent, SHIM_RB_RED);
			parent->parent_color |= SHIM_RB_BLACK;
			return red;
		}
		inner = *shim_rb_side(near, !r);
		*shim_rb_side(sibling, r) = inner;
		*shim_rb_side(near, !r) = sibling;
		*shim_rb_side(parent, !r) = near;
		if (inner)
			shim_rb_set(inner, sibling, SHIM_RB_BLACK);
		shim_rb_rotated(sibling, near, augment);
		outer = sibling;
		sibling = near;
	}
	inner = *shim_rb_side(sibling, r);
	*shim_rb_side(parent, !r) = inner;
	*shim_rb_side(sibling, r) = parent;
	shim_rb_set(outer, sibling, SHIM_RB_BLACK);
	if (inner)
		shim_rb_set_parent(inner, parent);
	shim_rb_swap(parent, sibling, root, SHIM_RB_BLACK);
	shim_rb_rotated(parent, sibling, augment);
	return true;
}

SHIM_RB_INLINE void shim_rb_erase_color(struct rb_node *parent,
					struct rb_root *root,
					const struct rb_augment_callbacks *augment)
{
	struct rb_node *node = NULL;

	while (parent) {
		if (node == parent->rb_left ?
		    shim_rb_erase_side(parent, false, root, augment) :
		    shim_rb_erase_side(parent, true, root, augment))
			return;
		node = parent;
		parent = rb_parent(node);
	}
}

/* @node has two children: its successor takes its place. */
SHIM_RB_INLINE struct rb_node *
shim_rb_erase_inner(struct rb_node *node, struct rb_root *root,
		    const struct rb_augment_callbacks *augment)
{
	struct rb_node *child = node->rb_right, *successor = child;
	struct rb_node *parent = successor, *left = child->rb_left, *rest;
	struct rb_node *rebalance;

	if (!left) {
		rest = successor->rb_right;
		if (augment)
			augment->copy(node, successor);
	} else {
		do {
			parent = successor;
			successor = left;
			left = left->rb_left;
		} while (left);
		rest = successor->rb_right;
		parent->rb_left = rest;
		successor->rb_right = child;
		shim_rb_set_parent(child, successor);
		if (augment) {
			augment->copy(node, successor);
			augment->propagate(parent, successor);
		}
	}
	successor->rb_left = node->rb_left;
	shim_rb_set_parent(node->rb_left, successor);
	shim_rb_change_child(node, successor, rb_parent(node), root);
	if (rest) {
		shim_rb_set(rest, parent, SHIM_RB_BLACK);
		rebalance = NULL;
	} else {
		rebalance = shim_rb_is_black(successor) ? parent : NULL;
	}
	successor->parent_color = node->parent_color;
	if (augment)
		augment->propagate(successor, NULL);
	return rebalance;
}

SHIM_RB_INLINE void shim_rb_erase(struct rb_node *node, struct rb_root *root,
				  const struct rb_augment_callbacks *augment)
{
	struct rb_node *child = node->rb_left ? node->rb_left : node->rb_right;
	struct rb_node *parent = rb_parent(node), *rebalance = NULL;

	if (node->rb_left && node->rb_right) {
		rebalance = shim_rb_erase_inner(node, root, augment);
	} else {
		shim_rb_change_child(node, child, parent, root);
		if (child)
			child->parent_color = node->parent_color;
		else if (shim_rb_is_black(node))
			rebalance = parent;
		if (augment)
			augment->propagate(parent, NULL);
	}
	if (rebalance)
		shim_rb_erase_color(rebalance, root, augment);
}

SHIM_RB_INLINE void shim_rb_add(struct rb_node *node, struct rb_root *root,
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
	shim_rb_set(node, parent, SHIM_RB_RED);
	node->rb_left = NULL;
	node->rb_right = NULL;
	*link = node;
	/* As in the kernel, the caller sets the augmented value of @node itself. */
	if (augment)
		augment->propagate(parent, NULL);
	shim_rb_insert(node, root, augment);
}

static inline void rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(struct rb_node *, const struct rb_node *))
{
	shim_rb_add(node, root, less, NULL);
}

/* Returns the node in the tree that is equal to @node, or adds @node and returns NULL. */
static inline struct rb_node *rb_find_add(struct rb_node *node, struct rb_root *root,
					  int (*cmp)(struct rb_node *, const struct rb_node *))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;
	int c;

	while (*link) {
		parent = *link;
		c = cmp(node, parent);
		if (!c)
			return parent;
		link = c < 0 ? &parent->rb_left : &parent->rb_right;
	}
	shim_rb_set(node, parent, SHIM_RB_RED);
	node->rb_left = NULL;
	node->rb_right = NULL;
	*link = node;
	shim_rb_insert(node, root, NULL);
	return NULL;
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
	while (rb_parent(node) && node == rb_parent(node)->rb_right)
		node = rb_parent(node);
	return rb_parent(node);
}

static inline struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *prev = node->rb_left;

	if (prev) {
		while (prev->rb_right)
			prev = prev->rb_right;
		return prev;
	}
	while (rb_parent(node) && node == rb_parent(node)->rb_left)
		node = rb_parent(node);
	return rb_parent(node);
}

/* Walks children before parents. */
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
	struct rb_node *parent = rb_parent(node);

	if (parent && node == parent->rb_left && parent->rb_right)
		return shim_rb_deepest(parent->rb_right);
	return parent;
}

static inline struct rb_node *rb_first_cached(const struct rb_root_cached *root)
{
	return root->rb_leftmost;
}

SHIM_RB_INLINE struct rb_node *
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

SHIM_RB_INLINE struct rb_node *
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
