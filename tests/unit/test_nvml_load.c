// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml: loads, processes, the scheduler, accounting, events; drivers before ABI 1.6. */
#include "vgpu_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define SHORT(call)	assert_int_equal(call, NVML_ERROR_INSUFFICIENT_SIZE)
#define ROOM		4096

#define NR(request)	(_IOC_NR(request) - 0xb0)

static nvmlDevice_t dev;
static int allocations;

static int begin(void **state)
{
	fake_reset();
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

/* The index of a Q and of a C type of the catalogue. */
static unsigned int of_series(char series)
{
	struct vgpu_ctl_type type;
	unsigned int i;

	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (strlen((char *)type.name) == 7 && type.name[5] == '4' && type.name[6] == series)
			return i;
	}
	fail();
	return 0;
}

/* Two vGPUs that are open, and what they and the GPU did in the last @periods. */
static void some_load(unsigned int periods)
{
	static const unsigned int gpu[] = { 60, 30, 10, 5, 7 };
	static const unsigned int one[] = { 40, 30, 10, 5, 0 };
	static const unsigned int two[] = { 20, 0, 0, 0, 7 };

	fake_create(1, 0, of_series('Q'), 0);
	fake_create(2, 0, of_series('C'), 4);
	fake_start(1, 101);
	fake_start(2, 102);
	while (periods--) {
		fake_sample(0, -1, periods, gpu);
		fake_sample(0, 1, periods, one);
		fake_sample(0, 2, periods, two);
	}
}

static void test_rates(void **state)
{
	unsigned int value, period_us;
	nvmlUtilization_t rates;

	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_true(!rates.gpu && !rates.memory);
	some_load(30);
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_int_equal(rates.gpu, 60);
	assert_int_equal(rates.memory, 20);
	OK(nvmlDeviceGetEncoderUtilization(dev, &value, &period_us));
	assert_int_equal(value, 5);
	OK(nvmlDeviceGetDecoderUtilization(dev, &value, &period_us));
	assert_int_equal(value, 7);
	/* Half a second without samples is one in which nothing ran; after a second all of it. */
	fake.now_ns += 5 * FAKE_PERIOD_NS;
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_int_equal(rates.gpu, 30);
	fake.now_ns += 6 * FAKE_PERIOD_NS;
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_int_equal(rates.gpu, 0);
}

static void test_no_encoder(void **state)
{
	unsigned int value, period_us;
	nvmlUtilization_t rates;
	nvmlValueType_t type;

	OK(nvmlShutdown());
	fake.engines = 3;
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	some_load(3);
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_int_equal(rates.memory, 20);
	assert_int_equal(nvmlDeviceGetEncoderUtilization(dev, &value, &period_us),
			 NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(nvmlDeviceGetDecoderUtilization(dev, &value, &period_us),
			 NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(nvmlDeviceGetSamples(dev, NVML_ENC_UTILIZATION_SAMPLES, 0, &type, &value,
					      NULL), NVML_ERROR_NOT_SUPPORTED);
}

static void test_samples(void **state)
{
	static nvmlVgpuInstanceUtilizationSample_t s[ROOM];
	static nvmlSample_t of_gpu[ROOM];
	unsigned int count = 0, i, all;
	nvmlValueType_t type;
	uint64_t last_us;

	assert_int_equal(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, NULL),
			 NVML_ERROR_NOT_FOUND);
	/* More than one call of the driver gives. */
	some_load(600);
	SHORT(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, NULL));
	assert_true(count >= 1200 && count < 1300);
	SHORT(nvmlDeviceGetVgpuUtilization(dev, 0, &type, (count = 1199, &count), s));
	OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, s));
	assert_int_equal(count, 1200);
	assert_int_equal(type, NVML_VALUE_TYPE_UNSIGNED_INT);
	for (i = 0; i < count; i++) {
		assert_true(!i || s[i].timeStamp >= s[i - 1].timeStamp);
		assert_true(s[i].vgpuInstance == s[i & 1].vgpuInstance);
		assert_int_equal(s[i].smUtil.uiVal, i & 1 ? 20 : 40);
		assert_int_equal(s[i].memUtil.uiVal, i & 1 ? 0 : 20);
		assert_int_equal(s[i].encUtil.uiVal, i & 1 ? 0 : 5);
		assert_int_equal(s[i].decUtil.uiVal, i & 1 ? 7 : 0);
	}
	/* From a timestamp on: those that are later, and none twice. */
	last_us = s[599].timeStamp;
	all = ROOM;
	OK(nvmlDeviceGetVgpuUtilization(dev, last_us, &type, &all, s));
	assert_int_equal(all, 600);
	assert_true(s[0].timeStamp > last_us);
	last_us = s[all - 1].timeStamp;
	assert_int_equal(nvmlDeviceGetVgpuUtilization(dev, last_us, &type, &all, s),
			 NVML_ERROR_NOT_FOUND);
	all = ROOM;
	OK(nvmlDeviceGetVgpuUtilization(dev, last_us - 1, &type, &all, s));
	assert_int_equal(all, 2);
	assert_int_equal(nvmlDeviceGetVgpuUtilization(dev, ~0ull, &type, &all, s),
			 NVML_ERROR_NOT_FOUND);
	all = ROOM;
	OK(nvmlDeviceGetVgpuUtilization(dev, 1, &type, &all, s));
	assert_int_equal(all, 1200);
	all = ROOM;
	OK(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &all, of_gpu));
	assert_int_equal(all, 600);
	assert_int_equal(of_gpu[599].sampleValue.uiVal, 60);
	assert_int_equal(nvmlDeviceGetSamples(dev, NVML_TOTAL_POWER_SAMPLES, 0, &type, &all,
					      of_gpu), NVML_ERROR_NOT_SUPPORTED);
	/* Of a vGPU that is gone there are none, and those of its UUID are not the next one's. */
	fake_remove(1);
	all = ROOM;
	OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &all, s));
	assert_int_equal(all, 600);
	fake_create(1, 0, of_series('Q'), 0);
	all = ROOM;
	OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &all, s));
	assert_int_equal(all, 600);
}

