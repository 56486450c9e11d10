/* SPDX-License-Identifier: GPL-2.0 */
/* The PCI configuration space of a vGPU. Pure logic: callers serialise their calls. */
#ifndef _VGPU_CONFIG_H
#define _VGPU_CONFIG_H

#include <linux/types.h>
#include <linux/vgpu_function.h>

#define VGPU_CONFIG_SIZE	4096	/* bytes above the head read 0 */
#define VGPU_CONFIG_HEAD	256

/* The mask that vgpu_config_write() returns. */
#define VGPU_CONFIG_RESET	0x1	/* a function level reset was requested */
#define VGPU_CONFIG_MASTER_ON	0x2	/* bus mastering was switched on */

/* The mask that vgpu_config_state() returns. */
#define VGPU_CONFIG_MEMORY	0x1	/* answers accesses to its BARs */
#define VGPU_CONFIG_MASTER	0x2	/* may access guest memory and raise interrupts */

/**
 * struct vgpu_config - the head of a function's configuration space
 * @space:    the bytes that a read returns
 * @initial:  the values of @space after reset
 * @writable: the bits of @space that a write changes
 */
struct vgpu_config {
	u8 space[VGPU_CONFIG_HEAD];
	u8 initial[VGPU_CONFIG_HEAD];
	u8 writable[VGPU_CONFIG_HEAD];
};

void vgpu_config_init(struct vgpu_config *config, const struct vgpu_function_desc *desc);
void vgpu_config_reset(struct vgpu_config *config);
unsigned int vgpu_config_state(const struct vgpu_config *config);
void vgpu_config_read(const struct vgpu_config *config, u32 offset, void *buf, u32 len);
unsigned int vgpu_config_write(struct vgpu_config *config, u32 offset, const void *buf, u32 len);

#endif /* _VGPU_CONFIG_H */
