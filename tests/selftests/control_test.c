// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: sizes, flags, pointers, rights, statistics. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "file.h"
#include "fixture.h"

static struct fx_vgpu v, victim;

#define ROOM	8192

/* Size of an event in the first version of the ABI. */
#define EVENT_SIZE_1	96

static union {
	uint32_t words[ROOM / 4];
	uint8_t bytes[ROOM];
	struct vgpu_ctl_version version;
	struct vgpu_ctl_list list;
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_type type;
	struct vgpu_ctl_instance instance;
	struct vgpu_ctl_refusal refusal;
	struct vgpu_ctl_instance_op op;
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_shares shares;
	struct vgpu_ctl_sched_log log;
	struct vgpu_ctl_hist hist;
	struct vgpu_ctl_events events;
	struct vgpu_ctl_stats stats;
	struct vgpu_ctl_samples samples;
	struct vgpu_ctl_sessions sessions;
	struct vgpu_ctl_migration migration;
	struct vgpu_ctl_migration_check check;
} arg;

static struct vgpu_ctl_share share;
static struct vgpu_ctl_sample samples[VGPU_SAMPLES_ROOM];

static uint32_t gpu_id;

static const struct call {
	const char *name;
	unsigned long request;
	uint32_t size;
} calls[] = {
	{ "VERSION", VGPU_IOC_VERSION, sizeof(struct vgpu_ctl_version) },
	{ "GPUS", VGPU_IOC_GPUS, sizeof(struct vgpu_ctl_list) },
	{ "GPU", VGPU_IOC_GPU, sizeof(struct vgpu_ctl_gpu) },
	{ "TYPE", VGPU_IOC_TYPE, sizeof(struct vgpu_ctl_type) },
	{ "INSTANCES", VGPU_IOC_INSTANCES, sizeof(struct vgpu_ctl_list) },
	{ "INSTANCE", VGPU_IOC_INSTANCE, sizeof(struct vgpu_ctl_instance) },
	{ "SCHED", VGPU_IOC_SCHED, sizeof(struct vgpu_ctl_sched) },
	{ "SCHED_SET", VGPU_IOC_SCHED_SET, sizeof(struct vgpu_ctl_sched) },
	{ "SHARES_SET", VGPU_IOC_SHARES_SET, sizeof(struct vgpu_ctl_shares) },
	{ "SCHED_LOG", VGPU_IOC_SCHED_LOG, sizeof(struct vgpu_ctl_sched_log) },
	{ "HIST", VGPU_IOC_HIST, sizeof(struct vgpu_ctl_hist) },
	{ "EVENTS", VGPU_IOC_EVENTS, sizeof(struct vgpu_ctl_events) },
	{ "STATS", VGPU_IOC_STATS, sizeof(struct vgpu_ctl_stats) },
	{ "SAMPLES", VGPU_IOC_SAMPLES, sizeof(struct vgpu_ctl_samples) },
	{ "SESSIONS", VGPU_IOC_SESSIONS, sizeof(struct vgpu_ctl_sessions) },
	{ "MIGRATION", VGPU_IOC_MIGRATION, sizeof(struct vgpu_ctl_migration) },
	{ "MIGRATION_CHECK", VGPU_IOC_MIGRATION_CHECK, sizeof(struct vgpu_ctl_migration_check) },
};

#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

