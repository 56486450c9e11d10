/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of libvgpu on a render node share: the device, open, and a look at what is left. */
#ifndef NODE_RIG_H
#define NODE_RIG_H

#include "node_kernel.h"

#define NODE_NAME	"renderD129"
#define NODE_PATH	"/dev/dri/" NODE_NAME
#define NODE_ORDER	VGPU_HW_RING_ORDER_MIN
#define NODE_CE		0
#define NODE_GR		1

extern struct vgpu_dev *node_dev;
extern struct vgpu_elf node_elf;

/* Around a test: opens the device; closes it, and fails if the test has left anything in it. */
int node_setup(void **state);
int node_teardown(void **state);

/* Opens and closes it in the middle. */
void node_open(void);
void node_shut(void);

/* What the text of the last error must have in it. */
void node_says(const char *text);

/* Waits for all that was submitted. */
void node_finish(struct vgpu_chan *chan);

/* Makes a channel on an engine, in an address space or (NULL) without. */
struct vgpu_chan *node_channel(struct vgpu_space *space, uint32_t engine);

/*
 * Dispatches once, of @items work-items, in @space or without. Returns what the wait has returned;
 * *@results is the page that work-items write to.
 */
int node_run(struct vgpu_space *space, struct vgpu_chan *chan, uint32_t items, uint32_t **results);

#define NODE_TEST(name)	cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

#endif /* NODE_RIG_H */
