// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/vgpu/<gpu>/partitions: the mode, and a line for each partition and for each
 * profile. To be written with CAP_SYS_ADMIN: "mode on", "mode off", "create PROFILE [START]",
 * "remove NUMBER". The log has the reason of a refusal.
 */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../core.h"

#define DIVISION_LINE	32
#define DIVISION_USAGE	"expected mode on|off, create PROFILE [START], or remove NUMBER"

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
		seq_printf(m, "partition %u: %s, start_mb %u, size_mb %u, vgpus %u\n",
			   parts.at[i]->id, parts.at[i]->profile->name,
			   parts.at[i]->start_gb * 1024,
			   parts.at[i]->placement.region_gb * 1024, nr[i]);
	vgpu_partitions_put(&parts);
	show_profiles(m, &map);
	return 0;
}

static int division_open(struct inode *inode, struct file *file)
{
	return single_open(file, division_show, inode->i_private);
}

static const struct vgpu_profile *find_profile(const char *name, char *why, size_t size)
{
	unsigned int i;
	int len;

	for (i = 0; i < VGPU_PROFILES; i++)
		if (!strcmp(vgpu_profiles[i].name, name))
			return &vgpu_profiles[i];
	len = scnprintf(why, size, "%s: no such profile; there are", name);
	for (i = 0; i < VGPU_PROFILES; i++)
		len += scnprintf(why + len, size - len, " %s", vgpu_profiles[i].name);
	return NULL;
}

/* Does what a line says. Returns 0, or -errno and perhaps the reason in @why. */
static int division_do(struct vgpu_gpu *gpu, char *line, char *why, size_t size)
{
	char *what = strsep(&line, " "), *arg = strsep(&line, " ");
	unsigned int number = VGPU_PROFILE_ANYWHERE;
	const struct vgpu_profile *profile;
	u32 id;

	if (!arg || (line && kstrtouint(line, 10, &number)))
		return -EINVAL;
	if (!strcmp(what, "create")) {
		profile = find_profile(arg, why, size);
		return profile ? vgpu_division_create(gpu, profile, number, &id, why, size) :
		       -EINVAL;
	}
	if (line)
		return -EINVAL;
	if (!strcmp(what, "remove"))
		return kstrtouint(arg, 10, &number) ? -EINVAL :
		       vgpu_division_remove(gpu, number, why, size);
	if (!strcmp(what, "mode") && (!strcmp(arg, "on") || !strcmp(arg, "off")))
		return vgpu_division_set_mode(gpu, !strcmp(arg, "on"), why, size);
	return -EINVAL;
}

static ssize_t division_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct vgpu_gpu *gpu = ((struct seq_file *)file->private_data)->private;
	char line[DIVISION_LINE], why[VGPU_TEXT_LEN] = "";
	int ret = -ENODEV;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, count))
		return -EFAULT;
	line[count] = '\0';
	if (vgpu_gpu_enter(gpu)) {
		ret = division_do(gpu, strim(line), why, sizeof(why));
		vgpu_gpu_leave(gpu);
	}
	if (ret && vgpu_gpu_may_log(gpu))
		dev_notice(gpu->dev, "vgpu: partitions: refused: %s\n",
			   *why ? why : DIVISION_USAGE);
	return ret ?: count;
}

const struct file_operations vgpu_division_fops = {
	.owner = THIS_MODULE,
	.open = division_open,
	.read = seq_read,
	.write = division_write,
	.llseek = seq_lseek,
	.release = single_release,
};
