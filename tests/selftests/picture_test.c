// SPDX-License-Identifier: GPL-2.0
/*
 * What PRESENT shows: exactly the surface's pixels, from the query that takes it up until it is
 * replaced, the device is reset or its user has gone.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "child.h"
#include "display.h"
#include "tune.h"

#define PAGE		4096u
#define FLIPS		200u

static struct fx_vgpu v, other;
static const uint8_t *plane, *other_plane;
static struct vgpu_chan *chan;
static struct display_limits limits;

static void begin(const char *type)
{
	display_create(&v, type);
	display_limits(type, &limits);
	plane = display_map(&v);
	chan = display_chan(&v);
}

static void show(const struct picture *p)
{
	picture_paint(&v, p);
	picture_present(chan, p, 0);
	picture_check(&v, plane, p);
}

/* Some size, of which many are small, and many end in the middle of a page. */
static uint32_t some_length(uint32_t most)
{
	uint64_t limit = fx_random_below(2) ? 64 : 700;

	return 1 + (uint32_t)fx_random_below(limit < most ? limit : most);
}

static void random_pictures(void)
{
	struct picture p;
	uint64_t at;
	unsigned int i;

	begin(fx_default_type());
	for (i = 0; i < 150; i++) {
		at = DISPLAY_START + 4 * fx_random_below(FX_MIB);
		if (fx_random_below(2))
			at &= ~(uint64_t)(PAGE - 1);
		p = picture_at(at, some_length(limits.width), some_length(limits.height), 0);
		if (fx_random_below(3) == 0)
			p.pitch += 4 * (uint32_t)fx_random_below(2000);
		show(&p);
	}
}

/* Rows of whole pages, or a pixel less or more than that; single rows and columns. */
static void edges_of_pages(void)
{
	static const uint32_t width[] = { 1, 2, 3, 255, 1023, 1024, 1025, 1279, 1280 };
	static const uint32_t height[] = { 1, 2, 7, 64 };
	static const uint32_t gap[] = { 0, 4, PAGE };
	static const uint64_t at[] = { 0, 4, PAGE - 4, 2048 };
	unsigned int w, h, g, a;
	struct picture p;

	begin("1A");
	for (w = 0; w < sizeof(width) / sizeof(width[0]); w++)
		for (h = 0; h < sizeof(height) / sizeof(height[0]); h++)
			for (g = 0; g < sizeof(gap) / sizeof(gap[0]); g++)
				for (a = 0; a < sizeof(at) / sizeof(at[0]); a++) {
					p = picture_at(DISPLAY_START + at[a], width[w], height[h],
						       4 * width[w] + gap[g]);
					show(&p);
				}
}

/* Where the framebuffer begins and where it ends. */
static void first_and_last_bytes(void)
{
	struct picture p;

	begin("1A");
	p = picture_at(0, 640, 480, 0);
	show(&p);
	p = picture_at(v.dev->fb_bytes - 640 * 480 * 4, 640, 480, 0);
	show(&p);
	p = picture_at(v.dev->fb_bytes - 4, 1, 1, 0);
	show(&p);
	/* Of the last row only the pixels must be there, not the gap behind them. */
	p = picture_at(v.dev->fb_bytes - 9 * PAGE - 400, 100, 10, PAGE);
	show(&p);
}

static void largest(void)
{
	struct picture p;

	begin(fx_default_type());
	p = picture_at(DISPLAY_START, limits.width, limits.height, 0);
	show(&p);
	/* One that is copied; and then nothing is left of it beyond a small one. */
	p = picture_at(DISPLAY_START + 4, limits.width, limits.height, 4 * limits.width + 4);
	show(&p);
	p = picture_at(DISPLAY_START, 16, 16, 0);
	show(&p);
	CHECK(display_is_dark(plane + PAGE, v.dev->region[DISPLAY_PLANE].bytes - PAGE),
	      "beyond a small picture");
}

