// SPDX-License-Identifier: GPL-2.0
/* Programs of BPF, with the kernel's names, in user space: see sim/bpf_shim. */
#include <stdlib.h>

#include <linux/filter.h>

#include "jit.h"

/* Not there without the kernel's source, or for another CPU. */
#pragma weak bpf_host_jit
#pragma weak bpf_host_jit_free

struct bpf_prog *bpf_prog_alloc(unsigned int size, gfp_t gfp)
{
	struct bpf_prog *fp = calloc(1, size);

	if (!fp)
		return NULL;
	fp->aux = calloc(1, sizeof(*fp->aux));
	if (!fp->aux) {
		free(fp);
		return NULL;
	}
	return fp;
}

/* As a kernel that has no interpreter of BPF (CONFIG_BPF_JIT_ALWAYS_ON). */
struct bpf_prog *bpf_prog_select_runtime(struct bpf_prog *fp, int *err)
{
	void *code = NULL;

	if (bpf_host_jit)
		code = bpf_host_jit(fp->insnsi, fp->len, fp->aux->stack_depth, &fp->jited_len);
	fp->bpf_func = code;
	fp->jited = code;
	*err = code ? 0 : -ENOTSUPP;
	return fp;
}

void bpf_prog_free(struct bpf_prog *fp)
{
	if (fp->jited)
		bpf_host_jit_free(fp->bpf_func);
	free(fp->aux);
	free(fp);
}
