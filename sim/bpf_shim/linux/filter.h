/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of BPF for the kernel's own compiler, in user space (sim/bpf). Where that has not been
 * built, and for other CPUs than x86-64, no program is ever jited.
 */
#ifndef _SHIM_LINUX_FILTER_H
#define _SHIM_LINUX_FILTER_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/types.h>

/* Newer than some of the headers that a system has. */
#ifndef BPF_MEMSX
#define BPF_MEMSX	0x80
#endif

#define BPF_RAW_INSN(CODE, DST, SRC, OFF, IMM) ((struct bpf_insn) {	\
	.code = CODE,							\
	.dst_reg = DST,							\
	.src_reg = SRC,							\
	.off = OFF,							\
	.imm = IMM,							\
})

struct bpf_prog_aux {
	u32 stack_depth;
};

struct bpf_prog {
	bool jited;
	bool blinding_requested;
	u32 len;
	u32 jited_len;
	unsigned int (*bpf_func)(const void *ctx, const struct bpf_insn *insn);
	struct bpf_prog_aux *aux;
	struct bpf_insn insnsi[];
};

/* What an immediate of BPF_CALL is relative to. */
u64 __bpf_call_base(u64 r1, u64 r2, u64 r3, u64 r4, u64 r5);

#define BPF_CALL_IMM(fn)	((intptr_t)(fn) - (intptr_t)__bpf_call_base)

static inline unsigned int bpf_prog_size(unsigned int len)
{
	return sizeof(struct bpf_prog) + len * sizeof(struct bpf_insn);
}

struct bpf_prog *bpf_prog_alloc(unsigned int size, gfp_t gfp);
struct bpf_prog *bpf_prog_select_runtime(struct bpf_prog *fp, int *err);
void bpf_prog_free(struct bpf_prog *fp);

#endif /* _SHIM_LINUX_FILTER_H */
