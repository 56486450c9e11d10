// SPDX-License-Identifier: GPL-2.0
/* Tests of mappings and jobs: what the device does, the CPU sees. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <drm/drm.h>

#include "node.h"
#include "rv.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define GR		0
#define CE		1

/**
 * struct client - a file with a VM and a queue
 * @fd:    of the node
 * @vm:    id
 * @queue: id
 */
struct client {
	int fd;
	uint32_t vm;
	uint32_t queue;
};

static bool begin(struct client *c, uint32_t engine)
{
	c->fd = node_open();
	CHECK(c->fd >= 0);
	CHECK_RET(vm_make(c->fd, &c->vm), 0);
	CHECK_RET(queue_make(c->fd, c->vm, engine, 4, &c->queue), 0);
	return true;
}

static bool all_are(const struct buf *buf, uint64_t from, uint64_t bytes, uint32_t value)
{
	const uint32_t *word = buf->ptr;
	uint64_t i;

	for (i = from / 4; i < (from + bytes) / 4; i++)
		if (word[i] != value)
			return failed("word %#llx is %#x, not %#x", (unsigned long long)i, word[i],
				      value);
	return true;
}

/* Between all pairs of memories, on both kinds of engines. */
bool test_copy(void)
{
	const uint64_t bytes = 2 * MIB + 3 * PAGE;
	struct vgpu_hw_packet packet[2];
	uint32_t engine, from, to;
	struct buf src, dst;
	struct client c;

	for (engine = GR; engine <= CE; engine++) {
		CHECK(begin(&c, engine));
		for (from = 0; from < 2; from++) {
			for (to = 0; to < 2; to++) {
				CHECK_RET(buf_make(c.fd, bytes, from, &src), 0);
				CHECK_RET(buf_make(c.fd, bytes, to, &dst), 0);
				CHECK_RET(bind_map(c.fd, c.vm, src.handle, 0, VA_DATA, bytes,
						   DRM_VGPU_BIND_WRITE), 0);
				CHECK_RET(bind_map(c.fd, c.vm, dst.handle, 0, VA_MORE, bytes,
						   DRM_VGPU_BIND_WRITE), 0);
				packet[0] = packet_fill(VA_DATA, bytes, 0x1234567 + to);
				packet[1] = packet_copy(VA_MORE + PAGE, VA_DATA, bytes - PAGE);
				CHECK_RET(exec_wait(c.fd, c.queue, packet, 2), 0);
				CHECK(all_are(&src, 0, bytes, 0x1234567 + to));
				CHECK(all_are(&dst, 0, PAGE, 0));
				CHECK(all_are(&dst, PAGE, bytes - PAGE, 0x1234567 + to));
				buf_end(c.fd, &src);
				buf_end(c.fd, &dst);
			}
		}
		close(c.fd);
	}
	return true;
}

/* Fills a range of the address space. */
static int fill(const struct client *c, uint64_t va, uint64_t bytes, uint32_t value)
{
	const struct vgpu_hw_packet packet = packet_fill(va, bytes, value);

	return exec_wait(c->fd, c->queue, &packet, 1);
}

