/* SPDX-License-Identifier: GPL-2.0 */
/* The display of a vGPU as a record. */
#ifndef _VGPU_SOFT_DISPLAY_STATE_H
#define _VGPU_SOFT_DISPLAY_STATE_H

#include <linux/types.h>

#include "vga.h"

struct soft_display;
struct vgpu_record_reader;
struct vgpu_records;

/**
 * struct soft_display_record - the registers of the VGA card, and what is shown
 * @offset: the surface of the latest PRESENT, as in struct vgpu_scanout; this and the next three
 *          fields are 0 if it is not shown
 * @width:  likewise
 * @height: likewise
 * @pitch:  likewise
 * @shown:  1: the surface is shown
 * @dispi:  as in struct soft_vga. What it has beside the registers of this record changes with the
 *          beam, and any value will do
 * @attribute: likewise
 * @data_next: likewise, 0 or 1
 * @pad:    0
 */
struct soft_display_record {
	__le64 offset;
	__le32 width;
	__le32 height;
	__le32 pitch;
	__le32 shown;
	__le16 dispi[VGPU_HW_DISPI_MEMORY_64K];
	u8 attribute;
	u8 data_next;
	u8 pad[2];
};

const char *soft_display_record_check(const struct soft_display_record *record,
				      const struct soft_vga_limits *limits, u64 fb_bytes);
void soft_display_save(struct soft_display *display, struct vgpu_records *to);
int soft_display_load(struct soft_display *display, struct vgpu_record_reader *from);

#endif /* _VGPU_SOFT_DISPLAY_STATE_H */
