/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_ASM_CPUFEATURE_H
#define _SHIM_ASM_CPUFEATURE_H

#define X86_FEATURE_AVX2	"avx2"
#define X86_FEATURE_FMA		"fma"

/* Says, too, whether the kernel saves the registers of AVX. */
#define boot_cpu_has(feature)	__builtin_cpu_supports(feature)

#endif /* _SHIM_ASM_CPUFEATURE_H */
