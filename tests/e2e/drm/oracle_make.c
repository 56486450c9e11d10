// SPDX-License-Identifier: GPL-2.0
/* What a random load has: buffers, queues, its program. */
#include <fcntl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/drm.h>

#include "oracle.h"
#include "rv.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM

/*
 * Each work-item has so many words at a place of its own, sums up what it finds there, and makes
 * each word w * factor + plus: { address, words of an item, results, factor, plus } at a0.
 */
static const uint32_t change_words[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_LD(RV_A1, 0, RV_A0),
	RV_LD(RV_A2, 8, RV_A0),
	RV_LD(RV_A3, 16, RV_A0),
	RV_LD(RV_A4, 24, RV_A0),
	RV_LD(RV_A5, 32, RV_A0),
	RV_MUL(RV_T1, RV_T0, RV_A2),
	RV_SLLI(RV_T1, RV_T1, 2),
	RV_ADD(RV_A1, RV_A1, RV_T1),
	RV_LI(RV_T2, 0),
	RV_LW(RV_T1, 0, RV_A1),
	RV_ADD(RV_T2, RV_T2, RV_T1),
	RV_MUL(RV_T1, RV_T1, RV_A4),
	RV_ADD(RV_T1, RV_T1, RV_A5),
	RV_SW(RV_T1, 0, RV_A1),
	RV_ADDI(RV_A1, RV_A1, 4),
	RV_ADDI(RV_A2, RV_A2, -1),
	RV_BNE(RV_A2, RV_ZERO, -28),
	RV_SLLI(RV_T0, RV_T0, 2),
	RV_ADD(RV_A3, RV_A3, RV_T0),
	RV_SW(RV_T2, 0, RV_A3),
	RV_RET,
};

void oracle_text(struct oracle *o)
{
	CHECK_RET(program_load(o->fd, o->vm, change_words, sizeof(change_words) / 4, ORACLE_TEXT,
			       &o->text), 0);
}

static void *room(uint64_t bytes)
{
	void *ptr = calloc(1, bytes);

	CHECK(ptr);
	return ptr;
}

/* Two are such that large leaves map a part of them; together they always find room. */
static uint32_t pages_of(struct oracle *o, uint32_t i)
{
	if (i < 2)
		return 512 + rng_below(&o->rng, 300);
	return 1 + rng_below(&o->rng, i % 2 ? 4 : 200);
}

/* The same buffer by way of a dma-buf: the handle does not change, and neither do the bytes. */
static void export(struct oracle *o, const struct oracle_buf *buf)
{
	struct drm_prime_handle args = { .handle = buf->handle, .flags = O_CLOEXEC | O_RDWR };
	uint64_t bytes = buf->pages * PAGE;
	void *ptr;

	if (buf->alone) {
		CHECK_RET(node_ioctl(o->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args), -EPERM);
		return;
	}
	CHECK_RET(node_ioctl(o->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args), 0);
	args.handle = 0;
	CHECK_RET(node_ioctl(o->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args), 0);
	CHECK(args.handle == buf->handle);
	ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, args.fd, 0);
	CHECK(ptr != MAP_FAILED);
	CHECK(!memcmp(ptr, buf->model, bytes));
	munmap(ptr, bytes);
	close(args.fd);
}

void oracle_buf_make(struct oracle *o, uint32_t i)
{
	struct oracle_buf *buf = &o->buf[i];
	void *ptr;

	buf->pages = pages_of(o, i);
	buf->placement = rng_below(&o->rng, 4) ? FRAMEBUFFER : SYSTEM;
	buf->alone = rng_below(&o->rng, 2);
	pthread_mutex_lock(&o->file->lock);
	CHECK_RET(bo_make(o->fd, buf->pages * PAGE, buf->placement, buf->alone ? o->vm : 0,
			  &buf->handle), 0);
	o->file->bytes[buf->placement] += buf->pages * PAGE;
	pthread_mutex_unlock(&o->file->lock);
	CHECK_RET(bo_map(o->fd, buf->handle, buf->pages * PAGE, &ptr), 0);
	buf->ptr = ptr;
	buf->model = room(buf->pages * PAGE);
	buf->read = room(buf->pages * sizeof(*buf->read));
	buf->write = room(buf->pages * sizeof(*buf->write));
	buf->stamp = room(buf->pages * sizeof(*buf->stamp));
	oracle_compare(o, buf, 0, buf->pages);
	if (!rng_below(&o->rng, 4))
		export(o, buf);
}

