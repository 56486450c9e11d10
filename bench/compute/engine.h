/* SPDX-License-Identifier: GPL-2.0 */
/* The engine that executes programs, as it is in the kernel, around a sample in user space. */
#ifndef BENCH_COMPUTE_ENGINE_H
#define BENCH_COMPUTE_ENGINE_H

#include <samples.h>

#include "soft/simt/simt.h"

/**
 * struct engine - a sample on the engine
 * @sample:   which
 * @elf:      its program
 * @program:  the same, decoded
 * @native:   its code, by the kernel's compiler of BPF; NULL: there is none (sim/bpf/bpf.mk)
 * @image:    what the program finds at VGPU_HW_VA_IMAGE
 * @memory:   what it finds at VGPU_HW_VA_GLOBAL: the arguments, then at ENGINE_MEMORY_AT what the
 *            sample works on
 * @mem:      finds pages of these
 * @tlb:      where they are
 * @dispatch: what is executed
 * @group:    its group in flight
 * @local:    memory of groups, which is kept from one run to the next. This and the following
 *            belong to engine.c
 * @private:  likewise
 * @warps:    likewise
 * @private_bytes: length of @private
 * @warps_bytes: length of @warps
 */
struct engine {
	const struct sample *sample;
	struct vgpu_elf elf;
	struct simt_program *program;
	struct simt_native *native;
	u8 *image;
	u8 *memory;
	struct simt_mem mem;
	struct simt_tlb tlb;
	struct simt_dispatch dispatch;
	struct simt_group group;
	void *local;
	void *private;
	void *warps;
	size_t private_bytes;
	size_t warps_bytes;
};

#define ENGINE_MEMORY_AT	4096

void engine_open(struct engine *engine, const struct sample *sample);

/* The same, of a sample that is none of libvgpu's: its ELF file. */
void engine_open_file(struct engine *engine, const struct sample *sample, const void *file,
		      size_t bytes);
void engine_close(struct engine *engine);

/* Makes memory what it is before a run: nothing is left of another. */
void engine_prepare(struct engine *engine);

/* Executes the sample as compiled for @isa, in groups of @group work-items. */
void engine_run(struct engine *engine, const struct simt_isa *isa, const uint32_t group[3]);

/* The same; returns how long it took, in ms. */
double engine_time(struct engine *engine, const struct simt_isa *isa, const uint32_t group[3]);

/* All interpreters; does this CPU have the instructions? */
#define ENGINE_ISAS		3
extern const struct simt_isa * const engine_isas[ENGINE_ISAS];
bool engine_has(const struct simt_isa *isa);

/* The one with the most instructions that this CPU has. */
const struct simt_isa *engine_best(void);

#endif /* BENCH_COMPUTE_ENGINE_H */
