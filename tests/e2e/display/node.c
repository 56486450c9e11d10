// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "display.h"

void node_path(char *path, size_t len, const char *pci, const char *file)
{
	snprintf(path, len, "/sys/bus/pci/devices/%s/%s", pci, file);
}

bool node_find(char *entry, size_t len, const char *pci, const char *dir, const char *name)
{
	const struct dirent *found;
	char path[256];
	bool ok = false;
	DIR *d;

	node_path(path, sizeof(path), pci, dir);
	d = opendir(path);
	if (!d)
		return failed("%s: %s", path, strerror(errno));
	while (!ok && (found = readdir(d))) {
		ok = !strncmp(found->d_name, name, strlen(name));
		if (ok)
			snprintf(entry, len, "%s", found->d_name);
	}
	closedir(d);
	return ok || failed("no %s in %s", name, path);
}

bool node_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return failed("%s: %s", path, strerror(errno));
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!ok)
		failed("%s: %s", path, strerror(errno));
	close(fd);
	return ok;
}

void *node_map(const char *pci, unsigned int bar, size_t max, size_t *bytes)
{
	char path[256], file[16];
	void *at = MAP_FAILED;
	struct stat st;
	int fd;

	snprintf(file, sizeof(file), "resource%u", bar);
	node_path(path, sizeof(path), pci, file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st)) {
		*bytes = (size_t)st.st_size < max ? (size_t)st.st_size : max;
		at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (at == MAP_FAILED)
		failed("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}
