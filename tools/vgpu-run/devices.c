// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <stdio.h>

#include "devices.h"

static void print_directory(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			puts(entry->d_name);
	closedir(dir);
}

void complete_devices(void)
{
	print_directory("/sys/bus/mdev/devices");
	print_directory("/sys/bus/pci/devices");
}