/* Fills in arguments with which the call succeeds. */
static void prepare(const struct call *call, uint32_t size)
{
	memset(&arg, 0, sizeof(arg));
	arg.words[0] = size;
	switch (call->request) {
	case VGPU_IOC_GPU:
		arg.gpu.gpu = gpu_id;
		break;
	case VGPU_IOC_TYPE:
		arg.type.gpu = gpu_id;
		break;
	case VGPU_IOC_INSTANCES:
		arg.list.gpu = ~0u;
		break;
	case VGPU_IOC_INSTANCE:
		memcpy(arg.instance.uuid, v.id, sizeof(v.id));
		break;
	case VGPU_IOC_SCHED:
		arg.sched.gpu = gpu_id;
		break;
	case VGPU_IOC_SCHED_SET:
		arg.sched.gpu = gpu_id;
		arg.sched.valid = VGPU_SCHED_LINGER;
		arg.sched.linger_us = 100;
		break;
	case VGPU_IOC_SHARES_SET:
		memset(&share, 0, sizeof(share));
		memcpy(share.uuid, v.id, sizeof(v.id));
		share.valid = VGPU_SHARE_CAP;
		share.cap = 1000;
		arg.shares.count = 1;
		arg.shares.entry_size = sizeof(share);
		arg.shares.entries = (uintptr_t)&share;
		break;
	case VGPU_IOC_SCHED_LOG:
		arg.log.gpu = gpu_id;
		arg.log.entry_size = sizeof(struct vgpu_ctl_switch);
		break;
	case VGPU_IOC_HIST:
		memcpy(arg.hist.uuid, v.id, sizeof(v.id));
		break;
	case VGPU_IOC_EVENTS:
		arg.events.event_size = EVENT_SIZE_1;
		break;
	case VGPU_IOC_STATS:
		arg.stats.gpu = gpu_id;
		arg.stats.entry_size = sizeof(struct vgpu_ctl_instance);
		break;
	case VGPU_IOC_SAMPLES:
		arg.samples.gpu = gpu_id;
		arg.samples.count = VGPU_SAMPLES_ROOM;
		arg.samples.entry_size = sizeof(samples[0]);
		arg.samples.entries = (uintptr_t)samples;
		break;
	case VGPU_IOC_SESSIONS:
		arg.sessions.gpu = gpu_id;
		arg.sessions.entry_size = sizeof(struct vgpu_ctl_session);
		break;
	case VGPU_IOC_MIGRATION:
		arg.migration.gpu = gpu_id;
		memcpy(arg.migration.uuid, v.id, sizeof(v.id));
		break;
	case VGPU_IOC_MIGRATION_CHECK:
		arg.check.gpu = gpu_id;
		memcpy(arg.check.uuid, v.id, sizeof(v.id));
		break;
	}
}

/* Makes the call with any arguments; returns 0 or a negative errno. */
static int call_with(unsigned long request, void *pointer)
{
	return ioctl(fx_control(), request, pointer) ? -errno : 0;
}

static void begin(void)
{
	fx_create(&v, fx_default_type());
	gpu_id = fx_gpu_id();
}

static void sizes(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < NR_CALLS; i++) {
		const struct call *c = &calls[i];

		prepare(c, c->size);
		CHECK_EQ(call_with(c->request, &arg), 0, "%s", c->name);
		prepare(c, c->size + 64);
		CHECK_EQ(call_with(c->request, &arg), 0, "%s longer, zero", c->name);
		prepare(c, c->size + 64);
		arg.bytes[c->size + 63] = 1;
		CHECK_EQ(call_with(c->request, &arg), -E2BIG, "%s tail", c->name);
		prepare(c, c->size + 64);
		arg.bytes[c->size] = 1;
		CHECK_EQ(call_with(c->request, &arg), -E2BIG, "%s tail", c->name);
		prepare(c, 4);
		CHECK_EQ(call_with(c->request, &arg), -EINVAL, "%s of 4", c->name);
		prepare(c, 0);
		CHECK_EQ(call_with(c->request, &arg), -EINVAL, "%s of 0", c->name);
		prepare(c, ~0u);
		CHECK(call_with(c->request, &arg) < 0, "%s of ~0", c->name);
		prepare(c, 1u << 20);
		CHECK(call_with(c->request, &arg) < 0, "%s of 1 MiB", c->name);
	}
}

