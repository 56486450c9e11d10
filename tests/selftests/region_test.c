// SPDX-License-Identifier: GPL-2.0
/* BARs: region info, widths, bad offsets, tails, what can be mapped. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/userfaultfd.h>
#include <linux/vfio.h>

#include "child.h"
#include "fixture.h"

/* From Linux 6.7 on, which the host's headers may not be. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC	(1 << 15)
#endif

static struct fx_vgpu v;

static ssize_t rd(unsigned int index, uint64_t offset, void *buf, size_t count)
{
	return vgpu_region_read(v.dev, index, offset, buf, count);
}

static ssize_t wr(unsigned int index, uint64_t offset, const void *buf, size_t count)
{
	return vgpu_region_write(v.dev, index, offset, buf, count);
}

static void region_info(void)
{
	struct vfio_region_info info = { .argsz = sizeof(info), .index = 11 };
	const struct vgpu_region *fb, *chan, *regs;

	fx_create_open(&v, fx_default_type());
	fb = &v.dev->region[VGPU_HW_BAR_FB];
	regs = &v.dev->region[VGPU_HW_BAR_REGS];
	chan = &v.dev->region[VGPU_HW_BAR_CHANNELS];
	CHECK_EQ(fb->nr_areas, 1);
	CHECK_EQ(fb->area[0].offset, 0);
	CHECK_EQ(fb->area[0].bytes, v.dev->fb_bytes);
	CHECK_EQ(fb->bytes & (fb->bytes - 1), 0, "no power of two");
	CHECK(fb->bytes >= v.dev->fb_bytes && fb->bytes < 2 * v.dev->fb_bytes,
	      "%llu", (unsigned long long)fb->bytes);
	CHECK_EQ(chan->nr_areas, 1);
	CHECK_EQ(chan->area[0].bytes, (uint64_t)v.dev->channels * VGPU_HW_PAGE_SIZE);
	CHECK_EQ(regs->nr_areas, 0, "registers can be mapped");
	CHECK_EQ(regs->bytes, VGPU_HW_REGS_SIZE);
	CHECK_EQ(v.dev->region[VFIO_PCI_ROM_REGION_INDEX].bytes, 0);
	CHECK_EQ(v.dev->region[VFIO_PCI_VGA_REGION_INDEX].bytes, 0);
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, &info) && errno == EINVAL, "region 11");
	info.index = ~0u;
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, &info) && errno == EINVAL, "region ~0");
	info.index = 0;
	info.argsz = 8;
	CHECK(ioctl(v.dev->fd, VFIO_DEVICE_GET_REGION_INFO, &info) &&
	      errno == EINVAL, "short argsz");
}

static void register_widths(void)
{
	uint64_t whole, version, at = VGPU_HW_DEV_BASE + VGPU_HW_ID;
	uint8_t bytes[8];
	unsigned int width, i;

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(rd(2, at, &whole, 8), 8);
	CHECK_EQ((uint32_t)le64toh(whole), VGPU_HW_ID_MAGIC);
	version = le64toh(whole) >> 32;
	CHECK(version == VGPU_HW_VERSION_1_0 || version == VGPU_HW_VERSION_CURRENT, "%#llx",
	      (unsigned long long)version);
	for (width = 1; width <= 4; width *= 2) {
		for (i = 0; i < 8; i += width)
			CHECK_EQ(rd(2, at + i, bytes + i, width), width);
		CHECK(!memcmp(bytes, &whole, 8), "by %u bytes", width);
	}
}

/* What a guest learns from VERSION: whether there are address spaces. */
static void version_tells_of_spaces(void)
{
	uint64_t root = vgpu_chan_reg(0, VGPU_HW_CHAN_ROOT);
	uint32_t version, word = htole32(VGPU_HW_ROOT_VALID | 1), zero = 0;
	bool spaces;

	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_VERSION, &version));
	spaces = version != VGPU_HW_VERSION_1_0;
	CHECK_EQ(spaces, fx_executes(), "version %#x", version);
	CHECK_EQ(wr(2, root, &word, 4), spaces ? 4 : -EINVAL);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, root, &version));
	CHECK_EQ(version, spaces ? VGPU_HW_ROOT_VALID | 1 : 0);
	CHECK_EQ(wr(2, root, &zero, 4), 4);
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE, &zero, 4), spaces ? 4 : -ENXIO);
	/* And the registers of 1.2. */
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE_PAGES, &zero, 4),
		 spaces ? 4 : -ENXIO);
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_GUEST_INFO(0), &zero, 4), spaces ? 4 : -ENXIO);
}

