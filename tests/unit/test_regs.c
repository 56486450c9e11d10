// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu's transport over registers, on a bus that has no device behind it: on a device that lies,
 * and on one of which any access fails.
 */
#include "vgpu_test.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libvgpu/internal.h"

#define PAGE		VGPU_HW_PAGE_SIZE
#define FB_BYTES	(64ull * PAGE)
#define CHANNELS	4u
#define ORDER		VGPU_HW_RING_ORDER_MIN
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)
#define GUEST_WORDS	32
#define GUEST_WORDS_1_2	16

/**
 * struct fake - the device, and what libvgpu has of it
 * @id:      the registers of these names
 * @version: likewise, and so on up to @vectors
 * @ctrl:    likewise, of each channel
 * @guest:   VGPU_HW_GUEST_INFO
 * @touched: how often these were read or written
 * @pages:   the channel pages while they are mapped
 * @calls:   of the bus so far
 * @fails:   this call of the bus fails; 0: none does
 * @bufs:    buffers that are mapped
 * @locks:   bytes that are locked
 * @closed:  the bus was closed
 */
static struct {
	uint32_t id, version, channels, engines, vectors;
	uint64_t fb_bytes;
	uint32_t ctrl[CHANNELS];
	uint32_t fault_code;
	uint32_t guest[GUEST_WORDS];
	unsigned int touched;
	uint8_t *pages;
	unsigned int calls, fails;
	int bufs, locks;
	bool closed;
} fake;

static struct vgpu_dev *dev;

static int called(struct vgpu_dev *of)
{
	return ++fake.calls == fake.fails ? vgpu_fail(of, -EIO, "this was to fail") : 0;
}

static void fake_close(struct vgpu_dev *of)
{
	fake.closed = true;
	fake.pages = NULL;
}

/* What cannot be mapped is as large as the device says, but not there. */
static int fake_map(struct vgpu_dev *of, unsigned int bar, uint64_t bytes, void **ptr)
{
	uint64_t most = bar == VGPU_HW_BAR_FB ? FB_BYTES : CHANNELS * PAGE;
	int ret = called(of);

	*ptr = NULL;
	if (ret)
		return ret;
	if (!bytes || bytes > most)
		return vgpu_fail(of, -EINVAL, "BAR %u has %llu bytes", bar,
				 (unsigned long long)most);
	*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*ptr, MAP_FAILED);
	if (bar == VGPU_HW_BAR_CHANNELS)
		fake.pages = *ptr;
	return 0;
}

static struct vgpu_hw_channel *page_of(uint32_t id)
{
	return (void *)(fake.pages + id * PAGE);
}

/* A channel register: what is submitted is completed at once. */
static uint64_t chan_rw(uint64_t at, uint64_t value, bool write)
{
	uint32_t id = (uint32_t)(at / VGPU_HW_CHAN_STRIDE);
	struct vgpu_hw_channel *page;

	assert_true(id < CHANNELS);
	page = page_of(id);
	switch (at % VGPU_HW_CHAN_STRIDE) {
	case VGPU_HW_CHAN_CTRL:
		if (write) {
			fake.ctrl[id] = (uint32_t)value;
			page->get = 0;
			page->state = htole32(value & VGPU_HW_CTRL_ENABLE ? VGPU_HW_STATE_SLEEPING :
					      VGPU_HW_STATE_DISABLED);
		}
		return fake.ctrl[id];
	case VGPU_HW_CHAN_DOORBELL:
		page->get = page->put;
		return 0;
	case VGPU_HW_CHAN_FAULT_CODE:
		return fake.fault_code;
	}
	return 0;
}

static uint64_t dev_rw(uint64_t at, uint64_t value, bool write)
{
	uint64_t i = (at - VGPU_HW_GUEST_INFO(0)) / 4;

	if (at >= VGPU_HW_GUEST_INFO(0) && i < GUEST_WORDS) {
		fake.touched++;
		if (write)
			fake.guest[i] = (uint32_t)value;
		return fake.guest[i];
	}
	switch (at) {
	case VGPU_HW_ID: return fake.id;
	case VGPU_HW_VERSION: return fake.version;
	case VGPU_HW_CHANNELS: return fake.channels;
	case VGPU_HW_FB_SIZE: return fake.fb_bytes;
	case VGPU_HW_ENGINES: return fake.engines;
	case VGPU_HW_NR_VECTORS: return fake.vectors;
	}
	return 0;
}

