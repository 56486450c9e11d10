// SPDX-License-Identifier: GPL-2.0
/* Loads of single work-items: what compilers make of C, each with its own way through it. */
#include <stdarg.h>

#include "load.h"

/* ---- integers ---- */

typedef unsigned __int128 u128;
typedef __int128 s128;

static u128 divide(u128 a, u128 b, u128 *rest)
{
	u128 q = 0, r = 0;
	int i;

	for (i = 127; i >= 0; i--) {
		r = r << 1 | (a >> i & 1);
		if (r >= b && b) {
			r -= b;
			q |= (u128)1 << i;
		}
	}
	*rest = r;
	return q;
}

static s64 edge(u64 a)
{
	static const s64 edges[] = { 0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX,
				     (s64)UINT32_MAX, 1LL << 32, -(1LL << 32), 2, -2 };

	return a % 3 ? (s64)load_mix(a) : edges[a / 3 % (sizeof(edges) / 8)];
}

LOAD_ITEMS_DO(wide)
{
	u64 h = id, k;
	u128 rest;

	for (k = 0; k < 12; k++) {
		s64 a = edge(load_get(in + 8 * k) >> 3), b = edge(load_get(in + 8 * k + 8) >> 5);
		u128 p = (s128)a * b, q = divide(p, (u64)b, &rest);

		h = load_mix(h ^ (u64)(p >> 64) ^ (u64)((u128)(u64)a * (u64)b >> 64));
		h += (u64)q ^ (u64)(rest >> 64) ^ (u64)(q >> 64) * 3 ^ (u64)rest * 5;
		if (b && !(a == INT64_MIN && b == -1))
			h = load_mix(h + a / b) ^ (u64)(a % b);
		if (b)
			h ^= (u64)a / (u64)b + (u64)a % (u64)b * 7;
		if ((s32)b && !((s32)a == INT32_MIN && (s32)b == -1))
			h += (s32)a / (s32)b ^ (s64)((s32)a % (s32)b);
		if ((u32)b)
			h ^= (u64)((u32)a / (u32)b) << 32 | (u32)a % (u32)b;
		p = (p << (b & 127)) | (p >> (-b & 127));
		h ^= (u64)(p >> 64) + (u64)((s128)p >> (a & 127));
		load_put(out + 8 * k, h);
	}
}

static load_noinline u32 mixed_narrow(u8 a, s8 b, u16 c, s16 d, u32 e, s32 f)
{
	u8 x = a + b;
	s8 y = a * b;
	u16 z = c - d;
	s16 w = (s16)(c ^ d) >> 3;

	x <<= e & 7;
	y >>= f & 3;
	z = z << 9 | z >> 7;
	w = -w;
	return ((u32)x | (u32)(u8)y << 8) + ((u32)z ^ (u32)(u16)w << 16) + (e > (u32)f) + (f < d);
}

LOAD_ITEMS_DO(narrow)
{
	u64 h = 0;
	int k;

	for (k = 0; k < 128; k++) {
		u64 v = load_get(in + k);

		h = h * 31 + mixed_narrow(v, v >> 8, v >> 16, v >> 32, v >> 24, v >> 40);
		h += (v & 1 ? (s64)(s8)v : (u8)v) + (v >> 63 ? (s64)(s16)v : (u16)v);
		h ^= (u64)(u32)v << (v & 31);
		h += (u64)((s32)v >> (v >> 58 & 31)) ^ ((u32)v >> (v >> 53 & 31));
	}
	load_put(out, h);
}

