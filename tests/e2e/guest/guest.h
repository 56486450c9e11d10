/* SPDX-License-Identifier: GPL-2.0 */
/* The program that runs in the guests of the demo and of the e2e tests. */
#ifndef E2E_GUEST_H
#define E2E_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clk.h"
#include "libvgpu.h"

#define WAIT_MS		60000
#define KIB		1024ull
#define MIB		(1024 * KIB)

/**
 * struct options - what the guest is to do, from the kernel's command line
 * @seconds: how long the job works
 * @load:    percent of the time in which engines have work
 * @mib:     framebuffer that a round of work, or a job, fills
 * @seed:    of the data, or of the secret
 * @idle:    hog: seconds without work behind that
 */
struct options {
	unsigned int seconds;
	unsigned int load;
	unsigned int mib;
	uint64_t seed;
	unsigned int idle;
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

/* guest.c */
/* Prints a line; failed() prints what is wrong and returns false. */
__attribute__((format(printf, 1, 2)))
void say(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
bool failed(const char *fmt, ...);

/* work.c: functions that return false have printed what is wrong */
bool work_start(struct work *work, struct vgpu_dev *dev, enum vgpu_ring where);
bool work_wait(struct work *work, unsigned int chan);
bool work_fill(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       uint32_t value, uint64_t bytes);
bool work_copy(struct work *work, unsigned int chan, struct vgpu_loc dst,
	       struct vgpu_loc src, uint64_t bytes);
bool work_copy2d(struct work *work, unsigned int chan, struct vgpu_loc dst, uint32_t dst_pitch,
		 struct vgpu_loc src, uint32_t src_pitch, uint64_t width, uint32_t rows);

/* Waits until all channels are idle, and prints what each engine has completed. */
bool work_report(struct work *work);
void work_stop(struct work *work);

/* The jobs; each returns whether all was right. */
bool load_run(struct vgpu_dev *dev, const struct options *options);
bool secret_run(struct vgpu_dev *dev, const struct options *options);
bool scan_run(struct vgpu_dev *dev, const struct options *options);
bool hold_run(struct vgpu_dev *dev, const struct options *options);
bool escape_run(struct vgpu_dev *dev, const struct options *options);
bool hog_run(struct vgpu_dev *dev, const struct options *options);
bool eject_run(struct vgpu_dev *dev, const struct options *options);

#endif /* E2E_GUEST_H */
