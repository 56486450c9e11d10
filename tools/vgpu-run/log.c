// SPDX-License-Identifier: GPL-2.0
/* What the kernel prints, while it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

enum exit_code log_open(struct run *run)
{
	run->log_fd = run->options->json ? STDERR_FILENO : STDOUT_FILENO;
	run->log_room = open_memstream(&run->log_text, &run->log_bytes);
	return run->log_room ? EXIT_OK : fail("out of memory");
}

enum exit_code log_close(struct run *run)
{
	if (run->log_room)
		fclose(run->log_room);
	free(run->log_text);
	if (!run->log_errno)
		return EXIT_OK;
	return fail("standard %s: %s", run->options->json ? "error" : "output",
		    strerror(run->log_errno));
}

/* Unlike stdio it does not go on to wait for a reader when a signal has come. */
static void put(struct run *run, const char *text, size_t bytes)
{
	ssize_t n;

	while (bytes && !run->log_errno && !signals_caught()) {
		n = write(run->log_fd, text, bytes);
		/* A pipe without a reader is a signal, too, unless that is ignored. */
		if (n < 0 && errno != EINTR && !signals_caught())
			run->log_errno = errno;
		if (n > 0) {
			text += n;
			bytes -= (size_t)n;
		}
	}
}

bool log_print(struct run *run)
{
	unsigned int records;

	rewind(run->log_room);
	records = vgpu_log_print(run->dev, run->log, run->elf, run->log_room, &run->lost);
	if (fflush(run->log_room))
		run->log_errno = errno;
	else
		put(run, run->log_text, run->log_bytes);
	return records;
}
