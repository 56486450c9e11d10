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
#define PAIRS		15	/* samples of a vGPU, at least, that are compared */

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

/*
 * What clients are told is what the driver has sampled, sample by sample: the vGPU's @nr-th of both
 * must be of the same load. Returns the mean over all of them in per cent.
 */
static double compare(const nvmlVgpuInstanceUtilizationSample_t *told, unsigned int nr_told,
		      const struct vgpu_ctl_sample *done, unsigned int nr_done, unsigned int nr)
{
	uint64_t busy_ns = 0, period_ns = 0;
	unsigned int i, k = 0, pairs = 0;

	for (i = 0; i < nr_told; i++) {
		double percent;

		if (told[i].vgpuInstance != id[nr])
			continue;
		while (k < nr_done && memcmp(done[k].uuid, share.vgpu[nr].id, VGPU_UUID_LEN))
			k++;
		CHECK(k < nr_done, "sample %u is not the driver's", i);
		percent = 100.0 * done[k].engine[0].busy_ns / done[k].period_ns;
		CHECK(told[i].smUtil.uiVal <= percent + 0.6 &&
		      (told[i].smUtil.uiVal >= percent - 0.6 || percent > 100),
		      "vGPU %u: %u %%, and %.2f %%", nr, told[i].smUtil.uiVal, percent);
		busy_ns += done[k].engine[0].busy_ns;
		period_ns += done[k++].period_ns;
		pairs++;
	}
	CHECK(pairs >= PAIRS, "%u samples", pairs);
	return 100.0 * busy_ns / period_ns;
}

/* Each vGPU has been sampled often enough, however long this machine stands still. */
static bool are_pairs(void)
{
	static struct vgpu_ctl_sample done[SAMPLES];
	unsigned int i, k, nr[NR] = { 0 };
	struct vgpu_ctl_samples ctl = { 0 };

	CHECK_EQ(node_samples(fx_control(), fx_gpu_id(), &ctl, done, SAMPLES), 0);
	for (i = 0; i < ctl.count; i++)
		for (k = 0; k < NR; k++)
			nr[k] += !memcmp(done[i].uuid, share.vgpu[k].id, VGPU_UUID_LEN);
	return nr[0] >= PAIRS && nr[1] >= PAIRS;
}

static void utilization(void)
{
	static nvmlVgpuInstanceUtilizationSample_t told[SAMPLES];
	static struct vgpu_ctl_sample done[SAMPLES];
	struct vgpu_ctl_samples ctl = { 0 };
	struct vgpu_ctl_instance inst;
	unsigned int count = SAMPLES, i;
	nvmlValueType_t type;
	uint64_t end_ms;

	begin();
	end_ms = clk_ms() + FX_TIMEOUT_MS;
	for (share_keep_busy(4000); !are_pairs(); share_keep_busy(500))
		CHECK(clk_ms() < end_ms, "too few samples");
	OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, told));
	CHECK_EQ(node_samples(fx_control(), fx_gpu_id(), &ctl, done, SAMPLES), 0);
	CHECK(!ctl.more, "more than %u samples", SAMPLES);
	for (i = 0; i < NR; i++) {
		double percent = compare(told, count, done, ctl.count, i);

		fx_instance(&share.vgpu[i], &inst);
		ktap_note("vGPU %u: %.1f %% of the time sampled, %.1f %% of all since it was opened",
			  i, percent, 100.0 * inst.engine[0].busy_ns /
			  (inst.now_ns - inst.started_ns));
		CHECK(percent > 1, "vGPU %u has done nothing", i);
	}
	share_finish();
}

/* Mean of a vGPU's samples of the last second. */
static double last_second(const nvmlVgpuInstanceUtilizationSample_t *sample, unsigned int nr,
			  nvmlVgpuInstance_t vgpu)
{
	unsigned long long since_us = sample[nr - 1].timeStamp - 1000000;
	unsigned int i, sum = 0, found = 0;

	for (i = 0; i < nr; i++)
		if (sample[i].vgpuInstance == vgpu && sample[i].timeStamp > since_us) {
			sum += sample[i].smUtil.uiVal;
			found++;
		}
	return found ? (double)sum / found : 0;
}

