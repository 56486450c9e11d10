/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The display of a vGPU as the user of its device sees it, and pictures of which each pixel is
 * known without a look at the framebuffer. Calls that return nothing fail the test if they cannot
 * do what they are for; display_try_*() return 0 or a negative errno.
 */
#ifndef DISPLAY_H
#define DISPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/vfio.h>

#include "fixture.h"

#define DISPLAY_EDID		9	/* indices of the regions */
#define DISPLAY_PLANE		10
#define DISPLAY_REGIONS		11

#define DISPLAY_PRIMARY		1	/* DRM_PLANE_TYPE_PRIMARY */
#define DISPLAY_QUERY_MIN	60	/* bytes of the query up to its last field in use */

/* Where pictures of tests may lie: a ring in the framebuffer would lie before. */
#define DISPLAY_START		(4 * FX_MIB)

/**
 * struct picture - a surface in the framebuffer whose content is computed
 * @offset: of its first pixel
 * @width:  pixels of a row
 * @height: rows
 * @pitch:  bytes from row to row
 * @seed:   pictures of different seeds differ in nearly all pixels
 */
struct picture {
	uint64_t offset;
	uint32_t width;
	uint32_t height;
	uint32_t pitch;
	uint32_t seed;
};

/**
 * struct display_region - what the device says of a region
 * @bytes:    its size
 * @offset:   of its first byte in the device's file
 * @flags:    VFIO_REGION_INFO_FLAG_*
 * @type:     of the capability that names its type; 0: there is none
 * @subtype:  the same
 * @areas:    how many areas of it can be mapped, if it says so
 * @area_at:  offset of the first of these
 * @area_bytes: length of the first of these
 */
struct display_region {
	uint64_t bytes;
	uint64_t offset;
	uint32_t flags;
	uint32_t type;
	uint32_t subtype;
	uint32_t areas;
	uint64_t area_at;
	uint64_t area_bytes;
};

/* The largest picture of the vGPU's type, and how many heads that has. */
struct display_limits {
	uint32_t heads;
	uint32_t width;
	uint32_t height;
};

void display_limits(const char *type, struct display_limits *limits);

/* Walks the region's capabilities, each of which must lie in the answer. */
void display_region(const struct fx_vgpu *v, unsigned int index, struct display_region *region);

/* Asks with these flags for the primary plane. */
int display_try_query(const struct fx_vgpu *v, uint32_t flags,
		      struct vfio_device_gfx_plane_info *plane);
void display_query(const struct fx_vgpu *v, struct vfio_device_gfx_plane_info *plane);

/* Maps the whole plane to read it; display_unmap() does nothing with NULL. */
const uint8_t *display_map(const struct fx_vgpu *v);
void display_unmap(const struct fx_vgpu *v, const void *plane);

/* For cleaning up: unmaps the plane if there is a device, and forgets it. */
void display_forget(const struct fx_vgpu *v, const uint8_t **plane);

/*
 * Creates and opens a vGPU without a limit of frames, so that each query takes up what is to be
 * shown. Skips the test if the GPU has no displays.
 */
void display_create(struct fx_vgpu *v, const char *type);
void display_open(struct fx_vgpu *v);

/* A channel of gr whose ring leaves the framebuffer alone. */
struct vgpu_chan *display_chan(struct fx_vgpu *v);

/* A picture with some seed. @pitch 0: rows follow each other without a gap. */
struct picture picture_at(uint64_t offset, uint32_t width, uint32_t height, uint32_t pitch);

/* Bytes of the framebuffer from the picture's first to its last. */
uint64_t picture_span(const struct picture *p);

uint32_t picture_pixel(const struct picture *p, uint32_t x, uint32_t y);

/* Draws the picture, and around it and between its rows what is not to be seen. */
void picture_paint(const struct fx_vgpu *v, const struct picture *p);

/* A PRESENT of the picture. */
struct vgpu_hw_packet picture_packet(const struct picture *p, uint32_t head);

/* Submits a PRESENT of the picture, and returns when the engine has done it. */
void picture_present(struct vgpu_chan *chan, const struct picture *p, uint32_t head);

/* Whether each pixel of a packed picture is the picture's; @x, @y: the first one that is not. */
bool picture_equal(const uint8_t *plane, const struct picture *p, uint32_t *x, uint32_t *y);

/*
 * The display shows exactly that picture, by its description, by each pixel in the mapping
 * @plane and by some in reads; nothing of what lies around the picture can be seen.
 */
void picture_check(const struct fx_vgpu *v, const uint8_t *plane, const struct picture *p);

/* The display shows no picture, by its description, in the mapping and in reads. */
void display_check_none(const struct fx_vgpu *v, const uint8_t *plane);

/* Of that many bytes from there each page has only zeros; for memory of many MiB. */
bool display_is_dark(const uint8_t *plane, uint64_t bytes);

#endif /* DISPLAY_H */
