// SPDX-License-Identifier: GPL-2.0
/*
 * No byte of a vGPU reaches another vGPU, or the next owner of the memory; not even through
 * pages that a process still holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "child.h"
#include "fixture.h"

#define WINDOW	(4 * FX_MIB)

static struct fx_vgpu a, b;

static void scribble(struct fx_vgpu *v, uint8_t value)
{
	memset(v->dev->fb, value, WINDOW);
	memset(v->dev->fb + v->dev->fb_bytes - WINDOW, value, WINDOW);
}

static void check_zero(struct fx_vgpu *v, const char *when)
{
	uint32_t i;

	CHECK(fx_is_zero(v->dev->fb, WINDOW), "%s: start", when);
	CHECK(fx_is_zero(v->dev->fb + v->dev->fb_bytes - WINDOW, WINDOW), "%s: end", when);
	for (i = 0; i < v->dev->channels; i++)
		CHECK_EQ(vgpu_chan_state((&(struct vgpu_chan){
			.dev = v->dev, .page = (void *)(v->dev->chan_pages + i * 4096ull) })),
			 VGPU_HW_STATE_DISABLED, "%s: channel %u", when, i);
}

static void new_is_zero(void)
{
	fx_create_open(&a, "1Q");
	check_zero(&a, "new");
}

static void reopened_is_zero(void)
{
	fx_create_open(&a, "1Q");
	scribble(&a, 0x55);
	fx_close(&a);
	fx_open(&a);
	check_zero(&a, "opened again");
}

/* Nothing of what a guest has written to channel pages is left for the next one. */
static void channel_pages_are_zero(void)
{
	uint64_t bytes;

	fx_create_open(&a, "1Q");
	bytes = (uint64_t)a.dev->channels * VGPU_HW_PAGE_SIZE;
	memset(a.dev->chan_pages, 0x77, bytes);
	fx_close(&a);
	fx_open(&a);
	CHECK(fx_is_zero(a.dev->chan_pages, bytes), "opened again");
	memset(a.dev->chan_pages, 0x77, bytes);
	FX_OK(a.dev, vgpu_dev_reset(a.dev));
	CHECK(fx_is_zero(a.dev->chan_pages, bytes), "after a reset");
}

/* One vGPU writes to all of the GPU's memory, which is then divided among others. */
static void next_owner_finds_zero(void)
{
	struct vgpu_ctl_instance first, second;
	char all[16];
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	fx_ctl_gpu(&gpu);
	snprintf(all, sizeof(all), "%lluQ", gpu.fb_bytes >> 30);
	fx_create_open(&a, all);
	for (i = 0; i < gpu.fb_bytes >> 30; i++)
		memset(a.dev->fb + i * FX_GIB, 0x99, FX_MIB);
	scribble(&a, 0x99);
	fx_instance(&a, &first);
	CHECK(first.fb_backed_bytes, "nothing is backed");
	fx_close(&a);
	fx_instance(&a, &second);
	CHECK_EQ(second.fb_backed_bytes, 0, "pages are kept over close");
	fx_remove(&a);
	for (i = 0; i < gpu.fb_bytes >> 30 && fx_available("1Q"); i++) {
		fx_create_open(&b, "1Q");
		check_zero(&b, "divided");
		scribble(&b, 0x11);
		fx_close(&b);
		fx_remove(&b);
	}
}

