// SPDX-License-Identifier: GPL-2.0
/*
 * Framebuffer that is promised is no more than the host has memory, and framebuffer that is
 * reserved no more than the host, and the process that creates the vGPU, can pay for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "group.h"

static struct fx_vgpu v;

#define OVERCOMMIT	"/sys/module/vgpu_soft/parameters/fb_overcommit"

static char overcommit[16];	/* as it was before the test; empty: it is unchanged */

/* Sets fb_overcommit so that there may be vGPUs of @gib GiB together, and no more. */
static void limit_to(uint64_t gib)
{
	struct sysinfo info;
	char text[16];

	if (!overcommit[0])
		CHECK(file_read(OVERCOMMIT, overcommit, sizeof(overcommit)) > 0, OVERCOMMIT);
	CHECK(!sysinfo(&info), "sysinfo");
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(gib * FX_GIB * 100 /
				      ((uint64_t)info.totalram * info.mem_unit) +
				      1));
	CHECK(!file_write(OVERCOMMIT, text), OVERCOMMIT);
}

static void limit_as_before(void)
{
	if (overcommit[0])
		file_write(OVERCOMMIT, overcommit);
	overcommit[0] = 0;
}

static void cleanup(void)
{
	group_leave();
	limit_as_before();
	fx_cleanup();
	group_cleanup();
}

static void reserve_backs_all(void)
{
	struct vgpu_chan *chan;

	fx_need_reserve(true);
	if (fx_memory_bytes() < FX_GIB + FX_GIB / 4)
		ktap_skip("%llu MiB of memory", (unsigned long long)fx_memory_bytes() >> 20);
	fx_create(&v, "1Q");
	CHECK_EQ(fx_backed_bytes(&v), FX_GIB);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), ~0u, 16 * FX_MIB));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + 4 * FX_MIB), ~0u);
	CHECK_EQ(fx_backed_bytes(&v), FX_GIB);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(fx_backed_bytes(&v), FX_GIB);
	CHECK(fx_is_zero(v.dev->fb, 32 * FX_MIB), "after a reset");
	memset(v.dev->fb + 4 * FX_MIB, 0xee, FX_MIB);
	fx_close(&v);
	CHECK_EQ(fx_backed_bytes(&v), FX_GIB);
	fx_open(&v);
	CHECK(fx_is_zero(v.dev->fb, 32 * FX_MIB), "after a close");
}

/* available_instances says what can be created, and a refusal how to get more. */
static void promises_end_with_host_memory(void)
{
	static struct fx_vgpu more[3];
	unsigned int i, nr = fx_available("1Q");

	fx_need_reserve(false);
	if (nr < 4)
		ktap_skip("framebuffer of %u GiB", nr);
	limit_to(3);
	CHECK_EQ(fx_available("1Q"), 3);
	CHECK_EQ(fx_available("4Q"), 0);
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "4Q"), -ENOSPC);
	fx_check_refusal(&v, ENOSPC, "vgpu_soft.fb_overcommit=");
	fx_check_refusal(&v, ENOSPC, "4096 MiB wanted");
	fx_check_refusal(&v, ENOSPC, fx_gpu());
	fx_check_refusal(&v, ENOSPC, "3072 MiB would fit");
	for (i = 0; i < 3; i++) {
		fx_create(&more[i], "1Q");
		CHECK_EQ(fx_available("1Q"), 2 - i);
	}
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "1Q"), -ENOSPC);
	fx_check_refusal(&v, ENOSPC, "host memory");
	fx_check_refusal(&v, ENOSPC, " 0 MiB would fit");
	fx_remove(&more[0]);
	CHECK_EQ(fx_available("1Q"), 1);
	CHECK_EQ(fx_try_create(&v, "1Q"), 0);
	CHECK(file_write(OVERCOMMIT, "10001") < 0, "10001 is taken");
	CHECK(!file_write(OVERCOMMIT, "0"), OVERCOMMIT);
	CHECK_EQ(fx_available("1Q"), nr - 3);
}

/* The cgroup of the process that creates the vGPU pays for it, or creating is refused. */
static void reserve_refuses_what_the_creator_cannot_pay(void)
{
	unsigned int before;
	int ret;

	fx_need_reserve(true);
	before = fx_available("1Q");
	group_make(GROUP_A, GROUP_LIMIT);
	memset(&v, 0, sizeof(v));
	group_enter(GROUP_A);
	ret = fx_try_create(&v, "1Q");
	group_leave();
	CHECK_EQ(ret, -ENOMEM);
	group_check_alive(GROUP_A);
	fx_check_refusal(&v, ENOMEM, "host memory");
	fx_check_refusal(&v, ENOMEM, "1024 MiB");
	CHECK_EQ(fx_available("1Q"), before);
	group_wait_below(GROUP_A, GROUP_OTHER);
}

static void reserve_refuses_what_the_host_has_not(void)
{
	unsigned int before;
	char suffix[32];
	uint64_t gib;

	fx_need_reserve(true);
	gib = 4;
	while (gib << 30 <= fx_memory_bytes())
		gib *= 2;
	snprintf(suffix, sizeof(suffix), "%lluQ", (unsigned long long)gib);
	before = fx_available(suffix);
	if (!before)
		ktap_skip("no %s on this GPU", suffix);
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, suffix), -ENOMEM);
	CHECK_EQ(fx_available(suffix), before);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(promises_end_with_host_memory),
	KTAP_TEST(reserve_backs_all),
	KTAP_TEST(reserve_refuses_what_the_creator_cannot_pay),
	KTAP_TEST(reserve_refuses_what_the_host_has_not),
};

KTAP_MAIN(tests, cleanup)
