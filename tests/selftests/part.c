// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "node.h"
#include "part.h"
#include "tune.h"

char part_refusal[VGPU_TEXT_LEN];

int part_try_mode(uint32_t mode)
{
	int ret = node_partition_mode(fx_control(), fx_gpu_id(), mode, part_refusal);

	tune_check_text(ret, part_refusal);
	return ret;
}

void part_mode(bool on)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	if (!gpu.profiles)
		ktap_skip("the GPU cannot be divided");
	CHECK_EQ(part_try_mode(on), 0, "%s", part_refusal);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.partition_mode, on);
}

uint32_t part_profile(const char *name)
{
	struct vgpu_ctl_profile profile;
	uint32_t i;

	for (i = 0; !node_profile(fx_control(), fx_gpu_id(), i, &profile); i++)
		if (!strcmp((char *)profile.name, name))
			return i;
	FAIL("no profile %s", name);
}

int part_try_new(const char *profile, uint32_t start, uint32_t *id)
{
	uint32_t at = start;
	int ret;

	ret = node_partition_create(fx_control(), fx_gpu_id(), part_profile(profile), &at, id,
				    part_refusal);
	tune_check_text(ret, part_refusal);
	if (!ret && start != VGPU_PARTITION_ANYWHERE)
		CHECK_EQ(at, start);
	return ret;
}

uint32_t part_new(const char *profile, uint32_t start)
{
	uint32_t id;

	CHECK_EQ(part_try_new(profile, start, &id), 0, "%s at %u: %s", profile, start,
		 part_refusal);
	CHECK(id, "partition 0");
	return id;
}

int part_try_remove(uint32_t id)
{
	int ret = node_partition_remove(fx_control(), fx_gpu_id(), id, part_refusal);

	tune_check_text(ret, part_refusal);
	return ret;
}

void part_remove(uint32_t id)
{
	CHECK_EQ(part_try_remove(id), 0, "%u: %s", id, part_refusal);
}

unsigned int part_list(uint32_t ids[PART_MANY])
{
	uint32_t count = PART_MANY;

	CHECK_EQ(node_partitions(fx_control(), fx_gpu_id(), ids, &count), 0);
	CHECK(count <= PART_MANY, "%u partitions", count);
	return count;
}

int part_try_read(uint32_t id, struct vgpu_ctl_partition *part)
{
	return node_partition(fx_control(), fx_gpu_id(), id, part);
}

void part_read(uint32_t id, struct vgpu_ctl_partition *part)
{
	CHECK_EQ(part_try_read(id, part), 0, "partition %u", id);
	CHECK_EQ(part->partition, id);
}

uint32_t part_at(const char *profile, uint32_t start)
{
	uint32_t ids[PART_MANY];
	struct vgpu_ctl_partition part;
	unsigned int i, nr = part_list(ids);

	for (i = 0; i < nr; i++) {
		part_read(ids[i], &part);
		if (part.start == start && !strcmp((char *)part.profile, profile))
			return ids[i];
	}
	return 0;
}

uint32_t part_of(const struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	return inst.partition;
}

void part_cleanup(void)
{
	uint32_t ids[PART_MANY], count = PART_MANY;
	char text[VGPU_TEXT_LEN];

	tune_cleanup();
	if (node_partitions(fx_control(), fx_gpu_id(), ids, &count))
		return;
	while (count--)
		node_partition_remove(fx_control(), fx_gpu_id(), ids[count], text);
	node_partition_mode(fx_control(), fx_gpu_id(), VGPU_PARTITION_MODE_OFF, text);
}