/* Mappings that are replaced, cut and split, of leaves of 4 KiB and 2 MiB. */
bool test_bind(void)
{
	const uint64_t bytes = 8 * MIB;
	struct client c;
	struct buf a, b;

	CHECK(begin(&c, CE));
	CHECK_RET(buf_make(c.fd, bytes, FRAMEBUFFER, &a), 0);
	CHECK_RET(buf_make(c.fd, bytes, FRAMEBUFFER, &b), 0);
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, VA_DATA, bytes, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(fill(&c, VA_DATA, bytes, 1), 0);
	CHECK(all_are(&a, 0, bytes, 1));
	/* Another buffer in the middle of a large leaf. */
	CHECK_RET(bind_map(c.fd, c.vm, b.handle, 5 * PAGE, VA_DATA + 3 * MIB, 16 * PAGE,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(fill(&c, VA_DATA, bytes, 2), 0);
	CHECK(all_are(&a, 0, 3 * MIB, 2) && all_are(&a, 3 * MIB, 16 * PAGE, 1) &&
	      all_are(&a, 3 * MIB + 16 * PAGE, 5 * MIB - 16 * PAGE, 2));
	CHECK(all_are(&b, 0, 5 * PAGE, 0) && all_are(&b, 5 * PAGE, 16 * PAGE, 2) &&
	      all_are(&b, 21 * PAGE, bytes - 21 * PAGE, 0));
	/* The same again over all of it: what was cut is whole. */
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, VA_DATA, bytes, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(fill(&c, VA_DATA, bytes, 3), 0);
	CHECK(all_are(&a, 0, bytes, 3) && all_are(&b, 5 * PAGE, 16 * PAGE, 2));
	/* An address and an offset that do not suit each other, and across a table's end. */
	CHECK_RET(bind_map(c.fd, c.vm, b.handle, PAGE, (1ull << 30) - 3 * MIB, 6 * MIB,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(fill(&c, (1ull << 30) - 3 * MIB, 6 * MIB, 4), 0);
	CHECK(all_are(&b, 0, PAGE, 0) && all_are(&b, PAGE, 6 * MIB, 4));
	/* Nothing there is no error; a part is gone, the rest goes on. */
	CHECK_RET(bind_unmap(c.fd, c.vm, 0, 1ull << 30), 0);
	CHECK_RET(bind_unmap(c.fd, c.vm, VA_DATA + 2 * MIB, PAGE), 0);
	CHECK_RET(fill(&c, VA_DATA, 2 * MIB, 5), 0);
	CHECK_RET(fill(&c, VA_DATA + 2 * MIB + PAGE, MIB, 5), 0);
	CHECK(all_are(&a, 2 * MIB, PAGE, 3));
	CHECK_RET(fill(&c, VA_DATA + 2 * MIB, PAGE, 6), -EIO);
	CHECK(all_are(&a, 2 * MIB, PAGE, 3));
	/* The last page that there is, by a queue that is not lost; then not for writing. */
	CHECK_RET(queue_make(c.fd, c.vm, CE, 4, &c.queue), 0);
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, (1ull << 38) - PAGE, PAGE,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(fill(&c, (1ull << 38) - PAGE, PAGE, 7), 0);
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, (1ull << 38) - PAGE, PAGE, 0), 0);
	CHECK_RET(fill(&c, (1ull << 38) - PAGE, PAGE, 8), -EIO);
	CHECK(all_are(&a, 0, PAGE, 7));
	close(c.fd);
	return true;
}

static int bind_async(const struct client *c, const struct drm_vgpu_bind_op *op, uint32_t nr,
		      uint32_t wait, uint32_t signal)
{
	struct drm_vgpu_sync sync[2];
	struct drm_vgpu_vm_bind args = {
		.vm_id = c->vm,
		.flags = DRM_VGPU_VM_BIND_ASYNC,
		.ops = { .stride = sizeof(*op), .count = nr, .pointer = (uintptr_t)op },
		.syncs = sync_pair(sync, wait, signal),
	};

	return node_ioctl(c->fd, DRM_IOCTL_VGPU_VM_BIND, &args);
}

/* A program that stores its id at a0 + 4 * id, after it has seen a word there that is not 0. */
static const uint32_t wait_for_word[] = {
	RV_LW(RV_T0, 0, RV_A0),
	RV_BEQ(RV_T0, RV_ZERO, -4),
	RV_RET,
};

/* Bind waits for a job, and another job for the bind. */
bool test_bind_async(void)
{
	struct vgpu_hw_packet packet;
	struct drm_vgpu_bind_op op;
	uint32_t ran, bound, done;
	struct buf flag, text, a;
	struct client c, d;

	CHECK(begin(&c, GR));
	d = c;
	CHECK_RET(queue_make(c.fd, c.vm, CE, 4, &d.queue), 0);
	CHECK_RET(buf_make(c.fd, PAGE, FRAMEBUFFER, &flag), 0);
	CHECK_RET(buf_make(c.fd, PAGE, FRAMEBUFFER, &a), 0);
	CHECK_RET(bind_map(c.fd, c.vm, flag.handle, 0, VA_DATA, PAGE, 0), 0);
	CHECK_RET(program_load(c.fd, c.vm, wait_for_word, 3, VA_MORE, &text), 0);
	CHECK(!sync_make(c.fd, &ran) && !sync_make(c.fd, &bound) && !sync_make(c.fd, &done));
	packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	CHECK_RET(exec(c.fd, c.queue, &packet, 1, 0, ran), 0);
	op = (struct drm_vgpu_bind_op){
		.type = DRM_VGPU_BIND_MAP,
		.flags = DRM_VGPU_BIND_WRITE,
		.handle = a.handle,
		.va = VA_MORE + MIB,
		.size = PAGE,
	};
	CHECK_RET(bind_async(&c, &op, 1, ran, bound), 0);
	packet = packet_fill(VA_MORE + MIB, PAGE, 9);
	CHECK_RET(exec(c.fd, d.queue, &packet, 1, bound, done), 0);
	CHECK_RET(sync_wait(c.fd, done, 300), -ETIME);
	CHECK(all_are(&a, 0, PAGE, 0));
	/* One that is done at once does not wait for those. */
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, VA_MORE + 2 * MIB, PAGE, 0), 0);
	*(volatile uint32_t *)flag.ptr = 1;
	CHECK_RET(sync_wait(c.fd, done, WAIT_MS), 0);
	CHECK(!sync_error(c.fd, ran) && !sync_error(c.fd, bound) && !sync_error(c.fd, done));
	CHECK(all_are(&a, 0, PAGE, 9));
	/* Without operations it is a fence behind those before it. */
	CHECK_RET(bind_async(&c, NULL, 0, 0, bound), 0);
	CHECK_RET(sync_wait(c.fd, bound, WAIT_MS), 0);
	/* The VM goes while a bind waits for what takes long. */
	*(volatile uint32_t *)flag.ptr = 0;
	packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	CHECK_RET(exec(c.fd, c.queue, &packet, 1, 0, ran), 0);
	CHECK_RET(bind_async(&c, &op, 1, ran, bound), 0);
	CHECK_RET(vm_end(c.fd, c.vm), 0);
	CHECK_RET(sync_wait(c.fd, bound, 100), -ETIME);
	*(volatile uint32_t *)flag.ptr = 1;
	CHECK_RET(sync_wait(c.fd, bound, WAIT_MS), 0);
	CHECK(sync_error(c.fd, bound) == -ESRCH && !sync_error(c.fd, ran));
	close(c.fd);
	return true;
}

