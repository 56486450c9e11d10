/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU that moves into another one, by VFIO's migration: states, streams, and a guest at work. */
#ifndef BENCH_MOVE_H
#define BENCH_MOVE_H

#include <stdatomic.h>
#include <pthread.h>

#include "place.h"

#define MOVE_PAGE	4096ull

/* Of linux/vfio.h since 6.2, which the headers that build this may not have. */
#define MOVE_PRE_COPY	6	/* of enum vfio_device_mig_state */

/* Asks for a state. @data is set to the file of the stream; NULL: there is none to be expected. */
void move_state(struct vgpu_dev *dev, unsigned int state, int *data);

/* Bytes that would be read in STOP_COPY, as the device says. */
uint64_t move_left(struct vgpu_dev *dev);

/**
 * struct pump - carries a stream from one device to another one
 * @from:  file that the stream is read from
 * @to:    file that it is written to; -1: it is thrown away
 * @sent:  of each page of the framebuffer, whether it was read since it was written; NULL: nobody
 *         wants to know
 * @bytes: carried so far
 * @ns:    time that took
 * @head:  what was read of the present frame, as far as the pages' numbers
 * @got:   bytes in @head
 * @want:  bytes that are to be there
 * @skip:  bytes until the next frame
 */
struct pump {
	int from;
	int to;
	atomic_uchar *sent;
	uint64_t bytes;
	double ns;
	uint8_t head[32];
	size_t got;
	size_t want;
	size_t skip;
};

void pump_begin(struct pump *pump, int from, int to, atomic_uchar *sent);

/* Carries what can be read now: up to the end in STOP_COPY, else to the end of a pass. */
void pump_run(struct pump *pump);

/**
 * struct guest - works on a vGPU: computes all the time, and rewrites pages at a given rate
 * @dev:       the vGPU
 * @gr:        channel with the program
 * @ce:        channel that rewrites most pages; the processor writes the others
 * @place:     the program
 * @results:   what each work-item leaves
 * @program:   dispatches so far
 * @first:     number of the first page that is rewritten
 * @pages:     number of them
 * @want:      first word of each of them
 * @sent:      see struct pump, from page 0 on
 * @rate:      pages to be rewritten in a second
 * @next:      pages rewritten so far
 * @rewritten: pages rewritten since guest_forget()
 * @again:     of these, those that had been sent
 * @stop:      the thread is to end
 * @thread:    works
 */
struct guest {
	struct vgpu_dev *dev;
	struct vgpu_chan *gr;
	struct vgpu_chan *ce;
	struct place place;
	uint64_t *results;
	uint64_t program;
	uint64_t first;
	uint64_t pages;
	uint32_t *want;
	atomic_uchar *sent;
	double rate;
	uint64_t next;
	atomic_uint_least64_t rewritten;
	atomic_uint_least64_t again;
	atomic_bool stop;
	pthread_t thread;
};

/*
 * Gives the guest a vGPU, of which it writes all that is left of the framebuffer, or as many MiB as
 * MIB in the environment says.
 */
void guest_init(struct guest *guest, struct vgpu_dev *dev);

/* Its processors run, and stand still. Engines go on meanwhile. */
void guest_start(struct guest *guest);
void guest_stop(struct guest *guest);

/* Nothing was sent so far, nor rewritten. */
void guest_forget(struct guest *guest);

/* The guest, whose processors stand still, has @dev from now on. */
void guest_move(struct guest *guest, struct vgpu_dev *dev);

/* Ends the process unless all pages are what the guest has written. It must not run. */
void guest_check(struct guest *guest);

/* Keeps a channel that computes busy: @least dispatches are under way. Checks what has ended. */
void guest_feed(struct guest *guest, unsigned int least);

/* Channel and program alone, without memory to be rewritten. */
void guest_compute(struct guest *guest, struct vgpu_dev *dev);

void guest_exit(struct guest *guest);

#endif /* BENCH_MOVE_H */
