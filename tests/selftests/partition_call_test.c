// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: the calls about partitions, and what other calls and events tell of partitions. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "child.h"
#include "event.h"
#include "file.h"
#include "inject.h"
#include "node.h"
#include "part.h"
#include "tune.h"

#define ANYWHERE	VGPU_PARTITION_ANYWHERE
#define ROOM		8192

static struct fx_vgpu v, other;

static union {
	uint32_t words[ROOM / 4];
	uint8_t bytes[ROOM];
	struct vgpu_ctl_list list;
	struct vgpu_ctl_profile profile;
	struct vgpu_ctl_partition partition;
	struct vgpu_ctl_partition_create create;
	struct vgpu_ctl_partition_remove remove;
	struct vgpu_ctl_partition_set_mode mode;
	struct vgpu_ctl_sched_log log;
} arg;

static const struct call {
	const char *name;
	unsigned long request;
	uint32_t size;
	uint32_t min_size;
	uint32_t text;
} calls[] = {
	{ "PROFILE", VGPU_IOC_PROFILE, sizeof(struct vgpu_ctl_profile), 56, 0 },
	{ "PARTITIONS", VGPU_IOC_PARTITIONS, sizeof(struct vgpu_ctl_list), 24, 0 },
	{ "PARTITION", VGPU_IOC_PARTITION, sizeof(struct vgpu_ctl_partition),
	  offsetof(struct vgpu_ctl_partition, engine), 0 },
	{ "CREATE", VGPU_IOC_PARTITION_CREATE, sizeof(struct vgpu_ctl_partition_create), 216,
	  offsetof(struct vgpu_ctl_partition_create, text) },
	{ "REMOVE", VGPU_IOC_PARTITION_REMOVE, sizeof(struct vgpu_ctl_partition_remove), 208,
	  offsetof(struct vgpu_ctl_partition_remove, text) },
	{ "MODE", VGPU_IOC_PARTITION_MODE, sizeof(struct vgpu_ctl_partition_set_mode), 208,
	  offsetof(struct vgpu_ctl_partition_set_mode, text) },
};

#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

/* Fills in arguments with which the call succeeds while the mode is on. */
static void prepare(const struct call *call, uint32_t size)
{
	uint32_t ids[PART_MANY];
	unsigned int nr;

	memset(&arg, 0, sizeof(arg));
	arg.words[0] = size;
	arg.words[2] = fx_gpu_id();
	nr = part_list(ids);
	switch (call->request) {
	case VGPU_IOC_PARTITION_CREATE:
		while (nr--)
			part_remove(ids[nr]);
		arg.create.start = ANYWHERE;
		break;
	case VGPU_IOC_PARTITION_REMOVE:
		arg.remove.partition = nr ? ids[0] : part_new("1g", 3);
		break;
	case VGPU_IOC_PARTITION_MODE:
		arg.mode.mode = VGPU_PARTITION_MODE_ON;
		break;
	}
}

/* Makes the call with any arguments; returns 0 or a negative errno. */
static int call_with(unsigned long request, void *pointer)
{
	return ioctl(fx_control(), request, pointer) ? -errno : 0;
}

static void sizes(void)
{
	unsigned int i, k;

	part_mode(true);
	for (i = 0; i < NR_CALLS; i++) {
		const struct call *c = &calls[i];

		prepare(c, c->min_size);
		memset(arg.bytes + c->min_size, 0xee, 64);
		CHECK_EQ(call_with(c->request, &arg), 0, "%s of the first version", c->name);
		CHECK_EQ(arg.words[0], c->min_size, "%s", c->name);
		for (k = 0; k < 64; k++)
			CHECK_EQ(arg.bytes[c->min_size + k], 0xee, "%s", c->name);
		prepare(c, c->size + 64);
		CHECK_EQ(call_with(c->request, &arg), 0, "%s longer, zero", c->name);
		prepare(c, c->size + 64);
		arg.bytes[c->size + 63] = 1;
		CHECK_EQ(call_with(c->request, &arg), -E2BIG, "%s tail", c->name);
		prepare(c, c->min_size - 1);
		CHECK_EQ(call_with(c->request, &arg), -EINVAL, "%s short", c->name);
		prepare(c, ~0u);
		CHECK_EQ(call_with(c->request, &arg), -E2BIG, "%s of ~0", c->name);
	}
}

static void flags(void)
{
	unsigned int i, bit;

	part_mode(true);
	for (i = 0; i < NR_CALLS; i++)
		for (bit = 0; bit < 32; bit++) {
			prepare(&calls[i], calls[i].size);
			arg.words[1] = 1u << bit;
			CHECK_EQ(call_with(calls[i].request, &arg), -EINVAL, "%s, flag %u",
				 calls[i].name, bit);
			CHECK(!calls[i].text || arg.bytes[calls[i].text], "%s: no text",
			      calls[i].name);
		}
}

