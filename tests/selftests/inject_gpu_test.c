// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection (inject.h) into operations on a GPU and into its threads: the control node,
 * settings, engines, the DMA worker, the binding of a GPU.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "compute.h"
#include "inject.h"
#include "node.h"
#include "part.h"
#include "tune.h"

#define DRIVER		"/sys/bus/pci/drivers/vgpu_soft"
#define AT		INJECT_AT
#define BYTES		(128 * 1024)
#define IN_TIME_MS	3000	/* less than the driver waits for memory */
#define TRIES		10	/* for what this machine may be too slow for once */
#define SYS_VA		0x40000000ull
#define RING_VA		0x10000000ull

static struct fx_vgpu v;
static struct vgpu_chan *chan;
static struct vgpu_buf buf;

/* The control node */

/* The calls that fill arrays. */
static int control_arrays(int fd, uint32_t gpu)
{
	static struct vgpu_ctl_instance vgpus[2];
	static struct vgpu_ctl_sample samples[VGPU_SAMPLES_ROOM];
	static struct vgpu_ctl_session entries[2];
	struct vgpu_ctl_samples since = {};
	struct vgpu_ctl_sessions from = {};
	struct vgpu_ctl_stats stats;
	int ret;

	ret = node_stats(fd, gpu, &stats, vgpus, 2);
	if (!ret)
		ret = node_samples(fd, gpu, &since, samples, VGPU_SAMPLES_ROOM);
	if (!ret)
		ret = node_sessions(fd, gpu, &from, entries, 2);
	return ret;
}

static int control_run(void)
{
	struct vgpu_ctl_version version = { .size = sizeof(version) };
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 4 };
	struct vgpu_ctl_gpu gpu = { .size = sizeof(gpu) };
	struct vgpu_ctl_type type = { .size = sizeof(type) };
	struct vgpu_ctl_instance inst = { .size = sizeof(inst) };
	struct vgpu_ctl_refusal refusal = { .size = sizeof(refusal) };
	uint8_t uuids[4][VGPU_UUID_LEN];
	static uint8_t bytes[3 * 4096];
	int fd, error = 0;
	uint32_t ids[4];

	memcpy(inst.uuid, v.id, sizeof(v.id));
	memcpy(refusal.uuid, v.id, sizeof(v.id));
	fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	list.ids = (uintptr_t)ids;
	if (ioctl(fd, VGPU_IOC_VERSION, &version) || ioctl(fd, VGPU_IOC_GPUS, &list))
		error = -errno;
	gpu.gpu = ids[0];
	type.gpu = ids[0];
	if (!error && (ioctl(fd, VGPU_IOC_GPU, &gpu) || ioctl(fd, VGPU_IOC_TYPE, &type)))
		error = -errno;
	list.gpu = ~0u;
	list.count = 4;
	list.ids = (uintptr_t)uuids;
	if (!error && (ioctl(fd, VGPU_IOC_INSTANCES, &list) || ioctl(fd, VGPU_IOC_INSTANCE, &inst)))
		error = -errno;
	if (!error && ioctl(fd, VGPU_IOC_REFUSAL, &refusal) && errno != ENOENT)
		error = -errno;
	if (!error)
		error = control_arrays(fd, ids[0]);
	if (!error && read(fd, bytes, sizeof(bytes)) < 0 && errno != EAGAIN)
		error = -errno;
	close(fd);
	return error;
}

static void control_check(int ret, bool hit)
{
	(void)ret;
	(void)hit;
	inject_check_counts(1);
}

static void control_node(void)
{
	static const struct inject_op op = {
		"control node", NULL, control_run, control_check,
	};

	inject_need();
	fx_create(&v, "1Q");
	inject(&op);
}

/* Settings: each call sets all or nothing, under any policy */

static struct vgpu_ctl_sched was, set;
static struct vgpu_ctl_share share;
static unsigned int settings_done;

static void settings_prepare(void)
{
	static unsigned int nr;

	tune_get(&was);
	memset(&set, 0, sizeof(set));
	set.gpu = was.gpu;
	snprintf((char *)set.policy, sizeof(set.policy), "%s",
		 tune_policy_at((nr + 1) % tune_nr_policies()));
	set.linger_us = nr % 1000;
	share = tune_entry(&v, VGPU_SHARE_WEIGHT | VGPU_SHARE_FRL, 0, 0, nr % 1000 + 1);
	share.frl = nr % 1000;
	nr++;
	settings_done = 0;
}

