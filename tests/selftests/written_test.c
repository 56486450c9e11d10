// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages of guest memory a vGPU has written: exactly those, in the log of the device
 * (VFIO_DEVICE_FEATURE_DMA_LOGGING_*), where the kernel has it, and in the container's
 * (VFIO_IOMMU_DIRTY_PAGES), which is what a monitor uses elsewhere.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "fixture.h"

/* Of linux/vfio.h since 6.1, which the headers that build this may not have. */
#define LOG_START	6
#define LOG_STOP	7
#define LOG_REPORT	8

#define PAGE		4096u
#define PAGES		1024u

struct log_range {
	uint64_t iova;
	uint64_t length;
};

struct log_control {
	uint64_t page_size;
	uint32_t num_ranges;
	uint32_t reserved;
	uint64_t ranges;
};

struct log_report {
	uint64_t iova;
	uint64_t length;
	uint64_t page_size;
	uint64_t bitmap;
};

static struct fx_vgpu v;
static struct vgpu_chan *ce;
static struct vgpu_buf buf;

static int feature(uint32_t flags, void *data, size_t bytes)
{
	union {
		struct vfio_device_feature head;
		uint8_t bytes[64];
	} u = { .head = { .argsz = (uint32_t)(sizeof(u.head) + bytes), .flags = flags } };

	if (bytes)
		memcpy(u.head.data, data, bytes);
	if (ioctl(v.dev->fd, VFIO_DEVICE_FEATURE, &u.head) < 0)
		return -errno;
	if (bytes)
		memcpy(data, u.head.data, bytes);
	return 0;
}

/* As the device's log has them. A report clears what it tells. */
static int log_start(void)
{
	struct log_range range = { buf.iova, PAGES * PAGE };
	struct log_control control = {
		.page_size = PAGE, .num_ranges = 1, .ranges = (uintptr_t)&range,
	};
	int ret = feature(VFIO_DEVICE_FEATURE_SET | LOG_START, &control, sizeof(control));

	CHECK(ret || control.page_size == PAGE, "");
	return ret;
}

static int log_stop(void)
{
	return feature(VFIO_DEVICE_FEATURE_SET | LOG_STOP, NULL, 0);
}

/* Reads and clears: sets a bit for each page of that size, from @iova on. */
static int log_report(uint64_t iova, uint64_t *bitmap, uint64_t page_size)
{
	struct log_report arg = {
		.iova = iova, .length = PAGES * PAGE, .page_size = page_size,
		.bitmap = (uintptr_t)bitmap,
	};

	memset(bitmap, 0, PAGES / 8);
	return feature(VFIO_DEVICE_FEATURE_GET | LOG_REPORT, &arg, sizeof(arg));
}

static int container_flag(uint32_t flag)
{
	struct vfio_iommu_type1_dirty_bitmap arg = { .argsz = sizeof(arg), .flags = flag };

	return ioctl(v.dev->container, VFIO_IOMMU_DIRTY_PAGES, &arg) ? -errno : 0;
}

static int container_start(void)
{
	return container_flag(VFIO_IOMMU_DIRTY_PAGES_FLAG_START);
}

static int container_stop(void)
{
	return container_flag(VFIO_IOMMU_DIRTY_PAGES_FLAG_STOP);
}

/* The container tells of all of a mapping, in pages of its own. */
static int container_report(uint64_t iova, uint64_t *bitmap, uint64_t page_size)
{
	struct {
		struct vfio_iommu_type1_dirty_bitmap head;
		struct vfio_iommu_type1_dirty_bitmap_get get;
	} arg = {
		.head = { .argsz = sizeof(arg), .flags = VFIO_IOMMU_DIRTY_PAGES_FLAG_GET_BITMAP },
		.get = {
			.iova = iova, .size = PAGES * PAGE,
			.bitmap = { page_size, PAGES / 8, (__u64 *)bitmap },
		},
	};

	memset(bitmap, 0, PAGES / 8);
	return ioctl(v.dev->container, VFIO_IOMMU_DIRTY_PAGES, &arg) ? -errno : 0;
}

struct way {
	int (*start)(void);
	int (*stop)(void);
	int (*report)(uint64_t iova, uint64_t *bitmap, uint64_t page_size);
};

static const struct way of_device = { log_start, log_stop, log_report };
static const struct way of_container = {
	container_start, container_stop, container_report,
};

