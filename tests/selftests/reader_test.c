// SPDX-License-Identifier: GPL-2.0
/*
 * Who only reads /dev/vgpu, and gives it memory that does not answer (userfaultfd): the calls wait
 * there for ever. Nobody waits for them, what the kernel keeps for them is charged to who calls,
 * and they end when they are killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "child.h"
#include "group.h"
#include "silent.h"

#define CALLERS		40	/* ten of each call */
#define PAGE		4096
#define LIMIT		(64 * FX_MIB)
/* What the arrays of ten of each call take, without what a cgroup is charged late. */
#define KEPT_BYTES	(2 * FX_MIB)

/* What the test shares with the process that calls. */
struct shared {
	uint32_t gpu;
	uint32_t go;
	uint32_t ready;
	uint32_t waiting;	/* calls that have come to their memory */
	int fd;
};

static struct fx_vgpu v, other;
static struct shared *shared;
static uint8_t *memory;

static void call(unsigned int i)
{
	struct vgpu_ctl_samples samples = {
		.size = sizeof(samples), .gpu = shared->gpu, .count = 1024,
		.entry_size = sizeof(struct vgpu_ctl_sample),
		.entries = (uintptr_t)(memory + i * PAGE),
	};
	struct vgpu_ctl_sessions sessions = {
		.size = sizeof(sessions), .gpu = shared->gpu, .count = 256,
		.entry_size = sizeof(struct vgpu_ctl_session),
		.entries = (uintptr_t)(memory + i * PAGE),
	};
	struct vgpu_ctl_stats stats = {
		.size = sizeof(stats), .gpu = shared->gpu, .count = 32,
		.entry_size = sizeof(struct vgpu_ctl_instance),
		.entries = (uintptr_t)(memory + i * PAGE),
	};
	struct vgpu_ctl_list list = {
		.size = sizeof(list), .gpu = shared->gpu, .count = 4096,
		.ids = (uintptr_t)(memory + i * PAGE),
	};

	switch (i % 4) {
	case 0:
		ioctl(shared->fd, VGPU_IOC_SAMPLES, &samples);
		break;
	case 1:
		ioctl(shared->fd, VGPU_IOC_SESSIONS, &sessions);
		break;
	case 2:
		ioctl(shared->fd, VGPU_IOC_STATS, &stats);
		break;
	default:
		ioctl(shared->fd, VGPU_IOC_INSTANCES, &list);
	}
}

static void *caller(void *number)
{
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&shared->go, __ATOMIC_RELAXED))
		usleep(1000);
	call((unsigned int)(uintptr_t)number);
	return NULL;
}

/* Memory that does not answer. Returns the userfaultfd. */
static int map_memory(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	CHECK(fd >= 0, "%s", strerror(errno));
	memory = mmap(NULL, CALLERS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	CHECK(memory != MAP_FAILED, "%s", strerror(errno));
	CHECK(!ioctl(fd, UFFDIO_API, &api), "%s", strerror(errno));
	reg.range.start = (uintptr_t)memory;
	reg.range.len = CALLERS * PAGE;
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &reg), "%s", strerror(errno));
	return fd;
}

static void callers(void *group)
{
	struct uffd_msg msg;
	pthread_t thread;
	unsigned int i;
	int fd;

	group_enter(group);
	shared->fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC);
	CHECK(shared->fd >= 0, "%s", strerror(errno));
	fd = map_memory();
	for (i = 0; i < CALLERS; i++)
		CHECK_EQ(pthread_create(&thread, NULL, caller, (void *)(uintptr_t)i), 0);
	while (read(fd, &msg, sizeof(msg)) == sizeof(msg))
		__atomic_fetch_add(&shared->waiting, 1, __ATOMIC_RELAXED);
}

/* Otherwise the calls have nothing to write, and wait for nothing. */
static bool are_samples(void)
{
	static struct vgpu_ctl_sample sample[VGPU_SAMPLES_ROOM];
	struct vgpu_ctl_samples ctl = {};

	CHECK_EQ(node_samples(fx_control(), fx_gpu_id(), &ctl, sample, VGPU_SAMPLES_ROOM), 0);
	return ctl.count;
}

/* Starts them; they wait when this returns, and @kept is what the cgroup is charged for that. */
static pid_t start_callers(uint64_t *kept)
{
	uint64_t before;
	pid_t pid;

	silent_need();
	group_make(GROUP_A, LIMIT);
	shared = child_shared(sizeof(*shared));
	shared->gpu = fx_gpu_id();
	/* Before the vGPU is open, which the process would hold open, too. */
	pid = child_start(callers, GROUP_A);
	fx_create_open(&v, fx_default_type());
	FX_SOON(__atomic_load_n(&shared->ready, __ATOMIC_RELAXED) == CALLERS, "no threads");
	FX_SOON(are_samples(), "no sample");
	before = group_value(GROUP_A, "memory.current", NULL);
	__atomic_store_n(&shared->go, 1, __ATOMIC_RELAXED);
	FX_SOON(__atomic_load_n(&shared->waiting, __ATOMIC_RELAXED) == CALLERS, "%u of %u wait",
		shared->waiting, CALLERS);
	*kept = group_value(GROUP_A, "memory.current", NULL) - before;
	return pid;
}

static void callers_pay(void)
{
	uint64_t kept;
	pid_t pid = start_callers(&kept);

	ktap_note("%llu KiB are charged", (unsigned long long)kept >> 10);
	CHECK(kept >= KEPT_BYTES && kept < LIMIT, "%llu bytes are charged",
	      (unsigned long long)kept);
	child_kill(pid);
	group_wait_below(GROUP_A, FX_MIB);
}

/* All that takes the locks of the GPU and of its vGPUs. */
static void nobody_waits(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan;
	uint64_t kept;
	pid_t pid = start_callers(&kept);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		fx_create_open(&other, fx_default_type());
		chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
		FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, 65536));
		fx_finish(chan);
		vgpu_chan_destroy(chan);
		CHECK_EQ(vgpu_dev_reset(other.dev), 0);
		fx_instance(&other, &inst);
		fx_close(&other);
		fx_remove(&other);
	}
	fx_close(&v);
	fx_remove(&v);
	CHECK_EQ(shared->waiting, CALLERS);
	child_kill(pid);
}

static void cleanup(void)
{
	fx_cleanup();
	group_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(callers_pay),
	KTAP_TEST(nobody_waits),
};

KTAP_MAIN(tests, cleanup)
