/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs of diverge.py are made of, for the device and for the CPU: state, phases, and how a
 * work-item goes through the phases. On the CPU one phase of all work-items of a group is done
 * before the next, which is what a barrier does.
 */
#ifndef DIVERGE_PROGRAM_H
#define DIVERGE_PROGRAM_H

#include <stdint.h>

#define DIVERGE_PHASES	4
#define DIVERGE_GROUP	256

/* A work-item's; fuel bounds what its loops and calls may do. */
struct state {
	uint64_t v[4];
	uint64_t fuel;
};

struct diverge_args {
	struct state *states;	/* by global id, in and out */
};

typedef void (*diverge_phase)(struct state *s, uint64_t id, uint64_t size, const uint64_t *near);

#ifdef __riscv
#define DIVERGE_CSR(n) ({ uint64_t v_; __asm__("csrr %0, " #n : "=r"(v_)); v_; })
#define DIVERGE_NEAR	((uint64_t *)0x40000000UL)

static inline __attribute__((always_inline)) void diverge_run(const struct diverge_args *args,
							      diverge_phase phase, int k)
{
	uint64_t id = DIVERGE_CSR(0xcc0), lid = DIVERGE_CSR(0xcc3), size = DIVERGE_CSR(0xcc9);
	struct state s = args->states[id];
	uint64_t *here = DIVERGE_NEAR + (k & 1) * DIVERGE_GROUP;

	phase(&s, id, size, DIVERGE_NEAR + (~k & 1) * DIVERGE_GROUP);
	here[lid] = s.v[0];
	args->states[id] = s;
	__asm__ volatile(".insn r 0x0b, 0, 0, x0, x0, x0" : : : "memory");
}

#define DIVERGE_PROGRAM(n, nr, ...)						\
	__attribute__((section(".text.diverge"))) void diverge_##n(const struct diverge_args *args) \
	{									\
		static const diverge_phase phases[nr] = { __VA_ARGS__ };	\
										\
		for (int k = 0; k < nr; k++)					\
			diverge_run(args, phases[k], k);			\
	}
#else
struct diverge_cpu {
	int nr;
	diverge_phase phases[DIVERGE_PHASES];
};

#define DIVERGE_PROGRAM(n, nr_, ...)						\
	static const struct diverge_cpu diverge_##n = { .nr = nr_, .phases = { __VA_ARGS__ } };
#endif

#endif /* DIVERGE_PROGRAM_H */
