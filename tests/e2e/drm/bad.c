// SPDX-License-Identifier: GPL-2.0
/* Tests of wrong arguments: each is refused with the error that vgpu_drm.h names. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define TOP		(1ull << 38)

bool test_bad_vm(void)
{
	struct drm_vgpu_vm_create create = { .flags = 1 };
	struct drm_vgpu_vm_destroy destroy = { .pad = 1 };
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_VM_CREATE, &create), -EINVAL);
	CHECK_RET(vm_make(fd, &destroy.id), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_VM_DESTROY, &destroy), -EINVAL);
	CHECK_RET(vm_end(fd, 0), -ENOENT);
	CHECK_RET(vm_end(fd, ~0u), -ENOENT);
	CHECK_RET(vm_end(fd, destroy.id + 1), -ENOENT);
	CHECK_RET(vm_end(fd, destroy.id), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOW(DRM_COMMAND_BASE + 0x1f, struct drm_vgpu_vm_destroy),
			     &destroy), -EINVAL);
	close(fd);
	return true;
}

static int card_open(void)
{
	int fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Names, by the primary node, of whose files one at a time is the master. */
static bool names(void)
{
	struct drm_gem_flink name[2] = { 0 };
	struct drm_gem_open args = { 0 };
	int fd = card_open(), other;
	uint32_t vm;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, vm, &name[0].handle), 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 0, &name[1].handle), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_GEM_FLINK, &name[0]), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_GEM_FLINK, &name[1]), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_DROP_MASTER, NULL), 0);
	other = card_open();
	CHECK(other >= 0);
	args.name = name[0].name;
	CHECK_RET(node_ioctl(other, DRM_IOCTL_GEM_OPEN, &args), -EPERM);
	args.name = name[1].name;
	CHECK_RET(node_ioctl(other, DRM_IOCTL_GEM_OPEN, &args), 0);
	CHECK_RET(bo_close(other, args.handle), 0);
	close(fd);
	/* A name goes with its last handle. */
	CHECK_RET(node_ioctl(other, DRM_IOCTL_GEM_OPEN, &args), -ENOENT);
	close(other);
	return true;
}

bool test_bad_bo(void)
{
	struct drm_vgpu_bo_create create = { .size = PAGE, .flags = 2 };
	struct drm_vgpu_bo_mmap_offset offset = { .pad = 1 };
	int fd = node_open(), dmabuf;
	uint32_t handle, vm;
	struct drm_prime_handle prime;

	CHECK(fd >= 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_CREATE, &create), -EINVAL);
	create.flags = DRM_VGPU_BO_CONTIGUOUS;
	create.placement = SYSTEM;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_CREATE, &create), -EINVAL);
	CHECK_RET(bo_make(fd, 0, FRAMEBUFFER, 0, &handle), -EINVAL);
	CHECK_RET(bo_make(fd, PAGE + 1, FRAMEBUFFER, 0, &handle), -EINVAL);
	CHECK_RET(bo_make(fd, ~0ull, SYSTEM, 0, &handle), -EINVAL);
	CHECK_RET(bo_make(fd, ~0ull << 12, SYSTEM, 0, &handle), -EINVAL);
	CHECK_RET(bo_make(fd, PAGE, 2, 0, &handle), -EINVAL);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 1, &handle), -ENOENT);
	CHECK_RET(bo_make(fd, 1ull << 37, FRAMEBUFFER, 0, &handle), -ENOSPC);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &offset), -EINVAL);
	offset.pad = 0;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &offset), -ENOENT);
	/* A buffer of one VM cannot be exported, others can, to this device. */
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, vm, &handle), 0);
	prime = (struct drm_prime_handle){ .handle = handle, .flags = O_CLOEXEC };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), -EPERM);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 0, &prime.handle), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	dmabuf = prime.fd;
	close(fd);
	fd = node_open();
	prime.fd = dmabuf;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	close(dmabuf);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bind_map(fd, vm, prime.handle, 0, VA_DATA, PAGE, 0), 0);
	CHECK_RET(bo_close(fd, prime.handle), 0);
	close(fd);
	return names();
}

static int bind_ops(int fd, uint32_t vm, const struct drm_vgpu_bind_op *op, uint32_t stride,
		    uint32_t count, uint32_t flags)
{
	struct drm_vgpu_vm_bind args = {
		.vm_id = vm,
		.flags = flags,
		.ops = { .stride = stride, .count = count, .pointer = (uintptr_t)op },
	};

	return node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &args);
}

