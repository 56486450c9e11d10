// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the memory of each lane when an access is not to one place or row: see lane_mem.h. Fills
 * the TLB.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "access.h"
#include "reg.h"

#define SIMT_PAGE_MASK	(VGPU_HW_PAGE_SIZE - 1ULL)

/* An access that misses private memory, but is in this range, counts as a stack overflow. */
#define SIMT_STACK_FIRST	0x50000000ULL
#define SIMT_STACK_LAST		0x7fffffffULL

/*
 * An instruction with an access in two pieces costs so many more instructions. It makes the warp
 * leave the running group, so that the interpreter takes this cost off the budget.
 */
#define SIMT_SPLIT_EXTRA	4

/* Empties @tlb. Context: any. */
void simt_tlb_flush(struct simt_tlb *tlb)
{
	memset(tlb->read, 0xff, sizeof(tlb->read));
	memset(tlb->write, 0xff, sizeof(tlb->write));
	/* Code of the CPU (bpf_mem.c) takes all that differ from ~0 by less for that page. */
	tlb->read[SIMT_TLB - 1] = 0;
	tlb->write[SIMT_TLB - 1] = 0;
	/* A CPU that speculates past the comparison must not find pages of another VM. */
	memset(tlb->read_host, 0, sizeof(tlb->read_host));
	memset(tlb->write_host, 0, sizeof(tlb->write_host));
}

/* The image is readable up to the end of its last page, because a TLB holds whole pages. */
static bool simt_in_image(const struct simt_group *group, u64 va)
{
	u64 bytes = (group->dispatch->image_bytes + SIMT_PAGE_MASK) & ~SIMT_PAGE_MASK;

	return va - VGPU_HW_VA_IMAGE < bytes;
}

/* Finds the page of @va, an address in global memory or in the image. */
static enum simt_end simt_access_page(struct simt_warp *w, u64 va, bool write, u8 **host,
				      bool *keep, enum vgpu_hw_fault *code)
{
	struct simt_group *group = w->group;
	unsigned int entry = va / VGPU_HW_PAGE_SIZE % SIMT_TLB;
	struct simt_tlb *tlb = group->tlb;
	u64 page = va & ~SIMT_PAGE_MASK;
	enum simt_end end;
	void *at;

	*keep = true;
	if ((write ? tlb->write[entry] : tlb->read[entry]) == page) {
		*host = write ? tlb->write_host[entry] : tlb->read_host[entry];
		return SIMT_DONE;
	}
	*code = VGPU_HW_FAULT_PAGE;
	if (write && va < VGPU_HW_VA_GLOBAL)
		return SIMT_FAULT;
	end = group->mem->map(group->mem, page, write, &at, keep, code);
	if (end != SIMT_DONE)
		return end;
	*host = at;
	if (!*keep)
		return SIMT_DONE;
	/* A writable page is readable, too. */
	tlb->read[entry] = page;
	tlb->read_host[entry] = at;
	if (write) {
		tlb->write[entry] = page;
		tlb->write_host[entry] = at;
	}
	return SIMT_DONE;
}

/**
 * simt_access_fill() - put a page into the TLB
 * @w: the warp
 * @va: any address
 * @write: the page will be written
 *
 * Does not report why there is no page; simt_access_hosts() does.
 *
 * Context: any.
 * Return: whether the TLB has the page now.
 */
bool simt_access_fill(struct simt_warp *w, u64 va, bool write)
{
	enum vgpu_hw_fault code;
	bool keep;
	u8 *host;

	if (va < VGPU_HW_VA_GLOBAL && !simt_in_image(w->group, va))
		return false;
	return simt_access_page(w, va, write, &host, &keep, &code) == SIMT_DONE && keep;
}

/*
 * Finds the first piece of a lane's access of @bytes at @va, and sets @bytes to the piece's length.
 * A piece ends at the end of a page, of local memory or of a word of private memory.
 */
