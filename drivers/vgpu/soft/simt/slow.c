// SPDX-License-Identifier: GPL-2.0
/* Operations that vector instructions of the CPU do not make faster. They go lane by lane. */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "access.h"
#include "reg.h"

/*
 * Maximum number of tries of compare and exchange in one instruction, for all lanes together. There
 * is a maximum because other threads of the VM may write the words so often that no try succeeds.
 */
#define SIMT_ATOMIC_TRIES	(2 * SIMT_LANES)

/* Lanes whose atomics cost one more instruction: other threads may contend for the words. */
#define SIMT_ATOMIC_LANES	4

/* Lanes may wait for each other by atomics, so they count for more instructions between rounds. */
#define SIMT_ATOMIC_SINCE	32

SIMT_FN(simt_slow_illegal)
{
	return simt_warp_fault(w, i, VGPU_HW_FAULT_ILLEGAL, 0, __ffs(w->active));
}

SIMT_FN(simt_slow_fence)
{
	simt_fence(i);
	return i + 1;
}

SIMT_FN(simt_slow_barrier)
{
	w->barrier |= w->active;
	if (w->partial || i + 1 == w->text + w->nr) {
		simt_warp_park(w, i + 1);
		return SIMT_LEAVE;
	}
	w->met = i + 1;
	w->event = SIMT_EVENT_PICK;
	return SIMT_LEAVE;
}

/* Sets rd to @first plus the local ids in dimension @k; affine if the work-items lie in one row. */
static void simt_id(struct simt_warp *w, const struct simt_insn *i, unsigned int k, u64 first)
{
	const u32 *size = w->group->size;
	u64 *to;

	if (w->lid[0][0] + SIMT_LANES <= size[0] || size[1] * size[2] == 1) {
		simt_set_x(w, i->rd, first + w->lid[k][0], k == 0);
		return;
	}
	to = simt_to_x(w, i->rd);
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		to[l] = first + w->lid[k][l];
	simt_done_x(w, i->rd);
}

/* Returns what is the same in all lanes of the CSR with an id or a size of dimension @k. */
static u64 simt_id_first(const struct simt_group *group, u32 csr, unsigned int k)
{
	switch (csr - k) {
	case VGPU_HW_CSR_GLOBAL_ID:
		return (u64)group->group_id[k] * group->dispatch->group[k];
	case VGPU_HW_CSR_LOCAL_ID:
		return 0;
	case VGPU_HW_CSR_GROUP_ID:
		return group->group_id[k];
	case VGPU_HW_CSR_LOCAL_SIZE:
		return group->size[k];
	case VGPU_HW_CSR_GLOBAL_SIZE:
		return group->dispatch->grid[k];
	default:
		return group->dispatch->groups[k];
	}
}

/* Returns a lane's CSR with an id or a size. The decoder has refused all others. */
u64 simt_slow_id(const struct simt_warp *w, u32 csr, unsigned int lane)
{
	unsigned int k = (csr - VGPU_HW_CSR_GLOBAL_ID) % 3;
	u64 id = csr - k <= VGPU_HW_CSR_LOCAL_ID ? w->lid[k][lane] : 0;

	return simt_id_first(w->group, csr, k) + id;
}

SIMT_FN(simt_slow_csr_id)
{
	unsigned int k = (i->imm - VGPU_HW_CSR_GLOBAL_ID) % 3;
	u64 first = simt_id_first(w->group, i->imm, k);

	if (i->imm - k <= VGPU_HW_CSR_LOCAL_ID)
		simt_id(w, i, k, first);
	else
		simt_set_x(w, i->rd, first, 0);
	return i + 1;
}

static bool simt_target(const struct simt_warp *w, u64 va, u32 *pc)
{
	u64 index = (va - VGPU_HW_VA_IMAGE) / 4;

	if (va % 4 || index > w->nr)
		return false;
	*pc = array_index_nospec(index, (u64)w->nr + 1);
	return true;
}

