// SPDX-License-Identifier: GPL-2.0
/* PRESENT: a surface in the framebuffer becomes what a display shows. */
#include "../queue/queues.h"
#include "packet_types.h"
#include "work.h"

/* What the look at a page costs beside its translation: see SOFT_STOP_BYTES. */
#define SOFT_LOCATE_WORK	256

/*
 * Finds the place in the framebuffer of a surface with a virtual address. It must be in one piece
 * there, from the first byte to the last.
 */
static enum soft_end soft_present_locate(struct soft_unit *unit, struct soft_channel *ch,
					 struct soft_present_operands *op,
					 struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct vgpu_scanout *s = &op->surface;
	u64 bytes = (u64)(s->height - 1) * s->pitch + (u64)s->width * 4;
	struct soft_place *all = soft_exec_work(exec, struct soft_place), next;

	for (;;) {
		if (!soft_space_valid(ch->view, all->gen))
			all->bytes = 0;
		if (all->bytes >= bytes)
			break;
		if (!soft_space_find(ch->view, op->va + all->bytes, VGPU_HW_PTE_R, &next,
				     fault))
			return SOFT_END_FAULT;
		if (!all->bytes) {
			*all = next;
		} else if (next.addr == all->addr + all->bytes) {
			all->bytes += next.bytes;
		} else {
			fault->code = VGPU_HW_FAULT_PAGE;
			fault->addr = next.va;
			return SOFT_END_FAULT;
		}
		if (soft_stop_wanted(unit, ch, SOFT_LOCATE_WORK))
			return SOFT_END_STOPPED;
	}
	s->offset = all->addr;
	return SOFT_END_PACKET;
}

/**
 * soft_present() - execute a PRESENT
 * @unit: executes the packet
 * @ch: the packet's channel
 * @fault: set with SOFT_END_FAULT
 *
 * The surface is shown until the next PRESENT, and not copied. Only the first head can be seen.
 *
 * Context: the engine's thread, during a run.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_present(struct soft_unit *unit, struct soft_channel *ch,
			   struct soft_fault *fault)
{
	struct soft_present_operands *op =
		soft_packet_operands(&ch->exec.packet, struct soft_present_operands);
	struct soft_screen *screen = &ch->queues->work->screen;
	enum soft_end end;

	if (ch->space) {
		end = soft_present_locate(unit, ch, op, fault);
		if (end != SOFT_END_PACKET)
			return end;
	}

	if (!op->head) {
		raw_spin_lock(&screen->lock);
		screen->surface = op->surface;
		screen->shown = true;
		raw_spin_unlock(&screen->lock);
	}
	return SOFT_END_PACKET;
}
