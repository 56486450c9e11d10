// SPDX-License-Identifier: GPL-2.0
/*
 * Implements float.h. Each operation unpacks its operands, so that subnormal values need no
 * special case, computes the exact result or enough of it, and rounds by one common function. Bits
 * of the exact result below those that are kept are or-ed into the lowest kept bit, the sticky bit,
 * because rounding needs to know only whether any of them is set.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "float.h"

/*
 * A format: bits of the fraction; the bias of stored exponents; and the stored exponent of
 * infinities and NaNs.
 */
struct simt_format {
	unsigned int mant;
	s32 bias;
	u64 exp_max;
};

static const struct simt_format simt_f32 = { .mant = 23, .bias = 127, .exp_max = 0xff };
static const struct simt_format simt_f64 = { .mant = 52, .bias = 1023, .exp_max = 0x7ff };

enum simt_value_kind { SIMT_ZERO, SIMT_FINITE, SIMT_INF, SIMT_QNAN, SIMT_SNAN };

/* An unpacked value. SIMT_FINITE: sig * 2^(exp - 63), and bit 63 of sig is set. */
struct simt_value {
	enum simt_value_kind kind;
	bool sign;
	s32 exp;
	u64 sig;
};

static u64 simt_sign_bit(const struct simt_format *format, bool sign)
{
	return format == &simt_f64 ? (u64)sign << 63 : (u64)sign << 31;
}

static u64 simt_infinity(const struct simt_format *format, bool sign)
{
	return simt_sign_bit(format, sign) | format->exp_max << format->mant;
}

static u64 simt_nan(const struct simt_format *format)
{
	return format->exp_max << format->mant | 1ULL << (format->mant - 1);
}

static u64 simt_invalid(const struct simt_format *format, u8 *flags)
{
	*flags |= SIMT_NV;
	return simt_nan(format);
}

static struct simt_value simt_unpack(const struct simt_format *format, u64 bits)
{
	u64 exp = bits >> format->mant & format->exp_max;
	u64 mant = bits & ((1ULL << format->mant) - 1);
	struct simt_value x = { .sign = bits & simt_sign_bit(format, true) };
	int high;

	if (exp == format->exp_max) {
		x.kind = !mant ? SIMT_INF : mant >> (format->mant - 1) ? SIMT_QNAN : SIMT_SNAN;
	} else if (exp) {
		x.kind = SIMT_FINITE;
		x.exp = (s32)exp - format->bias;
		x.sig = 1ULL << 63 | mant << (63 - format->mant);
	} else if (mant) {
		high = fls64(mant) - 1;
		x.kind = SIMT_FINITE;
		x.exp = high + 1 - format->bias - (s32)format->mant;
		x.sig = mant << (63 - high);
	}
	return x;
}

static bool simt_is_nan(const struct simt_value *x)
{
	return x->kind >= SIMT_QNAN;
}

/* Returns the result of an operation that has a NaN among its operands. */
static u64 simt_nan_of(const struct simt_format *format, const struct simt_value *x,
		       const struct simt_value *y, u8 *flags)
{
	if (x->kind == SIMT_SNAN || y->kind == SIMT_SNAN)
		*flags |= SIMT_NV;
	return simt_nan(format);
}

/* Shifts right, and keeps a sticky bit. */
static u64 simt_shift(u64 sig, u32 by)
{
	if (!by)
		return sig;
	return by < 64 ? sig >> by | (sig << (64 - by) ? 1 : 0) : sig ? 1 : 0;
}

/*
 * Whether a magnitude must be rounded up, away from zero. @odd: the lowest bit of its integer part.
 * @rest: its fraction, where bit 63 is one half.
 */
