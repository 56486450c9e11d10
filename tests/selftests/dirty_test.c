// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty pages (debugfs files dirty_*): a copy of the framebuffer that is brought up to date only by
 * the pages of each pass is equal to it, whoever has written and when; and pages that nobody has
 * touched are in no pass.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "compute.h"
#include "silent.h"

#define DEBUGFS		"/sys/kernel/debug/vgpu"
#define PAGE		4096u
#define PAGES		(FX_GIB / PAGE)		/* of a 1Q */
#define AREA		(16 * FX_MIB)		/* nothing is written beyond it */
#define A		COMPUTE_OUT
#define SPREAD		(4 * FX_MIB)		/* over which a program scatters its stores */
#define B		(A + SPREAD)
#define RINGS		(12 * FX_MIB)

static struct fx_vgpu v, other;
static uint8_t copy[AREA];
static bool seen[PAGES], wanted[PAGES];
static bool was_dropped;
static unsigned long long last_pass;

static void do_control(const char *file)
{
	int ret = fx_debugfs(&v, file);

	CHECK(!ret, "%s: %s", file, strerror(-ret));
}

/* Reads past all mappings, so that no page is mapped because of it. */
static void read_fb(uint64_t at, void *to, size_t bytes)
{
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_FB, at, to, bytes), bytes);
}

/* Begins a pass, whose runs of pages are then read from the file. */
static FILE *open_pass(unsigned long long *pages)
{
	unsigned long long number = 0;
	char line[64], path[128];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), DEBUGFS "/%s/dirty_pass", fx_gpu());
	file = fopen(path, "r+");
	CHECK(file, "%s", strerror(errno));
	setvbuf(file, NULL, _IONBF, 0);
	CHECK_EQ(write(fileno(file), v.uuid, strlen(v.uuid)), strlen(v.uuid), "%s",
		 strerror(errno));
	CHECK(fgets(line, sizeof(line), file), "");
	n = sscanf(line, "pages %llu, pass %llu", pages, &number);
	CHECK_EQ(n, 2, "%s", line);
	CHECK(number > last_pass, "pass %llu after %llu", number, last_pass);
	last_pass = number;
	was_dropped = strstr(line, ", dropped");
	return file;
}

/* Takes a pass, and brings the copy up to date. Returns the number of pages. */
static uint64_t take_pass(void)
{
	unsigned long long first, last, said = 0;
	uint64_t nr = 0, before = 0, page;
	FILE *file = open_pass(&said);
	char line[64];
	int n;

	memset(seen, 0, sizeof(seen));
	while (fgets(line, sizeof(line), file)) {
		n = sscanf(line, "%llu..%llu", &first, &last);
		CHECK_EQ(n, 2, "%s", line);
		CHECK(first >= before && first <= last && last < AREA / PAGE, "%s", line);
		for (page = first; page <= last; page++) {
			read_fb(page * PAGE, copy + page * PAGE, PAGE);
			seen[page] = true;
		}
		nr += last - first + 1;
		before = last + 1;
	}
	fclose(file);
	CHECK_EQ(nr, said);
	return nr;
}

static void want(uint64_t at, uint64_t bytes)
{
	memset(wanted + at / PAGE, true, bytes / PAGE);
}

/* The next pass has the pages that are wanted and no others. */
static void check_pass(const char *what)
{
	uint64_t page;

	take_pass();
	for (page = 0; page < PAGES; page++)
		CHECK_EQ(seen[page], wanted[page], "%s: page %llu", what,
			 (unsigned long long)page);
	memset(wanted, 0, sizeof(wanted));
	CHECK(!was_dropped, "%s", what);
}

static void check_copy(const char *what)
{
	static uint8_t page[PAGE];
	uint64_t at;

	for (at = 0; at < AREA; at += PAGE) {
		read_fb(at, page, PAGE);
		CHECK(!memcmp(page, copy + at, PAGE), "%s: a write to page %llu is lost", what,
		      (unsigned long long)(at / PAGE));
	}
}

static void open_all(void)
{
	fx_create_open(&v, "1Q");
	memset(copy, 0, sizeof(copy));
	memset(wanted, 0, sizeof(wanted));
	last_pass = 0;
	v.dev->fb_next = RINGS;
}

