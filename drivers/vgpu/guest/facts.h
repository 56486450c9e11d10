/* SPDX-License-Identifier: GPL-2.0 */
/* What a device says of itself, and whether that can be. */
#ifndef _VGPU_GUEST_FACTS_H
#define _VGPU_GUEST_FACTS_H

#include <linux/types.h>
#include <linux/vgpu_hw.h>

/**
 * struct guest_facts - what registers and configuration space say; the host may lie in each
 * @id:         VGPU_HW_ID
 * @version:    VGPU_HW_VERSION
 * @channels:   VGPU_HW_CHANNELS
 * @nr_engines: VGPU_HW_ENGINES
 * @vectors:    VGPU_HW_NR_VECTORS
 * @fb_bytes:   VGPU_HW_FB_SIZE
 * @bar_regs:   bytes of the BAR of the registers
 * @bar_pages:  bytes of that of the channel pages
 * @bar_fb:     bytes of that of the framebuffer
 */
struct guest_facts {
	u32 id;
	u32 version;
	u32 channels;
	u32 nr_engines;
	u32 vectors;
	u64 fb_bytes;
	u64 bar_regs;
	u64 bar_pages;
	u64 bar_fb;
};

/*
 * The name of a field that cannot be, or NULL. Nothing in good facts makes the driver leave its
 * BARs or its arrays.
 */
const char *guest_facts_wrong(const struct guest_facts *facts);

#endif /* _VGPU_GUEST_FACTS_H */
