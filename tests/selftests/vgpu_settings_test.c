// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of vGPUs by /dev/vgpu: which values are taken, refused and kept, and how guarantees
 * limit what can be created. Settings of a GPU are in settings_test.c.
 */
#include <errno.h>
#include <string.h>

#include "event.h"
#include "tune.h"

static struct fx_vgpu v[3], other;

#define BOTH	(VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP)

static void check_share(const struct fx_vgpu *vgpu, uint32_t guarantee,
			uint32_t cap, uint32_t weight)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	CHECK_EQ(inst.guarantee, guarantee);
	CHECK_EQ(inst.cap, cap);
	CHECK_EQ(inst.weight, weight);
}

/* Creates three vGPUs and guarantees 700 per mille to the first; returns the others' guarantee. */
static uint32_t begin_shares(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_share e;
	unsigned int i;

	for (i = 0; i < 3; i++)
		fx_create(&v[i], fx_default_type());
	fx_instance(&v[0], &inst);
	e = tune_entry(&v[0], VGPU_SHARE_GUARANTEE, 700, 0, 0);
	tune_set_shares(&e, 1);
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
	CHECK_EQ(inst.vga, 0);
	CHECK_EQ(gpu.guarantee_sum, want);
	fx_remove(&v[0]);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 0);
}

/* What a vGPU is to its VM can be set, and is at first as its type says. */
static void vga_by_type(void)
{
	static const struct {
		const char *type;
		uint32_t vga;
	} cases[] = { { "1Q", 0 }, { "1B", 1 }, { "1A", 0 } };
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_share e;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx_create(&v[i], cases[i].type);
		fx_instance(&v[i], &inst);
		CHECK_EQ(inst.vga, cases[i].vga, "%s", cases[i].type);
		e = tune_entry(&v[i], VGPU_SHARE_VGA, 0, 0, 0);
		e.vga = !cases[i].vga;
		tune_set_shares(&e, 1);
		fx_instance(&v[i], &inst);
		CHECK_EQ(inst.vga, !cases[i].vga, "%s", cases[i].type);
	}
}

static void share_read_back(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_event event;
	struct vgpu_ctl_share e[3];
	struct vgpu_ctl_gpu gpu;
	uint32_t each;

	event_begin();
	each = begin_shares();
	event_next(VGPU_EVENT_SHARE, &event);
	CHECK_EQ(event.a, VGPU_SHARE_GUARANTEE);
	CHECK(!memcmp(event.uuid, v[0].id, sizeof(v[0].id)), "another vGPU");
	check_share(&v[0], 700, 1000, each);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 700 + 2 * each);
	/* Guarantees that add up to exactly 1000, each with a cap of the same size. */
	e[0] = tune_entry(&v[0], TUNE_TRIPLE, 100, 100, 1);
	e[1] = tune_entry(&v[1], TUNE_TRIPLE, 899, 899, 1000);
	e[2] = tune_entry(&v[2], TUNE_TRIPLE | VGPU_SHARE_FRL, 1, 1, 500);
	e[2].frl = 30;
	tune_set_shares(e, 3);
	check_share(&v[0], 100, 100, 1);
	check_share(&v[1], 899, 899, 1000);
	check_share(&v[2], 1, 1, 500);
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_config, 30);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 1000);
	/* Guarantees change hands in one call; one after the other would be refused. */
	e[0] = tune_entry(&v[0], BOTH, 899, 1000, 0);
	e[1] = tune_entry(&v[1], BOTH, 100, 1000, 0);
	tune_set_shares(e, 2);
	check_share(&v[0], 899, 1000, 1);
	check_share(&v[1], 100, 1000, 1000);
	/* Fields that valid does not name are not looked at. */
	e[0] = tune_entry(&v[0], VGPU_SHARE_WEIGHT, ~0u, ~0u, 9);
	tune_set_shares(e, 1);
	check_share(&v[0], 899, 1000, 9);
}

static void check_refused(const struct vgpu_ctl_share *e, uint32_t count, int error, uint32_t each)
{
	CHECK_EQ(tune_try_shares(e, count), -error, "%s", tune_refusal);
	check_share(&v[0], 700, 1000, each);
	check_share(&v[1], each, 1000, each);
	check_share(&v[2], each, 1000, each);
}