static void test_samples_info(void **state)
{
	static nvmlVgpuInstanceUtilizationInfo_v1_t s[ROOM];
	nvmlVgpuInstancesUtilizationInfo_t info = {
		.version = NVML_STRUCT_VERSION(VgpuInstancesUtilizationInfo, 1),
	};
	static nvmlVgpuProcessUtilizationInfo_v1_t p[ROOM];
	nvmlVgpuProcessesUtilizationInfo_t processes = {
		.version = NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1),
	};

	assert_int_equal(nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info),
			 NVML_ERROR_NOT_FOUND);
	some_load(10);
	SHORT(nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info));
	info.vgpuUtilArray = s;
	OK(nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info));
	assert_int_equal(info.vgpuInstanceCount, 20);
	assert_int_equal(s[19].smUtil.uiVal, 20);
	assert_int_equal(s[19].decUtil.uiVal, 7);
	assert_int_equal(s[18].jpgUtil.uiVal, 0);
	info.lastSeenTimeStamp = s[17].timeStamp;
	OK(nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info));
	assert_int_equal(info.vgpuInstanceCount, 2);
	SHORT(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &processes));
	processes.vgpuProcUtilArray = p;
	OK(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &processes));
	assert_int_equal(processes.vgpuProcessCount, 20);
	assert_int_equal(p[18].pid, 101);
	assert_string_equal(p[18].processName, "vm101");
	assert_int_equal(p[18].smUtil, 40);
	info.version++;
	processes.version++;
	assert_int_equal(nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info),
			 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	assert_int_equal(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &processes),
			 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

