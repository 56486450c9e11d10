// SPDX-License-Identifier: GPL-2.0
/*
 * The display of a vGPU in VFIO's terms: one plane, in a region that shows the picture of the first
 * head. VFIO has no further heads, and no way to say that the picture has changed: the user queries
 * the plane whenever it wants to show the picture. A display that nobody queries costs nothing.
 *
 * QEMU maps the region once, from its start, builds a surface over the mapping, and does not notice
 * a change of the pitch alone. So the pitch is always the width times 4, and the region has a fixed
 * size and reads 0 where there is no picture. A picture that has this form in the framebuffer is
 * shown by the framebuffer's own pages; each query copies any other picture into this form.
 */
#include <linux/highmem.h>
#include <linux/kernel.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vfio.h>

#include "map.h"
#include "plane.h"

#define PLANE_OVERLAY	0	/* the type that QEMU asks for */
#define PLANE_PRIMARY	1

#define PLANE_BPP	4	/* bytes per pixel of XRGB8888 */

/* How pages for copies are allocated: charged to the user, without the OOM killer. */
#define PLANE_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static unsigned long plane_nr_pages(const struct vgpu_scanout *s)
{
	return DIV_ROUND_UP((u64)s->width * s->height * PLANE_BPP, PAGE_SIZE);
}

static bool plane_needs_copy(const struct vgpu_scanout *s)
{
	return s->pitch != s->width * PLANE_BPP || !PAGE_ALIGNED(s->offset);
}

static bool plane_same(const struct vgpu_scanout *a, const struct vgpu_scanout *b)
{
	return a->offset == b->offset && a->width == b->width && a->height == b->height &&
	       a->pitch == b->pitch && a->blank == b->blank;
}

/* Returns the number of pages of the region that show a picture. The caller holds map_lock. */
static unsigned long plane_nr_shown(const struct vgpu_plane *plane)
{
	return plane->valid && !plane->shown.blank ? plane_nr_pages(&plane->shown) : 0;
}

/* Frees the pages of copies. No page fault can be mapping them, since @valid is not set. */
static void plane_free_copy(struct vgpu_plane *plane)
{
	unsigned long i;

	if (!plane->copy)
		return;
	for (i = 0; i < plane->map->regions.plane_bytes >> PAGE_SHIFT; i++) {
		if (plane->copy[i])
			put_page(plane->copy[i]);
		cond_resched();
	}
	kvfree(plane->copy);
	plane->copy = NULL;
}

/* Sets up the plane of a new vGPU. The caller has zeroed it. */
void vgpu_plane_init(struct vgpu_plane *plane, struct vgpu_map *map)
{
	mutex_init(&plane->lock);
	plane->map = map;
}

/* Undoes vgpu_plane_init(), after vgpu_plane_close(). */
void vgpu_plane_exit(struct vgpu_plane *plane)
{
	mutex_destroy(&plane->lock);
}

/**
 * vgpu_plane_close() - free what showing pictures needed
 * @plane: plane of a vGPU that nobody has open or mapped any more
 */
void vgpu_plane_close(struct vgpu_plane *plane)
{
	plane_free_copy(plane);
	plane->frl = (struct vgpu_frl){};
}

/**
 * vgpu_plane_drop() - end the picture, since the framebuffer is about to be dropped
 * @plane: plane of a vGPU; the caller holds the instance's map_lock for writing
 */
void vgpu_plane_drop(struct vgpu_plane *plane)
{
	lockdep_assert_held_write(&plane->map->instance->map_lock);
	if (!plane->map->regions.plane_bytes)
		return;
	WRITE_ONCE(plane->drops, plane->drops + 1);
	WRITE_ONCE(plane->valid, false);
	vgpu_map_zap(plane->map, VGPU_REGION_PLANE);
	/* Who is making a copy just now takes these locks the other way round, and keeps it. */
	if (mutex_trylock(&plane->lock)) {
		plane_free_copy(plane);
		mutex_unlock(&plane->lock);
	}
}

/**
 * vgpu_plane_pages() - get pages of the plane to map or read them
 * @plane: plane of a vGPU; the caller holds the instance's map_lock for reading
 * @first: first page, counted from the start of the region
 * @pages: filled in; valid until the lock is released
 * @nr: length of @pages, at least 1; all within the region
 *
 * Dark pages are the kernel's page of zeros, since mapping it does not count references: a user
 * could map any other single page so often that its reference count wraps around.
 *
 * Sleeps.
 *
 * Return: the number of pages, at least 1, or an error of vgpu_instance_map_pages().
 */
