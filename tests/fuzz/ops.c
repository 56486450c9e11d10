// SPDX-License-Identifier: GPL-2.0
/* Misuse of a vGPU through VFIO: ioctls, regions, mappings, memory, files. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "fuzz.h"

#define OPS_BYTES	8192

/* Mostly @buf; else memory that is not there, ends at a page that is not there, or is a BAR. */
static void *ops_pointer(struct fuzz_life *life, struct rng *rng, void *buf)
{
	switch (rng_below(rng, 12)) {
	case 0:
		return (void *)(uintptr_t)fuzz_value(rng);
	case 1:
		return life->cpu + FUZZ_CPU_BYTES - rng_below(rng, 64);
	case 2:
		return life->dev->fb + rng_below(rng, life->dev->fb_bytes);
	default:
		return buf;
	}
}

void fuzz_op_ioctl(struct fuzz_life *life, struct rng *rng)
{
	static const unsigned long command[] = {
		VFIO_DEVICE_GET_INFO, VFIO_DEVICE_GET_REGION_INFO,
		VFIO_DEVICE_GET_IRQ_INFO, VFIO_DEVICE_SET_IRQS,
		VFIO_DEVICE_GET_PCI_HOT_RESET_INFO, VFIO_DEVICE_PCI_HOT_RESET,
		VFIO_DEVICE_QUERY_GFX_PLANE, VFIO_DEVICE_GET_GFX_DMABUF,
		VFIO_DEVICE_IOEVENTFD, VFIO_DEVICE_FEATURE,
	};
	uint64_t words[OPS_BYTES / 8];
	uint32_t argsz = (uint32_t)rng_below(rng, 256), index;
	int fd = life->dev->fd;

	memset(words, 0, sizeof(words));
	if (fuzz_chance(rng, 50))
		fuzz_bytes(rng, words, 256);
	if (fuzz_chance(rng, 20))
		argsz = (uint32_t)fuzz_value(rng);
	index = fuzz_chance(rng, 80) ? (uint32_t)rng_below(rng, 12) :
				       (uint32_t)fuzz_value(rng);
	memcpy(words, &argsz, 4);
	memcpy((char *)words + 8, &index, 4);
	if (fuzz_chance(rng, 5))
		fd = life->dev->container;
	if (fuzz_chance(rng, 3))
		fd = life->dev->group;
	ioctl(fd, fuzz_chance(rng, 95) ?
	      command[rng_below(rng, sizeof(command) / sizeof(command[0]))] :
	      _IO(VFIO_TYPE, VFIO_BASE + rng_below(rng, 40)),
	      ops_pointer(life, rng, words));
}

void fuzz_op_irqs(struct fuzz_life *life, struct rng *rng)
{
	union {
		struct vfio_irq_set set;
		char bytes[sizeof(struct vfio_irq_set) + 256];
	} u;
	uint32_t i, count = (uint32_t)rng_below(rng, 40);
	int32_t fds[64], made[64];
	unsigned int nr = 0;

	memset(&u, 0, sizeof(u));
	for (i = 0; i < 64; i++) {
		fds[i] = -1;
		if (i < count && fuzz_chance(rng, 60)) {
			fds[i] = eventfd((unsigned int)rng_below(rng, 3),
					 EFD_CLOEXEC | EFD_NONBLOCK);
			if (fds[i] >= 0)
				made[nr++] = fds[i];
		} else if (fuzz_chance(rng, 5)) {
			fds[i] = (int32_t)fuzz_value(rng);
		} else if (fuzz_chance(rng, 5)) {
			fds[i] = life->dev->fd;
		}
	}
	u.set.argsz = sizeof(u);
	u.set.flags = (1u << rng_below(rng, 3)) |
		      (fuzz_chance(rng, 90) ? VFIO_IRQ_SET_ACTION_TRIGGER :
		       8u << rng_below(rng, 3));
	u.set.index = fuzz_chance(rng, 70) ? VFIO_PCI_MSIX_IRQ_INDEX :
					     (uint32_t)rng_below(rng, 7);
	u.set.start = fuzz_chance(rng, 80) ? (uint32_t)rng_below(rng, 34) :
					     (uint32_t)fuzz_value(rng);
	u.set.count = count;
	memcpy(u.bytes + sizeof(u.set), fds, 40 * sizeof(fds[0]));
	if (fuzz_chance(rng, 10))
		fuzz_mutate(rng, &u, sizeof(u));
	ioctl(life->dev->fd, VFIO_DEVICE_SET_IRQS, &u);
	/* The device has references of its own to the eventfds that it took. */
	while (nr--)
		close(made[nr]);
}

