// SPDX-License-Identifier: GPL-2.0
/*
 * Partitions of a GPU: their places, the vGPUs in them, and random creations and removals while
 * vGPUs work and others read.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "clk.h"
#include "inject.h"
#include "node.h"
#include "part.h"
#include "rng.h"
#include "soft.h"
#include "tune.h"

#define CE	VGPU_HW_ENGINE_CE
#define MANY	PART_MANY
#define ANYWHERE VGPU_PARTITION_ANYWHERE
#define TEXT	4096

static struct fx_vgpu v, vgpus[MANY];

static void modes(void)
{
	unsigned int all = fx_available(fx_default_type());
	uint32_t id;

	CHECK_EQ(part_try_new("1g", ANYWHERE, &id), -EOPNOTSUPP);
	CHECK_EQ(fx_available("1-2C"), 0);
	fx_create(&v, fx_default_type());
	CHECK_EQ(part_try_mode(VGPU_PARTITION_MODE_ON), -EBUSY);
	fx_remove(&v);
	part_mode(true);
	part_mode(true);
	CHECK_EQ(fx_available(fx_default_type()), 0);
	CHECK_EQ(fx_try_create(&v, fx_default_type()), -ENOSPC);
	fx_check_refusal(&v, ENOSPC, "is divided");
	CHECK_EQ(fx_try_create(&v, "1-2C"), -ENOSPC);
	fx_check_refusal(&v, ENOSPC, "there is no 1g");
	id = part_new("1g", 3);
	CHECK_EQ(part_try_mode(VGPU_PARTITION_MODE_OFF), -EBUSY);
	part_remove(id);
	CHECK_EQ(part_try_remove(id), -ENOENT);
	part_mode(false);
	CHECK_EQ(fx_available(fx_default_type()), all);
	fx_create(&v, fx_default_type());
}

static void places(void)
{
	uint32_t i, id, last = 0;

	part_mode(true);
	for (i = 0; i < MANY; i++) {
		id = part_new("1g", i);
		CHECK(id > last, "%u after %u", id, last);
		CHECK_EQ(part_at("1g", i), id);
		last = id;
	}
	CHECK_EQ(part_try_new("1g", ANYWHERE, &id), -ENOSPC);
	CHECK_EQ(part_try_new("2g", 2, &id), -ENOSPC);
	CHECK(strstr(part_refusal, "is in partition"), "%s", part_refusal);
	CHECK_EQ(fx_available("1-2C"), MANY);
	for (i = 0; i < 4; i++)
		part_remove(part_at("1g", i));
	id = part_new("4g", ANYWHERE);
	CHECK_EQ(fx_available("4-8C"), 1);
	CHECK_EQ(fx_available("4-4C"), 2);
	CHECK_EQ(part_at("4g", 0), id);
	part_remove(id);
	part_new("2g", ANYWHERE);
	part_new("2g", ANYWHERE);
	CHECK_EQ(part_try_new("7g", ANYWHERE, &id), -ENOSPC);
	CHECK(strstr(part_refusal, "fits"), "%s", part_refusal);
}

/* As in linux/vgpu_clock.h. */
#define SLOT_US		2000u
#define STOP_US		50u

/* The line of debugfs on a partition; @first and @nr: its slots, if it shares CPUs in time. */
static void check_line(uint32_t id, unsigned int first, unsigned int nr)
{
	char path[128], line[160], text[TEXT];
	struct vgpu_ctl_partition part;
	struct vgpu_ctl_gpu gpu;

	part_read(id, &part);
	fx_ctl_gpu(&gpu);
	snprintf(line, sizeof(line),
		 "\npartition %u: %.16s, start_mb %llu, size_mb %llu, vgpus %u, slots_us %u+%u\n",
		 id, (char *)part.profile, gpu.fb_bytes / 8 * part.start >> 20, part.fb_bytes >> 20,
		 part.instances, part.shared_time ? first * SLOT_US : 0,
		 part.shared_time ? nr * SLOT_US - STOP_US : 0);
	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/partitions", fx_gpu());
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	CHECK(strstr(text, line), "not there:%s%s", line, text);
}

