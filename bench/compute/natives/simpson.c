// SPDX-License-Identifier: GPL-2.0
/* Adaptive integration by Simpson's rule, recursive: deep where the function has its peak. */
#define VGPU_PRIVATE_BYTES	4096
#include "native.h"

#define ITEMS	1024
#define DEPTH	14

struct peak {
	double at;
	double height;
	double width;
};

struct part {
	double begin;
	double end;
	double value[3];	/* at the begin, in the middle, at the end */
	double sum;
};

static double value(const struct peak *peak, double x)
{
	double d = x - peak->at;

	return peak->height / (d * d + peak->width) + x * x;
}

static double rule(const struct part *part)
{
	return (part->end - part->begin) / 6 *
	       (part->value[0] + 4 * part->value[1] + part->value[2]);
}

static double integral(const struct peak *peak, const struct part *part, double error, int depth)
{
	double middle = (part->begin + part->end) / 2, apart;
	struct part left = { part->begin, middle, { part->value[0], 0, part->value[1] }, 0 };
	struct part right = { middle, part->end, { part->value[1], 0, part->value[2] }, 0 };

	left.value[1] = value(peak, (left.begin + middle) / 2);
	right.value[1] = value(peak, (middle + right.end) / 2);
	left.sum = rule(&left);
	right.sum = rule(&right);
	apart = left.sum + right.sum - part->sum;
	if (!depth || (apart < 15 * error && apart > -15 * error))
		return left.sum + right.sum + apart / 15;
	return integral(peak, &left, error / 2, depth - 1) +
	       integral(peak, &right, error / 2, depth - 1);
}

static void item(const struct peak *in, double *out, uint32_t id)
{
	const struct peak *peak = &in[id];
	struct part all = { 0, 2, { value(peak, 0), value(peak, 1), value(peak, 2) }, 0 };

	all.sum = rule(&all);
	out[id] = integral(peak, &all, 1 / 1e7, DEPTH);
}

HOST void prepare(struct peak *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS; i++) {
		in[i].at = pick(300) / 100.0;
		in[i].height = 1 + pick(10);
		in[i].width = 0.0005 + pick(1000) / 1000.0 * (pick(2) ? 0.01 : 1);
	}
}

PROGRAM(simpson, "adaptive integration in double, recursive", ITEMS, ITEMS * sizeof(struct peak),
	8 * ITEMS)
