// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "score.h"

struct score score = {
	.seed = 1, .pairs = 10,
};

void score_die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("score: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* xorshift64* (Vigna 2016) */
uint64_t score_random_below(uint64_t limit)
{
	static uint64_t state;

	if (!state)
		state = score.seed * 0x9e3779b97f4a7c15ull | 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 0x2545f4914f6cdd1dull) >> 11) % limit;
}

uint64_t score_counter(const char *name)
{
	uint64_t value;
	int ret = load_counter(name, &value);

	if (ret)
		score_die("%s in debugfs: %s", name, strerror(-ret));
	return value;
}

/* Where the run is, on the terminal: the rows come on standard output. */
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
	memset(gpu, 0, sizeof(*gpu));
	gpu->size = sizeof(*gpu);
	gpu->gpu = score.gpu;
	if (ioctl(score.control, VGPU_IOC_GPU, gpu))
		score_die("VGPU_IOC_GPU: %s", strerror(errno));
}

void score_policy(const char *name)
{
	char why[VGPU_TEXT_LEN];

	if (load_set_policy(score.control, score.gpu, name, score.slice_ns, why))
		score_die("%s: %s", name, why);
}

void score_shares(const unsigned int triple[TENANTS][3])
{
	struct vgpu_ctl_share share[TENANTS] = { 0 };
	char why[VGPU_TEXT_LEN];
	unsigned int i;

	for (i = 0; i < TENANTS; i++) {
		memcpy(share[i].uuid, score.tenant[i].id, VGPU_UUID_LEN);
		share[i].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
				 VGPU_SHARE_WEIGHT;
		share[i].guarantee = triple[i][0];
		share[i].cap = triple[i][1];
		share[i].weight = triple[i][2];
	}
	if (load_set_shares(score.control, share, TENANTS, why))
		score_die("shares: %s", why);
}

void score_find_gpu(void)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 1 };
	struct vgpu_ctl_gpu gpu;

	score.control = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	list.ids = (uintptr_t)&score.gpu;
	if (score.control < 0 || ioctl(score.control, VGPU_IOC_GPUS, &list) ||
	    list.count != 1)
		score_die("/dev/vgpu: %s, or not one GPU", strerror(errno));
	score_read_gpu(&gpu);
	score.slice_ns = 2 * MS;
	score.usual_slice_ns = gpu.slice_ns;
	for (score.engine = 0; score.engine < gpu.engines; score.engine++)
		if (gpu.engine[score.engine].engine_class == VGPU_HW_ENGINE_GR)
			return;
	score_die("no gr");
}

bool score_parse_uuid(const char *text, struct score_tenant *t)
{
	unsigned int n = 0, byte;
	int used;

	snprintf(t->uuid, sizeof(t->uuid), "%s", text);
	while (n < VGPU_UUID_LEN && sscanf(text, "%2x%n", &byte, &used) == 1) {
		t->id[n++] = (uint8_t)byte;
		text += used;
		text += *text == '-';
	}
	return n == VGPU_UUID_LEN && !*text;
}
