// SPDX-License-Identifier: GPL-2.0
/* What the kernel prints, while it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "utf8.h"

enum exit_code log_open(struct run *run)
{
	run->log_fd = run->options->json ? STDERR_FILENO : STDOUT_FILENO;
	run->log_shown = isatty(run->log_fd);
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

static size_t shown_length(const char *text, size_t room)
{
	return *text == '\n' || *text == '\t' ? 1 :
		utf8_shown_length((const unsigned char *)text, room);
}

/* What a terminal would obey, or not show, becomes numbers: the program may be anybody's. */
static void put_shown(struct run *run, const char *text, size_t bytes)
{
	char number[8];
	size_t n, more;

	while (bytes) {
		for (n = 0; n < bytes; n += more) {
			more = shown_length(text + n, bytes - n);
			if (!more)
				break;
		}
		put(run, text, n);
		text += n;
		bytes -= n;
		if (!bytes)
			return;
		snprintf(number, sizeof(number), "\\x%02x", (unsigned char)*text);
		put(run, number, strlen(number));
		text++;
		bytes--;
	}
}

bool log_print(struct run *run)
{
	unsigned int records;

	rewind(run->log_room);
	records = vgpu_log_print(run->dev, run->log, run->elf, run->log_room, &run->lost);
	if (fflush(run->log_room))
		run->log_errno = errno;
	else if (run->log_shown)
		put_shown(run, run->log_text, run->log_bytes);
	else
		put(run, run->log_text, run->log_bytes);
	return records;
}
