/* SPDX-License-Identifier: GPL-2.0 */
/* Events read from /dev/vgpu. Each call fails the test if it cannot do what it is for. */
#ifndef EVENT_H
#define EVENT_H

#include <stdint.h>

#include <linux/vgpu.h>

/*
 * A file descriptor from which records of the size of struct vgpu_ctl_event can be read
 * without blocking: of what happens from now on. The caller closes it.
 */
int event_open(void);

/* From here on event_next() finds what happens; event_cleanup() ends that. */
void event_begin(void);

/* The next event of @type (VGPU_EVENT_*) since event_begin(); passes over all other events. */
void event_next(uint32_t type, struct vgpu_ctl_event *event);

void event_cleanup(void);

#endif /* EVENT_H */