static void refusals(void)
{
	static const char * const files[] = { "dirty_start", "dirty_stop", "dirty_pass" };
	char path[128];
	unsigned int i;

	fx_create(&v, "1Q");
	fx_new_uuid(&other);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(fx_debugfs(&v, files[i]), -ENODEV, "%s", files[i]);
		CHECK_EQ(fx_debugfs(&other, files[i]), -ENODEV, "%s", files[i]);
		snprintf(path, sizeof(path), DEBUGFS "/%s/%s", fx_gpu(), files[i]);
		CHECK_EQ(file_write(path, "x"), -EINVAL, "%s", files[i]);
	}
	fx_open(&v);
	if (!fx_executes()) {
		CHECK_EQ(fx_debugfs(&v, "dirty_start"), -EOPNOTSUPP);
		return;
	}
	CHECK_EQ(fx_debugfs(&v, "dirty_stop"), -EINVAL);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), -EINVAL);
	do_control("dirty_start");
	CHECK_EQ(fx_debugfs(&v, "dirty_start"), -EBUSY);
	do_control("dirty_stop");
	CHECK_EQ(fx_debugfs(&v, "dirty_stop"), -EINVAL);
	do_control("dirty_start");
	fx_close(&v);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), -ENODEV);
	fx_open(&v);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), -EINVAL, "to close the device ends it");
}

/* All that is backed is in the first pass, and nothing in the second one. */
static void begins_with_all(void)
{
	uint64_t i;

	fx_need("write memory");
	open_all();
	for (i = 0; i < 64; i++)
		memset(v.dev->fb + fx_random_below(AREA), (int)i + 1, 1);
	do_control("dirty_start");
	CHECK_EQ(take_pass() * PAGE, fx_backed_bytes(&v));
	check_copy("start");
	check_pass("untouched");
}

/* Reads what is left of a pass. Returns why it ends: 0, or a negative errno. */
static int read_pass(FILE *file, unsigned int *runs)
{
	char line[64];

	*runs = 0;
	errno = 0;
	while (fgets(line, sizeof(line), file))
		++*runs;
	return ferror(file) ? -errno : 0;
}

/* A pass that another one has ended says so, and does not look as if it had no more pages. */
static void passes_that_are_over(void)
{
	unsigned long long pages, before;
	unsigned int i, first, second;
	FILE *file[2];

	fx_need("write memory");
	open_all();
	do_control("dirty_start");
	take_pass();
	for (i = 0; i < 8; i++)
		v.dev->fb[A + 2 * i * PAGE] = 1;
	before = last_pass;
	for (i = 0; i < 2; i++) {
		file[i] = open_pass(&pages);
		CHECK_EQ(pages, 8);
		CHECK_EQ(last_pass, before + 1 + i);
	}
	/* What the first one has not taken is in the second one. */
	CHECK_EQ(read_pass(file[0], &first), -ESTALE);
	CHECK_EQ(read_pass(file[1], &second), 0);
	CHECK(first == 0 && second == 8, "%u, %u", first, second);
	fclose(file[0]);
	fclose(file[1]);

	for (i = 0; i < 2; i++) {
		v.dev->fb[A] = 1;
		v.dev->fb[A + 2 * PAGE] = 1;
		file[0] = open_pass(&pages);
		do_control("dirty_stop");
		if (i)
			do_control("dirty_start");
		CHECK_EQ(read_pass(file[0], &first), i ? -ESTALE : -EINVAL);
		fclose(file[0]);
		if (!i)
			do_control("dirty_start");
	}
	file[0] = open_pass(&pages);
	fx_close(&v);
	CHECK_EQ(read_pass(file[0], &first), -ENODEV);
	fclose(file[0]);
}

