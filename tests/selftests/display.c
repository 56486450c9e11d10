// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "display.h"
#include "tune.h"

#define PAGE		4096u
#define HIDDEN		0xbadc0de5u	/* what lies around pictures; none of their pixels */
#define READS		8

void display_limits(const char *type, struct display_limits *limits)
{
	char path[256], text[256], *resolution;
	uint64_t heads;

	fx_type_path(type, "description", path, sizeof(path));
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	CHECK(!file_number(path, "num_heads=", &heads), "%s: %s", path, text);
	limits->heads = (uint32_t)heads;
	resolution = strstr(text, "max_resolution=");
	CHECK(resolution && sscanf(resolution, "max_resolution=%ux%u", &limits->width,
				   &limits->height) == 2, "%s: %s", path, text);
}

static void region_cap(struct display_region *region, const struct vfio_info_cap_header *cap,
		       size_t room)
{
	const struct vfio_region_info_cap_sparse_mmap *sparse = (const void *)cap;
	const struct vfio_region_info_cap_type *type = (const void *)cap;

	CHECK_EQ(cap->version, 1);
	switch (cap->id) {
	case VFIO_REGION_INFO_CAP_TYPE:
		CHECK(room >= sizeof(*type), "is cut off");
		region->type = type->type;
		region->subtype = type->subtype;
		break;
	case VFIO_REGION_INFO_CAP_SPARSE_MMAP:
		CHECK(room >= sizeof(*sparse) + sparse->nr_areas * sizeof(sparse->areas[0]),
		      "%u areas", sparse->nr_areas);
		region->areas = sparse->nr_areas;
		if (!sparse->nr_areas)
			break;
		region->area_at = sparse->areas[0].offset;
		region->area_bytes = sparse->areas[0].size;
		break;
	default:
		FAIL("capability %u", cap->id);
	}
}

void display_region(const struct fx_vgpu *v, unsigned int index, struct display_region *region)
{
	union {
		struct vfio_region_info info;
		char bytes[512];
	} u;
	const struct vfio_info_cap_header *cap;
	uint32_t at, before = 0;

	memset(&u, 0, sizeof(u));
	memset(region, 0, sizeof(*region));
	u.info.argsz = sizeof(u);
	u.info.index = index;
	CHECK(!ioctl(v->dev->fd, VFIO_DEVICE_GET_REGION_INFO, &u), "region %u: %s", index,
	      strerror(errno));
	region->bytes = u.info.size;
	region->offset = u.info.offset;
	region->flags = u.info.flags;
	if (!(u.info.flags & VFIO_REGION_INFO_FLAG_CAPS))
		return;
	CHECK(u.info.argsz <= sizeof(u), "%u bytes of capabilities", u.info.argsz);
	for (at = u.info.cap_offset; at; at = cap->next) {
		CHECK(at > before && at >= sizeof(u.info) && at % 8 == 0 &&
		      at + sizeof(*cap) <= u.info.argsz, "a capability at %u", at);
		before = at;
		cap = (const void *)(u.bytes + at);
		region_cap(region, cap, u.info.argsz - at);
	}
	CHECK(before, "capabilities are announced, and there are none");
}

int display_try_query(const struct fx_vgpu *v, uint32_t flags,
		      struct vfio_device_gfx_plane_info *plane)
{
	/* What the driver leaves alone is seen. */
	memset(plane, 0xa5, sizeof(*plane));
	plane->argsz = sizeof(*plane);
	plane->flags = flags;
	plane->drm_plane_type = DISPLAY_PRIMARY;
	return ioctl(v->dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, plane) ? -errno : 0;
}

void display_query(const struct fx_vgpu *v, struct vfio_device_gfx_plane_info *plane)
{
	int ret = display_try_query(v, VFIO_GFX_PLANE_TYPE_REGION, plane);

	CHECK(!ret, "VFIO_DEVICE_QUERY_GFX_PLANE: %s", strerror(-ret));
}

