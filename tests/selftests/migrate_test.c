// SPDX-License-Identifier: GPL-2.0
/*
 * Migration of a vGPU into another one of the same GPU, through VFIO: its states, and work that
 * goes on at random moments of a move.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "compute.h"
#include "hop.h"
#include "moving.h"
#include "space.h"

/* The state of a vGPU without a dispatch is smaller, that of one with a warp is larger. */
#define STATE_RUNNING	3000

static struct fx_vgpu other;

static bool step(void)
{
	uint64_t bytes = hop(&v, fx_random_below(3));

	clk_sleep_ms(fx_random_below(3));
	return bytes > STATE_RUNNING;
}

static void pause_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
}

static void resume_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
}

static const struct moving how = { step, pause_vgpu, resume_vgpu };

static void barriers_and_reservations(void)
{
	moving_barriers(&how, 60);
}

static void several_channels(void)
{
	moving_channels(&how, 60);
}

static void text_that_was_overwritten(void)
{
	moving_text(&how);
}

static void signals_are_written_once(void)
{
	moving_signals(&how, 60);
}

/* Function level reset, as the guest does it. */
static void flr(struct fx_vgpu *vgpu)
{
	unsigned int cap = fx_find_cap(vgpu, PCI_CAP_ID_EXP);
	uint16_t control;

	FX_OK(vgpu->dev, vgpu_config_read(vgpu->dev, cap + PCI_EXP_DEVCTL, &control, 2));
	control |= htole16(PCI_EXP_DEVCTL_BCR_FLR);
	FX_OK(vgpu->dev, vgpu_config_write(vgpu->dev, cap + PCI_EXP_DEVCTL, &control, 2));
	control = htole16(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	FX_OK(vgpu->dev, vgpu_config_write(vgpu->dev, PCI_COMMAND, &control, 2));
}

#define STATES	8

static const char * const names[STATES] = {
	"ERROR", "STOP", "RUNNING", "STOP_COPY", "RESUMING", "RUNNING_P2P", "PRE_COPY",
	"PRE_COPY_P2P",
};

static bool is_paused(const struct fx_vgpu *vgpu)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	return inst.status & VGPU_INSTANCE_PAUSED;
}

/* A stream of a state where there is one, or -1. */
static int state_of(unsigned int state)
{
	bool stream = state == VFIO_DEVICE_STATE_STOP_COPY || state == HOP_PRE_COPY ||
		      state == HOP_PRE_COPY_P2P || state == VFIO_DEVICE_STATE_RESUMING;
	int data = -1;

	hop_state(&v, state, stream ? &data : NULL);
	CHECK_EQ(hop_get_state(&v), state);
	return data;
}

/*
 * From each state to each other. VFIO refuses ERROR as a target, and ways on which a stream would
 * be opened and not be returned.
 */
static void states(void)
{
	static const bool refused[STATES][STATES] = {
		[VFIO_DEVICE_STATE_STOP_COPY] = {
			[HOP_PRE_COPY] = true, [HOP_PRE_COPY_P2P] = true,
		},
	};
	unsigned int from, to;
	int data, next, ret;

	fx_create_open(&v, fx_default_type());
	for (from = 1; from < STATES; from++) {
		for (to = 0; to < STATES; to++) {
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
			CHECK_EQ(hop_get_state(&v), VFIO_DEVICE_STATE_RUNNING);
			data = state_of(from);
			CHECK_EQ(is_paused(&v), from != VFIO_DEVICE_STATE_RUNNING &&
				 from != HOP_PRE_COPY, "%s", names[from]);
			ret = hop_try_state(&v, to, &next);
			/* What was loaded is not complete. */
			if (from == VFIO_DEVICE_STATE_RESUMING && to != from && to) {
				CHECK_EQ(ret, -EINVAL, "%s", names[to]);
				CHECK_EQ(hop_get_state(&v), VFIO_DEVICE_STATE_ERROR);
				CHECK_EQ(hop_try_state(&v, VFIO_DEVICE_STATE_RUNNING, &next),
					 -EINVAL);
			} else if (!to || refused[from][to]) {
				CHECK_EQ(ret, -EINVAL, "%s %s", names[from], names[to]);
			} else {
				CHECK_EQ(ret, 0, "%s %s", names[from], names[to]);
				CHECK_EQ(hop_get_state(&v), to, "from %s", names[from]);
			}
			if (next >= 0)
				close(next);
			if (data >= 0)
				close(data);
		}
	}
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(!is_paused(&v), "");
}