/* A vGPU's framebuffer, in GiB of the GPU's, and its channels are its partition's. */
static void check_place(const struct fx_vgpu *vgpu, unsigned int gb)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	fx_instance(vgpu, &inst);
	CHECK_EQ(inst.placement_gb, gb);
	CHECK_EQ(inst.first_channel, gpu.channels * gb / (gpu.fb_bytes >> 30));
}

static void vgpus_in_partitions(void)
{
	struct vgpu_ctl_partition part;
	unsigned int one, three, i;

	part_mode(true);
	three = part_new("3g", 4);
	one = part_new("1g", 0);
	fx_create_open(&vgpus[0], "1-2C");
	fx_create_open(&vgpus[1], "3-4C");
	fx_create_open(&vgpus[2], "3-4C");
	CHECK_EQ(fx_try_create(&vgpus[3], "3-4C"), -ENOSPC);
	fx_check_refusal(&vgpus[3], ENOSPC, "framebuffer");
	CHECK_EQ(fx_available("3-4C"), 0);
	check_place(&vgpus[0], 0);
	check_place(&vgpus[1], 8);
	check_place(&vgpus[2], 12);
	CHECK_EQ(part_of(&vgpus[0]), one);
	CHECK_EQ(part_of(&vgpus[2]), three);
	check_line(one, 0, 1);
	check_line(three, 4, 3);
	for (i = 0; i < 3; i++)
		inject_full_run(&vgpus[i]);
	CHECK_EQ(part_at("3g", 4), three);
	part_read(three, &part);
	CHECK_EQ(part.instances, 2);
	CHECK_EQ(part.fb_used_bytes, part.fb_bytes);
	CHECK_EQ(part_try_remove(three), -EBUSY);
	CHECK_EQ(part_try_remove(one), -EBUSY);
	fx_close(&vgpus[0]);
	CHECK_EQ(part_try_remove(one), -EBUSY);
	fx_remove(&vgpus[0]);
	part_remove(one);
	inject_full_run(&vgpus[1]);
}

/* A new vGPU goes into the partition that has the least room for it. */
static void fullest_first(void)
{
	part_mode(true);
	part_new("3g", 0);
	part_new("3g", 4);
	fx_create(&vgpus[0], "3-8C");
	check_place(&vgpus[0], 0);
	fx_create(&vgpus[1], "3-4C");
	check_place(&vgpus[1], 8);
	fx_remove(&vgpus[0]);
	fx_create(&vgpus[2], "3-4C");
	check_place(&vgpus[2], 12);
	fx_create(&vgpus[3], "3-4C");
	check_place(&vgpus[3], 0);
}

