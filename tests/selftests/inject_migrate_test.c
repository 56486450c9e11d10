// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection (inject.h) into a migration: each step from one state to another, and reads and
 * writes of its streams. After each failure the source runs on, and its stream can be read to its
 * end; the destination is empty after a reset.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "compute.h"
#include "hop.h"
#include "inject.h"
#include "space.h"

#define ITEMS	64
#define ROUNDS	20000

static struct fx_vgpu other;
static struct vgpu_chan *gr;
static struct hop_stream stream;
static uint64_t runs;

static const char * const names[] = {
	"ERROR", "STOP", "RUNNING", "STOP_COPY", "RESUMING", "RUNNING_P2P", "PRE_COPY",
	"PRE_COPY_P2P",
};

static void check_results(void)
{
	const uint64_t *out = (const void *)(v.dev->fb + COMPUTE_OUT);
	unsigned int i;

	for (i = 0; i < ITEMS; i++)
		CHECK_EQ(le64toh(out[1 + i]), ROUNDS * (ROUNDS + 1ull) / 2, "%u", i);
	runs++;
}

/* Each work-item adds up the numbers from ROUNDS down on its stack, over and over. */
static void work(void)
{
	static const uint32_t words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 3),
		RV_LW(RV_A4, 0, RV_A0), RV_ADD(RV_A0, RV_A0, RV_T0), RV_SD(RV_ZERO, -16, RV_SP),
		RV_LD(RV_T1, -16, RV_SP), RV_ADD(RV_T1, RV_T1, RV_A4), RV_SD(RV_T1, -16, RV_SP),
		RV_ADDI(RV_A4, RV_A4, -1), RV_BNE(RV_A4, RV_ZERO, -16),
		RV_SD(RV_T1, 8, RV_A0), RV_RET,
	};
	uint64_t *out;

	CHECK(!gr || vgpu_chan_state(gr) != VGPU_HW_STATE_FAULTED, "");
	if (gr && vgpu_chan_get(gr) != le64toh(gr->page->put))
		return;
	if (gr) {
		check_results();
	} else {
		gr = compute_chan(&v);
		COMPUTE_LOAD(&v, words);
	}
	out = (uint64_t *)(v.dev->fb + COMPUTE_OUT);
	memset(out, 0, (ITEMS + 1) * 8);
	*(uint32_t *)out = htole32(ROUNDS);
	compute_dispatch(gr, COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(ITEMS, 1, 1), 64);
}

static void work_end(void)
{
	fx_finish(gr);
	check_results();
	ktap_note("%llu dispatches", (unsigned long long)runs);
	gr = NULL;
	runs = 0;
	hop_stream_free(&stream);
}

static void check_error(int ret, bool hit)
{
	CHECK(!ret || (hit && (ret == -ENOMEM || ret == -EFAULT)), "%s", strerror(-ret));
}

static void close_stream(int *data)
{
	if (*data >= 0)
		close(*data);
	*data = -1;
}

static bool has_stream(unsigned int state)
{
	return state == VFIO_DEVICE_STATE_STOP_COPY || state == HOP_PRE_COPY ||
	       state == HOP_PRE_COPY_P2P;
}

/* Steps of the source */

static unsigned int from, to;
static int from_data = -1, to_data = -1;

static void arc_prepare(void)
{
	work();
	hop_state(&v, from, has_stream(from) ? &from_data : NULL);
}

static int arc_run(void)
{
	return hop_try_state(&v, to, &to_data);
}

static void arc_check(int ret, bool hit)
{
	struct vgpu_ctl_instance inst;
	unsigned int state = hop_get_state(&v);

	check_error(ret, hit);
	CHECK(state != VFIO_DEVICE_STATE_ERROR, "");
	CHECK(ret || state == to, "%s", names[state]);
	fx_instance(&v, &inst);
	CHECK_EQ(!!(inst.status & VGPU_INSTANCE_PAUSED),
		 state != VFIO_DEVICE_STATE_RUNNING && state != HOP_PRE_COPY, "%s", names[state]);
	close_stream(&from_data);
	close_stream(&to_data);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	work();
}

static void steps(void)
{
	static const struct { unsigned int from, to; } arcs[] = {
		{ VFIO_DEVICE_STATE_RUNNING, VFIO_DEVICE_STATE_RUNNING_P2P },
		{ VFIO_DEVICE_STATE_RUNNING, VFIO_DEVICE_STATE_STOP_COPY },
		{ VFIO_DEVICE_STATE_RUNNING, HOP_PRE_COPY },
		{ VFIO_DEVICE_STATE_RUNNING_P2P, VFIO_DEVICE_STATE_STOP },
		{ VFIO_DEVICE_STATE_RUNNING_P2P, HOP_PRE_COPY_P2P },
		{ VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_STOP_COPY },
		{ VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_RUNNING },
		{ HOP_PRE_COPY, HOP_PRE_COPY_P2P },
		{ HOP_PRE_COPY, VFIO_DEVICE_STATE_STOP_COPY },
		{ HOP_PRE_COPY, VFIO_DEVICE_STATE_RUNNING },
		{ HOP_PRE_COPY_P2P, HOP_PRE_COPY },
		{ HOP_PRE_COPY_P2P, VFIO_DEVICE_STATE_RUNNING_P2P },
		{ HOP_PRE_COPY_P2P, VFIO_DEVICE_STATE_STOP_COPY },
		{ VFIO_DEVICE_STATE_STOP_COPY, VFIO_DEVICE_STATE_STOP },
		{ VFIO_DEVICE_STATE_STOP_COPY, VFIO_DEVICE_STATE_RUNNING },
	};
	static char name[64];
	static const struct inject_op op = { name, arc_prepare, arc_run, arc_check };
	unsigned int i;

	inject_need();
	for (i = 0; i < sizeof(arcs) / sizeof(arcs[0]); i++) {
		from = arcs[i].from;
		to = arcs[i].to;
		snprintf(name, sizeof(name), "%s to %s", names[from], names[to]);
		inject(&op);
	}
	work_end();
}