int vgpu_plane_pages(struct vgpu_plane *plane, u64 first, struct page **pages, unsigned int nr)
{
	const struct vgpu_scanout *s = &plane->shown;
	unsigned long end = plane_nr_shown(plane);
	unsigned int i;

	lockdep_assert_held_read(&plane->map->instance->map_lock);
	if (first >= end) {
		for (i = 0; i < nr; i++)
			pages[i] = ZERO_PAGE(0);
		return nr;
	}
	nr = min_t(u64, nr, end - first);
	if (!plane_needs_copy(s))
		return vgpu_instance_map_pages(plane->map->instance, VGPU_HW_BAR_FB,
					       (s->offset >> PAGE_SHIFT) + first, pages, nr);
	/* The user chose @first. */
	first = array_index_nospec((unsigned long)first, end);
	memcpy(pages, plane->copy + first, nr * sizeof(*pages));
	return nr;
}

/**
 * vgpu_plane_read() - read bytes of the plane
 * @plane: plane of a vGPU that is open
 * @offset: first byte in the region
 * @buf: set to the bytes
 * @len: bytes, all in one page of the region
 *
 * Sleeps.
 *
 * Return: 0 or -errno.
 */
int vgpu_plane_read(struct vgpu_plane *plane, u64 offset, void *buf, u32 len)
{
	struct page *page;
	int ret;

	down_read(&plane->map->instance->map_lock);
	if (offset >> PAGE_SHIFT < plane_nr_shown(plane) && !plane_needs_copy(&plane->shown)) {
		/* Unlike a mapping, this does not make the back end allocate pages. */
		ret = vgpu_instance_region_rw(plane->map->instance, VGPU_HW_BAR_FB,
					      plane->shown.offset + offset, buf, len, false);
	} else {
		ret = min(vgpu_plane_pages(plane, offset >> PAGE_SHIFT, &page, 1), 0);
		if (!ret)
			memcpy_from_page(buf, page, offset_in_page(offset), len);
	}
	up_read(&plane->map->instance->map_lock);
	return ret;
}

/* Allocates the missing ones of @nr pages for a copy. If it fails, it keeps those it has got. */
static int plane_copy_room(struct vgpu_plane *plane, unsigned long nr)
{
	unsigned long i;

	if (!plane->copy)
		plane->copy = kvcalloc(plane->map->regions.plane_bytes >> PAGE_SHIFT,
				       sizeof(*plane->copy), GFP_KERNEL_ACCOUNT);
	if (!plane->copy)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (plane->copy[i])
			continue;
		plane->copy[i] = alloc_page(PLANE_GFP);
		if (!plane->copy[i])
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Copies @bytes from offset @from of the framebuffer to offset @to of the copy. */
static int plane_copy_bytes(struct vgpu_plane *plane, u64 from, u64 to, u32 bytes)
{
	struct page *page;
	u32 len;
	int ret;

	for (; bytes; bytes -= len, from += len, to += len) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		page = plane->copy[to >> PAGE_SHIFT];
		len = min_t(u32, bytes, PAGE_SIZE - max(offset_in_page(from), offset_in_page(to)));
		ret = vgpu_instance_region_rw(plane->map->instance, VGPU_HW_BAR_FB, from,
					      page_address(page) + offset_in_page(to), len, false);
		if (ret)
			return ret;
	}
	return 0;
}

static int plane_copy(struct vgpu_plane *plane, const struct vgpu_scanout *s)
{
	u32 bytes = s->width * PLANE_BPP, rows = s->height, y;
	struct mem_cgroup *old;
	u64 end;
	int ret;

	/* Rows without gaps are copied as one: a guest can have millions of rows of one pixel. */
	if (s->pitch == bytes) {
		bytes *= rows;
		rows = 1;
	}

	/* Charge the process that has opened the device, whichever process makes the query. */
	old = set_active_memcg(plane->map->instance->info.memcg);
	ret = plane_copy_room(plane, plane_nr_pages(s));
	set_active_memcg(old);
	for (y = 0; !ret && y < rows; y++)
		ret = plane_copy_bytes(plane, s->offset + (u64)s->pitch * y, (u64)bytes * y, bytes);
	/* The rest of the last page may still have bytes of a larger picture. */
	end = (u64)bytes * rows;
	if (!ret && offset_in_page(end))
		memzero_page(plane->copy[end >> PAGE_SHIFT], offset_in_page(end),
			     PAGE_SIZE - offset_in_page(end));
	return ret;
}

