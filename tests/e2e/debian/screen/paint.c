// SPDX-License-Identifier: GPL-2.0
/*
 * paint TITLE [SOCKET]: has the vGPU draw pictures of the Mandelbrot set, one after the other, with
 * the title, how many there were and what the vGPU gets, until SIGTERM. With a socket, the
 * presenter shows them (screen.h). There is always one more in the queue, so how many it draws is
 * its share. Needs nothing but the render node.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <libvgpu.h>
#include <samples.h>
#include <../mandelbrot.h>
#include "libvgpu/node.h"

#include "screen.h"

#define WIDTH		320u
#define HEIGHT		240u
#define PITCH		(4 * WIDTH)
#define PLACE_BYTES	(2u << 20)	/* so much lies in one piece, as PRESENT wants it */
#define STEP		(3.0f / WIDTH)
#define LIMIT		1024u	/* iterations: a picture takes a while */
#define PLACES		3	/* one is shown, one is drawn, one waits */
#define ROUND		24	/* pictures in which the view goes round */
#define CHECK_ROWS	17u	/* one of so many is compared: all groups, in all their rows */
#define RING_ORDER	4
#define WAIT_MS		600000
#define SAY_NS		2000000000ull

#define GLYPH_WIDTH	8u
#define GLYPH_HEIGHT	16u
#define COLUMNS		(WIDTH / GLYPH_WIDTH)
#define INK		0xf0f0f0u
#define PAPER		0x101820u

static const uint8_t font[256 * GLYPH_HEIGHT] = {
#include "font8x16.inc"
};

static volatile sig_atomic_t ended;

/**
 * struct paint - pictures
 * @dev:    the device
 * @chan:   of gr
 * @run:    the sample
 * @launch: of each place its dispatch
 * @place:  of each its offset in the framebuffer
 * @fence:  of each its fence
 * @title:  the first words of each picture
 * @socket: the presenter, or -1
 * @drawn:  pictures that are complete
 * @rate:   of them, a second
 * @percent: of gr that the vGPU has had, and
 * @due:    what it would get if it always had work
 * @since_ns: when these were counted last
 * @since_drawn: how many there were then
 * @last:   what the driver said then
 */