/* A copy ends where the picture ends, in the middle of a page, whatever was there before. */
static void small_copy_after_a_large_one(void)
{
	struct picture large = picture_at(DISPLAY_START + 4, 640, 480, 0);
	struct picture small = picture_at(DISPLAY_START + 4, 16, 16, 0);
	unsigned int i;

	begin("1A");
	for (i = 0; i < 2; i++) {
		show(&large);
		if (i) {
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
			FX_OK(v.dev, vgpu_chan_enable(chan));
		}
		show(&small);
		CHECK(display_is_dark(plane + 1024, v.dev->region[DISPLAY_PLANE].bytes - 1024),
		      "beyond a small picture%s", i ? ", after a reset" : "");
	}
}

/* What is larger than the type has is no picture, and no fault: the packet is a good one. */
static void larger_than_the_type(void)
{
	static const uint32_t add[][2] = {
		{ 1, 0 }, { 0, 1 }, { 1, 1 }, { 100000, 0 }, { 0, 100000 },
	};
	struct picture p;
	unsigned int i;

	begin("1A");
	for (i = 0; i < sizeof(add) / sizeof(add[0]); i++) {
		p = picture_at(DISPLAY_START, 64, 64, 0);
		show(&p);
		p = picture_at(DISPLAY_START, limits.width + add[i][0], limits.height + add[i][1],
			       0);
		picture_present(chan, &p, 0);
		display_check_none(&v, plane);
	}
	CHECK_EQ(fx_faults(&v), 0);
	/* A monitor may stand upright, but no side of it is longer than its longer one. */
	p = picture_at(DISPLAY_START, limits.height, limits.width, 0);
	show(&p);
	p = picture_at(DISPLAY_START + 4, 1, limits.width, 8);
	show(&p);
	p = picture_at(DISPLAY_START + 4, 1, limits.width + 1, 8);
	picture_present(chan, &p, 0);
	display_check_none(&v, plane);
	p = picture_at(DISPLAY_START, limits.width * limits.height, 1, 0);
	picture_present(chan, &p, 0);
	display_check_none(&v, plane);
}

static void present_faults(const struct picture *p, uint32_t head, uint32_t code)
{
	struct vgpu_hw_packet packet = picture_packet(p, head);
	struct vgpu_fault fault;

	FX_OK(v.dev, vgpu_chan_submit(chan, &packet, 1));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, code);
	fx_again(chan);
}

static void bad_surfaces(void)
{
	struct picture shown = picture_at(DISPLAY_START, 320, 200, 0), p = shown;
	uint64_t end;

	fx_need_no_quarantine();
	begin(fx_default_type());
	end = v.dev->fb_bytes;
	show(&shown);
	p.offset = end - picture_span(&p) + 4;
	present_faults(&p, 0, VGPU_HW_FAULT_ADDRESS);
	p.offset = end;
	present_faults(&p, 0, VGPU_HW_FAULT_ADDRESS);
	p.offset = ~3ull;
	present_faults(&p, 0, VGPU_HW_FAULT_ADDRESS);
	p.offset = DISPLAY_START + 2;
	present_faults(&p, 0, VGPU_HW_FAULT_ALIGN);
	p.offset = DISPLAY_START;
	p.pitch = 320 * 4 + 2;
	present_faults(&p, 0, VGPU_HW_FAULT_ALIGN);
	p.pitch = 320 * 4 - 4;
	present_faults(&p, 0, VGPU_HW_FAULT_PACKET);
	p.pitch = 320 * 4;
	p.width = 0;
	present_faults(&p, 0, VGPU_HW_FAULT_PACKET);
	p.width = 320;
	p.height = 0;
	present_faults(&p, 0, VGPU_HW_FAULT_PACKET);
	p.height = 0x40000000;
	p.pitch = ~3u;
	present_faults(&p, 0, VGPU_HW_FAULT_ADDRESS);
	/* None of them has changed what is shown. */
	picture_check(&v, plane, &shown);
}