/* Who has a stream reads and writes nothing more once the device is out of its state. */
static void streams_end(void)
{
	static struct hop_stream stream;
	struct hop_precopy_info info = { .argsz = sizeof(info) };
	char byte = 0;
	int data, i;

	fx_create_open(&v, fx_default_type());
	for (i = 0; i < 3; i++) {
		hop_state(&v, HOP_PRE_COPY, &data);
		CHECK_EQ(ioctl(data, HOP_GET_PRECOPY_INFO, &info), 0);
		stream.nr = 0;
		hop_read(data, &stream);
		if (i == 0)
			hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		else if (i == 1)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		else
			fx_close(&v);
		CHECK_EQ(read(data, &byte, 1), -1);
		CHECK_EQ(errno, ENODEV);
		CHECK_EQ(ioctl(data, HOP_GET_PRECOPY_INFO, &info), -1);
		CHECK_EQ(errno, EINVAL);
		CHECK_EQ(write(data, &byte, 1), -1);
		CHECK_EQ(errno, EBADF);
		close(data);
	}
	fx_open(&v);
	for (i = 0; i < 3; i++) {
		hop_state(&v, VFIO_DEVICE_STATE_RESUMING, &data);
		CHECK_EQ(write(data, stream.bytes, 100), 100);
		if (i == 0)
			CHECK_EQ(hop_try_state(&v, VFIO_DEVICE_STATE_STOP, NULL), -EINVAL);
		else if (i == 1)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		else
			fx_close(&v);
		CHECK_EQ(write(data, stream.bytes, 1), -1);
		CHECK_EQ(errno, ENODEV);
		close(data);
		if (i < 2)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
	}
	hop_stream_free(&stream);
}

/* Writes a stream to the vGPU, which is to refuse it, and is as new after a reset. */
static void refuses(const uint8_t *bytes, size_t nr, const char *what)
{
	struct vgpu_ctl_instance inst;
	int data, ret;

	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	ret = hop_write(data, bytes, nr, true);
	CHECK(!ret || ret == -EINVAL, "%s: %s", what, strerror(-ret));
	close(data);
	CHECK_EQ(hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL), -EINVAL, "%s", what);
	CHECK_EQ(hop_get_state(&other), VFIO_DEVICE_STATE_ERROR, "%s", what);
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	fx_instance(&other, &inst);
	CHECK_EQ(inst.fb_backed_bytes, 0, "%s", what);
	CHECK(!is_paused(&other), "%s", what);
}

/* Streams that are cut off or have a bit flipped; none leaves anything behind. */
static void bad_streams(void)
{
	static struct hop_stream stream;
	struct vgpu_chan *ce;
	unsigned int i;
	size_t at;
	char what[32];

	fx_need("execute packets");
	fx_create_open(&v, fx_default_type());
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(COMPUTE_OUT), 0x11223344, 65536));
	fx_finish(ce);
	stream.nr = 0;
	hop_save(&v, 0, &stream);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	hop_create_beside(&other, fx_default_type(), &v);
	for (i = 0; i < 40; i++) {
		at = fx_random_below(stream.nr);
		snprintf(what, sizeof(what), "cut off at %zu", at);
		refuses(stream.bytes, at, what);
		snprintf(what, sizeof(what), "byte %zu", at);
		stream.bytes[at] ^= 1 << fx_random_below(8);
		refuses(stream.bytes, stream.nr, what);
		hop_stream_free(&stream);
		hop_save(&v, fx_random_below(2), &stream);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	}
	/* And one that is good, twice: the second time it is too long. */
	stream.bytes = realloc(stream.bytes, 2 * stream.nr);
	CHECK(stream.bytes, "memory");
	memcpy(stream.bytes + stream.nr, stream.bytes, stream.nr);
	refuses(stream.bytes, 2 * stream.nr, "twice");
	hop_stream_free(&stream);
	hop(&v, 1);
	fx_check_words(v.dev->fb + COMPUTE_OUT, 65536, 0x11223344);
}

