// SPDX-License-Identifier: GPL-2.0
/* The model of a random load: what must be where, and what has to come before what. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "oracle.h"

void oracle_merge(struct oracle_need *need, const struct oracle_need *with)
{
	uint32_t i;

	for (i = 0; i < ORACLE_LINES; i++)
		oracle_after(need, i, with->point[i]);
}

static struct oracle_page *page_at(struct oracle *o, uint64_t at)
{
	CHECK(at >= ORACLE_AT && at < ORACLE_AT + ORACLE_PAGES * PAGE);
	return &o->page[(at - ORACLE_AT) / PAGE];
}

void oracle_need_of(struct oracle *o, struct oracle_need *need, const struct oracle_touch *touch)
{
	uint64_t at = touch->at & ~(PAGE - 1);
	struct oracle_page *page;
	struct oracle_buf *buf;

	for (; at < touch->at + touch->bytes; at += PAGE) {
		page = page_at(o, at);
		CHECK(page->buf >= 0);
		buf = &o->buf[page->buf];
		oracle_after(need, ORACLE_BIND, page->bound);
		oracle_merge(need, &buf->write[page->page]);
		if (touch->write)
			oracle_merge(need, &buf->read[page->page]);
	}
}

void oracle_mark(struct oracle *o, const struct oracle_touch *touch, uint32_t line, uint32_t point)
{
	uint64_t at = touch->at & ~(PAGE - 1);
	struct oracle_page *page;
	struct oracle_buf *buf;

	for (; at < touch->at + touch->bytes; at += PAGE) {
		page = page_at(o, at);
		buf = &o->buf[page->buf];
		oracle_after(&page->used, line, point);
		oracle_after(touch->write ? &buf->write[page->page] : &buf->read[page->page],
			     line, point);
	}
}

uint8_t *oracle_model(struct oracle *o, uint64_t at)
{
	struct oracle_page *page = page_at(o, at);

	return o->buf[page->buf].model + page->page * PAGE + at % PAGE;
}

static bool fits(const struct oracle *o, const struct oracle_page *page, uint32_t flags, bool fb)
{
	return page->buf >= 0 && (page->flags & flags) == flags &&
	       (!fb || o->buf[page->buf].placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER);
}

uint32_t oracle_range(struct oracle *o, uint32_t flags, bool fb, uint32_t most, uint32_t *first)
{
	uint32_t try, nr;

	for (try = 0; try < 64; try++) {
		*first = rng_below(&o->rng, ORACLE_PAGES);
		for (nr = 0; nr < most && *first + nr < ORACLE_PAGES; nr++)
			if (!fits(o, &o->page[*first + nr], flags, fb))
				break;
		if (nr)
			return nr;
	}
	return 0;
}

void oracle_wait(struct oracle *o, const struct oracle_need *need)
{
	uint32_t i;

	for (i = 0; i < ORACLE_LINES; i++) {
		if (need->point[i] <= o->line[i].seen)
			continue;
		CHECK_RET(sync_wait_point(o->fd, o->line[i].sync, need->point[i], WAIT_MS), 0);
		o->line[i].seen = need->point[i];
	}
}

void oracle_compare(struct oracle *o, const struct oracle_buf *buf, uint32_t first, uint32_t nr)
{
	const uint32_t *is = (const uint32_t *)(buf->ptr + first * PAGE), *want;
	uint64_t i;

	want = (const uint32_t *)(buf->model + first * PAGE);
	if (!memcmp(is, want, nr * PAGE))
		return;
	for (i = 0; i < nr * PAGE / 4 && is[i] == want[i]; i++)
		;
	failed("buffer %u of %u pages, placement %u, page %llu, word %llu: %#x, not %#x",
	       (uint32_t)(buf - o->buf), buf->pages, buf->placement,
	       (unsigned long long)(first + i / 1024), (unsigned long long)(i % 1024), is[i],
	       want[i]);
	CHECK(false);
}

void oracle_see_run(struct oracle *o, uint32_t i)
{
	const uint32_t *out = o->out.ptr;
	struct oracle_need need = {};
	uint32_t item;

	if (!o->run[i].point)
		return;
	oracle_after(&need, o->run[i].line, o->run[i].point);
	oracle_wait(o, &need);
	for (item = 0; item < ORACLE_ITEMS; item++)
		if (out[i * ORACLE_ITEMS + item] != o->run[i].sum[item]) {
			failed("program %u, work-item %u: %#x, not %#x", i, item,
			       out[i * ORACLE_ITEMS + item], o->run[i].sum[item]);
			CHECK(false);
		}
	o->run[i].point = 0;
}

void oracle_see_lost(struct oracle *o, uint32_t keep)
{
	struct drm_vgpu_queue_query query;
	struct oracle_need need = {};
	uint32_t nr = 0, i;

	for (i = 0; i < ORACLE_LOST; i++) {
		if (!o->lost[i].id || nr++ < keep)
			continue;
		oracle_after(&need, o->lost[i].line, o->lost[i].point);
		oracle_wait(o, &need);
		CHECK_RET(queue_ask(o->fd, o->lost[i].id, &query), 0);
		if (query.state != DRM_VGPU_QUEUE_FAULT ||
		    query.fault_code != VGPU_HW_FAULT_PAGE ||
		    query.fault_packet != o->lost[i].packet ||
		    query.completed != o->lost[i].packet || query.fault_addr != o->lost[i].addr) {
			failed("lost queue: state %u, code %u, packet %llu of %llu, %#llx of %#llx",
			       query.state, query.fault_code,
			       (unsigned long long)query.fault_packet,
			       (unsigned long long)o->lost[i].packet,
			       (unsigned long long)query.fault_addr,
			       (unsigned long long)o->lost[i].addr);
			CHECK(false);
		}
		CHECK_RET(queue_end(o->fd, o->lost[i].id), 0);
		o->lost[i].id = 0;
	}
}

static void settle_queue(struct oracle *o, uint32_t i)
{
	struct oracle_queue *queue = &o->queue[i];
	struct drm_vgpu_queue_query query;

	CHECK_RET(queue_ask(o->fd, queue->id, &query), 0);
	if (query.state || query.submitted != queue->packets || query.completed != queue->packets) {
		failed("queue %u: state %u, fault %u at %#llx, %llu of %llu done, of %llu", i,
		       query.state, query.fault_code, (unsigned long long)query.fault_addr,
		       (unsigned long long)query.completed, (unsigned long long)query.submitted,
		       (unsigned long long)queue->packets);
		CHECK(false);
	}
}

void oracle_settle(struct oracle *o)
{
	struct oracle_need need = {};
	uint32_t i;

	for (i = 0; i < ORACLE_LINES; i++)
		need.point[i] = o->line[i].last;
	oracle_wait(o, &need);
	for (i = 0; i < ORACLE_RUNS; i++)
		oracle_see_run(o, i);
	oracle_see_lost(o, 0);
	for (i = 0; i < ORACLE_QUEUES; i++)
		settle_queue(o, i);
	for (i = 0; i < ORACLE_BUFS; i++)
		if (o->buf[i].handle)
			oracle_compare(o, &o->buf[i], 0, o->buf[i].pages);
}

static bool is_zero(const uint8_t *at, uint64_t bytes)
{
	return !at[0] && !memcmp(at, at + 1, bytes - 1);
}

void oracle_reset(struct oracle *o)
{
	struct drm_vgpu_queue_query query;
	struct oracle_buf *buf;
	uint32_t i;

	for (i = 0; i < ORACLE_QUEUES; i++) {
		CHECK_RET(queue_ask(o->fd, o->queue[i].id, &query), 0);
		CHECK_RET((int)query.state, DRM_VGPU_QUEUE_DEVICE);
		CHECK_RET(exec(o->fd, o->queue[i].id, NULL, 0, 0, 0), -EIO);
		CHECK_RET(queue_end(o->fd, o->queue[i].id), 0);
		oracle_queue_make(o, i);
	}
	for (i = 0; i < ORACLE_BUFS; i++) {
		buf = &o->buf[i];
		if (buf->handle && buf->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER &&
		    is_zero(buf->ptr, buf->pages * PAGE))
			memset(buf->model, 0, buf->pages * PAGE);
	}
	/* What the program is, and what it was told. */
	pthread_mutex_lock(&o->file->lock);
	CHECK_RET(bind_unmap(o->fd, o->vm, ORACLE_TEXT, 2 * PAGE), 0);
	buf_end(o->fd, &o->text);
	oracle_text(o);
	pthread_mutex_unlock(&o->file->lock);
	oracle_settle(o);
}
