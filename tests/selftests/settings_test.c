// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a GPU's scheduler by /dev/vgpu: which values are taken, refused and in force, and
 * that only an administrator may set them. Settings of vGPUs are in vgpu_settings_test.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "child.h"
#include "event.h"
#include "hang.h"
#include "tune.h"

static struct fx_vgpu v[2];
static struct vgpu_ctl_sched before;
static uint32_t gpu_id;

static void check_unchanged(const struct vgpu_ctl_sched *was)
{
	struct vgpu_ctl_sched now;

	tune_get(&now);
	CHECK(!memcmp(now.policy, was->policy, sizeof(now) -
		      offsetof(struct vgpu_ctl_sched, policy)), "changed");
}

static void begin(void)
{
	gpu_id = fx_gpu_id();
	tune_begin();
	tune_get(&before);
	event_begin();
}

static void gpu_read_back(void)
{
	struct vgpu_ctl_sched s, now;
	struct vgpu_ctl_event event;
	struct vgpu_ctl_gpu gpu;
	const char *policy;
	unsigned int i;

	begin();
	for (i = 0; (policy = tune_policy_at(i)); i++) {
		tune_policy(policy);
		event_next(VGPU_EVENT_SCHED, &event);
		CHECK_EQ(event.gpu, gpu_id);
		CHECK_EQ(event.a, VGPU_SCHED_POLICY);
		fx_ctl_gpu(&gpu);
		CHECK(!strcmp((char *)gpu.policy, policy), "%s", (char *)gpu.policy);
		CHECK(gpu.due != VGPU_DUE_UNKNOWN, "%s", policy);
	}
	memset(&s, 0, sizeof(s));
	strcpy((char *)s.policy, "qos");
	s.slice_ns = 3000000;
	s.window_ns = 30000000;
	s.preempt_timeout_us = 12345;
	s.linger_us = 0;
	s.quarantine_faults = 16;
	s.quarantine_backoff_ms = 3600000;
	tune_set(&s, TUNE_ALL);
	event_next(VGPU_EVENT_SCHED, &event);
	CHECK_EQ(event.a, TUNE_ALL);
	tune_get(&now);
	CHECK(!strcmp((char *)now.policy, "qos"), "%s", (char *)now.policy);
	CHECK_EQ(now.slice_ns, 3000000);
	CHECK_EQ(now.frequency_hz, 333);
	CHECK_EQ(now.window_ns, 30000000);
	CHECK_EQ(now.preempt_timeout_us, 12345);
	CHECK_EQ(now.linger_us, 0);
	CHECK_EQ(now.quarantine_faults, 16);
	CHECK_EQ(now.quarantine_backoff_ms, 3600000);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.slice_ns, 3000000);
	CHECK_EQ(gpu.preempt_timeout_us, 12345);
	/* One setting alone leaves the others as they are. */
	memset(&s, 0, sizeof(s));
	s.linger_us = 1000;
	tune_set(&s, VGPU_SCHED_LINGER);
	now.linger_us = 1000;
	check_unchanged(&now);
}

/* A frequency is another way to say a slice, and reads back as it was set. */
static void frequencies(void)
{
	struct vgpu_ctl_sched s = { .window_ns = 1000000000 };
	uint32_t f;

	begin();
	tune_set(&s, VGPU_SCHED_WINDOW);
	for (f = 63; f <= 960; f++) {
		s.frequency_hz = f;
		tune_set(&s, VGPU_SCHED_FREQUENCY);
		CHECK_EQ(s.frequency_hz, f);
		CHECK_EQ(s.slice_ns, 1000000000 / f, "%u Hz", f);
	}
}

