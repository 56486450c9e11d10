// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of PRESENT: what it shows lies in one piece of the framebuffer, and stays there; and of the
 * files in debugfs that tell where a VM has it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <drm/drm.h>
#include <libvgpu.h>

#include "shown.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0

#define PIECES		256u
#define PIECE		(64 * 1024ull)
#define VA_HALVES	(VA_DATA + 64 * MIB)
#define HALF		(2 * MIB)
#define HALVES		4u
#define OTHER_BYTES	(8 * MIB)
#define OTHERS		6u

struct vgpu_hw_packet packet_present(uint64_t va, uint32_t height)
{
	return (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_PRESENT,
		.dst = htole64(va),
		.present_width = htole32(WIDTH),
		.present_height = htole32(height),
		.present_pitch = htole32(PITCH),
		.present_format = htole32(VGPU_HW_FORMAT_XRGB8888),
	};
}

int present(int fd, uint32_t queue, uint64_t va, uint32_t height)
{
	const struct vgpu_hw_packet packet = packet_present(va, height);

	return exec_wait(fd, queue, &packet, 1);
}

/* Leaves the framebuffer with holes. The buffers stay until the file is closed. */
static bool punch(int fd)
{
	uint32_t handle[PIECES], i;

	for (i = 0; i < PIECES; i++)
		CHECK_RET(bo_make(fd, PIECE, FRAMEBUFFER, 0, &handle[i]), 0);
	for (i = 0; i < PIECES; i += 2)
		CHECK_RET(bo_close(fd, handle[i]), 0);
	return true;
}

/* Pages of one buffer in the wrong order are in more than one piece. */
static bool in_pieces(int fd, uint32_t vm, uint32_t handle)
{
	struct drm_vgpu_queue_query query;
	uint32_t queue;

	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(bind_map(fd, vm, handle, PAGE, VA_MORE, PAGE, 0), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_MORE + PAGE, PAGE, 0), 0);
	CHECK_RET(present(fd, queue, VA_MORE, 2), -EIO);
	CHECK_RET(queue_ask(fd, queue, &query), 0);
	CHECK(query.state == DRM_VGPU_QUEUE_FAULT && query.fault_code == VGPU_HW_FAULT_PAGE);
	CHECK(query.fault_addr == VA_MORE + PAGE);
	return true;
}

/* A program with libvgpu does the same. */
static bool library_shows(void)
{
	struct vgpu_chan *chan;
	struct vgpu_dev *dev;
	uint64_t at;

	CHECK_RET(vgpu_dev_open_node(&dev, NULL), 0);
	CHECK_RET(vgpu_fb_alloc_shown(dev, SURFACE, PAGE, &at), 0);
	CHECK_RET(vgpu_chan_create(dev, GR, VGPU_RING_FB, VGPU_HW_RING_ORDER_MIN, &chan), 0);
	CHECK_RET(vgpu_chan_present(chan, at, WIDTH, HEIGHT, PITCH), 0);
	CHECK_RET(vgpu_chan_wait_idle(chan, WAIT_MS), 0);
	vgpu_chan_destroy(chan);
	vgpu_dev_close(dev);
	return true;
}

bool test_present(void)
{
	struct drm_vgpu_dev_info info;
	uint32_t vm, queue, handle;
	int fd = node_open(), i;

	CHECK(fd >= 0);
	CHECK(punch(fd));
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	for (i = 0; i < 8; i++) {
		CHECK_RET(bo_make_piece(fd, SURFACE, 0, &handle), 0);
		CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, SURFACE, 0), 0);
		CHECK_RET(present(fd, queue, VA_DATA, HEIGHT), 0);
		CHECK_RET(bo_close(fd, handle), 0);
	}
	/* What is the driver's own is not shown. */
	CHECK_RET(present(fd, queue, 1ull << 63, HEIGHT), -EINVAL);
	/* One that ends behind a VM's last address, or has no end, faults; it shows nothing. */
	CHECK_RET(present(fd, queue, (1ull << 38) - PAGE, ~0u), -EIO);
	CHECK_RET(bo_make_piece(fd, 2 * PAGE, 0, &handle), 0);
	CHECK(in_pieces(fd, vm, handle));
	CHECK_RET(node_info(fd, &info), 0);
	CHECK_RET(bo_make_piece(fd, info.fb_bytes + PAGE, 0, &handle), -ENOSPC);
	close(fd);
	return library_shows();
}

bool resident_is(int fd, uint64_t bytes)
{
	uint64_t is = fdinfo_of(fd, "drm-resident-vram");

	return is == bytes || failed("%llu bytes are in the framebuffer, not %llu",
				     (unsigned long long)is, (unsigned long long)bytes);
}

/*
 * Shows two buffers as one surface, which they are where they happen to be beside each other: as
 * many are made. Returns the bytes that are shown.
 */
static uint64_t show_halves(int fd, uint32_t vm)
{
	uint32_t handle[HALVES], queue, nr, i;

	CHECK_RET(bo_make_piece(fd, HALF, 0, &handle[0]), 0);
	for (nr = 1; nr < HALVES; nr++) {
		CHECK_RET(bo_make_piece(fd, HALF, 0, &handle[nr]), 0);
		for (i = 0; i < 2; i++) {
			CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
			CHECK_RET(bind_map(fd, vm, handle[nr - i], 0, VA_HALVES, HALF, 0), 0);
			CHECK_RET(bind_map(fd, vm, handle[nr - 1 + i], 0, VA_HALVES + HALF, HALF,
					   0), 0);
			if (present(fd, queue, VA_HALVES, 2 * HALF / PITCH))
				continue;
			for (i = 0; i + 1 < nr; i++)
				CHECK_RET(bo_close(fd, handle[i]), 0);
			return 2 * HALF;
		}
	}
	failed("no two of %u buffers are beside each other", HALVES);
	return 0;
}