/* One bad entry of three changes nothing, wherever it stands. */
static void share_bad_values(void)
{
	static const struct {
		uint32_t valid, guarantee, cap, weight, frl, vga;
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
		{ VGPU_SHARE_VGA, 0, 0, 0, 0, 2, EINVAL },
		{ VGPU_SHARE_VGA, 0, 0, 0, 0, ~0u, EINVAL },
		{ VGPU_SHARE_WEIGHT | VGPU_SHARE_VGA, 0, 0, 0, 0, 1, EINVAL },
		{ VGPU_SHARE_GUARANTEE, 500, 0, 0, 0, 0, ENOSPC },
		{ VGPU_SHARE_GUARANTEE, 1000, 0, 0, 0, 0, ENOSPC },
	};
	struct vgpu_ctl_share e[3];
	uint32_t each, i, at;

	each = begin_shares();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (at = 0; at < 3; at++) {
			/* The bad entry is for v[1]; v[0] would lose, v[2] gain. */
			e[(at + 1) % 3] = tune_entry(&v[0], VGPU_SHARE_WEIGHT, 0, 0, 77);
			e[(at + 2) % 3] = tune_entry(&v[2], TUNE_TRIPLE, 1, 500, 88);
			e[at] = tune_entry(&v[1], bad[i].valid, bad[i].guarantee,
					   bad[i].cap, bad[i].weight);
			e[at].frl = bad[i].frl;
			e[at].vga = bad[i].vga;
			check_refused(e, 3, bad[i].error, each);
			CHECK(strstr(tune_refusal, v[1].uuid), "does not name it");
		}
	}
	e[0] = tune_entry(&v[0], VGPU_SHARE_WEIGHT, 0, 0, 77);
	e[1] = tune_entry(&v[1], VGPU_SHARE_WEIGHT, 0, 0, 77);
	e[2] = e[0];
	check_refused(e, 3, EINVAL, each);
	CHECK(strstr(tune_refusal, v[0].uuid), "does not name it");
	e[2].uuid[3] ^= 0x40;
	check_refused(e, 3, ENODEV, each);
	e[0] = e[2];
	check_refused(e, 3, ENODEV, each);
	check_refused(e, 0, EINVAL, each);
	check_refused(e, 257, EINVAL, each);
	check_refused(e, ~0u, EINVAL, each);
	check_refused((void *)8, 1, EFAULT, each);
}

/* A refusal says how much is too much, and a guarantee lower by that much is taken. */
static void refusal_says_by_how_much(void)
{
	uint32_t each, want, given, left, less;
	struct vgpu_ctl_share e[2];
	char *text;

	each = begin_shares();
	e[0] = tune_entry(&v[1], VGPU_SHARE_GUARANTEE, 600, 0, 0);
	CHECK_EQ(tune_try_shares(e, 1), -ENOSPC);
	ktap_note("%s", tune_refusal);
	text = strstr(tune_refusal, "guarantee ");
	CHECK(text && sscanf(text, "guarantee %u per mille does not fit: %u of 1000 are given to others, %u are left; lower theirs by %u",
			     &want, &given, &left, &less) == 4, "%s", tune_refusal);
	CHECK_EQ(want, 600);
	CHECK_EQ(given, 700 + each);
	CHECK_EQ(left, 300 - each);
	CHECK_EQ(less, 300 + each);
	e[1] = tune_entry(&v[0], VGPU_SHARE_GUARANTEE, 700 - less + 1, 0, 0);
	CHECK_EQ(tune_try_shares(e, 2), -ENOSPC);
	e[1].guarantee--;
	tune_set_shares(e, 2);
}

