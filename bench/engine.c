// SPDX-License-Identifier: GPL-2.0
/* Rows about the engines: an empty packet, a program of one work-item, a large copy. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "libvgpu.h"
#include "place.h"
#include "stats.h"

#define PINGS		25u
#define WAKES		20u
#define ASLEEP_US	20000	/* after which an engine sleeps, whatever poll_us is */
#define COPY_BYTES	(16ull << 20)
/*
 * Source and destination are apart by this more than their size, on both sides: an emulated
 * processor finds pages by the low bits of their numbers, so that two pages whose distance is a
 * power of two push each other out.
 */
#define COPY_SKEW	(17 * 4096)
#define WAIT_MS		30000

/**
 * struct pings - a channel with an interrupt, and a thread that answers
 * @chan:   where empty packets are submitted
 * @fd:     eventfd of the channel's interrupt
 * @packet: an empty packet, or another one, that raises the interrupt
 * @count:  where each packet counts; NULL: none does
 * @rings:  doorbells rung in all blocks
 * @total:  packets submitted in all blocks
 * @submitted: packets submitted, in blocks or not
 * @asleep_us: how long a packet takes that finds the engine asleep, median
 * @other:  what this is measured against, if that is packets, too
 * @ping:   eventfd that wakes the thread; a count above 1 ends it
 * @pong:   eventfd by which the thread answers
 * @thread: waits for @ping and signals @pong
 */
struct pings {
	struct vgpu_chan *chan;
	int fd;
	struct vgpu_hw_packet packet;
	const volatile uint64_t *count;
	uint64_t rings;
	uint64_t total;
	uint64_t submitted;
	double asleep_us;
	const struct pings *other;
	int ping;
	int pong;
	pthread_t thread;
};

static void eventfd_wait(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		bench_die("eventfd: %s", strerror(errno));
}

static void eventfd_wake(int fd, uint64_t count)
{
	if (write(fd, &count, sizeof(count)) != sizeof(count))
		bench_die("eventfd: %s", strerror(errno));
}

static void ping_packet(struct pings *pings)
{
	struct vgpu_chan *chan = pings->chan;
	uint64_t put = chan->put;
	int rung;

	chan->ring[put & ((1ull << chan->order) - 1)] = pings->packet;
	rung = vgpu_chan_kick(chan, put + 1);
	if (rung < 0)
		bench_die("doorbell: %s", vgpu_dev_error(chan->dev));
	pings->rings += (unsigned int)rung;
	pings->total++;
	pings->submitted++;
	eventfd_wait(pings->fd);
}

static double block_packets(void *arg)
{
	struct pings *pings = arg;
	uint64_t rings, total;
	unsigned int i;
	double start;

	/* The first packet of a block finds the engine asleep: it does not count. */
	rings = pings->rings;
	total = pings->total;
	ping_packet(pings);
	pings->rings = rings;
	pings->total = total;
	start = bench_now_ns();
	for (i = 0; i < PINGS; i++)
		ping_packet(pings);
	start = (bench_now_ns() - start) / PINGS;
	if (vgpu_chan_get(pings->chan) != pings->chan->put)
		bench_die("get is not put");
	if (pings->count && *pings->count != pings->submitted)
		bench_die("%llu programs of %llu have run", (unsigned long long)*pings->count,
			  (unsigned long long)pings->submitted);
	return start;
}

static void *ping_thread(void *arg)
{
	struct pings *pings = arg;
	uint64_t count;

	for (;;) {
		if (read(pings->ping, &count, sizeof(count)) != sizeof(count))
			return NULL;
		if (count > 1)
			return NULL;
		eventfd_wake(pings->pong, 1);
	}
}

static double block_pings(void *arg)
{
	struct pings *pings = arg;
	double start;
	unsigned int i;

	eventfd_wake(pings->ping, 1);
	eventfd_wait(pings->pong);
	start = bench_now_ns();
	for (i = 0; i < PINGS; i++) {
		eventfd_wake(pings->ping, 1);
		eventfd_wait(pings->pong);
	}
	return (bench_now_ns() - start) / PINGS;
}