void fuzz_op_region(struct fuzz_life *life, struct rng *rng)
{
	static const uint32_t size[] = { 1, 2, 4, 4, 4, 8, 8, 16, 64, 4096, 8192 };
	unsigned int index = (unsigned int)rng_below(rng, VGPU_DEV_REGIONS);
	const struct vgpu_region *region;
	uint64_t words[OPS_BYTES / 8];
	uint64_t offset;
	size_t count;
	void *buf;

	if (fuzz_chance(rng, 60))
		index = VGPU_HW_BAR_REGS;
	region = &life->dev->region[index];
	count = size[rng_below(rng, sizeof(size) / sizeof(size[0]))];
	offset = rng_below(rng, region->bytes) & ~(uint64_t)(count - 1);
	if (index == VGPU_HW_BAR_REGS && fuzz_chance(rng, 50))
		offset = VGPU_HW_DEV_BASE + (rng_below(rng, 0x1900) & ~3ull);
	if (fuzz_chance(rng, 10))
		offset = fuzz_value(rng);
	if (fuzz_chance(rng, 5))
		count = rng_below(rng, OPS_BYTES);
	offset += region->offset;
	words[0] = fuzz_value(rng);
	words[1] = fuzz_value(rng);
	buf = ops_pointer(life, rng, words);
	if (fuzz_chance(rng, 50))
		(void)!pread(life->dev->fd, buf, count, (off_t)offset);
	else
		(void)!pwrite(life->dev->fd, buf, count, (off_t)offset);
}

void fuzz_op_config(struct fuzz_life *life, struct rng *rng)
{
	unsigned int offset = (unsigned int)rng_below(rng, 256);
	uint32_t value = (uint32_t)fuzz_value(rng);
	uint32_t bytes = 1u << rng_below(rng, 3);

	switch (rng_below(rng, 4)) {
	case 0: /* bus mastering and memory, off and on again */
		value = (uint32_t)rng_below(rng, 8);
		vgpu_config_write(life->dev, 4, &value, 2);
		value = 6;
		if (fuzz_chance(rng, 80))
			vgpu_config_write(life->dev, 4, &value, 2);
		break;
	case 1:
		vgpu_config_read(life->dev, offset, &value, bytes);
		break;
	default:
		if (fuzz_chance(rng, 70))
			offset = 0x40 + (unsigned int)rng_below(rng, 0x60);
		vgpu_config_write(life->dev, offset & ~(bytes - 1), &value, bytes);
	}
}

/* Maps a part of a BAR in some way, touches and pins its pages, and unmaps it. */
void fuzz_op_map(struct fuzz_life *life, struct rng *rng)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_DONTFORK, MADV_WILLNEED, MADV_COLD,
		MADV_PAGEOUT, MADV_FREE, MADV_REMOVE, MADV_POPULATE_WRITE,
	};
	/* Mostly framebuffer; else registers, channels, the plane, or what cannot be mapped. */
	unsigned int index = fuzz_chance(rng, 70) ? 0 : 2 * (unsigned int)rng_below(rng, 6);
	const struct vgpu_region *region = &life->dev->region[index];
	uint64_t offset = rng_below(rng, region->bytes + 1) & ~4095ull;
	size_t bytes = (1 + rng_below(rng, 64)) * 4096;
	int pipes[2], prot = PROT_READ | PROT_WRITE;
	struct iovec iov;
	unsigned int i;
	uint8_t *at;

	if (fuzz_chance(rng, index == VGPU_DEV_REGIONS - 1 ? 90 : 10))
		prot = PROT_READ;
	if (fuzz_chance(rng, 5))
		bytes = fuzz_value(rng) & ~4095ull;
	if (fuzz_chance(rng, 5))
		offset = fuzz_value(rng) & ~4095ull;
	at = mmap(NULL, bytes, prot, fuzz_chance(rng, 90) ? MAP_SHARED : MAP_PRIVATE,
		  life->dev->fd, (off_t)(region->offset + offset));
	if (at == MAP_FAILED)
		return;
	if (bytes > (4u << 20))
		bytes = 4u << 20;
	for (i = 0; i < 4; i++) {
		volatile uint64_t *word = (void *)(at + (rng_below(rng, bytes) & ~7ull));

		if (prot & PROT_WRITE)
			*word = rng_next(rng);
		(void)*word;
	}
	if (fuzz_chance(rng, 20) && !pipe2(pipes, O_CLOEXEC | O_NONBLOCK)) {
		iov.iov_base = at;
		iov.iov_len = bytes < 65536 ? bytes : 65536;
		(void)!vmsplice(pipes[1], &iov, 1, SPLICE_F_GIFT | SPLICE_F_NONBLOCK);
		if (fuzz_chance(rng, 50))
			clk_sleep_ms((unsigned int)rng_below(rng, 5));
		close(pipes[0]);
		close(pipes[1]);
	}
	if (fuzz_chance(rng, 40))
		madvise(at, bytes, advice[rng_below(rng, sizeof(advice) / sizeof(advice[0]))]);
	if (fuzz_chance(rng, 20))
		mprotect(at, 4096, (int)rng_below(rng, 8));
	if (fuzz_chance(rng, 10)) {
		void *moved = mremap(at, 4096, 8192, MREMAP_MAYMOVE);

		if (moved != MAP_FAILED)
			munmap(moved, 8192);
	}
	munmap(at, bytes);
}

