// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of vGPUs by /dev/vgpu: what is taken, refused and kept, and what
 * guarantees have to do with creating. Those of a GPU: settings_test.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fixture.h"
#include "tune.h"

static struct fx_vgpu v[3], other;

static void check_text(const void *text)
{
	CHECK(memchr(text, 0, VGPU_TEXT_LEN), "not terminated");
	CHECK(*(const char *)text, "refused without a word");
}

static struct vgpu_ctl_share entry(const struct fx_vgpu *vgpu, uint32_t valid,
				   uint32_t guarantee, uint32_t cap,
				   uint32_t weight)
{
	struct vgpu_ctl_share e = {
		.valid = valid,
		.guarantee = guarantee,
		.cap = cap,
		.weight = weight,
	};

	memcpy(e.uuid, vgpu->id, sizeof(e.uuid));
	return e;
}

static uint8_t refusal[VGPU_TEXT_LEN];

static int shares_set(const struct vgpu_ctl_share *entries, uint32_t count)
{
	struct vgpu_ctl_shares s = { .size = sizeof(s), .count = count };
	int ret = 0;

	s.entries = (uintptr_t)entries;
	memset(s.text, 'x', sizeof(s.text));
	if (ioctl(fx_control(), VGPU_IOC_SHARES_SET, &s))
		ret = -errno;
	memcpy(refusal, s.text, sizeof(refusal));
	if (!ret)
		CHECK_EQ(s.text[0], 0, "a text about nothing");
	return ret;
}

#define BOTH	(VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP)
#define TRIPLE	(BOTH | VGPU_SHARE_WEIGHT)

static void check_share(const struct fx_vgpu *vgpu, uint32_t guarantee,
			uint32_t cap, uint32_t weight)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	CHECK_EQ(inst.guarantee, guarantee);
	CHECK_EQ(inst.cap, cap);
	CHECK_EQ(inst.weight, weight);
}

/* Three of the default type; the first with 700 of the guarantees. */
static uint32_t begin_shares(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_share e;
	unsigned int i;

	for (i = 0; i < 3; i++)
		fx_create(&v[i], fx_default_type());
	fx_instance(&v[0], &inst);
	e = entry(&v[0], VGPU_SHARE_GUARANTEE, 700, 0, 0);
	CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
	return inst.guarantee;
}

static void share_defaults(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	uint32_t gib, want;

	fx_create(&v[0], fx_default_type());
	fx_instance(&v[0], &inst);
	fx_ctl_gpu(&gpu);
	gib = (uint32_t)(inst.fb_bytes >> 30);
	want = 1000 * gib / (uint32_t)(gpu.fb_bytes >> 30);
	check_share(&v[0], want, 1000, want ? want : 1);
	CHECK_EQ(inst.frl_config, VGPU_FRL_DEFAULT);
	CHECK_EQ(gpu.guarantee_sum, want);
	fx_remove(&v[0]);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 0);
}

static void share_read_back(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_event event;
	struct vgpu_ctl_share e[3];
	struct vgpu_ctl_gpu gpu;
	uint32_t each;

	fx_events_begin();
	each = begin_shares();
	fx_next_event(VGPU_EVENT_SHARE, &event);
	CHECK_EQ(event.a, VGPU_SHARE_GUARANTEE);
	CHECK(!memcmp(event.uuid, v[0].id, sizeof(v[0].id)), "another vGPU");
	check_share(&v[0], 700, 1000, each);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 700 + 2 * each);
	/* Sum exactly 1000, each with cap equal to guarantee. */
	e[0] = entry(&v[0], TRIPLE, 100, 100, 1);
	e[1] = entry(&v[1], TRIPLE, 899, 899, 1000);
	e[2] = entry(&v[2], TRIPLE | VGPU_SHARE_FRL, 1, 1, 500);
	e[2].frl = 30;
	CHECK_EQ(shares_set(e, 3), 0, "%.192s", refusal);
	check_share(&v[0], 100, 100, 1);
	check_share(&v[1], 899, 899, 1000);
	check_share(&v[2], 1, 1, 500);
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_config, 30);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 1000);
	/* To and fro in one call, which could not go one by one. */
	e[0] = entry(&v[0], BOTH, 899, 1000, 0);
	e[1] = entry(&v[1], BOTH, 100, 1000, 0);
	CHECK_EQ(shares_set(e, 2), 0, "%.192s", refusal);
	check_share(&v[0], 899, 1000, 1);
	check_share(&v[1], 100, 1000, 1000);
	/* Fields that are not named are not looked at. */
	e[0] = entry(&v[0], VGPU_SHARE_WEIGHT, ~0u, ~0u, 9);
	CHECK_EQ(shares_set(e, 1), 0, "%.192s", refusal);
	check_share(&v[0], 899, 1000, 9);
}

