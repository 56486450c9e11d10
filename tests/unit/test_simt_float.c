// SPDX-License-Identifier: GPL-2.0
/*
 * Floats in integers against those of the CPU, results and flags, in its four modes of rounding;
 * x86 finds tininess after rounding, as RISC-V does. To nearest with ties away, which x86 does not
 * have: which of the two results that round down and up is nearer, by arithmetic of 113 bits that
 * is exact where it matters.
 */
#include <fenv.h>
#include <math.h>

#include "vgpu_test.h"

#include "soft/simt/float.h"

#define NR_RANDOM	1500000
#define NAN_OF_32	SIMT_F32_NAN
#define NAN_OF_64	SIMT_F64_NAN

enum float_op { ADD, SUB, MUL, DIV, SQRT, FMA, CONVERT, FROM_I64, FROM_U64, NR_OPS };

/* Formats by their bits. */
struct format {
	int bits, mant, exp_min;
};

static const struct format f32 = { 32, 23, -126 }, f64 = { 64, 52, -1022 };

static u64 seed;

static float to_float(u64 bits)
{
	u32 low = bits;
	float value;

	memcpy(&value, &low, sizeof(value));
	return value;
}

static double to_double(u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static u64 of_float(float value)
{
	u32 bits;

	memcpy(&bits, &value, sizeof(bits));
	return value != value ? NAN_OF_32 : bits;
}

static u64 of_double(double value)
{
	u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	return value != value ? NAN_OF_64 : bits;
}

static u8 host_flags(void)
{
	int raised = fetestexcept(FE_ALL_EXCEPT);

	return (raised & FE_INEXACT ? SIMT_NX : 0) | (raised & FE_UNDERFLOW ? SIMT_UF : 0) |
	       (raised & FE_OVERFLOW ? SIMT_OF : 0) | (raised & FE_DIVBYZERO ? SIMT_DZ : 0) |
	       (raised & FE_INVALID ? SIMT_NV : 0);
}

/* The operations on operands of a type, and conversions to it; not moved by the compiler. */
#define HOST(bits, type, sqrt_of, fma_of, other)			\
static noinline u64 host_##bits(enum float_op op, const u64 v[3])		\
{									\
	volatile type a = to_##type(v[0]), b = to_##type(v[1]);		\
	volatile type c = to_##type(v[2]), r = 0;			\
	volatile other narrow = 0;					\
									\
	feclearexcept(FE_ALL_EXCEPT);					\
	switch (op) {							\
	case ADD:							\
		r = a + b;						\
		break;							\
	case SUB:							\
		r = a - b;						\
		break;							\
	case MUL:							\
		r = a * b;						\
		break;							\
	case DIV:							\
		r = a / b;						\
		break;							\
	case SQRT:							\
		r = sqrt_of(a);						\
		break;							\
	case FMA:							\
		r = fma_of(a, b, c);					\
		break;							\
	case CONVERT:							\
		narrow = a;						\
		return of_##other(narrow);				\
	case FROM_I64:							\
		r = (s64)v[0];						\
		break;							\
	default:							\
		r = v[0];						\
	}								\
	return of_##type(r);						\
}

HOST(32, float, sqrtf, fmaf, double)
HOST(64, double, sqrt, fma, float)

/* Whether one of the factors is infinite and the other 0. */
static bool is_infinity_by_0(const struct format *f, const u64 v[3])
{
	double a = f == &f32 ? to_float(v[0]) : to_double(v[0]);
	double b = f == &f32 ? to_float(v[1]) : to_double(v[1]);

	return (isinf(a) && b == 0) || (a == 0 && isinf(b));
}

static u64 host(const struct format *f, enum float_op op, const u64 v[3], int mode, u8 *flags)
{
	u64 result;

	fesetround(mode);
	result = f == &f32 ? host_32(op, v) : host_64(op, v);
	*flags = host_flags();
	fesetround(FE_TONEAREST);
	if (op == FMA && is_infinity_by_0(f, v))	/* of RISC-V invalid with any NaN */
		*flags = SIMT_NV;
	return result;
}

#define SOFT(bits, convert)						\
static u64 soft_##bits(enum float_op op, const u64 v[3], unsigned int rm, u8 *flags) \
{									\
	switch (op) {							\
	case ADD:							\
		return simt_f##bits##_add(v[0], v[1], rm, flags);	\
	case SUB:							\
		return simt_f##bits##_sub(v[0], v[1], rm, flags);	\
	case MUL:							\
		return simt_f##bits##_mul(v[0], v[1], rm, flags);	\
	case DIV:							\
		return simt_f##bits##_div(v[0], v[1], rm, flags);	\
	case SQRT:							\
		return simt_f##bits##_sqrt(v[0], rm, flags);		\
	case FMA:							\
		return simt_f##bits##_fma(v[0], v[1], v[2], rm, flags);	\
	case CONVERT:							\
		return convert;						\
	case FROM_I64:							\
		return simt_f##bits##_from_i64(v[0], rm, flags);	\
	default:							\
		return simt_f##bits##_from_u64(v[0], rm, flags);	\
	}								\
}

SOFT(32, simt_f32_to_f64(v[0], flags))
SOFT(64, simt_f64_to_f32(v[0], rm, flags))

static u64 soft(const struct format *f, enum float_op op, const u64 v[3], unsigned int rm,
		u8 *flags)
{
	*flags = 0;
	return f == &f32 ? soft_32(op, v, rm, flags) : soft_64(op, v, rm, flags);
}

/* Of a format: a value on the edge of something, or a random one. */
static u64 special(const struct format *f)
{
	u64 hidden = 1ULL << f->mant, inf = (f == &f32 ? 0xffULL : 0x7ffULL) << f->mant;
	u64 one = (inf >> (f->mant + 1)) << f->mant;
	const u64 values[] = {
		0, 1, 2, 3, hidden - 1, hidden, hidden + 1, hidden * 2, one, one + 1, one - 1,
		one + hidden, one - hidden, one + hidden / 2, inf - 1, inf - hidden, inf,
		inf | hidden / 2, inf | hidden / 2 | 5, inf | 1, inf | (hidden / 2 - 1),
	};

	return values[random_next(&seed) % ARRAY_SIZE(values)];
}

static u64 random_float(const struct format *f)
{
	u64 mask = (1ULL << f->mant) - 1, bits = random_next(&seed);
	u64 kept = mask << (random_next(&seed) % f->mant), one = f == &f32 ? 127 : 1023;

	switch (random_next(&seed) % 6) {
	case 0:
		return special(f) ^ (bits & 1) << (f->bits - 1);
	case 1:	/* any bits */
		return bits >> (64 - f->bits);
	case 2:	/* of moderate size */
		return (bits & mask) | (one - 30 + random_next(&seed) % 60) << f->mant;
	case 3:	/* of moderate size, with few bits */
		return (bits & mask & kept) | (one - 8 + random_next(&seed) % 16) << f->mant;
	case 4:	/* with few bits */
		return bits >> (64 - f->bits) & ~(mask & ~kept);
	default:	/* small */
		return (bits & mask) | (random_next(&seed) % (f->mant + 4)) << f->mant;
	}
}

static u64 random_int(void)
{
	u64 value = random_next(&seed) >> random_next(&seed) % 64;

	if (random_next(&seed) & 1)
		value = (1ULL << random_next(&seed) % 64) + random_next(&seed) % 5 - 2;
	return random_next(&seed) & 1 ? value : -value;
}

static void random_operands(const struct format *f, enum float_op op, u64 v[3])
{
	u64 sign = 1ULL << (f->bits - 1);
	int i;

	for (i = 0; i < 3; i++)
		v[i] = random_float(f);
	if (op == FROM_I64 || op == FROM_U64)
		v[0] = random_int();
	else if (!(random_next(&seed) % 4))	/* almost all of a sum cancels */
		v[1] = (v[0] ^ sign) + random_next(&seed) % 5;
	else if (op == FMA && random_next(&seed) & 1)
		v[2] = soft(f, MUL, v, random_next(&seed) % 4, &(u8){ 0 }) ^ sign;
	if (f == &f32 && op < FROM_I64)
		for (i = 0; i < 3; i++)
			v[i] = (u32)v[i];
}

static __float128 to_exact(const struct format *f, u64 bits)
{
	__float128 value = f == &f32 ? to_float(bits) : to_double(bits);

	/* The result of a greater exponent, which became infinite. */
	if (isinf(f == &f32 ? to_float(bits) : to_double(bits)))
		value = (__float128)(f == &f32 ? ldexp(1, 127) : ldexp(1, 1023)) *
			(bits >> (f->bits - 1) ? -2 : 2);
	return value;
}

static int sign_of(__float128 value)
{
	return value > 0 ? 1 : value < 0 ? -1 : 0;
}

/*
 * The sign of x + y - @middle, where x has up to 106 bits. Where x and y are of one size their sum
 * is exact, else the difference between the greater one and what is near the sum.
 */
static int compare_sum(__float128 x, __float128 y, __float128 middle)
{
	__float128 x_size = x < 0 ? -x : x, y_size = y < 0 ? -y : y;

	if (x_size <= 4 * y_size && y_size <= 4 * x_size)
		return sign_of(x + y - middle);
	return x_size > y_size ? sign_of(x - middle + y) : sign_of(y - middle + x);
}

/* The sign of the exact result minus @middle. */
static int compare(const struct format *f, enum float_op op, const u64 v[3], __float128 middle)
{
	__float128 a = 0, b = 0;

	if (op == FROM_I64)
		return sign_of((__float128)(s64)v[0] - middle);
	if (op == FROM_U64)
		return sign_of((__float128)v[0] - middle);
	a = to_exact(f, v[0]);
	b = to_exact(f, v[1]);
	switch (op) {
	case ADD:
		return compare_sum(a, b, middle);
	case SUB:
		return compare_sum(a, -b, middle);
	case MUL:
		return sign_of(a * b - middle);
	case DIV:
		return sign_of(a - middle * b) * sign_of(b);
	case SQRT:
		return sign_of(a - middle * middle);
	case FMA:
		return compare_sum(a * b, to_exact(f, v[2]), middle);
	default:
		return sign_of(a - middle);
	}
}

static __float128 power_of_2(int exp)
{
	__float128 value = 1;

	for (; exp < 0; exp++)
		value /= 2;
	return value;
}

/* Whether a result that was rounded to a magnitude of 2^exp_min, or less, is tiny. */
static bool is_tiny(const struct format *f, const struct format *to, enum float_op op,
		    const u64 v[3], u64 result)
{
	u64 magnitude = result & ~(1ULL << (to->bits - 1));
	__float128 edge = power_of_2(to->exp_min) - power_of_2(to->exp_min - to->mant - 2);

	if (magnitude >> to->mant != 1 || magnitude << (64 - to->mant))
		return magnitude < 1ULL << to->mant;
	return result == magnitude ? compare(f, op, v, edge) < 0 : compare(f, op, v, -edge) > 0;
}

/* To nearest with ties away from zero. */
static u64 nearest_away(const struct format *f, enum float_op op, const u64 v[3], u8 *flags)
{
	const struct format *to = op != CONVERT ? f : f == &f32 ? &f64 : &f32;
	u64 down, up, even = host(f, op, v, FE_TONEAREST, flags), result;
	int above;
	u8 raised;

	if (!(*flags & SIMT_NX))
		return even;
	down = host(f, op, v, FE_DOWNWARD, &raised);
	up = host(f, op, v, FE_UPWARD, &raised);
	above = compare(f, op, v, (to_exact(to, down) + to_exact(to, up)) / 2);
	if (!above)
		above = to_exact(to, up) > 0 ? 1 : -1;
	result = above > 0 ? up : down;
	*flags = SIMT_NX;
	if (to == &f32 ? isinf(to_float(result)) : isinf(to_double(result)))
		*flags |= SIMT_OF;
	else if (is_tiny(f, to, op, v, result))
		*flags |= SIMT_UF;
	return result;
}

static u64 wanted(const struct format *f, enum float_op op, const u64 v[3], unsigned int rm,
		  u8 *flags)
{
	static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

	return rm == SIMT_RMM ? nearest_away(f, op, v, flags) : host(f, op, v, modes[rm], flags);
}

static void check_arithmetic(const struct format *f)
{
	u8 flags, want_flags;
	u64 v[3], got, want;
	unsigned int rm;
	enum float_op op;
	u32 i;

	for (i = 0; i < NR_RANDOM; i++) {
		op = random_next(&seed) % NR_OPS;
		rm = random_next(&seed) % 5;
		random_operands(f, op, v);
		got = soft(f, op, v, rm, &flags);
		want = wanted(f, op, v, rm, &want_flags);
		check_that(got == want && flags == want_flags,
			   "f%d, op %d, rm %u, %#llx %#llx %#llx: %#llx flags %#x, not %#llx flags %#x",
			   f->bits, op, rm, v[0], v[1], v[2], got, flags, want, want_flags);
	}
}

static void test_arithmetic_32(void **state)
{
	check_arithmetic(&f32);
}

static void test_arithmetic_64(void **state)
{
	check_arithmetic(&f64);
}

enum integer { I32, U32, I64, U64, NR_INTEGERS };

#define TO_INTEGER(bits)						\
static u64 to_integer_##bits(enum integer to, u64 a, unsigned int rm, u8 *flags) \
{									\
	switch (to) {							\
	case I32:							\
		return simt_f##bits##_to_i32(a, rm, flags);		\
	case U32:							\
		return simt_f##bits##_to_u32(a, rm, flags);		\
	case I64:							\
		return simt_f##bits##_to_i64(a, rm, flags);		\
	default:							\
		return simt_f##bits##_to_u64(a, rm, flags);		\
	}								\
}

TO_INTEGER(32)
TO_INTEGER(64)

/* The double @a, which may have been a single, rounded by the C library; limits as RISC-V has. */
static u64 want_integer(enum integer to, double a, unsigned int rm, u8 *flags)
{
	static double (*const round_to[])(double) = { nearbyint, trunc, floor, ceil, round };
	static const double low[] = { -0x1p31, 0, -0x1p63, 0 };
	static const double high[] = { 0x1p31, 0x1p32, 0x1p63, 0x1p64 };	/* and more */
	static const u64 least[] = { (u64)S32_MIN, 0, (u64)S64_MIN, 0 };
	static const u64 greatest[] = { S32_MAX, U64_MAX, S64_MAX, U64_MAX };
	double whole = round_to[rm](a);

	*flags = SIMT_NV;
	if (whole != whole || whole >= high[to])
		return greatest[to];
	if (whole < low[to])
		return least[to];
	*flags = whole != a ? SIMT_NX : 0;
	if (to == U64)
		return (u64)whole;
	return to == U32 ? (u64)(s32)(u32)whole : (u64)(s64)whole;
}

/* A float whose integer part, or what is beside it, is on the edge of something. */
static double near_integer(void)
{
	static const double beside[] = { 0, 0.25, 0.5, 0.75, 0.4999999999999999,
					 0.5000000000000001 };
	double value = (double)(s64)random_int();

	if (random_next(&seed) & 1)
		value *= 2;
	return value + beside[random_next(&seed) % ARRAY_SIZE(beside)];
}

static void check_to_integer(const struct format *f)
{
	enum integer to = random_next(&seed) % NR_INTEGERS;
	unsigned int rm = random_next(&seed) % 5;
	u8 flags = 0, want_flags;
	u64 a, got, want;

	if (random_next(&seed) & 1)
		a = f == &f32 ? (u32)random_float(f) : random_float(f);
	else
		a = f == &f32 ? of_float(near_integer()) : of_double(near_integer());
	if (f == &f32) {
		got = to_integer_32(to, a, rm, &flags);
		want = want_integer(to, to_float(a), rm, &want_flags);
	} else {
		got = to_integer_64(to, a, rm, &flags);
		want = want_integer(to, to_double(a), rm, &want_flags);
	}
	check_that(got == want && flags == want_flags,
		   "f%d, to %d, rm %u, %#llx: %#llx flags %#x, not %#llx flags %#x", f->bits, to,
		   rm, a, got, flags, want, want_flags);
}

static void test_to_integer(void **state)
{
	u32 i;

	for (i = 0; i < NR_RANDOM; i++)
		check_to_integer(i & 1 ? &f32 : &f64);
}

/* What min, max and fclass say, from what C says about floats. */
#define COMPARE(bits, type)						\
static u64 want_min_max_##bits(u64 a, u64 b, bool max)			\
{									\
	type x = to_##type(a), y = to_##type(b);			\
									\
	if (isnan(x) || isnan(y))					\
		return isnan(x) ? (isnan(y) ? NAN_OF_##bits : b) : a;	\
	if (x == y)							\
		return !signbit(x) == max ? a : b;			\
	return (x < y) != max ? a : b;					\
}									\
									\
static u32 want_class_##bits(u64 a)					\
{									\
	type x = to_##type(a);						\
	bool quiet = a >> (f##bits.mant - 1) & 1;			\
									\
	switch (fpclassify(x)) {					\
	case FP_NAN:							\
		return quiet ? 0x200 : 0x100;				\
	case FP_INFINITE:						\
		return signbit(x) ? 0x01 : 0x80;			\
	case FP_NORMAL:							\
		return signbit(x) ? 0x02 : 0x40;			\
	case FP_SUBNORMAL:						\
		return signbit(x) ? 0x04 : 0x20;			\
	default:							\
		return signbit(x) ? 0x08 : 0x10;			\
	}								\
}									\
									\
static void check_compare_##bits(u64 a, u64 b)				\
{									\
	volatile type x = to_##type(a), y = to_##type(b);		\
	bool snan = want_class_##bits(a) == 0x100 || want_class_##bits(b) == 0x100; \
	bool nan = isnan(x) || isnan(y);				\
	u8 flags[5] = { 0 };						\
									\
	assert_int_equal(simt_f##bits##_class(a), want_class_##bits(a)); \
	check_that(simt_f##bits##_min(a, b, &flags[0]) == want_min_max_##bits(a, b, false) && \
		   simt_f##bits##_max(a, b, &flags[1]) == want_min_max_##bits(a, b, true) && \
		   simt_f##bits##_eq(a, b, &flags[2]) == (x == y) &&	\
		   simt_f##bits##_lt(a, b, &flags[3]) == (x < y) &&	\
		   simt_f##bits##_le(a, b, &flags[4]) == (x <= y), "%#llx %#llx", a, b); \
	check_that(flags[0] == (snan ? SIMT_NV : 0) && flags[1] == flags[0] && \
		   flags[2] == flags[0] && flags[3] == (nan ? SIMT_NV : 0) && \
		   flags[4] == flags[3], "%#llx %#llx", a, b);		\
}

COMPARE(32, float)
COMPARE(64, double)

static void test_compare(void **state)
{
	u64 v[3];
	u32 i;

	for (i = 0; i < NR_RANDOM; i++) {
		random_operands(&f32, ADD, v);
		check_compare_32(v[0], v[1]);
		random_operands(&f64, ADD, v);
		check_compare_64(v[0], v[1]);
	}
}

static int set_up(void **state)
{
	seed = test_seed();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic_32),
		cmocka_unit_test(test_arithmetic_64),
		cmocka_unit_test(test_to_integer),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
