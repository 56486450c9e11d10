// SPDX-License-Identifier: GPL-2.0
/* Each engine of a GPU, however many it has: what is told of it in every way that there is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nvml.h>

#include "fixture.h"

#define CTL		"build/tools/vgpuctl/vgpuctl"
#define ROOM		1024
#define NVML_OK(call)	CHECK_EQ(call, NVML_SUCCESS, "%s", #call)

static struct fx_vgpu v;
static struct vgpu_ctl_gpu gpu;

/* Opens a vGPU. Engine e completes e + 1 packets, and perhaps one more each for a fence. */
static void work(void)
{
	struct vgpu_chan *chan;
	uint32_t e, k;

	fx_ctl_gpu(&gpu);
	/* Of a GPU that executes nothing it does not matter which engines it has, so it has many. */
	CHECK(gpu.engines > 8 || fx_executes(), "%u engines", gpu.engines);
	fx_create_open(&v, fx_default_type());
	CHECK_EQ(v.dev->engines, gpu.engines);
	for (e = 0; e < gpu.engines; e++) {
		chan = fx_chan(&v, gpu.engine[e].engine_class, gpu.engine[e].instance,
			       VGPU_RING_FB, 6);
		CHECK_EQ(chan->engine, e);
		for (k = 0; k <= e; k++)
			FX_OK(v.dev, vgpu_chan_nop(chan));
		fx_finish(chan);
		vgpu_chan_destroy(chan);
	}
}

static void check_session(const struct vgpu_ctl_instance *inst)
{
	struct vgpu_ctl_session sessions[ROOM / 4];
	struct vgpu_ctl_sessions ctl = {};
	uint32_t e;

	CHECK_EQ(node_sessions(fx_control(), gpu.gpu, &ctl, sessions, ROOM / 4), 0);
	CHECK_EQ(ctl.engines, gpu.engines);
	CHECK(ctl.count, "no session");
	CHECK(!memcmp(sessions[ctl.count - 1].uuid, v.id, sizeof(v.id)), "another session");
	for (e = 0; e < gpu.engines; e++)
		CHECK_EQ(sessions[ctl.count - 1].engine[e].busy_ns, inst->engine[e].busy_ns,
			 "engine %u", e);
}

/* Whether the samples have all that a vGPU did. */
static bool sampled(const struct vgpu_ctl_instance *inst)
{
	static struct vgpu_ctl_sample samples[ROOM];
	struct vgpu_ctl_samples ctl = {};
	uint64_t busy_ns[VGPU_MAX_ENGINES] = {};
	uint32_t i, e;

	CHECK_EQ(node_samples(fx_control(), gpu.gpu, &ctl, samples, ROOM), 0);
	CHECK_EQ(ctl.engines, gpu.engines);
	for (i = 0; i < ctl.count; i++)
		for (e = 0; e < gpu.engines; e++)
			if (!memcmp(samples[i].uuid, v.id, sizeof(v.id)))
				busy_ns[e] += samples[i].engine[e].busy_ns;
	for (e = 0; e < gpu.engines && busy_ns[e] == inst->engine[e].busy_ns; e++)
		;
	return e == gpu.engines;
}

static void counters(void)
{
	static struct vgpu_ctl_instance entries[32];
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_stats stats;
	uint32_t e;

	work();
	fx_close(&v);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.engines, gpu.engines);
	CHECK_EQ(node_stats(fx_control(), gpu.gpu, &stats, entries, 32), 0);
	CHECK_EQ(stats.count, 1);
	CHECK_EQ(stats.engines, gpu.engines);
	for (e = 0; e < gpu.engines; e++) {
		CHECK(inst.engine[e].packets == e + 1 || inst.engine[e].packets == e + 2,
		      "%llu packets of engine %u", inst.engine[e].packets, e);
		CHECK(inst.engine[e].busy_ns && inst.engine[e].runs, "engine %u did nothing", e);
		CHECK_EQ(entries[0].engine[e].packets, inst.engine[e].packets);
		CHECK_EQ(entries[0].engine[e].busy_ns, inst.engine[e].busy_ns);
		CHECK_EQ(stats.engine[e].busy_ns,
			 stats.engine[e].gone_ns + inst.engine[e].busy_ns);
	}
	check_session(&inst);
	FX_SOON(sampled(&inst), "samples");
}

