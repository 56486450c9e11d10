// SPDX-License-Identifier: GPL-2.0
/*
 * A move beside all else that can happen to a vGPU: it is cancelled, reset, quarantined, set
 * otherwise, read and written by others. What was being done goes on, or is refused as a whole.
 *
 * VGPU_TEST_SECONDS: of a storm (3).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "child.h"
#include "compute.h"
#include "hang.h"
#include "hop.h"
#include "moving.h"
#include "rng.h"
#include "space.h"
#include "sums.h"
#include "tune.h"

#define ITEMS		64u
#define STACK		4096u
#define LONG		1000000u	/* rounds: some seconds */
#define CHILDREN	2
#define FILLED		(32 * FX_MIB)

static struct fx_vgpu other;
static struct hop_stream stream;

/**
 * struct storm - between the test and its child processes
 * @stop:  they are to end
 * @moved: how often the vGPU was moved so far
 * @seed:  of each child's random numbers
 * @done:  what it has done
 */
struct storm {
	volatile bool stop;
	volatile unsigned int moved;
	uint64_t seed[CHILDREN];
	volatile uint64_t done[CHILDREN];
};

static struct storm *storm;
static pid_t children[CHILDREN];

static void storm_begin(void (*run)(void *arg))
{
	unsigned int i;

	storm = child_shared(sizeof(*storm));
	for (i = 0; i < CHILDREN; i++) {
		storm->seed[i] = fx_random();
		children[i] = child_start(run, &storm->seed[i]);
	}
}

static void storm_end(void)
{
	unsigned int i;
	int status;

	FX_SOON(storm->done[0] && storm->done[1], "nothing has happened");
	storm->stop = true;
	for (i = 0; i < CHILDREN; i++) {
		CHECK(child_ends(children[i], FX_TIMEOUT_MS, &status), "a child does not end");
		CHECK_EQ(status, 0);
	}
	ktap_note("%llu and %llu things happened meanwhile", (unsigned long long)storm->done[0],
		  (unsigned long long)storm->done[1]);
}

static uint64_t *done_of(const void *seed)
{
	return (uint64_t *)&storm->done[(const uint64_t *)seed - storm->seed];
}

static void any_policy(struct rng *rng)
{
	struct vgpu_ctl_sched sched = { .slice_ns = 1000000 + rng_below(rng, 29000001) };
	const char *policy = tune_policy_at((unsigned int)rng_below(rng, tune_nr_policies()));

	snprintf((char *)sched.policy, sizeof(sched.policy), "%s", policy);
	node_sched_set(fx_control(), fx_gpu_id(), &sched, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE);
}

/* Of any of the vGPUs that there are at present. */
static void any_shares(struct rng *rng)
{
	struct vgpu_ctl_instance all[8];
	struct vgpu_ctl_share entry;
	struct vgpu_ctl_stats stats;
	char text[VGPU_TEXT_LEN];
	uint32_t nr;

	CHECK_EQ(node_stats(fx_control(), fx_gpu_id(), &stats, all, 8), 0);
	nr = stats.count < 8 ? stats.count : 8;
	if (!nr)
		return;
	entry = tune_entry(&v, TUNE_TRIPLE, (uint32_t)rng_below(rng, 200),
			   250 + (uint32_t)rng_below(rng, 751),
			   1 + (uint32_t)rng_below(rng, 1000));
	memcpy(entry.uuid, all[rng_below(rng, nr)].uuid, sizeof(entry.uuid));
	node_shares_set(fx_control(), &entry, 1, text);
}

/* Modules that are in use; before the first move there may be no vGPU that is open. */
static void unload(void)
{
	if (!storm->moved)
		return;
	CHECK(syscall(SYS_delete_module, "vgpu_soft", O_NONBLOCK) < 0, "it was unloaded");
	CHECK(errno == EWOULDBLOCK || errno == EBUSY, "%s", strerror(errno));
	CHECK(syscall(SYS_delete_module, "vgpu", O_NONBLOCK) < 0, "it was unloaded");
}