/* A program that adds 1 to a word for each work-item, somewhere in SPREAD. */
static void load_scatter(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_LUI(RV_T1, 0x9e375),
		RV_MUL(RV_T0, RV_T0, RV_T1), RV_SLLI(RV_T1, RV_T0, 7), RV_ADD(RV_T0, RV_T0, RV_T1),
		RV_SLLI(RV_T0, RV_T0, 30), RV_I(42, RV_T0, 5, RV_T0, 0x13) /* srli */,
		RV_ANDI(RV_T0, RV_T0, -4), RV_ADD(RV_A0, RV_A0, RV_T0), RV_LW(RV_T1, 0, RV_A0),
		RV_ADDI(RV_T1, RV_T1, 1), RV_SW(RV_T1, 0, RV_A0), RV_RET,
	};

	COMPUTE_LOAD(&v, words);
}

/* A program whose only work-item adds 1 to the word at A for ever. */
static void load_counter(void)
{
	static const uint32_t words[] = {
		RV_LW(RV_T1, 0, RV_A0), RV_ADDI(RV_T1, RV_T1, 1), RV_SW(RV_T1, 0, RV_A0), RV_J(-12),
	};

	COMPUTE_LOAD(&v, words);
}

static void signal_at(struct vgpu_chan *chan, uint64_t at, uint64_t value)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL,
		.signal_addr = htole64(at), .signal_value = htole64(value),
	};

	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
}

static void each_writer(void)
{
	static const uint32_t store[] = { RV_SW(RV_A0, 0, RV_A0), RV_RET };
	volatile uint8_t *fb;
	struct vgpu_chan *gr, *ce;
	struct vgpu_buf buf;
	uint64_t word = 7;

	open_all();
	gr = compute_chan(&v);
	vgpu_chan_destroy(gr);
	v.dev->fb_next = RINGS;
	/* Rings are in memory of the guest: a ring in the framebuffer is written, too. */
	gr = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_SYS, 4);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, FX_MIB, &buf));
	memset(buf.ptr, 0x55, FX_MIB);
	fb = v.dev->fb;
	COMPUTE_LOAD(&v, store);
	memset(v.dev->fb + A, 1, FX_MIB);
	fx_finish(gr);
	fx_finish(ce);
	do_control("dirty_start");
	take_pass();
	check_pass("untouched");

	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(A), 3, 3 * PAGE));
	fx_finish(ce);
	want(A, 3 * PAGE);
	check_pass("fill");

	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(B), 0, 3 * PAGE));
	FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_SYS(&buf, 0), VGPU_FB(A), 5 * PAGE));
	FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_SYS(&buf, 8 * PAGE), VGPU_SYS(&buf, 0), PAGE));
	FX_OK(v.dev, vgpu_chan_present(gr, A, 64, 32, 256));
	fx_finish(ce);
	fx_finish(gr);
	check_pass("what writes nothing");

	FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_FB(A + 8 * PAGE), VGPU_FB(A), 2 * PAGE));
	fx_finish(ce);
	want(A + 8 * PAGE, 2 * PAGE);
	check_pass("copy");

	FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_FB(A + 9 * PAGE), VGPU_FB(B), 2 * PAGE));
	fx_finish(ce);
	want(A + 9 * PAGE, 2 * PAGE);
	check_pass("copy of zeros");

	FX_OK(v.dev, vgpu_chan_copy(ce, VGPU_FB(A + 16 * PAGE), VGPU_SYS(&buf, PAGE), 20 * PAGE));
	fx_finish(ce);
	want(A + 16 * PAGE, 20 * PAGE);
	check_pass("copy from guest memory");

	compute_dispatch_head(gr, COMPUTE_HEAD, A + 40 * PAGE, COMPUTE_ONE, COMPUTE_ONE, 0);
	fx_finish(gr);
	want(A + 40 * PAGE, PAGE);
	check_pass("dispatch");

	signal_at(gr, A + 41 * PAGE, 99);
	fx_finish(gr);
	want(A + 41 * PAGE, PAGE);
	check_pass("signal");

	CHECK_EQ(vgpu_region_write(v.dev, VGPU_HW_BAR_FB, A + 42 * PAGE + 8, &word, 8), 8);
	want(A + 42 * PAGE, PAGE);
	check_pass("trapped write");

	/* Each pass takes the page out of the mapping again; to read it counts, too. */
	for (word = 0; word < 3; word++) {
		fb[A + 43 * PAGE]++;
		want(A + 43 * PAGE, PAGE);
		check_pass("mapping");
	}
	word += fb[A + 50 * PAGE];
	want(A + 50 * PAGE, PAGE);
	check_pass("mapping that is read");
	check_copy("all");
	vgpu_buf_free(&buf);
}

