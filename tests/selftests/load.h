/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients of vGPUs that keep an engine busy and count what they get, for tests
 * and figures about scheduling; over libvgpu only.
 *
 * A job is one FILL or more with a pattern of its own, and a COPY that brings
 * samples of it to a place of its own and signals. What was done is what has come there: jobs
 * are counted by get, and each is verified before its place is used again. A long
 * ring of long jobs costs the processor next to nothing.
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
 * @engine_class: enum vgpu_hw_engine_class
 * @instance:     within the class
 * @order:        log2 of the ring's packets
 * @fills:        FILLs of a job, all of the same memory; 0: 1
 * @job_bytes:    that each fills, whole pages
 * @irq:          jobs raise an interrupt, for which a client's thread sleeps; else
 *                the thread polls. The device's interrupts are enabled.
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
 * @dev:     its vGPU
 * @config:  see there
 * @chan:    its channel
 * @start:   where its framebuffer begins
 * @area:    what jobs fill
 * @samples: where their samples go
 * @fence:   where they signal
 * @put:     jobs submitted
 * @checked: jobs verified
 * @sum:     checksum over what was verified
 * @text:    what went wrong
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

/* These return 0 or a negative errno; then load->text says more. */
int load_init(struct load *load, struct vgpu_dev *dev,
	      const struct load_config *config);
void load_exit(struct load *load);
int load_check(struct load *load);
int load_keep(struct load *load, uint64_t depth);
int load_drain(struct load *load, int timeout_ms);
uint64_t load_packets(const struct load *load);
uint64_t load_room(const struct load *load);
uint64_t load_jobs(const struct load *load);

/* How large a job of job_ns is on an idle engine, and how long one takes. */
int load_size(struct load *load, struct vgpu_dev *dev,
	      const struct load_config *config, uint64_t job_ns,
	      uint64_t *job_bytes, uint64_t *took_ns);

/**
 * struct load_client - a client with a thread, that waits for what it asked for
 * @load:     what it works with; the thread's until it is stopped
 * @depth:    jobs it has under way
 * @think_ns: from the end of a job to the submission of the next
 * @written:  jobs that are in the ring, submitted or not
 * @thread:   it
 * @stop:     it is to end
 * @ret:      how it ended
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

int load_client_start(struct load_client *client);
int load_client_stop(struct load_client *client);

uint64_t load_now_ns(void);

/*
 * What each of @nr vGPUs is due under qos, as a fraction of the engine, if those
 * with @busy always have work and the others none.
 */
void load_due(const struct vgpu_ctl_share *share, const bool *busy,
	      unsigned int nr, double *due);

/* A measurement of the software GPU's gr, in debugfs; 0 or a negative errno. */
int load_counter(const char *name, uint64_t *value);

/* @why has room for VGPU_TEXT_LEN; slice_ns 0 leaves it. 0 or a negative errno. */
int load_set_policy(int control, uint32_t gpu, const char *policy,
		    uint64_t slice_ns, char *why);
int load_set_shares(int control, const struct vgpu_ctl_share *share,
		    unsigned int nr, char *why);

#endif /* LOAD_H */
