// SPDX-License-Identifier: GPL-2.0
/*
 * A move whose process is at its cgroup's limit, on either side: it fails with ENOMEM, nobody is
 * killed, the source runs on, and the destination is empty and can be used again.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "frames.h"
#include "group.h"
#include "space.h"
#include "sums.h"

/* A group of work-items with 8 MiB of stacks, which are a part of the state meanwhile. */
#define ITEMS		1024u
#define STACK		8192u
#define ROUNDS		20000u
#define LITTLE		(3 * FX_MIB)	/* less than that, and more than the rest takes */
#define BEHIND		(64 * FX_MIB)	/* in the framebuffer: behind all else */
#define MUCH		(32 * FX_MIB)

static struct fx_vgpu other;
static struct hop_stream stream, huge;
static struct vgpu_chan *gr;

static void memory_cleanup(void)
{
	group_leave();
	hop_stream_free(&stream);
	hop_stream_free(&huge);
	space_cleanup();
	group_cleanup();
}

static void begin_dispatch(void)
{
	fx_need_reserve(false);
	gr = sums_begin(&v, ITEMS, STACK, ROUNDS);
}

static void check_dispatch(void)
{
	sums_check(gr, ITEMS, ROUNDS);
}

static void set_limit(const char *limit)
{
	CHECK_EQ(group_write(GROUP_A, "memory.max", limit), 0);
}

/* Whoever saves has no room for the state: he is told, and the vGPU runs on. */
static void saving(void)
{
	int data, i;

	begin_dispatch();
	group_make(GROUP_A, LITTLE);
	for (i = 0; i < 3; i++) {
		hop_state(&v, i ? HOP_PRE_COPY : VFIO_DEVICE_STATE_STOP, i ? &data : NULL);
		if (i)
			hop_read(data, &stream);
		group_enter(GROUP_A);
		CHECK_EQ(hop_try_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL), -ENOMEM, "%d", i);
		group_leave();
		if (i)
			close(data);
		CHECK(hop_get_state(&v) != VFIO_DEVICE_STATE_STOP_COPY, "");
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		CHECK(!sums_over(gr), "the dispatch is over");
	}
	group_check_alive(GROUP_A);
	/* With enough memory the same moves. */
	set_limit("max");
	stream.nr = 0;
	hop_save(&v, 1, &stream);
	CHECK(hop_state_bytes(&stream) > ITEMS * STACK, "%llu",
	      (unsigned long long)hop_state_bytes(&stream));
	hop_create_beside(&other, fx_default_type(), &v);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, false), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	check_dispatch();
}

/* Loads as a member of the group. Returns 0 or a negative errno. */
static int load_in_group(const struct hop_stream *from)
{
	int data, ret;

	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	group_enter(GROUP_A);
	ret = hop_write(data, from->bytes, from->nr, false);
	close(data);
	if (ret)
		CHECK_EQ(hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL), -EINVAL);
	else
		ret = hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	group_leave();
	CHECK_EQ(hop_get_state(&other), ret ? VFIO_DEVICE_STATE_ERROR : VFIO_DEVICE_STATE_STOP);
	return ret;
}

static void reset_other(void)
{
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	CHECK_EQ(fx_backed_bytes(&other), 0);
	CHECK_EQ(hop_get_state(&other), VFIO_DEVICE_STATE_RUNNING);
}

/* A stream with more state than its reader may have: he is told, and pays for no more. */
static void loading_state(void)
{
	static uint8_t part[FX_MIB];
	unsigned int i;

	begin_dispatch();
	hop_save(&v, 0, &stream);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	sums_let_end(gr);
	hop_create_beside(&other, fx_default_type(), &v);
	group_make(GROUP_A, LITTLE);
	CHECK_EQ(load_in_group(&stream), -ENOMEM);
	reset_other();
	/* One that is a hostile peer's: all frames are right, and there is no end of them. */
	frames_copy(&huge, &stream, FRAME_BEGIN, FRAME_FAULTS);
	for (i = 0; i < 64; i++)
		frames_add(&huge, FRAME_STATE, part, sizeof(part));
	frames_seal(&huge);
	CHECK_EQ(load_in_group(&huge), -ENOMEM);
	reset_other();
	group_check_alive(GROUP_A);
	group_wait_below(GROUP_A, LITTLE / 2);
	set_limit("max");
	CHECK_EQ(load_in_group(&stream), 0);
	reset_other();
	check_dispatch();
}

/* Framebuffer is paid for by who has opened the vGPU, whoever writes the stream. */
static void loading_memory(void)
{
	uint64_t before, i;
	int data;

	begin_dispatch();
	for (i = 0; i < MUCH; i += PAGE)
		*(uint64_t *)(v.dev->fb + BEHIND + i) = htole64(i + 1);
	hop_save(&v, 0, &stream);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	sums_let_end(gr);
	group_make(GROUP_A, 4 * MUCH);
	group_enter(GROUP_A);
	hop_create_beside(&other, fx_default_type(), &v);
	group_leave();
	before = group_value(GROUP_A, "memory.current", NULL);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, false), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	CHECK_EQ(fx_backed_bytes(&other), fx_backed_bytes(&v));
	CHECK(group_value(GROUP_A, "memory.current", NULL) >= before + MUCH, "%llu, and %llu",
	      (unsigned long long)group_value(GROUP_A, "memory.current", NULL),
	      (unsigned long long)before);
	reset_other();
	group_wait_below(GROUP_A, before + GROUP_OTHER);

	/* Half of it, and no more. */
	CHECK_EQ(group_write(GROUP_A, "memory.max", "16777216"), 0);
	CHECK_EQ(load_in_group(&stream), -ENOMEM);
	group_check_alive(GROUP_A);
	reset_other();
	group_wait_below(GROUP_A, GROUP_OTHER);
	set_limit("max");
	CHECK_EQ(load_in_group(&stream), 0);
	for (i = 0; i < 16; i++) {
		uint64_t at = PAGE * fx_random_below(MUCH / PAGE), word;

		CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, BEHIND + at, &word, 8), 8);
		CHECK_EQ(le64toh(word), at + 1);
	}
	check_dispatch();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(saving),
	KTAP_TEST(loading_state),
	KTAP_TEST(loading_memory),
};

KTAP_MAIN(tests, memory_cleanup)