static enum simt_end simt_access_piece(struct simt_warp *w, u64 va, unsigned int lane, bool write,
				       unsigned int *bytes, u8 **host, enum vgpu_hw_fault *code)
{
	const struct simt_group *group = w->group;
	u64 offset = va & SIMT_PAGE_MASK;
	enum simt_end end;
	bool keep;

	if (va >= VGPU_HW_VA_GLOBAL || simt_in_image(group, va)) {
		*bytes = min_t(u64, *bytes, VGPU_HW_PAGE_SIZE - offset);
		end = simt_access_page(w, va, write, host, &keep, code);
		if (end == SIMT_DONE)
			*host += offset;
		return end;
	}
	offset = va - VGPU_HW_VA_LOCAL;
	if (offset < group->local_bytes) {
		*bytes = min_t(u64, *bytes, group->local_bytes - offset);
		*host = group->local + array_index_nospec(offset, (u64)group->local_bytes);
		return SIMT_DONE;
	}
	offset = va - VGPU_HW_VA_PRIVATE;
	if (offset < group->private_bytes) {
		offset = array_index_nospec(offset, (u64)group->private_bytes);
		*bytes = min_t(u64, *bytes, 8 - offset % 8);
		*host = w->private + (offset / 8 * SIMT_LANES + lane) * 8 + offset % 8;
		return SIMT_DONE;
	}
	*code = va >= SIMT_STACK_FIRST && va <= SIMT_STACK_LAST ? VGPU_HW_FAULT_STACK :
								  VGPU_HW_FAULT_PAGE;
	return SIMT_FAULT;
}

/* Finds both pieces of a lane's access, or its only one. A call would cost a tenth of a gather. */
static __always_inline enum simt_end
simt_access_lane(struct simt_warp *w, u64 va, unsigned int lane, bool write, unsigned int bytes,
		 u64 *fault_va, enum vgpu_hw_fault *code)
{
	unsigned int first = bytes, second;
	enum simt_end end;

	*fault_va = va;
	end = simt_access_piece(w, va, lane, write, &first, &w->host[lane], code);
	w->piece[lane] = first;
	if (end != SIMT_DONE || first == bytes)
		return end;
	second = bytes - first;
	*fault_va = va + first;
	return simt_access_piece(w, va + first, lane, write, &second, &w->host2[lane], code);
}

/* Counts @pieces scattered accesses. Returns whether struct simt_mem.over says: time is over. */
bool simt_access_over(struct simt_group *group, u32 pieces)
{
	struct simt_mem *mem = group->mem;

	group->apart += pieces;
	if (group->apart < SIMT_APART_MOST)
		return false;
	group->apart = 0;
	if (!mem->over || !mem->over(mem))
		return false;
	group->over = true;
	return true;
}

/*
 * Counts a scattered access, in up to @pieces pieces per lane. If time is over, uses up the rest of
 * the budget.
 */
static void simt_access_apart(struct simt_warp *w, u32 pieces)
{
	if (w->partial)
		w->alone.hosts++;
	if (simt_access_over(w->group, pieces)) {
		w->extra = U32_MAX;
		w->join = w->text;
	}
}

/* What is left to do when each lane's memory was found. */
static enum simt_hosts simt_access_done(struct simt_warp *w, enum simt_hosts hosts)
{
	if (hosts == SIMT_HOSTS_SPLIT) {
		w->extra = SIMT_SPLIT_EXTRA;
		w->join = w->text;
	}
	simt_access_apart(w, hosts == SIMT_HOSTS_SPLIT ? 2 : 1);
	return hosts;
}

/* The lane's memory was not found. */
static enum simt_hosts simt_access_fail(struct simt_warp *w, const struct simt_insn *i,
					enum simt_end end, enum vgpu_hw_fault code, u64 va,
					unsigned int lane)
{
	/* If it waits: the fault to report if the caller cannot get the page. */
	simt_warp_fault(w, i, end == SIMT_WAIT ? VGPU_HW_FAULT_MEMORY : code, va, lane);
	if (end == SIMT_WAIT)
		w->event = SIMT_EVENT_WAIT;
	return SIMT_HOSTS_FAIL;
}

/**
 * simt_access_host() - likewise simt_access_hosts(), for one lane
 * @w: the warp
 * @i: the instruction
 * @va: address
 * @lane: the lane
 * @bytes: length of the access: 1, 2, 4 or 8
 * @write: the instruction writes memory
 * Context: any.
 * Return: see enum simt_hosts.
 */