static int settings_run(void)
{
	static struct vgpu_ctl_switch entries[VGPU_SCHED_LOG];
	struct vgpu_ctl_sched try = set;
	uint32_t count = VGPU_SCHED_LOG;
	char text[VGPU_TEXT_LEN];
	uint64_t total;
	int ret;

	ret = node_sched_set(fx_control(), set.gpu, &try, VGPU_SCHED_POLICY | VGPU_SCHED_LINGER);
	if (ret)
		return ret;
	settings_done++;
	ret = node_shares_set(fx_control(), &share, 1, text);
	if (ret)
		return ret;
	settings_done++;
	return node_sched_log(fx_control(), set.gpu, 0, entries, &count, &total);
}

static void settings_check(int ret, bool hit)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_sched now, *want;

	(void)hit;
	tune_get(&now);
	/* EFAULT may come after the call has set all: when it writes its answer. */
	if (ret != -EFAULT || settings_done) {
		want = settings_done ? &set : &was;
		CHECK(!strcmp((char *)now.policy, (char *)want->policy), "%s", (char *)now.policy);
		CHECK_EQ(now.linger_us, want->linger_us);
	}
	fx_instance(&v, &inst);
	if (ret != -EFAULT || settings_done != 1) {
		CHECK_EQ(inst.weight == share.weight, settings_done >= 2);
		CHECK_EQ(inst.frl_config == share.frl, settings_done >= 2);
	}
	inject_check_counts(1);
	inject_full_run(&v);
}

static void settings(void)
{
	static const struct inject_op op = {
		"settings", settings_prepare, settings_run, settings_check,
	};
	struct vgpu_ctl_sched before;

	inject_need();
	fx_create_open(&v, "1Q");
	tune_get(&before);
	inject(&op);
	tune_set(&before, VGPU_SCHED_POLICY | VGPU_SCHED_LINGER);
}

/* A GPU is bound: all of it is there, or nothing */

static bool bound(void)
{
	char path[128];

	snprintf(path, sizeof(path), DRIVER "/%s", fx_gpu());
	return !access(path, F_OK);
}

static void bind_prepare(void)
{
	if (bound())
		CHECK_EQ(file_write(DRIVER "/unbind", fx_gpu()), 0);
}

static int bind_run(void)
{
	return file_write(DRIVER "/bind", fx_gpu());
}

static void bind_check(int ret, bool hit)
{
	struct vgpu_ctl_list list = { .size = sizeof(list) };
	char path[128];
	bool linked;

	/* A bind that has failed leaves nothing, so that it may be tried again at once. */
	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s", fx_gpu());
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPUS, &list), "%s", strerror(errno));
	CHECK_EQ(bound(), ret == 0, "%s", strerror(-ret));
	CHECK_EQ(list.count, ret == 0);
	CHECK(!ret || !file_find_process("vgpu-gr"), "a thread of an engine is left");
	linked = !access(path, F_OK);
	/*
	 * When mdev has no memory for this link it warns and goes on. The fixture finds the
	 * types through the link, so nothing more can be tried on such a GPU.
	 */
	if (ret || !hit)
		CHECK_EQ(linked, ret == 0, "%s", path);
	if (linked) {
		inject_check_counts(0);
		fx_create(&v, "1Q");
		fx_remove(&v);
	}
}

static void bind_gpu(void)
{
	static const struct inject_op op = {
		"bind", bind_prepare, bind_run, bind_check,
	};

	inject_need();
	inject(&op);
	inject_check_counts(0);
}

/* Engines and the DMA worker: faults in threads of the kernel */

static pid_t find_thread(const char *prefix)
{
	pid_t found = file_find_process(prefix);

	CHECK(found, "no thread %s", prefix);
	return found;
}

static enum vgpu_ring work_ring;
static uint32_t faults_allowed;	/* bits: enum vgpu_hw_fault */
static bool work_virtual;	/* the channel has an address space */
static struct vgpu_space *space;

/* The same framebuffer at the same addresses, but its pages in reverse order. */
static void work_map(uint64_t at)
{
	uint64_t i;

	for (i = 0; i < BYTES; i += 4096)
		FX_OK(v.dev, vgpu_space_map(space, at + i, VGPU_FB(at + BYTES - 4096 - i), 4096,
					    VGPU_HW_PTE_R | VGPU_HW_PTE_W));
}

static void work_space(void)
{
	FX_OK(v.dev, vgpu_space_create(v.dev, &space));
	work_map(AT);
	work_map(2 * AT);
	FX_OK(v.dev, vgpu_space_map(space, SYS_VA, VGPU_SYS(&buf, 0), 2 * BYTES,
				    VGPU_HW_PTE_R | VGPU_HW_PTE_W));
	chan = fx_chan_in(space, VGPU_HW_ENGINE_CE, 0, RING_VA, 4);
}