/* Points of a timeline, and jobs of two queues in their order. */
bool test_sync(void)
{
	struct vgpu_hw_packet packet[2];
	struct drm_vgpu_sync sync[2];
	struct drm_vgpu_exec args;
	uint32_t timeline, point;
	struct client c, d;
	struct buf a;

	CHECK(begin(&c, GR));
	d = c;
	CHECK_RET(queue_make(c.fd, c.vm, CE, 4, &d.queue), 0);
	CHECK_RET(buf_make(c.fd, MIB, FRAMEBUFFER, &a), 0);
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, VA_DATA, MIB, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(c.fd, &timeline), 0);
	for (point = 1; point <= 40; point++) {
		/* Each job copies what the one before it on the other queue has written. */
		packet[0] = packet_copy(VA_DATA + point * 8, VA_DATA + (point - 1) * 8, 4);
		packet[1] = packet_fill(VA_DATA + point * 8 + 4, 4, point);
		if (point == 1)
			packet[0] = packet_fill(VA_DATA + 8, 4, 77);
		sync[0] = (struct drm_vgpu_sync){
			.handle = timeline,
			.flags = DRM_VGPU_SYNC_TIMELINE | DRM_VGPU_SYNC_SIGNAL,
			.point = point,
		};
		sync[1] = (struct drm_vgpu_sync){
			.handle = timeline,
			.flags = DRM_VGPU_SYNC_TIMELINE,
			.point = point - 1,
		};
		args = (struct drm_vgpu_exec){
			.queue_id = point % 2 ? c.queue : d.queue,
			.count = 2,
			.packets = (uintptr_t)packet,
			.syncs = {
				.stride = sizeof(sync[0]),
				.count = point > 1 ? 2 : 1,
				.pointer = (uintptr_t)sync,
			},
		};
		CHECK_RET(node_ioctl(c.fd, DRM_IOCTL_VGPU_EXEC, &args), 0);
	}
	CHECK_RET(sync_wait_point(c.fd, timeline, 40, WAIT_MS), 0);
	for (point = 1; point <= 40; point++)
		CHECK(((uint32_t *)a.ptr)[point * 2] == 77 &&
		      ((uint32_t *)a.ptr)[point * 2 + 1] == point);
	/* A job without packets comes after those before it. */
	CHECK_RET(exec_wait(c.fd, c.queue, NULL, 0), 0);
	close(c.fd);
	return true;
}