#define GUEST_INFO(i)	(VGPU_HW_DEV_BASE + VGPU_HW_GUEST_INFO(i))
#define GUEST_WORDS	(sizeof(struct vgpu_hw_guest_info) / 4)

static void put_guest_info(uint8_t *info)
{
	unsigned int i;

	for (i = 0; i < sizeof(struct vgpu_hw_guest_info); i++)
		info[i] = (uint8_t)(fx_random() | 1);
	for (i = 0; i < GUEST_WORDS; i++)
		CHECK_EQ(wr(2, GUEST_INFO(i), info + i * 4, 4), 4);
}

static void check_guest_info(const uint8_t *info)
{
	uint8_t bytes[sizeof(struct vgpu_hw_guest_info)];
	unsigned int width, i;

	for (width = 1; width <= 8; width *= 2) {
		for (i = 0; i < sizeof(bytes); i += width)
			CHECK_EQ(rd(2, GUEST_INFO(0) + i, bytes + i, width), width);
		CHECK(!memcmp(bytes, info, sizeof(bytes)), "by %u bytes", width);
	}
}

/* 128 bytes that the guest writes, and a reset clears, whoever does it. UUID comes next. */
static void guest_info(void)
{
	static const uint8_t none[sizeof(struct vgpu_hw_guest_info)];
	uint8_t info[sizeof(none)];
	uint64_t word;

	fx_need("guest information");
	fx_create_open(&v, fx_default_type());
	check_guest_info(none);
	put_guest_info(info);
	check_guest_info(info);
	CHECK_EQ(wr(2, GUEST_INFO(0), none, 1), -EINVAL);
	CHECK_EQ(wr(2, GUEST_INFO(0), none, 2), -EINVAL);
	CHECK_EQ(wr(2, GUEST_INFO(0), none, 8), -EINVAL);
	CHECK_EQ(GUEST_INFO(GUEST_WORDS), VGPU_HW_DEV_BASE + VGPU_HW_UUID(0));
	CHECK_EQ(wr(2, GUEST_INFO(GUEST_WORDS), none, 4), -ENXIO);
	CHECK_EQ(wr(2, GUEST_INFO(0) - 4, none, 4), -ENXIO);
	CHECK_EQ(rd(2, GUEST_INFO(0) - 4, &word, 4), -ENXIO);
	check_guest_info(info);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	check_guest_info(none);
	put_guest_info(info);
	FX_OK(v.dev, vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET,
				      VGPU_HW_RESET_MAGIC));
	check_guest_info(none);
	put_guest_info(info);
	fx_close(&v);
	fx_open(&v);
	check_guest_info(none);
}

/* Writes of a wrong width fail and change nothing. */
static void register_writes(void)
{
	uint64_t ring = vgpu_chan_reg(0, VGPU_HW_CHAN_RING), value;
	uint64_t ctrl = vgpu_chan_reg(0, VGPU_HW_CHAN_CTRL);
	uint8_t ones[8];
	uint32_t word;

	fx_need("register checks");
	fx_create_open(&v, fx_default_type());
	memset(ones, 0xff, sizeof(ones));
	FX_OK(v.dev, vgpu_reg_write64(v.dev, ring, 0x12340));
	FX_OK(v.dev, vgpu_reg_read64(v.dev, ring, &value));
	CHECK_EQ(value, 0x12340);
	CHECK_EQ(wr(2, ring, ones, 1), -EINVAL);
	CHECK_EQ(wr(2, ring, ones, 2), -EINVAL);
	CHECK_EQ(wr(2, ring + 2, ones, 4), -EINVAL, "misaligned");
	CHECK_EQ(wr(2, ctrl, ones, 1), -EINVAL);
	CHECK_EQ(wr(2, ctrl, ones, 2), -EINVAL);
	FX_OK(v.dev, vgpu_reg_read64(v.dev, ring, &value));
	CHECK_EQ(value, 0x12340);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, ctrl, &word));
	CHECK_EQ(word, 0);
	/* Read-only registers keep their values. */
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_ID, ones, 4), -ENXIO);
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_FB_SIZE, ones, 8), -EINVAL);
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_ID, &word));
	CHECK_EQ(word, VGPU_HW_ID_MAGIC);
	FX_OK(v.dev, vgpu_reg_read64(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_FB_SIZE, &value));
	CHECK_EQ(value, v.dev->fb_bytes);
	/* A write of anything but the magic word to the reset register does not reset. */
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + VGPU_HW_RESET, ones, 4), -EINVAL);
	FX_OK(v.dev, vgpu_reg_read64(v.dev, ring, &value));
	CHECK_EQ(value, 0x12340);
}

