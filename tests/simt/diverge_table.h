/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a file of diverge.py: its programs by number. */
#ifdef __riscv
#define DIVERGE_ENTRY(n) (uint64_t)diverge_##n,
__attribute__((section(".diverge"), used))
static const uint64_t diverge_entries[] = { DIVERGE_ALL(DIVERGE_ENTRY) };
#else
#define DIVERGE_ENTRY(n) &diverge_##n,
const struct diverge_cpu *const diverge_programs[] = { DIVERGE_ALL(DIVERGE_ENTRY) };
const int diverge_count = DIVERGE_COUNT;
#endif