/* The stream that is read */

/* All that there is for now. Returns 0 or a negative errno; the rest can be read all the same. */
static int read_some(void)
{
	static uint8_t bytes[FX_MIB];
	ssize_t n;

	while ((n = read(from_data, bytes, 1 + fx_random_below(sizeof(bytes)))) > 0) {
		CHECK(stream.room - stream.nr >= (size_t)n, "%zu", stream.nr);
		memcpy(stream.bytes + stream.nr, bytes, (size_t)n);
		stream.nr += (size_t)n;
	}
	return n < 0 && errno != ENOMSG ? -errno : 0;
}

static void read_prepare(void)
{
	work();
	stream.nr = 0;
	hop_state(&v, from, &from_data);
}

static int read_run(void)
{
	struct hop_precopy_info info = { .argsz = sizeof(info) };

	if (from == HOP_PRE_COPY && ioctl(from_data, HOP_GET_PRECOPY_INFO, &info))
		return -errno;
	return read_some();
}

/* What was read before the failure and what is read after it is one good stream. */
static void read_check(int ret, bool hit)
{
	int data;

	check_error(ret, hit);
	CHECK_EQ(read_some(), 0);
	if (from == HOP_PRE_COPY) {
		hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
		CHECK_EQ(read_some(), 0);
	}
	close_stream(&from_data);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, false), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
}

static void begin_streams(void)
{
	inject_need();
	work();
	hop_save(&v, 0, &stream);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	hop_create_beside(&other, fx_default_type(), &v);
}

static void reads(void)
{
	static const struct inject_op copy = {
		"read in PRE_COPY", read_prepare, read_run, read_check,
	}, stop = {
		"read in STOP_COPY", read_prepare, read_run, read_check,
	};

	begin_streams();
	from = HOP_PRE_COPY;
	inject(&copy);
	from = VFIO_DEVICE_STATE_STOP_COPY;
	inject(&stop);
	work_end();
}

/* The destination */

static const uint8_t mark[4096] = { 1, 2, 3 };

/* A state of its own, which it loses by a stream, and by nothing else. */
static void resume_prepare(void)
{
	work();
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	CHECK_EQ(vgpu_region_write(other.dev, VGPU_HW_BAR_FB, INJECT_AT, mark, sizeof(mark)),
		 (ssize_t)sizeof(mark));
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
}

static int resume_run(void)
{
	return hop_try_state(&other, VFIO_DEVICE_STATE_RESUMING, &to_data);
}

static void resume_check(int ret, bool hit)
{
	bool began = hop_get_state(&other) == VFIO_DEVICE_STATE_RESUMING;

	check_error(ret, hit);
	CHECK(ret || began, "");
	CHECK_EQ(fx_backed_bytes(&other), began ? 0 : sizeof(mark));
	close_stream(&to_data);
}

static void write_prepare(void)
{
	work();
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &to_data);
}

static int write_run(void)
{
	return hop_write(to_data, stream.bytes, stream.nr, true);
}

/* The vGPU has taken all of the state, or nothing, and says which. */
static void taken_or_not(int ret)
{
	if (hop_get_state(&other) == VFIO_DEVICE_STATE_RESUMING) {
		close_stream(&to_data);
		ret = hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	}
	CHECK_EQ(hop_get_state(&other), ret && ret != -EFAULT ? VFIO_DEVICE_STATE_ERROR :
		 VFIO_DEVICE_STATE_STOP, "%s", strerror(-ret));
	if (hop_get_state(&other) == VFIO_DEVICE_STATE_ERROR)
		CHECK_EQ(fx_backed_bytes(&other), 0);
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	CHECK_EQ(fx_backed_bytes(&other), 0);
	CHECK_EQ(hop_get_state(&other), VFIO_DEVICE_STATE_RUNNING);
}

static void write_check(int ret, bool hit)
{
	check_error(ret, hit);
	/* An error of memory stays; after one of the user's, the rest could be written. */
	close_stream(&to_data);
	CHECK_EQ(hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL), ret ? -EINVAL : 0);
	taken_or_not(ret ? -EINVAL : 0);
}

static void finish_prepare(void)
{
	write_prepare();
	CHECK_EQ(write_run(), 0);
	close_stream(&to_data);
}

static int finish_run(void)
{
	return hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
}

static void finish_check(int ret, bool hit)
{
	check_error(ret, hit);
	taken_or_not(ret);
}

static void writes(void)
{
	static const struct inject_op resume = {
		"STOP to RESUMING", resume_prepare, resume_run, resume_check,
	}, write = {
		"write", write_prepare, write_run, write_check,
	}, finish = {
		"RESUMING to STOP", finish_prepare, finish_run, finish_check,
	};

	begin_streams();
	inject(&resume);
	inject(&write);
	inject(&finish);
	work_end();
	/* And it can be used. */
	hop(&v, 1);
	inject_full_run(&v);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(steps),
	KTAP_TEST(reads),
	KTAP_TEST(writes),
};

INJECT_MAIN(tests)
