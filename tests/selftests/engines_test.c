// SPDX-License-Identifier: GPL-2.0
/* Each engine of a GPU, however many it has: what is told of it in every way that there is. */
#include <errno.h>
#include <stddef.h>
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
	/* A GPU that executes nothing has more engines than any other. */
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

/* The newest session of all is the vGPU's. */
static void check_session(const struct vgpu_ctl_instance *inst)
{
	struct vgpu_ctl_session session;
	struct vgpu_ctl_sessions ctl = {};
	uint32_t e;

	CHECK_EQ(node_sessions(fx_control(), gpu.gpu, &ctl, &session, 1), 0);
	ctl.first_id = ctl.last_id;
	CHECK_EQ(node_sessions(fx_control(), gpu.gpu, &ctl, &session, 1), 0);
	CHECK_EQ(ctl.engines, gpu.engines);
	CHECK_EQ(ctl.count, 1);
	CHECK(!memcmp(session.uuid, v.id, sizeof(v.id)), "another session");
	for (e = 0; e < gpu.engines; e++)
		CHECK_EQ(session.engine[e].busy_ns, inst->engine[e].busy_ns, "engine %u", e);
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
		{ "stats --json", "\"name\": " }, { "sessions %s --json", "\"name\": " },
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

/* The argument of a call whose structure ends in engine[]. */
static union {
	uint32_t words[2048];
	uint8_t bytes[8192];
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_instance instance;
	struct vgpu_ctl_stats stats;
} arg;

/* Calls whose structures end in engine[]. */
static const struct by_engine {
	const char *name;
	unsigned long request;
	uint32_t size;
	uint32_t at;		/* of engine[] */
	uint32_t each;		/* bytes of an element */
	uint32_t engines;	/* where the number of engines is */
	uint32_t reserved;	/* where the members are that nobody knows, up to engine[] */
	uint32_t unknown;	/* where they are in an element, up to its end */
} by_engine[] = {
#define BY_ENGINE(request, type)						\
	{ #request, VGPU_IOC_##request, sizeof(struct type),			\
	  offsetof(struct type, engine), sizeof(((struct type *)0)->engine[0]),	\
	  offsetof(struct type, engines), offsetof(struct type, reserved),	\
	  offsetof(struct type, engine[0].reserved) - offsetof(struct type, engine) }
	BY_ENGINE(GPU, vgpu_ctl_gpu),
	BY_ENGINE(INSTANCE, vgpu_ctl_instance),
	BY_ENGINE(STATS, vgpu_ctl_stats),
};

static int call_with(const struct by_engine *c)
{
	return ioctl(fx_control(), c->request, &arg) ? -errno : 0;
}

static void prepare(const struct by_engine *c, uint32_t size)
{
	memset(&arg, 0, sizeof(arg));
	arg.words[0] = size;
	if (c->request == VGPU_IOC_INSTANCE)
		memcpy(arg.instance.uuid, v.id, sizeof(v.id));
	else
		arg.gpu.gpu = fx_gpu_id();
	if (c->request == VGPU_IOC_STATS)
		arg.stats.entry_size = sizeof(struct vgpu_ctl_instance);
}

/* Makes the call with a structure of @size bytes, and junk behind what it is asked with. */
static uint32_t fill_engines(const struct by_engine *c, uint32_t size)
{
	uint32_t engines;

	prepare(c, size);
	memset(arg.bytes + c->reserved, 0xee, c->at - c->reserved);
	memset(arg.bytes + c->at, 0xee, c->size - c->at + 64);
	CHECK_EQ(call_with(c), 0, "%s of %u", c->name, size);
	CHECK_EQ(arg.words[0], size, "%s", c->name);
	engines = arg.words[c->engines / 4];
	CHECK(engines && engines <= VGPU_MAX_ENGINES, "%u engines", engines);
	return engines;
}

/* Whatever room there is for engines, those that there are get filled, and nothing else. */
static void room_for_engines(void)
{
	static uint8_t whole[sizeof(arg)];
	uint32_t size, engines, filled, k;
	unsigned int i, e;

	fx_create(&v, fx_default_type());
	for (i = 0; i < sizeof(by_engine) / sizeof(by_engine[0]); i++) {
		const struct by_engine *c = &by_engine[i];

		engines = fill_engines(c, c->size);
		CHECK(fx_is_zero(arg.bytes + c->reserved, c->at - c->reserved), "reserved");
		for (e = 0; e < engines; e++)
			CHECK(fx_is_zero(arg.bytes + c->at + e * c->each + c->unknown,
					 c->each - c->unknown), "%s, engine %u", c->name, e);
		memcpy(whole, arg.bytes, sizeof(whole));
		for (size = c->at; size <= c->size; size += size % 12 ? 4 : 20) {
			CHECK_EQ(fill_engines(c, size), engines);
			filled = c->at + engines * c->each;
			if (size < filled)
				filled = size;
			for (k = filled; k < c->size + 64; k++)
				CHECK_EQ(arg.bytes[k], 0xee, "%s of %u, byte %u", c->name, size,
					 k);
			/* The name of an engine, for one; no time at which it was read. */
			if (c->request == VGPU_IOC_GPU && filled > c->at + c->each)
				CHECK(!memcmp(arg.gpu.engine[0].name,
					      ((struct vgpu_ctl_gpu *)whole)->engine[0].name, 16),
				      "name");
		}
		prepare(c, c->at - 1);
		CHECK_EQ(call_with(c), -EINVAL, "%s", c->name);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(room_for_engines),
	KTAP_TEST(counters),
	KTAP_TEST(log_and_histograms),
	KTAP_TEST(tools),
	KTAP_TEST(nvml),
};

KTAP_MAIN(tests, fx_cleanup)