/* VFIO knows one head: the others take what they are given, and show nothing. */
static void heads(const char *type)
{
	struct picture shown = picture_at(DISPLAY_START, 320, 200, 0);
	struct picture p = picture_at(DISPLAY_START + FX_MIB, 640, 480, 0);
	uint64_t frames, faults;
	struct vgpu_ctl_instance inst;
	uint32_t head;

	begin(type);
	show(&shown);
	picture_paint(&v, &p);
	fx_instance(&v, &inst);
	frames = inst.frames;
	for (head = 1; head < limits.heads; head++)
		picture_present(chan, &p, head);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.frames - frames, limits.heads - 1, "frames of the other heads");
	picture_check(&v, plane, &shown);
	faults = fx_faults(&v);
	present_faults(&p, limits.heads, VGPU_HW_FAULT_PACKET);
	present_faults(&p, limits.heads + 1, VGPU_HW_FAULT_PACKET);
	present_faults(&p, 1u << 31, VGPU_HW_FAULT_PACKET);
	present_faults(&p, ~0u, VGPU_HW_FAULT_PACKET);
	FX_SOON(fx_faults(&v) == faults + 4);
	picture_check(&v, plane, &shown);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
}

static void four_heads(void)
{
	fx_need_no_quarantine();
	heads("1Q");
}

static void one_head(void)
{
	fx_need_no_quarantine();
	heads("1A");
}

/**
 * struct reader - a thread that looks at the plane all the time
 * @p:      each pixel must be that of one of these
 * @dark:   or zero
 * @thread: the thread
 * @runs:   there is a thread
 * @stop:   the thread is to end
 * @pixels: how many it has looked at
 * @wrong:  it has seen a pixel of no picture
 * @x:      of the first such pixel
 * @y:      the same
 * @value:  the same
 */
static struct reader {
	struct picture p[2];
	bool dark;
	pthread_t thread;
	bool runs;
	volatile bool stop;
	volatile uint64_t pixels;
	volatile bool wrong;
	uint32_t x, y, value;
} reader;

static void *read_on(void *arg)
{
	struct reader *r = arg;
	const volatile uint32_t *words = (const volatile void *)plane;
	uint32_t x, y, value, step = 0;

	while (!r->stop) {
		step += 0x9e3779b1u;
		y = (step >> 8) % r->p[0].height;
		for (x = step & 7; x < r->p[0].width; x += 8, r->pixels++) {
			value = le32toh(words[y * r->p[0].width + x]);
			if (value == picture_pixel(&r->p[0], x, y) ||
			    value == picture_pixel(&r->p[1], x, y) || (r->dark && !value))
				continue;
			r->x = x;
			r->y = y;
			r->value = value;
			r->wrong = true;
			return NULL;
		}
	}
	return NULL;
}

/* Of a plane that is mapped, and stays so until reader_stop(). */
static void reader_start(const struct picture p[2], bool dark)
{
	memset(&reader, 0, sizeof(reader));
	memcpy(reader.p, p, sizeof(reader.p));
	reader.dark = dark;
	CHECK(!pthread_create(&reader.thread, NULL, read_on, &reader), "thread");
	reader.runs = true;
	FX_SOON(reader.pixels > 1000 || reader.wrong);
}

static void reader_stop(void)
{
	if (!reader.runs)
		return;
	reader.stop = true;
	pthread_join(reader.thread, NULL);
	reader.runs = false;
}

static void reader_end(void)
{
	reader_stop();
	ktap_note("%llu pixels read meanwhile", (unsigned long long)reader.pixels);
	CHECK(!reader.wrong, "pixel %u, %u is %#x: of no picture", reader.x, reader.y,
	      reader.value);
}

/*
 * Two pictures in turn, while a thread reads: each pixel is one of either picture's, also while
 * one takes the other's place; and after each query all are the new picture's.
 */
static void flips_from(uint64_t skew, uint32_t gap)
{
	struct picture p[2];
	unsigned int i;

	begin("1A");
	for (i = 0; i < 2; i++) {
		p[i] = picture_at(DISPLAY_START + i * FX_MIB + skew, 300, 200, 4 * 300 + gap);
		picture_paint(&v, &p[i]);
	}
	picture_present(chan, &p[0], 0);
	picture_check(&v, plane, &p[0]);
	reader_start(p, false);
	for (i = 1; i <= FLIPS && !reader.wrong; i++) {
		picture_present(chan, &p[i % 2], 0);
		picture_check(&v, plane, &p[i % 2]);
	}
	reader_end();
}

