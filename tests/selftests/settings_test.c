// SPDX-License-Identifier: GPL-2.0
/* Settings of GPUs and vGPUs by /dev/vgpu: what is taken, refused and kept. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fixture.h"

#define ALL_VALID	(VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |		\
			 VGPU_SCHED_WINDOW | VGPU_SCHED_PREEMPT_TIMEOUT | \
			 VGPU_SCHED_LINGER | VGPU_SCHED_QUARANTINE_FAULTS | \
			 VGPU_SCHED_QUARANTINE_BACKOFF)

static const char * const policies[] = {
	"best_effort", "equal_share", "fixed_share", "qos",
};

#define NR_POLICIES	(sizeof(policies) / sizeof(policies[0]))

static struct fx_vgpu v[3], other;
static struct vgpu_ctl_sched before;
static uint32_t gpu_id;
static int events = -1;

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
	events = open("/dev/vgpu", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CHECK(events >= 0, "%s", strerror(errno));
}

static void cleanup(void)
{
	fx_cleanup();
	if (events >= 0)
		close(events);
	events = -1;
	before.valid = ALL_VALID;
	if (before.size && ioctl(fx_control(), VGPU_IOC_SCHED_SET, &before))
		ktap_note("cleanup: %s", strerror(errno));
	before.size = 0;
}

/* The next event of a type; what else there was is passed over. */
static void next_event(uint32_t type, struct vgpu_ctl_event *event)
{
	struct pollfd pfd = { .fd = events, .events = POLLIN };

	do {
		CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1, "no event %u", type);
		CHECK_EQ(read(events, event, sizeof(*event)), sizeof(*event));
	} while (event->type != type);
}

static void gpu_read_back(void)
{
	struct vgpu_ctl_sched s, now;
	struct vgpu_ctl_event event;
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	begin();
	for (i = 0; i < NR_POLICIES; i++) {
		set_policy(policies[i]);
		next_event(VGPU_EVENT_SCHED, &event);
		CHECK_EQ(event.gpu, gpu_id);
		CHECK_EQ(event.a, VGPU_SCHED_POLICY);
		fx_ctl_gpu(&gpu);
		CHECK(!strcmp((char *)gpu.policy, policies[i]), "%s",
		      (char *)gpu.policy);
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
	next_event(VGPU_EVENT_SCHED, &event);
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
		{ 0x100, {}, EINVAL },
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

	begin();
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

	begin();
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

	each = begin_shares();
	next_event(VGPU_EVENT_SHARE, &event);
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
		{ 0x10, 0, 0, 0, 0, 0, EINVAL },
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
	unsigned int i;

	begin();
	fx_create(&v[0], fx_default_type());
	fx_instance(&v[0], &inst);
	each = inst.guarantee;
	CHECK(each, "no default guarantee");
	room = fx_available(fx_default_type());
	CHECK(room >= 2, "only %u more", room);
	for (i = 0; i < NR_POLICIES; i++) {
		set_policy(policies[i]);
		e = entry(&v[0], VGPU_SHARE_GUARANTEE, 1000 - 2 * each, 0, 0);
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 2, "%s", policies[i]);
		e.guarantee = 1000 - 2 * each + 1;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 1, "%s", policies[i]);
		e.guarantee = 1000 - each + 1;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		CHECK_EQ(fx_available(fx_default_type()), 0, "%s", policies[i]);
		memset(&v[1], 0, sizeof(v[1]));
		CHECK_EQ(fx_try_create(&v[1], fx_default_type()), -ENOSPC, "%s",
			 policies[i]);
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
	unsigned int i;

	begin();
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
	for (i = 0; i < NR_POLICIES; i++) {
		set_policy(policies[i]);
		check_share(&v[0], 300, 400, 77);
		fx_instance(&v[0], &inst);
		CHECK_EQ(inst.frl_config, 25);
	}
}

/* The policy says which frame rate limit is in force. */
static void frame_rate_limits(void)
{
	static const struct {
		uint32_t frl;
		uint32_t fps[NR_POLICIES];
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

	begin();
	set_policy("best_effort");
	fx_create_open(&v[0], "1Q");
	fx_create(&v[1], "1B");
	fx_instance(&v[1], &inst);
	CHECK_EQ(inst.frl_fps, 45);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e = entry(&v[0], VGPU_SHARE_FRL, 0, 0, 0);
		e.frl = cases[i].frl;
		CHECK_EQ(shares_set(&e, 1), 0, "%.192s", refusal);
		for (k = 0; k < NR_POLICIES; k++) {
			set_policy(policies[k]);
			fx_instance(&v[0], &inst);
			CHECK_EQ(inst.frl_fps, cases[i].fps[k], "case %u, %s",
				 i, policies[k]);
			CHECK_EQ(inst.frl_config, cases[i].frl);
		}
	}
	/* Those that come under it likewise. */
	set_policy("qos");
	fx_create(&v[2], "1B");
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_fps, 0);
	set_policy("best_effort");
	fx_instance(&v[2], &inst);
	CHECK_EQ(inst.frl_fps, 45);
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
	next_event(VGPU_EVENT_QUARANTINED, &event);
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
	next_event(VGPU_EVENT_QUARANTINED, &event);
	CHECK(quarantined(&v[1]), "not after two");
	fx_release(&v[1]);
}

static void as_nobody(void *unused)
{
	struct vgpu_ctl_sched s = { .size = sizeof(s), .gpu = gpu_id };
	struct vgpu_ctl_share e = entry(&v[0], VGPU_SHARE_CAP, 0, 500, 0);
	struct vgpu_ctl_shares set = { .size = sizeof(set), .count = 1 };
	struct vgpu_ctl_sched_log l = { .size = sizeof(l), .gpu = gpu_id };
	struct vgpu_ctl_hist h = { .size = sizeof(h) };

	(void)unused;
	set.entries = (uintptr_t)&e;
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

/* vGPUs of two GPUs cannot be set together; each GPU has its own 1000. */
static void two_gpus(void)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 2 };
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_share e[2];
	char path[256];
	uint32_t ids[2];

	begin();
	list.ids = (uintptr_t)ids;
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPUS, &list), "%s",
	      strerror(errno));
	CHECK_EQ(list.count, 2, "run.sh loads two GPUs for this test");
	memset(&gpu, 0, sizeof(gpu));
	gpu.size = sizeof(gpu);
	gpu.gpu = ids[0] == gpu_id ? ids[1] : ids[0];
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
	KTAP_TEST(gpu_read_back),
	KTAP_TEST(frequencies),
	KTAP_TEST(gpu_bad_values),
	KTAP_TEST(share_defaults),
	KTAP_TEST(share_read_back),
	KTAP_TEST(share_bad_values),
	KTAP_TEST(refusal_says_by_how_much),
	KTAP_TEST(creating_takes_guarantees),
	KTAP_TEST(settings_survive_close),
	KTAP_TEST(frame_rate_limits),
	KTAP_TEST(quarantine),
	KTAP_TEST(rights),
	KTAP_TEST(two_gpus),
};

KTAP_MAIN(tests, cleanup)