static void test_processes(void **state)
{
	static nvmlVgpuProcessUtilizationSample_t of_vgpu[ROOM];
	static nvmlProcessUtilizationSample_t s[ROOM];
	nvmlProcessInfo_v1_t old[2];
	nvmlProcessInfo_t info[2];
	unsigned int count = 0;

	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, NULL));
	some_load(5);
	SHORT(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, NULL));
	assert_int_equal(count, 1);
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, info));
	assert_int_equal(info[0].pid, 101);
	assert_int_equal(info[0].usedGpuMemory, 101ull << 20);
	assert_int_equal(info[0].gpuInstanceId, NVML_NO_INSTANCE);
	OK(nvmlDeviceGetComputeRunningProcesses(dev, &count, old));
	assert_int_equal(old[0].pid, 102);
	OK(nvmlDeviceGetMPSComputeRunningProcesses_v3(dev, &count, info));
	assert_int_equal(count, 0);
	SHORT(nvmlDeviceGetProcessUtilization(dev, NULL, &count, 0));
	OK(nvmlDeviceGetProcessUtilization(dev, s, &count, 0));
	assert_int_equal(count, 10);
	assert_true(s[8].pid == 101 && s[8].smUtil == 40 && s[8].memUtil == 20);
	assert_true(s[9].pid == 102 && s[9].smUtil == 20 && s[9].decUtil == 7);
	count = ROOM;
	OK(nvmlDeviceGetVgpuProcessUtilization(dev, s[7].timeStamp, &count, of_vgpu));
	assert_int_equal(count, 2);
	assert_string_equal(of_vgpu[1].processName, "vm102");
	/* Who has closed it is no process of the GPU any more. */
	fake_stop(1);
	count = ROOM;
	OK(nvmlDeviceGetProcessUtilization(dev, s, &count, 0));
	assert_int_equal(count, 5);
}