/* A child process: does what a host's administrator may, and asks what there is to ask. */
static void administer(void *seed)
{
	struct rng rng = rng_seed(*(uint64_t *)seed);
	static struct fx_vgpu mine;
	struct vgpu_ctl_gpu gpu;

	fx_new_uuid(&mine);
	while (!storm->stop) {
		switch (rng_below(&rng, 6)) {
		case 0:
			any_policy(&rng);
			break;
		case 1:
			any_shares(&rng);
			break;
		case 2:
			unload();
			break;
		case 3:
			if (!fx_try_create(&mine, "1Q"))
				fx_remove(&mine);
			break;
		case 4:
			fx_ctl_gpu(&gpu);
			break;
		default:
			clk_sleep_ms(rng_below(&rng, 10));
			break;
		}
		++*done_of(seed);
	}
}

static bool step(void)
{
	uint64_t bytes = hop(&v, fx_random_below(3));

	storm->moved++;
	return bytes > 3000;
}

static void pause_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
}

static void resume_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
}

/* Work is moved, and is right, whatever the host's administrator does. */
static void moved_while_administered(void)
{
	const struct moving how = { step, pause_vgpu, resume_vgpu };

	fx_need("execute packets");
	tune_begin();
	storm_begin(administer);
	moving_barriers(&how, 15);
	storm_end();
}

/* Cancelled, and cancelled again, from wherever it is: nothing of the first try is left. */
static void cancelled_twice(void)
{
	static const unsigned int states[] = {
		HOP_PRE_COPY, HOP_PRE_COPY_P2P, VFIO_DEVICE_STATE_STOP_COPY,
	};
	struct vgpu_chan *gr = sums_begin(&v, ITEMS, STACK, LONG);
	struct hop_counts counts;
	unsigned int i;
	int data;

	hop_count_begin();
	hop_create_beside(&other, fx_default_type(), &v);
	memset(v.dev->fb + FILLED, 0x77, FX_MIB);
	for (i = 0; i < 2 * sizeof(states) / sizeof(states[0]); i++) {
		data = hop_enter(&v, states[i / 2]);
		hop_read_some(data);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		hop_check_ended(data);
	}
	CHECK(!sums_over(gr), "the dispatch was over before");
	/* Its reader has gone away before it is cancelled. */
	close(hop_enter(&v, HOP_PRE_COPY));
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	hop_save(&v, 1, &stream);
	for (i = 0; i < 2; i++) {
		data = hop_enter(&other, VFIO_DEVICE_STATE_RESUMING);
		CHECK_EQ(hop_write(data, stream.bytes, fx_random_below(stream.nr), true), 0);
		FX_OK(other.dev, vgpu_dev_reset(other.dev));
		hop_check_ended(data);
		CHECK_EQ(fx_backed_bytes(&other), 0);
	}
	data = hop_enter(&other, VFIO_DEVICE_STATE_RESUMING);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, true), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	hop(&v, 1);
	sums_check(gr, ITEMS, LONG);
	FX_SOON((hop_count(&v, true, &counts), counts.packets == 2), "%llu packets",
		(unsigned long long)counts.packets);
}

/* Faults before a move and behind it are counted together. */
static void faults_are_counted_on(void)
{
	struct vgpu_ctl_sched sched = { .quarantine_faults = 3 };
	struct vgpu_chan *ce;
	unsigned int i;

	fx_need("execute packets");
	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS);
	fx_create_open(&v, fx_default_type());
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	for (i = 1; i <= 2; i++) {
		hang_once(ce);
		FX_SOON(fx_faults(&v) == i);
		fx_again(ce);
	}
	hop(&v, 1);
	CHECK(!fx_quarantined(&v), "");
	hang_once(ce);
	FX_SOON(fx_quarantined(&v), "the faults before the move do not count");
}

