// SPDX-License-Identifier: GPL-2.0
/*
 * Code of this CPU for programs: translated to eBPF (simt/bpf.c), and compiled by the kernel. The
 * kernel does so for modules that have its compiler's interface, as it does for packet filters.
 */
#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/filter.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "native.h"

/* What the code of all programs may take together. */
#define SOFT_NATIVE_BYTES	0x4000000

static atomic_long_t soft_native_bytes_all;

/**
 * struct soft_native - code of a program
 * @native: what the interpreter uses
 * @prog:   its memory
 * @marks:  struct simt_native.marks
 */
struct soft_native {
	struct simt_native native;
	struct bpf_prog *prog;
	u8 marks[];
};

/* Compiles. Returns NULL if there is no memory, or no compiler, or if it does not take the code. */
static struct bpf_prog *soft_native_compile(const struct simt_program *program,
					    const struct simt_isa *isa, u8 *marks,
					    void *scratch)
{
	u32 nr = simt_native_translate(program, isa, marks, scratch, NULL, 0);
	struct bpf_prog *prog;
	int err;

	if (!nr)
		return NULL;
	prog = bpf_prog_alloc(bpf_prog_size(nr), 0);
	if (!prog)
		return NULL;
	/* Hardened against constants of users: that would take seconds, and the code be slow. */
	if (prog->blinding_requested) {
		bpf_prog_free(prog);
		return NULL;
	}
	prog->len = nr;
	/* All of it must have been written. */
	if (simt_native_translate(program, isa, marks, scratch, prog->insnsi, nr) != nr) {
		bpf_prog_free(prog);
		return NULL;
	}
	prog = bpf_prog_select_runtime(prog, &err);
	if (err || !prog->jited) {
		bpf_prog_free(prog);
		return NULL;
	}
	return prog;
}

/**
 * soft_native_make() - make code of a program
 * @program: the program
 * @isa: the interpreter that works with the code
 * Context: sleeps, for milliseconds with a program of thousands of instructions.
 * Return: the code, which soft_native_free() frees, or NULL if there is none.
 */
struct simt_native *soft_native_make(const struct simt_program *program,
				     const struct simt_isa *isa)
{
	struct soft_native *made;
	void *scratch;
	u32 ps = 0;

	made = kvzalloc(sizeof(*made) + program->nr + 1, GFP_KERNEL);
	scratch = kvmalloc(simt_native_scratch_bytes(program), GFP_KERNEL);
	if (made && scratch) {
		made->prog = soft_native_compile(program, isa, made->marks, scratch);
		ps = simt_native_ps(scratch);
	}
	kvfree(scratch);
	if (!made || !made->prog) {
		kvfree(made);
		return NULL;
	}
	made->native.run = made->prog->bpf_func;
	made->native.marks = made->marks;
	made->native.ps = ps;
	if (atomic_long_add_return(made->prog->jited_len, &soft_native_bytes_all) >
	    SOFT_NATIVE_BYTES) {
		soft_native_free(&made->native);
		return NULL;
	}
	return &made->native;
}

/* The length of all code that there is. */
long soft_native_total(void)
{
	return atomic_long_read(&soft_native_bytes_all);
}

/* The length of the code. */
size_t soft_native_bytes(struct simt_native *native)
{
	return container_of(native, struct soft_native, native)->prog->jited_len;
}

/* Frees code, which nothing uses any more. @native: or NULL. Sleeps. */
void soft_native_free(struct simt_native *native)
{
	struct soft_native *made;

	if (!native)
		return;
	made = container_of(native, struct soft_native, native);
	atomic_long_sub(made->prog->jited_len, &soft_native_bytes_all);
	bpf_prog_free(made->prog);
	kvfree(made);
}
