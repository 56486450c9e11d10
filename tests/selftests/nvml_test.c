// SPDX-License-Identifier: GPL-2.0
/* libnvidia-ml.so.1 on the real driver: each group of its functions against /dev/vgpu and sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvml.h>

#include "child.h"
#include "fixture.h"
#include "tune.h"

#define OK(call)	CHECK_EQ(call, NVML_SUCCESS, "%s", #call)

#define CLIENTS		8
#define CHURN_MS	2000

static struct fx_vgpu v[2];
static nvmlDevice_t dev;

static void begin(void)
{
	const char *gpu = fx_gpu();

	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByPciBusId_v2(gpu, &dev));
}

static void cleanup(void)
{
	while (!nvmlShutdown())
		;
	tune_cleanup();
}

/* Of the GPU's vGPUs that are open the one with that UUID. */
static nvmlVgpuInstance_t find(const struct fx_vgpu *vgpu)
{
	nvmlVgpuInstance_t ids[64];
	unsigned int count = 64, i;
	char uuid[80];

	OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
	for (i = 0; i < count; i++) {
		OK(nvmlVgpuInstanceGetUUID(ids[i], uuid, sizeof(uuid)));
		if (!strcmp(uuid, vgpu->uuid))
			return ids[i];
	}
	FAIL("%s is not active", vgpu->uuid);
}

static void devices(void)
{
	char text[96], busy[96];
	struct vgpu_ctl_gpu gpu;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;
	unsigned int value;
	nvmlDevice_t same;

	begin();
	fx_create(&v[0], fx_default_type());
	fx_ctl_gpu(&gpu);
	OK(nvmlDeviceGetCount_v2(&value));
	CHECK(value >= 1, "%u GPUs", value);
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	CHECK(!strcmp(text, (char *)gpu.board), "%s", text);
	OK(nvmlDeviceGetUUID(dev, text, sizeof(text)));
	OK(nvmlDeviceGetHandleByUUID(text, &same));
	CHECK(same == dev, "another GPU");
	OK(nvmlDeviceGetPciInfo_v3(dev, &pci));
	CHECK(!strcasecmp(pci.busIdLegacy, fx_gpu()), "%s", pci.busIdLegacy);
	CHECK_EQ(pci.pciDeviceId & 0xffff, 0x1af4);
	OK(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &same));
	CHECK(same == dev, "another GPU");
	OK(nvmlDeviceGetMemoryInfo(dev, &memory));
	CHECK_EQ(memory.total, gpu.fb_bytes);
	CHECK_EQ(memory.used, gpu.fb_used_bytes);
	CHECK_EQ(memory.free + memory.used, memory.total);
	OK(nvmlSystemGetDriverVersion(text, sizeof(text)));
	CHECK(text[0], "no version");
	/* The same after it was initialized again. */
	OK(nvmlDeviceGetUUID(dev, text, sizeof(text)));
	OK(nvmlShutdown());
	begin();
	OK(nvmlDeviceGetUUID(dev, busy, sizeof(busy)));
	CHECK(!strcmp(text, busy), "%s, then %s", text, busy);
}

static void types(void)
{
	struct vgpu_ctl_type type;
	unsigned int ids[64], creatable[64], count = 64, fits, i, k, value;
	unsigned long long bytes;
	char name[64];

	begin();
	OK(nvmlDeviceGetSupportedVgpus(dev, &count, ids));
	fx_create(&v[0], fx_default_type());
	fits = 64;
	OK(nvmlDeviceGetCreatableVgpus(dev, &fits, creatable));
	for (i = 0; i < count; i++) {
		memset(&type, 0, sizeof(type));
		type.size = sizeof(type);
		type.gpu = fx_gpu_id();
		type.index = i;
		CHECK(!ioctl(fx_control(), VGPU_IOC_TYPE, &type), "%s", strerror(errno));
		k = sizeof(name);
		OK(nvmlVgpuTypeGetName(ids[i], name, &k));
		CHECK(!strcmp(name, (char *)type.name), "%s", name);
		OK(nvmlVgpuTypeGetFramebufferSize(ids[i], &bytes));
		CHECK_EQ(bytes, type.fb_bytes);
		OK(nvmlVgpuTypeGetMaxInstances(dev, ids[i], &value));
		CHECK_EQ(value, type.max_instances);
		for (k = 0; k < fits; k++)
			if (creatable[k] == ids[i])
				break;
		CHECK_EQ(k < fits, type.available > 0, "%s", name);
	}
	type.index = count;
	CHECK(ioctl(fx_control(), VGPU_IOC_TYPE, &type), "a type is missing");
}

