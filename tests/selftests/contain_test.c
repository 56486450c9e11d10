// SPDX-License-Identifier: GPL-2.0
/*
 * A vGPU that misbehaves beside one that has a guarantee, under qos: the neighbour gets its
 * guarantee, readers of events are told, and after a device reset the bad vGPU works again. Nor do
 * its messages keep the kernel's log from telling of the neighbour.
 *
 * The bound is that of the policy: in a time T in which the neighbour always has work its service
 * is at least g T - 2 Q, where g is the guarantee and Q a slice and the longest overrun. Here as
 * much again is allowed, and a tenth of T. A host that takes processors away makes overruns longer,
 * and Q with them, so a test goes on until T is long enough to say something.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "event.h"
#include "hang.h"
#include "load.h"
#include "tune.h"

#define GR		VGPU_HW_ENGINE_GR
#define GUARANTEE	600
#define SLICE_NS	2000000
#define RING_ORDER	12
#define JOB_BYTES	(16 * FX_MIB)
#define RUN_MS		1500
#define FAULTS		200u	/* at least: a threshold is 16 at most */
#define MESSAGES	10	/* in 5 s: more are not printed, DEFAULT_RATELIMIT_BURST */

static struct fx_vgpu bad, good;
static struct load neighbour;
static struct vgpu_chan *chan;		/* of the bad vGPU */
static uint64_t events_of[VGPU_EVENT_SHARE + 1];
static int events_fd = -1;

/**
 * struct look - both vGPUs at one time
 * @good:       what the driver says of the neighbour
 * @bad:        what the driver says of the other vGPU
 * @time_ns:    since the test began
 * @service_ns: of the neighbour since the test began
 * @overrun_ns: the longest of both vGPUs, that of the run under way included
 * @bound_ns:   how much less than its guarantee the neighbour may have got
 */
struct look {
	struct vgpu_ctl_instance good;
	struct vgpu_ctl_instance bad;
	uint64_t time_ns;
	uint64_t service_ns;
	uint64_t overrun_ns;
	uint64_t bound_ns;
};

static struct look began, judged;

/* How many events of @type the bad vGPU has had since the test began. */
static uint64_t events(unsigned int type)
{
	struct vgpu_ctl_event event[16];
	ssize_t n;
	int i;

	while ((n = read(events_fd, event, sizeof(event))) > 0) {
		for (i = 0; i < n / (int)sizeof(event[0]); i++) {
			if (memcmp(event[i].uuid, bad.id, sizeof(bad.id)) ||
			    event[i].type > VGPU_EVENT_SHARE)
				continue;
			events_of[event[i].type]++;
		}
	}
	return events_of[type];
}

/* Refills the neighbour's ring, with work for seconds. */
static void keep(void)
{
	if (load_keep(&neighbour, load_room(&neighbour)))
		FAIL("%s", neighbour.text);
}

