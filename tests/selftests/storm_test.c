// SPDX-License-Identifier: GPL-2.0
/*
 * A guest that changes its picture as fast as it can, and its user who looks at it meanwhile: each
 * query finds one mode and no mixture of two, at most as often as the frame-rate limit says.
 */
#include <endian.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "display.h"
#include "rng.h"
#include "tune.h"
#include "vga.h"

#define SWITCHES	10000u
#define FRAMES		40u

/* All modes of the storm lie in so many words, of which each has its own address. */
#define WORDS		(12u << 20 >> 2)

static struct fx_vgpu v, other;
static const uint8_t *plane, *other_plane;

/**
 * struct guest - a thread that writes to the registers of its VGA card
 * @rng:    of what it writes
 * @change: changes the picture once; returns whether all writes were taken
 * @thread: the thread
 * @stop:   the thread is to end
 * @over:   it has ended
 * @done:   how often it has changed the picture
 * @wrong:  a write was not taken
 */
struct guest {
	struct rng rng;
	bool (*change)(struct guest *guest);
	pthread_t thread;
	volatile bool stop;
	volatile bool over;
	volatile unsigned int done;
	volatile bool wrong;
};

/* Unlike vga_vbe() this does not end the test, as another thread than the test's calls it. */
static bool put(unsigned int index, uint64_t value)
{
	uint16_t word = htole16((uint16_t)value);

	return vgpu_region_write(v.dev, VGPU_HW_BAR_REGS, VGPU_HW_VGA_DISPI(index), &word, 2) == 2;
}

static bool any_mode(struct guest *guest)
{
	struct rng *rng = &guest->rng;

	return put(VGPU_HW_DISPI_ENABLE, 0) &&
	       put(VGPU_HW_DISPI_BPP, rng_below(rng, 8) ? VGA_BPP : rng_next(rng)) &&
	       put(VGPU_HW_DISPI_XRES, 2 + rng_below(rng, 640)) &&
	       put(VGPU_HW_DISPI_YRES, rng_below(rng, 8) ? 2 + rng_below(rng, 480) : 0) &&
	       put(VGPU_HW_DISPI_ENABLE, VGA_SHOWN) &&
	       put(VGPU_HW_DISPI_VIRT_WIDTH, rng_below(rng, 2048)) &&
	       put(VGPU_HW_DISPI_X_OFFSET, rng_below(rng, 2048)) &&
	       put(VGPU_HW_DISPI_Y_OFFSET, rng_below(rng, 500));
}

static bool next_row(struct guest *guest)
{
	return put(VGPU_HW_DISPI_Y_OFFSET, guest->done % 1000);
}

static void *guest_run(void *arg)
{
	struct guest *guest = arg;

	while (!guest->stop) {
		if (!guest->change(guest)) {
			guest->wrong = true;
			break;
		}
		guest->done++;
	}
	guest->over = true;
	return NULL;
}

static void guest_start(struct guest *guest)
{
	guest->rng = rng_seed(fx_random());
	CHECK(!pthread_create(&guest->thread, NULL, guest_run, guest), "thread");
}

static void guest_end(struct guest *guest)
{
	guest->stop = true;
	pthread_join(guest->thread, NULL);
	CHECK(!guest->wrong, "a write to a register was refused");
}

static void begin(void)
{
	uint32_t *words, i;

	vga_create(&v, "1Q");
	plane = display_map(&v);
	words = (uint32_t *)v.dev->fb;
	for (i = 0; i < WORDS; i++)
		words[i] = htole32(4 * i + 1);
}

/* What is wrong with the picture; a thread may run yet, so the test cannot end there. */
static char wrong[160];

__attribute__((format(printf, 1, 2)))
static bool bad(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(wrong, sizeof(wrong), fmt, args);
	va_end(args);
	return false;
}

static uint32_t word_at(uint32_t index)
{
	return le32toh(((const volatile uint32_t *)plane)[index]);
}