static const struct way *way;

static int start(void)
{
	return way->start();
}

static int stop(void)
{
	return way->stop();
}

static int report(uint64_t *bitmap, uint64_t page_size)
{
	return way->report(buf.iova, bitmap, page_size);
}

static void begin(const struct way *this)
{
	int ret;

	way = this;
	fx_need("execute packets");
	fx_create_open(&v, fx_default_type());
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 6);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, PAGES * PAGE, &buf));
	ret = start();
	if (ret == -ENOTTY)
		ktap_skip("this kernel has no log of written memory");
	CHECK_EQ(ret, 0);
}

static void written_cleanup(void)
{
	if (v.dev)
		vgpu_buf_free(&buf);
	fx_cleanup();
}

static void calls(void)
{
	static uint64_t bitmap[PAGES / 64];

	begin(&of_device);
	CHECK_EQ(start(), -EBUSY);
	CHECK_EQ(report(bitmap, PAGE), 0);
	CHECK(fx_is_zero(bitmap, sizeof(bitmap)), "");
	CHECK_EQ(stop(), 0);
	CHECK_EQ(stop(), -EINVAL);
	CHECK_EQ(report(bitmap, PAGE), -EINVAL);
	/* What is written without a log is in none. */
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_SYS(&buf, 0), 1, PAGES * PAGE));
	fx_finish(ce);
	CHECK_EQ(start(), 0);
	CHECK_EQ(report(bitmap, PAGE), 0);
	CHECK(fx_is_zero(bitmap, sizeof(bitmap)), "");
	/* To close the device ends it. */
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_SYS(&buf, 0), 1, PAGES * PAGE));
	fx_finish(ce);
	vgpu_buf_free(&buf);
	memset(&buf, 0, sizeof(buf));
	fx_close(&v);
	fx_open(&v);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, PAGES * PAGE, &buf));
	CHECK_EQ(stop(), -EINVAL);
	CHECK_EQ(start(), 0);
	CHECK_EQ(report(bitmap, PAGE), 0);
	CHECK(fx_is_zero(bitmap, sizeof(bitmap)), "");
}

static void check_exact(const struct way *this)
{
	static uint64_t bitmap[PAGES / 64], want[PAGES / 64];
	uint64_t at, bytes, page, size;
	unsigned int round, i;

	begin(this);
	for (round = 0; round < 60; round++) {
		size = round % 3 || way == &of_container ? PAGE : 16 * PAGE;
		memset(want, 0, sizeof(want));
		for (i = (unsigned int)fx_random_below(12); i; i--) {
			at = 4 * fx_random_below(PAGES * PAGE / 4);
			bytes = 4 * (1 + fx_random_below(PAGE));
			if (bytes > PAGES * PAGE - at)
				bytes = PAGES * PAGE - at;
			/* Reads are in no log. */
			FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_FB(FX_MIB), VGPU_SYS(&buf, at),
						    bytes));
			if (i % 2)
				continue;
			FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_SYS(&buf, at), i, bytes));
			for (page = at / size; page <= (at + bytes - 1) / size; page++)
				want[page / 64] |= 1ull << page % 64;
		}
		fx_finish(ce);
		CHECK_EQ(report(bitmap, size), 0);
		CHECK(!memcmp(bitmap, want, sizeof(want)), "round %u", round);
	}
	CHECK_EQ(report(bitmap, PAGE), 0);
	CHECK(fx_is_zero(bitmap, sizeof(bitmap)), "");
}

static void exact(void)
{
	check_exact(&of_device);
}

static void exact_in_the_container(void)
{
	check_exact(&of_container);
}

/* What a guest asks to write where it has no memory takes none of the host's. */
static void unmapped(void)
{
	static uint64_t bitmap[PAGES / 64];
	const uint64_t far = 1ull << 36;

	begin(&of_device);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_SYS(&buf, far + 4), 1, 2 * PAGE));
	FX_SOON(fx_faults(&v) == 1);
	CHECK_EQ(log_report(buf.iova + far, bitmap, PAGE), 0);
	CHECK(fx_is_zero(bitmap, sizeof(bitmap)), "");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(calls),
	KTAP_TEST(exact),
	KTAP_TEST(exact_in_the_container),
	KTAP_TEST(unmapped),
};

KTAP_MAIN(tests, written_cleanup)