static void begin(uint32_t quarantine_faults)
{
	const struct load_config config = {
		.engine_class = GR,
		.order = RING_ORDER,
		.job_bytes = JOB_BYTES,
		.seed = fx_random(),
	};
	struct vgpu_ctl_sched sched = {
		.policy = "qos",
		.slice_ns = SLICE_NS,
		.quarantine_faults = quarantine_faults,
		.quarantine_backoff_ms = 600000,
	};

	memset(events_of, 0, sizeof(events_of));
	if (events_fd >= 0)
		close(events_fd);
	events_fd = event_open();
	tune_set(&sched, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |
		 VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	fx_create_open(&bad, "1Q");
	fx_create_open(&good, "1Q");
	tune_share(&bad, 100, 1000, 10);
	tune_share(&good, GUARANTEE, 1000, 10);
	chan = fx_chan(&bad, GR, 0, VGPU_RING_FB, 8);
	fx_finish(chan);
	if (load_init(&neighbour, good.dev, &config))
		FAIL("%s", neighbour.text);
	keep();
	FX_SOON(load_jobs(&neighbour) > 10);
	fx_instance(&bad, &began.bad);
	fx_instance(&good, &began.good);
}

/* The longest since the vGPUs were created: since the test began. */
static uint64_t max_overrun_ns(void)
{
	struct vgpu_ctl_instance a, b;

	fx_instance(&good, &a);
	fx_instance(&bad, &b);
	return a.engine[chan->engine].max_overrun_ns > b.engine[chan->engine].max_overrun_ns ?
	       a.engine[chan->engine].max_overrun_ns : b.engine[chan->engine].max_overrun_ns;
}

/* An overrun is known when the run has ended, so the one under way is waited for. */
static void look(struct look *look)
{
	struct vgpu_ctl_instance *i = &look->good;
	uint64_t ended;

	fx_instance(&good, i);
	ended = fx_runs_ended(chan->engine);
	fx_instance(&bad, &look->bad);
	look->time_ns = i->now_ns - began.good.now_ns;
	look->service_ns = i->engine[chan->engine].busy_ns -
			   began.good.engine[chan->engine].busy_ns;
	FX_SOON((keep(), fx_runs_ended(chan->engine) > ended), "a run does not end");
	look->overrun_ns = max_overrun_ns();
	look->bound_ns = 4 * (SLICE_NS + look->overrun_ns) + look->time_ns / 10;
}

/*
 * Whether the test has gone on for long enough to say something: it is said of that time, as the
 * processors may be lost again after it.
 */
static bool enough(void)
{
	keep();
	look(&judged);
	CHECK(judged.time_ns < 3 * FX_TIMEOUT_MS * 1000000ull,
	      "overruns of %llu us: nothing can be said",
	      (unsigned long long)judged.overrun_ns / 1000);
	return judged.time_ns >= RUN_MS * 1000000ull &&
	       2 * judged.bound_ns < judged.time_ns * GUARANTEE / 1000;
}

static void check_guarantee(const char *beside)
{
	uint64_t jobs = load_jobs(&neighbour);
	struct look now = judged;

	CHECK(load_jobs(&neighbour) < neighbour.put, "the neighbour ran out of work");
	ktap_note("beside %s: %llu of %llu us, %llu jobs, overruns of up to %llu us; %llu us, %llu resets and %llu faults of the other",
		  beside, (unsigned long long)now.service_ns / 1000,
		  (unsigned long long)now.time_ns / 1000,
		  (unsigned long long)jobs,
		  (unsigned long long)now.overrun_ns / 1000,
		  (now.bad.engine[chan->engine].busy_ns -
		   began.bad.engine[chan->engine].busy_ns) / 1000,
		  now.bad.engine[chan->engine].resets -
		  began.bad.engine[chan->engine].resets,
		  now.bad.faults - began.bad.faults);
	CHECK(now.service_ns + now.bound_ns >= now.time_ns * GUARANTEE / 1000,
	      "less than the guarantee");
	CHECK_EQ(now.good.faults, 0, "of the neighbour");
	if (load_check(&neighbour))
		FAIL("%s", neighbour.text);
}

/* After a device reset the bad vGPU is as good as new, and the neighbour still works. */
static void check_recovery(void)
{
	uint64_t jobs;

	/* Events of one vGPU are limited per second: what came before is to cost none of these. */
	clk_sleep_ms(1100);
	keep();
	jobs = load_jobs(&neighbour);
	FX_OK(bad.dev, vgpu_dev_reset(bad.dev));
	vgpu_chan_destroy(chan);
	chan = fx_chan(&bad, GR, 0, VGPU_RING_FB, 8);
	FX_OK(bad.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 0x600d, 4096));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(bad.dev->fb + FX_MIB + 4092), 0x600d);
	CHECK(events(VGPU_EVENT_RESET) >= 1, "no event of the reset");
	keep();
	FX_SOON(load_jobs(&neighbour) > jobs);
}

/* The bad vGPU submits one packet after the other that never ends. */
static void endless_packets(void)
{
	unsigned int hangs = 0;

	begin(0);
	while (hangs < 5 || !enough()) {
		/* The neighbour has no packets of this type. */
		hang_once(chan);
		hangs++;
		fx_again(chan);
	}
	check_guarantee("packets that never end");
	FX_SOON(events(VGPU_EVENT_ENGINE_RESET) >= 5, "events");
	check_recovery();
}

static void flood(void *arg)
{
	uint64_t reg = vgpu_chan_reg(*(uint32_t *)arg, VGPU_HW_CHAN_DOORBELL);

	while (!vgpu_reg_write32(bad.dev, reg, 1))
		;
}

static uint64_t doorbells(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&bad, &inst);
	return inst.doorbells - began.bad.doorbells;
}

