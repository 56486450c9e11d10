/* SPDX-License-Identifier: GPL-2.0 */
/* Engines that are reset since a packet never ended: what counts towards quarantine. */
#ifndef HANG_H
#define HANG_H

#include "fixture.h"

/* The next NOP that the engine takes, of whichever channel, never ends. Skips without debugfs. */
void hang_inject(uint32_t engine);

/* A packet of @chan never ends; returns when its engine has been reset, and @chan has faulted. */
void hang_once(struct vgpu_chan *chan);

#endif /* HANG_H */