/* The guarantees of a partition's vGPUs are their own: nobody else's are short for them. */
static void guarantees(void)
{
	struct vgpu_ctl_share both[2];
	char text[64];
	uint32_t one, two;

	part_mode(true);
	one = part_new("3g", 0);
	two = part_new("3g", 4);
	fx_create(&vgpus[0], "3-4C");
	check_place(&vgpus[0], 0);
	tune_share(&vgpus[0], 1000, 1000, 1);
	CHECK_EQ(fx_available("3-4C"), 2);
	fx_create(&vgpus[1], "3-4C");
	check_place(&vgpus[1], 8);
	tune_share(&vgpus[1], 400, 1000, 1);
	fx_create(&vgpus[2], "3-4C");
	check_place(&vgpus[2], 12);
	CHECK_EQ(fx_available("3-4C"), 0);
	CHECK_EQ(fx_try_create(&vgpus[3], "3-4C"), -ENOSPC);
	snprintf(text, sizeof(text), ".%u: guarantee 500 per mille does not fit", one);
	fx_check_refusal(&vgpus[3], ENOSPC, text);
	both[0] = tune_entry(&vgpus[0], VGPU_SHARE_GUARANTEE, 10, 0, 0);
	both[1] = tune_entry(&vgpus[1], VGPU_SHARE_GUARANTEE, 10, 0, 0);
	CHECK_EQ(tune_try_shares(both, 2), -EXDEV);
	CHECK(strstr(tune_refusal, "is in partition"), "%s", tune_refusal);
	both[0] = tune_entry(&vgpus[1], VGPU_SHARE_GUARANTEE, 700, 0, 0);
	CHECK_EQ(tune_try_shares(both, 1), -ENOSPC);
	snprintf(text, sizeof(text), ".%u: guarantee 700 per mille does not fit", two);
	CHECK(strstr(tune_refusal, text), "%s", tune_refusal);
	tune_share(&vgpus[0], 500, 1000, 1);
	CHECK_EQ(fx_available("3-4C"), 1);
	fx_create(&vgpus[3], "3-4C");
	check_place(&vgpus[3], 4);
}

/* What partitions have done is the GPU's, also when they are gone. */
static void sums(void)
{
	static struct vgpu_ctl_instance entries[MANY];
	struct vgpu_ctl_stats stats, after;
	unsigned int e, i, round;
	uint64_t busy;

	part_mode(true);
	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &stats, entries, MANY), 0);
	for (round = 0; round < 4; round++) {
		part_new("1g", 1);
		part_new("2g", 4);
		fx_create_open(&vgpus[0], "1-2C");
		fx_create_open(&vgpus[1], "2-4C");
		inject_full_run(&vgpus[0]);
		inject_full_run(&vgpus[1]);
		if (round % 2) {
			fx_close(&vgpus[0]);
			fx_remove(&vgpus[0]);
			part_remove(part_at("1g", 1));
		}
		CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &after, entries, MANY), 0);
		CHECK_EQ(after.count, round % 2 ? 1 : 2);
		for (e = 0; e < after.engines; e++) {
			busy = after.engine[e].gone_ns;
			for (i = 0; i < after.count; i++)
				busy += entries[i].engine[e].busy_ns;
			CHECK_EQ(busy, after.engine[e].busy_ns, "engine %u", e);
			CHECK(after.engine[e].busy_ns >= stats.engine[e].busy_ns, "went back");
			CHECK(after.engine[e].wall_ns >= stats.engine[e].wall_ns, "went back");
			CHECK(after.engine[e].runs >= stats.engine[e].runs, "went back");
		}
		CHECK(after.engine[1].busy_ns > stats.engine[1].busy_ns, "nothing was done");
		stats = after;
		for (i = round % 2; i < 2; i++) {
			fx_close(&vgpus[i]);
			fx_remove(&vgpus[i]);
		}
		if (!(round % 2))
			part_remove(part_at("1g", 1));
		part_remove(part_at("2g", 4));
	}
}

