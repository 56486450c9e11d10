// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection (inject.h) into what a migration is made of: a state that is saved and built anew
 * (debugfs file reload), and pages that are noted as written (dirty_*). What fails leaves the vGPU
 * as it was, but for one case: if there is no memory to build its state, it has been reset.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"
#include "inject.h"

#define DEBUGFS		"/sys/kernel/debug/vgpu"
#define PAGE		4096u
#define ITEMS		64
#define ROUNDS		2000
#define RUNS		16	/* of pages that are written */
#define NR_REGS		(VGPU_HW_CHAN_STRIDE / 4)

static struct fx_vgpu v;
static struct vgpu_chan *gr, *ce;

static int open_file(const char *file)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "/%s/%s", fx_gpu(), file);
	fd = open(path, (strcmp(file, "dirty_pass") ? O_WRONLY : O_RDWR) | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static int control_fd(int fd)
{
	return write(fd, v.uuid, strlen(v.uuid)) == (ssize_t)strlen(v.uuid) ? 0 : -errno;
}

static int control(const char *file)
{
	int fd = open_file(file), ret = control_fd(fd);

	close(fd);
	return ret;
}

static void do_control(const char *file)
{
	int ret = control(file);

	CHECK(!ret, "%s: %s", file, strerror(-ret));
}

/* User copies fail, too. */
static void check_error(int ret, bool hit)
{
	CHECK(!ret || (hit && (ret == -ENOMEM || ret == -EFAULT)), "%s", strerror(-ret));
}

/* Reload */

static uint32_t regs[2][NR_REGS], now[2][NR_REGS];
static uint64_t resets;
static unsigned int kept, lost;
static bool ready;
static int reload_fd;

static void read_regs(uint32_t (*to)[NR_REGS])
{
	struct vgpu_chan *chans[2] = { gr, ce };
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < NR_REGS; k++)
			if (vgpu_reg_read32(v.dev, VGPU_HW_CHAN_BASE +
					    chans[i]->id * VGPU_HW_CHAN_STRIDE + 4 * k, &to[i][k]))
				to[i][k] = ~0u;
}

static uint64_t count_resets(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.resets;
}

static void go_on(uint32_t on)
{
	((volatile uint32_t *)(v.dev->fb + COMPUTE_OUT))[1] = htole32(on);
}

/*
 * A paused vGPU with a dispatch that has begun: each work-item adds up the numbers from ROUNDS down
 * on its stack, and waits for go_on() before it tells the sum; and with a FILL that nobody has
 * looked at.
 */
static void reload_prepare(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 3),
		RV_LW(RV_A4, 0, RV_A0), RV_SD(RV_ZERO, -16, RV_SP),
		RV_LD(RV_T1, -16, RV_SP), RV_ADD(RV_T1, RV_T1, RV_A4), RV_SD(RV_T1, -16, RV_SP),
		RV_ADDI(RV_A4, RV_A4, -1), RV_BNE(RV_A4, RV_ZERO, -16),
		RV_LW(RV_A4, 4, RV_A0), RV_BEQ(RV_A4, RV_ZERO, -4),
		RV_ADD(RV_A0, RV_A0, RV_T0), RV_SD(RV_T1, 8, RV_A0), RV_RET,
	};
	uint64_t from = v.dev->fb_next, before;

	if (ready)
		return;
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	gr = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	vgpu_fb_release(v.dev, from);
	COMPUTE_LOAD(&v, words);
	*(uint32_t *)(v.dev->fb + COMPUTE_OUT) = htole32(ROUNDS);
	go_on(0);
	before = compute_counter(&v, "instructions ");
	compute_dispatch(gr, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 64);
	FX_SOON(compute_counter(&v, "instructions ") > before);
	do_control("pause");
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(2 * INJECT_AT), 0x12345678, PAGE));
	read_regs(regs);
	resets = count_resets();
	ready = true;
}

static int reload_run(void)
{
	return control_fd(reload_fd);
}

/* What was begun goes on, and its results are right. */
static void reload_finish(void)
{
	const uint64_t *out = (const void *)(v.dev->fb + COMPUTE_OUT);
	unsigned int i;

	go_on(1);
	do_control("resume");
	fx_finish(gr);
	fx_finish(ce);
	for (i = 0; i < ITEMS; i++)
		CHECK_EQ(le64toh(out[1 + i]), ROUNDS * (ROUNDS + 1ull) / 2, "%u", i);
	fx_check_words(v.dev->fb + 2 * INJECT_AT, PAGE, 0x12345678);
}

static void reload_end(void)
{
	vgpu_chan_destroy(gr);
	vgpu_chan_destroy(ce);
	inject_full_run(&v);
	ready = false;
}

