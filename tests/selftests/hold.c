// SPDX-License-Identifier: GPL-2.0
/*
 * hold UUID [polite]: opens a vGPU, says "open" and holds it until killed, or,
 * if polite, until VFIO's request interrupt asks to let go.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <libvgpu.h>
#include <linux/vfio.h>

static int ask_by(struct vgpu_dev *dev, int fd)
{
	union {
		struct vfio_irq_set set;
		char bytes[sizeof(struct vfio_irq_set) + sizeof(int)];
	} u = { .set = {
		.argsz = sizeof(u),
		.flags = VFIO_IRQ_SET_DATA_EVENTFD |
			 VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_REQ_IRQ_INDEX,
		.count = 1,
	} };

	memcpy(u.bytes + sizeof(u.set), &fd, sizeof(fd));
	return ioctl(dev->fd, VFIO_DEVICE_SET_IRQS, &u);
}

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
		if (asked.fd < 0 || ask_by(dev, asked.fd)) {
			fprintf(stderr, "hold: request irq: %s\n",
				strerror(errno));
			return 1;
		}
	}
	/* So that it is more than a descriptor: a page of it is mapped. */
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