static int fake_reg_rw(struct vgpu_dev *of, uint64_t offset, void *buf, size_t count, bool write)
{
	uint64_t value = 0;
	int ret = called(of);

	if (ret)
		return ret;
	memcpy(&value, buf, write ? count : 0);
	value = le64toh(value);
	value = offset >= VGPU_HW_CHAN_BASE ? chan_rw(offset - VGPU_HW_CHAN_BASE, value, write) :
		dev_rw(offset - VGPU_HW_DEV_BASE, value, write);
	value = htole64(value);
	if (!write)
		memcpy(buf, &value, count);
	return 0;
}

static int fake_config_rw(struct vgpu_dev *of, unsigned int offset, void *buf, size_t count,
			  bool write)
{
	if (!write)
		memset(buf, 0, count);
	return called(of);
}

static int fake_buf_map(struct vgpu_dev *of, struct vgpu_buf *buf)
{
	int ret = called(of);

	buf->iova = (uintptr_t)buf->ptr;
	fake.bufs += !ret;
	return ret;
}

static void fake_buf_unmap(struct vgpu_buf *buf)
{
	fake.bufs--;
}

static int fake_lock(struct vgpu_dev *of, uint64_t first, uint64_t nr, uint64_t *next)
{
	int ret = called(of);

	assert_true(nr && first + nr <= VGPU_HW_MAX_CHANNELS + FB_BYTES / PAGE);
	fake.locks += ret || nr > 1 || first >= VGPU_HW_MAX_CHANNELS ? 0 : 1;
	return ret;
}

static void fake_unlock(struct vgpu_dev *of, uint64_t first, uint64_t nr)
{
	fake.locks -= first < VGPU_HW_MAX_CHANNELS;
}

static int fake_reset(struct vgpu_dev *of)
{
	return called(of);
}

static const struct vgpu_bus fake_bus = {
	.close = fake_close, .map = fake_map, .reg_rw = fake_reg_rw,
	.config_rw = fake_config_rw, .buf_map = fake_buf_map, .buf_unmap = fake_buf_unmap,
	.reset = fake_reset, .lock = fake_lock, .unlock = fake_unlock,
};

static int begin(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.id = VGPU_HW_ID_MAGIC;
	fake.version = VGPU_HW_VERSION_CURRENT;
	fake.channels = CHANNELS;
	fake.engines = 2;
	fake.vectors = 3;
	fake.fb_bytes = FB_BYTES;
	dev = NULL;
	return 0;
}

static int end(void **state)
{
	vgpu_dev_close(dev);
	dev = NULL;
	return 0;
}

/* Nothing is open afterwards if it fails. */
static int open_fake(void)
{
	int ret;

	fake.closed = false;
	dev = vgpu_regs_new(&fake_bus, "fake");
	assert_non_null(dev);
	ret = vgpu_regs_open(dev);
	if (!ret)
		return 0;
	assert_int_equal(vgpu_dev_open_failed(dev, ret), ret);
	dev = NULL;
	assert_true(fake.closed);
	check_that(*vgpu_dev_error(NULL), "no text of error %d", ret);
	return ret;
}

static int use(struct vgpu_chan *chan)
{
	int ret = vgpu_chan_nop(chan);

	return ret ? ret : vgpu_chan_wait_idle(chan, 1000);
}

