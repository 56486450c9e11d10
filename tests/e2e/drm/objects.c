// SPDX-License-Identifier: GPL-2.0
/* Tests of the device's query, of VMs and of buffers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM

bool test_query(void)
{
	uint8_t raw[sizeof(struct drm_vgpu_dev_info) + 64];
	struct drm_vgpu_dev_info info;
	struct drm_vgpu_dev_query query = {};
	int fd = node_open();
	unsigned int i;

	CHECK(fd >= 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query), 0);
	CHECK(query.size == sizeof(info));
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.hw_version == VGPU_HW_VERSION_CURRENT && info.page_size == PAGE);
	CHECK(info.va_bits == 38 && info.channels && info.nr_engines == 3);
	CHECK(info.fb_bytes >= 256 * MIB && info.fb_free && info.fb_free <= info.fb_bytes);
	CHECK(info.engine[0] >> 8 == VGPU_HW_ENGINE_GR && info.engine[1] >> 8 == VGPU_HW_ENGINE_CE);
	say("%u channels, %llu MiB of framebuffer, %llu free", info.channels,
	    (unsigned long long)(info.fb_bytes / MIB), (unsigned long long)(info.fb_free / MIB));
	/* A program of another version gets as much as it has room for, and no more is written. */
	memset(raw, 0xaa, sizeof(raw));
	query = (struct drm_vgpu_dev_query){ .size = 8, .pointer = (uintptr_t)raw };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query), 0);
	CHECK(query.size == sizeof(info) && !memcmp(raw, &info, 8) && raw[8] == 0xaa);
	query.size = sizeof(raw);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query), 0);
	for (i = sizeof(info); i < sizeof(raw); i++)
		CHECK(raw[i] == 0xaa);
	query.pad = 1;
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query), -EINVAL);
	query = (struct drm_vgpu_dev_query){ .size = sizeof(info), .pointer = 8 };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_DEV_QUERY, &query), -EFAULT);
	close(fd);
	return true;
}

bool test_vm(void)
{
	uint32_t id[1025], i, nr;
	int fd = node_open(), ret = 0;

	CHECK(fd >= 0);
	for (nr = 0; nr < 1025 && !ret; nr++)
		ret = vm_make(fd, &id[nr]);
	CHECK(ret == -ENOSPC && nr == 1025);
	for (i = 0; i < 500; i++)
		CHECK_RET(vm_end(fd, id[i]), 0);
	CHECK_RET(vm_end(fd, id[0]), -ENOENT);
	CHECK_RET(vm_make(fd, &id[0]), 0);
	/* The rest goes with the file. */
	close(fd);
	return true;
}

uint64_t fb_free(int fd)
{
	struct drm_vgpu_dev_info info;
	uint64_t last = 0;
	int i, same = 0;

	for (i = 0; i < 1000 && same < 25; i++) {
		CHECK_RET(node_info(fd, &info), 0);
		same = info.fb_free == last ? same + 1 : 0;
		last = info.fb_free;
		usleep(20000);
	}
	return last;
}

bool fb_free_is(int fd, uint64_t want)
{
	uint64_t end = clk_ms() + WAIT_MS, is;

	do {
		is = fb_free(fd);
	} while (is != want && clk_ms() < end);
	return is == want || failed("%llu bytes of framebuffer are free, not %llu",
				    (unsigned long long)is, (unsigned long long)want);
}

bool system_free_is(int fd, uint64_t want)
{
	uint64_t end = clk_ms() + WAIT_MS, is;

	while ((is = system_free(fd)) != want && clk_ms() < end)
		usleep(10000);
	return is == want || failed("%llu bytes of memory are free, not %llu",
				    (unsigned long long)is, (unsigned long long)want);
}

static bool try_bo(int fd, uint32_t placement)
{
	struct buf buf;
	uint32_t *word;
	uint64_t i;
	uint8_t *at;

	CHECK_RET(buf_make(fd, 3 * MIB, placement, &buf), 0);
	word = buf.ptr;
	for (i = 0; i < buf.bytes / 4; i += 512) {
		CHECK(!word[i]);
		word[i] = (uint32_t)i;
	}
	/* What is mapped goes in parts, and outlives the handle. */
	at = buf.ptr;
	CHECK(!munmap(at, MIB + PAGE));
	CHECK_RET(bo_close(fd, buf.handle), 0);
	for (i = (MIB + PAGE) / 4; i < buf.bytes / 4; i += 512)
		CHECK(word[i] == i);
	CHECK(!munmap(at + MIB + PAGE, 2 * MIB - PAGE));
	return true;
}

bool test_bo(void)
{
	struct drm_vgpu_bo_mmap_offset args = {};
	int fd = node_open();
	uint64_t before;

	CHECK(fd >= 0);
	before = fb_free(fd);
	CHECK(try_bo(fd, FRAMEBUFFER) && try_bo(fd, SYSTEM));
	/* Pages of a device cannot be copied on write; there is nothing behind a buffer's end. */
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 0, &args.handle), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &args), 0);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)args.offset) ==
	      MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, (off_t)args.offset) == MAP_FAILED);
	CHECK_RET(bo_close(fd, args.handle), 0);
	CHECK(fb_free_is(fd, before));
	close(fd);
	return true;
}

