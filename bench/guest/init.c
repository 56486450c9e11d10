// SPDX-License-Identifier: GPL-2.0
/*
 * First and only process of the VM of the row "attach": uses the device that the VM has, a vGPU or
 * mbochs, says so on the console, and sleeps until its QEMU is ended.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libvgpu.h"

#define MBOCHS		"0000:00:02.0"	/* the only slot that QEMU has given away */
#define WAIT_MS		60000
#define XRES		1234

/* One packet, to its completion. */
static bool use_vgpu(void)
{
	struct vgpu_chan *chan;
	struct vgpu_dev *dev;
	uint64_t fence;
	int engine;

	if (vgpu_dev_open_pci(&dev, NULL))
		return false;
	engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_CE, 0);
	if (engine < 0 || vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, 4, &chan) ||
	    vgpu_chan_fence(chan, &fence) || vgpu_chan_wait(chan, fence, WAIT_MS)) {
		printf("guest: %s\n", vgpu_dev_error(dev));
		return false;
	}
	return true;
}

/* Writes a register of VBE, and reads it back. */
static bool use_mbochs(void)
{
	int fd = open("/sys/bus/pci/devices/" MBOCHS "/enable", O_WRONLY);
	volatile uint16_t *regs;

	if (fd < 0 || write(fd, "1", 1) != 1)
		return false;
	close(fd);
	fd = open("/sys/bus/pci/devices/" MBOCHS "/resource2", O_RDWR);
	if (fd < 0)
		return false;
	regs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (regs == MAP_FAILED)
		return false;
	regs[VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES) / 2] = htole16(XRES);
	return le16toh(regs[VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES) / 2]) == XRES;
}

int main(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sys", "/sys", "sysfs", 0, NULL))
		printf("guest: mount: %s\n", strerror(errno));
	else if (use_vgpu() || use_mbochs())
		printf("guest: attached\n");
	else
		printf("guest: no device: %s; mbochs: %s\n", vgpu_dev_error(NULL), strerror(errno));
	fflush(stdout);
	for (;;)
		pause();
}