static bool simt_round_up(bool sign, bool odd, u64 rest, unsigned int rm)
{
	const u64 half = 1ULL << 63;

	switch (rm) {
	case SIMT_RTZ:
		return false;
	case SIMT_RDN:
		return sign && rest;
	case SIMT_RUP:
		return !sign && rest;
	case SIMT_RMM:
		return rest >= half;
	default:
		return rest > half || (rest == half && odd);
	}
}

/* Rounds @sig to the bits that the format keeps. Bit 63 of @sig becomes bit format->mant. */
static u64 simt_round_sig(const struct simt_format *format, bool sign, u64 sig, unsigned int rm)
{
	u64 kept = sig >> (63 - format->mant);

	return kept + simt_round_up(sign, kept & 1, sig << (format->mant + 1), rm);
}

static u64 simt_overflow(const struct simt_format *format, bool sign, unsigned int rm, u8 *flags)
{
	bool away = rm == SIMT_RNE || rm == SIMT_RMM || rm == (sign ? SIMT_RDN : SIMT_RUP);

	*flags |= SIMT_OF | SIMT_NX;
	return simt_infinity(format, sign) - !away;	/* or the greatest finite value */
}

/*
 * Rounds and packs a finite value of struct simt_value. It underflows if, rounded with an unbounded
 * exponent, it would be below all normal values.
 */
static u64 simt_pack(const struct simt_format *format, bool sign, s32 exp, u64 sig,
		     unsigned int rm, u8 *flags)
{
	s32 biased = exp + format->bias;
	bool tiny = biased < 0 || (!biased && !(simt_round_sig(format, sign, sig, rm) >>
						(format->mant + 1)));
	u64 bits;

	if (biased >= (s32)format->exp_max)
		return simt_overflow(format, sign, rm, flags);
	if (biased < 1) {
		sig = simt_shift(sig, 1 - biased);
		biased = 1;
	}
	/* The highest kept bit of a normal value adds 1 to the exponent. */
	bits = ((u64)(biased - 1) << format->mant) + simt_round_sig(format, sign, sig, rm);
	if (bits >> format->mant >= format->exp_max)
		return simt_overflow(format, sign, rm, flags);
	if (sig << (format->mant + 1))
		*flags |= tiny ? SIMT_NX | SIMT_UF : SIMT_NX;
	return simt_sign_bit(format, sign) | bits;
}

/* An intermediate value, sig * 2^(exp - 125), not normalized. Sums need the upper 2 bits. */
struct simt_wide {
	bool sign;
	s32 exp;
	u128 sig;
};

static struct simt_wide simt_widen(const struct simt_value *x)
{
	return (struct simt_wide){ x->sign, x->exp, (u128)x->sig << 62 };
}

/* The product is exact, because the lowest 11 bits of each factor are 0. */
static struct simt_wide simt_product(const struct simt_value *x, const struct simt_value *y)
{
	return (struct simt_wide){ x->sign != y->sign, x->exp + y->exp + 1,
				   (u128)x->sig * y->sig >> 2 };
}

static void simt_align(struct simt_wide *x, s32 exp)
{
	s32 by = exp - x->exp;

	x->exp = exp;
	if (by >= 128)
		x->sig = 1;
	else if (by)
		x->sig = x->sig >> by | (x->sig << (128 - by) ? 1 : 0);
}

static u64 simt_pack_wide(const struct simt_format *format, const struct simt_wide *x,
			  unsigned int rm, u8 *flags)
{
	u128 sig = x->sig;
	s32 exp = x->exp + 2;
	int by;

	if (!(u64)(sig >> 64)) {
		sig <<= 64;
		exp -= 64;
	}
	by = 64 - fls64(sig >> 64);
	sig <<= by;
	return simt_pack(format, x->sign, exp - by, (u64)(sig >> 64) | ((u64)sig ? 1 : 0), rm,
			 flags);
}

/*
 * Rounds the exact sum. simt_align() loses bits only if the exponents are so far apart that even a
 * difference keeps almost all of its bits; so the sticky bit stays below the bits that are kept.
 */
