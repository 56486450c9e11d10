// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "node.h"
#include "rng.h"
#include "score.h"
#include "soft.h"

struct score score = {
	.seed = 1, .pairs = 10,
};

uint64_t score_random_below(uint64_t limit)
{
	static struct rng rng;

	if (!rng.state)
		rng = rng_seed(score.seed);
	return rng_below(&rng, limit);
}

uint64_t score_counter(const char *name)
{
	uint64_t value;
	int ret = soft_counter(NULL, "gr", name, &value);

	if (ret)
		bench_die("%s in debugfs: %s", name, strerror(-ret));
	return value;
}

void score_progress(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "[%5.1f s] ", (double)clk_ns() / 1e9);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

void score_read_gpu(struct vgpu_ctl_gpu *gpu)
{
	int ret = node_gpu(score.control, score.gpu, gpu);

	if (ret)
		bench_die("VGPU_IOC_GPU: %s", strerror(-ret));
}

void score_set(struct vgpu_ctl_sched *sched, uint32_t valid)
{
	int ret = node_sched_set(score.control, score.gpu, sched, valid);

	if (ret)
		bench_die("VGPU_IOC_SCHED_SET: %s (%.192s)", strerror(-ret), (char *)sched->text);
}

void score_policy(const char *name)
{
	struct vgpu_ctl_sched sched = { .slice_ns = score.slice_ns };

	snprintf((char *)sched.policy, sizeof(sched.policy), "%s", name);
	score_set(&sched, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE);
}

void score_shares(const unsigned int triple[TENANTS][3])
{
	struct vgpu_ctl_share share[TENANTS] = { 0 };
	char text[VGPU_TEXT_LEN];
	unsigned int i;
	int ret;

	for (i = 0; i < TENANTS; i++) {
		memcpy(share[i].uuid, score.tenant[i].id, VGPU_UUID_LEN);
		share[i].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP | VGPU_SHARE_WEIGHT;
		share[i].guarantee = triple[i][0];
		share[i].cap = triple[i][1];
		share[i].weight = triple[i][2];
	}
	ret = node_shares_set(score.control, share, TENANTS, text);
	if (ret)
		bench_die("VGPU_IOC_SHARES_SET: %s (%.192s)", strerror(-ret), text);
}

uint32_t score_log(struct vgpu_ctl_switch *entries, uint64_t *total)
{
	uint32_t count = VGPU_SCHED_LOG;
	int ret;

	ret = node_sched_log(score.control, score.gpu, score.engine, entries, &count, total);
	if (ret)
		bench_die("VGPU_IOC_SCHED_LOG: %s", strerror(-ret));
	return count;
}

void score_find_gpu(void)
{
	struct vgpu_ctl_gpu gpu;
	uint32_t count = 1;

	score.control = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	if (score.control < 0 || node_gpus(score.control, &score.gpu, &count) || count != 1)
		bench_die("/dev/vgpu: %s, or not one GPU", strerror(errno));
	score_read_gpu(&gpu);
	score.slice_ns = 2 * MS;
	score.usual_slice_ns = gpu.slice_ns;
	for (score.engine = 0; score.engine < gpu.engines; score.engine++)
		if (gpu.engine[score.engine].engine_class == VGPU_HW_ENGINE_GR)
			return;
	bench_die("no gr");
}

bool score_parse_uuid(const char *text, struct score_tenant *t)
{
	snprintf(t->uuid, sizeof(t->uuid), "%s", text);
	return !uuid_parse(text, t->id);
}
