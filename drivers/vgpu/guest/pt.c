// SPDX-License-Identifier: GPL-2.0
/* Page tables of an address space, in the format of Sv39. */
#include "bo.h"
#include "device.h"
#include "own.h"
#include "pt.h"

#define TOP		2

/* Bytes that an entry of a table of that level maps. */
static u64 entry_bytes(unsigned int level)
{
	return (u64)VGPU_HW_PAGE_SIZE << 9 * level;
}

static unsigned int slot_of(u64 va, unsigned int level)
{
	return va / entry_bytes(level) % GUEST_PT_SLOTS;
}

static bool is_leaf(u64 slot)
{
	return slot & VGPU_HW_PTE_V;
}

static struct guest_table *table_in(u64 slot)
{
	return (struct guest_table *)(uintptr_t)slot;
}

static u64 entry_to(u64 addr, u64 flags)
{
	return addr / VGPU_HW_PAGE_SIZE << VGPU_HW_PTE_PAGE_SHIFT | VGPU_HW_PTE_V | flags;
}

struct guest_table *guest_table_create(struct guest_dev *gdev)
{
	struct guest_table *table;
	int ret = -ENOMEM;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&table->link);
	INIT_LIST_HEAD(&table->blocks);
	table->slot = kcalloc(GUEST_PT_SLOTS, sizeof(*table->slot), GFP_KERNEL_ACCOUNT);
	if (table->slot)
		ret = guest_own_alloc(gdev, VGPU_HW_PAGE_SIZE, &table->blocks);
	if (ret) {
		kfree(table->slot);
		kfree(table);
		return ERR_PTR(ret);
	}
	table->addr = guest_fb_offset(list_first_entry(&table->blocks, struct gpu_buddy_block,
						       link));
	return table;
}

void guest_table_destroy(struct guest_dev *gdev, struct guest_table *table)
{
	guest_fb_free_own(gdev, &table->blocks);
	kfree(table->slot);
	kfree(table);
}

static void destroy_below(struct guest_dev *gdev, struct guest_table *table, unsigned int level)
{
	unsigned int i;

	for (i = 0; level && i < GUEST_PT_SLOTS; i++)
		if (table->slot[i] && !is_leaf(table->slot[i]))
			destroy_below(gdev, table_in(table->slot[i]), level - 1);
	guest_table_destroy(gdev, table);
}

void guest_pt_destroy(struct guest_dev *gdev, struct guest_table *root)
{
	destroy_below(gdev, root, TOP);
}

/*
 * Whether a leaf of the middle level maps what begins at @va and @offset: that depends on the
 * buffer, and not on where it lies, which may be another place when it is mapped.
 */
static bool fits_large(u64 va, u64 bytes, const struct guest_bo *bo, u64 offset)
{
	u64 large = entry_bytes(1);

	BUILD_BUG_ON(GUEST_FB_LARGE != (VGPU_HW_PAGE_SIZE << 9));
	return bo->large && !(va % large) && !(offset % large) && bytes >= large &&
	       offset + large <= round_down(guest_bo_bytes(bo), large);
}

u64 guest_pt_tables(u64 va, u64 bytes, const struct guest_bo *bo, u64 offset)
{
	u64 end = va + bytes, nr = slot_of(end - 1, TOP) - slot_of(va, TOP) + 1, step;

	/* An end of what is unmapped may lie within a large leaf, which is split then. */
	if (!bo)
		return 2;
	while (va < end) {
		if (!fits_large(va, end - va, bo, offset))
			nr++;
		step = min(entry_bytes(1) - va % entry_bytes(1), end - va);
		va += step;
		offset += step;
	}
	return nr;
}

int guest_pt_reserve(struct guest_dev *gdev, struct guest_pt_change *change, u64 nr)
{
	struct guest_table *table;

	while (nr--) {
		table = guest_table_create(gdev);
		if (IS_ERR(table))
			return PTR_ERR(table);
		list_add(&table->link, &change->spare);
	}
	return 0;
}

