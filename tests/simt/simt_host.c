// SPDX-License-Identifier: GPL-2.0
/* The engine's interpreter in user space: see simt_host.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/container_of.h>
#include <linux/limits.h>

#include "random.h"
#include "simt_host.h"
#include "soft/work/native.h"

static enum simt_end simt_host_map(struct simt_mem *mem, u64 va, bool write, void **page,
				   bool *keep, enum vgpu_hw_fault *code)
{
	struct simt_host *host = container_of(mem, struct simt_host, mem);
	u64 offset = va - VGPU_HW_VA_GLOBAL;

	if (host->waits && ++host->calls % host->waits == 0)
		return SIMT_WAIT;
	*keep = true;
	if (va < VGPU_HW_VA_GLOBAL) {
		*page = host->image + (va - VGPU_HW_VA_IMAGE);
		return SIMT_DONE;
	}
	if (offset >= host->fb_bytes) {
		*code = VGPU_HW_FAULT_ADDRESS;
		return SIMT_FAULT;
	}
	/* Some pages are looked up each time, as those of the GPU that were never written. */
	*keep = write || offset / VGPU_HW_PAGE_SIZE % 7;
	*page = host->fb + offset;
	return SIMT_DONE;
}

static bool simt_host_over(struct simt_mem *mem)
{
	struct simt_host *host = container_of(mem, struct simt_host, mem);

	return !random_range(&host->seed, 0, 7);
}

/* Reads the image from @file, decodes its first @text_bytes. Returns 0, or -1 with a message. */
int simt_host_init(struct simt_host *host, const char *file, u32 text_bytes, u64 fb_bytes)
{
	size_t room = VGPU_HW_IMAGE_MAX;
	FILE *in = fopen(file, "rb");

	memset(host, 0, sizeof(*host));
	if (!in) {
		perror(file);
		return -1;
	}
	host->image = aligned_alloc(VGPU_HW_PAGE_SIZE, room);
	memset(host->image, 0, room);
	host->bytes = fread(host->image, 1, room, in);
	fclose(in);
	if (!host->bytes || !text_bytes || text_bytes > host->bytes || text_bytes % 4) {
		fprintf(stderr, "%s: %u bytes, %u of them text\n", file, host->bytes, text_bytes);
		return -1;
	}
	host->program = malloc(simt_program_bytes(text_bytes / 4));
	simt_program_init(host->program, text_bytes / 4);
	simt_program_decode(host->program, 0, (const __le32 *)host->image, text_bytes / 4);
	simt_program_finish(host->program);
	host->fb = aligned_alloc(VGPU_HW_PAGE_SIZE, fb_bytes);
	memset(host->fb, 0, fb_bytes);
	host->fb_bytes = fb_bytes;
	host->mem.map = simt_host_map;
	return 0;
}

void simt_host_exit(struct simt_host *host)
{
	state_moves_print(&host->moves, "moved");
	if (host->native)
		printf("# code of the CPU: %zu bytes, entered %llu times\n",
		       soft_native_bytes(host->native), (unsigned long long)host->entered);
	soft_native_free(host->native);
	free(host->program);
	free(host->image);
	free(host->fb);
}

/* Some stops: the dispatch moves into other memory, and another interpreter goes on with it. */
static void simt_host_move(struct simt_host *host, struct simt_group *group)
{
	struct state_flights flight = state_flight(group);
	u64 *seed = &host->moves.seed;

	if (!host->moves.one_in || random_range(seed, 1, host->moves.one_in) > 1)
		return;
	state_move(&flight, &host->moves);
	group->isa = simt_host_isa(random_range(seed, 0, 2)) ?: simt_host_isa(0);
}

/* At once wherever lanes part, or after a while, or never. */
static u32 simt_host_alone(struct simt_host *host)
{
	static const u32 most[] = { 1, 300, 3000, 0, U32_MAX, U32_MAX };

	return host->alone ? most[random_range(&host->seed, 0, 5)] : 0;
}

/* Counts how often the code is entered. */
static const struct simt_native *simt_host_code;
static u64 simt_host_entered;

static unsigned int simt_host_enter(const void *lone, const struct bpf_insn *unused)
{
	simt_host_entered++;
	return simt_host_code->run(lone, unused);
}

/* Code of the CPU, made when the program is dispatched first; or none, if lanes alone do both. */
static const struct simt_native *simt_host_native(struct simt_host *host)
{
	if (!host->compiled)
		host->native = soft_native_make(host->program, simt_host_isa(1));
	host->compiled = true;
	if (!host->native || (host->alone && random_range(&host->seed, 0, 1)))
		return NULL;
	simt_host_code = host->native;
	host->counted = *host->native;
	host->counted.run = simt_host_enter;
	return &host->counted;
}

/* Dispatches, and runs until the end, with the TLB anew after each stop. */
enum simt_end simt_host_run(struct simt_host *host, const struct simt_isa *isa,
			    const struct simt_work *work)
{
	size_t private = simt_private_bytes(work->group, work->private_bytes);
	struct simt_dispatch dispatch = {
		.program = host->program, .entry = work->entry, .image_bytes = host->bytes,
		.args = work->args, .local_bytes = work->local_bytes,
		.private_bytes = work->private_bytes, .alone = simt_host_alone(host),
		.native = simt_host_native(host),
	};
	struct simt_group group = {
		.isa = isa, .mem = &host->mem, .tlb = &host->tlb,
		.local = calloc(1, work->local_bytes + 1), .private = calloc(1, private + 1),
		.warps = aligned_alloc(64, simt_warps_bytes(work->group)),
	};
	enum simt_end end;

	host->mem.over = host->budget ? NULL : simt_host_over;
	memcpy(dispatch.grid, work->grid, sizeof(dispatch.grid));
	memcpy(dispatch.group, work->group, sizeof(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(work->group));
	simt_tlb_flush(&host->tlb);
	state_begin(&dispatch, &group);
	do {
		u32 budget = host->budget ?: random_range(&host->seed, 1, 50);

		end = simt_group_run(&group, budget);
		simt_tlb_flush(&host->tlb);
		if (host->limit && state_executed(&group) > host->limit)
			break;
		if (end == SIMT_MORE || end == SIMT_WAIT)
			simt_host_move(host, &group);
	} while (end == SIMT_MORE || end == SIMT_WAIT);
	host->entered += simt_host_entered;
	simt_host_entered = 0;
	host->executed = state_executed(&group);
	host->fault = group.fault;
	free(group.warps);
	free(group.private);
	free(group.local);
	return end;
}

/* Interpreters that this CPU can run, by number; NULL: no more. */
const struct simt_isa *simt_host_isa(unsigned int index)
{
	static const struct simt_isa *const isas[] = {
		&simt_isa_scalar, &simt_isa_sse2, &simt_isa_avx2,
	};
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

	return index < (avx2 ? 3 : 2) ? isas[index] : NULL;
}
