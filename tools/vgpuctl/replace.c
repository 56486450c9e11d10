// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"

/*
 * May a new file take this place? Not that of /dev/null or of a pipe, nor that of a link, such as
 * /dev/stdout: the link would be gone, and what it leads to would stay as it is.
 */
static bool is_place(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return true;
	fail("%s: is there and no regular file; without --file standard output is written", path);
	return false;
}

/* Writes the file and closes it. Returns 0 or the errno of what went wrong first. */
static int fill(FILE *file, mode_t mode, void (*write)(FILE *out, const void *arg),
		const void *arg)
{
	int error = 0;

	errno = 0;
	write(file, arg);
	if (ferror(file) || fflush(file) || fchmod(fileno(file), mode) || fsync(fileno(file)))
		error = errno ? errno : EIO;
	if (fclose(file) && !error)
		error = errno;
	return error;
}

enum exit_code replace_file(const char *path, mode_t mode,
			    void (*write)(FILE *out, const void *arg), const void *arg)
{
	char *name = NULL;
	int fd, error;
	FILE *file;

	if (!is_place(path))
		return EXIT_FAILED;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		out_of_memory();
	fd = mkstemp(name);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	error = file ? fill(file, mode, write, arg) : errno;
	if (!error && rename(name, path))
		error = errno;
	if (error) {
		fail("%s: cannot write it: %s", path, strerror(error));
		if (fd >= 0)
			unlink(name);
	}
	free(name);
	return error ? EXIT_FAILED : EXIT_OK;
}
