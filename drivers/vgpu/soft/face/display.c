// SPDX-License-Identifier: GPL-2.0
/*
 * The display of a vGPU: the surface that a PRESENT has shown, or the mode that is set in the
 * registers of a VGA card, whichever is newer. Both are scanned out of the framebuffer by whoever
 * looks; nothing is done here for a picture that nobody looks at.
 */
#include "../queue/dma.h"
#include "../queue/queues.h"
#include "display.h"

/* What the look at a page costs beside its translation: see SOFT_STOP_BYTES. */
#define SOFT_LOCATE_WORK	256

static void soft_display_limits(const struct soft_display *display, struct soft_vga_limits *limits)
{
	*limits = (struct soft_vga_limits) {
		.vbe_bytes = min_t(u64, display->info->fb_bytes, VGPU_HW_VBE_BYTES_MAX),
		.max_width = display->info->max_width,
		.max_height = display->info->max_height,
	};
}

/**
 * soft_display_reset() - give all registers their reset values, and show nothing
 * @display: of a vGPU that no engine works for
 *
 * Context: does not sleep.
 */
void soft_display_reset(struct soft_display *display)
{
	raw_spin_lock(&display->lock);
	soft_vga_reset(&display->vga);
	display->source = SOFT_SOURCE_NONE;
	raw_spin_unlock(&display->lock);
}

/*
 * Finds the place in the partition of a surface with a virtual address. It must be in one piece
 * there, from the first byte to the last.
 */
static enum soft_end soft_display_locate(struct soft_engine *engine, struct soft_channel *ch,
					 struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct vgpu_scanout *s = &exec->packet.scanout;
	u64 bytes = (u64)(s->height - 1) * s->pitch + (u64)s->width * 4;
	struct soft_place *all = soft_exec_work(exec, struct soft_place), next;

	for (;;) {
		if (!soft_space_valid(ch->view, all->gen))
			all->bytes = 0;
		if (all->bytes >= bytes)
			break;
		if (!soft_space_find(ch->view, exec->packet.dst + all->bytes, VGPU_HW_PTE_R, &next,
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
		if (soft_stop_wanted(engine, ch, SOFT_LOCATE_WORK))
			return SOFT_END_STOPPED;
	}
	s->offset = all->addr;
	return SOFT_END_PACKET;
}

/**
 * soft_display_present() - execute a PRESENT
 * @engine: executes the packet
 * @ch: the packet's channel
 * @fault: set with SOFT_END_FAULT
 *
 * The surface is shown until the next PRESENT, and not copied. Only the first head can be seen.
 *
 * Context: the engine's thread, in a turn.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_display_present(struct soft_engine *engine, struct soft_channel *ch,
				   struct soft_fault *fault)
{
	struct soft_display *display = ch->queues->display;
	const struct soft_packet *packet = &ch->exec.packet;
	enum soft_end end;

	if (ch->space) {
		end = soft_display_locate(engine, ch, fault);
		if (end != SOFT_END_PACKET)
			return end;
	}

	if (!packet->head) {
		raw_spin_lock(&display->lock);
		display->present = packet->scanout;
		display->source = SOFT_SOURCE_PRESENT;
		raw_spin_unlock(&display->lock);
	}
	return SOFT_END_PACKET;
}

/**
 * soft_display_rw() - access the registers of the VGA card
 * @display: of a vGPU that is set to be one
 * @offset: in BAR 2, below VGPU_HW_DEV_BASE, aligned to @count
 * @buf: kernel memory, little endian
 * @count: 1, 2, 4 or 8
 * @write: the register; else it is read
 *
 * Where there is no register, a read returns all ones and a write does nothing.
 *
 * Context: sleeps.
 */
void soft_display_rw(struct soft_display *display, u32 offset, void *buf, size_t count, bool write)
{
	struct soft_vga_limits limits;
	__le64 raw = 0;

	if (offset < VGPU_HW_VGA_EDID + VGPU_HW_VGA_EDID_SIZE) {
		if (!write)
			vgpu_edid_read(display->vgpu, offset - VGPU_HW_VGA_EDID, buf, count);
		return;
	}
	soft_display_limits(display, &limits);
	if (write) {
		memcpy(&raw, buf, count);
		raw_spin_lock(&display->lock);
		if (soft_vga_write(&display->vga, &limits, offset, le64_to_cpu(raw), count))
			display->source = SOFT_SOURCE_VGA;
		raw_spin_unlock(&display->lock);
		return;
	}
	raw_spin_lock(&display->lock);
	raw = cpu_to_le64(soft_vga_read(&display->vga, &limits, offset, count));
	raw_spin_unlock(&display->lock);
	memcpy(buf, &raw, count);
}

/* scanout of struct vgpu_gpu_ops. */
bool soft_display_scanout(struct soft_display *display, struct vgpu_scanout *scanout)
{
	struct soft_vga_limits limits;
	bool shown = false;

	soft_display_limits(display, &limits);
	raw_spin_lock(&display->lock);
	switch (display->source) {
	case SOFT_SOURCE_NONE:
		break;
	case SOFT_SOURCE_PRESENT:
		*scanout = display->present;
		shown = true;
		break;
	case SOFT_SOURCE_VGA:
		shown = soft_vga_scanout(&display->vga, &limits, scanout);
		break;
	}
	raw_spin_unlock(&display->lock);
	return shown;
}