struct paint {
	struct vgpu_dev *dev;
	struct vgpu_chan *chan;
	struct sample_run run;
	struct vgpu_launch launch[PLACES];
	uint64_t place[PLACES];
	uint64_t fence[PLACES];
	const char *title;
	int socket;
	uint64_t drawn;
	double rate;
	double percent;
	double due;
	uint64_t since_ns;
	uint64_t since_drawn;
	struct drm_vgpu_usage last;
};

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static int die(const char *what, const char *why)
{
	fprintf(stderr, "paint: %s: %s\n", what, why);
	return 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The sample, with pictures of another size. */
static int setup(struct paint *paint)
{
	unsigned int i;
	int engine = vgpu_dev_find_engine(paint->dev, VGPU_HW_ENGINE_GR, 0);

	if (engine < 0 || vgpu_chan_create(paint->dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER,
					   &paint->chan) ||
	    sample_load(paint->dev, &sample_mandelbrot, &paint->run))
		return die("mandelbrot", vgpu_dev_error(paint->dev));
	for (i = 0; i < PLACES; i++) {
		paint->launch[i] = paint->run.launch;
		paint->launch[i].grid[0] = WIDTH;
		paint->launch[i].grid[1] = HEIGHT;
		if (vgpu_fb_alloc(paint->dev, PLACE_BYTES, PLACE_BYTES, &paint->place[i]) ||
		    vgpu_fb_alloc(paint->dev, sizeof(struct mandelbrot_args), VGPU_HW_PAGE_SIZE,
				  &paint->launch[i].args))
			return die("framebuffer", vgpu_dev_error(paint->dev));
	}
	return 0;
}

/* The view goes round by some pixels: each picture is as much work as the others. */
static struct mandelbrot_args view(uint64_t number, uint64_t pixels)
{
	const double angle = 2 * M_PI * (double)(number % ROUND) / ROUND;

	return (struct mandelbrot_args) {
		.pixels = (uint32_t *)(uintptr_t)pixels,
		.width = WIDTH,
		.limit = LIMIT,
		.left = -2.25f + 12 * STEP * (float)cos(angle),
		.top = -1.125f + 12 * STEP * (float)sin(angle),
		.step = STEP,
	};
}

static int queue(struct paint *paint, uint64_t number)
{
	const struct mandelbrot_args args =
		view(number, vgpu_global_address(paint->place[number % PLACES]));
	struct vgpu_launch *launch = &paint->launch[number % PLACES];

	memcpy(paint->dev->fb + launch->args, &args, sizeof(args));
	if (vgpu_chan_dispatch(paint->chan, launch) ||
	    vgpu_chan_fence(paint->chan, &paint->fence[number % PLACES]))
		return die("mandelbrot", vgpu_dev_error(paint->dev));
	return 0;
}

/* All of a picture would take an emulated processor seconds. */
static int check(const uint32_t *pixels, uint64_t number)
{
	static uint32_t native[WIDTH * HEIGHT];
	const struct mandelbrot_args args = view(number, (uintptr_t)native);
	uint32_t x, y;

	for (y = 0; y < HEIGHT; y += CHECK_ROWS) {
		for (x = 0; x < WIDTH; x++)
			mandelbrot_item(&args, x, y);
		if (memcmp(native + y * WIDTH, pixels + y * WIDTH, PITCH))
			return die("mandelbrot", "the CPU draws another picture");
	}
	printf("the first picture is what the CPU draws\n");
	return 0;
}

/* What the vGPU, with all its programs, has had of gr since the last time, and is its due. */
static int count(struct paint *paint)
{
	struct drm_vgpu_usage usage = {}, *last = &paint->last;
	struct drm_vgpu_usage_query query = { .size = sizeof(usage), .pointer = (uintptr_t)&usage };
	uint64_t now = now_ns();

	if (now - paint->since_ns < SAY_NS)
		return 0;
	if (vgpu_node_ioctl(paint->dev, DRM_IOCTL_VGPU_USAGE_QUERY, &query))
		return die("USAGE_QUERY", strerror(errno));
	if (paint->since_ns) {
		paint->rate = 1e9 * (double)(paint->drawn - paint->since_drawn) /
			(double)(now - paint->since_ns);
		paint->percent = 100.0 * (double)(usage.engine[0].service_ns -
						  last->engine[0].service_ns) /
			(double)(usage.time_ns - last->time_ns);
		printf("%llu pictures after %llu ms\n", (unsigned long long)paint->drawn,
		       (unsigned long long)(now / 1000000));
		fflush(stdout);
	}
	paint->due = usage.engine[0].due_permille / 10.0;
	paint->since_ns = now;
	paint->since_drawn = paint->drawn;
	*last = usage;
	return 0;
}

/* Writes a text into the line @row of a picture. */
__attribute__((format(printf, 3, 4)))
static void text(uint32_t *pixels, uint32_t row, const char *fmt, ...)
{
	char words[COLUMNS + 1] = "";
	uint32_t x, y;
	uint8_t bits;
	va_list args;

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	memset(words + strlen(words), ' ', COLUMNS - strlen(words));
	for (y = 0; y < GLYPH_HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			bits = font[(uint8_t)words[x / GLYPH_WIDTH] * GLYPH_HEIGHT + y];
			pixels[(row * GLYPH_HEIGHT + y) * WIDTH + x] =
				bits << x % GLYPH_WIDTH & 0x80 ? INK : PAPER;
		}
}

/* Hands the buffer to the presenter, and waits until it is on the screen. */
static int show(struct paint *paint, uint64_t place)
{
	const struct vgpu_node_bo *bo = vgpu_node_find(&paint->dev->node->fb, place);
	struct drm_prime_handle prime = { .handle = bo->handle, .flags = O_CLOEXEC };
	struct screen_surface surface = {
		.offset = place - bo->at, .width = WIDTH, .height = HEIGHT, .pitch = PITCH,
	};
	struct screen_message message;
	struct cmsghdr *file;
	int32_t answer = -EPIPE;

	if (vgpu_node_ioctl(paint->dev, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return die("PRIME_HANDLE_TO_FD", strerror(errno));
	screen_message_init(&message, &surface);
	file = CMSG_FIRSTHDR(&message.head);
	file->cmsg_level = SOL_SOCKET;
	file->cmsg_type = SCM_RIGHTS;
	file->cmsg_len = CMSG_LEN(sizeof(prime.fd));
	memcpy(CMSG_DATA(file), &prime.fd, sizeof(prime.fd));
	if (sendmsg(paint->socket, &message.head, MSG_NOSIGNAL) == sizeof(surface))
		recv(paint->socket, &answer, sizeof(answer), 0);
	close(prime.fd);
	return answer ? die("presenter", strerror(-answer)) : 0;
}

static int finish(struct paint *paint)
{
	uint64_t place = paint->place[paint->drawn % PLACES];
	uint32_t *pixels = (uint32_t *)(paint->dev->fb + place);

	if (vgpu_chan_wait(paint->chan, paint->fence[paint->drawn % PLACES], WAIT_MS))
		return die("mandelbrot", vgpu_dev_error(paint->dev));
	if (!paint->drawn && check(pixels, 0))
		return 1;
	paint->drawn++;
	if (count(paint))
		return 1;
	if (paint->socket < 0)
		return 0;
	text(pixels, 0, " %s", paint->title);
	text(pixels, 1, " picture %llu, %.2f a second", (unsigned long long)paint->drawn, paint->rate);
	text(pixels, 13, " the vGPU has had %.0f %% of gr", paint->percent);
	text(pixels, 14, " its due is %.0f %%", paint->due);
	return show(paint, place);
}

static int paint_all(struct paint *paint)
{
	uint64_t queued = 0;
	int ret = 0;

	while (!ret && !ended) {
		/* The place of the picture that is shown is not free. */
		if (queued - paint->drawn < PLACES - 1)
			ret = queue(paint, queued++);
		else
			ret = finish(paint);
	}
	while (!ret && paint->drawn < queued)
		ret = finish(paint);
	return ret;
}

int main(int argc, char **argv)
{
	struct paint paint = { .socket = -1 };

	if (argc != 2 && argc != 3)
		return die("usage", "paint TITLE [SOCKET]");
	signal(SIGTERM, end);
	paint.title = argv[1];
	if (argc == 3) {
		paint.socket = screen_socket(argv[2], connect);
		if (paint.socket < 0)
			return die(argv[2], strerror(errno));
	}
	if (vgpu_dev_open_node(&paint.dev, NULL))
		return die("device", vgpu_dev_error(NULL));
	if (setup(&paint) || paint_all(&paint))
		return 1;
	vgpu_chan_destroy(paint.chan);
	vgpu_dev_close(paint.dev);
	return 0;
}