/* More packets than a ring has, in jobs of all sizes: it wraps, and jobs wait for room. */
bool test_ring(void)
{
	struct vgpu_hw_packet packet[16];
	struct drm_vgpu_queue_query query;
	uint32_t i, j, nr, total = 0;
	struct client c;
	struct buf a;

	CHECK(begin(&c, CE));
	CHECK_RET(queue_make(c.fd, c.vm, CE, 4, &c.queue), 0);
	CHECK_RET(buf_make(c.fd, MIB, FRAMEBUFFER, &a), 0);
	CHECK_RET(bind_map(c.fd, c.vm, a.handle, 0, VA_DATA, MIB, DRM_VGPU_BIND_WRITE), 0);
	for (i = 0; i < 200; i++) {
		nr = i % 16 + 1;
		for (j = 0; j < nr; j++) {
			packet[j] = packet_fill(VA_DATA + total * 4, 4, total + 1);
			total++;
		}
		CHECK_RET(exec(c.fd, c.queue, packet, nr, 0, 0), 0);
	}
	CHECK_RET(exec_wait(c.fd, c.queue, NULL, 0), 0);
	for (i = 0; i < total; i++)
		CHECK(((uint32_t *)a.ptr)[i] == i + 1);
	CHECK_RET(queue_ask(c.fd, c.queue, &query), 0);
	CHECK(query.state == DRM_VGPU_QUEUE_OK && query.submitted == total + 1 &&
	      query.completed == total + 1);
	close(c.fd);
	return true;
}

/* Each work-item stores its id at a0 + 4 * id. */
static const uint32_t store_id[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_SLLI(RV_T1, RV_T0, 2),
	RV_ADD(RV_T1, RV_T1, RV_A0),
	RV_SW(RV_T0, 0, RV_T1),
	RV_RET,
};

bool test_dispatch(void)
{
	struct vgpu_hw_packet packet;
	struct buf text, out;
	struct client c;
	uint32_t i;

	CHECK(begin(&c, GR));
	CHECK_RET(buf_make(c.fd, MIB, FRAMEBUFFER, &out), 0);
	CHECK_RET(bind_map(c.fd, c.vm, out.handle, 0, VA_DATA, MIB, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(program_load(c.fd, c.vm, store_id, 5, VA_MORE, &text), 0);
	packet = packet_dispatch(VA_MORE, VA_DATA, 10000, 64);
	CHECK_RET(exec_wait(c.fd, c.queue, &packet, 1), 0);
	for (i = 0; i < MIB / 4; i++)
		CHECK(((uint32_t *)out.ptr)[i] == (i < 10000 ? i : 0));
	close(c.fd);
	return true;
}

static const uint32_t store_one[] = { RV_LI(RV_T0, 1), RV_SW(RV_T0, 0, RV_A0), RV_RET };
static const uint32_t store_two[] = { RV_LI(RV_T0, 2), RV_SW(RV_T0, 0, RV_A0), RV_RET };

/* Text that was written over and mapped again is the text that is executed. */
bool test_text_changes(void)
{
	struct vgpu_hw_packet packet;
	struct buf text, out;
	struct client c;

	CHECK(begin(&c, GR));
	CHECK_RET(buf_make(c.fd, PAGE, FRAMEBUFFER, &out), 0);
	CHECK_RET(bind_map(c.fd, c.vm, out.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(program_load(c.fd, c.vm, store_one, 3, VA_MORE, &text), 0);
	packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	CHECK_RET(exec_wait(c.fd, c.queue, &packet, 1), 0);
	CHECK(*(volatile uint32_t *)out.ptr == 1);
	memcpy((uint8_t *)text.ptr + PAGE, store_two, sizeof(store_two));
	CHECK_RET(bind_map(c.fd, c.vm, text.handle, 0, VA_MORE, 2 * PAGE, DRM_VGPU_BIND_EXEC), 0);
	CHECK_RET(exec_wait(c.fd, c.queue, &packet, 1), 0);
	CHECK(*(volatile uint32_t *)out.ptr == 2);
	close(c.fd);
	return true;
}
