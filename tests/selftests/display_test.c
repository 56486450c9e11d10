// SPDX-License-Identifier: GPL-2.0
/*
 * The display's interface in VFIO: its two regions, the query of the plane, what can be mapped.
 * Pictures are in picture_test.c, the monitor in edid_test.c, VGA registers in vga_test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "child.h"
#include "display.h"
#include "group.h"
#include "tune.h"

#define PAGE	4096u
#define GUARD	0xa5u

static struct fx_vgpu v;
static const uint8_t *plane;

static void begin(const char *type)
{
	display_create(&v, type);
	plane = display_map(&v);
}

static void cleanup(void)
{
	if (v.dev)
		display_unmap(&v, plane);
	plane = NULL;
	group_leave();
	tune_cleanup();
	group_cleanup();
}

static void regions(void)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct display_region edid, region;
	struct display_limits limits;
	uint64_t want;

	begin(fx_default_type());
	display_limits(fx_default_type(), &limits);
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_GET_INFO, &info), "%s", strerror(errno));
	CHECK_EQ(info.num_regions, DISPLAY_REGIONS);
	CHECK(info.flags & VFIO_DEVICE_FLAGS_PCI, "flags %#x", info.flags);

	display_region(&v, DISPLAY_EDID, &edid);
	CHECK_EQ(edid.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE |
		 VFIO_REGION_INFO_FLAG_CAPS);
	CHECK_EQ(edid.type, VFIO_REGION_TYPE_GFX);
	CHECK_EQ(edid.subtype, VFIO_REGION_SUBTYPE_GFX_EDID);
	CHECK(edid.bytes > sizeof(struct vfio_region_gfx_edid), "%llu bytes",
	      (unsigned long long)edid.bytes);

	display_region(&v, DISPLAY_PLANE, &region);
	CHECK_EQ(region.flags & ~VFIO_REGION_INFO_FLAG_CAPS, VFIO_REGION_INFO_FLAG_READ |
		 VFIO_REGION_INFO_FLAG_MMAP);
	want = 4ull * limits.width * limits.height;
	CHECK_EQ(region.bytes, (want + PAGE - 1) / PAGE * PAGE);
	/* QEMU takes it for granted that it can map the region's start, if it can map any of it. */
	if (region.areas) {
		CHECK_EQ(region.area_at, 0);
		CHECK_EQ(region.area_bytes, region.bytes);
	}
	CHECK(region.type != VFIO_REGION_TYPE_GFX, "there is one region of EDID");
}

/* Answers are cut off at argsz, which then says how long the whole answer is. */
static void region_argsz(void)
{
	struct {
		struct vfio_region_info info;
		uint8_t room[192];
		uint8_t guard[64];
	} answer;
	struct vfio_region_info *info = &answer.info;
	uint32_t whole, argsz;
	unsigned int i;

	begin(fx_default_type());
	for (argsz = 0; argsz < sizeof(*info); argsz += 8) {
		memset(&answer, 0, sizeof(answer));
		info->argsz = argsz;
		info->index = DISPLAY_EDID;
		CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, info) && errno == EINVAL,
		      "argsz %u", argsz);
	}
	info->argsz = sizeof(*info);
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, info), "%s", strerror(errno));
	whole = info->argsz;
	CHECK(whole >= sizeof(*info) + sizeof(struct vfio_region_info_cap_type) &&
	      whole <= sizeof(*info) + sizeof(answer.room), "whole answer: %u bytes", whole);
	CHECK_EQ(info->cap_offset, 0, "there is no room for the capability");
	CHECK(fx_is_zero(answer.room, sizeof(answer.room)), "written beyond argsz");
	/* One byte less than needed, as much as needed, and far more than anyone has. */
	for (i = 0; i < 3; i++) {
		static const uint32_t more[] = { ~0u, 0, ~0u / 2 };

		memset(&answer, 0, sizeof(answer));
		memset(answer.guard, GUARD, sizeof(answer.guard));
		info->argsz = whole + more[i];
		info->index = DISPLAY_EDID;
		CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, info), "%s", strerror(errno));
		CHECK(info->flags & VFIO_REGION_INFO_FLAG_CAPS, "flags %#x", info->flags);
		CHECK_EQ(!!info->cap_offset, i > 0);
		CHECK_EQ(answer.guard[0], GUARD, "written beyond the answer");
	}
}

