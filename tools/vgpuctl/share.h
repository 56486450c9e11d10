/* SPDX-License-Identifier: GPL-2.0 */
/* What a vGPU is to get, as several commands show it. */
#ifndef VGPUCTL_SHARE_H
#define VGPUCTL_SHARE_H

#include "json.h"
#include "table.h"
#include "vgpuctl.h"

#define SHARE_HEADINGS	">GUARANTEE %|>CAP %|>WEIGHT|>FRL SET fps|>FRL fps"

void share_json(struct json *json, const struct vgpu_ctl_instance *inst);
void share_cells(struct table *table, const struct vgpu_ctl_instance *inst);
void share_frl_text(char *text, size_t room, uint32_t fps);
uint64_t share_centi(uint64_t part_ns, uint64_t whole_ns);
void share_cell(struct table *table, uint64_t centi);
const char *share_refusal(const uint8_t *text, int ret, char *room,
			  size_t bytes);

#endif /* VGPUCTL_SHARE_H */
