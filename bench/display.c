// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about the display: a query of the plane, and frames that reach a client which does what
 * QEMU does. The vGPU and mbochs are driven by VBE registers in BAR 2. mbochs has its plane in a
 * dma-buf that cannot be mapped without a GPU's driver, so frames are compared with those of mdpy,
 * which has a region, too, and one fixed mode.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vfio.h>
#include <linux/vgpu_hw.h>

#include "bench.h"

#define QUERIES		200u
#define FRAMES		20u
#define WIDTH		1024u
#define HEIGHT		768u
#define PICTURE		(WIDTH * HEIGHT * 4)
#define PICTURES	2u	/* one below the other in memory */
#define PRIMARY		1	/* DRM_PLANE_TYPE_PRIMARY */
#define BAR_FB		VFIO_PCI_BAR0_REGION_INDEX
#define BAR_REGS	VFIO_PCI_BAR2_REGION_INDEX

enum kind {
	VGPU,		/* shows the first picture */
	VGPU_FLIPS,	/* pictures take turns */
	MBOCHS,		/* can only be queried */
	MDPY,
};

/**
 * struct screen - the display of a device
 * @mdev:  the open device
 * @kind:  of device
 * @vbe:   offset of the VBE registers in the device's file
 * @plane: the mapping of the plane's region
 * @frame: number of the next frame
 * @copy:  what a client makes of a frame
 */
struct screen {
	struct mdev mdev;
	enum kind kind;
	uint64_t vbe;
	const uint8_t *plane;
	unsigned int frame;
	uint8_t *copy;
};

static void vbe(struct screen *s, unsigned int index, uint16_t value)
{
	if (pwrite(s->mdev.fd, &value, sizeof(value), (off_t)(s->vbe + 2 * index)) !=
	    sizeof(value))
		bench_die("VBE register %u: %s", index, strerror(errno));
}

static void query(struct screen *s, struct vfio_device_gfx_plane_info *info)
{
	memset(info, 0, sizeof(*info));
	info->argsz = sizeof(*info);
	info->flags = s->kind == MBOCHS ? VFIO_GFX_PLANE_TYPE_DMABUF : VFIO_GFX_PLANE_TYPE_REGION;
	info->drm_plane_type = PRIMARY;
	if (!ioctl(s->mdev.fd, VFIO_DEVICE_QUERY_GFX_PLANE, info))
		return;
	/* The first query of a mode makes mbochs's dma-buf, and says ENOMEM all the same. */
	info->argsz = sizeof(*info);
	if (errno != ENOMEM || ioctl(s->mdev.fd, VFIO_DEVICE_QUERY_GFX_PLANE, info))
		bench_die("VFIO_DEVICE_QUERY_GFX_PLANE: %s", strerror(errno));
}

/* What the picture has at a byte, in 8 bytes each. */
static uint64_t word_of(unsigned int picture, size_t at)
{
	return (at + 1) * 0x9e3779b97f4a7c15ull ^ picture;
}

static void draw(struct screen *s)
{
	struct mdev_region fb = mdev_region(&s->mdev, BAR_FB);
	size_t bytes = s->kind == MDPY ? PICTURE : (size_t)PICTURES * PICTURE, at;
	uint64_t *to;

	to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->mdev.fd, (off_t)fb.offset);
	if (to == MAP_FAILED)
		bench_die("framebuffer: %s", strerror(errno));
	for (at = 0; at < bytes / 8; at++)
		to[at] = word_of((unsigned int)(at / (PICTURE / 8)), at % (PICTURE / 8));
	munmap(to, bytes);
}

/* The mapping of the plane, which is made once, as QEMU does it. */
static const uint8_t *plane_of(struct screen *s, const struct vfio_device_gfx_plane_info *info)
{
	void *plane;

	if (s->plane)
		return s->plane;
	plane = mmap(NULL, PICTURE, PROT_READ, MAP_SHARED, s->mdev.fd,
		     (off_t)mdev_region(&s->mdev, info->region_index).offset);
	if (plane == MAP_FAILED)
		bench_die("the plane: %s", strerror(errno));
	s->plane = plane;
	return s->plane;
}

/* Which pictures it is, of which each word is compared. */
static unsigned int picture_in(const uint8_t *copy)
{
	const uint64_t *word = (const uint64_t *)copy;
	unsigned int picture = (unsigned int)(word[0] ^ word_of(0, 0)) & 1;
	size_t at;

	for (at = 0; at < PICTURE / 8; at++)
		if (word[at] != word_of(picture, at))
			bench_die("word %zu of the picture is wrong", at);
	return picture;
}

