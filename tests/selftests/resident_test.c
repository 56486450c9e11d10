// SPDX-License-Identifier: GPL-2.0
/*
 * What a vGPU has of the host's memory counts as memory of the process that has the device. Which
 * process that is: see holder_test.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "compute.h"

#define START		FX_MIB
#define FILL_MAX	(256 * FX_MIB)

static struct fx_vgpu v;

static uint64_t resident(const char *key)
{
	return child_resident(getpid(), key);
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

/* Contexts of programs that run are resident, too, though no BAR has them. */
static void contexts_are_resident(void)
{
	enum { CONTEXT = 8 * FX_MIB, NR = 2 };
	uint64_t before, now = 0;
	unsigned int i;

	fx_need_no_quarantine();
	fx_need_reserve(false);
	fx_create_open(&v, "1Q");
	compute_load(&v, compute_loop, 3, 8192);
	before = resident("VmRSS:");
	for (i = 0; i < NR; i++)
		compute_dispatch(compute_chan(&v), COMPUTE_SIZE(1024, 1, 1),
				 COMPUTE_SIZE(1024, 1, 1), 0);
	FX_SOON((now = resident("VmRSS:")) >= before + NR * CONTEXT, "%llu KiB, before: %llu",
		(unsigned long long)now >> 10, (unsigned long long)before >> 10);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON((now = resident("VmRSS:")) < before + RSS_ROOM, "after a reset: %llu KiB",
		(unsigned long long)now >> 10);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(filled_memory_is_resident),
	KTAP_TEST(contexts_are_resident),
};

KTAP_MAIN(tests, fx_cleanup)