static void bad_pointers(void)
{
	unsigned int i;

	part_mode(true);
	part_new("1g", 0);
	for (i = 0; i < NR_CALLS; i++) {
		CHECK_EQ(call_with(calls[i].request, NULL), -EFAULT, "%s", calls[i].name);
		CHECK_EQ(call_with(calls[i].request, (void *)~0xfffull), -EFAULT, "%s",
			 calls[i].name);
	}
	prepare(&calls[1], calls[1].size);
	arg.list.count = ~0u;
	arg.list.ids = 8;
	CHECK_EQ(call_with(VGPU_IOC_PARTITIONS, &arg), -EFAULT);
}

static void what_is_not_there(void)
{
	static const uint32_t bad[] = { 5, 6, 31, 32, 0x7fffffff, ~0u };
	struct vgpu_ctl_partition part;
	char text[VGPU_TEXT_LEN];
	uint32_t id, start;
	unsigned int i;

	part_mode(true);
	for (i = 0; i < NR_CALLS; i++) {
		prepare(&calls[i], calls[i].size);
		arg.words[2] = 0x7fffffff;
		CHECK_EQ(call_with(calls[i].request, &arg), -ENODEV, "%s", calls[i].name);
		CHECK(!calls[i].text || arg.bytes[calls[i].text], "%s: no text", calls[i].name);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(node_profile(fx_control(), fx_gpu_id(), bad[i], &arg.profile), -ENOENT);
		start = ANYWHERE;
		CHECK_EQ(node_partition_create(fx_control(), fx_gpu_id(), bad[i], &start, &id,
					       text), -EINVAL);
		CHECK_EQ(part_try_mode(bad[i]), -EINVAL);
		CHECK_EQ(part_try_remove(bad[i] + 100000), -ENOENT);
		CHECK_EQ(part_try_read(bad[i] + 100000, &part), -ENOENT);
	}
	CHECK_EQ(part_try_new("1g", 7, &id), -EINVAL);
	CHECK_EQ(part_try_new("2g", 1, &id), -EINVAL);
	CHECK(strstr(part_refusal, "can be at 0, 2, 4"), "%s", part_refusal);
	CHECK_EQ(part_try_new("3g", 2, &id), -EINVAL);
	CHECK_EQ(part_try_new("1g", ~1u, &id), -EINVAL);
	CHECK_EQ(part_try_remove(0), -EINVAL);
}

/* Partition 0 is the whole GPU; the places that are left follow from those that are taken. */
static void reads(void)
{
	struct vgpu_ctl_profile profile;
	struct vgpu_ctl_partition part;
	struct vgpu_ctl_gpu gpu;
	uint32_t i, id, ids[PART_MANY], count;

	part_mode(true);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.partitions, 0);
	part_read(0, &part);
	CHECK_EQ(part.fb_bytes, gpu.fb_bytes);
	CHECK_EQ(part.slices, VGPU_PARTITION_SLICES);
	CHECK_EQ(part.created_ns, gpu.registered_ns);
	CHECK_EQ(part.engines, gpu.engines);
	CHECK_EQ(part.profile[0], 0);
	id = part_new("3g", 4);
	part_new("1g", 1);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.partitions, 2);
	part_read(id, &part);
	CHECK_EQ(part.fb_start, gpu.fb_bytes / 2);
	CHECK_EQ(part.fb_bytes, gpu.fb_bytes / 2);
	CHECK_EQ(part.start, 4);
	CHECK_EQ(part.slices, 3);
	CHECK_EQ(part.eighths, 4);
	CHECK_EQ(part.instances, 0);
	CHECK(part.created_ns > gpu.registered_ns && part.now_ns > part.created_ns, "times");
	for (i = 0; i < gpu.profiles; i++) {
		static const uint32_t fits[] = { 0x0d, 0x04, 0, 0, 0 };

		CHECK_EQ(node_profile(fx_control(), fx_gpu_id(), i, &profile), 0);
		CHECK_EQ(profile.fits, fits[i], "%s", (char *)profile.name);
		CHECK_EQ(profile.fb_bytes, gpu.fb_bytes / 8 * profile.eighths);
		CHECK(!(profile.fits & ~profile.starts), "%s", (char *)profile.name);
	}
	ids[1] = 0xdddddddd;
	count = 1;
	CHECK_EQ(node_partitions(fx_control(), fx_gpu_id(), ids, &count), 0);
	CHECK_EQ(count, 2);
	CHECK_EQ(ids[0], id);
	CHECK_EQ(ids[1], 0xdddddddd, "wrote too much");
}

