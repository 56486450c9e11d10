// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include "file.h"
#include "soft.h"

#define DEBUGFS		"/sys/kernel/debug"

int soft_path(const char *gpu, const char *engine, const char *name, char *path, size_t room)
{
	glob_t found;

	if (access(DEBUGFS "/vgpu_soft", F_OK))
		mount("none", DEBUGFS, "debugfs", 0, NULL);
	snprintf(path, room, DEBUGFS "/vgpu_soft/%s/%s/%s", gpu ? gpu : "*", engine, name);
	if (glob(path, 0, NULL, &found))
		return -ENOENT;
	snprintf(path, room, "%s", found.gl_pathv[0]);
	globfree(&found);
	return 0;
}

int soft_counter(const char *gpu, const char *engine, const char *name, uint64_t *value)
{
	char path[256];
	int ret = soft_path(gpu, engine, name, path, sizeof(path));

	return ret ? ret : file_number(path, NULL, value);
}

int soft_hang(const char *gpu, const char *engine, unsigned int type)
{
	char path[256], text[16];
	int ret = soft_path(gpu, engine, "hang", path, sizeof(path));

	snprintf(text, sizeof(text), "%u", type);
	return ret ? ret : file_write(path, text);
}