/* A vGPU of another type, and one that is a VGA card. */
static void other_vgpus(void)
{
	static struct hop_stream stream;

	fx_create_open(&v, "1Q");
	stream.nr = 0;
	hop_save(&v, 0, &stream);
	hop_create_beside(&other, "1B", &v);
	refuses(stream.bytes, stream.nr, "1B");
	fx_cleanup();
	fx_create_open(&v, "2Q");
	hop_create_beside(&other, "2Q", &v);
	refuses(stream.bytes, stream.nr, "2Q");
	hop_stream_free(&stream);
}

/*
 * What is written is told of, by passes; a reset by the guest in PRE_COPY drops what was sent, and
 * the move goes on.
 */
static void passes_and_resets(void)
{
	static struct hop_stream stream;
	struct hop_precopy_info info = { .argsz = sizeof(info) };
	uint32_t *fb;
	int data;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	fb = (void *)v.dev->fb;
	memset(fb, 0x11, 100 * PAGE);
	stream.nr = 0;
	hop_state(&v, HOP_PRE_COPY, &data);
	CHECK_EQ(ioctl(data, HOP_GET_PRECOPY_INFO, &info), 0);
	CHECK(info.initial_bytes >= 100 * PAGE && info.initial_bytes <= 200 * PAGE, "%llu",
	      (unsigned long long)info.initial_bytes);
	CHECK_EQ(info.dirty_bytes, 0);
	CHECK(hop_data_size(&v) >= 100 * PAGE, "");
	hop_read(data, &stream);
	CHECK(stream.nr >= 100 * PAGE, "%zu", stream.nr);
	memset(fb, 0x22, 10 * PAGE);
	clk_sleep_ms(150);
	CHECK_EQ(ioctl(data, HOP_GET_PRECOPY_INFO, &info), 0);
	CHECK_EQ(info.initial_bytes, 0);
	CHECK_EQ(info.dirty_bytes, 10 * PAGE);
	hop_read(data, &stream);
	flr(&v);
	fb[PAGE] = 0x33;
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	hop_read(data, &stream);
	close(data);

	hop_create_beside(&other, fx_default_type(), &v);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, true), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK_EQ(fx_backed_bytes(&other), fx_backed_bytes(&v));
	hop_stream_free(&stream);
}

#define LIVE_BYTES	(2 * FX_MIB)	/* of the framebuffer, which are written all the time */

