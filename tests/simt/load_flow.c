// SPDX-License-Identifier: GPL-2.0
/* Loads of single work-items: control flow that few programs have, and floats. */
#include "load.h"

/* ---- flow ---- */

/* A machine of bytes: a jump table within a loop. */
LOAD_ITEMS_DO(machine)
{
	u64 stack[16] = { id }, pc = 0, steps = 0;
	u32 sp = 1;

	while (pc < 200 && ++steps < 400) {
		u8 op = in[pc++];
		u64 *top = &stack[(sp - 1) & 15];

		switch (op & 15) {
		case 0:
			*top += op;
			break;
		case 1:
			*top ^= *top << 7;
			break;
		case 2:
			*top ^= *top >> 9;
			break;
		case 3:
			stack[sp++ & 15] = in[pc++];
			break;
		case 4:
			stack[(sp - 2) & 15] += *top;
			sp--;
			break;
		case 5:
			stack[(sp - 2) & 15] *= *top | 1;
			sp--;
			break;
		case 6:
			if (*top & 1)
				pc += op >> 4;
			break;
		case 7:
			if (*top & 2 && steps < 300)
				pc -= pc > op >> 4 ? op >> 4 : pc;
			break;
		case 8:
			*top = stack[op >> 4];
			break;
		case 9:
			stack[op >> 4] = *top;
			break;
		case 10:
			*top /= (op >> 4) + 1;
			break;
		case 11:
			*top %= op + 1;
			break;
		case 12:
			*top = load_mix(*top);
			break;
		case 13:
			continue;
		case 14:
			if (op == 0xfe)
				goto out;
			*top = -*top;
			break;
		default:
			*top = ~*top;
		}
	}
out:
	stack[sp & 15] += steps + pc;
	__builtin_memcpy(out, stack, sizeof(stack));
}

/* Two loops that jump into each other: no compiler can make this a tree of loops. */
LOAD_ITEMS_DO(irreducible)
{
	u64 a = load_get(in), b = load_get(in + 8), n = 100 + id % 50;

	if (a & 1)
		goto second;
first:
	a = load_mix(a + b);
	if (!--n)
		goto end;
	if (a & 2)
		goto middle;
	b ^= a;
	if (a & 4)
		goto first;
second:
	b = b * 5 + a;
	if (!--n)
		goto end;
	if (b & 8)
		goto second;
	a += b >> 3;
	if (b & 16)
		goto first;
middle:
	a ^= b << 1;
	if (!--n)
		goto end;
	if ((a ^ b) & 32)
		goto second;
	goto first;
end:
	load_put(out, a);
	load_put(out + 8, b);
}

/* Labels as values. */
LOAD_ITEMS_DO(labels)
{
	static const void *const at[] = { &&add, &&sub, &&mix, &&skip, &&end };
	u64 v = id, k = 0;

	goto *at[in[0] % 4];
add:
	v += in[k & 255];
	goto *at[in[++k & 255] % 4];
sub:
	v = v * 3 - k;
	goto *at[in[++k & 255] % 3];
mix:
	v = load_mix(v);
	k += 2;
	goto *at[k > 150 ? 4 : in[k & 255] % 4];
skip:
	k += in[k & 255] & 7;
	goto *at[k > 150 ? 4 : 2];
end:
	load_put(out, v);
	load_put(out + 8, k);
}

/* Twenty conditions within each other, and loops at some. */
#define NEST(n, inner)							\
	do {								\
		v += n;							\
		if (x >> n & 1) {					\
			v = v * 3 + n;					\
			for (u64 i = 0; i < (v >> n & 1) + 1; i++) {	\
				v ^= v >> 11;				\
				inner;					\
			}						\
		} else if (y >> n & 1) {				\
			v ^= x << n;					\
			inner;						\
		}							\
		v = (v << 5 | v >> 59) + n;				\
	} while (0)

static load_noinline u64 nest_low(u64 v, u64 x, u64 y)
{
	NEST(0, NEST(1, NEST(2, NEST(3, NEST(4, NEST(5, (void)0))))));
	return v;
}

static load_noinline u64 nest_middle(u64 v, u64 x, u64 y)
{
	NEST(6, NEST(7, NEST(8, NEST(9, NEST(10, NEST(11, v = nest_low(v, x, y)))))));
	return v;
}

LOAD_ITEMS_DO(nested)
{
	u64 v = id, x = load_get(in), y = load_get(in + 8);

	x |= 0x81030 << 8;	/* else few would come to the ground */
	NEST(12, NEST(13, NEST(14, NEST(15, NEST(16, NEST(17, v = nest_middle(v, x, y)))))));
	load_put(out, v);
}

/*
 * Branches that reach farther than a conditional branch can, which gcc and its assembler make jumps
 * of, and calls over most of the text.
 */
#if defined(__riscv) && !defined(__clang__)
#define FAR(n)	__asm__ volatile(".rept " #n "\n\taddi x0, x0, 0\n\t.endr")
#else
#define FAR(n)	__asm__ volatile("")
#endif

