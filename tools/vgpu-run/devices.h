/* SPDX-License-Identifier: GPL-2.0 */
/* What vgpu-run and vgpu-samples share. */
#ifndef VGPU_RUN_DEVICES_H
#define VGPU_RUN_DEVICES_H

/* Prints the words that may be a device, for the completion of shells. */
void complete_devices(void);

#endif /* VGPU_RUN_DEVICES_H */