/* Reads at most so many bytes, or up to the end of the pass, and appends them. */
static size_t read_on(int data, uint8_t *to, size_t room)
{
	size_t done = 0;
	ssize_t n;

	while (done < room) {
		n = read(data, to + done, room - done);
		CHECK(n >= 0 || errno == ENOMSG, "%s", strerror(errno));
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* What is written in the midst of passes, by processors and engines, arrives. */
static void passes_have_all(void)
{
	static uint8_t bytes[32 * FX_MIB];
	unsigned int turn, i;
	struct vgpu_chan *ce;
	size_t nr = 0;
	int data;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 6);
	for (i = 0; i < LIVE_BYTES / 8; i++)
		((volatile uint64_t *)v.dev->fb)[i] = fx_random();
	hop_state(&v, HOP_PRE_COPY, &data);
	for (turn = 0; turn < 40; turn++) {
		nr += read_on(data, bytes + nr, 1 + fx_random_below(LIVE_BYTES / 8));
		for (i = 0; i < 10; i++) {
			uint64_t page = fx_random_below(LIVE_BYTES / PAGE) * PAGE;

			if (i % 2)
				FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(page), turn, 8));
			else
				memset((uint8_t *)v.dev->fb + page + 8, (int)turn, 8);
		}
		if (turn % 8 == 7) {
			nr += read_on(data, bytes + nr, sizeof(bytes) - nr);
			clk_sleep_ms(110);
		}
	}
	fx_finish(ce);
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	nr += read_on(data, bytes + nr, sizeof(bytes) - nr);
	CHECK(nr < sizeof(bytes), "");
	close(data);
	ktap_note("%zu KiB of %llu", nr / 1024, (unsigned long long)LIVE_BYTES / 1024);
	CHECK(nr > LIVE_BYTES * 5 / 4, "nothing was sent again");

	hop_create_beside(&other, fx_default_type(), &v);
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, bytes, nr, true), 0);
	close(data);
	hop_state(&other, VFIO_DEVICE_STATE_STOP, NULL);
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, 0, bytes, LIVE_BYTES), LIVE_BYTES);
	CHECK(!memcmp(bytes, (void *)v.dev->fb, LIVE_BYTES), "");
}

static uint64_t precopy_bytes(int data, bool *initial)
{
	struct hop_precopy_info info = { .argsz = sizeof(info) };

	CHECK_EQ(ioctl(data, HOP_GET_PRECOPY_INFO, &info), 0);
	CHECK(!info.initial_bytes || !info.dirty_bytes, "");
	*initial = info.initial_bytes;
	return info.initial_bytes + info.dirty_bytes;
}

/* There is an end for now where the driver says that nothing is left, and nowhere else. */
static void precopy_ends(void)
{
	uint8_t bytes[1000];
	uint64_t left, before;
	bool initial;
	ssize_t n;
	int data;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	/* There is something to begin with, even if the vGPU has never done anything. */
	hop_state(&v, HOP_PRE_COPY, &data);
	before = precopy_bytes(data, &initial);
	CHECK(before && initial, "");
	CHECK(hop_data_size(&v) >= before, "");
	memset(v.dev->fb, 1, 5 * PAGE);
	clk_sleep_ms(150);
	for (;;) {
		left = precopy_bytes(data, &initial);
		n = read(data, bytes, sizeof(bytes));
		if (n < 0)
			break;
		CHECK(left && n > 0, "%zd, of %llu", n, (unsigned long long)left);
	}
	CHECK_EQ(errno, ENOMSG);
	CHECK_EQ(precopy_bytes(data, &initial), 0);
	memset(v.dev->fb, 2, 5 * PAGE);
	clk_sleep_ms(150);
	CHECK_EQ(precopy_bytes(data, &initial), 5 * PAGE);
	CHECK(!initial, "");
	CHECK_EQ(read(data, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	before = precopy_bytes(data, &initial);
	CHECK(before > 5 * PAGE - sizeof(bytes) && before < 5 * PAGE + PAGE, "%llu",
	      (unsigned long long)before);
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	while ((n = read(data, bytes, sizeof(bytes))) > 0)
		;
	CHECK_EQ(n, 0);
	CHECK_EQ(read(data, bytes, sizeof(bytes)), 0);
	close(data);
}

/* The pause of a state is ended by the administrator, over the user's head. */
static void pause_ended_by_other(void)
{
	uint8_t bytes[1000];
	int data;

	fx_create_open(&v, fx_default_type());
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
	CHECK_EQ(fx_debugfs(&v, "resume"), 0);
	CHECK_EQ(hop_try_state(&v, VFIO_DEVICE_STATE_STOP_COPY, &data), -EBUSY);
	CHECK_EQ(hop_get_state(&v), VFIO_DEVICE_STATE_STOP);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
	CHECK(is_paused(&v), "");
	CHECK_EQ(fx_debugfs(&v, "resume"), 0);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	/* What goes on while it is saved is in no stream. */
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, &data);
	CHECK_EQ(fx_debugfs(&v, "resume"), 0);
	CHECK(read(data, bytes, sizeof(bytes)) < 0 && errno == EIO, "%s", strerror(errno));
	close(data);
}

/* Nobody hears a vGPU that stands still, not even what it said before; it is told afterwards. */
static void interrupts_wait(void)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_IRQ,
		.vector = htole16(3),
	};
	struct hop_stream stream = {};
	struct vgpu_chan *ce;
	int data;

	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 4));
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, PCI_COMMAND_MASTER));
	FX_OK(v.dev, vgpu_chan_submit(ce, &p, 1));
	FX_OK(v.dev, vgpu_chan_wait_idle(ce, FX_TIMEOUT_MS));
	hop_save(&v, 0, &stream);
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MASTER, 0));
	CHECK_EQ(vgpu_irq_wait(v.dev, 3, 200), -ETIMEDOUT);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK(vgpu_irq_wait(v.dev, 3, FX_TIMEOUT_MS) > 0, "lost");

	hop_state(&v, VFIO_DEVICE_STATE_RESUMING, &data);
	CHECK_EQ(hop_write(data, stream.bytes, stream.nr, false), 0);
	close(data);
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MASTER, 0));
	CHECK_EQ(vgpu_irq_wait(v.dev, 3, 200), -ETIMEDOUT);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK(vgpu_irq_wait(v.dev, 3, FX_TIMEOUT_MS) > 0, "lost, as it was loaded");
	hop_stream_free(&stream);
}