/* A copy of an op that is right, but for one member. */
#define BAD_OP(member, value, want) \
	do { \
		struct drm_vgpu_bind_op bad_ = good; \
\
		bad_.member = (value); \
		CHECK_RET(bind_ops(fd, vm, &bad_, sizeof(bad_), 1, 0), want); \
	} while (0)

static bool bad_ops(int fd, uint32_t vm, uint32_t handle)
{
	struct drm_vgpu_bind_op good = {
		.type = DRM_VGPU_BIND_MAP,
		.handle = handle,
		.offset = PAGE,
		.va = VA_DATA,
		.size = 4 * PAGE,
	};

	CHECK_RET(bind_ops(fd, vm, &good, sizeof(good), 1, 0), 0);
	BAD_OP(type, 2, -EINVAL);
	BAD_OP(flags, 4, -EINVAL);
	BAD_OP(handle, 0, -ENOENT);
	BAD_OP(handle, handle + 100, -ENOENT);
	BAD_OP(pad, 1, -EINVAL);
	BAD_OP(offset, 1, -EINVAL);
	BAD_OP(offset, 13 * PAGE, -EINVAL);
	BAD_OP(offset, ~0ull << 12, -EINVAL);
	BAD_OP(va, VA_DATA + 8, -EINVAL);
	BAD_OP(va, TOP - PAGE, -EINVAL);
	BAD_OP(va, TOP, -EINVAL);
	BAD_OP(va, 0xffffffc000000000ull, -EINVAL);
	BAD_OP(va, ~0ull << 12, -EINVAL);
	BAD_OP(size, 0, -EINVAL);
	BAD_OP(size, 100, -EINVAL);
	BAD_OP(size, 16 * PAGE, -EINVAL);
	BAD_OP(size, ~0ull << 12, -EINVAL);
	good.type = DRM_VGPU_BIND_UNMAP;
	BAD_OP(size, 4 * PAGE, -EINVAL);
	good.handle = 0;
	BAD_OP(size, 4 * PAGE, -EINVAL);
	good.offset = 0;
	BAD_OP(flags, DRM_VGPU_BIND_WRITE, -EINVAL);
	BAD_OP(size, TOP, -EINVAL);
	BAD_OP(va, TOP, -EINVAL);
	CHECK_RET(bind_ops(fd, vm, &good, sizeof(good), 1, 0), 0);
	return true;
}

bool test_bad_bind(void)
{
	struct drm_vgpu_bind_op op[3] = {};
	uint8_t large[2 * sizeof(*op)] = {};
	uint32_t vm, other, handle, own, system;
	struct drm_vgpu_vm_bind synced = {};
	struct drm_vgpu_sync sync = {};
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(vm_make(fd, &other), 0);
	CHECK_RET(sync_make(fd, &sync.handle), 0);
	/* Only an asynchronous one waits and signals. */
	synced.vm_id = vm;
	synced.syncs.stride = sizeof(sync);
	synced.syncs.count = 1;
	synced.syncs.pointer = (uintptr_t)&sync;
	CHECK_RET(bo_make(fd, 16 * PAGE, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, other, &own), 0);
	CHECK_RET(bo_make(fd, PAGE, SYSTEM, 0, &system), 0);
	CHECK(bad_ops(fd, vm, handle));
	CHECK_RET(bind_map(fd, vm, own, 0, VA_DATA, PAGE, 0), -EINVAL);
	CHECK_RET(bind_map(fd, other, own, 0, VA_DATA, PAGE, 0), 0);
	CHECK_RET(bind_map(fd, vm, system, 0, VA_DATA, PAGE, DRM_VGPU_BIND_EXEC), -EINVAL);
	op[0] = (struct drm_vgpu_bind_op){ .type = DRM_VGPU_BIND_UNMAP, .size = PAGE };
	CHECK_RET(bind_ops(fd, ~0u, op, sizeof(*op), 1, 0), -ENOENT);
	CHECK_RET(bind_ops(fd, vm, op, sizeof(*op), 1, 2), -EINVAL);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &synced), -EINVAL);
	CHECK_RET(bind_ops(fd, vm, op, sizeof(*op) - 8, 1, 0), -EINVAL);
	CHECK_RET(bind_ops(fd, vm, op, 512, 1, 0), -EINVAL);
	CHECK_RET(bind_ops(fd, vm, op, sizeof(*op), DRM_VGPU_BIND_OPS_MAX + 1, 0), -E2BIG);
	CHECK_RET(bind_ops(fd, vm, (void *)16, sizeof(*op), 1, 0), -EFAULT);
	/* Elements of a later version, whose new part is 0 or not. */
	memcpy(large, op, sizeof(*op));
	CHECK_RET(bind_ops(fd, vm, (void *)large, sizeof(large), 1, 0), 0);
	large[sizeof(large) - 1] = 1;
	CHECK_RET(bind_ops(fd, vm, (void *)large, sizeof(large), 1, 0), -E2BIG);
	/* One bad op, and nothing is done: the page of the first one is not unmapped. */
	CHECK_RET(bind_map(fd, vm, handle, 0, 0, PAGE, DRM_VGPU_BIND_WRITE), 0);
	op[1] = op[0];
	op[2].type = 9;
	CHECK_RET(bind_ops(fd, vm, op, sizeof(*op), 3, 0), -EINVAL);
	CHECK_RET(queue_make(fd, vm, 1, 4, &other), 0);
	{
		const struct vgpu_hw_packet packet = packet_fill(0, PAGE, 1);

		CHECK_RET(exec_wait(fd, other, &packet, 1), 0);
	}
	close(fd);
	return true;
}

