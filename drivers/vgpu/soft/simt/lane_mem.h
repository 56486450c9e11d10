/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads and stores. Included by lane.h, once for each instruction set of the CPU.
 *
 * There are three ways. If all lanes have the same address, there is one access, or in private
 * memory an access to a row of words, because equal addresses of the lanes are adjacent there. If
 * the addresses follow each other in one page, the access is to an array. Otherwise access.c finds
 * the memory of each lane. No lane accesses memory before all lanes have memory.
 *
 * Guests may write the same memory meanwhile, so each value is read once and used only as data.
 */
#ifndef _VGPU_SIMT_LANE_MEM_H
#define _VGPU_SIMT_LANE_MEM_H

#include "access.h"
#include "reg.h"

/* Fills the TLB after a miss, and tries again. */
static noinline u8 *simt_find_again(struct simt_warp *w, u64 va, u64 bytes, bool write)
{
	return simt_access_fill(w, va, write) ? simt_find(w, va, bytes, write) : NULL;
}

static inline u8 *simt_reach(struct simt_warp *w, u64 va, u64 bytes, bool write)
{
	return simt_find(w, va, bytes, write) ?: simt_find_again(w, va, bytes, write);
}

/* Returns the lanes' words of private memory if the access is in one word; else NULL. */
static inline u64 *simt_words(const struct simt_warp *w, u64 va, unsigned int bytes)
{
	u64 offset = va - VGPU_HW_VA_PRIVATE, private_bytes = w->group->private_bytes;

	if (offset >= private_bytes || offset % 8 + bytes > 8)
		return NULL;
	offset = array_index_nospec(offset, private_bytes);
	return (u64 *)w->private + offset / 8 * SIMT_LANES;
}

/* Returns the addresses of all lanes. */
static noinline const u64 *simt_addresses(struct simt_warp *w, const struct simt_insn *i)
{
	u64 imm = (u64)(s64)i->imm, *to = w->tmp[0];
	const u64 *from = simt_x(w, i->rs1, 0);

	simt_each(l)
		to[l] = from[l] + imm;
	return to;
}

/* Finds the memory of all lanes if all are active and their addresses follow each other. */
static noinline u8 *simt_row(struct simt_warp *w, const u64 *va, u64 bytes, bool write)
{
	u64 first = va[0], apart = 0;

	if (w->active != U32_MAX)
		return NULL;
	simt_each(l)
		apart |= (va[l] - first) ^ (l * bytes);
	return apart ? NULL : simt_reach(w, first, SIMT_LANES * bytes, write);
}

/* Loads each active lane's value from the memory that access.c has found. */
#define SIMT_LOAD_LANES(t, ext, to) do {						\
	enum simt_hosts hosts_ = simt_access_hosts(w, i, lanes ?: simt_addresses(w, i),	\
						   sizeof(t), false);			\
	const u64 *all_ = w->tmp[1];							\
											\
	if (hosts_ == SIMT_HOSTS_FAIL)							\
		return SIMT_LEAVE;							\
	if (hosts_ == SIMT_HOSTS_SPLIT) {						\
		simt_access_load(w, sizeof(t), w->tmp[1]);				\
		simt_each(l)								\
			(to)[l] = (ext)(t)all_[l];					\
	} else if (w->active != U32_MAX) {						\
		for (u32 left_ = w->active; left_; left_ &= left_ - 1)			\
			(to)[__ffs(left_)] = (ext)simt_any(t, w->host[__ffs(left_)]);	\
	} else {									\
		for (unsigned int l = 0; l < SIMT_LANES; l++)				\
			(to)[l] = (ext)simt_any(t, w->host[l]);				\
	}										\
} while (0)

#define SIMT_DEFINE_LOAD(name, t, k, ext, set)						\
static SIMT_FN(simt_##name)								\
{											\
	u64 va = w->base[i->rs1] + (u64)(s64)i->imm, stride = w->stride[i->rs1];	\
	const u64 *lanes = NULL;							\
	ext *to = simt_to_##k(w, i->rd);						\
	const u8 *host = NULL;								\
											\
	if (!simt_is_vec(w, i->rs1) && !stride) {					\
		const u64 *words = simt_words(w, va, sizeof(t));			\
		unsigned int shift = 8 * (va % 8);					\
											\
		if (words) {								\
			simt_each(l)							\
				to[l] = (ext)(t)(words[l] >> shift);			\
			simt_done_##k(w, i->rd);					\
			return i + 1;							\
		}									\
		host = simt_reach(w, va, sizeof(t), false);				\
		if (host) {								\
			const ext v = (ext)simt_any(t, host);				\
											\
			set;								\
			return i + 1;							\
		}									\
	} else if (!simt_is_vec(w, i->rs1) && stride == sizeof(t)) {			\
		host = simt_reach(w, va, SIMT_LANES * sizeof(t), false);		\
	} else {									\
		lanes = simt_addresses(w, i);						\
		host = simt_row(w, lanes, sizeof(t), false);				\
	}										\
	if (host) {									\
		const struct simt_any_##t *from = (const void *)host;			\
											\
		simt_each(l)								\
			to[l] = (ext)from[l].v;						\
	} else {									\
		SIMT_LOAD_LANES(t, ext, to);						\
	}										\
	simt_done_##k(w, i->rd);							\
	return i + 1;									\
}

#define SIMT_SET_X	simt_set_x(w, i->rd, v, 0)
#define SIMT_SET_F(k) do {			\
	simt_each(l)				\
		to[l] = v;			\
	simt_done_##k(w, i->rd);		\
} while (0)