static u64 simt_sum(const struct simt_format *format, struct simt_wide x, struct simt_wide y,
		    unsigned int rm, u8 *flags)
{
	simt_align(x.exp < y.exp ? &x : &y, x.exp < y.exp ? y.exp : x.exp);
	if (x.sign == y.sign) {
		x.sig += y.sig;
	} else if (x.sig >= y.sig) {
		x.sig -= y.sig;
	} else {
		x.sig = y.sig - x.sig;
		x.sign = y.sign;
	}
	if (!x.sig)
		return simt_sign_bit(format, rm == SIMT_RDN);
	return simt_pack_wide(format, &x, rm, flags);
}

static u64 simt_pack_float(const struct simt_format *format, const struct simt_value *x,
			   unsigned int rm, u8 *flags)
{
	switch (x->kind) {
	case SIMT_ZERO:
		return simt_sign_bit(format, x->sign);
	case SIMT_FINITE:
		return simt_pack(format, x->sign, x->exp, x->sig, rm, flags);
	case SIMT_INF:
		return simt_infinity(format, x->sign);
	default:
		return simt_nan_of(format, x, x, flags);
	}
}

static u64 simt_add(const struct simt_format *format, u64 a, u64 b, unsigned int rm, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);

	if (simt_is_nan(&x) || simt_is_nan(&y))
		return simt_nan_of(format, &x, &y, flags);
	if (x.kind == SIMT_INF && y.kind == SIMT_INF && x.sign != y.sign)
		return simt_invalid(format, flags);
	if (x.kind == SIMT_ZERO && y.kind == SIMT_ZERO && x.sign != y.sign)
		return simt_sign_bit(format, rm == SIMT_RDN);
	if (x.kind == SIMT_INF || y.kind == SIMT_ZERO)
		return a;
	if (y.kind == SIMT_INF || x.kind == SIMT_ZERO)
		return b;
	return simt_sum(format, simt_widen(&x), simt_widen(&y), rm, flags);
}

static u64 simt_mul(const struct simt_format *format, u64 a, u64 b, unsigned int rm, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);
	bool sign = x.sign != y.sign;
	struct simt_wide product;

	if (simt_is_nan(&x) || simt_is_nan(&y))
		return simt_nan_of(format, &x, &y, flags);
	if (x.kind == SIMT_FINITE && y.kind == SIMT_FINITE) {
		product = simt_product(&x, &y);
		return simt_pack_wide(format, &product, rm, flags);
	}
	if (x.kind != SIMT_INF && y.kind != SIMT_INF)
		return simt_sign_bit(format, sign);
	if (x.kind == SIMT_ZERO || y.kind == SIMT_ZERO)
		return simt_invalid(format, flags);
	return simt_infinity(format, sign);
}

/* a * b + c if at least one of the three is zero, infinite or a NaN. */
static u64 simt_fma_special(const struct simt_format *format, const struct simt_value *x,
			    const struct simt_value *y, const struct simt_value *z,
			    unsigned int rm, u8 *flags)
{
	bool sign = x->sign != y->sign;

	if (z->kind == SIMT_SNAN ||
	    (x->kind == SIMT_INF && y->kind == SIMT_ZERO) ||
	    (x->kind == SIMT_ZERO && y->kind == SIMT_INF))
		return simt_invalid(format, flags);
	if (simt_is_nan(x) || simt_is_nan(y) || simt_is_nan(z))
		return simt_nan_of(format, x, y, flags);
	if (x->kind == SIMT_INF || y->kind == SIMT_INF) {
		if (z->kind == SIMT_INF && z->sign != sign)
			return simt_invalid(format, flags);
		return simt_infinity(format, sign);
	}
	if (z->kind == SIMT_ZERO)	/* so is the product */
		return simt_sign_bit(format, z->sign == sign ? sign : rm == SIMT_RDN);
	return simt_pack_float(format, z, rm, flags);
}