LOAD_ITEMS_DO(bits)
{
	u64 h = 0;
	int k;

	for (k = 0; k < 31; k++) {
		u64 v = load_get(in + 8 * k) >> (id + k) % 64, n = id * 7 + k;

		h += __builtin_popcountll(v) * 3 + (v ? __builtin_clzll(v) : 77);
		h ^= (v ? __builtin_ctzll(v) : 99) + ((u32)v ? __builtin_clz(v) * 5 : 1);
		h = load_mix(h + ((u32)v ? __builtin_ctz(v) : 2) + __builtin_popcount(v));
		h ^= __builtin_bswap64(v) ^ __builtin_bswap32(v);
		h += v << (n & 63) | v >> (-n & 63);
		h ^= (u32)((u32)v << (n & 31) | (u32)v >> (-n & 31));
		h += (v & ~h) ^ (v | ~h) ^ ~(v ^ h);
		h ^= (v | 1ULL << (n & 63)) + (v & ~(1ULL << (n * 3 & 63))) + (v >> (n & 63) & 1);
		h += ((v & 0xffffffff) << 3) + n * 8 + id * 4 + k * 2;
		h = (s64)h < (s64)v ? h + 1 : v < h ? h ^ v : h - v;
		load_put(out + 8 * k, h);
	}
}

/* ---- bytes ---- */

static u8 gf_twice(u8 a)
{
	return a << 1 ^ (a >> 7) * 0x1b;
}

/* The S-box, made in private memory by walking the field in both directions. */
static void make_sbox(u8 *sbox)
{
	u8 p = 1, q = 1;

	do {
		p ^= gf_twice(p);
		q ^= q << 1;
		q ^= q << 2;
		q ^= q << 4;
		q ^= q >> 7 ? 9 : 0;
		sbox[p] = q ^ (u8)(q << 1 | q >> 7) ^ (u8)(q << 2 | q >> 6) ^
			  (u8)(q << 3 | q >> 5) ^ (u8)(q << 4 | q >> 4) ^ 0x63;
	} while (p != 1);
	sbox[0] = 0x63;
}

LOAD_ITEMS_DO(aes)
{
	u8 sbox[256], key[176], s[16], t[16], rcon = 1;
	int i, j, round;

	make_sbox(sbox);
	for (i = 0; i < 16; i++) {
		key[i] = in[i];
		s[i] = in[16 + i] ^ key[i];
	}
	for (i = 16; i < 176; i += 4) {
		for (j = 0; j < 4; j++) {
			u8 v = key[i - 4 + j];

			if (i % 16 == 0)
				v = sbox[key[i - 4 + (j + 1) % 4]] ^ (j ? 0 : rcon);
			key[i + j] = key[i - 16 + j] ^ v;
		}
		if (i % 16 == 0)
			rcon = gf_twice(rcon);
	}
	for (round = 1; round <= 10; round++) {
		for (i = 0; i < 16; i++)
			t[i] = sbox[s[(i + i % 4 * 4) % 16]];
		for (i = 0; i < 16; i++) {
			const u8 *c = t + i / 4 * 4;
			u8 all = c[0] ^ c[1] ^ c[2] ^ c[3];

			s[i] = round == 10 ? t[i] :
			       t[i] ^ all ^ gf_twice(t[i] ^ c[(i + 1) % 4]);
			s[i] ^= key[16 * round + i];
		}
	}
	__builtin_memcpy(out, s, 16);
}

LOAD_ITEMS_DO(crc)
{
	u32 table[256], crc = ~0U, k, n = 20 + in[0] % 200;
	u64 crc64 = ~0ULL;

	for (k = 0; k < 256; k++) {
		u32 c = k, j;

		for (j = 0; j < 8; j++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		table[k] = c;
	}
	for (k = 0; k < n; k++) {
		int j;

		crc = table[(crc ^ in[k]) & 255] ^ crc >> 8;
		crc64 ^= (u64)in[k] << 56;
		for (j = 0; j < 8; j++)
			crc64 = crc64 << 1 ^ ((s64)crc64 < 0 ? 0x42f0e1eba9ea3693ULL : 0);
	}
	load_put(out, crc64);
	load_put(out + 8, (u64)~crc << 32 | n);
}

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

LOAD_ITEMS_DO(base64)
{
	u32 n = in[1] % 90, i, o = 0, acc = 0, have = 0;
	u8 text[128], back[96];

	for (i = 0; i < n || have; ) {
		if (have < 6 && i < n) {
			acc = acc << 8 | in[i++];
			have += 8;
		} else if (have < 6) {
			acc <<= 6 - have;
			have = 6;
		}
		text[o++] = digits64[acc >> (have - 6) & 63];
		have -= 6;
	}
	while (o % 4)
		text[o++] = '=';
	__builtin_memcpy(out, text, o);
	for (acc = 0, have = 0, n = 0, i = 0; i < o && text[i] != '='; i++) {
		u8 c = text[i], v;

		if (c >= 'a')
			v = c - 'a' + 26;
		else if (c >= 'A')
			v = c - 'A';
		else if (c >= '0')
			v = c - '0' + 52;
		else
			v = c == '+' ? 62 : 63;
		acc = acc << 6 | v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			back[n++] = acc >> have;
		}
	}
	for (i = 0; i < n; i++)
		acc = acc * 33 + (back[i] ^ in[i]);
	load_put(out + 128, acc);
	load_put(out + 136, n);
}

