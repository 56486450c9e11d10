// SPDX-License-Identifier: GPL-2.0
/*
 * What a partition does beside a neighbour, on a machine that has a CPU for each unit: a vGPU's
 * programs, while those of a vGPU in another partition keep its channels busy, and while that has
 * none, but a thread keeps a CPU busy, so that the host has two busy CPUs on both sides. What CPUs
 * that are emulated take of each other is part of it, so it has no goal; the bench in user space
 * has one (compute/apart.c).
 */
#include <endian.h>
#include <pthread.h>
#include <stdio.h>

#include "bench.h"
#include "libvgpu.h"
#include "place.h"

#define ITEMS		256
#define PAGES		1024
#define JOB_NS		10e6
#define JOBS		20	/* of a block */
#define TRIAL_ROUNDS	64
#define RING_ORDER	8
#define WAIT_MS		60000

static const struct program *const hogs[] = {
	&program_loop, &program_diverged, &program_loads, &program_atomics,
};

#define HOGS	(sizeof(hogs) / sizeof(hogs[0]))

/**
 * struct space - a vGPU, and its neighbour in another partition
 * @dev:    the vGPU
 * @other:  the neighbour
 * @chan:   the vGPU's channel
 * @place:  its program
 * @hog:    the neighbour's programs, a channel for each while there are any
 * @rounds: of a job
 * @jobs:   of the neighbour that have completed
 * @alone:  jobs per second while all else is idle, the most of all blocks
 * @stop:   ends the busy thread
 */
struct space {
	struct vgpu_dev *dev;
	struct vgpu_dev *other;
	struct vgpu_chan *chan;
	struct place place;
	struct place hog[HOGS];
	uint64_t rounds;
	uint64_t jobs;
	double alone;
	bool stop;
};

static struct vgpu_chan *space_channel(struct vgpu_dev *dev)
{
	int engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);
	struct vgpu_chan *chan;

	if (engine < 0 ||
	    vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER, &chan))
		bench_die("channel: %s", vgpu_dev_error(dev));
	return chan;
}

/* Submits so many jobs, of which the last one raises the channel's interrupt. */
static void space_submit(struct vgpu_chan *chan, struct place *place, uint64_t rounds,
			 unsigned int jobs)
{
	struct vgpu_hw_packet packet = place_packet(place, 0, rounds);
	uint64_t put = chan->put, end = put + jobs, mask = (1ull << chan->order) - 1;

	for (; put < end; put++)
		chan->ring[put & mask] = packet;
	packet.flags = VGPU_HW_PKT_IRQ;
	packet.vector = (uint16_t)chan->vector;
	chan->ring[(end - 1) & mask] = packet;
	if (vgpu_chan_kick(chan, end) < 0)
		bench_die("doorbell: %s", vgpu_dev_error(chan->dev));
}

/* Returns how long so many jobs of the vGPU took, each verified. */
static double space_time(struct space *space, unsigned int jobs)
{
	const uint64_t *out = place_out(&space->place, 0);
	double start = bench_now_ns();
	unsigned int i;

	space_submit(space->chan, &space->place, space->rounds, jobs);
	if (vgpu_chan_wait_idle(space->chan, WAIT_MS))
		bench_die("a program: %s", vgpu_dev_error(space->dev));
	start = bench_now_ns() - start;
	for (i = 0; i < ITEMS; i++)
		if (le64toh(out[i]) != program_diverged.result(i, space->rounds))
			bench_die("work-item %u is wrong", i);
	return start;
}

static double space_rate(struct space *space)
{
	return JOBS * 1e9 / space_time(space, JOBS);
}

/* Does on a CPU of its own what keeps an emulated one busy as programs do: it computes. */
static void *busy(void *arg)
{
	struct space *space = arg;
	uint64_t id = 0;

	while (!__atomic_load_n(&space->stop, __ATOMIC_RELAXED))
		id = program_diverged.result(id, 1000);
	return (void *)(uintptr_t)id;
}

static double block_busy(void *arg)
{
	struct space *space = arg;
	pthread_t thread;
	double rate;

	rate = space_rate(space);
	if (rate > space->alone)
		space->alone = rate;
	space->stop = false;
	if (pthread_create(&thread, NULL, busy, space))
		bench_die("no thread");
	rate = space_rate(space);
	__atomic_store_n(&space->stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return rate;
}

/* The neighbour has more to do than there is time for. */
static double block_beside(void *arg)
{
	struct space *space = arg;
	struct vgpu_chan *chan[HOGS];
	unsigned int i;
	double rate;

	for (i = 0; i < HOGS; i++) {
		chan[i] = space_channel(space->other);
		space_submit(chan[i], &space->hog[i], space->rounds, (1 << RING_ORDER) - 1);
	}
	rate = space_rate(space);
	for (i = 0; i < HOGS; i++) {
		uint64_t jobs = vgpu_chan_get(chan[i]);

		if (jobs == chan[i]->put || vgpu_chan_state(chan[i]) == VGPU_HW_STATE_FAULTED)
			bench_die("%s: the neighbour was not busy", hogs[i]->name);
		space->jobs += jobs;
		vgpu_chan_destroy(chan[i]);
	}
	if (!space->jobs)
		bench_die("the neighbour has done nothing");
	return rate;
}

static void tell_space(void *arg, char *text, size_t bytes)
{
	const struct space *space = arg;

	snprintf(text, bytes, "; the neighbour has completed %llu jobs; with all else idle %.1f",
		 (unsigned long long)space->jobs, space->alone);
}

static struct vgpu_dev *space_open(const char *uuid)
{
	struct vgpu_dev *dev;

	if (vgpu_dev_open_vfio(&dev, uuid))
		bench_die("%s: %s", uuid, vgpu_dev_error(NULL));
	if (vgpu_irq_enable(dev, 2))
		bench_die("%s: interrupts: %s", uuid, vgpu_dev_error(dev));
	return dev;
}

static void space_place(struct place *place, struct vgpu_dev *dev, const struct program *program)
{
	*place = (struct place) { .dev = dev, .items = ITEMS, .pages = PAGES, .slots = 1 };
	place_program(place, program);
}

void row_partition_space(const char *uuid, const char *other)
{
	struct space space = {
		.dev = space_open(uuid), .other = space_open(other), .rounds = TRIAL_ROUNDS,
	};
	struct bench_row row = {
		.name = "partition_space", .unit = "jobs/s", .higher = true,
		.ours = { block_beside, &space },
		.peer = { block_busy, &space },
		.detail = "programs of 10 ms of a vGPU in a partition with one unit, 20 per block, a CPU for each unit: beside a partition with one unit, in which four channels hog, against an idle one, but a busy CPU",
		.tell = tell_space,
	};
	unsigned int i;

	space_place(&space.place, space.dev, &program_diverged);
	for (i = 0; i < HOGS; i++)
		space_place(&space.hog[i], space.other, hogs[i]);
	space.chan = space_channel(space.dev);
	/* The first job finds the program not decoded, and the context not there. */
	space_time(&space, 1);
	space.rounds = (uint64_t)(TRIAL_ROUNDS * JOB_NS / space_time(&space, 1)) + 1;
	bench_compare(&row);
	vgpu_chan_destroy(space.chan);
	vgpu_dev_close(space.other);
	vgpu_dev_close(space.dev);
}
