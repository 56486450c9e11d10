/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of ordinary users in a guest that moves to another QEMU: vgpu-samples, one sample after
 * the other, and one that draws in the guest's memory, has that copied to the framebuffer, and
 * shown by root.
 */
#ifndef E2E_DRM_MOVED_H
#define E2E_DRM_MOVED_H

#include "shown.h"

#define MOVED_USERS	3
#define MOVED_WIDTH	WIDTH
#define MOVED_HEIGHT	192u
#define MOVED_SURFACE	((uint64_t)PITCH * MOVED_HEIGHT)
#define MOVED_LOOK_S	600

/**
 * struct moved_users - what the users' processes share with who has started them
 * @stop:     they shall end
 * @dmabuf:   surfaces of who draws, as files of that process
 * @samples:  that were right
 * @pictures: that were shown
 * @seed:     of the last one
 * @pid:      of the processes
 */
struct moved_users {
	bool stop;
	int dmabuf[2];
	uint64_t samples;
	uint64_t pictures;
	uint32_t seed;
	pid_t pid[MOVED_USERS];
};

struct moved_users *moved_users_begin(void);

/* None of them has found anything wrong so far. */
bool moved_users_are_well(const struct moved_users *users);

/* Ends them; the last picture stays on the screen. Returns whether all was right. */
bool moved_users_end(struct moved_users *users);

#endif /* E2E_DRM_MOVED_H */
