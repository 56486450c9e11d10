// SPDX-License-Identifier: GPL-2.0
/* Text on the console, and what the kernel has made of it in the console's framebuffer. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "display.h"
#include "picture.h"

#define BAND	16	/* rows per checksum: a line of text */

bool text_show(const char *word)
{
	FILE *tty = fopen("/dev/tty1", "w");
	int c;

	if (!tty)
		return failed("/dev/tty1: %s", strerror(errno));
	/* Colours as they are by default, an empty screen, and no cursor, which would blink. */
	fprintf(tty, "\033[0m\033[2J\033[H\033[?25l");
	fprintf(tty, "This guest's word is %s.\n\n", word);
	for (c = ' '; c <= '~'; c++)
		putc(c, tty);
	fprintf(tty, "\n\nThe word, once more and further right: %s\n", word);
	if (fclose(tty))
		return failed("/dev/tty1: %s", strerror(errno));
	return true;
}

/* Says the checksums of all bands of a framebuffer that read() has put at @at. */
static void report(const uint8_t *at, uint32_t width, uint32_t height, size_t pitch)
{
	char text[16 * 256] = "";
	uint32_t crc = 0, y;
	size_t len = 0;

	for (y = 0; y < height; y++) {
		crc = picture_crc(crc, (const uint32_t *)(at + y * pitch), width);
		if ((y + 1) % BAND && y + 1 != height)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %08x", crc);
		crc = 0;
	}
	say("screen %u %u%s", width, height, text);
}

static bool read_all(int fd, uint8_t *at, size_t bytes)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes) {
		n = read(fd, at + done, bytes - done);
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool text_report(const char *pci)
{
	struct fb_var_screeninfo var;
	struct fb_fix_screeninfo fix;
	char name[32], path[64];
	uint8_t *at = NULL;
	bool ok = false;
	size_t bytes;
	int fd;

	if (!node_find(name, sizeof(name), pci, "graphics", "fb"))
		return false;
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FBIOGET_VSCREENINFO, &var) ||
	    ioctl(fd, FBIOGET_FSCREENINFO, &fix)) {
		failed("%s: %s", path, strerror(errno));
		goto out;
	}
	if (var.bits_per_pixel != 32 || var.xoffset || var.yoffset || var.yres > 4096) {
		failed("%s: %u bits per pixel, %u rows, at %u,%u", path, var.bits_per_pixel,
		       var.yres, var.xoffset, var.yoffset);
		goto out;
	}
	bytes = (size_t)fix.line_length * var.yres;
	at = malloc(bytes);
	if (!at || !read_all(fd, at, bytes)) {
		failed("%s: cannot read %zu bytes: %s", path, bytes, strerror(errno));
		goto out;
	}
	report(at, var.xres, var.yres, fix.line_length);
	ok = true;
out:
	free(at);
	if (fd >= 0)
		close(fd);
	return ok;
}
