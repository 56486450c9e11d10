// SPDX-License-Identifier: GPL-2.0
/*
 * Frames are shown at the rate that is set, and other packets of the vGPU do not wait for them. A
 * channel whose frame is held back can be stopped like any other.
 */
#include <endian.h>
#include <string.h>

#include "load.h"
#include "tune.h"

#define GR		VGPU_HW_ENGINE_GR
#define CE		VGPU_HW_ENGINE_CE
#define FRAMES		16384
#define RING_ORDER	10
#define WATCH_NS	2000000000ull
#define LOST_MAX	0.25		/* of the time: more, and a slow rate says nothing */

static struct fx_vgpu v, other;
static struct load hog;

/**
 * struct frame - when a frame was shown
 * @from_ns: the frame was not shown before this time
 * @to_ns:   the frame was shown by this time
 */
struct frame {
	uint64_t from_ns;
	uint64_t to_ns;
};

static struct frame frames[FRAMES];
static struct vgpu_buf signal;
static uint64_t lost_ns;	/* in the last watch(): see there */

/* Queues @nr frames. If signal has been allocated, each writes there when it has been shown. */
static void present(struct vgpu_chan *chan, unsigned int nr)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_PRESENT,
		.flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS,
		.dst = htole64(FX_MIB),
		.present_width = htole32(64),
		.present_height = htole32(64),
		.present_pitch = htole32(256),
		.present_format = htole32(VGPU_HW_FORMAT_XRGB8888),
	};

	for (; nr; nr--) {
		if (!signal.ptr) {
			FX_OK(chan->dev, vgpu_chan_present(chan, FX_MIB, 64, 64, 256));
			continue;
		}
		p.signal_addr = htole64(vgpu_buf_addr(&signal, 0, NULL));
		p.signal_value = htole64(chan->put + 1);
		FX_OK(chan->dev, vgpu_chan_submit(chan, &p, 1));
	}
}

/*
 * Shows as many frames as the vGPU can for a while; returns how many, and how long it took. Frames
 * that are late by less than a period lose no time: what is lost is what this program itself was
 * without a processor beyond that.
 */
static uint64_t watch(struct vgpu_chan *chan, uint64_t for_ns, uint64_t period_ns, double *seconds)
{
	uint64_t start = clk_ns(), before = start, looked, get, nr = 0;
	uint64_t seen = vgpu_chan_get(chan);

	lost_ns = 0;
	do {
		/* A frame that is seen now was not yet shown at the last look. */
		looked = before;
		before = clk_ns();
		if (before - looked > period_ns)
			lost_ns += before - looked - period_ns;
		get = vgpu_chan_get(chan);
		for (; seen < get && nr < FRAMES; seen++) {
			frames[nr].from_ns = looked;
			frames[nr++].to_ns = clk_ns();
		}
		CHECK(vgpu_chan_state(chan) != VGPU_HW_STATE_FAULTED, "%s",
		      vgpu_dev_error(chan->dev));
		if (hog.dev && load_keep(&hog, load_room(&hog)))
			FAIL("%s", hog.text);
		while (chan->put - get < (1u << RING_ORDER) / 2)
			present(chan, 1);
		clk_sleep_ms(1);
	} while (before - start < for_ns && nr < FRAMES);
	*seconds = (double)(before - start) / 1e9;
	return nr;
}

/*
 * Checks that there were never too many frames for the longest time in which they can have been
 * shown. The limit is on when frames are let through; up to @late frames that have to wait after
 * that may be shown closer together.
 */
static void check_windows(uint64_t nr, double fps, double late)
{
	uint64_t i, j;
	double span;

	for (i = 0; i < nr; i++) {
		for (j = i + 1; j < nr; j++) {
			span = (double)(frames[j].to_ns - frames[i].from_ns) /
			       1e9;
			CHECK((double)(j - i + 1) <= fps * span + 2 + late, "%llu frames in %.4f s",
			      (unsigned long long)(j - i + 1), span);
		}
	}
}

/* Frames per second that the driver says are in force. */
static uint32_t in_force(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.frl_fps;
}

/*
 * A busy host makes frames late, so it is enough if they are on time once, but for the time that
 * this program has lost, too. A host that is never quiet enough shows only that no frame is early.
 */