/* The driver never writes behind the size that the caller has given. */
static void no_write_behind_the_size(void)
{
	unsigned int i, k;

	begin();
	for (i = 0; i < NR_CALLS; i++) {
		prepare(&calls[i], calls[i].size);
		memset(arg.bytes + calls[i].size, 0xee, 64);
		CHECK_EQ(call_with(calls[i].request, &arg), 0, "%s", calls[i].name);
		for (k = 0; k < 64; k++)
			CHECK_EQ(arg.bytes[calls[i].size + k], 0xee, "%s", calls[i].name);
		CHECK_EQ(arg.words[0], calls[i].size, "%s", calls[i].name);
	}
}

/* Programs of version 1.x, and the numbers that calls had there. */
static void calls_of_version_1(void)
{
	unsigned int nr, size;

	begin();
	for (nr = 0xb1; nr <= 0xc0; nr++)
		for (size = 4; size < 2048; size += 4) {
			memset(&arg, 0, sizeof(arg));
			arg.words[0] = size;
			CHECK_EQ(call_with(_IOC(_IOC_READ | _IOC_WRITE, 'g', nr, size), &arg),
				 -ENOTTY, "%#x", nr);
		}
}

static uint32_t known_flags(unsigned long request)
{
	switch (request) {
	case VGPU_IOC_SCHED:
	case VGPU_IOC_SCHED_SET:
		return VGPU_SCHED_OF_PARTITION;
	case VGPU_IOC_EVENTS:
		return VGPU_EVENTS_KEPT;
	case VGPU_IOC_MIGRATION:
	case VGPU_IOC_MIGRATION_CHECK:
		return VGPU_MIGRATION_OF_TYPE;
	default:
		return 0;
	}
}

static void flags(void)
{
	unsigned int i, bit;
	uint32_t known;

	begin();
	for (i = 0; i < NR_CALLS; i++) {
		known = known_flags(calls[i].request);
		for (bit = 0; bit < 32; bit++) {
			prepare(&calls[i], calls[i].size);
			arg.words[1] = 1u << bit;
			CHECK_EQ(call_with(calls[i].request, &arg),
				 known & 1u << bit ? 0 : -EINVAL, "%s, flag %u", calls[i].name,
				 bit);
		}
	}
}

static void bad_pointers(void)
{
	uint8_t *end = arg.bytes;
	unsigned int i;

	begin();
	for (i = 0; i < NR_CALLS; i++) {
		CHECK_EQ(call_with(calls[i].request, NULL), -EFAULT, "%s", calls[i].name);
		CHECK_EQ(call_with(calls[i].request, (void *)~0xfffull),
			 -EFAULT, "%s", calls[i].name);
	}
	prepare(&calls[1], calls[1].size);
	arg.list.count = 4;
	arg.list.ids = 8;
	CHECK_EQ(call_with(VGPU_IOC_GPUS, end), -EFAULT, "list");
	prepare(&calls[4], calls[4].size);
	arg.list.count = 4;
	arg.list.ids = 8;
	CHECK_EQ(call_with(VGPU_IOC_INSTANCES, end), -EFAULT, "list");
	CHECK_EQ(call_with(_IO('g', 0xb0 + 40), end), -ENOTTY);
	CHECK_EQ(call_with(_IO('x', 1), end), -ENOTTY);
}

static void what_is_not_there(void)
{
	begin();
	prepare(&calls[2], calls[2].size);
	arg.gpu.gpu = 0x7fffffff;
	CHECK(call_with(VGPU_IOC_GPU, &arg) < 0, "GPU");
	prepare(&calls[3], calls[3].size);
	arg.type.index = ~0u;
	CHECK_EQ(call_with(VGPU_IOC_TYPE, &arg), -ENOENT);
	prepare(&calls[4], calls[4].size);
	arg.list.gpu = 0x7fffffff;
	CHECK(call_with(VGPU_IOC_INSTANCES, &arg) < 0, "instances");
	prepare(&calls[5], calls[5].size);
	arg.instance.uuid[0] ^= 0xff;
	CHECK(call_with(VGPU_IOC_INSTANCE, &arg) < 0, "instance");
	memset(&arg, 0, sizeof(arg));
	arg.op.size = sizeof(arg.op);
	memcpy(arg.op.uuid, v.id, sizeof(v.id));
	CHECK_EQ(call_with(VGPU_IOC_RELEASE, &arg), -EINVAL, "is not in quarantine");
}

