// SPDX-License-Identifier: GPL-2.0
/* What a random load does. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "oracle.h"

/* A binary syncobj of the same queue as the point, for it or for one behind it; or 0. */
static uint32_t once_for(const struct oracle *o, uint32_t line, uint32_t point)
{
	uint32_t i;

	for (i = 0; i < ORACLE_ONCE; i++)
		if (o->once[i].line == line && o->once[i].point >= point && o->once[i].base < point)
			return o->once[i].sync;
	return 0;
}

uint32_t oracle_syncs(struct oracle *o, const struct oracle_need *need, uint32_t line,
		      struct drm_vgpu_sync *sync)
{
	uint32_t nr = 0, i, once;

	sync[nr++] = (struct drm_vgpu_sync){
		.handle = o->line[line].sync,
		.flags = DRM_VGPU_SYNC_TIMELINE | DRM_VGPU_SYNC_SIGNAL,
		.point = o->line[line].last + 1,
	};
	for (i = 0; i < ORACLE_LINES; i++) {
		/* Jobs of a queue, and binds, are in order by themselves. */
		if (!need->point[i] || (i == line && need->point[i] > o->line[i].base))
			continue;
		once = oracle_one_in(o, 2) ? once_for(o, i, need->point[i]) : 0;
		sync[nr++] = once ? (struct drm_vgpu_sync){ .handle = once } :
			     (struct drm_vgpu_sync){
				     .handle = o->line[i].sync,
				     .flags = DRM_VGPU_SYNC_TIMELINE,
				     .point = need->point[i],
			     };
	}
	return nr;
}

uint32_t oracle_once(struct oracle *o, struct drm_vgpu_sync *sync, uint32_t *nr)
{
	uint32_t i = oracle_below(o, 2 * ORACLE_ONCE);

	if (i >= ORACLE_ONCE)
		return ORACLE_ONCE;
	sync[(*nr)++] = (struct drm_vgpu_sync){
		.handle = o->once[i].sync,
		.flags = DRM_VGPU_SYNC_SIGNAL,
	};
	return i;
}

uint32_t oracle_next(struct oracle *o, uint32_t line, uint32_t once)
{
	uint32_t point = ++o->line[line].last;

	if (once < ORACLE_ONCE) {
		o->once[once].line = line;
		o->once[once].point = point;
		o->once[once].base = o->line[line].base;
	}
	return point;
}

int oracle_push(struct oracle *o, struct oracle_job *job)
{
	struct oracle_queue *queue = &o->queue[job->queue];
	struct drm_vgpu_sync sync[ORACLE_LINES + 2 + ORACLE_MORE];
	struct drm_vgpu_exec args = {
		.queue_id = queue->id,
		.count = job->nr,
		.packets = (uintptr_t)job->packet,
		.syncs = { .stride = sizeof(*sync), .pointer = (uintptr_t)sync },
	};
	uint32_t i, point, once;
	int ret;

	args.syncs.count = oracle_syncs(o, &job->need, job->queue, sync);
	for (i = 0; i < job->nr_more; i++)
		sync[args.syncs.count++] = job->more[i];
	once = oracle_once(o, sync, &args.syncs.count);
	ret = node_ioctl(o->fd, DRM_IOCTL_VGPU_EXEC, &args);
	if (ret)
		return ret;
	point = oracle_next(o, job->queue, once);
	queue->packets += job->nr ? job->nr : 1;
	for (i = 0; i < job->nr_touch; i++)
		oracle_mark(o, &job->touch[i], job->queue, point);
	return 0;
}

/* Notes what a packet touches. No page of a buffer may be touched by way of two of the VM. */
static bool touch(struct oracle *o, struct oracle_job *job, uint64_t at, uint64_t bytes, bool write)
{
	struct oracle_touch *touch = &job->touch[job->nr_touch];
	struct oracle_page *page;
	uint64_t i, *stamp;

	for (i = (at - ORACLE_AT) / PAGE; i <= (at + bytes - 1 - ORACLE_AT) / PAGE; i++) {
		page = &o->page[i];
		stamp = &o->buf[page->buf].stamp[page->page];
		if (*stamp >> 16 == o->stamp)
			return false;
		*stamp = o->stamp << 16 | i;
	}
	*touch = (struct oracle_touch){ .at = at, .bytes = bytes, .write = write };
	oracle_need_of(o, &job->need, touch);
	job->nr_touch++;
	return true;
}