static u64 simt_fma(const struct simt_format *format, u64 a, u64 b, u64 c, unsigned int rm,
		    u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);
	struct simt_value z = simt_unpack(format, c);
	struct simt_wide product;

	if (x.kind != SIMT_FINITE || y.kind != SIMT_FINITE || z.kind > SIMT_FINITE)
		return simt_fma_special(format, &x, &y, &z, rm, flags);
	product = simt_product(&x, &y);
	if (z.kind == SIMT_ZERO)
		return simt_pack_wide(format, &product, rm, flags);
	return simt_sum(format, product, simt_widen(&z), rm, flags);
}

/* Bits of a quotient or a root: those of the longest format, and more for rounding. */
#define SIMT_DIGITS	56

static u64 simt_quotient(const struct simt_format *format, const struct simt_value *x,
			 const struct simt_value *y, unsigned int rm, u8 *flags)
{
	s32 exp = x->exp - y->exp;
	u64 rest = x->sig >> 1, by = y->sig >> 1, sig = 0;
	int i;

	if (rest < by) {
		rest <<= 1;
		exp--;
	}
	for (i = 0; i < SIMT_DIGITS; i++) {
		sig <<= 1;
		if (rest >= by) {
			rest -= by;
			sig |= 1;
		}
		rest <<= 1;
	}
	sig = sig << (64 - SIMT_DIGITS) | (rest ? 1 : 0);
	return simt_pack(format, x->sign != y->sign, exp, sig, rm, flags);
}

static u64 simt_div(const struct simt_format *format, u64 a, u64 b, unsigned int rm, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);
	bool sign = x.sign != y.sign;

	if (simt_is_nan(&x) || simt_is_nan(&y))
		return simt_nan_of(format, &x, &y, flags);
	if (x.kind == y.kind && x.kind != SIMT_FINITE)
		return simt_invalid(format, flags);
	if (x.kind == SIMT_INF)
		return simt_infinity(format, sign);
	if (x.kind == SIMT_ZERO || y.kind == SIMT_INF)
		return simt_sign_bit(format, sign);
	if (y.kind == SIMT_ZERO) {
		*flags |= SIMT_DZ;
		return simt_infinity(format, sign);
	}
	return simt_quotient(format, &x, &y, rm, flags);
}

/* Computes the root digit by digit: two bits of the operand give one bit of the root. */
static u64 simt_root(const struct simt_format *format, const struct simt_value *x,
		     unsigned int rm, u8 *flags)
{
	u64 digits = x->exp & 1 ? x->sig : x->sig >> 1;
	u64 rest = 0, sig = 0, try;
	int i;

	for (i = 0; i < SIMT_DIGITS; i++) {
		rest = rest << 2 | digits >> 62;
		digits <<= 2;
		try = sig << 2 | 1;
		sig <<= 1;
		if (rest >= try) {
			rest -= try;
			sig |= 1;
		}
	}
	sig = sig << (64 - SIMT_DIGITS) | (rest ? 1 : 0);
	return simt_pack(format, false, (x->exp - (x->exp & 1)) / 2, sig, rm, flags);
}

static u64 simt_sqrt(const struct simt_format *format, u64 a, unsigned int rm, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a);

	if (simt_is_nan(&x))
		return simt_nan_of(format, &x, &x, flags);
	if (x.kind == SIMT_ZERO || (x.kind == SIMT_INF && !x.sign))
		return a;
	if (x.sign)
		return simt_invalid(format, flags);
	return simt_root(format, &x, rm, flags);
}

/* Whether a < b. Neither is a NaN; -0 is less than 0. */
static bool simt_below(const struct simt_format *format, u64 a, u64 b)
{
	u64 sign = simt_sign_bit(format, true);

	if ((a ^ b) & sign)
		return a & sign;
	return a & sign ? a > b : a < b;
}