/* A type says which partitions it is for, as its name does. */
static void types(void)
{
	struct vgpu_ctl_type type = { .size = sizeof(type) };
	unsigned int slices, gb, of_parts = 0;

	part_mode(true);
	part_new("2g", 2);
	type.gpu = fx_gpu_id();
	for (; !ioctl(fx_control(), VGPU_IOC_TYPE, &type); type.index++) {
		if (sscanf(strchr((char *)type.name, '-'), "-%u-%uC", &slices, &gb) != 2)
			slices = 0;
		CHECK_EQ(type.slices, slices, "%s", (char *)type.name);
		CHECK_EQ(!type.available, slices != 2, "%s", (char *)type.name);
		of_parts += !!slices;
	}
	CHECK(of_parts > 5, "%u types", of_parts);
}

/* Each partition has its own policy, and the GPU has its own. */
static void settings(void)
{
	struct vgpu_ctl_sched set = { .policy = "qos", .slice_ns = 3000000 }, was, got;
	struct vgpu_ctl_partition part;
	uint32_t a, b;

	part_mode(true);
	tune_get(&was);
	a = part_new("1g", 0);
	b = part_new("2g", 4);
	CHECK_EQ(node_part_sched_set(fx_control(), fx_gpu_id(), a, &set,
				     VGPU_SCHED_POLICY | VGPU_SCHED_SLICE), 0, "%s",
		 (char *)set.text);
	CHECK_EQ(set.partition, a);
	CHECK_EQ(node_part_sched(fx_control(), fx_gpu_id(), a, &got), 0);
	CHECK(!strcmp((char *)got.policy, "qos"), "%s", (char *)got.policy);
	CHECK_EQ(got.slice_ns, 3000000);
	CHECK_EQ(got.partition, a);
	part_read(a, &part);
	CHECK(!strcmp((char *)part.policy, "qos"), "%s", (char *)part.policy);
	CHECK_EQ(part.slice_ns, 3000000);
	CHECK_EQ(part.due, VGPU_DUE_SHARE);
	CHECK_EQ(node_part_sched(fx_control(), fx_gpu_id(), b, &got), 0);
	CHECK(strcmp((char *)got.policy, "qos"), "of the neighbour");
	tune_get(&got);
	CHECK(!memcmp(&got, &was, sizeof(got)), "of the GPU");
	CHECK_EQ(node_part_sched(fx_control(), fx_gpu_id(), 0, &got), 0);
	got.flags = 0;
	CHECK(!memcmp(&got, &was, sizeof(got)), "of partition 0");
	CHECK_EQ(node_part_sched(fx_control(), fx_gpu_id(), b + 1, &got), -ENOENT);
	set.text[0] = 0;
	CHECK_EQ(node_part_sched_set(fx_control(), fx_gpu_id(), b + 1, &set, VGPU_SCHED_POLICY),
		 -ENOENT);
	CHECK(strstr((char *)set.text, "no partition"), "%s", (char *)set.text);
}

/* Writes to all of the GPU's attributes in sysfs, which are to be refused with that error. */
static void set_attrs(int wanted)
{
	static const char * const attrs[][2] = {
		{ "policy", "fixed_share" }, { "slice_ns", "3000000" }, { "frequency_hz", "400" },
		{ "window_ms", "200" }, { "preempt_timeout_us", "20000" }, { "linger_us", "50" },
		{ "quarantine_faults", "5" }, { "quarantine_backoff_ms", "7000" },
	};
	char path[256], text[64];
	unsigned int i;

	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/vgpu/%s", fx_gpu(),
			 attrs[i][0]);
		CHECK_EQ(file_write(path, attrs[i][1]), wanted, "%s", path);
		CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	}
}

/* The attributes are the whole GPU's: while it is divided they would change nothing. */
static void attributes(void)
{
	struct vgpu_ctl_sched was, got;
	uint32_t a, b;

	tune_begin();
	part_mode(true);
	tune_get(&was);
	set_attrs(-EBUSY);
	a = part_new("1g", 0);
	b = part_new("2g", 4);
	set_attrs(-EBUSY);
	tune_get(&got);
	CHECK(!memcmp(&got, &was, sizeof(got)), "changed");
	part_remove(a);
	part_remove(b);
	part_mode(false);
	set_attrs(0);
	tune_get(&got);
	CHECK(!strcmp((char *)got.policy, "fixed_share"), "%s", (char *)got.policy);
	CHECK_EQ(got.slice_ns, 2500000);
}

