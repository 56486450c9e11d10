// SPDX-License-Identifier: GPL-2.0
/* Framebuffer that is there counts as memory of the process that has the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "group.h"

#define START	FX_MIB

static struct fx_vgpu v;

/* What ps and the OOM killer see, in bytes: "VmRSS:", "RssShmem:". */
static uint64_t resident(const char *key)
{
	char text[4096], *at;

	CHECK(fx_read_file("/proc/self/status", text, sizeof(text)) > 0,
	      "/proc/self/status");
	at = strstr(text, key);
	CHECK(at, "no %s", key);
	return strtoull(at + strlen(key), NULL, 10) << 10;
}

/* Page tables, the machine's own changes, pages that are mapped around. */
#define RSS_ROOM	(4 * FX_MIB)

/* Within the time that it may take to be noticed, and so it stays. */
static void check_resident(const char *key, uint64_t bytes, const char *when)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;

	while (resident(key) + RSS_ROOM < bytes ||
	       resident(key) > bytes + RSS_ROOM) {
		CHECK(fx_now_ms() < end, "%s: %s %llu KiB, not %llu", when, key,
		      (unsigned long long)resident(key) >> 10,
		      (unsigned long long)bytes >> 10);
		fx_sleep_ms(50);
	}
}

/* As much as is filled, however it is mapped, and no more. */
static void filled_memory_is_resident(void)
{
	uint64_t fill = fx_memory_bytes() / 4 & ~(FX_MIB - 1), before, i;
	volatile uint8_t *at;
	struct vgpu_chan *chan;
	unsigned int sum = 0;

	fx_need_no_reserve();
	if (fill > 768 * FX_MIB)
		fill = 768 * FX_MIB;
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = resident("VmRSS:");
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x600dcafe, fill));
	fx_finish(chan);
	check_resident("VmRSS:", before + fill, "filled");
	check_resident("RssShmem:", fill, "filled");

	/* What is mapped is counted by the kernel, and not by the driver any more. */
	at = v.dev->fb + START;
	for (i = 0; i < fill / 2; i += 4096)
		sum += at[i];
	CHECK_EQ(sum, (unsigned int)(fill / 2 / 4096 * 0xfe));
	check_resident("RssShmem:", fill / 2, "half of it touched");
	check_resident("VmRSS:", before + fill, "half of it touched");

	/* It does not go by being unmapped. */
	CHECK(!madvise((void *)at, fill / 2, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	check_resident("RssShmem:", fill, "unmapped");
	check_resident("VmRSS:", before + fill, "unmapped");

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a reset");
	for (i = 0; i < 32 * FX_MIB; i += 4096)
		at[i] = 1;
	CHECK(!madvise((void *)at, 32 * FX_MIB, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	check_resident("VmRSS:", before + 32 * FX_MIB, "touched, unmapped");
	fx_close(&v);
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a close");
}

/**
 * struct heir - what a process says that is left with the device
 * @alone:    the one that opened it has ended
 * @resident: of the one that is left, after it has used it
 * @done:     both are valid
 * @leave:    it is to end
 */
struct heir {
	volatile bool alone;
	volatile bool leave;
	volatile uint64_t resident;
	volatile bool done;
};

static void inherit(struct heir *heir)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;
	uint32_t value;

	while (!heir->alone)
		fx_sleep_ms(5);
	do {
		fx_sleep_ms(50);
		vgpu_reg_read32(v.dev, VGPU_HW_STATUS, &value);
		heir->resident = resident("RssShmem:");
	} while (heir->resident < GROUP_LIMIT && fx_now_ms() < end);
	heir->done = true;
	/* In the end by itself: nobody knows this process. */
	while (!heir->leave && fx_now_ms() < end)
		fx_sleep_ms(5);
	_exit(0);
}

static void bequeath(void *arg)
{
	struct vgpu_chan *chan;

	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, GROUP_LIMIT));
	fx_finish(chan);
	if (!fork())
		inherit(arg);
	_exit(0);
}

/* The process that opened the device ends, another one goes on with it. */
static void who_goes_on_has_it(void)
{
	uint64_t end = fx_now_ms() + 2 * FX_TIMEOUT_MS;
	struct vgpu_ctl_instance inst;
	struct heir *heir;
	int status;
	pid_t pid;

	fx_need_no_reserve();
	fx_create(&v, "1Q");
	heir = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(heir != MAP_FAILED, "mmap");
	memset(heir, 0, sizeof(*heir));
	pid = fx_fork(bequeath, heir);
	CHECK(fx_wait_child(pid, FX_TIMEOUT_MS, &status), "does not end");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	heir->alone = true;
	while (!heir->done && fx_now_ms() < end)
		fx_sleep_ms(10);
	CHECK(heir->done, "says nothing");
	CHECK(heir->resident >= GROUP_LIMIT, "%llu KiB are resident",
	      (unsigned long long)heir->resident >> 10);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	heir->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	munmap(heir, 4096);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(filled_memory_is_resident),
	KTAP_TEST(who_goes_on_has_it),
};

KTAP_MAIN(tests, fx_cleanup)