static void check_refused(const struct vgpu_ctl_share *e, uint32_t count,
			  int error, uint32_t each)
{
	CHECK_EQ(shares_set(e, count), -error, "%.192s", refusal);
	check_text(refusal);
	check_share(&v[0], 700, 1000, each);
	check_share(&v[1], each, 1000, each);
	check_share(&v[2], each, 1000, each);
}

/* One bad entry of three changes nothing, wherever it stands. */
static void share_bad_values(void)
{
	static const struct {
		uint32_t valid, guarantee, cap, weight, frl, pad;
		int error;
	} bad[] = {
		{ 0, 0, 0, 0, 0, 0, EINVAL },
		{ 1u << 30, 0, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_GUARANTEE, 1001, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_GUARANTEE, ~0u, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_GUARANTEE, 0x10001, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_CAP, 0, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_CAP, 0, 1001, 0, 0, 0, EINVAL },
		{ BOTH, 11, 10, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_WEIGHT, 0, 0, 0, 0, 0, EINVAL },
		{ VGPU_SHARE_WEIGHT, 0, 0, 1001, 0, 0, EINVAL },
		{ VGPU_SHARE_FRL, 0, 0, 0, 1001, 0, EINVAL },
		{ VGPU_SHARE_WEIGHT, 0, 0, 5, 0, 1, EINVAL },
		{ VGPU_SHARE_GUARANTEE, 500, 0, 0, 0, 0, ENOSPC },
		{ VGPU_SHARE_GUARANTEE, 1000, 0, 0, 0, 0, ENOSPC },
	};
	struct vgpu_ctl_share e[3];
	uint32_t each, i, at;

	each = begin_shares();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (at = 0; at < 3; at++) {
			/* The bad one is v[1]; v[0] would lose, v[2] gain. */
			e[(at + 1) % 3] = entry(&v[0], VGPU_SHARE_WEIGHT, 0, 0,
						77);
			e[(at + 2) % 3] = entry(&v[2], TRIPLE, 1, 500, 88);
			e[at] = entry(&v[1], bad[i].valid, bad[i].guarantee,
				      bad[i].cap, bad[i].weight);
			e[at].frl = bad[i].frl;
			e[at].pad = bad[i].pad;
			check_refused(e, 3, bad[i].error, each);
			CHECK(strstr((char *)refusal, v[1].uuid), "does not name it");
		}
	}
	e[0] = entry(&v[0], VGPU_SHARE_WEIGHT, 0, 0, 77);
	e[1] = entry(&v[1], VGPU_SHARE_WEIGHT, 0, 0, 77);
	e[2] = e[0];
	check_refused(e, 3, EINVAL, each);
	CHECK(strstr((char *)refusal, v[0].uuid), "does not name it");
	e[2].uuid[3] ^= 0x40;
	check_refused(e, 3, ENODEV, each);
	e[0] = e[2];
	check_refused(e, 3, ENODEV, each);
	check_refused(e, 0, EINVAL, each);
	check_refused(e, 257, EINVAL, each);
	check_refused(e, ~0u, EINVAL, each);
	check_refused((void *)8, 1, EFAULT, each);
}