static void flips_of_pages(void)
{
	flips_from(0, 0);
}

static void flips_of_copies(void)
{
	flips_from(4, 12);
}

static bool describes(const struct vfio_device_gfx_plane_info *info, const struct picture *p)
{
	return info->width == p->width && info->height == p->height &&
	       info->stride == 4 * p->width && info->size == info->stride * p->height;
}

/* The engine flips as fast as it can, and queries come at any moment. */
static void flips_beside_queries(void)
{
	struct vfio_device_gfx_plane_info info;
	struct picture p[2];
	uint64_t fence, put;
	unsigned int i;

	begin("1A");
	p[0] = picture_at(DISPLAY_START, 320, 200, 0);
	p[1] = picture_at(DISPLAY_START + FX_MIB + 4, 256, 250, 2048);
	for (i = 0; i < 2; i++)
		picture_paint(&v, &p[i]);
	for (i = 0; i < FLIPS; i++) {
		for (put = chan->put; chan->put < put + 6;)
			FX_OK(v.dev, vgpu_chan_present(chan, p[chan->put & 1].offset,
						       p[chan->put & 1].width,
						       p[chan->put & 1].height,
						       p[chan->put & 1].pitch));
		do {
			display_query(&v, &info);
			CHECK(!info.drm_format || describes(&info, &p[0]) ||
			      describes(&info, &p[1]), "%u x %u", info.width, info.height);
		} while (vgpu_chan_get(chan) < chan->put);
		FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
		FX_OK(v.dev, vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS));
		/* The fence was a packet, too: so each round ends with the other picture. */
		picture_check(&v, plane, &p[(chan->put - 2) & 1]);
	}
}

static void reset_ioctl(void)
{
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_RESET), "%s", strerror(errno));
}

static void reset_flr(void)
{
	unsigned int exp = fx_find_cap(&v, PCI_CAP_ID_EXP);
	uint16_t control = htole16(PCI_EXP_DEVCTL_BCR_FLR);

	if (exp)
		FX_OK(v.dev, vgpu_config_write(v.dev, exp + PCI_EXP_DEVCTL, &control, 2));
	else
		reset_ioctl();
}

static void reset_register(void)
{
	uint32_t ctrl;

	FX_OK(v.dev, vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET,
				      VGPU_HW_RESET_MAGIC));
	FX_SOON((FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(0, VGPU_HW_CHAN_CTRL), &ctrl)),
		 !(ctrl & VGPU_HW_CTRL_ENABLE)), "the reset does not end");
	FX_SOON(fx_is_zero(v.dev->fb + DISPLAY_START, PAGE), "memory is kept");
}

/* The mapping outlives each reset, and is dark; then pictures are shown as before. */
static void reset_ends_the_picture(void)
{
	static void (* const resets[])(void) = { reset_ioctl, reset_register, reset_flr };
	struct picture p;
	unsigned int i;

	begin(fx_default_type());
	for (i = 0; i < 12; i++) {
		/* Half of them are copies. */
		p = picture_at(DISPLAY_START + 4 * (i / 6), 500, 300, 2000 + 8 * (i / 6));
		show(&p);
		resets[i % 3]();
		display_check_none(&v, plane);
		CHECK(display_is_dark(plane, 8 * FX_MIB), "a picture outlives a reset");
		FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0));
		FX_OK(v.dev, vgpu_chan_enable(chan));
	}
}

