// SPDX-License-Identifier: GPL-2.0
/*
 * What a display costs, and how often it changes: copies of pictures are charged to the memory
 * cgroup of the process that opened the device, and the frame-rate limit paces what is shown.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "display.h"
#include "group.h"
#include "tune.h"

#define SLOTS		64	/* surfaces of one frame each */
#define SLOT_BYTES	4096u
#define FRAMES		48

static struct fx_vgpu v, other;
static const uint8_t *plane, *other_plane;
static struct vgpu_chan *chan;

static void begin_in_group(const char *type)
{
	fx_need("display");
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, type);
	tune_frl(&v, 0);
	group_open(&v, GROUP_A);
	plane = display_map(&v);
	chan = display_chan(&v);
}

static uint64_t charged(void)
{
	return group_value(GROUP_A, "memory.current", NULL);
}

/* Whoever asks for the picture, its copy is the opener's; and one copy is all that there is. */
static void opener_pays_for_the_copy(void)
{
	struct picture p = picture_at(DISPLAY_START + 4, 1280, 1024, 0);
	const uint64_t bytes = 4ull * 1280 * 1024;
	uint64_t before, after;
	unsigned int i;

	begin_in_group("1Q");
	before = charged();
	picture_paint(&v, &p);
	FX_SOON((after = charged()) - before >= bytes - FX_MIB / 2,
		"the framebuffer is not charged");
	CHECK(after - before < bytes + FX_MIB, "%llu KiB",
	      (unsigned long long)(after - before) >> 10);
	before = after;
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
	after = charged();
	ktap_note("%llu KiB for a copy of %llu KiB", (unsigned long long)(after - before) >> 10,
		  (unsigned long long)bytes >> 10);
	CHECK(after >= before + bytes - FX_MIB && after < before + bytes + 2 * FX_MIB,
	      "%llu KiB before, %llu KiB after", (unsigned long long)before >> 10,
	      (unsigned long long)after >> 10);
	for (i = 0; i < 20; i++) {
		p.offset ^= 8;
		picture_paint(&v, &p);
		picture_present(chan, &p, 0);
		picture_check(&v, plane, &p);
	}
	CHECK(charged() < after + 2 * FX_MIB, "20 flips cost %llu KiB more",
	      (unsigned long long)(charged() - after) >> 10);
	group_check_alive(GROUP_A);
	vgpu_chan_destroy(chan);
	display_unmap(&v, plane);
	plane = NULL;
	fx_close(&v);
	group_wait_below(GROUP_A, FX_MIB);
}

/* The framebuffer's own pages are shown: that costs nothing that the framebuffer does not. */
static void own_pages_cost_nothing(void)
{
	struct picture p = picture_at(DISPLAY_START, 1280, 1024, 0);
	uint64_t before;

	begin_in_group("1Q");
	picture_paint(&v, &p);
	before = charged();
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
	CHECK(charged() < before + 2 * FX_MIB, "%llu KiB",
	      (unsigned long long)(charged() - before) >> 10);
}

static uint64_t resident(void)
{
	uint64_t kib;

	CHECK(!file_number("/proc/self/status", "VmRSS:", &kib), "no VmRSS");
	return kib << 10;
}

/* Who looks at all of a dark display has no page for it: there is no picture to have pages. */
static void dark_costs_nothing(void)
{
	uint64_t before, after;

	display_create(&v, "1Q");
	plane = display_map(&v);
	before = resident();
	CHECK(display_is_dark(plane, v.dev->region[DISPLAY_PLANE].bytes), "there is no picture");
	after = resident();
	CHECK(after < before + 4 * FX_MIB, "%llu KiB", (unsigned long long)(after - before) >> 10);
}

/* After a reset nothing is left to be charged. */
static void reset_gives_the_copy_back(void)
{
	struct picture p = picture_at(DISPLAY_START + 4, 1280, 1024, 0);
	uint64_t before;

	begin_in_group("1Q");
	before = charged();
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	display_check_none(&v, plane);
	group_wait_below(GROUP_A, before + 2 * FX_MIB);
}

