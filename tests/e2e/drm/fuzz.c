// SPDX-License-Identifier: GPL-2.0
/* Calls with arguments of all sorts, by processes that share a file: the kernel stays well. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>

#include "clk.h"
#include "node.h"
#include "rng.h"

#define PROCESSES	3
#define SECONDS		12

/* Mostly a small number, as ids are; else anything. */
static uint32_t some_id(struct rng *rng)
{
	switch (rng_below(rng, 16)) {
	case 0:
		return (uint32_t)rng_next(rng);
	case 1:
		return 0;
	default:
		return 1 + (uint32_t)rng_below(rng, 6);
	}
}

static uint32_t some_flags(struct rng *rng, uint32_t known)
{
	return rng_below(rng, 16) ? (uint32_t)rng_next(rng) & known : (uint32_t)rng_next(rng);
}

static uint64_t some_bytes(struct rng *rng)
{
	switch (rng_below(rng, 12)) {
	case 0:
		return rng_next(rng);
	case 1:
		return (rng_next(rng) & 0xff) << 32;
	case 2:
		return 2 * MIB * rng_below(rng, 4);
	default:
		return PAGE * rng_below(rng, 700);
	}
}

static uint64_t some_va(struct rng *rng)
{
	return rng_below(rng, 8) ? VA_DATA + PAGE * rng_below(rng, 2000) : rng_next(rng);
}

static uint32_t pad(struct rng *rng)
{
	return !rng_below(rng, 64);
}

static void fuzz_vm(int fd, struct rng *rng)
{
	uint32_t id = some_id(rng);

	if (rng_below(rng, 2))
		vm_make(fd, &id);
	else
		vm_end(fd, id);
}

static void fuzz_bo(int fd, struct rng *rng)
{
	struct drm_vgpu_bo_create args = {
		.size = some_bytes(rng),
		.placement = some_flags(rng, 1),
		.vm_id = rng_below(rng, 3) ? 0 : some_id(rng),
		.pad = pad(rng),
	};
	uint64_t bytes = args.size;
	void *ptr;

	if (rng_below(rng, 3)) {
		bo_close(fd, some_id(rng));
		return;
	}
	if (args.placement == DRM_VGPU_PLACEMENT_SYSTEM && args.size > 4 * MIB)
		args.size = PAGE;
	if (node_ioctl(fd, DRM_IOCTL_VGPU_BO_CREATE, &args) || rng_below(rng, 4) || bytes > MIB)
		return;
	if (bo_map(fd, args.handle, bytes, &ptr))
		return;
	memset(ptr, 0xff, bytes);
	munmap(ptr, bytes);
}

static uint32_t some_syncs(struct rng *rng, struct drm_vgpu_sync *sync)
{
	uint32_t nr = (uint32_t)rng_below(rng, 4), i;

	for (i = 0; i < nr; i++) {
		sync[i].handle = some_id(rng);
		sync[i].flags = some_flags(rng, 3);
		sync[i].point = sync[i].flags & DRM_VGPU_SYNC_TIMELINE ? 1 + rng_below(rng, 9) : 0;
	}
	return nr;
}

static void fuzz_bind(int fd, struct rng *rng)
{
	struct drm_vgpu_bind_op op[4];
	struct drm_vgpu_sync sync[4];
	struct drm_vgpu_vm_bind args = {
		.vm_id = some_id(rng),
		.flags = some_flags(rng, DRM_VGPU_VM_BIND_ASYNC),
		.ops = { sizeof(op[0]), 1 + (uint32_t)rng_below(rng, 4), (uintptr_t)op },
		.syncs = { sizeof(sync[0]), 0, (uintptr_t)sync },
	};
	uint32_t i;

	for (i = 0; i < 4; i++) {
		op[i] = (struct drm_vgpu_bind_op){
			.type = some_flags(rng, 1),
			.pad = pad(rng),
			.va = some_va(rng),
			.size = some_bytes(rng),
		};
		if (op[i].type == DRM_VGPU_BIND_UNMAP)
			continue;
		op[i].flags = some_flags(rng, 3);
		op[i].handle = some_id(rng);
		op[i].offset = rng_below(rng, 2) ? 0 : some_bytes(rng);
	}
	if (args.flags & DRM_VGPU_VM_BIND_ASYNC)
		args.syncs.count = some_syncs(rng, sync);
	if (!rng_below(rng, 32))
		args.ops.stride = (uint32_t)rng_below(rng, 80);
	if (!rng_below(rng, 32))
		args.ops.pointer = rng_next(rng);
	node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &args);
}