/* Reads the log of a copy engine: how many runs there are, and of these the vGPU's. */
static int runs_of(uint32_t partition, const struct fx_vgpu *vgpu, unsigned int *of_vgpu)
{
	static struct vgpu_ctl_switch entries[VGPU_SCHED_LOG];
	unsigned int i;
	int ret;

	memset(&arg, 0, sizeof(arg));
	arg.log.size = sizeof(arg.log);
	arg.log.gpu = fx_gpu_id();
	arg.log.engine = 1;
	arg.log.count = VGPU_SCHED_LOG;
	arg.log.entry_size = sizeof(entries[0]);
	arg.log.entries = (uintptr_t)entries;
	arg.log.partition = partition;
	ret = call_with(VGPU_IOC_SCHED_LOG, &arg);
	*of_vgpu = 0;
	for (i = 0; !ret && i < arg.log.count; i++)
		*of_vgpu += !memcmp(entries[i].uuid, vgpu->id, sizeof(vgpu->id));
	return ret ? ret : (int)arg.log.count;
}

/* The runs of a partition's engine are in its own log. */
static void logs(void)
{
	unsigned int of_vgpu;
	uint32_t a, b;
	int all;

	part_mode(true);
	a = part_new("1g", 0);
	b = part_new("2g", 4);
	fx_create_open(&v, "1-2C");
	fx_create_open(&other, "2-4C");
	inject_full_run(&v);
	inject_full_run(&other);
	/* Then their runs have ended. */
	fx_close(&v);
	fx_close(&other);
	all = runs_of(a, &v, &of_vgpu);
	CHECK(all > 0 && all == (int)of_vgpu, "%d runs, %u of the vGPU", all, of_vgpu);
	all = runs_of(b, &other, &of_vgpu);
	CHECK(all > 0 && all == (int)of_vgpu, "%d runs, %u of the vGPU", all, of_vgpu);
	CHECK(runs_of(0, &v, &of_vgpu) >= 0, "of the GPU");
	CHECK_EQ(of_vgpu, 0);
	CHECK_EQ(runs_of(b + 1, &v, &of_vgpu), -ENOENT);
	arg.log.partition = b;
	arg.log.pad = 1;
	CHECK_EQ(call_with(VGPU_IOC_SCHED_LOG, &arg), -EINVAL);
}

static void event_is(uint32_t type, uint32_t a, uint32_t b, uint64_t c)
{
	struct vgpu_ctl_event event;

	event_next(type, &event);
	CHECK_EQ(event.gpu, fx_gpu_id());
	CHECK_EQ(event.a, a);
	CHECK_EQ(event.b, b);
	CHECK_EQ(event.c, c);
}

static void events(void)
{
	struct vgpu_ctl_sched set = { .linger_us = 50 };
	uint32_t id, none;

	part_mode(false);
	event_begin();
	part_mode(true);
	event_is(VGPU_EVENT_PARTITION, 0, VGPU_PARTITION_ON, 0);
	part_mode(true);
	id = part_new("3g", 4);
	event_is(VGPU_EVENT_PARTITION, id, VGPU_PARTITION_CREATED, 3);
	CHECK_EQ(node_part_sched_set(fx_control(), fx_gpu_id(), id, &set, VGPU_SCHED_LINGER), 0);
	event_is(VGPU_EVENT_SCHED, VGPU_SCHED_LINGER, id, 0);
	CHECK_EQ(part_try_new("7g", 0, &none), -ENOSPC);
	part_remove(id);
	event_is(VGPU_EVENT_PARTITION, id, VGPU_PARTITION_REMOVED, 3);
	part_mode(false);
	event_is(VGPU_EVENT_PARTITION, 0, VGPU_PARTITION_OFF, 0);
	event_cleanup();
}

/* Who may not change reads all the same. */
static void as_nobody(void *unused)
{
	unsigned int i;

	(void)unused;
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	for (i = 0; i < NR_CALLS; i++) {
		memset(&arg, 0, sizeof(arg));
		arg.words[0] = calls[i].size;
		arg.words[2] = fx_gpu_id();
		CHECK_EQ(call_with(calls[i].request, &arg), calls[i].text ? -EPERM : 0, "%s",
			 calls[i].name);
	}
}

static void rights(void)
{
	int status;
	pid_t pid;

	part_mode(true);
	fx_gpu_id();
	pid = child_start(as_nobody, NULL);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
	CHECK_EQ(status, 0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(sizes),
	KTAP_TEST(flags),
	KTAP_TEST(bad_pointers),
	KTAP_TEST(what_is_not_there),
	KTAP_TEST(reads),
	KTAP_TEST(types),
	KTAP_TEST(settings),
	KTAP_TEST(attributes),
	KTAP_TEST(logs),
	KTAP_TEST(events),
	KTAP_TEST(rights),
};

KTAP_MAIN(tests, part_cleanup)