/* A range at random: bytes, a multiple of @unit, at a multiple of it. */
static uint64_t some_range(struct oracle *o, uint32_t flags, bool fb, uint32_t unit, uint64_t *at)
{
	uint32_t first, nr, skip;
	uint64_t bytes;

	nr = oracle_one_in(o, 8) ? 700 : 1 + oracle_below(o, 40);
	nr = oracle_range(o, flags, fb, nr, &first);
	if (!nr)
		return 0;
	*at = ORACLE_AT + first * PAGE;
	bytes = nr * PAGE;
	if (oracle_one_in(o, 2)) {
		skip = oracle_below(o, PAGE / unit) * unit;
		*at += skip;
		bytes -= skip;
		bytes -= oracle_below(o, bytes / unit) * unit;
	}
	return bytes;
}

static struct vgpu_hw_packet *packet_next(struct oracle *o, struct oracle_job *job)
{
	o->stamp++;
	return &job->packet[job->nr];
}

static uint64_t to_page_end(uint64_t at, uint64_t bytes)
{
	uint64_t left = PAGE - at % PAGE;

	return bytes < left ? bytes : left;
}

static void fill_words(struct oracle *o, uint64_t at, uint64_t bytes, uint32_t value)
{
	uint64_t step, i;
	uint32_t *word;

	for (; bytes; bytes -= step, at += step) {
		step = to_page_end(at, bytes);
		word = (uint32_t *)oracle_model(o, at);
		for (i = 0; i < step / 4; i++)
			word[i] = value;
	}
}

static void add_fill(struct oracle *o, struct oracle_job *job)
{
	uint32_t value = rng_next(&o->rng), rows = 1, pitch, i;
	struct vgpu_hw_packet *packet = packet_next(o, job);
	uint64_t at, bytes, width;

	bytes = some_range(o, DRM_VGPU_BIND_WRITE, false, 4, &at);
	if (!bytes || !touch(o, job, at, bytes, true))
		return;
	*packet = packet_fill(at, bytes, value);
	width = bytes;
	pitch = 0;
	if (oracle_one_in(o, 3) && bytes >= 64) {
		rows = 2 + oracle_below(o, 6);
		pitch = bytes / rows / 4 * 4;
		width = 4 + oracle_below(o, pitch / 4) * 4ull;
		packet->width = htole64(width);
		packet->rows = htole32(rows);
		packet->dst_pitch = htole32(pitch);
	}
	for (i = 0; i < rows; i++)
		fill_words(o, at + i * pitch, width, value);
	job->nr++;
}

static void copy_bytes(struct oracle *o, uint64_t dst, uint64_t src, uint64_t bytes)
{
	uint64_t step;

	for (; bytes; bytes -= step, dst += step, src += step) {
		step = to_page_end(src, to_page_end(dst, bytes));
		memcpy(oracle_model(o, dst), oracle_model(o, src), step);
	}
}

static void add_copy(struct oracle *o, struct oracle_job *job)
{
	uint32_t rows = 1, dst_pitch = 0, src_pitch = 0, touches = job->nr_touch, i;
	struct vgpu_hw_packet *packet = packet_next(o, job);
	uint64_t dst, src, bytes, width, more;

	bytes = some_range(o, DRM_VGPU_BIND_WRITE, false, 1, &dst);
	more = some_range(o, 0, false, 1, &src);
	width = bytes < more ? bytes : more;
	if (!width || !touch(o, job, dst, bytes, true) || !touch(o, job, src, more, false)) {
		job->nr_touch = touches;
		return;
	}
	*packet = packet_copy(dst, src, width);
	if (oracle_one_in(o, 3) && width >= 64) {
		rows = 2 + oracle_below(o, 6);
		dst_pitch = bytes / rows;
		src_pitch = more / rows;
		width = 1 + oracle_below(o, dst_pitch < src_pitch ? dst_pitch : src_pitch);
		packet->width = htole64(width);
		packet->rows = htole32(rows);
		packet->dst_pitch = htole32(dst_pitch);
		packet->src_pitch = htole32(src_pitch);
	}
	for (i = 0; i < rows; i++)
		copy_bytes(o, dst + i * dst_pitch, src + i * src_pitch, width);
	job->nr++;
}