/* Counts code points and errors of what is UTF-8 at best in parts. */
LOAD_ITEMS_DO(utf8)
{
	u32 points = 0, errors = 0, hash = 0;
	const u8 *p = in, *end = in + 200;

	while (p < end) {
		u32 c = *p++, more, least;

		if (c < 0x80) {
			hash = hash * 31 + c;
			points++;
			continue;
		} else if (c >= 0xf8 || c < 0xc0) {
			errors++;
			continue;
		}
		more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
		c &= 0x3f >> more;
		/* Random bytes are seldom right: what comes is bent. */
		for (; more && p < end && *p % 5; more--)
			c = c << 6 | (*p++ & 0x3f);
		if (more || c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			errors++;
		else
			points++;
		hash = hash * 31 + c;
	}
	load_put(out, (u64)points << 32 | errors);
	load_put(out + 8, hash);
}

/* ---- calls ---- */

typedef s64 (*fold_fn)(s64 acc, s64 v);

static load_noinline s64 fold_add(s64 acc, s64 v)
{
	return acc + v;
}

static load_noinline s64 fold_xor(s64 acc, s64 v)
{
	return (acc << 1 | (u64)acc >> 63) ^ v;
}

static load_noinline s64 fold_max(s64 acc, s64 v)
{
	return acc > v ? acc - 1 : v;
}

static load_noinline s64 fold_twice(s64 acc, s64 v)
{
	return fold_add(fold_xor(acc, v), v);
}

static const fold_fn folds[] = { fold_add, fold_xor, fold_max, fold_twice };

static load_noinline s64 tree(const u8 *in, u32 node, u32 depth, s64 acc)
{
	u8 v = in[node % 256];

	if (depth > 12 || v < 60)
		return folds[v % 4](acc, (s64)node * v);
	if (v < 160)
		acc = tree(in, node * 2 + 1, depth + 1, acc);
	acc = folds[v / 4 % 4](acc, v);
	return v & 1 ? tree(in, node * 2 + 2, depth + 1, acc) : acc;
}

static load_noinline u32 ackermann(u32 m, u32 n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static load_noinline int is_odd(u32 n);

static load_noinline int is_even(u32 n)
{
	return n ? is_odd(n - 1) : 1;
}

static load_noinline int is_odd(u32 n)
{
	return n ? is_even(n - 1) : 0;
}

LOAD_ITEMS_DO(calls)
{
	load_put(out, tree(in, in[0], 0, id));
	load_put(out + 8, ackermann(in[1] % 3, in[2] % 6));
	load_put(out + 16, is_even(in[3] % 50) * 2 + is_odd(in[4] % 50));
}

typedef int (*compare_fn)(const u32 *a, const u32 *b);

static load_noinline int by_value(const u32 *a, const u32 *b)
{
	return *a < *b ? -1 : *a > *b;
}

static load_noinline int by_low(const u32 *a, const u32 *b)
{
	return (int)(u8)*a - (int)(u8)*b ?: by_value(b, a);
}

static load_noinline void quicksort(u32 *v, s32 from, s32 to, compare_fn compare)
{
	s32 i = from, j = to;
	u32 pivot, t;

	if (from >= to)
		return;
	pivot = v[(from + to) / 2];
	while (i <= j) {
		while (compare(&v[i], &pivot) < 0)
			i++;
		while (compare(&v[j], &pivot) > 0)
			j--;
		if (i > j)
			break;
		t = v[i];
		v[i++] = v[j];
		v[j--] = t;
	}
	quicksort(v, from, j, compare);
	quicksort(v, i, to, compare);
}

LOAD_ITEMS_DO(sort)
{
	u32 v[60], n = 5 + in[0] % 55;

	__builtin_memcpy(v, in, sizeof(v));
	quicksort(v, 0, n - 1, id & 1 ? by_low : by_value);
	__builtin_memcpy(out, v, sizeof(v));
}

static load_noinline s64 sum_of(const char *types, ...)
{
	va_list ap, again;
	s64 sum = 0;

	va_start(ap, types);
	va_copy(again, ap);
	for (; *types; types++) {
		if (*types == 'i')
			sum = sum * 3 + va_arg(ap, int);
		else if (*types == 'l')
			sum = sum * 5 + va_arg(ap, s64);
		else
			sum = sum * 7 + (s64)(va_arg(ap, double) * 16);
	}
	sum ^= va_arg(again, int);
	va_end(again);
	va_end(ap);
	return sum;
}

LOAD_ITEMS_DO(varargs)
{
	s64 v = load_get(in), w = load_get(in + 8);

	load_put(out, sum_of("ildi", (int)v, w, (s32)v / 16.0, (int)w));
	load_put(out + 8, sum_of(id & 1 ? "iiiiiiiiii" : "iiiii", (int)v, 2, 3, (int)w, 5, 6, 7, 8,
				 (int)(v >> 32), 10));
	load_put(out + 16, sum_of("idldldlddl", 1, (double)(s32)w, v, -0.5, w, 3.25, v ^ w,
				  (double)(s16)v, 1e6, v + w));
}

struct big {
	u64 a[9];
	s8 b[13];
	float f;
	struct { u32 x : 5, y : 11; s32 z : 7; u64 w : 41; s64 v : 23; } c;
};

struct __attribute__((packed)) odd {
	u8 a;
	u64 b;
	u16 c;
	s32 d : 19;
	double e;
	u32 f;
	float g;
};

static load_noinline struct big turn(struct big b, int by)
{
	struct big r = b;
	int i;

	for (i = 0; i < 9; i++)
		r.a[i] = b.a[(i + by) % 9] + i;
	for (i = 0; i < 13; i++)
		r.b[i] = -b.b[(i * 5 + by) % 13];
	r.f = b.f * 0.5f + (float)by;
	r.c.x += b.c.y;
	r.c.y -= b.c.z;
	r.c.z = -b.c.z;
	r.c.w = (u64)b.c.w * 5 + (u64)b.c.v;
	r.c.v = (s64)(b.c.w >> 7);
	return r;
}

LOAD_ITEMS_DO(structs)
{
	struct big b = {};
	struct odd odd[4], t;
	u64 h = 0;
	int i;

	__builtin_memcpy(b.a, in, sizeof(b.a));
	__builtin_memcpy(b.b, in + 80, sizeof(b.b));
	__builtin_memcpy(&b.c, in + 96, sizeof(b.c));
	b.f = (float)id;
	for (i = 0; i < (int)(id % 7) + 1; i++)
		b = turn(b, i + (int)(id & 3));
	for (i = 0; i < 9; i++)
		h = load_mix(h + b.a[i]);
	for (i = 0; i < 13; i++)
		h = h * 31 + (u8)b.b[i];
	h ^= b.c.x ^ (u64)b.c.y << 5 ^ (u64)b.c.z << 17;
	load_put(out, h ^ (u64)b.c.w << 20 ^ (u64)b.c.v);
	load_put(out + 8, (u64)(s64)(b.f * 1024));
	__builtin_memcpy(odd, in + 1, sizeof(odd));
	for (i = 0; i < 4; i++) {
		t = odd[(i + id) % 4];
		t.b += (u64)t.a << 40 | t.c;
		t.d = t.d * 3 - 1;
		t.e = (double)(s32)t.f / 8;
		t.g = (float)(s16)t.c;
		__builtin_memcpy(out + 17 + i * sizeof(t), &t, sizeof(t));
	}
}
