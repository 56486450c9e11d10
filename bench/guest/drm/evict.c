// SPDX-License-Identifier: GPL-2.0
/*
 * The row guest_evict: clients whose buffers together are larger than the framebuffer work in turn.
 * Each finds its buffer evicted, so that it comes back, and another one goes. The host compares the
 * time with that of memcpy() there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	char line[96];
	double ns;

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
	for (i = 0; i <= bench_pairs; i++) {
		ns = bench_now_ns();
		take_turn(&evicts, false);
		ns = bench_now_ns() - ns;
		snprintf(line, sizeof(line), "evict %u %u %llu %.0f", i, nr, BYTES, ns);
		host_answers(line);
	}
}
