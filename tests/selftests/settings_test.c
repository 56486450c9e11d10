// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a GPU's scheduler by /dev/vgpu: what is taken, refused, in force;
 * and who may set what. Those of vGPUs: vgpu_settings_test.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fixture.h"
#include "tune.h"

#define ALL_VALID	(VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |		\
			 VGPU_SCHED_WINDOW | VGPU_SCHED_PREEMPT_TIMEOUT | \
			 VGPU_SCHED_LINGER | VGPU_SCHED_QUARANTINE_FAULTS | \
			 VGPU_SCHED_QUARANTINE_BACKOFF)

static struct fx_vgpu v[2];
static struct vgpu_ctl_sched before;
static uint32_t gpu_id;

static void sched_get(struct vgpu_ctl_sched *s)
{
	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->gpu = gpu_id;
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, s), "%s", strerror(errno));
}

/* What is in @s is set; the text of a refusal comes with it. */
static int sched_set(struct vgpu_ctl_sched *s, uint32_t valid)
{
	s->size = sizeof(*s);
	s->gpu = gpu_id;
	s->valid = valid;
	memset(s->text, 'x', sizeof(s->text));
	if (!ioctl(fx_control(), VGPU_IOC_SCHED_SET, s)) {
		CHECK_EQ(s->text[0], 0, "a text about nothing");
		return 0;
	}
	return -errno;
}

static void set_policy(const char *name)
{
	struct vgpu_ctl_sched s = {};

	snprintf((char *)s.policy, sizeof(s.policy), "%s", name);
	CHECK_EQ(sched_set(&s, VGPU_SCHED_POLICY), 0, "%s: %.192s", name,
		 (char *)s.text);
	CHECK(!strcmp((char *)s.policy, name), "%s", (char *)s.policy);
}

static void check_text(const void *text)
{
	CHECK(memchr(text, 0, VGPU_TEXT_LEN), "not terminated");
	CHECK(*(const char *)text, "refused without a word");
}

static void check_unchanged(const struct vgpu_ctl_sched *was)
{
	struct vgpu_ctl_sched now;

	sched_get(&now);
	CHECK(!memcmp(now.policy, was->policy, sizeof(now) -
		      offsetof(struct vgpu_ctl_sched, policy)), "changed");
}

static void begin(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	gpu_id = gpu.gpu;
	sched_get(&before);
	fx_events_begin();
}

static void cleanup(void)
{
	fx_cleanup();
	before.valid = ALL_VALID;
	if (before.size && ioctl(fx_control(), VGPU_IOC_SCHED_SET, &before))
		ktap_note("cleanup: %s", strerror(errno));
	before.size = 0;
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
		set_policy(policy);
		fx_next_event(VGPU_EVENT_SCHED, &event);
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
	CHECK_EQ(sched_set(&s, ALL_VALID), 0, "%.192s", (char *)s.text);
	fx_next_event(VGPU_EVENT_SCHED, &event);
	CHECK_EQ(event.a, ALL_VALID);
	sched_get(&now);
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
	/* One alone leaves the others as they are. */
	memset(&s, 0, sizeof(s));
	s.linger_us = 1000;
	CHECK_EQ(sched_set(&s, VGPU_SCHED_LINGER), 0);
	now.linger_us = 1000;
	check_unchanged(&now);
}

/* A frequency is a slice; what was set can be read. */
static void frequencies(void)
{
	struct vgpu_ctl_sched s = { .window_ns = 1000000000 };
	uint32_t f;

	begin();
	CHECK_EQ(sched_set(&s, VGPU_SCHED_WINDOW), 0, "%.192s",
		 (char *)s.text);
	for (f = 63; f <= 960; f++) {
		s.frequency_hz = f;
		CHECK_EQ(sched_set(&s, VGPU_SCHED_FREQUENCY), 0, "%u Hz: %.192s",
			 f, (char *)s.text);
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
		/* Below 10 slices. */
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
		{ VGPU_SCHED_QUARANTINE_BACKOFF,
		  { .quarantine_backoff_ms = 3600001 }, ERANGE },
		{ VGPU_SCHED_LINGER, { .linger_us = 5, .pad = 1 }, EINVAL },
		/* One that is good beside one that is not: none is set. */
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
		CHECK_EQ(sched_set(&s, bad[i].valid), -bad[i].error, "case %u",
			 i);
		check_text(s.text);
		check_unchanged(&before);
	}
	memset(&s, 0, sizeof(s));
	memset(s.policy, 'q', sizeof(s.policy));
	CHECK_EQ(sched_set(&s, VGPU_SCHED_POLICY), -EINVAL, "not terminated");
	check_text(s.text);
	check_unchanged(&before);
	s.size = sizeof(s);
	s.flags = 1;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == EINVAL,
	      "flags");
	check_text(s.text);
	s.flags = 0;
	s.valid = VGPU_SCHED_LINGER;
	s.gpu = 0x7fffffff;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == ENODEV,
	      "no such GPU");
	check_text(s.text);
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED, &s) && errno == EINVAL,
	      "reading with valid set");
	s.valid = 0;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED, &s) && errno == ENODEV,
	      "no such GPU");
}