enum simt_hosts simt_access_host(struct simt_warp *w, const struct simt_insn *i, u64 va,
				 unsigned int lane, unsigned int bytes, bool write)
{
	enum vgpu_hw_fault code;
	enum simt_end end;
	u64 fault_va;

	end = simt_access_lane(w, va, lane, write, bytes, &fault_va, &code);
	if (end != SIMT_DONE)
		return simt_access_fail(w, i, end, code, fault_va, lane);
	return simt_access_done(w, w->piece[lane] < bytes ? SIMT_HOSTS_SPLIT : SIMT_HOSTS_WHOLE);
}

/**
 * simt_access_hosts() - find the memory of each active lane's access
 * @w: the warp
 * @i: the instruction
 * @va: addresses by lane
 * @bytes: length of each access: 1, 2, 4 or 8
 * @write: the instruction writes memory
 *
 * Sets @w->host and @w->piece, and for accesses in two pieces @w->host2.
 *
 * Context: any.
 * Return: see enum simt_hosts. After SIMT_HOSTS_FAIL the caller returns SIMT_LEAVE.
 */
enum simt_hosts simt_access_hosts(struct simt_warp *w, const struct simt_insn *i, const u64 *va,
				  unsigned int bytes, bool write)
{
	u64 private_bytes = w->group->private_bytes, fault_va;
	enum simt_hosts hosts = SIMT_HOSTS_WHOLE;
	enum vgpu_hw_fault code;
	enum simt_end end;
	unsigned int l;
	u32 lanes;

	for (lanes = w->active; lanes; lanes &= lanes - 1) {
		l = __ffs(lanes);
		w->host[l] = simt_find_lane(w, w->private + 8 * l, private_bytes, va[l], bytes,
					    write);
		w->piece[l] = bytes;
		if (w->host[l])
			continue;
		end = simt_access_lane(w, va[l], l, write, bytes, &fault_va, &code);
		if (end != SIMT_DONE)
			return simt_access_fail(w, i, end, code, fault_va, l);
		if (w->piece[l] < bytes)
			hosts = SIMT_HOSTS_SPLIT;
	}
	return simt_access_done(w, hosts);
}

/* Reads once, because other threads may write the memory. For accesses in one piece. */
static u64 simt_access_get(const u8 *from, unsigned int bytes)
{
	switch (bytes) {
	case 1:
		return simt_any(u8, from);
	case 2:
		return simt_any(u16, from);
	case 4:
		return simt_any(u32, from);
	default:
		return simt_any(u64, from);
	}
}

static void simt_access_set(u8 *to, unsigned int bytes, u64 value)
{
	switch (bytes) {
	case 1:
		simt_any_set(u8, to, value);
		break;
	case 2:
		simt_any_set(u16, to, value);
		break;
	case 4:
		simt_any_set(u32, to, value);
		break;
	default:
		simt_any_set(u64, to, value);
	}
}

/* Loads a lane's value, zero-extended, from where its memory was found. */
u64 simt_access_load_lane(const struct simt_warp *w, unsigned int lane, unsigned int bytes)
{
	u64 value = 0;

	if (w->piece[lane] == bytes)
		return simt_access_get(w->host[lane], bytes);
	memcpy(&value, w->host[lane], w->piece[lane]);
	memcpy((u8 *)&value + w->piece[lane], w->host2[lane], bytes - w->piece[lane]);
	return value;
}

/* Likewise, stores the low @bytes of @value. */
void simt_access_store_lane(struct simt_warp *w, unsigned int lane, unsigned int bytes, u64 value)
{
	if (w->piece[lane] == bytes) {
		simt_access_set(w->host[lane], bytes, value);
		return;
	}
	memcpy(w->host[lane], &value, w->piece[lane]);
	memcpy(w->host2[lane], (const u8 *)&value + w->piece[lane], bytes - w->piece[lane]);
}

/**
 * simt_access_load() - load after simt_access_hosts() has returned SIMT_HOSTS_SPLIT
 * @w: the warp
 * @bytes: length of each access, as passed there
 * @to: set to the lanes' values, zero-extended; 0 for lanes that are not active
 * Context: any.
 */
void simt_access_load(struct simt_warp *w, unsigned int bytes, u64 *to)
{
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		to[l] = simt_active(w, l) ? simt_access_load_lane(w, l, bytes) : 0;
}

/* Likewise, stores the low @bytes of each lane's value. */
void simt_access_store(struct simt_warp *w, unsigned int bytes, const u64 *from)
{
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		if (simt_active(w, l))
			simt_access_store_lane(w, l, bytes, from[l]);
}
