/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the interpreters executes programs: they are compiled for several instruction sets. */
#ifndef _VGPU_SOFT_LANES_H
#define _VGPU_SOFT_LANES_H

#include <linux/time64.h>

#include "../simt/simt.h"

struct dentry;

/*
 * Preemption is off for so long, and until the clock is read once more: after a piece, or after
 * SIMT_APART_MOST accesses by lanes that access separate places.
 */
#define SOFT_SECTION_NS		(50 * NSEC_PER_USEC)

/*
 * Instructions between two looks at the clock: at first, and at most in programs without and
 * with slow instructions, see struct soft_program. Fewer where there is no time for so many.
 */
#define SOFT_PIECE_FIRST	16
#define SOFT_PIECE_MOST		256
#define SOFT_PIECE_MOST_SLOW	16

/* The chosen one; constant after soft_lanes_init(). */
extern const struct simt_isa *soft_lanes;

int soft_lanes_init(const char *name);
void soft_lanes_debugfs(struct dentry *dir);
enum simt_end soft_lanes_section(struct simt_group *group, u32 *piece, bool slow, u64 end_ns,
				 const bool *leave, u64 *took_ns);
bool soft_lanes_looked(u32 *looks, u64 end_ns);

#endif /* _VGPU_SOFT_LANES_H */
