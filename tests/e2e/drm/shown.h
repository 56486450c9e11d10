/* SPDX-License-Identifier: GPL-2.0 */
/* Surfaces that tests show by PRESENT. */
#ifndef E2E_DRM_SHOWN_H
#define E2E_DRM_SHOWN_H

#include "node.h"

#define PITCH		4096u
#define WIDTH		(PITCH / 4)
#define HEIGHT		768u
#define SURFACE		((uint64_t)PITCH * HEIGHT)

/* As the tests of eviction have it: the guest has less memory than framebuffer. */
#define SMALL_MIB	64
#define SMALL		"job_timeout_ms=20000 fb_limit_mb=64"

struct vgpu_hw_packet packet_present(uint64_t va, uint32_t height);

/* Shows rows of WIDTH pixels. As exec_wait(). */
int present(int fd, uint32_t queue, uint64_t va, uint32_t height);

#endif /* E2E_DRM_SHOWN_H */