/* A program: see oracle_make.c. */
static void add_run(struct oracle *o, struct oracle_job *job)
{
	uint32_t i = oracle_below(o, ORACLE_RUNS), item, factor = rng_next(&o->rng) | 1, *word;
	struct vgpu_hw_packet *packet = packet_next(o, job);
	uint32_t plus = rng_next(&o->rng);
	uint64_t at, words, j, *args;

	/* Another one of this job has that place. */
	if (o->run[i].point > o->line[o->run[i].line].last)
		return;
	oracle_see_run(o, i);
	words = some_range(o, DRM_VGPU_BIND_WRITE, true, 4 * ORACLE_ITEMS, &at) / 4 / ORACLE_ITEMS;
	if (words > 512)
		words = 512;
	if (!words || !touch(o, job, at, words * 4 * ORACLE_ITEMS, true))
		return;
	args = (uint64_t *)((uint8_t *)o->args.ptr + 40 * i);
	args[0] = at;
	args[1] = words;
	args[2] = ORACLE_OUT + i * 4 * ORACLE_ITEMS;
	args[3] = factor;
	args[4] = plus;
	*packet = packet_dispatch(ORACLE_TEXT, ORACLE_ARGS + 40 * i, ORACLE_ITEMS,
				  1 + oracle_below(o, ORACLE_ITEMS));
	o->run[i].line = job->queue;
	o->run[i].point = o->line[job->queue].last + 1;
	for (item = 0; item < ORACLE_ITEMS; item++) {
		o->run[i].sum[item] = 0;
		for (j = 0; j < words; j++) {
			word = (uint32_t *)oracle_model(o, at + (item * words + j) * 4);
			o->run[i].sum[item] += *word;
			*word = *word * factor + plus;
		}
	}
	job->nr++;
}

/* What a packet signals is a write of 8 bytes. */
static void add_fence(struct oracle *o, struct oracle_job *job)
{
	struct vgpu_hw_packet *packet = packet_next(o, job);
	uint64_t at, bytes, value = rng_next(&o->rng);

	bytes = some_range(o, DRM_VGPU_BIND_WRITE, true, 8, &at);
	if (!bytes || !touch(o, job, at, 8, true))
		return;
	*packet = (struct vgpu_hw_packet){
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_SIGNAL | (oracle_one_in(o, 2) ? VGPU_HW_PKT_BARRIER : 0),
		.signal_addr = htole64(at),
		.signal_value = htole64(value),
	};
	memcpy(oracle_model(o, at), &value, 8);
	job->nr++;
}

static void do_job(struct oracle *o)
{
	struct oracle_job job = { .queue = oracle_below(o, ORACLE_QUEUES) };
	uint32_t nr = oracle_below(o, ORACLE_PACKETS + 1);

	while (nr--) {
		switch (oracle_below(o, 6)) {
		case 0:
		case 1:
			add_fill(o, &job);
			break;
		case 2:
			add_fence(o, &job);
			break;
		case 3:
			if (!job.queue)
				add_run(o, &job);
			break;
		default:
			add_copy(o, &job);
		}
	}
	CHECK_RET(oracle_push(o, &job), 0);
}

static void some_pages(struct oracle *o, uint32_t *i, uint32_t *first, uint32_t *nr)
{
	*i = oracle_below(o, ORACLE_BUFS);
	*first = oracle_below(o, o->buf[*i].pages);
	*nr = 1 + oracle_below(o, o->buf[*i].pages - *first);
}

/* The CPU reads what jobs have written. */
static void do_check(struct oracle *o)
{
	struct oracle_need need = {};
	uint32_t i, first, nr, j;

	some_pages(o, &i, &first, &nr);
	for (j = 0; j < nr; j++)
		oracle_merge(&need, &o->buf[i].write[first + j]);
	oracle_wait(o, &need);
	oracle_compare(o, &o->buf[i], first, nr);
}

