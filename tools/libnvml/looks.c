// SPDX-License-Identifier: GPL-2.0
/*
 * Looks: what was so far when a client asked. Where there are no samples, only counters, a load is
 * that of the time between two looks, of which the library keeps some.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define LOOK_NS		100000000ull	/* between two looks, at least */

bool nv_looks_fresh(const struct nv_looks *looks, uint64_t now_ns)
{
	return looks->look[0] && now_ns < looks->look[0]->time_ns + LOOK_NS;
}

uint64_t nv_looks_next_ns(const struct nv_looks *looks)
{
	return looks->look[0] ? looks->look[0]->time_ns + LOOK_NS : 0;
}

void nv_looks_push(struct nv_looks *looks, struct nv_look *look)
{
	free(looks->look[NV_LOOKS - 1]);
	memmove(&looks->look[1], &looks->look[0], (NV_LOOKS - 1) * sizeof(look));
	looks->look[0] = look;
}

void nv_looks_forget(struct nv_looks *looks)
{
	unsigned int i;

	for (i = 0; i < NV_LOOKS; i++) {
		free(looks->look[i]);
		looks->look[i] = NULL;
	}
}

const struct nv_look *nv_looks_base(const struct nv_looks *looks, uint64_t since_us)
{
	unsigned int i;

	for (i = 1; i < NV_LOOKS && looks->look[i]; i++)
		if (nv_time_us(looks->look[i]->time_ns) <= since_us)
			break;
	if (i == NV_LOOKS || !looks->look[i])
		i--;
	return i ? looks->look[i] : NULL;
}
