// SPDX-License-Identifier: GPL-2.0
/*
 * Shows a picture and works until the host wants the vGPU back, then lets go of it: as a guest with
 * a driver for PCI Express hotplug does when the slot's button is pressed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define PCI_CAP_POINTER		0x34
#define PCI_CAP_EXPRESS		0x10
#define EXPRESS_SLOT_CTL	0x18
#define SLOT_CTL_POWER_OFF	0x0700	/* indicator off, power off */
#define EXPRESS_SLOT_STATUS	0x1a
#define SLOT_STATUS_BUTTON	0x0001

/* Opens the configuration space of the port above a function. */
static int open_port(const char *address)
{
	char path[256], real[4096], *slash;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", address);
	if (!realpath(path, real))
		return -1;
	slash = strrchr(real, '/');
	if (!slash || strlen(real) > sizeof(real) - 16)
		return -1;
	strcpy(slash, "/config");
	return open(real, O_RDWR | O_CLOEXEC);
}

static int read8(int fd, off_t at)
{
	uint8_t value = 0;

	return pread(fd, &value, 1, at) == 1 ? value : -1;
}

static int find_express(int fd)
{
	int at = read8(fd, PCI_CAP_POINTER), tries;

	for (tries = 0; at > 0 && tries < 48; tries++) {
		if (read8(fd, at) == PCI_CAP_EXPRESS)
			return at;
		at = read8(fd, at + 1);
	}
	return -1;
}

static const struct surface surface = { .width = 640, .height = 480 };

bool eject_run(struct vgpu_dev *dev, const struct options *options)
{
	uint64_t end = clk_ns() + options->seconds * 1000000000ull;
	uint16_t off = SLOT_CTL_POWER_OFF;
	struct work work;
	uint64_t at;
	int fd, cap, status;

	fd = open_port(dev->name);
	cap = fd < 0 ? -1 : find_express(fd);
	if (cap < 0)
		return failed("%s is not below a PCI Express port", dev->name);
	if (!work_start(&work, dev, VGPU_RING_FB) ||
	    !present_surface(&work, &surface, options->seed))
		return false;
	if (vgpu_fb_alloc(dev, MIB, MIB, &at))
		return failed("memory: %s", vgpu_dev_error(dev));
	say("working: until the slot's button is pressed");
	do {
		if (!work_fill(&work, 0, VGPU_FB(at), 1, MIB) || !work_wait(&work, 0))
			return false;
		status = read8(fd, cap + EXPRESS_SLOT_STATUS);
		if (clk_ns() > end)
			return failed("nobody asked");
	} while (!(status & SLOT_STATUS_BUTTON));
	say("button pressed");
	work_stop(&work);
	if (pwrite(fd, &off, sizeof(off), cap + EXPRESS_SLOT_CTL) != sizeof(off))
		return failed("cannot switch the slot off");
	say("slot switched off");
	close(fd);
	/* The host ends this machine, so that QEMU gives the vGPU back before the guest ends. */
	clk_sleep_ns(options->seconds * 1000000000ull);
	return true;
}
