/* SPDX-License-Identifier: GPL-2.0 */
/* When an engine is to leave its work. */
#ifndef _VGPU_SOFT_STOP_H
#define _VGPU_SOFT_STOP_H

#include <linux/types.h>

struct soft_channel;
struct soft_engine;

bool soft_stop_told(struct soft_engine *engine);
bool soft_stop_wanted(struct soft_engine *engine, const struct soft_channel *ch, u32 work);
u64 soft_stop_clock(struct soft_engine *engine);
void soft_stop_hang(struct soft_engine *engine);

#endif /* _VGPU_SOFT_STOP_H */
