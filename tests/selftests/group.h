/* SPDX-License-Identifier: GPL-2.0 */
/* Memory cgroups of a test. Calls fail the test if they cannot do what they are for. */
#ifndef GROUP_H
#define GROUP_H

#include <stdint.h>

#include "fixture.h"

#define GROUP_A		"vgpu-test-a"
#define GROUP_B		"vgpu-test-b"

/* A limit that a FILL reaches soon. */
#define GROUP_LIMIT	(48 * FX_MIB)
/* What is charged beside framebuffer, at most: tables, the vGPU's own structures. */
#define GROUP_OTHER	(8 * FX_MIB)

/* Writes a file of the group; 0 or a negative errno. */
int group_write(const char *group, const char *file, const char *text);

/* The number in a file of the group, behind @key unless that is NULL. */
uint64_t group_value(const char *group, const char *file, const char *key);

/* Makes a group without swap; skips the test if there are no memory cgroups. */
void group_make(const char *group, uint64_t limit);

/* This process joins the group, or the root group again. */
void group_enter(const char *group);
void group_leave(void);

/* Opens the device as a member of the group, which is charged for it. */
void group_open(struct fx_vgpu *v, const char *group);

/* No process of the group was killed for want of memory. */
void group_check_alive(const char *group);

/* Waits until less than that is charged: pages go a moment after their last reference. */
void group_wait_below(const char *group, uint64_t bytes);

/* After fx_cleanup(): this process is in none of the groups, and they are gone. */
void group_cleanup(void);

#endif /* GROUP_H */