/*
 * The GPU's rate is that of the last second: of the vGPUs' last samples together. Where this
 * machine stands still for some of it the samples are not equally long, and the engine may have had
 * no work.
 */
static void rates(void)
{
	static nvmlVgpuInstanceUtilizationSample_t sample[SAMPLES];
	unsigned int count, i;
	uint64_t end_ms;
	double sum;
	nvmlUtilization_t rate;
	nvmlValueType_t type;

	begin();
	share_keep_busy(1000);
	end_ms = clk_ms() + FX_TIMEOUT_MS;
	do {
		CHECK(clk_ms() < end_ms, "never the same");
		share_keep_busy(200);
		OK(nvmlDeviceGetUtilizationRates(dev, &rate));
		count = SAMPLES;
		OK(nvmlDeviceGetVgpuUtilization(dev, 0, &type, &count, sample));
		for (i = 0, sum = 0; i < NR; i++)
			sum += last_second(sample, count, id[i]);
		ktap_note("the GPU %u %%, its vGPUs %.1f %%", rate.gpu, sum);
	} while (rate.gpu <= 10 || rate.gpu + POINTS < sum || rate.gpu > sum + POINTS);
	share_finish();
}

/*
 * What is told of a vGPU's session is what the driver's counters say: at least what they had
 * counted before, and no more than after.
 */
static void check_session(unsigned int nr)
{
	struct vgpu_ctl_instance before, after;
	unsigned int engine = share.load[nr].chan->engine;
	nvmlAccountingStats_t stats;
	double least, most;

	fx_instance(&share.vgpu[nr], &before);
	OK(nvmlVgpuInstanceGetAccountingStats(id[nr], getpid(), &stats));
	fx_instance(&share.vgpu[nr], &after);
	CHECK(stats.isRunning && !stats.time, "has ended");
	least = 100.0 * before.engine[engine].busy_ns / (after.now_ns - before.started_ns);
	most = 100.0 * after.engine[engine].busy_ns / (before.now_ns - before.started_ns);
	CHECK(stats.gpuUtilization > 0 && stats.gpuUtilization >= least - 1 &&
	      stats.gpuUtilization <= most + 1, "vGPU %u: %u %%, and %.2f to %.2f %%", nr,
	      stats.gpuUtilization, least, most);
	CHECK(stats.maxMemoryUsage >= before.max_fb_bytes &&
	      stats.maxMemoryUsage <= after.max_fb_bytes, "%llu", stats.maxMemoryUsage);
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
		check_session(i);
	}
	share_finish();
	for (i = 0; i < NR; i++) {
		load_exit(&share.load[i]);
		fx_close(&share.vgpu[i]);
		OK(nvmlVgpuInstanceGetAccountingStats(id[i], getpid(), &stats));
		CHECK(!stats.isRunning && stats.time, "has not ended");
	}
}

/**
 * struct look - what the library told of the processes in guests, and the driver's counters
 * @before: of each vGPU, before the library was asked
 * @after:  and after
 * @sample: the only process of each vGPU
 */
struct look {
	struct vgpu_ctl_instance before[NR];
	struct vgpu_ctl_instance after[NR];
	nvmlVgpuProcessUtilizationSample_t sample[NR];
};

static void look_at_guests(struct look *look, unsigned long long since_us)
{
	nvmlVgpuProcessUtilizationSample_t sample[NR];
	unsigned int count = NR, i, k;

	for (i = 0; i < NR; i++)
		fx_instance(&share.vgpu[i], &look->before[i]);
	OK(nvmlDeviceGetVgpuProcessUtilization(dev, since_us, &count, sample));
	for (i = 0; i < NR; i++)
		fx_instance(&share.vgpu[i], &look->after[i]);
	CHECK_EQ(count, NR);
	for (i = 0; i < NR; i++) {
		k = sample[i].vgpuInstance == id[1];
		CHECK(k || sample[i].vgpuInstance == id[0], "of another vGPU");
		look->sample[k] = sample[i];
		CHECK_EQ(sample[i].pid, getpid());
		CHECK(!strcmp(sample[i].processName, "nvml_load_test"), "%s",
		      sample[i].processName);
	}
}