/* The CPU writes what jobs will read. */
static void do_store(struct oracle *o)
{
	struct oracle_need need = {};
	uint32_t i, first, nr, j;
	uint64_t at, value;

	some_pages(o, &i, &first, &nr);
	for (j = 0; j < nr; j++) {
		oracle_merge(&need, &o->buf[i].write[first + j]);
		oracle_merge(&need, &o->buf[i].read[first + j]);
	}
	oracle_wait(o, &need);
	for (j = 0; j < 64; j++) {
		at = first * PAGE + oracle_below(o, nr * PAGE / 8) * 8ull;
		value = rng_next(&o->rng);
		memcpy(o->buf[i].ptr + at, &value, 8);
		memcpy(o->buf[i].model + at, &value, 8);
	}
}

/* An address where nothing is, or nothing that may be written; or 0. */
static uint64_t bad_address(struct oracle *o, struct oracle_need *need)
{
	struct oracle_page *page;
	uint32_t try, i;

	for (try = 0; try < 64; try++) {
		i = oracle_below(o, ORACLE_PAGES);
		page = &o->page[i];
		if (page->buf >= 0 && page->flags & DRM_VGPU_BIND_WRITE)
			continue;
		oracle_after(need, ORACLE_BIND, page->bound);
		oracle_after(need, ORACLE_BIND, o->line[ORACLE_BIND].last);
		return ORACLE_AT + i * PAGE + oracle_below(o, PAGE / 4) * 4ull;
	}
	return 0;
}

/* A job faults: those behind it are not done, those before it and of other queues are. */
static void do_fault(struct oracle *o)
{
	struct oracle_job job = { .queue = oracle_below(o, ORACLE_QUEUES) }, behind;
	struct oracle_queue *queue = &o->queue[job.queue];
	uint64_t at = bad_address(o, &job.need);
	uint32_t i, first;
	int ret;

	if (!at)
		return;
	oracle_see_lost(o, ORACLE_LOST - 1);
	for (i = 0; o->lost[i].id; i++)
		;
	o->lost[i] = (struct oracle_lost){
		.id = queue->id,
		.line = job.queue,
		.packet = queue->packets,
		.addr = at,
	};
	job.nr = 1;
	job.packet[0] = packet_fill(at, 4, 0xbad);
	CHECK_RET(oracle_push(o, &job), 0);
	/* The bad page stays bad until the job has been there. */
	oracle_after(&o->page[(at - ORACLE_AT) / PAGE].used, job.queue, o->line[job.queue].last);
	behind = (struct oracle_job){ .queue = job.queue, .nr = 1 };
	if (oracle_range(o, DRM_VGPU_BIND_WRITE, false, 1, &first)) {
		behind.packet[0] = packet_fill(ORACLE_AT + first * PAGE, PAGE, 0xbad);
		ret = oracle_push(o, &behind);
		CHECK(!ret || ret == -EIO);
	}
	o->lost[i].point = o->line[job.queue].last;
	oracle_queue_make(o, job.queue);
	if (oracle_one_in(o, 2))
		oracle_see_lost(o, 0);
}

/*
 * A queue is destroyed with jobs in it. Those that were done are the first ones, and nothing of the
 * others is seen but a part of the one that was under way.
 */
static void do_destroy(struct oracle *o)
{
	uint32_t sync[ORACLE_SCRATCH], queue, i, old, value = rng_next(&o->rng) | 1, wait, *word, j;
	struct vgpu_hw_packet packet;
	uint32_t engine = oracle_below(o, 3);
	bool over = false;
	int ret;

	memset(o->scratch.ptr, 0, o->scratch.bytes);
	CHECK_RET(queue_make(o->fd, o->vm, engine, VGPU_HW_RING_ORDER_MIN, &queue), 0);
	for (i = 0; i < ORACLE_SCRATCH; i++) {
		CHECK_RET(sync_make(o->fd, &sync[i]), 0);
		packet = packet_fill(ORACLE_FREE + i * PAGE, PAGE, value);
		old = oracle_below(o, ORACLE_ONCE);
		wait = oracle_one_in(o, 4) && o->once[old].point ? o->once[old].sync : 0;
		CHECK_RET(exec(o->fd, queue, &packet, 1, wait, sync[i]), 0);
	}
	CHECK_RET(queue_end(o->fd, queue), 0);
	CHECK_RET(exec(o->fd, queue, NULL, 0, 0, 0), -ENOENT);
	for (i = 0; i < ORACLE_SCRATCH; i++) {
		word = (uint32_t *)((uint8_t *)o->scratch.ptr + i * PAGE);
		CHECK_RET(sync_wait(o->fd, sync[i], WAIT_MS), 0);
		ret = sync_error(o->fd, sync[i]);
		CHECK(!ret || ret == -ECANCELED || ret == -ESRCH);
		CHECK(ret || !over);
		for (j = 0; j < PAGE / 4; j++)
			CHECK(word[j] == value || (ret && !word[j]));
		if (over)
			CHECK(!word[0] && !word[PAGE / 4 - 1]);
		over |= ret;
		CHECK_RET(sync_end(o->fd, sync[i]), 0);
	}
}