/* Framebuffer that another client has written reads 0 for the next one. */
bool test_bo_zero(void)
{
	uint64_t bytes = 8 * MIB, before, i;
	int fd = node_open(), turn;
	struct buf buf[4];
	unsigned int j;

	CHECK(fd >= 0);
	before = fb_free(fd);
	for (turn = 0; turn < 3; turn++) {
		for (j = 0; j < 4; j++) {
			CHECK_RET(buf_make(fd, bytes, FRAMEBUFFER, &buf[j]), 0);
			for (i = 0; i < bytes; i += 256)
				CHECK(!((uint8_t *)buf[j].ptr)[i]);
			memset(buf[j].ptr, 0x5a + turn, bytes);
		}
		for (j = 0; j < 4; j++)
			buf_end(fd, &buf[j]);
	}
	CHECK(fb_free_is(fd, before));
	close(fd);
	return true;
}

static bool fdinfo_is(int fd, const char *key, uint64_t want)
{
	uint64_t is = fdinfo_of(fd, key);

	return is == want || failed("%s: %llu bytes, not %llu", key, (unsigned long long)is,
				    (unsigned long long)want);
}

bool test_fdinfo(void)
{
	uint32_t handle;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(bo_make(fd, 5 * PAGE, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bo_make(fd, 7 * PAGE, SYSTEM, 0, &handle), 0);
	CHECK(fdinfo_is(fd, "drm-total-vram", 5 * PAGE));
	CHECK(fdinfo_is(fd, "drm-resident-vram", 5 * PAGE));
	CHECK(fdinfo_is(fd, "drm-active-vram", 0));
	CHECK(fdinfo_is(fd, "drm-total-system", 7 * PAGE));
	CHECK_RET(bo_close(fd, handle), 0);
	CHECK(fdinfo_is(fd, "drm-total-system", 0));
	close(fd);
	return true;
}

/* Who asks gets nothing, who has keeps it, and all of it can be had. */
bool test_exhausted(void)
{
	struct drm_vgpu_dev_info info, then;
	uint32_t handle[1024], more, nr = 0;
	uint64_t before, bytes;
	int fd = node_open();
	uint32_t i, *word;

	CHECK(fd >= 0);
	before = fb_free(fd);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK_RET(bo_make(fd, info.fb_bytes + PAGE, FRAMEBUFFER, 0, &more), -ENOSPC);
	for (bytes = info.fb_bytes / 4; bytes >= PAGE && nr < 1024;) {
		int ret = bo_make(fd, bytes, FRAMEBUFFER, 0, &handle[nr]);

		CHECK(!ret || ret == -ENOSPC);
		if (ret) {
			bytes = bytes / 2 / PAGE * PAGE;
			continue;
		}
		CHECK_RET(bo_map(fd, handle[nr], PAGE, (void **)&word), 0);
		CHECK(!*word);
		*word = ++nr;
		munmap(word, PAGE);
	}
	CHECK_RET(node_info(fd, &then), 0);
	CHECK(then.fb_free < info.fb_bytes / 100 && then.system_free < info.system_bytes / 100);
	CHECK_RET(bo_make(fd, then.fb_free + then.system_free + PAGE, FRAMEBUFFER, 0, &more),
		  -ENOSPC);
	CHECK_RET(bo_make(fd, then.system_free + PAGE, SYSTEM, 0, &more), -ENOMEM);
	/* A buffer that is idle makes room for a page table. */
	CHECK_RET(vm_make(fd, &more), 0);
	for (i = 0; i < nr; i++) {
		CHECK_RET(bo_map(fd, handle[i], PAGE, (void **)&word), 0);
		CHECK(*word == i + 1);
		munmap(word, PAGE);
	}
	while (nr--)
		CHECK_RET(bo_close(fd, handle[nr]), 0);
	close(fd);
	fd = node_open();
	CHECK(fb_free_is(fd, before));
	close(fd);
	return true;
}

/* Ids are those of a file. */
bool test_files_apart(void)
{
	int a = node_open(), b = node_open();
	uint32_t vm, other, queue, handle;

	CHECK(a >= 0 && b >= 0);
	CHECK_RET(vm_make(a, &vm), 0);
	CHECK_RET(queue_make(a, vm, 0, 4, &queue), 0);
	CHECK_RET(bo_make(a, PAGE, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(vm_end(b, vm), -ENOENT);
	CHECK_RET(queue_end(b, queue), -ENOENT);
	CHECK_RET(queue_make(b, vm, 0, 4, &other), -ENOENT);
	CHECK_RET(bo_make(b, PAGE, FRAMEBUFFER, vm, &other), -ENOENT);
	CHECK_RET(exec_wait(b, queue, NULL, 0), -ENOENT);
	CHECK_RET(vm_make(b, &other), 0);
	CHECK_RET(bind_map(b, other, handle, 0, VA_DATA, PAGE, 0), -ENOENT);
	close(b);
	CHECK_RET(exec_wait(a, queue, NULL, 0), 0);
	close(a);
	return true;
}