static void fuzz_queue(int fd, struct rng *rng)
{
	struct drm_vgpu_queue_query query;
	uint32_t id = some_id(rng);

	switch (rng_below(rng, 4)) {
	case 0:
		queue_ask(fd, id, &query);
		break;
	case 1:
		queue_end(fd, id);
		break;
	default:
		queue_make(fd, some_id(rng), (uint32_t)rng_below(rng, 4),
			   3 + (uint32_t)rng_below(rng, 7), &id);
	}
}

static struct vgpu_hw_packet some_packet(struct rng *rng)
{
	const uint64_t bytes = 4 * (1 + rng_below(rng, 3000));
	struct vgpu_hw_packet packet;

	switch (rng_below(rng, 8)) {
	case 0:
		packet = packet_copy(some_va(rng), some_va(rng), bytes);
		break;
	case 1:
		packet = packet_dispatch(some_va(rng) & ~63ull, 0, 64, 32);
		break;
	case 2:
		packet = (struct vgpu_hw_packet){ .type = (uint8_t)rng_below(rng, 8) };
		break;
	case 3:
		packet = (struct vgpu_hw_packet){
			.type = VGPU_HW_PKT_FENCE,
			.flags = VGPU_HW_PKT_SIGNAL,
			.signal_addr = htole64(some_va(rng)),
		};
		break;
	default:
		packet = packet_fill(some_va(rng), bytes, (uint32_t)rng_next(rng));
	}
	if (!rng_below(rng, 32))
		packet.flags ^= (uint8_t)(1u << rng_below(rng, 8));
	return packet;
}

static void fuzz_exec(int fd, struct rng *rng)
{
	struct vgpu_hw_packet packet[8];
	struct drm_vgpu_sync sync[4];
	struct drm_vgpu_exec args = {
		.queue_id = some_id(rng),
		.count = (uint32_t)rng_below(rng, 9),
		.pad = pad(rng),
		.packets = (uintptr_t)packet,
		.syncs = { sizeof(sync[0]), some_syncs(rng, sync), (uintptr_t)sync },
	};
	uint32_t i;

	for (i = 0; i < 8; i++)
		packet[i] = some_packet(rng);
	if (!rng_below(rng, 32))
		args.count = (uint32_t)rng_next(rng);
	node_ioctl(fd, DRM_IOCTL_VGPU_EXEC, &args);
}

static void fuzz_sync(int fd, struct rng *rng)
{
	uint32_t handle = some_id(rng);

	switch (rng_below(rng, 4)) {
	case 0:
		sync_make(fd, &handle);
		break;
	case 1:
		sync_end(fd, handle);
		break;
	case 2:
		sync_wait(fd, handle, 1);
		break;
	default:
		sync_error(fd, handle);
	}
}

static void fuzz_raw(int fd, struct rng *rng)
{
	uint64_t raw[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		raw[i] = rng_below(rng, 2) ? rng_below(rng, 8) : rng_next(rng);
	node_ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + (uint32_t)rng_below(rng, 12), raw), raw);
}

static void fuzz(int fd, uint64_t seed)
{
	static void (* const call[])(int fd, struct rng *rng) = {
		fuzz_vm, fuzz_bo, fuzz_bo, fuzz_bind, fuzz_bind, fuzz_bind, fuzz_queue, fuzz_exec,
		fuzz_exec, fuzz_exec, fuzz_sync, fuzz_sync, fuzz_raw,
	};
	uint64_t end = clk_ns() + SECONDS * 1000000000ull, calls = 0;
	struct rng rng = rng_seed(seed);

	while (clk_ns() < end) {
		call[rng_below(&rng, sizeof(call) / sizeof(call[0]))](fd, &rng);
		calls++;
	}
	say("fuzz: %llu calls with seed %#llx", (unsigned long long)calls,
	    (unsigned long long)seed);
}

bool test_fuzz(void)
{
	int fd = node_open(), status, i;
	uint64_t seed = clk_ns();
	pid_t pid[PROCESSES];

	CHECK(fd >= 0);
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i]) {
			fuzz(fd, seed + (uint64_t)i);
			_exit(0);
		}
	}
	for (i = 0; i < PROCESSES; i++)
		CHECK(waitpid(pid[i], &status, 0) == pid[i] && !status);
	close(fd);
	/* Nobody who has done nothing wrong is worse off. */
	return test_dispatch();
}
