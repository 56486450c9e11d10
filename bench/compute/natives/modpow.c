// SPDX-License-Identifier: GPL-2.0
/* Big integers: powers modulo numbers of up to 256 bits, after Montgomery. */
#include "native.h"

#define ITEMS	256
#define LIMBS	8

struct task {
	uint32_t limbs, exponent;
	uint32_t modulus[LIMBS], base[LIMBS], one[LIMBS];
};

/* r = a * b / 2^(32 * limbs) modulo m; inverse: of -m[0]. */
static void multiply(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *m,
		     uint32_t limbs, uint32_t inverse)
{
	uint32_t t[LIMBS + 2] = {}, i, j, q;
	uint64_t sum;

	for (i = 0; i < limbs; i++) {
		for (j = 0, sum = 0; j < limbs; j++, sum >>= 32) {
			sum += (uint64_t)a[i] * b[j] + t[j];
			t[j] = (uint32_t)sum;
		}
		sum += t[limbs];
		t[limbs] = (uint32_t)sum;
		t[limbs + 1] = (uint32_t)(sum >> 32);
		q = t[0] * inverse;
		for (j = 0, sum = 0; j < limbs; j++, sum >>= 32) {
			sum += (uint64_t)q * m[j] + t[j];
			if (j)
				t[j - 1] = (uint32_t)sum;
		}
		sum += t[limbs];
		t[limbs - 1] = (uint32_t)sum;
		t[limbs] = t[limbs + 1] + (uint32_t)(sum >> 32);
	}
	for (i = limbs; i-- && !t[limbs] && t[i] == m[i];)
		;
	q = t[limbs] || i > limbs || t[i] > m[i];	/* t >= m */
	for (i = 0, sum = 1; i < limbs; i++, sum >>= 32) {
		sum += (uint64_t)t[i] + (q ? ~m[i] : ~0u);
		r[i] = (uint32_t)sum;
	}
}

static void item(const struct task *in, uint32_t *out, uint32_t id)
{
	const struct task *task = in + id;
	uint32_t inverse = 1, i, exponent, base[LIMBS];

	out += id * LIMBS;
	for (i = 0; i < 5; i++)
		inverse *= 2 - task->modulus[0] * inverse;
	for (i = 0; i < task->limbs; i++) {
		base[i] = task->base[i];
		out[i] = task->one[i];
	}
	for (exponent = task->exponent; exponent; exponent >>= 1) {
		if (exponent & 1)
			multiply(out, out, base, task->modulus, task->limbs, -inverse);
		multiply(base, base, base, task->modulus, task->limbs, -inverse);
	}
}

HOST void prepare(struct task *in)
{
	uint32_t i, j;

	for (i = 0; i < ITEMS; i++, in++) {
		in->limbs = 4 + pick(LIMBS - 3);
		in->exponent = 1 + pick(1 << 20);
		for (j = 0; j < in->limbs; j++) {
			in->modulus[j] = pick(~0u) | 1;
			in->base[j] = pick(~0u);
			in->one[j] = pick(~0u);
		}
		in->modulus[j - 1] |= 0x80000000;
		in->base[j - 1] >>= 1;
		in->one[j - 1] >>= 1;
	}
}

PROGRAM(modpow, "powers modulo numbers of 128 to 256 bits", ITEMS, ITEMS * sizeof(struct task),
	4 * LIMBS * ITEMS)
