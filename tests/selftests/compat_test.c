// SPDX-License-Identifier: GPL-2.0
/*
 * What a vGPU is for a move, and whether it can take over another one's state: what is told before
 * a move is what the move itself says.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "event.h"
#include "hop.h"
#include "vga.h"

#define PAGE		4096
#define HEAD		16	/* bytes of a frame's head in a stream */
#define ABOUT		sizeof(struct vgpu_stream_about)

static struct fx_vgpu v, other;

/* The arguments of a call about the vGPU, or if it is NULL the type of that index. */
static struct vgpu_ctl_migration question(const struct fx_vgpu *of, uint32_t type)
{
	struct vgpu_ctl_migration call = {
		.size = sizeof(call),
		.flags = of ? 0 : VGPU_MIGRATION_OF_TYPE,
		.gpu = of ? 77 : fx_gpu_id(),
		.type_index = of ? 77 : type,
	};

	if (of)
		memcpy(call.uuid, of->id, sizeof(call.uuid));
	return call;
}

static int ask(const struct fx_vgpu *of, uint32_t type, struct vgpu_stream_about *about,
	       struct vgpu_ctl_migration *call)
{
	*call = question(of, type);
	call->about = (uintptr_t)about;
	call->about_bytes = sizeof(*about);
	memset(about, 0xee, sizeof(*about));
	return ioctl(fx_control(), VGPU_IOC_MIGRATION, call) ? -errno : 0;
}

static void about(const struct fx_vgpu *of, struct vgpu_stream_about *to)
{
	struct vgpu_ctl_migration call;

	CHECK_EQ(ask(of, 0, to, &call), 0);
	CHECK_EQ(call.about_bytes, ABOUT);
	CHECK_EQ(call.gpu, fx_gpu_id());
	CHECK_EQ(call.can, VGPU_MIGRATION_STOP_COPY | VGPU_MIGRATION_PRE_COPY);
	CHECK(call.reads_from && call.reads_from <= call.reads_to && call.writes == call.reads_to,
	      "versions %u, %u to %u", call.writes, call.reads_from, call.reads_to);
}

static struct vgpu_ctl_migration_check check;

/* Does the vGPU, or the type, fit @bytes at @theirs? Returns a negative errno, or 0 or 1. */
static int fits(const struct fx_vgpu *of, uint32_t type, const void *theirs, uint32_t bytes)
{
	const struct vgpu_ctl_migration call = question(of, type);
	int ret;

	memset(&check, 0, sizeof(check));
	check.size = sizeof(check);
	check.flags = call.flags;
	memcpy(check.uuid, call.uuid, sizeof(check.uuid));
	check.gpu = call.gpu;
	check.type_index = call.type_index;
	check.about = (uintptr_t)theirs;
	check.about_bytes = bytes;
	memset(check.text, 0xee, sizeof(check.text));
	ret = ioctl(fx_control(), VGPU_IOC_MIGRATION_CHECK, &check) ? -errno : (int)check.fits;
	CHECK(memchr(check.text, 0, sizeof(check.text)), "a text without an end");
	CHECK_EQ(!check.text[0], ret != 0, "%s", check.text);
	return ret;
}

/* The stream of a vGPU begins with what the call has told, whether it was open then or not. */
static void as_in_the_stream(void)
{
	static struct hop_stream stream;
	struct vgpu_stream_about closed, open;

	fx_need("move");
	fx_create(&v, fx_default_type());
	about(&v, &closed);
	fx_open(&v);
	about(&v, &open);
	CHECK(!memcmp(&closed, &open, ABOUT), "open, it is another one");
	stream.nr = 0;
	hop_save(&v, 0, &stream);
	CHECK(stream.nr > HEAD + ABOUT, "%zu", stream.nr);
	CHECK(!memcmp(stream.bytes + HEAD, &open, ABOUT), "the stream has another one");
	CHECK_EQ(fits(&v, 0, stream.bytes + HEAD, ABOUT), 1);
	hop_stream_free(&stream);
}