/* A refusal says by how much, and that much less is taken. */
static void refusal_says_by_how_much(void)
{
	uint32_t each, want, given, left, less;
	struct vgpu_ctl_share e[2];
	char *text;

	each = begin_shares();
	e[0] = entry(&v[1], VGPU_SHARE_GUARANTEE, 600, 0, 0);
	CHECK_EQ(shares_set(e, 1), -ENOSPC);
	check_text(refusal);
	ktap_note("%s", (char *)refusal);
	text = strstr((char *)refusal, "guarantee ");
	CHECK(text && sscanf(text, "guarantee %u per mille does not fit: %u of 1000 are given to others, %u are left; lower theirs by %u",
			     &want, &given, &left, &less) == 4, "%s", refusal);
	CHECK_EQ(want, 600);
	CHECK_EQ(given, 700 + each);
	CHECK_EQ(left, 300 - each);
	CHECK_EQ(less, 300 + each);
	e[1] = entry(&v[0], VGPU_SHARE_GUARANTEE, 700 - less + 1, 0, 0);
	CHECK_EQ(shares_set(e, 2), -ENOSPC);
	e[1].guarantee--;
	CHECK_EQ(shares_set(e, 2), 0, "%.192s", refusal);
}

/* What is guaranteed to others cannot be given to new ones, whatever policy. */
static void creating_takes_guarantees(void)
{
	struct vgpu_ctl_refusal why = { .size = sizeof(why) };
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_share e;
	uint32_t each, room;
	const char *policy;
	unsigned int i;

	fx_create(&v[0], fx_default_type());
	fx_instance(&v[0], &inst);
	each = inst.guarantee;
	CHECK(each, "no default guarantee");
	room = fx_available(fx_default_type());
	CHECK(room >= 2, "only %u more", room);
	for (i = 0; (policy = tune_policy_at(i)); i++) {
		tune_policy(policy);
		e = entry(&v[0], VGPU_SHARE_GUARANTEE, 1000 - 2 * each, 0, 0);
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 2, "%s", policy);
		e.guarantee = 1000 - 2 * each + 1;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 1, "%s", policy);
		e.guarantee = 1000 - each + 1;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 0, "%s", policy);
		memset(&v[1], 0, sizeof(v[1]));
		CHECK_EQ(fx_try_create(&v[1], fx_default_type()), -ENOSPC, "%s",
			 policy);
		memcpy(why.uuid, v[1].id, sizeof(why.uuid));
		CHECK(!ioctl(fx_control(), VGPU_IOC_REFUSAL, &why), "%s",
		      strerror(errno));
		CHECK_EQ(why.error, ENOSPC);
		check_text(why.text);
		CHECK(strstr((char *)why.text, "lower theirs by 1"), "%s",
		      (char *)why.text);
	}
	/* One less, and there is room again. */
	e.guarantee = 1000 - each;
	CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
	fx_create(&v[1], fx_default_type());
	fx_remove(&v[0]);
	CHECK_EQ(fx_available(fx_default_type()), room);
}

static void settings_survive_close(void)
{
	struct vgpu_ctl_share e;
	struct vgpu_ctl_instance inst;
	const char *policy;
	unsigned int i;

	fx_create(&v[0], fx_default_type());
	e = entry(&v[0], TRIPLE | VGPU_SHARE_FRL, 300, 400, 77);
	e.frl = 25;
	CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
	for (i = 0; i < 3; i++) {
		fx_open(&v[0]);
		check_share(&v[0], 300, 400, 77);
		FX_OK(v[0].dev, vgpu_dev_reset(v[0].dev));
		check_share(&v[0], 300, 400, 77);
		fx_close(&v[0]);
	}
	for (i = 0; (policy = tune_policy_at(i)); i++) {
		tune_policy(policy);
		check_share(&v[0], 300, 400, 77);
		fx_instance(&v[0], &inst);
		CHECK_EQ(inst.frl_config, 25);
	}
}