static u64 simt_min_max(const struct simt_format *format, u64 a, u64 b, bool max, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);

	if (x.kind == SIMT_SNAN || y.kind == SIMT_SNAN)
		*flags |= SIMT_NV;
	if (simt_is_nan(&x))
		return simt_is_nan(&y) ? simt_nan(format) : b;
	if (simt_is_nan(&y))
		return a;
	return simt_below(format, a, b) != max ? a : b;
}

/*
 * Compares a with b: 1, 0 or -1; 2 if one is a NaN. @nan: SIMT_SNAN: only a signalling NaN raises
 * NV; SIMT_QNAN: any NaN does.
 */
static int simt_compare(const struct simt_format *format, u64 a, u64 b, enum simt_value_kind nan,
			u8 *flags)
{
	struct simt_value x = simt_unpack(format, a), y = simt_unpack(format, b);

	if (x.kind >= nan || y.kind >= nan)
		*flags |= SIMT_NV;
	if (simt_is_nan(&x) || simt_is_nan(&y))
		return 2;
	if (a == b || (x.kind == SIMT_ZERO && y.kind == SIMT_ZERO))
		return 0;
	return simt_below(format, a, b) ? -1 : 1;
}

/* Returns a bit of fclass: -inf, -normal, -subnormal, -0, 0, subnormal, normal, inf, sNaN, qNaN. */
static u32 simt_class(const struct simt_format *format, u64 a)
{
	struct simt_value x = simt_unpack(format, a);
	int magnitude;

	if (simt_is_nan(&x))
		return x.kind == SIMT_SNAN ? 1 << 8 : 1 << 9;
	if (x.kind == SIMT_FINITE)
		magnitude = x.exp < 1 - format->bias ? 1 : 2;
	else
		magnitude = x.kind == SIMT_ZERO ? 0 : 3;
	return x.sign ? 1 << (3 - magnitude) : 1 << (4 + magnitude);
}

/* Rounds a magnitude to an integer. 2^64 or more gives U64_MAX and sets *huge. */
static u64 simt_to_integer(const struct simt_value *x, unsigned int rm, bool *huge, u8 *flags)
{
	s32 by = 63 - x->exp;
	u64 whole, rest;

	*huge = by < 0;
	if (by <= 0)
		return by ? U64_MAX : x->sig;
	whole = by < 64 ? x->sig >> by : 0;
	rest = by < 64 ? x->sig << (64 - by) : simt_shift(x->sig, by - 64);
	if (rest)
		*flags |= SIMT_NX;
	return whole + simt_round_up(x->sign, whole & 1, rest, rm);
}

/* Converts to an integer of at most @max and at least 0, or if @is_signed -@max - 1. */
static u64 simt_to(const struct simt_format *format, u64 a, unsigned int rm, u64 max,
		   bool is_signed, u8 *flags)
{
	struct simt_value x = simt_unpack(format, a);
	u64 limit = x.sign ? (is_signed ? max + 1 : 0) : max;
	u64 magnitude = 0;
	bool huge = true;
	u8 raised = 0;

	if (x.kind == SIMT_ZERO)
		return 0;
	if (simt_is_nan(&x))
		limit = max;
	if (x.kind == SIMT_FINITE)
		magnitude = simt_to_integer(&x, rm, &huge, &raised);
	if (huge || magnitude > limit) {
		magnitude = limit;
		raised = SIMT_NV;
	}
	*flags |= raised;
	return x.sign && !simt_is_nan(&x) ? -magnitude : magnitude;
}

static u64 simt_from(const struct simt_format *format, u64 magnitude, bool sign, unsigned int rm,
		     u8 *flags)
{
	int high = fls64(magnitude) - 1;

	if (!magnitude)
		return 0;
	return simt_pack(format, sign, high, magnitude << (63 - high), rm, flags);
}