/* What the children below say, in shared memory. */
struct result {
	volatile bool done;
	volatile int query;
	volatile uint32_t format;
};

/* Like a VM's process, which is in its cgroup with all that it has. */
static void shows_beyond_the_limit(void *arg)
{
	struct picture p = picture_at(DISPLAY_START + 4, 4096, 2048, 0);
	struct vfio_device_gfx_plane_info info;
	struct result *result = arg;

	group_enter(GROUP_A);
	display_open(&v);
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	result->query = display_try_query(&v, VFIO_GFX_PLANE_TYPE_REGION, &info);
	result->format = info.drm_format;
	result->done = true;
	for (;;)
		pause();
}

/* Of 48 MiB 32 are taken by the surface: for its copy there is no room, and nobody is killed. */
static void copy_beyond_the_limit(void)
{
	struct picture p = picture_at(DISPLAY_START + 4, 320, 200, 0);
	struct vgpu_chan *other_chan;
	struct result *result;
	int status;
	pid_t pid;

	fx_need("display");
	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	display_create(&other, "1Q");
	other_plane = display_map(&other);
	other_chan = display_chan(&other);
	picture_paint(&other, &p);
	picture_present(other_chan, &p, 0);
	fx_create(&v, "1Q");
	tune_frl(&v, 0);
	result = child_shared(sizeof(*result));
	pid = child_start(shows_beyond_the_limit, result);
	/* To paint so much at the limit takes half a minute on a busy host. */
	FX_WITHIN(5 * FX_TIMEOUT_MS, result->done, "no answer");
	CHECK(result->query == -ENOMEM || (!result->query && !result->format),
	      "the query says %d, format %#x", result->query, result->format);
	group_check_alive(GROUP_A);
	CHECK(waitpid(pid, &status, WNOHANG) == 0, "the user is dead");
	picture_check(&other, other_plane, &p);
	CHECK_EQ(fx_faults(&v), 0);
	child_kill(pid);
	group_wait_below(GROUP_A, FX_MIB);
	/* The vGPU is none the worse for it. */
	display_open(&v);
	plane = display_map(&v);
	chan = display_chan(&v);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
}

/* The number of the frame that is shown; 0: none. */
static uint32_t shown(void)
{
	struct vfio_device_gfx_plane_info info;

	display_query(&v, &info);
	return info.drm_format ? *(volatile uint32_t *)plane : 0;
}

/* The surface of frame @nr, which has the number of its last frame everywhere. */
static uint64_t slot(uint32_t nr)
{
	return DISPLAY_START + nr % SLOTS * SLOT_BYTES;
}

static void submit_frame(uint32_t nr)
{
	uint32_t *to = (uint32_t *)(v.dev->fb + slot(nr)), i;

	for (i = 0; i < SLOT_BYTES / 4; i++)
		to[i] = nr;
	FX_OK(v.dev, vgpu_chan_present(chan, slot(nr), 32, 32, 128));
}

/*
 * Never more frames than in the longest time in which they can have been shown. The first of them
 * may have been let through long before, as the host can take the engine's processor away between.
 */
static void check_rate(const uint64_t from[], const uint64_t to[], unsigned int nr, double fps)
{
	unsigned int i, j;
	double span;

	for (i = 0; i < nr; i++) {
		for (j = i + 1; j < nr; j++) {
			span = (double)(to[j] - from[i]) / 1e9;
			CHECK(j - i <= fps * span + 2, "%u frames in %.4f s", j - i + 1, span);
		}
	}
}

/*
 * Frames are shown in their order, none comes back, and the last one is shown in the end, at a
 * limit of @fps frames per second, which is to be kept; 0: there is none.
 */