/* An engine of one partition that must be reset is none of the other's. */
static void engine_reset(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	char engine[32];
	unsigned int id;

	part_mode(true);
	id = part_new("1g", 2);
	part_new("2g", 4);
	fx_create_open(&vgpus[0], "1-2C");
	fx_create_open(&vgpus[1], "2-4C");
	chan = fx_chan(&vgpus[0], CE, 0, VGPU_RING_FB, 4);
	neighbour = fx_chan(&vgpus[1], CE, 0, VGPU_RING_FB, 4);
	snprintf(engine, sizeof(engine), "partition-%u/ce0", id);
	CHECK_EQ(soft_hang(fx_gpu(), engine, VGPU_HW_PKT_NOP), 0);
	fx_finish(neighbour);
	FX_OK(vgpus[0].dev, vgpu_chan_nop(chan));
	fx_finish(neighbour);
	FX_OK(vgpus[0].dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	fx_finish(neighbour);
	fx_instance(&vgpus[1], &inst);
	CHECK_EQ(inst.engine[neighbour->engine].resets + inst.faults, 0, "of the neighbour");
	fx_again(chan);
	fx_finish(chan);
}

/* Reads all that has partitions in it, until it is told to stop. Returns what was wrong. */
static void *reader(void *arg)
{
	static const char * const files[] = {
		"partitions", "timelines", "switches", "instances", "placement",
	};
	static struct vgpu_ctl_instance entries[MANY];
	struct vgpu_ctl_stats stats, last = {};
	volatile bool *stop = arg;
	char path[128], text[TEXT];
	uint32_t gpu = fx_gpu_id(), ids[MANY], nr;
	struct vgpu_ctl_partition part;
	unsigned int i, e;

	for (i = 0; !*stop; i++) {
		nr = MANY;
		if (node_partitions(fx_control(), gpu, ids, &nr) || nr > MANY)
			return "VGPU_IOC_PARTITIONS";
		while (nr--)
			if (!node_partition(fx_control(), gpu, ids[nr], &part) &&
			    (!part.profile[0] || part.fb_used_bytes > part.fb_bytes))
				return "VGPU_IOC_PARTITION";
		snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/%s", fx_gpu(),
			 files[i % 5]);
		file_read(path, text, sizeof(text));
		if (node_stats(fx_control(), gpu, &stats, entries, MANY))
			return "VGPU_IOC_STATS";
		for (e = 0; e < stats.engines; e++)
			if (stats.engine[e].busy_ns < last.engine[e].busy_ns ||
			    stats.engine[e].wall_ns < last.engine[e].wall_ns ||
			    stats.engine[e].runs < last.engine[e].runs)
				return "a sum went back";
		last = stats;
	}
	return NULL;
}

/* Sets a policy of a partition, which may have vGPUs at work. */
static void storm_policy(struct rng *rng, uint32_t id)
{
	const char *policy = tune_policy_at(rng_below(rng, tune_nr_policies()));
	struct vgpu_ctl_sched set = {};
	int ret;

	snprintf((char *)set.policy, sizeof(set.policy), "%s", policy);
	ret = node_part_sched_set(fx_control(), fx_gpu_id(), id, &set, VGPU_SCHED_POLICY);
	CHECK_EQ(ret, 0, "%u: %s", id, (char *)set.text);
}

/* A random step: creates or removes a partition, or a vGPU that may be opened and work. */
static void storm_step(struct rng *rng)
{
	static const char * const profiles[] = { "1g", "2g", "3g", "4g", "7g" };
	static const char * const types[] = { "1-2C", "2-4C", "3-4C", "3-8C", "4-8C", "7-16C" };
	struct fx_vgpu *vgpu = &vgpus[rng_below(rng, MANY)];
	uint32_t ids[MANY], id;
	unsigned int nr;
	int ret;

	switch (rng_below(rng, 5)) {
	case 0:
		ret = part_try_new(profiles[rng_below(rng, 5)], ANYWHERE, &id);
		CHECK(!ret || ret == -ENOSPC, "%s", part_refusal);
		break;
	case 1:
		nr = part_list(ids);
		if (!nr)
			break;
		ret = part_try_remove(ids[rng_below(rng, nr)]);
		CHECK(!ret || ret == -EBUSY, "%s", part_refusal);
		break;
	case 4:
		nr = part_list(ids);
		if (nr)
			storm_policy(rng, ids[rng_below(rng, nr)]);
		break;
	case 2:
		if (vgpu->created)
			break;
		ret = fx_try_create(vgpu, types[rng_below(rng, 6)]);
		CHECK(!ret || ret == -ENOSPC, "%s", strerror(-ret));
		if (ret || rng_below(rng, 4))
			break;
		fx_open(vgpu);
		inject_full_run(vgpu);
		if (rng_below(rng, 2))
			fx_close(vgpu);
		break;
	case 3:
		if (!vgpu->created)
			break;
		if (vgpu->dev)
			fx_close(vgpu);
		fx_remove(vgpu);
		break;
	}
}

