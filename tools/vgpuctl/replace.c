// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

enum exit_code replace_file(const char *path, mode_t mode,
			    void (*write)(FILE *out, const void *arg), const void *arg)
{
	char *name = NULL;
	bool good;
	FILE *file;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		out_of_memory();
	fd = mkstemp(name);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	good = file;
	if (file) {
		write(file, arg);
		good = !ferror(file) && !fflush(file) && !fchmod(fd, mode) && !fsync(fd);
		good = !fclose(file) && good && !rename(name, path);
	}
	if (!good) {
		fail("%s: cannot write it: %s", path, strerror(errno));
		if (fd >= 0)
			unlink(name);
	}
	free(name);
	return good ? EXIT_OK : EXIT_FAILED;
}