/*
 * The surface is mapped by an asynchronous bind, which waits, as the PRESENT waits for the bind: so
 * it is shown by a job that was pushed before there was a mapping.
 */
static uint64_t show_later(int fd, uint32_t vm)
{
	const struct vgpu_hw_packet packet = packet_present(VA_DATA, HEIGHT);
	struct drm_syncobj_handle from = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	struct drm_vgpu_bind_op op = {
		.type = DRM_VGPU_BIND_MAP, .va = VA_DATA, .size = SURFACE,
	};
	struct drm_vgpu_sync sync[2];
	struct drm_vgpu_vm_bind bind = {
		.vm_id = vm,
		.flags = DRM_VGPU_VM_BIND_ASYNC,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};
	uint32_t queue, busy, never, bound, shown;
	int at_work;

	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(bo_make_piece(fd, SURFACE, 0, &op.handle), 0);
	at_work = begin_for_ever(&busy, &never);
	CHECK(at_work >= 0);
	from.fd = sync_file(at_work, never);
	CHECK_RET(sync_make(fd, &from.handle), 0);
	CHECK_RET(sync_make(fd, &bound), 0);
	CHECK_RET(sync_make(fd, &shown), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &from), 0);
	bind.syncs = sync_pair(sync, from.handle, bound);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_VM_BIND, &bind), 0);
	CHECK_RET(exec(fd, queue, &packet, 1, bound, shown), 0);
	CHECK_RET(sync_wait(fd, bound, 0), -ETIME);
	CHECK_RET(queue_end(at_work, busy), 0);
	CHECK_RET(sync_wait(fd, shown, WAIT_MS), 0);
	CHECK_RET(sync_error(fd, shown), 0);
	close(from.fd);
	close(at_work);
	return SURFACE;
}

/* Buffers of a client, of which one is not shown; another client wants more room than there is. */
static bool stays(uint64_t (*show)(int fd, uint32_t vm))
{
	uint32_t vm, queue, hidden, more, i;
	int fd = node_open(), other = node_open();
	uint64_t shown_bytes;

	CHECK(fd >= 0 && other >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	shown_bytes = show(fd, vm);
	CHECK(shown_bytes);
	CHECK_RET(bo_make(fd, 2 * OTHER_BYTES, FRAMEBUFFER, 0, &hidden), 0);
	CHECK_RET(bind_map(fd, vm, hidden, 0, VA_MORE, 2 * OTHER_BYTES, 0), 0);
	CHECK_RET(exec_wait(fd, queue, NULL, 0), 0);
	CHECK(resident_is(fd, shown_bytes + 2 * OTHER_BYTES));
	CHECK_RET(vm_make(other, &vm), 0);
	CHECK_RET(queue_make(other, vm, GR, 4, &queue), 0);
	for (i = 0; i < OTHERS; i++) {
		CHECK_RET(bo_make(other, OTHER_BYTES, FRAMEBUFFER, 0, &more), 0);
		CHECK_RET(bind_map(other, vm, more, 0, VA_DATA + i * OTHER_BYTES, OTHER_BYTES, 0),
			  0);
	}
	CHECK_RET(exec_wait(other, queue, NULL, 0), 0);
	CHECK(resident_is(other, OTHERS * OTHER_BYTES));
	CHECK(resident_is(fd, shown_bytes));
	close(fd);
	close(other);
	return true;
}

bool test_present_stays(void)
{
	bool ok;

	CHECK(module_again(SMALL));
	ok = stays(show_later);
	CHECK(module_again(SMALL));
	ok = stays(show_halves) && ok;
	return module_again(NULL) && ok;
}

char *debugfs_text(const char *name)
{
	char pattern[64];
	static char all[1 << 16];
	ssize_t n = -1;
	glob_t found;
	int fd;

	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/dri/*/%s", name);
	CHECK_RET(glob(pattern, 0, NULL, &found), 0);
	fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	CHECK(fd >= 0);
	n = read(fd, all, sizeof(all) - 1);
	close(fd);
	CHECK(n >= 0);
	all[n] = 0;
	return all;
}

static bool debugfs_has(const char *name, const char *text)
{
	const char *all = debugfs_text(name);

	return strstr(all, text) || failed("%s has no \"%s\": %s", name, text, all);
}

bool test_debugfs(void)
{
	uint32_t vm, queue, handle;
	int fd = node_open();
	char text[64];

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA + 5 * PAGE, PAGE, 0), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(exec_wait(fd, queue, NULL, 0), 0);
	snprintf(text, sizeof(text), " %d) [", getpid());
	CHECK(debugfs_has("gpuvas", text));
	CHECK(debugfs_has("gpuvas", "0x0000000100005000 | 0x0000000000001000"));
	snprintf(text, sizeof(text), " %d: client ", getpid());
	CHECK(debugfs_has("queues", text));
	CHECK(debugfs_has("queues", "packets 1, done 1, error 0"));
	CHECK_RET(queue_end(fd, queue), 0);
	CHECK_RET(vm_end(fd, vm), 0);
	close(fd);
	return true;
}
