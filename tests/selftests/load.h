/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients of vGPUs that keep an engine busy and count what they get, for tests and figures about
 * scheduling; over libvgpu only.
 *
 * A job is one FILL or more with a pattern of the job's own, and a COPY that brings samples of
 * what was filled to a place of the job's own, and signals. Jobs are counted by get, and the
 * samples of each are verified before the job's place is used again. A long ring of long jobs
 * costs the processor next to nothing.
 */
#ifndef LOAD_H
#define LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <libvgpu.h>
#include <linux/vgpu.h>

#define LOAD_TEXT_LEN	320
#define LOAD_SAMPLES	4	/* per job, 8 bytes each */

/**
 * struct load_config - what a client is to do
 * @engine_class: of the engine (enum vgpu_hw_engine_class)
 * @instance:     number of the engine within the class
 * @order:        log2 of the packets of the ring
 * @fills:        FILLs of a job, all of the same memory; 0: 1
 * @job_bytes:    bytes that each FILL fills, whole pages
 * @irq:          jobs raise an interrupt, and a client's thread sleeps until one comes; the
 *                device's interrupts are enabled. Else the thread polls
 * @seed:         of the patterns
 */
struct load_config {
	uint32_t engine_class;
	uint32_t instance;
	uint32_t order;
	uint32_t fills;
	uint64_t job_bytes;
	bool irq;
	uint64_t seed;
};

/**
 * struct load - a client
 * @dev:     the vGPU; NULL: there is no client
 * @config:  as given to load_init()
 * @chan:    the channel
 * @start:   offset of the client's first byte of framebuffer
 * @area:    offset of what jobs fill
 * @samples: offset of the jobs' samples
 * @fence:   offset of the words that jobs signal
 * @put:     jobs submitted
 * @checked: jobs verified
 * @sum:     checksum over the samples that were verified
 * @text:    what has gone wrong
 */
struct load {
	struct vgpu_dev *dev;
	struct load_config config;
	struct vgpu_chan *chan;
	uint64_t start;
	uint64_t area;
	uint64_t samples;
	uint64_t fence;
	uint64_t put;
	uint64_t checked;
	uint64_t sum;
	char text[LOAD_TEXT_LEN];
};

/*
 * Functions that return int return 0 or a negative errno, and then load->text says more.
 *
 * Of the clients on one device the last one that was made is to be ended first.
 */
int load_init(struct load *load, struct vgpu_dev *dev, const struct load_config *config);
void load_exit(struct load *load);

/* Verifies the jobs that have completed since the last time. */
int load_check(struct load *load);

/* The same, and submits so many that @depth jobs are under way. */
int load_keep(struct load *load, uint64_t depth);

/* Waits until all jobs have completed, and verifies them. */
int load_drain(struct load *load, int timeout_ms);

/* Packets of a job; jobs that fit into the ring; jobs completed so far. */
uint64_t load_packets(const struct load *load);
uint64_t load_room(const struct load *load);
uint64_t load_jobs(const struct load *load);

/* Finds how large a job is that takes job_ns on an idle engine, and how long that one takes. */
int load_size(struct load *load, struct vgpu_dev *dev, const struct load_config *config,
	      uint64_t job_ns, uint64_t *job_bytes, uint64_t *took_ns);

/**
 * struct load_client - a client with a thread of its own, which waits for its jobs
 * @load:     the client; it belongs to the thread until load_client_stop()
 * @depth:    jobs that the thread keeps under way
 * @think_ns: from the end of a job until the thread submits the next
 * @written:  jobs that have been written to the ring, submitted or not
 * @thread:   the thread
 * @stop:     the thread is to end
 * @ret:      0, or the negative errno for which the thread has ended
 */
struct load_client {
	struct load *load;
	unsigned int depth;
	uint64_t think_ns;
	uint64_t written;
	pthread_t thread;
	bool stop;
	int ret;
};

/* Meanwhile only load_jobs() may be called for the client. */
int load_client_start(struct load_client *client);
int load_client_stop(struct load_client *client);

#endif /* LOAD_H */