const uint8_t *display_map(const struct fx_vgpu *v)
{
	const struct vgpu_region *region = &v->dev->region[DISPLAY_PLANE];
	void *plane = mmap(NULL, region->bytes, PROT_READ, MAP_SHARED, v->dev->fd,
			   (off_t)region->offset);

	CHECK(plane != MAP_FAILED, "mmap of the plane: %s", strerror(errno));
	return plane;
}

void display_unmap(const struct fx_vgpu *v, const void *plane)
{
	if (plane)
		munmap((void *)plane, v->dev->region[DISPLAY_PLANE].bytes);
}

void display_forget(const struct fx_vgpu *v, const uint8_t **plane)
{
	if (v->dev)
		display_unmap(v, *plane);
	*plane = NULL;
}

void display_open(struct fx_vgpu *v)
{
	fx_open(v);
	CHECK(v->dev->region[DISPLAY_PLANE].bytes, "there is no plane");
}

void display_create(struct fx_vgpu *v, const char *type)
{
	fx_need("display");
	fx_create(v, type);
	tune_frl(v, 0);
	display_open(v);
}

struct vgpu_chan *display_chan(struct fx_vgpu *v)
{
	return fx_chan(v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_SYS, 4);
}

struct picture picture_at(uint64_t offset, uint32_t width, uint32_t height, uint32_t pitch)
{
	return (struct picture){
		.offset = offset,
		.width = width,
		.height = height,
		.pitch = pitch ? pitch : 4 * width,
		.seed = (uint32_t)fx_random(),
	};
}

uint64_t picture_span(const struct picture *p)
{
	return (uint64_t)(p->height - 1) * p->pitch + 4ull * p->width;
}

/* What pixels of a row have in common; computed once per row, as the rest is done per pixel. */
static uint32_t picture_row(const struct picture *p, uint32_t y)
{
	uint32_t row = p->seed + y * 0x85ebca6bu;

	row ^= row >> 15;
	return row * 0x2c1b3c6du;
}

static uint32_t picture_dot(uint32_t row, uint32_t x)
{
	uint32_t dot = row ^ x * 0x9e3779b1u;

	dot ^= dot >> 16;
	return dot == HIDDEN ? 0 : dot;
}

uint32_t picture_pixel(const struct picture *p, uint32_t x, uint32_t y)
{
	return picture_dot(picture_row(p, y), x);
}

static void hide(const struct fx_vgpu *v, uint64_t from, uint64_t to)
{
	if (to > v->dev->fb_bytes)
		to = v->dev->fb_bytes;
	for (; from + 4 <= to; from += 4)
		*(uint32_t *)(v->dev->fb + from) = htole32(HIDDEN);
}

void picture_paint(const struct fx_vgpu *v, const struct picture *p)
{
	uint64_t at = p->offset, end = at + picture_span(p);
	uint32_t x, y, row, *to;

	CHECK(at % 4 == 0 && p->pitch % 4 == 0 && end <= v->dev->fb_bytes, "no such surface");
	hide(v, at < PAGE ? 0 : at - PAGE, at);
	for (y = 0; y < p->height; y++, at += p->pitch) {
		to = (uint32_t *)(v->dev->fb + at);
		row = picture_row(p, y);
		for (x = 0; x < p->width; x++)
			to[x] = htole32(picture_dot(row, x));
		if (y + 1 < p->height)
			hide(v, at + 4ull * p->width, at + p->pitch);
	}
	hide(v, end, end + 2 * PAGE);
}

struct vgpu_hw_packet picture_packet(const struct picture *p, uint32_t head)
{
	return (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_PRESENT,
		.dst = htole64(p->offset),
		.present_width = htole32(p->width),
		.present_height = htole32(p->height),
		.present_pitch = htole32(p->pitch),
		.present_format = htole32(VGPU_HW_FORMAT_XRGB8888),
		.present_head = htole32(head),
	};
}

void picture_present(struct vgpu_chan *chan, const struct picture *p, uint32_t head)
{
	struct vgpu_hw_packet packet = picture_packet(p, head);

	FX_OK(chan->dev, vgpu_chan_submit(chan, &packet, 1));
	fx_finish(chan);
}

