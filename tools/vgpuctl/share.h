/* SPDX-License-Identifier: GPL-2.0 */
/* What vGPUs are to get, and shares of an engine in tables. */
#ifndef VGPUCTL_SHARE_H
#define VGPUCTL_SHARE_H

#include "setting.h"

/* Set by struct vgpu_ctl_share, read from struct vgpu_ctl_instance. */
extern const struct setting_table share_settings;

uint64_t share_centi(uint64_t part_ns, uint64_t whole_ns);
void share_cell(struct table *table, uint64_t centi);

#endif /* VGPUCTL_SHARE_H */
