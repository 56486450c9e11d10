// SPDX-License-Identifier: GPL-2.0
/*
 * A hundred clients that look at all vGPUs ten times a second, half of them through NVML, while
 * vGPUs come and go fifty times a second: all get answers, and answers that are right.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <nvml.h>

#include "child.h"
#include "clk.h"
#include "fixture.h"
#include "node.h"

#define CLIENTS		100
#define POLL_MS		100
#define CHURN_MS	20
#define CHURN_LEAST	10
#define LAST_MS		4000
#define ROOM		32

#define OK(call)	CHECK_EQ(call, NVML_SUCCESS, "%s", #call)

/* What the test shares with its clients. */
struct shared {
	uint32_t stop;
	uint32_t polls[CLIENTS];
};

static struct shared *shared;
static struct fx_vgpu v[2];

static void poll_node(int fd, uint32_t gpu)
{
	static struct vgpu_ctl_instance entries[ROOM];
	static struct vgpu_ctl_sample sample[1024];
	static struct vgpu_ctl_session session[64];
	struct vgpu_ctl_sessions sessions = { 0 };
	struct vgpu_ctl_samples samples = { 0 };
	struct vgpu_ctl_stats stats;
	uint64_t busy_ns, faults;
	uint32_t i, k;

	CHECK_EQ(node_stats(fd, gpu, &stats, entries, ROOM), 0);
	CHECK(stats.count <= 2, "%u vGPUs", stats.count);
	for (k = 0, faults = stats.gone_faults; k < stats.engines; k++) {
		busy_ns = stats.engine[k].gone_ns;
		for (i = 0; i < stats.count; i++) {
			busy_ns += entries[i].engine[k].busy_ns;
			faults += entries[i].engine[k].faults;
		}
		CHECK_EQ(busy_ns, stats.engine[k].busy_ns, "engine %u", k);
	}
	CHECK_EQ(faults, stats.faults);
	CHECK_EQ(node_samples(fd, gpu, &samples, sample, 1024), 0);
	CHECK_EQ(node_sessions(fd, gpu, &sessions, session, 64), 0);
}

static void is_there_or_gone(nvmlReturn_t ret)
{
	CHECK(!ret || ret == NVML_ERROR_NOT_FOUND, "%s", nvmlErrorString(ret));
}

static void poll_nvml(nvmlDevice_t gpu)
{
	static nvmlVgpuInstanceUtilizationSample_t sample[8192];
	static unsigned long long since_us;
	nvmlVgpuInstance_t ids[ROOM];
	unsigned int count = ROOM, i, type;
	unsigned long long bytes;
	nvmlValueType_t kind;
	nvmlReturn_t ret;
	char uuid[80];

	OK(nvmlDeviceGetActiveVgpus(gpu, &count, ids));
	CHECK(count <= 2, "%u vGPUs", count);
	for (i = 0; i < count; i++) {
		is_there_or_gone(nvmlVgpuInstanceGetUUID(ids[i], uuid, sizeof(uuid)));
		is_there_or_gone(nvmlVgpuInstanceGetType(ids[i], &type));
		is_there_or_gone(nvmlVgpuInstanceGetFbUsage(ids[i], &bytes));
	}
	count = 8192;
	ret = nvmlDeviceGetVgpuUtilization(gpu, since_us, &kind, &count, sample);
	is_there_or_gone(ret);
	if (!ret && count)
		since_us = sample[count - 1].timeStamp;
}

/* @arg: which one it is, a number */
static void run_client(void *arg)
{
	unsigned int client = (unsigned int)(uintptr_t)arg;
	nvmlDevice_t gpu = NULL;

	/* So that all of them together do not keep the test itself from the processor. */
	CHECK(nice(10) >= 0, "nice");
	if (client % 2) {
		OK(nvmlInit_v2());
		OK(nvmlDeviceGetHandleByPciBusId_v2(fx_gpu(), &gpu));
	}
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		if (client % 2)
			poll_nvml(gpu);
		else
			poll_node(fx_control(), fx_gpu_id());
		__atomic_add_fetch(&shared->polls[client], 1, __ATOMIC_RELAXED);
		clk_sleep_ms(POLL_MS);
	}
	if (client % 2)
		OK(nvmlShutdown());
}

static bool all_have_polled(void)
{
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		if (!__atomic_load_n(&shared->polls[i], __ATOMIC_RELAXED))
			return false;
	return true;
}

/*
 * Two vGPUs in turns, of which some user opens each fourth. On a busy host it takes longer, also
 * until all clients have begun.
 */
static unsigned int churn(void)
{
	uint64_t start_ms = clk_ms(), next_ms, now_ms;
	unsigned int n;

	for (n = 0; n < CHURN_LEAST || clk_ms() < start_ms + LAST_MS || !all_have_polled(); n++) {
		struct fx_vgpu *one = &v[n % 2];

		CHECK(all_have_polled() || clk_ms() < start_ms + 4 * FX_TIMEOUT_MS,
		      "a client gets no answer");
		if (n > 1) {
			fx_close(one);
			fx_remove(one);
		}
		fx_create(one, fx_default_type());
		if (n % 4 == 0)
			fx_open(one);
		next_ms = start_ms + (n + 1) * CHURN_MS;
		now_ms = clk_ms();
		if (now_ms < next_ms)
			clk_sleep_ms((unsigned int)(next_ms - now_ms));
	}
	return n;
}

static void while_vgpus_come_and_go(void)
{
	unsigned int client, n, polls, least = ~0u;
	pid_t pids[CLIENTS];
	int status;

	shared = child_shared(sizeof(*shared));
	/* Found once, for all clients. */
	fx_gpu_id();
	fx_control();
	for (client = 0; client < CLIENTS; client++)
		pids[client] = child_start(run_client, (void *)(uintptr_t)client);
	n = churn();
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (client = 0, polls = 0; client < CLIENTS; client++) {
		CHECK(child_ends(pids[client], FX_TIMEOUT_MS, &status), "%u hangs", client);
		CHECK_EQ(status, 0, "client %u", client);
		polls += shared->polls[client];
		if (shared->polls[client] < least)
			least = shared->polls[client];
	}
	ktap_note("%u vGPUs, %u polls, at least %u of a client", n, polls, least);
	CHECK(least > 0, "a client got no answer");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(while_vgpus_come_and_go),
};

KTAP_MAIN(tests, fx_cleanup)
