/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LIST_SORT_H
#define _SHIM_LINUX_LIST_SORT_H

#include <linux/list.h>

/* Stable, by insertion: fast where little is out of order. */
static inline void list_sort(void *priv, struct list_head *head,
			     int (*after)(void *priv, const struct list_head *a,
					  const struct list_head *b))
{
	struct list_head *node, *next, *at;

	for (node = head->next; node != head; node = next) {
		next = node->next;
		for (at = node->prev; at != head && after(priv, at, node) > 0;)
			at = at->prev;
		list_move(node, at);
	}
}

#endif /* _SHIM_LINUX_LIST_SORT_H */