/* Quarantine that begins while the vGPU is being saved is one where it arrives, too. */
static void quarantined_while_moving(void)
{
	struct vgpu_ctl_sched sched = {
		.quarantine_faults = 1, .quarantine_backoff_ms = 600000,
	};
	struct vgpu_chan *ce;
	uint32_t word;
	int data;

	fx_need("execute packets");
	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	fx_create_open(&v, fx_default_type());
	hop_create_beside(&other, fx_default_type(), &v);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	data = hop_enter(&v, HOP_PRE_COPY);
	hop_read_some(data);
	hang_once(ce);
	FX_SOON(fx_quarantined(&v));
	fx_again(ce);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(FILLED), 0x600df00d, 4096));
	hop_read(data, &stream);
	close(data);
	/* Cancelled, it is in quarantine as before; and then it moves. */
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK(fx_quarantined(&v), "lifted");
	stream.nr = 0;
	hop_save(&v, 1, &stream);
	data = hop_enter(&other, VFIO_DEVICE_STATE_RESUMING);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, true), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK(fx_quarantined(&other), "a move leads out of it");
	clk_sleep_ms(200);
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, FILLED, &word, 4), 4);
	CHECK_EQ(word, 0, "works in quarantine");
	fx_release(&other);
	FX_SOON((vgpu_region_read(other.dev, VGPU_HW_BAR_FB, FILLED, &word, 4),
		 le32toh(word) == 0x600df00d));
	/* The source, as if the move had failed. */
	CHECK(fx_quarantined(&v), "lifted");
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	fx_release(&v);
	FX_SOON(vgpu_chan_get(ce) == 1);
}

/* A stream is read into the vGPU's own memory, and written from it. */
static void own_memory(void)
{
	uint8_t *theirs;
	ssize_t n;
	int data;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	hop_create_beside(&other, fx_default_type(), &v);
	memset(v.dev->fb, 0x5a, FX_MIB);
	data = hop_enter(&v, HOP_PRE_COPY);
	n = read(data, v.dev->fb + FILLED, 2 * FX_MIB);
	CHECK(n > 0 || errno == EFAULT, "%s", strerror(errno));
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	n = read(data, v.dev->fb + FILLED, 4 * FX_MIB);
	CHECK(n > 0 || errno == EFAULT, "%s", strerror(errno));
	close(data);
	theirs = mmap(NULL, FX_MIB, PROT_READ | PROT_WRITE, MAP_SHARED, other.dev->fd,
		      (off_t)other.dev->region[VGPU_HW_BAR_FB].offset);
	CHECK(theirs != MAP_FAILED, "%s", strerror(errno));
	theirs[0] = 1;
	data = hop_enter(&other, VFIO_DEVICE_STATE_RESUMING);
	CHECK(write(data, theirs, FX_MIB) < 0, "zeros are no stream");
	CHECK(errno == EINVAL || errno == EFAULT, "%s", strerror(errno));
	close(data);
	munmap(theirs, FX_MIB);
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
}

/* Function level reset, as a guest does it: it is not told whether it was. */
static void flr(const struct fx_vgpu *vgpu, unsigned int cap)
{
	uint16_t control = htole16(PCI_EXP_DEVCTL_BCR_FLR);

	vgpu_config_write(vgpu->dev, cap + PCI_EXP_DEVCTL, &control, 2);
}

static unsigned int exp_cap;

/* A child process: what a hostile guest and its user do, and an administrator who debugs. */
static void rage(void *seed)
{
	static const char * const files[] = { "pause", "resume", "reload" };
	struct rng rng = rng_seed(*(uint64_t *)seed);
	struct fx_vgpu *vgpu;
	char bytes[5000];
	int data;

	memset(bytes, 0, sizeof(bytes));
	while (!storm->stop) {
		vgpu = rng_below(&rng, 2) ? &v : &other;
		switch (rng_below(&rng, 9)) {
		case 0:
			flr(vgpu, exp_cap);
			break;
		case 1:
			vgpu_dev_reset(vgpu->dev);
			break;
		case 2:
			fx_debugfs(vgpu, files[rng_below(&rng, 3)]);
			break;
		case 3:
			node_release(fx_control(), vgpu->id);
			break;
		case 4:
			any_policy(&rng);
			break;
		case 5:
			any_shares(&rng);
			break;
		case 6:
			unload();
			break;
		case 7:
			hop_try_state(vgpu, 1 + (unsigned int)rng_below(&rng, 7), &data);
			if (data < 0)
				break;
			if (read(data, bytes, sizeof(bytes)) < 0 &&
			    write(data, bytes, sizeof(bytes)) < 0)
				clk_sleep_ms(1);
			close(data);
			break;
		default:
			clk_sleep_ms(rng_below(&rng, 10));
			break;
		}
		++*done_of(seed);
	}
}

