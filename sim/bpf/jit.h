/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's compiler of BPF (jit.c) and the program around it (host.c) ask each other. */
#ifndef _SIM_BPF_JIT_H
#define _SIM_BPF_JIT_H

/*
 * Compiles @len instructions that use @stack_depth bytes of stack. Returns the code, of @bytes
 * bytes, or NULL.
 */
void *bpf_host_jit(const void *insns, unsigned int len, unsigned int stack_depth,
		   unsigned int *bytes);
void bpf_host_jit_free(void *code);

/* Memory, all zeroes. */
void *bpf_host_alloc(unsigned long bytes);
void bpf_host_free(const void *ptr);

/* Pages from where code can call the program's functions: to be written, then to be executed. */
void *bpf_host_code_alloc(unsigned long bytes);
int bpf_host_code_seal(void *code, unsigned long bytes);
void bpf_host_code_free(void *code, unsigned long bytes);

__attribute__((format(printf, 1, 2)))
void bpf_host_error(const char *fmt, ...);

#endif /* _SIM_BPF_JIT_H */
