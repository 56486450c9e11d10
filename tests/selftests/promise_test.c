// SPDX-License-Identifier: GPL-2.0
/*
 * Framebuffer that is promised or reserved: no more than the host, and who creates
 * the vGPU, can pay for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>

#include "group.h"

static struct fx_vgpu v;

#define OVERCOMMIT	"/sys/module/vgpu_soft/parameters/fb_overcommit"

static char overcommit[16];	/* as it was, if it has been changed */

/* Such that vGPUs of @gib GiB together may be there, and no more. */
static void limit_to(uint64_t gib)
{
	struct sysinfo info;
	char text[16];

	if (!overcommit[0])
		CHECK(fx_read_file(OVERCOMMIT, overcommit,
				   sizeof(overcommit)) > 0, OVERCOMMIT);
	CHECK(!sysinfo(&info), "sysinfo");
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(gib * FX_GIB * 100 /
				      ((uint64_t)info.totalram * info.mem_unit) +
				      1));
	CHECK(!fx_write_file(OVERCOMMIT, text), OVERCOMMIT);
}

static void limit_as_before(void)
{
	if (overcommit[0])
		fx_write_file(OVERCOMMIT, overcommit);
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

	fx_need_reserve();
	if (fx_memory_bytes() < FX_GIB + FX_GIB / 4)
		ktap_skip("%llu MiB of memory",
			  (unsigned long long)fx_memory_bytes() >> 20);
	fx_create(&v, "1Q");
	CHECK_EQ(fx_backed_bytes(&v), FX_GIB);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), ~0u,
				    16 * FX_MIB));
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

static void check_refusal(int error, const char *what, const char *figure)
{
	struct vgpu_ctl_refusal refusal = { .size = sizeof(refusal) };

	memcpy(refusal.uuid, v.id, sizeof(v.id));
	CHECK(!ioctl(fx_control(), VGPU_IOC_REFUSAL, &refusal), "%s",
	      strerror(errno));
	ktap_note("refusal: %s", (char *)refusal.text);
	CHECK_EQ(refusal.error, (uint32_t)error);
	CHECK(strstr((char *)refusal.text, what), "does not name %s", what);
	CHECK(strstr((char *)refusal.text, figure), "does not name %s", figure);
}

/* available_instances says what create does, and a refusal what to do about it. */
static void promises_end_with_host_memory(void)
{
	static struct fx_vgpu more[3];
	unsigned int i, nr = fx_available("1Q");

	fx_need_no_reserve();
	if (nr < 4)
		ktap_skip("framebuffer of %u GiB", nr);
	limit_to(3);
	CHECK_EQ(fx_available("1Q"), 3);
	CHECK_EQ(fx_available("4Q"), 0);
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "4Q"), -ENOSPC);
	check_refusal(ENOSPC, "vgpu_soft.fb_overcommit=", "4096 MiB wanted");
	check_refusal(ENOSPC, fx_gpu(), "3072 MiB would fit");
	for (i = 0; i < 3; i++) {
		fx_create(&more[i], "1Q");
		CHECK_EQ(fx_available("1Q"), 2 - i);
	}
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "1Q"), -ENOSPC);
	check_refusal(ENOSPC, "host memory", " 0 MiB would fit");
	fx_remove(&more[0]);
	CHECK_EQ(fx_available("1Q"), 1);
	CHECK_EQ(fx_try_create(&v, "1Q"), 0);
	CHECK(fx_write_file(OVERCOMMIT, "10001") < 0, "10001 is taken");
	CHECK(!fx_write_file(OVERCOMMIT, "0"), OVERCOMMIT);
	CHECK_EQ(fx_available("1Q"), nr - 3);
}

/* The creator's group pays, or the creation is refused. */
static void reserve_refuses_what_the_creator_cannot_pay(void)
{
	unsigned int before;
	int ret;

	fx_need_reserve();
	before = fx_available("1Q");
	group_make(GROUP_A, GROUP_LIMIT);
	memset(&v, 0, sizeof(v));
	group_enter(GROUP_A);
	ret = fx_try_create(&v, "1Q");
	group_leave();
	CHECK_EQ(ret, -ENOMEM);
	group_check_alive(GROUP_A);
	check_refusal(ENOMEM, "host memory", "1024 MiB");
	CHECK_EQ(fx_available("1Q"), before);
	group_wait_below(GROUP_A, GROUP_OTHER);
}

static void reserve_refuses_what_the_host_has_not(void)
{
	unsigned int before;
	char suffix[32];
	uint64_t gib;

	fx_need_reserve();
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