static void log_and_histograms(void)
{
	struct vgpu_ctl_hist hist = { .size = sizeof(hist) };
	struct vgpu_ctl_switch runs[VGPU_SCHED_LOG];
	struct vgpu_ctl_instance inst;
	uint64_t total, waits;
	uint32_t e, k, count;

	work();
	fx_close(&v);
	fx_instance(&v, &inst);
	memcpy(hist.uuid, v.id, sizeof(v.id));
	for (e = 0; e < gpu.engines; e++) {
		count = VGPU_SCHED_LOG;
		CHECK_EQ(node_sched_log(fx_control(), gpu.gpu, e, runs, &count, &total), 0);
		CHECK(count && !memcmp(runs[count - 1].uuid, v.id, sizeof(v.id)), "engine %u", e);
		hist.engine = e;
		CHECK(!ioctl(fx_control(), VGPU_IOC_HIST, &hist), "%s", strerror(errno));
		for (k = 0, waits = 0; k < VGPU_HIST_BUCKETS; k++)
			waits += hist.wait[k];
		CHECK_EQ(waits, inst.engine[e].runs);
	}
	hist.engine = gpu.engines;
	CHECK(ioctl(fx_control(), VGPU_IOC_HIST, &hist) && errno == ENOENT, "one engine more");
	CHECK_EQ(node_sched_log(fx_control(), gpu.gpu, gpu.engines, runs, &count, &total), -ENOENT);
}

/* What a command prints, until the next one is run. */
static const char *output_of(const char *command)
{
	static char output[1 << 20];
	size_t bytes;
	FILE *pipe;

	pipe = popen(command, "re");
	CHECK(pipe, "%s", command);
	bytes = fread(output, 1, sizeof(output) - 1, pipe);
	CHECK_EQ(pclose(pipe), 0, "%s", command);
	output[bytes] = 0;
	return output;
}

/* Each command of vgpuctl, and the metrics, tell of each engine by its name. */
static void tools(void)
{
	static const struct {
		const char *command;
		const char *before;	/* the name, which stands in quotes */
	} tells[] = {
		{ "gpus --json", "\"name\": " }, { "caps --json", "\"name\": " },
		{ "stats --json", "\"name\": " }, { "sessions --json", "\"name\": " },
		{ "sched show --json", "\"name\": " }, { "process --json", "\"name\": " },
		{ "hist %s --json", "\"name\": " }, { "show %s --json", "\"name\": " },
		{ "metrics | grep ^vgpu_engine_runs_total{", "engine=" },
		{ "metrics | grep ^vgpu_vgpu_engine_linger_seconds_total{", "engine=" },
	};
	char command[256], text[64];
	const char *output;
	unsigned int i, e;

	CHECK(!access(CTL, X_OK), "there is no " CTL);
	work();
	for (i = 0; i < sizeof(tells) / sizeof(tells[0]); i++) {
		strcpy(command, CTL " ");
		snprintf(command + strlen(command), sizeof(command) - strlen(command),
			 tells[i].command, v.uuid);
		output = output_of(command);
		for (e = 0; e < gpu.engines; e++) {
			snprintf(text, sizeof(text), "%s\"%s\"", tells[i].before,
				 (char *)gpu.engine[e].name);
			CHECK(strstr(output, text), "%s: no %s", command, text);
		}
	}
	/* A table for people has a column for each. */
	output = output_of(CTL " sched show | tr A-Z a-z");
	for (e = 0; e < gpu.engines; e++) {
		snprintf(text, sizeof(text), "%.15s %%", (char *)gpu.engine[e].name);
		CHECK(strstr(output, text), "sched show: no %s", text);
	}
	output_of(CTL " top --once");
	fx_close(&v);
}

/* NVML adds engines of a class up. */
static void nvml(void)
{
	nvmlAccountingStats_t stats;
	nvmlUtilization_t rates;
	nvmlDevice_t dev;

	work();
	NVML_OK(nvmlInit_v2());
	NVML_OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	NVML_OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	CHECK(rates.gpu <= 100 && rates.memory <= 100, "%u %u", rates.gpu, rates.memory);
	NVML_OK(nvmlDeviceGetAccountingStats(dev, (unsigned int)getpid(), &stats));
	CHECK(stats.isRunning && stats.gpuUtilization <= 100 && stats.memoryUtilization <= 100,
	      "%u %u", stats.gpuUtilization, stats.memoryUtilization);
	NVML_OK(nvmlShutdown());
	fx_close(&v);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(counters),
	KTAP_TEST(log_and_histograms),
	KTAP_TEST(tools),
	KTAP_TEST(nvml),
};

KTAP_MAIN(tests, fx_cleanup)