/* Calls that are refused, and have changed nothing. */
static void do_bad(struct oracle *o)
{
	struct oracle_job job = { .queue = oracle_below(o, ORACLE_QUEUES) };
	struct oracle_queue *queue = &o->queue[job.queue];
	uint32_t last = o->line[job.queue].last, i = oracle_below(o, ORACLE_BUFS);
	uint64_t bytes = o->buf[i].pages * PAGE, at = ORACLE_AT;
	struct vgpu_hw_packet many[65] = {};
	struct drm_vgpu_queue_query query;

	CHECK_RET(queue_ask(o->fd, queue->id, &query), 0);
	CHECK(!query.state && query.submitted <= queue->packets &&
	      query.completed <= query.submitted && query.completed >= queue->completed);
	queue->completed = query.completed;
	switch (oracle_below(o, 6)) {
	case 0:
		/* A point that is not yet there. */
		job.need.point[(job.queue + 1) % ORACLE_LINES] =
			o->line[(job.queue + 1) % ORACLE_LINES].last + 1;
		CHECK_RET(oracle_push(o, &job), -EINVAL);
		break;
	case 1:
		job.nr = 1;
		job.packet[0] = packet_fill(at, 4, 0xbad);
		job.packet[0].op_flags = htole32(VGPU_HW_OP_DST_SYS);
		CHECK_RET(oracle_push(o, &job), -EINVAL);
		break;
	case 2:
		many[0].type = VGPU_HW_PKT_NOP;
		CHECK_RET(exec(o->fd, queue->id, many, (1u << queue->order) + 1, 0, 0), -E2BIG);
		break;
	case 3:
		CHECK_RET(bind_map(o->fd, o->vm, o->buf[i].handle, PAGE, at, bytes, 0), -EINVAL);
		break;
	case 4:
		CHECK_RET(bind_map(o->fd, o->file->other_vm, o->buf[i].handle, 0, at, bytes, 0),
			  o->buf[i].alone ? -EINVAL : 0);
		CHECK_RET(bind_unmap(o->fd, o->file->other_vm, at, bytes), 0);
		break;
	case 5:
		CHECK_RET(bind_map(o->fd, o->vm, o->buf[i].handle, 0, at, bytes,
				   DRM_VGPU_BIND_EXEC | 0x80), -EINVAL);
	}
	CHECK(o->line[job.queue].last == last);
}

void oracle_step(struct oracle *o)
{
	static void (* const what[])(struct oracle *o) = {
		[ORACLE_JOB] = do_job,
		[ORACLE_MAP] = oracle_map,
		[ORACLE_CHECK] = do_check,
		[ORACLE_STORE] = do_store,
		[ORACLE_REPLACE] = oracle_replace,
		[ORACLE_FAULT] = do_fault,
		[ORACLE_DESTROY] = do_destroy,
		[ORACLE_BAD] = do_bad,
		[ORACLE_SHARE] = oracle_share_work,
	};
	static const uint8_t often[] = {
		[ORACLE_JOB] = 55,
		[ORACLE_MAP] = 20,
		[ORACLE_CHECK] = 6,
		[ORACLE_STORE] = 4,
		[ORACLE_REPLACE] = 3,
		[ORACLE_FAULT] = 2,
		[ORACLE_DESTROY] = 1,
		[ORACLE_BAD] = 4,
		[ORACLE_SHARE] = 5,
	};
	uint32_t dice = oracle_below(o, 100), i;

	for (i = 0; dice >= often[i]; i++)
		dice -= often[i];
	o->ops[i]++;
	what[i](o);
}
