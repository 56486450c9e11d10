// SPDX-License-Identifier: GPL-2.0
/* All roots of polynomials of degree 3 to 8, by Durand and Kerner's iteration, until they stay. */
#define VGPU_PRIVATE_BYTES	2048
#include "native.h"

#define ITEMS	2048
#define MOST	8
#define TRIES	60

struct complex {
	double re;
	double im;
};

static struct complex times(struct complex a, struct complex b)
{
	return (struct complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* The polynomial at root[i], by the product of its distances to the others. */
static struct complex step(const double *factor, const struct complex *root, int n, int i)
{
	struct complex top = { 1, 0 }, below = { 1, 0 }, apart;
	double square;
	int k;

	for (k = n - 1; k >= 0; k--) {
		top = times(top, root[i]);
		top.re += factor[k];
	}
	for (k = 0; k < n; k++) {
		if (k == i)
			continue;
		apart.re = root[i].re - root[k].re;
		apart.im = root[i].im - root[k].im;
		below = times(below, apart);
	}
	square = below.re * below.re + below.im * below.im;
	if (square * 1e30 < 1)
		return (struct complex){ 0, 0 };
	below.re /= square;
	below.im /= -square;
	return times(top, below);
}

static void item(const double *in, double *out, uint32_t id)
{
	struct complex root[MOST], by;
	int n = 3 + id % 6, i, tries;
	double moved, sum = 0;

	in += id * MOST;
	root[0] = (struct complex){ 1, 0 };
	for (i = 1; i < n; i++)
		root[i] = times(root[i - 1], (struct complex){ 0.4, 0.9 });
	for (tries = 0; tries < TRIES; tries++) {
		moved = 0;
		for (i = 0; i < n; i++) {
			by = step(in, root, n, i);
			root[i].re -= by.re;
			root[i].im -= by.im;
			moved += by.re * by.re + by.im * by.im;
		}
		if (moved * 1e18 < 1)
			break;
	}
	for (i = 0; i < n; i++)
		sum += root[i].re * root[i].re + root[i].im * root[i].im;
	out[id] = sum + tries;
}

HOST void prepare(double *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * MOST; i++)
		in[i] = pick(2000) / 500.0 - 2;
}

PROGRAM(roots, "all roots of polynomials, in double", ITEMS, 8 * ITEMS * MOST, 8 * ITEMS)