/* A list for which the caller has too little room still says how many entries there are. */
static void lists(void)
{
	uint8_t uuids[3][VGPU_UUID_LEN];

	begin();
	prepare(&calls[4], calls[4].size);
	CHECK_EQ(call_with(VGPU_IOC_INSTANCES, &arg), 0);
	CHECK_EQ(arg.list.count, 1);
	memset(uuids, 0xdd, sizeof(uuids));
	arg.list.count = 2;
	arg.list.ids = (uintptr_t)uuids;
	CHECK_EQ(call_with(VGPU_IOC_INSTANCES, &arg), 0);
	CHECK_EQ(arg.list.count, 1);
	CHECK(!memcmp(uuids[0], v.id, sizeof(v.id)), "another UUID");
	CHECK_EQ(uuids[1][0], 0xdd, "wrote too much");
	fx_remove(&v);
	arg.list.count = 2;
	CHECK_EQ(call_with(VGPU_IOC_INSTANCES, &arg), 0);
	CHECK_EQ(arg.list.count, 0);
}

static void as_nobody(void *unused)
{
	struct vgpu_ctl_instance_op op = { .size = sizeof(op) };
	struct vgpu_ctl_version version = { .size = sizeof(version) };
	char path[256];
	int fd;

	(void)unused;
	memcpy(op.uuid, v.id, sizeof(v.id));
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	CHECK(fd < 0 && errno == EACCES, "opened by anybody");
	/* A process that was given an open file may read, and change nothing. */
	CHECK(!ioctl(fx_control(), VGPU_IOC_VERSION, &version), "%s", strerror(errno));
	CHECK(ioctl(fx_control(), VGPU_IOC_RELEASE, &op) && errno == EPERM, "released by anybody");
	fx_type_path("1Q", "create", path, sizeof(path));
	CHECK_EQ(file_write(path, v.uuid), -EACCES, "created by anybody");
}

static void rights(void)
{
	int status;
	pid_t pid;

	begin();
	pid = child_start(as_nobody, NULL);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
	CHECK_EQ(status, 0);
}

/* Sizes of elements in the first version of the ABI. */
#define SHARE_SIZE_1	40
#define SWITCH_SIZE_1	80

static uint8_t elements[4][4096];

static int set_shares(uint32_t size, uint32_t count)
{
	struct vgpu_ctl_shares set = {
		.size = sizeof(set),
		.count = count,
		.entry_size = size,
		.entries = (uintptr_t)elements,
	};
	int ret = call_with(VGPU_IOC_SHARES_SET, &set);

	CHECK(!ret || set.text[0], "no reason for %d", ret);
	return ret;
}

/* Two elements of @size bytes each, which set the cap of both vGPUs. */
static void put_shares(uint32_t size, uint32_t cap)
{
	uint8_t *at = elements[0];
	struct vgpu_ctl_share e = { .valid = VGPU_SHARE_CAP, .cap = cap };
	unsigned int i;

	memset(elements, 0, sizeof(elements));
	for (i = 0; i < 2; i++, at += size) {
		memcpy(e.uuid, i ? victim.id : v.id, sizeof(e.uuid));
		memcpy(at, &e, size < sizeof(e) ? size : sizeof(e));
	}
}

static void check_caps(uint32_t cap)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	CHECK_EQ(inst.cap, cap);
	fx_instance(&victim, &inst);
	CHECK_EQ(inst.cap, cap, "of the second");
}

