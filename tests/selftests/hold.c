// SPDX-License-Identifier: GPL-2.0
/*
 * hold UUID [polite]: opens a vGPU, prints "open" and keeps it open until killed, or, with
 * polite, until VFIO's request interrupt asks to close it; then prints "asked".
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include <libvgpu.h>

#include "irqs.h"

int main(int argc, char **argv)
{
	struct pollfd asked = { .fd = -1, .events = POLLIN };
	struct vgpu_dev *dev;

	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "polite"))) {
		fprintf(stderr, "Usage: hold UUID [polite]\n");
		return 2;
	}
	if (vgpu_dev_open_vfio(&dev, argv[1])) {
		fprintf(stderr, "hold: %s\n", vgpu_dev_error(NULL));
		return 1;
	}
	if (argc == 3) {
		asked.fd = eventfd(0, EFD_CLOEXEC);
		if (asked.fd < 0 || irqs_set_request(dev, asked.fd)) {
			fprintf(stderr, "hold: request irq: %s\n", strerror(errno));
			return 1;
		}
	}
	/* A page of the device is mapped, so that more than a descriptor refers to it. */
	*(volatile unsigned int *)dev->fb = 1;
	puts("open");
	fflush(stdout);
	while (poll(&asked, 1, -1) < 0 && errno == EINTR)
		;
	puts("asked");
	fflush(stdout);
	vgpu_dev_close(dev);
	return 0;
}
