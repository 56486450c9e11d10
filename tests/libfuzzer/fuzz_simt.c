// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile programs in the interpreter. An input is a head, struct fuzz_head, and instructions; what
 * is done with it must not reach beyond the memory that it was given (sanitizers tell), must end
 * when the budget says so, and must be the same on each instruction set of the CPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/container_of.h>

#include "soft/simt/simt.h"

#define FB_PAGES	4
#define LOCAL_BYTES	1024
#define PRIVATE_BYTES	256
#define TEXT_MAX	256
#define ROUNDS		200

/**
 * struct fuzz_head - what is beside the instructions
 * @flags:  1: opcodes are made to be ones that exist
 * @budget: instructions of a call, less 1
 * @group:  work-items of a group per dimension, less 1, of their low bits
 * @grid:   of the grid likewise
 * @waits:  every so many calls of map() say that the page cannot be had; 0: none
 * @entry:  modulo the number of instructions
 */
struct fuzz_head {
	uint8_t flags;
	uint8_t budget;
	uint8_t group[3];
	uint8_t grid[3];
	uint8_t waits;
	uint8_t entry;
};

struct fuzz_mem {
	struct simt_mem mem;
	uint8_t waits;
	uint32_t calls;
	uint8_t *image;
	uint8_t *pages[FB_PAGES];
};

struct fuzz_end {
	enum simt_end end;
	struct simt_fault fault;
	u64 executed;
	uint8_t fb[FB_PAGES][VGPU_HW_PAGE_SIZE];
};

static const struct simt_isa *const isas[] = { &simt_isa_scalar, &simt_isa_sse2, &simt_isa_avx2 };

/* Pages lie apart, so that one byte beyond any of them is found. The last one is not kept. */
static enum simt_end fuzz_map(struct simt_mem *simt, u64 va, bool write, void **page, bool *keep,
			      enum vgpu_hw_fault *code)
{
	struct fuzz_mem *mem = container_of(simt, struct fuzz_mem, mem);
	u64 index = (va - VGPU_HW_VA_GLOBAL) / VGPU_HW_PAGE_SIZE;

	mem->calls++;
	if (mem->waits && mem->calls % mem->waits == 0)
		return SIMT_WAIT;
	*keep = true;
	if (va < VGPU_HW_VA_GLOBAL) {
		*page = mem->image;
		return SIMT_DONE;
	}
	*code = VGPU_HW_FAULT_ADDRESS;
	if (index >= FB_PAGES)
		return SIMT_FAULT;
	*page = mem->pages[index];
	*keep = index < FB_PAGES - 1;
	return SIMT_DONE;
}

static void fuzz_run(const struct fuzz_head *head, struct simt_program *program,
		     const uint8_t *image, const struct simt_isa *isa, struct fuzz_end *out)
{
	static struct simt_tlb tlb;
	struct fuzz_mem mem = { .mem.map = fuzz_map, .waits = head->waits };
	struct simt_dispatch dispatch = {
		.program = program, .entry = head->entry % program->nr,
		.image_bytes = 4 * program->nr, .args = VGPU_HW_VA_GLOBAL,
		.local_bytes = LOCAL_BYTES, .private_bytes = PRIVATE_BYTES,
	};
	struct simt_group group = {
		.isa = isa, .mem = &mem.mem, .tlb = &tlb, .local = calloc(1, LOCAL_BYTES),
	};
	unsigned int k, round = 0;

	for (k = 0; k < 3; k++) {
		dispatch.group[k] = 1 + head->group[k] % (k ? 4 : 64);
		dispatch.grid[k] = 1 + head->grid[k] % (k ? 4 : 100);
	}
	group.private = calloc(1, simt_private_bytes(dispatch.group, PRIVATE_BYTES));
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	/* What another dispatch has left there makes no difference. */
	memset(group.warps, isa->name[0], simt_warps_bytes(dispatch.group));
	mem.image = malloc(VGPU_HW_PAGE_SIZE);
	memcpy(mem.image, image, VGPU_HW_PAGE_SIZE);
	for (k = 0; k < FB_PAGES; k++) {
		mem.pages[k] = malloc(VGPU_HW_PAGE_SIZE);
		memset(mem.pages[k], 0x11 * k, VGPU_HW_PAGE_SIZE);
	}

	simt_tlb_flush(&tlb);
	simt_dispatch_begin(&dispatch);
	simt_group_init(&group, &dispatch);
	simt_dispatch_next(&dispatch, &group);
	do {
		out->end = simt_group_run(&group, 1 + head->budget);
	} while (++round < ROUNDS && (out->end == SIMT_MORE || out->end == SIMT_WAIT));

	out->executed = group.executed;
	out->fault = group.fault;
	if (out->executed > ROUNDS * (1ULL + head->budget))
		abort();
	for (k = 0; k < FB_PAGES; k++) {
		memcpy(out->fb[k], mem.pages[k], VGPU_HW_PAGE_SIZE);
		free(mem.pages[k]);
	}
	if (memcmp(mem.image, image, VGPU_HW_PAGE_SIZE))
		abort();
	free(mem.image);
	free(group.warps);
	free(group.private);
	free(group.local);
}

/* Mutation finds few of the opcodes that exist: the low bits choose one of them. */
static uint32_t fuzz_word(uint32_t word)
{
	static const uint8_t opcodes[32] = {
		0x03, 0x07, 0x0b, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x3b, 0x43,
		0x47, 0x4b, 0x4f, 0x53, 0x63, 0x67, 0x6f, 0x73, 0x13, 0x33, 0x03, 0x23, 0x53, 0x63,
		0x1b, 0x3b, 0x13, 0x63,
	};

	return (word & ~0x7fU) | opcodes[word & 31];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_end first, other;
	static uint8_t image[VGPU_HW_PAGE_SIZE];
	struct simt_program *program;
	struct fuzz_head head;
	uint32_t word, nr, k;

	if (size < sizeof(head) + 4)
		return 0;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	nr = (size - sizeof(head)) / 4;
	if (nr > TEXT_MAX)
		nr = TEXT_MAX;
	memset(image, 0, sizeof(image));
	for (k = 0; k < nr; k++) {
		memcpy(&word, data + 4 * k, 4);
		if (head.flags & 1)
			word = fuzz_word(word);
		memcpy(image + 4 * k, &word, 4);
	}
	program = malloc(simt_program_bytes(nr));
	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)image, nr);
	simt_program_finish(program);

	fuzz_run(&head, program, image, isas[0], &first);
	for (k = 1; k < (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 3 : 2); k++) {
		memset(&other, 0, sizeof(other));
		fuzz_run(&head, program, image, isas[k], &other);
		if (other.end != first.end || other.executed != first.executed ||
		    memcmp(other.fb, first.fb, sizeof(first.fb)) ||
		    (first.end == SIMT_FAULT &&
		     memcmp(&other.fault, &first.fault, sizeof(first.fault)))) {
			fprintf(stderr, "%s ended %d after %llu, %s %d after %llu\n",
				isas[0]->name, first.end, (unsigned long long)first.executed,
				isas[k]->name, other.end, (unsigned long long)other.executed);
			abort();
		}
	}
	free(program);
	return 0;
}
