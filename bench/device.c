// SPDX-License-Identifier: GPL-2.0
/* Rows about the device: trapped reads, creation, first touch. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vfio.h>
#include <linux/vgpu_hw.h>

#include "bench.h"

#define READS		200u
#define CREATES		2u
#define TOUCHES		64u
#define PAGE		4096u
#define UUID_OURS	"be000000-0000-4000-8000-000000000001"
#define UUID_PEER	"be000000-0000-4000-8000-000000000002"
#define MEMORY		0x02	/* memory decoding, in the PCI command register */

/**
 * struct reads - a register that is read again and again
 * @mdev:   the open device
 * @offset: of the register in the device's file
 */
struct reads {
	struct mdev mdev;
	uint64_t offset;
};

static double block_reads(void *arg)
{
	struct reads *reads = arg;
	double start = bench_now_ns();
	unsigned int i;
	uint32_t value;

	for (i = 0; i < READS; i++) {
		if (pread(reads->mdev.fd, &value, sizeof(value),
			  (off_t)reads->offset) != sizeof(value))
			bench_die("register: %s", strerror(errno));
	}
	return (bench_now_ns() - start) / READS;
}

static void enable_memory(struct mdev *mdev)
{
	struct mdev_region config =
		mdev_region(mdev, VFIO_PCI_CONFIG_REGION_INDEX);
	uint16_t command = MEMORY;

	if (pwrite(mdev->fd, &command, sizeof(command),
		   (off_t)config.offset + 4) != sizeof(command))
		bench_die("configuration space: %s", strerror(errno));
}

void row_region_read(const char *uuid, const char *mtty)
{
	struct reads ours, peer;
	struct bench_row row = {
		.name = "region_read", .unit = "ns", .reach = 1.05,
		.ours = { block_reads, &ours }, .peer = { block_reads, &peer },
		.detail = "4-byte read of a register in BAR 2, against one of mtty's BAR 0; 200 reads per block",
	};
	uint32_t magic = 0;

	mdev_open(&ours.mdev, uuid);
	mdev_open(&peer.mdev, mtty);
	enable_memory(&ours.mdev);
	ours.offset = mdev_region(&ours.mdev, VGPU_HW_BAR_REGS).offset +
		VGPU_HW_DEV_BASE + VGPU_HW_ID;
	peer.offset = mdev_region(&peer.mdev, VFIO_PCI_BAR0_REGION_INDEX).offset;
	if (pread(ours.mdev.fd, &magic, sizeof(magic), (off_t)ours.offset) !=
	    sizeof(magic) || magic != VGPU_HW_ID_MAGIC)
		bench_die("no vGPU: register reads %#x", magic);
	bench_compare(&row);
	mdev_close(&ours.mdev);
	mdev_close(&peer.mdev);
}

/**
 * struct creates - a device that is created and removed again and again
 * @type: directory of the device's type in sysfs
 * @uuid: the device's
 */
struct creates {
	const char *type;
	const char *uuid;
};

static double block_creates(void *arg)
{
	struct creates *creates = arg;
	double start = bench_now_ns();
	unsigned int i;

	for (i = 0; i < CREATES; i++) {
		mdev_create(creates->type, creates->uuid);
		mdev_remove(creates->uuid);
	}
	return (bench_now_ns() - start) / CREATES / 1000;
}

void row_create_remove(const char *ours_type, const char *mbochs_type)
{
	struct creates ours = { ours_type, UUID_OURS };
	struct creates peer = { mbochs_type, UUID_PEER };
	struct bench_row row = {
		.name = "create_remove", .unit = "us", .reach = 1.5,
		.ours = { block_creates, &ours },
		.peer = { block_creates, &peer },
		.detail = "create and remove through sysfs, against mbochs-small; 2 of each per block",
	};

	bench_compare(&row);
}

/**
 * struct touches - fresh memory of a device
 * @mdev:  the open device
 * @map:   a mapping of its BAR 0
 * @bytes: length of @map
 * @next:  offset of the first page that was not yet touched
 */
struct touches {
	struct mdev mdev;
	uint8_t *map;
	uint64_t bytes;
	uint64_t next;
};

static void touches_open(struct touches *touches, const char *uuid)
{
	struct mdev_region region;

	mdev_open(&touches->mdev, uuid);
	region = mdev_region(&touches->mdev, VFIO_PCI_BAR0_REGION_INDEX);
	touches->bytes = (bench_pairs + 1ull) * TOUCHES * PAGE;
	touches->next = 0;
	if (touches->bytes > region.bytes)
		bench_die("%s: %u pairs touch more than its %llu MiB", uuid,
			  bench_pairs, (unsigned long long)(region.bytes >> 20));
	touches->map = mmap(NULL, touches->bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, touches->mdev.fd, (off_t)region.offset);
	if (touches->map == MAP_FAILED)
		bench_die("%s: mmap: %s", uuid, strerror(errno));
}

static double block_touches(void *arg)
{
	struct touches *touches = arg;
	volatile uint8_t *at = touches->map + touches->next;
	double start = bench_now_ns(), spent;
	unsigned int i;

	for (i = 0; i < TOUCHES; i++)
		at[(size_t)i * PAGE] = 1;
	spent = bench_now_ns() - start;
	/* Fresh pages are zero but for the byte that was written. */
	for (i = 0; i < TOUCHES; i++)
		if (at[(size_t)i * PAGE] != 1 || at[(size_t)i * PAGE + 1])
			bench_die("a fresh page is not zero");
	touches->next += TOUCHES * PAGE;
	return spent / TOUCHES;
}

void row_fb_first_touch(const char *uuid, const char *mbochs)
{
	struct touches ours, peer;
	struct bench_row row = {
		.name = "fb_first_touch", .unit = "ns/page", .reach = 0.25,
		.ours = { block_touches, &ours },
		.peer = { block_touches, &peer },
		.detail = "first write to each of 64 fresh pages in a row per block, against mbochs",
	};

	touches_open(&ours, uuid);
	enable_memory(&ours.mdev);
	touches_open(&peer, mbochs);
	bench_compare(&row);
	munmap(ours.map, ours.bytes);
	munmap(peer.map, peer.bytes);
	mdev_close(&ours.mdev);
	mdev_close(&peer.mdev);
}