bool test_bad_queue(void)
{
	struct drm_vgpu_queue_create create = { .ring_order = 4, .flags = 1 };
	struct drm_vgpu_queue_destroy destroy = { .pad = 1 };
	struct drm_vgpu_queue_query query;
	int fd = node_open();
	uint32_t vm, id;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	create.vm_id = vm;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_CREATE, &create), -EINVAL);
	create.flags = 0;
	create.priority = DRM_VGPU_PRIORITY_HIGH + 1;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_CREATE, &create), -EINVAL);
	create.priority = DRM_VGPU_PRIORITY_LOW - 1;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_CREATE, &create), -EINVAL);
	CHECK_RET(queue_make(fd, 0, 0, 4, &id), -ENOENT);
	CHECK_RET(queue_make(fd, vm + 1, 0, 4, &id), -ENOENT);
	CHECK_RET(queue_make(fd, vm, 3, 4, &id), -EINVAL);
	CHECK_RET(queue_make(fd, vm, ~0u, 4, &id), -EINVAL);
	CHECK_RET(queue_make(fd, vm, 0, 3, &id), -EINVAL);
	CHECK_RET(queue_make(fd, vm, 0, 17, &id), -EINVAL);
	CHECK_RET(queue_make(fd, vm, 0, ~0u, &id), -EINVAL);
	CHECK_RET(queue_make(fd, vm, 0, 16, &id), 0);
	destroy.id = id;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_DESTROY, &destroy), -EINVAL);
	CHECK_RET(queue_ask(fd, id + 1, &query), -ENOENT);
	CHECK_RET(queue_ask(fd, 0, &query), -ENOENT);
	CHECK_RET(queue_end(fd, id + 1), -ENOENT);
	CHECK_RET(queue_end(fd, id), 0);
	CHECK_RET(queue_end(fd, id), -ENOENT);
	CHECK_RET(queue_ask(fd, id, &query), -ENOENT);
	close(fd);
	return true;
}

/* As an ordinary user: 0 if the call fails with EPERM. */
static int present_as_user(int fd, uint32_t queue, const struct vgpu_hw_packet *packet)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(setuid(1000) || exec(fd, queue, packet, 1, 0, 0) != -EPERM);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