/* A reader sees pixels or darkness, and no SIGBUS, whatever comes. */
static void reader_outlives_resets(void)
{
	struct picture p[2];
	unsigned int i, k;

	begin(fx_default_type());
	for (k = 0; k < 2; k++)
		p[k] = picture_at(DISPLAY_START + k * (FX_MIB + 4), 300, 200, 0);
	reader_start(p, true);
	for (i = 0; i < 30 && !reader.wrong; i++) {
		for (k = 0; k < 2; k++) {
			picture_paint(&v, &p[k]);
			picture_present(chan, &p[k], 0);
			picture_check(&v, plane, &p[k]);
		}
		FX_OK(v.dev, vgpu_dev_reset(v.dev));
		display_check_none(&v, plane);
		FX_OK(v.dev, vgpu_chan_enable(chan));
	}
	reader_end();
}

/* The next user sees nothing of what the one before has shown, by closing or by dying. */
static void next_user_sees_nothing(void)
{
	struct picture p = picture_at(DISPLAY_START + 4, 640, 480, 0);

	begin(fx_default_type());
	show(&p);
	vgpu_chan_destroy(chan);
	display_unmap(&v, plane);
	plane = NULL;
	fx_close(&v);
	display_open(&v);
	plane = display_map(&v);
	display_check_none(&v, plane);
	CHECK(display_is_dark(plane, v.dev->region[DISPLAY_PLANE].bytes), "of the former user");
	chan = display_chan(&v);
	p = picture_at(DISPLAY_START, 100, 100, 0);
	show(&p);
}

static void shows_and_waits(void *arg)
{
	struct picture p = picture_at(DISPLAY_START + 4, 640, 480, 0);
	volatile bool *shown = arg;

	display_open(&v);
	plane = display_map(&v);
	chan = display_chan(&v);
	show(&p);
	*shown = true;
	for (;;)
		pause();
}

static void killed_user_leaves_nothing(void)
{
	volatile bool *shown;
	pid_t pid;

	fx_need("display");
	fx_create(&v, "1A");
	tune_frl(&v, 0);
	shown = child_shared(sizeof(*shown));
	pid = child_start(shows_and_waits, (void *)shown);
	FX_SOON(*shown);
	child_kill(pid);
	display_open(&v);
	plane = display_map(&v);
	display_check_none(&v, plane);
	CHECK(display_is_dark(plane, v.dev->region[DISPLAY_PLANE].bytes), "of the former user");
}

/* What one vGPU shows, and that it is reset, is nothing to the other. */
static void two_displays(void)
{
	struct picture p = picture_at(DISPLAY_START, 320, 200, 0), q = p;
	struct vgpu_chan *q_chan;
	unsigned int i;

	begin("1A");
	display_create(&other, "1Q");
	other_plane = display_map(&other);
	q_chan = display_chan(&other);
	for (i = 0; i < 20; i++) {
		q = picture_at(DISPLAY_START + 4 * (i % 2), 320, 200, 0);
		picture_paint(&other, &q);
		p = picture_at(DISPLAY_START + 4 * (i % 3), 320, 200, 0);
		show(&p);
		picture_present(q_chan, &q, 0);
		picture_check(&other, other_plane, &q);
		picture_check(&v, plane, &p);
		FX_OK(v.dev, vgpu_dev_reset(v.dev));
		display_check_none(&v, plane);
		picture_check(&other, other_plane, &q);
		FX_OK(v.dev, vgpu_chan_enable(chan));
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(random_pictures),
	KTAP_TEST(edges_of_pages),
	KTAP_TEST(first_and_last_bytes),
	KTAP_TEST(largest),
	KTAP_TEST(small_copy_after_a_large_one),
	KTAP_TEST(larger_than_the_type),
	KTAP_TEST(bad_surfaces),
	KTAP_TEST(four_heads),
	KTAP_TEST(one_head),
	KTAP_TEST(flips_of_pages),
	KTAP_TEST(flips_of_copies),
	KTAP_TEST(flips_beside_queries),
	KTAP_TEST(reset_ends_the_picture),
	KTAP_TEST(reader_outlives_resets),
	KTAP_TEST(next_user_sees_nothing),
	KTAP_TEST(killed_user_leaves_nothing),
	KTAP_TEST(two_displays),
};

static void cleanup(void)
{
	reader_stop();
	display_forget(&v, &plane);
	display_forget(&other, &other_plane);
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
