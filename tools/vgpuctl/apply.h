/* SPDX-License-Identifier: GPL-2.0 */
/* What apply does to the partitions of GPUs. */
#ifndef VGPUCTL_APPLY_H
#define VGPUCTL_APPLY_H

#include "json.h"
#include "plan.h"
#include "setting.h"

/*
 * Sets modes, creates partitions and sets them. What was done is noted in the plan, and
 * apply_parts_undo() takes it back; the partitions must have no vGPUs by then.
 */
enum exit_code apply_parts(int fd, struct plan *plan);
void apply_parts_undo(int fd, struct plan *plan);

/* Is anything to be done to the GPU's partitions? */
bool apply_parts_any(const struct plan_gpu *gpu);

/* Print what. The keys go to an object that is open. */
void apply_parts_text(const struct plan_gpu *gpu);
void apply_parts_json(struct json *json, const struct plan_gpu *gpu);

/* The keys "set" and "was" of settings that differ; @read: NULL: it was not there. */
void apply_difference_json(struct json *json, const struct setting_table *table, uint32_t changed,
			   const void *set, const void *read);

#endif /* VGPUCTL_APPLY_H */