static void is_paced(const char *type, uint32_t fps)
{
	uint64_t nr, runs, end = clk_ms() + 2 * FX_TIMEOUT_MS;
	struct vgpu_ctl_instance before, after;
	bool quiet, slow, judged = false;
	struct vgpu_chan *chan;
	double seconds, lost;

	chan = fx_chan(&v, GR, 0, VGPU_RING_FB, RING_ORDER);
	CHECK_EQ(in_force(), fps);
	do {
		fx_instance(&v, &before);
		nr = watch(chan, WATCH_NS, 1000000000 / fps, &seconds);
		lost = (double)lost_ns / 1e9;
		fx_instance(&v, &after);
		runs = after.engine[chan->engine].runs -
		       before.engine[chan->engine].runs;
		ktap_note("%s: %llu frames in %.3f s, of which %.3f lost, %llu runs", type,
			  (unsigned long long)nr, seconds, lost, (unsigned long long)runs);
		/*
		 * The first frame of a window may have been let through long before it was
		 * seen, as the host can take the engine's processor away; the next frames of
		 * its channel are let through after it.
		 */
		check_windows(nr, fps, 1 + (signal.ptr ? fps / 10 : 0));
		CHECK(after.frames - before.frames >= nr, "counted %llu frames",
		      after.frames - before.frames);
		/* The engine sleeps until a frame is due instead of polling. */
		CHECK(runs <= 8 * nr + 20, "busy polling");
		quiet = lost <= LOST_MAX * seconds;
		slow = (double)nr < 0.83 * fps * (quiet ? seconds - lost : seconds);
		judged |= quiet;
	} while (slow && clk_ms() < end);
	CHECK(!slow || !judged, "too slow");
	if (slow)
		ktap_note("NOT JUDGED whether frames are late: this host is never quiet");
	vgpu_chan_destroy(chan);
}

static void q_has_60(void)
{
	tune_policy("best_effort");
	fx_create_open(&v, "1Q");
	is_paced("1Q", 60);
}

static void b_has_45(void)
{
	tune_policy("best_effort");
	fx_create_open(&v, "1B");
	is_paced("1B", 45);
}

static void set_to_30(void)
{
	tune_policy("best_effort");
	fx_create_open(&v, "1Q");
	tune_frl(&v, 30);
	is_paced("set to 30", 30);
}

/*
 * A frame that has been let through and then waits for guest memory, and for the vGPU's turn on
 * the engine, counts once.
 */
static void counts_once(void)
{
	const struct load_config config = {
		.engine_class = GR,
		.order = 10,
		.job_bytes = 16 * FX_MIB,
	};

	tune_policy("best_effort");
	fx_create_open(&v, "1Q");
	fx_create_open(&other, "1Q");
	if (load_init(&hog, other.dev, &config))
		FAIL("%s", hog.text);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 4096, &signal));
	is_paced("1Q, signals, beside a hog", 60);
	CHECK(load_jobs(&hog), "the hog did nothing");
	CHECK(*(uint64_t *)signal.ptr, "no signal");
	vgpu_buf_free(&signal);
}

/*
 * More frames than the limits of these tests let through. A busy host shows fewer, so it is enough
 * if there are as many once.
 */
static void is_not_paced(const char *policy)
{
	uint64_t nr, end = clk_ms() + FX_TIMEOUT_MS;
	struct vgpu_chan *chan;
	double seconds;

	CHECK_EQ(in_force(), 0, "%s", policy);
	chan = fx_chan(&v, GR, 0, VGPU_RING_FB, RING_ORDER);
	do {
		nr = watch(chan, WATCH_NS / 4, WATCH_NS, &seconds);
		ktap_note("%s: %llu frames in %.3f s", policy, (unsigned long long)nr, seconds);
		CHECK(clk_ms() < end, "%s: too slow", policy);
	} while ((double)nr <= 120 * seconds);
	vgpu_chan_destroy(chan);
}

/* Under qos only a limit that was set is in force. */
static void qos_only_set(void)
{
	tune_policy("qos");
	fx_create_open(&v, "1Q");
	is_not_paced("qos");
	tune_frl(&v, 50);
	is_paced("set to 50", 50);
}

static void off_in_slots(void)
{
	static const char * const policies[] = { "equal_share", "fixed_share" };
	unsigned int i;

	fx_create_open(&v, "1Q");
	tune_frl(&v, 30);
	for (i = 0; i < 2; i++) {
		tune_policy(policies[i]);
		is_not_paced(policies[i]);
	}
}