static void gpu_bad_values(void)
{
	static const struct {
		uint32_t valid;
		struct vgpu_ctl_sched s;
		int error;
	} bad[] = {
		{ 0, {}, EINVAL },
		{ 1u << 30, {}, EINVAL },
		{ 1u << 31, {}, EINVAL },
		{ VGPU_SCHED_POLICY, { .policy = "" }, EINVAL },
		{ VGPU_SCHED_POLICY, { .policy = "qo" }, EINVAL },
		{ VGPU_SCHED_POLICY, { .policy = "qos\n" }, EINVAL },
		{ VGPU_SCHED_POLICY, { .policy = "QOS" }, EINVAL },
		{ VGPU_SCHED_SLICE, { .slice_ns = 0 }, ERANGE },
		{ VGPU_SCHED_SLICE, { .slice_ns = 999999 }, ERANGE },
		{ VGPU_SCHED_SLICE, { .slice_ns = 30000001 }, ERANGE },
		{ VGPU_SCHED_SLICE, { .slice_ns = ~0ull }, ERANGE },
		{ VGPU_SCHED_SLICE, { .slice_ns = 0x100000000ull + 2000000 },
		  ERANGE },
		{ VGPU_SCHED_FREQUENCY, { .frequency_hz = 0 }, ERANGE },
		{ VGPU_SCHED_FREQUENCY, { .frequency_hz = 62 }, ERANGE },
		{ VGPU_SCHED_FREQUENCY, { .frequency_hz = 961 }, ERANGE },
		{ VGPU_SCHED_FREQUENCY, { .frequency_hz = ~0u }, ERANGE },
		{ VGPU_SCHED_FREQUENCY | VGPU_SCHED_SLICE,
		  { .frequency_hz = 500, .slice_ns = 2000000 }, EINVAL },
		{ VGPU_SCHED_WINDOW, { .window_ns = 9999999 }, ERANGE },
		{ VGPU_SCHED_WINDOW, { .window_ns = 1000000001 }, ERANGE },
		{ VGPU_SCHED_WINDOW, { .window_ns = ~0ull }, ERANGE },
		/* A window is to have 10 slices at least. */
		{ VGPU_SCHED_WINDOW | VGPU_SCHED_SLICE,
		  { .window_ns = 29999999, .slice_ns = 3000000 }, EINVAL },
		{ VGPU_SCHED_PREEMPT_TIMEOUT, { .preempt_timeout_us = 999 },
		  ERANGE },
		{ VGPU_SCHED_PREEMPT_TIMEOUT, { .preempt_timeout_us = 1000001 },
		  ERANGE },
		{ VGPU_SCHED_LINGER, { .linger_us = 1001 }, ERANGE },
		{ VGPU_SCHED_LINGER, { .linger_us = ~0u }, ERANGE },
		{ VGPU_SCHED_QUARANTINE_FAULTS, { .quarantine_faults = 17 },
		  ERANGE },
		{ VGPU_SCHED_QUARANTINE_BACKOFF, { .quarantine_backoff_ms = 0 },
		  ERANGE },
		{ VGPU_SCHED_QUARANTINE_BACKOFF, { .quarantine_backoff_ms = 3600001 }, ERANGE },
		{ VGPU_SCHED_LINGER, { .linger_us = 5, .partition = 1 }, EINVAL },
		/* A good setting beside a bad one: none is set. */
		{ VGPU_SCHED_POLICY | VGPU_SCHED_LINGER,
		  { .policy = "equal_share", .linger_us = 2000 }, ERANGE },
		{ VGPU_SCHED_LINGER | VGPU_SCHED_QUARANTINE_FAULTS,
		  { .linger_us = 7, .quarantine_faults = 99 }, ERANGE },
		{ VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_SLICE,
		  { .quarantine_faults = 9, .slice_ns = 1 }, ERANGE },
	};
	struct vgpu_ctl_sched s;
	unsigned int i;

	begin();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s = bad[i].s;
		CHECK_EQ(tune_try(&s, bad[i].valid), -bad[i].error, "case %u", i);
		check_unchanged(&before);
	}
	memset(&s, 0, sizeof(s));
	memset(s.policy, 'q', sizeof(s.policy));
	CHECK_EQ(tune_try(&s, VGPU_SCHED_POLICY), -EINVAL, "not terminated");
	check_unchanged(&before);
	s.size = sizeof(s);
	s.flags = VGPU_SCHED_OF_PARTITION << 1;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == EINVAL, "flags");
	tune_check_text(-EINVAL, s.text);
	s.flags = 0;
	s.valid = VGPU_SCHED_LINGER;
	s.gpu = 0x7fffffff;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == ENODEV, "no such GPU");
	tune_check_text(-ENODEV, s.text);
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED, &s) && errno == EINVAL, "reading with valid set");
	s.valid = 0;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED, &s) && errno == ENODEV, "no such GPU");
}

