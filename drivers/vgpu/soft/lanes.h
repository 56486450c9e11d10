/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the interpreters executes programs: they are compiled for several instruction sets. */
#ifndef _VGPU_SOFT_LANES_H
#define _VGPU_SOFT_LANES_H

#include "simt/simt.h"

struct dentry;

#define SOFT_PIECE_FIRST	16

/* The chosen one; constant after soft_lanes_init(). */
extern const struct simt_isa *soft_lanes;

int soft_lanes_init(const char *name);
void soft_lanes_debugfs(struct dentry *dir);
enum simt_end soft_lanes_section(struct simt_dispatch *dispatch, u32 *piece, u64 *took_ns);

#endif /* _VGPU_SOFT_LANES_H */