/* Channels of all kinds; what was made is freed, whatever fails. */
static int use_all(void)
{
	struct vgpu_chan *fb = NULL, *sys = NULL, *in = NULL;
	struct vgpu_space *space = NULL;
	struct vgpu_buf buf = {};
	int ret;

	ret = vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &fb);
	if (!ret)
		ret = vgpu_chan_create(dev, 1, VGPU_RING_SYS, ORDER, &sys);
	if (!ret)
		ret = vgpu_space_create(dev, &space);
	if (!ret)
		ret = vgpu_chan_create_in(space, 0, ORDER, PAGE, &in);
	if (!ret)
		ret = vgpu_buf_alloc(dev, 2 * PAGE, &buf);
	if (!ret)
		ret = vgpu_space_map(space, 1ull << 30, VGPU_SYS(&buf, 0), 2 * PAGE, RW);
	if (!ret)
		ret = vgpu_space_unmap(space, 1ull << 30, 2 * PAGE);
	if (!ret)
		ret = vgpu_space_invalidate(space);
	ret = ret ?: use(fb) ?: use(sys) ?: use(in) ?: vgpu_chan_disable(fb) ?: vgpu_dev_reset(dev);
	vgpu_buf_free(&buf);
	vgpu_chan_destroy(in);
	vgpu_space_destroy(space);
	vgpu_chan_destroy(sys);
	vgpu_chan_destroy(fb);
	return ret;
}

/* Each call of the bus fails once. ASan finds what is not freed, or freed twice. */
static void test_each_call_fails(void **state)
{
	unsigned int nr, i, unseen = 0;
	int ret;

	for (nr = 1; ; nr++) {
		begin(NULL);
		fake.fails = nr;
		ret = open_fake();
		if (!ret) {
			ret = use_all();
			for (i = 0; i < CHANNELS; i++)
				check_that(!dev->chan_used[i], "channel %u, call %u", i, nr);
			check_that(!fake.locks, "%d channels are locked, call %u", fake.locks, nr);
		}
		assert_int_equal(fake.bufs, 0);
		end(NULL);
		if (fake.calls < nr)
			break;
		check_that(!ret || ret == -EIO, "call %u: %d", nr, ret);
		unseen += !ret;
	}
	assert_int_equal(ret, 0);
	/* To destroy three channels, one of them in an address space, is never an error. */
	assert_int_equal(unseen, 4);
	assert_true(nr > 60);
}

static void test_registers_lie(void **state)
{
	static const uint32_t numbers[] = { 0, CHANNELS + 1, 33, 1024, 1025, 1u << 31, ~0u };
	unsigned int i;

	fake.id ^= 1;
	assert_int_equal(open_fake(), -ENODEV);
	begin(NULL);
	fake.version = 0x00020000;
	assert_int_equal(open_fake(), -EPROTO);
	fake.version = 0;
	assert_int_equal(open_fake(), -EPROTO);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		begin(NULL);
		fake.channels = numbers[i];
		assert_int_not_equal(open_fake(), 0);
		begin(NULL);
		fake.fb_bytes = i ? (uint64_t)numbers[i] << 32 : 0;
		assert_int_not_equal(open_fake(), 0);
		/* Any number of vectors, as none is connected. */
		begin(NULL);
		fake.vectors = numbers[i];
		assert_int_equal(open_fake(), 0);
		assert_int_equal(use_all(), 0);
		end(NULL);
		begin(NULL);
		fake.engines = numbers[i];
		assert_int_equal(open_fake(), numbers[i] > VGPU_HW_MAX_ENGINES ? -EPROTO : 0);
		end(NULL);
	}
	/* Part of a page of framebuffer holds no table. */
	begin(NULL);
	fake.fb_bytes = PAGE + 64;
	assert_int_equal(open_fake(), 0);
	assert_int_not_equal(use_all(), 0);
}

static void test_channel_lies(void **state)
{
	static const uint32_t states[] = { VGPU_HW_STATE_DISABLED, 4, ~0u };
	struct vgpu_chan *chan;
	unsigned int i;

	assert_int_equal(open_fake(), 0);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	assert_int_equal(use(chan), 0);
	page_of(0)->get = htole64(5);
	assert_int_equal(vgpu_chan_nop(chan), -EPROTO);
	page_of(0)->get = ~0ull;
	assert_int_equal(vgpu_chan_nop(chan), -EPROTO);
	page_of(0)->get = 0;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		page_of(0)->state = htole32(states[i]);
		assert_int_equal(vgpu_chan_wait_idle(chan, 1000), -ENODEV);
	}
	page_of(0)->state = htole32(VGPU_HW_STATE_FAULTED);
	fake.fault_code = ~0u;
	assert_int_equal(vgpu_chan_wait_idle(chan, 1000), -EIO);
	assert_string_equal(vgpu_dev_error(dev),
			    "fake: channel 0: unknown fault at packet 0, address 0");
	vgpu_chan_destroy(chan);
}