/* Programs with shorter and with longer elements than the kernel has. */
static void share_sizes(void)
{
	static const uint32_t good[] = {
		SHARE_SIZE_1, SHARE_SIZE_1 + 4, 64, 4096,
	};
	uint32_t cap = 901;
	unsigned int i;

	begin();
	fx_create(&victim, fx_default_type());
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++, cap++) {
		put_shares(good[i], cap);
		CHECK_EQ(set_shares(good[i], 2), 0, "of %u", good[i]);
		check_caps(cap);
	}
	cap--;
	for (i = 0; i < SHARE_SIZE_1; i++) {
		put_shares(i, 800);
		CHECK_EQ(set_shares(i, 2), -EINVAL, "of %u", i);
	}
	/* A byte that the kernel does not know, at either end of the second element's tail. */
	put_shares(64, 800);
	elements[0][64 + sizeof(struct vgpu_ctl_share)] = 1;
	CHECK_EQ(set_shares(64, 2), -E2BIG, "tail");
	put_shares(64, 800);
	elements[0][127] = 1;
	CHECK_EQ(set_shares(64, 2), -E2BIG, "tail");
	CHECK_EQ(set_shares(16385, 1), -E2BIG);
	/* Size times count would be small if it were computed in 32 bits. */
	CHECK_EQ(set_shares(0x80000000, 2), -E2BIG);
	CHECK_EQ(set_shares(0x01000000, 256), -E2BIG);
	CHECK_EQ(set_shares(~0u, 256), -E2BIG);
	check_caps(cap);
}

static int get_log(uint32_t size, uint32_t *count)
{
	struct vgpu_ctl_sched_log log = {
		.size = sizeof(log),
		.gpu = gpu_id,
		.engine = 0,
		.count = 2,
		.entry_size = size,
		.entries = (uintptr_t)elements,
	};
	int ret = call_with(VGPU_IOC_SCHED_LOG, &log);

	*count = log.count;
	return ret;
}

static void log_sizes(void)
{
	static const uint32_t good[] = {
		SWITCH_SIZE_1, SWITCH_SIZE_1 + 4, 128, 4096,
	};
	struct vgpu_ctl_switch first[2];
	struct vgpu_chan *chan;
	uint32_t count, size;
	unsigned int i, k;

	begin();
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 3; i++) {
		FX_OK(v.dev, vgpu_chan_nop(chan));
		fx_finish(chan);
		clk_sleep_ms(20);
	}
	vgpu_chan_destroy(chan);
	fx_close(&v);
	CHECK_EQ(get_log(SWITCH_SIZE_1, &count), 0);
	CHECK_EQ(count, 2);
	memcpy(first, elements, sizeof(first));
	CHECK(first[1].time_ns > first[0].time_ns, "no two runs");
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		size = good[i];
		memset(elements, 0xee, sizeof(elements));
		CHECK_EQ(get_log(good[i], &count), 0, "of %u", good[i]);
		CHECK_EQ(count, 2);
		for (k = 0; k < 2; k++) {
			uint8_t *at = elements[0] + k * size;

			CHECK(!memcmp(at, &first[k], SWITCH_SIZE_1),
			      "entry %u of %u bytes", k, size);
			CHECK(fx_is_zero(at + SWITCH_SIZE_1, size - SWITCH_SIZE_1), "tail");
		}
		CHECK_EQ(elements[0][2 * size], 0xee, "wrote too much");
	}
	CHECK_EQ(get_log(SWITCH_SIZE_1 - 1, &count), -EINVAL);
	CHECK_EQ(get_log(1, &count), -EINVAL);
	CHECK_EQ(get_log(0, &count), -EINVAL);
	CHECK_EQ(get_log(16385, &count), -E2BIG);
	CHECK_EQ(get_log(0x80000000, &count), -E2BIG);
	CHECK_EQ(get_log(~0u, &count), -E2BIG);
}