static struct vgpu_dev *open_vgpu(const char *uuid)
{
	struct vgpu_dev *dev;

	if (vgpu_dev_open_vfio(&dev, uuid))
		bench_die("%s: %s", uuid, vgpu_dev_error(NULL));
	return dev;
}

static struct vgpu_chan *open_channel(struct vgpu_dev *dev, uint32_t class)
{
	int engine = vgpu_dev_find_engine(dev, class, 0);
	struct vgpu_chan *chan;

	if (engine < 0 || vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, 8, &chan))
		bench_die("channel: %s", vgpu_dev_error(dev));
	return chan;
}

static void tell_pings(void *arg, char *text, size_t bytes)
{
	struct pings *pings = arg;

	snprintf(text, bytes,
		 "; of %llu packets %llu found the engine asleep and rang the doorbell",
		 (unsigned long long)pings->total, (unsigned long long)pings->rings);
}

static void pings_start(struct pings *pings)
{
	pings->ping = eventfd(0, EFD_CLOEXEC);
	pings->pong = eventfd(0, EFD_CLOEXEC);
	if (pings->ping < 0 || pings->pong < 0 ||
	    pthread_create(&pings->thread, NULL, ping_thread, pings))
		bench_die("thread: %s", strerror(errno));
}

/* A channel with an interrupt, for whose packets ping_packet() sleeps in read(). */
static void pings_open(struct pings *pings, struct vgpu_dev *dev, uint32_t class)
{
	if (vgpu_irq_enable(dev, 2))
		bench_die("interrupts: %s", vgpu_dev_error(dev));
	pings->chan = open_channel(dev, class);
	pings->packet.vector = (uint16_t)pings->chan->vector;
	pings->fd = dev->irq_fds[pings->chan->vector];
	fcntl(pings->fd, F_SETFL, fcntl(pings->fd, F_GETFL) & ~O_NONBLOCK);
}

void row_empty_packet(const char *uuid)
{
	struct vgpu_dev *dev = open_vgpu(uuid);
	struct pings pings = {
		.packet = {
			.type = VGPU_HW_PKT_NOP,
			.flags = VGPU_HW_PKT_IRQ,
		},
	};
	struct bench_row row = {
		.name = "empty_packet", .unit = "ns", .reach = 1.0,
		.ours = { block_packets, &pings },
		.peer = { block_pings, &pings },
		.detail = "NOP with an interrupt, store of put to return of read() of its eventfd, against an eventfd ping-pong of two threads; 25 per block",
		.tell = tell_pings,
	};

	pings_open(&pings, dev, VGPU_HW_ENGINE_CE);
	pings_start(&pings);
	bench_compare(&row);
	eventfd_wake(pings.ping, 2);
	pthread_join(pings.thread, NULL);
	vgpu_chan_destroy(pings.chan);
	vgpu_dev_close(dev);
}

static void measure_asleep(struct pings *pings)
{
	double us[WAKES];
	uint64_t rings;
	unsigned int i;

	for (i = 0; i < WAKES; i++) {
		usleep(ASLEEP_US);
		rings = pings->rings;
		us[i] = bench_now_ns();
		ping_packet(pings);
		us[i] = (bench_now_ns() - us[i]) / 1000;
		if (pings->rings == rings)
			bench_die("the engine did not sleep");
	}
	pings->asleep_us = stats_quantile(us, WAKES, 0.5);
}

static void tell_dispatch(void *arg, char *text, size_t bytes)
{
	const struct pings *pings = arg;

	snprintf(text, bytes,
		 "; where the engine sleeps and is woken by the doorbell %.1f us, empty packet %.1f us, medians of %u",
		 pings->asleep_us, pings->other->asleep_us, WAKES);
}

