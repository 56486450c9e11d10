/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the memory of an access: what the TLB has, local and private memory here, the rest in
 * access.c. And orders accesses.
 */
#ifndef _VGPU_SIMT_ACCESS_H
#define _VGPU_SIMT_ACCESS_H

#include <linux/nospec.h>

#include "warp.h"

#define SIMT_OFFSET(va)		((va) & (VGPU_HW_PAGE_SIZE - 1))

/* What simt_access_hosts() found. */
enum simt_hosts {
	SIMT_HOSTS_FAIL,	/* a lane has no memory there: there was an event */
	SIMT_HOSTS_WHOLE,	/* each lane's access is in one piece */
	SIMT_HOSTS_SPLIT,	/* some are in two pieces */
};

enum simt_hosts simt_access_hosts(struct simt_warp *w, const struct simt_insn *i, const u64 *va,
				  unsigned int bytes, bool write);
enum simt_hosts simt_access_host(struct simt_warp *w, const struct simt_insn *i, u64 va,
				 unsigned int lane, unsigned int bytes, bool write);
u64 simt_access_load_lane(const struct simt_warp *w, unsigned int lane, unsigned int bytes);
void simt_access_store_lane(struct simt_warp *w, unsigned int lane, unsigned int bytes, u64 value);
void simt_access_load(struct simt_warp *w, unsigned int bytes, u64 *to);
void simt_access_store(struct simt_warp *w, unsigned int bytes, const u64 *from);
bool simt_access_over(struct simt_group *group, u32 pieces);
bool simt_access_fill(struct simt_warp *w, u64 va, bool write);

/* Finds global or local memory, or the image. NULL: access.c must find the memory, or fault. */
static inline u8 *simt_find(const struct simt_warp *w, u64 va, u64 bytes, bool write)
{
	const struct simt_tlb *tlb = w->group->tlb;
	u64 page = va & ~(u64)(VGPU_HW_PAGE_SIZE - 1), local = va - VGPU_HW_VA_LOCAL;
	u64 local_bytes = w->group->local_bytes;
	unsigned int entry = va / VGPU_HW_PAGE_SIZE % SIMT_TLB;

	if ((write ? tlb->write[entry] : tlb->read[entry]) == page &&
	    SIMT_OFFSET(va) + bytes <= VGPU_HW_PAGE_SIZE)
		return (write ? tlb->write_host[entry] : tlb->read_host[entry]) + SIMT_OFFSET(va);
	if (local < local_bytes && bytes <= local_bytes - local)
		return w->group->local + array_index_nospec(local, local_bytes);
	return NULL;
}

/* Likewise for one lane, and in its private memory, which begins at @private. */
static inline u8 *simt_find_lane(const struct simt_warp *w, u8 *private, u64 private_bytes, u64 va,
				 u64 bytes, bool write)
{
	u64 offset = va - VGPU_HW_VA_PRIVATE;

	if (offset < private_bytes && offset % 8 + bytes <= 8) {
		offset = array_index_nospec(offset, private_bytes);
		return private + offset / 8 * (8 * SIMT_LANES) + offset % 8;
	}
	return simt_find(w, va, bytes, write);
}

static inline void simt_fence(const struct simt_insn *i)
{
	if (simt_fence_full(i->imm))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_ACQ_REL);
}

static inline u8 *simt_lone_find(const struct simt_lone *s, u64 va, unsigned int bytes, bool write)
{
	return simt_find_lane(s->w, s->private, s->private_bytes, va, bytes, write);
}

#endif /* _VGPU_SIMT_ACCESS_H */