/* A setting of VGA counts from the next open on. */
static void vga_card(void)
{
	struct vgpu_stream_about was, is;

	fx_need("move");
	fx_create(&v, "1Q");
	about(&v, &was);
	CHECK_EQ(was.vga, 0);
	fx_create(&other, "1B");
	about(&other, &is);
	CHECK_EQ(is.vga, 1);
	vga_set(&v, "1");
	about(&v, &is);
	CHECK_EQ(is.vga, 1);
	CHECK_EQ(fits(&v, 0, &was, ABOUT), 0);
	CHECK(strstr((char *)check.text, "VGA is 0 there, 1 here"), "%s", check.text);
	fx_open(&v);
	vga_set(&v, "0");
	about(&v, &is);
	CHECK_EQ(is.vga, 1);
	fx_close(&v);
	about(&v, &is);
	CHECK(!memcmp(&was, &is, ABOUT), "it is not what it was");
}

/* Each of the types is what its vGPUs are; none fits another one's. */
static void types(void)
{
	struct vgpu_stream_about mine, all[64];
	struct vgpu_ctl_migration call;
	uint32_t nr, i, k;

	fx_need("move");
	for (nr = 0; nr < 64 && !ask(NULL, nr, &all[nr], &call); nr++) {
		CHECK_EQ(call.type_index, nr);
		CHECK_EQ(all[nr].vga, VGPU_STREAM_VGA_ANY);
	}
	CHECK(nr > 3, "%u types", nr);
	CHECK_EQ(ask(NULL, nr, &mine, &call), -ENOENT);
	CHECK_EQ(ask(NULL, ~0u, &mine, &call), -ENOENT);
	for (i = 0; i < nr; i++)
		for (k = 0; k < nr; k++)
			CHECK_EQ(fits(NULL, i, &all[k], ABOUT), i == k, "%u, %u", i, k);
	CHECK_EQ(fits(NULL, nr, &all[0], ABOUT), -ENOENT);

	fx_create(&v, "1Q");
	CHECK_EQ(ask(&v, 0, &mine, &call), 0);
	CHECK(call.type_index < nr, "type %u", call.type_index);
	CHECK_EQ(fits(NULL, call.type_index, &mine, ABOUT), 1);
	/* What a type's vGPUs may be either is not what this one is. */
	CHECK_EQ(fits(&v, 0, &all[call.type_index], ABOUT), 0);
	all[call.type_index].vga = mine.vga;
	CHECK(!memcmp(&all[call.type_index], &mine, ABOUT), "not as its type says");
}

/* What the move would refuse is refused, and the move says the same. */
static void as_the_move_says(void)
{
	static struct hop_stream stream;
	struct vgpu_stream_about a, b;
	unsigned int at;
	int data;

	fx_need("move");
	fx_create_open(&v, "1Q");
	stream.nr = 0;
	hop_save(&v, 0, &stream);
	memcpy(&a, stream.bytes + HEAD, ABOUT);
	hop_create_beside(&other, "2Q", &v);
	CHECK_EQ(fits(&other, 0, &a, ABOUT), 0);
	CHECK(strstr((char *)check.text, "type is ") && strstr((char *)check.text, "-1Q there"),
	      "%s", check.text);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, false), -EINVAL);
	close(data);
	hop_stream_free(&stream);
	/* The version of the driver that has made it is the only byte that may be any. */
	for (at = 0; at < ABOUT; at++) {
		b = a;
		((uint8_t *)&b)[at] ^= 0x80;
		if (at - offsetof(struct vgpu_stream_about, version) < sizeof(b.version))
			CHECK_EQ(fits(&v, 0, &b, ABOUT), 1, "byte %u", at);
		else if (at < offsetof(struct vgpu_stream_about, engine[2]))
			CHECK_EQ(fits(&v, 0, &b, ABOUT), 0, "byte %u", at);
	}
}

