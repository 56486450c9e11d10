// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <stdlib.h>
#include <string.h>

#include "clk.h"
#include "die.h"
#include "engine.h"
#include "soft/work/native.h"

#define PAGE	((u64)VGPU_HW_PAGE_SIZE)
#define BUDGET	4096	/* instructions until the engine would look at the clock */

const struct simt_isa * const engine_isas[ENGINE_ISAS] = {
	&simt_isa_scalar, &simt_isa_sse2, &simt_isa_avx2,
};

bool engine_has(const struct simt_isa *isa)
{
#ifdef __x86_64__
	if (isa == &simt_isa_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return true;
}

const struct simt_isa *engine_best(void)
{
	return engine_isas[engine_has(engine_isas[2]) ? 2 : 1];
}

static enum simt_end engine_map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
				enum vgpu_hw_fault *code)
{
	struct engine *engine = container_of(mem, struct engine, mem);
	u64 memory_bytes = ENGINE_MEMORY_AT + engine->sample->bytes;

	*keep = true;
	if (va >= VGPU_HW_VA_GLOBAL && va - VGPU_HW_VA_GLOBAL < memory_bytes) {
		*page = engine->memory + ((va - VGPU_HW_VA_GLOBAL) & ~(PAGE - 1));
		return SIMT_DONE;
	}
	if (!write && va - VGPU_HW_VA_IMAGE < engine->elf.image_bytes) {
		*page = engine->image + ((va - VGPU_HW_VA_IMAGE) & ~(PAGE - 1));
		return SIMT_DONE;
	}
	*code = VGPU_HW_FAULT_PAGE;
	return SIMT_FAULT;
}

static void *allocate(size_t bytes)
{
	void *at = aligned_alloc(PAGE, (bytes + PAGE) & ~(PAGE - 1));

	if (!at)
		bench_die("out of memory");
	memset(at, 0, bytes);
	return at;
}

static void decode(struct engine *engine)
{
	u32 nr = engine->elf.text_bytes / 4;

	engine->program = allocate(simt_program_bytes(nr));
	simt_program_init(engine->program, nr);
	simt_program_decode(engine->program, 0, (const __le32 *)engine->image, nr);
	simt_program_finish(engine->program);
}

void engine_prepare(struct engine *engine)
{
	u8 *memory = engine->memory + ENGINE_MEMORY_AT;

	memset(memory, 0, engine->sample->bytes);
	engine->sample->prepare(memory, VGPU_HW_VA_GLOBAL + ENGINE_MEMORY_AT, engine->memory);
}

void engine_open_file(struct engine *engine, const struct sample *sample, const void *file,
		      size_t bytes)
{
	const struct vgpu_kernel *kernel;

	memset(engine, 0, sizeof(*engine));
	engine->sample = sample;
	if (vgpu_elf_parse(&engine->elf, file, bytes))
		bench_die("%s: %s", sample->name, engine->elf.error);
	kernel = vgpu_elf_kernel(&engine->elf, sample->name);
	engine->image = allocate(engine->elf.image_bytes);
	memcpy(engine->image, engine->elf.image, engine->elf.image_bytes);
	decode(engine);
	engine->memory = allocate(ENGINE_MEMORY_AT + sample->bytes);
	engine_prepare(engine);
	engine->mem.map = engine_map;
	engine->dispatch = (struct simt_dispatch) {
		.program = engine->program,
		.entry = kernel->entry / 4,
		.image_bytes = engine->elf.image_bytes,
		.args = VGPU_HW_VA_GLOBAL,
		.local_bytes = engine->elf.local_bytes,
		.private_bytes = kernel->private_bytes,
	};
	if (engine->program->nr <= SOFT_NATIVE_MOST)
		engine->native = soft_native_make(engine->program, engine_best());
	engine->dispatch.native = engine->native;
	memcpy(engine->dispatch.grid, sample->grid, sizeof(sample->grid));
}

void engine_open(struct engine *engine, const struct sample *sample)
{
	size_t bytes;
	const void *file = sample_program(sample, &bytes);

	engine_open_file(engine, sample, file, bytes);
}

void engine_close(struct engine *engine)
{
	free(engine->local);
	free(engine->private);
	free(engine->warps);
	free(engine->memory);
	soft_native_free(engine->native);
	free(engine->program);
	free(engine->image);
	vgpu_elf_free(&engine->elf);
}

/* Memory for groups of that size, which is kept for those that are not larger, as contexts are. */
static void grow(struct engine *engine, const uint32_t size[3])
{
	const struct simt_dispatch *dispatch = &engine->dispatch;
	size_t private = simt_private_bytes(size, dispatch->private_bytes);
	size_t warps = simt_warps_bytes(size);

	if (engine->warps && private <= engine->private_bytes && warps <= engine->warps_bytes)
		return;
	free(engine->local);
	free(engine->private);
	free(engine->warps);
	engine->local = allocate(dispatch->local_bytes);
	engine->private = allocate(private);
	engine->warps = allocate(warps);
	engine->private_bytes = private;
	engine->warps_bytes = warps;
}

static void begin(struct engine *engine, const struct simt_isa *isa, const uint32_t size[3])
{
	struct simt_dispatch *dispatch = &engine->dispatch;

	memcpy(dispatch->group, size, sizeof(dispatch->group));
	engine->group = (struct simt_group) {
		.isa = isa,
		.tlb = &engine->tlb,
		.mem = &engine->mem,
		.local = engine->local,
		.private = engine->private,
		.warps = engine->warps,
	};
	simt_tlb_flush(&engine->tlb);
	simt_dispatch_begin(dispatch);
	simt_group_init(&engine->group, dispatch);
	simt_dispatch_next(dispatch, &engine->group);
}

void engine_run(struct engine *engine, const struct simt_isa *isa, const uint32_t size[3])
{
	struct simt_group *group = &engine->group;
	enum simt_end end;

	memset(engine->memory + ENGINE_MEMORY_AT, 0, engine->sample->clear_bytes);
	grow(engine, size);
	begin(engine, isa, size);
	do {
		end = simt_group_run(group, BUDGET);
	} while (end == SIMT_MORE);
	if (end != SIMT_DONE)
		bench_die("%s: fault %d at pc %#llx, address %#llx", engine->sample->name,
			  group->fault.code, group->fault.pc, group->fault.addr);
}

double engine_time(struct engine *engine, const struct simt_isa *isa, const uint32_t group[3])
{
	uint64_t start = clk_ns();

	engine_run(engine, isa, group);
	return (double)(clk_ns() - start) / 1e6;
}