static void watch_frames(uint32_t fps)
{
	uint64_t from[FRAMES], to[FRAMES], before = clk_ns(), now, end = clk_ms() + FX_TIMEOUT_MS;
	uint32_t nr = 0, seen = 0, last = 0, next = 1;

	while (nr < FRAMES) {
		CHECK(clk_ms() < end, "%u frames of %u", nr, FRAMES);
		while (chan->put < vgpu_chan_get(chan) + 8)
			submit_frame(next++);
		now = clk_ns();
		last = shown();
		CHECK(last >= seen, "frame %u after frame %u", last, seen);
		CHECK(last < next, "frame %u of %u", last, next - 1);
		if (last != seen) {
			from[nr] = before;
			to[nr++] = clk_ns();
		}
		seen = last;
		before = now;
	}
	ktap_note("%u of %u frames in %.2f s", nr, last, (double)(to[nr - 1] - from[0]) / 1e9);
	if (fps)
		check_rate(from, to, nr, fps);
	FX_SOON(shown() == next - 1, "the last frame is not shown");
}

static void begin_frames(void)
{
	tune_policy("best_effort");
	display_create(&v, "1Q");
	plane = display_map(&v);
	chan = display_chan(&v);
}

static void limit_is_kept(void)
{
	begin_frames();
	tune_frl(&v, 30);
	watch_frames(30);
}

static void default_limit_is_kept(void)
{
	fx_need("display");
	tune_policy("best_effort");
	fx_create(&v, "1B");
	display_open(&v);
	plane = display_map(&v);
	chan = display_chan(&v);
	watch_frames(45);
}

/* Without a limit each query shows the newest frame. */
static void no_limit(void)
{
	struct vfio_device_gfx_plane_info info;
	struct picture p;
	unsigned int i;

	begin_frames();
	for (i = 0; i < 200; i++) {
		p = picture_at(DISPLAY_START + i % 2 * FX_MIB, 40, 30, 0);
		picture_paint(&v, &p);
		picture_present(chan, &p, 0);
		picture_check(&v, plane, &p);
	}
	/* The first query below may come before the first frame. */
	submit_frame(0);
	fx_finish(chan);
	display_query(&v, &info);
	CHECK(info.drm_format && info.width == 32, "frame 0 is not shown");
	CHECK_EQ(shown(), 0);
	watch_frames(0);
}

/* A limit that the policy puts out of force does not hold queries back, either. */
static void no_limit_in_slots(void)
{
	struct picture p;
	unsigned int i;

	begin_frames();
	tune_frl(&v, 1);
	tune_policy("equal_share");
	for (i = 0; i < 50; i++) {
		p = picture_at(DISPLAY_START + i % 2 * FX_MIB, 40, 30, 0);
		picture_paint(&v, &p);
		picture_present(chan, &p, 0);
		picture_check(&v, plane, &p);
	}
}

/* A picture that came too early for one query is shown by a later one, without another PRESENT. */
static void held_frame_is_shown_later(void)
{
	begin_frames();
	submit_frame(1);
	fx_finish(chan);
	CHECK_EQ(shown(), 1);
	tune_frl(&v, 5);
	submit_frame(2);
	submit_frame(3);
	FX_SOON(shown() == 3, "frame 3 is not shown");
	fx_finish(chan);
	CHECK_EQ(shown(), 3);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(opener_pays_for_the_copy),
	KTAP_TEST(own_pages_cost_nothing),
	KTAP_TEST(dark_costs_nothing),
	KTAP_TEST(reset_gives_the_copy_back),
	KTAP_TEST(copy_beyond_the_limit),
	KTAP_TEST(limit_is_kept),
	KTAP_TEST(default_limit_is_kept),
	KTAP_TEST(no_limit),
	KTAP_TEST(no_limit_in_slots),
	KTAP_TEST(held_frame_is_shown_later),
};

static void cleanup(void)
{
	group_leave();
	display_forget(&v, &plane);
	display_forget(&other, &other_plane);
	tune_cleanup();
	group_cleanup();
}

KTAP_MAIN(tests, cleanup)