/* It is mapped nowhere any more, or will not be when jobs are done that use it. */
void oracle_buf_end(struct oracle *o, uint32_t i)
{
	struct oracle_buf *buf = &o->buf[i];

	munmap(buf->ptr, buf->pages * PAGE);
	pthread_mutex_lock(&o->file->lock);
	CHECK_RET(bo_close(o->fd, buf->handle), 0);
	o->file->bytes[buf->placement] -= buf->pages * PAGE;
	pthread_mutex_unlock(&o->file->lock);
	free(buf->model);
	free(buf->read);
	free(buf->write);
	free(buf->stamp);
	buf->handle = 0;
}

void oracle_queue_make(struct oracle *o, uint32_t i)
{
	struct oracle_queue *queue = &o->queue[i];

	*queue = (struct oracle_queue){
		.engine = i ? 1 + rng_below(&o->rng, 2) : 0,
		.order = VGPU_HW_RING_ORDER_MIN + rng_below(&o->rng, 3),
	};
	CHECK_RET(queue_make_as(o->fd, o->vm, queue->engine, queue->order,
				(int)rng_below(&o->rng, 3) - 1, &queue->id), 0);
	o->line[i].base = o->line[i].last;
}

void oracle_begin(struct oracle *o, struct oracle_file *file, uint64_t seed)
{
	uint32_t i;

	memset(o, 0, sizeof(*o));
	o->rng = rng_seed(seed);
	o->file = file;
	o->fd = file->fd;
	CHECK_RET(vm_make(o->fd, &o->vm), 0);
	for (i = 0; i < ORACLE_LINES; i++)
		CHECK_RET(sync_make(o->fd, &o->line[i].sync), 0);
	for (i = 0; i < ORACLE_ONCE; i++)
		CHECK_RET(sync_make(o->fd, &o->once[i].sync), 0);
	for (i = 0; i < ORACLE_QUEUES; i++)
		oracle_queue_make(o, i);
	for (i = 0; i < ORACLE_PAGES; i++)
		o->page[i].buf = -1;
	pthread_mutex_lock(&file->lock);
	file->bytes[FRAMEBUFFER] += (4 + ORACLE_SCRATCH) * PAGE;
	oracle_text(o);
	CHECK_RET(buf_make(o->fd, PAGE, FRAMEBUFFER, &o->args), 0);
	CHECK_RET(buf_make(o->fd, PAGE, FRAMEBUFFER, &o->out), 0);
	CHECK_RET(buf_make(o->fd, ORACLE_SCRATCH * PAGE, FRAMEBUFFER, &o->scratch), 0);
	pthread_mutex_unlock(&file->lock);
	CHECK_RET(bind_map(o->fd, o->vm, o->args.handle, 0, ORACLE_ARGS, PAGE, 0), 0);
	CHECK_RET(bind_map(o->fd, o->vm, o->out.handle, 0, ORACLE_OUT, PAGE, DRM_VGPU_BIND_WRITE),
		  0);
	CHECK_RET(bind_map(o->fd, o->vm, o->scratch.handle, 0, ORACLE_FREE, ORACLE_SCRATCH * PAGE,
			   DRM_VGPU_BIND_WRITE), 0);
	oracle_share_map(o);
	for (i = 0; i < ORACLE_BUFS; i++) {
		oracle_buf_make(o, i);
		oracle_map(o);
	}
}

void oracle_end(struct oracle *o)
{
	uint32_t i;

	oracle_settle(o);
	for (i = 0; i < ORACLE_QUEUES; i++)
		CHECK_RET(queue_end(o->fd, o->queue[i].id), 0);
	/* Mappings keep buffers; the VM goes with them. */
	for (i = 0; i < ORACLE_BUFS; i++)
		oracle_buf_end(o, i);
	CHECK_RET(vm_end(o->fd, o->vm), 0);
}