static void storm(void)
{
	uint64_t steps = fx_env("VGPU_TEST_ROUNDS", 1000);
	struct rng rng = rng_seed(fx_random());
	static volatile bool stop;
	pthread_t thread;
	void *wrong;
	uint64_t i;

	part_mode(true);
	stop = false;
	fx_gpu_id();
	CHECK(!pthread_create(&thread, NULL, reader, (void *)&stop), "thread");
	for (i = 0; i < steps; i++)
		storm_step(&rng);
	stop = true;
	pthread_join(thread, &wrong);
	CHECK(!wrong, "%s", (char *)wrong);
	for (i = 0; i < MANY; i++) {
		if (vgpus[i].dev)
			fx_close(&vgpus[i]);
		if (vgpus[i].created)
			fx_remove(&vgpus[i]);
	}
}

/* The GPU goes with its partitions and their vGPUs, and comes back whole. */
static void gpu_goes(void)
{
	char path[128], address[64];
	struct vgpu_ctl_gpu gpu;
	unsigned int all;

	all = fx_available(fx_default_type());
	fx_ctl_gpu(&gpu);
	snprintf(address, sizeof(address), "%.32s", (char *)gpu.address);
	part_mode(true);
	part_new("1g", 6);
	part_new("3g", 0);
	fx_create(&vgpus[0], "3-4C");
	fx_create_open(&vgpus[1], "3-4C");
	inject_full_run(&vgpus[1]);
	fx_close(&vgpus[1]);
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%.32s/unbind", (char *)gpu.driver);
	CHECK_EQ(file_write(path, address), 0, "%s", path);
	vgpus[0].created = false;
	vgpus[1].created = false;
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%.32s/bind", (char *)gpu.driver);
	CHECK_EQ(file_write(path, address), 0, "%s", path);
	CHECK_EQ(part_at("3g", 0), 0);
	CHECK_EQ(fx_available("3-4C"), 0);
	CHECK_EQ(fx_available(fx_default_type()), all);
	fx_create(&v, fx_default_type());
}

/* An engine's time in the sums is that of the partition, and none of the whole GPU's meanwhile. */
static void wall_of_all(void)
{
	static struct vgpu_ctl_instance entries[MANY];
	struct vgpu_ctl_stats before, after;
	struct vgpu_ctl_partition part;
	unsigned int e;
	uint32_t id;

	part_mode(true);
	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &before, entries, MANY), 0);
	id = part_new("7g", 0);
	clk_sleep_ms(50);
	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &after, entries, MANY), 0);
	part_read(id, &part);
	for (e = 0; e < after.engines; e++) {
		CHECK(after.engine[e].wall_ns - before.engine[e].wall_ns >= 50000000, "too little");
		CHECK(after.engine[e].wall_ns - before.engine[e].wall_ns <= part.engine[e].wall_ns,
		      "engine %u: more than the partition has", e);
	}
	part_remove(id);
	part_mode(false);
	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &before, entries, MANY), 0);
	clk_sleep_ms(20);
	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &after, entries, MANY), 0);
	for (e = 0; e < after.engines; e++)
		CHECK(after.engine[e].wall_ns - before.engine[e].wall_ns >= 20000000, "stands");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(modes),
	KTAP_TEST(places),
	KTAP_TEST(vgpus_in_partitions),
	KTAP_TEST(fullest_first),
	KTAP_TEST(guarantees),
	KTAP_TEST(sums),
	KTAP_TEST(wall_of_all),
	KTAP_TEST(engine_reset),
	KTAP_TEST(storm),
	KTAP_TEST(gpu_goes),
};

KTAP_MAIN(tests, part_cleanup)