/* Room and lengths of any size, and pointers to nowhere. */
static void rooms(void)
{
	static uint8_t large[4 * ABOUT], got[2 * ABOUT];
	struct vgpu_ctl_migration call;
	unsigned int room, i;

	fx_need("move");
	fx_create(&v, fx_default_type());
	CHECK_EQ(ask(&v, 0, (void *)large, &call), 0);
	for (room = 0; room < sizeof(got); room++) {
		call = question(&v, 0);
		call.about = (uintptr_t)got;
		call.about_bytes = room;
		memset(got, 0xdd, sizeof(got));
		CHECK(!ioctl(fx_control(), VGPU_IOC_MIGRATION, &call), "%u", room);
		CHECK_EQ(call.about_bytes, ABOUT);
		CHECK(!memcmp(got, large, room < ABOUT ? room : ABOUT), "%u", room);
		for (i = room < ABOUT ? room : ABOUT; i < sizeof(got); i++)
			CHECK_EQ(got[i], 0xdd, "%u of %u", i, room);
	}
	call = question(&v, 0);
	call.about_bytes = ABOUT;
	CHECK(ioctl(fx_control(), VGPU_IOC_MIGRATION, &call) && errno == EFAULT, "nowhere");
	call.pad = 1;
	CHECK(ioctl(fx_control(), VGPU_IOC_MIGRATION, &call) && errno == EINVAL, "pad");

	for (i = 0; i < ABOUT; i++)
		CHECK_EQ(fits(&v, 0, large, i), 0, "%u bytes", i);
	CHECK(strstr((char *)check.text, "not the state of a vGPU"), "%s", check.text);
	memset(large + ABOUT, 0xee, sizeof(large) - ABOUT);
	CHECK_EQ(fits(&v, 0, large, sizeof(large)), 1, "of a later version");
	CHECK_EQ(fits(&v, 0, NULL, ABOUT), -EFAULT);
	CHECK_EQ(fits(&v, 0, large, (1 << 20) + 1), -E2BIG);
	CHECK_EQ(fits(&v, 0, large, ~0u), -E2BIG);
}

static void what_is_not_there(void)
{
	struct vgpu_ctl_migration call = question(NULL, 0);
	struct vgpu_stream_about a;

	fx_need("move");
	fx_create(&v, fx_default_type());
	about(&v, &a);
	call.gpu = 0x7fffffff;
	CHECK(ioctl(fx_control(), VGPU_IOC_MIGRATION, &call) && errno == ENODEV, "GPU");
	v.id[0] ^= 0xff;
	CHECK_EQ(fits(&v, 0, &a, ABOUT), -ENODEV);
	CHECK_EQ(ask(&v, 0, &a, &call), -ENODEV);
	v.id[0] ^= 0xff;
}

static void phase_is(const struct fx_vgpu *of, uint32_t move, uint64_t bytes, uint64_t left)
{
	struct vgpu_ctl_instance inst;

	fx_instance(of, &inst);
	CHECK_EQ(inst.move, move);
	CHECK_EQ(inst.move_bytes, bytes);
	CHECK_EQ(inst.move_left_bytes, left);
	CHECK_EQ(inst.move_pad, 0);
	CHECK_EQ(inst.move_ns != 0, move != VGPU_MOVE_NONE);
}

/* The next event is about a move to that phase, at so many bytes of the stream. */
static void phase_event(const struct fx_vgpu *of, uint32_t move, uint32_t was, uint64_t bytes)
{
	struct vgpu_ctl_event event;

	event_next(VGPU_EVENT_MOVE, &event);
	CHECK(!memcmp(event.uuid, of->id, sizeof(event.uuid)), "of another vGPU");
	CHECK_EQ(event.a, move);
	CHECK_EQ(event.b, was);
	CHECK_EQ(event.c, bytes);
}