void fuzz_op_dma_map(struct fuzz_life *life, struct rng *rng)
{
	uint64_t at = rng_below(rng, FUZZ_CPU_BYTES) & ~4095ull;
	uint64_t iova = (rng_below(rng, 64) << 22) + at;
	size_t bytes = (1 + rng_below(rng, 32)) * 4096;
	uint8_t *ptr = life->cpu + at;

	if (fuzz_chance(rng, 10))
		iova = fuzz_value(rng);
	if (fuzz_chance(rng, 10))
		bytes = fuzz_value(rng);
	/* A copy may be aimed at the vGPU's own framebuffer. */
	if (fuzz_chance(rng, 10))
		ptr = life->dev->fb + (rng_below(rng, life->dev->fb_bytes) & ~4095ull);
	if (at + bytes > FUZZ_CPU_BYTES && fuzz_chance(rng, 80))
		bytes = 4096;
	if (fuzz_chance(rng, 50))
		vgpu_dma_map(life->dev, ptr, bytes, iova);
	else
		vgpu_dma_unmap(life->dev, bytes, iova);
}

/* Guest memory is dropped, comes back, and changes its protection. */
void fuzz_op_memory(struct fuzz_life *life, struct rng *rng)
{
	uint8_t *at = life->cpu + (rng_below(rng, FUZZ_CPU_BYTES) & ~4095ull);
	size_t bytes = 4096 * (1 + rng_below(rng, 16));

	if (at + bytes > life->cpu + FUZZ_CPU_BYTES)
		bytes = 4096;
	switch (rng_below(rng, 4)) {
	case 0:
		madvise(at, bytes, MADV_DONTNEED);
		break;
	case 1:
		mprotect(at, bytes, (int)rng_below(rng, 4));
		break;
	case 2:
		mmap(at, bytes, PROT_READ | PROT_WRITE,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	default:
		mprotect(at, bytes, PROT_READ | PROT_WRITE);
		memset(at, (int)rng_below(rng, 256), bytes);
	}
}

void fuzz_op_reset(struct fuzz_life *life, struct rng *rng)
{
	uint32_t value = VGPU_HW_RESET_MAGIC;

	switch (rng_below(rng, 3)) {
	case 0:
		vgpu_dev_reset(life->dev);
		break;
	case 1:
		vgpu_reg_write32(life->dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET, value);
		break;
	default: /* function level reset by the PCI Express capability */
		value = 0x8000;
		vgpu_config_write(life->dev, 0x40 + 4 * (unsigned int)rng_below(rng, 24),
				  &value, 2);
	}
	value = 6;
	vgpu_config_write(life->dev, 4, &value, 2);
}

/* More descriptors of the same device, and processes that outlive this one. */
void fuzz_op_files(struct fuzz_life *life, struct rng *rng)
{
	int fd;

	switch (rng_below(rng, 3)) {
	case 0:
		fd = ioctl(life->dev->group, VFIO_GROUP_GET_DEVICE_FD, life->dev->name);
		break;
	case 1:
		fd = dup(life->dev->fd);
		break;
	default:
		fd = -1;
		if (fork() == 0) {
			clk_sleep_ms((unsigned int)rng_below(rng, 200));
			_exit(0);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	if (fd < 0)
		return;
	(void)!pread(fd, life->cpu, 4, (off_t)life->dev->region[2].offset);
	close(fd);
}
