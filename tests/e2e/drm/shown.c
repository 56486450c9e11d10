// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what the monitor shows: it stays where it is, whatever becomes of its buffer and of its
 * program, until something else is shown. Root looks for the picture in the framebuffer's BAR, or
 * the host looks at its screen.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clk.h"
#include "picture.h"
#include "shown.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define LOOK_S		600
#define VGEM_MS		10000	/* until its fence is signalled */
#define DELAY		"/sys/module/suspend/parameters/pm_test_delay"

/**
 * struct client - who shows a picture
 * @fd:    its file
 * @vm:    its VM
 * @queue: its queue
 * @buf:   the surface
 * @seed:  of the picture, which nobody else has
 * @at:    where it is in the framebuffer
 */
struct client {
	int fd;
	uint32_t vm;
	uint32_t queue;
	struct buf buf;
	uint32_t seed;
	uint64_t at;
};

static const volatile uint8_t *framebuffer(void)
{
	static const volatile uint8_t *fb;

	if (!fb)
		fb = (const volatile uint8_t *)bar_map(VGPU_HW_BAR_FB, SMALL_MIB * MIB);
	return fb;
}

static bool is_there(const struct client *client)
{
	uint32_t nr = picture_differs(framebuffer() + client->at, WIDTH, HEIGHT, PITCH,
				      client->seed);

	return !nr || failed("%u pixels of the picture are wrong", nr);
}

static bool find(struct client *client)
{
	const volatile uint8_t *fb = framebuffer();
	uint64_t at;

	for (at = 0; at + SURFACE <= SMALL_MIB * MIB; at += PAGE) {
		if (*(const volatile uint32_t *)(fb + at) != picture_pixel(0, 0, client->seed))
			continue;
		client->at = at;
		return is_there(client);
	}
	return failed("the picture is nowhere");
}

static void show(struct client *client)
{
	CHECK_RET(present(client->fd, client->queue, VA_DATA, HEIGHT), 0);
	CHECK(find(client));
}

/* @alone: only the client's VM can map the surface. */
static void client_begin(struct client *client, bool alone)
{
	static uint32_t seed = 0x3779b9;
	struct buf *buf = &client->buf;

	client->seed = seed += 0x10101;
	client->fd = node_open();
	CHECK(client->fd >= 0);
	CHECK_RET(vm_make(client->fd, &client->vm), 0);
	CHECK_RET(queue_make(client->fd, client->vm, GR, 4, &client->queue), 0);
	buf->bytes = SURFACE;
	CHECK_RET(bo_make_piece(client->fd, SURFACE, alone ? client->vm : 0, &buf->handle), 0);
	CHECK_RET(bo_map(client->fd, buf->handle, SURFACE, &buf->ptr), 0);
	CHECK_RET(bind_map(client->fd, client->vm, buf->handle, 0, VA_DATA, SURFACE, 0), 0);
	picture_draw(buf->ptr, WIDTH, HEIGHT, PITCH, client->seed);
}

static void client_end(struct client *client)
{
	buf_end(client->fd, &client->buf);
	close(client->fd);
}

/* A client has all of the framebuffer that is free, and it reads 0. Returns its file. */
static int take_all(void)
{
	struct drm_vgpu_dev_info before, after;
	int fd = node_open();
	uint32_t handle;
	uint64_t piece;

	CHECK(fd >= 0);
	fb_free(fd);
	for (piece = 4 * MIB; piece >= 4 * PAGE; piece /= 4) {
		for (;;) {
			CHECK_RET(node_info(fd, &before), 0);
			if (before.fb_free < piece || bo_make(fd, piece, FRAMEBUFFER, 0, &handle))
				break;
			CHECK_RET(node_info(fd, &after), 0);
			/* What is free may be in smaller pieces. */
			if (after.fb_free == before.fb_free) {
				CHECK_RET(bo_close(fd, handle), 0);
				break;
			}
		}
	}
	CHECK_RET(node_info(fd, &after), 0);
	CHECK(after.fb_free < MIB);
	return fd;
}

static void stays(const struct client *client)
{
	int fd = take_all();

	CHECK(is_there(client));
	close(fd);
}

/* Nobody has so many bytes of the framebuffer as when there were @free, but for @held. */
static bool held_is(uint64_t free, uint64_t held)
{
	int fd = node_open();
	bool ok;

	CHECK(fd >= 0);
	ok = fb_free_is(fd, free - held);
	close(fd);
	return ok;
}

static uint64_t all_free(void)
{
	int fd = node_open();
	uint64_t free;

	CHECK(fd >= 0);
	free = fb_free(fd);
	close(fd);
	return free;
}

/* A PRESENT that fails as its surface is not in one piece: its pages are in the wrong order. */
static void show_nothing(struct client *client)
{
	CHECK_RET(bind_map(client->fd, client->vm, client->buf.handle, PAGE, VA_MORE, PAGE, 0), 0);
	CHECK_RET(bind_map(client->fd, client->vm, client->buf.handle, 0, VA_MORE + PAGE, PAGE, 0),
		  0);
	CHECK_RET(present(client->fd, client->queue, VA_MORE, 2), -EIO);
}

/* Who has nothing but a mapping has the buffer, also when it is shown no more. */
static bool mapped(void)
{
	struct client client, other;
	int fd;

	client_begin(&client, false);
	show(&client);
	CHECK_RET(bind_unmap(client.fd, client.vm, VA_DATA, SURFACE), 0);
	CHECK_RET(bo_close(client.fd, client.buf.handle), 0);
	client_begin(&other, false);
	show(&other);
	fd = take_all();
	CHECK(!picture_differs(client.buf.ptr, WIDTH, HEIGHT, PITCH, client.seed));
	picture_draw(client.buf.ptr, WIDTH, HEIGHT, PITCH, other.seed + 1);
	CHECK(is_there(&other));
	close(fd);
	client_end(&other);
	munmap(client.buf.ptr, SURFACE);
	close(client.fd);
	return true;
}