/* Jumps to addresses that differ between lanes. */
static const struct simt_insn *simt_jalr_lanes(struct simt_warp *w, const struct simt_insn *i)
{
	const u64 *ra = simt_x(w, i->rs1, 0);
	u32 pc[SIMT_LANES];

	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		u64 va = (ra[l] + (s64)i->imm) & ~1ULL;

		if (simt_active(w, l) && !simt_target(w, va, &pc[l]))
			return simt_warp_fault(w, i, VGPU_HW_FAULT_ILLEGAL, va, l);
	}
	simt_set_x(w, i->rd, simt_warp_va(w, i) + 4, 0);
	simt_warp_park(w, i);
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		if (simt_active(w, l))
			w->pc[l] = pc[l];
	return SIMT_LEAVE;
}

SIMT_FN(simt_slow_jalr)
{
	bool call = i->rd == 1 || i->rd == 5;
	bool ret = i->rd == SIMT_X_SINK && (i->rs1 == 1 || i->rs1 == 5);
	u64 va = (w->base[i->rs1] + (s64)i->imm) & ~1ULL;
	const struct simt_insn *to;
	u32 pc;

	w->depth += call - ret;
	if (simt_is_vec(w, i->rs1) || w->stride[i->rs1]) {
		to = simt_jalr_lanes(w, i);
		if (w->event == SIMT_EVENT_FAULT)
			w->depth -= call - ret;
		return to;
	}
	if (!simt_target(w, va, &pc)) {
		w->depth -= call - ret;
		return simt_warp_fault(w, i, VGPU_HW_FAULT_ILLEGAL, va, __ffs(w->active));
	}
	simt_set_x(w, i->rd, simt_warp_va(w, i) + 4, 0);
	to = w->text + pc;
	if (!w->partial || !(call || ret))
		return to;
	simt_warp_park(w, to);
	return SIMT_LEAVE;
}

static u8 simt_fcsr_get(const struct simt_warp *w, unsigned int csr, unsigned int lane)
{
	if (csr == SIMT_CSR_FFLAGS)
		return w->fflags[lane];
	if (csr == SIMT_CSR_FRM)
		return w->frm[lane];
	return w->frm[lane] << 5 | w->fflags[lane];
}

static void simt_fcsr_set(struct simt_warp *w, unsigned int csr, unsigned int lane, u64 value)
{
	if (csr != SIMT_CSR_FRM)
		w->fflags[lane] = value & 0x1f;
	if (csr == SIMT_CSR_FRM)
		w->frm[lane] = value & 7;
	else if (csr != SIMT_CSR_FFLAGS)
		w->frm[lane] = value >> 5 & 7;
}

/* Whether the operand of the access to a float CSR is rs1 itself. */
static bool simt_fcsr_imm(const struct simt_insn *i)
{
	return i->op == SIMT_FCSR_RWI || i->op == SIMT_FCSR_RSI || i->op == SIMT_FCSR_RCI;
}

/* Executes it for a lane whose operand is @a. Returns the result. */
static u64 simt_fcsr_lane(struct simt_warp *w, const struct simt_insn *i, unsigned int lane, u64 a)
{
	u64 old = simt_fcsr_get(w, i->imm, lane);

	if (i->op == SIMT_FCSR_RS || i->op == SIMT_FCSR_RSI)
		a |= old;
	else if (i->op == SIMT_FCSR_RC || i->op == SIMT_FCSR_RCI)
		a = old & ~a;
	simt_fcsr_set(w, i->imm, lane, a);
	return old;
}

SIMT_FN(simt_slow_fcsr)
{
	bool imm = simt_fcsr_imm(i);
	const u64 *ra = imm ? NULL : simt_x(w, i->rs1, 0);
	u64 *to = simt_to_x(w, i->rd);

	for (unsigned int l = 0; l < SIMT_LANES; l++)
		if (simt_active(w, l))
			to[l] = simt_fcsr_lane(w, i, l, imm ? i->rs1 : ra[l]);
	simt_done_x(w, i->rd);
	return i + 1;
}

/* Likewise, for a lane that runs alone. */
void simt_slow_lone_fcsr(struct simt_lone *s, const struct simt_insn *i)
{
	u64 a = simt_fcsr_imm(i) ? i->rs1 : s->x[i->rs1];

	s->x[i->rd] = simt_fcsr_lane(s->w, i, s->lane, a);
}

/* Minimum or maximum, by compare and exchange: the CPU has no such atomic. */
#define SIMT_ATOMIC_PICK(t, at, cond) do {						\
	old = __atomic_load_n(at, __ATOMIC_RELAXED);					\
	do {										\
		const t a = (t)old, b = (t)value;					\
											\
		if (!*tries)								\
			return false;							\
		--*tries;								\
		new = cond ? a : b;							\
	} while (!__atomic_compare_exchange_n(at, &old, new, false,			\
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));	\
} while (0)