/* What vGPUs are guaranteed cannot be given to new ones, under any policy. */
static void creating_takes_guarantees(void)
{
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
		e = tune_entry(&v[0], VGPU_SHARE_GUARANTEE, 1000 - 2 * each, 0, 0);
		tune_set_shares(&e, 1);
		CHECK_EQ(fx_available(fx_default_type()), 2, "%s", policy);
		e.guarantee = 1000 - 2 * each + 1;
		tune_set_shares(&e, 1);
		CHECK_EQ(fx_available(fx_default_type()), 1, "%s", policy);
		e.guarantee = 1000 - each + 1;
		tune_set_shares(&e, 1);
		CHECK_EQ(fx_available(fx_default_type()), 0, "%s", policy);
		memset(&v[1], 0, sizeof(v[1]));
		CHECK_EQ(fx_try_create(&v[1], fx_default_type()), -ENOSPC, "%s", policy);
		fx_check_refusal(&v[1], ENOSPC, "lower theirs by 1");
	}
	/* One per mille less, and there is room again. */
	e.guarantee = 1000 - each;
	tune_set_shares(&e, 1);
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
	e = tune_entry(&v[0], TUNE_TRIPLE | VGPU_SHARE_FRL | VGPU_SHARE_VGA, 300, 400, 77);
	e.frl = 25;
	e.vga = 1;
	tune_set_shares(&e, 1);
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
		CHECK_EQ(inst.vga, 1);
	}
}

/* Which frame rate limit is in force depends on the policy. */
static void frame_rate_limits(void)
{
	static const char * const policies[] = {
		"best_effort", "equal_share", "fixed_share", "qos",
	};
	static const struct {
		uint32_t frl;
		uint32_t fps[4];	/* in force under each of the policies */
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
		e = tune_entry(&v[0], VGPU_SHARE_FRL, 0, 0, 0);
		e.frl = cases[i].frl;
		tune_set_shares(&e, 1);
		for (k = 0; k < 4; k++) {
			tune_policy(policies[k]);
			fx_instance(&v[0], &inst);
			CHECK_EQ(inst.frl_fps, cases[i].fps[k], "case %u, %s", i, policies[k]);
			CHECK_EQ(inst.frl_config, cases[i].frl);
		}
	}
	/* vGPUs that are created under a policy have its limits, too. */
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
	uint32_t first = fx_gpu_id(), ids[2], count = 2;
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_share e[2];
	char path[256];

	CHECK_EQ(node_gpus(fx_control(), ids, &count), 0);
	CHECK_EQ(count, 2, "run.sh loads two GPUs for this test");
	CHECK_EQ(node_gpu(fx_control(), ids[0] == first ? ids[1] : ids[0], &gpu), 0);
	fx_new_uuid(&other);
	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%.32s/mdev_supported_types/%.32s-%.32s-1Q/create",
		 gpu.address, gpu.driver, gpu.board);
	CHECK_EQ(file_write(path, other.uuid), 0, "%s", path);
	other.created = true;
	fx_create(&v[0], fx_default_type());
	fx_instance(&v[0], &inst);
	e[0] = tune_entry(&v[0], VGPU_SHARE_CAP, 0, 500, 0);
	e[1] = tune_entry(&other, VGPU_SHARE_CAP, 0, 500, 0);
	CHECK_EQ(tune_try_shares(e, 2), -EXDEV);
	check_share(&v[0], inst.guarantee, 1000, inst.weight);
	e[0] = tune_entry(&v[0], VGPU_SHARE_GUARANTEE, 1000, 0, 0);
	e[1] = tune_entry(&other, VGPU_SHARE_GUARANTEE, 1000, 0, 0);
	tune_set_shares(&e[0], 1);
	tune_set_shares(&e[1], 1);
	fx_remove(&other);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(share_defaults),
	KTAP_TEST(vga_by_type),
	KTAP_TEST(share_read_back),
	KTAP_TEST(share_bad_values),
	KTAP_TEST(refusal_says_by_how_much),
	KTAP_TEST(creating_takes_guarantees),
	KTAP_TEST(settings_survive_close),
	KTAP_TEST(frame_rate_limits),
	KTAP_TEST(two_gpus),
};

/* The vGPU that fx_create() has not made, as it is on another GPU than the one under test. */
static void cleanup(void)
{
	if (other.created && fx_try_remove(&other))
		ktap_note("%s cannot be removed", other.uuid);
	other.created = false;
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
