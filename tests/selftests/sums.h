/* SPDX-License-Identifier: GPL-2.0 */
/* A dispatch that ends when it may, and whose results are right only if it went on as it began. */
#ifndef SUMS_H
#define SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"

/*
 * Begins it on a new channel, with @items work-items in a group, of @stack bytes each; returns when
 * an engine is at it. It takes @rounds rounds, and then waits for sums_let_end() or sums_check().
 */
struct vgpu_chan *sums_begin(struct fx_vgpu *v, uint32_t items, uint32_t stack, uint32_t rounds);

/* All packets of the channel are done. */
bool sums_over(const struct vgpu_chan *chan);

/* From here on it ends by itself. */
void sums_let_end(struct vgpu_chan *chan);

/* Lets it end, waits for that, and checks what the work-items have written. */
void sums_check(struct vgpu_chan *chan, uint32_t items, uint32_t rounds);

#endif /* SUMS_H */
