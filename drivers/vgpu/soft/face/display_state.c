// SPDX-License-Identifier: GPL-2.0
/* The display of a paused vGPU: saved as a record, and set from one. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <asm/byteorder.h>

#include "../state/records.h"
#include "display.h"
#include "display_state.h"

/* What PRESENT checks; the surface is in the framebuffer, also with a root. */
static const char *soft_display_surface(const struct soft_display_record *record, u64 fb_bytes)
{
	u64 offset = le64_to_cpu(record->offset), row = (u64)le32_to_cpu(record->width) * 4;
	u32 height = le32_to_cpu(record->height), pitch = le32_to_cpu(record->pitch);
	u64 rest;

	if (!row)
		return "width";
	if (!height)
		return "height";
	if (pitch < row || pitch % 4)
		return "pitch";
	/* Three numbers of 32 bits. */
	rest = (u64)(height - 1) * pitch + row;
	if (offset % 4 || rest > fb_bytes || offset > fb_bytes - rest)
		return "offset";
	return NULL;
}

static const char *soft_display_hidden(const struct soft_display_record *record)
{
	if (record->width)
		return "width";
	if (record->height)
		return "height";
	if (record->pitch)
		return "pitch";
	return record->offset ? "offset" : NULL;
}

/*
 * Registers that a guest writes may have any value. Others follow from them where a mode is set:
 * without a mode, the height is that of the last one.
 */
static const char *soft_display_vga(const struct soft_display_record *record,
				    const struct soft_vga_limits *limits)
{
	const __le16 *reg = record->dispi;
	u16 id = le16_to_cpu(reg[VGPU_HW_DISPI_ID]);
	struct soft_vga vga = {}, fit;
	unsigned int i;

	if (id < VGPU_HW_DISPI_ID_FIRST || id > VGPU_HW_DISPI_ID_LAST)
		return "dispi id";
	if (record->attribute > 0x3f)
		return "attribute";
	if (record->data_next > 1)
		return "data_next";
	if (record->pad[0] || record->pad[1])
		return "pad";
	if (!(le16_to_cpu(reg[VGPU_HW_DISPI_ENABLE]) & VGPU_HW_DISPI_ENABLED))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(vga.dispi); i++)
		vga.dispi[i] = le16_to_cpu(reg[i]);
	fit = vga;
	soft_vga_fit(&fit, limits);
	if (fit.dispi[VGPU_HW_DISPI_VIRT_WIDTH] != vga.dispi[VGPU_HW_DISPI_VIRT_WIDTH])
		return "dispi virt_width";
	if (fit.dispi[VGPU_HW_DISPI_VIRT_HEIGHT] != vga.dispi[VGPU_HW_DISPI_VIRT_HEIGHT])
		return "dispi virt_height";
	return NULL;
}

/**
 * soft_display_record_check() - check all fields of a display's record
 * @record: one that no thread changes
 * @limits: limits of the vGPU
 * @fb_bytes: length of its vGPU's framebuffer
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_display_record_check(const struct soft_display_record *record,
				      const struct soft_vga_limits *limits, u64 fb_bytes)
{
	const char *field;

	if (le32_to_cpu(record->shown) > 1)
		return "shown";
	field = record->shown ? soft_display_surface(record, fb_bytes) :
				soft_display_hidden(record);
	return field ?: soft_display_vga(record, limits);
}

/**
 * soft_display_save() - save the display
 * @display: the vGPU's
 * @to: add the record there
 * Context: no engine works for the vGPU, and no trapped access is under way; sleeps.
 */
void soft_display_save(struct soft_display *display, struct vgpu_records *to)
{
	struct soft_display_record *record =
		vgpu_record_add(to, SOFT_RECORD_DISPLAY, sizeof(*record));
	const struct vgpu_scanout *surface = &display->screen->surface;
	const struct soft_vga *vga = &display->vga;
	unsigned int i;

	if (!record)
		return;
	raw_spin_lock(&display->screen->lock);
	if (display->screen->shown) {
		record->shown = cpu_to_le32(1);
		record->offset = cpu_to_le64(surface->offset);
		record->width = cpu_to_le32(surface->width);
		record->height = cpu_to_le32(surface->height);
		record->pitch = cpu_to_le32(surface->pitch);
	}
	for (i = 0; i < ARRAY_SIZE(record->dispi); i++)
		record->dispi[i] = cpu_to_le16(vga->dispi[i]);
	record->attribute = vga->attribute;
	record->data_next = vga->data_next;
	raw_spin_unlock(&display->screen->lock);
}

/**
 * soft_display_load() - set the display from its record
 * @display: the vGPU's
 * @from: the record comes next
 * Context: as soft_display_save(). A query of the picture finds the old one or the new one.
 * Return: 0, or -EINVAL with the reason in @from.
 */
int soft_display_load(struct soft_display *display, struct vgpu_record_reader *from)
{
	struct soft_display_record record;
	struct vgpu_scanout surface = {};
	struct soft_vga_limits limits;
	struct soft_vga vga = {};
	const char *field;
	unsigned int i;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_DISPLAY, "display", &record, pad);
	if (ret)
		return ret;
	soft_display_limits(display, &limits);
	field = soft_display_record_check(&record, &limits, display->info->fb_bytes);
	if (field)
		return vgpu_record_refuse(from, "display", field);
	for (i = 0; i < ARRAY_SIZE(record.dispi); i++)
		vga.dispi[i] = le16_to_cpu(record.dispi[i]);
	vga.attribute = record.attribute;
	vga.data_next = record.data_next;
	surface.offset = le64_to_cpu(record.offset);
	surface.width = le32_to_cpu(record.width);
	surface.height = le32_to_cpu(record.height);
	surface.pitch = le32_to_cpu(record.pitch);

	raw_spin_lock(&display->screen->lock);
	display->vga = vga;
	display->screen->surface = surface;
	display->screen->shown = le32_to_cpu(record.shown);
	raw_spin_unlock(&display->screen->lock);
	return 0;
}
