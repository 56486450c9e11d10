// SPDX-License-Identifier: GPL-2.0
/* Worlds without a kernel have no code of the CPU: programs are interpreted. */
#include "soft/work/native.h"
#include "soft/work/natives.h"

const struct simt_native *soft_natives_get(struct soft_programs *programs,
					   struct soft_program *program)
{
	return NULL;
}

void soft_natives_begin(struct soft_programs *programs)
{
}

void soft_natives_stop(struct soft_programs *programs)
{
}

void soft_native_free(struct simt_native *native)
{
}
