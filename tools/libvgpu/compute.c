// SPDX-License-Identifier: GPL-2.0
/* Programs in the framebuffer, dispatches of their kernels, and their faults in words. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define PROGRAM_ALIGN	64	/* of a struct vgpu_hw_program */

/* What an address of a packet is more than an offset in the framebuffer. */
static uint64_t base_of(const struct vgpu_space *space)
{
	return space ? VGPU_HW_VA_GLOBAL : 0;
}

static void program_write(const struct vgpu_program *program, unsigned int i)
{
	const struct vgpu_elf *elf = program->elf;
	const uint64_t image_base = program->space ? VGPU_HW_VA_GLOBAL :
		program->dev->transport->image_base;
	struct vgpu_hw_program hw = {
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = htole32(elf->image_bytes),
		.text_bytes = htole32(elf->text_bytes),
		.entry = htole32(elf->kernel[i].entry),
		.image = htole64(image_base + program->image),
		.private_bytes = htole32(elf->kernel[i].private_bytes),
	};

	memcpy(program->dev->fb + program->kernels + i * sizeof(hw), &hw, sizeof(hw));
}

/* In whole pages, which nothing else shares: a program in an address space cannot write them. */
static int program_load(struct vgpu_dev *dev, struct vgpu_space *space, const struct vgpu_elf *elf,
			struct vgpu_program *program)
{
	uint64_t kernels = (elf->image_bytes + PROGRAM_ALIGN - 1) & ~(PROGRAM_ALIGN - 1ull);
	uint64_t bytes = kernels + elf->nr_kernels * sizeof(struct vgpu_hw_program);
	unsigned int i;
	int ret;

	_Static_assert(sizeof(struct vgpu_hw_program) % PROGRAM_ALIGN == 0,
		       "kernels do not follow each other");
	program->dev = dev;
	program->space = space;
	program->elf = elf;
	bytes = (bytes + VGPU_HW_PAGE_SIZE - 1) & ~(VGPU_HW_PAGE_SIZE - 1ull);
	ret = vgpu_fb_alloc(dev, bytes, VGPU_HW_PAGE_SIZE, &program->image);
	if (!ret && space)
		ret = vgpu_space_map_fb(space, program->image, bytes,
					VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	if (ret)
		return ret;
	program->kernels = program->image + kernels;
	memcpy(dev->fb + program->image, elf->image, elf->image_bytes);
	for (i = 0; i < elf->nr_kernels; i++)
		program_write(program, i);
	return dev->transport->space->invalidate(dev, space);
}

int vgpu_program_load(struct vgpu_dev *dev, const struct vgpu_elf *elf,
		      struct vgpu_program *program)
{
	return program_load(dev, NULL, elf, program);
}

int vgpu_program_load_in(struct vgpu_space *space, const struct vgpu_elf *elf,
			 struct vgpu_program *program)
{
	return program_load(space->dev, space, elf, program);
}

void vgpu_launch_group(struct vgpu_launch *launch)
{
	uint32_t items = VGPU_GROUP_ITEMS;

	while (items > 1 && (uint64_t)items * launch->kernel->private_bytes >
	       VGPU_HW_PRIVATE_GROUP_MAX)
		items /= 2;
	launch->group[0] = launch->grid[0] < items ? launch->grid[0] : items;
	launch->group[1] = 1;
	launch->group[2] = 1;
}

static int check_shape(struct vgpu_dev *dev, const struct vgpu_launch *launch,
		       uint64_t local_bytes)
{
	const uint32_t *grid = launch->grid, *group = launch->group;
	uint64_t items = 1;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!grid[i] || !group[i])
			return vgpu_fail(dev, -EINVAL, "grid %u,%u,%u in groups of %u,%u,%u is empty",
					 grid[0], grid[1], grid[2], group[0], group[1], group[2]);
		items *= group[i] > VGPU_HW_GROUP_MAX ? VGPU_HW_GROUP_MAX + 1 : group[i];
	}
	if (items > VGPU_HW_GROUP_MAX)
		return vgpu_fail(dev, -EINVAL, "group of %u,%u,%u work-items: at most %u are possible",
				 group[0], group[1], group[2], VGPU_HW_GROUP_MAX);
	if (items * launch->kernel->private_bytes > VGPU_HW_PRIVATE_GROUP_MAX)
		return vgpu_fail(dev, -EINVAL, "group of %llu work-items with %u bytes of private memory: at most %u work-items are possible",
				 (unsigned long long)items, launch->kernel->private_bytes,
				 VGPU_HW_PRIVATE_GROUP_MAX / launch->kernel->private_bytes);
	if (local_bytes > VGPU_HW_LOCAL_MAX)
		return vgpu_fail(dev, -EINVAL, "%llu bytes of memory of the work-group: at most %u are possible",
				 (unsigned long long)local_bytes, VGPU_HW_LOCAL_MAX);
	return 0;
}

int vgpu_chan_dispatch(struct vgpu_chan *chan, const struct vgpu_launch *launch)
{
	const struct vgpu_program *program = launch->program;
	uint64_t local_bytes = program->elf->local_bytes, base = base_of(chan->space);
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_DISPATCH,
		.dst = htole64(base + program->kernels +
			       (size_t)(launch->kernel - program->elf->kernel) *
			       sizeof(struct vgpu_hw_program)),
		.src = htole64(base + launch->args),
	};
	unsigned int i;
	int ret;

	if (program->space != chan->space)
		return vgpu_fail(chan->dev, -EINVAL,
				 "the program is in another address space than channel %u",
				 chan->id);
	if (launch->local_bytes)
		local_bytes = vgpu_local_address(program->elf, 0) - VGPU_HW_VA_LOCAL +
			launch->local_bytes;
	ret = check_shape(chan->dev, launch, local_bytes);
	if (ret)
		return ret;
	for (i = 0; i < 3; i++) {
		p.grid[i] = htole32(launch->grid[i]);
		p.group[i] = htole16((uint16_t)launch->group[i]);
	}
	p.local_bytes = htole32((uint32_t)local_bytes);
	return vgpu_chan_submit(chan, &p, 1);
}

int vgpu_chan_explain(struct vgpu_chan *chan, const struct vgpu_elf *elf, char *text, size_t room)
{
	const struct vgpu_symbol *symbol;
	struct vgpu_fault fault;
	char where[96] = "";
	int ret;

	ret = vgpu_chan_fault(chan, &fault);
	if (ret)
		return ret;
	if (fault.code == VGPU_HW_FAULT_NONE)
		return vgpu_fail(chan->dev, -ENOENT, "channel %u has not faulted", chan->id);
	if (!fault.pc) {
		snprintf(text, room, "%s fault at packet %llu, address %#llx",
			 vgpu_fault_name(fault.code), (unsigned long long)fault.pos,
			 (unsigned long long)fault.addr);
		return 0;
	}
	symbol = vgpu_elf_symbol(elf, fault.pc);
	if (symbol)
		snprintf(where, sizeof(where), "in %.64s+%#llx ", symbol->name,
			 (unsigned long long)(fault.pc - symbol->address));
	snprintf(text, room, "%s fault %s(pc %#llx), address %#llx, work-item %u,%u,%u",
		 vgpu_fault_name(fault.code), where, (unsigned long long)fault.pc,
		 (unsigned long long)fault.addr, fault.id[0], fault.id[1], fault.id[2]);
	return 0;
}