/* The rows of one picture are all as far apart, and each has the words that lie in a row. */
static bool is_one_picture(const struct vfio_device_gfx_plane_info *info)
{
	uint32_t first = word_at(0), pitch, want, x, y;

	if (info->drm_format != VGPU_HW_FORMAT_XRGB8888 || !info->width || !info->height ||
	    info->stride != 4 * info->width || info->size != info->stride * info->height)
		return bad("format %#x, %u x %u, stride %u, size %u", info->drm_format,
			   info->width, info->height, info->stride, info->size);
	pitch = info->height > 1 ? word_at(info->width) - first : info->stride;
	if (pitch < info->stride)
		return bad("a pitch of %u for %u pixels", pitch, info->width);
	for (y = 0; y < info->height; y++) {
		for (x = y % 32; x < info->width; x += 32) {
			want = first + y * pitch + 4 * x;
			if (word_at(y * info->width + x) != want)
				return bad("%u, %u of %u x %u is from %#x, not from %#x", x, y,
					   info->width, info->height,
					   word_at(y * info->width + x), want);
		}
	}
	return true;
}

/* Modes at random, most of them good, ten thousand in a row; more if none of them was seen. */
static void modes(void)
{
	struct guest guest = { .change = any_mode };
	struct picture p = picture_at(DISPLAY_START, 320, 200, 0);
	struct vfio_device_gfx_plane_info info;
	unsigned int queries = 0, pictures = 0;
	uint64_t start = clk_ms();
	struct vgpu_chan *chan;
	bool good = true;
	int ret = 0;

	begin();
	display_create(&other, "1A");
	other_plane = display_map(&other);
	chan = display_chan(&other);
	picture_paint(&other, &p);
	picture_present(chan, &p, 0);
	guest_start(&guest);
	while (!guest.over && good && !ret &&
	       (guest.done < SWITCHES || (!pictures && clk_ms() < start + 2 * FX_TIMEOUT_MS))) {
		ret = display_try_query(&v, VFIO_GFX_PLANE_TYPE_REGION, &info);
		queries++;
		if (ret || !info.drm_format)
			continue;
		good = is_one_picture(&info);
		pictures++;
	}
	guest_end(&guest);
	ktap_note("%u modes in %llu ms, %u queries, %u pictures", guest.done,
		  (unsigned long long)(clk_ms() - start), queries, pictures);
	CHECK(!ret, "a query: %s", strerror(-ret));
	CHECK(good, "%s", wrong);
	CHECK(pictures, "no picture at all");
	CHECK_EQ(fx_faults(&v), 0);
	/* The neighbour has noticed nothing; and the next mode is shown as ever. */
	picture_check(&other, other_plane, &p);
	p = picture_at(0, 800, 600, 0);
	picture_paint(&v, &p);
	vga_mode(&v, 800, 600);
	picture_check(&v, plane, &p);
}

/* A guest that moves its picture all the time: how often the user sees it move. */
static void limit_is_kept(void)
{
	struct guest guest = { .change = next_row };
	struct vfio_device_gfx_plane_info info;
	uint64_t from[FRAMES], to[FRAMES], before, now;
	const double fps = 40;
	uint32_t seen = 0, nr = 0, i, k;
	bool good = true;
	double span;

	tune_policy("best_effort");
	begin();
	tune_frl(&v, (uint32_t)fps);
	vga_mode(&v, 640, 480);
	guest_start(&guest);
	for (before = clk_ns(); nr < FRAMES && good && !guest.over; before = now) {
		now = clk_ns();
		if (display_try_query(&v, VFIO_GFX_PLANE_TYPE_REGION, &info))
			break;
		if (!info.drm_format || word_at(0) == seen)
			continue;
		good = is_one_picture(&info);
		seen = word_at(0);
		from[nr] = before;
		to[nr++] = clk_ns();
	}
	guest_end(&guest);
	CHECK(good, "%s", wrong);
	CHECK_EQ(nr, FRAMES);
	ktap_note("%u of %u frames in %.2f s", nr, guest.done, (double)(to[nr - 1] - from[0]) / 1e9);
	CHECK(guest.done > nr, "the guest was no faster");
	for (i = 0; i < nr; i++) {
		for (k = i + 1; k < nr; k++) {
			span = (double)(to[k] - from[i]) / 1e9;
			CHECK(k - i + 1 <= fps * span + 2, "%u frames in %.4f s", k - i + 1, span);
		}
	}
	/* Where the guest has stopped is what is shown in the end. */
	i = (guest.done - 1) % 1000 * 640 * 4 + 1;
	FX_SOON((display_query(&v, &info), word_at(0) == i), "the last frame is not shown");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(modes),
	KTAP_TEST(limit_is_kept),
};

static void cleanup(void)
{
	display_forget(&v, &plane);
	display_forget(&other, &other_plane);
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