static void regions_that_are_not_there(void)
{
	static const uint32_t indices[] = { DISPLAY_REGIONS, 12, 255, 256 + 9, 1u << 31, ~0u };
	struct vfio_region_info info = { .argsz = sizeof(info) };
	uint8_t byte;
	unsigned int i;

	begin(fx_default_type());
	for (i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		info.index = indices[i];
		CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, &info) && errno == EINVAL,
		      "region %u", indices[i]);
		info.argsz = sizeof(info);
	}
	/* Nor is the region behind the last one there in the file. */
	CHECK_EQ(pread(v.dev->fd, &byte, 1, (off_t)(2 * v.dev->region[DISPLAY_PLANE].offset -
						     v.dev->region[DISPLAY_EDID].offset)), -1);
	CHECK_EQ(errno, EINVAL);
}

static void query_flags(void)
{
	struct vfio_device_gfx_plane_info info;
	uint32_t flags;
	int ret, want;

	begin(fx_default_type());
	for (flags = 0; flags < 64; flags++) {
		want = flags == VFIO_GFX_PLANE_TYPE_REGION ||
		       flags == (VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION) ? 0 :
		       -EINVAL;
		ret = display_try_query(&v, flags, &info);
		CHECK_EQ(ret, want, "flags %#x", flags);
	}
	for (flags = 1u << 6; flags; flags <<= 1) {
		CHECK_EQ(display_try_query(&v, flags, &info), -EINVAL);
		CHECK_EQ(display_try_query(&v, flags | VFIO_GFX_PLANE_TYPE_REGION, &info),
			 -EINVAL, "flags %#x", flags);
	}
}

/* A query of @argsz bytes from an answer that has so many in front of memory that is not there. */
static int query_by(uint32_t argsz, uint32_t bytes)
{
	struct vfio_device_gfx_plane_info head = {
		.argsz = argsz,
		.flags = VFIO_GFX_PLANE_TYPE_REGION,
		.drm_plane_type = DISPLAY_PRIMARY,
	};
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	CHECK(pages != MAP_FAILED, "mmap: %s", strerror(errno));
	munmap(pages + PAGE, PAGE);
	memcpy(pages + PAGE - bytes, &head, bytes < sizeof(head) ? bytes : sizeof(head));
	ret = ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, pages + PAGE - bytes) ? -errno : 0;
	munmap(pages, PAGE);
	return ret;
}

static void query_argsz(void)
{
	uint8_t bytes[256];
	struct vfio_device_gfx_plane_info *info = (void *)bytes;
	static const uint32_t right[] = { 60, 61, 64, 65, 128, 4096, 1u << 31, ~0u };
	uint32_t argsz, end;
	unsigned int i;

	begin(fx_default_type());
	CHECK_EQ(offsetof(struct vfio_device_gfx_plane_info, region_index) + 4, DISPLAY_QUERY_MIN);
	for (argsz = 0; argsz < DISPLAY_QUERY_MIN; argsz++)
		CHECK_EQ(query_by(argsz, sizeof(*info)), -EINVAL, "argsz %u", argsz);
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		memset(bytes, GUARD, sizeof(bytes));
		info->argsz = right[i];
		info->flags = VFIO_GFX_PLANE_TYPE_REGION;
		info->drm_plane_type = DISPLAY_PRIMARY;
		CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, info), "argsz %u: %s",
		      right[i], strerror(errno));
		CHECK_EQ(info->drm_format, 0);
		end = right[i] < sizeof(*info) ? right[i] : sizeof(*info);
		for (; end < sizeof(bytes); end++)
			CHECK_EQ(bytes[end], GUARD, "byte %u, argsz %u", end, right[i]);
	}
	CHECK_EQ(query_by(DISPLAY_QUERY_MIN, DISPLAY_QUERY_MIN), 0);
	CHECK_EQ(query_by(sizeof(*info), sizeof(*info)), 0);
	CHECK_EQ(query_by(sizeof(*info), DISPLAY_QUERY_MIN - 4), -EFAULT);
	CHECK_EQ(query_by(sizeof(*info), 4), -EFAULT);
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, NULL) && errno == EFAULT, "NULL");
	/* The answer must be written; it is asked for in memory that can only be read. */
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, plane) && errno == EINVAL,
	      "a plane of zeros is no query");
}

