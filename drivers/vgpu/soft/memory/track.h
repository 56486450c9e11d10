/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks which pages of a store are written, while somebody wants to know. */
#ifndef _VGPU_SOFT_TRACK_H
#define _VGPU_SOFT_TRACK_H

#include <linux/types.h>

struct soft_store;

int soft_track_start(struct soft_store *store);
void soft_track_stop(struct soft_store *store);
unsigned long soft_track_take(struct soft_store *store, bool *dropped);
unsigned long soft_track_next(struct soft_store *store, unsigned long most, unsigned long *first);

#endif /* _VGPU_SOFT_TRACK_H */
