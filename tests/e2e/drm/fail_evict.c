// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of an EXEC fails once that evicts another client's buffers and brings its own
 * back; and of a BO_CREATE whose buffer begins in the guest's memory. What is in them stays.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define CE		1

/* Each of two clients has more than a half. */
#define SMALL		"job_timeout_ms=20000 fb_limit_mb=8"
#define LARGE		(4 * MIB + PAGE)
#define PIECE		(512 * 1024ull + PAGE)
#define VA_PIECE	VA_MORE

#define NTH_MAX		20000

/**
 * struct half - a client
 * @fd:     file
 * @vm:     VM
 * @queue:  queue
 * @sync:   syncobj
 * @large:  buffer of the VM's own
 * @piece:  one in one piece
 * @fill:   what is in them
 */
struct half {
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t sync;
	struct buf large;
	struct buf piece;
	uint32_t fill;
};

static void half_begin(struct half *h, uint32_t fill)
{
	struct vgpu_hw_packet packet[2] = {
		packet_fill(VA_DATA, LARGE, fill), packet_fill(VA_PIECE, PIECE, fill),
	};

	*h = (struct half){
		.fd = node_open(),
		.large.bytes = LARGE,
		.piece.bytes = PIECE,
		.fill = fill,
	};
	CHECK(h->fd >= 0);
	CHECK_RET(vm_make(h->fd, &h->vm), 0);
	CHECK_RET(queue_make(h->fd, h->vm, CE, 4, &h->queue), 0);
	CHECK_RET(sync_make(h->fd, &h->sync), 0);
	CHECK_RET(bo_make(h->fd, LARGE, FRAMEBUFFER, h->vm, &h->large.handle), 0);
	CHECK_RET(bo_make_piece(h->fd, PIECE, 0, &h->piece.handle), 0);
	CHECK_RET(bo_map(h->fd, h->large.handle, LARGE, &h->large.ptr), 0);
	CHECK_RET(bo_map(h->fd, h->piece.handle, PIECE, &h->piece.ptr), 0);
	CHECK_RET(bind_map(h->fd, h->vm, h->large.handle, 0, VA_DATA, LARGE, DRM_VGPU_BIND_WRITE),
		  0);
	CHECK_RET(bind_map(h->fd, h->vm, h->piece.handle, 0, VA_PIECE, PIECE,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(exec_wait(h->fd, h->queue, packet, 2), 0);
}

static void half_end(struct half *h)
{
	buf_end(h->fd, &h->large);
	buf_end(h->fd, &h->piece);
	close(h->fd);
}

static bool buf_is(const struct buf *buf, uint32_t fill)
{
	const uint32_t *word = buf->ptr;
	uint64_t i;

	for (i = 0; i < buf->bytes / 4; i += 257)
		if (word[i] != fill)
			return failed("word %#llx: %#x, not %#x", (unsigned long long)i, word[i],
				      fill);
	return true;
}

static bool half_is_right(const struct half *h)
{
	return buf_is(&h->large, h->fill) && buf_is(&h->piece, h->fill);
}

static int call_exec(struct half *h)
{
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, LARGE, h->fill);

	return exec(h->fd, h->queue, &packet, 1, 0, h->sync);
}

static int call_large(struct half *h)
{
	uint32_t handle;
	int ret = bo_make(h->fd, LARGE, FRAMEBUFFER, h->vm, &handle);

	return ret ? ret : bo_close(h->fd, handle);
}

static int call_piece(struct half *h)
{
	uint32_t handle;
	int ret = bo_make_piece(h->fd, 4 * PIECE, 0, &handle);

	return ret ? ret : bo_close(h->fd, handle);
}

/* The other one's buffers are in the framebuffer before each call. */
static bool fail_each(struct half *h, struct half *other, const char *name,
		      int (*call)(struct half *h))
{
	int i, ret, left;

	for (i = 1; i < NTH_MAX; i++) {
		CHECK_RET(exec_wait(other->fd, other->queue, NULL, 0), 0);
		fail_nth(i);
		ret = call(h);
		left = fail_nth(0);
		if (ret && (left || ret != -ENOMEM))
			return failed("%s: failure %d: %s", name, i, strerror(-ret));
		CHECK(half_is_right(h) && half_is_right(other));
		if (left)
			break;
	}
	CHECK(i > 1 && i < NTH_MAX);
	say("fail_evict: %s: %d failures", name, i - 1);
	CHECK_RET(exec_wait(h->fd, h->queue, NULL, 0), 0);
	return true;
}

bool test_fail_evict(void)
{
	uint64_t fb, system;
	struct half h[2];
	int fd;

	CHECK(module_again(SMALL) && failures_on());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	half_begin(&h[0], 0x11111111);
	half_begin(&h[1], 0x22222222);
	CHECK(fail_each(&h[0], &h[1], "exec", call_exec));
	CHECK(fail_each(&h[0], &h[1], "large", call_large));
	CHECK(fail_each(&h[0], &h[1], "piece", call_piece));
	half_end(&h[0]);
	half_end(&h[1]);
	CHECK(fb_free_is(fd, fb) && system_free_is(fd, system));
	close(fd);
	return module_again(NULL);
}
