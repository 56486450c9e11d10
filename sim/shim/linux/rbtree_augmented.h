/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trees whose nodes know something about all below them. compute(node, exit)
 * brings node->augmented up to date from node and its children; with exit it
 * says whether that was so already.
 */
#ifndef _SHIM_LINUX_RBTREE_AUGMENTED_H
#define _SHIM_LINUX_RBTREE_AUGMENTED_H

#include <linux/rbtree.h>

#define RB_DECLARE_CALLBACKS(linkage, name, type, field, augmented, compute) \
static inline void name##_propagate(struct rb_node *node,		\
				    struct rb_node *stop)		\
{									\
	for (; node != stop; node = rb_parent(node))			\
		if (compute(rb_entry(node, type, field), true))		\
			break;						\
}									\
static inline void name##_copy(struct rb_node *old, struct rb_node *new) \
{									\
	rb_entry(new, type, field)->augmented =				\
		rb_entry(old, type, field)->augmented;			\
}									\
static inline void name##_rotate(struct rb_node *old, struct rb_node *new) \
{									\
	name##_copy(old, new);						\
	compute(rb_entry(old, type, field), false);			\
}									\
linkage const struct rb_augment_callbacks name = {			\
	.propagate = name##_propagate,					\
	.copy = name##_copy,						\
	.rotate = name##_rotate,					\
}

static inline void rb_erase_augmented(struct rb_node *node, struct rb_root *root,
				      const struct rb_augment_callbacks *augment)
{
	shim_rb_erase(node, root, augment);
}

static inline struct rb_node *
rb_add_augmented_cached(struct rb_node *node, struct rb_root_cached *tree,
			bool (*less)(struct rb_node *, const struct rb_node *),
			const struct rb_augment_callbacks *augment)
{
	return shim_rb_add_cached(node, tree, less, augment);
}

static inline void
rb_erase_augmented_cached(struct rb_node *node, struct rb_root_cached *root,
			  const struct rb_augment_callbacks *augment)
{
	shim_rb_erase_cached(node, root, augment);
}

#endif /* _SHIM_LINUX_RBTREE_AUGMENTED_H */
