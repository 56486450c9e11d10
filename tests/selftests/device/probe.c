// SPDX-License-Identifier: GPL-2.0
/* Kernels for tests of vgpu-run: arguments of all types, what is printed, a fault. */
#include <vgpu_device.h>

struct types_args {
	uint64_t *out;
	uint32_t u;
	int32_t i;
	float f;
	uint64_t wu;
	int64_t wi;
	double wf;
	uint32_t *one;
	uint64_t *two;
};

VGPU_LOCAL uint32_t own[4];

/* Writes down what it was given. The variable and both arguments have memory of their own. */
VGPU_KERNEL(types, "buf out, u32 u, i32 i, f32 f, u64 wu, i64 wi, f64 wf, local one, local two")
{
	uint64_t *out = args->out;

	out[0] = args->u;
	out[1] = (uint64_t)args->i;
	out[2] = (uint64_t)(args->f * 1000);
	out[3] = args->wu;
	out[4] = (uint64_t)args->wi;
	out[5] = (uint64_t)(args->wf * 1000);
	own[3] = 1;
	args->one[0] = 2;
	args->two[0] = 3;
	vgpu_barrier();
	out[6] = own[3] + args->one[0] * 10 + args->two[0] * 100;
	out[7] = (uintptr_t)args->two - (uintptr_t)args->one;
}

struct say_args {
	struct vgpu_device_log *log;
	uint32_t times;
};

/* Each work-item of a row by itself, so that the lines are in order. */
VGPU_KERNEL(say, "log log, u32 times")
{
	uint32_t i;

	for (i = 0; i < args->times; i++)
		vgpu_printf(args->log, "%s %u: %.2f %ld 100%%\n", "item", vgpu_global_id(0),
			    0.5f * i, -1L);
}

struct control_args {
	struct vgpu_device_log *log;
};

/* What terminals obey, and a letter that is not ASCII. */
VGPU_KERNEL(control, "log log")
{
	vgpu_printf(args->log, "\033[31m%s%c\t\xc2\xb5\x9b\n", "\r\x7f\xc2\x9b", 7);
}

struct poke_args {
	uint32_t *at;
	uint64_t offset;
	uint32_t who;
};

/* One work-item stores far away. */
VGPU_KERNEL(poke, "buf at, u64 offset, u32 who")
{
	if (vgpu_global_id(0) == args->who)
		args->at[args->offset / 4] = 1;
}

struct fail_args {
	struct vgpu_device_log *log;
	uint32_t times;
};

/* Prints, and then stores where nothing is. */
VGPU_KERNEL(fail, "log log, u32 times")
{
	uint32_t i;

	for (i = 0; i < args->times; i++)
		vgpu_printf(args->log, "%*d|%hhd|%p\n", 4, i, 0x1ff, (void *)0x100000000);
	*(volatile uint32_t *)0 = 1;
}

struct forever_args {
	uint32_t *flag;
};

VGPU_KERNEL(forever, "buf flag")
{
	while (!__atomic_load_n(args->flag, __ATOMIC_RELAXED))
		;
}
