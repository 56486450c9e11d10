/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_DEBUGFS_H
#define _SHIM_LINUX_DEBUGFS_H

#include <linux/seq_file.h>
#include <linux/types.h>

/* A directory, whose files are written to @file when they are made. */
struct dentry {
	FILE *file;
};

struct file_operations {
	int (*show)(struct seq_file *m, void *unused);
};

#define DEFINE_SHOW_ATTRIBUTE(name)					\
	static const struct file_operations name##_fops = {		\
		.show = name##_show,					\
	}

static inline void debugfs_create_file(const char *name, int mode, struct dentry *dir, void *data,
				       const struct file_operations *fops)
{
	struct seq_file m = { .file = dir->file };

	fops->show(&m, data);
}

/* Nobody here reads numbers. */
static inline void debugfs_create_u32(const char *name, int mode, struct dentry *dir, u32 *value)
{
	(void)value;
}

#endif /* _SHIM_LINUX_DEBUGFS_H */
