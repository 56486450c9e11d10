// SPDX-License-Identifier: GPL-2.0
/* What is done with a vGPU of vgpu_world.h: states are made of it, and tried on it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/container_of.h>

#include "soft/card/instance.h"
#include "state_world.h"
#include "vgpu_world.h"
#include "vgpu_world_guest.h"

static void check_picture(void)
{
	struct soft_instance *inst = container_of(world_queues(), struct soft_instance, queues);
	struct vgpu_scanout s;

	if (!soft_display_scanout(&inst->display, &s))
		return;
	DIE_IF(!s.width || !s.height || s.pitch / 4 < s.width);
	DIE_IF(s.offset > WORLD_FB ||
	       (s.height - 1ULL) * s.pitch + s.width * 4ULL > WORLD_FB - s.offset);
}

/* Loads what was saved, which is never refused. */
static void load_again(const struct vgpu_records *state)
{
	struct vgpu_record_reader from;

	if (!vgpu_world_load(state->data, state->bytes, &from))
		return;
	fprintf(stderr, "record %u, %s: %s\n", from.index, from.record, from.field);
	DIE_IF("what was saved is refused");
}

bool vgpu_world_try(u64 seed, const void *data, size_t bytes)
{
	struct vgpu_records first = {}, second = {};
	struct vgpu_record_reader from;
	u32 index, type;
	int ret;

	vgpu_world_open(seed);
	vgpu_world_submit(seed);
	vgpu_world_run(1 + seed % 3);
	ret = vgpu_world_load(data, bytes, &from);
	DIE_IF(ret && ret != -EINVAL);
	if (!ret) {
		vgpu_world_save(&first);
		load_again(&first);
		vgpu_world_save(&second);
		DIE_IF(!vgpu_records_same(&first, &second, &index, &type));
		check_picture();
		vgpu_world_run(4);
		vgpu_records_free(&second);
		/* What has run since is a state, too. */
		vgpu_world_save(&second);
		load_again(&second);
		vgpu_world_run(2);
		check_picture();
		vgpu_records_free(&first);
		vgpu_records_free(&second);
	} else {
		vgpu_world_reset();
		vgpu_world_submit(seed + 1);
		vgpu_world_run(2);
	}
	vgpu_world_close();
	return !ret;
}

void vgpu_world_make(u64 seed, struct vgpu_records *to)
{
	vgpu_world_open(seed);
	vgpu_world_submit(seed);
	vgpu_world_run(1 + seed % 5);
	vgpu_world_save(to);
	vgpu_world_close();
}