static void test_sched(void **state)
{
	nvmlVgpuSchedulerSetState_t set = { .schedulerPolicy = 2 };
	nvmlVgpuSchedulerState_v2_t set2 = { .schedulerPolicy = 3, .frequency = 100 };
	nvmlVgpuSchedulerStateInfo_v2_t get2 = { 0 };
	nvmlVgpuSchedulerCapabilities_t caps;
	nvmlVgpuSchedulerGetState_t get;

	OK(nvmlDeviceGetVgpuSchedulerCapabilities(dev, &caps));
	assert_int_equal(caps.minTimeslice, 1000000);
	assert_int_equal(caps.maxTimeslice, 30000000);
	assert_int_equal(caps.isArrModeSupported, 0);
	OK(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	OK(nvmlDeviceGetVgpuSchedulerState(dev, &get));
	assert_int_equal(get.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE);
	assert_int_equal(get.arrMode, NVML_VGPU_SCHEDULER_ARR_DISABLE);
	assert_int_equal(get.schedulerParams.vgpuSchedData.timeslice, 1000000);
	/* The window of statistics grows with the slice. */
	set.schedulerParams.vgpuSchedData.timeslice = 30000000;
	OK(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	assert_int_equal(fake.sched[0].window_ns, 300000000);
	OK(nvmlDeviceSetVgpuSchedulerState_v2(dev, &set2));
	OK(nvmlDeviceGetVgpuSchedulerState_v2(dev, &get2));
	assert_int_equal(get2.engineId, NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS);
	assert_int_equal(get2.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE);
	assert_int_equal(get2.timeslice, 10000000);
	strcpy((char *)fake.sched[0].policy, "qos");
	OK(nvmlDeviceGetVgpuSchedulerState(dev, &get));
	assert_int_equal(get.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_UNKNOWN);
}

static void test_sched_refused(void **state)
{
	nvmlVgpuSchedulerSetState_t set = { .schedulerPolicy = 2 };
	nvmlVgpuSchedulerState_v2_t set2 = { .schedulerPolicy = 3, .frequency = 100 };
	nvmlVgpuSchedulerStateInfo_v2_t get2 = { .engineId = 4 };
	static const unsigned int policies[] = { 0, 4, ~0u }, slices[] = { 1, 999999, 30000001 };
	static const unsigned int hz[] = { 1, 62, 961 };
	struct vgpu_ctl_sched before = fake.sched[0];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		set.schedulerPolicy = policies[i];
		assert_int_equal(nvmlDeviceSetVgpuSchedulerState(dev, &set),
				 NVML_ERROR_INVALID_ARGUMENT);
		set.schedulerPolicy = 2;
		set.schedulerParams.vgpuSchedData.timeslice = slices[i];
		assert_int_equal(nvmlDeviceSetVgpuSchedulerState(dev, &set),
				 NVML_ERROR_INVALID_ARGUMENT);
		set.schedulerParams.vgpuSchedData.timeslice = 0;
		set2.frequency = hz[i];
		assert_int_equal(nvmlDeviceSetVgpuSchedulerState_v2(dev, &set2),
				 NVML_ERROR_INVALID_ARGUMENT);
	}
	set2.frequency = 100;
	set2.avgFactor = 33;
	assert_int_equal(nvmlDeviceSetVgpuSchedulerState_v2(dev, &set2), NVML_ERROR_NOT_SUPPORTED);
	set2.avgFactor = 0;
	set2.engineId = NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC0;
	assert_int_equal(nvmlDeviceSetVgpuSchedulerState_v2(dev, &set2), NVML_ERROR_NOT_SUPPORTED);
	set.enableARRMode = NVML_VGPU_SCHEDULER_ARR_ENABLE;
	assert_int_equal(nvmlDeviceSetVgpuSchedulerState(dev, &set), NVML_ERROR_NOT_SUPPORTED);
	set.enableARRMode = 3;
	assert_int_equal(nvmlDeviceSetVgpuSchedulerState(dev, &set), NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlDeviceGetVgpuSchedulerState_v2(dev, &get2),
			 NVML_ERROR_INVALID_ARGUMENT);
	get2.engineId = NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC1;
	assert_int_equal(nvmlDeviceGetVgpuSchedulerState_v2(dev, &get2), NVML_ERROR_NOT_SUPPORTED);
	set.enableARRMode = 0;
	fake.set_error = EPERM;
	assert_int_equal(nvmlDeviceSetVgpuSchedulerState(dev, &set), NVML_ERROR_NO_PERMISSION);
	assert_memory_equal(&before, &fake.sched[0], sizeof(before));
}

static void test_sched_log(void **state)
{
	static nvmlVgpuSchedulerLogInfo_v2_t info;
	static nvmlVgpuSchedulerLog_t old;
	unsigned int i;

	OK(nvmlDeviceGetVgpuSchedulerLog(dev, &old));
	assert_int_equal(old.entriesCount, 0);
	some_load(1);
	for (i = 0; i < VGPU_SCHED_LOG; i++)
		fake_run(0, 1 + i % 2, 1000000 * i, 1000 + i);
	OK(nvmlDeviceGetVgpuSchedulerLog(dev, &old));
	OK(nvmlDeviceGetVgpuSchedulerLog_v2(dev, &info));
	assert_int_equal(old.entriesCount, VGPU_SCHED_LOG);
	assert_int_equal(info.entriesCount, VGPU_SCHED_LOG);
	assert_int_equal(old.engineId, NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS);
	assert_int_equal(old.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT);
	for (i = 0; i < VGPU_SCHED_LOG; i++) {
		const nvmlVgpuSchedulerLogEntry_v2_t *e = &info.logEntries[i];

		assert_memory_equal(&old.logEntries[i], e, sizeof(old.logEntries[i]));
		assert_int_equal(e->timeRun, 1000 + i);
		assert_int_equal(e->timeRunTotal, i < 2 ? e->timeRun :
				 info.logEntries[i - 2].timeRunTotal + e->timeRun);
		assert_int_equal(e->cumulativePreemptionTime, (i / 2 + 1) * 1000);
		assert_int_equal(e->targetTimeSlice, 1000000);
		assert_int_equal(e->weight, 11 + i % 2);
		assert_true(e->swRunlistId);
		assert_true(!i || e->timestamp > info.logEntries[i - 1].timestamp);
	}
	/* The log still has the runs of a vGPU that is gone. */
	fake_remove(1);
	OK(nvmlDeviceGetVgpuSchedulerLog(dev, &old));
	assert_int_equal(old.entriesCount, VGPU_SCHED_LOG);
	assert_int_equal(old.logEntries[0].swRunlistId, 0);
	assert_int_equal(old.logEntries[2].timeRunTotal, 1000 + 1002);
	/* They are not those of the next one with its UUID. */
	fake_create(1, 0, of_series('Q'), 0);
	OK(nvmlDeviceGetVgpuSchedulerLog(dev, &old));
	assert_int_equal(old.logEntries[0].swRunlistId, 0);
	assert_int_equal(old.logEntries[2].timeRunTotal, 1000 + 1002);
	fake_remove(1);
	/* And a client that reads nothing else does not collect such vGPUs. */
	for (i = 0; i < 1000; i++) {
		fake_create(1, 0, of_series('Q'), 0);
		OK(nvmlDeviceGetVgpuSchedulerLog(dev, &old));
		fake_remove(1);
	}
	assert_true(nv.vgpus <= NV_VGPUS_MAX);
}

static void test_accounting(void **state)
{
	unsigned int pids[600], count = 0, i;
	nvmlAccountingStats_t stats;
	nvmlVgpuInstance_t v[2];
	nvmlEnableState_t mode;

	OK(nvmlDeviceGetAccountingMode(dev, &mode));
	assert_int_equal(mode, NVML_FEATURE_ENABLED);
	OK(nvmlDeviceGetAccountingBufferSize(dev, &count));
	assert_int_equal(count, 4000);
	OK(nvmlDeviceGetAccountingPids(dev, (count = 0, &count), NULL));
	assert_int_equal(count, 0);
	fake_create(1, 0, of_series('Q'), 0);
	fake_create(2, 0, of_series('Q'), 4);
	for (i = 0; i < 500; i++) {
		fake_start(1, 1000 + i);
		fake_stop(1);
	}
	/* The same pid again: its last session counts. */
	fake_start(1, 1000);
	fake_start(2, 9);
	count = 2;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, v));
	count = 0;
	SHORT(nvmlVgpuInstanceGetAccountingPids(v[0], &count, NULL));
	assert_int_equal(count, 500);
	OK(nvmlVgpuInstanceGetAccountingPids(v[0], &count, pids));
	OK(nvmlVgpuInstanceGetAccountingPids(v[1], &count, pids));
	assert_int_equal(count, 1);
	assert_int_equal(pids[0], 9);
	SHORT(nvmlDeviceGetAccountingPids(dev, &count, pids));
	assert_int_equal(count, 501);
	OK(nvmlVgpuInstanceGetAccountingStats(v[0], 1000, &stats));
	assert_true(stats.isRunning && !stats.time && stats.startTime);
	OK(nvmlVgpuInstanceGetAccountingStats(v[0], 1001, &stats));
	assert_true(!stats.isRunning);
	assert_int_equal(stats.time, 1000);
	assert_int_equal(stats.gpuUtilization, 50);
	assert_int_equal(stats.maxMemoryUsage, 1001ull << 21);
	assert_int_equal(nvmlVgpuInstanceGetAccountingStats(v[1], 1001, &stats),
			 NVML_ERROR_NOT_FOUND);
	OK(nvmlDeviceGetAccountingStats(dev, 1001, &stats));
	/* Sessions of an earlier vGPU of that UUID are not its own. */
	fake_remove(1);
	fake_create(1, 0, of_series('Q'), 0);
	fake_start(1, 5);
	count = 2;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, v));
	count = 600;
	OK(nvmlVgpuInstanceGetAccountingPids(v[0], &count, pids));
	assert_int_equal(count, 1);
	assert_int_equal(pids[0], 5);
}

