// SPDX-License-Identifier: GPL-2.0
/*
 * libnvidia-ml.so.1 while a known load runs: two vGPUs always have work and are held to caps. What
 * clients are told is what the driver's counters say.
 */
#include <string.h>
#include <unistd.h>

#include <nvml.h>

#include "share.h"

#define OK(call)	CHECK_EQ(call, NVML_SUCCESS, "%s", #call)
#define POINTS		2	/* per cent by which a client may be told something else */
#define NR		2
#define SAMPLES		1024
#define PERIOD_US	100000	/* of a sample */

static const struct share_scenario scenario = {
	.policy = "qos", .due = VGPU_DUE_SHARE, .types = "4Q 4C",
	.share = { { 100, 200, 10 }, { 100, 500, 10 } },
};

static nvmlDevice_t dev;
static nvmlVgpuInstance_t id[NR];

static void cleanup(void)
{
	while (!nvmlShutdown())
		;
	share_cleanup();
}

static void begin(void)
{
	nvmlVgpuInstance_t ids[8];
	unsigned int count = 8, i, k;
	char uuid[80];

	fx_need("execution");
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByPciBusId_v2(fx_gpu(), &dev));
	share_prepare(&scenario);
	OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
	CHECK_EQ(count, NR);
	for (i = 0; i < count; i++) {
		OK(nvmlVgpuInstanceGetUUID(ids[i], uuid, sizeof(uuid)));
		for (k = 0; k < NR; k++)
			if (!strcmp(uuid, share.vgpu[k].uuid))
				id[k] = ids[i];
	}
	CHECK(id[0] && id[1], "another vGPU");
}

/* Busy time of a vGPU as its samples tell it: each is of the time since the one before. */
static double sampled_ns(const nvmlVgpuInstanceUtilizationSample_t *sample, unsigned int nr,
			 nvmlVgpuInstance_t vgpu)
{
	unsigned long long last_us = 0, period_us;
	double busy_ns = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (sample[i].vgpuInstance != vgpu)
			continue;
		period_us = last_us ? sample[i].timeStamp - last_us : PERIOD_US;
		busy_ns += period_us * 10.0 * sample[i].smUtil.uiVal;
		last_us = sample[i].timeStamp;
	}
	return busy_ns;
}

/* All that a vGPU has done since it was opened, by the samples and by the driver's counter. */
static void utilization(void)
{
	static nvmlVgpuInstanceUtilizationSample_t sample[SAMPLES];
	struct vgpu_ctl_instance inst;
	unsigned int count, i;
	nvmlValueType_t type;

	begin();
	share_keep_busy(4000);
	for (i = 0; i < NR; i++) {
		double told, done;

		fx_instance(&share.vgpu[i], &inst);
		count = SAMPLES;
		OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, sample));
		told = 100 * sampled_ns(sample, count, id[i]) / (inst.now_ns - inst.started_ns);
		done = 100.0 * inst.engine[0].busy_ns / (inst.now_ns - inst.started_ns);
		ktap_note("vGPU %u: %.1f %%, by the driver's counter %.1f %%", i, told, done);
		CHECK(told >= done - POINTS && told <= done + POINTS, "vGPU %u", i);
		CHECK(done > 1, "vGPU %u has done nothing", i);
	}
	share_finish();
}

/* The GPU's rate is that of the last second: of the vGPUs' last samples together. */
static void rates(void)
{
	static nvmlVgpuInstanceUtilizationSample_t sample[SAMPLES];
	unsigned int count, i, tries, sum;
	unsigned long long since_us;
	nvmlUtilization_t rate;
	nvmlValueType_t type;

	begin();
	share_keep_busy(1000);
	for (tries = 0; tries < 20; tries++) {
		share_keep_busy(200);
		OK(nvmlDeviceGetUtilizationRates(dev, &rate));
		count = SAMPLES;
		OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, sample));
		since_us = sample[count - 1].timeStamp - 1000000;
		for (i = 0, sum = 0; i < count; i++)
			if (sample[i].timeStamp > since_us)
				sum += sample[i].smUtil.uiVal;
		ktap_note("the GPU %u %%, its vGPUs %.1f %%", rate.gpu, sum / 10.0);
		if (rate.gpu + POINTS >= sum / 10.0 && rate.gpu <= sum / 10.0 + POINTS)
			break;
	}
	CHECK(tries < 20, "never the same");
	CHECK(rate.gpu > 10, "%u", rate.gpu);
	share_finish();
}

static void processes(void)
{
	static nvmlVgpuProcessUtilizationSample_t sample[SAMPLES];
	struct vgpu_ctl_instance inst;
	unsigned int count, i, pids[8];
	nvmlAccountingStats_t stats;
	nvmlProcessInfo_t info[4];

	begin();
	share_keep_busy(1500);
	count = 4;
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, info));
	CHECK_EQ(count, 1);
	fx_instance(&share.vgpu[0], &inst);
	CHECK_EQ(info[0].pid, getpid());
	CHECK_EQ(info[0].usedGpuMemory, inst.fb_backed_bytes);
	count = 4;
	OK(nvmlDeviceGetComputeRunningProcesses_v3(dev, &count, info));
	CHECK_EQ(count, 1);
	count = SAMPLES;
	OK(nvmlDeviceGetVgpuProcessUtilization(dev, 0, &count, sample));
	for (i = 0; i < count; i++) {
		CHECK_EQ(sample[i].pid, getpid());
		CHECK(!strncmp(sample[i].processName, "nvml_load_test", 14), "%s",
		      sample[i].processName);
	}
	for (i = 0; i < NR; i++) {
		count = 8;
		OK(nvmlVgpuInstanceGetAccountingPids(id[i], &count, pids));
		CHECK_EQ(count, 1);
		CHECK_EQ(pids[0], getpid());
		OK(nvmlVgpuInstanceGetAccountingStats(id[i], pids[0], &stats));
		CHECK(stats.isRunning && !stats.time, "has ended");
		CHECK(stats.gpuUtilization > 0 && stats.gpuUtilization <= 60, "%u",
		      stats.gpuUtilization);
		CHECK(stats.maxMemoryUsage >= inst.fb_backed_bytes / 2, "%llu",
		      stats.maxMemoryUsage);
	}
	share_finish();
	for (i = 0; i < NR; i++) {
		load_exit(&share.load[i]);
		fx_close(&share.vgpu[i]);
		OK(nvmlVgpuInstanceGetAccountingStats(id[i], getpid(), &stats));
		CHECK(!stats.isRunning && stats.time, "has not ended");
	}
}

static void log_of_runs(void)
{
	static nvmlVgpuSchedulerLogInfo_v2_t log;
	unsigned int i, of[NR] = { 0 };

	begin();
	share_keep_busy(500);
	OK(nvmlDeviceGetVgpuSchedulerLog_v2(dev, &log));
	CHECK(log.entriesCount > 20, "%u runs", log.entriesCount);
	for (i = 0; i < log.entriesCount; i++) {
		const nvmlVgpuSchedulerLogEntry_v2_t *e = &log.logEntries[i];

		if (e->swRunlistId != id[0] && e->swRunlistId != id[1])
			continue;
		of[e->swRunlistId == id[1]]++;
		CHECK(e->timeRunTotal >= e->timeRun, "entry %u", i);
		CHECK_EQ(e->weight, 10);
	}
	CHECK(of[0] && of[1], "%u and %u runs", of[0], of[1]);
	share_finish();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(utilization),
	KTAP_TEST(rates),
	KTAP_TEST(processes),
	KTAP_TEST(log_of_runs),
};

KTAP_MAIN(tests, cleanup)