/* Two vGPUs work at once, and each finds what it wrote itself. */
static void neighbours_do_not_meet(void)
{
	struct vgpu_chan *ca, *cb;
	unsigned int i;

	fx_create_open(&a, "1Q");
	fx_create_open(&b, "1Q");
	ca = fx_chan(&a, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	cb = fx_chan(&b, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	for (i = 1; i < 20; i++) {
		FX_OK(a.dev, vgpu_chan_fill(ca, VGPU_FB(FX_MIB), 0x01010101u * i, WINDOW));
		FX_OK(b.dev, vgpu_chan_fill(cb, VGPU_FB(FX_MIB), 0x01010101u * (i + 100), WINDOW));
		fx_finish(ca);
		fx_finish(cb);
		CHECK_EQ(a.dev->fb[FX_MIB], i);
		CHECK(!memcmp(a.dev->fb + FX_MIB, a.dev->fb + FX_MIB + 1, WINDOW - 1), "of a");
		CHECK_EQ(b.dev->fb[FX_MIB], i + 100);
		CHECK(!memcmp(b.dev->fb + FX_MIB, b.dev->fb + FX_MIB + 1, WINDOW - 1), "of b");
	}
	vgpu_chan_destroy(ca);
	vgpu_chan_destroy(cb);
}

/**
 * struct pin - pages that a pipe holds
 * @fds:   the pipe's ends
 * @bytes: length of the pages in it
 */
struct pin {
	int fds[2];
	size_t bytes;
};

#define PIN_BYTES	(8 * 4096)

static void pin_take(struct pin *pin, void *from)
{
	struct iovec iov = { from, PIN_BYTES };
	ssize_t n;

	CHECK(!pipe2(pin->fds, O_CLOEXEC | O_NONBLOCK), "%s", strerror(errno));
	n = vmsplice(pin->fds[1], &iov, 1, SPLICE_F_NONBLOCK);
	if (n < 0) {
		int error = errno;

		close(pin->fds[0]);
		close(pin->fds[1]);
		ktap_skip("vmsplice of a BAR: %s", strerror(error));
	}
	pin->bytes = (size_t)n;
}

/* The pages in the pipe must contain what their owner wrote; closes the pipe. */
static void pin_check(struct pin *pin, uint8_t value)
{
	static uint8_t bytes[PIN_BYTES];
	size_t got = 0, i;
	ssize_t n;

	while (got < pin->bytes) {
		n = read(pin->fds[0], bytes + got, pin->bytes - got);
		CHECK(n > 0, "%s", strerror(errno));
		got += (size_t)n;
	}
	for (i = 0; i < got; i++)
		CHECK_EQ(bytes[i], value, "byte %zu of a page held", i);
	close(pin->fds[0]);
	close(pin->fds[1]);
}

/* Pages that a pipe still holds do not become the next owner's memory. */
static void pin_kept_over_close(void)
{
	struct pin pin;

	fx_create_open(&a, "1Q");
	memset(a.dev->fb, 0x41, PIN_BYTES);
	pin_take(&pin, a.dev->fb);
	fx_close(&a);
	fx_remove(&a);
	fx_create_open(&b, "1Q");
	CHECK(fx_is_zero(b.dev->fb, WINDOW), "the next owner sees the pin");
	memset(b.dev->fb, 0x42, WINDOW);
	pin_check(&pin, 0x41);
	CHECK_EQ(b.dev->fb[0], 0x42);
}

static void pin_kept_over_reset(void)
{
	struct pin pin;

	fx_create_open(&a, "1Q");
	memset(a.dev->fb, 0x43, PIN_BYTES);
	pin_take(&pin, a.dev->fb);
	FX_OK(a.dev, vgpu_dev_reset(a.dev));
	CHECK(fx_is_zero(a.dev->fb, WINDOW), "the reset kept the page");
	memset(a.dev->fb, 0x44, WINDOW);
	pin_check(&pin, 0x43);
}

/* As long as there is a mapping the device is not closed, without a descriptor either. */
static void mapping_kept_over_close(void)
{
	struct vgpu_ctl_instance inst;
	uint8_t *fb;

	fx_create_open(&a, "1Q");
	fb = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, a.dev->fd,
		  (off_t)a.dev->region[0].offset);
	CHECK(fb != MAP_FAILED, "%s", strerror(errno));
	memset(fb, 0x45, WINDOW);
	fx_close(&a);
	fx_instance(&a, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED, "closed under a mapping");
	CHECK_EQ(fb[WINDOW - 1], 0x45);
	munmap(fb, WINDOW);
	fx_instance(&a, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_CREATED);
	fx_open(&a);
	check_zero(&a, "opened after the mapping went");
}

/* A child process: writes to framebuffer by the mapping that it has inherited. */
static void fill_and_wait(void *arg)
{
	(void)arg;
	memset(a.dev->fb, 0x46, 65536);
	for (;;)
		pause();
}

static void child_shares_the_mapping(void)
{
	pid_t pid;

	fx_create_open(&a, "1Q");
	pid = child_start(fill_and_wait, NULL);
	FX_SOON(*(volatile uint8_t *)(a.dev->fb + 65535) == 0x46,
		"the child's writes do not arrive");
	/* A reset drops the pages of the child's mapping as well. */
	FX_OK(a.dev, vgpu_dev_reset(a.dev));
	CHECK(fx_is_zero(a.dev->fb, 65536), "after a reset");
	memset(a.dev->fb, 0x47, 65536);
	{
		static uint8_t copy[4096];
		struct iovec to = { copy, sizeof(copy) };
		struct iovec from = { a.dev->fb, sizeof(copy) };
		ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);

		/* process_vm_readv() reads a BAR as any memory, if the kernel has that call. */
		if (n < 0 && errno != EFAULT)
			return;
		CHECK_EQ(n, sizeof(copy));
		CHECK_EQ(copy[0], 0x47, "the child has another page");
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(new_is_zero),
	KTAP_TEST(reopened_is_zero),
	KTAP_TEST(channel_pages_are_zero),
	KTAP_TEST(next_owner_finds_zero),
	KTAP_TEST(neighbours_do_not_meet),
	KTAP_TEST(pin_kept_over_close),
	KTAP_TEST(pin_kept_over_reset),
	KTAP_TEST(mapping_kept_over_close),
	KTAP_TEST(child_shares_the_mapping),
};

KTAP_MAIN(tests, fx_cleanup)
