/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IEEE 754 floating point in integer arithmetic, as RISC-V specifies it: all rounding modes and
 * flags, canonical NaNs, tininess after rounding. Used where the CPU's own floats give other
 * results. Pure functions; values are bit patterns.
 */
#ifndef _VGPU_SIMT_FLOAT_H
#define _VGPU_SIMT_FLOAT_H

#include <linux/types.h>

/* Rounding modes, as in rm and frm. */
#define SIMT_RNE	0	/* to nearest, ties to even */
#define SIMT_RTZ	1	/* towards zero */
#define SIMT_RDN	2	/* down */
#define SIMT_RUP	3	/* up */
#define SIMT_RMM	4	/* to nearest, ties away from zero */
#define SIMT_RM_DYN	7	/* rm only: as frm says */

/* Flags, as in fflags. The functions set them in *flags and clear none. */
#define SIMT_NX		0x01
#define SIMT_UF		0x02
#define SIMT_OF		0x04
#define SIMT_DZ		0x08
#define SIMT_NV		0x10

#define SIMT_F32_NAN	0x7fc00000U
#define SIMT_F64_NAN	0x7ff8000000000000ULL

#define SIMT_FLOAT_DECLARE(f, t)						\
	t simt_##f##_add(t a, t b, unsigned int rm, u8 *flags);			\
	t simt_##f##_sub(t a, t b, unsigned int rm, u8 *flags);			\
	t simt_##f##_mul(t a, t b, unsigned int rm, u8 *flags);			\
	t simt_##f##_div(t a, t b, unsigned int rm, u8 *flags);			\
	t simt_##f##_sqrt(t a, unsigned int rm, u8 *flags);			\
	t simt_##f##_fma(t a, t b, t c, unsigned int rm, u8 *flags); /* a * b + c */ \
	t simt_##f##_min(t a, t b, u8 *flags);					\
	t simt_##f##_max(t a, t b, u8 *flags);					\
	bool simt_##f##_eq(t a, t b, u8 *flags);				\
	bool simt_##f##_lt(t a, t b, u8 *flags);				\
	bool simt_##f##_le(t a, t b, u8 *flags);				\
	u32 simt_##f##_class(t a);						\
	u64 simt_##f##_to_i32(t a, unsigned int rm, u8 *flags); /* sign extended */ \
	u64 simt_##f##_to_u32(t a, unsigned int rm, u8 *flags); /* sign extended, too */ \
	u64 simt_##f##_to_i64(t a, unsigned int rm, u8 *flags);			\
	u64 simt_##f##_to_u64(t a, unsigned int rm, u8 *flags);			\
	t simt_##f##_from_i64(s64 a, unsigned int rm, u8 *flags);		\
	t simt_##f##_from_u64(u64 a, unsigned int rm, u8 *flags);

SIMT_FLOAT_DECLARE(f32, u32)
SIMT_FLOAT_DECLARE(f64, u64)
u32 simt_f64_to_f32(u64 a, unsigned int rm, u8 *flags);
u64 simt_f32_to_f64(u32 a, u8 *flags);

#endif /* _VGPU_SIMT_FLOAT_H */
