// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a paused vGPU, put together from what each topic saves. The content of the
 * framebuffer and of channel pages is not in it: that is memory, which stays where it is, or is
 * copied page by page.
 */
#include <linux/vgpu_record.h>

#include "../face/display_state.h"
#include "../face/regs_state.h"
#include "../work/program_state.h"
#include "instance.h"
#include "state.h"

/**
 * soft_state_save() - struct vgpu_gpu_ops.state_save
 * @vgpu: the vGPU, paused
 * @to: add the records there
 * Context: as the op's.
 * Return: 0, or the error of @to.
 */
int soft_state_save(struct vgpu_instance *vgpu, struct vgpu_records *to)
{
	struct soft_instance *inst = soft_instance(vgpu);
	struct soft_queues *queues = &inst->queues;

	mutex_lock(&queues->config_lock);
	soft_regs_save(queues, to);
	soft_display_save(&inst->display, to);
	soft_program_save_all(queues, to);
	soft_channel_save_all(queues, to);
	mutex_unlock(&queues->config_lock);
	return to->error;
}

static int soft_state_load_all(struct soft_instance *inst, struct vgpu_record_reader *from)
{
	struct soft_queues *queues = &inst->queues;

	return soft_regs_load(queues, from) ?:
	       soft_display_load(&inst->display, from) ?:
	       soft_program_load_all(&inst->work.compute, from) ?:
	       soft_channel_load_all(queues, from);
}

/**
 * soft_state_load() - struct vgpu_gpu_ops.state_load
 * @vgpu: the vGPU, paused
 * @from: the records
 * Context: as the op's.
 * Return: 0; -EINVAL or -ENOMEM: then the vGPU must be reset.
 */
int soft_state_load(struct vgpu_instance *vgpu, struct vgpu_record_reader *from)
{
	struct soft_instance *inst = soft_instance(vgpu);
	struct soft_queues *queues = &inst->queues;
	int ret;

	mutex_lock(&queues->config_lock);
	soft_channel_leave_all(queues);
	soft_programs_drop(&inst->work.compute.programs);
	ret = soft_state_load_all(inst, from);
	soft_program_load_end(&inst->work.compute);
	mutex_unlock(&queues->config_lock);
	if (!ret)
		soft_channel_announce_all(queues);
	return ret;
}