/* Returns the low 32 bits of a float register, whether or not they are NaN-boxed singles. */
static inline const u32 *simt_single(struct simt_warp *w, unsigned int r, unsigned int tmp)
{
	u32 *to = (u32 *)w->tmp[tmp];
	const u64 *from;

	if (w->known & ~w->wide & 1U << r)
		return w->f[r].s;
	from = simt_d(w, r, tmp);
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		to[l] = (u32)from[l];
	return to;
}

/* A store to one address. Outside private memory the value of the highest active lane remains. */
#define SIMT_STORE_UNIFORM(t) do {							\
	u64 *words_ = simt_words(w, va, sizeof(t));					\
	unsigned int shift_ = 8 * (va % 8);						\
	u64 mask_ = (u64)(t)~0ULL << shift_;						\
											\
	if (words_) {									\
		if (w->partial) {							\
			simt_each(l) {							\
				u64 m = mask_ & w->mask64[l];				\
											\
				words_[l] = (words_[l] & ~m) |				\
					    ((u64)value[l] << shift_ & m);		\
			}								\
			return i + 1;							\
		}									\
		simt_each(l)								\
			words_[l] = (words_[l] & ~mask_) |				\
				    ((u64)value[l] << shift_ & mask_);			\
		return i + 1;								\
	}										\
	host = simt_reach(w, va, sizeof(t), true);					\
	if (host) {									\
		simt_any_set(t, host, (t)value[__fls(w->active)]);			\
		return i + 1;								\
	}										\
} while (0)

#define SIMT_STORE_LANES(t) do {							\
	enum simt_hosts hosts_ = simt_access_hosts(w, i, lanes ?: simt_addresses(w, i),	\
						   sizeof(t), true);			\
											\
	if (hosts_ == SIMT_HOSTS_FAIL)							\
		return SIMT_LEAVE;							\
	if (hosts_ == SIMT_HOSTS_SPLIT) {						\
		simt_each(l)								\
			w->tmp[0][l] = value[l];					\
		simt_access_store(w, sizeof(t), w->tmp[0]);				\
	} else {									\
		for (u32 left_ = w->active; left_; left_ &= left_ - 1)			\
			simt_any_set(t, w->host[__ffs(left_)], (t)value[__ffs(left_)]);	\
	}										\
} while (0)

#define SIMT_DEFINE_STORE(name, t, from_t, from)					\
static SIMT_FN(simt_##name)								\
{											\
	u64 va = w->base[i->rs1] + (u64)(s64)i->imm, stride = w->stride[i->rs1];	\
	const from_t *value = from(w, i->rs2, 2);					\
	const u64 *lanes = NULL;							\
	u8 *host = NULL;								\
											\
	if (!simt_is_vec(w, i->rs1) && !stride) {					\
		SIMT_STORE_UNIFORM(t);							\
	} else if (!simt_is_vec(w, i->rs1) && stride == sizeof(t)) {			\
		host = simt_reach(w, va, SIMT_LANES * sizeof(t), true);			\
	} else {									\
		lanes = simt_addresses(w, i);						\
		host = simt_row(w, lanes, sizeof(t), true);				\
	}										\
	if (host && w->active == U32_MAX) {						\
		struct simt_any_##t *to = (void *)host;					\
											\
		simt_each(l)								\
			to[l].v = (t)value[l];						\
	} else if (host) {								\
		for (unsigned int l = 0; l < SIMT_LANES; l++)				\
			if (simt_active(w, l))						\
				simt_any_set(t, host + l * sizeof(t), (t)value[l]);	\
	} else {									\
		SIMT_STORE_LANES(t);							\
	}										\
	return i + 1;									\
}

#endif /* _VGPU_SIMT_LANE_MEM_H */
