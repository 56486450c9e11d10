/* SPDX-License-Identifier: GPL-2.0 */
/* Code of this CPU for programs of all GPUs: when it is made, and how much there is. */
#ifndef _VGPU_SOFT_NATIVES_H
#define _VGPU_SOFT_NATIVES_H

#include <linux/types.h>

struct dentry;
struct simt_group;
struct simt_native;
struct soft_program;
struct soft_programs;

/* A program is compiled if a group has so much in struct simt_group.parted. */
#define SOFT_NATIVE_HOT		262144

int soft_natives_init(void);
void soft_natives_exit(void);
void soft_natives_debugfs(struct dentry *dir);
void soft_natives_begin(struct soft_programs *programs);
void soft_natives_stop(struct soft_programs *programs);
const struct simt_native *soft_natives_get(struct soft_programs *programs,
					   struct soft_program *program);

#endif /* _VGPU_SOFT_NATIVES_H */