static bool reload_was_reset(void)
{
	static uint8_t head[PAGE];

	read_regs(now);
	CHECK_EQ(count_resets(), resets, "a reset was counted");
	if (now[0][VGPU_HW_CHAN_CTRL / 4]) {
		CHECK(!memcmp(regs, now, sizeof(regs)), "registers differ");
		return false;
	}
	CHECK_EQ(fx_backed_bytes(&v), 0);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_FB, COMPUTE_HEAD, head, PAGE), PAGE);
	CHECK(fx_is_zero(head, PAGE), "memory is left");
	return true;
}

static void reload_check(int ret, bool hit)
{
	check_error(ret, hit);
	if (reload_was_reset()) {
		CHECK_EQ(ret, -ENOMEM);
		lost++;
		/* It is paused as before. */
		do_control("resume");
		CHECK_EQ(control("resume"), -EINVAL);
		reload_end();
		return;
	}
	kept += ret != 0;
	if (hit && fx_random_below(8))
		return;
	reload_finish();
	reload_end();
}

static void reload(void)
{
	static const struct inject_op op = {
		"reload", reload_prepare, reload_run, reload_check,
	};
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;

	inject_need();
	compute_chan(&v);
	reload_fd = open_file("reload");
	/* Where not each N could be tried, all that were may have been of one kind. */
	do
		inject(&op);
	while (!(kept && lost) && clk_ms() < end);
	close(reload_fd);
	ktap_note("%u failures kept the state, %u lost it", kept, lost);
	CHECK(kept && lost, "");
}

/* Dirty pages */

static int dirty_fd;
static char pass[4096];
static size_t pass_bytes;

static void start_prepare(void)
{
	control("dirty_stop");
	v.dev->fb[INJECT_AT] = 1;
}

static int start_run(void)
{
	return control_fd(dirty_fd);
}

static void start_check(int ret, bool hit)
{
	check_error(ret, hit);
	CHECK_EQ(control("dirty_pass"), ret ? -EINVAL : 0);
	if (ret)
		do_control("dirty_start");
	v.dev->fb[INJECT_AT + PAGE]++;
	CHECK_EQ(control("dirty_start"), -EBUSY);
}

/* Reads on from where the last call has failed. */
static int read_pass(void)
{
	ssize_t n;

	do {
		CHECK(pass_bytes < sizeof(pass) - 1, "%s", pass);
		n = read(dirty_fd, pass + pass_bytes, sizeof(pass) - 1 - pass_bytes);
		if (n > 0)
			pass_bytes += (size_t)n;
	} while (n > 0);
	return n ? -errno : 0;
}

static void open_pass(void)
{
	dirty_fd = open_file("dirty_pass");
	memset(pass, 0, sizeof(pass));
	pass_bytes = 0;
}

static void pass_prepare(void)
{
	unsigned int i;

	for (i = 0; i < RUNS; i++)
		v.dev->fb[INJECT_AT + 2 * i * PAGE]++;
	open_pass();
}

static int pass_run(void)
{
	return control_fd(dirty_fd) ?: read_pass();
}

/* All of the pass can be read, however often that has failed. */
static void pass_check(int ret, bool hit)
{
	unsigned long long first, last, pages = 0;
	unsigned int runs = 0;
	char *line, *end;
	int n;

	check_error(ret, hit);
	CHECK_EQ(read_pass(), 0);
	if (!pass_bytes) {	/* the write has failed, and taken no pass */
		CHECK(ret, "");
		CHECK_EQ(control_fd(dirty_fd), 0);
	}
	CHECK_EQ(read_pass(), 0);
	close(dirty_fd);
	for (line = pass; *line; line = end + 1) {
		end = strchr(line, '\n');
		CHECK(end, "%s", pass);
		if (line == pass) {
			n = sscanf(line, "pages %llu", &pages);
			CHECK_EQ(n, 1, "%s", line);
			continue;
		}
		n = sscanf(line, "%llu..%llu", &first, &last);
		CHECK_EQ(n, 2, "%s", line);
		CHECK_EQ(first, INJECT_AT / PAGE + 2 * runs, "%s", pass);
		CHECK_EQ(last, first, "%s", pass);
		runs++;
	}
	CHECK_EQ(runs, RUNS);
	CHECK_EQ(pages, RUNS);
}

static void dirty_pages(void)
{
	static const struct inject_op start = {
		"dirty_start", start_prepare, start_run, start_check,
	}, read = {
		"dirty_pass", pass_prepare, pass_run, pass_check,
	};

	inject_need();
	fx_create_open(&v, "1Q");
	dirty_fd = open_file("dirty_start");
	inject(&start);
	close(dirty_fd);
	/* What is not read of a pass is in the next one. */
	open_pass();
	CHECK_EQ(pass_run(), 0);
	close(dirty_fd);
	inject(&read);
	inject_full_run(&v);
	do_control("dirty_stop");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(reload),
	KTAP_TEST(dirty_pages),
};

INJECT_MAIN(tests)
