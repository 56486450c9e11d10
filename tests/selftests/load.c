// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clk.h"
#include "load.h"

#define PAGE		4096ull
#define SAMPLE_BYTES	(8ull * LOAD_SAMPLES)

__attribute__((format(printf, 3, 4)))
static int load_fail(struct load *load, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(load->text, sizeof(load->text), fmt, ap);
	va_end(ap);
	return ret;
}

static int load_fail_dev(struct load *load, int ret)
{
	return load_fail(load, ret, "%s", vgpu_dev_error(load->dev));
}

uint64_t load_packets(const struct load *load)
{
	return load->config.fills + 1;
}

uint64_t load_room(const struct load *load)
{
	return (1ull << load->config.order) / load_packets(load);
}

uint64_t load_jobs(const struct load *load)
{
	return vgpu_chan_get(load->chan) / load_packets(load);
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint32_t load_pattern(const struct load *load, uint64_t job)
{
	uint64_t x = load->config.seed + (job + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(x ^ x >> 31);
}

int load_init(struct load *load, struct vgpu_dev *dev, const struct load_config *config)
{
	uint64_t at;
	int engine, ret;

	memset(load, 0, sizeof(*load));
	load->dev = dev;
	load->config = *config;
	if (config->irq && dev->irqs < 2)
		return load_fail(load, -EINVAL, "interrupts are not enabled");
	if (!load->config.fills)
		load->config.fills = 1;
	load->start = dev->fb_next;
	engine = vgpu_dev_find_engine(dev, config->engine_class, config->instance);
	if (engine < 0)
		return load_fail_dev(load, engine);
	ret = vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, config->order, &load->chan);
	if (ret)
		return load_fail_dev(load, ret);
	ret = vgpu_fb_alloc(dev, 8 * load_room(load), PAGE, &load->fence);
	if (!ret)
		ret = vgpu_fb_alloc(dev, SAMPLE_BYTES * load_room(load), PAGE, &load->samples);
	if (!ret)
		ret = vgpu_fb_alloc(dev, config->job_bytes, PAGE, &load->area);
	if (ret)
		return load_fail_dev(load, ret);
	/* Touches all pages, so that none has to be allocated while somebody measures. */
	for (at = load->fence; at < load->area + config->job_bytes; at += PAGE)
		*(volatile uint64_t *)(dev->fb + at) = 0;
	return 0;
}

void load_exit(struct load *load)
{
	if (!load->dev)
		return;
	vgpu_chan_destroy(load->chan);
	vgpu_fb_release(load->dev, load->start);
	memset(load, 0, sizeof(*load));
}

static int load_check_job(struct load *load, uint64_t job)
{
	uint64_t slot = job % load_room(load);
	const uint64_t *fence = (void *)(load->dev->fb + load->fence);
	const uint32_t *sample = (void *)(load->dev->fb + load->samples + slot * SAMPLE_BYTES);
	uint32_t pattern = load_pattern(load, job);
	unsigned int i;

	if (le64toh(fence[slot]) != job + 1)
		return load_fail(load, -EILSEQ, "%s: job %llu has completed and signals %llu",
				 load->dev->name, (unsigned long long)job,
				 (unsigned long long)le64toh(fence[slot]));
	for (i = 0; i < SAMPLE_BYTES / 4; i++) {
		if (le32toh(sample[i]) != pattern)
			return load_fail(load, -EILSEQ, "%s: job %llu, sample %u: %#x, not %#x",
					 load->dev->name, (unsigned long long)job, i,
					 le32toh(sample[i]), pattern);
		/* FNV-1a */
		load->sum = (load->sum ^ le32toh(sample[i])) * 0x100000001b3ull;
	}
	return 0;
}

int load_check(struct load *load)
{
	uint64_t done = load_jobs(load);
	int ret;

	if (vgpu_chan_state(load->chan) == VGPU_HW_STATE_FAULTED)
		return load_fail(load, -EIO, "%s: channel %u has faulted",
				 load->dev->name, load->chan->id);
	if (done > load->put)
		return load_fail(load, -EILSEQ, "%s: %llu jobs submitted, %llu completed",
				 load->dev->name, (unsigned long long)load->put,
				 (unsigned long long)done);
	while (load->checked < done) {
		ret = load_check_job(load, load->checked);
		if (ret)
			return ret;
		load->checked++;
	}
	return 0;
}

/* Where the packet of that index is to be written. */
static struct vgpu_hw_packet *load_slot(struct load *load, uint64_t index)
{
	return &load->chan->ring[index & ((1ull << load->config.order) - 1)];
}

static void load_write_job(struct load *load, uint64_t job)
{
	uint64_t slot = job % load_room(load), index = job * load_packets(load);
	uint64_t part = load->config.job_bytes / LOAD_SAMPLES;
	uint32_t i;

	for (i = 0; i < load->config.fills; i++)
		*load_slot(load, index++) = (struct vgpu_hw_packet) {
			.type = VGPU_HW_PKT_FILL,
			.dst = htole64(load->area),
			.value = htole32(load_pattern(load, job)),
			.width = htole64(load->config.job_bytes),
			.rows = htole32(1),
		};
	*load_slot(load, index) = (struct vgpu_hw_packet) {
		.type = VGPU_HW_PKT_COPY,
		.flags = VGPU_HW_PKT_SIGNAL |
			 (load->config.irq ? VGPU_HW_PKT_IRQ : 0),
		.vector = htole16(load->config.irq ? (uint16_t)load->chan->vector : 0),
		.dst = htole64(load->samples + slot * SAMPLE_BYTES),
		.src = htole64(load->area + part - 8),
		.width = htole64(8),
		.rows = htole32(LOAD_SAMPLES),
		.dst_pitch = htole32(8),
		.src_pitch = htole32((uint32_t)part),
		.signal_addr = htole64(load->fence + 8 * slot),
		.signal_value = htole64(job + 1),
	};
}

int load_keep(struct load *load, uint64_t depth)
{
	uint64_t put = load->put;
	int ret;

	ret = load_check(load);
	if (ret)
		return ret;
	if (depth > load_room(load))
		depth = load_room(load);
	while (load->put - load->checked < depth)
		load_write_job(load, load->put++);
	if (load->put == put)
		return 0;
	ret = vgpu_chan_kick(load->chan, load->put * load_packets(load));
	return ret < 0 ? load_fail_dev(load, ret) : 0;
}

int load_drain(struct load *load, int timeout_ms)
{
	int ret = vgpu_chan_wait_idle(load->chan, timeout_ms);

	if (ret)
		return load_fail_dev(load, ret);
	ret = load_check(load);
	if (!ret && load->checked != load->put)
		ret = load_fail(load, -EILSEQ, "%s: %llu jobs of %llu done", load->dev->name,
				(unsigned long long)load->checked, (unsigned long long)load->put);
	return ret;
}

static int load_time(struct load *load, uint64_t jobs, uint64_t *took_ns)
{
	uint64_t start = clk_ns();
	int ret;

	ret = load_keep(load, jobs);
	while (!ret && load_jobs(load) < load->put) {
		if (clk_ns() - start > 60000000000ull)
			return load_fail(load, -ETIMEDOUT, "%s: no progress", load->dev->name);
		sched_yield();
		ret = load_check(load);
	}
	*took_ns = (clk_ns() - start) / jobs;
	return ret ? ret : load_check(load);
}

/*
 * The fastest of several tries: other work of this machine makes a job take longer, but never
 * shorter.
 */
static int load_best(struct load *load, unsigned int tries, uint64_t jobs, uint64_t *best_ns)
{
	uint64_t took_ns = 0;
	int ret = 0;

	*best_ns = ~0ull;
	while (!ret && tries--) {
		ret = load_time(load, jobs, &took_ns);
		if (!ret && took_ns < *best_ns)
			*best_ns = took_ns;
	}
	return ret;
}

int load_size(struct load *load, struct vgpu_dev *dev, const struct load_config *config,
	      uint64_t job_ns, uint64_t *job_bytes, uint64_t *took_ns)
{
	struct load_config trial = *config;
	uint64_t bytes = 16 * PAGE;
	unsigned int round;
	int ret;

	trial.order = 6;
	/* The first job finds the engine asleep, and the caches cold. */
	for (round = 0; round < 8; round++) {
		trial.job_bytes = bytes;
		ret = load_init(load, dev, &trial);
		if (!ret)
			ret = load_best(load, 10, 8, took_ns);
		if (ret)
			return ret;
		load_exit(load);
		if (round && *took_ns > job_ns - job_ns / 10 && *took_ns < job_ns + job_ns / 10)
			break;
		bytes = trial.job_bytes * job_ns / (*took_ns ? *took_ns : 1);
		bytes &= ~(PAGE - 1);
		/* No more than four times the last size: the time may be wrong by chance. */
		if (bytes > 4 * trial.job_bytes)
			bytes = 4 * trial.job_bytes;
		if (bytes < trial.job_bytes / 4)
			bytes = trial.job_bytes / 4 & ~(PAGE - 1);
		if (bytes < PAGE)
			bytes = PAGE;
		if (bytes > 1024 * PAGE)
			bytes = 1024 * PAGE;
	}
	*job_bytes = trial.job_bytes;
	return 0;
}

static void load_think(uint64_t ns)
{
	uint64_t end = clk_ns() + ns;

	while (clk_ns() < end)
		;
}

/*
 * One turn of a client: submits the jobs that are missing first of all, from what is already
 * written; then verifies what has completed, and writes the next job to the ring.
 */
static int load_client_turn(struct load_client *client, uint64_t done)
{
	struct load *load = client->load;
	int ret;

	while (load->put - done < client->depth) {
		if (load->put == client->written)
			load_write_job(load, client->written++);
		load->put++;
	}
	ret = vgpu_chan_kick(load->chan, load->put * load_packets(load));
	if (ret < 0)
		return load_fail_dev(load, ret);
	ret = load_check(load);
	if (!ret && client->written == load->put)
		load_write_job(load, client->written++);
	return ret;
}

static int load_irq_fd(const struct load *load)
{
	return load->dev->irq_fds[load->chan->vector];
}

/* Whether read() of the interrupt blocks: a poll() before it would make the wait longer. */
static void load_irq_block(const struct load *load, bool block)
{
	int fd = load_irq_fd(load);
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, block ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* Returns when a job has completed, the channel has faulted, or the client is to end. */
static void load_client_wait(struct load_client *client, uint64_t done)
{
	struct load *load = client->load;
	uint64_t count;

	while (load_jobs(load) == done && vgpu_chan_state(load->chan) != VGPU_HW_STATE_FAULTED &&
	       !__atomic_load_n(&client->stop, __ATOMIC_ACQUIRE)) {
		if (!load->config.irq || read(load_irq_fd(load), &count, sizeof(count)) < 0)
			sched_yield();
	}
}

static void *load_client_thread(void *arg)
{
	struct load_client *client = arg;
	struct load *load = client->load;
	uint64_t done;

	while (!__atomic_load_n(&client->stop, __ATOMIC_RELAXED)) {
		done = load_jobs(load);
		client->ret = load_client_turn(client, done);
		if (client->ret)
			break;
		load_client_wait(client, done);
		if (client->think_ns)
			load_think(client->think_ns);
	}
	return NULL;
}

int load_client_start(struct load_client *client)
{
	int ret;

	client->stop = false;
	client->ret = 0;
	client->written = client->load->put;
	/* Jobs that are verified and jobs that are written at the same time are not to meet. */
	if (load_room(client->load) < 2 * client->depth + 2)
		return load_fail(client->load, -ENOSPC, "%llu jobs fit",
				 (unsigned long long)load_room(client->load));
	if (client->load->config.irq)
		load_irq_block(client->load, true);
	ret = -pthread_create(&client->thread, NULL, load_client_thread, client);
	return ret ? load_fail(client->load, ret, "thread: %s", strerror(-ret)) :
		     0;
}

int load_client_stop(struct load_client *client)
{
	struct load *load = client->load;
	uint64_t once = 1;

	__atomic_store_n(&client->stop, true, __ATOMIC_RELEASE);
	if (load->config.irq && write(load_irq_fd(load), &once, sizeof(once)) != sizeof(once))
		return load_fail(load, -errno, "eventfd: %s", strerror(errno));
	pthread_join(client->thread, NULL);
	if (load->config.irq)
		load_irq_block(load, false);
	return client->ret;
}