/* A place that is creatable before is where the driver puts the vGPU, and then is not. */
static void placements(void)
{
	nvmlVgpuHeterogeneousMode_t mode = {
		.version = NVML_STRUCT_VERSION(VgpuHeterogeneousMode, 1),
	};
	nvmlVgpuPlacementId_t place = { .version = NVML_STRUCT_VERSION(VgpuPlacementId, 1) };
	unsigned int before[64], after[64], i, type;
	nvmlVgpuPlacementList_v1_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 1),
	};

	begin();
	OK(nvmlDeviceGetVgpuHeterogeneousMode(dev, &mode));
	fx_create_open(&v[0], fx_default_type());
	OK(nvmlVgpuInstanceGetType(find(&v[0]), &type));
	list.placementIds = before;
	list.count = 64;
	OK(nvmlDeviceGetVgpuTypeCreatablePlacements(dev, type, (void *)&list));
	CHECK_EQ(list.count, fx_available(fx_default_type()));
	fx_create_open(&v[1], fx_default_type());
	OK(nvmlVgpuInstanceGetPlacementId(find(&v[1]), &place));
	for (i = 0; i < list.count; i++)
		if (before[i] == place.placementId)
			break;
	CHECK(i < list.count, "is placed at %u", place.placementId);
	list.placementIds = after;
	OK(nvmlDeviceGetVgpuTypeCreatablePlacements(dev, type, (void *)&list));
	for (i = 0; i < list.count; i++)
		CHECK(after[i] != place.placementId, "%u is taken", after[i]);
}

static void instances(void)
{
	struct vgpu_ctl_instance inst;
	unsigned long long bytes;
	unsigned int count = 0, fps;
	nvmlVgpuVmIdType_t type;
	nvmlVgpuInstance_t id;
	nvmlReturn_t ret;
	char text[80], pid[16];

	begin();
	fx_create(&v[0], fx_default_type());
	OK(nvmlDeviceGetActiveVgpus(dev, &count, NULL));
	fx_open(&v[0]);
	id = find(&v[0]);
	fx_instance(&v[0], &inst);
	OK(nvmlVgpuInstanceGetFbUsage(id, &bytes));
	CHECK_EQ(bytes, inst.fb_backed_bytes);
	OK(nvmlVgpuInstanceGetVmID(id, text, sizeof(text), &type));
	snprintf(pid, sizeof(pid), "%d", getpid());
	CHECK(!strcmp(text, pid), "%s", text);
	ret = nvmlVgpuInstanceGetFrameRateLimit(id, &fps);
	CHECK_EQ(ret, inst.frl_fps ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
	CHECK(ret || fps == inst.frl_fps, "%u", fps);
	fx_close(&v[0]);
	OK(nvmlVgpuInstanceGetUUID(id, text, sizeof(text)));
	count = 0;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, NULL));
	fx_remove(&v[0]);
	CHECK_EQ(nvmlVgpuInstanceGetUUID(id, text, sizeof(text)), NVML_ERROR_NOT_FOUND);
}

/* What has been done is seen by the next call, whatever the library keeps. */
static void nothing_is_old(void)
{
	unsigned int count, fps, i;
	nvmlVgpuInstance_t ids[64], id;
	nvmlVgpuVmIdType_t type;
	char text[80];

	begin();
	for (i = 0; i < 20; i++) {
		fx_create_open(&v[0], fx_default_type());
		id = find(&v[0]);
		tune_frl(&v[0], 10 + i);
		OK(nvmlVgpuInstanceGetFrameRateLimit(id, &fps));
		CHECK_EQ(fps, 10 + i);
		fx_close(&v[0]);
		CHECK_EQ(nvmlVgpuInstanceGetVmID(id, text, sizeof(text), &type),
			 NVML_ERROR_NOT_FOUND);
		fx_open(&v[0]);
		OK(nvmlVgpuInstanceGetVmID(id, text, sizeof(text), &type));
		count = 64;
		OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
		fx_close(&v[0]);
		fx_remove(&v[0]);
		CHECK_EQ(nvmlVgpuInstanceGetUUID(id, text, sizeof(text)), NVML_ERROR_NOT_FOUND);
	}
}