static bool freed(void)
{
	struct client client, other;
	uint64_t free = all_free();
	uint32_t i;

	/* The program ends, and its picture stays: one, and not all that there were. */
	for (i = 0; i < 4; i++) {
		client_begin(&client, i % 2);
		show(&client);
		client_end(&client);
		stays(&client);
		CHECK(held_is(free, SURFACE));
	}
	/* Two clients, and two queues: the last one is on the screen. */
	client_begin(&client, false);
	client_begin(&other, true);
	for (i = 0; i < 3; i++) {
		show(&client);
		show(&other);
	}
	client_end(&client);
	client_end(&other);
	CHECK(held_is(free, SURFACE));
	stays(&other);
	/* What is not shown, as the job has failed, is not held; what was shown before still is. */
	client_begin(&client, false);
	show_nothing(&client);
	client_end(&client);
	CHECK(held_is(free, SURFACE));
	stays(&other);
	CHECK(mapped());
	/* A device that was reset shows nothing. */
	CHECK(function_reset());
	CHECK(held_is(free, 0));
	/* The driver goes while there is a picture, and also one that nobody has any more. */
	client_begin(&client, true);
	show(&client);
	client_end(&client);
	return true;
}

/* Runs @test with little framebuffer. */
static bool with_little(bool (*test)(void))
{
	bool ok;

	CHECK(module_again(SMALL));
	ok = test();
	return module_again(NULL) && ok;
}

bool test_shown_freed(void)
{
	return with_little(freed);
}

/* The buffer has its picture, wherever it is, and can be shown again. */
static void is_saved(struct client *client)
{
	CHECK(!picture_differs(client->buf.ptr, WIDTH, HEIGHT, PITCH, client->seed));
	show(client);
	stays(client);
}

/*
 * Of two pictures the first is saved, and the second cannot be: the job that will show it waits,
 * and does not end. The guest goes on, and shows it. Returns false if the guest was so slow that
 * the job did not wait any more.
 */
static bool cannot_save(uint64_t free)
{
	const struct vgpu_hw_packet packet = packet_present(VA_DATA, HEIGHT);
	struct client client, other;
	int vgem = vgem_load(), ret;
	uint64_t start;
	uint32_t done;
	bool waits;

	client_begin(&client, false);
	show(&client);
	client_begin(&other, true);
	CHECK_RET(sync_make(other.fd, &done), 0);
	start = clk_ms();
	CHECK_RET(exec(other.fd, other.queue, &packet, 1, vgem_fence(other.fd, vgem), done), 0);
	ret = power_write("state", "mem");
	waits = ret || clk_ms() - start < VGEM_MS;
	CHECK_RET(ret, waits ? -EBUSY : 0);
	CHECK_RET(sync_wait(other.fd, done, WAIT_MS), 0);
	CHECK_RET(sync_error(other.fd, done), 0);
	CHECK(!waits || find(&other));
	client_end(&other);
	if (waits)
		stays(&other);
	is_saved(&client);
	client_end(&client);
	CHECK(held_is(free, SURFACE));
	close(vgem);
	CHECK(vgem_unload());
	return waits;
}

/* Guests that do not fall asleep go on, with the picture where it was; and those that do. */
static bool asleep(void)
{
	uint64_t free = all_free();
	struct client client;
	uint32_t queue, sync;
	int at_work, alone, tries = 0;

	for (alone = 0; alone < 2; alone++) {
		client_begin(&client, alone);
		show(&client);
		/* To disk, but for that devices are not suspended. */
		CHECK_RET(power_write("pm_test", "freezer"), 0);
		CHECK_RET(power_write("state", "disk"), 0);
		stays(&client);
		/* The buffer is there: what is drawn is seen. */
		picture_draw(client.buf.ptr, WIDTH, HEIGHT, PITCH, ++client.seed);
		CHECK(is_there(&client));
		CHECK_RET(power_write("pm_test", "devices"), 0);
		at_work = begin_for_ever(&queue, &sync);
		CHECK(at_work >= 0);
		CHECK_RET(power_write("state", "mem"), -EBUSY);
		stays(&client);
		close(at_work);
		CHECK_RET(power_write("state", "mem"), 0);
		is_saved(&client);
		CHECK_RET(power_write("state", "disk"), 0);
		is_saved(&client);
		/* One whose buffer has gone is not there after that. */
		client_end(&client);
		stays(&client);
		CHECK_RET(power_write("state", "mem"), 0);
		CHECK(held_is(free, 0));
	}
	while (!cannot_save(free))
		CHECK(++tries < 10);
	return true;
}

bool test_shown_asleep(void)
{
	bool ok;

	CHECK(text_write(DELAY, "0"));
	ok = with_little(asleep);
	CHECK_RET(power_write("pm_test", "none"), 0);
	return text_write(DELAY, "5") && ok;
}

static bool looked_at(int port, const struct client *client)
{
	say("shown %u %u %u", WIDTH, HEIGHT, client->seed);
	return tell_wait(port, LOOK_S);
}

static int host_port;

static bool seen(void)
{
	struct client client;
	bool ok;
	int fd;

	client_begin(&client, false);
	show(&client);
	CHECK(looked_at(host_port, &client));
	client_end(&client);
	fd = take_all();
	ok = looked_at(host_port, &client);
	close(fd);
	return ok;
}

/* The host says what is on the screen: the same, when all that was the program's has gone. */
bool test_shown_seen(void)
{
	host_port = tell_open();
	return host_port >= 0 && with_little(seen);
}