/* Some of the stream, in whichever direction it goes; it may have ended at any time. */
static void use_stream(int data)
{
	static uint8_t bytes[100000];
	struct hop_precopy_info info = { .argsz = sizeof(info) };
	static const int good[] = { ENODEV, EBADF, EINVAL, ENOMSG, ENOMEM, EIO };
	unsigned int i;
	size_t nr;

	ioctl(data, HOP_GET_PRECOPY_INFO, &info);
	if (read(data, bytes, 1 + fx_random_below(sizeof(bytes))) >= 0)
		return;
	if (errno == EBADF) {
		nr = fx_random_below(2) ? stream.nr : fx_random_below(stream.nr);
		if (write(data, stream.bytes, nr) >= 0)
			return;
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (errno == good[i])
			return;
	FAIL("%s", strerror(errno));
}

/* What the guest does meanwhile: work that never ends, or that is given up as a hang. */
static void guest_works(struct vgpu_chan *gr)
{
	memset(v.dev->fb + FILLED + PAGE * fx_random_below(256), (int)fx_random(), PAGE);
	if (fx_random_below(8))
		return;
	if (vgpu_dev_command(v.dev, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0) ||
	    vgpu_chan_disable(gr) || vgpu_chan_enable(gr))
		return;
	if (!fx_random_below(4)) {
		hang_inject(gr->engine);
		vgpu_chan_nop(gr);
	}
	COMPUTE_LOAD(&v, compute_loop);
	compute_dispatch(gr, COMPUTE_SIZE(20, 1, 1), COMPUTE_SIZE(20, 1, 1), 64);
}

/* As new, whatever was done to it, and it can be moved. */
static void check_sane(struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_instance inst;

	while (!fx_debugfs(vgpu, "resume"))
		;
	fx_release(vgpu);
	FX_OK(vgpu->dev, vgpu_dev_reset(vgpu->dev));
	CHECK_EQ(hop_get_state(vgpu), VFIO_DEVICE_STATE_RUNNING);
	fx_instance(vgpu, &inst);
	CHECK_EQ(inst.fb_backed_bytes, 0);
	CHECK(!(inst.status & (VGPU_INSTANCE_PAUSED | VGPU_INSTANCE_QUARANTINED)), "%#llx",
	      (unsigned long long)inst.status);
}

static void any_step_in_a_storm(void)
{
	uint64_t end = clk_ms() + 1000 * fx_env("VGPU_TEST_SECONDS", 3), steps = 0, went = 0;
	struct vgpu_ctl_sched sched = {
		.quarantine_faults = 1, .quarantine_backoff_ms = 50,
	};
	struct vgpu_chan *gr;
	int data[2] = { -1, -1 }, ret, next;
	unsigned int i;

	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	gr = compute_chan(&v);
	exp_cap = fx_find_cap(&v, PCI_CAP_ID_EXP);
	hop_create_beside(&other, fx_default_type(), &v);
	hop_save(&v, 1, &stream);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	storm_begin(rage);
	storm->moved = 1;
	for (; clk_ms() < end || steps < 200; steps++) {
		i = (unsigned int)fx_random_below(2);
		ret = hop_try_state(i ? &other : &v, 1 + (unsigned int)fx_random_below(7), &next);
		CHECK(!ret || ret == -EINVAL || ret == -EBUSY || ret == -ENODEV || ret == -ENOMEM,
		      "%s", strerror(-ret));
		went += !ret;
		if (next >= 0) {
			if (data[i] >= 0)
				close(data[i]);
			data[i] = next;
		}
		if (data[i] >= 0)
			use_stream(data[i]);
		hop_data_size(&v);
		guest_works(gr);
	}
	storm_end();
	ktap_note("%llu steps, %llu of them could be gone", (unsigned long long)steps,
		  (unsigned long long)went);
	for (i = 0; i < 2; i++)
		if (data[i] >= 0)
			close(data[i]);
	check_sane(&v);
	check_sane(&other);
	fx_close(&v);
	fx_open(&v);
	compute_check_sum(compute_neighbour(&v), 5, 6);
	hop(&v, 1);
}

static void storm_cleanup(void)
{
	hop_stream_free(&stream);
	space_cleanup();
	tune_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(moved_while_administered),
	KTAP_TEST(cancelled_twice),
	KTAP_TEST(faults_are_counted_on),
	KTAP_TEST(quarantined_while_moving),
	KTAP_TEST(own_memory),
	KTAP_TEST(any_step_in_a_storm),
};

KTAP_MAIN(tests, storm_cleanup)