/* Programs of other channels write over page tables: no page outside of the framebuffer is used. */
static void test_tables_lie(void **state)
{
	u64 rnd = test_seed();
	struct vgpu_space *space;
	uint64_t *words, i;
	unsigned int round;
	int ret;

	assert_int_equal(open_fake(), 0);
	assert_int_equal(vgpu_space_create(dev, &space), 0);
	assert_int_equal(vgpu_space_map(space, 0, VGPU_FB(0), PAGE, RW), 0);
	words = (void *)dev->fb;
	for (round = 0; round < 300; round++) {
		for (i = 0; i < 4 * PAGE / 8; i++)
			words[i] = random_next(&rnd) & (round % 3 ? ~0ull : ~(uint64_t)RW);
		ret = vgpu_space_map(space, (random_next(&rnd) & 0x7f) << 30, VGPU_FB(0), PAGE, RW);
		assert_true(!ret || ret == -EIO || ret == -EEXIST || ret == -ENOSPC);
		ret = vgpu_space_unmap(space, (random_next(&rnd) & 0x7f) << 30, 3 * PAGE);
		assert_true(!ret || ret == -EIO);
	}
	vgpu_space_destroy(space);
}

static const struct vgpu_hw_label *label_of(uint32_t id)
{
	return (void *)(fake.pages + id * PAGE + VGPU_HW_LABEL);
}

/* What the host shows: written where the device knows of it, once for the driver. */
static void test_labels(void **state)
{
	static const uint32_t before[] = { VGPU_HW_VERSION_1_0, VGPU_HW_VERSION_1_1 };
	struct vgpu_chan *chan;
	struct utsname uts;
	unsigned int i;
	char os[256];

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		begin(NULL);
		fake.version = before[i];
		assert_int_equal(open_fake(), 0);
		assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
		assert_int_equal(label_of(0)->magic, 0);
		assert_int_equal(fake.touched, 0);
		vgpu_chan_destroy(chan);
		end(NULL);
	}
	begin(NULL);
	fake.version = VGPU_HW_VERSION_CURRENT + 1;
	assert_int_equal(open_fake(), 0);
	memset((void *)(uintptr_t)label_of(0), 0xee, sizeof(struct vgpu_hw_label));
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	assert_int_equal(le32toh(label_of(0)->magic), VGPU_HW_LABEL_MAGIC);
	assert_int_equal(le32toh(label_of(0)->pid), getpid());
	assert_int_equal(le32toh(label_of(0)->uid), getuid());
	assert_int_equal(label_of(0)->pad, 0);
	assert_string_equal((char *)label_of(0)->comm, "test_regs");
	assert_string_equal((char *)fake.guest, "libvgpu");
	assert_int_equal(uname(&uts), 0);
	snprintf(os, sizeof(os), "%s %s", uts.sysname, uts.release);
	assert_int_equal(strncmp((char *)&fake.guest[GUEST_WORDS_1_2], os, 64), 0);
	vgpu_chan_destroy(chan);
	/* Another driver has told: that stays. */
	memset(fake.guest, 0, sizeof(fake.guest));
	fake.guest[GUEST_WORDS - 1] = 7;
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	assert_int_equal(fake.guest[0], 0);
	assert_int_equal(fake.guest[GUEST_WORDS - 1], 7);
	vgpu_chan_destroy(chan);
	end(NULL);
	/* Hardware 1.2 has no registers for the OS. */
	begin(NULL);
	fake.version = VGPU_HW_VERSION_1_2;
	assert_int_equal(open_fake(), 0);
	assert_int_equal(vgpu_chan_create(dev, 0, VGPU_RING_FB, ORDER, &chan), 0);
	assert_string_equal((char *)fake.guest, "libvgpu");
	assert_int_equal(fake.touched, 2 * GUEST_WORDS_1_2);
	vgpu_chan_destroy(chan);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_call_fails),
		TEST(test_registers_lie),
		TEST(test_channel_lies),
		TEST(test_tables_lie),
		TEST(test_labels),
	};

	return cmocka_run_group_tests_name("regs", tests, NULL, NULL);
}
