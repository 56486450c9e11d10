// SPDX-License-Identifier: GPL-2.0
#include <vgpu_device.h>

#include "reduce.h"

VGPU_LOCAL uint32_t part[REDUCE_GROUP];

VGPU_KERNEL(reduce, "buf numbers, buf sum")
{
	uint32_t me = vgpu_local_id(0), half;

	part[me] = reduce_part(args, vgpu_global_id(0));
	for (half = REDUCE_GROUP / 2; half; half /= 2) {
		vgpu_barrier();
		if (me < half)
			part[me] += part[me + half];
	}
	if (!me)
		__atomic_fetch_add(args->sum, part[0], __ATOMIC_RELAXED);
}