static void registers_that_are_not_there(void)
{
	uint64_t beyond;
	uint32_t word = 0;

	fx_need("register checks");
	fx_create_open(&v, fx_default_type());
	beyond = vgpu_chan_reg(v.dev->channels, VGPU_HW_CHAN_CTRL);
	CHECK_EQ(rd(2, VGPU_HW_DEV_BASE + 0x800, &word, 4), -ENXIO);
	CHECK_EQ(wr(2, VGPU_HW_DEV_BASE + 0x800, &word, 4), -ENXIO);
	if (beyond < VGPU_HW_REGS_SIZE) {
		word = VGPU_HW_CTRL_ENABLE;
		CHECK_EQ(rd(2, beyond, &word, 4), -ENXIO, "channel not owned");
		CHECK_EQ(wr(2, beyond, &word, 4), -ENXIO, "channel not owned");
	}
	word = 0;
	CHECK_EQ(rd(2, 0x500, &word, 4), 4);
	CHECK_EQ(word, ~0u, "the page of displays");
}

static void bad_offsets(void)
{
	static const unsigned int regions[] = { 0, 2, 4 };
	uint8_t buf[16] = { 0 };
	unsigned int i;
	uint64_t end;

	fx_create_open(&v, fx_default_type());
	for (i = 0; i < 3; i++) {
		end = v.dev->region[regions[i]].bytes;
		CHECK_EQ(rd(regions[i], end, buf, 4), -EINVAL, "region %u", regions[i]);
		CHECK_EQ(wr(regions[i], end, buf, 4), -EINVAL);
		CHECK_EQ(rd(regions[i], end - 4, buf, 8), -EINVAL);
		CHECK_EQ(rd(regions[i], end + (1ull << 38), buf, 4), -EINVAL);
		CHECK_EQ(rd(regions[i], 0, buf, 0), 0);
	}
	CHECK_EQ(rd(1, 0, buf, 4), -EINVAL, "a BAR that is not there");
	CHECK_EQ(pread(v.dev->fd, buf, 4, 1ll << 46), -1);
	CHECK_EQ(pread(v.dev->fd, buf, 4, 0x7ffffffffffffffcll), -1);
	CHECK_EQ(rd(0, 0, (void *)8, 16), -EFAULT);
	CHECK_EQ(wr(0, 0, (void *)8, 16), -EFAULT);
}

/* Behind the part of a BAR that the vGPU owns reads give ones, and writes are dropped. */
static void tails(void)
{
	static const unsigned int bars[] = { 0, 4 };
	unsigned int i, tails = 0;
	uint64_t owned;
	uint8_t buf[8192];

	fx_create_open(&v, fx_default_type());
	for (i = 0; i < 2; i++) {
		const struct vgpu_region *region = &v.dev->region[bars[i]];

		owned = region->area[0].bytes;
		if (owned == region->bytes)
			continue;
		tails++;
		memset(buf, 0, sizeof(buf));
		CHECK_EQ(wr(bars[i], owned, buf, 8), 8);
		CHECK_EQ(rd(bars[i], owned, buf, 8), 8);
		CHECK_EQ(buf[0] & buf[7], 0xff);
		memset(buf, 0, sizeof(buf));
		CHECK_EQ(rd(bars[i], region->bytes - 8, buf, 8), 8);
		CHECK_EQ(buf[0] & buf[7], 0xff);
		/* Across the end of the part that is owned. */
		memset(buf, 0x11, sizeof(buf));
		CHECK_EQ(wr(bars[i], owned - 4096, buf, sizeof(buf)), sizeof(buf));
		CHECK_EQ(rd(bars[i], owned - 4096, buf, sizeof(buf)), sizeof(buf));
		CHECK_EQ(buf[4095], bars[i] ? buf[4095] : 0x11);
		CHECK_EQ(buf[4096], 0xff);
	}
	if (!tails)
		ktap_skip("sizes are powers of two");
}

static bool maps(uint64_t offset, uint64_t bytes)
{
	void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v.dev->fd, (off_t)offset);

	if (ptr == MAP_FAILED) {
		CHECK_EQ(errno, EINVAL);
		return false;
	}
	munmap(ptr, bytes);
	return true;
}