static void statistics_only_grow(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *chan;
	unsigned int i, e;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	e = chan->engine;
	fx_instance(&v, &before);
	CHECK_EQ(before.engine[e].packets, 0);
	for (i = 0; i < 20; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, FX_MIB));
		fx_finish(chan);
		fx_instance(&v, &after);
		CHECK_EQ(after.engine[e].packets, before.engine[e].packets + 2);
		CHECK_EQ(after.engine[e].bytes, before.engine[e].bytes + FX_MIB);
		CHECK(after.engine[e].busy_ns >= before.engine[e].busy_ns &&
		      after.engine[e].wait_ns >= before.engine[e].wait_ns &&
		      after.engine[e].runs >= before.engine[e].runs &&
		      after.now_ns > before.now_ns, "went back");
		before = after;
	}
	CHECK(after.engine[e].busy_ns, "no service");
	CHECK(after.engine[e].runs, "no runs");
	CHECK_EQ(after.owner_pid, getpid());
	CHECK_EQ(after.state, VGPU_STATE_STARTED);
	CHECK(after.fb_backed_bytes >= FX_MIB && after.fb_backed_bytes <= after.fb_bytes, "backed");
	CHECK_EQ(after.channels, v.dev->channels);
	CHECK_EQ(after.fb_bytes, v.dev->fb_bytes);
	vgpu_chan_destroy(chan);
	fx_close(&v);
	fx_instance(&v, &after);
	CHECK_EQ(after.engine[e].packets, before.engine[e].packets, "counters survive close");
	CHECK_EQ(after.state, VGPU_STATE_CREATED);
	CHECK_EQ(after.owner_pid, 0);
	CHECK_EQ(after.started_ns, 0);
}

/* A refusal is found by the UUID alone, and by the GPU that refused, but not by another one. */
static void refusals_of_a_gpu(void)
{
	struct vgpu_ctl_refusal *r = &arg.refusal;
	unsigned int bit;
	char path[256];
	uint64_t then;

	begin();
	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/vgpu/weight", v.uuid);
	CHECK_EQ(file_write(path, "0"), -EINVAL);
	for (bit = 0; bit < 33; bit++) {
		memset(&arg, 0, sizeof(arg));
		r->size = sizeof(*r);
		r->flags = bit < 32 ? 1u << bit : 0;
		r->gpu = r->flags ? gpu_id : ~0u;
		memcpy(r->uuid, v.id, sizeof(v.id));
		if (r->flags & ~VGPU_REFUSAL_OF_GPU) {
			CHECK_EQ(call_with(VGPU_IOC_REFUSAL, &arg), -EINVAL, "flag %u", bit);
			continue;
		}
		CHECK_EQ(call_with(VGPU_IOC_REFUSAL, &arg), 0, "flag %u", bit);
		CHECK_EQ(r->error, EINVAL);
		CHECK_EQ(r->gpu, gpu_id);
		CHECK(strstr((char *)r->text, "weight"), "%s", (char *)r->text);
	}
	then = r->time_ns;
	r->flags = VGPU_REFUSAL_OF_GPU;
	r->gpu = gpu_id + 1000;
	CHECK_EQ(call_with(VGPU_IOC_REFUSAL, &arg), -ENOENT);
	CHECK_EQ(file_write(path, "0"), -EINVAL);
	r->gpu = gpu_id;
	CHECK_EQ(call_with(VGPU_IOC_REFUSAL, &arg), 0);
	CHECK(r->time_ns > then, "the older one");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(refusals_of_a_gpu),
	KTAP_TEST(sizes),
	KTAP_TEST(no_write_behind_the_size),
	KTAP_TEST(calls_of_version_1),
	KTAP_TEST(flags),
	KTAP_TEST(bad_pointers),
	KTAP_TEST(what_is_not_there),
	KTAP_TEST(lists),
	KTAP_TEST(rights),
	KTAP_TEST(share_sizes),
	KTAP_TEST(log_sizes),
	KTAP_TEST(statistics_only_grow),
};

KTAP_MAIN(tests, fx_cleanup)