/* There is a primary plane and no cursor. QEMU leaves the type 0, which is an overlay's. */
static void plane_types(void)
{
	static const uint32_t types[] = { 2, 3, 1u << 31, ~0u };
	struct picture p = picture_at(DISPLAY_START, 64, 64, 0);
	struct vfio_device_gfx_plane_info info;
	struct vgpu_chan *chan;
	unsigned int i;

	begin(fx_default_type());
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(&info, GUARD, sizeof(info));
		info.argsz = sizeof(info);
		info.flags = VFIO_GFX_PLANE_TYPE_REGION;
		info.drm_plane_type = types[i];
		CHECK(ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, &info) && errno == EINVAL,
		      "type %u", types[i]);
	}
	info.drm_plane_type = 0;
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, &info), "%s", strerror(errno));
	CHECK(info.drm_format == VGPU_HW_FORMAT_XRGB8888 && info.width == 64, "%u wide",
	      info.width);
	picture_check(&v, plane, &p);
}

static void no_dmabuf(void)
{
	uint32_t id;

	begin(fx_default_type());
	for (id = 0; id < 4; id++)
		CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_GFX_DMABUF, &id) && errno == ENOTTY,
		      "dma-buf %u", id);
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_GFX_DMABUF, NULL) && errno == ENOTTY, "NULL");
}

static void before_any_picture(void)
{
	begin(fx_default_type());
	display_check_none(&v, plane);
	CHECK(display_is_dark(plane, v.dev->region[DISPLAY_PLANE].bytes), "it is not dark");
}

/* Whether the plane can be mapped so; a refusal says @error, or EINVAL if that is 0. */
static bool maps(uint64_t at, uint64_t bytes, int prot, int flags, int error)
{
	void *ptr = mmap(NULL, bytes, prot, flags, v.dev->fd,
			 (off_t)(v.dev->region[DISPLAY_PLANE].offset + at));

	if (ptr == MAP_FAILED) {
		CHECK_EQ(errno, error ? error : EINVAL, "at %#llx", (unsigned long long)at);
		return false;
	}
	munmap(ptr, bytes);
	return true;
}

static void mappings(void)
{
	uint64_t end;
	void *ptr;

	begin(fx_default_type());
	end = v.dev->region[DISPLAY_PLANE].bytes;
	CHECK(maps(0, PAGE, PROT_READ, MAP_SHARED, 0), "first page");
	CHECK(maps(end - PAGE, PAGE, PROT_READ, MAP_SHARED, 0), "last page");
	CHECK(maps(5 * PAGE, 3 * PAGE, PROT_READ, MAP_SHARED, 0), "some pages");
	CHECK(!maps(end, PAGE, PROT_READ, MAP_SHARED, 0), "page behind");
	CHECK(!maps(end - PAGE, 2 * PAGE, PROT_READ, MAP_SHARED, 0), "across the end");
	CHECK(!maps(0, end + PAGE, PROT_READ, MAP_SHARED, 0), "all and one more");
	CHECK(!maps(1ull << 39, PAGE, PROT_READ, MAP_SHARED, 0), "far away");
	CHECK(!maps(0, PAGE, PROT_READ, MAP_PRIVATE, 0), "a copy of its own");
	CHECK(!maps(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), "a copy to write to");
	CHECK(!maps(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES), "to write to it");
	CHECK(!maps(0, PAGE, PROT_WRITE, MAP_SHARED, EACCES), "to write only");
	ptr = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, v.dev->fd,
		   (off_t)v.dev->region[DISPLAY_EDID].offset);
	CHECK(ptr == MAP_FAILED && errno == EINVAL, "the EDID can be mapped");
	/* What can be read does not become writable later, nor longer. */
	CHECK(mprotect((void *)plane, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
	      "becomes writable");
	ptr = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, v.dev->fd,
		   (off_t)(v.dev->region[DISPLAY_PLANE].offset + end - PAGE));
	CHECK(ptr != MAP_FAILED, "%s", strerror(errno));
	CHECK(mremap(ptr, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "grows beyond the end");
	munmap(ptr, PAGE);
}

static void writes_are_refused(void)
{
	struct picture p = picture_at(DISPLAY_START, 100, 50, 0);
	static const size_t counts[] = { 1, 4, 8, PAGE };
	uint64_t end, at;
	uint8_t buf[PAGE];
	struct vgpu_chan *chan;
	unsigned int i;

	begin(fx_default_type());
	end = v.dev->region[DISPLAY_PLANE].bytes;
	memset(buf, GUARD, sizeof(buf));
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	for (i = 0; i < 4; i++) {
		for (at = 0; at < end; at += end / 3)
			CHECK(vgpu_region_write(v.dev, DISPLAY_PLANE, at, buf, counts[i]) < 0,
			      "%zu bytes at %#llx", counts[i], (unsigned long long)at);
	}
	picture_check(&v, plane, &p);
}

