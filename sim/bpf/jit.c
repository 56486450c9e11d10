// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's compiler of BPF for x86-64, as it is in the kernel's source, for user space. This
 * file alone is compiled with the kernel's headers; what the compiler takes from the rest of the
 * kernel is from host.c.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>
#include <linux/memory.h>
#include <linux/netdevice.h>
#include <linux/sort.h>
#include <asm/cfi.h>
#include <asm/extable.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/set_memory.h>
#include <asm/text-patching.h>
#include <asm/unwind.h>

#include "jit.h"

static struct bpf_binary_header *pack_alloc(unsigned int bytes, u8 **image,
					    struct bpf_binary_header **rw_header, u8 **rw_image)
{
	struct bpf_binary_header *header;

	bytes += sizeof(*header);
	header = bpf_host_code_alloc(bytes);
	if (!header)
		return NULL;
	memset(header, 0xcc, bytes);
	header->size = bytes;
	*rw_header = header;
	*rw_image = header->image;
	*image = header->image;
	return header;
}

/* No code has a second mapping where it is written: it is executed in its place, once sealed. */
#define bpf_jit_binary_pack_alloc(bytes, image, align, rw_header, rw_image, ...)	\
	pack_alloc(bytes, image, rw_header, rw_image)
#define bpf_jit_binary_pack_finalize(header, ...)	\
	bpf_host_code_seal(header, (header)->size)
#define bpf_jit_binary_pack_free(header, ...)		\
	bpf_host_code_free(header, (header)->size)
#define text_poke_copy(dst, src, bytes)			(dst)

#undef kzalloc
#define kzalloc(bytes, gfp)		bpf_host_alloc(bytes)
#undef kvmalloc_array
#define kvmalloc_array(n, bytes, gfp)	bpf_host_alloc((unsigned long)(n) * (bytes))
#define kfree				bpf_host_free
#define kvfree				bpf_host_free
#undef pr_err
#define pr_err				bpf_host_error
#undef cond_resched
#define cond_resched()			((void)0)

/* What no program has: constants to blind, lines, tail calls, arenas, addresses of a CPU's own. */
#define bpf_jit_enable				1
#define bpf_jit_blind_constants(prog)		(prog)
#define bpf_jit_prog_release_other(prog, other)	((void)(other))
#define bpf_prog_fill_jited_linfo(prog, addrs)	((void)(addrs))
#define bpf_arena_get_kern_vm_start(arena)	0ULL
#define bpf_arena_get_user_vm_start(arena)	0ULL
#define insn_is_mov_percpu_addr(insn)		false
#define ns_capable_noaudit(ns, cap)		true
#define text_poke_bp(...)			((void)0)
#undef mutex_lock
#define mutex_lock(mutex)			((void)0)
#define mutex_unlock(mutex)			((void)0)

/* Mitigations change where a program ends and where it calls, nothing between: they are off. */
#undef boot_cpu_has
#define boot_cpu_has(feature)		\
	((feature) == X86_FEATURE_BMI2 && __builtin_cpu_supports("bmi2"))
#undef cpu_feature_enabled
#define cpu_feature_enabled(feature)	false
#define cpu_wants_rethunk()		false
#define x86_call_depth_emit_accounting(...)	0
#define cfi_mode			CFI_OFF

/*
 * The passes before there is an image take it to be at address 0, from where a call reaches the
 * kernel's text, at the other end of addresses, but none of a program's functions.
 */
static u8 *call_base(const u8 *image)
{
	return image ? (u8 *)__bpf_call_base : NULL;
}

#define __bpf_call_base			call_base(image)

const unsigned char *const x86_nops[] = {
	NULL,
	(const unsigned char []) { BYTES_NOP1 },
	(const unsigned char []) { BYTES_NOP2 },
	(const unsigned char []) { BYTES_NOP3 },
	(const unsigned char []) { BYTES_NOP4 },
	(const unsigned char []) { BYTES_NOP5 },
	(const unsigned char []) { BYTES_NOP6 },
	(const unsigned char []) { BYTES_NOP7 },
	(const unsigned char []) { BYTES_NOP8 },
	(const unsigned char []) { BYTES_NOP9 },
	(const unsigned char []) { BYTES_NOP10 },
	(const unsigned char []) { BYTES_NOP11 },
};

#include "arch/x86/net/bpf_jit_comp.c"

/*
 * Functions of the kernel are called with a stack that is aligned to 8 bytes, those of a program in
 * user space rely on 16: one more word of stack, unless all that is pushed has an even number.
 */
static u32 aligned_depth(struct bpf_insn *insns, unsigned int len, u32 depth)
{
	bool used[4] = {};
	u32 words = DIV_ROUND_UP(depth, 8);

	detect_reg_usage(insns, len, used);
	return (words + (words + used[0] + used[1] + used[2] + used[3]) % 2) * 8;
}

__visible
void *bpf_host_jit(const void *insns, unsigned int len, unsigned int stack_depth,
		   unsigned int *bytes)
{
	struct bpf_prog *prog = bpf_host_alloc(bpf_prog_size(len));
	struct bpf_prog_aux *aux = bpf_host_alloc(sizeof(*aux));
	void *code = NULL;

	if (prog && aux) {
		prog->aux = aux;
		prog->len = len;
		prog->jit_requested = 1;
		memcpy(prog->insnsi, insns, bpf_prog_insn_size(prog));
		aux->stack_depth = aligned_depth(prog->insnsi, len, stack_depth);
		prog = bpf_int_jit_compile(prog);
		if (prog->jited) {
			code = prog->bpf_func;
			*bytes = prog->jited_len;
		}
	}
	bpf_host_free(aux);
	bpf_host_free(prog);
	return code;
}

__visible
void bpf_host_jit_free(void *code)
{
	struct bpf_binary_header *header = container_of(code, struct bpf_binary_header, image);

	bpf_host_code_free(header, header->size);
}
