// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/drm.h>
#include <linux/sync_file.h>

#include "node.h"

void check(bool ok, const char *file, int line, const char *text)
{
	if (!ok) {
		failed("%s:%d: %s", file, line, text);
		_exit(1);
	}
}

void check_ret(int ret, int want, const char *file, int line, const char *text)
{
	if (ret != want) {
		failed("%s:%d: %s is %d, not %d", file, line, text, ret, want);
		_exit(1);
	}
}

bool text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok || failed("%s: %s", path, strerror(errno));
}

int node_open(void)
{
	char path[32];
	int fd, i;

	/* A node that is gone keeps its number as long as it is open. */
	for (i = 128; i < 132; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT)
			return fd < 0 ? -errno : fd;
	}
	return -ENOENT;
}

uint64_t fdinfo_number(const char *line)
{
	char unit[8] = "";
	unsigned long long n = 0;

	CHECK(sscanf(strchr(line, ':') + 1, "%llu %7s", &n, unit) >= 1);
	return !strcmp(unit, "KiB") ? n << 10 : !strcmp(unit, "MiB") ? n << 20 : n;
}

uint64_t fdinfo_of(int fd, const char *key)
{
	char path[64], line[256];
	uint64_t n = ~0ull;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			n = fdinfo_number(line);
	fclose(file);
	return n;
}

int node_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

int node_info(int fd, struct drm_vgpu_dev_info *info)
{
	struct drm_vgpu_dev_query query = { .size = sizeof(*info), .pointer = (uintptr_t)info };

	return node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query);
}

int vm_make(int fd, uint32_t *id)
{
	struct drm_vgpu_vm_create args = {};
	int ret = node_ioctl(fd, DRM_IOCTL_VGPU_VM_CREATE, &args);

	*id = args.id;
	return ret;
}

int vm_end(int fd, uint32_t id)
{
	struct drm_vgpu_vm_destroy args = { .id = id };

	return node_ioctl(fd, DRM_IOCTL_VGPU_VM_DESTROY, &args);
}

static int bo_make_as(int fd, struct drm_vgpu_bo_create *args, uint32_t *handle)
{
	int ret = node_ioctl(fd, DRM_IOCTL_VGPU_BO_CREATE, args);

	*handle = args->handle;
	return ret;
}

int bo_make(int fd, uint64_t bytes, uint32_t placement, uint32_t vm, uint32_t *handle)
{
	struct drm_vgpu_bo_create args = { .size = bytes, .placement = placement, .vm_id = vm };

	return bo_make_as(fd, &args, handle);
}

int bo_make_piece(int fd, uint64_t bytes, uint32_t vm, uint32_t *handle)
{
	struct drm_vgpu_bo_create args = {
		.size = bytes, .vm_id = vm, .flags = DRM_VGPU_BO_CONTIGUOUS,
	};

	return bo_make_as(fd, &args, handle);
}

int bo_close(int fd, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	return node_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args);
}

int bo_map(int fd, uint32_t handle, uint64_t bytes, void **ptr)
{
	struct drm_vgpu_bo_mmap_offset args = { .handle = handle };
	int ret = node_ioctl(fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &args);

	if (ret)
		return ret;
	*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.offset);
	return *ptr == MAP_FAILED ? -errno : 0;
}

int buf_make(int fd, uint64_t bytes, uint32_t placement, struct buf *buf)
{
	int ret = bo_make(fd, bytes, placement, 0, &buf->handle);

	buf->bytes = bytes;
	return ret ? ret : bo_map(fd, buf->handle, bytes, &buf->ptr);
}

void buf_end(int fd, struct buf *buf)
{
	munmap(buf->ptr, buf->bytes);
	bo_close(fd, buf->handle);
}

static int bind_one(int fd, uint32_t vm, struct drm_vgpu_bind_op *op)
{
	struct drm_vgpu_vm_bind args = {
		.vm_id = vm,
		.ops = { .stride = sizeof(*op), .count = 1, .pointer = (uintptr_t)op },
	};

	return node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &args);
}

int bind_map(int fd, uint32_t vm, uint32_t handle, uint64_t offset, uint64_t va, uint64_t bytes,
	     uint32_t flags)
{
	struct drm_vgpu_bind_op op = {
		.type = DRM_VGPU_BIND_MAP,
		.flags = flags,
		.handle = handle,
		.offset = offset,
		.va = va,
		.size = bytes,
	};

	return bind_one(fd, vm, &op);
}

int bind_unmap(int fd, uint32_t vm, uint64_t va, uint64_t bytes)
{
	struct drm_vgpu_bind_op op = { .type = DRM_VGPU_BIND_UNMAP, .va = va, .size = bytes };

	return bind_one(fd, vm, &op);
}

int bind_later(int fd, uint32_t vm, uint32_t wait, uint32_t signal)
{
	struct drm_vgpu_sync sync[2];
	struct drm_vgpu_vm_bind args = {
		.vm_id = vm,
		.flags = DRM_VGPU_VM_BIND_ASYNC,
		.syncs = { .stride = sizeof(*sync), .pointer = (uintptr_t)sync },
	};

	if (wait)
		sync[args.syncs.count++] = (struct drm_vgpu_sync){ .handle = wait };
	sync[args.syncs.count++] = (struct drm_vgpu_sync){
		.handle = signal,
		.flags = DRM_VGPU_SYNC_SIGNAL,
	};
	return node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &args);
}