static void reads_beyond_the_end(void)
{
	uint64_t end;
	uint8_t buf[2 * PAGE];

	begin(fx_default_type());
	end = v.dev->region[DISPLAY_PLANE].bytes;
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, end, buf, 1), -EINVAL);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, end - 4, buf, 8), -EINVAL);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, end + (1ull << 38), buf, 4), -EINVAL);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, 0, buf, 0), 0);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, end - sizeof(buf), buf, sizeof(buf)),
		 sizeof(buf));
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_PLANE, 0, (void *)8, 16), -EFAULT);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* Signals come while the picture is copied: a query is whole, or says that it was interrupted. */
static void signals_during_queries(void)
{
	const struct itimerval fast = { { 0, 500 }, { 0, 500 } }, off = { { 0, 0 }, { 0, 0 } };
	struct picture p = picture_at(DISPLAY_START + 4, 1280, 1024, 4 * 1281);
	const struct sigaction action = { .sa_handler = on_alarm };
	struct vfio_device_gfx_plane_info info;
	unsigned int i, whole = 0;
	struct vgpu_chan *chan;
	int ret;

	begin(fx_default_type());
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	alarms = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
	for (i = 0; i < 100000 && (whole < 50 || alarms < 50); i++) {
		ret = display_try_query(&v, VFIO_GFX_PLANE_TYPE_REGION, &info);
		if (ret && ret != -EINTR)
			break;
		whole += !ret;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
	CHECK(!ret || ret == -EINTR, "%s", strerror(-ret));
	ktap_note("%u of %u queries whole, %d signals", whole, i, (int)alarms);
	CHECK(whole >= 50, "%u of %u queries", whole, i);
	picture_check(&v, plane, &p);
}

static void query_for_ever(void *arg)
{
	struct vfio_device_gfx_plane_info info;
	volatile unsigned int *queries = arg;

	for (;; (*queries)++)
		display_query(&v, &info);
}

/* A process that is killed while it queries is gone at once, and leaves the picture alone. */
static void killed_during_queries(void)
{
	struct picture p = picture_at(DISPLAY_START + 4, 1280, 1024, 4 * 1281);
	volatile unsigned int *queries;
	struct vgpu_chan *chan;
	unsigned int i;
	pid_t pid;

	begin(fx_default_type());
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	queries = child_shared(sizeof(*queries));
	for (i = 0; i < 5; i++) {
		*queries = 0;
		pid = child_start(query_for_ever, (void *)queries);
		FX_SOON(*queries > 2);
		child_kill(pid);
		picture_check(&v, plane, &p);
	}
}

/* A copy of a picture is given back with the framebuffer. */
static void copy_goes_with_a_reset(void)
{
	struct picture p = picture_at(DISPLAY_START, 1920, 1200, 8192);
	struct vfio_device_gfx_plane_info info;

	fx_need("display");
	fx_need_reserve(false);
	group_make(GROUP_A, 4 * GROUP_LIMIT);
	fx_create(&v, "1Q");
	tune_frl(&v, 0);
	group_enter(GROUP_A);
	display_open(&v);
	group_leave();
	picture_present(display_chan(&v), &p, 0);
	display_query(&v, &info);
	CHECK_EQ(info.size, 4 * 1920 * 1200);
	CHECK(group_value(GROUP_A, "memory.current", NULL) > GROUP_OTHER, "no copy");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	group_wait_below(GROUP_A, GROUP_OTHER);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(regions),
	KTAP_TEST(region_argsz),
	KTAP_TEST(regions_that_are_not_there),
	KTAP_TEST(query_flags),
	KTAP_TEST(query_argsz),
	KTAP_TEST(plane_types),
	KTAP_TEST(no_dmabuf),
	KTAP_TEST(before_any_picture),
	KTAP_TEST(mappings),
	KTAP_TEST(writes_are_refused),
	KTAP_TEST(reads_beyond_the_end),
	KTAP_TEST(signals_during_queries),
	KTAP_TEST(killed_during_queries),
	KTAP_TEST(copy_goes_with_a_reset),
};

KTAP_MAIN(tests, cleanup)
