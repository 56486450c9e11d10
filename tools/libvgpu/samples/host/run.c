// SPDX-License-Identifier: GPL-2.0
/* Samples on a device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "samples.h"

#define MEMORY_ALIGN	4096

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int place(struct sample_run *run)
{
	struct vgpu_dev *dev = run->dev;
	int ret;

	ret = vgpu_program_load(dev, &run->elf, &run->program);
	if (!ret)
		ret = vgpu_fb_alloc(dev, SAMPLE_ARGS_WORDS * sizeof(uint64_t), MEMORY_ALIGN,
				    &run->launch.args);
	if (!ret)
		ret = vgpu_fb_alloc(dev, run->sample->bytes, MEMORY_ALIGN, &run->memory);
	return ret;
}

void sample_prepare(struct sample_run *run)
{
	uint8_t *memory = run->dev->fb + run->memory;
	uint64_t args[SAMPLE_ARGS_WORDS] = {};

	memset(memory, 0, run->sample->bytes);
	run->sample->prepare(memory, vgpu_global_address(run->memory), args);
	memcpy(run->dev->fb + run->launch.args, args, sizeof(args));
}

int sample_load(struct vgpu_dev *dev, const struct sample *sample, struct sample_run *run)
{
	size_t bytes;
	const void *program = sample_program(sample, &bytes);
	int ret;

	memset(run, 0, sizeof(*run));
	run->sample = sample;
	run->dev = dev;
	ret = vgpu_elf_parse(&run->elf, program, bytes);
	if (ret) {
		memcpy(dev->error, run->elf.error, sizeof(run->elf.error));
		return ret;
	}
	run->launch.program = &run->program;
	run->launch.kernel = vgpu_elf_kernel(&run->elf, sample->name);
	memcpy(run->launch.grid, sample->grid, sizeof(sample->grid));
	memcpy(run->launch.group, sample->group, sizeof(sample->group));
	ret = place(run);
	if (ret)
		vgpu_elf_free(&run->elf);
	return ret;
}

void sample_unload(struct sample_run *run)
{
	vgpu_fb_release(run->dev, run->program.image);
	vgpu_elf_free(&run->elf);
}

int sample_run(struct sample_run *run, struct vgpu_chan *chan, int timeout_ms, uint64_t *ns)
{
	uint64_t start, fence;
	int ret;

	sample_prepare(run);
	start = now_ns();
	ret = vgpu_chan_dispatch(chan, &run->launch);
	if (!ret)
		ret = vgpu_chan_fence(chan, &fence);
	if (!ret)
		ret = vgpu_chan_wait(chan, fence, timeout_ms);
	*ns = now_ns() - start;
	return ret;
}

int64_t sample_compare(const struct sample_run *run, uint64_t *native_ns)
{
	const struct sample *sample = run->sample;
	const uint8_t *has = run->dev->fb + run->memory;
	uint64_t args[SAMPLE_ARGS_WORDS];
	uint8_t *memory = calloc(1, sample->bytes);
	int64_t at = -1;
	uint64_t start;

	if (!memory)
		return -2;
	sample->prepare(memory, (uintptr_t)memory, args);
	start = now_ns();
	sample->native(args);
	*native_ns = now_ns() - start;
	if (memcmp(memory, has, sample->bytes))
		for (at = 0; memory[at] == has[at]; at++)
			;
	free(memory);
	return at;
}