bool picture_equal(const uint8_t *plane, const struct picture *p, uint32_t *x, uint32_t *y)
{
	const uint32_t *at = (const uint32_t *)plane;
	uint32_t row;

	for (*y = 0; *y < p->height; (*y)++, at += p->width) {
		row = picture_row(p, *y);
		for (*x = 0; *x < p->width; (*x)++)
			if (le32toh(at[*x]) != picture_dot(row, *x))
				return false;
	}
	return true;
}

bool display_is_dark(const uint8_t *plane, uint64_t bytes)
{
	const uint64_t *word = (const uint64_t *)plane, *end = word + bytes / 8;

	while (word < end)
		if (*word++)
			return false;
	return fx_is_zero(end, bytes % 8);
}

/* Reads pieces of the region, which must be what the mapping has. */
static void check_reads(const struct fx_vgpu *v, const uint8_t *plane, uint64_t bytes)
{
	static uint8_t buf[3 * PAGE];
	uint64_t at, count;
	unsigned int i;

	for (i = 0; i < READS; i++) {
		count = 1 + fx_random_below(bytes < sizeof(buf) ? bytes : sizeof(buf));
		at = fx_random_below(bytes - count + 1);
		CHECK_EQ(vgpu_region_read(v->dev, DISPLAY_PLANE, at, buf, count), count);
		CHECK(!memcmp(buf, plane + at, count), "a read of %llu bytes at %#llx",
		      (unsigned long long)count, (unsigned long long)at);
	}
}

/* What is beyond the picture: the bytes next to it, the last ones, and some between. */
static void check_beyond(const struct fx_vgpu *v, const uint8_t *plane, uint64_t from)
{
	uint64_t bytes = v->dev->region[DISPLAY_PLANE].bytes, at, count;
	unsigned int i;

	for (i = 0; i < READS && from < bytes; i++) {
		at = i ? from + fx_random_below(bytes - from) : from;
		count = bytes - at < 2 * PAGE ? bytes - at : 2 * PAGE;
		CHECK(display_is_dark(plane + at, count), "near byte %#llx, beyond the picture",
		      (unsigned long long)at);
	}
}

void picture_check(const struct fx_vgpu *v, const uint8_t *plane, const struct picture *p)
{
	uint64_t bytes = 4ull * p->width * p->height;
	struct vfio_device_gfx_plane_info info;
	uint32_t x, y;

	display_query(v, &info);
	CHECK_EQ(info.drm_format, VGPU_HW_FORMAT_XRGB8888);
	CHECK_EQ(info.drm_format_mod, 0);
	CHECK_EQ(info.width, p->width);
	CHECK_EQ(info.height, p->height);
	CHECK_EQ(info.stride, 4 * p->width);
	CHECK_EQ(info.size, bytes);
	CHECK_EQ(info.region_index, DISPLAY_PLANE);
	CHECK(!info.x_pos && !info.y_pos && !info.x_hot && !info.y_hot, "it is no cursor");
	if (!picture_equal(plane, p, &x, &y))
		FAIL("pixel %u, %u of %u x %u, pitch %u at %#llx is %#x, not %#x", x, y, p->width,
		     p->height, p->pitch, (unsigned long long)p->offset,
		     le32toh(((const uint32_t *)plane)[(size_t)y * p->width + x]),
		     picture_pixel(p, x, y));
	/* The last page may be one of the framebuffer, with what follows there. */
	if (p->offset % PAGE == 0 && p->pitch == 4 * p->width)
		check_beyond(v, plane, (bytes + PAGE - 1) / PAGE * PAGE);
	else
		check_beyond(v, plane, bytes);
	check_reads(v, plane, v->dev->region[DISPLAY_PLANE].bytes);
	check_reads(v, plane, bytes);
}

void display_check_none(const struct fx_vgpu *v, const uint8_t *plane)
{
	struct vfio_device_gfx_plane_info info;

	display_query(v, &info);
	CHECK_EQ(info.drm_format, 0);
	CHECK_EQ(info.size, 0);
	CHECK(!info.width && !info.height && !info.stride, "%u x %u, stride %u", info.width,
	      info.height, info.stride);
	check_beyond(v, plane, 0);
	check_reads(v, plane, v->dev->region[DISPLAY_PLANE].bytes);
}