/* Sets @was to the old value. Returns false, and changes nothing, if no tries are left. */
#define SIMT_DEFINE_AMO(name, u, s, k)							\
static bool name(unsigned int op, void *host, u64 value, u32 *tries, u64 *was)		\
{											\
	u *at = host;									\
	u old, new;									\
											\
	switch (op) {									\
	case SIMT_AMOSWAP_##k:								\
		old = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);			\
		break;									\
	case SIMT_AMOADD_##k:								\
		old = __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);			\
		break;									\
	case SIMT_AMOXOR_##k:								\
		old = __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);			\
		break;									\
	case SIMT_AMOAND_##k:								\
		old = __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);			\
		break;									\
	case SIMT_AMOOR_##k:								\
		old = __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);			\
		break;									\
	case SIMT_AMOMIN_##k:								\
		SIMT_ATOMIC_PICK(s, at, a < b);						\
		break;									\
	case SIMT_AMOMAX_##k:								\
		SIMT_ATOMIC_PICK(s, at, a > b);						\
		break;									\
	case SIMT_AMOMINU_##k:								\
		SIMT_ATOMIC_PICK(u, at, a < b);						\
		break;									\
	default:									\
		SIMT_ATOMIC_PICK(u, at, a > b);						\
		break;									\
	}										\
	*was = (u64)(s64)(s)old;							\
	return true;									\
}

SIMT_DEFINE_AMO(simt_amo_w, u32, s32, W)
SIMT_DEFINE_AMO(simt_amo_d, u64, s64, D)

/*
 * A reservation is the value that LR read. SC succeeds if the memory still has that value, or has
 * it again.
 */
static u64 simt_lr(struct simt_warp *w, unsigned int lane, u64 va, bool is_d)
{
	u8 *at = w->host[lane];
	u64 value = is_d ? __atomic_load_n((u64 *)at, __ATOMIC_SEQ_CST) :
			   (u64)(s64)(s32)__atomic_load_n((u32 *)at, __ATOMIC_SEQ_CST);

	w->reserved |= 1U << lane;
	w->reserved_va[lane] = va | is_d;
	w->reserved_value[lane] = value;
	return value;
}

