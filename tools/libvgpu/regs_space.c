// SPDX-License-Identifier: GPL-2.0
/* The transport over registers: address spaces, by page tables as the device reads them. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

#define LEVELS		3
#define PTE_ACCESS	(VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X)

/* Bytes that a leaf in a table of that level maps. */
static uint64_t leaf_bytes(unsigned int level)
{
	return (uint64_t)VGPU_HW_PAGE_SIZE << 9 * level;
}

static uint64_t *table_of(struct vgpu_space *space, uint64_t page)
{
	return (void *)(space->dev->fb + page * VGPU_HW_PAGE_SIZE);
}

static uint64_t entry_get(const uint64_t *entry)
{
	return le64toh(__atomic_load_n(entry, __ATOMIC_RELAXED));
}

/* The device may read the entry at any time, and then finds what was written before. */
static void entry_set(uint64_t *entry, uint64_t value)
{
	__atomic_store_n(entry, htole64(value), __ATOMIC_RELEASE);
}

static uint64_t entry_to(uint64_t addr, uint64_t flags)
{
	return addr / VGPU_HW_PAGE_SIZE << VGPU_HW_PTE_PAGE_SHIFT | VGPU_HW_PTE_V | flags;
}

static int table_alloc(struct vgpu_dev *dev, uint64_t *at)
{
	int ret;

	ret = vgpu_fb_alloc(dev, VGPU_HW_PAGE_SIZE, VGPU_HW_PAGE_SIZE, at);
	if (!ret)
		memset(dev->fb + *at, 0, VGPU_HW_PAGE_SIZE);
	return ret;
}

/*
 * What a program of another channel may have written over cannot be trusted: the page of the next
 * table is in the framebuffer.
 */
static int check_table(struct vgpu_space *space, uint64_t page)
{
	if (page < space->dev->fb_bytes / VGPU_HW_PAGE_SIZE)
		return 0;
	return vgpu_fail(space->dev, -EIO, "page table at page %#llx: framebuffer has %#llx",
			 (unsigned long long)page,
			 (unsigned long long)(space->dev->fb_bytes / VGPU_HW_PAGE_SIZE));
}

/* As vgpu_space_entry(), but without @make it makes no tables. Sets @error if it returns NULL. */
static uint64_t *find_entry(struct vgpu_space *space, uint64_t va, unsigned int level, bool make,
			    int *error)
{
	uint64_t page = space->root & VGPU_HW_ROOT_PAGE_MASK, *entry, value, at;
	unsigned int i;

	for (i = LEVELS - 1;; i--) {
		entry = table_of(space, page) + va / leaf_bytes(i) % 512;
		if (i == level)
			return entry;
		value = entry_get(entry);
		if (value & PTE_ACCESS || (!value && !make)) {
			*error = value ? -EEXIST : -ENOENT;
			return NULL;
		}
		if (!value) {
			*error = table_alloc(space->dev, &at);
			if (*error)
				return NULL;
			value = entry_to(at, 0);
			entry_set(entry, value);
		}
		page = value >> VGPU_HW_PTE_PAGE_SHIFT;
		*error = check_table(space, page);
		if (*error)
			return NULL;
	}
}

uint64_t *vgpu_space_entry(struct vgpu_space *space, uint64_t va, unsigned int level)
{
	int error;

	return space->dev->bus ? find_entry(space, va, level, true, &error) : NULL;
}

/* The address of a place for the device; @contig is set to the bytes from there in one piece. */
static uint64_t place_of(struct vgpu_loc loc, uint64_t *contig)
{
	if (loc.buf)
		return vgpu_buf_addr(loc.buf, loc.offset, contig);
	*contig = ~0ull;
	return loc.offset;
}

/* The level of the largest leaf that fits. */
static unsigned int fitting_level(uint64_t va, uint64_t addr, uint64_t bytes)
{
	unsigned int level = LEVELS - 1;

	while (level && ((va | addr) % leaf_bytes(level) || bytes < leaf_bytes(level)))
		level--;
	return level;
}

static int space_invalidate(struct vgpu_dev *dev, const struct vgpu_space *space)
{
	return vgpu_reg_write32(dev, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE,
				space ? space->root : 0);
}

static int space_create(struct vgpu_space *space)
{
	uint64_t at;
	int ret;

	ret = table_alloc(space->dev, &at);
	if (ret)
		return ret;
	space->root = VGPU_HW_ROOT_VALID | (uint32_t)(at / VGPU_HW_PAGE_SIZE);
	/* Another may have had its root there, of which the device still knows. */
	return space_invalidate(space->dev, space);
}

static int space_map(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		     uint32_t flags)
{
	uint64_t contig, addr, *entry;
	unsigned int level;
	int ret;

	while (bytes) {
		addr = place_of(to, &contig);
		if (addr % VGPU_HW_PAGE_SIZE || contig < VGPU_HW_PAGE_SIZE)
			return vgpu_fail(space->dev, -EINVAL, "no page at offset %#llx",
					 (unsigned long long)to.offset);
		level = fitting_level(va, addr, bytes < contig ? bytes : contig);
		entry = find_entry(space, va, level, true, &ret);
		if (!entry)
			return ret == -EEXIST ?
			       vgpu_fail(space->dev, ret, "%#llx is in a larger leaf",
					 (unsigned long long)va) : ret;
		entry_set(entry, entry_to(addr, flags | (to.buf ? VGPU_HW_PTE_SYS : 0)));
		va += leaf_bytes(level);
		to.offset += leaf_bytes(level);
		bytes -= leaf_bytes(level);
	}
	return 0;
}

static int space_unmap(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	uint64_t end = va + bytes, *entry;
	unsigned int level;
	int ret;

	while (va != end) {
		for (level = 0; level < LEVELS; level++) {
			entry = find_entry(space, va, level, false, &ret);
			if (entry)
				break;
			if (ret == -EIO)
				return ret;
		}
		if (entry_get(entry) & PTE_ACCESS && !(va % leaf_bytes(level)))
			entry_set(entry, 0);
		va += VGPU_HW_PAGE_SIZE;
	}
	return 0;
}

const struct vgpu_space_ops vgpu_regs_space = {
	.create = space_create,
	.map = space_map,
	.unmap = space_unmap,
	.invalidate = space_invalidate,
};