/* The program adds one, so that what has run is what was submitted. */
void row_compute_dispatch(const char *uuid)
{
	struct vgpu_dev *dev = open_vgpu(uuid);
	struct pings empty = { .packet.type = VGPU_HW_PKT_NOP }, dispatch = { .other = &empty };
	struct place place = { .dev = dev, .items = 1, .slots = 1 };
	struct bench_row row = {
		.name = "compute_dispatch", .unit = "ns",
		.ours = { block_packets, &dispatch },
		.peer = { block_packets, &empty },
		.detail = "DISPATCH of one work-item (five instructions) with an interrupt, store of put to return of read() of its eventfd, engine awake, against NOP on the same channel; 25 per block",
		.tell = tell_dispatch,
	};

	place_program(&place, &program_count);
	dispatch.packet = place_packet(&place, 0, 1);
	dispatch.count = place_out(&place, 0);
	pings_open(&dispatch, dev, VGPU_HW_ENGINE_GR);
	empty.chan = dispatch.chan;
	empty.fd = dispatch.fd;
	empty.packet.vector = dispatch.packet.vector;
	dispatch.packet.flags = VGPU_HW_PKT_IRQ;
	empty.packet.flags = VGPU_HW_PKT_IRQ;
	measure_asleep(&dispatch);
	measure_asleep(&empty);
	bench_compare(&row);
	vgpu_chan_destroy(dispatch.chan);
	vgpu_dev_close(dev);
}

/**
 * struct way - a way to copy memory
 * @name: in the row's detail
 * @copy: takes what memcpy() takes
 */
struct way {
	const char *name;
	void (*copy)(void *to, const void *from, size_t bytes);
};

