/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples: programs for the device, what they work on, and the same natively. All that a sample
 * reads and writes is one piece of memory, so that what the device has made of it can be compared
 * with what the CPU makes of it byte by byte.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libvgpu.h>

/* How often edges of pictures and matrices are halved; other numbers are twice as often. */
#ifndef SAMPLES_HALVED
#define SAMPLES_HALVED		0
#endif

#define SAMPLE_ARGS_WORDS	8	/* of 64 bits, for the arguments of any sample */

/**
 * struct sample - a sample
 * @name:         also of its kernel
 * @brief:        what it does
 * @grid:         work-items per dimension
 * @group:        work-items of a work-group per dimension
 * @bytes:        memory that it works on
 * @clear_bytes:  how many of the first of these must be zero when it runs again
 * @picture_at:   offset in memory of a picture, XRGB8888, of @grid
 * @has_picture:  there is one
 * @work:         what it does in a run, in
 * @unit:         this
 * @prepare:      fills @memory, which is zero and which the program finds at @address, and writes
 *                the arguments
 * @native:       does the same on the CPU; @args is of memory of this program
 */
struct sample {
	const char *name;
	const char *brief;
	uint32_t grid[3];
	uint32_t group[3];
	size_t bytes;
	size_t clear_bytes;
	size_t picture_at;
	bool has_picture;
	double work;
	const char *unit;
	void (*prepare)(void *memory, uint64_t address, void *args);
	void (*native)(const void *args);
};

/* pictures.c, numbers.c, probes.c */
extern const struct sample sample_mandelbrot, sample_blur;
extern const struct sample sample_sgemm, sample_sha256, sample_reduce;
extern const struct sample sample_triad, sample_copy, sample_latency, sample_bandwidth;

/* list.c: all of them; the ELF file of a sample, whatever its size. */
const struct sample *sample_at(size_t i);
const struct sample *sample_find(const char *name);
const void *sample_program(const struct sample *sample, size_t *bytes);

/* Numbers that are always the same ones. */
static inline uint64_t sample_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/**
 * struct sample_run - a sample on a device
 * @sample:  which
 * @dev:     the device
 * @elf:     its program
 * @program: the same on the device
 * @launch:  its dispatch
 * @memory:  offset of its memory in the framebuffer
 */
struct sample_run {
	const struct sample *sample;
	struct vgpu_dev *dev;
	struct vgpu_elf elf;
	struct vgpu_program program;
	struct vgpu_launch launch;
	uint64_t memory;
};

/* run.c. On error vgpu_dev_error(@dev) has the text. */
int sample_load(struct vgpu_dev *dev, const struct sample *sample, struct sample_run *run);
void sample_unload(struct sample_run *run);

/* Makes memory and arguments what they are before a run: nothing is left of another. */
void sample_prepare(struct sample_run *run);

/* Prepares memory, queues a dispatch, waits for it, and says how long that took. */
int sample_run(struct sample_run *run, struct vgpu_chan *chan, int timeout_ms, uint64_t *ns);

/*
 * Does the same natively. Returns the offset of the first byte that differs, -1 if none does, or
 * -2 if there is no memory for it.
 */
int64_t sample_compare(const struct sample_run *run, uint64_t *native_ns);

/* png.c: writes a picture, XRGB8888. Returns 0 or a negative errno. */
int png_write(const char *path, const uint32_t *pixels, uint32_t width, uint32_t height);

#endif /* SAMPLES_H */