static bool says_paced(const struct vgpu_chan *chan)
{
	char path[128], text[16384], begin[32], *line;

	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/channels", fx_gpu());
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	snprintf(begin, sizeof(begin), "  %u: ", chan->id);
	line = strstr(text, begin);
	return line && strstr(line, "(paced)") &&
	       strstr(line, "(paced)") < strchr(line, '\n');
}

/* A channel with 8 frames, of which one is held back, for up to a second. */
static struct vgpu_chan *held(void)
{
	struct vgpu_chan *chan = fx_chan(&v, GR, 0, VGPU_RING_FB, RING_ORDER);

	present(chan, 8);
	FX_SOON(says_paced(chan));
	CHECK(vgpu_chan_get(chan) < 8, "nothing is held back");
	return chan;
}

static void begin_held(void)
{
	tune_policy("best_effort");
	fx_create_open(&v, "1Q");
	tune_frl(&v, 1);
}

/* Fills and copies, on two engines, and checks the result. */
static void round_of_work(struct vgpu_chan *const chan[2], uint32_t value)
{
	uint64_t i, fence;

	for (i = 0; i < 2; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan[i], VGPU_FB((2 + i) * FX_MIB), value, 65536));
		FX_OK(v.dev, vgpu_chan_copy(chan[i], VGPU_FB((4 + i) * FX_MIB),
					    VGPU_FB((2 + i) * FX_MIB), 65536));
		FX_OK(v.dev, vgpu_chan_fence(chan[i], &fence));
		FX_OK(v.dev, vgpu_chan_wait(chan[i], fence, FX_TIMEOUT_MS));
		CHECK_EQ(*(uint32_t *)(v.dev->fb + (4 + i) * FX_MIB + 65532), value);
	}
}

/*
 * Packets that are no frames do not wait, on any engine. There is always a frame that waits, and
 * work that is done while none is shown was not held back by it; in the end one is shown, too.
 */
static void nothing_else_waits(void)
{
	struct vgpu_chan *work[2], *chan;
	uint64_t end, first, shown, done = 0;
	struct vgpu_ctl_instance inst;
	uint32_t rounds = 0;

	begin_held();
	work[0] = fx_chan(&v, GR, 0, VGPU_RING_FB, 5);
	work[1] = fx_chan(&v, CE, 0, VGPU_RING_FB, 5);
	chan = held();
	first = vgpu_chan_get(chan);
	end = clk_ms() + FX_TIMEOUT_MS;
	while (done < 20 || vgpu_chan_get(chan) == first) {
		CHECK(clk_ms() < end, "%llu rounds, and %llu frames", (unsigned long long)done,
		      (unsigned long long)(vgpu_chan_get(chan) - first));
		shown = vgpu_chan_get(chan);
		if (chan->put - shown < 8) {
			present(chan, 8);
			continue;
		}
		round_of_work(work, rounds++);
		done += vgpu_chan_get(chan) == shown;
	}
	fx_instance(&v, &inst);
	ktap_note("%u rounds on gr and ce0, %llu while a frame was held back, %llu frames shown",
		  rounds, (unsigned long long)done, inst.frames);
}

/* A doorbell neither shows the frame nor keeps the engine at work. */
static void doorbells_do_nothing(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *chan;
	uint64_t start, shown, runs;
	unsigned int i;

	begin_held();
	chan = held();
	/* For as long as this may take. */
	present(chan, 500);
	fx_instance(&v, &before);
	start = clk_ms();
	shown = vgpu_chan_get(chan);
	for (i = 0; i < 1000; i++)
		FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_DOORBELL),
					      1));
	fx_instance(&v, &after);
	/* One frame per second is due, so as many may be shown as seconds have passed. */
	CHECK(vgpu_chan_get(chan) - shown <= 2 + (clk_ms() - start) / 1000,
	      "%llu frames", (unsigned long long)(vgpu_chan_get(chan) - shown));
	runs = after.engine[chan->engine].runs - before.engine[chan->engine].runs;
	CHECK(runs <= 20 + (clk_ms() - start) / 100, "%llu runs", (unsigned long long)runs);
	CHECK_EQ(after.doorbells - before.doorbells, 1000);
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_AWAKE);
}