static load_noinline __attribute__((section(".text.far_side"))) u64 far_leaf(u64 a)
{
	if (a & 16)
		FAR(1200);
	return load_mix(a);
}

#ifdef __riscv
__asm__(".section .text.far_hole, \"ax\", @progbits\n\t.skip 190000 * 4, 0\n\t.text");
#endif

LOAD_ITEMS_DO(distance)
{
	u64 v = load_get(in);

	if (v & 1) {
		v = far_leaf(v);
		if (v & 2)
			FAR(1200);
		v++;
	} else if (v & 4) {
		FAR(1100);
		v ^= far_leaf(v);
	}
	load_put(out, v);
}

/* ---- jumps out of calls ---- */

#ifdef __riscv
typedef u64 jump_buf[26];
int load_setjmp(jump_buf at) __attribute__((returns_twice));
void load_longjmp(jump_buf at, int value) __attribute__((noreturn));
__asm__(".text\n\t.option push\n\t.option norvc\n"
	"load_setjmp:\n\tsd ra, 0(a0)\n\tsd sp, 8(a0)\n"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	"\tsd s\\n, 16 + 8 * \\n(a0)\n\tfsd fs\\n, 112 + 8 * \\n(a0)\n.endr\n"
	"\tli a0, 0\n\tret\n"
	"load_longjmp:\n\tld ra, 0(a0)\n\tld sp, 8(a0)\n"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
	"\tld s\\n, 16 + 8 * \\n(a0)\n\tfld fs\\n, 112 + 8 * \\n(a0)\n.endr\n"
	"\tmv a0, a1\n\tret\n\t.option pop");
#else
/* Not by longjmp(), of which sanitizers think that it stays on the thread's stack. */
typedef void *jump_buf[5];
static int jump_value;
#define load_setjmp(at)		(__builtin_setjmp(at) ? jump_value : 0)
#define load_longjmp(at, value) do {		\
	jump_value = (value);			\
	__builtin_longjmp(at, 1);		\
} while (0)
#endif

static load_noinline u64 descend(jump_buf *at, const u8 *in, u32 depth)
{
	if (in[depth] < 40)
		load_longjmp(*at, (int)depth + 1);
	if (in[depth] > 230 || depth > 20)
		return depth;
	return descend(at, in, depth + 1) * 3 + in[depth];
}

LOAD_ITEMS_DO(unwind)
{
	volatile u64 sum = id, k;
	volatile double d = 0.5 * id;
	jump_buf at;
	int from;

	for (k = 0; k < 8; k++) {
		from = load_setjmp(at);
		if (!from)
			sum += descend(&at, in + 16 * k, 0);
		else
			sum = sum * 31 + (u64)from;
		d = d * 0.5 + from;
	}
	load_put(out, sum);
	load_put(out + 8, (u64)(s64)(d * 65536));
}

/* ---- floats ---- */

static double sine(double x)
{
	double y = x * x;

	return x * (1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110)))));
}

static double real_of(const u8 *in, int k)
{
	return (double)(s32)load_get(in + 4 * k) / (1 << 20);
}

LOAD_ITEMS_DO(fft)
{
	double re[16], im[16], t;
	u32 i, j, half, k;

	for (i = 0; i < 16; i++) {
		re[i] = real_of(in, i);
		im[i] = real_of(in, i + 16);
	}
	for (i = 0; i < 16; i++) {
		j = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
		if (j <= i)
			continue;
		t = re[i], re[i] = re[j], re[j] = t;
		t = im[i], im[i] = im[j], im[j] = t;
	}
	for (half = 1; half < 16; half *= 2) {
		for (k = 0; k < 8; k++) {
			double angle = 3.14159265358979 / half * (k % half);
			double c = 1 - 2 * sine(angle / 2) * sine(angle / 2), s = -sine(angle);
			double x, y;

			i = k / half * half * 2 + k % half;
			j = i + half;
			x = re[j] * c - im[j] * s;
			y = re[j] * s + im[j] * c;
			re[j] = re[i] - x;
			im[j] = im[i] - y;
			re[i] += x;
			im[i] += y;
		}
	}
	__builtin_memcpy(out, re, sizeof(re));
	__builtin_memcpy(out + 128, im, sizeof(im));
}

LOAD_ITEMS_DO(bodies)
{
	double at[5][3], v[5][3] = {}, mass[5];
	int i, j, k, step;

	for (i = 0; i < 5; i++) {
		mass[i] = 1 + in[i] / 16.0;
		for (k = 0; k < 3; k++)
			at[i][k] = real_of(in, 3 * i + k + 2);
	}
	for (step = 0; step < 6; step++) {
		for (i = 0; i < 5; i++) {
			for (j = 0; j < 5; j++) {
				double d[3], r2 = 0.001, f;

				for (k = 0; k < 3; k++) {
					d[k] = at[j][k] - at[i][k];
					r2 += d[k] * d[k];
				}
				f = mass[j] / (r2 * __builtin_sqrt(r2));
				for (k = 0; k < 3; k++)
					v[i][k] += f * d[k] * 0.01;
			}
		}
		for (i = 0; i < 15; i++)
			at[i / 3][i % 3] += v[i / 3][i % 3] * 0.01;
	}
	__builtin_memcpy(out, at, sizeof(at));
	__builtin_memcpy(out + 120, v, sizeof(v));
}

