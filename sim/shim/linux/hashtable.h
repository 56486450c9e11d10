/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_HASHTABLE_H
#define _SHIM_LINUX_HASHTABLE_H

#include <linux/container_of.h>
#include <linux/types.h>

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1U << (bits)]
#define SHIM_HASH_SIZE(table)		(sizeof(table) / sizeof((table)[0]))

/* The highest bits of a product. */
#define shim_hash(table, key) \
	(((u64)(key) * 0x61c8864680b583ebULL >> 32) * SHIM_HASH_SIZE(table) >> 32)

#define hash_init(table)		__builtin_memset(table, 0, sizeof(table))
#define hash_add(table, node, key)	shim_hash_add(&(table)[shim_hash(table, key)], node)

#define shim_hash_entry(node, type, member) \
	((node) ? container_of(node, type, member) : NULL)

#define hash_for_each_possible(table, pos, member, key)					\
	for (pos = shim_hash_entry((table)[shim_hash(table, key)].first,		\
				   __typeof__(*pos), member);				\
	     pos; pos = shim_hash_entry(pos->member.next, __typeof__(*pos), member))

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline void shim_hash_add(struct hlist_head *head, struct hlist_node *node)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
}

static inline void hash_del(struct hlist_node *node)
{
	if (!node->pprev)
		return;
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	INIT_HLIST_NODE(node);
}

#endif /* _SHIM_LINUX_HASHTABLE_H */