/* Who has got hold of a page may write to it without a mapping: it is in each pass. */
static void held_pages(void)
{
	struct iovec iov;
	unsigned int i;
	int fds[2];

	fx_need("write memory");
	open_all();
	do_control("dirty_start");
	v.dev->fb[A] = 1;
	v.dev->fb[A + PAGE] = 1;
	take_pass();
	check_pass("untouched");
	CHECK(!pipe2(fds, O_CLOEXEC | O_NONBLOCK), "%s", strerror(errno));
	iov = (struct iovec){ v.dev->fb + A, PAGE };
	CHECK_EQ(vmsplice(fds[1], &iov, 1, SPLICE_F_NONBLOCK), PAGE, "%s", strerror(errno));
	for (i = 0; i < 4; i++) {
		want(A, PAGE);
		check_pass("held");
	}
	close(fds[0]);
	close(fds[1]);
	/* It was seen to be held when the last pass took it. */
	want(A, PAGE);
	check_pass("held");
	check_pass("given up");
}

static void reset_drops_all(void)
{
	fx_need("write memory");
	open_all();
	memset(v.dev->fb + A, 1, FX_MIB);
	do_control("dirty_start");
	take_pass();
	memset(v.dev->fb + A, 2, FX_MIB);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(take_pass(), 0);
	CHECK(was_dropped, "");
	memset(copy, 0, sizeof(copy));
	check_copy("reset");
	v.dev->fb[A + PAGE] = 3;
	want(A + PAGE, PAGE);
	check_pass("after a reset");
	check_copy("after a reset");
}

/* A program that keeps its page for long: the pass makes the engine look again. */
static void running_program(void)
{
	uint32_t before, now, is = 0;
	struct vgpu_chan *chan;
	unsigned int i;

	open_all();
	chan = compute_chan(&v);
	load_counter();
	do_control("dirty_start");
	compute_dispatch(chan, COMPUTE_ONE, COMPUTE_ONE, 0);
	FX_SOON(compute_counter(&v, "instructions ") > 0);
	for (i = 0; i < 200; i++) {
		take_pass();
		memcpy(&before, copy + A, sizeof(before));
		do_control("pause");
		take_pass();
		memcpy(&now, copy + A, sizeof(now));
		read_fb(A, &is, sizeof(is));
		CHECK_EQ(now, is, "the last pass had %u", before);
		if (i % 50 == 0)
			check_copy("running program");
		do_control("resume");
	}
	CHECK(is > 0, "");
}

/* Guest memory that answers after the pass. */
static void late_memory(void)
{
	struct vgpu_chan *chan;

	fx_need("execute packets");
	open_all();
	memset(v.dev->fb + FX_MIB, 0xff, 65536);
	do_control("dirty_start");
	chan = silent_stall(&v, 0);
	take_pass();
	take_pass();
	silent_answer();
	fx_finish(chan);
	take_pass();
	CHECK(fx_is_zero(v.dev->fb + FX_MIB, 65536), "");
	take_pass();
	check_copy("late memory");
	fx_close(&v);
	silent_unmap();
}

/**
 * struct writer - a thread that writes beside the engines
 * @trapped: by writes to the device's file, else by the mapping
 */
struct writer {
	pthread_t thread;
	bool trapped;
	atomic_bool stop;
	atomic_uint failed;
	uint64_t seed;
};

static void *writer_run(void *arg)
{
	struct writer *w = arg;
	uint64_t at;

	while (!w->stop) {
		w->seed ^= w->seed << 13;
		w->seed ^= w->seed >> 7;
		w->seed ^= w->seed << 17;
		at = A + w->seed % (2 * SPREAD) / 8 * 8;
		if (!w->trapped)
			*(volatile uint64_t *)(v.dev->fb + at) = w->seed;
		else if (pwrite(v.dev->fd, &w->seed, 8,
				(off_t)(v.dev->region[VGPU_HW_BAR_FB].offset + at)) != 8)
			w->failed++;
		if (w->seed % 64 == 0)
			clk_sleep_ms(1);
	}
	return NULL;
}

