/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of address spaces have: a vGPU, one address space on it, a channel, guest memory. */
#ifndef SPACE_H
#define SPACE_H

#include "fixture.h"

/* Those of the test that runs; a test creates what it needs of them. */
extern struct fx_vgpu v;
extern struct vgpu_space *space;
extern struct vgpu_chan *chan;
extern struct vgpu_buf buf;

/* For KTAP_MAIN(): fx_cleanup() with all of these. */
void space_cleanup(void);

#endif /* SPACE_H */
