// SPDX-License-Identifier: GPL-2.0
/* Heads of programs: the decoding and checking of struct vgpu_hw_program. */
#include <linux/kernel.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "head.h"
#include "../memory/walk.h"

/* Whether the image lies in the framebuffer; or, of virtual addresses, in one half of them. */
static bool soft_image_ok(const struct soft_program_head *head, const struct soft_limits *limits)
{
	u64 last = head->image + head->image_bytes - 1;

	if (limits->virt)
		return soft_walk_va_ok(head->image) && soft_walk_va_ok(last) &&
		       !((head->image ^ last) >> 63);
	return head->image <= limits->fb_bytes &&
	       head->image_bytes <= limits->fb_bytes - head->image;
}

/**
 * soft_program_decode() - check the head of a program and bring it into the CPU's order
 * @raw: a private copy of the head
 * @limits: as for the packet
 * @op: operands of the DISPATCH that names the program, found good
 * @head: set up; valid when the head is good
 * @fault_addr: set to the address that is wrong with FAULT_ADDRESS and FAULT_ALIGN; to that of the
 *              head with FAULT_PROGRAM; else to 0
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_program_decode(const struct vgpu_hw_program *raw,
				       const struct soft_limits *limits,
				       const struct soft_dispatch_operands *op,
				       struct soft_program_head *head, u64 *fault_addr)
{
	u32 items = op->group[0] * op->group[1] * op->group[2];
	unsigned int i;
	__le32 pad = 0;

	head->image = le64_to_cpu(raw->image);
	head->image_bytes = le32_to_cpu(raw->image_bytes);
	head->text_bytes = le32_to_cpu(raw->text_bytes);
	head->entry = le32_to_cpu(raw->entry);
	head->private_bytes = le32_to_cpu(raw->private_bytes);
	for (i = 0; i < ARRAY_SIZE(raw->pad); i++)
		pad |= raw->pad[i];

	*fault_addr = op->head;
	if (le32_to_cpu(raw->magic) != VGPU_HW_PROGRAM_MAGIC || pad ||
	    head->image_bytes % 4 || head->image_bytes > VGPU_HW_IMAGE_MAX ||
	    head->text_bytes % 4 || !head->text_bytes || head->text_bytes > VGPU_HW_TEXT_MAX ||
	    head->text_bytes > head->image_bytes ||
	    head->entry % 4 || head->entry >= head->text_bytes ||
	    head->private_bytes % 16 || head->private_bytes > VGPU_HW_PRIVATE_MAX)
		return VGPU_HW_FAULT_PROGRAM;
	*fault_addr = head->image;
	if (head->image % VGPU_HW_PAGE_SIZE)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_image_ok(head, limits))
		return VGPU_HW_FAULT_ADDRESS;
	*fault_addr = 0;
	if ((u64)items * head->private_bytes > VGPU_HW_PRIVATE_GROUP_MAX)
		return VGPU_HW_FAULT_GRID;
	return VGPU_HW_FAULT_NONE;
}
