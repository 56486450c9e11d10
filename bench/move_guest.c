// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "move.h"

#define SLOTS		16u
#define ITEMS		256u
#define ROUNDS		6000u
#define RING_ORDER	10
#define TICK_NS		10e6
/* Which pages are rewritten one after the other: no two that are beside each other. */
#define STRIDE		7919u
/* Of so many pages the processor rewrites one, the others an engine. */
#define BY_CPU		8
#define FILL_BYTES	(16ull << 20)
#define WAIT_MS		600000

static void check(struct guest *guest, int ret)
{
	if (ret)
		bench_die("guest: %s", vgpu_dev_error(guest->dev));
}

static struct vgpu_chan *channel(struct guest *guest, uint32_t class)
{
	int engine = vgpu_dev_find_engine(guest->dev, class, 0);
	struct vgpu_chan *chan;

	check(guest, engine < 0 ? engine : 0);
	check(guest, vgpu_chan_create(guest->dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER,
				      &chan));
	return chan;
}

static void *room(size_t nr, size_t bytes)
{
	void *at = calloc(nr, bytes);

	if (!at)
		bench_die("memory");
	return at;
}

void guest_compute(struct guest *guest, struct vgpu_dev *dev)
{
	uint32_t i;

	*guest = (struct guest){
		.dev = dev, .place = { .dev = dev, .items = ITEMS, .slots = SLOTS },
	};
	place_program(&guest->place, &program_loop);
	guest->gr = channel(guest, VGPU_HW_ENGINE_GR);
	guest->results = room(ITEMS, sizeof(*guest->results));
	for (i = 0; i < ITEMS; i++)
		guest->results[i] = program_loop.result(i, ROUNDS);
}

void guest_init(struct guest *guest, struct vgpu_dev *dev)
{
	const char *mib = getenv("MIB");
	uint64_t at, end, part, i;

	guest_compute(guest, dev);
	guest->ce = channel(guest, VGPU_HW_ENGINE_CE);
	check(guest, vgpu_fb_alloc(dev, MOVE_PAGE, MOVE_PAGE, &at));
	end = dev->fb_bytes;
	if (mib && at + (strtoull(mib, NULL, 10) << 20) < end)
		end = at + (strtoull(mib, NULL, 10) << 20);
	guest->first = at / MOVE_PAGE;
	guest->pages = (end - at) / MOVE_PAGE;
	guest->want = room(guest->pages, sizeof(*guest->want));
	guest->sent = room(dev->fb_bytes / MOVE_PAGE, sizeof(*guest->sent));
	for (i = 0; i < guest->pages; i++)
		guest->want[i] = 1;
	for (; at < end; at += part) {
		part = end - at < FILL_BYTES ? end - at : FILL_BYTES;
		check(guest, vgpu_chan_fill(guest->ce, VGPU_FB(at), 1, part));
	}
	check(guest, vgpu_chan_wait_idle(guest->ce, WAIT_MS));
}

static void check_results(struct guest *guest, uint64_t dispatch)
{
	uint64_t *out = place_out(&guest->place, (uint32_t)(dispatch % SLOTS));
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		if (le64toh(out[i]) != guest->results[i])
			bench_die("dispatch %llu, work-item %u: %#llx",
				  (unsigned long long)dispatch, i,
				  (unsigned long long)le64toh(out[i]));
	memset(out, 0, ITEMS * sizeof(*out));
}

void guest_feed(struct guest *guest, unsigned int least)
{
	struct vgpu_hw_packet packet;
	uint32_t slot;

	while (guest->program < vgpu_chan_get(guest->gr) + least) {
		slot = (uint32_t)(guest->program % SLOTS);
		if (guest->program >= SLOTS)
			check_results(guest, guest->program - SLOTS);
		packet = place_packet(&guest->place, slot, ROUNDS);
		check(guest, vgpu_chan_submit(guest->gr, &packet, 1));
		guest->program++;
	}
}

static void rewrite(struct guest *guest)
{
	uint64_t nr = guest->next * STRIDE % guest->pages, page = guest->first + nr;
	uint32_t value = guest->want[nr] + 1;

	if (!(guest->next++ % BY_CPU))
		*(volatile uint32_t *)(guest->dev->fb + page * MOVE_PAGE) = htole32(value);
	else
		check(guest, vgpu_chan_fill(guest->ce, VGPU_FB(page * MOVE_PAGE), value,
					    MOVE_PAGE));
	guest->want[nr] = value;
	atomic_fetch_add(&guest->rewritten, 1);
	atomic_fetch_add(&guest->again, atomic_exchange(&guest->sent[page], 0));
}

static void *work(void *arg)
{
	struct guest *guest = arg;
	double start = bench_now_ns(), due;
	uint64_t done = 0;

	while (!atomic_load(&guest->stop)) {
		guest_feed(guest, 3);
		due = (bench_now_ns() - start) / 1e9 * guest->rate;
		for (; (double)done < due; done++)
			rewrite(guest);
		usleep((useconds_t)(TICK_NS / 1000));
	}
	return NULL;
}

void guest_start(struct guest *guest)
{
	atomic_store(&guest->stop, false);
	if (pthread_create(&guest->thread, NULL, work, guest))
		bench_die("thread: %s", strerror(errno));
}

void guest_forget(struct guest *guest)
{
	uint64_t i;

	for (i = 0; i < guest->dev->fb_bytes / MOVE_PAGE; i++)
		atomic_store_explicit(&guest->sent[i], 0, memory_order_relaxed);
	guest->rewritten = 0;
	guest->again = 0;
}

void guest_stop(struct guest *guest)
{
	atomic_store(&guest->stop, true);
	pthread_join(guest->thread, NULL);
}

static void move_chan(struct vgpu_chan *chan, struct vgpu_dev *from, struct vgpu_dev *to)
{
	chan->ring = (void *)(to->fb + ((uint8_t *)chan->ring - from->fb));
	chan->signal = (void *)(to->fb + ((uint8_t *)chan->signal - from->fb));
	chan->page = (void *)(to->chan_pages + ((uint8_t *)chan->page - from->chan_pages));
	chan->dev = to;
}

void guest_move(struct guest *guest, struct vgpu_dev *dev)
{
	move_chan(guest->gr, guest->dev, dev);
	move_chan(guest->ce, guest->dev, dev);
	guest->place.dev = dev;
	guest->dev = dev;
}

void guest_check(struct guest *guest)
{
	uint32_t is = 0;
	uint64_t i;

	check(guest, vgpu_chan_wait_idle(guest->ce, WAIT_MS));
	for (i = 0; i < guest->pages; i++) {
		/* Past the mapping: where machines are processes, those have few mappings. */
		if (vgpu_region_read(guest->dev, VGPU_HW_BAR_FB, (guest->first + i) * MOVE_PAGE,
				     &is, sizeof(is)) != sizeof(is))
			bench_die("guest: %s", vgpu_dev_error(guest->dev));
		is = le32toh(is);
		if (is != guest->want[i])
			bench_die("page %llu has %u, not %u", (unsigned long long)i, is,
				  guest->want[i]);
	}
}

void guest_exit(struct guest *guest)
{
	check(guest, vgpu_chan_wait_idle(guest->gr, WAIT_MS));
	vgpu_chan_destroy(guest->gr);
	vgpu_chan_destroy(guest->ce);
	free(guest->want);
	free((void *)guest->sent);
	free(guest->results);
}
