// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define NUMBER_ROOM	4096	/* as long as any file that numbers are looked for in */

int file_write(const char *path, const char *text)
{
	ssize_t n;
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != strlen(text))
		ret = -EIO;
	close(fd);
	return ret;
}

int file_read(const char *path, char *text, size_t room)
{
	ssize_t n;
	int fd, error;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, room - 1);
	error = errno;
	close(fd);
	if (n < 0)
		return -error;
	text[n] = 0;
	return (int)n;
}

int file_number(const char *path, const char *key, uint64_t *value)
{
	char text[NUMBER_ROOM], *at = text, *end;
	int n = file_read(path, text, sizeof(text));

	if (n < 0)
		return n;
	if (key) {
		at = strstr(text, key);
		if (!at)
			return -ENOENT;
		at += strlen(key);
	}
	*value = strtoull(at, &end, 0);
	return end == at ? -EINVAL : 0;
}

pid_t file_find_process(const char *prefix)
{
	char path[300], name[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	dir = opendir("/proc");
	while (dir && !found && (entry = readdir(dir))) {
		if (!isdigit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (file_read(path, name, sizeof(name)) > 0 &&
		    !strncmp(name, prefix, strlen(prefix)))
			found = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}