/* An engine is reset: what counts. */
static void strike(struct fx_vgpu *vgpu)
{
	uint64_t faults = fx_faults(vgpu);
	struct vgpu_chan *chan;

	chan = fx_chan(vgpu, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	hang_once(chan);
	vgpu_chan_destroy(chan);
	FX_SOON(fx_faults(vgpu) > faults, "not counted");
}

/* Rules of quarantine hold for vGPUs that are there already when the rules are set. */
static void quarantine(void)
{
	struct vgpu_ctl_sched s = { .quarantine_faults = 0,
				    .quarantine_backoff_ms = 100000 };
	struct vgpu_ctl_event event;
	unsigned int i;

	begin();
	fx_create_open(&v[0], fx_default_type());
	tune_set(&s, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	for (i = 0; i < 20; i++)
		strike(&v[0]);
	CHECK(!fx_quarantined(&v[0]), "though it is off");
	s.quarantine_faults = 2;
	tune_set(&s, VGPU_SCHED_QUARANTINE_FAULTS);
	strike(&v[0]);
	CHECK(!fx_quarantined(&v[0]), "after one of two");
	strike(&v[0]);
	event_next(VGPU_EVENT_QUARANTINED, &event);
	CHECK(fx_quarantined(&v[0]), "not after two");
	CHECK(event.c > event.time_ns + 50ull * 1000000000 && event.c <= event.time_ns +
	      100ull * 1000000000, "for %lld ns", (long long)(event.c - event.time_ns));
	fx_release(&v[0]);
	/* The rules hold for vGPUs that are created later, too. */
	fx_create_open(&v[1], fx_default_type());
	strike(&v[1]);
	CHECK(!fx_quarantined(&v[1]), "after one of two");
	strike(&v[1]);
	event_next(VGPU_EVENT_QUARANTINED, &event);
	CHECK(fx_quarantined(&v[1]), "not after two");
	fx_release(&v[1]);
}

static void as_nobody(void *unused)
{
	struct vgpu_ctl_sched s = { .size = sizeof(s), .gpu = gpu_id };
	struct vgpu_ctl_share e = { .valid = VGPU_SHARE_CAP, .cap = 500 };
	struct vgpu_ctl_shares set = { .size = sizeof(set), .count = 1 };
	struct vgpu_ctl_sched_log l = {
		.size = sizeof(l), .gpu = gpu_id, .entry_size = sizeof(struct vgpu_ctl_switch),
	};
	struct vgpu_ctl_hist h = { .size = sizeof(h) };

	(void)unused;
	set.entries = (uintptr_t)&e;
	memcpy(e.uuid, v[0].id, sizeof(e.uuid));
	memcpy(h.uuid, v[0].id, sizeof(h.uuid));
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, &s), "%s", strerror(errno));
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l), "%s", strerror(errno));
	CHECK(!ioctl(fx_control(), VGPU_IOC_HIST, &h), "%s", strerror(errno));
	s.valid = VGPU_SCHED_LINGER;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == EPERM, "set by anybody");
	CHECK(ioctl(fx_control(), VGPU_IOC_SHARES_SET, &set) && errno == EPERM, "set by anybody");
}

static void rights(void)
{
	int status;
	pid_t pid;

	begin();
	fx_create(&v[0], fx_default_type());
	pid = child_start(as_nobody, NULL);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
	CHECK_EQ(status, 0);
	check_unchanged(&before);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(gpu_read_back),
	KTAP_TEST(frequencies),
	KTAP_TEST(gpu_bad_values),
	KTAP_TEST(quarantine),
	KTAP_TEST(rights),
};

KTAP_MAIN(tests, tune_cleanup)
