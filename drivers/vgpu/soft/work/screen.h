/* SPDX-License-Identifier: GPL-2.0 */
/* What the first head of a vGPU shows. */
#ifndef _VGPU_SOFT_SCREEN_H
#define _VGPU_SOFT_SCREEN_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vgpu_scanout.h>

/**
 * struct soft_screen - what the first head of a vGPU shows
 * @lock:    protects the following, and what else a picture may come from
 * @shown:   @surface is shown: nothing has replaced it since
 * @surface: of the latest PRESENT
 */
struct soft_screen {
	raw_spinlock_t lock;		/* pictures, and which is the newest */
	bool shown;
	struct vgpu_scanout surface;
};

#endif /* _VGPU_SOFT_SCREEN_H */