static void scheduler(void)
{
	static const char * const names[] = { "best_effort", "equal_share", "fixed_share" };
	nvmlVgpuSchedulerSetState_t set = { 0 };
	nvmlVgpuSchedulerGetState_t get;
	struct vgpu_ctl_sched sched;
	unsigned int i;

	begin();
	tune_begin();
	for (i = 0; i < 3; i++) {
		set.schedulerPolicy = i + 1;
		set.schedulerParams.vgpuSchedData.timeslice = 3000000 + 13500000 * i;
		OK(nvmlDeviceSetVgpuSchedulerState(dev, &set));
		tune_get(&sched);
		CHECK(!strcmp((char *)sched.policy, names[i]), "%s", (char *)sched.policy);
		CHECK_EQ(sched.slice_ns, set.schedulerParams.vgpuSchedData.timeslice);
		OK(nvmlDeviceGetVgpuSchedulerState(dev, &get));
		CHECK_EQ(get.schedulerPolicy, i + 1);
		CHECK_EQ(get.schedulerParams.vgpuSchedData.timeslice, sched.slice_ns);
	}
	set.schedulerParams.vgpuSchedData.timeslice = 0;
	OK(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	tune_policy("qos");
	OK(nvmlDeviceGetVgpuSchedulerState(dev, &get));
	CHECK_EQ(get.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_UNKNOWN);
}

/* Somebody who has been given the open node reads, and changes nothing; others get nothing. */
static void as_nobody(void *unused)
{
	nvmlVgpuSchedulerSetState_t set = { .schedulerPolicy = 2 };
	nvmlMemory_t memory;

	(void)unused;
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	OK(nvmlDeviceGetMemoryInfo(dev, &memory));
	CHECK_EQ(nvmlDeviceSetVgpuSchedulerState(dev, &set), NVML_ERROR_NO_PERMISSION);
	OK(nvmlShutdown());
	CHECK_EQ(nvmlInit_v2(), NVML_ERROR_NO_PERMISSION);
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

/* What the test shares with its clients. */
struct shared {
	uint32_t stop;
	uint32_t clients;	/* numbers that clients have taken */
	uint32_t polls[CLIENTS];
};

/* Lists the vGPUs, and looks at each, until the parent says so. */
static void poll_all(void *arg)
{
	struct shared *shared = arg;
	uint32_t client = __atomic_fetch_add(&shared->clients, 1, __ATOMIC_RELAXED);
	nvmlVgpuInstance_t ids[64];
	unsigned int count, i, type;
	unsigned long long bytes;
	nvmlReturn_t ret;
	char uuid[80];

	OK(nvmlInit_v2());
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		count = 64;
		OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
		for (i = 0; i < count; i++) {
			ret = nvmlVgpuInstanceGetUUID(ids[i], uuid, sizeof(uuid));
			CHECK(!ret || ret == NVML_ERROR_NOT_FOUND, "%d", ret);
			ret = nvmlVgpuInstanceGetType(ids[i], &type);
			CHECK(!ret || ret == NVML_ERROR_NOT_FOUND, "%d", ret);
			ret = nvmlVgpuInstanceGetFbUsage(ids[i], &bytes);
			CHECK(!ret || ret == NVML_ERROR_NOT_FOUND, "%d", ret);
		}
		count = 64;
		OK(nvmlDeviceGetCreatableVgpus(dev, &count, ids));
		__atomic_add_fetch(&shared->polls[client], 1, __ATOMIC_RELAXED);
		clk_sleep_ms(5);
	}
	OK(nvmlShutdown());
	OK(nvmlShutdown());
}

static bool all_have_polled(const struct shared *shared)
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		if (!__atomic_load_n(&shared->polls[i], __ATOMIC_RELAXED))
			return false;
	return true;
}

static void clients_while_vgpus_come_and_go(void)
{
	struct shared *shared = child_shared(sizeof(*shared));
	pid_t pids[CLIENTS];
	uint64_t start_ms;
	unsigned int i;
	int status;

	begin();
	for (i = 0; i < CLIENTS; i++)
		pids[i] = child_start(poll_all, shared);
	for (start_ms = clk_ms(); clk_ms() < start_ms + CHURN_MS || !all_have_polled(shared);) {
		CHECK(clk_ms() < start_ms + FX_TIMEOUT_MS, "a client gets no answer");
		fx_create_open(&v[0], fx_default_type());
		fx_close(&v[0]);
		fx_remove(&v[0]);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < CLIENTS; i++) {
		CHECK(child_ends(pids[i], FX_TIMEOUT_MS, &status), "hangs");
		CHECK_EQ(status, 0);
	}
}

/* A fault of the guest is an event of its GPU. */
static void events(void)
{
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	nvmlEventData_t data;
	nvmlEventSet_t set;

	fx_need("execution");
	begin();
	OK(nvmlEventSetCreate(&set));
	OK(nvmlDeviceRegisterEvents(dev, nvmlEventTypeXidCriticalError, set));
	fx_create_open(&v[0], fx_default_type());
	CHECK_EQ(nvmlEventSetWait_v2(set, &data, 50), NVML_ERROR_TIMEOUT);
	chan = fx_chan(&v[0], VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_fill_fails(chan, v[0].dev->fb_bytes, &fault);
	OK(nvmlEventSetWait_v2(set, &data, FX_TIMEOUT_MS));
	CHECK(data.device == dev, "another GPU");
	CHECK_EQ(data.eventData, 31);
	OK(nvmlEventSetFree(set));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(devices),
	KTAP_TEST(types),
	KTAP_TEST(placements),
	KTAP_TEST(instances),
	KTAP_TEST(nothing_is_old),
	KTAP_TEST(scheduler),
	KTAP_TEST(rights),
	KTAP_TEST(clients_while_vgpus_come_and_go),
	KTAP_TEST(events),
};

KTAP_MAIN(tests, cleanup)