/* A vGPU that is reset while it stands still has no state any more that could be read. */
static void reset_when_stopped(void)
{
	static struct hop_stream stream;
	uint8_t bytes[1000];
	ssize_t n;
	int data, i;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	for (i = 0; i < 3; i++) {
		memset(v.dev->fb, 1, 300 * PAGE);
		hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, &data);
		if (i < 2)
			CHECK_EQ(read(data, bytes, sizeof(bytes)), sizeof(bytes));
		else
			hop_read(data, &stream);
		/* What is complete, is right. */
		if (i != 1)
			flr(&v);
		do
			n = read(data, bytes, sizeof(bytes));
		while (n > 0);
		CHECK_EQ(n, i ? 0 : -1);
		CHECK(i || errno == EIO, "%s", strerror(errno));
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		close(data);
	}
	hop_stream_free(&stream);
}

/* The pages that are written are for one reader. */
static void one_reader(void)
{
	int data;

	fx_need("have a framebuffer that is tracked");
	fx_create_open(&v, fx_default_type());
	hop_state(&v, HOP_PRE_COPY, &data);
	CHECK_EQ(fx_debugfs(&v, "dirty_start"), -EBUSY);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), -EBUSY);
	CHECK_EQ(fx_debugfs(&v, "dirty_stop"), -EBUSY);
	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), -EBUSY);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	close(data);
	CHECK_EQ(fx_debugfs(&v, "dirty_start"), 0);
	CHECK_EQ(hop_try_state(&v, HOP_PRE_COPY, &data), -EBUSY);
	CHECK_EQ(fx_debugfs(&v, "dirty_pass"), 0);
	CHECK_EQ(fx_debugfs(&v, "dirty_stop"), 0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(states),
	KTAP_TEST(reset_when_stopped),
	KTAP_TEST(one_reader),
	KTAP_TEST(precopy_ends),
	KTAP_TEST(pause_ended_by_other),
	KTAP_TEST(interrupts_wait),
	KTAP_TEST(streams_end),
	KTAP_TEST(bad_streams),
	KTAP_TEST(other_vgpus),
	KTAP_TEST(passes_and_resets),
	KTAP_TEST(passes_have_all),
	KTAP_TEST(signals_are_written_once),
	KTAP_TEST(barriers_and_reservations),
	KTAP_TEST(several_channels),
	KTAP_TEST(text_that_was_overwritten),
};

KTAP_MAIN(tests, space_cleanup)
