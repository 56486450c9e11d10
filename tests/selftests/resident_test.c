// SPDX-License-Identifier: GPL-2.0
/* Framebuffer that has pages counts as memory of the process that has the device. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "group.h"

#define START		FX_MIB
#define FILL_MAX	(256 * FX_MIB)

static struct fx_vgpu v;

/* What ps and the OOM killer see of this process, in bytes; @key: "VmRSS:", "RssShmem:". */
static uint64_t resident(const char *key)
{
	uint64_t kib;

	CHECK(!file_number("/proc/self/status", key, &kib), "no %s", key);
	return kib << 10;
}

/* By how much the figures may be off: page tables, pages mapped around those touched. */
#define RSS_ROOM	(4 * FX_MIB)

/* Waits until the driver has noticed the change, which takes up to some seconds. */
static void check_resident(const char *key, uint64_t bytes, const char *when)
{
	uint64_t now;

	FX_SOON((now = resident(key), now + RSS_ROOM >= bytes && now <= bytes + RSS_ROOM),
		"%s: %s %llu KiB, not %llu", when, key, (unsigned long long)now >> 10,
		(unsigned long long)bytes >> 10);
}

/* What is filled counts as resident, mapped or not, and nothing else does. */
static void filled_memory_is_resident(void)
{
	uint64_t fill = fx_memory_bytes() / 4 & ~(FX_MIB - 1), before, i;
	volatile uint8_t *at;
	struct vgpu_chan *chan;
	unsigned int sum = 0;

	fx_need_reserve(false);
	if (fill > FILL_MAX)
		fill = FILL_MAX;
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = resident("VmRSS:");
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x600dcafe, fill));
	fx_finish(chan);
	check_resident("VmRSS:", before + fill, "filled");
	check_resident("RssShmem:", fill, "filled");

	/* The kernel counts pages that are mapped, and the driver counts only the others. */
	at = v.dev->fb + START;
	for (i = 0; i < fill / 2; i += 4096)
		sum += at[i];
	CHECK_EQ(sum, (unsigned int)(fill / 2 / 4096 * 0xfe));
	check_resident("RssShmem:", fill / 2, "half of it touched");
	check_resident("VmRSS:", before + fill, "half of it touched");

	/* Pages that are unmapped are still there. */
	CHECK(!madvise((void *)at, fill / 2, MADV_DONTNEED), "madvise: %s", strerror(errno));
	check_resident("RssShmem:", fill, "unmapped");
	check_resident("VmRSS:", before + fill, "unmapped");

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a reset");
	for (i = 0; i < 32 * FX_MIB; i += 4096)
		at[i] = 1;
	CHECK(!madvise((void *)at, 32 * FX_MIB, MADV_DONTNEED), "madvise: %s", strerror(errno));
	check_resident("VmRSS:", before + 32 * FX_MIB, "touched, unmapped");
	fx_close(&v);
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a close");
}

/**
 * struct heir - between the test and the process that is left with the device
 * @alone:    the process that opened the device has ended
 * @leave:    the process that is left is to end
 * @resident: of the process that is left, in bytes, after it has used the device
 * @done:     @resident is valid
 */
struct heir {
	volatile bool alone;
	volatile bool leave;
	volatile uint64_t resident;
	volatile bool done;
};

static void inherit(struct heir *heir)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;
	uint32_t value;

	while (!heir->alone)
		clk_sleep_ms(5);
	do {
		clk_sleep_ms(50);
		vgpu_reg_read32(v.dev, VGPU_HW_STATUS, &value);
		heir->resident = resident("RssShmem:");
	} while (heir->resident < GROUP_LIMIT && clk_ms() < end);
	heir->done = true;
	/* It ends by itself if the test fails: fx_cleanup() does not know this process. */
	while (!heir->leave && clk_ms() < end)
		clk_sleep_ms(5);
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

/* The process that opened the device ends, another process goes on with the device. */
static void who_goes_on_has_it(void)
{
	struct vgpu_ctl_instance inst;
	struct heir *heir;
	int status;
	pid_t pid;

	fx_need_reserve(false);
	fx_create(&v, "1Q");
	heir = child_shared(sizeof(*heir));
	pid = child_start(bequeath, heir);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "does not end");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	heir->alone = true;
	FX_WITHIN(2 * FX_TIMEOUT_MS, heir->done, "says nothing");
	CHECK(heir->resident >= GROUP_LIMIT, "%llu KiB are resident",
	      (unsigned long long)heir->resident >> 10);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	heir->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(filled_memory_is_resident),
	KTAP_TEST(who_goes_on_has_it),
};

KTAP_MAIN(tests, fx_cleanup)
