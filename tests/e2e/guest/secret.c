// SPDX-License-Identifier: GPL-2.0
/*
 * Isolation: secrets that are written all over a framebuffer, looked for in the next framebuffer
 * or kept beside a neighbour; and packets that aim outside of the framebuffer.
 */
#include <string.h>

#include "guest.h"

#define PAGE		4096ull
#define ENDS		MIB		/* looked at, at either end of the framebuffer */
#define SPREAD		128u		/* pages looked at in between */
#define PATTERN		0x5ec2e700u

typedef bool (*part_fn)(struct work *work, const struct options *options,
			struct vgpu_buf *buf, uint64_t offset, uint64_t bytes);

/* Calls @each for the parts of a framebuffer that are looked at. */
static bool over_parts(struct work *work, const struct options *options,
		       struct vgpu_buf *buf, part_fn each)
{
	uint64_t fb = work->dev->fb_bytes, at, step;

	step = (fb - 2 * ENDS) / SPREAD & ~(PAGE - 1);
	for (at = 0; at < ENDS; at += buf->bytes) {
		if (!each(work, options, buf, at, buf->bytes) ||
		    !each(work, options, buf, fb - ENDS + at, buf->bytes))
			return false;
	}
	for (at = ENDS; at + PAGE <= fb - ENDS; at += step) {
		if (!each(work, options, buf, at, PAGE))
			return false;
	}
	return true;
}

static uint32_t pattern(const struct options *options)
{
	return PATTERN + (uint32_t)options->seed;
}

/* Writes half of the pages by an engine, and half by the processor. */
static bool write_part(struct work *work, const struct options *options,
		       struct vgpu_buf *buf, uint64_t offset, uint64_t bytes)
{
	uint32_t *word = (uint32_t *)(work->dev->fb + offset);
	uint64_t i;

	(void)buf;
	if (offset / PAGE % 2 == 0 && bytes > PAGE) {
		if (!work_fill(work, 0, VGPU_FB(offset), pattern(options), bytes / 2))
			return false;
		word += bytes / 8;
		bytes /= 2;
	}
	for (i = 0; i < bytes / 4; i++)
		word[i] = pattern(options);
	return true;
}

static bool expect_words(const char *how, const void *data, uint64_t bytes,
			 uint64_t offset, uint32_t expected)
{
	const uint32_t *word = data;
	uint64_t i;

	for (i = 0; i < bytes / 4; i++) {
		if (word[i] != expected)
			return failed("%s: %#x at %#llx, not %#x%s", how, word[i],
				      (unsigned long long)(offset + 4 * i), expected,
				      word[i] >> 8 == PATTERN >> 8 ? ": SECRET LEAKED" : "");
	}
	return true;
}

static bool expect_part(struct work *work, struct vgpu_buf *buf,
			uint64_t offset, uint64_t bytes, uint32_t expected)
{
	unsigned int last = work->nr - 1;

	memset(buf->ptr, 0xa5, bytes);
	return work_copy(work, last, VGPU_SYS(buf, 0), VGPU_FB(offset), bytes) &&
		work_wait(work, last) &&
		expect_words("by engine", buf->ptr, bytes, offset, expected) &&
		expect_words("by BAR", work->dev->fb + offset, bytes, offset, expected);
}

static bool check_part(struct work *work, const struct options *options,
		       struct vgpu_buf *buf, uint64_t offset, uint64_t bytes)
{
	return expect_part(work, buf, offset, bytes, pattern(options));
}

static bool zero_part(struct work *work, const struct options *options,
		      struct vgpu_buf *buf, uint64_t offset, uint64_t bytes)
{
	(void)options;
	return expect_part(work, buf, offset, bytes, 0);
}

/* Rings are in guest memory, so that the framebuffer has nothing but the secret. */
static bool begin(struct work *work, struct vgpu_buf *buf, struct vgpu_dev *dev)
{
	memset(buf, 0, sizeof(*buf));
	if (!work_start(work, dev, VGPU_RING_SYS))
		return false;
	if (vgpu_buf_alloc(dev, 256 * KIB, buf))
		return failed("memory: %s", vgpu_dev_error(dev));
	return true;
}

static bool finish(struct work *work, struct vgpu_buf *buf, bool ok)
{
	ok = ok && work_report(work);
	work_stop(work);
	vgpu_buf_free(buf);
	return ok;
}