void guest_pt_change_free(struct guest_dev *gdev, struct guest_pt_change *change)
{
	struct guest_table *table, *next;

	list_splice_init(&change->removed, &change->spare);
	list_for_each_entry_safe(table, next, &change->spare, link)
		guest_table_destroy(gdev, table);
	INIT_LIST_HEAD(&change->spare);
}

/* The device reads an entry in one piece, at any time, and then finds what was written before. */
static void set_entry(struct guest_dev *gdev, struct guest_table *table, unsigned int i, u64 slot)
{
	u64 entry = !slot || is_leaf(slot) ? slot : entry_to(table_in(slot)->addr, 0);

	if (!table->slot[i] != !slot)
		table->used += slot ? 1 : -1;
	table->slot[i] = slot;
	if (slot && !is_leaf(slot))
		wmb(); /* the device finds a table as it was filled */
	writeq(entry, gdev->fb.cpu + table->addr + i * sizeof(entry));
}

static struct guest_table *take_spare(struct guest_pt_change *change)
{
	struct guest_table *table;

	table = list_first_entry(&change->spare, struct guest_table, link);
	list_del_init(&table->link);
	return table;
}

/* Puts a table with the same mappings in the place of a large leaf. */
static struct guest_table *split_leaf(struct guest_dev *gdev, struct guest_table *table,
				      unsigned int i, struct guest_pt_change *change)
{
	struct guest_table *below = take_spare(change);
	u64 leaf = table->slot[i];
	unsigned int j;

	for (j = 0; j < GUEST_PT_SLOTS; j++)
		set_entry(gdev, below, j, leaf + ((u64)j << VGPU_HW_PTE_PAGE_SHIFT));
	set_entry(gdev, table, i, (uintptr_t)below);
	return below;
}

static void clear_range(struct guest_dev *gdev, struct guest_table *table, unsigned int level,
			u64 va, u64 end, struct guest_pt_change *change)
{
	struct guest_table *below;
	unsigned int i;
	u64 next, slot;

	for (; va < end; va = next) {
		next = min(round_down(va, entry_bytes(level)) + entry_bytes(level), end);
		i = slot_of(va, level);
		slot = table->slot[i];
		if (!slot)
			continue;
		if (is_leaf(slot)) {
			change->dropped = true;
			change->text |= slot & VGPU_HW_PTE_X;
		}
		if (is_leaf(slot) && next - va == entry_bytes(level)) {
			set_entry(gdev, table, i, 0);
			continue;
		}
		below = is_leaf(slot) ? split_leaf(gdev, table, i, change) : table_in(slot);
		clear_range(gdev, below, level - 1, va, next, change);
		if (!below->used) {
			set_entry(gdev, table, i, 0);
			list_add(&below->link, &change->removed);
		}
	}
}

void guest_pt_unmap(struct guest_dev *gdev, struct guest_table *root,
		    struct guest_pt_change *change, u64 va, u64 bytes)
{
	clear_range(gdev, root, TOP, va, va + bytes, change);
}

/* The table of the next level, which is made if it is not there. */
static struct guest_table *table_below(struct guest_dev *gdev, struct guest_table *table,
				       unsigned int i, struct guest_pt_change *change)
{
	if (!table->slot[i])
		set_entry(gdev, table, i, (uintptr_t)take_spare(change));
	return table_in(table->slot[i]);
}

void guest_pt_map(struct guest_dev *gdev, struct guest_table *root, struct guest_pt_change *change,
		  u64 va, u64 bytes, const struct guest_bo *bo, u64 offset, u64 flags)
{
	u64 end = va + bytes, left, step, addr;
	struct guest_table *table;
	unsigned int level;

	flags |= bo->place->sys ? VGPU_HW_PTE_SYS : 0;
	wmb(); /* the buffer's zeroes come before its mapping */
	for (; va < end; va += step, offset += step) {
		addr = guest_bo_addr(bo, offset, &left);
		table = table_below(gdev, root, slot_of(va, TOP), change);
		level = 1;
		if (!fits_large(va, end - va, bo, offset)) {
			table = table_below(gdev, table, slot_of(va, 1), change);
			level = 0;
		}
		step = entry_bytes(level);
		set_entry(gdev, table, slot_of(va, level), entry_to(addr, flags));
	}
}
