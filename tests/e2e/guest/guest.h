/* SPDX-License-Identifier: GPL-2.0 */
/* The program that runs in the guests of the demo and of the e2e tests. */
#ifndef E2E_GUEST_H
#define E2E_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clk.h"
#include "libvgpu.h"
#include "say.h"

#define WAIT_MS		60000
#define KIB		1024ull
#define MIB		(1024 * KIB)

/**
 * struct options - what the guest is to do, from the kernel's command line
 * @seconds: how long the job works; 0: until the host says that it is enough, which load, hold and
 *	     hog listen for
 * @load:    percent of the time in which engines have work
 * @mib:     framebuffer that a round of work, or a job, fills
 * @seed:    of the data, or of the secret
 * @each:    compute: milliseconds for each of the small samples before; 0: there are none
 * @title:   load: of the picture that it shows at the end, until the host says to go on, who
 *	     has said before when to begin; or NULL. draw: of each picture
 */
struct options {
	unsigned int seconds;
	unsigned int load;
	unsigned int mib;
	uint64_t seed;
	unsigned int each;
	const char *title;
};

/**
 * struct work - channels of a vGPU, and what was done by them
 * @dev:   the open vGPU
 * @chan:  one channel per engine of class gr or ce, in the engines' order
 * @nr:    number of channels
 * @bytes: per channel, written by completed packets
 */
struct work {
	struct vgpu_dev *dev;
	struct vgpu_chan *chan[VGPU_HW_MAX_ENGINES];
	unsigned int nr;
	uint64_t bytes[VGPU_HW_MAX_ENGINES];
};

/* work.c: functions that return false have printed what is wrong */
bool work_start(struct work *work, struct vgpu_dev *dev, enum vgpu_ring where);
bool work_wait(struct work *work, unsigned int chan);
bool work_fill(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       uint32_t value, uint64_t bytes);
bool work_copy(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       struct vgpu_loc src, uint64_t bytes);
bool work_copy2d(struct work *work, unsigned int chan, struct vgpu_loc dst, uint32_t dst_pitch,
		 struct vgpu_loc src, uint32_t src_pitch, uint64_t width, uint32_t rows);

/* Fills @rows rows of framebuffer from @dst on, @width bytes each. */
bool work_fill2d(struct work *work, unsigned int chan, uint64_t dst, uint32_t pitch,
		 uint32_t value, uint64_t width, uint32_t rows);

/* Waits until all channels are idle, and prints what each engine has completed. */
bool work_report(struct work *work);
void work_stop(struct work *work);

/* tell.c: what the host says; tell_open() returns a file for tell_wait(), or -1. */
int tell_open(void);
/* Waits for a line. */
bool tell_wait(int fd, unsigned int seconds);
/*
 * Whether a job that began at @start has worked for @seconds or, if that is 0, the host has said a
 * line. Also when it cannot be heard, and sets *@ok to false then.
 */
bool tell_over(int fd, uint64_t start, unsigned int seconds, bool *ok);
/* The host takes no longer to begin, or to look at a picture. */
#define LOOK_S		600

#define CHART_BARS	60

/**
 * struct chart - what a guest has done, as its screen shows it
 * @title:  who the guest is
 * @bytes:  written in each second
 * @bars:   number of elements of @bytes in use
 * @rounds: of work
 * @sum:    checksum of what was verified
 */
struct chart {
	const char *title;
	uint64_t bytes[CHART_BARS];
	unsigned int bars;
	uint64_t rounds;
	uint64_t sum;
};

/* chart.c: draws that with the engines and shows it. */
bool chart_show(struct work *work, const struct chart *chart);

/**
 * struct surface - a surface to show
 * @width:  pixels per row
 * @height: rows
 * @pad:    bytes behind each row
 * @skip:   bytes between a boundary of 1 MiB and the first pixel
 */
struct surface {
	uint32_t width;
	uint32_t height;
	uint32_t pad;
	uint32_t skip;
};

/* present.c: draws a picture into new framebuffer and shows it. */
bool present_surface(struct work *work, const struct surface *surface, uint32_t seed);

struct sample;

/* small.c: samples for machines that are slow. */
const struct sample *small_at(size_t i);

/*
 * samples.c: runs a sample, which must do what the CPU does; repeats each of the small ones for
 * @ms, when the host says so, tells how often it ran, and checks it.
 */
bool sample_check(struct vgpu_dev *dev, struct vgpu_chan *chan, const struct sample *sample);
bool samples_show(struct vgpu_dev *dev, struct vgpu_chan *chan, unsigned int ms, int port);

/* vgpu_run.c: vgpu-run does what it should, while no program has a channel. */
bool vgpu_run_check(struct vgpu_dev *dev);

/* The jobs; each returns whether all was right. */
bool load_run(struct vgpu_dev *dev, const struct options *options);
bool secret_run(struct vgpu_dev *dev, const struct options *options);
bool scan_run(struct vgpu_dev *dev, const struct options *options);
bool hold_run(struct vgpu_dev *dev, const struct options *options);
bool escape_run(struct vgpu_dev *dev, const struct options *options);
bool hog_run(struct vgpu_dev *dev, const struct options *options);
bool present_run(struct vgpu_dev *dev, const struct options *options);
bool compute_run(struct vgpu_dev *dev, const struct options *options);
bool draw_run(struct vgpu_dev *dev, const struct options *options);
bool samples_run(struct vgpu_dev *dev, const struct options *options);
bool samples_run_small(struct vgpu_dev *dev, const struct options *options);
bool crowd_run(struct vgpu_dev *dev, const struct options *options);
bool memory_run(struct vgpu_dev *dev, const struct options *options);
bool eject_run(struct vgpu_dev *dev, const struct options *options);

#endif /* E2E_GUEST_H */