#define SIMT_FLOAT_DEFINE(f, t)								\
t simt_##f##_add(t a, t b, unsigned int rm, u8 *flags)					\
{											\
	return simt_add(&simt_##f, a, b, rm, flags);					\
}											\
t simt_##f##_sub(t a, t b, unsigned int rm, u8 *flags)					\
{											\
	return simt_add(&simt_##f, a, b ^ simt_sign_bit(&simt_##f, true), rm, flags);	\
}											\
t simt_##f##_mul(t a, t b, unsigned int rm, u8 *flags)					\
{											\
	return simt_mul(&simt_##f, a, b, rm, flags);					\
}											\
t simt_##f##_div(t a, t b, unsigned int rm, u8 *flags)					\
{											\
	return simt_div(&simt_##f, a, b, rm, flags);					\
}											\
t simt_##f##_sqrt(t a, unsigned int rm, u8 *flags)					\
{											\
	return simt_sqrt(&simt_##f, a, rm, flags);					\
}											\
t simt_##f##_fma(t a, t b, t c, unsigned int rm, u8 *flags)				\
{											\
	return simt_fma(&simt_##f, a, b, c, rm, flags);					\
}											\
t simt_##f##_min(t a, t b, u8 *flags)							\
{											\
	return simt_min_max(&simt_##f, a, b, false, flags);				\
}											\
t simt_##f##_max(t a, t b, u8 *flags)							\
{											\
	return simt_min_max(&simt_##f, a, b, true, flags);				\
}											\
bool simt_##f##_eq(t a, t b, u8 *flags)							\
{											\
	return simt_compare(&simt_##f, a, b, SIMT_SNAN, flags) == 0;			\
}											\
bool simt_##f##_lt(t a, t b, u8 *flags)							\
{											\
	return simt_compare(&simt_##f, a, b, SIMT_QNAN, flags) < 0;			\
}											\
bool simt_##f##_le(t a, t b, u8 *flags)							\
{											\
	return simt_compare(&simt_##f, a, b, SIMT_QNAN, flags) <= 0;			\
}											\
u32 simt_##f##_class(t a)								\
{											\
	return simt_class(&simt_##f, a);						\
}											\
u64 simt_##f##_to_i32(t a, unsigned int rm, u8 *flags)					\
{											\
	return simt_to(&simt_##f, a, rm, S32_MAX, true, flags);				\
}											\
u64 simt_##f##_to_u32(t a, unsigned int rm, u8 *flags)					\
{											\
	return (s32)simt_to(&simt_##f, a, rm, U32_MAX, false, flags);			\
}											\
u64 simt_##f##_to_i64(t a, unsigned int rm, u8 *flags)					\
{											\
	return simt_to(&simt_##f, a, rm, S64_MAX, true, flags);				\
}											\
u64 simt_##f##_to_u64(t a, unsigned int rm, u8 *flags)					\
{											\
	return simt_to(&simt_##f, a, rm, U64_MAX, false, flags);			\
}											\
t simt_##f##_from_i64(s64 a, unsigned int rm, u8 *flags)				\
{											\
	return simt_from(&simt_##f, a < 0 ? -(u64)a : (u64)a, a < 0, rm, flags);		\
}											\
t simt_##f##_from_u64(u64 a, unsigned int rm, u8 *flags)				\
{											\
	return simt_from(&simt_##f, a, false, rm, flags);				\
}

SIMT_FLOAT_DEFINE(f32, u32)
SIMT_FLOAT_DEFINE(f64, u64)

u32 simt_f64_to_f32(u64 a, unsigned int rm, u8 *flags)
{
	struct simt_value x = simt_unpack(&simt_f64, a);

	return simt_pack_float(&simt_f32, &x, rm, flags);
}

u64 simt_f32_to_f64(u32 a, u8 *flags)
{
	struct simt_value x = simt_unpack(&simt_f32, a);

	return simt_pack_float(&simt_f64, &x, SIMT_RNE, flags);
}