int queue_make(int fd, uint32_t vm, uint32_t engine, uint32_t order, uint32_t *id)
{
	return queue_make_as(fd, vm, engine, order, DRM_VGPU_PRIORITY_NORMAL, id);
}

int queue_make_as(int fd, uint32_t vm, uint32_t engine, uint32_t order, int priority, uint32_t *id)
{
	struct drm_vgpu_queue_create args = {
		.vm_id = vm,
		.engine = engine,
		.ring_order = order,
		.priority = priority,
	};
	int ret = node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_CREATE, &args);

	*id = args.id;
	return ret;
}

int queue_end(int fd, uint32_t id)
{
	struct drm_vgpu_queue_destroy args = { .id = id };

	return node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_DESTROY, &args);
}

int queue_ask(int fd, uint32_t id, struct drm_vgpu_queue_query *query)
{
	memset(query, 0xff, sizeof(*query));
	query->id = id;
	return node_ioctl(fd, DRM_IOCTL_VGPU_QUEUE_QUERY, query);
}

int sync_make(int fd, uint32_t *handle)
{
	struct drm_syncobj_create args = {};
	int ret = node_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &args);

	*handle = args.handle;
	return ret;
}

int sync_end(int fd, uint32_t handle)
{
	struct drm_syncobj_destroy args = { .handle = handle };

	return node_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

static int64_t deadline(unsigned int ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec + ms * 1000000ll;
}

int sync_wait(int fd, uint32_t handle, unsigned int ms)
{
	struct drm_syncobj_wait args = {
		.handles = (uintptr_t)&handle,
		.timeout_nsec = deadline(ms),
		.count_handles = 1,
	};

	return node_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &args);
}

int sync_wait_point(int fd, uint32_t handle, uint64_t point, unsigned int ms)
{
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.timeout_nsec = deadline(ms),
		.count_handles = 1,
	};

	return node_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

int sync_error(int fd, uint32_t handle)
{
	struct drm_syncobj_handle args = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct sync_file_info info = {};
	int ret = node_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	if (ret)
		return ret;
	ret = node_ioctl(args.fd, SYNC_IOC_FILE_INFO, &info);
	close(args.fd);
	if (ret)
		return ret;
	return info.status == 1 ? 0 : info.status ? info.status : -EINPROGRESS;
}

struct drm_vgpu_array sync_pair(struct drm_vgpu_sync sync[2], uint32_t wait, uint32_t signal)
{
	struct drm_vgpu_array array = { .stride = sizeof(*sync), .pointer = (uintptr_t)sync };

	if (wait)
		sync[array.count++] = (struct drm_vgpu_sync){ .handle = wait };
	if (signal)
		sync[array.count++] = (struct drm_vgpu_sync){
			.handle = signal,
			.flags = DRM_VGPU_SYNC_SIGNAL,
		};
	return array;
}

int exec(int fd, uint32_t queue, const struct vgpu_hw_packet *packets, uint32_t nr, uint32_t wait,
	 uint32_t signal)
{
	struct drm_vgpu_sync sync[2];
	struct drm_vgpu_exec args = {
		.queue_id = queue,
		.count = nr,
		.packets = (uintptr_t)packets,
		.syncs = sync_pair(sync, wait, signal),
	};

	return node_ioctl(fd, DRM_IOCTL_VGPU_EXEC, &args);
}

int exec_wait(int fd, uint32_t queue, const struct vgpu_hw_packet *packets, uint32_t nr)
{
	uint32_t sync;
	int ret;

	ret = sync_make(fd, &sync);
	if (ret)
		return ret;
	ret = exec(fd, queue, packets, nr, 0, sync);
	if (!ret)
		ret = sync_wait(fd, sync, WAIT_MS);
	if (!ret)
		ret = sync_error(fd, sync);
	sync_end(fd, sync);
	return ret;
}

struct vgpu_hw_packet packet_fill(uint64_t dst, uint64_t bytes, uint32_t value)
{
	return (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_FILL,
		.dst = htole64(dst),
		.value = htole32(value),
		.width = htole64(bytes),
		.rows = htole32(1),
	};
}

struct vgpu_hw_packet packet_copy(uint64_t dst, uint64_t src, uint64_t bytes)
{
	return (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_COPY,
		.dst = htole64(dst),
		.src = htole64(src),
		.width = htole64(bytes),
		.rows = htole32(1),
	};
}

struct vgpu_hw_packet packet_dispatch(uint64_t head, uint64_t args, uint32_t items, uint32_t group)
{
	return (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_DISPATCH,
		.dst = htole64(head),
		.src = htole64(args),
		.grid = { htole32(items), htole32(1), htole32(1) },
		.group = { htole16(group), htole16(1), htole16(1) },
	};
}

int program_load(int fd, uint32_t vm, const uint32_t *words, uint32_t nr, uint64_t va,
		 struct buf *buf)
{
	const struct vgpu_hw_program head = {
		.magic = htole32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = htole32(nr * 4),
		.text_bytes = htole32(nr * 4),
		.image = htole64(va + PAGE),
		.private_bytes = htole32(4096),
	};
	int ret = buf_make(fd, 2 * PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, buf);

	if (ret)
		return ret;
	memcpy(buf->ptr, &head, sizeof(head));
	memcpy((uint8_t *)buf->ptr + PAGE, words, nr * 4);
	return bind_map(fd, vm, buf->handle, 0, va, buf->bytes, DRM_VGPU_BIND_EXEC);
}
