// SPDX-License-Identifier: GPL-2.0
#include "../settings/share_rules.h"
#include "place_rules.h"

/**
 * vgpu_place_room() - count the instances that have a place in a partition, and their guarantee
 * @p:          the partition's framebuffer
 * @guarantees: sum of the guarantees of its instances, per mille
 * @size_gb:    framebuffer of each new instance in GiB
 *
 * Return: how many more instances can be created there in a row.
 */
unsigned int vgpu_place_room(const struct vgpu_placement *p, u32 guarantees, u32 size_gb)
{
	return vgpu_share_room(guarantees, size_gb, p->region_gb,
			       vgpu_placement_available(p, size_gb));
}

/**
 * vgpu_place_offer() - offer a partition to a new instance
 * @choice:     the best partition so far
 * @p:          framebuffer of the next one, in the order of their creation
 * @guarantees: sum of the guarantees of its instances, per mille
 * @size_gb:    framebuffer of the new instance in GiB
 *
 * An instance goes into the partition with the least free framebuffer that has room for it. If none
 * has, it is refused by what is short in the one with the most. Of equal ones the oldest is taken.
 *
 * Return: true if this partition is the best one now.
 */
bool vgpu_place_offer(struct vgpu_place_choice *choice, const struct vgpu_placement *p,
		      u32 guarantees, u32 size_gb)
{
	unsigned int room = vgpu_place_room(p, guarantees, size_gb);
	u32 free_gb = vgpu_placement_free_gb(p);
	bool better;

	if (!choice->offered)
		better = true;
	else if (!room != !choice->room)
		better = room;
	else
		better = room ? free_gb < choice->free_gb : free_gb > choice->free_gb;
	if (better)
		*choice = (struct vgpu_place_choice){ true, room, free_gb };
	return better;
}