static uint64_t random_at(uint64_t bytes)
{
	return A + fx_random_below(2 * SPREAD - bytes) / 4 * 4;
}

/* A random packet of those that write somewhere. */
static void random_packet(struct vgpu_chan *gr, struct vgpu_chan *ce, struct vgpu_buf *buf)
{
	uint64_t bytes = (fx_random_below(100000) + 4) / 4 * 4;
	struct vgpu_loc fb = VGPU_FB(random_at(bytes)), fb2 = VGPU_FB(random_at(bytes));
	struct vgpu_loc sys = VGPU_SYS(buf, fx_random_below(FX_MIB - bytes) / 4 * 4);
	struct vgpu_chan *chan = fx_random_below(2) ? gr : ce;

	switch (fx_random_below(8)) {
	case 0:
		FX_OK(v.dev, vgpu_chan_fill(chan, fb, (uint32_t)fx_random(), bytes));
		break;
	case 1:
		FX_OK(v.dev, vgpu_chan_copy(chan, fb, fb2, bytes));
		break;
	case 2:
		FX_OK(v.dev, vgpu_chan_copy(chan, fb, sys, bytes));
		break;
	case 3:
		FX_OK(v.dev, vgpu_chan_copy(chan, sys, fb, bytes));
		break;
	case 4:
		FX_OK(v.dev, vgpu_chan_copy(chan, sys, VGPU_SYS(buf, 0), bytes));
		break;
	case 5:
		compute_dispatch(gr, COMPUTE_SIZE((uint32_t)fx_random_below(2000) + 1, 1, 1),
				 COMPUTE_SIZE(64, 1, 1), 0);
		break;
	case 6:
		signal_at(chan, random_at(8) / 8 * 8, fx_random());
		break;
	default:
		FX_OK(v.dev, vgpu_chan_present(gr, A, 64, 32, 256));
	}
}

static void no_write_is_lost(void)
{
	unsigned int rounds = (unsigned int)fx_env("VGPU_TEST_ROUNDS", 12), i, k;
	struct vgpu_chan *gr, *ce;
	struct writer writer[2];
	struct vgpu_buf buf;
	uint64_t passes = 0;

	open_all();
	vgpu_chan_destroy(compute_chan(&v));
	v.dev->fb_next = RINGS;
	gr = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 6);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 6);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, FX_MIB, &buf));
	CHECK(v.dev->fb_next <= AREA, "");
	memset(buf.ptr, 0x77, FX_MIB);
	load_scatter();
	do_control("dirty_start");
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 2; k++) {
			writer[k] = (struct writer){ .trapped = k, .seed = fx_random() | 1 };
			CHECK(!pthread_create(&writer[k].thread, NULL, writer_run, &writer[k]),
			      "");
		}
		for (k = 0; k < 150; k++) {
			random_packet(gr, ce, &buf);
			if (fx_random_below(30) == 0) {
				take_pass();
				passes++;
			}
		}
		for (k = 0; k < 2; k++) {
			writer[k].stop = true;
			pthread_join(writer[k].thread, NULL);
			CHECK_EQ(writer[k].failed, 0);
		}
		/* Most of the time there is work left, which the pause interrupts. */
		take_pass();
		do_control("pause");
		take_pass();
		check_copy("random writers");
		do_control("resume");
		if (i % 4 == 3) {
			fx_finish(gr);
			fx_finish(ce);
		}
	}
	fx_finish(gr);
	fx_finish(ce);
	do_control("dirty_stop");
	ktap_note("%llu passes", (unsigned long long)passes);
	vgpu_buf_free(&buf);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(refusals),
	KTAP_TEST(begins_with_all),
	KTAP_TEST(passes_that_are_over),
	KTAP_TEST(each_writer),
	KTAP_TEST(held_pages),
	KTAP_TEST(reset_drops_all),
	KTAP_TEST(running_program),
	KTAP_TEST(late_memory),
	KTAP_TEST(no_write_is_lost),
};

KTAP_MAIN(tests, fx_cleanup)
