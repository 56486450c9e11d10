// SPDX-License-Identifier: GPL-2.0
/* Rows about what it costs a guest at work that pages which it writes are noted. */
#include <unistd.h>

#include <linux/vfio.h>

#include "bench.h"
#include "move.h"

#define ITEMS		256u
#define PAGES		1024u	/* more than an engine translates: nearly each access is noted */
#define ROUNDS		400u
#define COPY_BYTES	(8ull << 20)
#define COPIES		8u
#define WAIT_MS		600000

/**
 * struct track - work of a vGPU
 * @dev:     the vGPU
 * @chan:    a channel
 * @place:   the program, if there is one
 * @program: what it is; NULL: the work is copies
 * @copies:  framebuffer for copies
 */
struct track {
	struct vgpu_dev *dev;
	struct vgpu_chan *chan;
	struct place place;
	const struct program *program;
	uint64_t copies;
};

static void check(struct track *track, int ret)
{
	if (ret)
		bench_die("%s", vgpu_dev_error(track->dev));
}

static void work(struct track *track)
{
	struct vgpu_hw_packet packet;
	uint64_t fence;
	uint32_t i;

	if (track->program) {
		packet = place_packet(&track->place, 0, ROUNDS);
		check(track, vgpu_chan_submit(track->chan, &packet, 1));
	} else {
		for (i = 0; i < COPIES; i++) {
			check(track, vgpu_chan_fill(track->chan, VGPU_FB(track->copies), i + 1,
						    COPY_BYTES));
			check(track, vgpu_chan_copy(track->chan,
						    VGPU_FB(track->copies + COPY_BYTES),
						    VGPU_FB(track->copies), COPY_BYTES));
		}
	}
	check(track, vgpu_chan_fence(track->chan, &fence));
	check(track, vgpu_chan_wait(track->chan, fence, WAIT_MS));
}

static double block_off(void *arg)
{
	struct track *track = arg;
	double start;

	work(track);
	start = bench_now_ns();
	work(track);
	return (bench_now_ns() - start) / 1000;
}

/* The first pass has been read, and there is no other one. */
static double block_on(void *arg)
{
	struct track *track = arg;
	struct pump pump;
	double us;
	int data;

	move_state(track->dev, MOVE_PRE_COPY, &data);
	pump_begin(&pump, data, -1, NULL);
	pump_run(&pump);
	us = block_off(track);
	close(data);
	move_state(track->dev, VFIO_DEVICE_STATE_RUNNING, NULL);
	return us;
}

static void compare(struct track *track, uint32_t class, const char *name, const char *detail)
{
	struct bench_row row = {
		.name = name, .unit = "us", .reach = 1.05,
		.ours = { block_on, track }, .peer = { block_off, track }, .detail = detail,
	};
	int engine = vgpu_dev_find_engine(track->dev, class, 0);

	check(track, engine < 0 ? engine : 0);
	/* Who waits is woken, and does not look at intervals. */
	check(track, vgpu_irq_enable(track->dev, 2));
	check(track, vgpu_chan_create(track->dev, (uint32_t)engine, VGPU_RING_FB, 6,
				      &track->chan));
	bench_compare(&row);
	vgpu_chan_destroy(track->chan);
	vgpu_dev_close(track->dev);
}

static struct vgpu_dev *open_vgpu(const char *uuid)
{
	struct vgpu_dev *dev;

	if (vgpu_dev_open_vfio(&dev, uuid))
		bench_die("%s: %s", uuid, vgpu_dev_error(NULL));
	return dev;
}

void row_migrate_tracking(const char *uuid)
{
	struct track track = { .dev = open_vgpu(uuid), .program = &program_atomics };

	track.place = (struct place){
		.dev = track.dev, .items = ITEMS, .pages = PAGES, .slots = 1,
	};
	place_program(&track.place, track.program);
	compare(&track, VGPU_HW_ENGINE_GR, "migrate_tracking",
		"a dispatch of 256 work-items with 400 atomics each, in 1024 pages at random, in PRE_COPY between passes, against RUNNING");
}

void row_migrate_tracking_copy(const char *uuid)
{
	struct track track = { .dev = open_vgpu(uuid) };

	check(&track, vgpu_fb_alloc(track.dev, 2 * COPY_BYTES, MOVE_PAGE, &track.copies));
	compare(&track, VGPU_HW_ENGINE_CE, "migrate_tracking_copy",
		"FILL and COPY of 8 MiB of framebuffer, 8 of each per block, in PRE_COPY between passes, against RUNNING");
}