static struct vgpu_loc work_sys(uint64_t offset)
{
	return work_virtual ? VGPU_VA(SYS_VA + offset) : VGPU_SYS(&buf, offset);
}

static void work_prepare(void)
{
	uint64_t from = v.dev->fb_next;

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 2 * BYTES, &buf));
	if (work_virtual)
		work_space();
	else
		chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, work_ring, 4);
	vgpu_fb_release(v.dev, from);
}

/* A fill of framebuffer, copies to, within and from guest memory, and a fence. */
static int work_run(void)
{
	uint64_t fence;

	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(AT), 0x600df00d, BYTES));
	vgpu_chan_copy(chan, work_sys(0), VGPU_FB(AT), BYTES);
	vgpu_chan_copy(chan, work_sys(BYTES), work_sys(0), BYTES);
	vgpu_chan_copy(chan, VGPU_FB(2 * AT), work_sys(BYTES), BYTES);
	if (vgpu_chan_fence(chan, &fence))
		return -EIO;
	return vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS);
}

static void work_check(int ret, bool hit)
{
	struct vgpu_fault fault;

	(void)hit;
	if (ret) {
		CHECK_EQ(ret, -EIO, "%s", vgpu_dev_error(v.dev));
		FX_OK(v.dev, vgpu_chan_fault(chan, &fault));
		CHECK(faults_allowed & 1u << fault.code, "%s", vgpu_fault_name(fault.code));
	} else {
		fx_check_words(v.dev->fb + 2 * AT, BYTES, 0x600df00d);
		fx_check_words(buf.ptr, BYTES, 0x600df00d);
	}
	vgpu_chan_destroy(chan);
	vgpu_space_destroy(space);
	space = NULL;
	vgpu_buf_free(&buf);
	inject_full_run(&v);
}

static void inject_thread(const char *what, const char *thread)
{
	const struct inject_op op = { what, work_prepare, work_run, work_check };

	inject_task(&op, find_thread(thread));
}

static void engine(void)
{
	inject_need();
	fx_create_open(&v, "1Q");
	/* The channel waits for memory that the engine cannot have at once. */
	faults_allowed = 0;
	work_ring = VGPU_RING_FB;
	inject_thread("engine, ring in framebuffer", "vgpu-ce0-");
	work_ring = VGPU_RING_SYS;
	inject_thread("engine, ring in guest memory", "vgpu-ce0-");
	work_virtual = true;
	inject_thread("engine, address space", "vgpu-ce0-");
	work_virtual = false;
}

/* Where the host cannot provide a page of guest memory, the worker tries again. */
static void dma_worker(void)
{
	inject_need();
	fx_create_open(&v, "1Q");
	faults_allowed = 0;
	work_ring = VGPU_RING_SYS;
	inject_thread("DMA worker", "vgpu-dma");
}

/* Programs: what the engine cannot have at once the worker makes, and tries again if it cannot. */

static void program_prepare(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T1, RV_T0, 2),
		RV_ADD(RV_T1, RV_T1, RV_A0), RV_SW(RV_T0, 0, RV_T1), RV_RET,
	};
	uint64_t from = v.dev->fb_next;

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	vgpu_fb_release(v.dev, from);
	COMPUTE_LOAD(&v, words);
}

static int program_run(void)
{
	compute_dispatch(chan, COMPUTE_SIZE(5000, 1, 1), COMPUTE_SIZE(100, 1, 1), 64);
	fx_finish(chan);
	return 0;
}

static void program_check(int ret, bool hit)
{
	const uint32_t *out = (const void *)(v.dev->fb + COMPUTE_OUT);
	uint32_t i;

	(void)ret;
	(void)hit;
	for (i = 0; i < 5000; i++)
		CHECK_EQ(out[i], i);
	vgpu_chan_destroy(chan);
	FX_SOON(!compute_counter(&v, "context_bytes ") && !compute_counter(&v, "flight_bytes "));
}

static void programs(void)
{
	static const char * const threads[] = { "vgpu-gr-", "vgpu-dma" };
	unsigned int i;

	inject_need();
	fx_create_open(&v, "1Q");
	for (i = 0; i < 2; i++) {
		const struct inject_op op = { threads[i], program_prepare, program_run,
					      program_check };

		inject_task(&op, find_thread(threads[i]));
	}
}

/*
 * Whether the channel is seen to wait, since then: for the worker, which is a stall, or until the
 * engine tries again to ask it, which is a run each time.
 */
static bool waits_since(const struct vgpu_ctl_instance *before)
{
	const struct vgpu_ctl_instance_engine *was = &before->engine[chan->engine], *is;
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	is = &inst.engine[chan->engine];
	return is->stalls > was->stalls || is->runs > was->runs + 10;
}