/* As many sessions as are kept, each of another process, the pids in no order. */
static void test_accounting_of_many(void **state)
{
	static unsigned int pids[VGPU_SESSIONS_KEPT];
	unsigned int count = VGPU_SESSIONS_KEPT, i;
	nvmlAccountingStats_t stats;

	fake_create(1, 0, of_series('Q'), 0);
	for (i = 0; i < VGPU_SESSIONS_KEPT; i++) {
		fake_start(1, 1 + i * 1237 % VGPU_SESSIONS_KEPT);
		fake_stop(1);
	}
	OK(nvmlDeviceGetAccountingPids(dev, &count, pids));
	assert_int_equal(count, VGPU_SESSIONS_KEPT);
	for (i = 0; i < count; i++)
		assert_int_equal(pids[i], i + 1);
	for (i = 1; i <= count; i += 100) {
		OK(nvmlDeviceGetAccountingStats(dev, i, &stats));
		assert_int_equal(stats.maxMemoryUsage, (unsigned long long)i << 21);
	}
	assert_int_equal(nvmlDeviceGetAccountingStats(dev, 0, &stats), NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetAccountingStats(dev, ~0u, &stats), NVML_ERROR_NOT_FOUND);
}

static void test_events(void **state)
{
	nvmlEventSet_t set, idle;
	unsigned long long types;
	nvmlEventData_v1_t old;
	nvmlEventData_t data;
	nvmlDevice_t other;

	OK(nvmlDeviceGetSupportedEventTypes(dev, &types));
	assert_int_equal(types, nvmlEventTypeXidCriticalError);
	OK(nvmlEventSetCreate(&set));
	OK(nvmlEventSetCreate(&idle));
	OK(nvmlDeviceRegisterEvents(dev, types, set));
	assert_int_equal(nvmlDeviceRegisterEvents(dev, types | 1, set), NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(nvmlDeviceRegisterEvents(NULL, types, set), NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlEventSetWait_v2(set, &data, 0), NVML_ERROR_TIMEOUT);
	assert_int_equal(nvmlEventSetWait_v2(set, &data, 5), NVML_ERROR_TIMEOUT);
	/* Of another GPU, of no interest, an engine's reset told twice. */
	fake_event(VGPU_EVENT_FAULT, 1, 1);
	fake_event(VGPU_EVENT_CREATED, 0, 0);
	fake_event(VGPU_EVENT_FAULT, 0, 7);
	fake_event(VGPU_EVENT_ENGINE_RESET, 0, 0);
	fake_event(VGPU_EVENT_FAULT, 0, 1);
	fake_event(VGPU_EVENT_FAULT, 0, 2);
	fake_event(VGPU_EVENT_GPU_REMOVED, 0, 0);
	OK(nvmlEventSetWait_v2(set, &data, 0));
	assert_int_equal(data.eventData, 109);
	assert_ptr_equal(data.device, dev);
	assert_int_equal(data.eventType, nvmlEventTypeXidCriticalError);
	assert_int_equal(data.gpuInstanceId, NVML_NO_INSTANCE);
	OK(nvmlEventSetWait(set, &old, 1000));
	assert_int_equal(old.eventData, 13);
	OK(nvmlEventSetWait_v2(set, &data, 1000));
	assert_int_equal(data.eventData, 31);
	OK(nvmlEventSetWait_v2(set, &data, 1000));
	assert_int_equal(data.eventData, 79);
	assert_int_equal(nvmlEventSetWait_v2(set, &data, 0), NVML_ERROR_TIMEOUT);
	OK(nvmlDeviceGetHandleByIndex_v2(1, &other));
	OK(nvmlDeviceRegisterEvents(other, types, idle));
	assert_int_equal(nvmlEventSetWait_v2(idle, &data, 0), NVML_SUCCESS);
	assert_ptr_equal(data.device, other);
	OK(nvmlEventSetFree(set));
	assert_int_equal(nvmlEventSetFree(set), NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlEventSetWait_v2(set, &data, 0), NVML_ERROR_INVALID_ARGUMENT);
	/* The other one is left to nvmlShutdown(). */
}

static void *wait_for_ever(void *set)
{
	nvmlEventData_t data;

	return (void *)(uintptr_t)nvmlEventSetWait_v2(set, &data, ~0u);
}

static void test_freed_while_waited_on(void **state)
{
	nvmlEventSet_t set;
	pthread_t thread;
	void *ret;
	int i;

	for (i = 0; i < 2; i++) {
		OK(nvmlEventSetCreate(&set));
		assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, set), 0);
		usleep(20000);
		if (i)
			OK(nvmlShutdown());
		else
			OK(nvmlEventSetFree(set));
		pthread_join(thread, &ret);
		assert_int_equal((uintptr_t)ret, i ? NVML_ERROR_UNINITIALIZED :
				 NVML_ERROR_INVALID_ARGUMENT);
	}
	OK(nvmlInit_v2());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rates, begin, end),
		cmocka_unit_test_setup_teardown(test_no_encoder, begin, end),
		cmocka_unit_test_setup_teardown(test_samples, begin, end),
		cmocka_unit_test_setup_teardown(test_samples_info, begin, end),
		cmocka_unit_test_setup_teardown(test_processes, begin, end),
		cmocka_unit_test_setup_teardown(test_sched, begin, end),
		cmocka_unit_test_setup_teardown(test_sched_refused, begin, end),
		cmocka_unit_test_setup_teardown(test_sched_log, begin, end),
		cmocka_unit_test_setup_teardown(test_accounting, begin, end),
		cmocka_unit_test_setup_teardown(test_accounting_of_many, begin, end),
		cmocka_unit_test_setup_teardown(test_events, begin, end),
		cmocka_unit_test_setup_teardown(test_freed_while_waited_on, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