static uint64_t frames_shown(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.frames;
}

/* A channel whose frame is held back can be disabled, reset and closed. */
static void held_can_be_stopped(void)
{
	struct vgpu_chan *chan;
	uint64_t before;

	begin_held();
	chan = held();
	FX_OK(v.dev, vgpu_chan_disable(chan));
	CHECK(!says_paced(chan), "disabled");
	before = frames_shown();
	FX_OK(v.dev, vgpu_chan_enable(chan));
	/* The frame that was held back would be shown before a new one. */
	present(chan, 1);
	fx_finish(chan);
	FX_SOON(frames_shown() > before);
	CHECK_EQ(frames_shown(), before + 1, "of a disabled channel");
	vgpu_chan_destroy(chan);

	chan = held();
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	vgpu_chan_destroy(chan);
	chan = fx_chan(&v, GR, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	vgpu_chan_destroy(chan);

	held();
	fx_close(&v);
	fx_open(&v);
	chan = fx_chan(&v, GR, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
}

/* A bad packet behind a frame that is held back faults only after that frame. */
static void fault_behind_held(void)
{
	struct vgpu_hw_packet bad = { .type = 0xee };
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	fx_need_no_quarantine();
	begin_held();
	chan = held();
	FX_OK(v.dev, vgpu_chan_submit(chan, &bad, 1));
	clk_sleep_ms(20);
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_AWAKE);
	tune_frl(&v, 0);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_PACKET);
	CHECK_EQ(fault.pos, 8);
}

/* When the limit is lifted a frame that was held back is shown, at the latest when it was due. */
static void limit_is_lifted(void)
{
	static const char * const how[] = { "FRL 0", "equal_share" };
	struct vgpu_chan *chan;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin_held();
		chan = held();
		present(chan, 500);
		if (i)
			tune_policy("equal_share");
		else
			tune_frl(&v, 0);
		FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
		CHECK_EQ(vgpu_chan_get(chan), 508, "%s", how[i]);
		vgpu_chan_destroy(chan);
		fx_close(&v);
		fx_remove(&v);
	}
}

/* Channels of one vGPU share its limit, and none of them starves. */
static void two_channels(void)
{
	uint64_t queued[2], shown[2], start, looked, ms;
	struct vgpu_chan *chan[2];
	unsigned int i;

	tune_policy("best_effort");
	fx_create_open(&v, "1Q");
	tune_frl(&v, 60);
	for (i = 0; i < 2; i++)
		chan[i] = fx_chan(&v, GR, 0, VGPU_RING_FB, RING_ORDER);
	start = clk_ms();
	for (i = 0; i < 2; i++)
		present(chan[i], 500);
	/* Meanwhile the first channel was alone. Both are looked at at the same time. */
	do {
		looked = clk_ms();
		for (i = 0; i < 2; i++)
			queued[i] = vgpu_chan_get(chan[i]);
	} while (clk_ms() - looked > 5);
	FX_SOON(vgpu_chan_get(chan[0]) - queued[0] + vgpu_chan_get(chan[1]) - queued[1] >= 60);
	for (i = 0; i < 2; i++)
		shown[i] = vgpu_chan_get(chan[i]);
	ms = clk_ms() - start;
	ktap_note("%llu and %llu frames in %llu ms", (unsigned long long)shown[0],
		  (unsigned long long)shown[1], (unsigned long long)ms);
	CHECK((shown[0] + shown[1] - 2) * 1000 <= 60 * (ms + 1), "more than the limit");
	CHECK(shown[0] >= queued[0] + 15 && shown[1] >= queued[1] + 15, "one of them starves");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(q_has_60),
	KTAP_TEST(b_has_45),
	KTAP_TEST(set_to_30),
	KTAP_TEST(counts_once),
	KTAP_TEST(qos_only_set),
	KTAP_TEST(off_in_slots),
	KTAP_TEST(nothing_else_waits),
	KTAP_TEST(doorbells_do_nothing),
	KTAP_TEST(held_can_be_stopped),
	KTAP_TEST(fault_behind_held),
	KTAP_TEST(limit_is_lifted),
	KTAP_TEST(two_channels),
};

static void cleanup(void)
{
	/* fx_cleanup() closes the devices that these belong to. */
	memset(&signal, 0, sizeof(signal));
	memset(&hog, 0, sizeof(hog));
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