static bool quarantined(const struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	return inst.status & VGPU_INSTANCE_QUARANTINED;
}

static void fault(struct fx_vgpu *vgpu)
{
	uint64_t faults = fx_faults(vgpu);
	struct vgpu_chan *chan;
	struct vgpu_fault what;

	chan = fx_chan(vgpu, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(vgpu->dev, vgpu_chan_fill(chan, VGPU_FB(vgpu->dev->fb_bytes), 0,
					4));
	FX_OK(vgpu->dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &what));
	vgpu_chan_destroy(chan);
	FX_SOON(fx_faults(vgpu) > faults, "not counted");
}

/* Rules of quarantine that are set hold for vGPUs that are there already. */
static void quarantine(void)
{
	struct vgpu_ctl_sched s = { .quarantine_faults = 0,
				    .quarantine_backoff_ms = 100000 };
	struct vgpu_ctl_event event;
	unsigned int i;

	begin();
	fx_create_open(&v[0], fx_default_type());
	CHECK_EQ(sched_set(&s, VGPU_SCHED_QUARANTINE_FAULTS |
			   VGPU_SCHED_QUARANTINE_BACKOFF), 0, "%.192s",
		 (char *)s.text);
	for (i = 0; i < 20; i++)
		fault(&v[0]);
	CHECK(!quarantined(&v[0]), "though it is off");
	s.quarantine_faults = 2;
	CHECK_EQ(sched_set(&s, VGPU_SCHED_QUARANTINE_FAULTS), 0);
	fault(&v[0]);
	CHECK(!quarantined(&v[0]), "after one of two");
	fault(&v[0]);
	fx_next_event(VGPU_EVENT_QUARANTINED, &event);
	CHECK(quarantined(&v[0]), "not after two");
	CHECK(event.c > event.time_ns + 50ull * 1000000000 &&
	      event.c <= event.time_ns + 100ull * 1000000000,
	      "for %lld ns", (long long)(event.c - event.time_ns));
	fx_release(&v[0]);
	/* Those that come after, too. */
	fx_create_open(&v[1], fx_default_type());
	fault(&v[1]);
	CHECK(!quarantined(&v[1]), "after one of two");
	fault(&v[1]);
	fx_next_event(VGPU_EVENT_QUARANTINED, &event);
	CHECK(quarantined(&v[1]), "not after two");
	fx_release(&v[1]);
}

static void as_nobody(void *unused)
{
	struct vgpu_ctl_sched s = { .size = sizeof(s), .gpu = gpu_id };
	struct vgpu_ctl_share e = { .valid = VGPU_SHARE_CAP, .cap = 500 };
	struct vgpu_ctl_shares set = { .size = sizeof(set), .count = 1 };
	struct vgpu_ctl_sched_log l = { .size = sizeof(l), .gpu = gpu_id };
	struct vgpu_ctl_hist h = { .size = sizeof(h) };

	(void)unused;
	set.entries = (uintptr_t)&e;
	memcpy(e.uuid, v[0].id, sizeof(e.uuid));
	memcpy(h.uuid, v[0].id, sizeof(h.uuid));
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, &s), "%s", strerror(errno));
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l), "%s",
	      strerror(errno));
	CHECK(!ioctl(fx_control(), VGPU_IOC_HIST, &h), "%s", strerror(errno));
	s.valid = VGPU_SCHED_LINGER;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s) && errno == EPERM,
	      "set by anybody");
	CHECK(ioctl(fx_control(), VGPU_IOC_SHARES_SET, &set) && errno == EPERM,
	      "set by anybody");
}

static void rights(void)
{
	int status;
	pid_t pid;

	begin();
	fx_create(&v[0], fx_default_type());
	pid = fx_fork(as_nobody, NULL);
	CHECK(fx_wait_child(pid, FX_TIMEOUT_MS, &status), "hangs");
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

KTAP_MAIN(tests, cleanup)
