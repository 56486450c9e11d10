// SPDX-License-Identifier: GPL-2.0
/*
 * The row guest_evict: clients whose buffers together are larger than the framebuffer work in turn.
 * Each finds its buffer evicted, so that it comes back, and another one goes.
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
 * struct evicts - both sides
 * @fd:    of the node
 * @nr:    of clients
 * @next:  the one whose turn is next
 * @queue: of each client, id
 * @probe: a page to which each client copies the last page of its buffer
 * @src:   what memcpy() copies
 * @dst:   and to where
 */
struct evicts {
	int fd;
	uint32_t nr;
	uint32_t next;
	uint32_t queue[CLIENTS_MAX];
	struct buf probe;
	uint8_t *src;
	uint8_t *dst;
};

static double mib_s(double ns)
{
	return 2.0 * BYTES / (1 << 20) / ns * 1e9;
}

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

/* One buffer comes back, and one goes. */
static double block_evict(void *arg)
{
	double start = bench_now_ns();

	take_turn(arg, false);
	return mib_s(bench_now_ns() - start);
}

static double block_memcpy(void *arg)
{
	struct evicts *e = arg;
	double start = bench_now_ns();

	memcpy(e->dst, e->src, BYTES);
	memcpy(e->src, e->dst, BYTES);
	return mib_s(bench_now_ns() - start);
}

static uint8_t *memory(void)
{
	uint8_t *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		bench_die("this VM has too little for memcpy()");
	memset(at, 1, BYTES);
	return at;
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

static void tell(void *arg, char *text, size_t bytes)
{
	struct evicts *e = arg;

	snprintf(text, bytes, "; %u buffers", e->nr);
}

void row_evict(void)
{
	struct drm_vgpu_dev_info info;
	struct evicts evicts;
	struct bench_row row = {
		.name = "guest_evict", .unit = "MiB/s", .reach = 0.5, .higher = true,
		.ours = { block_evict, &evicts }, .peer = { block_memcpy, &evicts },
		.detail = "in a VM, a job of a client whose 32 MiB are evicted, while those of another client are, of more than the framebuffer has: 64 MiB are copied, with EXEC, interrupts and page tables; against memcpy of 64 MiB; a page of each is checked",
		.tell = tell,
	};
	uint32_t i, nr;

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
	evicts.src = memory();
	evicts.dst = memory();
	bench_compare(&row);
}