static double size_of(double a)
{
	return a < 0 ? -a : a;
}

#define ORDER	5

/* Elimination with a pivot, which lanes find in different rows. */
LOAD_ITEMS_DO(matrix)
{
	double m[ORDER][ORDER + 1], t, l[ORDER][ORDER] = {};
	int i, j, k, best;

	for (i = 0; i < ORDER * (ORDER + 1); i++)
		m[i / (ORDER + 1)][i % (ORDER + 1)] = real_of(in, i) / 256;
	for (k = 0; k < ORDER; k++) {
		for (best = k, i = k + 1; i < ORDER; i++)
			if (size_of(m[i][k]) > size_of(m[best][k]))
				best = i;
		for (j = 0; best != k && j <= ORDER; j++)
			t = m[k][j], m[k][j] = m[best][j], m[best][j] = t;
		for (i = 0; i < ORDER; i++) {
			if (i == k)
				continue;
			t = m[i][k] / m[k][k];
			for (j = k; j <= ORDER; j++)
				m[i][j] -= t * m[k][j];
		}
	}
	for (i = 0; i < ORDER; i++) {
		for (j = 0; j <= i; j++) {
			t = i == j ? 1e8 : (double)(s16)load_get(in + 2 * i + 10 * j);
			for (k = 0; k < j; k++)
				t -= l[i][k] * l[j][k];
			l[i][j] = i == j ? __builtin_sqrt(t) : t / l[j][j];
		}
	}
	for (i = 0; i < ORDER; i++)
		__builtin_memcpy(out + 8 * i, &m[i][ORDER], 8);
	__builtin_memcpy(out + 40, l, sizeof(l));
}

static float exp_of(float x)
{
	s32 n = (s32)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f));
	float r = x - (float)n * 0.693147181f, y;
	u32 bits = (u32)(n + 127) << 23;

	__builtin_memcpy(&y, &bits, 4);
	r = 1 + r * (1 + r * (0.5f + r * (0.16666667f + r * (0.041666667f + r * 0.0083f))));
	return y * r;
}

static float log_of(float x)
{
	u32 bits;
	s32 n;
	float s, y;

	__builtin_memcpy(&bits, &x, 4);
	n = (s32)(bits >> 23) - 127;
	bits = (bits & 0x7fffff) | 0x3f800000;
	__builtin_memcpy(&x, &bits, 4);
	s = (x - 1) / (x + 1);
	y = s * s;
	return (float)n * 0.693147181f +
	       2 * s * (1 + y * (0.33333333f + y * (0.2f + y * 0.142857143f)));
}

LOAD_ITEMS_DO(softmax)
{
	float v[32], most = -1e30f, sum = 0, loss;
	u32 n = 3 + in[0] % 29, i;

	for (i = 0; i < n; i++) {
		v[i] = (float)(s16)load_get(in + 2 * i) / 2048;
		most = v[i] > most ? v[i] : most;
	}
	for (i = 0; i < n; i++) {
		v[i] = exp_of(v[i] - most);
		sum += v[i];
	}
	for (i = 0; i < n; i++)
		v[i] /= sum;
	loss = -log_of(v[id % n]);
	__builtin_memcpy(out, v, 4 * n);
	__builtin_memcpy(out + 128, &loss, 4);
}

/* Numbers between formats; what is out of range would be anything in C. */
LOAD_ITEMS_DO(convert)
{
	u64 h = 0;
	int k;

	for (k = 0; k < 24; k++) {
		s64 a = (s64)load_get(in + 8 * k) >> (id + k) % 60;
		double d = (double)a, u = (double)((u64)a >> 1);
		float f = (float)a, g = (float)((u64)a >> 2), e = (float)(s32)a, c = (float)(u32)a;

		h = load_mix(h + (u64)(s64)(d * 0.375)) ^ (u64)(u * 0.75);
		h += (u64)(s64)(f * 0.25f) ^ (u64)g;
		h ^= (u64)(s32)(e * 0.5f) + (u32)(c * 0.5f);
		h += (u64)(s64)((double)f - (double)(float)d) + (d < u) + 2 * (f <= e) +
		     4 * (g == c) + 8 * (d != (double)e);
		f = (float)(d / 3);
		h ^= (u64)(s64)(f * 0.001f) + (u64)(__builtin_sqrt(u) * 8);
		load_put(out + 8 * k, h);
	}
}