/* A process does nothing but ring the doorbell of a channel without work. */
static void doorbell_flood(void)
{
	int status;
	pid_t pid;

	begin(0);
	pid = child_start(flood, &chan->id);
	FX_SOON((keep(), doorbells() > 100), "no flood");
	while (!enough())
		clk_sleep_ms(20);
	ktap_note("%llu doorbells, %llu turns", judged.bad.doorbells - began.bad.doorbells,
		  judged.bad.engine[chan->engine].runs - began.bad.engine[chan->engine].runs);
	check_guarantee("a flood of doorbells");
	CHECK(!child_ends(pid, 0, &status), "the flood has ended");
	/* During the flood the bad vGPU's own work is done, too. */
	fx_finish(chan);
	check_recovery();
}

static struct vgpu_chan *chans[64];
static unsigned int nr_chans;

static void flood_all(void *arg)
{
	struct fx_vgpu *v = arg;
	unsigned int i = 0;

	do {
		i = (i + 1) % nr_chans;
	} while (!vgpu_reg_write32(v->dev, vgpu_chan_reg(chans[i]->id, VGPU_HW_CHAN_DOORBELL), 1));
}

static uint64_t engine_busy_ns(uint64_t *now_ns)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	*now_ns = gpu.now_ns;
	return gpu.engine[chan->engine].busy_ns;
}

/*
 * Processes ring the doorbells of all channels of the bad vGPU, as fast as an engine that finds
 * no work there can put them to sleep. The neighbour has work all the time, so all of the
 * engine's time is the service of one of the two, the time spent on doorbells too.
 */
static void doorbell_flood_of_all(void)
{
	uint64_t start_ns, busy_ns, from_ns, now_ns, rung;
	struct vgpu_ctl_instance inst;
	unsigned int i, ended = 0;
	pid_t pid[3];
	int status;

	begin(0);
	fx_instance(&bad, &inst);
	nr_chans = inst.channels < 64 ? inst.channels : 64;
	chans[0] = chan;
	for (i = 1; i < nr_chans; i++)
		chans[i] = fx_chan(&bad, GR, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 3; i++)
		pid[i] = child_start(flood_all, &bad);
	FX_SOON((keep(), doorbells() > 100), "no flood");
	rung = doorbells();
	start_ns = engine_busy_ns(&from_ns);
	/* A machine that stands still at the wrong time is nobody's: longer makes up for that. */
	do {
		clk_sleep_ms(20);
		keep();
		busy_ns = engine_busy_ns(&now_ns) - start_ns;
	} while (now_ns - from_ns < RUN_MS * 1000000ull ||
		 ((busy_ns < (now_ns - from_ns) * 9 / 10 || doorbells() == rung) &&
		  now_ns - from_ns < FX_TIMEOUT_MS * 1000000ull));
	CHECK(load_jobs(&neighbour) < neighbour.put, "the neighbour ran out of work");
	fx_instance(&bad, &inst);
	ktap_note("%u channels, %llu doorbells, %llu turns of %llu us: busy for %llu of %llu us",
		  nr_chans, inst.doorbells - began.bad.doorbells,
		  inst.engine[chan->engine].runs -
		  began.bad.engine[chan->engine].runs,
		  (inst.engine[chan->engine].busy_ns -
		   began.bad.engine[chan->engine].busy_ns) / 1000,
		  (unsigned long long)busy_ns / 1000,
		  (unsigned long long)(now_ns - from_ns) / 1000);
	for (i = 0; i < 3; i++)
		ended += child_ends(pid[i], 0, &status);
	CHECK_EQ(ended, 0, "floods have ended");
	CHECK(doorbells() > rung, "the flood has ended");
	CHECK(busy_ns >= (now_ns - from_ns) * 9 / 10,
	      "the engine is nobody's though there is work");
}

/*
 * The bad vGPU faults as often as it can, by what the engine itself finds wrong. That costs nobody
 * else, so it does not lead to quarantine: one reset would.
 */
