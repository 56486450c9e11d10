// SPDX-License-Identifier: GPL-2.0
/* What the host tells the guest: lines on the second serial port. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "guest.h"

#define PORT	"/ttyS1"

int tell_open(void)
{
	struct termios raw;
	int fd;

	if (mknod(PORT, S_IFCHR | 0600, makedev(4, 65)) && errno != EEXIST)
		goto err;
	fd = open(PORT, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || tcgetattr(fd, &raw))
		goto err;
	cfmakeraw(&raw);
	raw.c_cflag |= CLOCAL;
	if (!tcsetattr(fd, TCSANOW, &raw))
		return fd;
err:
	failed("%s: %s", PORT, strerror(errno));
	return -1;
}

bool tell_wait(int fd, unsigned int seconds)
{
	uint64_t end = clk_ns() + seconds * 1000000000ull, now;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char c = 0;

	while (c != '\n') {
		now = clk_ns();
		if (now >= end || poll(&poll_fd, 1, (int)((end - now) / 1000000) + 1) <= 0)
			return failed("nobody tells the guest to go on");
		if (read(fd, &c, 1) != 1)
			return failed("%s: %s", PORT, strerror(errno));
	}
	return true;
}

bool tell_over(int fd, uint64_t start, unsigned int seconds, bool *ok)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char c = 0;

	if (seconds)
		return clk_ns() - start >= seconds * 1000000000ull;
	while (c != '\n') {
		if (!poll(&poll_fd, 1, 0))
			return false;
		if (read(fd, &c, 1) != 1) {
			*ok = failed("%s: %s", PORT, strerror(errno));
			break;
		}
	}
	return true;
}
