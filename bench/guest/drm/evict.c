// SPDX-License-Identifier: GPL-2.0
/*
 * The row guest_evict: clients whose buffers together are larger than the framebuffer work in turn.
 * Each finds its buffer evicted, so that it comes back, and another one goes. Against memcpy() of
 * as much; the host measures what that takes there, where the engines are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "node.h"
#include "rows.h"

#define ENGINE_GR	0
#define BYTES		(32 * MIB)
#define MORE		4	/* buffers for which there is no room */
#define CLIENTS_MAX	128

/**
 * struct evicts - all clients
 * @fd:    of the node
 * @nr:    of clients
 * @next:  the one whose turn is next
 * @queue: of each client, id
 * @probe: a page to which each client copies the last page of its buffer
 */
struct evicts {
	int fd;
	uint32_t nr;
	uint32_t next;
	uint32_t queue[CLIENTS_MAX];
	struct buf probe;
};

static void take_turn(struct evicts *e, bool first)
{
	struct vgpu_hw_packet packet[2];
	uint32_t i = e->next, nr = 0, k;
	const uint32_t *word = e->probe.ptr;

	e->next = (i + 1) % e->nr;
	if (first)
		packet[nr++] = packet_fill(VA_DATA, BYTES, 1000 + i);
	packet[nr++] = packet_copy(VA_MORE, VA_DATA + BYTES - PAGE, PAGE);
	CHECK_RET(exec_wait(e->fd, e->queue[i], packet, nr), 0);
	for (k = 0; k < PAGE / 4; k++)
		CHECK(word[k] == 1000 + i);
}

static double timed_turn(struct evicts *e)
{
	double start = bench_now_ns();

	take_turn(e, false);
	return bench_now_ns() - start;
}

/* There and back, as much as a turn moves. */
static double timed_memcpy(uint8_t *memory)
{
	double start = bench_now_ns();

	memcpy(memory + BYTES, memory, BYTES);
	memcpy(memory, memory + BYTES, BYTES);
	return bench_now_ns() - start;
}

/* Of each client an address space with its buffer, and with the page that all copy to. */
static void add_client(struct evicts *e)
{
	uint32_t vm, handle;
	int ret;

	CHECK_RET(vm_make(e->fd, &vm), 0);
	ret = bo_make(e->fd, BYTES, DRM_VGPU_PLACEMENT_FRAMEBUFFER, vm, &handle);
	if (ret == -ENOSPC)
		bench_die("guest_evict: the driver does not evict: buffer %u finds no room", e->nr);
	CHECK_RET(ret, 0);
	CHECK_RET(bind_map(e->fd, vm, handle, 0, VA_DATA, BYTES, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(bind_map(e->fd, vm, e->probe.handle, 0, VA_MORE, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(queue_make(e->fd, vm, ENGINE_GR, 4, &e->queue[e->nr++]), 0);
}

void row_evict(void)
{
	struct drm_vgpu_dev_info info;
	struct evicts evicts;
	uint32_t i, nr;
	double ours, peer;
	uint8_t *memory;
	char line[96];

	memset(&evicts, 0, sizeof(evicts));
	evicts.fd = node_open();
	CHECK(evicts.fd >= 0);
	CHECK_RET(node_info(evicts.fd, &info), 0);
	CHECK_RET(buf_make(evicts.fd, PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &evicts.probe), 0);
	nr = (uint32_t)(info.fb_bytes / BYTES) + MORE;
	if (nr > CLIENTS_MAX)
		bench_die("guest_evict: %u clients are too many", nr);
	for (i = 0; i < nr; i++)
		add_client(&evicts);
	for (i = 0; i < nr; i++)
		take_turn(&evicts, true);
	memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		bench_die("this VM has too little memory for memcpy()");
	memset(memory, 1, 2 * BYTES);
	for (i = 0; i <= bench_pairs; i++) {
		ours = i % 2 ? timed_turn(&evicts) : 0;
		peer = timed_memcpy(memory);
		ours = i % 2 ? ours : timed_turn(&evicts);
		snprintf(line, sizeof(line), "evict %u %u %llu %.0f %.0f", i, nr, BYTES, ours,
			 peer);
		host_answers(line);
	}
}
