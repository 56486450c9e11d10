// SPDX-License-Identifier: GPL-2.0
/* Tests of buffers that the kernel or another device has made, or uses. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <drm/drm.h>
#include <drm/vgem_drm.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define CE		1

#define BYTES		(2 * MIB + 3 * PAGE)

static int export(int fd, uint32_t handle)
{
	struct drm_prime_handle args = { .handle = handle, .flags = O_CLOEXEC | O_RDWR };
	int ret = node_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	return ret ? ret : args.fd;
}

int import(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle args = { .fd = dmabuf };
	int ret = node_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);

	*handle = args.handle;
	return ret;
}

static bool all_are(const uint32_t *word, uint64_t bytes, uint32_t value)
{
	uint64_t i;

	for (i = 0; i < bytes / 4; i++)
		if (word[i] != value)
			return failed("word %#llx is %#x, not %#x", (unsigned long long)i, word[i],
				      value);
	return true;
}

int udmabuf(uint64_t bytes, void **ptr)
{
	struct udmabuf_create args = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes };
	int memfd = memfd_create("pages", MFD_ALLOW_SEALING | MFD_CLOEXEC), fd, ret;

	CHECK(memfd >= 0 && !ftruncate(memfd, (off_t)bytes));
	CHECK(!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	CHECK(*ptr != MAP_FAILED);
	fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	args.memfd = memfd;
	ret = ioctl(fd, UDMABUF_CREATE, &args);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	close(memfd);
	return ret;
}

/* Copy engines work on pages of a process, which it sees. */
bool test_import(void)
{
	struct drm_vgpu_bo_mmap_offset offset = {};
	uint32_t handle, again, vm, queue;
	struct vgpu_hw_packet packet[2];
	int fd = node_open(), dmabuf;
	uint64_t before;
	struct buf buf;
	void *ptr;

	CHECK(fd >= 0);
	before = system_free(fd);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(buf_make(fd, BYTES, FRAMEBUFFER, &buf), 0);
	dmabuf = udmabuf(BYTES, &ptr);
	CHECK(dmabuf >= 0);
	memset(ptr, 0x11, BYTES);
	CHECK_RET(import(fd, dmabuf, &handle), 0);
	CHECK_RET(import(fd, dmabuf, &again), 0);
	CHECK(handle == again);
	CHECK(system_free(fd) == before - BYTES);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, BYTES, DRM_VGPU_BIND_EXEC), -EINVAL);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, BYTES, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_MORE, BYTES, DRM_VGPU_BIND_WRITE), 0);
	packet[0] = packet_copy(VA_MORE, VA_DATA, BYTES);
	packet[1] = packet_fill(VA_DATA, BYTES, 0x2222);
	CHECK_RET(exec_wait(fd, queue, packet, 2), 0);
	CHECK(all_are(buf.ptr, BYTES, 0x11111111) && all_are(ptr, BYTES, 0x2222));
	/* It is mapped by its own file. */
	offset.handle = handle;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &offset), 0);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)offset.offset) == MAP_FAILED &&
	      errno == EINVAL);
	/* A mapping in the VM keeps it. */
	close(dmabuf);
	CHECK_RET(bo_close(fd, handle), 0);
	packet[0] = packet_fill(VA_DATA + PAGE, BYTES - PAGE, 0x3333);
	CHECK_RET(exec_wait(fd, queue, packet, 1), 0);
	CHECK(all_are(ptr, PAGE, 0x2222) && all_are((uint32_t *)ptr + 1024, BYTES - PAGE, 0x3333));
	CHECK_RET(bind_unmap(fd, vm, VA_DATA, BYTES), 0);
	CHECK(system_free_is(fd, before));
	close(fd);
	return true;
}

/* A node of the driver of that name. */
static int node_of(const char *want)
{
	struct drm_version version;
	char path[32], name[32];
	int i, fd;

	for (i = 128; i < 132; i++) {
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		memset(name, 0, sizeof(name));
		version = (struct drm_version){ .name = name, .name_len = sizeof(name) - 1 };
		if (!node_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, want))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

/* Another driver takes buffers of the guest's memory, and none of the framebuffer. */
static bool try_export(int fd, int other)
{
	uint32_t vm, queue, system, handle, there;
	struct vgpu_hw_packet packet;
	int dmabuf;
	void *ptr;

	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(bo_make(fd, BYTES, SYSTEM, 0, &system), 0);
	dmabuf = export(fd, system);
	CHECK(dmabuf >= 0);
	CHECK_RET(import(other, dmabuf, &there), 0);
	ptr = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	CHECK(ptr != MAP_FAILED);
	CHECK_RET(bind_map(fd, vm, system, 0, VA_DATA, BYTES, DRM_VGPU_BIND_WRITE), 0);
	packet = packet_fill(VA_DATA, BYTES, 0x4444);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	CHECK(all_are(ptr, BYTES, 0x4444));
	/* The other one keeps it. */
	CHECK_RET(bind_unmap(fd, vm, VA_DATA, BYTES), 0);
	CHECK_RET(bo_close(fd, system), 0);
	close(dmabuf);
	CHECK(all_are(ptr, BYTES, 0x4444));
	munmap(ptr, BYTES);
	CHECK_RET(bo_close(other, there), 0);
	CHECK_RET(bo_make(fd, BYTES, FRAMEBUFFER, 0, &handle), 0);
	dmabuf = export(fd, handle);
	CHECK(dmabuf >= 0);
	CHECK_RET(import(other, dmabuf, &there), -EOPNOTSUPP);
	close(dmabuf);
	return true;
}

int vgem_load(void)
{
	int file = open("/vgem.ko", O_RDONLY | O_CLOEXEC), other = -ENOENT, i;

	CHECK(file >= 0 && !syscall(SYS_finit_module, file, "", 0));
	close(file);
	for (i = 0; other < 0 && i < NODE_TRIES; i++) {
		other = node_of("vgem");
		usleep(20000);
	}
	CHECK(other >= 0);
	return other;
}

bool vgem_unload(void)
{
	int i;

	for (i = 0; i < NODE_TRIES && syscall(SYS_delete_module, "vgem", O_NONBLOCK); i++)
		usleep(20000);
	return node_of("vgem") == -ENOENT || failed("vgem does not go");
}

uint32_t vgem_fence(int fd, int other)
{
	struct drm_syncobj_handle sync = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	struct drm_vgem_fence_attach attach = { .flags = VGEM_FENCE_WRITE };
	struct dma_buf_export_sync_file file = { .flags = DMA_BUF_SYNC_RW };
	uint32_t system;
	int dmabuf;

	CHECK_RET(bo_make(fd, PAGE, SYSTEM, 0, &system), 0);
	dmabuf = export(fd, system);
	CHECK(dmabuf >= 0);
	CHECK_RET(import(other, dmabuf, &attach.handle), 0);
	CHECK_RET(node_ioctl(other, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach), 0);
	CHECK_RET(ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &file), 0);
	sync.fd = file.fd;
	CHECK_RET(sync_make(fd, &sync.handle), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &sync), 0);
	close(file.fd);
	close(dmabuf);
	return sync.handle;
}

bool test_export(void)
{
	int fd = node_open(), other;
	uint64_t before;
	bool ok;

	CHECK(fd >= 0);
	before = system_free(fd);
	other = vgem_load();
	ok = try_export(fd, other);
	close(other);
	CHECK(system_free_is(fd, before));
	close(fd);
	return vgem_unload() && ok;
}