static u64 simt_sc(struct simt_warp *w, unsigned int lane, u64 va, bool is_d, u64 value)
{
	u64 old = w->reserved_value[lane];
	u8 *at = w->host[lane];
	u32 old32 = old;
	bool ok;

	ok = w->reserved >> lane & 1 && w->reserved_va[lane] == (va | is_d);
	w->reserved &= ~(1U << lane);
	if (!ok)
		return 1;
	if (is_d)
		return !__atomic_compare_exchange_n((u64 *)at, &old, value, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return !__atomic_compare_exchange_n((u32 *)at, &old32, (u32)value, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void simt_atomic_tried(struct simt_warp *w, u32 lanes)
{
	w->again |= w->tried & lanes;
	w->tried |= lanes;
}

static __always_inline bool simt_atomic_lane(struct simt_warp *w, unsigned int op,
					     unsigned int lane, u64 va, bool is_d, u64 value,
					     u32 *tries, u64 *to)
{
	switch (op) {
	case SIMT_LR_W:
	case SIMT_LR_D:
		*to = simt_lr(w, lane, va, is_d);
		return true;
	case SIMT_SC_W:
	case SIMT_SC_D:
		*to = simt_sc(w, lane, va, is_d, value);
		return true;
	default:
		if (is_d)
			return simt_amo_d(op, w->host[lane], value, tries, to);
		return simt_amo_w(op, w->host[lane], value, tries, to);
	}
}

/*
 * Lanes in @bad have misaligned addresses. The fault of the lowest lane that fails is reported, so
 * a lane below those in @bad that has no memory comes first.
 */
static const struct simt_insn *simt_atomic_misaligned(struct simt_warp *w,
						      const struct simt_insn *i, const u64 *va,
						      unsigned int bytes, bool write, u32 bad)
{
	unsigned int lane = __ffs(bad);
	enum simt_hosts hosts;
	u32 active = w->active;

	w->active &= (1U << lane) - 1;
	hosts = simt_access_hosts(w, i, va, bytes, write);
	w->active = active;
	if (hosts == SIMT_HOSTS_FAIL)
		return SIMT_LEAVE;
	return simt_warp_fault(w, i, VGPU_HW_FAULT_ALIGN, va[lane], lane);
}

/*
 * No tries were left for the active lanes that are not in @done. They repeat the instruction as a
 * group of their own. @w->tmp[3] has results of lanes in @done only.
 */
static const struct simt_insn *simt_atomic_rest(struct simt_warp *w, const struct simt_insn *i,
						u32 done)
{
	if (!done)
		return i;
	simt_warp_split(w, i, w->active & ~done, i - w->text);
	w->active = done;
	w->partial = w->live & ~done;
	for (unsigned int l = 0; l < SIMT_LANES; l++)
		w->mask64[l] = -(u64)(done >> l & 1);
	simt_done_x(w, i->rd);
	return SIMT_LEAVE;
}

/*
 * Finds the memory of all lanes before the first access, because an instruction that waits or
 * faults begins anew, and no lane's access may happen twice.
 */
SIMT_FN(simt_slow_atomic)
{
	bool is_d = simt_op_atomic_d(i->op), load = i->op == SIMT_LR_W || i->op == SIMT_LR_D;
	const u64 *va = simt_x(w, i->rs1, 0), *value = simt_x(w, i->rs2, 1);
	u32 bad = 0, done = 0, shared = 0, tries = SIMT_ATOMIC_TRIES;
	unsigned int bytes = is_d ? 8 : 4;
	u64 *to = w->tmp[3];

	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		bad |= (u32)(simt_active(w, l) && va[l] % bytes) << l;
		shared |= (u32)(simt_active(w, l) && va[l] >= VGPU_HW_VA_GLOBAL) << l;
	}
	if (bad)
		return simt_atomic_misaligned(w, i, va, bytes, !load, bad);
	if (simt_access_hosts(w, i, va, bytes, !load) == SIMT_HOSTS_FAIL)
		return SIMT_LEAVE;
	w->group->round_at -= SIMT_ATOMIC_SINCE;
	simt_atomic_tried(w, w->active);
	w->extra = max(w->extra, hweight32(shared) / SIMT_ATOMIC_LANES);
	if (w->extra)
		w->join = w->text;
	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		if (!simt_active(w, l))
			continue;
		if (!simt_atomic_lane(w, i->op, l, va[l], is_d, value[l], &tries, &to[l]))
			return simt_atomic_rest(w, i, done);
		done |= 1U << l;
	}
	if (!w->partial)
		memcpy(w->x[i->rd].d, to, sizeof(w->tmp[3]));
	simt_done_x(w, i->rd);
	return i + 1;
}

/*
 * The same for a lane that runs alone; sets @s->cost, and @s->again if no tries were left. Returns
 * false if there was an event.
 */
bool simt_slow_lone_atomic(struct simt_lone *s, const struct simt_insn *i)
{
	bool is_d = simt_op_atomic_d(i->op), load = i->op == SIMT_LR_W || i->op == SIMT_LR_D;
	unsigned int bytes = is_d ? 8 : 4;
	u32 tries = SIMT_ATOMIC_TRIES;
	u64 va = s->x[i->rs1], to, before;
	u8 *at;

	if (va % bytes) {
		simt_warp_fault(s->w, i, VGPU_HW_FAULT_ALIGN, va, s->lane);
		return false;
	}
	s->cost = SIMT_LONE_UNITS;
	at = simt_lone_find(s, va, bytes, !load);
	if (at)
		s->w->host[s->lane] = at;
	else if (!simt_lone_host(s, i, va, bytes, !load))
		return false;
	at = s->w->host[s->lane];
	before = simt_any(u32, at) | (is_d ? (u64)simt_any(u32, at + 4) << 32 : 0);
	s->again = !simt_atomic_lane(s->w, i->op, s->lane, va, is_d, s->x[i->rs2], &tries, &to);
	/* A guess, if others write there. */
	s->changed |= before ^ (simt_any(u32, at) | (is_d ? (u64)simt_any(u32, at + 4) << 32 : 0));
	s->atomics++;
	simt_atomic_tried(s->w, 1U << s->lane);
	if (!s->again)
		s->x[i->rd] = to;
	return true;
}