static void copy_libc(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

/* An emulated processor may be slow with the way libc chooses; the peer is the fastest way. */
static void copy_words(void *to, const void *from, size_t bytes)
{
#ifdef __x86_64__
	size_t words = bytes / 8;

	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
#else
	memcpy(to, from, bytes);
#endif
}

__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
static void copy_registers(void *to, const void *from, size_t bytes)
{
	const uint64_t *src = from;
	uint64_t *dst = to, a, b, c, d;
	size_t i;

	for (i = 0; i < bytes / 8; i += 4) {
		a = src[i];
		b = src[i + 1];
		c = src[i + 2];
		d = src[i + 3];
		dst[i] = a;
		dst[i + 1] = b;
		dst[i + 2] = c;
		dst[i + 3] = d;
	}
}

static const struct way ways[] = {
	{ "libc's memcpy", copy_libc },
	{ "memcpy by 64-bit string moves", copy_words },
	{ "memcpy by four 64-bit registers", copy_registers },
};

/**
 * struct copies - a copy by an engine, and the same copy by another thread
 * @chan:   a channel of a copy engine
 * @src:    offset in framebuffer of what the engine copies
 * @dst:    offset in framebuffer of where the engine copies it to
 * @from:   what the thread copies
 * @to:     where the thread copies it to
 * @how:    the fastest way to copy on this machine
 * @go:     eventfd that wakes the thread; a count above 1 ends it
 * @done:   eventfd by which the thread answers
 * @thread: waits for @go, copies, and signals @done
 */
struct copies {
	struct vgpu_chan *chan;
	uint64_t src;
	uint64_t dst;
	uint8_t *from;
	uint8_t *to;
	const struct way *how;
	int go;
	int done;
	pthread_t thread;
};

static void engine_copy(struct copies *copies)
{
	struct vgpu_chan *chan = copies->chan;
	uint64_t fence;

	if (vgpu_chan_copy(chan, VGPU_FB(copies->dst), VGPU_FB(copies->src), COPY_BYTES) ||
	    vgpu_chan_fence(chan, &fence) || vgpu_chan_wait(chan, fence, WAIT_MS))
		bench_die("copy: %s", vgpu_dev_error(chan->dev));
}

static double bandwidth(double ns)
{
	return (double)COPY_BYTES / ns * 1e9 / (1 << 20);
}

static double block_engine(void *arg)
{
	struct copies *copies = arg;
	double start = bench_now_ns();

	engine_copy(copies);
	return bandwidth(bench_now_ns() - start);
}

static void *copy_thread(void *arg)
{
	struct copies *copies = arg;
	uint64_t count;

	for (;;) {
		if (read(copies->go, &count, sizeof(count)) != sizeof(count) || count > 1)
			return NULL;
		copies->how->copy(copies->to, copies->from, COPY_BYTES);
		eventfd_wake(copies->done, 1);
	}
}

static double block_memcpy(void *arg)
{
	struct copies *copies = arg;
	double start = bench_now_ns();

	eventfd_wake(copies->go, 1);
	eventfd_wait(copies->done);
	return bandwidth(bench_now_ns() - start);
}

static uint8_t *memory(void)
{
	uint8_t *at = mmap(NULL, COPY_BYTES + COPY_SKEW, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		bench_die("memory: %s", strerror(errno));
	return at;
}

/* Puts the same data on both sides, so that every page is there. */
static void copies_fill(struct copies *copies, struct vgpu_dev *dev)
{
	uint64_t *from = (uint64_t *)copies->from, random = 88172645463325252ull;
	size_t i;

	for (i = 0; i < COPY_BYTES / 8; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		from[i] = random;
	}
	memset(copies->to, 1, COPY_BYTES);
	memcpy(dev->fb + copies->src, copies->from, COPY_BYTES);
	memset(dev->fb + copies->dst, 1, COPY_BYTES);
}

static void find_fastest(struct copies *copies)
{
	double best = 0, start, spent;
	size_t i, k;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (k = 0; k < 5; k++) {
			start = bench_now_ns();
			ways[i].copy(copies->to, copies->from, COPY_BYTES);
			spent = bench_now_ns() - start;
			if (!best || spent < best) {
				best = spent;
				copies->how = &ways[i];
			}
		}
	}
}

static void tell_copies(void *arg, char *text, size_t bytes)
{
	struct copies *copies = arg;

	snprintf(text, bytes, "; fastest there: %s", copies->how->name);
}

void row_copy_bandwidth(const char *uuid)
{
	struct vgpu_dev *dev = open_vgpu(uuid);
	struct copies copies = { .from = memory(), .to = memory() + COPY_SKEW };
	struct bench_row row = {
		.name = "copy_bandwidth", .unit = "MiB/s", .reach = 0.9,
		.higher = true,
		.ours = { block_engine, &copies },
		.peer = { block_memcpy, &copies },
		.detail = "COPY of 16 MiB, framebuffer to framebuffer, by a copy engine, against memcpy by another thread between buffers of the same size; all pages present, results compared",
		.tell = tell_copies,
	};

	copies.chan = open_channel(dev, VGPU_HW_ENGINE_CE);
	copies.go = eventfd(0, EFD_CLOEXEC);
	copies.done = eventfd(0, EFD_CLOEXEC);
	if (vgpu_fb_alloc(dev, COPY_BYTES, 1 << 20, &copies.src) ||
	    vgpu_fb_alloc(dev, COPY_BYTES + COPY_SKEW, 1 << 20, &copies.dst))
		bench_die("framebuffer: %s", vgpu_dev_error(dev));
	copies.dst += COPY_SKEW;
	if (copies.go < 0 || copies.done < 0 ||
	    pthread_create(&copies.thread, NULL, copy_thread, &copies))
		bench_die("thread: %s", strerror(errno));
	copies_fill(&copies, dev);
	find_fastest(&copies);
	bench_compare(&row);
	eventfd_wake(copies.go, 2);
	pthread_join(copies.thread, NULL);
	if (memcmp(copies.to, copies.from, COPY_BYTES) ||
	    memcmp(dev->fb + copies.dst, copies.from, COPY_BYTES))
		bench_die("the copies differ");
	vgpu_chan_destroy(copies.chan);
	vgpu_dev_close(dev);
}
