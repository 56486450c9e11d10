/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that dispatches have begun with, as records. */
#ifndef _VGPU_SOFT_PROGRAM_STATE_H
#define _VGPU_SOFT_PROGRAM_STATE_H

#include <linux/types.h>

struct soft_compute;
struct soft_queues;
struct vgpu_record_reader;
struct vgpu_records;

void soft_program_save_all(struct soft_queues *queues, struct vgpu_records *to);
int soft_program_load_all(struct soft_compute *compute, struct vgpu_record_reader *from);
void soft_program_load_end(struct soft_compute *compute);

#endif /* _VGPU_SOFT_PROGRAM_STATE_H */