static void faults_in_a_loop(void)
{
	struct vgpu_hw_packet wrong = { .type = 0xee };
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	unsigned int nr = 0;

	begin(1);
	while (nr < FAULTS || !enough()) {
		if (nr % 2) {
			fx_fill_fails(chan, bad.dev->fb_bytes, &fault);
			CHECK_EQ(fault.code, VGPU_HW_FAULT_ADDRESS);
		} else {
			FX_OK(bad.dev, vgpu_chan_submit(chan, &wrong, 1));
			FX_OK(bad.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
			CHECK_EQ(fault.code, VGPU_HW_FAULT_PACKET);
		}
		nr++;
		fx_again(chan);
		keep();
	}
	check_guarantee("faults in a loop");
	fx_finish(chan);
	fx_instance(&bad, &inst);
	CHECK_EQ(inst.faults - began.bad.faults, nr);
	CHECK_EQ(inst.quarantines, 0);
	CHECK(events(VGPU_EVENT_FAULT) >= 1, "no event of a fault");
	CHECK_EQ(events(VGPU_EVENT_QUARANTINED), 0);
	check_recovery();
}

/* Packets of the bad vGPU never end, until it is in quarantine. */
static void hangs_in_a_loop(void)
{
	const unsigned int threshold = 5;
	struct vgpu_ctl_instance inst;
	unsigned int nr = 0;
	uint64_t fence;

	begin(threshold);
	while (nr < threshold) {
		CHECK(!fx_quarantined(&bad), "after %u of %u", nr, threshold);
		hang_once(chan);
		nr++;
		fx_again(chan);
		keep();
	}
	FX_SOON(fx_quarantined(&bad));
	/* The status says so a moment before the vGPU is taken off the engine. */
	FX_SOON((fx_ok(bad.dev, vgpu_chan_fence(chan, &fence), "fence"),
		 !fx_wait_fence(chan, fence, 20)));
	while (!enough())
		clk_sleep_ms(20);
	check_guarantee("hangs in a loop");
	FX_SOON(events(VGPU_EVENT_QUARANTINED) == 1, "events");
	CHECK(events(VGPU_EVENT_FAULT) >= 1, "no event of a fault");
	fx_instance(&bad, &inst);
	CHECK_EQ(inst.faults - began.bad.faults, threshold);
	/* Submitted before it was off the engine, the one above may have been done then. */
	FX_OK(bad.dev, vgpu_chan_fence(chan, &fence));
	CHECK(!fx_wait_fence(chan, fence, 100), "works in quarantine");
	fx_release(&bad);
	CHECK(events(VGPU_EVENT_RELEASED) == 1, "no event of the release");
	check_recovery();
}

/* How many lines of the kernel's log from @fd on say that @v's engine was reset. */
static unsigned int reset_messages(int fd, const struct fx_vgpu *v)
{
	unsigned int nr = 0;
	char line[2048];
	ssize_t n;

	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[n > 0 ? n : 0] = '\0';
		nr += strstr(line, v->uuid) && strstr(line, "did not leave engine");
		errno = 0;
	}
	return nr;
}

/* A packet of @v never ends; returns how many messages that has brought. */
static unsigned int hang_and_look(const struct fx_vgpu *v, struct vgpu_chan *c, int kmsg)
{
	hang_once(c);
	fx_again(c);
	return reset_messages(kmsg, v);
}

/* One tenant's messages are limited, and what there is to tell about another one is told. */
static void messages_of_one_silence_no_other(void)
{
	struct vgpu_chan *noisy, *quiet;
	bool slow = false;
	unsigned int nr = 0;
	uint64_t start;
	int kmsg;

	fx_need_no_quarantine();
	fx_create_open(&bad, "1Q");
	fx_create_open(&good, "1Q");
	noisy = fx_chan(&bad, GR, 0, VGPU_RING_FB, 4);
	quiet = fx_chan(&good, GR, 0, VGPU_RING_FB, 4);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(kmsg >= 0, "/dev/kmsg: %s", strerror(errno));
	CHECK(lseek(kmsg, 0, SEEK_END) >= 0, "%s", strerror(errno));
	start = clk_ms();
	while (hang_and_look(&bad, noisy, kmsg)) {
		if (++nr < MESSAGES)
			continue;
		/* The kernel's limit is for what comes within 5 s. */
		if (clk_ms() - start > 5000 * (nr / MESSAGES)) {
			ktap_note("this machine is too slow to say too much");
			slow = true;
			break;
		}
		CHECK(nr < 20 * MESSAGES, "messages are not limited");
	}
	ktap_note("silent after %u messages", nr);
	CHECK(slow || nr >= MESSAGES, "there is a limit of %d", MESSAGES);
	CHECK_EQ(hang_and_look(&good, quiet, kmsg), 1, "of the other vGPU");
	close(kmsg);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(endless_packets),
	KTAP_TEST(doorbell_flood),
	KTAP_TEST(doorbell_flood_of_all),
	KTAP_TEST(faults_in_a_loop),
	KTAP_TEST(hangs_in_a_loop),
	KTAP_TEST(messages_of_one_silence_no_other),
};

KTAP_MAIN(tests, tune_cleanup)
