/* SPDX-License-Identifier: GPL-2.0 */
/* Page tables of an address space: in the framebuffer, and beside that in the guest's memory. */
#ifndef _VGPU_GUEST_PT_H
#define _VGPU_GUEST_PT_H

#include <linux/list.h>
#include <linux/types.h>

struct guest_bo;
struct guest_dev;

#define GUEST_PT_SLOTS	512

/**
 * struct guest_table - a table
 * @link:   in one of the lists of &struct guest_pt_change
 * @blocks: the one page of framebuffer
 * @addr:   the same, as an offset
 * @used:   slots that are not 0
 * @slot:   what each entry is: 0; a leaf as the device has it, with VGPU_HW_PTE_V; or the address
 *          of the &struct guest_table of the next level. Never read from the framebuffer, where a
 *          program or the host may have written
 */
struct guest_table {
	struct list_head link;
	struct list_head blocks;
	u64 addr;
	u32 used;
	u64 *slot;
};

/**
 * struct guest_pt_change - what a change of page tables needs and leaves
 * @spare:   tables for it, as it cannot allocate any
 * @removed: tables that are no longer reachable, for after the device has dropped what it knows
 * @dropped: a leaf that the device may know is gone
 * @text:    and it was executable
 */
struct guest_pt_change {
	struct list_head spare;
	struct list_head removed;
	bool dropped;
	bool text;
};

static inline void guest_pt_change_init(struct guest_pt_change *change)
{
	INIT_LIST_HEAD(&change->spare);
	INIT_LIST_HEAD(&change->removed);
	change->dropped = false;
	change->text = false;
}

struct guest_table *guest_table_create(struct guest_dev *gdev);
void guest_table_destroy(struct guest_dev *gdev, struct guest_table *table);

/* Frees the tables of the top level's @root and below, and @root. */
void guest_pt_destroy(struct guest_dev *gdev, struct guest_table *root);

/*
 * Tables that are needed to map that part of @bo at @va, wherever it lies by then, or (no @bo) to
 * unmap there.
 */
u64 guest_pt_tables(u64 va, u64 bytes, const struct guest_bo *bo, u64 offset);

/* Adds so many tables to what @change has. */
int guest_pt_reserve(struct guest_dev *gdev, struct guest_pt_change *change, u64 nr);

/* Frees what @change has. If it has removed tables, the device uses them no longer. */
void guest_pt_change_free(struct guest_dev *gdev, struct guest_pt_change *change);

/*
 * Maps and unmaps, without allocating. Nothing is mapped where guest_pt_map() maps, or the same. It
 * maps a buffer that has a place, which stays. @flags are VGPU_HW_PTE_*. The device is there
 * (drm_dev_enter()).
 */
void guest_pt_map(struct guest_dev *gdev, struct guest_table *root, struct guest_pt_change *change,
		  u64 va, u64 bytes, const struct guest_bo *bo, u64 offset, u64 flags);
void guest_pt_unmap(struct guest_dev *gdev, struct guest_table *root,
		    struct guest_pt_change *change, u64 va, u64 bytes);

#endif /* _VGPU_GUEST_PT_H */