/* Shows a picture, unless the framebuffer has been dropped since @drops was read. */
static void plane_show(struct vgpu_plane *plane, const struct vgpu_scanout *s, unsigned int drops)
{
	down_write(&plane->map->instance->map_lock);
	if (drops == plane->drops) {
		plane->valid = true;
		plane->shown = *s;
		vgpu_map_zap(plane->map, VGPU_REGION_PLANE);
	}
	up_write(&plane->map->instance->map_lock);
}

/* Shows no picture, and frees the pages of copies. */
static void plane_show_none(struct vgpu_plane *plane)
{
	if (!READ_ONCE(plane->valid) && !plane->copy)
		return;
	down_write(&plane->map->instance->map_lock);
	plane->valid = false;
	vgpu_map_zap(plane->map, VGPU_REGION_PLANE);
	up_write(&plane->map->instance->map_lock);
	plane_free_copy(plane);
}

/* Whether the frame-rate limit allows a new picture, or a new copy of a picture, now. */
static bool plane_due(struct vgpu_plane *plane)
{
	return vgpu_shares_due(plane->map->instance, &plane->frl);
}

/* Makes the region show what the head shows. */
static void plane_update(struct vgpu_plane *plane)
{
	unsigned int drops = READ_ONCE(plane->drops);
	struct vgpu_scanout now;
	bool same, copied;
	int ret;

	lockdep_assert_held(&plane->lock);
	if (!vgpu_instance_scanout(plane->map->instance, &now)) {
		plane_show_none(plane);
		return;
	}
	/* A reset may be ending the picture at this moment; then the next query sees that. */
	same = READ_ONCE(plane->valid) && plane_same(&now, &plane->shown);
	copied = plane_needs_copy(&now) && !now.blank;
	if ((same && !copied) || !plane_due(plane))
		return;
	if (copied) {
		ret = plane_copy(plane, &now);
		/* -EINTR: the process is being killed, which needs no message. */
		if (ret && ret != -EINTR)
			vgpu_inst_notice_limited(plane->map->instance,
						 "display: cannot copy a picture of %ux%u (%d), show none\n",
						 now.width, now.height, ret);
		if (ret) {
			plane_show_none(plane);
			return;
		}
	}
	if (!same)
		plane_show(plane, &now, drops);
}

static void plane_fill_info(struct vgpu_plane *plane, struct vfio_device_gfx_plane_info *info)
{
	/* A reset may be ending the picture at this moment. */
	down_read(&plane->map->instance->map_lock);
	if (plane->valid) {
		info->drm_format = VGPU_HW_FORMAT_XRGB8888;
		info->width = plane->shown.width;
		info->height = plane->shown.height;
		info->stride = plane->shown.width * PLANE_BPP;
		info->size = info->stride * info->height;
	}
	up_read(&plane->map->instance->map_lock);
}

/**
 * vgpu_plane_query() - serve VFIO_DEVICE_QUERY_GFX_PLANE
 * @plane: plane of a vGPU that is open and has a display
 * @arg: struct vfio_device_gfx_plane_info
 *
 * dma-buf is not supported: a monitor without OpenGL that is offered one refuses to start.
 *
 * Sleeps.
 *
 * Return: 0, with format 0 while there is no picture; -EINVAL for flags or a type of plane that are
 * not supported; -EFAULT.
 */
int vgpu_plane_query(struct vgpu_plane *plane, void __user *arg)
{
	const size_t minsz = offsetofend(struct vfio_device_gfx_plane_info, region_index);
	struct vfio_device_gfx_plane_info info = {};
	u32 type;

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	if (info.flags == (VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION))
		return 0;
	type = info.drm_plane_type;
	if (info.flags != VFIO_GFX_PLANE_TYPE_REGION ||
	    (type != PLANE_OVERLAY && type != PLANE_PRIMARY))
		return -EINVAL;

	info = (struct vfio_device_gfx_plane_info) {
		.argsz = info.argsz,
		.flags = info.flags,
		.drm_plane_type = type,
		.region_index = VGPU_REGION_PLANE,
	};
	mutex_lock(&plane->lock);
	plane_update(plane);
	plane_fill_info(plane, &info);
	mutex_unlock(&plane->lock);
	return copy_to_user(arg, &info, minsz) ? -EFAULT : 0;
}