static bool bad_packets(int fd, uint32_t gr, uint32_t ce)
{
	struct vgpu_hw_packet packet = { .type = VGPU_HW_PKT_NOP }, many[17];
	unsigned int i;

	for (i = 0; i < 256; i++) {
		packet.type = i;
		if (!i || i == VGPU_HW_PKT_FENCE || i >= VGPU_HW_PKT_END)
			CHECK_RET(exec(fd, gr, &packet, 1, 0, 0), -EINVAL);
		if (!i || i == VGPU_HW_PKT_FENCE || i >= VGPU_HW_PKT_PRESENT)
			CHECK_RET(exec(fd, ce, &packet, 1, 0, 0), -EINVAL);
	}
	packet.type = VGPU_HW_PKT_PRESENT;
	CHECK_RET(present_as_user(fd, gr, &packet), 0);
	packet.type = VGPU_HW_PKT_NOP;
	for (i = VGPU_HW_PKT_SIGNAL_SYS; i < 256; i <<= 1) {
		packet.flags = (uint8_t)i;
		CHECK_RET(exec(fd, gr, &packet, 1, 0, 0), -EINVAL);
	}
	packet.flags = VGPU_HW_PKT_BARRIER;
	packet.vector = htole16(1);
	CHECK_RET(exec(fd, gr, &packet, 1, 0, 0), -EINVAL);
	packet.vector = 0;
	packet.op_flags = htole32(VGPU_HW_OP_DST_SYS);
	CHECK_RET(exec(fd, gr, &packet, 1, 0, 0), -EINVAL);
	packet.op_flags = 0;
	for (i = 0; i < 17; i++)
		many[i] = packet;
	CHECK_RET(exec(fd, gr, many, 17, 0, 0), -E2BIG);
	CHECK_RET(exec(fd, gr, many, ~0u, 0, 0), -E2BIG);
	many[15].type = 0;
	CHECK_RET(exec(fd, gr, many, 16, 0, 0), -EINVAL);
	many[15].type = VGPU_HW_PKT_NOP;
	CHECK_RET(exec_wait(fd, gr, many, 16), 0);
	CHECK_RET(exec(fd, gr, (void *)64, 1, 0, 0), -EFAULT);
	return true;
}

bool test_bad_exec(void)
{
	struct drm_vgpu_exec args = { .flags = 1 };
	int fd = node_open();
	uint32_t vm, gr, ce;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, 0, 4, &gr), 0);
	CHECK_RET(queue_make(fd, vm, 1, 4, &ce), 0);
	args.queue_id = gr;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_EXEC, &args), -EINVAL);
	args.flags = 0;
	args.pad = 1;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_EXEC, &args), -EINVAL);
	CHECK_RET(exec(fd, 0, NULL, 0, 0, 0), -ENOENT);
	CHECK_RET(exec(fd, ~0u, NULL, 0, 0, 0), -ENOENT);
	CHECK(bad_packets(fd, gr, ce));
	CHECK_RET(exec_wait(fd, gr, NULL, 0), 0);
	close(fd);
	return true;
}

static int exec_syncs(int fd, uint32_t queue, const struct drm_vgpu_sync *sync, uint32_t stride,
		      uint32_t count)
{
	struct drm_vgpu_exec args = {
		.queue_id = queue,
		.syncs = { .stride = stride, .count = count, .pointer = (uintptr_t)sync },
	};

	return node_ioctl(fd, DRM_IOCTL_VGPU_EXEC, &args);
}

bool test_bad_sync(void)
{
	struct drm_vgpu_sync sync[DRM_VGPU_SYNCS_MAX + 1] = {};
	int fd = node_open();
	uint32_t vm, queue, handle, i;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, 0, 4, &queue), 0);
	CHECK_RET(sync_make(fd, &handle), 0);
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -ENOENT);
	sync[0].flags = DRM_VGPU_SYNC_SIGNAL;
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -ENOENT);
	sync[0] = (struct drm_vgpu_sync){ .handle = handle };
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -EINVAL);
	sync[0].flags = 4;
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -EINVAL);
	sync[0].flags = DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE;
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -EINVAL);
	sync[0] = (struct drm_vgpu_sync){
		.handle = handle,
		.flags = DRM_VGPU_SYNC_SIGNAL,
		.point = 1,
	};
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 1), -EINVAL);
	sync[0].point = 0;
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync) - 4, 1), -EINVAL);
	CHECK_RET(exec_syncs(fd, queue, (void *)8, sizeof(*sync), 1), -EFAULT);
	for (i = 1; i <= DRM_VGPU_SYNCS_MAX; i++)
		sync[i] = sync[0];
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), DRM_VGPU_SYNCS_MAX + 1), -E2BIG);
	/* The last one is bad: none is signalled. */
	sync[5].handle = handle + 1;
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 6), -ENOENT);
	sync[5] = (struct drm_vgpu_sync){ .handle = handle };
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 6), -EINVAL);
	CHECK_RET(exec_syncs(fd, queue, sync, sizeof(*sync), 5), 0);
	CHECK_RET(sync_wait(fd, handle, WAIT_MS), 0);
	close(fd);
	return true;
}
