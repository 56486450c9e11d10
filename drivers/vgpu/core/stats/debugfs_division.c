// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/vgpu/<gpu>/partitions: the mode, and a line for each partition and for each
 * profile.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../core.h"

static void show_profiles(struct seq_file *m, const struct vgpu_profile_map *map)
{
	const struct vgpu_profile *profile;
	unsigned int starts, i;

	for (profile = vgpu_profiles; profile < vgpu_profiles + VGPU_PROFILES; profile++) {
		starts = vgpu_profile_fits(map, profile);
		seq_printf(m, "%s: %u MiB, fits at", profile->name,
			   vgpu_profile_size_gb(profile, map->region_gb) * 1024);
		for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++)
			if (starts & BIT(i))
				seq_printf(m, " %u", i);
		seq_putc(m, '\n');
	}
}

static int division_show(struct seq_file *m, void *unused)
{
	struct vgpu_gpu *gpu = m->private;
	unsigned int nr[VGPU_PARTITIONS_MAX], i;
	struct vgpu_profile_map map;
	struct vgpu_partitions parts;
	bool on;

	raw_spin_lock(&gpu->data_lock);
	on = gpu->division.on;
	map = gpu->division.map;
	vgpu_partitions_get_locked(gpu, &parts);
	for (i = 0; i < parts.nr; i++)
		nr[i] = parts.at[i]->placement.nr;
	raw_spin_unlock(&gpu->data_lock);
	seq_printf(m, "mode: %s\n", on ? "on" : "off");
	for (i = 1; i < parts.nr; i++)
		seq_printf(m, "partition %u: %s, start_mb %u, size_mb %u, vgpus %u, slots_us %u+%u\n",
			   parts.at[i]->id, parts.at[i]->profile->name,
			   parts.at[i]->start_gb * 1024,
			   parts.at[i]->placement.region_gb * 1024, nr[i],
			   parts.at[i]->clock.begin_ns / 1000, parts.at[i]->clock.length_ns / 1000);
	vgpu_partitions_put(&parts);
	show_profiles(m, &map);
	return 0;
}

static int division_open(struct inode *inode, struct file *file)
{
	return single_open(file, division_show, inode->i_private);
}

const struct file_operations vgpu_division_fops = {
	.owner = THIS_MODULE,
	.open = division_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};