/*
 * One shortage; the neighbour works on meanwhile. Returns false if this machine was so slow that
 * the driver may have given up.
 */
static bool stalls_only(const char *kind, struct vgpu_chan *neighbour, uint32_t value)
{
	struct vgpu_ctl_instance before;
	struct vgpu_fault fault;
	uint64_t fence, theirs, start;
	pid_t threads[2];
	char name[16];
	bool done, in_time;

	snprintf(name, sizeof(name), "vgpu-dma/%.6s", v.uuid);
	threads[0] = find_thread("vgpu-ce0-");
	threads[1] = find_thread(name);
	work_prepare();
	/* So that the channel needs no memory of its own during the shortage. */
	fx_finish(chan);
	fx_instance(&v, &before);
	start = clk_ms();
	inject_shortage(kind, threads, 2);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(AT), value, BYTES));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_SYS(&buf, 0), VGPU_FB(AT), BYTES));
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	FX_SOON(waits_since(&before), "%s: does not wait", kind);
	/* Some of the 4 s for which the driver waits: the machine may take seconds, too. */
	clk_sleep_ms(300);
	FX_OK(v.dev, vgpu_chan_fault(chan, &fault));
	FX_OK(neighbour->dev, vgpu_chan_fill(neighbour, VGPU_FB(AT), value, BYTES));
	FX_OK(neighbour->dev, vgpu_chan_fence(neighbour, &theirs));
	CHECK(fx_wait_fence(neighbour, theirs, FX_TIMEOUT_MS), "%s: the neighbour", kind);
	done = le64toh(__atomic_load_n(chan->signal, __ATOMIC_ACQUIRE)) >= fence;
	inject_plenty(kind, threads, 2);
	CHECK(!done, "%s: done without", kind);
	in_time = clk_ms() - start < IN_TIME_MS;
	if (in_time) {
		CHECK_EQ(fault.code, VGPU_HW_FAULT_NONE);
		CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "%s: does not go on", kind);
		fx_check_words(buf.ptr, BYTES, value);
		CHECK_EQ(fx_faults(&v), before.faults);
	}
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
	return in_time;
}

/*
 * Without slab memory the engine cannot even ask the worker for pages; without pages the worker
 * gets none. Either way the channel only takes longer, and only channels that need memory do.
 */
static void shortage_stalls(void)
{
	static const char * const kinds[] = { "failslab", "fail_page_alloc" };
	static struct fx_vgpu other;
	struct vgpu_chan *neighbour;
	unsigned int i, tries;

	inject_need();
	fx_create_open(&v, "1Q");
	fx_create_open(&other, "1Q");
	neighbour = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(other.dev, vgpu_chan_fill(neighbour, VGPU_FB(AT), 1, BYTES));
	fx_finish(neighbour);
	work_ring = VGPU_RING_FB;
	for (i = 0; i < 2; i++)
		for (tries = 1; !stalls_only(kinds[i], neighbour, i + 7); tries++)
			CHECK(tries < TRIES, "%s: the machine is too slow", kinds[i]);
	CHECK_EQ(fx_faults(&other), 0);
}

/* Partitions: one is created as a whole, or not at all and its place is free */

static uint32_t partition_gpu, partition_profile;

static int partition_run(void)
{
	uint32_t start = 4, id;
	char text[VGPU_TEXT_LEN];
	int ret;

	ret = node_partition_mode(fx_control(), partition_gpu, VGPU_PARTITION_MODE_ON, text);
	return ret ? ret : node_partition_create(fx_control(), partition_gpu, partition_profile,
						 &start, &id, text);
}

static void partition_check(int ret, bool hit)
{
	uint32_t ids[PART_MANY];
	unsigned int nr = part_list(ids);

	(void)hit;
	/* EFAULT may come after the call has created it: when it writes its answer. */
	if (ret != -EFAULT)
		CHECK_EQ(nr, !ret);
	if (nr) {
		CHECK_EQ(part_at("3g", 4), ids[0]);
		CHECK_EQ(fx_available("3-8C"), 1);
		part_remove(ids[0]);
	}
	part_mode(false);
}

static void partition(void)
{
	static const struct inject_op op = {
		"partition", NULL, partition_run, partition_check,
	};

	inject_need();
	part_mode(true);
	partition_gpu = fx_gpu_id();
	partition_profile = part_profile("3g");
	part_mode(false);
	inject(&op);
	inject_check_counts(0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(control_node),
	KTAP_TEST(settings),
	KTAP_TEST(engine),
	KTAP_TEST(dma_worker),
	KTAP_TEST(programs),
	KTAP_TEST(shortage_stalls),
	KTAP_TEST(partition),
	KTAP_TEST(bind_gpu),
};

INJECT_MAIN(tests)
