// SPDX-License-Identifier: GPL-2.0
/*
 * The rows guest_clients and guest_time: more processes than the device has channels, each of which
 * always has work. In windows, between which all are idle, and the host reads its account.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "clk.h"
#include "node.h"
#include "rows.h"
#include "stats.h"

#define CLIENTS		64
#define ENGINE_CE	1
#define JOB_BYTES	(4 * PAGE)
#define WINDOW_MS	3000
#define NAP_US		2000

/**
 * struct crowd - what all processes share
 * @window: number of the window that goes on, or 0
 * @ready:  clients that are idle
 * @done:   jobs that each client has seen to be done, with what they were to write, in the window
 */
struct crowd {
	uint32_t window;
	uint32_t ready;
	uint32_t done[CLIENTS];
};

/**
 * struct client - one of the processes
 * @fd:    of the node
 * @queue: id
 * @sync:  of each of two jobs that are under way
 * @buf:   what these jobs fill
 * @seed:  of what they write
 */
struct client {
	int fd;
	uint32_t queue;
	uint32_t sync[2];
	struct buf buf;
	uint32_t seed;
};

static void client_begin(struct client *c, uint32_t nr)
{
	uint32_t vm;

	memset(c, 0, sizeof(*c));
	c->seed = nr << 24;
	c->fd = node_open();
	CHECK(c->fd >= 0);
	CHECK_RET(vm_make(c->fd, &vm), 0);
	CHECK_RET(buf_make(c->fd, 2 * JOB_BYTES, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &c->buf), 0);
	CHECK_RET(bind_map(c->fd, vm, c->buf.handle, 0, VA_DATA, 2 * JOB_BYTES,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(queue_make(c->fd, vm, ENGINE_CE, 4, &c->queue), 0);
	CHECK(!sync_make(c->fd, &c->sync[0]) && !sync_make(c->fd, &c->sync[1]));
}

static void client_submit(struct client *c, uint32_t job)
{
	const struct vgpu_hw_packet packet =
		packet_fill(VA_DATA + (job & 1) * JOB_BYTES, JOB_BYTES, c->seed + job);

	CHECK_RET(exec(c->fd, c->queue, &packet, 1, 0, c->sync[job & 1]), 0);
}

/* Waits for the job, and looks at all that it has written. */
static void client_wait(struct client *c, uint32_t job)
{
	const uint32_t *word = (uint32_t *)c->buf.ptr + (job & 1) * JOB_BYTES / 4;
	uint64_t sum = 0;
	uint32_t i;

	CHECK_RET(sync_wait(c->fd, c->sync[job & 1], WAIT_MS), 0);
	for (i = 0; i < JOB_BYTES / 4; i++)
		sum += word[i];
	CHECK(sum == (uint64_t)(c->seed + job) * (JOB_BYTES / 4));
}

/* Two jobs are under way at any time, so that the queue is never idle for want of the CPU. */
static void client_window(struct client *c, struct crowd *crowd, uint32_t nr, uint32_t window)
{
	uint32_t job = 0;

	client_submit(c, 1);
	do {
		job++;
		client_submit(c, job + 1);
		client_wait(c, job);
		crowd->done[nr]++;
	} while (__atomic_load_n(&crowd->window, __ATOMIC_ACQUIRE) == window);
	client_wait(c, job + 1);
}

static void client_main(struct crowd *crowd, uint32_t nr)
{
	struct client client;
	uint32_t window = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	client_begin(&client, nr);
	for (;;) {
		__atomic_add_fetch(&crowd->ready, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&crowd->window, __ATOMIC_ACQUIRE) == window ||
		       !__atomic_load_n(&crowd->window, __ATOMIC_ACQUIRE))
			usleep(NAP_US);
		window = __atomic_load_n(&crowd->window, __ATOMIC_ACQUIRE);
		client_window(&client, crowd, nr, window);
	}
}

static void wait_ready(struct crowd *crowd)
{
	uint64_t end = clk_ns() + WAIT_MS * 1000000ull;

	while (__atomic_load_n(&crowd->ready, __ATOMIC_ACQUIRE) != CLIENTS) {
		if (clk_ns() > end || waitpid(-1, NULL, WNOHANG))
			bench_die("a client has ended, or is not ready");
		usleep(NAP_US);
	}
}

/* Returns the mean of what clients have done by the least. The host looks at its account then. */
static double one_window(struct crowd *crowd, uint32_t window, uint32_t *least, uint64_t *all)
{
	char line[64];
	uint32_t i;

	wait_ready(crowd);
	crowd->ready = 0;
	memset(crowd->done, 0, sizeof(crowd->done));
	__atomic_store_n(&crowd->window, window, __ATOMIC_RELEASE);
	clk_sleep_ms(WINDOW_MS);
	__atomic_store_n(&crowd->window, 0, __ATOMIC_RELEASE);
	wait_ready(crowd);
	*least = UINT32_MAX;
	*all = 0;
	for (i = 0; i < CLIENTS; i++) {
		*all += crowd->done[i];
		if (crowd->done[i] < *least)
			*least = crowd->done[i];
	}
	snprintf(line, sizeof(line), "clients idle %u", window);
	host_answers(line);
	return *least ? (double)*all / CLIENTS / *least : 1e6;
}

void row_clients(void)
{
	static double ratios[MAX_PAIRS], means[MAX_PAIRS], leasts[MAX_PAIRS];
	struct crowd *crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct drm_vgpu_dev_info info;
	double worst = 0, median;
	uint32_t i, least;
	uint64_t all;
	int fd = node_open();

	CHECK(crowd != MAP_FAILED && fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	close(fd);
	for (i = 0; i < CLIENTS; i++)
		if (!fork())
			client_main(crowd, i);
	one_window(crowd, 1, &least, &all);
	for (i = 0; i < bench_pairs; i++) {
		ratios[i] = one_window(crowd, i + 2, &least, &all);
		worst = ratios[i] > worst ? ratios[i] : worst;
		means[i] = (double)WINDOW_MS * CLIENTS / (double)all;
		leasts[i] = least ? (double)WINDOW_MS / least : WINDOW_MS;
	}
	median = stats_quantile(ratios, bench_pairs, 0.5);
	printf("{\"name\": \"guest_clients\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, \"unit\": \"ms\", \"higher\": false, \"reach\": 2, \"detail\": \"in a VM, %u processes with a queue each on one engine, of %u channels, for %u windows of %u ms: time per job of the one with the fewest jobs, against the mean of all; medians; in the worst window %.3f times; a job is counted when the sum of the %llu bytes that it was to write is right\"}\n",
	       stats_quantile(leasts, bench_pairs, 0.5), stats_quantile(means, bench_pairs, 0.5),
	       median, CLIENTS, info.channels, bench_pairs, WINDOW_MS, worst,
	       (unsigned long long)JOB_BYTES);
	fflush(stdout);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
}