/* The job secret: writes the secret, checks that it is there, and leaves it behind. */
bool secret_run(struct vgpu_dev *dev, const struct options *options)
{
	struct vgpu_buf buf;
	struct work work;
	bool ok;

	if (!begin(&work, &buf, dev))
		return false;
	ok = over_parts(&work, options, &buf, write_part) &&
		work_wait(&work, 0) &&
		over_parts(&work, options, &buf, check_part);
	if (ok)
		say("secret %#x written", pattern(options));
	return finish(&work, &buf, ok);
}

/* The job scan: what is looked at of the framebuffer must be zero. */
bool scan_run(struct vgpu_dev *dev, const struct options *options)
{
	struct vgpu_buf buf;
	struct work work;
	bool ok;

	if (!begin(&work, &buf, dev))
		return false;
	ok = over_parts(&work, options, &buf, zero_part);
	if (ok)
		say("all zero");
	return finish(&work, &buf, ok);
}

/* The job hold: keeps a secret beside a neighbour that does the same. */
bool hold_run(struct vgpu_dev *dev, const struct options *options)
{
	struct vgpu_buf buf;
	struct work work;
	unsigned int times = 0;
	uint64_t start;
	int port = -1;
	bool ok;

	if (!begin(&work, &buf, dev))
		return false;
	if (!options->seconds)
		port = tell_open();
	ok = (options->seconds || port >= 0) &&
		over_parts(&work, options, &buf, zero_part) &&
		over_parts(&work, options, &buf, write_part) &&
		work_wait(&work, 0);
	say("working: holding %#x", pattern(options));
	start = clk_ns();
	while (ok && !tell_over(port, start, options->seconds, &ok)) {
		ok = over_parts(&work, options, &buf, check_part);
		times++;
	}
	/* Once more, so that what came shortly before the end is seen. */
	if (ok) {
		ok = over_parts(&work, options, &buf, check_part);
		times++;
	}
	if (ok)
		say("held, looked %u times", times);
	return finish(&work, &buf, ok);
}

static bool escape_one(struct work *work, const char *what, struct vgpu_hw_packet packet)
{
	struct vgpu_chan *chan = work->chan[work->nr - 1];
	struct vgpu_fault fault;
	uint64_t pos = 1;

	if (vgpu_chan_disable(chan) || vgpu_chan_enable(chan) ||
	    vgpu_chan_nop(chan) || vgpu_chan_submit(chan, &packet, 1))
		return failed("%s: %s", what, vgpu_dev_error(work->dev));
	if (vgpu_chan_wait_fault(chan, WAIT_MS, &fault))
		return failed("%s: no fault: %s", what, vgpu_dev_error(work->dev));
	if (fault.code != VGPU_HW_FAULT_ADDRESS || fault.pos != pos)
		return failed("%s: %s fault at packet %llu", what, vgpu_fault_name(fault.code),
			      (unsigned long long)fault.pos);
	say("%s: refused, %s fault at packet %llu, address %#llx", what,
	    vgpu_fault_name(fault.code), (unsigned long long)fault.pos,
	    (unsigned long long)fault.addr);
	return true;
}

/* The job escape: two faults, where three would lead to quarantine. */
bool escape_run(struct vgpu_dev *dev, const struct options *options)
{
	struct vgpu_hw_packet read = {
		.type = VGPU_HW_PKT_COPY, .rows = 1, .width = 64,
		.dst = 0, .src = dev->fb_bytes - 32,
	};
	struct vgpu_hw_packet write = {
		.type = VGPU_HW_PKT_FILL, .rows = 1, .width = 64,
		.dst = dev->fb_bytes, .value = pattern(options),
	};
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	struct work work;
	bool ok;

	if (!begin(&work, &buf, dev))
		return false;
	chan = work.chan[work.nr - 1];
	ok = escape_one(&work, "read over the end", read) &&
		escape_one(&work, "write behind the end", write);
	if (ok && (vgpu_chan_disable(chan) || vgpu_chan_enable(chan)))
		ok = failed("after the fault: %s", vgpu_dev_error(dev));
	memset(work.bytes, 0, sizeof(work.bytes));
	ok = ok && work_fill(&work, work.nr - 1, VGPU_FB(0), pattern(options), 256 * KIB) &&
		work_wait(&work, work.nr - 1) &&
		expect_part(&work, &buf, 0, 256 * KIB, pattern(options));
	return finish(&work, &buf, ok);
}