/* A move is told of from its begin to its end, with the bytes that went. */
static void phases(void)
{
	static struct hop_stream stream;
	uint64_t live;
	int data;

	fx_need("move");
	fx_create_open(&v, fx_default_type());
	memset(v.dev->fb, 0x11, 100 * PAGE);
	hop_create_beside(&other, fx_default_type(), &v);
	event_begin();
	phase_is(&v, VGPU_MOVE_NONE, 0, 0);
	stream.nr = 0;
	hop_state(&v, HOP_PRE_COPY, &data);
	phase_event(&v, VGPU_MOVE_SAVING, VGPU_MOVE_NONE, 0);
	hop_read(data, &stream);
	phase_is(&v, VGPU_MOVE_SAVING, stream.nr, 0);
	live = stream.nr;
	memset(v.dev->fb, 0x22, 10 * PAGE);
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	phase_event(&v, VGPU_MOVE_SAVING_STOPPED, VGPU_MOVE_SAVING, live);
	hop_read(data, &stream);
	phase_is(&v, VGPU_MOVE_SAVING_STOPPED, stream.nr, 0);
	CHECK(stream.nr > live + 10 * PAGE, "%zu after %llu", stream.nr,
	      (unsigned long long)live);
	close(data);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	phase_event(&v, VGPU_MOVE_NONE, VGPU_MOVE_SAVING_STOPPED, stream.nr);
	phase_is(&v, VGPU_MOVE_NONE, 0, 0);

	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	phase_event(&other, VGPU_MOVE_LOADING, VGPU_MOVE_NONE, 0);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, true), 0);
	phase_is(&other, VGPU_MOVE_LOADING, stream.nr, 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_RUNNING, NULL);
	phase_event(&other, VGPU_MOVE_NONE, VGPU_MOVE_LOADING, stream.nr);
	phase_is(&other, VGPU_MOVE_NONE, 0, 0);

	/* One that is given up, and one that fails. */
	hop_state(&v, HOP_PRE_COPY, &data);
	phase_event(&v, VGPU_MOVE_SAVING, VGPU_MOVE_NONE, 0);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	phase_event(&v, VGPU_MOVE_NONE, VGPU_MOVE_SAVING, 0);
	close(data);
	hop_state(&v, VFIO_DEVICE_STATE_RESUMING, &data);
	phase_event(&v, VGPU_MOVE_LOADING, VGPU_MOVE_NONE, 0);
	close(data);
	CHECK_EQ(hop_try_state(&v, VFIO_DEVICE_STATE_STOP, NULL), -EINVAL);
	phase_event(&v, VGPU_MOVE_NONE, VGPU_MOVE_LOADING, 0);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	event_cleanup();
	hop_stream_free(&stream);
}

/* What is left goes down to nothing as it is read. */
static void what_is_left(void)
{
	struct vgpu_ctl_instance inst;
	uint64_t left = ~0ull, sum = 0, ns = 0;
	static uint8_t part[PAGE];
	ssize_t n;
	int data;

	fx_need("move");
	fx_create_open(&v, fx_default_type());
	memset(v.dev->fb, 0x11, 300 * PAGE);
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, &data);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.move, VGPU_MOVE_SAVING_STOPPED);
	CHECK(inst.move_left_bytes >= 300 * PAGE, "%llu", inst.move_left_bytes);
	while ((n = read(data, part, sizeof(part))) > 0) {
		sum += n;
		fx_instance(&v, &inst);
		CHECK(inst.move_left_bytes <= left, "more is left");
		CHECK(inst.move_bytes >= sum, "%llu of %llu", inst.move_bytes,
		      (unsigned long long)sum);
		CHECK(inst.move_ns > ns && inst.move_ns < 60000000000, "%llu ns after %llu",
		      inst.move_ns, (unsigned long long)ns);
		left = inst.move_left_bytes;
		ns = inst.move_ns;
	}
	CHECK(!n, "%s", strerror(errno));
	phase_is(&v, VGPU_MOVE_SAVING_STOPPED, sum, 0);
	close(data);
}

/* A back end without state says so, and refuses what another one takes. */
static void as_the_back_end_can(void)
{
	struct vgpu_ctl_migration call;
	struct vgpu_stream_about a;

	fx_create(&v, fx_default_type());
	CHECK_EQ(ask(&v, 0, &a, &call), 0);
	CHECK_EQ(!call.can, !fx_executes());
	CHECK_EQ(fits(&v, 0, &a, ABOUT), fx_executes());
	CHECK(fx_executes() || strstr((char *)check.text, "cannot move"), "%s", check.text);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(as_in_the_stream),
	KTAP_TEST(vga_card),
	KTAP_TEST(types),
	KTAP_TEST(as_the_move_says),
	KTAP_TEST(rooms),
	KTAP_TEST(what_is_not_there),
	KTAP_TEST(phases),
	KTAP_TEST(what_is_left),
	KTAP_TEST(as_the_back_end_can),
};

KTAP_MAIN(tests, fx_cleanup)
