// SPDX-License-Identifier: GPL-2.0
/*
 * The log of guest memory that a vGPU writes (VFIO_DEVICE_FEATURE_DMA_LOGGING_*), where the kernel
 * has it: exactly the pages that were written.
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

static int start(void)
{
	struct log_range range = { buf.iova, PAGES * PAGE };
	struct log_control control = {
		.page_size = PAGE, .num_ranges = 1, .ranges = (uintptr_t)&range,
	};
	int ret = feature(VFIO_DEVICE_FEATURE_SET | LOG_START, &control, sizeof(control));

	CHECK(ret || control.page_size == PAGE, "");
	return ret;
}

static int stop(void)
{
	return feature(VFIO_DEVICE_FEATURE_SET | LOG_STOP, NULL, 0);
}

/* Reads and clears: sets a bit for each page of that size. */
static int report(uint64_t *bitmap, uint64_t page_size)
{
	struct log_report arg = {
		.iova = buf.iova, .length = PAGES * PAGE, .page_size = page_size,
		.bitmap = (uintptr_t)bitmap,
	};

	memset(bitmap, 0, PAGES / 8);
	return feature(VFIO_DEVICE_FEATURE_GET | LOG_REPORT, &arg, sizeof(arg));
}

static void begin(void)
{
	int ret;

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

	begin();
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

static void exact(void)
{
	static uint64_t bitmap[PAGES / 64], want[PAGES / 64];
	uint64_t at, bytes, page, size;
	unsigned int round, i;

	begin();
	for (round = 0; round < 60; round++) {
		size = round % 3 ? PAGE : 16 * PAGE;
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

static const struct ktap_test tests[] = {
	KTAP_TEST(calls),
	KTAP_TEST(exact),
};

KTAP_MAIN(tests, written_cleanup)
