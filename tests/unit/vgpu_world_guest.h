/* SPDX-License-Identifier: GPL-2.0 */
/* The guest of vgpu_world.h: its memory, and the packets that it submits. */
#ifndef VGPU_WORLD_GUEST_H
#define VGPU_WORLD_GUEST_H

#include <linux/types.h>

#define WORLD_FB	(4u << 20)
#define WORLD_SYS	(1u << 18)	/* guest memory, from address 0 */
#define WORLD_CHANNELS	7

#define WORLD_LOOK_NS	10000	/* what passes from one look at the clock to the next */

struct soft_engine;
struct soft_queues;

/* Of vgpu_world.c: the channels, and what is in memory. */
struct soft_queues *world_queues(void);
void *world_at(u64 offset);
u8 *world_sys(void);

/* Of vgpu_world_team.c: gr has helpers. */
void world_team_init(struct soft_engine *engine);

/* Page tables, programs and their heads. */
void guest_fill_memory(u64 seed);

/* Enables the channels that are not enabled, and fills their rings at random. */
void guest_submit(u64 seed);

#endif /* VGPU_WORLD_GUEST_H */