/* The policy says which frame rate limit is in force. */
static void frame_rate_limits(void)
{
	static const char * const policies[] = {
		"best_effort", "equal_share", "fixed_share", "qos",
	};
	static const struct {
		uint32_t frl;
		uint32_t fps[4];	/* under these */
	} cases[] = {
		{ VGPU_FRL_DEFAULT, { 60, 0, 0, 0 } },
		{ 30, { 30, 0, 0, 30 } },
		{ 0, { 0, 0, 0, 0 } },
		{ 1000, { 1000, 0, 0, 1000 } },
		{ VGPU_FRL_DEFAULT, { 60, 0, 0, 0 } },
	};
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_share e;
	unsigned int i, k;

	tune_policy("best_effort");
	fx_create_open(&v[0], "1Q");
	fx_create(&v[1], "1B");
	fx_instance(&v[1], &inst);
	CHECK_EQ(inst.frl_fps, 45);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e = entry(&v[0], VGPU_SHARE_FRL, 0, 0, 0);
		e.frl = cases[i].frl;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		for (k = 0; k < 4; k++) {
			tune_policy(policies[k]);
			fx_instance(&v[0], &inst);
			CHECK_EQ(inst.frl_fps, cases[i].fps[k], "case %u, %s",
				 i, policies[k]);
			CHECK_EQ(inst.frl_config, cases[i].frl);
		}
	}
	/* Those that come under it likewise. */
	tune_policy("qos");
	fx_create(&v[2], "1B");
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_fps, 0);
	tune_policy("best_effort");
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_fps, 45);
}

/* vGPUs of two GPUs cannot be set together; each GPU has its own 1000. */
static void two_gpus(void)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 2 };
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_share e[2];
	char path[256];
	uint32_t first, ids[2];

	fx_ctl_gpu(&gpu);
	first = gpu.gpu;
	list.ids = (uintptr_t)ids;
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPUS, &list), "%s",
	      strerror(errno));
	CHECK_EQ(list.count, 2, "run.sh loads two GPUs for this test");
	memset(&gpu, 0, sizeof(gpu));
	gpu.size = sizeof(gpu);
	gpu.gpu = ids[0] == first ? ids[1] : ids[0];
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPU, &gpu), "%s", strerror(errno));
	fx_new_uuid(&other);
	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%.32s/mdev_supported_types/%.32s-%.32s-1Q/create",
		 gpu.address, gpu.driver, gpu.board);
	CHECK_EQ(fx_write_file(path, other.uuid), 0, "%s", path);
	fx_create(&v[0], fx_default_type());
	fx_instance(&v[0], &inst);
	e[0] = entry(&v[0], VGPU_SHARE_CAP, 0, 500, 0);
	e[1] = entry(&other, VGPU_SHARE_CAP, 0, 500, 0);
	CHECK_EQ(shares_set(e, 2), -EXDEV);
	check_text(refusal);
	check_share(&v[0], inst.guarantee, 1000, inst.weight);
	e[0] = entry(&v[0], VGPU_SHARE_GUARANTEE, 1000, 0, 0);
	e[1] = entry(&other, VGPU_SHARE_GUARANTEE, 1000, 0, 0);
	CHECK_EQ(shares_set(&e[0], 1), 0, "%.192s", refusal);
	CHECK_EQ(shares_set(&e[1], 1), 0, "%.192s", refusal);
	fx_remove(&other);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(share_defaults),
	KTAP_TEST(share_read_back),
	KTAP_TEST(share_bad_values),
	KTAP_TEST(refusal_says_by_how_much),
	KTAP_TEST(creating_takes_guarantees),
	KTAP_TEST(settings_survive_close),
	KTAP_TEST(frame_rate_limits),
	KTAP_TEST(two_gpus),
};

KTAP_MAIN(tests, tune_cleanup)