static void frame(struct screen *s)
{
	unsigned int shown = s->frame % PICTURES;
	struct vfio_device_gfx_plane_info info;

	if (s->kind == VGPU_FLIPS)
		vbe(s, VGPU_HW_DISPI_Y_OFFSET, (uint16_t)(shown * HEIGHT));
	query(s, &info);
	if (info.drm_format != VGPU_HW_FORMAT_XRGB8888 || info.width != WIDTH ||
	    info.height != HEIGHT || info.stride != WIDTH * 4)
		bench_die("the plane is %u x %u, stride %u, format %#x", info.width, info.height,
			  info.stride, info.drm_format);
	memcpy(s->copy, plane_of(s, &info), PICTURE);
	s->frame++;
}

static void set_mode(struct screen *s)
{
	s->vbe = mdev_region(&s->mdev, BAR_REGS).offset + VGPU_HW_VGA_DISPI(0);
	vbe(s, VGPU_HW_DISPI_ENABLE, 0);
	vbe(s, VGPU_HW_DISPI_XRES, WIDTH);
	vbe(s, VGPU_HW_DISPI_YRES, HEIGHT);
	vbe(s, VGPU_HW_DISPI_BPP, 32);
	vbe(s, VGPU_HW_DISPI_VIRT_WIDTH, WIDTH);
	vbe(s, VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB);
	vbe(s, VGPU_HW_DISPI_VIRT_WIDTH, WIDTH);
}

static void screen_open(struct screen *s, const char *uuid, enum kind kind)
{
	unsigned int i;
	uint16_t command = 2; /* memory decoding */

	memset(s, 0, sizeof(*s));
	mdev_open(&s->mdev, uuid);
	s->kind = kind;
	s->copy = malloc(PICTURE);
	if (!s->copy)
		bench_die("out of memory");
	if (pwrite(s->mdev.fd, &command, sizeof(command), (off_t)
		   mdev_region(&s->mdev, VFIO_PCI_CONFIG_REGION_INDEX).offset + 4) !=
	    sizeof(command))
		bench_die("configuration space: %s", strerror(errno));
	draw(s);
	if (kind != MDPY)
		set_mode(s);
	/* Each frame comes with its own picture, or all with the first one. */
	for (i = 0; kind != MBOCHS && i < PICTURES; i++) {
		frame(s);
		if (picture_in(s->copy) != (kind == VGPU_FLIPS ? i : 0))
			bench_die("%s: frame %u is another one", uuid, i);
	}
}

static void screen_close(struct screen *s)
{
	if (s->plane)
		munmap((void *)s->plane, PICTURE);
	free(s->copy);
	mdev_close(&s->mdev);
}

static double block_queries(void *arg)
{
	struct vfio_device_gfx_plane_info info;
	double start = bench_now_ns();
	unsigned int i;

	for (i = 0; i < QUERIES; i++)
		query(arg, &info);
	return (bench_now_ns() - start) / QUERIES;
}

static double block_frames(void *arg)
{
	struct screen *s = arg;
	double start = bench_now_ns(), spent;
	unsigned int i;

	for (i = 0; i < FRAMES; i++)
		frame(s);
	spent = bench_now_ns() - start;
	if (picture_in(s->copy) != (s->kind == VGPU_FLIPS ? (s->frame - 1) % PICTURES : 0))
		bench_die("another picture");
	return FRAMES / (spent / 1e9);
}

static void compare(struct bench_row *row, double (*block)(void *arg), const char *ours,
		    enum kind kind, const char *peer, enum kind peer_kind)
{
	struct screen a, b;

	row->ours = (struct bench_side){ block, &a };
	row->peer = (struct bench_side){ block, &b };
	screen_open(&a, ours, kind);
	screen_open(&b, peer, peer_kind);
	bench_compare(row);
	screen_close(&a);
	screen_close(&b);
}

void row_plane_query(const char *ours, const char *mbochs)
{
	struct bench_row row = {
		.name = "plane_query", .unit = "ns",
		.detail = "VFIO_DEVICE_QUERY_GFX_PLANE at 1024x768, of the region, against mbochs, of its dma-buf; 200 queries per block",
	};

	compare(&row, block_queries, ours, VGPU, mbochs, MBOCHS);
}

void row_display_frames(const char *ours, const char *mdpy)
{
	struct bench_row row = {
		.name = "display_frames", .unit = "frames/s", .reach = 1, .higher = true,
		.detail = "1024x768, query and read of the whole picture, mapped once as QEMU does it: the region, against mdpy's (mbochs has a dma-buf only, which is not shown without OpenGL); the guest draws in one picture; no frame-rate limit; 20 frames per block",
	};

	compare(&row, block_frames, ours, VGPU, mdpy, MDPY);
}

void row_display_flips(const char *ours, const char *mdpy)
{
	struct bench_row row = {
		.name = "display_flips", .unit = "frames/s", .higher = true,
		.detail = "the same where the guest flips between two pictures, each of which is mapped anew, against mdpy, which has one and cannot flip; 20 frames per block",
	};

	compare(&row, block_frames, ours, VGPU_FLIPS, mdpy, MDPY);
}
