/* SPDX-License-Identifier: GPL-2.0 */
/* Memory cgroups for a test, with a limit each. */
#ifndef GROUP_H
#define GROUP_H

#include <stdint.h>

#include "fixture.h"

#define GROUP_A		"vgpu-test-a"
#define GROUP_B		"vgpu-test-b"

#define GROUP_LIMIT	(48 * FX_MIB)
/* What is charged beside framebuffer: tables, the vGPU's own structures. */
#define GROUP_OTHER	(8 * FX_MIB)

int group_write(const char *group, const char *file, const char *text);
uint64_t group_value(const char *group, const char *file, const char *key);
void group_make(const char *group, uint64_t limit);
void group_enter(const char *group);
void group_leave(void);
void group_open(struct fx_vgpu *who, const char *group);
void group_check_alive(const char *group);
void group_wait_below(const char *group, uint64_t bytes);

/* After fx_cleanup(): this process is in none of the groups, and they are gone. */
void group_cleanup(void);

#endif /* GROUP_H */