/* Per cent of the time between the two looks that the driver's counters have at least. */
static double least_between(const struct look *a, const struct look *b, unsigned int i)
{
	unsigned int engine = share.load[i].chan->engine;

	return 100.0 * (b->before[i].engine[engine].busy_ns - a->after[i].engine[engine].busy_ns) /
	       (b->after[i].now_ns - a->before[i].now_ns);
}

/* What is told of a process in a guest is the vGPU's load between two looks: it is all of it. */
static void guests(void)
{
	uint64_t end_ms;
	char version[80];
	struct look a, b;
	unsigned int i;

	begin();
	share_keep_busy(1000);
	look_at_guests(&b, 0);
	end_ms = clk_ms() + FX_TIMEOUT_MS;
	/* Where this machine stands still for most of it next to nothing is done. */
	do {
		CHECK(clk_ms() < end_ms, "the vGPUs do hardly anything");
		a = b;
		share_keep_busy(2000);
		look_at_guests(&b, a.sample[0].timeStamp);
	} while (least_between(&a, &b, 0) < 1 + POINTS || least_between(&a, &b, 1) < 1 + POINTS);
	for (i = 0; i < NR; i++) {
		unsigned int engine = share.load[i].chan->engine;
		double least = least_between(&a, &b, i);
		double most = 100.0 * (b.after[i].engine[engine].busy_ns -
				       a.before[i].engine[engine].busy_ns) /
			      (b.before[i].now_ns - a.after[i].now_ns);

		CHECK(b.sample[i].smUtil > 0 && b.sample[i].smUtil >= least - POINTS &&
		      b.sample[i].smUtil <= most + POINTS, "vGPU %u: %u %%, and %.2f to %.2f %%",
		      i, b.sample[i].smUtil, least, most);
		CHECK(!b.sample[i].memUtil, "%u", b.sample[i].memUtil);
		OK(nvmlVgpuInstanceGetVmDriverVersion(id[i], version, sizeof(version)));
		CHECK(!strcmp(version, "0.1.0"), "%s", version);
	}
	share_finish();
}

/* Checks the log's entries, of which @of is to tell whose they are; returns how many there are. */
static unsigned int read_log(unsigned int of[NR])
{
	static nvmlVgpuSchedulerLogInfo_v2_t log;
	unsigned int i;

	of[0] = 0;
	of[1] = 0;
	OK(nvmlDeviceGetVgpuSchedulerLog_v2(dev, &log));
	for (i = 0; i < log.entriesCount; i++) {
		const nvmlVgpuSchedulerLogEntry_v2_t *e = &log.logEntries[i];

		if (e->swRunlistId != id[0] && e->swRunlistId != id[1])
			continue;
		of[e->swRunlistId == id[1]]++;
		CHECK(e->timeRunTotal >= e->timeRun, "entry %u", i);
		CHECK_EQ(e->weight, 10);
	}
	return log.entriesCount;
}

static void log_of_runs(void)
{
	unsigned int nr = 0, of[NR] = { 0 };
	uint64_t end_ms;

	begin();
	end_ms = clk_ms() + FX_TIMEOUT_MS;
	do {
		CHECK(clk_ms() < end_ms, "%u and %u runs of %u", of[0], of[1], nr);
		share_keep_busy(500);
		nr = read_log(of);
	} while (nr <= 20 || !of[0] || !of[1]);
	share_finish();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(utilization),
	KTAP_TEST(rates),
	KTAP_TEST(processes),
	KTAP_TEST(guests),
	KTAP_TEST(log_of_runs),
};

KTAP_MAIN(tests, cleanup)