static void mappings(void)
{
	const struct vgpu_region *fb, *chan;

	fx_create_open(&v, fx_default_type());
	fb = &v.dev->region[0];
	chan = &v.dev->region[4];
	CHECK(maps(fb->offset, 4096), "first page");
	CHECK(maps(fb->offset + v.dev->fb_bytes - 4096, 4096), "last page");
	CHECK(!maps(fb->offset + v.dev->fb_bytes, 4096), "page behind");
	CHECK(!maps(fb->offset + v.dev->fb_bytes - 4096, 8192), "across");
	CHECK(!maps(v.dev->region[2].offset, 4096), "registers");
	CHECK(!maps(v.dev->region[2].offset + VGPU_HW_MSIX_TABLE, 4096), "MSI-X table");
	CHECK(!maps(v.dev->region[VGPU_REGION_CONFIG].offset, 4096), "configuration space");
	CHECK(maps(chan->offset, 4096), "channel page");
	CHECK(!maps(chan->offset + chan->area[0].bytes, 4096), "channel not owned");
	CHECK(!maps(1ull << 46, 4096), "far away");
}

/* The mapping and reads and writes of any size see the same memory. */
static void memory_both_ways(void)
{
	uint8_t *buf = malloc(3 * 4096), *copy = malloc(3 * 4096);
	uint64_t window = 64 * 4096;
	unsigned int i;

	CHECK(buf && copy, "out of memory");
	fx_create_open(&v, fx_default_type());
	CHECK(fx_is_zero(v.dev->fb, window), "fresh memory");
	for (i = 0; i < 300; i++) {
		uint64_t bytes = 1 + fx_random_below(3 * 4096 - 1);
		uint64_t at = fx_random_below(window - bytes);
		uint64_t k;

		for (k = 0; k < bytes; k++)
			buf[k] = (uint8_t)fx_random();
		if (i % 2) {
			memcpy(v.dev->fb + at, buf, bytes);
			CHECK_EQ(rd(0, at, copy, bytes), bytes);
		} else {
			CHECK_EQ(wr(0, at, buf, bytes), bytes);
			memcpy(copy, v.dev->fb + at, bytes);
		}
		CHECK(!memcmp(buf, copy, bytes), "%llu bytes at %#llx",
		      (unsigned long long)bytes, (unsigned long long)at);
	}
	free(buf);
	free(copy);
}

/* While memory decoding is off, reads give ones and writes are dropped. */
static void memory_decoding_off(void)
{
	uint32_t word;

	fx_create_open(&v, fx_default_type());
	memset(v.dev->fb, 0x22, 4096);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, 2));
	CHECK_EQ(rd(0, 0, &word, 4), 4);
	CHECK_EQ(word, ~0u);
	CHECK_EQ(rd(2, VGPU_HW_DEV_BASE, &word, 4), 4);
	CHECK_EQ(word, ~0u);
	word = 0;
	CHECK_EQ(wr(0, 0, &word, 4), 4);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 2, 0));
	CHECK_EQ(rd(0, 0, &word, 4), 4);
	CHECK_EQ(word, 0x22222222, "a write got through");
	CHECK_EQ(rd(2, VGPU_HW_DEV_BASE, &word, 4), 4);
	CHECK_EQ(le32toh(word), VGPU_HW_ID_MAGIC);
}

/* Has the kernel mark all pages of the mapping; false: it refuses to. */
static bool write_protect(void *at, uint64_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC };
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, bytes },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)at, bytes },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg) &&
	       !ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
}

static void touch_protected(void *refused)
{
	*(volatile bool *)refused = !write_protect(v.dev->fb, FX_MIB);
	if (!*(volatile bool *)refused)
		v.dev->fb[FX_MIB / 2] = 1;
}

/*
 * A mapping that userfaultfd write-protects: its pages cannot be mapped, and who touches one, also
 * for the user, must not try for ever. Not every kernel allows it.
 */
static void write_protected_pages(void)
{
	volatile bool *refused = child_shared(sizeof(*refused));
	int status;

	fx_create_open(&v, fx_default_type());
	v.dev->fb[0] = 1;
	CHECK(child_ends(child_start(touch_protected, (void *)refused), FX_TIMEOUT_MS, &status),
	      "faults for ever");
	ktap_note("the kernel %s it", *refused ? "refuses" : "allows");
	CHECK(!WIFSIGNALED(status) || WTERMSIG(status) == SIGBUS, "status %#x", status);
	CHECK_EQ(v.dev->fb[0], 1);
	v.dev->fb[FX_MIB] = 1;
}

static const struct ktap_test tests[] = {
	KTAP_TEST(region_info),
	KTAP_TEST(register_widths),
	KTAP_TEST(version_tells_of_spaces),
	KTAP_TEST(guest_info),
	KTAP_TEST(register_writes),
	KTAP_TEST(registers_that_are_not_there),
	KTAP_TEST(bad_offsets),
	KTAP_TEST(tails),
	KTAP_TEST(mappings),
	KTAP_TEST(memory_both_ways),
	KTAP_TEST(memory_decoding_off),
	KTAP_TEST(write_protected_pages),
};

KTAP_MAIN(tests, fx_cleanup)
